"""The windows of one action and of forms: what is asked for before a decision on them.

Like those of `bot.modals`, each is a whole view within every limit. One that is about an action
names it in its callback id ("reject:2"), as its button does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot import actions, forms, limits, modals
from bot.blocks import Blocks, line, lines, quote
from bot.cards import consequences, render
from bot.facts import Room, footer, who_decides
from bot.inline import Inline, Styled
from bot.modals import INPUTS, View
from bot.standing import standing
from bot.values import excerpt, letters, shorten
from bot.views import ActionView, CardView
from bot.wording import Sentence, phrase, say
from graphs.forms import Form, form
from graphs.questions import Choice

WIDE = Room(groups=10, lines=10, characters=300, facts=30, fact=600, quote=2_000)
LITTLE = Room(groups=0, lines=0, characters=40, facts=2, fact=40, quote=40)
LISTED = 95  # actions in the window of all of them


def of_choice(card: CardView, verb: str, item: int | None = None, *, typed: Any = None) -> View:
    """The window of a choice that needs words or a form."""
    choice = card.shown.choice(verb, item)
    action = action_of(card, item)
    if choice is not None and choice.needs == "form":
        return filled_in(card, choice, action, typed=typed)
    if action is None:
        return modals.note(card, verb, typed=typed or "")
    return note(card, action, verb, typed=typed or "")


def made(choice: Choice) -> Form:
    """The form of a choice, the same when it is shown and when it is read."""
    return form(choice.schema, choice.initial)


def filled_in(
    card: CardView,
    choice: Choice,
    action: ActionView | None,
    *,
    typed: Mapping[str, Any] | None = None,
) -> View:
    """The form of an edit, of the values before a step, or of an answer."""
    shape = made(choice)
    same = say("modal.action.other")
    top = modals.top(card) if action is None else _top(card, action, same)
    if action is not None:
        title, submit = phrase("modal.edit.title"), phrase("modal.edit.submit")
        if not action.editor_may_decide:
            submit = phrase("modal.edit.submit.other")
        effect = _effect_of_an_edit(action)
        name = f"{choice.verb}:{action.shown.item}"
    elif choice.verb == "edit":
        name, title = choice.verb, phrase("modal.values.title")
        submit, effect = phrase("modal.values.submit"), say("modal.values.effect")
    else:
        name, title = choice.verb, shape.title or phrase("modal.answer.title")
        submit = phrase("modal.answer.submit")
        effect = say("modal.answer.effect", process=card.words.process)
    title = shorten(letters(title), limits.VIEW_TITLE)
    return forms.view(
        name, title, shape, card.ref, top=top, submit=submit, effect=effect, typed=typed
    )


def note(card: CardView, action: ActionView, verb: str, *, typed: str = "") -> View:
    """Reject one action with a reason, or answer in its place."""
    process = letters(card.words.process)
    blocks = _top(card, action)
    if verb == "reject":
        title, submit = phrase("modal.action.reject.title"), phrase("modal.reject.submit")
        blocks.input(
            INPUTS["reject"],
            phrase("modal.reject.label"),
            placeholder=phrase("modal.reject.placeholder"),
            hint=_capital(phrase("modal.action.reject.hint", process=process)),
            min_length=3,
            initial=typed,
        )
        count = action.decides.rejections
        effect = say("modal.action.reject.effect", process=process)
        if count > 1:
            effect = say("modal.action.reject.effect.several", count=count)
        blocks.context("effect", effect)
    else:
        runs = action.shown.choice("approve") or action.shown.choice("edit")
        key = "modal.action.respond" if runs else "modal.action.answer"
        title = phrase("modal.action.respond.title" if runs else "modal.answer.title")
        submit = phrase("modal.answer.submit")
        blocks.input(
            INPUTS["answer"],
            phrase("modal.answer.label"),
            hint=phrase(f"{key}.hint", process=process),
            max_length=limits.INPUT,
            initial=typed,
        )
        if runs:
            blocks.context("effect", say("modal.action.respond.effect"))
    name = f"{verb}:{action.shown.item}"
    return modals.view(name, title, blocks, card.ref, submit=submit)


def review(card: CardView, item: int | None = None) -> View:
    """The whole card as a window, or one of its actions with all its values."""
    action = action_of(card, item)
    name, title = "review", phrase("modal.review.title")
    if action is None:
        shows = modals.window(name, title, Blocks(), card.ref) | {"blocks": render(card).blocks}
        limits.check_view(shows)
        return shows
    name = f"review:{action.shown.item}"
    for room in (WIDE, Room()):
        shows = modals.window(name, title, _of_action(card, action, room), card.ref)
        if limits.view_fits(shows):
            return shows
    return modals.view(name, title, _of_action(card, action, LITTLE), card.ref)


def all_actions(card: CardView) -> View:
    """Every action on a line, for those that have none on the card."""
    blocks = Blocks()
    blocks.rich("summary", line(Styled(excerpt(card.shown.title, 300), "bold")))
    actions.rows(blocks, card, card.actions[:LISTED])
    return modals.view("list", phrase("modal.list.title"), blocks, card.ref)


def numbered(titles: Mapping[int, str], item: int) -> str:
    """What an action of several is called in a sentence."""
    title = excerpt(titles.get(item, ""), 60)
    return f"{item + 1}. {title}" if len(titles) > 1 else title


def item_of(name: str) -> int | None:
    """The action that a button or a window of Review is for: "review:6"."""
    item = name.partition(":")[2]
    return int(item) if item.isdecimal() and len(item) < 4 else None


def action_of(card: CardView, item: int | None) -> ActionView | None:
    """The action of that item; None where the card has none, or none is meant."""
    return next((one for one in card.actions if one.shown.item == item), None)


def _of_action(card: CardView, action: ActionView, room: Room) -> Blocks:
    blocks = Blocks()
    stands = standing(card)
    blocks.section("status", *stands.plain, mark=stands.mark, first=stands.bold)
    if card.warning:
        blocks.rich("warning", line(Styled(excerpt(card.warning, 400), "bold")))
    actions.full(blocks, card, action, room)
    blocks.rich("consequences", lines(consequences(card)))
    blocks.context("footer", *footer(card))
    return blocks


def _top(card: CardView, action: ActionView, *more: Sentence) -> Blocks:
    """The action in bold, then one line: who asked; and what it is for, where that is said."""
    blocks = Blocks()
    title = Styled(excerpt(actions.called(card, action), 300), "bold")
    asked: list[Inline] = [say("modal.summary", who=card.requester)]
    for one in more:
        asked += [" ", one]
    rows: list[Sequence[Inline]] = [[title], asked]
    about = action.shown.groups[0] if action.shown.groups else None
    if about is None or about.kind != "quote" or not about.lines:
        blocks.rich("summary", lines(rows))
        return blocks
    rows.append([f"{excerpt(about.heading, 120)}:"])
    blocks.rich("summary", lines(rows), quote(about.lines[0].text, 300))
    return blocks


def _effect_of_an_edit(action: ActionView) -> Sentence:
    """What pressing submit does, true for the person who is about to press it now."""
    if not action.editor_may_decide:
        return say("modal.edit.effect.other")
    first = say("modal.edit.effect.lapse" if action.votes else "modal.edit.effect")
    stages = action.decides.stages
    quorum = stages[0].quorum if stages else action.decides.quorum
    told = [say("modal.effect.begins")] if stages and action.decides.stage else []
    told += [say("modal.effect.more", count=quorum - 1)] if quorum > 1 else []
    told += [say("modal.effect.then", who=who_decides(stages[1]))] if stages else []
    for more in told:
        first = Sentence("{first} {more}", {"first": first, "more": more})
    return first


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
