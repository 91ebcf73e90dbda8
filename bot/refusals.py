"""What one person is told, and nobody else, when something they did was not done.

The bold first sentence is the answer, then the reason, then what is true now, then the next step or
the person to ask. While a window is open, the same sentences take its place and what was written
is given back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from slackblocks import Element

from bot import lapses, modals
from bot.blocks import Blocks, Payload, button
from bot.closures import new_card
from bot.inline import Form, Many, Moment, notification, said
from bot.values import letters
from bot.views import Decides, Person, Ref, Refusal, Refused, UserGroup
from bot.wording import Sentence, first_of, has, phrase, say
from graphs import votes


@dataclass(frozen=True)
class Told:
    """The sentences in their order: the answer, the rest, and the small print."""

    answer: Sentence
    rest: tuple[Sentence, ...] = ()
    small: tuple[Sentence, ...] = ()


def refused(refusal: Refusal) -> Payload:
    """The private message of a refusal."""
    told = _told(refusal)
    blocks = Blocks()
    change = refusal.change if refusal.kind is Refused.CHANGED else None
    card = new_card(change, refusal.title)
    blocks.section("what", told.answer, *told.rest, accessory=card)
    blocks.actions("next", _buttons(refusal))
    blocks.context("small", *told.small)
    return Payload(notification([told.answer, *told.rest[-1:]], told.rest[:-1]), blocks.done())


def refused_view(refusal: Refusal, *, wrote: str = "") -> dict[str, Any]:
    """The same in the place of an open window."""
    ref = refusal.ref or Ref(0, 0)
    if refusal.kind is Refused.EXPIRED:
        deadline = _moment(refusal, "on") if refusal.deadline else None
        return modals.too_late(
            ref,
            wrote=wrote,
            deadline=deadline,
            outcome=refusal.expired_as,
            requester=refusal.requester,
            number=refusal.number,
        )
    if refusal.kind is Refused.CHANGED:
        return modals.changed(ref, refusal.change, wrote=wrote, title=refusal.title)
    told = _told(refusal)
    return modals.not_counted(refusal, [told.answer, *told.rest, *told.small], wrote=wrote)


def of_several(
    named: Sequence[str],
    results: Sequence[votes.VoteResult],
    refused_: Sequence[Refusal | None],
) -> Payload | None:
    """What one press did to several actions, where it did not approve them all."""
    kinds = {one.kind for one in refused_ if one is not None}
    if not kinds:
        return None
    if None not in refused_ and len(kinds) == 1 and refused_[0] is not None:
        return refused(refused_[0])
    decided = tuple(
        name
        for name, result in zip(named, results, strict=True)
        if isinstance(result, votes.Decided)
    )
    counted = tuple(
        name
        for name, result in zip(named, results, strict=True)
        if isinstance(result, votes.Counted)
    )
    told = [say("private.all.approved", what=Many(decided))] if decided else []
    told += [say("private.all.counted", what=Many(counted))] if counted else []
    told = told or [say("private.all.none")]
    for kind in sorted(kinds):
        not_ = tuple(
            name
            for name, one in zip(named, refused_, strict=True)
            if one is not None and one.kind is kind
        )
        key = first_of(f"private.all.why.{kind.value}", "private.all.why.other")
        told.append(say("private.all.not", what=Many(not_), why=say(key)))
    blocks = Blocks()
    blocks.section("what", told[0], *told[1:])
    return Payload(notification([told[0], told[-1]], told[1:-1]), blocks.done())


def _told(refusal: Refusal) -> Told:
    make = _MAKERS.get(refusal.kind)
    if make is not None:
        return make(refusal)
    return _plainly(refusal)


def _plainly(refusal: Refusal) -> Told:
    """The kinds that say the same to everybody."""
    key = f"private.{refusal.kind.value}"
    noun, process = refusal.words.noun, refusal.words.process
    rest = [
        say(f"{key}.{part}", noun=noun, process=process)
        for part in ("why", "back", "next")
        if has(f"{key}.{part}")
    ]
    nothing = {
        Refused.MAY_NOT_LOOK: "private.nothing_shown",
        Refused.MAY_NOT_START: "private.nothing_started",
    }.get(refusal.kind, "private.nothing_changed")
    small = []
    if refusal.keeper and refusal.kind in _KEPT_BY_RULES:
        small.append(say("private.keeper", who=refusal.keeper))
    return Told(say(key, noun=noun, process=process), (say(nothing), *rest), tuple(small))


def _already_decided(refusal: Refusal) -> Told:
    nothing = say("private.click_changed_nothing")
    if refusal.by is None or refusal.at is None:
        return Told(say("private.decided.someone", noun=refusal.words.noun), (nothing,))
    outcome = "approve" if refusal.outcome == "approve_with_conditions" else refusal.outcome
    key = f"private.decided.{outcome}"
    return Told(
        say(
            key if outcome and has(key) else "private.decided.other",
            who=refusal.by,
            noun=refusal.words.noun,
            at=_moment(refusal, "at"),
        ),
        (nothing,),
    )


def _already_voted(refusal: Refusal) -> Told:
    noun = refusal.words.noun
    first = say("private.voted.already", noun=noun)
    if refusal.at and refusal.outcome in ("", "approve", "approve_with_conditions"):
        first = say("private.voted", noun=noun, at=_moment(refusal, "at"))
    rest = []
    if refusal.cast_by and refusal.at:
        key = "private.voted.for_you" if refusal.for_you else "private.voted.by"
        first = say(key, who=refusal.cast_by, at=_moment(refusal, "at"))
        rest.append(say("private.voted.once"))
    if refusal.decides.stages:
        rest += _is_with_now(refusal.decides)
    elif refusal.missing > 0 and refusal.decides.groups:
        who = Many(refusal.decides.groups, "or")
        rest.append(say("private.voted.missing", count=refusal.missing, who=who))
    elif refusal.missing > 0:
        rest.append(say("private.voted.missing.plain", count=refusal.missing))
    return Told(first, (*rest, say("private.nothing_changed")))


def _expired(refusal: Refusal) -> Told:
    first = say("private.expired.plain")
    if refusal.deadline:
        first = say("private.expired", deadline=_moment(refusal, "on"))
    done = (
        said(refusal.expired_as)
        if refusal.expired_as
        else say("status.expired.as", noun=refusal.words.noun)
    )
    small = []
    if refusal.requester:
        small.append(say("private.can_ask_again", who=refusal.requester))
    return Told(first, (done, say("private.click_changed_nothing")), tuple(small))


def _withdrawn(refusal: Refusal) -> Told:
    first = say("private.withdrawn.plain")
    if refusal.by:
        first = say("private.withdrawn", who=refusal.by)
    why = [said(refusal.problem)] if refusal.problem else []
    return Told(first, (*why, say("private.click_changed_nothing")))


def _changed(refusal: Refusal) -> Told:
    change = refusal.change
    if change is None:
        return Told(say("private.changed.plain"), (say("private.changed.not_counted"),))
    if change.rules:
        rest = (say("private.changed.not_counted"), say("private.lapsed.rules.look"))
        return Told(say("private.changed.rules"), rest)
    if change.by is None:
        rest = (say("private.changed.not_counted"), say("private.asked_anew.next"))
        return Told(say("private.asked_anew"), rest)
    first = say("private.changed", who=change.by)
    if change.field and change.own and not (change.more or change.action):
        values = {"field": change.field, "old": change.old, "new": change.new}
        return Told(first, (Sentence(say("private.changed.value").template, values),))
    told = lapses.values(change)
    look = [say("private.changed.look")] if told else []
    return Told(first, (*told, *look, say("private.changed.not_counted")))


def _handed_over(refusal: Refusal) -> Told:
    rest = (say("private.handed_over.back"), say("private.nothing_changed"))
    return Told(say("private.handed_over", who=refusal.by or phrase("someone")), rest)


def _editor(refusal: Refusal) -> Told:
    rest = (*_is_for(refusal.decides), say("private.nothing_changed"))
    return Told(say("private.editor"), rest)


def _not_allowed(refusal: Refusal) -> Told:
    first = say("private.not_allowed", noun=refusal.words.noun)
    small = []
    if refusal.keeper:
        small.append(say("private.should_you", who=refusal.keeper))
    rest = (*_is_for(refusal.decides), say("private.nothing_changed"))
    return Told(first, rest, tuple(small))


def _not_yet(refusal: Refusal) -> Told:
    first = _first(refusal.decides)
    rest = (*first, say("private.not_yet.then"), say("private.nothing_changed"))
    return Told(say("private.not_yet"), rest)


def _first(decides: Decides) -> tuple[Sentence, ...]:
    """Who decides before anybody else does."""
    everyone: tuple[UserGroup | Person, ...] = (*decides.groups, *decides.people)
    if not everyone:
        return ()
    if len(everyone) == 1 and decides.people:
        return (say("private.not_yet.one", who=everyone[0]),)
    if decides.people:
        return (say("private.not_yet.people", count=decides.quorum, who=Many(everyone)),)
    who = Many(everyone, "or")
    return (say("private.not_yet.group", count=decides.quorum, who=who),)


def _their_part_is_done(refusal: Refusal) -> Told:
    rest = (*_is_with_now(refusal.decides), say("private.nothing_changed"))
    return Told(say("private.their_part_is_done"), rest)


def _is_with_now(decides: Decides) -> tuple[Sentence, ...]:
    everyone: tuple[UserGroup | Person, ...] = (*decides.groups, *decides.people)
    return (say("private.is_with.now", who=Many(everyone)),) if everyone else ()


def _is_for(decides: Decides) -> tuple[Sentence, ...]:
    if decides.groups and not decides.people:
        who = Many(decides.groups, "or")
        return (say("private.is_for.group", count=decides.quorum, who=who),)
    everyone: tuple[UserGroup | Person, ...] = (*decides.groups, *decides.people)
    if not everyone:
        return ()
    word = Many(everyone, "or" if decides.quorum == 1 else "and")
    return (say("private.is_for.people", count=decides.quorum, who=word),)


def _requester(refusal: Refusal) -> Told:
    decides = refusal.decides
    with_: tuple[UserGroup | Person, ...] = (*decides.groups, *decides.people)
    rest = [say("private.is_with", who=Many(with_))] if with_ else []
    return Told(
        say("private.requester", noun=refusal.words.noun),
        (*rest, say("private.nothing_changed")),
    )


def _nobody_may(refusal: Refusal) -> Told:
    rest = [say("private.nothing_changed")]
    if refusal.keeper:
        rest.append(say("private.told_keeper", who=refusal.keeper))
    return Told(say("private.nobody_may"), tuple(rest))


def _cannot_check(refusal: Refusal) -> Told:
    rest = (say("private.to_be_safe"), say("private.click_again"))
    return Told(say("private.cannot_check"), rest)


def _busy(refusal: Refusal) -> Told:
    return Told(say("private.busy"), (say("private.nothing_decided"), say("private.click_again")))


def _bad_answer(refusal: Refusal) -> Told:
    problem = [said(refusal.problem)] if refusal.problem else []
    return Told(say("private.bad_answer"), (*problem, say("private.nothing_decided")))


def _unknown_command(refusal: Refusal) -> Told:
    rest = [say("private.nothing_started")]
    if refusal.help:
        rest += [say("private.unknown_command.try"), said(refusal.help)]
    return Told(say("private.unknown_command"), tuple(rest))


def _buttons(refusal: Refusal) -> list[Element]:
    if refusal.kind is Refused.REQUESTER:
        verbs = {"add_information": "add_information", "withdraw": "withdraw_mine"}
    elif refusal.kind is Refused.ALREADY_VOTED:
        verbs = {"take_back": "take_back"}
    else:
        return []
    made: list[Element] = []
    for verb, name in verbs.items():
        if verb in refusal.offers and refusal.ref:
            label = phrase(f"button.{name}")
            of = phrase("label.of", label=label, title=letters(refusal.title))
            made.append(button(verb, label, refusal.ref, of=of if refusal.title else label))
    return made


def _moment(refusal: Refusal, form: Form) -> Moment:
    at = refusal.deadline if form == "on" else refusal.at
    assert at is not None  # noqa: S101 - every caller has looked
    return Moment(at, refusal.zone, form, near=refusal.asked_at)


_KEPT_BY_RULES = frozenset(
    {
        Refused.GUEST,
        Refused.OTHER_ORGANISATION,
        Refused.NOT_A_MEMBER,
        Refused.MAY_NOT_LOOK,
        Refused.MAY_NOT_START,
        Refused.MAY_NOT_RETRY,
        Refused.MAY_NOT_ASK_AGAIN,
        Refused.MAY_NOT_ASK,
        Refused.MAY_NOT_COMMENT,
        Refused.MAY_NOT_TAKE,
        Refused.MAY_NOT_HAND_OVER,
    }
)
_MAKERS: dict[Refused, Callable[[Refusal], Told]] = {
    Refused.ALREADY_DECIDED: _already_decided,
    Refused.ALREADY_VOTED: _already_voted,
    Refused.EXPIRED: _expired,
    Refused.WITHDRAWN: _withdrawn,
    Refused.CHANGED: _changed,
    Refused.NOT_ALLOWED: _not_allowed,
    Refused.HANDED_OVER: _handed_over,
    Refused.EDITOR: _editor,
    Refused.NOT_YET: _not_yet,
    Refused.THEIR_PART_IS_DONE: _their_part_is_done,
    Refused.REQUESTER: _requester,
    Refused.NOBODY_MAY: _nobody_may,
    Refused.CANNOT_CHECK: _cannot_check,
    Refused.BUSY: _busy,
    Refused.BAD_ANSWER: _bad_answer,
    Refused.UNKNOWN_COMMAND: _unknown_command,
}
