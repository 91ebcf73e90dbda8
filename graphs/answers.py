"""Whether an answer fits its question, before the engine sees it.

LangGraph stores an answer before the node runs. A node that then raises because it does not like
the answer finds the same bad one at every later resume, and the thread is lost. So an answer is
checked against its question here first, and what does not fit is told to the person instead.

None, False, 0, "", {} and [] are answers like any other: nothing here asks whether one is "empty".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from jsonschema import ValidationError

from graphs import schemas
from graphs.templates import in_words, name_in_words

JSON: TypeAlias = Any

ANSWER_CHARACTERS = 100_000  # more is a file, and files go as documents
ANSWER_LEVELS = 20
CHOICES = 12  # a longer list of what is allowed is counted, not written out
PATTERN_CHARACTERS = 60
FILL_IN = "Please fill in this field."


def check(answer: JSON, question: JSON, schema: JSON | None) -> str | None:
    """None when the answer fits its question, else one sentence for the person who gave it."""
    if is_deeper_than(ANSWER_LEVELS, answer):
        return f"The answer has too many levels. Write at most {ANSWER_LEVELS}."
    if len(json.dumps(answer, ensure_ascii=False)) > ANSWER_CHARACTERS:
        return f"The answer is too long. Write at most {ANSWER_CHARACTERS:,} characters."
    found = _errors(answer, schema)
    if not found:
        return None
    return next(_problems(min(found, key=lambda error: len(error.absolute_path)))).whole


@dataclass(frozen=True)
class Problem:
    """One thing of an answer that does not fit: where it stands, and what to write there."""

    path: tuple[str | int, ...]
    sentence: str
    whole: str  # the same for somebody who sees no fields: it names the field


def problems(answer: JSON, schema: JSON) -> list[Problem]:
    """Everything of the answer that does not fit its schema, in the schema's order; never raises.

    A value that is missing is a problem at its own place, and not of the group that it belongs to.
    """
    found: dict[tuple[str | int, ...], Problem] = {}
    listed: set[tuple[str | int, ...]] = set()
    for error in _errors(answer, schema):
        if error.validator == "required":  # each names everything that is missing there
            if (place := tuple(error.absolute_path)) in listed:
                continue
            listed.add(place)
        for problem in _problems(error):
            found.setdefault(problem.path, problem)
    return list(found.values())


def named(path: tuple[str | int, ...], what: str) -> str:
    """The sentence with the names of the field before it, where there are any."""
    field = ", ".join(
        f"Entry {part + 1}" if isinstance(part, int) else name_in_words(part) for part in path
    )
    return f"{field}: {what[:1].lower()}{what[1:]}" if field else what


def is_deeper_than(levels: int, value: JSON) -> bool:
    """Whether lists and groups lie in each other more than so many levels deep."""
    level = [value]
    for _ in range(levels + 1):
        level = [child for one in level for child in _children(one)]
    return bool(level)


def _errors(answer: JSON, schema: JSON) -> list[ValidationError]:
    if not isinstance(schema, dict):
        return []
    try:
        return [_telling(error) for error in schemas.errors(answer, schema)]
    except Exception:
        return []  # a schema that cannot be used refuses nothing; the node is its own judge


def _children(value: JSON) -> Iterable[JSON]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _telling(error: ValidationError) -> ValidationError:
    """Of alternatives, the one that was meant: its kind fits, and only something in it does not."""
    meant = [
        inner for inner in error.context or () if inner.validator != "type" or inner.relative_path
    ]
    return _telling(meant[0]) if error.validator in ("anyOf", "oneOf") and meant else error


def _problems(error: ValidationError) -> Iterator[Problem]:
    path = tuple(error.absolute_path)
    try:
        what = _what_to_write(error)
        whole = named(path, what)
        missing = _missing(error)
    except Exception:
        what = whole = _OTHER  # a schema of a shape that we have no words for
        missing = []
    for name in missing:
        yield Problem((*path, name), FILL_IN, whole)
    if not missing:
        yield Problem(path, what, whole)


def _missing(error: ValidationError) -> list[str]:
    if error.validator != "required" or not isinstance(error.instance, dict):
        return []
    names = _names(cast(Any, error.validator_value))
    return [name for name in names if name not in error.instance]


def _what_to_write(error: ValidationError) -> str:
    rule, wanted = str(error.validator), cast(Any, error.validator_value)
    if missing := _missing(error):
        return f"Please fill in: {_all_of(name_in_words(name).lower() for name in missing)}."
    if rule == "enum" and isinstance(wanted, list):
        if len(wanted) > CHOICES:
            shown = one_of(in_words(one) for one in wanted[:3])
            return f"Choose one of the {len(wanted):,} values that are allowed, such as {shown}."
        return f"Choose {one_of(in_words(one) for one in wanted)}."
    if rule == "const":
        return f"It can only be {in_words(wanted)}."
    if rule == "type":
        return f"Write {one_of(_TYPES.get(str(one), str(one)) for one in _names(wanted))}."
    if rule in ("minLength", "minItems"):
        return (
            "Write something here." if wanted == 1 else f"Write at least {wanted:,}{_unit(rule)}."
        )
    if rule in ("maxLength", "maxItems"):
        return f"Write at most {wanted:,}{_unit(rule)}."
    if rule in _BOUNDS:
        return number_wanted(error.schema)
    if rule == "multipleOf":
        return f"Write a number in steps of {in_words(wanted)}."
    if rule == "uniqueItems":
        return "Write each entry once."
    if rule == "pattern" and len(str(wanted)) <= PATTERN_CHARACTERS:
        return f"Write it in this form: {wanted}"
    if rule == "additionalProperties":
        return "There is a field too many. Leave out what was not asked for."
    if rule in ("anyOf", "oneOf"):
        return f"Write {one_of(_TYPES.get(str(one.get('type')), 'a value') for one in wanted)}."
    return _OTHER


def _names(wanted: JSON) -> list[str]:
    return [str(one) for one in wanted] if isinstance(wanted, list) else [str(wanted)]


def _unit(rule: str) -> str:
    return " characters" if rule.endswith("Length") else " entries"


def number_wanted(schema: JSON) -> str:
    """Which number to write, by the bounds in the schema: "Write a number from 1 to 120."."""
    least, most = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if above is None and below is None and least is not None:
        high = "up" if most is None else f"to {in_words(most)}"
        return f"Write a number from {in_words(least)} {high}."
    bounds = [
        f"{word} {in_words(bound)}"
        for word, bound in (("above", above), ("from", least), ("below", below), ("up to", most))
        if bound is not None
    ]
    return f"Write a number {_all_of(bounds)}." if bounds else "Write a number."


def one_of(words: Iterable[str]) -> str:
    """The words as a choice: "approve, edit or reject"."""
    return _joined(list(words), "or")


def _all_of(words: Iterable[str]) -> str:
    return _joined(list(words), "and")


def _joined(words: list[str], link: str) -> str:
    return f"{', '.join(words[:-1])} {link} {words[-1]}" if len(words) > 1 else "".join(words)


_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_OTHER = "This does not fit what was asked. Look at the question again."
_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "yes or no",
    "object": "a group of named values",
    "array": "a list",
    "null": "nothing",
}
