"""How much there is of what is not over, counted from indexes that hold only that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from checkpoints import leases
from checkpoints.database import Connection, queries
from graphs.threads import Status

SQL = queries(__file__)


@dataclass(frozen=True)
class Figures:
    """Open questions, and the threads that are not over by their status."""

    open_reviews: int
    threads: Mapping[Status, int]


async def count(connection: Connection) -> Figures:
    """Count them now; what is done or cancelled is not counted."""
    owned = await leases.owned(connection, None)
    asked = await connection.fetchrow(SQL.open_reviews)
    aside = {row["mark"]: row["threads"] for row in await connection.fetch(SQL.set_aside)}
    queued = await connection.fetchval(SQL.queued, owned)
    threads = {
        Status.QUEUED: int(queued or 0),
        Status.RUNNING: len(owned),
        Status.PAUSED: int(asked["threads"]) if asked else 0,
        **{each: int(aside.get(each, 0)) for each in (Status.FAILED, Status.HELD, Status.PARKED)},
    }
    return Figures(int(asked["reviews"]) if asked else 0, threads)
