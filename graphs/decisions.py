"""What a graph's author may know about the decisions on the own thread.

A node that asked with `interrupt()` gets back the answer, and nothing about who gave it. Sayso puts
that into the run's configuration, at every run, retry and take-over alike:

    from langchain_core.runnables import RunnableConfig
    from graphs.decisions import decision, effect_key

    async def disburse(state: Loan, config: RunnableConfig) -> dict:
        approved = decision(config, "human_review")
        who = approved.names if approved else "nobody"          # "Alice and Dana"
        key = effect_key(config, "human_review")                # the same at every attempt
        await bank.transfer(…, headers={"Idempotency-Key": key})

A question about several actions (the tool calls of one turn) is one decision with an item for
each, in their order: `approved.items[0].outcome`, `.by`, `.note`. Its own `outcome` is then what
they came to together: approved (edited ones too), rejected, or mixed.

The effect key is what makes an action happen once: a node can run twice (a worker dies after the
action and before the checkpoint), and the other side recognises the second time by the key. Nodes
ask first and act after, because a node that asked runs again from its top.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from langchain_core.runnables import RunnableConfig


@dataclass(frozen=True)
class Decider:
    """Somebody whose vote made the decision."""

    id: str
    name: str


@dataclass(frozen=True)
class DecidedItem:
    """What one action of a question came to; `arguments` are those that were decided on."""

    tool: str | None
    arguments: Any
    verb: str
    outcome: str
    answer: Any
    note: str | None
    at: datetime | None
    by: tuple[Decider, ...]


@dataclass(frozen=True)
class Decided:
    """One decision on this thread: which node asked, what came of it, by whom, when and why."""

    interrupt_id: str
    node: str
    verb: str
    outcome: str
    answer: Any
    note: str | None
    at: datetime | None
    by: tuple[Decider, ...]
    effect_key: str
    items: tuple[DecidedItem, ...] = ()

    @property
    def names(self) -> str:
        """The people as a reader wants them: "Alice", "Alice and Dana"; empty without any."""
        names = [person.name or person.id for person in self.by]
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def decision(config: RunnableConfig, node: str) -> Decided | None:
    """The newest decision on a question of that node; None while there is none."""
    return next((one for one in reversed(decisions(config)) if _is_of(one, node)), None)


def decisions(config: RunnableConfig) -> list[Decided]:
    """Every decision on this thread so far, oldest first; empty outside Sayso."""
    known = _sayso(config).get("decisions")
    entries = known if isinstance(known, list | tuple) else []
    return [_decided(entry) for entry in entries if isinstance(entry, Mapping)]


def effect_key(config: RunnableConfig, node: str, *, call: str = "") -> str:
    """The key that makes the action after that node's decision happen once.

    Without a decision (nobody had to be asked) the key is the thread's own for that name.

    Args:
        call: which of several actions of one decision, such as the id of a tool call.
    """
    decided = decision(config, node)
    if decided is not None and decided.effect_key:
        key = decided.effect_key
    else:
        thread = str(config.get("configurable", {}).get("thread_id") or "")
        key = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{thread}/{node}"))
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{key}/{call}")) if call else key


def customer(config: RunnableConfig) -> str | None:
    """The name of the customer whom the thread is about, None where it has none."""
    found = _sayso(config).get("customer")
    name = found.get("name") if isinstance(found, Mapping) else None
    return str(name) if name else None


def _sayso(config: RunnableConfig) -> Mapping[str, Any]:
    found = config.get("configurable", {}).get("sayso")
    return found if isinstance(found, Mapping) else {}


def _is_of(decided: Decided, node: str) -> bool:
    return node in (decided.node, decided.node.rsplit("/", 1)[-1])


def _decided(entry: Mapping[str, Any]) -> Decided:
    return Decided(
        interrupt_id=str(entry.get("interrupt_id") or ""),
        node=str(entry.get("node") or ""),
        verb=str(entry.get("verb") or ""),
        outcome=str(entry.get("outcome") or ""),
        answer=entry.get("answer"),
        note=entry.get("note") or None,
        at=_moment(entry.get("decided_at")),
        by=_deciders(entry),
        effect_key=str(entry.get("effect_key") or ""),
        items=tuple(_item(one) for one in entry.get("items") or () if isinstance(one, Mapping)),
    )


def _item(entry: Mapping[str, Any]) -> DecidedItem:
    return DecidedItem(
        tool=entry.get("tool"),
        arguments=entry.get("arguments"),
        verb=str(entry.get("verb") or ""),
        outcome=str(entry.get("outcome") or ""),
        answer=entry.get("answer"),
        note=entry.get("note") or None,
        at=_moment(entry.get("decided_at")),
        by=_deciders(entry),
    )


def _deciders(entry: Mapping[str, Any]) -> tuple[Decider, ...]:
    return tuple(_decider(one) for one in entry.get("by") or () if isinstance(one, Mapping))


def _decider(entry: Mapping[str, Any]) -> Decider:
    return Decider(str(entry.get("id") or ""), str(entry.get("name") or ""))


def _moment(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text))
    except ValueError:
        return None
