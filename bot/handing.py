"""Handing a request to somebody else, as people see it: its window, and the word to who has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from slackblocks import Element

from bot import limits, modals
from bot.blocks import Blocks, Payload, button, line, quote
from bot.inline import Link, Moment, Styled, names, notification
from bot.values import excerpt, letters, shorten
from bot.views import CardView, HandedView, Person
from bot.wording import phrase, say
from graphs.covers import Handover
from graphs.handovers import MAX_NOTE_CHARACTERS

HAND_OVER: Final = "hand_over"
TAKE_BACK: Final = "take_back_over"
PERSON, NOTE = "person", "note"  # the blocks of the window's inputs


def window(card: CardView) -> dict[str, Any]:
    """Choose who decides it instead."""
    blocks = modals.top(card)
    below = Blocks()
    below.context("effect", say("modal.hand_over.effect"))
    made = modals.window(
        HAND_OVER, phrase("modal.hand_over.title"), blocks, card.ref,
        submit=phrase("modal.hand_over.submit"),
    )  # fmt: skip
    person = {
        "type": "users_select",
        "action_id": "value",
        "placeholder": _plain(phrase("modal.away.cover.placeholder")),
        "focus_on_load": True,
    }
    note = {
        "type": "plain_text_input",
        "action_id": "value",
        "multiline": True,
        "max_length": MAX_NOTE_CHARACTERS,
    }
    made["blocks"] += [
        {
            "type": "input",
            "block_id": PERSON,
            "label": _plain(phrase("modal.hand_over.person")),
            "hint": _plain(phrase("modal.hand_over.person.hint")),
            "element": person,
        },
        {
            "type": "input",
            "block_id": NOTE,
            "label": _plain(phrase("modal.hand_over.note")),
            "element": note,
            "optional": True,
        },
        *below.done(),
    ]
    limits.check_view(made)
    return made


def given(card: CardView, handover: Handover, taker: Person) -> dict[str, Any]:
    """It is with somebody else: take it back."""
    blocks = modals.top(card)
    at = Moment(handover.made_at, card.zone, "comma", near=card.asked_at)
    first = say("modal.hand_over.given", who=taker, at=at)
    blocks.section("given", say("modal.hand_over.given.what"), first=first)
    blocks.context("effect", say("modal.hand_over.given.effect", who=taker))
    title, submit = phrase("modal.hand_over.title"), phrase("modal.hand_over.back")
    return modals.view(TAKE_BACK, title, blocks, card.ref, submit=submit)


def chosen(view: Mapping[str, Any]) -> tuple[str, str]:
    """The person and the note that stand in a submitted window."""
    values = (view.get("state") or {}).get("values") or {}
    person = ((values.get(PERSON) or {}).get("value") or {}).get("selected_user")
    note = ((values.get(NOTE) or {}).get("value") or {}).get("value")
    return str(person or ""), str(note or "")


def handed(shows: HandedView) -> Payload:
    """The message to whoever decides it now."""
    blocks = Blocks(shows.row)
    title = letters(shows.title)
    named = Link(shows.link, title) if shows.link else Styled(title, "bold")
    if shows.taken_back:
        why = say("handed.over.why", who=shows.by)
        blocks.section("what", why, first=say("handed.over", title=named))
        note = say("handed.over.note", title=excerpt(title, 80))
        return Payload(notification([note]), blocks.done())
    counts = say("handed.told.counts", who=shows.by)
    blocks.section("what", counts, first=say("handed.told", who=shows.by, title=named))
    blocks.rich("note", quote(shows.note, MAX_NOTE_CHARACTERS) if shows.note else line())
    ways: list[Element] = []
    for verb, label in (("review", "button.review"), ("open", "button.open_card")):
        if verb == "open" and not shows.link:
            continue
        of = phrase("label.of", label=phrase(label), title=title)
        url = shows.link if verb == "open" else ""
        style: Any = "primary" if verb == "review" else ""
        ways.append(button(verb, phrase(label), shows.ref, of=of, url=url, style=style))
    blocks.actions("act", ways)
    note = say("handed.note", name=names([shows.by]), title=excerpt(title, 80))
    return Payload(notification([note]), blocks.done())


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": shorten(text, 150), "emoji": False}
