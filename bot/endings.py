"""Where a request stands that is not open: the words for each of its endings and stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.inline import clause, names, notification, said
from bot.judgements import (
    CONDITIONS,
    LETTING,
    chosen,
    conditions,
    counting,
    deciding,
    is_a_stop,
    is_short,
    kind,
    moment,
    people,
    unit,
)
from bot.values import excerpt
from bot.views import CardView, Cut
from bot.wording import Sentence, first_of, say


@dataclass(frozen=True)
class Standing:
    """A mark (the name of an emoji), the bold sentence, the plain ones, and the notification."""

    mark: str
    bold: Sentence
    plain: tuple[Sentence, ...]
    note: str


def running(view: CardView) -> Standing:
    """It was decided, and the next step runs."""
    if kind(view) == "reject":
        return rejected(view)
    title, who = view.shown.title, names(people(deciding(view)))
    choice = chosen(view)
    own = _running_key(view)
    if view.actions and own == "mixed":
        counts = _counts(view)
        bold = say("status.running.mixed", counts=counts)
        nobody = ".nobody" if view.out_of_reach else ""
        note = say(f"note.running.mixed{nobody}", counts=counts, names=who, title=title)
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


def rejected(view: CardView) -> Standing:
    """A person rejected it."""
    note = _who_rejected(view)
    unreachable = [say("status.out_of_reach")] if view.out_of_reach else []
    if view.actions and view.ended_at is None:
        process = _capital(view.words.process)
        told = say("status.rejected.goes_on", not_done=_not_done(view), process=process)
        plain = (*unreachable, told)
        return Standing("x", say("status.rejected"), plain, notification([note], [*plain]))
    if view.ended_at is None:
        closing = say("note.rejected.closing", name=names([view.requester]))
        return Standing(
            "x",
            say("status.rejected"),
            (*unreachable, say("status.rejected.closing")),
            notification([note], [*unreachable, closing]),
        )
    told = say("note.rejected.told", name=names([view.requester]))
    return Standing(
        "x",
        say("status.rejected"),
        (*unreachable, say("status.rejected.done", not_done=_not_done(view), who=view.requester)),
        notification([note], [*unreachable, _not_done(view), told]),
    )


def _who_rejected(view: CardView) -> Sentence:
    """By whom it was rejected, where somebody said so."""
    title, made = view.shown.title, deciding(view)
    if view.out_of_reach and not made:
        return say("note.rejected.nobody", title=title)
    return say("note.rejected", names=names(people(made)), title=title)


def done(view: CardView) -> Standing:
    """It is over, and what it came to."""
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


def stopped_here(view: CardView) -> Standing:
    """A person ended the request before a step."""
    told = say("status.stopped_here")
    names_ = names(people(deciding(view)))
    note = say("note.running.stop", names=names_, title=view.shown.title)
    return Standing("x", say("status.running.stop"), (told,), notification([note], [told]))


def retrying(view: CardView) -> Standing:
    """A step failed and is tried again by itself."""
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


def stopped(view: CardView) -> Standing:
    """A step failed, and a person has to look."""
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


def expired(view: CardView) -> Standing:
    """Time ran out."""
    as_ = said(view.expired_as) if view.expired_as else _declined(view)
    extra = [as_]
    if view.decides.quorum > 1 and len(view.actions) <= 1:
        have, count = len(counting(view)), view.decides.quorum
        key = f"note.expired.{unit(view)}{'.stage' if view.decides.stages else ''}"
        extra.append(say(key, have=have, count=count, stage=view.decides.stage + 1))
    note = notification([say("note.expired", title=view.shown.title)], extra)
    return Standing("black_square_for_stop", say("status.expired"), (as_,), note)


def _declined(view: CardView) -> Sentence:
    return say("status.expired.as", noun=view.words.noun)


def replaced(view: CardView) -> Standing:
    """Another card stands in its place."""
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
    if change and change.rules:  # the new one is not below it
        closed, why = said(view.because), []
    note = notification([first, closed], why)
    plain = say("status.replaced.next" if linked else "status.replaced.closed")
    return Standing("leftwards_arrow_with_hook", say("status.replaced"), (plain,), note)


def withdrawn(view: CardView) -> Standing:
    """Nobody decides on it any more."""
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


def sent_back(view: CardView) -> Standing:
    """The requester is to change it."""
    first = say("note.sent_back", names=names(people(deciding(view))), title=view.shown.title)
    waiting = say("note.sent_back.next", name=names([view.requester]))
    plain = say("status.sent_back.next", who=view.requester)
    return Standing(
        "leftwards_arrow_with_hook",
        say("status.sent_back"),
        (plain,),
        notification([first], [waiting]),
    )


def held(view: CardView) -> Standing:
    """Nobody can decide now."""
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


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
