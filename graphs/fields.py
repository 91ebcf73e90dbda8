"""One field of a form: made of one property of a JSON Schema, or of a value alone.

A field never promises more than a window can show. What has no field of its own kind (free groups,
lists of groups, alternatives of different kinds, a schema that comes back to itself, more options
than a menu takes) is a `json` field, where people edit the value as it is written.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from graphs.kinds import (
    LINE,
    YES_NO,
    Kind,
    Number,
    Options,
    bounds_of,
    example_of,
    fits,
    format_of,
    kind_of,
    lengths_of,
    numbers_of,
    one_line,
    options_of,
)
from graphs.schemas import Schema, Settled
from graphs.templates import MISSING

JSON: TypeAlias = Any

TEXT: Final = 3_000  # characters that one input takes
HINT: Final = 300
KEY: Final = 60


@dataclass(frozen=True)
class Field:
    """One input: what it is called, what it takes, and what stands in it before anybody writes.

    `required` is whether it has to be filled in; `empty` takes the place of a value that somebody
    took out (MISSING: the value is left out). `kept` says that the value is too long for an input:
    leaving it empty keeps it. An empty label is for whoever shows the form to word.
    """

    key: str  # of the path alone: short, unique in the form, the same every time
    path: tuple[str, ...]
    kind: Kind
    label: str
    hint: str = ""
    required: bool = True
    needed: bool = True  # the value has to be there, be it null
    initial: JSON = MISSING
    empty: JSON = MISSING
    options: Options = ()
    least: Number | None = None
    most: Number | None = None
    above: Number | None = None
    below: Number | None = None
    step: Number | None = None
    shortest: int = 0  # characters, or entries of `choices`
    longest: int | None = None
    multiline: bool = False
    format: str = ""
    example: str = ""
    exact: bool = False  # a number that a float cannot hold goes as text
    kept: bool = False


def field(
    path: tuple[str, ...],
    label: str,
    place: Settled,
    root: JSON,
    *,
    own: Schema,
    given: JSON = MISSING,
    default: JSON = MISSING,
    needed: bool = True,
    loose: bool = False,
) -> Field:
    """The field of a property.

    Args:
        own: the property as it is written, where its words are; a reference's title is its type's.
        given: the value that it has now; one that the kind cannot show is not taken.
        loose: it belongs to a group that may be left out.
    """
    kind = kind_of(place, root)
    kind = "json" if kind == "group" else kind
    schema = place.schema
    exact = False
    if kind == "number" and (numbers := numbers_of(schema, root, place.seen)):
        schema, exact = {**schema, **numbers[0]}, numbers[1]
        if isinstance(given, str) and not fits(kind, given, (), exact=exact):
            kind = "json"  # a text that is no number, where both may stand
    options = options_of(kind, schema, root, place.seen)
    shown = [
        value
        for value in (given, default)
        if value is not MISSING
        and ((value is None and place.nullable) or fits(kind, value, options, exact=exact))
    ]
    initial = shown[0] if shown else MISSING
    shortest, longest = lengths_of(kind, schema)
    has_default = default is not MISSING and default is not None
    if place.nullable:
        empty, required = None, False
    elif kind == "text":
        empty = "" if (needed and not loose) or has_default else MISSING
        required = shortest > 0 or (needed and initial != "")
    elif kind == "choices":
        empty, required = [] if needed or has_default else MISSING, shortest > 0
    else:
        empty, required = MISSING, True
    required = required and (needed or has_default) and not loose
    return _with_value(
        Field(
            key_of(path),
            path,
            kind,
            label,
            one_line(own.get("description", schema.get("description")), HINT),
            required,
            needed,
            initial,
            empty,
            options,
            **bounds_of(kind, schema),
            shortest=shortest,
            longest=longest,
            multiline=kind == "text" and schema.get("format") == "multiline",
            format=format_of(kind, schema),
            example=example_of(kind, own, schema),
            exact=exact,
        )
    )


def field_of_value(path: tuple[str, ...], label: str, value: JSON) -> Field:
    """The field of a value that no schema speaks of."""
    kind: Kind = "json"
    if value is None or isinstance(value, str):
        kind = "text"
    elif isinstance(value, bool):
        kind = "boolean"
    elif isinstance(value, int | float) and math.isfinite(value):
        kind = "number"
    return _with_value(
        Field(
            key_of(path),
            path,
            kind,
            label,
            required=value is not None and value != "",
            initial=value,
            empty=None if value is None else "" if isinstance(value, str) else MISSING,
            options=YES_NO if kind == "boolean" else (),
        )
    )


def field_of_whole(value: JSON = MISSING) -> Field:
    """The field of a whole value that no form can show."""
    return _with_value(Field("json", (), "json", "", initial=value))


def key_of(path: tuple[str, ...]) -> str:
    """A key for the path that can be an id anywhere; plain names are their own key."""
    plain = ".".join(path)
    if not path:
        return "value"
    named = all(part.isascii() and part.replace("_", "").isalnum() for part in path)
    if named and len(plain) <= KEY:
        return plain
    digest = hashlib.sha256(json.dumps(path).encode()).hexdigest()[:12]
    kept = "".join(sign for sign in plain if sign.isascii() and (sign.isalnum() or sign in "_."))
    return f"{kept[: KEY // 2]}-{digest}"


def json_text(value: JSON) -> str:
    """The value as JSON that people can edit: indented, or on one line where that is too long."""
    try:
        text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
        return text if room(text) <= TEXT else json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError, TypeError):
        return ""


def room(text: str) -> int:
    """How many characters an input needs for it: what cannot be seen is written out."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(
        1 if sign in "\n\t" else 2 if sign.isprintable() and ord(sign) > 0xFFFF else
        1 if sign.isprintable() else 10 for sign in text
    )  # fmt: skip


def _with_value(made: Field) -> Field:
    """The field, once it is known what stands in it."""
    text = made.initial if made.kind == "text" else MISSING
    if made.kind == "json" and made.initial is not MISSING:
        text = json_text(made.initial)
    long = isinstance(text, str) and room(text) > TEXT
    many = isinstance(text, str) and (len(text) > LINE or "\n" in text)
    unwritable = made.kind == "json" and text == ""
    kept = long or unwritable
    return replace(
        made,
        kept=kept,
        required=made.required and not kept,
        multiline=made.multiline
        or made.kind == "json"
        or (made.kind == "text" and (many or _is_long(made.longest))),
    )


def _is_long(longest: int | None) -> bool:
    return longest is not None and longest > LINE
