"""The one message in the requester's conversation that says what is done, what runs, what is next.

✓ is done, ● is now (bold), ○ is next: letters, not emoji. The same message is updated in place.
"""

from __future__ import annotations

from dataclasses import replace

from slackblocks import Element

from bot.blocks import Blocks, Payload, button, confirm, lines
from bot.facts import who_decides
from bot.inline import Inline, Many, Moment, Styled, clause, notification, said
from bot.judgements import APPROVING, CONDITIONS, alike, by_whom, for_it, once, people
from bot.values import excerpt
from bot.views import ProgressView, StepLine, UserGroup, Vote, Waiting
from bot.wording import Sentence, phrase, say

DONE, NOW, NEXT = "✓  ", "●  ", "○  "
STEPS = 20
OUTCOMES = {
    "approve": "approve",
    "reject": "reject",
    "ask_for_changes": "ask_for_changes",
    "": "decide",  # several actions, which came to different things
}


def progress(view: ProgressView) -> Payload:
    """The progress message of the view."""
    blocks = Blocks(view.row)
    title = Styled(excerpt(view.title, 150), "bold")
    blocks.rich("steps", lines([[title], *_rows(view)]))
    if view.ref and not view.ended:
        blocks.actions("act", _buttons(view))
    blocks.context("foot", *_foot(view), between=" · ")
    return Payload(_note(view), blocks.done())


def _rows(view: ProgressView) -> list[list[Inline]]:
    rows: list[list[Inline]] = []
    steps = view.steps or (StepLine(phrase("progress.start"), "now"),)
    for step in steps[-STEPS:]:
        label = excerpt(step.label, 150) or phrase("progress.next.decision")
        if step.votes or step.out_of_reach:
            rows.append([DONE, _decided(step)])
        elif step.state == "done":
            rows.append([DONE, label])
        elif step.state == "now" and not view.ended:
            rows.append(_now(view, step))
        elif step.state == "next" and not view.ended:
            rows.append([NEXT, label])
    if view.waiting and not view.ended and not any(step.state == "now" for step in steps):
        after = next((at for at, row in enumerate(rows) if row[0] == NEXT), len(rows))
        rows.insert(after, [Styled(NOW, "bold"), *_waiting(view, view.waiting)])
    if view.askers and not view.ended:
        rows.append([say("progress.asks", count=len(view.askers), who=Many(view.askers))])
    if view.decision_ahead and not view.ended and not view.waiting:
        rows.append([NEXT, phrase("progress.next.decision")])
    if view.ended == "done" and view.result:
        rows.append([DONE, Styled(excerpt(view.result, 300))])
    elif view.ended and view.ended != "done":
        rows.append([say(f"progress.ended.{view.ended}"), " ", said(view.result)])
    return rows


def _now(view: ProgressView, step: StepLine) -> list[Inline]:
    if view.waiting:
        return [Styled(NOW, "bold"), *_waiting(view, view.waiting)]
    if view.asking:
        return [Styled(NOW, "bold"), say("progress.waiting.you", what=clause(view.asking))]
    label = excerpt(step.label, 150)
    failure = view.failure
    if failure is None:
        return [Styled(f"{NOW}{label}", "bold")]
    attempt = say(
        "progress.attempt", label=label, attempt=failure.attempt, attempts=failure.attempts
    )
    row: list[Inline] = [Styled(NOW, "bold"), attempt]
    why = clause(failure.why or failure.said)
    if why:
        row += [" ", say("progress.attempt.why", why=why[:1].upper() + why[1:])]
    if failure.next_at:
        next_ = Moment(failure.next_at, view.zone, "at", near=view.asked_at)
        row += [" ", say("progress.attempt.next", next=next_)]
    elif failure.told:
        row += [" ", say("progress.attempt.look", who=Many(failure.told))]
    else:
        row += [" ", say("progress.attempt.look.plain")]
    return row


def _decided(step: StepLine) -> Sentence:
    outcome = "approve" if step.outcome in APPROVING else step.outcome
    found = [vote for vote in step.votes if _said(vote, outcome)] or step.votes
    who = Many(people(once(found)))
    if step.out_of_reach:
        return say("progress.decided.out_of_reach")
    named = OUTCOMES.get(outcome, "answer")
    if named == "approve" and any((vote.note or "").strip() for vote in step.votes):
        named = CONDITIONS
    return say(f"progress.decided.{named}", who=who)


def _said(vote: Vote, outcome: str) -> bool:
    return vote.verb in APPROVING if outcome == "approve" else vote.verb == outcome


def _waiting(view: ProgressView, waiting: Waiting) -> list[Inline]:
    since = Moment(waiting.since, view.zone, "since", near=view.asked_at)
    decides = waiting.decides
    given = for_it(waiting.votes)
    here = given_now(waiting)
    missing = max(decides.quorum - len(here), 1)
    groups = Many(_quietly(decides.groups), "or")
    row: list[Inline]
    if decides.groups and not decides.people:
        key = "progress.waiting.more" if here else "progress.waiting.group"
        row = [say(key, count=missing, who=groups, since=since)]
    elif decides.groups or decides.people:
        word = Many((*_quietly(decides.groups), *decides.people), "or" if missing == 1 else "and")
        row = [say("progress.waiting.people", count=missing, who=word, since=since)]
    else:
        return [say("progress.waiting.nobody", since=since)]
    for vote in given:
        key = "progress.waiting.voted_with" if vote.note else "progress.waiting.voted"
        key = key if vote.verb in APPROVING else "progress.waiting.answered"
        at = Moment(vote.at, view.zone, "at", near=view.asked_at)
        row += [" ", say(key, who=by_whom(vote.by, vote.seat), at=at)]
    if not given and decides.quorum > 1:
        row += [" ", say("progress.waiting.none")]
    for later in decides.stages[decides.stage + 1 : decides.stage + 2]:
        row += [" ", say("progress.waiting.then", who=who_decides(later))]
    return row


def given_now(waiting: Waiting) -> tuple[Vote, ...]:
    """The votes so far that count together, of those whom it waits for now."""
    return alike(waiting.votes, waiting.decides)


def _quietly(groups: tuple[UserGroup, ...]) -> tuple[UserGroup, ...]:
    """The groups by name: the requester's message pings nobody."""
    return tuple(replace(group, ping=False) for group in groups)


def _buttons(view: ProgressView) -> list[Element]:
    made: list[Element] = []
    for verb in ("add_information", "try_again", "go_on_without", "withdraw"):
        if verb not in view.offers:
            continue
        label = phrase(f"button.{verb}")
        ask = None
        if verb == "withdraw":
            ask = confirm(
                phrase("confirm.withdraw.title"),
                phrase("confirm.withdraw.text"),
                label,
                style="danger",
            )
        of = phrase("label.of", label=label, title=excerpt(view.title, 150))
        made.append(button(verb, label, view.ref, of=of, confirm=ask))
    return made


def _foot(view: ProgressView) -> list[Sentence]:
    made = []
    number = view.number or (view.ref.review_id if view.ref else 0)
    if number:
        made.append(say("footer.request", id=str(number)))
    if view.ended_at and view.ended:
        at = Moment(view.ended_at, view.zone, "at", near=view.asked_at)
        made.append(say("footer.finished" if view.ended == "done" else "footer.closed", at=at))
    elif view.failure and view.failure.next_at:
        made.append(say("progress.nothing_to_do"))
    elif view.waiting and view.deadline and view.if_nobody:
        by = Moment(view.deadline, view.zone, "by")
        made.append(say("progress.if_nobody", by=by, what=clause(view.if_nobody)))
    return made


def _note(view: ProgressView) -> str:
    title = excerpt(view.title, 150)
    extra = [said(view.result)] if view.result else []
    if view.ended:
        return notification([say(f"progress.note.{view.ended}", title=title)], extra)
    if view.waiting:
        waiting = view.waiting
        since = Moment(waiting.since, view.zone, "since", near=view.asked_at)
        if waiting.asks == "answer":
            return notification([say("progress.note.waiting.answer", title=title, since=since)])
        missing = max(waiting.decides.quorum - len(given_now(waiting)), 1)
        return notification([say("progress.note.waiting", title=title, count=missing, since=since)])
    if view.asking:
        what = clause(view.asking)
        return notification([say("progress.note.waiting.you", title=title, what=what)])
    now = [step.label for step in view.steps if step.state == "now"]
    step = clause(excerpt(now[-1] if now else phrase("progress.start"), 100))
    if view.failure and view.failing:
        step = clause(view.failing)
    first = say("progress.note.now", title=title, step=step[:1].lower() + step[1:])
    if view.failure and view.failure.next_at:
        next_ = Moment(view.failure.next_at, view.zone, "at", near=view.asked_at)
        return notification([first, say("progress.attempt.next", next=next_)])
    return notification([first])
