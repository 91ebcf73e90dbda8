"""Handing a request to somebody else from the menu of its card, and taking it back.

Who everybody is is looked up before the transaction; then one transaction with the key of the
submission, the verb, the record and the wishes. What is wrong with the person that was chosen is
told at that field, and everything else in the place of the window.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from bot import deliveries, handing, mishaps, notices, rows, views
from bot.handing import HAND_OVER, TAKE_BACK
from bot.house import House
from bot.rows import words
from bot.wording import first_of, phrase
from checkpoints.database import Connection
from checkpoints.failpoints import reached
from graphs import covers, handovers
from graphs.exchanges import NotOpen
from graphs.handovers import Given, NotGiven, Refused, TakenBack
from graphs.policy import Reason
from graphs.reviews import Review

WINDOWS: Final = frozenset({HAND_OVER, TAKE_BACK})


class Handing:
    """Takes the menu's choice and what was submitted."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def window(self, review: Review, user: str) -> dict[str, Any]:
        """The window to choose in, or to take it back; whoever may not is told so."""
        house = self._house
        voter = await house.approvers.voter(user, review, via="slack")
        async with house.database.transaction() as connection:
            card = await house.renderings.card(connection, review.id)
            refused: NotOpen | Refused | None = None
            if card.status is not views.Status.OPEN or review.status != "open":
                refused = NotOpen("held" if card.status is views.Status.HELD else review.status)
            elif review.audience != "reviewers":
                refused = NotOpen("unknown")
            else:
                given = await covers.of_review(connection, review.id)
                refused = handovers.may_give(review, voter, given)
            if isinstance(refused, Refused) and refused.handover is not None:
                taker = refused.handover.taker
                names = {taker: refused.handover.taker_name}
                names |= await house.people.names(connection, [taker])
                return handing.given(card, refused.handover, rows.person(taker, names))
            if refused is None:
                return handing.window(card)
            await handovers.refuse(
                connection, HAND_OVER, refused, review.thread_id, review.id, voter
            )
            told = await self._told(connection, review, refused)
        return notices.refused_view(told)

    async def submit(
        self, body: Mapping[str, Any], view: Mapping[str, Any], name: str, review: Review, user: str
    ) -> views.Refusal | dict[str, str] | None:
        """Do it, once; why it was not done, or what to mend in which field."""
        house = self._house
        taker, note = handing.chosen(view) if name == HAND_OVER else ("", "")
        # A window that was submitted again is another submission, also of the same: the first may
        # have been refused because Slack did not answer.
        key = f"{deliveries.view_key(body)}:{deliveries.trigger_key(body)}"
        if name == HAND_OVER and not taker.startswith(("U", "W")):
            return {handing.PERSON: phrase("hand_over.taker.none")}
        voter, other = await asyncio.gather(
            house.approvers.voter(user, review, via="slack"),
            house.approvers.person(taker or user, review),
        )
        async with house.database.transaction() as connection:
            if not await deliveries.accept(connection, key, name):
                return None
            done: handovers.Result
            if name == HAND_OVER:
                done = await handovers.give(
                    connection, review.id, voter=voter, taker=other, note=note, wish=house.wishes
                )
            else:
                done = await handovers.take_back(
                    connection, review.id, voter=voter, wish=house.wishes
                )
            if isinstance(done, Given | TakenBack):
                told = None
            elif isinstance(done, Refused) and done.of_taker:
                return {handing.PERSON: self._of_taker(review, done)}
            else:
                told = await self._told(connection, review, done)
            reached("remark.before_commit")
        reached("remark.committed")
        return told

    async def _told(
        self, connection: Connection, review: Review, done: NotGiven | NotOpen | Refused
    ) -> views.Refusal:
        house = self._house
        keeper = next(iter(await house.renderings.operators(connection)), None)
        plainly = views.Refusal(
            views.Refused.MAY_NOT_HAND_OVER,
            ref=views.Ref(review.id, review.revision),
            words=words(house.specs.get(review.graph), review.graph),
            keeper=keeper,
        )
        if isinstance(done, NotGiven):
            return replace(plainly, kind=views.Refused.NOT_HANDED_OVER)
        if isinstance(done, NotOpen):
            if done.why == "unknown":
                return views.Refusal(views.Refused.UNKNOWN_BUTTON)
            card = await house.renderings.card(connection, review.id)
            told = mishaps.of_card(card, card.ref, None, None)
            return told or views.Refusal(views.Refused.BUSY, ref=card.ref)
        if done.handover is not None:
            by = views.Person(done.handover.taker, done.handover.taker_name)
            return replace(plainly, kind=views.Refused.HANDED_OVER, by=by)
        if done.why == Reason.CANNOT_CHECK.value:
            return replace(plainly, kind=views.Refused.CANNOT_CHECK)
        if done.why == "voted":
            return replace(plainly, kind=views.Refused.ALREADY_VOTED)
        return plainly

    def _of_taker(self, review: Review, done: Refused) -> str:
        """What is wrong with the person that was chosen, at their field."""
        noun = words(self._house.specs.get(review.graph), review.graph).noun
        key = first_of(f"hand_over.taker.{done.why}", "hand_over.taker.not_allowed")
        return phrase(key, noun=noun)
