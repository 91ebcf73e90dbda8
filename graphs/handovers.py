"""Handing one review to somebody else: they decide it in the giver's place.

The giver has no say on it until they take it back, and the vote of the other one counts for them,
so nobody gets a second vote by it. Who takes it has to be somebody whom the rule lets decide for
another: a full member, not who asked for it, and where several have to decide nobody who is one of
them already, since one of the votes would be missing then.

It locks the review and reads after, as a vote does. Every refusal is a typed result and an audit
entry in the same transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

from checkpoints.database import Connection, Database, Row, queries
from checkpoints.text import clean
from graphs import audit, covers, ports, reviews, takings
from graphs.covers import Handover
from graphs.exchanges import NotOpen, stands
from graphs.policy import Person, Refusal, may_decide, may_decide_for
from graphs.ports import Wish, no_wish
from graphs.reviews import Item, Review
from graphs.specs import Rule
from graphs.votes import Voter

SQL = queries(__file__)
MAX_NOTE_CHARACTERS: Final = 500


@dataclass(frozen=True)
class Given:
    """It is with the other one now."""

    handover: Handover


@dataclass(frozen=True)
class TakenBack:
    """It is with the giver again."""

    handover: Handover


@dataclass(frozen=True)
class NotGiven:
    """It was handed to nobody, so that there is nothing to take back."""


@dataclass(frozen=True)
class Refused:
    """It stays where it is: a reason of `graphs.policy`, or one of these.

    "given": the giver handed it over before; "voted": they have decided; "oneself"; "decided": the
    other one has; "handed_on": the other one handed it over; "twice": the other one decides it
    already and more are needed. `of_taker` where it is about the other one.
    """

    why: str
    of_taker: bool = False
    handover: Handover | None = None


Result: TypeAlias = Given | TakenBack | NotGiven | NotOpen | Refused


def may_give(review: Review, voter: Voter, given: Sequence[Handover] = ()) -> Refused | None:
    """Whether the person has a say of their own on something open that they could hand over."""
    before = next((one for one in given if one.giver == voter.person.id), None)
    if before is not None:
        return Refused("given", handover=before)
    refusals = [
        may_decide(voter.named(item.rule, review.requester), voter.person, review.requester)
        for item in _open(review)
    ]
    if None not in refusals:
        return Refused(_first(refusals))
    theirs = [item for item, refusal in zip(_open(review), refusals, strict=True) if not refusal]
    return Refused("voted") if all(_has_voted(item, voter.person.id) for item in theirs) else None


def may_take(
    review: Review, voter: Voter, taker: Person, given: Sequence[Handover] = ()
) -> Refused | None:
    """Whether the other one may decide what the person hands over."""
    if taker.id == voter.person.id:
        return Refused("oneself", of_taker=True)
    if any(one.giver == taker.id for one in given):
        return Refused("handed_on", of_taker=True)
    found: list[str | None] = []
    for item in _open(review):
        rule = voter.named(item.rule, review.requester)
        if may_decide(rule, voter.person, review.requester) is None:
            found.append(_why_not(item, rule, review.requester, voter.person, taker))
    return None if None in found else Refused(found[0] or "not_allowed", of_taker=True)


async def give(
    connection: Connection,
    review_id: int,
    *,
    voter: Voter,
    taker: Person,
    note: str = "",
    by: str | None = None,
    now: datetime | None = None,
    wish: Wish = no_wish,
) -> Given | NotOpen | Refused:
    """Hand a review over, from the voter to the taker.

    Args:
        by: the operator who does it in the voter's place.
    """
    actor = by or voter.person.id
    thread_id, shut = await stands(connection, review_id)
    review = await reviews.find(connection, review_id)
    refused: NotOpen | Refused | None = shut
    if refused is None and review is not None:
        given = await covers.of_review(connection, review_id)
        refused = may_give(review, voter, given) or may_take(review, voter, taker, given)
    if refused is not None:
        return await refuse(connection, "hand_over", refused, thread_id, review_id, voter, taker.id)
    handover_id: int = await connection.fetchval(
        SQL.make, review_id, voter.person.id, clean(voter.person.name), taker.id,
        clean(taker.name), clean(note).strip()[:MAX_NOTE_CHARACTERS] or None, actor, now,
    )  # fmt: skip
    handover = await get(connection, handover_id)
    await audit.record(
        connection, "review.handed_over", actor=actor, thread_id=thread_id, review_id=review_id,
        detail={**_said(handover, voter), "note": handover.note},
    )  # fmt: skip
    # Reminders would go to them alone, and they have no say on it any more.
    assert review is not None  # noqa: S101 - it stands
    taking = await takings.of_review(connection, review)
    if taking is not None and taking.taker == voter.person.id:
        await connection.execute(takings.SQL.finish, taking.id, now)
    await _show(connection, handover, wish)
    return Given(handover)


async def take_back(
    connection: Connection,
    review_id: int,
    *,
    voter: Voter,
    by: str | None = None,
    now: datetime | None = None,
    wish: Wish = no_wish,
) -> TakenBack | NotGiven | NotOpen:
    """Let the giver decide a review themselves again."""
    thread_id, shut = await stands(connection, review_id)
    if shut is not None:
        await refuse(connection, "take_back", shut, thread_id, review_id, voter)
        return shut
    handover = await covers.handed_over(connection, review_id, voter.person.id)
    if handover is None:
        nothing = Refused("not_given")
        await refuse(connection, "take_back", nothing, thread_id, review_id, voter)
        return NotGiven()
    actor = by or voter.person.id
    await connection.execute(SQL.take_back, handover.id, now, actor)
    await audit.record(
        connection, "review.taken_back", actor=actor, thread_id=thread_id, review_id=review_id,
        detail=_said(handover, voter),
    )  # fmt: skip
    await _show(connection, handover, wish)
    return TakenBack(handover)


async def find(connection: Connection | Database, handover_id: int) -> Handover | None:
    """One of them, also after it was taken back."""
    row: Row | None = await connection.fetchrow(SQL.find, handover_id)
    return Handover(**row) if row is not None else None


async def get(connection: Connection | Database, handover_id: int) -> Handover:
    """One of them that is there."""
    found = await find(connection, handover_id)
    assert found is not None  # noqa: S101 - none is ever deleted
    return found


async def refuse(
    connection: Connection,
    verb: str,
    refused: NotOpen | Refused,
    thread_id: str | None,
    review_id: int | None,
    voter: Voter,
    taker: str = "",
) -> NotOpen | Refused:
    """Write the attempt into the record, in the same transaction, and hand the reason back."""
    of_taker = isinstance(refused, Refused) and refused.of_taker
    await audit.record(
        connection, f"{verb}.refused", actor=voter.person.id, thread_id=thread_id,
        review_id=review_id,
        detail={
            "via": voter.via, "os_user": voter.os_user, "name": voter.person.name,
            "why": refused.why, "of_taker": of_taker, "to": taker,
        },
    )  # fmt: skip
    return refused


def _open(review: Review) -> list[Item]:
    return [item for item in review.items if item.status == "open"]


def _why_not(
    item: Item, rule: Rule | None, requester: str, giver: Person, taker: Person
) -> str | None:
    if refusal := may_decide_for(rule, taker, giver, requester):
        return refusal.reason.value
    if _has_voted(item, taker.id):
        return "decided"
    several = rule is not None and rule.quorum > 1
    return "twice" if several and may_decide(rule, taker, requester) is None else None


def _has_voted(item: Item, person: str) -> bool:
    return any(person in (vote.voter, vote.seat) for vote in item.standing_votes())


def _first(refusals: Sequence[Refusal | None]) -> str:
    return next((one.reason.value for one in refusals if one is not None), "not_allowed")


def _said(handover: Handover, voter: Voter) -> dict[str, Any]:
    return {
        "via": voter.via,
        "os_user": voter.os_user,
        "name": handover.giver_name,
        "from": handover.giver,
        "to": handover.taker,
        "to_name": handover.taker_name,
    }


async def _show(connection: Connection, handover: Handover, wish: Wish) -> None:
    await reviews.renew_asks(connection, handover.review_id)
    await wish(connection, ports.CARD, str(handover.review_id))
    await wish(connection, ports.HANDED, str(handover.id))
