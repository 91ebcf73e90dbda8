"""Who may write to a thread: the lease, which is queue, lock and fencing token at once.

One row a thread. Its states, and what moves it:

    idle      owner null, ready_at null       nothing to do
    ready     owner null, ready_at <= now     `wake`: somebody put something into the mailbox
    owned     owner set, lease_until ahead    `claim`: epoch + 1, ready_at null
    expired   owner set, lease_until behind   the owner died or stalled: the next `claim` takes over

**Who is authoritative.** The epoch. A lease that ran out only invites a successor; the old owner
may write until the successor's claim has raised the epoch, and never after: every durable write
names thread, epoch and owner in the same statement, with a lock on this row (`hold`, and the
flush of the saver). So no clock decides what is safe, only what is prompt, and every time in
here is the database's own.

**No lost wake-up.** `seq` counts the wakes. An owner remembers the `seq` of its claim and lets go
by compare-and-set on it: a wake that came in between keeps the thread due. Asking instead whether
the mailbox is empty loses wake-ups, because the answer is as old as the statement's snapshot.

**What a crash leaves.** An owned row; after `lease_until` the next claim takes it over and counts
one crash. `release` with progress sets the count to zero. From the second crash in a row the
thread is claimed only by a worker that asks for such threads (`alone`), one at a time, so that
it takes no innocent ones with it.

**Order of locks.** The lease first, then everything else; several leases in id order, or with
`skip locked`. Nothing in here waits longer than another transaction holds one row, and `lock`
waits at most half a second. What one owner does for all its threads (`extend`, `wake_free`) waits
for nobody: one frozen process must not cost a worker the leases of innocent threads.

Why not a job library: it would bring a second lease, a second heartbeat and no order per thread.
Measured beside three of them on two cores, a claim like this one started an idle thread in 3.6 ms
(4.5, 4.9 and 40), the second event of a thread 2.4 ms after the first had ended (46 and 4,807;
one keeps no order), and was the only one but one that refused a stalled worker's late write.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from checkpoints.database import Connection, Database, queries
from checkpoints.errors import Conflict, LockTimeout, StaleOwner

SQL = queries(__file__)

FENCE: Final = "__sayso_fence"
READY: Final = "sayso_ready"
SEIZED: Final = "sayso_seized"

ALONE_FROM_CRASHES: Final = 2
LOCK_SECONDS: Final = 0.5


@dataclass(frozen=True)
class Fence:
    """The right to write to one thread, as long as nobody has a higher epoch."""

    thread_id: str
    epoch: int
    owner: str


@dataclass(frozen=True)
class Lease:
    """What a claim came back with.

    Attributes:
        seq: how many wakes this owner has seen; hand it back to `release`.
        crashes: owners lost in a row, this take-over included.
        taken_over: the owner before did not let go; its last step may be half done.
    """

    fence: Fence
    seq: int
    crashes: int
    taken_over: bool

    @property
    def thread_id(self) -> str:
        """The thread that is owned."""
        return self.fence.thread_id


@dataclass(frozen=True)
class Extended:
    """What became of leases that were to be extended; those in neither set are lost.

    Attributes:
        kept: they run on.
        skipped: ours still, as far as anybody can see, but not extended: somebody else holds the
            row at this moment.
    """

    kept: frozenset[str]
    skipped: frozenset[str]


@dataclass(frozen=True)
class Standing:
    """What a lease said at one moment, for status and for people; it promises nothing."""

    thread_id: str
    scope: str
    epoch: int
    owner: str | None
    lease_until: datetime | None
    ready_at: datetime | None
    crashes: int


@dataclass(frozen=True)
class Load:
    """How much there is to do and how much is being done, of all threads together.

    Attributes:
        ready: threads that nobody owns and that have something to do now.
        ready_seconds: for how long the one has that waits longest.
        held: leases that run.
        run_out: leases whose owner did not extend them, and nobody took over yet.
        taken_over: owned threads that lost an owner and have got nowhere since.
        crashes: owners lost in a row, of all threads that are not at rest.
    """

    ready: int
    ready_seconds: float
    held: int
    run_out: int
    taken_over: int
    crashes: int


async def create(connection: Connection, thread_id: str, scope: str) -> None:
    """Make the lease of a new thread, idle; do nothing where it has one."""
    await connection.execute(SQL.create_lease, thread_id, scope)


async def wake(connection: Connection, thread_id: str, *, at: datetime | None = None) -> None:
    """Say that the thread has something to do, now or at a time, and tell the workers.

    Raises:
        Conflict: the thread has no lease; a wake that nobody can see must not pass in silence.
    """
    if await connection.fetchrow(SQL.wake, thread_id, at) is None:
        raise Conflict("leases_pkey", f"thread {thread_id} has no lease")


async def wake_free(connection: Connection, thread_ids: Iterable[str]) -> set[str]:
    """Wake these threads without waiting; return those whose rows somebody else holds now.

    They were not woken and have to be tried again. A thread without a lease is not among them:
    nobody can run it.
    """
    rows = await connection.fetch(SQL.wake_free, list(thread_ids))
    return {row["thread_id"] for row in rows if row["locked"]}


async def claim(
    connection: Connection,
    *,
    owner: str,
    scopes: Sequence[str],
    limit: int,
    lease_seconds: float,
    alone: bool = False,
    running: Iterable[str] = (),
) -> list[Lease]:
    """Become the owner of threads that ran out or are ready, at most ``limit``, oldest first.

    Args:
        scopes: the labels this worker serves.
        alone: take one thread that has lost two or more owners in a row, and no other kind;
            without it those are left alone. The caller runs nothing beside such a thread.
        running: the threads that this owner runs at this moment. After a stall their leases may
            have run out, and taking one over from itself would count a crash that was none: its
            heartbeat extends them, or tells that they are lost.
    """
    rows = await connection.fetch(
        SQL.claim,
        owner,
        list(scopes),
        min(limit, 1) if alone else limit,
        lease_seconds,
        ALONE_FROM_CRASHES,
        alone,
        list(running),
    )
    return [
        Lease(
            fence=Fence(row["thread_id"], row["epoch"], owner),
            seq=row["seq"],
            crashes=row["crashes"],
            taken_over=row["taken_over"],
        )
        for row in rows
    ]


async def extend(connection: Connection, fences: Sequence[Fence], lease_seconds: float) -> Extended:
    """Push the end of the leases on, without waiting for anybody; say which are held still.

    A process that is frozen inside a click holds one row; it must not cost an owner the leases of
    its other threads.
    """
    if not fences:
        return Extended(frozenset(), frozenset())
    rows = await connection.fetch(
        SQL.extend,
        [fence.thread_id for fence in fences],
        [fence.epoch for fence in fences],
        [fence.owner for fence in fences],
        lease_seconds,
    )
    return Extended(
        kept=frozenset(row["thread_id"] for row in rows if row["extended"]),
        skipped=frozenset(row["thread_id"] for row in rows if not row["extended"]),
    )


async def extend_alone(connection: Connection, fence: Fence, lease_seconds: float) -> bool | None:
    """Push the end of one lease on, waiting at most half a second; False where it is lost.

    None where the row was locked all the time: nothing is known of it.
    """
    try:
        async with connection.savepoint(lock_timeout=LOCK_SECONDS):
            row = await connection.fetchrow(
                SQL.extend_alone, fence.thread_id, fence.epoch, fence.owner, lease_seconds
            )
            return row is not None
    except LockTimeout:
        return None


async def hold(connection: Connection, fence: Fence) -> None:
    """Lock the lease for the rest of the transaction, the first statement of every settle.

    Raises:
        StaleOwner: the thread has another owner, or none.
    """
    held = await connection.fetchrow(SQL.hold, fence.thread_id, fence.epoch, fence.owner)
    if held is None:
        raise StaleOwner(fence.thread_id, fence.epoch)


async def release(
    connection: Connection,
    fence: Fence,
    *,
    seq: int,
    ready_at: datetime | None = None,
    progress: bool = True,
    crashed: bool = False,
) -> bool:
    """Let go of the thread; return whether it rests as asked.

    Where something woke the thread since the claim, that stays due, and the answer is False.

    Args:
        seq: the one of the claim.
        ready_at: when it has something to do by itself (a retry), or now to hand it back.
        progress: the run got somewhere, so its crashes are forgotten.
        crashed: it got nowhere and would not the next time, which counts as one more.

    Raises:
        StaleOwner: the thread has another owner, or none.
    """
    row = await connection.fetchrow(
        SQL.release, fence.thread_id, fence.epoch, fence.owner, seq, ready_at, progress, crashed
    )
    if row is None:
        raise StaleOwner(fence.thread_id, fence.epoch)
    return bool(row["rested"])


async def lock(connection: Connection, thread_id: str) -> bool:
    """Lock the lease, waiting at most half a second; False means go on without it.

    A worker frozen inside its own transaction must not make a click wait for longer than Slack
    does. The caller then commits its row as not woken, and the next poll wakes the thread.
    """
    try:
        async with connection.savepoint(lock_timeout=LOCK_SECONDS):
            return await connection.fetchrow(SQL.lock, thread_id) is not None
    except LockTimeout:
        return False


async def seize(connection: Connection, thread_id: str) -> int:
    """Put the owner out and return the new epoch: the first statement of an intervention.

    The owner's next write is refused, and a notification cancels its run. What it was feeding
    becomes due again; the intervention itself says what else is to happen.

    Raises:
        Conflict: the thread has no lease.
    """
    row = await connection.fetchrow(SQL.seize, thread_id)
    if row is None:
        raise Conflict("leases_pkey", f"thread {thread_id} has no lease")
    return int(row["epoch"])


async def forgive(connection: Connection, thread_id: str) -> None:
    """Forget the crashes of a thread: a person has looked at it and lets it go on."""
    await connection.execute(SQL.forgive, thread_id)


async def owned(
    connection: Connection | Database, thread_ids: Iterable[str] | None = None
) -> list[str]:
    """Return which threads have an owner now, of these or of all."""
    ids = None if thread_ids is None else list(thread_ids)
    return [row["thread_id"] for row in await connection.fetch(SQL.owned, ids)]


async def waits_alone(connection: Connection, scopes: Sequence[str]) -> bool:
    """Tell whether a thread waits that only an empty worker may claim (`claim(alone=True)`)."""
    return bool(await connection.fetchval(SQL.waits_alone, list(scopes), ALONE_FROM_CRASHES))


async def standings(connection: Connection, thread_ids: Iterable[str]) -> dict[str, Standing]:
    """Return what the leases of these threads say now, by thread id."""
    rows = await connection.fetch(SQL.standings, list(thread_ids))
    return {row["thread_id"]: Standing(**row) for row in rows}


async def load(connection: Connection) -> Load:
    """Count them now, from the indexes that hold only what is owned or has something to do."""
    row = await connection.fetchrow(SQL.load)
    assert row is not None  # noqa: S101  it only counts
    return Load(**row)
