"""What the requester and the operators are told, read from the rows: everything but the card."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from bot import covering, drafts, inline, notices, offers, posts, rows, talks, timing, views
from bot.blocks import Payload
from bot.posts import Post
from bot.wishes import outcome_subject
from bot.wording import phrase
from checkpoints.database import Connection
from graphs import absences, audit, exchanges, reviews, threads
from graphs.actions import arguments_of
from graphs.templates import name_in_words
from graphs.threads import Status, Thread

if TYPE_CHECKING:
    from bot.renderings import Renderings


RULE_FAILED = "rule.failed"


class Replies:
    """Fills the views of progress, questions, outcomes and notices."""

    def __init__(self, of: Renderings) -> None:
        self._of = of

    async def progress(
        self, connection: Connection, thread_id: str, *, row: int = 1
    ) -> views.ProgressView:
        """The progress message of a thread as it stands now."""
        of = self._of
        thread = await threads.get(connection, thread_id)
        spec = of.spec(thread.graph)
        asked = await reviews.list_(connection, thread_id=thread_id)
        cards_ = [review for review in asked if review.audience == "reviewers"]
        last = cards_[-1] if cards_ else None
        open_ = next((review for review in asked if review.status == "open"), None)
        closed = (one for one in reversed(cards_) if one.status in {"decided", "expired"})
        decided = next(closed, None)
        names = await of.names(connection, last, thread) if last else {}
        shown = last.shown(spec) if last else None
        clock = timing.Clock()
        if open_ is not None and open_.audience == "reviewers":
            shown_open = open_.shown(spec)
            clock = await timing.clock(connection, open_, shown_open, spec)
        return views.ProgressView(
            title=await of.title(connection, thread, last),
            steps=await of.steps(connection, thread),
            ref=views.Ref(open_.id, open_.revision) if open_ else None,
            row=row,
            number=thread.number,
            asked_at=thread.created_at,
            waiting=await of.waiting(connection, open_, names, shown),
            asking=rows.asking(open_),
            askers=await talks.askers(connection, of.people, thread_id) if open_ else (),
            failure=await of.failure(connection, thread),
            failing=shown.failing if shown and decided and thread.error else "",
            if_nobody=clock.if_nobody if open_ else "",
            deadline=clock.deadline if open_ else None,
            zone=clock.zone,
            ended=rows.ended(thread, decided),
            ended_at=thread.ended_at,
            result=thread.outcome or "",
            decision_ahead=last is None,
            offers=frozenset({"withdraw"}) if open_ else views.NO_OFFERS,
        )

    async def ask(self, connection: Connection, review_id: int, *, row: int = 1) -> views.AskView:
        """A question to the requester."""
        of = self._of
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
        names = await of.people.names(connection, users)
        item = review.items[0] if review.items else None
        # A graph may hand on the reviewer's note; it is quoted once, under who wrote it.
        repeats = bool(sent_back and sent_back.note and question.get("note") == sent_back.note)
        return views.AskView(
            ref=views.Ref(review.id, review.revision),
            requester=rows.person(thread.requester, names),
            question="" if repeats else rows.text(question.get("question"), review),
            title=await of.title(connection, thread, None),
            example=str(question.get("example") or ""),
            problem=str(question.get("problem") or ""),
            problems=rows.problems(question.get("problems")),
            note=(sent_back.note or "") if sent_back else "",
            asked_by=rows.person(sent_back.decided_by, names)
            if sent_back and sent_back.decided_by
            else None,
            row=row,
            number=thread.number,
            open=review.status == "open",
            answered_at=item.decided_at if item else None,
            offers=frozenset(
                one.verb for one in review.shown(of.spec(review.graph)).choices if one.needs is None
            ),
        )

    async def outcome(self, connection: Connection, post: Post) -> views.OutcomeView | None:
        """What became of a request; None where that was overtaken before it was told."""
        of = self._of
        thread = await threads.get(connection, post.thread_id or "")
        if outcome_subject(thread) != post.subject:
            return await self._overtaken(connection, post, thread)
        asked = await reviews.list_(connection, thread_id=thread.id)
        decided = next(
            (
                review
                for review in reversed(asked)
                if review.audience == "reviewers" and review.status in {"decided", "expired"}
            ),
            None,
        )
        kind = rows.outcome_kind(thread, decided)
        if kind is None:
            return await self._overtaken(connection, post, thread)
        spec = of.spec(thread.graph)
        last = next((one for one in reversed(asked) if one.audience == "reviewers"), None)
        names = await of.names(connection, decided or last, thread) if last else {}
        shown = decided.shown(spec) if decided else None
        item = decided.items[0] if decided and decided.items else None
        clock = timing.Clock()
        if decided is not None and shown is not None and kind == "expired":
            clock = await timing.clock(connection, decided, shown, spec)
        by, cut = await of.cut(connection, thread)
        return views.OutcomeView(
            kind=kind,
            requester=rows.person(thread.requester, names),
            title=await of.title(connection, thread, decided or last),
            ref=views.Ref(decided.id, decided.revision) if decided else None,
            row=post.wanted,
            words=rows.words(spec, thread.graph),
            shown=shown,
            result=thread.outcome or "",
            votes=rows.votes(decided, names, shown) if decided and shown else (),
            by=by or (rows.person(item.decided_by, names) if item and item.decided_by else None),
            cut=cut,
            out_of_reach=any(map(rows.out_of_reach, decided.items)) if decided else False,
            note=(item.note or "") if item else "",
            deadline=clock.deadline,
            zone=clock.zone,
            expired_as=clock.expired_as,
            failure=await of.failure(connection, thread),
            told=await of.operators(connection) if kind in {"stopped", "held"} else (),
            offers=frozenset({"try_again"}) if kind == "stopped" and decided else views.NO_OFFERS,
        )

    async def _overtaken(
        self, connection: Connection, post: Post, thread: Thread
    ) -> views.OutcomeView | None:
        """A failure that was told and that the thread left behind: its words without its buttons.

        Nothing else is shown anew, for no other outcome has a button.
        """
        of = self._of
        failed = (post.body or {}).get(posts.FAILED)
        if post.ts is None or not isinstance(failed, dict):
            return None
        asked = [
            review
            for review in await reviews.list_(connection, thread_id=thread.id)
            if review.audience == "reviewers"
        ]
        decided = next(
            (one for one in reversed(asked) if rows.was_decided(one, post.created_at)), None
        )
        spec = of.spec(thread.graph)
        names = await of.names(connection, decided, thread) if decided else {}
        shown = decided.shown(spec) if decided else None
        requester = await of.people.names(connection, [thread.requester])
        told = await of.operators(connection)
        return views.OutcomeView(
            kind="stopped",
            requester=rows.person(thread.requester, requester),
            title=await of.title(connection, thread, decided or (asked[-1] if asked else None)),
            row=post.wanted,
            words=rows.words(spec, thread.graph),
            shown=shown,
            votes=rows.votes(decided, names, shown) if decided else (),
            failure=views.Failure(
                attempt=int(failed["attempt"]),
                attempts=int(failed["attempts"]),
                at=datetime.fromisoformat(str(failed["at"])),
                said=str(failed["message"]),
                told=told,
            ),
            told=told,
        )

    async def kept(self, connection: Connection, post: Post) -> Payload | None:
        of = self._of
        if post.thread_id is None:
            return None
        thread = await threads.get(connection, post.thread_id)
        spec = of.spec(thread.graph)
        kind = str((post.body or {}).get("kind") or "kept")
        noun = rows.words(spec, thread.graph).noun
        if kind in {"finished", "edited", "instead"}:
            return notices.told(phrase(f"kept.{kind}", noun=noun))
        if kind == "told":
            return await self._told(connection, post, thread)
        asked = await reviews.list_(connection, thread_id=thread.id, status="open")
        for_others = [review for review in asked if review.audience == "reviewers"]
        if len(for_others) > 1:
            return notices.told(phrase("kept.several", noun=noun, count=len(for_others)))
        open_ = next((review for review in asked if review.audience == "reviewers"), None)
        names = await of.names(connection, open_, thread) if open_ else {}
        waiting = await of.waiting(connection, open_, names, open_.shown(spec) if open_ else None)
        return notices.kept(
            views.KeptView(
                words=rows.words(spec, thread.graph),
                waiting=waiting,
                ref=views.Ref(open_.id, open_.revision) if open_ else None,
            )
        )

    async def _told(self, connection: Connection, post: Post, thread: Thread) -> Payload | None:
        """That a message answered what a reviewer asked, and whose question that was."""
        about = (post.body or {}).get("exchange")
        exchange = await exchanges.find(connection, about) if isinstance(about, int) else None
        if exchange is None:
            return None
        who = await talks.one(connection, self._of.people, exchange)
        name = inline.names([who.asked_by])
        return notices.told(phrase("kept.told", number=thread.number, name=name))

    async def offer(self, connection: Connection, post: Post) -> Payload | None:
        """What can be asked for, under what somebody wrote; once it is sent, that it was."""
        draft = await drafts.find(connection, int(post.subject))
        body = post.body or {}
        specs = {str(name): self._of.spec(str(name)) for name in body.get("graphs") or ()}
        said = {name: rows.words(spec, name) for name, spec in specs.items() if spec is not None}
        if draft is None or not said:
            return None
        if draft.thread_id is not None:
            thread = await threads.get(connection, draft.thread_id)
            return offers.sent(thread.number, row=post.wanted)
        labels = {name: offers.label(specs[name], one) for name, one in said.items()}
        return offers.offer(
            draft,
            labels,
            next(iter(said.values())),
            row=post.wanted,
            problem=str(body.get("problem") or ""),
        )

    async def notice(self, connection: Connection, post: Post) -> views.NoticeView:
        of = self._of
        what, _, about = post.subject.partition(":")
        body = post.body or {}
        if what == "thread":
            return await self._notice_of_thread(connection, about, row=post.wanted)
        if what in ("review", "overdue"):
            review = await reviews.get(connection, int(about))
            thread = await threads.get(connection, review.thread_id)
            title = await of.title(connection, thread, review)
            late = what == "overdue"
            told = [] if late else await audit.of_review(connection, review.id)
            why = [str(one.detail.get("why", [""])[0]) for one in told if one.what == RULE_FAILED]
            return views.NoticeView(
                what="overdue" if late else "nobody_may",
                requests=((thread.number, title),),
                words=rows.words(of.spec(review.graph), review.graph),
                detail=next(iter(why), ""),
                command=f"sayso policy explain --review {review.id}" if late else "sayso check",
                row=post.wanted,
                threads=(thread.id,),
            )
        if what == "unreachable":
            review = await reviews.get(connection, int(about))
            thread = await threads.get(connection, review.thread_id)
            return views.NoticeView(
                what="unreachable",
                requests=((thread.number, await of.title(connection, thread, review)),),
                words=rows.words(of.spec(review.graph), review.graph),
                command=f"sayso policy apply --review {review.id}",
                row=post.wanted,
                threads=(thread.id,),
            )
        if what == "absence":
            absence = await absences.get(connection, int(about))
            names = await of.people.names(connection, [absence.person, absence.covered_by])
            return covering.notice(absence, names, row=post.wanted)
        if what == "head":
            return views.NoticeView(what="head", detail=about, row=post.wanted)
        if what.startswith("configuration."):
            return views.NoticeView(
                what=what,
                detail="\n".join(map(str, body.get("lines") or ())),
                command="sayso check" if what == "configuration.refused" else "",
                row=post.wanted,
            )
        detail = (
            f"{body.get('kind', 'message')} in {body.get('place', '')}: {body.get('error', '')}"
        )
        return views.NoticeView(what="parked", detail=detail, row=post.wanted)

    async def _notice_of_thread(
        self, connection: Connection, thread_id: str, *, row: int
    ) -> views.NoticeView:
        of = self._of
        thread = await threads.get(connection, thread_id)
        asked = await reviews.list_(connection, thread_id=thread_id)
        last = next((one for one in reversed(asked) if one.audience == "reviewers"), None)
        what = {Status.HELD: "held", Status.PARKED: "parked", Status.FAILED: "failed"}.get(
            thread.status, "other"
        )
        detail = thread.mark_reason or (thread.error.message if thread.error else "")
        return views.NoticeView(
            what=what,
            requests=((thread.number, await of.title(connection, thread, last)),),
            words=rows.words(of.spec(thread.graph), thread.graph),
            detail=detail,
            command=f"sayso threads show {thread.id}",
            row=row,
            threads=(thread.id,),
        )

    async def lapse(self, connection: Connection, post: Post) -> views.LapseView | None:
        """What became of somebody's vote for what changed after it, itself or the rules for it.

        None where nothing is left to tell: they have decided on it again.
        """
        of = self._of
        about, item, revision, voter = post.subject.split(".", 3)
        review = await reviews.get(connection, int(about))
        mine = next((one for one in review.items if one.item == int(item)), None)
        if mine is None or any(vote.voter == voter for vote in mine.standing_votes()):
            return None
        lapsed = next((one for one in reversed(mine.votes) if one.voter == voter), None)
        moved = [
            one
            for one in await audit.of_review(connection, review.id)
            if one.what == "review.moved" and one.detail.get("revision") == int(revision)
        ]
        if lapsed is not None and moved:
            title = review.shown(of.spec(review.graph)).title
            ref = views.Ref(review.id, review.revision)
            link = await of.link(connection, review.id)
            change = views.Change(None, moved[0].at, link=link, new_ref=ref, rules=True)
            return views.LapseView(ref, title, change, post.wanted)
        if lapsed is None or mine.edited_at is None:
            return None
        thread = await threads.get(connection, review.thread_id)
        names = await of.names(connection, review, thread)
        before = arguments_of(review.asking.actions[mine.item], lapsed.answer)
        values = rows.changed(before, mine.arguments)
        name, old, new = values[0] if values else ("", "", "")
        change = views.Change(
            rows.person(mine.edited_by, names),
            mine.edited_at,
            name,
            old,
            new,
            link=await of.link(connection, review.id),
            new_ref=views.Ref(review.id, review.revision),
            more=max(len(values) - 1, 0),
            action=name_in_words(mine.tool or ""),
        )
        return views.LapseView(
            views.Ref(review.id, review.revision),
            review.shown(of.spec(review.graph)).title,
            change,
            post.wanted,
        )
