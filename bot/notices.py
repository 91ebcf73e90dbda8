"""Messages in a conversation: a question to the requester, the outcome, a word to the operator.

With `refused` and `progress` from beside, everything a person is told outside a card and a window.
"""

from __future__ import annotations

from slackblocks import Element, RichTextObject

from bot.blocks import Blocks, Payload, bullets, button, line, quote
from bot.endings import stopped_as
from bot.inline import Inline, Many, Moment, Styled, clause, names, notification, said
from bot.judgements import APPROVING, by_whom, people
from bot.progress import given_now, progress
from bot.refusals import refused, refused_view
from bot.values import excerpt, letters, passage
from bot.views import AskView, KeptView, NoticeView, OutcomeView, Vote
from bot.wording import Sentence, first_of, has, phrase, say

__all__ = [
    "ask",
    "kept",
    "operator",
    "outcome",
    "progress",
    "refused",
    "refused_view",
    "told",
    "unclear",
]

MARKS = {
    "done": "white_check_mark",
    "rejected": "x",
    "declined": "black_square_for_stop",
    "expired": "black_square_for_stop",
    "sent_back": "leftwards_arrow_with_hook",
    "withdrawn": "leftwards_arrow_with_hook",
    "cancelled": "black_square_for_stop",
    "stopped": "warning",
    "held": "double_vertical_bar",
}
NOTICE_MARKS = {
    "held": "double_vertical_bar",
    "overdue": "alarm_clock",
    "head": "lock",
    "absence": "",  # nothing is wrong
    "absence_over": "",
    "configuration.mended": "white_check_mark",
}
LISTED = 10
PROBLEMS = 20


def unclear(question: str, example: str = "") -> Payload:
    """A request that cannot be understood: what is missing, with an example to copy."""
    blocks = Blocks()
    blocks.rich("what", line(Styled(passage(question, 1_000), "bold")))
    _example(blocks, example)
    extra = [say("ask.example"), said(example)] if example else []
    text = notification([said(question)], [_one(extra)] if extra else [])
    return Payload(text, blocks.done())


def told(sentence: str) -> Payload:
    """One whole sentence of ours from elsewhere, such as why a file was not taken."""
    blocks = Blocks()
    blocks.rich("what", line(Styled(passage(sentence, 2_000))))
    return Payload(notification([said(sentence)]), blocks.done())


def ask(view: AskView) -> Payload:
    """A question to the requester, in their conversation; their next message answers it."""
    blocks = Blocks(view.row)
    if view.asked_by:
        blocks.rich(
            "by",
            line(view.requester, ", ", say("ask.note", who=view.asked_by)),
            quote(view.note, 2_000),
        )
    question: Inline = Styled(passage(view.question, 1_500), "bold")
    mention: list[Inline] = [] if view.asked_by else [view.requester, "  "]
    blocks.rich("what", line(*mention, question) if view.question.strip() else None)
    if view.problems:
        rows: list[list[Inline]] = [
            [Styled(excerpt(name, 120), "bold"), " ", Styled(passage(says, 250))]
            for name, says in view.problems[:PROBLEMS]
        ]
        if left := len(view.problems) - len(rows):
            rows.append([say("notice.more", count=left)])
        blocks.rich("problem", bullets(rows))
    elif view.problem.strip():
        blocks.rich("problem", line(Styled(passage(view.problem, 1_000))))
    _example(blocks, view.example)
    if view.open:
        blocks.actions("act", _buttons(view.offers, view, ("go_on_without", "withdraw")))
        blocks.context(
            "foot",
            say("footer.request", id=str(view.number or view.ref.review_id)),
            say("ask.where"),
        )
    elif view.answered_at:
        at = Moment(view.answered_at, view.zone, "at")
        blocks.context("foot", say("ask.answered.at", at=at))
    else:
        blocks.context("foot", say("ask.answered"))
    return Payload(_ask_note(view), blocks.done())


def _ask_note(view: AskView) -> str:
    if view.asked_by and not view.question.strip():
        title = view.title or view.note
        first = say("outcome.note.sent_back", title=title, names=names([view.asked_by]))
    elif view.title:
        first = say("progress.note.now", title=view.title, step=clause(view.question))
    else:
        first = said(view.question)
    return notification([first], [said(view.problem)])


def outcome(view: OutcomeView) -> Payload:
    """What became of a request: a new reply that mentions its requester."""
    bold, rest = _outcome(view)
    blocks = Blocks(view.row)
    first = say("outcome.to", who=view.requester, what=bold)
    blocks.section("what", *rest, mark=MARKS.get(view.kind, ""), first=first)
    _by(blocks, view)
    blocks.actions("act", _buttons(view.offers, view, ("ask_again", "try_again", "withdraw")))
    return Payload(_outcome_note(view, rest), blocks.done())


def kept(view: KeptView) -> Payload:
    """A message that came while the request waits."""
    first = say("kept.on_card" if view.on_card else "kept")
    noun = view.words.noun
    second = say("kept.waiting.plain", noun=noun)
    if view.waiting and view.waiting.asks == "answer":
        second = say("kept.waiting.answer", noun=noun)
    elif view.waiting:
        given = given_now(view.waiting)
        missing = max(view.waiting.decides.quorum - len(given), 1)
        second = say("kept.waiting.approvals", noun=noun, count=missing)
    blocks = Blocks()
    blocks.section("what", first, second)
    if view.ref and "restart" in view.offers:
        label = phrase("button.restart")
        blocks.actions("act", [button("restart", label, view.ref, of=label)])
    return Payload(notification([first, second]), blocks.done())


def operator(view: NoticeView) -> Payload:
    """What whoever runs this must do: what happened, which requests, the command to run."""
    what = view.what if has(f"notice.{view.what}") else "other"
    count = max(len(view.requests), 1)
    process = view.words.process
    why = say(f"notice.{what}.why", process=process[:1].upper() + process[1:])
    first = say(f"notice.{what}", count=count)
    blocks = Blocks(view.row)
    blocks.section("what", why, mark=NOTICE_MARKS.get(what, "warning"), first=first)
    rows: list[list[Inline]] = [
        [say("notice.request", id=str(number), title=excerpt(title, 150))]
        if number
        else [Styled(excerpt(title, 150))]
        for number, title in view.requests[:LISTED]
    ]
    if left := len(view.requests) - len(rows):
        rows.append([say("notice.more", count=left)])
    blocks.rich("which", bullets(rows))
    blocks.rich("detail", quote(view.detail, 1_000))
    if view.command:
        do = say(f"notice.{what}.do")
        blocks.rich("next", line(Styled(excerpt(view.command, 300), "bold"), "  ", do))
    return Payload(notification([first, why]), blocks.done())


def _outcome(view: OutcomeView) -> tuple[Sentence, list[Sentence]]:
    by = view.by or (view.votes[-1].by if view.votes else None)
    shown = view.shown
    not_done = [said(shown.not_done)] if shown and shown.not_done else []
    result = [said(view.result)] if view.result else []
    match view.kind:
        case "done":
            approved = any(vote.verb in APPROVING for vote in view.votes)
            return say(f"outcome.done.{'approve' if approved else 'answer'}"), result
        case "rejected" if view.out_of_reach:
            return say("outcome.out_of_reach"), [say("status.out_of_reach"), *(result or not_done)]
        case "rejected":
            return say("outcome.rejected", who=by or ""), result or not_done
        case "declined":
            return say("outcome.declined"), result or not_done
        case "sent_back":
            return say("outcome.sent_back", who=by or ""), []
        case "expired":
            as_ = said(view.expired_as) if view.expired_as else _declined(view)
            if view.deadline:
                when = Moment(view.deadline, view.zone, "by")
                return say("outcome.expired"), [say("outcome.expired.by", by=when), as_]
            return say("outcome.expired"), [as_, say("outcome.expired.plain")]
        case "stopped":
            return _stopped(view), _why_stopped(view)
        case "held":
            process = view.words.process
            why = say("outcome.held.why", process=process[:1].upper() + process[1:])
            return say("outcome.held"), [why, say("outcome.held.nothing"), *_has_been_told(view)]
        case "withdrawn":
            bold = say("outcome.withdrawn.by", who=by) if by else say("outcome.withdrawn")
            if by and by.id == view.requester.id:
                bold = say("outcome.withdrawn.own")
            return bold, [stopped_as(view.cut)] if view.cut else not_done
        case "cancelled":
            bold = say("outcome.cancelled", who=by) if by else say("outcome.cancelled.plain")
            return bold, [stopped_as(view.cut)] if view.cut else result or not_done
    return say("outcome.done.answer"), result


def _declined(view: OutcomeView) -> Sentence:
    return say("status.expired.as", noun=view.words.noun)


def _stopped(view: OutcomeView) -> Sentence:
    if not any(vote.verb in APPROVING for vote in view.votes):
        return say("outcome.stopped.answer")
    if view.shown and view.shown.failed:
        return said(view.shown.failed, bold=True)
    return say("outcome.stopped")


def _why_stopped(view: OutcomeView) -> list[Sentence]:
    made = []
    failure = view.failure
    if failure and failure.why:
        count = failure.attempts
        made.append(say("outcome.stopped.failed", count=count, why=clause(failure.why)))
    elif failure:
        made.append(say("outcome.stopped.plain", count=failure.attempts))
    if failure and failure.said:
        outside = failure.who_said or phrase("fact.said")
        made.append(
            Sentence("{outside}: {said}.", {"outside": outside, "said": clause(failure.said)})
        )
    made += _has_been_told(view)
    if view.votes:
        made.append(say("outcome.stopped.stands"))
    return made


def _has_been_told(view: OutcomeView) -> list[Sentence]:
    people = view.told or (view.failure.told if view.failure else ())
    return [say("outcome.told", who=Many(people))] if people else []


def _by(blocks: Blocks, view: OutcomeView) -> None:
    """Who approved with every condition, or the reason or the changes, quoted."""
    if view.kind in ("done", "stopped"):
        approving = tuple(vote for vote in view.votes if vote.verb in APPROVING)
        parts: list[RichTextObject | None] = []
        if approving:
            who = Many(people(approving))
            noted = any((vote.note or "").strip() for vote in approving)
            parts.append(line(say("outcome.by.conditions" if noted else "outcome.by", who=who)))
        for vote in approving[:20]:
            if (vote.note or "").strip():
                heading = line(say("condition.from", who=by_whom(vote.by, vote.seat)))
                parts += [heading, quote(vote.note or "", 400)]
        blocks.rich("by", *parts)
        return
    if not view.out_of_reach:
        blocks.rich("by", quote(view.note or _note_of(view.votes), 2_000))
    elif view.by:  # what others said was for it
        blocks.rich("by", quote(view.note, 2_000))


def _note_of(votes: tuple[Vote, ...]) -> str:
    return next((vote.note for vote in reversed(votes) if vote.note), "")


def _outcome_note(view: OutcomeView, rest: list[Sentence]) -> str:
    title = excerpt(view.title, 150)
    by = view.by or (view.votes[-1].by if view.votes else None)
    approved = any(vote.verb in APPROVING for vote in view.votes)
    key = f"outcome.note.{view.kind}"
    if view.kind in ("done", "stopped") and not approved:
        key += ".answer"
    if view.kind == "stopped" and approved and view.shown and view.shown.failed:
        failed = clause(view.shown.failed)
        step = failed[:1].lower() + failed[1:]
        return notification([say("progress.note.now", title=title, step=step)], rest)
    if view.kind == "rejected" and view.out_of_reach:
        key = "outcome.note.out_of_reach"
    first = say(
        key if has(key) else "outcome.note.done.answer",
        title=title,
        names=names([by]) if by else phrase("someone"),
    )
    return notification([first], rest)


def _buttons(
    offers: frozenset[str], view: AskView | OutcomeView, verbs: tuple[str, ...]
) -> list[Element]:
    made: list[Element] = []
    for verb in verbs:
        if verb in offers and view.ref:
            several = isinstance(view, AskView) and len(view.problems) > 1
            label = phrase(first_of(*[f"button.{verb}.several"] * several, f"button.{verb}"))
            of = phrase("label.of", label=label, title=letters(view.title)) if view.title else label
            made.append(button(verb, label, view.ref, of=of))
    return made


def _example(blocks: Blocks, example: str) -> None:
    if example.strip():
        blocks.rich("example", line(say("ask.example")), quote(example, 500))


def _one(sentences: list[Sentence]) -> Sentence:
    return Sentence("{first} {second}", {"first": sentences[0], "second": sentences[1]})
