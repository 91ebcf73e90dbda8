"""Reviews: what a graph asks, put before people, and what became of it.

A review is one pending interrupt. Settle opens it (the checkpoint says what is pending) and
withdraws it when its interrupt is gone; a decision closes it (the row says what was decided).
Both change it only by compare-and-set under its row lock, so that of two who come at once exactly
one is first and the other learns who was.

    open ──vote, message──▶ decided        the answer is in the mailbox, once
      ├────deadline───────▶ expired
      └────settle, cancel─▶ withdrawn      only this one may be put again, as a new review

A question is kept twice: exactly, as bytes through the serializer, and as safe JSON for people.
The hash of that JSON is what a vote is for. A node that asks again with other words under the same
interrupt makes a new revision: votes for the old one lapse. Where it asks about actions, the review
is withdrawn and put anew: what was decided of the old ones says nothing of the new.

A review has one item for each action that it asks about, else one. Somebody who changes what goes
into an action makes a new revision too; the votes of that item lapse and the others stand.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from checkpoints.database import Connection, Database, queries
from graphs import covers
from graphs.actions import Action, Asking, asking, same
from graphs.directory import keys_of
from graphs.errors import UnknownReview
from graphs.plain import digest, written
from graphs.policy import fingerprint
from graphs.questions import Shown, shown
from graphs.specs import GraphSpec, Rule
from graphs.tallies import stage_of

if TYPE_CHECKING:
    from graphs.messages import Message

SQL = queries(__file__)
JSON: TypeAlias = Any
CHANGED = "the question changed"
Status: TypeAlias = Literal["open", "decided", "expired", "withdrawn"]
Audience: TypeAlias = Literal["reviewers", "requester"]
RuleFor: TypeAlias = Callable[[Action | None], Rule | None]
"""The rule for an action of this question; None asks for the question itself."""


@dataclass(frozen=True)
class Vote:
    """What one person said, for one exact answer; `lapsed_at` once the question changed."""

    voter: str
    voter_name: str
    seat: str  # for whom it counts: the voter, or who is away or handed it over
    verb: str
    answer: JSON
    answer_hash: str
    note: str | None
    via: str
    revision: int
    cast_at: datetime
    lapsed_at: datetime | None


@dataclass(frozen=True)
class Item:
    """One action in a review, with its own rule, votes and outcome.

    `rule` is whom to ask now: `opened_under` in its present stage, and once it is escalated those
    whom that adds; `whole` is the same with all its stages. Roles and managers stand in both as
    names, `graphs.directory` says who they are. `stage` counts from 0.
    Without an action `tool` is None. `arguments` are those of now, `asked` those that the graph
    asked with, `schema` is their JSON Schema as the tool has it.
    """

    item: int
    tool: str | None
    asked: JSON
    arguments: JSON
    schema: JSON
    edited_by: str | None
    edited_by_name: str | None
    edited_at: datetime | None
    opened_under: Rule | None
    whole: Rule | None
    rule: Rule | None
    stage: int
    status: Literal["open", "decided"]
    verb: str | None
    outcome: str | None
    answer: JSON
    note: str | None
    decided_by: str | None
    decided_by_name: str | None
    decided_at: datetime | None
    escalated_at: datetime | None
    votes: tuple[Vote, ...] = ()

    def standing_votes(self) -> tuple[Vote, ...]:
        """The votes that count: for what is on the card now."""
        return tuple(vote for vote in self.votes if vote.lapsed_at is None)

    @property
    def edited(self) -> bool:
        """Whether something else goes into the action now than was asked."""
        return self.edited_by is not None and not same(self.arguments, self.asked)


@dataclass(frozen=True)
class Review:
    """A review with its items and their votes; `requester` is the thread's."""

    id: int
    thread_id: str
    graph: str
    node: str
    interrupt_id: str
    checkpoint_id: str
    kind: Literal["interrupt", "breakpoint"]
    audience: Audience
    question: JSON
    schema: JSON
    hash: str
    again: JSON
    fingerprint: JSON
    ordinal: int
    revision: int
    status: Status
    closed_because: str | None
    opened_at: datetime
    closed_at: datetime | None
    requester: str
    items: tuple[Item, ...] = field(default=())
    rewound_at: datetime | None = None  # since when its decision does not count any more

    @property
    def version(self) -> str:
        """The first characters of the hash of what is shown, edits included, for people."""
        if not any(item.edited for item in self.items):
            return self.hash[:6]
        return digest([self.hash, [item.arguments for item in self.items]])[:6]

    @cached_property
    def asking(self) -> Asking:
        """How the question asks, and about which actions."""
        return asking(self.question, self.schema, kind=self.kind)

    @property
    def rule(self) -> Rule | None:
        """The rule of the first item, under which it was opened."""
        return self.items[0].rule if self.items else None

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of all items in their present stages, each once, in their order."""
        return tuple(dict.fromkeys(item.rule for item in self.items if item.rule is not None))

    @property
    def every_rule(self) -> tuple[Rule, ...]:
        """The rules of all items in all their stages, each once: whoever decides in one of them."""
        wholes = [item.whole for item in self.items if item.whole is not None]
        stages = [rule.stage(number) for rule in wholes for number in range(rule.length)]
        return tuple(dict.fromkeys(stages))

    @property
    def votes(self) -> tuple[Vote, ...]:
        """All votes, oldest first, lapsed ones too."""
        return tuple(vote for item in self.items for vote in item.votes)

    @property
    def outcome(self) -> str | None:
        """What it came to: approved, rejected, changes, answered, …; None while open."""
        return overall({item.outcome for item in self.items})

    def shown(self, spec: GraphSpec | None) -> Shown:
        """The question in words, by the graph's template for this node where it has one."""
        return shown(
            self.question,
            graph=self.graph,
            node=self.node,
            template=spec.template(self.node) if spec else None,
            schema=self.schema,
            asked=self.asking,
            arguments=[item.arguments for item in self.items] if self.asking.actions else None,
            schemas=[item.schema for item in self.items] if self.asking.actions else None,
            is_json=True,
        )


def overall(outcomes: Collection[str | None]) -> str | None:
    """What several actions came to together; None while one is open.

    Where they differ that is "mixed", unless all were let through (approved) or none (rejected).
    """
    if len(outcomes) <= 1 or None in outcomes:
        return None if None in outcomes else next(iter(outcomes), None)
    if set(outcomes) <= {"approved", "edited"}:
        return "approved"
    return "rejected" if set(outcomes) <= {"rejected", "skipped"} else "mixed"


@dataclass(frozen=True)
class Asked:
    """One pending interrupt as the worker read it from the checkpoint, ready for its row.

    `ordinal` says how many answers its node had before. `schemas` are the JSON Schemas of the
    graph's tools by their names, as far as they can be found.
    """

    interrupt_id: str
    node: str
    checkpoint_id: str
    question: JSON
    hash: str
    schema: JSON = None
    exact: tuple[str, bytes] | None = None
    kind: Literal["interrupt", "breakpoint"] = "interrupt"
    ordinal: int = 0
    fingerprint: JSON = None
    schemas: Mapping[str, JSON] = field(default_factory=dict)

    @cached_property
    def asking(self) -> Asking:
        """How the question asks, and about which actions."""
        return asking(self.question, self.schema, kind=self.kind)


@dataclass(frozen=True)
class Opened:
    """What `put` did: the review's id, and whether it is new or has a new revision.

    `replaced` is the review whose question is not asked any more: an answer to it must not be fed,
    the new one is asked instead.
    """

    review_id: int
    created: bool
    revised: bool
    replaced: int | None = None


async def put(
    connection: Connection,
    *,
    thread_id: str,
    graph: str,
    asked: Asked,
    audience: Audience,
    rule_for: RuleFor,
    again: JSON = None,
) -> Opened | None:
    """Put a pending question before people, once; the same question again changes nothing.

    Returns None where this very question has been closed and not withdrawn: its answer waits. A
    question that changed after it was decided is asked anew: the old answer was for other words.

    Args:
        again: the answer that the node could not use, where it asks again: {"by", "by_name",
            "answer", "problem"}.
    """
    known = await connection.fetchrow(SQL.lock_interrupt, thread_id, asked.interrupt_id)
    if known is None:
        fresh = await _open(connection, thread_id, graph, asked, audience, rule_for, again)
        return Opened(fresh, created=True, revised=False)
    if known["hash"] == asked.hash:
        if known["status"] != "open":
            return None
        return Opened(known["id"], created=False, revised=False)
    anew = known["status"] != "open" or known["acts"] or asked.asking.actions
    if anew or await _is_for_others(known, audience, rule_for):
        await set_aside(connection, known["id"], because=CHANGED)
        fresh = await _open(connection, thread_id, graph, asked, audience, rule_for, again)
        return Opened(fresh, created=True, revised=False, replaced=known["id"])
    kind, exact = asked.exact if asked.exact is not None else (None, None)
    await connection.execute(
        SQL.revise, known["id"], asked.question, kind, exact, asked.schema, asked.hash,
        asked.checkpoint_id,
    )  # fmt: skip
    await connection.execute(SQL.lapse, known["id"])
    return Opened(known["id"], created=False, revised=True)


async def _is_for_others(known: Mapping[str, Any], audience: Audience, rule_for: RuleFor) -> bool:
    """Whether a question that changed is under another rule by what it asks now."""
    if known["audience"] != audience:
        return True
    rule = rule_for(None) if audience == "reviewers" else None
    return bool(fingerprint(rule) != (known["rule_hash"] or ""))


async def withdraw_gone(
    connection: Connection, thread_id: str, pending: Sequence[str], *, because: str
) -> list[int]:
    """Withdraw the open reviews whose interrupt is not among the pending ones."""
    rows = await connection.fetch(SQL.withdraw_gone, thread_id, list(pending), because)
    return [row["id"] for row in rows]


async def withdraw_all(connection: Connection, thread_id: str, *, because: str) -> list[int]:
    """Withdraw every open review of the thread: an intervention does."""
    return await withdraw_gone(connection, thread_id, [], because=because)


async def set_aside(connection: Connection, review_id: int, *, because: str) -> None:
    """Set a review aside: its answer cannot be used, and the question is asked anew."""
    await connection.execute(SQL.set_aside, review_id, because)


async def close_by_message(connection: Connection, review_id: int, message: Message) -> bool:
    """Let the requester's message be the answer; False where somebody was first.

    What the node gets is made of the message by the worker and stored then.
    """
    if await connection.fetchval(SQL.close, review_id, "decided", None) is None:
        return False
    await connection.execute(
        SQL.decide_item, review_id, 0, "answer", "answered", None, message.text[:3000],
        message.sender, "", None,
    )  # fmt: skip
    return True


async def store_answer(connection: Connection, review_id: int, answer: JSON) -> None:
    """Keep what the worker made of the requester's message: the very value the node gets."""
    await connection.execute(SQL.store_answer, review_id, written(answer))


async def get(connection: Connection | Database, review_id: int) -> Review:
    """The review as it stands now.

    Raises:
        UnknownReview
    """
    found = await find(connection, review_id)
    if found is None:
        raise UnknownReview(review_id)
    return found


async def find(connection: Connection | Database, review_id: int) -> Review | None:
    """The review as it stands now, or None."""
    found = await _read(connection, ids=[review_id])
    return found[0] if found else None


async def of_ids(connection: Connection | Database, ids: Sequence[int]) -> list[Review]:
    """These reviews as they stand now, by their ids."""
    return await _read(connection, ids=ids, limit=len(ids))


async def list_(
    connection: Connection | Database,
    *,
    thread_id: str | None = None,
    status: Status | None = None,
    limit: int = 500,
) -> list[Review]:
    """Reviews, oldest first: of a thread, or of all."""
    return await _read(connection, thread_id=thread_id, status=status, limit=limit)


async def weight(connection: Connection | Database, review_id: int) -> tuple[int, int]:
    """The review's revision and how long its question is as JSON, without reading it."""
    row = await connection.fetchrow(SQL.weight, review_id)
    if row is None:
        raise UnknownReview(review_id)
    return row["revision"], row["characters"]


async def open_of_thread(connection: Connection, thread_id: str) -> list[Review]:
    """The thread's open reviews, oldest first, locked in that order for this transaction."""
    rows = await connection.fetch(SQL.lock_open, thread_id)
    return await _read(connection, ids=[row["id"] for row in rows]) if rows else []


async def shown_of_thread(
    connection: Connection | Database, thread_id: str
) -> list[tuple[int, Audience]]:
    """Every review of the thread with its audience: whatever shows them is to be shown anew."""
    rows = await connection.fetch(SQL.shown_of_thread, thread_id)
    return [(row["id"], row["audience"]) for row in rows]


async def _open(
    connection: Connection,
    thread_id: str,
    graph: str,
    asked: Asked,
    audience: Audience,
    rule_for: RuleFor,
    again: JSON,
) -> int:
    kind, exact = asked.exact if asked.exact is not None else (None, None)
    review_id: int = await connection.fetchval(
        SQL.open, thread_id, graph, asked.node, asked.interrupt_id, asked.checkpoint_id,
        asked.kind, audience, asked.question, kind, exact, asked.schema, asked.hash,
        asked.ordinal, asked.fingerprint, again,
    )  # fmt: skip
    for item, action in enumerate(asked.asking.actions or (None,)):
        tool = action.tool if action is not None else None
        rule = rule_for(action) if audience == "reviewers" else None
        await connection.execute(
            SQL.open_item, review_id, item, rule.model_dump(mode="json") if rule else None,
            fingerprint(rule), tool, action.arguments if action is not None else None,
            (action.schema or asked.schemas.get(action.tool)) if action is not None else None,
        )  # fmt: skip
    await renew_asks(connection, review_id)
    return review_id


async def renew_asks(connection: Connection, review_id: int) -> Review:
    """Let the open items of a review be found by whom they ask now; a stage or a rule changed.

    Returns the review as it stands now.
    """
    review = await get(connection, review_id)
    handed = await covers.of_review(connection, review_id)
    for item in review.items:
        if item.status == "open":
            keys = keys_of(item.rule.approvers, review.requester) if item.rule is not None else []
            for one in handed if keys else ():
                keys = [key for key in keys if key != f"user:{one.giver}"]
                keys = list(dict.fromkeys([*keys, f"user:{one.taker}"]))
            await connection.execute(SQL.ask, review_id, item.item, keys)
    return review


async def _read(
    connection: Connection | Database,
    *,
    ids: Sequence[int] | None = None,
    thread_id: str | None = None,
    status: Status | None = None,
    limit: int = 500,
) -> list[Review]:
    rows = await connection.fetch(
        SQL.read, list(ids) if ids is not None else None, thread_id, status, limit
    )
    found = [row["id"] for row in rows]
    votes: dict[tuple[int, int], list[Vote]] = {}
    for row in await connection.fetch(SQL.votes, found):
        votes.setdefault((row["review_id"], row["item"]), []).append(_vote(row))
    items: dict[int, list[Item]] = {}
    for row in await connection.fetch(SQL.items, found):
        cast = votes.get((row["review_id"], row["item"]), [])
        items.setdefault(row["review_id"], []).append(_item(row, tuple(cast)))
    return [Review(**dict(row), items=tuple(items.get(row["id"], ()))) for row in rows]


def _item(row: Mapping[str, Any], votes: tuple[Vote, ...]) -> Item:
    made = ("votes", "opened_under", "whole", "stage")
    values = {name: row[name] for name in Item.__dataclass_fields__ if name not in made}
    rule = Rule.model_validate(row["rule"]) if row["rule"] is not None else None
    escalated = rule is not None and row["escalated_at"] is not None
    whole = rule.escalated() if rule is not None and escalated else rule
    stage = stage_of([vote.answer_hash for vote in votes if vote.lapsed_at is None], whole)
    values["opened_under"], values["whole"], values["stage"] = rule, whole, stage
    values["rule"] = whole.stage(stage) if whole is not None else None
    values["answer"] = json.loads(row["answer"]) if row["answer"] is not None else None
    return Item(**values, votes=votes)


def _vote(row: Mapping[str, Any]) -> Vote:
    values = {name: row[name] for name in Vote.__dataclass_fields__}
    values["answer"] = json.loads(row["answer"])
    return Vote(**values)
