"""Who says that they are looking at a review: "I will look at it".

It locks nobody out: everybody who may decide still may, and escalation and deadline stay as they
are. It says on the card who is at it, and reminders go to that person alone. Another one may take
it from them, and is told of; they may give it back.

It holds for what was on their desk: once they have decided everything that is open, or the next
stage is asked, or other rules are applied, nobody has taken it, so that nobody waits for a reminder
that another one gets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from checkpoints.database import Connection, Database, Row, queries
from checkpoints.text import clean
from graphs import audit, ports, reviews
from graphs.exchanges import NotOpen, Refused, refuse, stands
from graphs.policy import Person, Reason, Refusal, fingerprint
from graphs.ports import Wish, no_wish
from graphs.reviews import Review
from graphs.votes import Voter

SQL = queries(__file__)


@dataclass(frozen=True)
class Taking:
    """That somebody looks at a review; `under` is each item's rule and stage when they said so."""

    id: int
    review_id: int
    taker: str
    taker_name: str
    under: Mapping[str, Any]
    taken_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True)
class Taken:
    """It is theirs now; `before` is whom they took it from."""

    taking_id: int
    before: Taking | None


@dataclass(frozen=True)
class AlreadyTaken:
    """It was theirs already."""

    at: datetime


@dataclass(frozen=True)
class GivenBack:
    """It is nobody's now."""


@dataclass(frozen=True)
class NotTheirs:
    """Somebody else looks at it, or nobody does."""

    taking: Taking | None


Result: TypeAlias = Taken | AlreadyTaken | GivenBack | NotTheirs | NotOpen | Refused


def may_take(review: Review, voter: Voter) -> Refusal | None:
    """Whoever may decide something of it now may take it on."""
    found: list[Refusal] = []
    for item in review.items:
        if item.status == "open":
            seat = voter.seat(voter.named(item.rule, review.requester), review.requester)
            if isinstance(seat, Person):
                return None
            found.append(seat)
    unsure = (one for one in found if one.reason is Reason.CANNOT_CHECK)
    return next(unsure, found[0] if found else Refusal(Reason.NOBODY_MAY))


def in_force(taking: Taking, review: Review) -> bool:
    """Whether it still says something: see the module."""
    open_ = [item for item in review.items if item.status == "open"]
    if review.status != "open" or taking.ended_at is not None:
        return False
    same = all(taking.under.get(str(item.item)) == _under(item) for item in open_)
    return same and any(
        all(taking.taker not in (vote.voter, vote.seat) for vote in item.standing_votes())
        for item in open_
    )


async def of_review(connection: Connection | Database, review: Review) -> Taking | None:
    """Who is looking at a review now, if anybody said so."""
    if review.status != "open":
        return None
    taking = _taking(await connection.fetchrow(SQL.standing, review.id))
    return taking if taking is not None and in_force(taking, review) else None


async def find(connection: Connection | Database, taking_id: int) -> Taking | None:
    """One of them, also when it is over."""
    return _taking(await connection.fetchrow(SQL.find, taking_id))


async def take(
    connection: Connection,
    review_id: int,
    *,
    voter: Voter,
    now: datetime | None = None,
    wish: Wish = no_wish,
) -> Taken | AlreadyTaken | NotOpen | Refused:
    """Say that the person looks at it, in whose place whoever."""
    thread_id, shut = await stands(connection, review_id)
    review = await reviews.find(connection, review_id)
    if shut is not None or review is None:
        shut = shut or NotOpen("unknown")
        return await refuse(connection, "take", shut, thread_id, review_id, voter)
    if refusal := may_take(review, voter):
        return await refuse(connection, "take", Refused(refusal), thread_id, review_id, voter)
    standing = _taking(await connection.fetchrow(SQL.lock_standing, review_id))
    before = standing if standing is not None and in_force(standing, review) else None
    if before is not None and before.taker == voter.person.id:
        return AlreadyTaken(before.taken_at)
    if standing is not None:
        await connection.execute(SQL.finish, standing.id, now)
    under = {str(item.item): _under(item) for item in review.items}
    taking_id: int = await connection.fetchval(
        SQL.take, review_id, voter.person.id, clean(voter.person.name), under, now
    )
    await audit.record(
        connection, "review.taken", actor=voter.person.id, thread_id=thread_id,
        review_id=review_id,
        detail={
            "via": voter.via, "os_user": voter.os_user, "name": voter.person.name,
            "from": before.taker if before is not None else None,
        },
    )  # fmt: skip
    await wish(connection, ports.CARD, str(review_id))
    if before is not None:
        await wish(connection, ports.TAKEN, f"{taking_id}.{before.taker}")
    return Taken(taking_id, before)


async def give_back(
    connection: Connection,
    review_id: int,
    *,
    voter: Voter,
    now: datetime | None = None,
    wish: Wish = no_wish,
) -> GivenBack | NotTheirs | NotOpen:
    """Say that the person does not look at it any more; that is theirs alone to say."""
    thread_id, shut = await stands(connection, review_id)
    if shut is not None:
        return await refuse(connection, "give_back", shut, thread_id, review_id, voter)
    taking = _taking(await connection.fetchrow(SQL.lock_standing, review_id))
    if taking is None or taking.taker != voter.person.id:
        await audit.record(
            connection, "give_back.refused", actor=voter.person.id, thread_id=thread_id,
            review_id=review_id,
            detail={
                "via": voter.via, "os_user": voter.os_user, "name": voter.person.name,
                "why": "not_theirs",
            },
        )  # fmt: skip
        return NotTheirs(taking)
    await connection.execute(SQL.finish, taking.id, now)
    await audit.record(
        connection, "review.given_back", actor=voter.person.id, thread_id=thread_id,
        review_id=review_id,
        detail={"via": voter.via, "os_user": voter.os_user, "name": voter.person.name},
    )  # fmt: skip
    await wish(connection, ports.CARD, str(review_id))
    return GivenBack()


def _under(item: reviews.Item) -> list[Any]:
    return [fingerprint(item.opened_under), item.stage]


def _taking(row: Row | None) -> Taking | None:
    return Taking(**dict(row)) if row is not None else None
