"""What the votes on a card come to: who approved, with what condition, who decided and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from bot.inline import Form, Inline, Moment
from bot.views import ActionView, CardView, Decides, Person, Status, Vote
from bot.wording import say
from graphs.tallies import is_against

APPROVING = frozenset({"approve", "approve_with_conditions"})
REJECTING = frozenset({"reject"})
AGAINST = frozenset({"reject", "ask_for_changes", "stop"})
CONDITIONS = "approve_with_conditions"
LETTING = frozenset({"approved", "edited"})
SHORT = 60  # characters of a result that stands in the status line; a longer one is quoted


def counting(view: CardView) -> tuple[Vote, ...]:
    """The votes that count together now: of the open stage, the most for the same thing."""
    return alike(view.votes, view.decides)


def alike(votes: Iterable[Vote], decides: Decides) -> tuple[Vote, ...]:
    """Of these votes those that count together in the open stage."""
    found = in_stage(votes, decides)
    most = Counter(vote.thing for vote in found).most_common(1)
    return tuple(vote for vote in found if vote.thing == most[0][0])


def in_stage(votes: Iterable[Vote], decides: Decides) -> tuple[Vote, ...]:
    """Of these votes those of the open stage that are for something, one a person."""
    stage = decides.stage if decides.stages else 0
    return tuple(vote for vote in for_it(votes) if vote.stage == stage)


def for_it(votes: Iterable[Vote]) -> tuple[Vote, ...]:
    """Of these votes those that are for something and not against it, one a person."""
    found = (vote for vote in votes if vote.verb not in AGAINST and not is_against(vote.thing))
    return once(found)


def unit(view: CardView) -> str:
    """What its votes are in the catalogue: approvals or answers."""
    given = counting(view)
    if given:
        return "approvals" if set(given) <= set(approving(view)) else "answers"
    can = is_a_stop(view) or view.actions or view.shown.choice("approve") is not None
    return "approvals" if can and view.shown.asks == "decision" else "answers"


def approving(view: CardView) -> tuple[Vote, ...]:
    """One approving vote a person, of every stage and for whatever, in the order they came."""
    letting = APPROVING
    if view.actions:
        letting |= {"edit"}
    elif is_a_stop(view):
        letting |= {"continue", "edit"}
    return once(vote for vote in view.votes if vote.verb in letting)


def conditions(view: CardView) -> tuple[Vote, ...]:
    """The approvals that came with a condition, of every stage."""
    return tuple(vote for vote in approving(view) if (vote.note or "").strip())


def answers(view: CardView) -> tuple[Vote, ...]:
    """The answers in own words so far, where it takes several and they have to be the same."""
    several = view.decides.quorum > 1 or view.decides.stages
    if unit(view) != "answers" or not several or len(view.actions) > 1:
        return ()
    return tuple(vote for vote in for_it(view.votes) if (vote.note or "").strip())


def deciding(view: CardView) -> tuple[Vote, ...]:
    """The votes that made the outcome: all approvals, or those that said what was decided."""
    if view.actions:
        return once(vote for action in view.actions for vote in _made(action))
    if kind(view) == "approve":
        found = approving(view)
        return tuple(vote for vote in found if vote.thing == found[-1].thing)
    made = tuple(vote for vote in view.votes if vote.verb == view.outcome)
    return made or (() if view.out_of_reach else view.votes[-1:])


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


def by_whom(by: Person, seat: Person | None) -> Inline:
    """Who said it, and for whom where that is somebody else."""
    return by if seat is None else say("voted_for", who=by, seat=seat)


def people(votes: Iterable[Vote]) -> tuple[Inline, ...]:
    """Who said it."""
    return tuple(by_whom(vote.by, vote.seat) for vote in votes)


def once(votes: Iterable[Vote]) -> tuple[Vote, ...]:
    """The first vote of each person."""
    seen: dict[str, Vote] = {}
    for vote in votes:
        seen.setdefault(vote.by.id or vote.by.name, vote)
    return tuple(seen.values())


def _made(action: ActionView) -> tuple[Vote, ...]:
    """The votes that made an action's outcome; none while it is open."""
    if not action.outcome:
        return ()
    verbs = _VERBS.get(action.outcome, frozenset())
    made = tuple(vote for vote in action.votes if vote.verb in verbs)
    return made or (() if action.out_of_reach else action.votes[-1:])


_VERBS = {
    "approved": APPROVING | {"edit"},
    "edited": APPROVING | {"edit"},
    "rejected": REJECTING,
    "answered": frozenset({"respond"}),
    "skipped": frozenset({"ignore"}),
}
