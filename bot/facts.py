"""The lines of facts on a card: who asked, who decides, and once it is decided by whom and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.blocks import fact
from bot.inline import Inline, Many, Moment, Styled, clause
from bot.judgements import (
    APPROVING,
    approving,
    by_whom,
    chosen,
    conditions,
    counting,
    deciding,
    for_it,
    is_a_stop,
    kind,
    moment,
    once,
    people,
    unit,
)
from bot.values import excerpt, passage
from bot.views import CardView, Decides, Status, Vote
from bot.wording import Sentence, phrase, say

STAGES = 6  # lines of them on a card
STAND_INS = 3


@dataclass(frozen=True)
class Room:
    """How much evidence a card shows."""

    groups: int = 3
    lines: int = 4
    characters: int = 120
    facts: int = 8
    fact: int = 160
    quote: int = 300
    notes: int = 3
    full: int = 5  # actions with all their values
    rows: int = 6  # further ones, on a line each


def footer(view: CardView) -> list[Sentence]:
    """The number people say aloud, and the version of what is shown."""
    made = [say("footer.request", id=str(view.number or view.review_id))]
    if view.version:
        made.append(say("footer.version", version=view.version[:6]))
    return made


def who_decides(decides: Decides) -> Sentence:
    """How many, of which group or people, because of what; or in how many stages. One sentence."""
    if decides.stages:
        return _because(say("decides.stages", count=len(decides.stages)), decides)
    return _because(_who(decides), decides)


def stage_rows(view: CardView, decides: Decides, votes: Sequence[Vote]) -> list[tuple[Inline, ...]]:
    """Each stage of those who decide one after another: what became of it, or whom it asks.

    Of very many stages those around the open one.
    """
    count = len(decides.stages)
    begins = max(0, min(decides.stage - 2, count - STAGES))
    rows: list[tuple[Inline, ...]] = []
    who: Inline
    for at, stage in list(enumerate(decides.stages))[begins : begins + STAGES]:
        if at < decides.stage:
            cast = [vote for vote in once(votes) if vote.stage == at]
            given = [vote for vote in cast if vote.verb in APPROVING]
            key = "stage.approved" if given else "stage.answered"
            who = Many(tuple(_vote(view, vote, "") for vote in given or cast))
        else:
            key = "stage.open" if at == decides.stage else "stage.later"
            who = who_decides(stage)
        rows.append((say(key, stage=at + 1, who=who),))
    if left := count - min(count, STAGES):
        rows.append((say("stage.more", count=left),))
    return rows


def still_needed(card: CardView) -> list[Sentence]:
    """What is needed after one more approval; empty where that one decides."""
    given = counting(card) if unit(card) == "approvals" else ()
    left = card.decides.quorum - len(given) - 1
    following = card.decides.stages[card.decides.stage + 1 :]
    then = [say("modal.effect.then", who=who_decides(following[0]))] if following else []
    if left > 0:
        return [say("modal.effect.more", count=left), *then]
    return [say("modal.effect.stage", stage=card.decides.stage + 1), *then] if then else []


def _because(who: Sentence, decides: Decides) -> Sentence:
    if decides.because:
        return say("decides.because", who=who, because=clause(decides.because))
    return who


def _who(decides: Decides) -> Sentence:
    who: Sentence
    if decides.groups and not decides.people:
        who = say("decides.group", count=decides.quorum, who=Many(decides.groups, "or"))
    elif len(decides.groups) + len(decides.people) == 1:
        who = say("decides.one", who=decides.people[0])
    elif decides.groups or decides.people:
        everyone = Many((*decides.groups, *decides.people))
        who = say("decides.people", count=decides.quorum, who=everyone)
    else:
        who = say("decides.nobody")
    return who


def stand_in_rows(view: CardView) -> list[tuple[Inline, ...]]:
    """Who decides in the place of whom, each on a line."""
    shown = view.stand_ins[:STAND_INS]
    rows: list[tuple[Inline, ...]] = [
        (say("stand_in.away", who=one.by, of=one.of, until=Moment(one.until, view.zone, "until")),)
        if one.until
        else (say("stand_in.handed", who=one.by, of=one.of),)
        for one in shown
    ]
    if left := len(view.stand_ins) - len(shown):
        rows.append((say("notice.more", count=left),))
    return rows


def asked_by(view: CardView) -> tuple[Inline, ...]:
    """Who asked, on whose behalf, and when."""
    who: Inline = view.requester
    if view.agent:
        who = say("fact.asked_by.agent", agent=view.agent, who=view.requester)
    return fact(phrase("fact.asked_by"), who, Moment(view.asked_at, view.zone, "comma"))


def template_fact(name: str, value: str, room: Room) -> tuple[Inline, ...]:
    """One fact of the question, on one line, its value cut to the room there is."""
    label = excerpt(name, 40)
    if not value.strip():
        return fact(label, Styled(phrase("empty"), "italic"))
    return fact(label, excerpt(value, room.fact))


def outcome_facts(view: CardView, room: Room) -> list[tuple[Inline, ...]]:
    """The lines of a closed card: who asked, the first fact where there is room, by whom."""
    rows = _by_whom(view)
    facts = view.shown.facts
    if len(view.actions) == 1 and not facts:
        facts = view.actions[0].shown.facts
    kept = facts[:1] if len(rows) < 3 else ()  # "Asked by" and these make four at most
    return [asked_by(view), *(template_fact(*pair, room) for pair in kept), *rows]


def _by_whom(view: CardView) -> list[tuple[Inline, ...]]:
    match view.status:
        case Status.EXPIRED:
            return _expired_facts(view)
        case Status.REPLACED:
            return _replaced_facts(view)
        case Status.WITHDRAWN:
            if view.because and not view.withdrawn_by:
                return []
            by = view.withdrawn_by or view.requester
            at = moment(view, view.ended_at, "comma") if view.ended_at else ""
            return [fact(phrase("fact.withdrawn_by"), by, at)]
        case Status.HELD if len(view.actions) > 1:
            made = [action for action in view.actions if action.outcome]
            if not made:
                return []
            who = Many(people(deciding(view)))
            tally = say("so_far.decided", have=len(made), count=len(view.actions), who=who)
            return [fact(phrase("fact.decided_so_far"), tally)]
        case Status.HELD:
            given = counting(view)
            if view.decides.stages and for_it(view.votes):
                who = Many(tuple(_vote(view, vote, "") for vote in for_it(view.votes)))
                return [fact(phrase("fact.so_far"), say("so_far.stages", who=who))]
            if view.decides.quorum <= 1 or not given:
                return []
            who = Many(people(given))
            tally = say("so_far", have=len(given), count=view.decides.quorum, who=who)
            return [fact(phrase("fact.so_far"), tally)]
    # What became of each of several actions stands in lines of its own.
    ended = view.status in (Status.RUNNING, Status.REJECTED, Status.DONE)
    told_apart = len(view.actions) > 1 and ended
    rows = [_decided_by(view)] if deciding(view) and not told_apart else []
    if view.status is Status.DONE and view.ended_at:
        rows.append(fact(phrase("fact.finished"), moment(view, view.ended_at, "on")))
    if view.status is Status.STOPPED and view.failure:
        failure = view.failure
        if failure.said:
            label = failure.who_said or phrase("fact.said")
            rows.append(fact(passage(label, 40), passage(failure.said, 200)))
        if failure.told:
            rows.append(fact(phrase("fact.told"), Many(failure.told)))
    return rows


def _decided_by(view: CardView) -> tuple[Inline, ...]:
    label = {
        Status.REJECTED: "fact.rejected_by",
        Status.SENT_BACK: "fact.sent_back_by",
    }.get(view.status, f"fact.{_participle(view)}_by")
    votes = deciding(view)
    choice = "" if view.status is Status.SENT_BACK else chosen(view)
    shown: list[Inline] = [_vote(view, vote, choice) for vote in votes]
    return fact(phrase(label), Many(tuple(shown)))


def _vote(view: CardView, vote: Vote, choice: str) -> Sentence:
    who = by_whom(vote.by, vote.seat)
    if choice and view.status is not Status.RUNNING and kind(view) == "answer":
        who = say("by_chose", who=who, choice=choice)
    at = moment(view, vote.at, "comma")
    if view.decides.stages and view.status is not Status.OPEN:
        return say("voted.stage", who=who, at=at, stage=vote.stage + 1)
    return say("voted", who=who, at=at)


def _expired_facts(view: CardView) -> list[tuple[Inline, ...]]:
    rows = []
    if view.deadline:
        rows.append(fact(phrase("fact.deadline"), moment(view, view.deadline, "on")))
    rows += _came_in(view)
    if view.not_heard_from:
        rows.append(fact(phrase("fact.not_heard_from"), Many(view.not_heard_from[:10])))
    return rows


def _came_in(view: CardView) -> list[tuple[Inline, ...]]:
    """The votes until time ran out; of several actions how many were decided."""
    if len(view.actions) > 1:
        made = [action for action in view.actions if action.outcome not in ("", "expired")]
        told = say("came_in.decided", have=len(made), count=len(view.actions))
        return [fact(phrase("fact.came_in"), told)] if made else []
    given = for_it(view.votes) if view.decides.stages else counting(view)
    if not given:
        return []
    who = Many(tuple(_vote(view, vote, "") for vote in given))
    if view.decides.stages:
        return [fact(phrase("fact.came_in"), who)]
    slots: dict[str, Any] = {"have": len(given), "count": view.decides.quorum}
    tally = say(f"came_in.{unit(view)}", who=who, **slots)
    return [fact(phrase("fact.came_in"), tally)]


def _replaced_facts(view: CardView) -> list[tuple[Inline, ...]]:
    change = view.change
    if change is None:
        return []
    if change.by is None:
        return []
    if change.field:
        told = say(
            "changed.value", who=change.by, field=change.field, old=change.old, new=change.new
        )
    elif change.what:
        told = say("changed.what", who=change.by, what=clause(change.what))
    else:
        told = say("decides.one", who=change.by)
    rows = [fact(phrase("fact.changed_by"), told, moment(view, change.at, "comma"))]
    given = approving(view)
    if given:
        slots: dict[str, Any] = {"count": len(given), "who": Many(people(given))}
        lapsed = (
            say("lapsed.value", **slots, old=change.old, new=change.new)
            if change.field
            else say("lapsed", **slots)
        )
        rows.append(fact(phrase("fact.so_far"), lapsed))
    return rows


def _participle(view: CardView) -> str:
    if len(view.actions) > 1:
        return "decided"
    if is_a_stop(view) and view.outcome in _STOPS:
        return _STOPS[view.outcome]
    if kind(view) == "approve" and conditions(view):
        return "approved_with_conditions"
    return _PARTICIPLES[kind(view)]


_STOPS = {"continue": "continued", "edit": "continued", "stop": "stopped"}
_PARTICIPLES = {"approve": "approved", "reject": "rejected", "answer": "answered"}
