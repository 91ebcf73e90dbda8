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
from dataclasses import dataclass
from typing import Any, Final

import orjson
import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot import arrivals, deliveries, handovers, limits, modals, notices, talking, views, windows
from bot.actions import APPROVE_ALL, REVIEW, SHOW_LIST
from bot.ballots import Ballot, Ballots, target
from bot.blocks import Payload
from bot.errors import Outcome, SlackFailed
from bot.handing import HAND_OVER
from bot.handovers import Handing
from bot.house import House
from bot.intervening import ASK_AGAIN, TRY_AGAIN, WITHDRAW, Intervening
from bot.looking import DETAILS, LOOKS, Looking
from bot.rows import words
from bot.submissions import ERROR, WRITE_SOMETHING, one_input, written
from bot.talking import PRESSES, WINDOWS, Remark, Talking
from bot.whispers import place_of, whisper
from checkpoints.errors import SaysoError
from graphs import audit, reviews, votes
from graphs.policy import Person, Reason
from graphs.questions import Choice
from graphs.reviews import Review

log = structlog.get_logger("sayso.clicks")

OPEN_SECONDS: Final = 2.0
OPEN: Final = "open"
_REF = re.compile(r"([0-9]{1,18})\.([0-9]{1,9})")

Fill = Callable[[Person], Awaitable[dict[str, Any]]]


@dataclass(frozen=True)
class Opened:
    """A window that was filled, and what it shows by now."""

    view_id: str
    shows: str


class Clicks:
    """Takes block actions and view submissions."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._looking = Looking(house)
        self._intervening = Intervening(house)
        self._ballots = Ballots(house)
        self._talking = Talking(house)
        self._handing = Handing(house)

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
            elif self._keeps_out(body, verb, review):
                self._tell(body, await self._foreign(body, verb, ref, review))
                await ack()
            elif verb.partition(":")[0] in LOOKS:
                await ack()
                self._look(body, ref, review, verb, press=deliveries.action_key(body, action))
            elif verb.partition(":")[0] in {REVIEW, SHOW_LIST}:
                await ack()
                self._open(body, ref, lambda person: self._review(verb, review, person))
            elif verb == HAND_OVER:
                await ack()
                self._open(body, ref, lambda person: self._handing.window(review, person.id))
            elif self._is_talk(review, verb):
                await self._talk(body, action, verb, ref, review, ack)
            elif verb in {TRY_AGAIN, ASK_AGAIN, WITHDRAW}:
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
        key = deliveries.action_key(body, action)
        within = (body.get("view") or {}).get("type") == "modal"
        if verb == APPROVE_ALL and review.asking.actions:
            ballot = self._ballot(body, key, ref, "approve")
            said = await self._ballots.approve_all(review, ballot)
            await ack()
            if said is not None:
                self._say(body, said)
            if within:
                self._show_anew(body, ref, None)
            return
        named, item = target(verb, review)
        choice = self._choice(review, named, item)
        if choice is None:
            await self._not_known(body, verb, views.Refused.UNKNOWN_BUTTON)
            await ack()
        elif choice.needs is not None:
            await ack()
            ballot = self._ballot(body, key, ref, named, item)
            self._open(body, ref, lambda person: self._ballots.window(review, ballot, person))
        else:
            ballot = self._ballot(body, key, ref, named, item, choice.answer())
            cast = await self._ballots.cast(review, ballot)
            await ack()
            if within:
                self._show_anew(body, ref, cast.refusal)
            elif cast.refusal is not None:
                self._tell(body, cast.refusal)

    def _is_talk(self, review: Review, verb: str) -> bool:
        """Whether it is one of the verbs beside deciding; a choice of the question's own is not."""
        named = verb.partition(":")[0]
        return named in WINDOWS | PRESSES and self._choice(review, named, None) is None

    async def _talk(
        self,
        body: dict[str, Any],
        action: dict[str, Any],
        verb: str,
        ref: views.Ref,
        review: Review,
        ack: AsyncAck,
    ) -> None:
        """Open the window to write in; take a review on, or give it back."""
        if verb not in PRESSES:
            await ack()
            self._open(body, ref, lambda person: self._talking.window(verb, review, person.id))
            return
        key = deliveries.action_key(body, action)
        told = await self._talking.press(verb, review, _user(body), key)
        await ack()
        if told is not None:
            self._say(body, told if isinstance(told, Payload) else notices.refused(told))
        elif (body.get("view") or {}).get("type") == "modal":
            self._show_anew(body, ref, None)

    def _ballot(
        self,
        body: Mapping[str, Any],
        key: str,
        ref: views.Ref,
        verb: str,
        item: int | None = None,
        answer: Any = None,
        note: str | None = None,
    ) -> Ballot:
        home = arrivals.foreign_team(self._house.workspace, body)
        return Ballot(key, _user(body), ref, verb, item, answer, note, home)

    def _choice(self, review: Review, verb: str, item: int | None) -> Choice | None:
        return review.shown(self._house.specs.get(review.graph)).choice(verb, item)

    # Submissions

    async def submitted(self, body: dict[str, Any], view: dict[str, Any], ack: AsyncAck) -> None:
        """Take what was written in the window of a choice."""
        name, ref = str(view.get("callback_id") or ""), _ref(view.get("private_metadata"))
        review = await reviews.find(self._house.database, ref.review_id) if ref else None
        choice = None
        if ref is not None and review is not None and name in handovers.WINDOWS:
            await self._hand_over(body, view, name, ref, review, ack)
            return
        if ref is not None and review is not None and self._is_talk(review, name):
            await self._said(body, view, name, ref, review, ack)
            return
        if review is not None:
            verb, item = target(name, review)
            choice = self._choice(review, verb, item)
        if ref is None or review is None or choice is None:
            await self._record_unknown(body, name)
            refused = views.Refusal(views.Refused.UNKNOWN_BUTTON, ref=ref)
            refused_view = notices.refused_view(refused, wrote=one_input(view)[1])
            await ack(response_action="update", view=refused_view)
            return
        wrote = written(review, ref, item, choice, view)
        if self._keeps_out(body, name, review):
            refused = await self._foreign(body, name, ref, review)
            refused_view = notices.refused_view(refused, wrote=wrote.words)
            await ack(response_action="update", view=refused_view)
            return
        if wrote.errors:
            await ack(response_action="errors", errors=wrote.errors)
            return
        ballot = self._ballot(
            body,
            # A window that was mended and submitted again is another submission.
            f"{deliveries.view_key(body)}:{_short_hash([name, wrote.typed])}",
            ref,
            verb,
            item,
            wrote.answer,
            wrote.note,
        )
        cast = await self._ballots.cast(review, ballot)
        if cast.refusal is None:
            # One that was pushed onto another leaves nothing true behind it.
            await ack(response_action="clear") if view.get("previous_view_id") else await ack()
        elif isinstance(cast.result, votes.BadAnswer):
            errors = {wrote.block: cast.result.message[:ERROR]}
            await ack(response_action="errors", errors=errors)
        else:
            refused_view = notices.refused_view(cast.refusal, wrote=wrote.words)
            await ack(response_action="update", view=refused_view)

    async def _said(
        self,
        body: dict[str, Any],
        view: dict[str, Any],
        name: str,
        ref: views.Ref,
        review: Review,
        ack: AsyncAck,
    ) -> None:
        """Take what was written in a window that decides nothing."""
        block, text = one_input(view)
        if arrivals.is_foreign(self._house.workspace, body):
            refused: views.Refusal | None = await self._foreign(body, name, ref, review)
        elif not text.strip():
            await ack(response_action="errors", errors={block: WRITE_SOMETHING})
            return
        else:
            key = f"{deliveries.view_key(body)}:{_short_hash([name, text])}"
            remark = Remark(key, _user(body), name, text)
            refused = await self._talking.submit(review, remark)
        if refused is not None:
            await ack(response_action="update", view=notices.refused_view(refused, wrote=text))
        elif view.get("previous_view_id"):
            await ack(response_action="clear")
        else:
            await ack()

    async def _hand_over(
        self,
        body: dict[str, Any],
        view: dict[str, Any],
        name: str,
        ref: views.Ref,
        review: Review,
        ack: AsyncAck,
    ) -> None:
        """Take to whom a request is handed, or that it is taken back."""
        done: views.Refusal | dict[str, str] | None
        if arrivals.is_foreign(self._house.workspace, body):
            done = await self._foreign(body, HAND_OVER, ref, review)
        else:
            done = await self._handing.submit(body, view, name, review, _user(body))
        if isinstance(done, dict):
            await ack(response_action="errors", errors=done)
        elif done is not None:
            await ack(response_action="update", view=notices.refused_view(done))
        elif view.get("previous_view_id"):
            await ack(response_action="clear")
        else:
            await ack()

    # Windows

    def _look(
        self,
        body: Mapping[str, Any],
        ref: views.Ref,
        review: Review,
        what: str,
        *,
        press: str,
    ) -> None:
        """Open a window that only shows ("history:2" turns a page of it).

        Details get their picture when it is drawn, and go without where Slack does not show it.
        """
        verb, _, page = what.partition(":")
        turned = int(page) if page.isdecimal() and len(page) < 6 else None
        shown = body.get("view") or {}

        async def fill(person: Person) -> dict[str, Any]:
            return await self._looking.window(verb, review, person, page=turned, press=press)

        async def look() -> None:
            if turned is not None and shown.get("callback_id") == verb:
                view = await fill(await self._who(body, ref))
                await self._house.slack.call("views.update", view_id=shown.get("id"), view=view)
                return
            opened = await self._open_and_fill(body, ref, fill, self._looking.without_picture)
            if opened is not None and opened.shows == DETAILS:
                await self._looking.draw(review, opened.view_id)

        self._house.afterwards.start(look(), f"{verb} of {ref}")

    def _open(self, body: Mapping[str, Any], ref: views.Ref, fill: Fill) -> None:
        """Open a window after the acknowledgement; a private word says so if it does not open."""
        self._house.afterwards.start(self._open_and_fill(body, ref, fill), f"window of {ref}")

    async def _open_and_fill(
        self,
        body: Mapping[str, Any],
        ref: views.Ref,
        fill: Fill,
        otherwise: Callable[[views.Ref], Awaitable[dict[str, Any]]] | None = None,
    ) -> Opened | None:
        """Open a loading window and fill it; what it shows then, which may be a refusal.

        Args:
            otherwise: what Details are filled with where Slack does not take them with a picture.
        """
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
            return None
        try:
            person = await self._who(body, ref)
            view = await fill(person)
            limits.check_view(view)
        except SaysoError as error:
            log.warning("a window was not filled", review=ref.review_id, error=str(error))
            view = notices.refused_view(views.Refusal(views.Refused.BUSY, ref=ref))
        shown = Opened(str(opened["view"]["id"]), str(view.get("callback_id") or ""))
        try:
            await house.slack.call("views.update", view_id=shown.view_id, view=view)
        except SlackFailed as error:
            if otherwise is None or shown.shows != DETAILS or error.outcome is not Outcome.OURS:
                raise
            log.info("a window is filled without its picture", error=error.error)
            view = await otherwise(ref)
            await house.slack.call("views.update", view_id=shown.view_id, view=view)
        return shown

    async def _who(self, body: Mapping[str, Any], ref: views.Ref) -> Person:
        review = await reviews.get(self._house.database, ref.review_id)
        spec = self._house.specs.get(review.graph)
        also = [self._house.policy.operators, *([spec.viewers] if spec is not None else [])]
        home = arrivals.foreign_team(self._house.workspace, body)
        return await self._house.approvers.person(_user(body), review, *also, home=home)

    async def _review(self, verb: str, review: Review, person: Person) -> dict[str, Any]:
        """The card, one of its actions, or all of them, in a window; for those who may look."""
        name = verb.partition(":")[0]
        refused = await self._looking.refused(review, person, name)
        if refused is not None:
            return refused
        async with self._house.database.connection() as connection:
            card = await self._house.renderings.card(connection, review.id)
        if name == SHOW_LIST:
            return windows.all_actions(card)
        return windows.review(card, windows.item_of(verb))

    def _show_anew(
        self, body: Mapping[str, Any], ref: views.Ref, refusal: views.Refusal | None
    ) -> None:
        """Let the window in which somebody decided show what came of it."""
        window = body.get("view") or {}
        shown = str(window.get("callback_id") or "")

        async def show() -> None:
            if refusal is not None:
                view = notices.refused_view(refusal)
            else:
                async with self._house.database.connection() as connection:
                    card = await self._house.renderings.card(connection, ref.review_id)
                view = windows.review(card, windows.item_of(shown))
            view_id = str(window.get("id") or "")
            await self._house.slack.call("views.update", view_id=view_id, view=view)

        self._house.afterwards.start(show(), f"window of {ref} anew")

    # What was not understood, or is not from here

    def _keeps_out(self, body: Mapping[str, Any], verb: str, review: Review) -> bool:
        """Whether it is from another organisation, and no rule lets this person in to decide.

        Whom one lets in decides and sees what on; the rules look at who it is as at anybody.
        """
        if not arrivals.is_foreign(self._house.workspace, body):
            return False
        name = verb.partition(":")[0]
        decides = verb == APPROVE_ALL or self._choice(review, *target(verb, review)) is not None
        opens = decides or name in LOOKS or name in {REVIEW, SHOW_LIST}
        return not (opens and self._house.approvers.lets_in(_user(body), review))

    async def _foreign(
        self, body: Mapping[str, Any], verb: str, ref: views.Ref, review: Review
    ) -> views.Refusal:
        """Record what somebody of another organisation tried, and say what they are told."""
        name = verb.partition(":")[0]
        tried, kind = _FOREIGN.get(name, ("vote", views.Refused.OTHER_ORGANISATION))
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
        self._say(body, notices.refused(refusal))

    def _say(self, body: Mapping[str, Any], said: Payload) -> None:
        channel, root = place_of(body)
        whisper(self._house, said, user=_user(body), channel=channel, root=root)


_FOREIGN: Final = {
    **dict.fromkeys((*LOOKS, REVIEW, SHOW_LIST), ("look", views.Refused.MAY_NOT_LOOK)),
    TRY_AGAIN: (TRY_AGAIN, views.Refused.MAY_NOT_RETRY),
    ASK_AGAIN: (ASK_AGAIN, views.Refused.MAY_NOT_ASK_AGAIN),
    WITHDRAW: (WITHDRAW, views.Refused.MAY_NOT_WITHDRAW),
    HAND_OVER: (HAND_OVER, views.Refused.MAY_NOT_HAND_OVER),
    **{verb: (tried, talking.REFUSED[verb]) for verb, tried in talking.TRIED.items()},
}


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


def _user(body: Mapping[str, Any]) -> str:
    return str((body.get("user") or {}).get("id") or "")


def _short_hash(value: Any) -> str:
    return hashlib.sha256(orjson.dumps(value)).hexdigest()[:16]
