"""Interventions: what people do to a thread from outside, against whoever owns it.

Each is one transaction: the owner is put out where it has to be (the epoch rises, its next write is
refused, a notification cancels its run), open reviews are withdrawn by compare-and-set, and mark,
audit and wishes are written. What a node was doing outside cannot be called back, so the result
names the step that was running.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from checkpoints import leases
from checkpoints.database import Connection, queries
from checkpoints.errors import LockTimeout
from checkpoints.text import clean
from graphs import audit, deadlines, mailbox, ports, reviews, steps, threads
from graphs.errors import UnknownThread
from graphs.feeding import ASK_AGAIN, INTERRUPTS
from graphs.ports import Wish, no_wish
from graphs.threads import Status

SQL = queries(__file__)


@dataclass(frozen=True)
class Retried:
    """The thread tries again; `status` is what it was before."""

    status: Status


@dataclass(frozen=True)
class AskedAgain:
    """The answer of this review is dropped, and its question put anew."""

    review_id: int


@dataclass(frozen=True)
class Cancelled:
    """The thread was ended. `running` names the step that was running, or that had failed and was
    to be tried again: what it did outside cannot be called back."""

    running: str | None
    withdrawn: tuple[int, ...] = ()


@dataclass(frozen=True)
class NotPossible:
    """The thread is in a state in which this cannot be done, or not by this person; nothing was
    changed."""

    status: Status


Result: TypeAlias = Retried | AskedAgain | Cancelled | NotPossible


async def retry(
    connection: Connection,
    thread_id: str,
    *,
    by: str,
    may_unpark: bool,
    only: Status | None = None,
    wish: Wish = no_wish,
) -> Retried | NotPossible:
    """Try again: a failed thread goes on at the step that failed, a parked or held one is let go.

    One that waits for its next attempt makes it now. Whether `by` may is the caller's check.

    Args:
        may_unpark: `by` is an operator. For everybody else a parked or held thread stays so: what
            is wrong with it is not mended by trying again.
        only: the status that the thread has to have.

    Raises:
        UnknownThread
    """
    woken = await leases.lock(connection, thread_id)
    row = await connection.fetchrow(threads.SQL.lock, thread_id)
    if row is None:
        raise UnknownThread(thread_id)
    before = await threads.get(connection, thread_id)
    if only not in (None, before.status) or (before.status in _SET_ASIDE and not may_unpark):
        return NotPossible(before.status)
    mended = before.status in (Status.FAILED, Status.PARKED, Status.HELD)
    if not mended and not await mailbox.hurry(connection, thread_id):
        return NotPossible(before.status)
    if mended:
        await connection.execute(SQL.clear_mark, thread_id)
        if before.status in _SET_ASIDE:
            await leases.seize(connection, thread_id)
            await leases.forgive(connection, thread_id)
            await deadlines.resume(connection, thread_id, before.changed_at)
        await mailbox.put(connection, thread_id, "retry", unwoken=not woken)
    if woken:
        await leases.wake(connection, thread_id)
    await audit.record(
        connection, "thread.retried", actor=by, thread_id=thread_id,
        detail={"was": before.status},
    )  # fmt: skip
    await _show(connection, thread_id, wish)
    return Retried(before.status)


async def ask_again(
    connection: Connection,
    thread_id: str,
    *,
    by: str,
    review_id: int | None = None,
    wish: Wish = no_wish,
) -> AskedAgain | NotPossible:
    """Drop the answer at which its own node failed, so that the question is put anew.

    The worker takes it out of the checkpoint; until then the thread stands as it did. An error in
    another step is no reason: what was decided there stays decided. Whether `by` may is the
    caller's check.

    Args:
        review_id: the question that this check was about; a step may have asked another one since,
            under another rule.

    Raises:
        UnknownThread
    """
    woken = await leases.lock(connection, thread_id)
    if await connection.fetchrow(threads.SQL.lock, thread_id) is None:
        raise UnknownThread(thread_id)
    before = await threads.get(connection, thread_id)
    failed = before.status in (Status.FAILED, Status.QUEUED) and before.error is not None
    node = before.error.node if before.error is not None else ""
    asked = await connection.fetchrow(SQL.asked_by, thread_id, node) if failed else None
    if asked is None or review_id not in (None, asked["id"]):
        return NotPossible(before.status)
    await mailbox.consume_retries(connection, thread_id)
    body = {ASK_AGAIN: True, INTERRUPTS: [asked["interrupt_id"]]}
    await mailbox.put(connection, thread_id, "retry", body=body, unwoken=not woken)
    if woken:
        await leases.wake(connection, thread_id)
    await audit.record(
        connection, "thread.asked_again", actor=by, thread_id=thread_id, review_id=asked["id"],
        detail={"was": before.status, "node": node},
    )  # fmt: skip
    await _show(connection, thread_id, wish)
    return AskedAgain(asked["id"])


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
    if running is None and before.error is not None:
        running = before.error.node  # its error may be no more than an answer that was lost
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
    review_id: int,
    revision: int,
    reason: str = "",
    wish: Wish = no_wish,
) -> Cancelled | NotPossible:
    """Take the request back: `cancel` by whom it belongs to, as long as nothing came of it.

    That is while the review they were shown is open at that revision, or while nothing was decided
    on the thread at all. After a decision the steps behind it may have acted already, and the
    requester would be told that nothing was done; to stop it then is an operator's `cancel`.

    1. Lock lease, thread and open reviews, so that no decision is half way.
    2. Look, in statements of their own: only they see what a decision that was first has committed.
    3. Cancel.

    Raises:
        UnknownThread
        LockTimeout: somebody holds the thread; nothing was changed.
    """
    if not await leases.lock(connection, thread_id):
        raise LockTimeout()
    if await connection.fetchrow(threads.SQL.lock, thread_id) is None:
        raise UnknownThread(thread_id)
    open_ = await reviews.open_of_thread(connection, thread_id)
    if (review_id, revision) not in {(review.id, review.revision) for review in open_}:
        asked = await reviews.list_(connection, thread_id=thread_id)
        if any(review.status in ("decided", "expired") for review in asked):
            return NotPossible((await threads.get(connection, thread_id)).status)
    return await cancel(connection, thread_id, by=by, reason=reason, what="withdrawn", wish=wish)


_SET_ASIDE = (Status.PARKED, Status.HELD)


async def _show(connection: Connection, thread_id: str, wish: Wish) -> None:
    """Wish everything that shows the thread shown anew."""
    for review_id, audience in await reviews.shown_of_thread(connection, thread_id):
        await wish(connection, ports.CARD if audience == "reviewers" else ports.ASK, str(review_id))
    await wish(connection, ports.PROGRESS, thread_id)
