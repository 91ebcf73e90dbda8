"""Where a request stands, in words: the status line of its card and the text of its notification.

One mark, one bold sentence, then plain ones; the same for the card, its modal and its reminder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.endings import (
    Standing,
    done,
    expired,
    held,
    rejected,
    replaced,
    retrying,
    running,
    sent_back,
    stopped,
    stopped_here,
    withdrawn,
)
from bot.inline import Many, Moment, names, notification, said
from bot.judgements import (
    REJECTING,
    by_whom,
    conditions,
    counting,
    in_stage,
    is_a_stop,
    moment,
    once,
    people,
    unit,
)
from bot.values import excerpt
from bot.views import CardView, Exchange, Person, Status, Vote
from bot.wording import Sentence, say


def standing(view: CardView) -> Standing:
    """The status of section 3 of the wording guide, for any view."""
    if view.outcome == "stop" and view.status is Status.DONE and is_a_stop(view):
        return stopped_here(view)
    return _BY_STATUS[view.status](view)


def _open(view: CardView) -> Standing:
    asks = view.shown.asks
    given = counting(view)
    quorum = view.decides.quorum
    several = len(view.actions) > 1
    staged = bool(view.decides.stages) and not several
    tally = (quorum > 1 or staged) and not several
    of = unit(view)
    at: dict[str, Any] = {"stage": view.decides.stage + 1, "stages": len(view.decides.stages)}
    of_stage = ".stage" if staged else ""
    votes = f".{of}{of_stage}"
    mark = "alarm_clock" if view.overdue else "hourglass_flowing_sand"
    plain = [_voted(view, given)] if given and tally else []
    plain += _otherwise(view, given) if tally else []
    plain += _against(view)
    if view.again:
        bold = say(f"status.open.again.{asks}")
    elif several:
        bold, plain = _several_open(view)
    elif view.overdue:
        bold = (
            say(f"status.overdue.tally{votes}", have=len(given), count=quorum, **at)
            if tally
            else say(f"status.overdue.{asks}")
        )
    elif tally and given:
        bold = say(f"status.open.tally{votes}", have=len(given), count=quorum, **at)
    elif tally:
        bold = say(f"status.open{votes}", count=quorum, **at)
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


def _otherwise(view: CardView, given: tuple[Vote, ...]) -> list[Sentence]:
    """Who said something else than those who count together, in the open stage."""
    here = in_stage(view.votes, view.decides)
    others = people(vote for vote in here if vote not in given)
    return [say(f"status.open.otherwise.{unit(view)}", who=Many(others))] if others else []


def _against(view: CardView) -> list[Sentence]:
    """The rejections so far, where one alone does not decide."""
    count = view.decides.rejections
    found = once(vote for vote in view.votes if vote.verb in REJECTING)
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
    of = unit(view)
    answered = _answered_last(view)
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
            say(f"note.overdue.{of}", title=title, count=missing)
            if tally
            else say(f"note.overdue.{asks}", title=title)
        )
    elif answered:
        first = say("note.talk", title=title, name=names([answered]))
    elif tally and given:
        who = Many(tuple(_vote_at(view, vote) for vote in given))
        count = view.decides.quorum
        first = say(f"note.open.tally.{of}", title=title, have=len(given), count=count, who=who)
        more = _stage_note(view)
    elif tally and view.decides.stage:
        first = say(f"note.open.next.{of}", title=title, count=view.decides.quorum)
        more = _stage_note(view)
    elif tally:
        first = say(f"note.open.{of}", title=title, count=view.decides.quorum)
        more = _stage_note(view)
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


def _stage_note(view: CardView) -> list[Sentence]:
    count = len(view.decides.stages)
    return [say("note.stage", stage=view.decides.stage + 1, stages=count)] if count else []


def _answered_last(view: CardView) -> Person | None:
    """Who answered a reviewer's question, where nobody has voted since."""
    answered = [
        (one.answered_at, one.answered_by)
        for one in view.talk
        if isinstance(one, Exchange) and one.answered_at and one.answered_by
    ]
    at, who = max(answered, key=lambda pair: pair[0], default=(None, None))
    return who if at and all(vote.at < at for vote in view.votes) else None


def _voted(view: CardView, given: tuple[Vote, ...]) -> Sentence:
    who = Many(tuple(_vote_at(view, vote) for vote in given))
    with_note = len([vote for vote in given if vote in conditions(view)])
    if with_note:
        return say("status.open.voted_with", who=who, count=with_note)
    return say("status.open.voted", who=who)


def _vote_at(view: CardView, vote: Vote) -> Sentence:
    who = by_whom(vote.by, vote.seat)
    told = say("status.open.vote", who=who, at=moment(view, vote.at, "at"))
    if vote.label and not vote.note and unit(view) == "answers":
        return say("by_chose", who=told, choice=vote.label)
    return told


def _asker(view: CardView) -> str:
    return view.agent or names([view.requester])


_BY_STATUS: dict[Status, Callable[[CardView], Standing]] = {
    Status.OPEN: _open,
    Status.RUNNING: running,
    Status.REJECTED: rejected,
    Status.DONE: done,
    Status.RETRYING: retrying,
    Status.STOPPED: stopped,
    Status.EXPIRED: expired,
    Status.REPLACED: replaced,
    Status.WITHDRAWN: withdrawn,
    Status.SENT_BACK: sent_back,
    Status.HELD: held,
}
