"""Where a request stands, in words: the status line of its card and the text of its notification.

One mark, one bold sentence, then plain ones; the same for the card, its modal and its reminder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.inline import Form, Many, Moment, clause, names, notification, said
from bot.values import excerpt
from bot.views import ActionView, CardView, Cut, Person, Status, Vote
from bot.wording import Sentence, first_of, say

APPROVING = frozenset({"approve", "approve_with_conditions"})
REJECTING = frozenset({"reject"})
CONDITIONS = "approve_with_conditions"
LETTING = frozenset({"approved", "edited"})
SHORT = 60  # characters of a result that stands in the status line; a longer one is quoted


@dataclass(frozen=True)
class Standing:
    """A mark (the name of an emoji), the bold sentence, the plain ones, and the notification."""

    mark: str
    bold: Sentence
    plain: tuple[Sentence, ...]
    note: str


def standing(view: CardView) -> Standing:
    """The status of section 3 of the wording guide, for any view."""
    if view.outcome == "stop" and view.status is Status.DONE and is_a_stop(view):
        return _stopped_here(view)
    return _BY_STATUS[view.status](view)


def approvals(view: CardView) -> tuple[Vote, ...]:
    """One approving vote a person, in the order they came."""
    letting = APPROVING
    if view.actions:
        letting |= {"edit"}
    elif is_a_stop(view):
        letting |= {"continue", "edit"}
    return _once(vote for vote in view.votes if vote.verb in letting)


def conditions(view: CardView) -> tuple[Vote, ...]:
    """The approvals that came with a condition."""
    return tuple(vote for vote in approvals(view) if (vote.note or "").strip())


def deciding(view: CardView) -> tuple[Vote, ...]:
    """The votes that made the outcome: all approvals, or those that said what was decided."""
    if view.actions:
        return _once(vote for action in view.actions for vote in _made(action))
    if kind(view) == "approve":
        return approvals(view)
    return tuple(vote for vote in view.votes if vote.verb == view.outcome) or view.votes[-1:]


def kind(view: CardView) -> str:
    """What the outcome is in the catalogue: approve, reject or answer."""
    if view.actions:
        outcomes = {action.outcome for action in view.actions}
        if outcomes & LETTING:
            return "approve"
        against = bool(outcomes) and outcomes <= {"rejected", "skipped"} and "rejected" in outcomes
        return "reject" if against or view.status is Status.REJECTED else "answer"
    if view.outcome in APPROVING or (is_a_stop(view) and view.outcome in ("continue", "edit")):
        return "approve"
    return "reject" if view.outcome in REJECTING or view.status is Status.REJECTED else "answer"


def chosen(view: CardView) -> str:
    """The label of the choice that was decided, empty where the words were free or it is usual."""
    if kind(view) != "answer" or view.outcome in ("", "answer") or view.actions or is_a_stop(view):
        return ""
    labels = [vote.label for vote in view.votes if vote.verb == view.outcome and vote.label]
    choice = view.shown.choice(view.outcome)
    return labels[-1] if labels else choice.label if choice else ""


def is_a_stop(view: CardView) -> bool:
    """Whether it is a stop before a step, and no question of a step's own."""
    return view.shown.choice("continue") is not None and view.shown.choice("stop") is not None


def is_short(result: str) -> bool:
    """Whether a result has room in the status line."""
    return len(result) <= SHORT and "\n" not in result.strip()


def moment(view: CardView, at: datetime, form: Form) -> Moment:
    """A time of the card: only the time of day where it is the day of the request."""
    return Moment(at, view.zone, form, near=view.asked_at)


def people(votes: tuple[Vote, ...]) -> tuple[Person, ...]:
    """Who said it."""
    return tuple(vote.by for vote in votes)


def _open(view: CardView) -> Standing:
    asks = view.shown.asks
    given = approvals(view)
    quorum = view.decides.quorum
    several = len(view.actions) > 1
    tally = asks == "decision" and quorum > 1 and not several
    mark = "alarm_clock" if view.overdue else "hourglass_flowing_sand"
    plain = [_voted(view, given)] if given and tally else []
    plain += _against(view)
    if view.again:
        bold = say(f"status.open.again.{asks}")
    elif several:
        bold, plain = _several_open(view)
    elif view.overdue:
        bold = (
            say("status.overdue.tally", have=len(given), count=quorum)
            if tally
            else say(f"status.overdue.{asks}")
        )
    elif tally and given:
        bold = say("status.open.tally", have=len(given), count=quorum)
    elif tally:
        bold = say("status.open.approvals", count=quorum)
        plain = plain or [say("status.open.none")]
    else:
        bold = say(f"status.open.{asks}")
    if view.overdue:
        since = Moment(view.overdue.since, view.zone, "since")
        plain.append(say("status.overdue.since", since=since))
        if view.overdue.also_sent_to:
            groups = Many(view.overdue.also_sent_to)
            plain.append(say("status.overdue.sent", groups=groups))
    return Standing(mark, bold, tuple(plain), _open_note(view, given, tally))


def _against(view: CardView) -> list[Sentence]:
    """The rejections so far, where one alone does not decide."""
    count = view.decides.rejections
    found = _once(vote for vote in view.votes if vote.verb in REJECTING)
    if count <= 1 or not found or len(view.actions) > 1:
        return []
    return [say("status.open.against", have=len(found), count=count, who=Many(people(found)))]


def _several_open(view: CardView) -> tuple[Sentence, list[Sentence]]:
    """How many of several actions are decided, and which are open still."""
    left = [action for action in view.actions if not action.outcome]
    count = len(view.actions)
    if view.overdue:
        bold = say("status.overdue.decisions", count=len(left))
    elif len(left) < count:
        bold = say("status.open.decided", have=count - len(left), count=count)
    else:
        return say("status.open.decisions", count=count), [say("status.open.none")]
    if len(left) == 1:
        return bold, [say("status.open.left", what=excerpt(left[0].shown.title, 100))]
    return bold, [say("status.open.left.many", count=len(left))] if len(left) < count else []


def _several_open_note(view: CardView) -> list[Sentence]:
    title, count = view.shown.title, len(view.actions)
    left = [action for action in view.actions if not action.outcome]
    if view.overdue:
        return [say("note.overdue.decisions", title=title, count=len(left))]
    if len(left) == count:
        return [say("note.open.decisions", title=title, count=count)]
    _, plain = _several_open(view)
    return [say("note.open.decided", title=title, have=count - len(left), count=count), *plain]


def _open_note(view: CardView, given: tuple[Vote, ...], tally: bool) -> str:
    title, asks = view.shown.title, view.shown.asks
    missing = max(view.decides.quorum - len(given), 1)
    answered = [exchange for exchange in view.talk if exchange.answered_by]
    # Whether the title itself says what is needed
    itself = bool(view.agent or view.actions) or title.rstrip().endswith("?")
    more: list[Sentence] = []
    if view.again:
        first = say("note.again", title=title)
    elif len(view.actions) > 1:
        first, *more = _several_open_note(view)
    elif view.overdue and itself and not tally:
        first = say("note.overdue.itself", title=title)
    elif view.overdue:
        first = (
            say("note.overdue.approvals", title=title, count=missing)
            if tally
            else say(f"note.overdue.{asks}", title=title)
        )
    elif answered and answered[-1].answered_by:
        first = say("note.talk", title=title, name=names([answered[-1].answered_by]))
    elif tally and given:
        who = Many(tuple(_vote_at(view, vote) for vote in given))
        first = say(
            "note.open.tally", title=title, have=len(given), count=view.decides.quorum, who=who
        )
    elif tally:
        first = say("note.open.approvals", title=title, count=view.decides.quorum)
    elif itself:
        first = say("note.open.itself", title=title)
    else:
        first = say(f"note.open.{asks}", title=title)
    needed = [first, *more]
    if view.deadline:
        by = moment(view, view.deadline, "by")
        needed.append(say("note.answer" if asks == "answer" else "note.decide", by=by))
    extra = [said(view.shown.plain), say("note.asked_by", name=_asker(view))]
    return notification(needed, extra if view.shown.plain else extra[1:])


def _voted(view: CardView, given: tuple[Vote, ...]) -> Sentence:
    who = Many(tuple(_vote_at(view, vote) for vote in given))
    with_note = len(conditions(view))
    if with_note:
        return say("status.open.voted_with", who=who, count=with_note)
    return say("status.open.voted", who=who)


def _vote_at(view: CardView, vote: Vote) -> Sentence:
    return say("status.open.vote", who=vote.by, at=moment(view, vote.at, "at"))


def _running(view: CardView) -> Standing:
    if kind(view) == "reject":
        return _rejected(view)
    title, who = view.shown.title, names(people(deciding(view)))
    choice = chosen(view)
    own = _running_key(view)
    if view.actions and own == "mixed":
        counts = _counts(view)
        bold = say("status.running.mixed", counts=counts)
        note = say("note.running.mixed", counts=counts, names=who, title=title)
    elif own:
        bold = say(f"status.running.{own}")
        note = say(f"note.running.{own}", names=who, title=title)
    elif kind(view) == "approve":
        name = CONDITIONS if conditions(view) else "approve"
        bold = say(f"status.running.{name}")
        note = say(f"note.running.{name}", names=who, title=title)
    elif choice:
        bold = say("status.running.choice", choice=clause(choice))
        note = say("note.running.choice", choice=clause(choice), names=who, title=title)
    else:
        bold = say("status.running.answer")
        note = say("note.running.answer", names=who, title=title)
    runs = (
        said(view.shown.running)
        if view.shown.running and kind(view) == "approve"
        else say(
            "status.running.goes_on.answer" if kind(view) == "answer" else "status.running.goes_on"
        )
    )
    return Standing("arrow_forward", bold, (runs,), notification([note], [runs]))


def _running_key(view: CardView) -> str:
    """The words that some outcomes have of their own; "" where the usual ones fit."""
    if is_a_stop(view) and view.outcome in ("continue", "edit", "stop"):
        return view.outcome
    outcomes = {action.outcome for action in view.actions}
    if not outcomes or outcomes <= LETTING or outcomes == {"answered"}:
        return ""
    return "skip" if outcomes == {"skipped"} else "mixed"


def _counts(view: CardView) -> Sentence:
    """How many actions came to what: "1 approved, 1 rejected"."""
    counted: dict[str, int] = {}
    for action in view.actions:
        outcome = "approved" if action.outcome in LETTING else action.outcome
        key = first_of(f"status.count.{outcome}", "status.count.decided")
        counted[key] = counted.get(key, 0) + 1
    first, *rest = [say(key, count=count) for key, count in sorted(counted.items())]
    for one in rest:
        first = say("comma", first=first, last=one)
    return first


def _made(action: ActionView) -> tuple[Vote, ...]:
    """The votes that made an action's outcome; none while it is open."""
    if not action.outcome:
        return ()
    verbs = _VERBS.get(action.outcome, frozenset())
    return tuple(vote for vote in action.votes if vote.verb in verbs) or action.votes[-1:]


def _once(votes: Iterable[Vote]) -> tuple[Vote, ...]:
    """The first vote of each person."""
    seen: dict[str, Vote] = {}
    for vote in votes:
        seen.setdefault(vote.by.id or vote.by.name, vote)
    return tuple(seen.values())


def _rejected(view: CardView) -> Standing:
    note = say("note.rejected", names=names(people(deciding(view))), title=view.shown.title)
    if view.actions and view.ended_at is None:
        process = _capital(view.words.process)
        told = say("status.rejected.goes_on", not_done=_not_done(view), process=process)
        return Standing("x", say("status.rejected"), (told,), notification([note], [told]))
    if view.ended_at is None:
        closing = say("note.rejected.closing", name=names([view.requester]))
        return Standing(
            "x",
            say("status.rejected"),
            (say("status.rejected.closing"),),
            notification([note], [closing]),
        )
    told = say("note.rejected.told", name=names([view.requester]))
    return Standing(
        "x",
        say("status.rejected"),
        (say("status.rejected.done", not_done=_not_done(view), who=view.requester),),
        notification([note], [_not_done(view), told]),
    )


def _done(view: CardView) -> Standing:
    shown = bool(view.result) and is_short(view.result)
    result = said(view.result) if shown else say("status.done.result")
    by = "note.done.by" if kind(view) == "approve" else "note.done.by.answer"
    if kind(view) == "approve" and conditions(view):
        by = "note.done.by.conditions"
    extra = [said(view.result)] if view.result else []
    if view.votes:
        extra.append(say(by, names=names(people(deciding(view)))))
    note = notification([say("note.done", title=view.shown.title)], extra)
    return Standing("white_check_mark", say("status.done"), (result,), note)


def _stopped_here(view: CardView) -> Standing:
    """A person ended the request before a step."""
    told = say("status.stopped_here")
    names_ = names(people(deciding(view)))
    note = say("note.running.stop", names=names_, title=view.shown.title)
    return Standing("x", say("status.running.stop"), (told,), notification([note], [told]))


def _retrying(view: CardView) -> Standing:
    plain: list[Sentence] = []
    extra: list[Sentence] = []
    failure = view.failure
    if failure:
        why = failure.why or failure.said
        at = moment(view, failure.at, "comma" if why else "at")
        counts: dict[str, Any] = {"attempt": failure.attempt, "attempts": failure.attempts}
        plain.append(
            say("status.retrying.attempt", **counts, why=clause(why), at=at)
            if why
            else say("status.retrying.attempt_failed", **counts, at=at)
        )
        extra.append(say("note.retrying.attempt", **counts))
        if failure.next_at:
            next_ = moment(view, failure.next_at, "at")
            plain.append(say("status.retrying.next", next=next_))
            extra.append(say("note.retrying.next", next=next_))
    note = _failure_note(view, view.shown.failing, "note.retrying")
    return Standing(
        "warning",
        _failure_bold(view, view.shown.failing, "retrying"),
        tuple(plain),
        notification([note], extra),
    )


def _stopped(view: CardView) -> Standing:
    plain: tuple[Sentence, ...] = ()
    if view.failure:
        at = moment(view, view.failure.at, "at")
        plain = (say("status.stopped.attempts", count=view.failure.attempts, at=at),)
    note = _failure_note(view, view.shown.failed, "note.stopped")
    return Standing(
        "warning",
        _failure_bold(view, view.shown.failed, "stopped"),
        plain,
        notification([note, say("note.stopped.look")]),
    )


def _failure_bold(view: CardView, template: str, status: str) -> Sentence:
    if template and kind(view) == "approve":
        return said(template, bold=True)
    return say(f"status.{status}.{kind(view)}")


def _failure_note(view: CardView, template: str, key: str) -> Sentence:
    if template and kind(view) == "approve":
        return Sentence("{what}: {title}.", {"what": clause(template), "title": view.shown.title})
    return say(key, title=view.shown.title)


def _expired(view: CardView) -> Standing:
    as_ = said(view.expired_as) if view.expired_as else _declined(view)
    extra = [as_]
    if view.decides.quorum > 1:
        extra.append(
            say("note.expired.came_in", have=len(approvals(view)), count=view.decides.quorum)
        )
    note = notification([say("note.expired", title=view.shown.title)], extra)
    return Standing("black_square_for_stop", say("status.expired"), (as_,), note)


def _declined(view: CardView) -> Sentence:
    return say("status.expired.as", noun=view.words.noun)


def _replaced(view: CardView) -> Standing:
    change = view.change
    title = view.shown.title
    if change and change.field and change.by:
        first = say(
            "note.replaced.value",
            name=names([change.by]), title=title, field=change.field, new=change.new,
        )  # fmt: skip
    else:
        first = say("note.replaced", title=title)
    linked = bool(change and change.link)
    linked = linked or bool(change and change.new_ref)
    why = [said(view.because)] if view.because else []
    closed = say("note.replaced.new" if linked else "note.replaced.closed")
    note = notification([first, closed], why)
    plain = say("status.replaced.next" if linked else "status.replaced.closed")
    return Standing("leftwards_arrow_with_hook", say("status.replaced"), (plain,), note)


def _withdrawn(view: CardView) -> Standing:
    if view.because and not view.withdrawn_by:
        first = say("note.withdrawn.closed", title=view.shown.title)
        return Standing(
            "leftwards_arrow_with_hook",
            say("status.withdrawn"),
            (say("status.withdrawn.closed"),),
            notification([first], [said(view.because)]),
        )
    by = names([view.withdrawn_by or view.requester])
    what = stopped_as(view.cut) if view.cut else _not_done(view)
    note = notification([say("note.withdrawn", name=by, title=view.shown.title)], [what])
    return Standing("leftwards_arrow_with_hook", say("status.withdrawn"), (what,), note)


def _sent_back(view: CardView) -> Standing:
    first = say("note.sent_back", names=names(people(deciding(view))), title=view.shown.title)
    waiting = say("note.sent_back.next", name=names([view.requester]))
    plain = say("status.sent_back.next", who=view.requester)
    return Standing(
        "leftwards_arrow_with_hook",
        say("status.sent_back"),
        (plain,),
        notification([first], [waiting]),
    )


def _held(view: CardView) -> Standing:
    note = notification(
        [say("note.held", title=view.shown.title)], [why_held(view), say("status.held.next")]
    )
    return Standing("double_vertical_bar", say("status.held"), (say("status.held.next"),), note)


def why_held(view: CardView) -> Sentence:
    """Why the request is on hold, in one sentence."""
    if view.hold and view.hold.reason:
        return said(view.hold.reason)
    return say("held.changed", process=_capital(view.words.process))


def stopped_as(cut: Cut) -> Sentence:
    """What to say of a request that was stopped when it may have acted already."""
    return say("status.cut", step=excerpt(cut.step, 100)) if cut.step else say("status.cut.plain")


def _not_done(view: CardView) -> Sentence:
    return said(view.shown.not_done) if view.shown.not_done else say("status.not_done")


def _asker(view: CardView) -> str:
    return view.agent or names([view.requester])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_VERBS = {
    "approved": APPROVING | {"edit"},
    "edited": APPROVING | {"edit"},
    "rejected": REJECTING,
    "answered": frozenset({"respond"}),
    "skipped": frozenset({"ignore"}),
}
_BY_STATUS: dict[Status, Callable[[CardView], Standing]] = {
    Status.OPEN: _open,
    Status.RUNNING: _running,
    Status.REJECTED: _rejected,
    Status.DONE: _done,
    Status.RETRYING: _retrying,
    Status.STOPPED: _stopped,
    Status.EXPIRED: _expired,
    Status.REPLACED: _replaced,
    Status.WITHDRAWN: _withdrawn,
    Status.SENT_BACK: _sent_back,
    Status.HELD: _held,
}
