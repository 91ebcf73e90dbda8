"""The mailbox: the rows that wait to be fed to a thread.

Five kinds: `start` (the first input), `say` (a further turn), `answer` (to a decided review),
`retry` (go on without input) and `rewind` (go back to a checkpoint first). The identity column is
their order. One owner at a time feeds them, the oldest first among those that can be fed now: while
a question is open an answer or a retry can, a start or a say waits. A say for which the open
questions were taken back names them (`over`) and is fed although the graph still asks them. `seq`
on the lease only says that something is new; the rows are the truth, and settle computes from them
when the thread is ready again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from checkpoints import leases
from checkpoints.database import Connection, Database, queries

SQL = queries(__file__)
OVER = "over"
Kind: TypeAlias = Literal["start", "answer", "say", "retry", "rewind"]


@dataclass(frozen=True)
class Row:
    """One row that waits; of an answer also the interrupt and the very question it is for.

    `fingerprint` is the graph's when its node asked its question number `ordinal`.
    """

    id: int
    kind: Kind
    body: Mapping[str, Any]
    review_id: int | None
    interrupt_id: str | None
    answer: str | None
    due_at: datetime
    question_hash: str | None = None
    node: str = ""
    ordinal: int = 0
    fingerprint: Any = None

    @property
    def run_id(self) -> str:
        """The same at every attempt, so that the engine knows what it was fed before."""
        return str(self.id)

    @property
    def over(self) -> frozenset[str]:
        """The interrupts whose reviews were withdrawn for this say: it is fed all the same."""
        return frozenset(self.body.get(OVER, ()))


async def put(
    connection: Connection,
    thread_id: str,
    kind: Kind,
    *,
    body: Mapping[str, Any] | None = None,
    key: str | None = None,
    review_id: int | None = None,
    answer: str | None = None,
    due_in_seconds: float = 0.0,
    unwoken: bool = False,
    consumed: bool = False,
) -> int:
    """Put a row in; waking the thread is the caller's, in the same transaction.

    Args:
        unwoken: the lease could not be locked in time, so the poll has to wake the thread.
        consumed: it is only kept with the record and never fed.

    Raises:
        Conflict: `mailbox_key` or `mailbox_one_answer`: it is there already.
    """
    stored: int = await connection.fetchval(
        SQL.put,
        thread_id,
        kind,
        dict(body or {}),
        key,
        review_id,
        answer,
        due_in_seconds,
        unwoken,
        consumed,
    )
    return stored


async def has_key(connection: Connection, thread_id: str, key: str) -> bool:
    """Whether a row with this key was put in before."""
    return bool(await connection.fetchval(SQL.has_key, thread_id, key))


async def waiting(connection: Connection | Database, thread_id: str) -> list[Row]:
    """The rows that wait and are due, oldest first."""
    return [Row(**dict(row)) for row in await connection.fetch(SQL.waiting, thread_id)]


async def consume(connection: Connection, ids: Sequence[int]) -> None:
    """Say that these rows were fed, or that their answer was taken."""
    await connection.execute(SQL.consume, list(ids))


async def consume_all(connection: Connection, thread_id: str) -> None:
    """Say that nothing of what waits will be fed any more."""
    await connection.execute(SQL.consume_all, thread_id)


async def consume_answer(connection: Connection, review_id: int) -> None:
    """Say that the answer to this review will not be fed: its question is no longer asked."""
    await connection.execute(SQL.consume_answer, review_id)


async def consume_retries(connection: Connection, thread_id: str) -> None:
    """Drop the retries that wait: the thread has just been run."""
    await connection.execute(SQL.consume_retries, thread_id)


async def taken_back(connection: Connection, thread_id: str) -> frozenset[str]:
    """The interrupts whose questions were taken back for a say that waits to be fed."""
    rows = await connection.fetch(SQL.taken_back, thread_id)
    return frozenset(row["interrupt_id"] for row in rows)


async def hurry(connection: Connection, thread_id: str) -> bool:
    """Make a retry that waits for its time due now; False when none waits."""
    return bool(await connection.fetchval(SQL.hurry, thread_id))


async def next_due(connection: Connection, thread_id: str, *, resting: str) -> datetime | None:
    """When the next row can be fed, None while all wait; for where the thread rests now.

    Args:
        resting: "open" (a question is), "free", or "failed": then only a retry goes by itself.
    """
    due: datetime | None = await connection.fetchval(SQL.next_due, thread_id, resting)
    return due


async def wake_unwoken(connection: Connection, limit: int = 100) -> int:
    """Wake the threads whose rows were committed without the lease's lock; how many rows.

    A thread whose lease somebody else holds now waits for the next poll: a claim must not wait for
    whoever is frozen there.
    """
    rows = await connection.fetch(SQL.unwoken, limit)
    if not rows:
        return 0
    locked = await leases.wake_free(connection, {row["thread_id"] for row in rows})
    woken = [row["id"] for row in rows if row["thread_id"] not in locked]
    await connection.execute(SQL.woken, woken)
    return len(woken)
