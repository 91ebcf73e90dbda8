"""Blocks over slackblocks, in the few shapes that our cards, modals and notices are made of.

`Blocks` collects them in order and hands out plain data. It gives every block an id with the row's
version in it (Slack asks for a new one at every update), marks every plain text `emoji: false`,
and leaves out what would be empty, so that a builder need not ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from slackblocks import (
    ActionsBlock,
    Block,
    Button,
    ConfirmationDialogue,
    ContextBlock,
    DividerBlock,
    Element,
    HeaderBlock,
    InputBlock,
    Option,
    OverflowMenu,
    PlainTextInput,
    RichTextBlock,
    RichTextCodeBlock,
    RichTextList,
    RichTextObject,
    RichTextQuote,
    RichTextSection,
    SectionBlock,
    StaticSelectMenu,
    Text,
    TextType,
)

from bot import limits
from bot.inline import Inline, Styled, mrkdwn, rich
from bot.values import cut_within, letters, passage, prefix, shorten, visible
from bot.views import Ref
from bot.wording import Sentence, phrase

JSON = dict[str, Any]
Style = Literal["", "primary", "danger"]

BUTTON = 24  # characters of a label of ours; Slack would take 75
ROW = 5  # buttons in a row
TITLE = 80  # characters of a card's title; Slack would take 150
QUOTE = 600  # characters of a quote on a card
CODE = 2_400  # characters of one preformatted block


@dataclass(frozen=True)
class Payload:
    """One message: `text` for phones and screen readers, `blocks` for everybody else."""

    text: str
    blocks: list[JSON]
    encloses: str = ""  # the subject of a file that belongs under it


class Blocks:
    """The blocks of one message or view, in order; `row` is the version of the post's row."""

    def __init__(self, row: int | None = None) -> None:
        self._suffix = "" if row is None else f".{row}"
        self._blocks: list[JSON] = []

    def header(self, name: str, text: str, limit: int = TITLE) -> None:
        """The title, plain letters on one line."""
        shown = shorten(letters(text), limit)
        if shown:
            self._add(HeaderBlock(shown, self._id(name)))

    def section(
        self,
        name: str,
        *sentences: Sentence,
        mark: str = "",
        first: Sentence | None = None,
        joint: str = "  ",
        accessory: Element | None = None,
    ) -> None:
        """Sentences of ours in mrkdwn, after a mark and a first one where these are given."""
        start = f":{mark}:" if mark else ""
        said = mrkdwn(*sentences, between=" ")
        opening = mrkdwn(first) if first else ""
        opening = "  ".join(filter(None, (start, opening)))
        text = joint.join(filter(None, (opening, said)))
        if text != start:
            self._add(SectionBlock(_mrkdwn(text), self._id(name), accessory=accessory))

    def rich(self, name: str, *objects: RichTextObject | None) -> None:
        """Rich text: the only place for what people and programs wrote."""
        kept = [each for each in objects if each is not None]
        if kept:
            self._add(RichTextBlock(kept, self._id(name)))

    def image(self, name: str, file: str, description: str) -> None:
        """A picture that Slack has, by its file's id, in words for those who cannot see it."""
        self._blocks.append(
            {
                "type": "image",
                "block_id": self._id(name),
                "slack_file": {"id": file},
                "alt_text": shorten(letters(description), limits.ALT_TEXT),
            }
        )

    def divider(self, name: str) -> None:
        """A line across."""
        self._add(DividerBlock(self._id(name)))

    def actions(self, name: str, elements: Sequence[Element]) -> None:
        """Buttons, five in a row; more of them go into further rows."""
        for start in range(0, len(elements), ROW):
            row = f"{name}_{start // ROW + 1}" if start else name
            self._add(ActionsBlock(list(elements[start : start + ROW]), self._id(row)))

    def context(self, name: str, *sentences: Sentence, between: str = "  ·  ") -> None:
        """Small print, one line."""
        text = mrkdwn(*sentences, between=between)
        if text:
            self._add(ContextBlock([_mrkdwn(text)], self._id(name)))

    def input(
        self,
        name: str,
        label: str,
        *,
        hint: str = "",
        placeholder: str = "",
        max_length: int = 2_000,
        min_length: int = 1,
        initial: str = "",
    ) -> None:
        """One required text of several lines, focused; its block id never changes."""
        element = PlainTextInput(
            "value",
            initial_value=prefix(visible(initial[:max_length]), max_length) or None,
            multiline=True,
            min_length=min_length,
            max_length=max_length,
            focus_on_load=True,
            placeholder=_plain(shorten(placeholder, limits.PLACEHOLDER)) if placeholder else None,
        )
        self._add(
            InputBlock(
                _plain(shorten(label, 150)),
                element,
                block_id=name,
                hint=_plain(shorten(hint, 500)) if hint else None,
            )
        )

    def done(self) -> list[JSON]:
        """The blocks as plain data."""
        return self._blocks

    def _id(self, name: str) -> str:
        return f"{name}{self._suffix}"

    def _add(self, block: Block) -> None:
        self._blocks.append(_unadorned(block._resolve()))


def line(*values: Inline) -> RichTextSection | None:
    """One paragraph of rich text."""
    elements = rich(*values)
    return RichTextSection(elements) if elements else None


def lines(rows: Iterable[Sequence[Inline]]) -> RichTextSection | None:
    """Several lines in one section; two sections in a row would run together in some clients."""
    values: list[Inline] = []
    for row in rows:
        if values:
            values.append("\n")
        values.extend(row)
    return line(*values)


def fact(label: str, *values: Inline) -> tuple[Inline, ...]:
    """A bold label, two spaces, the value."""
    return (Styled(f"{label}  ", "bold"), *values)


def bullets(rows: Iterable[Sequence[Inline]]) -> RichTextList | None:
    """A list with bullets; rows that come out empty are left out."""
    sections = [RichTextSection(elements) for row in rows if (elements := rich(*row))]
    if not sections:
        return None
    return RichTextList("bullet", sections, indent=0, offset=None, border=None)


def quote(text: str, limit: int = QUOTE) -> RichTextQuote | None:
    """What a person wrote, quoted; the rest of it is counted."""
    shown = passage(text.strip(), limit)
    return RichTextQuote(rich(Styled(shown))) if shown else None


def code(text: str) -> RichTextCodeBlock | None:
    """Structured data in fixed width."""
    shown = cut_within(visible(text), CODE)
    return RichTextCodeBlock(rich(Styled(shown))) if shown else None


def button(
    verb: str,
    label: str,
    ref: Ref | None,
    *,
    of: str,
    style: Style = "",
    url: str = "",
    confirm: ConfirmationDialogue | None = None,
) -> Button:
    """A button whose value is the review and its revision; `of` is what a screen reader says."""
    return Button(
        _plain(shorten(letters(label) or phrase("button.more"), BUTTON)),
        action_id=verb[: limits.ID],
        url=url or None,
        value=str(ref) if ref else None,
        style=style or None,
        confirm=confirm,
        accessibility_label=shorten(letters(of) or letters(label) or verb, limits.ACCESSIBILITY),
    )


def menu(options: Sequence[tuple[str, str]], ref: Ref) -> OverflowMenu:
    """The menu of further verbs, two to five; an option's value is verb.review.revision."""
    return OverflowMenu(
        "more",
        [Option(_plain(shorten(letters(label), 75)), f"{verb}.{ref}") for verb, label in options],
    )


def select(name: str, label: str, options: Sequence[tuple[str, str]], ref: Ref) -> StaticSelectMenu:
    """A menu of further choices; an option's value is verb.review.revision."""
    made = [
        Option(_plain(shorten(letters(label), 75) or phrase("button.more")), f"{verb}.{ref}")
        for verb, label in options[: limits.OPTIONS]
        if len(f"{verb}.{ref}") <= limits.OPTION_VALUE
    ]
    return StaticSelectMenu(name, made, placeholder=_plain(shorten(label, limits.PLACEHOLDER)))


def confirm(
    title: str, text: str, yes: str, *, style: Style = "", no: str = ""
) -> ConfirmationDialogue:
    """A dialog that asks once more."""
    return ConfirmationDialogue(
        _plain(shorten(letters(title) or phrase("confirm.sure"), limits.CONFIRM_TITLE)),
        _plain(shorten(letters(text) or phrase("confirm.text.plain"), limits.CONFIRM_TEXT)),
        _plain(shorten(letters(yes) or phrase("yes"), limits.CONFIRM_BUTTON)),
        _plain(no or phrase("button.go_back")),
        style or None,
    )


def _plain(text: str) -> Text:
    return Text(text, TextType.PLAINTEXT)


def _mrkdwn(text: str) -> Text:
    return Text(text, verbatim=True)


def _unadorned(value: Any) -> Any:
    """The resolved block with `emoji: false` on every plain text, which slackblocks leaves out."""
    if isinstance(value, list):
        return [_unadorned(item) for item in value]
    if isinstance(value, dict):
        made = {key: _unadorned(item) for key, item in value.items()}
        if made.get("type") == "plain_text":
            made["emoji"] = False
        return made
    return value
