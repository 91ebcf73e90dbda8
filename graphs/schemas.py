"""JSON Schemas as graphs and tools bring them, read and applied without trusting them.

A schema is code of the operator's, but what is checked against it comes from anywhere, and some
schemas that are right are dear: references that double at every level, patterns that backtrack for
hours. So applying one is bounded: so many references, no address is fetched, and a pattern that
could take long is not tried (the node is its own judge). Reading one is bounded too: `settled`
follows references and the usual wrappings of pydantic, and names a recursion instead of following
it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from jsonschema import Draft202012Validator, ValidationError, validators
from referencing import Registry

JSON: TypeAlias = Any
Schema: TypeAlias = dict[str, Any]

REFERENCES: Final = 5_000  # followed while one value is checked; a real form takes some hundred
ERRORS: Final = 200  # nobody reads more
PATTERN_STEPS: Final = 10_000_000  # what trying one pattern may cost at most, about 0.2 s
WRAPPINGS: Final = 30  # references and single alternatives around one schema


@dataclass(frozen=True)
class Settled:
    """One schema without its wrappings; `seen` are the references on the way to it from the top."""

    schema: Schema
    nullable: bool = False
    seen: frozenset[str] = frozenset()
    recursive: bool = False


class Unusable(Exception):
    """A schema costs more than any honest one does, so that it is not applied; internal."""


def errors(value: JSON, schema: Schema) -> list[ValidationError]:
    """What of the value does not fit the schema.

    Raises:
        Exception: whatever a schema that is none leads to.
    """
    followed = _followed.set([0])
    try:
        # An empty registry: a schema comes from a graph, and must not make us fetch an address.
        return list(islice(_Validator(schema, registry=Registry()).iter_errors(value), ERRORS))
    finally:
        _followed.reset(followed)


def settled(schema: JSON, root: JSON, seen: frozenset[str] = frozenset()) -> Settled:
    """The schema itself: references followed, one alternative beside null taken, null noted."""
    now: Schema = schema if isinstance(schema, dict) else {}
    nullable = False
    for _ in range(WRAPPINGS):
        reference = now.get("$ref")
        if isinstance(reference, str):
            if reference in seen:
                return Settled(now, nullable, seen, recursive=True)
            seen |= {reference}
            now = _inside(_found(reference, root), now, "$ref")
            continue
        word = next((word for word in _WRAPS if _only(now.get(word)) is not None), None)
        if word is None:
            break
        nullable |= len(now[word]) > 1
        now = _inside(_only(now[word]), now, word)
    else:
        return Settled(now, nullable, seen, recursive=True)
    return _without_null(now, nullable, seen)


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text; True too where trying it could take long."""
    try:
        dear = _REPEATED_GROUP.search(pattern) is not None
        repeats = len(_UNBOUNDED.findall(pattern))
        if dear or (len(text) + 1) ** (repeats + 1) > PATTERN_STEPS:
            return True
        return re.search(pattern, text) is not None
    except (re.error, RecursionError, OverflowError):
        return True  # ECMAScript has patterns that Python has not


def is_multiple(value: JSON, step: JSON) -> bool:
    """Whether the number is a multiple of the step, in decimals as people write them.

    In floats 0.07 is no multiple of 0.01.
    """
    try:
        quotient = Decimal(str(value)) / Decimal(str(step))
        return quotient == quotient.to_integral_value()
    except (InvalidOperation, ArithmeticError, ValueError):
        return True


_WRAPS = ("allOf", "anyOf", "oneOf")
_REPEATED_GROUP = re.compile(r"\)[*+{]")
_UNBOUNDED = re.compile(r"[*+]|\{\d*,\d*\}")
_followed: ContextVar[list[int]] = ContextVar("followed")


def _only(branches: JSON) -> JSON:
    """The one alternative that is not null, None where there are several."""
    if not isinstance(branches, list) or not branches:
        return None
    rest = [branch for branch in branches if not _is_null(branch)]
    return rest[0] if len(rest) == 1 and isinstance(rest[0], dict) else None


def _is_null(schema: JSON) -> bool:
    return isinstance(schema, dict) and (
        schema.get("type") in ("null", ["null"])
        or ("const" in schema and schema["const"] is None)
        or schema.get("enum") == [None]
    )


def _inside(inner: JSON, outer: Schema, word: str) -> Schema:
    """What was wrapped, with what the wrapping says of it."""
    around = {key: value for key, value in outer.items() if key != word}
    return {**inner, **around} if isinstance(inner, dict) else around


def _found(reference: str, root: JSON) -> JSON:
    if not reference.startswith("#"):
        return {}
    now = root
    for part in filter(None, unquote(reference[1:]).split("/")):
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(now, dict):
            now = now.get(name, {})
        elif isinstance(now, list) and name.isascii() and name.isdigit() and len(name) < 9:
            now = now[int(name)] if int(name) < len(now) else {}
        else:
            return {}
    return now


def _without_null(schema: Schema, nullable: bool, seen: frozenset[str]) -> Settled:
    now = dict(schema)
    for word in ("anyOf", "oneOf"):
        branches = now.get(word)
        if isinstance(branches, list) and any(_is_null(branch) for branch in branches):
            now[word] = [branch for branch in branches if not _is_null(branch)]
            nullable = True
    types = now.get("type")
    if isinstance(types, list):
        rest = [one for one in types if one != "null"]
        nullable |= len(rest) < len(types)
        now["type"] = rest[0] if len(rest) == 1 else rest
    values = now.get("enum")
    if isinstance(values, list) and any(value is None for value in values):
        now["enum"] = [value for value in values if value is not None]
        nullable = True
    return Settled(now, nullable, seen)


def _counted(word: str) -> Any:
    original = Draft202012Validator.VALIDATORS[word]

    def follow(validator: Any, target: Any, instance: Any, schema: Any) -> Iterator[Any]:
        count = _followed.get()
        count[0] += 1
        if count[0] > REFERENCES:
            raise Unusable(f"more than {REFERENCES} references were followed")
        yield from original(validator, target, instance, schema) or ()

    return follow


def _multiple(validator: Any, step: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(value, "number") and not is_multiple(value, step):
        yield ValidationError(f"{value!r} is not a multiple of {step!r}")


def _pattern(validator: Any, pattern: Any, text: Any, schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(text, "string") and not matches(str(pattern), text):
        yield ValidationError("the text does not match the pattern")


def _patterned(validator: Any, patterns: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    if not validator.is_type(value, "object"):
        return
    for pattern, inner in patterns.items():
        for name, one in value.items():
            if matches(pattern, name):
                yield from validator.descend(one, inner, path=name, schema_path=pattern)


def _additional(validator: Any, extra: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    if not validator.is_type(value, "object"):
        return
    patterns = schema.get("patternProperties", {})
    for name, one in value.items():
        if name in schema.get("properties", {}) or any(matches(each, name) for each in patterns):
            continue
        if isinstance(extra, dict):
            yield from validator.descend(one, extra, path=name)
        elif extra is False:
            yield ValidationError("a field too many")


def _unique(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    if wanted is True and validator.is_type(value, "array"):
        # By their text: comparing every two of them takes minutes for a long list.
        texts = [json.dumps(one, sort_keys=True, default=str) for one in value]
        if len(set(texts)) < len(texts):
            yield ValidationError("an entry stands twice")


def _unchecked(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    return iter(())


_Validator = validators.extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {
        "$ref": _counted("$ref"),
        "$dynamicRef": _counted("$dynamicRef"),
        "multipleOf": _multiple,
        "pattern": _pattern,
        "patternProperties": _patterned,
        "additionalProperties": _additional,
        "uniqueItems": _unique,
        # Both follow references on their own, uncounted; the node judges what is left over.
        "unevaluatedItems": _unchecked,
        "unevaluatedProperties": _unchecked,
    },
)
