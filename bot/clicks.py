"""What people press and submit: buttons of cards and messages, and the windows behind them.

A button carries "review.revision" and nothing else; what it does is its action id. Three kinds:

- **decisions** are a vote: who is it (before the transaction, with 1.5 s for Slack in all), then
  one transaction with the press's key, the vote, the audit and the wishes; commit; acknowledge.
  The loser of a race, and whoever may not, is told privately.
- **openers** of a window have nothing to commit: acknowledge, then open a loading view at once
  (the trigger lives three seconds), then look who it is, then fill it.
- **openers of links** are acknowledged and do nothing.

A submission is answered with nothing (the window closes), with another view in its place that
says why it was not counted, or with what to mend in a field.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import orjson
import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot import arrivals, deliveries, limits, mishaps, modals, notices, views
from bot.errors import SlackFailed
from bot.house import House
from bot.intervening import TRY_AGAIN, WITHDRAW, Intervening
from bot.looking import Looking
from bot.renderings import words
from bot.whispers import place_of, whisper
from checkpoints.errors import SaysoError
from checkpoints.failpoints import reached
from graphs import audit, reviews, votes
from graphs.policy import Person, Reason, may_decide
from graphs.reviews import Review
from graphs.specs import Rule
from graphs.votes import Voter

log = structlog.get_logger("sayso.clicks")

OPEN_SECONDS: Final = 2.0
DETAILS, KNOWN, OPEN = "details", "known", "open"
_REF = re.compile(r"([0-9]{1,18})\.([0-9]{1,9})")

Fill = Callable[[Person], Awaitable[dict[str, Any]]]


class Clicks:
    """Takes block actions and view submissions."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._looking = Looking(house)
        self._intervening = Intervening(house)

    def register(self, app: AsyncApp) -> None:
        """Tell Bolt who takes what."""
        app.action(re.compile(".*"))(self.pressed)
        app.view(re.compile(".*"))(self.submitted)

    async def pressed(self, body: dict[str, Any], action: dict[str, Any], ack: AsyncAck) -> None:
        """Take the press of a button or the choice of a menu."""
        verb, ref = _what(action)
        if verb == OPEN or action.get("url"):
            await ack()
            return
        if ref is None:
            await self._not_known(body, verb, views.Refused.UNKNOWN_BUTTON)
            await ack()
            return
        try:
            review = await reviews.find(self._house.database, ref.review_id)
            if review is None:
                await self._not_known(body, verb, views.Refused.UNKNOWN)
                await ack()
            elif arrivals.is_foreign(self._house.workspace, body):
                self._tell(body, await self._foreign(body, verb, ref, review))
                await ack()
            elif verb in {DETAILS, KNOWN}:
                await ack()
                self._open(body, ref, lambda person: self._look(verb, review, person))
            elif verb in {TRY_AGAIN, WITHDRAW}:
                await self._intervening.take(body, action, verb, ref, review)
                await ack()
            else:
                await self._choose(body, action, verb, ref, review, ack)
        except SaysoError:
            self._tell(body, views.Refusal(views.Refused.BUSY, ref=ref))
            raise

    async def _choose(
        self,
        body: dict[str, Any],
        action: dict[str, Any],
        verb: str,
        ref: views.Ref,
        review: Review,
        ack: AsyncAck,
    ) -> None:
        choice = review.shown(self._house.specs.get(review.graph)).choice(verb)
        if choice is None:
            await self._not_known(body, verb, views.Refused.UNKNOWN_BUTTON)
            await ack()
        elif choice.needs == "note":
            await ack()
            self._open(body, ref, lambda person: self._ask_for_note(verb, ref, review, person))
        else:
            key = deliveries.action_key(body, action)
            _, refusal = await self._vote(key, body, ref, review.rule, verb, choice.answer(None))
            await ack()
            if refusal is not None:
                self._tell(body, refusal)

    # Decisions

    async def _vote(
        self,
        key: str,
        body: Mapping[str, Any],
        ref: views.Ref,
        rule: Rule | None,
        verb: str,
        answer: Any,
        note: str | None = None,
    ) -> tuple[votes.VoteResult | None, views.Refusal | None]:
        """Cast a vote; None for a result where this very request was taken before."""
        house = self._house
        person = await house.people.person(_user(body), rule.approvers.groups if rule else ())
        async with house.database.transaction() as connection:
            if not await deliveries.accept(connection, key, "vote"):
                return None, None
            result = await votes.vote(
                connection,
                review_id=ref.review_id,
                revision=ref.revision,
                verb=verb,
                answer=answer,
                note=note,
                voter=Voter(person, via="slack"),
                wish=house.wishes,
            )
            card = None
            if not isinstance(result, votes.Counted | votes.Decided | votes.Unknown):
                card = await house.renderings.card(connection, ref.review_id)
            keeper = next(iter(await house.renderings.operators(connection)), None)
            reached("decision.before_commit")
        reached("decision.committed")
        log.info("voted", review=ref.review_id, user=person.id, result=type(result).__name__)
        return result, mishaps.of_vote(result, card, keeper)

    async def submitted(self, body: dict[str, Any], view: dict[str, Any], ack: AsyncAck) -> None:
        """Take what was written in the window of a choice."""
        verb, ref = str(view.get("callback_id") or ""), _ref(view.get("private_metadata"))
        block, note = _written(view)
        review = await reviews.find(self._house.database, ref.review_id) if ref else None
        choice = None
        if review is not None:
            choice = review.shown(self._house.specs.get(review.graph)).choice(verb)
        if ref is None or review is None or choice is None:
            await self._record_unknown(body, verb)
            refused = views.Refusal(views.Refused.UNKNOWN_BUTTON, ref=ref)
            await ack(response_action="update", view=notices.refused_view(refused, wrote=note))
            return
        if arrivals.is_foreign(self._house.workspace, body):
            refused = await self._foreign(body, verb, ref, review)
            await ack(response_action="update", view=notices.refused_view(refused, wrote=note))
            return
        if not note.strip():
            await ack(response_action="errors", errors={block: _WRITE_SOMETHING})
            return
        result, refusal = await self._vote(
            # A window that was mended and submitted again is another submission.
            f"{deliveries.view_key(body)}:{_short_hash([verb, note])}",
            body,
            ref,
            review.rule,
            verb,
            choice.answer(note.strip()),
            note.strip(),
        )
        if refusal is None:
            await ack()
        elif isinstance(result, votes.BadAnswer):
            await ack(response_action="errors", errors={block: result.message[:_ERROR]})
        else:
            await ack(response_action="update", view=notices.refused_view(refusal, wrote=note))

    # Windows

    def _open(self, body: Mapping[str, Any], ref: views.Ref, fill: Fill) -> None:
        """Open a window after the acknowledgement; a private word says so if it does not open."""
        self._house.afterwards.start(self._open_and_fill(body, ref, fill), f"window of {ref}")

    async def _open_and_fill(self, body: Mapping[str, Any], ref: views.Ref, fill: Fill) -> None:
        house = self._house
        try:
            method = "views.push" if body.get("view", {}).get("type") == "modal" else "views.open"
            opened = await house.slack.call(
                method,
                timeout=OPEN_SECONDS,
                trigger_id=str(body.get("trigger_id") or ""),
                view=modals.loading(ref),
            )
        except SlackFailed as error:
            log.warning("a window did not open", review=ref.review_id, error=error.error)
            self._tell(body, views.Refusal(views.Refused.CANNOT_OPEN, ref=ref))
            return
        try:
            person = await self._who(body, ref)
            view = await fill(person)
            limits.check_view(view)
        except SaysoError as error:
            log.warning("a window was not filled", review=ref.review_id, error=str(error))
            view = notices.refused_view(views.Refusal(views.Refused.BUSY, ref=ref))
        await house.slack.call("views.update", view_id=opened["view"]["id"], view=view)

    async def _who(self, body: Mapping[str, Any], ref: views.Ref) -> Person:
        review = await reviews.get(self._house.database, ref.review_id)
        groups = set(self._house.policy.operators.groups)
        if review.rule is not None:
            groups |= set(review.rule.approvers.groups)
        spec = self._house.specs.get(review.graph)
        if spec is not None:
            groups |= set(spec.viewers.groups)
        return await self._house.people.person(_user(body), sorted(groups))

    async def _look(self, verb: str, review: Review, person: Person) -> dict[str, Any]:
        if verb == KNOWN:
            return await self._looking.known(review, person)
        return await self._looking.details(review, person)

    async def _ask_for_note(
        self, verb: str, ref: views.Ref, review: Review, person: Person
    ) -> dict[str, Any]:
        """The window of a choice; whoever may not choose is told so before they write."""
        house = self._house
        refusal = may_decide(review.rule, person, review.requester)
        async with house.database.transaction() as connection:
            card = await house.renderings.card(connection, review.id)
            keeper = next(iter(await house.renderings.operators(connection)), None)
            told = mishaps.of_card(card, ref, refusal, keeper)
            if told is None:
                return modals.note(card, verb)
            await audit.record(
                connection,
                "vote.refused",
                actor=person.id,
                thread_id=review.thread_id,
                review_id=review.id,
                detail={"why": told.kind, "verb": verb, "via": "slack", "before_writing": True},
            )
        return notices.refused_view(told)

    # What was not understood, or is not from here

    async def _foreign(
        self, body: Mapping[str, Any], verb: str, ref: views.Ref, review: Review
    ) -> views.Refusal:
        """Record what somebody of another organisation tried, and say what they are told."""
        tried, kind = _FOREIGN.get(verb, ("vote", views.Refused.OTHER_ORGANISATION))
        async with self._house.database.transaction() as connection:
            await audit.record(
                connection,
                f"{tried}.refused",
                actor=_user(body),
                thread_id=review.thread_id,
                review_id=review.id,
                detail={"why": Reason.OTHER_ORGANISATION, "verb": verb, "via": "slack"},
            )
        spec = self._house.specs.get(review.graph)
        return views.Refusal(kind, ref=ref, words=words(spec, review.graph))

    async def _not_known(self, body: Mapping[str, Any], verb: str, kind: views.Refused) -> None:
        await self._record_unknown(body, verb)
        self._tell(body, views.Refusal(kind))

    async def _record_unknown(self, body: Mapping[str, Any], verb: str) -> None:
        async with self._house.database.transaction() as connection:
            await audit.record(
                connection, "click.unknown", actor=_user(body), detail={"verb": verb[:80]}
            )

    def _tell(self, body: Mapping[str, Any], refusal: views.Refusal) -> None:
        channel, root = place_of(body)
        said = notices.refused(refusal)
        whisper(self._house, said, user=_user(body), channel=channel, root=root)


_FOREIGN: Final = {
    DETAILS: ("look", views.Refused.MAY_NOT_LOOK),
    KNOWN: ("look", views.Refused.MAY_NOT_LOOK),
    TRY_AGAIN: (TRY_AGAIN, views.Refused.MAY_NOT_RETRY),
    WITHDRAW: (WITHDRAW, views.Refused.MAY_NOT_WITHDRAW),
}
_WRITE_SOMETHING: Final = "Write a few words here."
_ERROR: Final = 2_000


def _what(action: Mapping[str, Any]) -> tuple[str, views.Ref | None]:
    """The verb and the review: from the button, or from the chosen option of a menu."""
    option = action.get("selected_option") or {}
    if option:
        verb, _, ref = str(option.get("value") or "").partition(".")
        return verb, _ref(ref)
    return str(action.get("action_id") or ""), _ref(action.get("value"))


def _ref(value: Any) -> views.Ref | None:
    found = _REF.fullmatch(value) if isinstance(value, str) else None
    return views.Ref(int(found[1]), int(found[2])) if found else None


def _written(view: Mapping[str, Any]) -> tuple[str, str]:
    """The one input of a window: its block and what was written."""
    values = (view.get("state") or {}).get("values") or {}
    for block, elements in values.items():
        for element in elements.values():
            return str(block), str(element.get("value") or "")
    return "", ""


def _user(body: Mapping[str, Any]) -> str:
    return str((body.get("user") or {}).get("id") or "")


def _short_hash(value: Any) -> str:
    return hashlib.sha256(orjson.dumps(value)).hexdigest()[:16]
