"""Where something that graphs/ wants shown has its place in Slack.

`Wishes` is the function that settle and decide call inside their transactions
(`graphs.ports.Wish`). It turns "this review has a card" into rows: one for each place where the
card stands: the rule's channel, and the direct messages of each approver who does not read that
channel (the poster finds out; a group's post is spread over its members). What is already shown
somewhere is shown anew there and nowhere else, so that a later change of the rules moves no card
until an operator applies it (`graphs/applying.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from bot import conversations, posts, timetable
from bot.present import Present
from checkpoints.database import Connection
from graphs import absences, deadlines, exchanges, handovers, ports, reviews, takings, threads
from graphs.reviews import Item, Review
from graphs.specs import People, Rule
from graphs.threads import Status, Thread


class Wishes:
    """Wants posts in the caller's transaction."""

    def __init__(self, present: Present) -> None:
        self._present = present

    async def __call__(self, connection: Connection, kind: str, subject: str) -> None:
        """Want the subject shown, or shown anew."""
        if kind == ports.CARD:
            await self._card(connection, subject)
            await self._questions_beside(connection, subject)
        elif kind == ports.MOVED:
            await posts.leave(connection, posts.CARD, subject)
            await self._card_anew(connection, subject)
        elif kind == ports.ASK:
            review = await reviews.get(connection, int(subject))
            await self._in_conversation(connection, posts.ASK, subject, review.thread_id)
            await self._questions_beside(connection, subject)
        elif kind == ports.PROGRESS:
            await self._in_conversation(connection, posts.PROGRESS, subject, subject)
            await self._went_on(connection, subject)
        elif kind == ports.OUTCOME:
            thread = await threads.get(connection, subject)
            about, failed = outcome_subject(thread), _failed(thread)
            await self._in_conversation(connection, posts.OUTCOME, about, subject, failed)
            await posts.stands_again(connection, about)
        elif kind == ports.QUESTION:
            await self._question(connection, subject)
        elif kind == ports.ANSWERED:
            exchange = await exchanges.find(connection, int(subject))
            if exchange is not None and exchange.author.startswith(("U", "W")):
                await posts.want(connection, posts.ANSWERED, subject, exchange.author)
        elif kind == ports.TAKEN:
            *_, before = subject.split(".", 1)
            if before.startswith(("U", "W")):
                await posts.want(connection, posts.TAKEN, subject, before)
        elif kind == ports.COVER:
            absence = await absences.get(connection, int(subject))
            await posts.want(connection, posts.COVER, subject, absence.covered_by)
        elif kind == ports.HANDED:
            handover = await handovers.get(connection, int(subject))
            if handover.taker.startswith(("U", "W")):
                await posts.want(connection, posts.HANDED, subject, handover.taker)
        elif kind == ports.LAPSED:
            *_, voter = subject.split(".", 3)
            if voter.startswith(("U", "W")):  # who votes at the command line has no messages
                await posts.want(connection, posts.LAPSED, subject, voter)
        elif kind in (ports.REMINDER, ports.ESCALATION):
            await self._by_the_clock(connection, kind, subject)
        elif kind == ports.NOTICE:
            await self.tell_operators(connection, subject)
        else:
            raise ValueError(f"nothing is known of a wish for {kind}")

    async def tell_operators(
        self, connection: Connection, subject: str, detail: dict[str, object] | None = None
    ) -> None:
        """Tell whoever runs this what needs a hand: in their channel, else each of them."""
        for place in self._operators_places():
            await posts.want(connection, posts.NOTICE, subject, place, body=detail)

    async def _by_the_clock(self, connection: Connection, kind: str, subject: str) -> None:
        """Want a direct message to all who may decide; whoever has voted is left out later."""
        about, item, *turn = subject.split(".")
        review = await reviews.get(connection, int(about))
        rule = review.items[int(item)].rule
        if rule is None:
            return
        people = rule.approvers
        if kind == ports.ESCALATION and rule.escalate is not None:
            people = rule.escalate.to
        places, body = places_of(people, review.requester), None
        if kind == ports.REMINDER:
            if taking := await takings.of_review(connection, review):
                places = [taking.taker]  # who says that they look at it is who has to be reminded
            timers = (await deadlines.all_of_review(connection, review.id)).get(int(item), ())
            body = next(
                (
                    timetable.hour_of(rule, timer)
                    for timer in timers
                    if (timer.kind, [str(timer.turn)]) == ("remind", turn)
                ),
                None,
            )
        for place in places:
            await posts.want(connection, _KINDS[kind], subject, place, body=body)

    async def _card(self, connection: Connection, subject: str) -> None:
        if not await posts.again(connection, posts.CARD, subject):
            await self._card_anew(connection, subject)
            return
        review = await reviews.get(connection, int(subject))
        for item in review.items:
            if item.stage > 0 and item.status == "open" and item.rule is not None:
                await self._passed_on(connection, subject, review.requester, item.rule)
                await self._remind_too(connection, review, item)

    async def _card_anew(self, connection: Connection, subject: str) -> None:
        """Want the card wherever the present rules of its review have it."""
        review = await reviews.get(connection, int(subject))
        for rule in review.rules or (Rule(),):
            await self._card_under(connection, subject, review.requester, rule)

    async def _card_under(
        self, connection: Connection, subject: str, requester: str, rule: Rule
    ) -> None:
        """Want the card where one of its rules has it; a place that two rules name has it once."""
        approvers = places_of(rule.approvers, requester)
        if rule.channel is None:
            for place in approvers or self._operators_places():
                await posts.want(connection, posts.CARD, subject, place)
            return
        await posts.want(connection, posts.CARD, subject, rule.channel)
        elsewhere = {posts.UNLESS_IN: rule.channel, **_not_to_requester(rule, requester)}
        for place in approvers:
            if place != elsewhere.get(posts.NOT_TO):
                await posts.want(connection, posts.CARD, subject, place, body=elsewhere)

    async def _questions_beside(self, connection: Connection, review_id: str) -> None:
        """Want what reviewers ask shown anew: it may not be needed, or be next to be answered."""
        for asked in await exchanges.beside(connection, int(review_id)):
            await posts.again(connection, posts.QUESTION, str(asked))

    async def _question(self, connection: Connection, subject: str) -> None:
        """Want a question in the requester's conversation, else in their direct messages."""
        if await posts.again(connection, posts.QUESTION, subject):
            return
        exchange = await exchanges.find(connection, int(subject))
        if exchange is None:
            return
        thread_id = exchange.thread_id
        place = await conversations.of_thread(connection, thread_id)
        if place is not None:
            await posts.want(
                connection, posts.QUESTION, subject, place.channel, thread_id=thread_id
            )
            return
        requester = (await threads.get(connection, thread_id)).requester
        if requester.startswith(("U", "W")):
            await posts.want(connection, posts.QUESTION, subject, requester)

    async def _passed_on(
        self, connection: Connection, subject: str, requester: str, rule: Rule
    ) -> None:
        """Want the card with those whose stage it is now: the channel's has pinged the first."""
        own: dict[str, object] = {posts.UNLESS_IN: None, **_not_to_requester(rule, requester)}
        for place in places_of(rule.approvers, requester):
            if place != own.get(posts.NOT_TO):
                await posts.want_once(connection, posts.CARD, subject, place, body=own)

    async def _remind_too(self, connection: Connection, review: Review, item: Item) -> None:
        """Remind those whose stage it is now at their next such hour: it may have begun before."""
        if (rule := item.rule) is None:
            return
        for timer in (await deadlines.all_of_review(connection, review.id)).get(item.item, ()):
            if timer.fired_at is None or timer.wall is None:
                continue
            since = max(timer.fired_at, datetime.now(UTC))
            body = timetable.hour_of(rule, replace(timer, due_at=since)) or {}
            subject = f"{review.id}.{item.item}.{timer.turn}"
            for place in places_of(rule.approvers, review.requester):
                await posts.want_once(connection, posts.REMINDER, subject, place, body=body)

    async def _in_conversation(
        self,
        connection: Connection,
        kind: str,
        subject: str,
        thread_id: str,
        body: dict[str, object] | None = None,
    ) -> None:
        # First what is there: a conversation that began as a person's direct messages has another
        # place by now, and a second row would be a second message.
        if await posts.again(connection, kind, subject):
            return
        place = await conversations.of_thread(connection, thread_id)
        if place is not None:
            await posts.want(
                connection, kind, subject, place.channel, thread_id=thread_id, body=body
            )

    async def _went_on(self, connection: Connection, thread_id: str) -> None:
        """Let the outcomes that the thread has left behind lose their buttons."""
        thread = await threads.get(connection, thread_id)
        stands = outcome_subject(thread) if thread.status is Status.FAILED else ""
        await posts.overtake(connection, thread_id, stands=stands)

    def _operators_places(self) -> Iterator[str]:
        operators = self._present.operators
        if operators.channel is not None:
            yield operators.channel
        else:
            yield from places_of(operators, "")


_KINDS = {ports.REMINDER: posts.REMINDER, ports.ESCALATION: posts.ESCALATION}


def places_of(people: People, requester: str) -> list[str]:
    """Where posts for these people go; the poster finds out for whom roles and addresses stand."""
    places = [*people.users, *people.groups, *people.emails]
    places += [f"role:{role}" for role in people.roles]
    return [*places, f"manager:{requester}"] if people.manager else places


def _not_to_requester(rule: Rule, requester: str) -> dict[str, object]:
    return {} if rule.requester_may_decide else {posts.NOT_TO: requester}


def outcome_subject(thread: Thread) -> str:
    """Names one outcome of a thread: each is a reply of its own, the same one is told once."""
    attempt = thread.error.attempt if thread.error is not None else 0
    aside = thread.status if thread.status in _SET_ASIDE else ""
    return f"{thread.id}:{thread.head or ''}:{attempt}:{aside}"


def _failed(thread: Thread) -> dict[str, object] | None:
    """What an outcome says of a failure: kept with its post, for when the thread has gone on."""
    error = thread.error
    if error is None or thread.status in _SET_ASIDE:
        return None
    kept = {
        "attempt": error.attempt,
        "attempts": error.attempts,
        "at": error.at.isoformat(),
        "message": error.message,
    }
    return {posts.FAILED: kept}


_SET_ASIDE = (Status.CANCELLED, Status.HELD, Status.PARKED)
