"""The last gate: every limit of Slack, checked before anything is sent.

Whatever built a payload, these checks are made on the plain data that leaves, so that no mistake
in a builder becomes an error from Slack with live buttons behind it. Lengths count UTF-16 units,
which is never less than what Slack counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from bot.values import size
from checkpoints.errors import SaysoError

MESSAGE_BLOCKS: Final = 50
VIEW_BLOCKS: Final = 100
MESSAGE_CHARACTERS: Final = 13_000  # of the blocks as JSON, the strictest reading
VIEW_BYTES: Final = 250_000
NOTIFICATION: Final = 4_000  # Slack's; ours is 150 and `inline.notification` keeps it
SECTION: Final = 3_000
FIELD: Final = 2_000
FIELDS: Final = 10
HEADER: Final = 150
ACTIONS: Final = 25
CONTEXT: Final = 10
BUTTON: Final = 75
BUTTON_VALUE: Final = 2_000
URL: Final = 3_000
ID: Final = 255
ACCESSIBILITY: Final = 75
OPTION: Final = 75
OPTION_VALUE: Final = 150
OPTIONS: Final = 100
OPTIONS_FEW: Final = 10
OVERFLOW: Final = (2, 5)
CONFIRM_TITLE: Final = 100
CONFIRM_TEXT: Final = 300
CONFIRM_BUTTON: Final = 30
LABEL: Final = 2_000
ALT_TEXT: Final = 2_000
PLACEHOLDER: Final = 150
INPUT: Final = 3_000
MARKDOWN: Final = 12_000
TABLE_ROWS: Final = 100
TABLE_COLUMNS: Final = 20
VIEW_TITLE: Final = 24
METADATA: Final = 3_000

BLOCK_TYPES: Final = frozenset(
    {
        "header",
        "section",
        "rich_text",
        "divider",
        "actions",
        "context",
        "input",
        "markdown",
        "table",
        "image",
    }
)
STYLES: Final = frozenset({"primary", "danger"})
_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")


class OverLimit(SaysoError):
    """A payload that Slack would refuse was about to be sent; mend the builder of that block."""

    def __init__(self, where: str, what: str) -> None:
        self.where = where
        self.what = what
        super().__init__(f"Slack would refuse this at {where}: {what}. Mend what builds it.")


def check_message(text: str, blocks: Sequence[Mapping[str, Any]]) -> None:
    """Raise `OverLimit` where Slack would refuse this message."""
    _raise(_message(text, blocks))


def check_view(view: Mapping[str, Any]) -> None:
    """Raise `OverLimit` where Slack would refuse this modal or home tab."""
    _raise(_view(view))


def fits(text: str, blocks: Sequence[Mapping[str, Any]]) -> bool:
    """Whether Slack would take this message."""
    return next(_message(text, blocks), None) is None


def view_fits(view: Mapping[str, Any]) -> bool:
    """Whether Slack would take this view."""
    return next(_view(view), None) is None


def characters(blocks: Sequence[Mapping[str, Any]]) -> int:
    """How much of the room of a message these blocks take."""
    return size(json.dumps(blocks, ensure_ascii=False, separators=(",", ":")))


Finding = tuple[str, str]


def _raise(findings: Iterator[Finding]) -> None:
    first = next(findings, None)
    if first is not None:
        raise OverLimit(*first)


def _message(text: str, blocks: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    yield from _text("text", text, NOTIFICATION)
    if len(blocks) > MESSAGE_BLOCKS:
        yield "blocks", f"{len(blocks)} blocks, at most {MESSAGE_BLOCKS}"
    yield from _blocks(blocks, surface="message")
    if (total := characters(blocks)) > MESSAGE_CHARACTERS:
        yield "blocks", f"{total} characters in all, at most {MESSAGE_CHARACTERS}"


def _view(view: Mapping[str, Any]) -> Iterator[Finding]:
    blocks = view.get("blocks") or []
    kind = view.get("type")
    if kind not in ("modal", "home"):
        yield "type", f"a view is a modal or a home, not {kind}"
    if not 1 <= len(blocks) <= VIEW_BLOCKS:
        yield "blocks", f"{len(blocks)} blocks, from 1 to {VIEW_BLOCKS}"
    if kind == "modal":
        if "title" not in view:
            yield "title", "a modal needs a title"
        for name in ("title", "submit", "close"):
            if name in view:
                yield from _plain(name, view[name], VIEW_TITLE)
        if "submit" not in view and any(block.get("type") == "input" for block in blocks):
            yield "submit", "a modal with inputs needs a submit button"
    for name in ("callback_id", "external_id"):
        yield from _optional(name, view.get(name), ID)
    yield from _optional("private_metadata", view.get("private_metadata"), METADATA, empty=True)
    yield from _blocks(blocks, surface=str(kind))
    if (total := len(json.dumps(view, separators=(",", ":")).encode())) > VIEW_BYTES:
        yield "view", f"{total} bytes, at most {VIEW_BYTES}"


def _blocks(blocks: Sequence[Mapping[str, Any]], *, surface: str) -> Iterator[Finding]:
    seen: set[str] = set()
    markdown = 0
    for place, block in enumerate(blocks, 1):
        block_id = block.get("block_id")
        where = f"block {place} ({block.get('type')}{f' {block_id}' if block_id else ''})"
        yield from _optional(f"{where} block_id", block_id, ID)
        if block_id in seen:
            yield where, "its block_id stands twice"
        if block_id:
            seen.add(str(block_id))
        if block.get("type") == "input" and surface == "message":
            yield where, "an input cannot stand in a message"
        for inner, what in _block(block):
            yield f"{where}{f' {inner}' if inner else ''}", what
        markdown += size(block.get("text", "")) if block.get("type") == "markdown" else 0
    if markdown > MARKDOWN:
        yield "blocks", f"{markdown} characters of markdown, at most {MARKDOWN}"


def _block(block: Mapping[str, Any]) -> Iterator[Finding]:
    kind = block.get("type")
    if kind not in BLOCK_TYPES:
        yield "", "this type of block is not sent to people"
    elif kind == "header":
        yield from _plain("text", block.get("text"), HEADER)
    elif kind == "section":
        yield from _section(block)
    elif kind == "rich_text":
        yield from _rich(block)
    elif kind in ("actions", "context"):
        elements = block.get("elements") or []
        most = ACTIONS if kind == "actions" else CONTEXT
        if not 1 <= len(elements) <= most:
            yield "elements", f"{len(elements)} elements, from 1 to {most}"
        yield from _elements(elements) if kind == "actions" else _context(elements)
    elif kind == "input":
        yield from _plain("label", block.get("label"), LABEL)
        if "hint" in block:
            yield from _plain("hint", block["hint"], LABEL)
        if not block.get("element"):
            yield "element", "an input needs an element"
        else:
            yield from _element("element", block["element"])
    elif kind == "table":
        rows = block.get("rows") or []
        if not 1 <= len(rows) <= TABLE_ROWS:
            yield "rows", f"{len(rows)} rows, from 1 to {TABLE_ROWS}"
        if any(len(row) > TABLE_COLUMNS for row in rows):
            yield "rows", f"more than {TABLE_COLUMNS} columns"
    elif kind == "image":
        yield from _text("alt_text", block.get("alt_text"), ALT_TEXT)
        shown = block.get("slack_file")
        # Nothing from outside Slack: its address would tell who looks.
        yield from _text("slack_file", isinstance(shown, Mapping) and shown.get("id"), ID)
    elif kind == "markdown":
        yield from _text("text", block.get("text"), MARKDOWN)


def _section(block: Mapping[str, Any]) -> Iterator[Finding]:
    fields = block.get("fields") or []
    if "text" not in block and not fields:
        yield "", "a section needs text or fields"
    if "text" in block:
        yield from _object("text", block["text"], SECTION)
    if len(fields) > FIELDS:
        yield "fields", f"{len(fields)} fields, at most {FIELDS}"
    for place, field in enumerate(fields, 1):
        yield from _object(f"field {place}", field, FIELD)
    if "accessory" in block:
        yield from _element("accessory", block["accessory"])


def _context(elements: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for place, element in enumerate(elements, 1):
        yield from _object(f"element {place}", element, SECTION)


def _elements(elements: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    seen: set[str] = set()
    for place, element in enumerate(elements, 1):
        where = f"element {place} ({element.get('action_id', element.get('type'))})"
        action = str(element.get("action_id", ""))
        if action in seen:
            yield where, "its action_id stands twice"
        seen.add(action)
        yield from _element(where, element)
    if sum(element.get("style") == "primary" for element in elements) > 1:
        yield "elements", "more than one primary button in a row"


def _element(where: str, element: Mapping[str, Any]) -> Iterator[Finding]:
    kind = str(element.get("type"))
    yield from _text(f"{where} action_id", element.get("action_id"), ID)
    if kind == "button":
        yield from _plain(f"{where} text", element.get("text"), BUTTON)
        yield from _optional(f"{where} value", element.get("value"), BUTTON_VALUE)
        yield from _optional(f"{where} url", element.get("url"), URL)
        label = element.get("accessibility_label")
        yield from _text(f"{where} accessibility_label", label, ACCESSIBILITY)
        if "style" in element and element["style"] not in STYLES:
            yield where, f"{element['style']} is not a style of a button"
    if "confirm" in element:
        yield from _confirm(f"{where} confirm", element["confirm"])
    if "placeholder" in element:
        yield from _plain(f"{where} placeholder", element["placeholder"], PLACEHOLDER)
    if kind == "plain_text_input":
        if not 1 <= element.get("max_length", INPUT) <= INPUT:
            yield f"{where} max_length", f"from 1 to {INPUT}"
        if not 0 <= element.get("min_length", 0) <= element.get("max_length", INPUT):
            yield f"{where} min_length", "from 0 to max_length"
        yield from _optional(
            f"{where} initial_value", element.get("initial_value"), INPUT, empty=True
        )
    if "options" in element or kind in ("overflow", "static_select", "radio_buttons", "checkboxes"):
        yield from _options(where, kind, element.get("options") or [])


def _options(where: str, kind: str, options: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    few = kind in ("radio_buttons", "checkboxes")
    least, most = OVERFLOW if kind == "overflow" else (1, OPTIONS_FEW if few else OPTIONS)
    if not least <= len(options) <= most:
        yield where, f"{len(options)} options, from {least} to {most}"
    for place, option in enumerate(options, 1):
        yield from _object(f"{where} option {place}", option.get("text"), OPTION)
        yield from _text(f"{where} option {place} value", option.get("value"), OPTION_VALUE)
        if "description" in option:
            yield from _object(f"{where} option {place} description", option["description"], OPTION)


def _confirm(where: str, confirm: Mapping[str, Any]) -> Iterator[Finding]:
    limits = {
        "title": CONFIRM_TITLE, "text": CONFIRM_TEXT, "confirm": CONFIRM_BUTTON,
        "deny": CONFIRM_BUTTON,
    }  # fmt: skip
    for name, limit in limits.items():
        yield from _plain(f"{where} {name}", confirm.get(name), limit)
    if "style" in confirm and confirm["style"] not in STYLES:
        yield where, f"{confirm['style']} is not a style of a button"


def _rich(block: Mapping[str, Any]) -> Iterator[Finding]:
    objects = block.get("elements") or []
    if not objects:
        yield "elements", "a rich text needs at least one element"
    for place, inner in enumerate(objects, 1):
        where = f"element {place} ({inner.get('type')})"
        rows = inner.get("elements") or []
        if not rows:
            yield where, "it is empty"
        runs = (
            [run for row in rows for run in row.get("elements", [])]
            if inner.get("type") == "rich_text_list"
            else rows
        )
        for run in runs:
            if run.get("type") == "text":
                yield from _text(f"{where} text", run.get("text"), SECTION)
            elif run.get("type") == "link":
                yield from _text(f"{where} url", run.get("url"), URL)
            elif run.get("type") == "date" and not run.get("fallback"):
                yield where, "a date needs its fallback"


def _plain(where: str, value: Any, limit: int) -> Iterator[Finding]:
    if not isinstance(value, Mapping) or value.get("type") != "plain_text":
        yield where, "it has to be plain text"
    else:
        yield from _text(where, value.get("text"), limit)


def _object(where: str, value: Any, limit: int) -> Iterator[Finding]:
    if not isinstance(value, Mapping) or value.get("type") not in ("plain_text", "mrkdwn"):
        yield where, "it has to be a text object"
    else:
        yield from _text(where, value.get("text"), limit)


def _optional(where: str, value: Any, limit: int, *, empty: bool = False) -> Iterator[Finding]:
    if value is not None and not (empty and value == ""):
        yield from _text(where, value, limit)


def _text(where: str, value: Any, limit: int) -> Iterator[Finding]:
    if not isinstance(value, str) or not value:
        yield where, "it is empty or not text"
    elif _UNSENDABLE.search(value):
        yield where, "it has a NUL or a lone surrogate"
    elif (length := size(value)) > limit:
        yield where, f"{length} characters, at most {limit}"
