"""Interventions: what people do to a thread from outside, against whoever owns it.

Each is one transaction: the owner is put out where it has to be (the epoch rises, its next write is
refused, a notification cancels its run), open reviews are withdrawn by compare-and-set, and mark,
audit and wishes are written. What a node was doing outside cannot be called back, so the result
names the step that was running.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from checkpoints import leases
from checkpoints.database import Connection, queries
from checkpoints.text import clean
from graphs import audit, mailbox, ports, reviews, steps, threads
from graphs.errors import UnknownThread
from graphs.ports import Wish, no_wish
from graphs.threads import Status

SQL = queries(__file__)


@dataclass(frozen=True)
class Retried:
    """The thread tries again; `status` is what it was before."""

    status: Status


@dataclass(frozen=True)
class Cancelled:
    """The thread was ended. `running` names the step that was running, if any: what it was doing
    outside cannot be called back."""

    running: str | None
    withdrawn: tuple[int, ...] = ()


@dataclass(frozen=True)
class NotPossible:
    """The thread is in a state in which this cannot be done; nothing was changed."""

    status: Status


async def retry(
    connection: Connection,
    thread_id: str,
    *,
    by: str,
    wish: Wish = no_wish,
) -> Retried | NotPossible:
    """Try again: a failed thread goes on at the step that failed, a parked or held one is let go.

    One that waits for its next attempt makes it now. Whether `by` may is the caller's check.

    Raises:
        UnknownThread
    """
    woken = await leases.lock(connection, thread_id)
    row = await connection.fetchrow(threads.SQL.lock, thread_id)
    if row is None:
        raise UnknownThread(thread_id)
    before = await threads.get(connection, thread_id)
    mended = before.status in (Status.FAILED, Status.PARKED, Status.HELD)
    if not mended and not await mailbox.hurry(connection, thread_id):
        return NotPossible(before.status)
    if mended:
        await connection.execute(SQL.clear_mark, thread_id)
        if before.status is Status.PARKED:
            await leases.seize(connection, thread_id)
            await leases.forgive(connection, thread_id)
        await mailbox.put(connection, thread_id, "retry", unwoken=not woken)
    if woken:
        await leases.wake(connection, thread_id)
    await audit.record(
        connection, "thread.retried", actor=by, thread_id=thread_id,
        detail={"was": before.status},
    )  # fmt: skip
    await _show(connection, thread_id, wish)
    return Retried(before.status)


async def cancel(
    connection: Connection,
    thread_id: str,
    *,
    by: str,
    reason: str = "",
    what: Literal["cancelled", "withdrawn"] = "cancelled",
    wish: Wish = no_wish,
) -> Cancelled | NotPossible:
    """End a thread now: its owner is cut off, its open reviews are withdrawn.

    `what` is "withdrawn" where the requester took the request back. Whether `by` may is the
    caller's check.

    Raises:
        UnknownThread
    """
    before = await threads.get(connection, thread_id)
    if before.status in (Status.DONE, Status.CANCELLED):
        return NotPossible(before.status)
    await leases.seize(connection, thread_id)
    because = clean(reason) or what
    if await connection.fetchval(SQL.mark, thread_id, "cancelled", because) is None:
        return NotPossible((await threads.get(connection, thread_id)).status)
    running = await connection.fetchval(steps.SQL.running, thread_id)
    closed = await reviews.withdraw_all(connection, thread_id, because=because)
    await mailbox.consume_all(connection, thread_id)
    await audit.record(
        connection, f"thread.{what}", actor=by, thread_id=thread_id,
        detail={"reason": reason, "was": before.status, "running": running, "withdrew": closed},
    )  # fmt: skip
    await _show(connection, thread_id, wish)
    await wish(connection, ports.OUTCOME, thread_id)
    return Cancelled(running, tuple(closed))


async def withdraw(
    connection: Connection,
    thread_id: str,
    *,
    by: str,
    reason: str = "",
    wish: Wish = no_wish,
) -> Cancelled | NotPossible:
    """Take the request back: `cancel` by whom it belongs to.

    Raises:
        UnknownThread
    """
    return await cancel(connection, thread_id, by=by, reason=reason, what="withdrawn", wish=wish)


async def _show(connection: Connection, thread_id: str, wish: Wish) -> None:
    """Wish everything that shows the thread shown anew."""
    for review_id, audience in await reviews.shown_of_thread(connection, thread_id):
        await wish(connection, ports.CARD if audience == "reviewers" else ports.ASK, str(review_id))
    await wish(connection, ports.PROGRESS, thread_id)
