"""Values as evidence: short ones as facts, prose as quotes, and what is deep by its name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, TypeAlias

from graphs.templates import in_words, name_in_words

JSON: TypeAlias = Any

FACTS = 8
PROSE_CHARACTERS = 300  # from here on a text is quoted, not a fact
QUOTED_CHARACTERS = 280


@dataclass(frozen=True)
class Line:
    """One line of evidence; `lead` comes first, in italics (the name of a file)."""

    text: str
    lead: str | None = None


@dataclass(frozen=True)
class Group:
    """Evidence under one heading that states the finding; without lines the heading says it all."""

    heading: str
    lines: tuple[Line, ...] = ()
    kind: Literal["bullets", "quote", "plain"] = "bullets"


def quoted(label: str, text: str) -> Group:
    """A text under its label, whole or its beginning with how long it is."""
    if len(text) <= PROSE_CHARACTERS:
        return Group(label, (Line(text),), "quote")
    return Group(
        f"{label}, first {QUOTED_CHARACTERS} of {len(text):,} characters",
        (Line(text[:QUOTED_CHARACTERS].rstrip() + " …"),),
        "quote",
    )


def sorted_out(rest: dict[str, JSON]) -> tuple[tuple[tuple[str, str], ...], tuple[Group, ...]]:
    """Short values as facts, prose as quotes, and what is deep or too much counted by its name."""
    facts: list[tuple[str, str]] = []
    quotes: list[Group] = []
    deep: list[str] = []
    for key, value in rest.items():
        if len(facts) >= FACTS and len(deep) >= _NAMED and _is_short(value):
            deep.append("")  # it is only counted
            continue
        label = label_of(key)
        if isinstance(value, dict | list) and value:
            deep.append(f"{label[:1].lower()}{label[1:]} ({_size(value)})")
        elif isinstance(value, str) and len(value) > PROSE_CHARACTERS:
            quotes.append(quoted(label, value))
        elif len(facts) < FACTS:
            facts.append((label, in_words(value)))
        else:
            deep.append(f"{label[:1].lower()}{label[1:]}")
    if deep:
        named = ", ".join(deep[:_NAMED])
        left = len(deep) - _NAMED
        text = f"{named} and {left:,} more" if left > 0 else named
        quotes.append(Group("Under Details", (Line(text),), "plain"))
    return tuple(facts), tuple(quotes)


def label_of(key: str) -> str:
    """A key of the data as the label of its value."""
    return name_in_words(key)[:_LABEL_CHARACTERS] or "Value"


def _is_short(value: JSON) -> bool:
    return not (isinstance(value, str) and len(value) > PROSE_CHARACTERS)


def _children(value: JSON) -> Iterable[JSON]:
    return value.values() if isinstance(value, dict) else value


def _size(value: dict[str, JSON] | list[JSON]) -> str:
    depth, level = 0, [value]
    while level and depth < _DEPTH:
        depth += 1
        inside = (child for one in level for child in _children(one))
        # Of very many the first thousand tell how deep it goes.
        level = list(islice((one for one in inside if isinstance(one, dict | list)), _WIDE))
    if isinstance(value, list):
        return f"{len(value):,}"
    counted = f"{len(value):,} {'value' if len(value) == 1 else 'values'}"
    return counted if depth == 1 else f"{counted}, {depth} levels deep"


_LABEL_CHARACTERS = 75
_NAMED = 12
_DEPTH = 20
_WIDE = 1_000
