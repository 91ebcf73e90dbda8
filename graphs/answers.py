"""Whether an answer fits its question, before the engine sees it.

LangGraph stores an answer before the node runs. A node that then raises because it does not like
the answer finds the same bad one at every later resume, and the thread is lost. So an answer is
checked against its question here first, and what does not fit is told to the person instead.

None, False, 0, "", {} and [] are answers like any other: nothing here asks whether one is "empty".
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeAlias, cast

from jsonschema import Draft202012Validator, ValidationError
from referencing import Registry

from graphs.templates import in_words, name_in_words

JSON: TypeAlias = Any

ANSWER_CHARACTERS = 100_000  # more is a file, and files go as documents
ANSWER_LEVELS = 20


def check(answer: JSON, question: JSON, schema: JSON | None) -> str | None:
    """None when the answer fits its question, else one sentence for the person who gave it."""
    if _is_deeper_than(ANSWER_LEVELS, answer):
        return f"The answer has too many levels. Write at most {ANSWER_LEVELS}."
    if len(json.dumps(answer, ensure_ascii=False)) > ANSWER_CHARACTERS:
        return f"The answer is too long. Write at most {ANSWER_CHARACTERS:,} characters."
    if not isinstance(schema, dict):
        return None
    try:
        # An empty registry: a schema comes from a graph, and must not make us fetch an address.
        validator = Draft202012Validator(schema, registry=Registry())
        errors = list(validator.iter_errors(answer))
    except Exception:
        return None  # a schema that cannot be used refuses nothing; the node is its own judge
    if not errors:
        return None
    try:
        return _sentence(_telling(min(errors, key=lambda error: len(error.absolute_path))))
    except Exception:
        return _OTHER  # a schema of a shape that we have no words for


def _is_deeper_than(levels: int, value: JSON) -> bool:
    level = [value]
    for _ in range(levels + 1):
        level = [child for one in level for child in _children(one)]
    return bool(level)


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


def _sentence(error: ValidationError) -> str:
    """What to write, not what is wrong; the field comes first, by its name in words."""
    what = _what_to_write(error)
    field = ", ".join(name_in_words(str(part)) for part in error.absolute_path)
    return f"{field}: {what[:1].lower()}{what[1:]}" if field else what


def _what_to_write(error: ValidationError) -> str:
    rule, wanted = str(error.validator), cast(Any, error.validator_value)
    if rule == "required" and isinstance(error.instance, dict):
        missing = [name for name in _names(wanted) if name not in error.instance]
        return f"Please fill in: {_all_of(name_in_words(name).lower() for name in missing)}."
    if rule == "enum" and isinstance(wanted, list):
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
        return _range(error.schema)
    if rule == "additionalProperties":
        return "There is a field too many. Leave out what was not asked for."
    if rule in ("anyOf", "oneOf"):
        return f"Write {one_of(_TYPES.get(str(one.get('type')), 'a value') for one in wanted)}."
    return _OTHER


def _names(wanted: JSON) -> list[str]:
    return [str(one) for one in wanted] if isinstance(wanted, list) else [str(wanted)]


def _unit(rule: str) -> str:
    return " characters" if rule.endswith("Length") else " entries"


def _range(schema: JSON) -> str:
    least = schema.get("minimum", schema.get("exclusiveMinimum"))
    most = schema.get("maximum", schema.get("exclusiveMaximum"))
    if least is None:
        return f"Write a number up to {in_words(most)}."
    if most is None:
        return f"Write a number from {in_words(least)} up."
    return f"Write a number from {in_words(least)} to {in_words(most)}."


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
