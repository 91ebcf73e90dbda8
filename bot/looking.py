"""What people may look at: the details of a request, what is known of a customer, the home tab.

Who looks is checked first and every look is in the record, refused or not. Looking decides
nothing.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import structlog

from bot import details, home, limits, mishaps, notices, posts, views
from bot.errors import SlackFailed
from bot.house import House
from bot.renderings import label, words
from checkpoints.database import Connection
from graphs import audit, documents, reviews, routings, threads
from graphs.plain import plain
from graphs.policy import Person, may_decide, may_view
from graphs.reviews import Review
from graphs.specs import Rule
from graphs.threads import Thread
from memory.store import CustomerStore

log = structlog.get_logger("sayso.looking")

KNOWN_LIMIT = 50
HOME_LIMIT = 100
HOME_SHOWN = 20
DONE_SHOWN = 5
LINK_SECONDS = 2.0
LINKS_KEPT = 2_000


class Looking:
    """Fills windows that only show."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._links: dict[tuple[str, str], str] = {}

    async def details(self, review: Review, person: Person) -> dict[str, Any]:
        """Everything about a request."""
        refused = await self._refused(review, person, "details")
        if refused is not None:
            return refused
        state = await self._house.state(review.thread_id)
        async with self._house.database.connection() as connection:
            return details.details(await self._details(connection, review, state))

    async def known(self, review: Review, person: Person) -> dict[str, Any]:
        """What is remembered of the request's customer."""
        refused = await self._refused(review, person, "known")
        if refused is not None:
            return refused
        thread = await threads.get(self._house.database, review.thread_id)
        ref = views.Ref(review.id, review.revision)
        if thread.customer_id is None:
            return details.known(views.KnownView(ref, thread.customer_name or ""))
        store = CustomerStore(self._house.database, customer=thread.customer_id)
        found = await store.asearch(("customers", thread.customer_id), limit=KNOWN_LIMIT)
        facts = [(_fact(item.value), "outcome" in item.value) for item in found]
        facts.sort(key=lambda pair: str(pair[0].at or ""), reverse=True)
        return details.known(
            views.KnownView(
                ref,
                thread.customer_name or "",
                decisions=tuple(fact for fact, decided in facts if decided),
                facts=tuple(fact for fact, decided in facts if not decided),
            )
        )

    async def home(self, user: str) -> None:
        """Show the home tab of one person: what waits for them, and their own requests."""
        view = home.home(await self._home(user))
        limits.check_view(view)
        await self._house.slack.call("views.publish", user_id=user, view=view)

    # Who may look

    async def _refused(self, review: Review, person: Person, what: str) -> dict[str, Any] | None:
        house = self._house
        refusal = may_view(
            house.specs.get(review.graph),
            house.policy,
            person,
            requester=review.requester,
            rules=tuple(item.rule for item in review.items if item.rule is not None),
        )
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

    # Details

    async def _details(
        self, connection: Connection, review: Review, state: Any
    ) -> views.DetailsView:
        house = self._house
        thread = await threads.get(connection, review.thread_id)
        card = await house.renderings.card(connection, review.id)
        written = await threads.messages(connection, thread.id)
        return views.DetailsView(
            card=card,
            written="\n\n".join(message.text for message in written if message.text),
            steps=await self._steps(connection, thread),
            documents=await self._documents(connection, thread),
            values=plain({"asked": review.question, "so far": state}),
            asked=_asked(card),
            graph=review.graph,
            node=review.node,
            thread=thread.id,
        )

    async def _steps(self, connection: Connection, thread: Thread) -> tuple[views.StepLine, ...]:
        """The steps, and under each what its router chose."""
        spec = self._house.specs.get(thread.graph)
        chosen: dict[str, list[str]] = {}
        for routing in await routings.of_thread(connection, thread.id):
            choices = routing.choice if isinstance(routing.choice, list) else [routing.choice]
            went = ", ".join(label(spec, str(choice)) for choice in choices)
            chosen.setdefault(routing.node, []).append(went)
        lines = []
        for line in await self._house.renderings.steps(connection, thread):
            notes = chosen.get(line.raw.rsplit("/", 1)[-1]) or chosen.get(line.raw) or []
            went = notes.pop(0) if notes else ""
            lines.append(
                views.StepLine(
                    line.label,
                    line.state,
                    line.at,
                    line.seconds,
                    note=f"Went on to: {went}" if went else "",
                    raw=line.raw,
                )
            )
        return tuple(lines)

    async def _documents(
        self, connection: Connection, thread: Thread
    ) -> tuple[views.DocumentLine, ...]:
        return tuple(
            views.DocumentLine(one.name, size=one.size, problem=one.problem or "")
            for one in await documents.of_thread(connection, thread.id)
        )

    # Home

    async def _home(self, user: str) -> views.HomeView:
        house = self._house
        open_ = [
            review
            for review in await reviews.list_(house.database, status="open", limit=HOME_LIMIT)
            if review.audience == "reviewers"
        ]
        groups = {
            group for review in open_ if review.rule for group in review.rule.approvers.groups
        }
        person = await house.people.person(user, sorted(groups))
        waiting = [review for review in open_ if _waits_for(review, review.rule, person)]
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
            approvals=len(card.votes),
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


def _waits_for(review: Review, rule: Rule | None, person: Person) -> bool:
    voted = any(vote.voter == person.id for item in review.items for vote in item.standing_votes())
    return not voted and may_decide(rule, person, review.requester) is None


def _asked(card: views.CardView) -> tuple[views.Asked, ...]:
    """Who was asked and what they said: those who voted, then those who were not heard from."""
    said = {
        "approve": "approved",
        "approve_with_conditions": "approved_with_conditions",
        "reject": "rejected",
        "ask_for_changes": "sent_back",
    }
    voted = tuple(
        views.Asked(vote.by, said.get(vote.verb, "answered"), vote.at, vote.note or "")
        for vote in card.votes
    )
    heard = {vote.by.id for vote in card.votes}
    if card.status is not views.Status.OPEN:
        return voted
    waiting: tuple[views.Person | views.UserGroup, ...] = (
        *(group for group in card.decides.groups),
        *(person for person in card.decides.people if person.id not in heard),
    )
    return voted + tuple(views.Asked(who, "not_yet") for who in waiting)


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
