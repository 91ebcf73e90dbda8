"""What people say of a review besides deciding it: questions to the requester, and comments.

Neither is part of what is decided: the revision stays, and so do the votes. A question is answered
once, by the requester, in their conversation (`graphs/saying.py`) or at the question itself; what
they write there goes onto the card and not to the graph.

Each verb locks the review and reads after, as a vote does, so that nothing is asked about what was
decided a moment before. Every refusal is a typed result and an audit entry in the same transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias, TypeVar

from checkpoints.database import Connection, Database, Row, queries
from checkpoints.text import clean
from graphs import audit, ports, reviews
from graphs.policy import Person, Policy, Reason, Refusal, may_operate, may_view
from graphs.ports import Wish, no_wish
from graphs.reviews import Review
from graphs.specs import GraphSpec
from graphs.votes import Voter

SQL = queries(__file__)
MAX_CHARACTERS: Final = 3_000
MAX_FILES: Final = 20
_HELD: Final = ("held", "parked")


@dataclass(frozen=True)
class Exchange:
    """A question with its answer, once there is one, or a comment; `files` came with the answer."""

    id: int
    review_id: int
    thread_id: str
    kind: Literal["question", "comment"]
    author: str
    author_name: str
    said: str
    said_at: datetime
    answer: str | None
    files: tuple[str, ...]
    answered_by: str | None
    answered_by_name: str
    answered_at: datetime | None


@dataclass(frozen=True)
class Said:
    """It was asked, or said."""

    exchange_id: int


@dataclass(frozen=True)
class Answered:
    """It was answered, or had been; `first` says which."""

    exchange: Exchange
    first: bool


@dataclass(frozen=True)
class NotOpen:
    """The review is closed or on hold, or there is no such question; nothing was changed."""

    why: str  # decided, expired, withdrawn, held, unknown


@dataclass(frozen=True)
class Refused:
    """The person may not."""

    refusal: Refusal


Result: TypeAlias = Said | Answered | NotOpen | Refused
No = TypeVar("No", NotOpen, Refused, NotOpen | Refused)


def may_ask(review: Review, voter: Voter, policy: Policy) -> Refusal | None:
    """Whoever may decide it in any of its stages may ask, and who runs this."""
    found: list[Refusal] = []
    for rule in review.every_rule:
        seat = voter.seat(voter.named(rule, review.requester), review.requester)
        if isinstance(seat, Person):
            return None
        found.append(seat)
    operates = may_operate(policy.operators, voter.person)
    if operates is None:
        return None
    # Not to know is told as that, since it is over in a minute.
    unsure = (one for one in (*found, operates) if one.reason is Reason.CANNOT_CHECK)
    return next(unsure, found[0] if found else Refusal(Reason.NOBODY_MAY))


def may_comment(
    review: Review, voter: Voter, policy: Policy, spec: GraphSpec | None
) -> Refusal | None:
    """Whoever may look at the details may say something of them."""
    rules = [voter.named(rule, review.requester) for rule in review.every_rule]
    return may_view(
        spec,
        policy,
        voter.person,
        requester=review.requester,
        rules=tuple(rule for rule in rules if rule is not None),
    )


def may_answer(voter: Voter, requester: str) -> Refusal | None:
    """Who asked for it answers, a guest too."""
    if not voter.person.known:
        return Refusal(Reason.CANNOT_CHECK)
    if voter.person.deleted:
        return Refusal(Reason.DEACTIVATED)
    return None if voter.person.id == requester else Refusal(Reason.NOT_ALLOWED)


async def ask(
    connection: Connection,
    review_id: int,
    text: str,
    *,
    voter: Voter,
    policy: Policy,
    now: datetime | None = None,
    wish: Wish = no_wish,
) -> Said | NotOpen | Refused:
    """Ask the requester something; the card stays open and its deadline as it is."""
    thread_id, shut = await stands(connection, review_id)
    review = await reviews.find(connection, review_id)
    refused: NotOpen | Refused | None = shut
    if refused is None and review is not None:
        refusal = may_ask(review, voter, policy)
        refused = Refused(refusal) if refusal is not None else None
    if refused is not None:
        return await refuse(connection, "question", refused, thread_id, review_id, voter)
    said = await _say(connection, "question", review_id, thread_id, text, voter, now)
    await wish(connection, ports.QUESTION, str(said.exchange_id))
    await _show(connection, review_id, thread_id, wish)
    return said


async def comment(
    connection: Connection,
    review_id: int,
    text: str,
    *,
    voter: Voter,
    policy: Policy,
    spec: GraphSpec | None = None,
    now: datetime | None = None,
    wish: Wish = no_wish,
) -> Said | NotOpen | Refused:
    """Say something on the card, for everybody who decides."""
    thread_id, shut = await stands(connection, review_id)
    review = await reviews.find(connection, review_id)
    refused: NotOpen | Refused | None = shut
    if refused is None and review is not None:
        refusal = may_comment(review, voter, policy, spec)
        refused = Refused(refusal) if refusal is not None else None
    if refused is not None:
        return await refuse(connection, "comment", refused, thread_id, review_id, voter)
    said = await _say(connection, "comment", review_id, thread_id, text, voter, now)
    await wish(connection, ports.CARD, str(review_id))
    return said


async def answer(
    connection: Connection,
    exchange_id: int,
    text: str,
    *,
    voter: Voter,
    requester: str,
    files: Sequence[str] = (),
    key: str | None = None,
    now: datetime | None = None,
    wish: Wish = no_wish,
) -> Answered | NotOpen | Refused:
    """Answer a question, once; another one's answer is handed back as it stands.

    Args:
        files: the names of what came with it.
        key: of the message that it came in.
    """
    exchange = await find(connection, exchange_id)
    if exchange is None or exchange.kind != "question":
        return await refuse(connection, "answer", NotOpen("unknown"), None, None, voter)
    review_id, thread_id = exchange.review_id, exchange.thread_id
    _, shut = await stands(connection, review_id)
    refusal = may_answer(voter, requester)
    refused: NotOpen | Refused | None = Refused(refusal) if refusal is not None else shut
    # A question that is on hold with its review can be answered all the same: it loses nothing.
    if refused is not None and refused != NotOpen("held"):
        return await refuse(connection, "answer", refused, thread_id, review_id, voter)
    answer_ = _capped(text)
    named = [clean(name)[:255] for name in files[:MAX_FILES]]
    first = await connection.fetchval(
        SQL.answer, exchange_id, answer_, named, voter.person.id, clean(voter.person.name), key, now
    )
    now_ = await find(connection, exchange_id)
    assert now_ is not None  # noqa: S101 - it was found above, and none is deleted
    if first is None:
        return Answered(now_, first=False)
    await audit.record(
        connection, "review.requester_answered", actor=voter.person.id, thread_id=thread_id,
        review_id=review_id,
        detail={
            **_by(voter), "exchange": exchange_id, "question": exchange.said, "text": answer_,
            "files": named,
        },
    )  # fmt: skip
    await wish(connection, ports.ANSWERED, str(exchange_id))
    await wish(connection, ports.QUESTION, str(exchange_id))
    await _show(connection, review_id, thread_id, wish)
    return Answered(now_, first=True)


async def has_key(connection: Connection, thread_id: str, key: str) -> bool:
    """Whether the message with this key has answered a question before."""
    return bool(await connection.fetchval(SQL.has_key, thread_id, key))


async def find(connection: Connection | Database, exchange_id: int) -> Exchange | None:
    """One question or comment."""
    rows = await connection.fetch(SQL.read, None, exchange_id)
    return _exchange(rows[0]) if rows else None


async def of_review(connection: Connection | Database, review_id: int) -> list[Exchange]:
    """What was said of a review, oldest first."""
    return [_exchange(row) for row in await connection.fetch(SQL.read, review_id, None)]


async def unanswered(connection: Connection | Database, thread_id: str) -> list[Exchange]:
    """The questions that wait for the requester, oldest first."""
    return [_exchange(row) for row in await connection.fetch(SQL.unanswered, thread_id)]


async def beside(connection: Connection, review_id: int) -> list[int]:
    """The questions without an answer in the thread of a review: what they say may be past."""
    return [row["id"] for row in await connection.fetch(SQL.beside, review_id)]


# For what else people do with a review


async def stands(connection: Connection, review_id: int) -> tuple[str | None, NotOpen | None]:
    """Lock a review and say which thread it is of, and why people cannot talk about it now."""
    await connection.execute(reviews.SQL.lock_review, review_id)
    row = await connection.fetchrow(SQL.stands, review_id)
    if row is None:
        return None, NotOpen("unknown")
    thread_id: str = row["thread_id"]
    if row["status"] != "open":
        return thread_id, NotOpen(row["status"])
    if row["audience"] != "reviewers":
        return thread_id, NotOpen("unknown")
    return thread_id, NotOpen("held") if row["mark"] in _HELD else None


async def refuse(
    connection: Connection,
    verb: str,
    refused: No,
    thread_id: str | None,
    review_id: int | None,
    voter: Voter,
) -> No:
    """Write the attempt into the record, in the same transaction, and hand the reason back."""
    why = refused.refusal.reason.value if isinstance(refused, Refused) else refused.why
    await audit.record(
        connection, f"{verb}.refused", actor=voter.person.id, thread_id=thread_id,
        review_id=review_id, detail={**_by(voter), "why": why},
    )  # fmt: skip
    return refused


async def _say(
    connection: Connection,
    kind: Literal["question", "comment"],
    review_id: int,
    thread_id: str | None,
    text: str,
    voter: Voter,
    now: datetime | None,
) -> Said:
    said = _capped(text)
    exchange_id: int = await connection.fetchval(
        SQL.say, review_id, thread_id, kind, voter.person.id, clean(voter.person.name), said, now
    )
    what = "review.asked_requester" if kind == "question" else "review.commented"
    await audit.record(
        connection, what, actor=voter.person.id, thread_id=thread_id, review_id=review_id,
        detail={**_by(voter), "exchange": exchange_id, "text": said},
    )  # fmt: skip
    return Said(exchange_id)


async def _show(connection: Connection, review_id: int, thread_id: str | None, wish: Wish) -> None:
    await wish(connection, ports.CARD, str(review_id))
    await wish(connection, ports.PROGRESS, str(thread_id))


def _capped(text: str) -> str:
    return clean(text).strip()[:MAX_CHARACTERS]


def _by(voter: Voter) -> dict[str, str | None]:
    return {"via": voter.via, "os_user": voter.os_user, "name": voter.person.name}


def _exchange(row: Row) -> Exchange:
    values: dict[str, Any] = dict(row)
    return Exchange(**{**values, "files": tuple(values["files"])})
