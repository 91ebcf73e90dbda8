"""The configurations that were in force, and those that were refused: who, when, and what changed.

Every process writes down what it begins to work by; of several that do so at once one is first, and
the others find its row and write nothing. A row and its audit entry are written together. The text
leaves out what may be secret; the hash is over the files as they are.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from checkpoints.database import Connection, Database, Row, queries
from checkpoints.text import clean
from graphs import audit

SQL = queries(__file__)

CHANGED: Final = "configuration.changed"
REFUSED: Final = "configuration.refused"
MAX_DIFF: Final = 20_000  # characters
MAX_MISTAKES: Final = 50
_AROUND: Final = 2  # lines of a diff that did not change, around each that did


@dataclass(frozen=True)
class Change:
    """One row: `mistakes` are why it was refused, `restart` what takes effect at the next start."""

    number: int
    at: datetime
    actor: str
    hash: str
    text: str
    mistakes: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    before: str | None = None  # the text that was in force until then

    def diff(self) -> str:
        """What it changed; nothing where it was refused."""
        return "" if self.mistakes else diff(self.before or "", self.text)


@dataclass(frozen=True)
class Written:
    """What was written down; `mended` where the one before it was refused."""

    number: int
    mended: bool = False


async def take(
    connection: Connection,
    *,
    hash_: str,
    text: str,
    actor: str,
    how: str,
    restart: Sequence[str] = (),
) -> Written | None:
    """Write down what is in force from now on; None where that was the last that was written.

    Args:
        how: how it came into force, in words, for the record.
    """
    await connection.execute(SQL.alone)
    last = _change(await connection.fetchrow(SQL.last))
    if last is not None and last.hash == hash_ and not last.mistakes:
        return None
    before = _change(await connection.fetchrow(SQL.in_force))
    number = await connection.fetchval(SQL.add, actor, hash_, text, [], list(restart))
    if before is None or before.hash != hash_:
        detail = {
            "hash": hash_,
            "before": before.hash if before else None,
            "how": how,
            "diff": diff(before.text if before else "", text),
            "restart": list(restart),
        }
        await audit.record(connection, CHANGED, actor=actor, detail=detail)
    return Written(int(number), mended=last is not None and bool(last.mistakes))


async def refuse(
    connection: Connection, *, hash_: str, mistakes: Sequence[str], actor: str
) -> Written | None:
    """Write down that a configuration was not taken up; None where that was written already."""
    await connection.execute(SQL.alone)
    last = _change(await connection.fetchrow(SQL.last))
    if last is not None and last.hash == hash_ and last.mistakes:
        return None
    before = _change(await connection.fetchrow(SQL.in_force))
    said = [clean(mistake) for mistake in mistakes[:MAX_MISTAKES]]
    number = await connection.fetchval(SQL.add, actor, hash_, "", said, [])
    detail = {
        "hash": hash_,
        "in_force": before.hash if before else None,
        "mistakes": said,
        "count": len(mistakes),
    }
    await audit.record(connection, REFUSED, actor=actor, detail=detail)
    return Written(int(number))


async def newest(connection: Connection | Database, limit: int) -> list[Change]:
    """The newest, newest first."""
    rows = await connection.fetch(SQL.newest, limit)
    return [change for row in rows if (change := _change(row)) is not None]


def diff(before: str, after: str) -> str:
    """What changed, as a unified diff of at most MAX_DIFF characters."""
    lines = list(
        difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=_AROUND)
    )[2:]  # without the names of two files that are one
    shown, left = "", MAX_DIFF
    for number, line in enumerate(lines):
        if len(line) >= left:
            return f"{shown}and {len(lines) - number:,} more lines\n"
        shown += f"{line}\n"
        left -= len(line) + 1
    return shown


def _change(row: Row | None) -> Change | None:
    if row is None:
        return None
    lists = {name: tuple(row[name]) for name in ("mistakes", "restart")}
    return Change(**{**row, **lists})
