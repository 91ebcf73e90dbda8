"""Where a key of a TOML text stands: its line, for whoever has to mend what is said there.

The parser of the standard library keeps no positions, and the packages that do are forks of it. So
the text, which that parser has read already, is walked once more for its keys alone; what cannot be
walked ends the walk, and what comes after is found at the last table that was.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]
"""From the top of the file; places in lists are counted from 0."""

_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_COMMENT: Final = re.compile(r"#[^\r\n]*")
_SPACE: Final = re.compile(r"[ \t]*")
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_TEXT: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})'  # up to two quotes belong to the text before the last three
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_PLAIN: Final = re.compile(r"[^,\]}\n#]*")  # a number, a truth or a date
_AT_LINE: Final = re.compile(r"\(at line (\d+), column \d+\)")


class Positions:
    """The lines of all keys, tables and members of lists in one text."""

    def __init__(self, text: str) -> None:
        self._lines: dict[str, int] = {}
        for path, line in _Walk(text).places():
            self._lines.setdefault(written(path), line)

    def line(self, where: str | KeyPath) -> int:
        """The line of a place such as `reviews[3].quorum`; else of what it would stand in.

        The first line is where what the file lacks altogether would stand.
        """
        place = where if isinstance(where, str) else written(where)
        while place and place not in self._lines:
            place = place[: max(place.rfind("."), place.rfind("["), 0)]
        return self._lines.get(place, 1)

    def placed(self, file: Path | str, said: Iterable[str]) -> list[str]:
        """What is said of places in the file, `WHERE: sentence`, with file and line, by the line.

        A sentence without a place stays as it is.
        """
        by_line = sorted(said, key=lambda each: self.line(each.partition(": ")[0]))
        return [f"{self._before(file, each.partition(': ')[0])}{each}" for each in by_line]

    def _before(self, file: Path | str, where: str) -> str:
        line = self.line(where)
        return "" if line == 1 and " " in where else f"{file}:{line}: "


def without_values(
    text: str,
    hidden: Callable[[KeyPath], bool],
    unsaid: Callable[[KeyPath], bool] = lambda _: False,
) -> str:
    """The text with an ellipsis in the place of every value whose key is hidden.

    Where the text cannot be walked to its end, what comes after that is left out too.

    Args:
        unsaid: the tables whose comments are left out, since a value may stand in one.
    """
    walk = _Walk(text)
    for _ in walk.places():
        pass
    cuts = [(start, end, '"…"') for path, start, end in walk.values if hidden(path)]
    cuts += [(start, end, "# …") for table, start, end in walk.comments if unsaid(table)]
    left, at = "", 0
    for start, end, instead in sorted(cuts):
        if at <= start <= walk.end:
            left += f"{text[at:start]}{instead}"
            at = end
    return left + text[at : walk.end]


def line_of(error: tomllib.TOMLDecodeError, text: str) -> int:
    """The line at which a text stops being TOML."""
    found = _AT_LINE.search(str(error))
    return int(found[1]) if found else text.count("\n") + 1


def written(path: KeyPath) -> str:
    """The place in words: `graphs.loan.channels[1]`, counted from 1."""
    place = ""
    for part in path:
        if isinstance(part, int):
            place += f"[{part + 1}]"
        else:
            place += f".{part}" if place else part
    return place


class _Lost(Exception):
    """The text is not what was expected here."""


class _Walk:
    """One walk through a text, from key to key."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._ends = [found.start() for found in re.finditer("\n", text)]
        self._lists: dict[KeyPath, int] = {}  # how many tables each list of tables has so far
        self.values: list[tuple[KeyPath, int, int]] = []  # of keys, from where to where
        self.comments: list[tuple[KeyPath, int, int]] = []  # of tables, between their keys
        self.end = len(text)  # of what could be walked

    def places(self) -> Iterator[tuple[KeyPath, int]]:
        """Every key with its line; a table is where its header, or its first key, stands."""
        table: KeyPath = ()
        begun = 0
        try:
            while True:
                after = self._at
                begun = self._skip(_BLANK)
                for found in _COMMENT.finditer(self._text, after, begun):
                    self.comments.append((table, *found.span()))
                if begun == len(self._text):
                    break
                line = self._line()
                if self._text[self._at] != "[":
                    yield from self._pair(table)
                    continue
                several = self._text.startswith("[[", self._at)
                self._at += 2 if several else 1
                parts = self._key()
                self._expect("]]" if several else "]")
                yield from ((path, line) for path in self._above(parts))
                table = self._table(parts, several=several)
                yield table, line
        except (_Lost, tomllib.TOMLDecodeError):
            self.end = begun  # its last key is not whole

    def _pair(self, table: KeyPath) -> Iterator[tuple[KeyPath, int]]:
        line = self._line()
        path = table
        for part in self._key():
            path = (*path, part)
            yield path, line
        self._expect("=")
        start = self._skip(_SPACE)
        yield from self._value(path)
        self.values.append((path, start, self._at))

    def _value(self, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
        self._skip(_SPACE)
        opens = self._text[self._at : self._at + 1]
        if opens == "[":
            yield from self._members(path)
        elif opens == "{":
            self._expect("{")
            while not self._closes("}"):
                yield from self._pair(path)
        elif opens in ('"', "'"):
            self._take(_TEXT)
        else:
            self._skip(_PLAIN)

    def _members(self, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
        self._expect("[")
        place = 0
        while not self._closes("]"):
            yield (*path, place), self._line()
            yield from self._value((*path, place))
            place += 1

    def _closes(self, bracket: str) -> bool:
        """Whether the list ends here, after what may stand between two members."""
        self._skip(_BLANK)
        if self._text.startswith(",", self._at):
            self._at += 1
            self._skip(_BLANK)
        if self._at >= len(self._text):
            raise _Lost
        if self._text[self._at] != bracket:
            return False
        self._at += 1
        return True

    def _key(self) -> list[str]:
        parts = []
        while True:
            self._skip(_SPACE)
            if self._text[self._at : self._at + 1] in ('"', "'"):
                parts.append(str(tomllib.loads(f"key = {self._take(_TEXT)}")["key"]))
            else:
                parts.append(self._take(_BARE_KEY))
            self._skip(_SPACE)
            if not self._text.startswith(".", self._at):
                return parts
            self._at += 1

    def _above(self, parts: list[str]) -> Iterator[KeyPath]:
        """The tables around a header, and the list that it adds to."""
        for count in range(1, len(parts)):
            yield self._resolved(parts[:count])
        yield (*self._resolved(parts[:-1]), parts[-1])

    def _table(self, parts: list[str], *, several: bool) -> KeyPath:
        if not several:
            return self._resolved(parts)
        path = (*self._resolved(parts[:-1]), parts[-1])
        place = self._lists.get(path, 0)
        self._lists[path] = place + 1
        return (*path, place)

    def _resolved(self, parts: list[str]) -> KeyPath:
        """The place that a header names: in a list of tables, its last one."""
        path: KeyPath = ()
        for part in parts:
            path = (*path, part)
            if path in self._lists:
                path = (*path, self._lists[path] - 1)
        return path

    def _line(self) -> int:
        return bisect_right(self._ends, self._at - 1) + 1 if self._at else 1

    def _skip(self, what: re.Pattern[str]) -> int:
        found = what.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._at

    def _take(self, what: re.Pattern[str]) -> str:
        found = what.match(self._text, self._at)
        if found is None:
            raise _Lost
        self._at = found.end()
        return found[0]

    def _expect(self, what: str) -> None:
        self._skip(_SPACE)
        if not self._text.startswith(what, self._at):
            raise _Lost
        self._at += len(what)
