"""Presses and submissions that decide nothing: questions, answers, comments, "I will look at it".

Who it is is looked up before the transaction; then one transaction with the key of the press or the
submission, the verb, the record and the wishes. Whoever may not, or comes too late, is told so and
nobody else is; what they wrote is given back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from bot import deliveries, mishaps, notices, remarks, talks, views
from bot.blocks import Payload
from bot.house import House
from bot.rows import can_be_asked, words
from bot.wording import phrase
from checkpoints.database import Connection
from graphs import exchanges, takings
from graphs.exchanges import NotOpen, Refused
from graphs.reviews import Review
from graphs.votes import Voter

QUESTION, COMMENT, ANSWER = "question", "comment", remarks.ANSWER
TAKE, GIVE_BACK = "take", "give_back"
WINDOWS: Final = frozenset({QUESTION, COMMENT, ANSWER})
PRESSES: Final = frozenset({TAKE, GIVE_BACK})
REFUSED: Final = {
    QUESTION: views.Refused.MAY_NOT_ASK,
    COMMENT: views.Refused.MAY_NOT_COMMENT,
    ANSWER: views.Refused.MAY_NOT_ANSWER,
    TAKE: views.Refused.MAY_NOT_TAKE,
    GIVE_BACK: views.Refused.NOT_THEIRS,
}
# What the record calls the attempt.
TRIED: Final = {**{verb: verb for verb in REFUSED}, ANSWER: "answer"}


@dataclass(frozen=True)
class Remark:
    """What somebody submitted: in which window, and their words."""

    key: str  # of the submission: it counts once
    user: str
    name: str  # "question", "comment", "answer_question:17"
    text: str


class Talking:
    """Takes what people do with a review besides deciding it."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def window(self, name: str, review: Review, user: str) -> dict[str, Any]:
        """The window to write in; whoever may not is told so before they write."""
        verb, house = name.partition(":")[0], self._house
        voter = await self._voter(user, review)
        async with house.database.transaction() as connection:
            card = await house.renderings.card(connection, review.id)
            if verb == ANSWER:
                return await self._to_answer(connection, name, review, card, voter)
            refused = self._before(verb, review, card, voter)
            if refused is None:
                return remarks.question(card) if verb == QUESTION else remarks.comment(card)
            await exchanges.refuse(connection, verb, refused, review.thread_id, review.id, voter)
            told = await self._refusal(connection, verb, review, refused)
        return notices.refused_view(told)

    async def submit(self, review: Review, remark: Remark) -> views.Refusal | None:
        """Take what was written, once; why it was not taken, where it was not."""
        house = self._house
        verb, voter = remark.name.partition(":")[0], await self._voter(remark.user, review)
        async with house.database.transaction() as connection:
            if not await deliveries.accept(connection, remark.key, verb):
                return None
            done = await self._said(connection, verb, review, remark, voter)
            return await self._told(connection, verb, review, done)

    async def press(
        self, verb: str, review: Review, user: str, key: str
    ) -> views.Refusal | Payload | None:
        """Take it on, or give it back, once; what to tell whoever pressed, if anything."""
        house = self._house
        voter = await self._voter(user, review)
        async with house.database.transaction() as connection:
            if not await deliveries.accept(connection, key, verb):
                return None
            done: takings.Result
            if verb == TAKE:
                done = await takings.take(connection, review.id, voter=voter, wish=house.wishes)
            else:
                done = await takings.give_back(
                    connection, review.id, voter=voter, wish=house.wishes
                )
            if isinstance(done, NotOpen | Refused):
                return await self._refusal(connection, verb, review, done)
        noun = words(house.specs.get(review.graph), review.graph).noun
        if isinstance(done, takings.AlreadyTaken):
            return notices.told(phrase("private.taken.already", noun=noun))
        if isinstance(done, takings.NotTheirs):
            return self._plainly(review, views.Refused.NOT_THEIRS)
        return None

    # What the verbs do

    async def _said(
        self,
        connection: Connection,
        verb: str,
        review: Review,
        remark: Remark,
        voter: Voter,
    ) -> exchanges.Result:
        house = self._house
        if verb == QUESTION:
            return await exchanges.ask(
                connection, review.id, remark.text, voter=voter, policy=house.policy,
                wish=house.wishes,
            )  # fmt: skip
        if verb == COMMENT:
            return await exchanges.comment(
                connection, review.id, remark.text, voter=voter, policy=house.policy,
                spec=house.specs.get(review.graph), wish=house.wishes,
            )  # fmt: skip
        exchange_id = _number(remark.name)
        exchange = await exchanges.find(connection, exchange_id)
        if exchange is None or exchange.review_id != review.id:
            exchange_id = 0  # the window was for another request
        return await exchanges.answer(
            connection, exchange_id, remark.text, voter=voter, requester=review.requester,
            wish=house.wishes,
        )  # fmt: skip

    async def _to_answer(
        self,
        connection: Connection,
        name: str,
        review: Review,
        card: views.CardView,
        voter: Voter,
    ) -> dict[str, Any]:
        """The window for an answer, or why none is needed of this person."""
        exchange = await exchanges.find(connection, _number(name))
        refused: NotOpen | Refused | None = None
        if exchange is None or exchange.kind != QUESTION or exchange.review_id != review.id:
            refused = NotOpen("unknown")
        elif refusal := exchanges.may_answer(voter, review.requester):
            refused = Refused(refusal)
        elif review.status != "open":
            refused = NotOpen(review.status)
        if refused is not None:
            tried = TRIED[ANSWER]
            await exchanges.refuse(connection, tried, refused, review.thread_id, review.id, voter)
            return notices.refused_view(await self._refusal(connection, ANSWER, review, refused))
        assert exchange is not None  # noqa: S101 - looked at above
        if exchange.answered_at is not None:
            return notices.refused_view(self._plainly(review, views.Refused.ANSWERED))
        return remarks.answer(card, await talks.one(connection, self._house.people, exchange))

    def _before(
        self, verb: str, review: Review, card: views.CardView, voter: Voter
    ) -> NotOpen | Refused | None:
        """Why the person cannot write here now, before they do."""
        house = self._house
        if card.status is views.Status.HELD:
            return NotOpen("held")
        if review.status != "open":
            return NotOpen(review.status)
        asks = review.audience == "reviewers"
        if not asks or (verb == QUESTION and not can_be_asked(review.requester)):
            return NotOpen("unknown")
        refusal = (
            exchanges.may_ask(review, voter, house.policy)
            if verb == QUESTION
            else exchanges.may_comment(review, voter, house.policy, house.specs.get(review.graph))
        )
        return Refused(refusal) if refusal is not None else None

    # What people are told

    async def _told(
        self, connection: Connection, verb: str, review: Review, done: exchanges.Result
    ) -> views.Refusal | None:
        if isinstance(done, exchanges.Answered) and not done.first:
            return self._plainly(review, views.Refused.ANSWERED)
        if isinstance(done, NotOpen | Refused):
            return await self._refusal(connection, verb, review, done)
        return None

    async def _refusal(
        self, connection: Connection, verb: str, review: Review, done: NotOpen | Refused
    ) -> views.Refusal:
        house = self._house
        if isinstance(done, Refused):
            keeper = next(iter(await house.renderings.operators(connection)), None)
            return self._plainly(
                review, mishaps.of_other(done.refusal.reason, REFUSED[verb]), keeper
            )
        if done.why == "unknown":
            return views.Refusal(views.Refused.UNKNOWN_BUTTON)
        if verb == ANSWER:
            return self._plainly(review, views.Refused.NOT_NEEDED)
        card = await house.renderings.card(connection, review.id)
        told = mishaps.of_card(card, card.ref, None, None)
        return told or views.Refusal(views.Refused.BUSY, ref=card.ref)

    def _plainly(
        self, review: Review, kind: views.Refused, keeper: views.Person | None = None
    ) -> views.Refusal:
        return views.Refusal(
            kind,
            ref=views.Ref(review.id, review.revision),
            words=words(self._house.specs.get(review.graph), review.graph),
            keeper=keeper,
        )

    async def _voter(self, user: str, review: Review) -> Voter:
        """Who it is, with their groups as far as the rules, the viewers and the operators ask."""
        house, spec = self._house, self._house.specs.get(review.graph)
        also = [house.policy.operators, *([spec.viewers] if spec is not None else [])]
        person = await house.approvers.person(user, review, *also)
        return await house.approvers.voter_of(person, review, via="slack")


def _number(name: str) -> int:
    """The question that a button or a window is for: "answer_question:17"."""
    number = name.partition(":")[2]
    return int(number) if number.isdecimal() and len(number) < 19 else 0
