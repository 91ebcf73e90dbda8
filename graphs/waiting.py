"""What waits for a person: the open reviews that ask them, or whoever they stand in for.

Somebody is found by the keys of everything they are (`graphs.directory.keys_of`), in one index over
what is open. What they have voted on does not wait for them any more, nor what they handed over,
what is on hold, or what they asked for themselves where the rule forbids that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from checkpoints.database import Connection, Database, queries

SQL = queries(__file__)

# Beyond it what waits for one person is not counted to the last: nobody works through that many.
MOST: Final = 10_000


@dataclass(frozen=True)
class Waiting:
    """The first reviews that wait for somebody, and how many do in all."""

    reviews: tuple[int, ...] = ()
    overdue: frozenset[int] = frozenset()  # of those
    total: int = 0
    late: int = 0  # how many of all are overdue


async def of_person(
    connection: Connection | Database,
    keys: Sequence[str],
    *,
    voter: str,
    limit: int,
    covered: Sequence[str] = (),
    covered_keys: Sequence[str] = (),
) -> Waiting:
    """What waits for a person: overdue first, then the oldest.

    Args:
        covered: for whom they stand in now, and the keys these people are found by.
    """
    rows = await connection.fetch(
        SQL.of_person, list(keys), list(covered_keys), voter, list(covered), limit, MOST
    )
    if not rows:
        return Waiting()
    return Waiting(
        tuple(row["review_id"] for row in rows),
        frozenset(row["review_id"] for row in rows if row["overdue"]),
        rows[0]["total"],
        rows[0]["late"],
    )


async def count(connection: Connection | Database, keys: Sequence[str], *, voter: str) -> int:
    """How many reviews wait for a person by these keys."""
    return (await of_person(connection, keys, voter=voter, limit=1)).total
