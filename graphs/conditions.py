"""The condition of a rule: a CEL expression over what is asked, compiled once.

Five names can be used: `question` (for a tool call, its arguments), `state`, `thread`, `requester`
and `customer`. The library has no type checker, so what a condition says is known only when it is
asked: anything but exactly true or false, and any error, is a `ConditionFailed`, which ends the
search for a rule. Then nobody may decide, and never everybody.

A number out of JSON may be whole or not (60000 or 60000.0); CEL compares the two with each other,
and calculates with them only after `double(x)`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from checkpoints.text import clean

NAMES: Final = ("question", "state", "thread", "requester", "customer")
SOURCE_CHARACTERS: Final = 4_000
SAID_CHARACTERS: Final = 200
# The functions of the language; others of the library change from one release to the next.
FUNCTIONS: Final = frozenset((
    "all", "bool", "bytes", "contains", "double", "duration", "endsWith", "exists",
    "exists_one", "filter", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear",
    "getFullYear", "getHours", "getMilliseconds", "getMinutes", "getMonth", "getSeconds",
    "has", "int", "map", "matches", "size", "startsWith", "string", "timestamp", "type",
    "uint",
))  # fmt: skip

# A macro binds a name of its own: `question.items.exists(item, item.sum > 5)`
_BOUND: Final = re.compile(
    r"\.\s*(?:all|exists|exists_one|existsOne|map|filter)\s*\(\s*([A-Za-z_]\w*)\s*,"
)
_TEXT: Final = re.compile(r"'(?:\\.|[^'\\])*'|" r'"(?:\\.|[^"\\])*"|//[^\n]*')
FIELDS: Final = {
    "thread": ("id", "number", "graph"),
    "customer": ("id", "name"),
    "requester": (),  # their id, a text
}
"""The fields of those names that are the same for every graph."""


class ConditionFailed(Exception):
    """The condition said neither true nor false; its text says why."""


@dataclass(frozen=True)
class Condition:
    """One compiled condition."""

    source: str
    program: Any

    def holds(self, facts: Mapping[str, Any]) -> bool:
        """Whether it holds of these facts, by the five names; a name that is missing is null.

        Raises:
            ConditionFailed
        """
        try:
            said = self.program.execute({name: facts.get(name) for name in NAMES})
        except Exception as error:  # the library raises whatever its own code raises
            raise ConditionFailed(_reason(error)) from error
        if not isinstance(said, bool):
            raise ConditionFailed(f"it says {_kind(said)} and neither true nor false")
        return said


@lru_cache(maxsize=1_000)
def compiled(source: str) -> Condition:
    """Compile a condition, once.

    Raises:
        ValueError: it cannot be read, or it names something outside the five; one clause.
    """
    import cel  # it loads a terminal's prompt, which every command would wait for

    if len(source) > SOURCE_CHARACTERS:
        raise ValueError(f"a condition has at most {SOURCE_CHARACTERS:,} characters")
    try:
        program = cel.compile(source)
        named = program.variables()
        called = [name for name in program.functions() if name.isidentifier()]
    except Exception as error:  # the library raises whatever its own code raises
        raise ValueError(f"the condition cannot be read: {_syntax(error)}") from error
    bound = set(_BOUND.findall(source))
    outside = sorted({*named} - {*NAMES} - bound | {*called} - {*FUNCTIONS})
    if outside:
        known = f"{', '.join(NAMES[:-1])} and {NAMES[-1]}"
        raise ValueError(f"the condition names {', '.join(outside)}; there are only {known}")
    return Condition(source, program)


def fields_of(of: str, source: str) -> list[str]:
    """The fields of one of the names without which a condition cannot say anything, `state.sum`."""
    asked = set(re.findall(rf"has\s*\(\s*{of}\s*\.\s*(\w+)", source))
    source = _TEXT.sub(" ", source)
    field = rf"(?<![\w.]){of}\s*\.\s*([A-Za-z_]\w*)(?!\w|\s*\()"
    named = re.findall(field, source) if of not in _BOUND.findall(source) else []
    return [name for name in dict.fromkeys(named) if name not in asked]


def _syntax(error: Exception) -> str:
    """The place and the first words of what the parser says."""
    found = re.search(r"<input>:(\d+):(\d+): (?:Syntax error: )?([^\n]*)", str(error))
    if found is None:
        return clean(str(error))[:SAID_CHARACTERS]
    said = found[3].split(" expecting ")[0]
    return clean(f"{said}, at character {found[2]}")[:SAID_CHARACTERS]


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"there is no {clean(str(error.args[0] if error.args else ''))[:60]}"
    if isinstance(error, TypeError):
        return "it compares or calculates with values of different kinds"
    return clean(str(error)).split(". ")[0][:SAID_CHARACTERS] or type(error).__name__


def _kind(value: Any) -> str:
    kinds = {str: "a text", int: "a number", float: "a number", list: "a list", dict: "a table"}
    return "nothing" if value is None else kinds.get(type(value), "something else")
