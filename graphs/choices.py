"""What people can choose: one button or form for each, and the exact answer that it stands for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from graphs.actions import same
from graphs.templates import MISSING, in_words

JSON: TypeAlias = Any

OPTIONS = 100  # what a menu holds; the card has buttons for the first few


@dataclass(frozen=True)
class Choice:
    """One button: its verb, its label, what it needs, and the exact answer that it stands for.

    Where it needs a note, "{note}" in `reply` is its place; `reads = "json"` takes a note that is
    JSON as the value it spells. Where it needs a form, `schema` is its JSON Schema (None: made of
    the values), `initial` what it starts with, and "{values}" in `reply` the place of what was
    filled in; with `changed_only` that is what differs from `initial`.
    """

    verb: str
    label: str
    style: Literal["", "primary", "danger"] = ""
    needs: Literal["note", "form"] | None = None
    note_label: str = ""
    reply: JSON = "{note}"
    reads: Literal["text", "json"] = "text"
    schema: JSON = None
    initial: JSON = MISSING
    changed_only: bool = False

    def answer(self, note: str | None = None, values: JSON = MISSING) -> JSON:
        """The value that the node's `interrupt()` returns, with note or values in their place."""
        if self.needs is None:
            return self.reply
        if self.needs == "form":
            return _with(self.reply, "{values}", self._changed(values))
        return _with(self.reply, "{note}", _spelled(note) if self.reads == "json" else note)

    def _changed(self, values: JSON) -> JSON:
        if not (self.changed_only and isinstance(values, dict) and isinstance(self.initial, dict)):
            return values
        before = self.initial
        return {
            key: value
            for key, value in values.items()
            if key not in before or not same(value, before[key])
        }


def choices_of(options: list[JSON], schema: JSON, *, otherwise: str) -> tuple[Choice, ...]:
    """A button for every option, and one that takes words; a schema that lists its values too."""
    named = [(_option_label(one), _option_value(one)) for one in options] or _listed(schema)
    buttons = tuple(
        Choice(f"option_{number}", label, reply=value)
        for number, (label, value) in enumerate(named[:OPTIONS], 1)
    )
    if _is_form(schema):
        properties = schema.get("properties")
        if buttons and (not isinstance(properties, dict) or len(properties) <= 1):
            return buttons
        return (*buttons, _form(schema, "" if buttons else "primary"))
    if isinstance(schema, dict) and schema.get("type") not in (None, "string"):
        if buttons:
            return buttons
        return (Choice("answer", "Answer", "primary", "note", "Your answer", reads="json"),)
    if buttons and not options and len(named) <= OPTIONS:
        return buttons
    return (
        *buttons,
        Choice("answer", otherwise, "" if buttons else "primary", "note", "Your answer"),
    )


def are_options(value: JSON) -> bool:
    """Whether the value is a list of things that can be chosen: plain values, or named ones."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(one, str | int | float | bool)
            or (isinstance(one, dict) and any(is_text(one.get(key)) for key in _LABELS))
            for one in value
        )
    )


def _is_form(schema: JSON) -> bool:
    """Whether an answer has parts, so that a form asks for them."""
    if not isinstance(schema, dict):
        return False
    parts = isinstance(schema.get("properties"), dict) or schema.get("type") in ("object", "array")
    return parts or any(key in schema for key in ("$ref", "allOf", "anyOf", "oneOf"))


def _form(schema: JSON, style: Literal["", "primary"]) -> Choice:
    return Choice("answer", "Fill in", style, "form", reply="{values}", schema=schema)


def _listed(schema: JSON) -> list[tuple[str, JSON]]:
    """The values that a schema allows, each with its label, where it lists them all."""
    if not isinstance(schema, dict):
        return []
    if schema.get("type") == "boolean":
        return [("Yes", True), ("No", False)]
    if isinstance(schema.get("enum"), list):
        return [(_option_label(one), one) for one in schema["enum"]]
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(properties, dict) and isinstance(required, list) and len(required) == 1:
        name = required[0]
        inner = properties.get(name) if isinstance(name, str) else None
        return [(label, {name: value}) for label, value in _listed(inner)]
    return []


def _option_label(option: JSON) -> str:
    if isinstance(option, dict):
        option = next((option[key] for key in _LABELS if is_text(option.get(key))), "Choose")
    words = in_words(option)
    return (words[:1].upper() + words[1:])[:_LABEL_CHARACTERS]


def _option_value(option: JSON) -> JSON:
    if isinstance(option, dict):
        return next((option[key] for key in ("value", "id", *_LABELS) if key in option), option)
    return option


def is_text(value: JSON) -> bool:
    """Whether the value is a text that says something."""
    return isinstance(value, str) and bool(value.strip())


def _with(given: JSON, slot: str, value: JSON) -> JSON:
    """The reply with the value in its slot."""
    if isinstance(given, str) and given == slot:
        return value
    if isinstance(given, dict):
        return {key: _with(each, slot, value) for key, each in given.items()}
    if isinstance(given, list):
        return [_with(each, slot, value) for each in given]
    return given


def _spelled(note: str | None) -> JSON:
    try:
        return json.loads(note or "")
    except (ValueError, RecursionError):
        return note


_LABELS = ("label", "name", "title")
_LABEL_CHARACTERS = 75
