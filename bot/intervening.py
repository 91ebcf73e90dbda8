"""The buttons that change a thread from outside: Try again, Ask again, and Withdraw.

Who may is looked up before the transaction; then one transaction with the press's key, the
intervention, the record and the wishes. What is refused, by the rules or because the thread has
moved on since the button was drawn, is recorded too, and told to whoever pressed and nobody else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from bot import deliveries, mishaps, notices, views
from bot.cards import Payload
from bot.house import House
from bot.whispers import place_of, whisper
from bot.wording import phrase
from checkpoints.database import Connection
from graphs import audit, interventions
from graphs.policy import Person, Refusal, may_decide, may_operate, may_withdraw
from graphs.reviews import Review
from graphs.specs import Rule
from graphs.threads import Status

TRY_AGAIN: Final = "try_again"
ASK_AGAIN: Final = "ask_again"
WITHDRAW: Final = "withdraw"


class Intervening:
    """Takes presses of Try again, Ask again and Withdraw."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def take(
        self,
        body: Mapping[str, Any],
        action: Mapping[str, Any],
        verb: str,
        ref: views.Ref,
        review: Review,
    ) -> None:
        """Do what was pressed on the review's card or message, once."""
        house = self._house
        user = str((body.get("user") or {}).get("id") or "")
        person = await house.approvers.person(user, review, house.policy.operators)
        rules = await house.approvers.rules(review)
        async with house.database.transaction() as connection:
            if not await deliveries.accept(connection, deliveries.action_key(body, action), verb):
                return
            refusal = self._may(verb, review, rules, person)
            done = None
            if refusal is None:
                done = await self._do(connection, verb, ref, review, person)
            why = _why(refusal, done)
            if why is not None:
                await audit.record(
                    connection,
                    f"{verb}.refused",
                    actor=person.id,
                    thread_id=review.thread_id,
                    review_id=review.id,
                    detail={**why, "revision": ref.revision},
                )
            card = await house.renderings.card(connection, review.id)
        if refusal is not None:
            kind = mishaps.of_other(refusal.reason, _NOT_ALLOWED[verb])
            refused = views.Refusal(kind, ref=card.ref, words=card.words)
            self._tell(body, person, notices.refused(refused))
        elif isinstance(done, interventions.NotPossible):
            self._tell(body, person, notices.told(phrase(_not_possible(verb, done.status))))

    def _may(
        self, verb: str, review: Review, rules: Sequence[Rule], person: Person
    ) -> Refusal | None:
        """Who asked and who runs it may try again and withdraw; who decides may try again, for the
        approval stands, and ask again as far as they might have decided this request.
        """
        operators = self._house.policy.operators
        if verb == ASK_AGAIN:
            refusal = may_operate(operators, person)
            return None if _decides(rules, person, review.requester) else refusal
        refusal = may_withdraw(operators, person, review.requester)
        return None if verb == TRY_AGAIN and _decides(rules, person, "") else refusal

    async def _do(
        self, connection: Connection, verb: str, ref: views.Ref, review: Review, person: Person
    ) -> interventions.Result:
        """Do it as far as this person's right goes; the requester's ends at a decision."""
        thread_id, wish = review.thread_id, self._house.wishes
        if verb == TRY_AGAIN:
            operates = may_operate(self._house.policy.operators, person) is None
            return await interventions.retry(
                connection, thread_id, by=person.id, may_unpark=operates, wish=wish
            )
        if verb == ASK_AGAIN:
            return await interventions.ask_again(
                connection, thread_id, by=person.id, review_id=review.id, wish=wish
            )
        if person.id != review.requester:
            return await interventions.cancel(connection, thread_id, by=person.id, wish=wish)
        return await interventions.withdraw(
            connection,
            thread_id,
            by=person.id,
            review_id=ref.review_id,
            revision=ref.revision,
            wish=wish,
        )

    def _tell(self, body: Mapping[str, Any], person: Person, said: Payload) -> None:
        channel, root = place_of(body)
        whisper(self._house, said, user=person.id, channel=channel, root=root)


_NOT_ALLOWED: Final = {
    TRY_AGAIN: views.Refused.MAY_NOT_RETRY,
    ASK_AGAIN: views.Refused.MAY_NOT_ASK_AGAIN,
    WITHDRAW: views.Refused.MAY_NOT_WITHDRAW,
}


def _decides(rules: Sequence[Rule], person: Person, requester: str) -> bool:
    """Whether one of ours decides in one of the stages; who is let in to decide does just that."""
    if person.is_stranger:
        return False
    return any(may_decide(rule, person, requester) is None for rule in rules)


def _why(refusal: Refusal | None, done: interventions.Result | None) -> dict[str, Any] | None:
    """What the record says of a press that did nothing."""
    if refusal is not None:
        return {"why": refusal.reason}
    if isinstance(done, interventions.NotPossible):
        return {"why": "not_possible", "status": done.status}
    return None


def _not_possible(verb: str, status: Status) -> str:
    """The sentence that says why nothing was done."""
    if verb == TRY_AGAIN:
        held = status in (Status.HELD, Status.PARKED)
        return f"private.not_possible.try_again{'.held' if held else ''}"
    if verb == ASK_AGAIN:
        return "private.not_possible.ask_again"
    ended = status in (Status.DONE, Status.CANCELLED)
    return f"private.not_possible.withdraw{'' if ended else '.decided'}"
