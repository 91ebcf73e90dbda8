"""How much there is of what is not over, counted from indexes that hold only that."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from checkpoints import leases
from checkpoints.database import Connection, Row, queries
from checkpoints.leases import Load
from graphs.threads import Status

SQL = queries(__file__)


@dataclass(frozen=True)
class Backlog:
    """How many of a kind wait, and for how many seconds the one that waits longest; 0 for none."""

    count: int
    seconds: float


@dataclass(frozen=True)
class Figures:
    """What is not over now.

    Attributes:
        threads: those that are not over by their status.
        mailbox: what can be fed now to threads that nobody owns.
        unsealed: entries of the record without a seal.
        overdue: timers that are due and were not acted on.
    """

    open_reviews: int
    threads: Mapping[Status, int]
    leases: Load
    mailbox: Backlog
    unsealed: Backlog
    overdue: Backlog


async def count(connection: Connection, graphs: Collection[str]) -> Figures:
    """Count them now; what is done or cancelled is not counted.

    Args:
        graphs: those that are configured; nobody acts on the timers of others.
    """
    owned = await leases.owned(connection, None)
    asked = await connection.fetchrow(SQL.open_reviews)
    aside = {row["mark"]: row["threads"] for row in await connection.fetch(SQL.set_aside)}
    queued = await connection.fetchrow(SQL.queued, owned)
    unsealed = await connection.fetchrow(SQL.unsealed)
    overdue = await connection.fetchrow(SQL.overdue, list(graphs))
    threads = {
        Status.QUEUED: int(queued["threads"]) if queued else 0,
        Status.RUNNING: len(owned),
        Status.PAUSED: int(asked["threads"]) if asked else 0,
        **{each: int(aside.get(each, 0)) for each in (Status.FAILED, Status.HELD, Status.PARKED)},
    }
    return Figures(
        open_reviews=int(asked["reviews"]) if asked else 0,
        threads=threads,
        leases=await leases.load(connection),
        mailbox=_backlog(queued, "rows"),
        unsealed=_backlog(unsealed, "entries"),
        overdue=_backlog(overdue, "timers"),
    )


def _backlog(row: Row | None, of: str) -> Backlog:
    return Backlog(int(row[of]), float(row["seconds"])) if row is not None else Backlog(0, 0.0)
