"""What people may look at: the details of a request, what is known of a customer, the home tab.

Who looks is checked first and every look is in the record, refused or not. Looking decides
nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import structlog

from bot import (
    deliveries,
    details,
    history,
    home,
    known,
    limits,
    mishaps,
    modals,
    notices,
    pictures,
    posts,
    records,
    views,
)
from bot.dossier import Dossier
from bot.errors import SlackFailed
from bot.house import House
from bot.judgements import counting
from bot.rows import words
from checkpoints.database import Connection
from graphs import audit, reviews, threads
from graphs.directory import Directory
from graphs.plain import plain
from graphs.policy import Person, Reason, may_decide, may_view
from graphs.reviews import Review
from graphs.specs import Rule
from graphs.threads import Thread
from memory.store import CustomerStore

log = structlog.get_logger("sayso.looking")

DETAILS, KNOWN, HISTORY, SEND_RECORD = "details", "known", "history", "send_record"
LOOKS: Final = frozenset({DETAILS, KNOWN, HISTORY, SEND_RECORD})

KNOWN_LIMIT = 50
_LOOKS: Final = 40
_LOOK_SECONDS: Final = 0.25
HOME_LIMIT = 100
HOME_SHOWN = 20
DONE_SHOWN = 5
LINK_SECONDS = 2.0
LINKS_KEPT = 2_000


class Looking:
    """Fills windows that only show."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._dossier = Dossier(house)
        self._links: dict[tuple[str, str], str] = {}

    async def window(
        self, verb: str, review: Review, person: Person, *, page: int | None = None, press: str = ""
    ) -> dict[str, Any]:
        """What the verb shows of the request; `press` names the press that asked for it."""
        refused = await self._refused(review, person, verb)
        if refused is not None:
            return refused
        if verb == KNOWN:
            return await self._known(review)
        if verb == HISTORY:
            return history.history(await self._dossier.history(review, page))
        if verb == SEND_RECORD:
            return await self._send_record(review, person, press)
        return details.details(await self._dossier.details(review))

    async def draw(self, review: Review, view_id: str) -> None:
        """Put the picture of the path into a window of Details that is open, once it is drawn.

        Whatever stands in its way, the window stays as it is.
        """
        database = self._house.database
        thread = await threads.get(database, review.thread_id)
        if await pictures.find(database, thread.id, thread.head) is not None:
            return  # the window has it already, or there is none
        async with database.transaction() as connection:
            await pictures.want(connection, thread.id, thread.head)
        for _ in range(_LOOKS):
            await asyncio.sleep(_LOOK_SECONDS)
            if await pictures.find(database, thread.id, thread.head) is not None:
                break
        shows = await self._dossier.details(review)
        if not shows.picture:
            return
        try:
            await self._update(view_id, details.details(shows))
        except SlackFailed as error:
            log.info("a picture was not shown", review=review.id, error=error.error)

    async def without_picture(self, ref: views.Ref) -> dict[str, Any]:
        """Details again, where Slack would not show the picture: it is drawn anew."""
        review = await reviews.get(self._house.database, ref.review_id)
        shows = await self._dossier.details(review)
        thread = await threads.get(self._house.database, review.thread_id)
        await pictures.forget(self._house.database, thread.id, thread.head)
        return details.details(replace(shows, picture=""))

    # What the verbs show

    async def _known(self, review: Review) -> dict[str, Any]:
        thread = await threads.get(self._house.database, review.thread_id)
        ref = views.Ref(review.id, review.revision)
        if thread.customer_id is None:
            return known.known(views.KnownView(ref, thread.customer_name or ""))
        store = CustomerStore(self._house.database, customer=thread.customer_id)
        found = await store.asearch(("customers", thread.customer_id), limit=KNOWN_LIMIT)
        facts = [(_fact(item.value), "outcome" in item.value) for item in found]
        facts.sort(key=lambda pair: str(pair[0].at or ""), reverse=True)
        return known.known(
            views.KnownView(
                ref,
                thread.customer_name or "",
                decisions=tuple(fact for fact, decided in facts if decided),
                facts=tuple(fact for fact, decided in facts if not decided),
            )
        )

    async def _send_record(self, review: Review, person: Person, press: str) -> dict[str, Any]:
        """Want the whole record as a file in the person's own direct messages, once a press."""
        async with self._house.database.transaction() as connection:
            if await deliveries.accept(connection, press, "record"):
                name = hashlib.sha256(press.encode()).hexdigest()[:16]
                subject = records.record_subject(review.id, name)
                await posts.want(connection, posts.FILE, subject, person.id)
                await audit.record(
                    connection,
                    "record.sent",
                    actor=person.id,
                    thread_id=review.thread_id,
                    review_id=review.id,
                )
        return modals.sent(views.Ref(review.id, review.revision))

    async def _update(self, view_id: str, view: dict[str, Any]) -> None:
        limits.check_view(view)
        await self._house.slack.call("views.update", view_id=view_id, view=view)

    async def home(self, user: str) -> None:
        """Show the home tab of one person: what waits for them, and their own requests."""
        view = home.home(await self._home(user))
        limits.check_view(view)
        await self._house.slack.call("views.publish", user_id=user, view=view)

    # Who may look

    async def refused(self, review: Review, person: Person, what: str) -> dict[str, Any] | None:
        """None where this person may look, which is recorded; else the window that says why not."""
        return await self._refused(review, person, what)

    async def _refused(self, review: Review, person: Person, what: str) -> dict[str, Any] | None:
        house = self._house
        rules = await house.approvers.rules(review)
        refusal = may_view(
            house.specs.get(review.graph),
            house.policy,
            person,
            requester=review.requester,
            rules=rules,
        )
        # Whom a rule lets in by name, from another organisation too, sees what they decide on.
        if person.is_stranger and any(
            may_decide(rule, person, review.requester) is None for rule in rules
        ):
            refusal = None
        # So does who decides in the place of somebody else.
        if refusal is not None and refusal.reason is Reason.NOT_ALLOWED:
            voter = await house.approvers.voter_of(person, review, via="slack")
            if any(isinstance(voter.seat(rule, review.requester), Person) for rule in rules):
                refusal = None
        async with house.database.transaction() as connection:
            await audit.record(
                connection,
                "look.taken" if refusal is None else "look.refused",
                actor=person.id,
                thread_id=review.thread_id,
                review_id=review.id,
                detail={"at": what, "why": refusal.reason if refusal else None},
            )
        if refusal is None:
            return None
        kind = mishaps.of_other(refusal.reason, views.Refused.MAY_NOT_LOOK)
        told = views.Refusal(
            kind,
            ref=views.Ref(review.id, review.revision),
            words=words(house.specs.get(review.graph), review.graph),
        )
        return notices.refused_view(told)

    # Home

    async def _home(self, user: str) -> views.HomeView:
        house = self._house
        open_ = [
            review
            for review in await reviews.list_(house.database, status="open", limit=HOME_LIMIT)
            if review.audience == "reviewers"
        ]
        rules = {rule for review in open_ for rule in review.rules}
        person = await house.approvers.look_up(user, [rule.approvers for rule in rules])
        emails = await house.people.emails(house.database, [one.requester for one in open_])
        waiting = [
            review
            for review in open_
            if _waits_for(review, person, house.policy.directory, emails.get(review.requester))
        ]
        async with house.database.connection() as connection:
            shown = [await self._row(connection, review.id) for review in waiting[:HOME_SHOWN]]
            mine = await threads.list_(connection, requester=user, limit=HOME_SHOWN)
            own = [await self._own(connection, thread) for thread in mine]
        rows = [replace(row, link=await self._link(row.ref.review_id, user)) for row in shown]
        channel = next((channel for spec in house.specs.values() for channel in spec.channels), "")
        return views.HomeView(
            waiting=tuple(rows),
            total=len(waiting),
            mine=tuple(row for row, ended in own if not ended),
            done=tuple(row for row, ended in own if ended)[:DONE_SHOWN],
            start_channel=channel,
        )

    async def _row(self, connection: Connection, review_id: int) -> views.HomeRow:
        card = await self._house.renderings.card(connection, review_id)
        return views.HomeRow(
            ref=card.ref,
            title=card.shown.title,
            since=card.asked_at,
            quorum=card.decides.quorum,
            approvals=len(counting(card)),
            stage=card.decides.stage,
            stages=len(card.decides.stages) or 1,
            asks=card.shown.asks,
            fact=card.shown.plain,
            requester=card.requester,
        )

    async def _own(self, connection: Connection, thread: Thread) -> tuple[views.HomeRow, bool]:
        asked = await reviews.list_(connection, thread_id=thread.id)
        last = next((one for one in reversed(asked) if one.audience == "reviewers"), None)
        row = views.HomeRow(
            ref=views.Ref(last.id, last.revision) if last else views.Ref(0, 0),
            title=await self._house.renderings.title(connection, thread, last),
            since=thread.created_at,
            where=thread.outcome or "",
            at=thread.ended_at,
        )
        return row, thread.ended_at is not None

    async def _link(self, review_id: int, user: str) -> str:
        """To the person's own card if there is one, else to the one in the channel."""
        found = await posts.shown_at(self._house.database, posts.CARD, str(review_id))
        for shown in sorted(found, key=lambda one: one.place != user):
            others = shown.place.startswith(("U", "W")) and shown.place != user
            if shown.channel and shown.ts and not others:
                return await self._permalink(shown.channel, shown.ts)
        return ""

    async def _permalink(self, channel: str, ts: str) -> str:
        """Slack's address of a message; it never changes, so it is asked once."""
        if (channel, ts) not in self._links:
            try:
                answer = await self._house.slack.call(
                    "chat.getPermalink", timeout=LINK_SECONDS, channel=channel, message_ts=ts
                )
            except SlackFailed as error:
                log.info("no address of a card", channel=channel, error=error.error)
                return ""
            if len(self._links) >= LINKS_KEPT:
                self._links.clear()
            self._links[channel, ts] = str(answer.get("permalink") or "")
        return self._links[channel, ts]


def _waits_for(
    review: Review, person: Person, directory: Directory, requester_email: str | None
) -> bool:
    """Whether something of the review is open that this person may decide and has not."""

    def may(rule: Rule) -> bool:
        named = directory.rule(rule, review.requester, requester_email)
        return may_decide(named, person, review.requester) is None

    return any(
        all(vote.voter != person.id for vote in item.standing_votes()) and may(item.rule)
        for item in review.items
        if item.status == "open" and item.rule is not None
    )


def _fact(value: dict[str, Any]) -> views.KnownFact:
    text = value.get("text")
    if not isinstance(text, str):
        text = "; ".join(f"{key}: {plain(one)}" for key, one in value.items())
    note = value.get("note")
    return views.KnownFact(
        text,
        source=str(value.get("source") or ""),
        at=_at(value.get("at")),
        note=" ".join(note.split()) if isinstance(note, str) else "",
        note_is="reason" if value.get("outcome") == "rejected" else "condition",
    )


def _at(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
