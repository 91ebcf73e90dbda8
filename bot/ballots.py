"""Votes that come out of Slack: who it is, one transaction, and what they are told if it was none.

Who it is is looked up before the transaction, with 1.5 s for Slack in all. Then the press's key,
the vote, the audit and the wishes are committed together, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import structlog

from bot import deliveries, mishaps, notices, refusals, views, windows
from bot.blocks import Payload
from bot.house import House
from checkpoints.database import Connection
from checkpoints.failpoints import reached
from graphs import audit, reviews, votes
from graphs.plain import plain
from graphs.policy import Person, Policy, Refusal
from graphs.reviews import Item, Review
from graphs.votes import Voter

log = structlog.get_logger("sayso.ballots")

State: TypeAlias = Callable[[str], Awaitable[Any]]
"""Reads a thread's state."""

_OF_AN_ACTION: Final = re.compile(r"([a-z_]{1,40}):([0-9]{1,3})")


@dataclass(frozen=True)
class Ballot:
    """What somebody said: on which card, of which action, and the answer that it stands for."""

    key: str  # of the press or the submission: it counts once
    user: str
    ref: views.Ref
    verb: str
    item: int | None = None
    answer: Any = None
    note: str | None = None
    home: str = ""  # the team it came from, where that is not ours


@dataclass(frozen=True)
class Cast:
    """What became of it; without a result the very same was taken before."""

    result: votes.VoteResult | None = None
    refusal: views.Refusal | None = None


def target(verb: str, review: Review) -> tuple[str, int | None]:
    """The verb and the action that an action id or a callback id names: "edit:1"."""
    found = _OF_AN_ACTION.fullmatch(verb) if review.asking.actions else None
    return (found[1], int(found[2])) if found else (verb, None)


class Ballots:
    """Takes votes."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def cast(self, review: Review, ballot: Ballot) -> Cast:
        """Count one vote, once."""
        house, ref = self._house, ballot.ref
        voter = await self._voter(review, ballot)
        async with house.database.transaction() as connection:
            if not await deliveries.accept(connection, ballot.key, "vote"):
                return Cast()
            result = await votes.vote(
                connection,
                review_id=ref.review_id,
                revision=ref.revision,
                item=ballot.item or 0,
                verb=ballot.verb,
                answer=ballot.answer,
                note=ballot.note,
                voter=voter,
                wish=house.wishes,
                spec=house.specs.get(review.graph),
            )
            refusal = await self._refusal(connection, ballot, result)
            reached("decision.before_commit")
        reached("decision.committed")
        log.info("voted", review=ref.review_id, user=ballot.user, result=type(result).__name__)
        return Cast(result, refusal)

    async def approve_all(self, review: Review, ballot: Ballot) -> Payload | None:
        """Approve what is open and can be approved; what to tell where not all of it was."""
        house, ref = self._house, ballot.ref
        voter = await self._voter(review, ballot)
        person = voter.person
        async with house.database.transaction() as connection:
            if not await deliveries.accept(connection, ballot.key, "vote"):
                return None
            found = await reviews.get(connection, ref.review_id)
            items = votes.approvable(found)
            results = await votes.vote_all(
                connection,
                review_id=ref.review_id,
                revision=ref.revision,
                items=items,
                voter=voter,
                wish=house.wishes,
                spec=house.specs.get(review.graph),
            )
            told = [
                await self._refusal(connection, replace(ballot, item=item), result)
                for item, result in zip(items, results, strict=True)
            ]
            card = await house.renderings.card(connection, ref.review_id)
            if not items:
                keeper = next(iter(await house.renderings.operators(connection)), None)
                none = mishaps.of_card(card, ref, None, keeper)
                await self._record_refusal(connection, review, person, ballot, none)
                return notices.refused(none) if none else None
            reached("decision.before_commit")
        reached("decision.committed")
        log.info("voted on all", review=ref.review_id, user=person.id, items=len(items))
        titles = {action.shown.item: action.shown.title for action in card.actions}
        named = [windows.numbered(titles, item) for item in items]
        return refusals.of_several(named, results, told)

    async def window(self, review: Review, ballot: Ballot, person: Person) -> dict[str, Any]:
        """The window of a choice; whoever may not choose is told so before they write."""
        house = self._house
        voter = await house.approvers.voter_of(person, review, via="slack")
        item = _item(review, ballot.item)
        whole = voter.named(item.whole if item else None, review.requester)
        seat = voter.seat_in(whole, item.stage if item else 0, review.requester)
        refusal = seat if isinstance(seat, Refusal) else None
        async with house.database.transaction() as connection:
            card = await house.renderings.card(connection, review.id)
            if card.ref != ballot.ref and card.change is None:
                change = await house.renderings.change(connection, ballot.ref, ballot.item)
                card = replace(card, change=change)
            keeper = next(iter(await house.renderings.operators(connection)), None)
            told = mishaps.of_card(card, ballot.ref, refusal, keeper, ballot.item)
            if told is None:
                return windows.of_choice(card, ballot.verb, ballot.item)
            await self._record_refusal(connection, review, person, ballot, told)
        if voter.handed is not None and told.kind is views.Refused.HANDED_OVER:
            told = replace(told, by=views.Person(voter.handed.taker, voter.handed.taker_name))
        return notices.refused_view(told)

    async def _voter(self, review: Review, ballot: Ballot) -> Voter:
        house = self._house
        voter = await house.approvers.voter(ballot.user, review, via="slack", home=ballot.home)
        return await judging_edits(voter, review, house.present.policy, house.state)

    async def _refusal(
        self, connection: Connection, ballot: Ballot, result: votes.VoteResult
    ) -> views.Refusal | None:
        if not votes.is_refusal(result):
            return None
        renderings = self._house.renderings
        card = None
        if not isinstance(result, votes.Unknown):
            card = await renderings.card(connection, ballot.ref.review_id)
        if card is not None and isinstance(result, votes.Superseded):
            change = await renderings.change(connection, ballot.ref, ballot.item)
            card = replace(card, change=change)
        keeper = next(iter(await renderings.operators(connection)), None)
        return mishaps.of_vote(result, card, keeper, ballot.item)

    async def _record_refusal(
        self,
        connection: Connection,
        review: Review,
        person: Person,
        ballot: Ballot,
        told: views.Refusal | None,
    ) -> None:
        detail: Mapping[str, Any] = {
            "why": told.kind if told else "nothing_open",
            "verb": ballot.verb,
            "item": ballot.item,
            "via": "slack",
            "before_writing": True,
        }
        await audit.record(
            connection,
            "vote.refused",
            actor=person.id,
            thread_id=review.thread_id,
            review_id=review.id,
            detail=detail,
        )


async def judging_edits(voter: Voter, review: Review, policy: Policy, state: State) -> Voter:
    """The voter with all that tells under which rule an edit leads an action."""
    looks = bool(review.asking.actions) and policy.asks_of_state(review.graph)
    found = plain(await state(review.thread_id)) if looks else None
    return replace(voter, policy=policy, state=found)


def _item(review: Review, item: int | None) -> Item | None:
    return next((one for one in review.items if one.item == (item or 0)), None)
