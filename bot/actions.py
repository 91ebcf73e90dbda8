"""The actions of one turn on a card: each with its own values, its own buttons, its own tally.

Up to five stand in full, two blocks each; of the others each has a line with Review. One that was
decided keeps its values, says by whom in its first line and has no buttons any more; one that was
changed shows the old value struck through and the new one bold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from slackblocks import Button, Element, RichTextObject, RichTextQuote

from bot import limits
from bot.blocks import Blocks, button, confirm, lines, quote
from bot.facts import Room, stage_rows, still_needed, template_fact, who_decides
from bot.inline import Aside, Inline, Many, Moment, Styled, clause, plain, said
from bot.judgements import APPROVING, LETTING, REJECTING, alike, people
from bot.values import excerpt
from bot.views import ActionView, CardView, Person
from bot.wording import Sentence, first_of, phrase, say
from graphs.questions import Choice, Group

REVIEW = "review"
SHOW_LIST = "show_list"
APPROVE_ALL = "approve_all"
APPROVES = APPROVING | {"edit"}
PROSE = 120  # characters of a value that stands on a line; a longer one is quoted

Part: TypeAlias = Sequence[Inline] | RichTextQuote | None


def on_card(blocks: Blocks, view: CardView, room: Room) -> None:
    """All actions: as many in full as there is room for, then lines, the rest counted."""
    for action in view.actions[: room.full]:
        full(blocks, view, action, room)
    rest = view.actions[room.full :]
    # Where not all have a line, the open ones come first; those that stand keep their order.
    chosen = {one.shown.item for one in sorted(rest, key=_is_decided)[: room.rows]}
    rows(blocks, view, [one for one in rest if one.shown.item in chosen])
    if left := len(rest) - len(chosen):
        label = phrase("button.show_list", count=left)
        of = phrase("label.of", label=label, title=view.shown.title)
        blocks.actions("others", [button(SHOW_LIST, label, view.ref, of=of)])


def full(blocks: Blocks, view: CardView, action: ActionView, room: Room) -> None:
    """One action with its values, and its buttons while it is open."""
    number = action.shown.item + 1
    blocks.rich(f"action_{number}", *paragraphs(_told(view, action, room)))
    if not action.outcome:
        blocks.actions(f"decide_{number}", buttons(view, action))


def rows(blocks: Blocks, view: CardView, actions: Iterable[ActionView]) -> None:
    """One line each, with Review while it is open."""
    for action in actions:
        item, title = action.shown.item, action.shown.title
        stands = _stands(view, action)
        row = say("action.row", number=item + 1, title=excerpt(title, 60))
        told = ", ".join(f"{name}: {value}" for name, value in action.shown.facts[:2])
        beside = [said(excerpt(told, 80))] if told and not action.outcome else []
        beside += [stands] if stands else []
        review = None
        if not action.outcome:
            label = phrase("button.review")
            of = phrase("label.of", label=label, title=f"{item + 1}. {title}")
            review = button(f"{REVIEW}:{item}", label, view.ref, of=of)
        blocks.section(f"row_{item + 1}", *beside, first=row, accessory=review)


def buttons(view: CardView, action: ActionView) -> list[Element]:
    """The choices of one action; each names it in its id."""
    item, title, sure = action.shown.item, action.shown.title, action.confirm
    return [
        decision(view, choice, of=title, item=item, sure=sure) for choice in action.shown.choices
    ]


def approve_all(view: CardView) -> list[Element]:
    """Approve what is open with one press, where that is more than one action."""
    open_ = [one for one in view.actions if not one.outcome]
    found = [one for one in open_ if one.shown.choice("approve") is not None]
    count = len(found)
    if count < 2:
        return []
    key = "button.approve_all"
    if count < len(view.actions):
        key += ".left" if count == len(open_) else ".some"
    label = plain(say(key, count=count))
    ask = None
    if view.warning or any(one.confirm for one in found):
        title = plain(say("confirm.approve_all.title", count=count))
        ask = confirm(title, view.warning or phrase("confirm.text.plain"), phrase("button.approve"))
    of = phrase("label.of", label=label, title=view.shown.title)
    return [button(APPROVE_ALL, label, view.ref, of=of, confirm=ask)]


def decision(
    view: CardView,
    choice: Choice,
    *,
    of: str,
    item: int | None = None,
    sure: bool = False,
    primary: bool = True,
) -> Button:
    """One choice as a button; it asks once more where its rule, or what is at stake, wants that."""
    ask = None
    if choice.verb in ("approve", "continue") and (sure or view.warning):
        what = clause(view.shown.if_approved)
        then = phrase("confirm.text", what=what[:1].upper() + what[1:]) if what else ""
        action = next((one for one in view.actions if one.shown.item == item), None)
        about = replace(view, decides=action.decides, votes=action.votes) if action else view
        if needed := still_needed(about):
            then = plain(*needed, say("confirm.text.plain"))
        ask = confirm(
            phrase("confirm.title", label=choice.label, noun=view.words.noun),
            view.warning or then or phrase("confirm.text.plain"),
            choice.label,
        )
    elif choice.verb == "stop":
        title, text = phrase("confirm.stop.title"), phrase("confirm.stop.text")
        ask = confirm(title, text, choice.label, style="danger")
    return button(
        choice.verb if item is None else f"{choice.verb}:{item}",
        choice.label[: limits.BUTTON],
        view.ref,
        of=phrase("label.of", label=choice.label, title=of),
        style="" if choice.style == "primary" and not primary else choice.style,
        confirm=ask,
    )


def details(view: CardView) -> Button:
    """Everything about the request, on request."""
    of = phrase("label.details", title=view.shown.title)
    return button("details", phrase("button.details"), view.ref, of=of)


def several_rules(view: CardView) -> bool:
    """Whether not everybody who may decide one action may decide each."""
    return len({action.decides for action in view.actions}) > 1


def outcomes(view: CardView, room: Room) -> list[RichTextObject | None]:
    """What became of each action, a line each, with the words that came with it."""
    parts: list[Part] = []
    shown = view.actions[: room.full]
    for action in shown:
        stands = _stands(view, action)
        told: list[Inline] = [Styled(f"{called(view, action)}  ", "bold")]
        parts.append([*told, stands] if stands else told)
        if action.outcome not in LETTING:
            parts.append(quote(action.note, room.quote))
    if left := len(view.actions) - len(shown):
        parts.append([say("evidence.more_lines", count=left)])
    return paragraphs(parts)


def paragraphs(parts: Iterable[Part]) -> list[RichTextObject | None]:
    """Lines and quotes as rich text: lines that follow one another are one section."""
    made: list[RichTextObject | None] = []
    told: list[Sequence[Inline]] = []
    for part in parts:
        if part is None:
            continue
        if isinstance(part, RichTextQuote):
            made += [lines(told), part]
            told = []
        else:
            told.append(part)
    return [*made, lines(told)]


def _told(view: CardView, action: ActionView, room: Room) -> list[Part]:
    stands = _stands(view, action)
    heading: list[Inline] = [Styled(called(view, action), "bold")]
    parts: list[Part] = [[*heading, "   ", Aside(stands)] if stands else heading]
    if not action.outcome and several_rules(view):
        parts.append([say("action.who_decides", who=who_decides(action.decides))])
        parts += stage_rows(view, action.decides, action.votes)
    parts += _values(action, room)
    for group in action.shown.groups[: room.groups]:
        parts += _group(group, room)
    if left := len(action.shown.groups) - min(len(action.shown.groups), room.groups):
        parts.append([say("evidence.more_groups", count=left)])
    if action.outcome and action.outcome not in LETTING:
        parts.append(quote(action.note, room.quote))
    return parts


def _values(action: ActionView, room: Room) -> list[Part]:
    before = dict(action.shown.before) if action.edited_by is not None else {}
    facts = action.shown.facts[: room.facts]
    made: list[Part] = []
    for name, value in facts:
        label = f"{excerpt(name, 40)}: "
        if name in before:
            old, new = excerpt(before[name], room.fact), excerpt(value, room.fact)
            made.append([label, Styled(old, "strike"), "  ", Styled(new, "bold")])
        elif len(value) > PROSE and room.quote > room.fact:
            made += [[label.rstrip()], quote(value, room.quote)]
        else:
            made.append([label, *template_fact(name, value, room)[1:]])
    if left := len(action.shown.facts) - len(facts):
        made.append([say("evidence.more_facts", count=left)])
    shown = {name for name, _ in facts}
    if also := [excerpt(name, 40) for name in before if name not in shown]:
        made.append([say("action.also_changed", what=Many(tuple(also)))])
    return made


def _group(group: Group, room: Room) -> list[Part]:
    shown = group.lines[: room.lines]
    heading = excerpt(group.heading, room.characters)
    if group.kind == "quote":
        return [[f"{heading}:"], *(quote(each.text, room.quote) for each in shown)]
    told = ", ".join(excerpt(each.text, room.characters) for each in shown)
    return [[f"{heading}: {told}" if told else heading]]


def called(view: CardView, action: ActionView) -> str:
    """What an action is called: with its number where there are several."""
    title = excerpt(action.shown.title, 100)
    return f"{action.shown.item + 1}. {title}" if len(view.actions) > 1 else title


def _stands(view: CardView, action: ActionView) -> Sentence | None:
    """Who decided or changed it and when, else how many it still needs; None where neither."""
    if not action.outcome:
        counted = _tally(view, action)
        if action.edited_by is None:
            return counted
        at = _moment(view, action, edited=True)
        changed = say("action.changed", who=action.edited_by, at=at)
        return say("comma", first=changed, last=counted) if counted else changed
    if action.out_of_reach:
        return say("action.out_of_reach", at=_moment(view, action))
    for_it = _people(action, APPROVES) if action.outcome in LETTING else ()
    by = action.by or Person("")
    who: Inline = Many(for_it) if for_it else by
    at = _moment(view, action)
    if action.outcome == "edited" and (len(for_it) > 1 or action.edited_by != by):
        return say("action.edited.other", editor=action.edited_by or by, who=who, at=at)
    return say(first_of(f"action.{action.outcome}", "action.decided"), who=who, at=at)


def _tally(view: CardView, action: ActionView) -> Sentence | None:
    """The votes so far, where more than one is needed and the status does not say it."""
    need, against = action.decides.quorum, _people(action, REJECTING)
    if len(view.actions) == 1:
        return None
    made = None
    stage, stages = action.decides.stage, len(action.decides.stages)
    if need > 1 or stages:
        given = alike(action.votes, action.decides)
        made = say("action.needs", count=need)
        if given:
            answers = any(vote.verb not in APPROVES for vote in given)
            key = "action.tally.answers" if answers else "action.tally"
            made = say(key, have=len(given), count=need, who=Many(people(given)))
    if made and stages:
        in_stage = say("action.stage", stage=stage + 1, stages=stages)
        made = say("comma", first=in_stage, last=made)
    if against and action.decides.rejections > 1:
        count = action.decides.rejections
        said_no = say("action.against", have=len(against), count=count, who=Many(against))
        made = say("comma", first=made, last=said_no) if made else said_no
    return made


def _people(action: ActionView, verbs: frozenset[str]) -> tuple[Inline, ...]:
    return people(vote for vote in action.votes if vote.verb in verbs)


def _moment(view: CardView, action: ActionView, *, edited: bool = False) -> Moment | str:
    at = action.edited_at if edited else action.at
    return Moment(at, view.zone, "comma", near=view.asked_at) if at else ""


def _is_decided(action: ActionView) -> bool:
    return bool(action.outcome)
