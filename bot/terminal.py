"""Why something was refused at the command line: what Slack's cards say, for a terminal.

There are ids and no names here: without Slack nobody can be asked what an id is called, and
whoever types `--as` needs the id.
"""

from __future__ import annotations

from typing import Final

from bot.values import one_line
from graphs import votes
from graphs.policy import Reason, Refusal
from graphs.reviews import Review
from graphs.specs import People
from graphs.threads import Status

NOTHING: Final = "Nothing was changed."
_SAID: Final = {
    "approve": "approved",
    "approve_with_conditions": "approved with conditions",
    "reject": "rejected",
    "ask_for_changes": "sent back for changes",
    "changes": "sent back for changes",
}
_BECAUSE: Final = {
    Reason.CANNOT_CHECK: "Sayso could not check who you are: Slack does not say who {user} is.",
    Reason.REQUESTER: "{user} asked for this and may not decide it.",
    Reason.GUEST: "{user} is a guest, and guests may not do this.",
    Reason.OTHER_ORGANISATION: "{user} belongs to another organisation.",
    Reason.DEACTIVATED: "The account of {user} is deactivated.",
    Reason.BOT: "{user} is an app and not a person.",
    Reason.HANDED_OVER: "{user} handed this to somebody else.",
    Reason.EDITOR: "{user} changed this action, and who changes it may not decide on it.",
    Reason.NOT_YET: "It is not the turn of {user} yet: others decide first.",
    Reason.THEIR_PART_IS_DONE: "The stage in which {user} was asked is over.",
    Reason.NOBODY_MAY: "Nobody may decide this: no rule in sayso.toml names anybody for it.",
}

_CLOSED: Final = {
    "decided": "It is decided already.",
    "expired": "It is too late: the time to decide this is over.",
    "withdrawn": "The question is not asked any more.",
    "held": "Its thread is on hold.",
    "unknown": "This review is for the requester and not for reviewers.",
    "nobody_to_ask": "Whoever asked for this is not in Slack and cannot be asked there.",
}


def not_counted(result: votes.VoteResult, review: Review, user: str) -> str | None:
    """Why the vote did not count, None where it did."""
    match result:
        case votes.Counted() | votes.Decided() | votes.Edited():
            return None
        case votes.AlreadyDecided():
            who = f"You ({user}) decided" if result.by == user else f"{result.by} decided"
            when = f"{result.at:%Y-%m-%d %H:%M} UTC" if result.at else "before"
            said = f"{who} this already, at {when}: {_SAID.get(result.verb, result.outcome)}."
        case votes.AlreadyVoted() if result.by not in ("", user):
            said = f"{result.by} gave the vote that you ({user}) have, and it counts once."
        case votes.AlreadyVoted():
            said = f"You ({user}) voted already: {_SAID.get(result.verb, result.verb)}."
        case votes.HandedOver():
            said = f"You ({user}) handed this to {result.to}."
        case votes.Superseded():
            said = f"The question has changed; revision {result.revision} stands now."
        case votes.Expired():
            said = "It is too late: the time to decide this is over."
        case votes.Withdrawn():
            said = "The question is not asked any more."
        case votes.Held():
            said = (
                f"Its thread is {result.mark}. `sayso threads retry {review.thread_id}` lets it "
                "go on."
            )
        case votes.BadAnswer():
            said = one_line(result.message)  # it may quote what the question allows
        case votes.Unknown():
            said = f"There is no review {result.review_id}."
        case votes.Refused():
            rule = result.rule or review.rule
            said = _because(result.reason, user, rule.approvers if rule else None)
    return f"{said} {NOTHING}"


def may_not(user: str, refusal: Refusal, people: People | None) -> str:
    """Why the person may not ask, comment or take a review on."""
    return f"{_because(refusal.reason, user, people)} {NOTHING}"


def not_talked_about(why: str) -> str:
    """Why nobody can ask, comment or take a review on now."""
    return f"{_CLOSED[why]} {NOTHING}"


def taken_already(user: str) -> str:
    """They look at it already."""
    return f"{user} looks at this already. {NOTHING}"


def not_theirs(user: str) -> str:
    """It is not theirs to give back."""
    return f"{user} has not taken this on, so they cannot give it back. {NOTHING}"


def may_not_retry(user: str, refusal: Refusal, operators: People) -> str:
    """Why the person may not let a thread go on."""
    return f"{_because(refusal.reason, user, operators)} {NOTHING}"


def no_retry(
    status: Status, operators: People, *, may_unpark: bool, only: Status | None = None
) -> str:
    """Why trying again is not possible now, or not of a thread that is not as it has to be."""
    if only not in (None, status):
        return f"The thread is {status} and not {only}. {NOTHING}"
    if status in (Status.HELD, Status.PARKED) and not may_unpark:
        return f"The thread is {status}. That is for {_names(operators)}. {NOTHING}"
    return f"The thread is {status}, so there is nothing to try again. {NOTHING}"


def no_such_post(said: str) -> str:
    """Nothing that waits to be shown has that id."""
    return (
        f"No message {one_line(said)} waits to be shown. `sayso posts list` shows what does. "
        f"{NOTHING}"
    )


def several_posts(said: str) -> str:
    """More than one begins so."""
    return f"Several messages begin with {one_line(said)}. Write more of the id. {NOTHING}"


def post_not_parked(said: str) -> str:
    """It waits for its turn, and nobody has to do anything."""
    return f"The message {one_line(said)} is not parked; it is tried by itself. {NOTHING}"


def _because(reason: Reason, user: str, people: People | None) -> str:
    if reason is Reason.NOT_ALLOWED:
        return f"{user} may not do this. It is for {_names(people)}."
    return _BECAUSE[reason].format(user=user)


def _names(people: People | None) -> str:
    """ "U0ALICE, U0DANA or somebody in S0CREDIT"."""
    named: list[str] = []
    if people is not None:
        named = [*people.users, *people.emails]
        named += [f"somebody in {group}" for group in people.groups]
        named += [f"the role {role}" for role in people.roles]
        named += ["the requester's manager"] if people.manager else []
    if not named:
        return "nobody that sayso.toml names"
    return " or ".join(filter(None, [", ".join(named[:-1]), named[-1]]))
