"""From what a verb answered to what the person is told: the refusals, each with its facts."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bot import views
from bot.judgements import counting
from bot.renderings import words
from graphs import votes
from graphs.policy import Reason, Refusal
from graphs.specs import GraphSpec

_WHY: Final = {
    Reason.CANNOT_CHECK: views.Refused.CANNOT_CHECK,
    Reason.NOT_ALLOWED: views.Refused.NOT_ALLOWED,
    Reason.REQUESTER: views.Refused.REQUESTER,
    Reason.GUEST: views.Refused.GUEST,
    Reason.OTHER_ORGANISATION: views.Refused.OTHER_ORGANISATION,
    Reason.DEACTIVATED: views.Refused.NOT_A_MEMBER,
    Reason.BOT: views.Refused.NOT_A_MEMBER,
    Reason.NOBODY_MAY: views.Refused.NOBODY_MAY,
    Reason.HANDED_OVER: views.Refused.HANDED_OVER,
    Reason.EDITOR: views.Refused.EDITOR,
    Reason.NOT_YET: views.Refused.NOT_YET,
    Reason.THEIR_PART_IS_DONE: views.Refused.THEIR_PART_IS_DONE,
}


def why(reason: Reason) -> views.Refused:
    """The refusal of a vote, by its reason."""
    return _WHY[reason]


def of_other(reason: Reason, refused: views.Refused) -> views.Refused:
    """The refusal of anything but a vote: its own words, unless it could not be checked."""
    return views.Refused.CANNOT_CHECK if reason is Reason.CANNOT_CHECK else refused


def refusal_of(refusal: Refusal, *, spec: GraphSpec | None, graph: str) -> views.Refusal:
    """The refusal of a start."""
    kind = of_other(refusal.reason, views.Refused.MAY_NOT_START)
    return views.Refusal(kind, words=words(spec, graph))


def of_vote(
    result: votes.VoteResult,
    card: views.CardView | None,
    keeper: views.Person | None,
    item: int | None = None,
) -> views.Refusal | None:
    """The refusal of a vote, on one action where it names it; None where it counts."""
    if not votes.is_refusal(result):
        return None
    if card is None or isinstance(result, votes.Unknown):
        return views.Refusal(views.Refused.UNKNOWN)
    card = _seen(card, item)
    return _filled(_about(card, keeper), result, card)


def of_card(
    card: views.CardView,
    ref: views.Ref,
    refusal: Refusal | None,
    keeper: views.Person | None,
    item: int | None = None,
) -> views.Refusal | None:
    """Why the person cannot choose on the card as it stands now, before they write anything."""
    card = _seen(card, item)
    told = _about(card, keeper)
    if card.status is views.Status.HELD:
        return replace(told, kind=views.Refused.HELD)
    if card.status is views.Status.EXPIRED:
        return replace(told, kind=views.Refused.EXPIRED)
    if card.status is views.Status.WITHDRAWN:
        return replace(
            told, kind=views.Refused.WITHDRAWN, by=card.withdrawn_by, problem=card.because
        )
    if card.status is views.Status.REPLACED:
        return replace(told, kind=views.Refused.CHANGED, change=card.change)
    action = next((one for one in card.actions if one.shown.item == item), None)
    if card.status is views.Status.OPEN and action is not None and action.outcome:
        return replace(
            told,
            kind=views.Refused.ALREADY_DECIDED,
            by=action.by,
            at=action.at,
            outcome=action.votes[-1].verb if action.votes else "",
        )
    if card.status is not views.Status.OPEN:
        last = card.votes[-1] if card.votes else None
        return replace(
            told,
            kind=views.Refused.ALREADY_DECIDED,
            by=last.by if last else None,
            at=card.decided_at,
            outcome=card.outcome,
        )
    if card.ref != ref:
        return replace(told, kind=views.Refused.CHANGED, change=card.change)
    return replace(told, kind=why(refusal.reason)) if refusal is not None else None


def _seen(card: views.CardView, item: int | None) -> views.CardView:
    """The card as far as it is about one action: who decides that one, and the votes on it."""
    action = next((one for one in card.actions if one.shown.item == item), None)
    return card if action is None else replace(card, decides=action.decides, votes=action.votes)


def _about(card: views.CardView, keeper: views.Person | None) -> views.Refusal:
    return views.Refusal(
        views.Refused.UNKNOWN,
        ref=card.ref,
        title=card.shown.title,
        words=card.words,
        zone=card.zone,
        decides=card.decides,
        requester=card.requester,
        keeper=keeper,
        asked_at=card.asked_at,
        deadline=card.deadline,
        expired_as=card.expired_as,
        number=card.number,
    )


def _filled(told: views.Refusal, result: votes.VoteResult, card: views.CardView) -> views.Refusal:
    match result:
        case votes.AlreadyDecided():
            return replace(
                told,
                kind=views.Refused.ALREADY_DECIDED,
                by=views.Person(result.by, result.by_name),
                at=result.at,
                outcome=result.verb,
            )
        case votes.AlreadyVoted():
            return replace(
                told,
                kind=views.Refused.ALREADY_VOTED,
                at=result.at,
                outcome=result.verb,
                missing=max(0, card.decides.quorum - len(counting(card))),
                cast_by=views.Person(result.by, result.by_name) if result.by else None,
                for_you=result.for_you,
            )
        case votes.HandedOver():
            to = views.Person(result.to, result.to_name)
            return replace(told, kind=views.Refused.HANDED_OVER, by=to, at=result.at)
        case votes.Superseded():
            return replace(told, kind=views.Refused.CHANGED, change=card.change)
        case votes.Expired():
            return replace(told, kind=views.Refused.EXPIRED, at=result.at)
        case votes.Withdrawn() if card.status is views.Status.REPLACED:
            return replace(told, kind=views.Refused.CHANGED, change=card.change)
        case votes.Withdrawn():
            return replace(
                told, kind=views.Refused.WITHDRAWN, by=card.withdrawn_by, problem=card.because
            )
        case votes.Held():
            return replace(told, kind=views.Refused.HELD)
        case votes.BadAnswer():
            return replace(told, kind=views.Refused.BAD_ANSWER, problem=result.message)
        case votes.Refused():
            return replace(told, kind=why(result.reason))
        case _:
            return told
