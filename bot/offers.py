"""What can be asked for, as people see it: the offer under a message, the chooser, the form.

A button or window carries the graph's name in its action or callback id and the draft's id in its
value or metadata, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from slackblocks import Element

from bot import drafts, forms, limits, modals
from bot.blocks import Blocks, Payload, button, line, quote
from bot.inline import Styled, notification
from bot.values import passage, shorten
from bot.views import Ref, Words
from bot.wording import phrase, say
from graphs.entrances import Entrance
from graphs.forms import Form, form
from graphs.specs import GraphSpec

JSON: TypeAlias = Any

START: Final = "start:"  # and the graph's name: a button, or the window of its form
CHOOSE: Final = "start"  # the window in which the graph is chosen
GRAPH: Final = "graph"  # the chooser's one input
LISTED: Final = 20


def graph_of(name: str) -> str:
    """The graph that a button or a window is for."""
    return name.removeprefix(START)


def label(spec: GraphSpec | None, words: Words) -> str:
    """What a person asks for, as they choose it."""
    return (spec.shortcut if spec else None) or _first(words.process.removeprefix("the "))


def offer(
    draft: drafts.Draft, graphs: Mapping[str, str], words: Words, *, row: int, problem: str = ""
) -> Payload:
    """The message under what somebody wrote, with a button for each of these graphs.

    Args:
        graphs: what a person asks for, by the graph's name.
        words: of the graph, where it is one alone.
    """
    blocks = Blocks(row)
    ref = Ref(draft.id)
    first = say("offer.choose")
    buttons: list[Element] = [
        button(f"{START}{graph}", name, ref, of=name)
        for graph, name in list(graphs.items())[:LISTED]
    ]
    if len(graphs) == 1:
        first, fill = say("offer.form", process=_first(words.process)), phrase("button.fill_in")
        buttons = [button(f"{START}{next(iter(graphs))}", fill, ref, of=fill, style="primary")]
    blocks.section("what", first)
    if problem:
        said = passage(phrase("offer.problem", problem=problem), 500)
        blocks.rich("problem", line(Styled(said)))
    blocks.actions("act", buttons)
    return Payload(notification([first]), blocks.done())


def sent(number: int, *, row: int) -> Payload:
    """The same message once the request is sent."""
    blocks = Blocks(row)
    said = say("offer.sent", number=str(number))
    blocks.section("what", said)
    return Payload(notification([said]), blocks.done())


def chooser(draft_id: int, graphs: Mapping[str, str]) -> dict[str, Any]:
    """The window in which a person chooses what to ask for."""
    options = [
        {"text": _plain(shorten(name, 75)), "value": graph[:150]}
        for graph, name in list(graphs.items())[:100]
    ]
    view = modals.window(
        CHOOSE,
        phrase("modal.choose.title"),
        Blocks(),
        Ref(draft_id),
        submit=phrase("modal.choose.submit"),
    )
    kind = "radio_buttons" if len(options) <= 10 else "static_select"
    view["blocks"] = [
        {
            "type": "input",
            "block_id": GRAPH,
            "label": _plain(phrase("offer.choose").strip("*")),
            "element": {"type": kind, "action_id": "value", "options": options},
        }
    ]
    limits.check_view(view)
    return view


def fields(entrance: Entrance, draft: drafts.Draft) -> Form:
    """The fields of the graph's form; where words are enough, one for them."""
    text = draft.message.text
    initial = _words(draft) if entrance.form is None else entrance.initial(text)
    return form(schema(entrance), initial)


def schema(entrance: Entrance) -> JSON:
    """The schema that a submission has to fit."""
    return entrance.form if entrance.form is not None else _WORDS


def window(draft: drafts.Draft, graph: str, words: Words, entrance: Entrance) -> dict[str, Any]:
    """The window of the form, with what it was begun with on top."""
    top = Blocks()
    # What was written is quoted, unless it stands in the fields already.
    if entrance.form is not None and not entrance.initial(draft.message.text):
        top.rich("begun", quote(draft.message.text, 280))
    if draft.message.files:
        top.context("files", say("modal.start.files", count=len(draft.message.files)))
    return forms.view(
        f"{START}{graph}",
        phrase("modal.start.title"),
        fields(entrance, draft),
        Ref(draft.id),
        top=top,
        submit=phrase("modal.start.submit"),
        effect=say("modal.start.effect", process=_first(words.process)),
    )


def told_view(sentence: str) -> dict[str, Any]:
    """One sentence in the place of an open window: why nothing was started."""
    blocks = Blocks()
    blocks.rich("what", line(Styled(passage(sentence, 2_000), "bold")))
    return modals.view("not_started", phrase("modal.not_started.title"), blocks, Ref(0, 0))


_WORDS: Final = {
    "type": "object",
    "properties": {
        "text": {
            "type": "string",
            "title": phrase("modal.start.label"),
            "description": phrase("modal.start.hint"),
            "minLength": 1,
            "maxLength": 3000,
            "format": "multiline",
        }
    },
    "required": ["text"],
}


def _words(draft: drafts.Draft) -> JSON:
    return {"text": draft.message.text} if draft.message.text.strip() else {}


def _first(text: str) -> str:
    return text[:1].upper() + text[1:]


def _plain(text: str) -> JSON:
    return {"type": "plain_text", "text": text, "emoji": False}
