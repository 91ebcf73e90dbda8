"""What stands in a field, and what the words that came back from it are.

`shown` and `entered` are each other's reverse: what comes back as it was shown is untouched, and an
untouched value stays exactly what it was, whatever an input makes of spaces at its ends, of line
breaks and of letters that cannot be seen. Those are shown as ⟨U+202E⟩ and come back as themselves.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from datetime import datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any, Final, TypeAlias
from uuid import UUID

from checkpoints.text import clean
from graphs import answers
from graphs.fields import Field, json_text
from graphs.kinds import is_day, option_key
from graphs.plain import plain
from graphs.templates import MISSING

JSON: TypeAlias = Any
NO_ANSWER: Final = "none"  # what stands for leaving a choice empty; never an option's key


class Entry(Enum):
    """What a field may hold beside a value."""

    UNTOUCHED = "untouched"
    EMPTY = "empty"  # something stood there and was taken out


@dataclass(frozen=True)
class Refused:
    """What was written is no value of the field; `sentence` says what to write."""

    sentence: str


def shown(field: Field) -> str | tuple[str, ...]:
    """What stands in the field before anybody writes: a text, an option's key, or keys."""
    value = field.initial
    if field.kind == "choices":
        chosen = [option_key(one) for one in value] if isinstance(value, list) else []
        return tuple(key for key in map(option_key, (one for _, one in field.options))
                     if key in chosen)  # fmt: skip
    if value is MISSING or field.kept or (value is None and field.kind != "json"):
        return ""
    match field.kind:
        case "json":
            return "" if value is None and not field.required else json_text(value)
        case "number" | "integer":
            return number_text(value)
        case "boolean" | "choice":
            return option_key(value)
    return str(value)


def entered(field: Field, typed: JSON) -> JSON | Entry | Refused:
    """The value that was written, or why there is none; never raises."""
    now = _keys(typed) if field.kind == "choices" else _normal(typed)
    before = shown(field)
    if now == (frozenset(before) if isinstance(before, tuple) else _normal(before)):
        missing = field.initial is MISSING or field.initial is None
        return Refused(wanted(field)) if not now and field.required and missing else Entry.UNTOUCHED
    if not now or now == NO_ANSWER:
        if not before:
            return Entry.UNTOUCHED
        return Refused(wanted(field)) if field.required else Entry.EMPTY
    try:
        return _value(field, _written(typed) if isinstance(now, str) else now)
    except (ValueError, ArithmeticError, RecursionError):
        return Refused(wanted(field))


def wanted(field: Field) -> str:
    """What to write in the field, or what to choose."""
    match field.kind:
        case "choice" | "boolean":
            return "Choose one of these."
        case "choices" if field.longest is not None and field.shortest:
            return f"Choose from {field.shortest:,} to {field.longest:,} of these."
        case "choices" if field.longest is not None:
            return f"Choose at most {field.longest:,} of these."
        case "choices":
            return f"Choose at least {max(field.shortest, 1):,} of these."
        case "date":
            return "Choose a day."
        case "integer" | "number":
            sentence = answers.number_wanted(
                {
                    "minimum": field.least,
                    "maximum": field.most,
                    "exclusiveMinimum": field.above,
                    "exclusiveMaximum": field.below,
                }
            )
            whole = field.kind == "integer"
            return sentence.replace("a number", "a whole number", 1) if whole else sentence
    return _FORMS.get(field.format, "Write something here.")


def number_text(value: JSON) -> str:
    """The number as people write it, without a power of ten where that is short enough."""
    try:
        exact = Decimal(value if isinstance(value, str) else repr(value))
        text = format(exact, "f")
        if len(text) > 40:
            return str(value)
        return text.rstrip("0").rstrip(".") if "." in text else text
    except (ValueError, ArithmeticError):
        return str(value)


def _value(field: Field, typed: JSON) -> JSON | Entry | Refused:
    match field.kind:
        case "number" | "integer":
            return _number(field, typed)
        case "boolean" | "choice":
            values = {option_key(value): value for _, value in field.options}
            return values.get(typed.strip(), Refused(wanted(field)))
        case "choices":
            known = {option_key(value) for _, value in field.options}
            if not typed <= known:
                return Refused(wanted(field))
            return [value for _, value in field.options if option_key(value) in typed]
        case "date":
            day = typed.strip()
            return day if is_day(day) else Refused(wanted(field))
        case "json":
            return _json(typed)
    if not field.format:
        return typed
    return typed.strip() if _has_format(field, typed.strip()) else Refused(wanted(field))


def _number(field: Field, typed: str) -> JSON | Entry | Refused:
    text = _GROUPS.sub("", typed.strip()) if _GROUPED.fullmatch(typed.strip()) else typed.strip()
    if not _NUMBER.fullmatch(text):
        return Refused(wanted(field))
    number = Decimal(text)
    if _is_same_number(number, field.initial):
        return Entry.UNTOUCHED
    if number == number.to_integral_value() and abs(number) < 2**63:
        return int(number)
    if field.kind == "integer":
        return Refused(wanted(field))
    if math.isfinite(float(number)) and Decimal(repr(float(number))) == number:
        return float(number)
    return format(number, "f") if field.exact else Refused(_DIGITS)


def _is_same_number(number: Decimal, initial: JSON) -> bool:
    if isinstance(initial, bool) or not isinstance(initial, int | float | str):
        return False
    return number == Decimal(initial if isinstance(initial, str) else repr(initial))


def _json(typed: str) -> JSON | Refused:
    try:
        value = json.loads(typed, parse_constant=_no_number, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        return Refused(_UNREADABLE.format(line=error.lineno))
    except _Twice as error:
        return Refused(f"“{str(error)[:60]}” stands there twice. Keep one of them.")
    if answers.is_deeper_than(answers.ANSWER_LEVELS, value):
        return Refused(f"Write at most {answers.ANSWER_LEVELS} levels.")
    return value if plain(value) == value else Refused(_UNKEEPABLE)


class _Twice(ValueError):
    """A name stands twice in one group, so that one of the values would be lost; internal."""


def _once(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    found: dict[str, JSON] = {}
    for name, value in pairs:
        if name in found:
            raise _Twice(name)
        found[name] = value
    return found


def _no_number(word: str) -> JSON:
    raise json.JSONDecodeError(word, word, 0)


def _has_format(field: Field, text: str) -> bool:
    match field.format:
        case "date-time":
            return len(text) > 10 and bool(datetime.fromisoformat(text))
        case "time":
            return ":" in text and time.fromisoformat(text) is not None
        case "uuid":
            return bool(UUID(text))
    return True


def _normal(typed: JSON) -> str:
    """The text as it is compared: an input may change its ends and its line breaks."""
    return _written(typed).strip()


def _written(typed: JSON) -> str:
    if not isinstance(typed, str):
        return ""
    return _lines(clean(_HIDDEN.sub(lambda found: _letter(found[1]), clean(typed))))


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _letter(code: str) -> str:
    number = int(code, 16)
    return chr(number) if number <= 0x10FFFF else ""


def _keys(typed: JSON) -> frozenset[str]:
    return frozenset(one for one in typed if isinstance(one, str)) if (
        isinstance(typed, list | tuple)
    ) else frozenset()  # fmt: skip


_HIDDEN = re.compile(r"⟨U\+([0-9A-F]{4,6})⟩")
_NUMBER = re.compile(r"[+-]?(\d{1,60}(\.\d{0,60})?|\.\d{1,60})([eE][+-]?\d{1,3})?", re.ASCII)
_GROUPED = re.compile(r"[+-]?\d{1,3}([, ]\d{2,3})*[, ]\d{3}(\.\d*)?", re.ASCII)
_GROUPS = re.compile("[, ]")
_DIGITS = "Write the number with at most 15 digits."
_UNREADABLE = "This cannot be read. Look at the commas, quotes and brackets in line {line:,}."
_UNKEEPABLE = "Leave out letters that cannot be shown and numbers of more than 18 digits."
_FORMS = {
    "date-time": "Write a day and a time, such as 2026-12-04T18:00:00Z.",
    "time": "Write a time, such as 18:00:00.",
    "uuid": "Write an id of 32 letters and digits, such as 0198c7f2-5b1e-7cc3-98c4-dc0c0c07398f.",
}
