"""The audit: one append-only entry for everything that was done, and for everything refused.

An entry is written in the transaction of what it tells, so neither exists without the other. The
detail stands in a table of its own, so that it can be encrypted or erased and the entries stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from checkpoints.database import Connection, Database, queries
from checkpoints.text import clean
from graphs.plain import plain

SQL = queries(__file__)

SYSTEM = "sayso"  # the actor where no person acted


@dataclass(frozen=True)
class Entry:
    """One line of the record."""

    id: int
    at: datetime
    what: str
    actor: str
    thread_id: str | None
    review_id: int | None
    detail: Mapping[str, Any] = field(default_factory=dict)


async def record(
    connection: Connection,
    what: str,
    *,
    actor: str = SYSTEM,
    thread_id: str | None = None,
    review_id: int | None = None,
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Write one entry: `what` happened ("vote.refused"), by whom, and what it was about."""
    await connection.execute(
        SQL.record,
        clean(what),
        clean(actor),
        thread_id,
        review_id,
        plain(dict(detail or {})),
    )


async def of_thread(connection: Connection | Database, thread_id: str) -> list[Entry]:
    """The entries about a thread and its reviews, oldest first."""
    return [Entry(**dict(row)) for row in await connection.fetch(SQL.of_thread, thread_id)]


async def of_review(connection: Connection | Database, review_id: int) -> list[Entry]:
    """The entries about one review, oldest first."""
    return [Entry(**dict(row)) for row in await connection.fetch(SQL.of_review, review_id)]


async def recent(connection: Connection | Database, limit: int = 100) -> list[Entry]:
    """The newest entries, newest first."""
    return [Entry(**dict(row)) for row in await connection.fetch(SQL.recent, limit)]
