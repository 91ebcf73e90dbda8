"""Which kind of field a JSON Schema asks for, and what it says of the value.

A kind is taken only where a window can show all of it: alternatives of different kinds, lists of
groups, a schema that comes back to itself and more options than a menu takes are `json`.
"""

from __future__ import annotations

import hashlib
import json
import math
from datetime import date
from typing import Any, Final, Literal, TypeAlias

from graphs.schemas import Schema, Settled, settled
from graphs.templates import in_words, name_in_words

JSON: TypeAlias = Any
Number: TypeAlias = int | float
Kind = Literal["text", "number", "integer", "boolean", "choice", "choices", "date", "json"]
Options: TypeAlias = tuple[tuple[str, JSON], ...]  # label and value

OPTIONS: Final = 99  # a menu takes 100, and one of them may be "No answer"
LABEL: Final = 150
LINE: Final = 120
FORMATS: Final = ("date-time", "time", "uuid")  # of texts that are checked as they are written
YES_NO: Final[Options] = (("Yes", True), ("No", False))


def kind_of(place: Settled, root: JSON) -> Kind | Literal["group"]:
    """Which kind of field shows it; a group has fields of its own."""
    schema = place.schema
    if place.recursive:
        return "json"
    if (found := _choices(schema, root, place.seen)) is not None:
        if sorted(option_key(value) for _, value in found) == ["false", "true"]:
            return "boolean"
        if _can_be_chosen(found):
            return "choice"
        return "text" if found and all(isinstance(value, str) for _, value in found) else "json"
    match schema.get("type"):
        case "string":
            return "date" if schema.get("format") == "date" else "text"
        case "integer":
            return "integer"
        case "number":
            return "number"
        case "boolean":
            return "boolean"
        case "array":
            return "choices" if _can_be_chosen(_entries(schema, root, place.seen)) else "json"
        case None | "object" if isinstance(schema.get("properties"), dict):
            return "group"
        case None:
            return "number" if numbers_of(schema, root, place.seen) is not None else "json"
    return "json"


def is_free(place: Settled) -> bool:
    """Whether the schema says nothing of what the value is, so that the value itself has to."""
    said = place.schema.keys() - {"title", "description", "default", "examples", "type", "$schema"}
    kind = place.schema.get("type")
    return not place.recursive and not said - {"additionalProperties"} and kind in (None, "object")


def option_key(value: JSON) -> str:
    """What stands for an option while it travels: its JSON text, or a hash of a long one."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    text = json.dumps(value, sort_keys=True, default=str)
    return text if len(text) <= 100 else hashlib.sha256(text.encode()).hexdigest()


def one_line(text: JSON, limit: int) -> str:
    """The text on one line, cut; "" for what is no text."""
    if not isinstance(text, str):
        return ""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def is_day(value: JSON) -> bool:
    """Whether the value is a day as a date picker writes it."""
    if not isinstance(value, str) or len(value) != 10:
        return False
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _choices(schema: Schema, root: JSON, seen: frozenset[str]) -> list[tuple[str, JSON]] | None:
    """Label and value of everything that may be chosen, None where it is no choice."""
    if "const" in schema:
        return [(_option(schema["const"]), schema["const"])]
    values = schema.get("enum")
    if isinstance(values, list):
        if len(values) > OPTIONS:
            return [("", value) for value in values]
        return [(_option(value), value) for value in values]
    for word in ("oneOf", "anyOf"):
        branches = schema.get(word)
        if isinstance(branches, list) and branches and len(branches) <= OPTIONS:
            inner = [settled(branch, root, seen).schema for branch in branches]
            if all("const" in each for each in inner):
                return [
                    (_option(each["const"], each.get("title")), each["const"]) for each in inner
                ]
            if all(isinstance(each.get("enum"), list) for each in inner):
                return [(_option(value), value) for each in inner for value in each["enum"]]
    return None


def _option(value: JSON, title: JSON = None) -> str:
    if isinstance(title, str) and title.strip():
        return one_line(title, LABEL)
    if isinstance(value, str) and value.isascii() and value.replace("_", "").isalnum():
        return name_in_words(value[:LABEL]) if "_" in value else value[:LABEL]
    return one_line(in_words(value), LABEL)


def _can_be_chosen(found: list[tuple[str, JSON]] | None) -> bool:
    """Whether a menu can show them, and people can tell them apart."""
    if not found or len(found) > OPTIONS:
        return False
    seen = {label[:60].strip().casefold() for label, _ in found}
    keys = {option_key(value) for _, value in found}
    return len(seen) == len(keys) == len(found)


def _entries(schema: Schema, root: JSON, seen: frozenset[str]) -> list[tuple[str, JSON]] | None:
    inner = settled(schema.get("items"), root, seen)
    if inner.nullable or inner.recursive or "prefixItems" in schema:
        return None
    return _choices(inner.schema, root, inner.seen)


def options_of(kind: Kind, schema: Schema, root: JSON, seen: frozenset[str]) -> Options:
    if kind == "boolean":
        return YES_NO
    if kind == "choice":
        return tuple(_choices(schema, root, seen) or ())
    return tuple(_entries(schema, root, seen) or ()) if kind == "choices" else ()


def numbers_of(schema: Schema, root: JSON, seen: frozenset[str]) -> tuple[Schema, bool] | None:
    """The bounds of alternatives that are all numbers, and whether a text may stand for one.

    pydantic writes a Decimal as a number or a text, in this order; with the text first the text
    is meant.
    """
    branches = schema.get("anyOf")
    if not isinstance(branches, list) or not 1 < len(branches) <= 3:
        return None
    inner = [settled(branch, root, seen).schema for branch in branches]
    numbers = [each for each in inner if each.get("type") in ("number", "integer")]
    texts = [each for each in inner if each.get("type") == "string"]
    if not numbers or len(numbers) + len(texts) < len(inner):
        return None
    if any(each is inner[0] or each.keys() - _OF_DECIMAL for each in texts):
        return None
    if texts and any(each["type"] == "integer" for each in numbers):
        return None
    return numbers[0], bool(texts)


def fits(kind: Kind, value: JSON, options: Options, *, exact: bool) -> bool:
    match kind:
        case "text":
            return isinstance(value, str)
        case "number":
            return _is_number(value) or (exact and isinstance(value, str) and _is_digits(value))
        case "integer":
            return _is_number(value) and float(value).is_integer()
        case "boolean":
            return isinstance(value, bool)
        case "date":
            return is_day(value)
        case "choice":
            return option_key(value) in {option_key(one) for _, one in options}
        case "choices":
            known = {option_key(one) for _, one in options}
            return isinstance(value, list) and {option_key(one) for one in value} <= known
    return True


def _is_number(value: JSON) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) < 2**63 if isinstance(value, int) else math.isfinite(value)


def _is_digits(text: str) -> bool:
    return len(text) <= 40 and text.isascii() and text.lstrip("-").replace(".", "", 1).isdigit()


def bounds_of(kind: Kind, schema: Schema) -> dict[str, Any]:
    if kind not in ("number", "integer"):
        return {}
    least, most = _bound(schema, "minimum"), _bound(schema, "maximum")
    above, below = _bound(schema, "exclusiveMinimum"), _bound(schema, "exclusiveMaximum")
    step = _bound(schema, "multipleOf")
    if kind == "integer":
        lows = [math.ceil(least)] if least is not None else []
        highs = [math.floor(most)] if most is not None else []
        lows += [math.floor(above) + 1] if above is not None else []
        highs += [math.ceil(below) - 1] if below is not None else []
        least, most = max(lows, default=None), min(highs, default=None)
        above = below = None
    if above is not None and least is not None:
        least, above = (least, None) if least > above else (None, above)
    if below is not None and most is not None:
        most, below = (most, None) if most < below else (None, below)
    low = above if above is not None else least
    high = below if below is not None else most
    if low is not None and high is not None and low > high:
        return {}  # nothing fits; the check says so when something was written
    step = step if step is not None and step > 0 and not (kind == "integer" and step == 1) else None
    return {"least": least, "most": most, "above": above, "below": below, "step": step}


def _bound(schema: Schema, word: str) -> Number | None:
    value = schema.get(word)
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < 1e30:
        return None
    return int(value) if float(value).is_integer() else value


def lengths_of(kind: Kind, schema: Schema) -> tuple[int, int | None]:
    words = ("minItems", "maxItems") if kind == "choices" else ("minLength", "maxLength")
    if kind not in ("text", "choices"):
        return 0, None
    least, most = (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1e9
        else None
        for value in (schema.get(word) for word in words)
    )
    return least or 0, most


def format_of(kind: Kind, schema: Schema) -> str:
    found = schema.get("format")
    return found if kind == "text" and isinstance(found, str) and found in FORMATS else ""


def example_of(kind: Kind, own: Schema, schema: Schema) -> str:
    examples = own.get("examples", schema.get("examples"))
    first = examples[0] if isinstance(examples, list) and examples else None
    if kind in ("text", "number", "integer") and isinstance(first, str | int | float):
        return one_line(in_words(first), LINE)
    return ""


_OF_DECIMAL = {"type", "pattern", "title"}
