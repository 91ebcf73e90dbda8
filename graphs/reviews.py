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
interrupt makes a new revision: votes for the old one lapse.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from checkpoints.database import Connection, Database, queries
from graphs.errors import UnknownReview
from graphs.plain import written
from graphs.policy import fingerprint
from graphs.questions import Shown, shown
from graphs.specs import GraphSpec, Rule

if TYPE_CHECKING:
    from graphs.messages import Message

SQL = queries(__file__)
JSON: TypeAlias = Any
Status: TypeAlias = Literal["open", "decided", "expired", "withdrawn"]
Audience: TypeAlias = Literal["reviewers", "requester"]


@dataclass(frozen=True)
class Vote:
    """What one person said, for one exact answer; `lapsed_at` once the question changed."""

    voter: str
    voter_name: str
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
    """One action in a review, with its own rule, votes and outcome."""

    item: int
    rule: Rule | None
    status: Literal["open", "decided"]
    verb: str | None
    outcome: str | None
    answer: JSON
    note: str | None
    decided_by: str | None
    decided_by_name: str | None
    decided_at: datetime | None
    votes: tuple[Vote, ...] = ()

    def standing_votes(self) -> tuple[Vote, ...]:
        """The votes that count: for what is on the card now."""
        return tuple(vote for vote in self.votes if vote.lapsed_at is None)


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
    revision: int
    status: Status
    closed_because: str | None
    opened_at: datetime
    closed_at: datetime | None
    requester: str
    items: tuple[Item, ...] = field(default=())

    @property
    def version(self) -> str:
        """The first characters of the hash of what is shown, for people."""
        return self.hash[:6]

    @property
    def rule(self) -> Rule | None:
        """The rule of the first item, under which it was opened."""
        return self.items[0].rule if self.items else None

    @property
    def votes(self) -> tuple[Vote, ...]:
        """All votes, oldest first, lapsed ones too."""
        return tuple(vote for item in self.items for vote in item.votes)

    @property
    def outcome(self) -> str | None:
        """What it came to: approved, rejected, changes, answered, …; None while open."""
        return self.items[0].outcome if self.items else None

    def shown(self, spec: GraphSpec | None) -> Shown:
        """The question in words, by the graph's template for this node where it has one."""
        return shown(
            self.question,
            graph=self.graph,
            node=self.node,
            template=spec.template(self.node) if spec else None,
            schema=self.schema,
        )


@dataclass(frozen=True)
class Asked:
    """One pending interrupt as the worker read it from the checkpoint, ready for its row."""

    interrupt_id: str
    node: str
    checkpoint_id: str
    question: JSON
    hash: str
    schema: JSON = None
    exact: tuple[str, bytes] | None = None
    kind: Literal["interrupt", "breakpoint"] = "interrupt"


@dataclass(frozen=True)
class Opened:
    """What `put` did: the review's id, and whether it is new or has a new revision.

    `replaced` is the decided review whose question is not asked any more: its answer must not be
    fed, the new one is asked instead.
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
    rule: Rule | None,
) -> Opened | None:
    """Put a pending question before people, once; the same question again changes nothing.

    Returns None where this very question has been closed and not withdrawn: its answer waits. A
    question that changed after it was decided is asked anew: the old answer was for other words.
    """
    known = await connection.fetchrow(SQL.lock_interrupt, thread_id, asked.interrupt_id)
    if known is None:
        return Opened(await _open(connection, thread_id, graph, asked, audience, rule), True, False)
    if known["status"] != "open":
        if known["hash"] == asked.hash:
            return None
        await set_aside(connection, known["id"], because="the question changed")
        fresh = await _open(connection, thread_id, graph, asked, audience, rule)
        return Opened(fresh, created=True, revised=False, replaced=known["id"])
    if known["hash"] == asked.hash:
        return Opened(known["id"], created=False, revised=False)
    kind, exact = asked.exact if asked.exact is not None else (None, None)
    await connection.execute(
        SQL.revise, known["id"], asked.question, kind, exact, asked.schema, asked.hash,
        asked.checkpoint_id,
    )  # fmt: skip
    await connection.execute(SQL.lapse, known["id"])
    return Opened(known["id"], created=False, revised=True)


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
    """Set a decided review aside: its answer cannot be used, and the question is asked anew."""
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


async def list_(
    connection: Connection | Database,
    *,
    thread_id: str | None = None,
    status: Status | None = None,
    limit: int = 500,
) -> list[Review]:
    """Reviews, oldest first: of a thread, or of all."""
    return await _read(connection, thread_id=thread_id, status=status, limit=limit)


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
    rule: Rule | None,
) -> int:
    kind, exact = asked.exact if asked.exact is not None else (None, None)
    review_id: int = await connection.fetchval(
        SQL.open, thread_id, graph, asked.node, asked.interrupt_id, asked.checkpoint_id,
        asked.kind, audience, asked.question, kind, exact, asked.schema, asked.hash,
    )  # fmt: skip
    await connection.execute(
        SQL.open_item, review_id, 0, rule.model_dump(mode="json") if rule else None,
        fingerprint(rule),
    )  # fmt: skip
    return review_id


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
    values = {name: row[name] for name in Item.__dataclass_fields__ if name != "votes"}
    values["rule"] = Rule.model_validate(row["rule"]) if row["rule"] is not None else None
    values["answer"] = json.loads(row["answer"]) if row["answer"] is not None else None
    return Item(**values, votes=votes)


def _vote(row: Mapping[str, Any]) -> Vote:
    values = {name: row[name] for name in Vote.__dataclass_fields__}
    values["answer"] = json.loads(row["answer"])
    return Vote(**values)
