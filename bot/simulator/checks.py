"""The small parts that a rule about a payload is made of.

A check is a function of a value and of the place it stands at; it reports there what is wrong.
`typed` picks the shape by the value's own `type`; a field that a shape does not name is wrong.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Place:
    """Where in a payload we are: a JSON pointer, and the block that it lies in."""

    pointer: str
    found: list[str] = field(default_factory=list)
    block_id: str | None = None

    def at(self, key: str | int) -> "Place":
        return replace(self, pointer=f"{self.pointer}/{key}")

    def wrong(self, message: str) -> None:
        block = f" [block_id: {self.block_id}]" if self.block_id else ""
        self.found.append(f"[ERROR] {message} [json-pointer:{self.pointer}]{block}")


Check = Callable[[Any, Place], None]


# ---- the smallest checks


def string(most: int, *, least: int = 1, pattern: str | None = None) -> Check:
    """A string of so many characters."""

    def check(value: Any, place: Place) -> None:
        if not isinstance(value, str):
            place.wrong("must be a string")
        elif len(value) < least:
            place.wrong(f"must be more than {least - 1} characters")
        elif len(value) > most:
            place.wrong(f"must be less than {most + 1} characters")
        elif pattern and not re.fullmatch(pattern, value):
            place.wrong(f"does not match the pattern {pattern}")

    return check


def boolean(value: Any, place: Place) -> None:
    """True or false, and no word for it."""
    if not isinstance(value, bool):
        place.wrong("must be a boolean")


def whole(least: int, most: int) -> Check:
    """A whole number in a range."""

    def check(value: Any, place: Place) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            place.wrong("must be an integer")
        elif not least <= value <= most:
            place.wrong(f"must be from {least} to {most}")

    return check


def one_of(*values: str) -> Check:
    """One of a few words."""

    def check(value: Any, place: Place) -> None:
        if value not in values:
            place.wrong(f"must be one of: {', '.join(values)}")

    return check


def list_of(item: Check, most: int, *, least: int = 1) -> Check:
    """A list of so many, each as the check says."""

    def check(value: Any, place: Place) -> None:
        if not isinstance(value, list):
            place.wrong("must be an array")
            return
        if len(value) < least:
            place.wrong(f"no fewer than {least} items allowed")
        if len(value) > most:
            place.wrong(f"no more than {most} items allowed")
        for at, one in enumerate(value[: most + 1]):
            item(one, place.at(at))

    return check


@dataclass(frozen=True)
class Shape:
    """An object: the fields it must have, those it may have, and what must hold between them."""

    must: Mapping[str, Check]
    may: Mapping[str, Check]
    also: Check | None = None

    def __call__(self, value: Any, place: Place) -> None:
        if not isinstance(value, dict):
            place.wrong("must be an object")
            return
        for name in self.must:
            if name not in value:
                place.wrong(f"missing required field: {name}")
        for name, inside in value.items():
            check = self.must.get(name) or self.may.get(name)
            if check:
                check(inside, place.at(name))
            elif name != "type":
                place.wrong(f"invalid additional property: {name}")
        if self.also:
            self.also(value, place)


def shape(
    may: Mapping[str, Check] | None = None, *, also: Check | None = None, **must: Check
) -> Shape:
    return Shape(must, may or {}, also)


def typed(shapes: Mapping[str, Check], what: str) -> Check:
    """An object whose `type` says which shape it must have."""

    def check(value: Any, place: Place) -> None:
        if not isinstance(value, dict):
            place.wrong("must be an object")
        elif not isinstance(value.get("type"), str):
            place.wrong("missing required field: type")
        elif value["type"] not in shapes:
            place.wrong(f"unsupported type: {value['type']} is no {what}")
        else:
            shapes[value["type"]](value, place)

    return check
