"""Steps: which node ran when and how it ended, for progress, details and "what was running".

Told by the engine's stream while a thread runs; a row is keyed by the task, so telling it twice
changes nothing. They are for people: nothing is decided by them, the checkpoint is the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from checkpoints.database import Connection, Database, queries

SQL = queries(__file__)
Status: TypeAlias = Literal["running", "waiting", "done", "failed"]


@dataclass(frozen=True)
class Step:
    """One task of a thread; `node` is the path of node names (payments/human_review)."""

    task_id: str
    node: str
    status: Status
    error: str | None
    started_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True)
class Told:
    """What the stream said of a task."""

    task_id: str
    node: str
    status: Status
    error: str | None = None


async def tell(connection: Connection, thread_id: str, told: Sequence[Told]) -> None:
    """Keep what was said of the tasks, in order; the later word of one task wins."""
    last: dict[str, Told] = {}
    for each in told:
        last.pop(each.task_id, None)
        last[each.task_id] = each
    await connection.execute(
        SQL.tell,
        thread_id,
        [each.task_id for each in last.values()],
        [each.node for each in last.values()],
        [each.status for each in last.values()],
        [each.error for each in last.values()],
    )


async def of_thread(connection: Connection | Database, thread_id: str) -> list[Step]:
    """The steps of a thread in the order in which they began."""
    return [Step(**dict(row)) for row in await connection.fetch(SQL.of_thread, thread_id)]


async def close(connection: Connection, thread_id: str) -> None:
    """Say that nothing runs any more: what was left running by an owner that died waits again."""
    await connection.execute(SQL.close, thread_id)
