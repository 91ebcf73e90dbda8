"""What a post shows, read from the rows at the moment it is sent.

Each kind of post has a view (`bot.views`), filled here by a few queries, and a pure function that
renders it. Nothing in here decides anything; whatever stands in the rows is what people see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot import (
    cards,
    covering,
    digests,
    lapses,
    notices,
    pending,
    posts,
    reminders,
    rows,
    talks,
    timing,
    views,
)
from bot.approvers import Approvers
from bot.cards import Payload
from bot.people import People
from bot.posts import Post
from bot.present import Present
from bot.replies import Replies
from bot.rows import label, words
from bot.wording import phrase
from checkpoints.database import Connection, Database
from graphs import audit, reviews, steps, takings, threads
from graphs.questions import Shown, asker
from graphs.reviews import Review
from graphs.specs import GraphSpec
from graphs.threads import Status, Thread

__all__ = ["Renderings", "label", "lead_to", "words"]

_CLOSED = (views.Status.WITHDRAWN, views.Status.REPLACED)
_ENDED = (Status.DONE, Status.CANCELLED)
_TITLE_CHARACTERS = 80


class Renderings:
    """Fills views from rows; one for the poster, one for the modals and the home tab."""

    def __init__(self, present: Present, people: People) -> None:
        self._present = present
        self.people = people
        self._replies = Replies(self)

    async def __call__(self, connection: Connection, post: Post) -> Payload | None:
        """Render a post; None when there is nothing to show."""
        if post.kind == posts.CARD:
            view = await self.card(connection, int(post.subject), row=post.wanted, ping=not post.ts)
            aside = post.ts is None and posts.UNLESS_IN in (post.body or {})
            # Nobody needs a direct message about what was decided before it could be sent.
            if aside and view.status is not views.Status.OPEN:
                return None
            if posts.LEFT in (post.body or {}):
                if post.ts is None:
                    return None
                view = await self._left(connection, view)
            return cards.render(view)
        if post.kind == posts.PROGRESS:
            shows = await self._replies.progress(connection, post.subject, row=post.wanted)
            return notices.progress(shows)
        if post.kind == posts.ASK:
            asks = await self._replies.ask(connection, int(post.subject), row=post.wanted)
            return notices.ask(asks)
        if post.kind == posts.OUTCOME:
            outcome = await self._replies.outcome(connection, post)
            return notices.outcome(outcome) if outcome else None
        if post.kind == posts.KEPT:
            return await self._replies.kept(connection, post)
        if post.kind in (posts.QUESTION, posts.ANSWERED, posts.TAKEN):
            return await talks.post(self, connection, post)
        if post.kind in (posts.COVER, posts.HANDED):
            approvers = Approvers(self.people, self._present.policy.directory)
            return await covering.post(self, connection, approvers, post)
        if post.kind == posts.LAPSED:
            lapse = await self._replies.lapse(connection, post)
            return lapses.lapsed(lapse) if lapse else None
        if post.kind in (posts.REMINDER, posts.ESCALATION):
            reminds = await self._reminds(connection, post)
            return reminders.reminder(reminds) if reminds else None
        if post.kind == posts.DIGEST:
            approvers = Approvers(self.people, self._present.policy.directory)
            waits = await pending.digest(self, connection, approvers, post)
            return digests.digest(waits) if waits else None
        if post.kind == posts.OFFER:
            return await self._replies.offer(connection, post)
        if post.kind == posts.NOTICE:
            return notices.operator(await self._replies.notice(connection, post))
        raise ValueError(f"nothing is known of a post that is a {post.kind}")

    def spec(self, graph: str) -> GraphSpec | None:
        """What the configuration says of the graph."""
        return self._present.specs.get(graph)

    async def _reminds(self, connection: Connection, post: Post) -> views.ReminderView | None:
        """What one person is reminded of; None where they have voted, or may not."""
        about, number, *_ = post.subject.split(".")
        review = await reviews.get(connection, int(about))
        item = review.items[int(number)]
        rule = item.rule
        if review.status != "open" or item.status != "open" or rule is None:
            return None
        own = post.place == review.requester and not rule.requester_may_decide
        heard = {one for vote in item.standing_votes() for one in (vote.voter, vote.seat)}
        approvers = Approvers(self.people, self._present.policy.directory)
        covered = await covering.reminded(connection, approvers, review, item, post.place, heard)
        if own or covered is None:
            return None
        if post.kind == posts.REMINDER and post.ts is None:
            taking = await takings.of_review(connection, review)
            if taking is not None and taking.taker != post.place:
                return None  # they took it on since this was wanted
        return views.ReminderView(
            card=await self.card(connection, review.id),
            since=review.opened_at,
            escalated=post.kind == posts.ESCALATION,
            link=await self.link(connection, review.id),
            row=post.wanted,
            covers=covered,
        )

    # Cards

    async def card(
        self, connection: Connection, review_id: int, *, row: int = 1, ping: bool = False
    ) -> views.CardView:
        """The card of a review as it stands now."""
        review = await reviews.get(connection, review_id)
        thread = await threads.get(connection, review.thread_id)
        spec = self.spec(review.graph)
        names = await self.names(connection, review, thread)
        status = rows.status(review, thread)
        by, cut = await self.cut(connection, thread)
        shown = review.shown(spec)
        new = await self._new_card(connection, review) if status in _CLOSED else None
        free = not shown.actions and not (spec and spec.template(review.node))
        clock = await timing.clock(connection, review, shown, spec)
        shown = replace(shown, if_nobody=clock.if_nobody)
        item = review.items[0] if review.items else None
        taken = await talks.taken(connection, self.people, review)
        return views.CardView(
            review_id=review.id,
            revision=review.revision,
            version=review.version,
            status=status,
            shown=shown,
            requester=rows.person(thread.requester, names),
            asked_at=thread.created_at,
            number=thread.number,
            row=row,
            agent=asker(review.graph) if free else "",
            decides=await self._approvers().decides(connection, review, item, names, ping=ping),
            votes=rows.votes(review, names, shown),
            out_of_reach=any(rows.out_of_reach(each) for each in review.items),
            outcome=rows.verb(review),
            decided_at=rows.decided_at(review),
            deadline=clock.deadline,
            zone=clock.zone,
            overdue=clock.overdue,
            expired_as=clock.expired_as,
            result=thread.outcome or "" if status is views.Status.DONE else "",
            ended_at=thread.ended_at,
            failure=await self.failure(connection, thread),
            hold=await self._hold(connection, thread) if status is views.Status.HELD else None,
            change=new,
            withdrawn_by=by,
            cut=cut,
            reason=rows.reason(thread),
            because=rows.because(review, thread, new=new is not None),
            warning=rows.warning(review, thread),
            again=rows.asked_again(review, names),
            written=await self._written(connection, thread) if shown.actions else "",
            actions=await self._actions(connection, review, shown, names, ping=ping),
            customer=thread.customer_name or "",
            more_open=len([one for one in thread.open_reviews if one != review.id]),
            confirm=bool(review.rule and review.rule.confirm),
            talk=await talks.of_review(connection, self.people, review),
            taken=taken,
            stand_ins=await covering.stand_ins(
                connection, Approvers(self.people, self._present.policy.directory), review
            ),
            offers=rows.offers(status, review, thread, taken=taken is not None),
            words=rows.words(spec, review.graph),
        )

    async def _actions(
        self,
        connection: Connection,
        review: Review,
        shown: Shown,
        names: Mapping[str, str],
        *,
        ping: bool,
    ) -> tuple[views.ActionView, ...]:
        """Each action of the question with what people said of it."""
        under = {(item.whole, item.stage): item for item in review.items}
        decides = {
            key: await self._approvers().decides(connection, review, item, names, ping=ping)
            for key, item in under.items()
        }
        return tuple(
            views.ActionView(
                shown=action,
                decides=decides[item.whole, item.stage],
                votes=rows.votes_on(item, names),
                outcome=item.outcome or "",
                by=rows.person(item.decided_by, names) if item.decided_by else None,
                at=item.decided_at,
                note=item.note or "" if item.decided_by else "",
                edited_by=rows.person(item.edited_by, names) if item.edited else None,
                edited_at=item.edited_at if item.edited else None,
                confirm=bool(item.rule and item.rule.confirm),
                editor_may_decide=bool(item.rule is None or item.rule.editor_may_decide),
                out_of_reach=rows.out_of_reach(item),
            )
            for action, item in zip(shown.actions, review.items, strict=False)
        )

    async def change(
        self, connection: Connection, ref: views.Ref, item: int | None
    ) -> views.Change | None:
        """What was changed since the revision that somebody looked at; None where it is not known.

        Args:
            item: what they looked at, told first where it is among what changed.
        """
        review = await reviews.get(connection, ref.review_id)
        since = [
            entry
            for entry in await audit.of_review(connection, ref.review_id)
            if entry.detail.get("revision", 0) > ref.revision
        ]
        edits = [entry for entry in since if entry.what == "review.edited"]
        change = rows.change(edits, item, review)
        if change is None and (moved := [one for one in since if one.what == "review.moved"]):
            return views.Change(None, moved[-1].at, rules=True)
        if change is None or change.by is None:
            return None
        names = await self.people.names(connection, [change.by.id])
        name = names.get(change.by.id, change.by.name)
        return replace(change, by=views.Person(change.by.id, name))

    async def _left(self, connection: Connection, view: views.CardView) -> views.CardView:
        """The card in a place that it left, because other rules are for it now."""
        if view.status is not views.Status.OPEN:
            return view
        change = views.Change(
            None,
            view.asked_at,
            link=await self.link(connection, view.review_id),
            new_ref=views.Ref(view.review_id, view.revision),
            rules=True,
        )
        because = phrase("closed.moved")
        return replace(view, status=views.Status.REPLACED, change=change, because=because)

    async def link(self, connection: Connection, review_id: int) -> str:
        """The address of the card in its channel, "" where it is not there yet."""
        for shown in await posts.shown_at(connection, posts.CARD, str(review_id)):
            if shown.channel and shown.ts and not shown.place.startswith(("U", "W")):
                return await self.people.permalink(shown.channel, shown.ts)
        return ""

    async def _new_card(self, connection: Connection, review: Review) -> views.Change | None:
        """The review that asks in place of one that was withdrawn, where there is one."""
        later = [
            one
            for one in await reviews.list_(connection, thread_id=review.thread_id)
            if one.id > review.id and one.node == review.node and one.audience == review.audience
        ]
        same = [one for one in later if one.interrupt_id == review.interrupt_id]
        new = next(iter([*same, *later]), None)
        if new is None:
            return None
        ref = views.Ref(new.id, new.revision)
        link = await self.link(connection, new.id)
        return views.Change(None, review.closed_at or new.opened_at, link=link, new_ref=ref)

    async def _written(self, connection: Connection, thread: Thread) -> str:
        written = await threads.messages(connection, thread.id)
        return next((message.text for message in written if message.text.strip()), "")

    def _approvers(self) -> Approvers:
        return Approvers(self.people, self._present.policy.directory)

    async def failure(self, connection: Connection, thread: Thread) -> views.Failure | None:
        if thread.error is None or thread.status in _ENDED:
            return None
        error = thread.error
        return views.Failure(
            attempt=error.attempt,
            attempts=error.attempts,
            at=error.at,
            next_at=error.retry_at,
            said=error.message,
            told=await self.operators(connection),
        )

    async def _hold(self, connection: Connection, thread: Thread) -> views.Hold:
        reason, changed = rows.why_held(thread.mark_reason or "")
        told = await self.operators(connection)
        return views.Hold(told, thread.changed_at, reason, changed)

    async def operators(self, connection: Connection) -> tuple[views.Person, ...]:
        """The people who are told when something needs a hand."""
        _, people = await self._approvers().shown(
            connection, self._present.operators, "", {}, ping=False
        )
        return people

    async def cut(
        self, connection: Connection, thread: Thread
    ) -> tuple[views.Person | None, views.Cut | None]:
        """Who stopped the thread, and in which step where it may have acted already."""
        if thread.status is not Status.CANCELLED:
            return None, None
        for entry in reversed(await audit.of_thread(connection, thread.id)):
            if entry.what in {"thread.cancelled", "thread.withdrawn", "thread.stopped"}:
                break
        else:
            return None, None
        names = await self.people.names(connection, [entry.actor])
        running = entry.detail.get("running")
        cut = None
        if running:
            cut = views.Cut(rows.label(self.spec(thread.graph), str(running)))
        elif any(map(rows.let_go_on, await reviews.list_(connection, thread_id=thread.id))):
            cut = views.Cut()
        return rows.person(entry.actor, names), cut

    async def names(
        self, connection: Connection | Database, review: Review, thread: Thread
    ) -> dict[str, str]:
        users = [thread.requester, *(vote.voter for vote in review.votes)]
        users += [vote.seat for vote in review.votes if vote.seat]
        users += [item.edited_by for item in review.items if item.edited_by]
        users += [user for rule in review.every_rule for user in rule.approvers.users]
        known = await self.people.names(connection, users)
        said = {vote.voter: vote.voter_name for vote in review.votes if vote.voter_name}
        said |= {
            by: name
            for item in review.items
            for by, name in (
                (item.decided_by, item.decided_by_name),
                (item.edited_by, item.edited_by_name),
            )
            if by and name
        }
        return said | known

    # What several views have

    async def waiting(
        self,
        connection: Connection,
        review: Review | None,
        names: Mapping[str, str],
        shown: Any,
    ) -> views.Waiting | None:
        if review is None or review.audience != "reviewers":
            return None
        item = review.items[0] if review.items else None
        return views.Waiting(
            since=rows.open_since(review),
            decides=await self._approvers().decides(connection, review, item, names, ping=False),
            # Votes on one of several actions are no votes on the request.
            votes=rows.votes(review, names, shown) if len(review.items) == 1 else (),
            asks=shown.asks,
        )

    async def steps(self, connection: Connection, thread: Thread) -> tuple[views.StepLine, ...]:
        """The steps of a thread so far, in words; a decision says who made it."""
        spec = self.spec(thread.graph)
        decided: dict[str, list[Review]] = {}
        for review in await reviews.list_(connection, thread_id=thread.id, status="decided"):
            decided.setdefault(review.node, []).append(review)
        lines = []
        for step in await steps.of_thread(connection, thread.id):
            ended = step.finished_at
            line = views.StepLine(
                label=rows.label(spec, step.node),
                state="done" if step.status == "done" else "now",
                at=step.started_at,
                seconds=(ended - step.started_at).total_seconds() if ended else None,
                raw=step.node,
            )
            asked = rows.asked_in(step, decided.get(step.node, ()))
            if asked is not None:
                names = await self.names(connection, asked, thread)
                line = replace(
                    line,
                    votes=rows.votes(asked, names, asked.shown(spec)),
                    outcome=rows.verb(asked),
                    out_of_reach=any(map(rows.out_of_reach, asked.items)),
                )
            lines.append(line)
        return tuple(lines)

    async def title(
        self, connection: Connection | Database, thread: Thread, review: Review | None
    ) -> str:
        """What a request is called: its card's title, else the first line that was written."""
        if review is not None:
            return review.shown(self.spec(thread.graph)).title
        for message in await threads.messages(connection, thread.id):
            line = next((line for line in message.text.splitlines() if line.strip()), "")
            if line:
                return line.strip()[:_TITLE_CHARACTERS]
        spec = self.spec(thread.graph)
        return f"Request {thread.number} to {rows.words(spec, thread.graph).process}"


async def lead_to(connection: Connection, review: Review) -> None:
    """Want the cards in whose place this one was posted shown anew: they can lead to it now."""
    await posts.left_again(connection, posts.CARD, str(review.id))
    for old in await reviews.list_(connection, thread_id=review.thread_id, status="withdrawn"):
        if old.node == review.node and old.id < review.id:
            await posts.again(connection, posts.CARD, str(old.id))
