"""What a post shows, read from the rows at the moment it is sent.

Each kind of post has a view (`bot.views`), filled here by a few queries, and a pure function that
renders it. Nothing in here decides anything; whatever stands in the rows is what people see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot import cards, notices, posts, views
from bot.cards import Payload
from bot.people import People
from bot.posts import Post
from bot.wishes import outcome_subject
from bot.wording import phrase
from checkpoints.database import Connection, Database
from graphs import audit, reviews, steps, threads
from graphs.policy import Policy
from graphs.reviews import Review
from graphs.specs import GraphSpec, Rule
from graphs.threads import Status, Thread

_ENDED = (Status.DONE, Status.CANCELLED)
_TITLE_CHARACTERS = 80


class Renderings:
    """Fills views from rows; one for the poster, one for the modals and the home tab."""

    def __init__(self, specs: Mapping[str, GraphSpec], policy: Policy, people: People) -> None:
        self._specs = specs
        self._policy = policy
        self._people = people

    async def __call__(self, connection: Connection, post: Post) -> Payload | None:
        """Render a post; None when there is nothing to show."""
        if post.kind == posts.CARD:
            view = await self.card(connection, int(post.subject), row=post.wanted, ping=not post.ts)
            aside = post.ts is None and posts.UNLESS_IN in (post.body or {})
            # Nobody needs a direct message about what was decided before it could be sent.
            if aside and view.status is not views.Status.OPEN:
                return None
            return cards.render(view)
        if post.kind == posts.PROGRESS:
            return notices.progress(await self.progress(connection, post.subject, row=post.wanted))
        if post.kind == posts.ASK:
            return notices.ask(await self.ask(connection, int(post.subject), row=post.wanted))
        if post.kind == posts.OUTCOME:
            outcome = await self._outcome(connection, post)
            return notices.outcome(outcome) if outcome else None
        if post.kind == posts.KEPT:
            return await self._kept(connection, post)
        if post.kind == posts.NOTICE:
            return notices.operator(await self._notice(connection, post))
        raise ValueError(f"nothing is known of a post that is a {post.kind}")

    # Cards

    async def card(
        self, connection: Connection, review_id: int, *, row: int = 1, ping: bool = False
    ) -> views.CardView:
        """The card of a review as it stands now."""
        review = await reviews.get(connection, review_id)
        thread = await threads.get(connection, review.thread_id)
        spec = self._specs.get(review.graph)
        names = await self._names(connection, review, thread)
        status = _status(review, thread)
        by, cut = await self._cut(connection, thread)
        item = review.items[0] if review.items else None
        shown = review.shown(spec)
        return views.CardView(
            review_id=review.id,
            revision=review.revision,
            version=review.hash,
            status=status,
            shown=shown,
            requester=_person(thread.requester, names),
            asked_at=thread.created_at,
            number=thread.number,
            row=row,
            decides=await self._decides(connection, review.rule, names, ping=ping),
            votes=_votes(review, names, shown),
            outcome=(item.verb or "") if item else "",
            decided_at=item.decided_at if item else None,
            result=thread.outcome or "" if status is views.Status.DONE else "",
            ended_at=thread.ended_at,
            failure=await self._failure(connection, thread),
            hold=await self._hold(connection, thread) if status is views.Status.HELD else None,
            withdrawn_by=by,
            cut=cut,
            reason=_reason(review, thread),
            customer=thread.customer_name or "",
            more_open=len([one for one in thread.open_reviews if one != review.id]),
            confirm=bool(review.rule and review.rule.confirm),
            offers=_offers(status, thread),
            words=words(spec, review.graph),
        )

    async def decides(self, connection: Connection, rule: Rule | None) -> views.Decides:
        """Who decides under a rule, by name."""
        names = await self._people.names(connection, rule.approvers.users if rule else ())
        return await self._decides(connection, rule, names, ping=False)

    async def _decides(
        self, connection: Connection, rule: Rule | None, names: Mapping[str, str], *, ping: bool
    ) -> views.Decides:
        if rule is None:
            return views.Decides()
        handles = await self._people.handles(connection, rule.approvers.groups)
        return views.Decides(
            quorum=rule.quorum,
            groups=tuple(
                views.UserGroup(group, handles.get(group, ""), ping=ping)
                for group in rule.approvers.groups
            ),
            people=tuple(_person(user, names) for user in rule.approvers.users),
            because=rule.because,
        )

    async def _failure(self, connection: Connection, thread: Thread) -> views.Failure | None:
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
        return views.Hold(
            told=await self.operators(connection),
            at=thread.changed_at,
            reason=thread.mark_reason or "",
        )

    async def operators(self, connection: Connection) -> tuple[views.Person, ...]:
        """The people who are told when something needs a hand."""
        users = self._policy.operators.users
        names = await self._people.names(connection, users)
        return tuple(_person(user, names) for user in users)

    async def _cut(
        self, connection: Connection, thread: Thread
    ) -> tuple[views.Person | None, views.Cut | None]:
        """Who stopped the thread, and in which step where it may have acted already."""
        if thread.status is not Status.CANCELLED:
            return None, None
        for entry in reversed(await audit.of_thread(connection, thread.id)):
            if entry.what in {"thread.cancelled", "thread.withdrawn"}:
                break
        else:
            return None, None
        names = await self._people.names(connection, [entry.actor])
        running = entry.detail.get("running")
        cut = None
        if running:
            cut = views.Cut(label(self._specs.get(thread.graph), str(running)))
        elif any(map(_let_go_on, await reviews.list_(connection, thread_id=thread.id))):
            cut = views.Cut()
        return _person(entry.actor, names), cut

    async def _names(
        self, connection: Connection | Database, review: Review, thread: Thread
    ) -> dict[str, str]:
        users = [thread.requester, *(vote.voter for vote in review.votes)]
        if review.rule is not None:
            users += review.rule.approvers.users
        known = await self._people.names(connection, users)
        said = {vote.voter: vote.voter_name for vote in review.votes if vote.voter_name}
        return said | known

    # The conversation of the requester

    async def progress(
        self, connection: Connection, thread_id: str, *, row: int = 1
    ) -> views.ProgressView:
        """The progress message of a thread as it stands now."""
        thread = await threads.get(connection, thread_id)
        spec = self._specs.get(thread.graph)
        asked = await reviews.list_(connection, thread_id=thread_id)
        cards_ = [review for review in asked if review.audience == "reviewers"]
        last = cards_[-1] if cards_ else None
        open_ = next((review for review in asked if review.status == "open"), None)
        decided = next((review for review in reversed(cards_) if review.status == "decided"), None)
        names = await self._names(connection, last, thread) if last else {}
        shown = last.shown(spec) if last else None
        return views.ProgressView(
            title=await self.title(connection, thread, last),
            steps=await self.steps(connection, thread),
            ref=views.Ref(open_.id, open_.revision) if open_ else None,
            row=row,
            number=thread.number,
            asked_at=thread.created_at,
            waiting=await self._waiting(connection, open_, names, shown),
            asking=_asking(open_),
            failure=await self._failure(connection, thread),
            failing=shown.failing if shown and decided and thread.error else "",
            if_nobody=shown.if_nobody if shown and open_ else "",
            ended=_ended(thread, decided),
            ended_at=thread.ended_at,
            result=thread.outcome or "",
            decision_ahead=last is None,
            offers=frozenset({"withdraw"}) if open_ else views.NO_OFFERS,
        )

    async def _waiting(
        self,
        connection: Connection,
        review: Review | None,
        names: Mapping[str, str],
        shown: Any,
    ) -> views.Waiting | None:
        if review is None or review.audience != "reviewers":
            return None
        return views.Waiting(
            since=review.opened_at,
            decides=await self._decides(connection, review.rule, names, ping=False),
            votes=_votes(review, names, shown),
            asks=shown.asks,
        )

    async def steps(self, connection: Connection, thread: Thread) -> tuple[views.StepLine, ...]:
        """The steps of a thread so far, in words; a decision says who made it."""
        spec = self._specs.get(thread.graph)
        decided: dict[str, list[Review]] = {}
        for review in await reviews.list_(connection, thread_id=thread.id, status="decided"):
            decided.setdefault(review.node, []).append(review)
        lines = []
        for step in await steps.of_thread(connection, thread.id):
            ended = step.finished_at
            line = views.StepLine(
                label=label(spec, step.node),
                state="done" if step.status == "done" else "now",
                at=step.started_at,
                seconds=(ended - step.started_at).total_seconds() if ended else None,
                raw=step.node,
            )
            if step.status == "done" and decided.get(step.node):
                review = decided[step.node].pop(0)
                names = await self._names(connection, review, thread)
                item = review.items[0]
                line = replace(
                    line, votes=_votes(review, names, review.shown(spec)), outcome=item.verb or ""
                )
            lines.append(line)
        return tuple(lines)

    async def title(
        self, connection: Connection | Database, thread: Thread, review: Review | None
    ) -> str:
        """What a request is called: its card's title, else the first line that was written."""
        if review is not None:
            return review.shown(self._specs.get(thread.graph)).title
        for message in await threads.messages(connection, thread.id):
            line = next((line for line in message.text.splitlines() if line.strip()), "")
            if line:
                return line.strip()[:_TITLE_CHARACTERS]
        spec = self._specs.get(thread.graph)
        return f"Request {thread.number} to {words(spec, thread.graph).process}"

    async def ask(self, connection: Connection, review_id: int, *, row: int = 1) -> views.AskView:
        """A question to the requester."""
        review = await reviews.get(connection, review_id)
        thread = await threads.get(connection, review.thread_id)
        question = review.question if isinstance(review.question, dict) else {}
        asked = await reviews.list_(connection, thread_id=thread.id)
        sent_back = next(
            (
                one.items[0]
                for one in reversed(asked)
                if one.id < review_id and one.audience == "reviewers" and one.items
            ),
            None,
        )
        if sent_back is not None and sent_back.outcome != "changes":
            sent_back = None
        users = [thread.requester, *([sent_back.decided_by or ""] if sent_back else [])]
        names = await self._people.names(connection, users)
        item = review.items[0] if review.items else None
        # A graph may hand on the reviewer's note; it is quoted once, under who wrote it.
        repeats = bool(sent_back and sent_back.note and question.get("note") == sent_back.note)
        return views.AskView(
            ref=views.Ref(review.id, review.revision),
            requester=_person(thread.requester, names),
            question="" if repeats else _text(question.get("question"), review),
            title=await self.title(connection, thread, None),
            example=str(question.get("example") or ""),
            problem=str(question.get("problem") or ""),
            problems=_problems(question.get("problems")),
            note=(sent_back.note or "") if sent_back else "",
            asked_by=_person(sent_back.decided_by, names)
            if sent_back and sent_back.decided_by
            else None,
            row=row,
            number=thread.number,
            open=review.status == "open",
            answered_at=item.decided_at if item else None,
            offers=frozenset(
                one.verb
                for one in review.shown(self._specs.get(review.graph)).choices
                if one.needs is None
            ),
        )

    async def _outcome(self, connection: Connection, post: Post) -> views.OutcomeView | None:
        """What became of a request; None where that was overtaken before it was told."""
        thread = await threads.get(connection, post.thread_id or "")
        if outcome_subject(thread) != post.subject:
            return await self._overtaken(connection, post, thread)
        asked = await reviews.list_(connection, thread_id=thread.id)
        decided = next(
            (
                review
                for review in reversed(asked)
                if review.audience == "reviewers" and review.status == "decided"
            ),
            None,
        )
        kind = _outcome_kind(thread, decided)
        if kind is None:
            return await self._overtaken(connection, post, thread)
        spec = self._specs.get(thread.graph)
        last = next((one for one in reversed(asked) if one.audience == "reviewers"), None)
        names = await self._names(connection, decided or last, thread) if last else {}
        shown = decided.shown(spec) if decided else None
        item = decided.items[0] if decided and decided.items else None
        by, cut = await self._cut(connection, thread)
        return views.OutcomeView(
            kind=kind,
            requester=_person(thread.requester, names),
            title=await self.title(connection, thread, decided or last),
            ref=views.Ref(decided.id, decided.revision) if decided else None,
            row=post.wanted,
            words=words(spec, thread.graph),
            shown=shown,
            result=thread.outcome or "",
            votes=_votes(decided, names, shown) if decided and shown else (),
            by=by or (_person(item.decided_by, names) if item and item.decided_by else None),
            cut=cut,
            note=(item.note or "") if item else "",
            failure=await self._failure(connection, thread),
            told=await self.operators(connection) if kind in {"stopped", "held"} else (),
            offers=frozenset({"try_again"}) if kind == "stopped" and decided else views.NO_OFFERS,
        )

    async def _overtaken(
        self, connection: Connection, post: Post, thread: Thread
    ) -> views.OutcomeView | None:
        """A failure that was told and that the thread left behind: its words without its buttons.

        Nothing else is shown anew, for no other outcome has a button.
        """
        failed = (post.body or {}).get(posts.FAILED)
        if post.ts is None or not isinstance(failed, dict):
            return None
        asked = [
            review
            for review in await reviews.list_(connection, thread_id=thread.id)
            if review.audience == "reviewers"
        ]
        decided = next((one for one in reversed(asked) if _was_decided(one, post.created_at)), None)
        spec = self._specs.get(thread.graph)
        names = await self._names(connection, decided, thread) if decided else {}
        shown = decided.shown(spec) if decided else None
        requester = await self._people.names(connection, [thread.requester])
        told = await self.operators(connection)
        return views.OutcomeView(
            kind="stopped",
            requester=_person(thread.requester, requester),
            title=await self.title(connection, thread, decided or (asked[-1] if asked else None)),
            row=post.wanted,
            words=words(spec, thread.graph),
            shown=shown,
            votes=_votes(decided, names, shown) if decided else (),
            failure=views.Failure(
                attempt=int(failed["attempt"]),
                attempts=int(failed["attempts"]),
                at=datetime.fromisoformat(str(failed["at"])),
                said=str(failed["message"]),
                told=told,
            ),
            told=told,
        )

    async def _kept(self, connection: Connection, post: Post) -> Payload | None:
        if post.thread_id is None:
            return None
        thread = await threads.get(connection, post.thread_id)
        spec = self._specs.get(thread.graph)
        kind = str((post.body or {}).get("kind") or "kept")
        noun = words(spec, thread.graph).noun
        if kind in {"finished", "edited"}:
            return notices.told(phrase(f"kept.{kind}", noun=noun))
        asked = await reviews.list_(connection, thread_id=thread.id, status="open")
        open_ = next((review for review in asked if review.audience == "reviewers"), None)
        names = await self._names(connection, open_, thread) if open_ else {}
        waiting = await self._waiting(
            connection, open_, names, open_.shown(spec) if open_ else None
        )
        return notices.kept(
            views.KeptView(
                words=words(spec, thread.graph),
                waiting=waiting,
                ref=views.Ref(open_.id, open_.revision) if open_ else None,
            )
        )

    async def _notice(self, connection: Connection, post: Post) -> views.NoticeView:
        what, _, about = post.subject.partition(":")
        body = post.body or {}
        if what == "thread":
            return await self._notice_of_thread(connection, about, row=post.wanted)
        if what == "review":
            review = await reviews.get(connection, int(about))
            thread = await threads.get(connection, review.thread_id)
            title = await self.title(connection, thread, review)
            return views.NoticeView(
                what="nobody_may",
                requests=((thread.number, title),),
                words=words(self._specs.get(review.graph), review.graph),
                command="sayso check",
                row=post.wanted,
                threads=(thread.id,),
            )
        detail = (
            f"{body.get('kind', 'message')} in {body.get('place', '')}: {body.get('error', '')}"
        )
        return views.NoticeView(what="parked", detail=detail, row=post.wanted)

    async def _notice_of_thread(
        self, connection: Connection, thread_id: str, *, row: int
    ) -> views.NoticeView:
        thread = await threads.get(connection, thread_id)
        asked = await reviews.list_(connection, thread_id=thread_id)
        last = next((one for one in reversed(asked) if one.audience == "reviewers"), None)
        what = {Status.HELD: "held", Status.PARKED: "parked", Status.FAILED: "failed"}.get(
            thread.status, "other"
        )
        detail = thread.mark_reason or (thread.error.message if thread.error else "")
        return views.NoticeView(
            what=what,
            requests=((thread.number, await self.title(connection, thread, last)),),
            words=words(self._specs.get(thread.graph), thread.graph),
            detail=detail,
            command=f"sayso threads show {thread.id}",
            row=row,
            threads=(thread.id,),
        )


def words(spec: GraphSpec | None, graph: str) -> views.Words:
    """What the graph calls itself and its requests."""
    noun = graph.replace("_", " ").strip() or "request"
    return views.Words(noun=noun, process=(spec.title if spec else None) or f"the {noun} process")


def label(spec: GraphSpec | None, node: str) -> str:
    """A node's name in words."""
    return (spec or GraphSpec(path="none:none")).label(node)


def _person(user: str | None, names: Mapping[str, str]) -> views.Person:
    user = user or ""
    return views.Person(user, names.get(user, user.removeprefix("cli:") if ":" in user else ""))


def _votes(review: Review | None, names: Mapping[str, str], shown: Any) -> tuple[views.Vote, ...]:
    if review is None:
        return ()
    standing: Iterable[reviews.Vote] = (
        vote for item in review.items for vote in item.standing_votes()
    )
    return tuple(
        views.Vote(
            by=_person(vote.voter, names),
            verb=vote.verb,
            at=vote.cast_at,
            note=vote.note,
            label=choice.label if shown and (choice := shown.choice(vote.verb)) else "",
        )
        for vote in standing
    )


def _status(review: Review, thread: Thread) -> views.Status:
    held = thread.status in {Status.HELD, Status.PARKED}
    if review.status == "open":
        return views.Status.HELD if held else views.Status.OPEN
    if review.status == "expired":
        return views.Status.EXPIRED
    if review.status == "withdrawn":
        return views.Status.WITHDRAWN
    if review.outcome == "rejected":
        return views.Status.REJECTED
    if review.outcome == "changes":
        return views.Status.SENT_BACK
    if thread.status is Status.DONE:
        return views.Status.DONE
    if thread.status is Status.CANCELLED:
        return views.Status.WITHDRAWN
    if held:
        return views.Status.HELD
    if thread.status is Status.FAILED:
        return views.Status.STOPPED
    if thread.error is not None and thread.error.retry_at is not None:
        return views.Status.RETRYING
    return views.Status.RUNNING


def _was_decided(review: Review, by: datetime) -> bool:
    return review.status == "decided" and any(
        item.decided_at is not None and item.decided_at <= by for item in review.items
    )


def _let_go_on(review: Review) -> bool:
    """Whether steps that act outside may have followed: it was decided, and not against it."""
    outcomes = {item.outcome for item in review.items if item.status == "decided"}
    return review.audience == "reviewers" and bool(outcomes - {"rejected", "changes"})


def _offers(status: views.Status, thread: Thread) -> frozenset[str]:
    offers = {"details"}
    if thread.customer_id is not None:
        offers.add("known")
    if status in {views.Status.STOPPED, views.Status.RETRYING}:
        offers.add("try_again")
    return frozenset(offers)


def _reason(review: Review, thread: Thread) -> str:
    if thread.status is Status.CANCELLED:
        reason = thread.mark_reason or ""
        return "" if reason in {"cancelled", "withdrawn"} else reason
    return review.closed_because or ""


def _ended(thread: Thread, decided: Review | None) -> str:
    if thread.status is Status.DONE:
        return "rejected" if decided and decided.outcome == "rejected" else "done"
    return {
        Status.CANCELLED: "cancelled" if thread.mark_reason != "withdrawn" else "withdrawn",
        Status.FAILED: "failed",
        Status.HELD: "held",
        Status.PARKED: "held",
    }.get(thread.status, "")


def _outcome_kind(thread: Thread, decided: Review | None) -> str | None:
    if thread.status is Status.DONE:
        if decided is not None and decided.outcome == "rejected":
            return "rejected"
        return "done"
    return {
        Status.FAILED: "stopped",
        Status.HELD: "held",
        Status.PARKED: "held",
        Status.CANCELLED: "withdrawn" if thread.mark_reason == "withdrawn" else "cancelled",
    }.get(thread.status)


def _asking(review: Review | None) -> str:
    """What the requester is asked, where it waits for them."""
    if review is None or review.audience != "requester":
        return ""
    question = review.question if isinstance(review.question, dict) else {}
    return _text(question.get("question"), review)


def _problems(value: Any) -> tuple[tuple[str, str], ...]:
    """What is wrong file by file, as a graph may say it: a list of name and says."""
    found = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    return tuple((str(one.get("name") or ""), str(one.get("says") or "")) for one in found)


def _text(value: Any, review: Review) -> str:
    if isinstance(value, str) and value:
        return value
    return review.question if isinstance(review.question, str) else "Please write more about it."
