"""The record in a file: lines of JSON or a table, which anybody can check without the database.

The first line is the place before the first that was asked for, with its hash and nothing else.
Places in between that were not asked for stand with their leaf alone, so that the file leads from
there to the head of the chain. Reading a file gives the places back exactly as they were written.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Literal, TypeAlias

from checkpoints.errors import SaysoError
from graphs import sealing
from graphs.sealing import Broken, Head, Sealed

Format: TypeAlias = Literal["jsonl", "csv"]

COLUMNS: Final = (
    "position", "hash", "leaf", "id", "at", "what", "actor", "thread_id", "review_id", "detail",
    "salt",
)  # fmt: skip
# What a spreadsheet would take for a formula
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
LINE_CHARACTERS: Final = 50_000_000


@dataclass(frozen=True)
class Whole:
    """A file that holds: its head, and how many entries it shows of the places from the first."""

    head: Head
    first: int
    shown: int
    places: int


class NoRecord(SaysoError):
    """The file is no export of a record; its text says at which line."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(
            f"Line {line} of the file is no line of a record ({why}). Give a file that "
            "`sayso audit export` wrote."
        )


def write(out: IO[str], kind: Format, anchor: Head, places: Iterable[Sealed]) -> None:
    """Write the anchor and the places, one line each."""
    lines: Iterator[Mapping[str, Any]] = _lines(anchor, places)
    if kind == "jsonl":
        for line in lines:
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
        return
    table = csv.DictWriter(out, COLUMNS, lineterminator="\n", quoting=csv.QUOTE_ALL)
    table.writeheader()
    for line in lines:
        table.writerow({name: _cell(name, value) for name, value in line.items()})


def read(source: IO[str]) -> tuple[Head, Iterator[Sealed]]:
    """The anchor, and the places as they come.

    Raises:
        NoRecord: also later, while the places are read.
    """
    lines = _of_table(source) if _is_table(source) else _of_json(source)
    number, first = next(lines, (1, None))
    position, last = (first or {}).get("position"), (first or {}).get("hash")
    if type(position) is not int or not isinstance(last, str) or len(first or {}) != 2:
        raise NoRecord(number, "it does not begin with the place before")
    return Head(position, _hash(number, last)), (_place(number, line) for number, line in lines)


def verify(file: Path, kept: str | None) -> Whole | Broken:
    """Check an export, without the database, and count what it shows.

    Raises:
        NoRecord, OSError
    """
    with file.open(encoding="utf-8", newline="") as source:
        anchor, places = read(source)
        shown = 0

        def counted() -> Iterator[Sealed]:
            nonlocal shown
            for one in places:
                shown += one.entry is not None
                yield one

        found = sealing.verify(anchor, counted(), kept)
    if isinstance(found, Broken):
        return found
    return Whole(found, anchor.position + 1, shown, found.position - anchor.position)


def _lines(anchor: Head, places: Iterable[Sealed]) -> Iterator[dict[str, Any]]:
    yield {"position": anchor.position, "hash": anchor.hash}
    for one in places:
        yield {
            "position": one.position,
            "hash": one.hash,
            "leaf": one.leaf,
            **(one.entry or {}),
        }


def _cell(name: str, value: Any) -> str:
    if name == "detail":
        return json.dumps(value, ensure_ascii=False)
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith((*_FORMULA, "'")) else text


def _is_table(source: IO[str]) -> bool:
    start = source.tell()
    table = source.read(10).startswith(("position,", '"position"'))
    source.seek(start)
    return table


def _of_json(source: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(iter(lambda: source.readline(LINE_CHARACTERS), ""), 1):
        try:
            found = _parsed(line)
        except (ValueError, RecursionError):
            raise NoRecord(number, "it is not JSON") from None
        if not isinstance(found, dict):
            raise NoRecord(number, "it is not an object")
        yield number, found


def _of_table(source: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    csv.field_size_limit(LINE_CHARACTERS)
    table = csv.DictReader(source)
    if table.fieldnames != list(COLUMNS):
        raise NoRecord(1, "it has other columns")
    try:
        for row in table:
            yield table.line_num, _row(row, table.line_num)
    except csv.Error as error:
        raise NoRecord(table.line_num, str(error)) from None


def _row(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    if set(row) != set(COLUMNS) or None in row.values():
        raise NoRecord(number, "it has other columns")
    found: dict[str, Any] = {name: value.removeprefix("'") for name, value in row.items() if value}
    try:
        for name in ("position", "id", "review_id"):
            if name in found:
                found[name] = int(found[name])
        if "detail" in found:
            found["detail"] = _parsed(row["detail"])
    except (ValueError, RecursionError):
        raise NoRecord(number, "a value is not what its column holds") from None
    if "id" in found:
        found = {"thread_id": None, "review_id": None, "actor": "", "what": "", **found}
    # What is read must be what stands there: "007", " 7" and "'7" are not 7.
    if any(_cell(name, found.get(name)) != row[name] for name in COLUMNS if name != "detail"):
        raise NoRecord(number, "a value is not written as an export writes it")
    return found


def _parsed(text: str) -> Any:
    """The JSON; a name that stands twice in it would be read by one as this and by one as that.

    Raises:
        ValueError, RecursionError
    """
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def _place(number: int, line: Mapping[str, Any]) -> Sealed:
    position, leaf, last = line.get("position"), line.get("leaf"), line.get("hash")
    if type(position) is not int or not isinstance(leaf, str) or not isinstance(last, str):
        raise NoRecord(number, "it has no place in the chain")
    entry = {name: value for name, value in line.items() if name not in _OF_PLACE}
    if not entry.keys() <= {*COLUMNS}:
        raise NoRecord(number, "it says more than an entry does")
    return Sealed(position, _hash(number, leaf), _hash(number, last), entry or None)


def _hash(number: int, text: str) -> str:
    try:
        if len(bytes.fromhex(text)) != 32:
            raise ValueError
    except ValueError:
        raise NoRecord(number, "a hash is not one") from None
    return text.lower()


_OF_PLACE: Final = frozenset({"position", "leaf", "hash"})
