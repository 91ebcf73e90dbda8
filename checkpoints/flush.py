"""The way of every write of the saver into the database: a queue that commits in groups.

What queues up while a flush is in flight goes with the next one, in one statement: one round
trip and one commit for as many threads as write at that moment, without a timer and without a
lock. On two cores 32 threads so write about four times as many steps a second as with a
statement for each put behind one lock.

**Order.** First in, first out for each thread. Small writes share a lane; a large one has a lane
of its own, so that it does not hold up the others; work that must see a thread at rest (delete,
prune, copy) waits until nothing of its threads is in flight, and they wait for it.

**Whose answer it is.** Each write is answered by its own thread. In one flush the stale owners'
writes fail with `StaleOwner` and the others commit. A lease that another transaction holds is
skipped, so that it does not hold up the other threads of the flush, and its writes go again
alone, waiting at most a second; if the fence gives no row then, the owner is stale. Once a write
under a fence has failed, every later one under the same fence fails too: a run never leaves a gap.

**What fails.** An error that may pass (`DatabaseAway`, a deadlock) is tried again for
`RETRY_SECONDS`; every statement may run twice, since its rows are named by their keys. A flush
that the server refuses for one value is tried again write by write, so that only that one fails.

**Cancellation.** Who waits may be cancelled; what was queued is written all the same, and in its
turn.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter, OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from checkpoints import failpoints
from checkpoints.codec import EncodedCheckpoint, EncodedWrites
from checkpoints.database import Connection, Database, Row, queries
from checkpoints.errors import (
    DatabaseAway,
    LockTimeout,
    NotTheOwner,
    SaysoError,
    StaleOwner,
)
from checkpoints.leases import Fence
from checkpoints.operations import Operation, columns, tickets_of

SQL = queries(__file__)
log = logging.getLogger(__name__)

T = TypeVar("T")

FLUSH_OPERATIONS: Final = 256
FLUSH_BYTES: Final = 4 * 1024 * 1024
RETRY_SECONDS: Final = 10.0
LOCK_SECONDS: Final = 1.0
REMEMBERED_FAILURES: Final = 4096
SOLO_TASKS: Final = 4

Refused = Callable[[Fence], None]


@dataclass(eq=False)
class FlushQueue:
    """Takes writes one by one and commits them in groups.

    Attributes:
        refused: called, on the loop of the queue, with the fence of each write that failed, so
            that the run is cancelled at once and does not learn of it at the end of its step.
    """

    database: Database
    retry_seconds: float = RETRY_SECONDS
    refused: Refused | None = None
    _waiting: deque[Operation] = field(default_factory=deque)
    _busy: Counter[str] = field(default_factory=Counter)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _small_flying: bool = False
    _large_flying: bool = False
    _solo: int = 0
    _pump_due: bool = False
    _failed: OrderedDict[Fence, SaysoError] = field(default_factory=OrderedDict)
    _idle: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._idle.set()

    async def put(self, thread_id: str, fence: Fence | None, checkpoint: EncodedCheckpoint) -> None:
        """Store a checkpoint and the values it brings."""
        await self._do(
            Operation((thread_id,), self._future(), fence, put=checkpoint, size=checkpoint.size)
        )

    async def put_writes(self, thread_id: str, fence: Fence | None, writes: EncodedWrites) -> None:
        """Store what a task wrote."""
        await self._do(
            Operation((thread_id,), self._future(), fence, writes=writes, size=writes.size)
        )

    async def alone(
        self, threads: Sequence[str], work: Callable[[], Awaitable[T]], fence: Fence | None = None
    ) -> T:
        """Do the work while nothing of these threads is in flight from here; return its result."""
        unique = tuple(sorted(set(threads)))
        result: T = await self._do(Operation(unique, self._future(), fence, work=work))
        return result

    def failure(self, fence: Fence) -> SaysoError | None:
        """Return why a write under this fence failed, if one did."""
        return self._failed.get(fence)

    def fail(self, fence: Fence, error: SaysoError) -> None:
        """Remember that a write under this fence failed, and tell the run at once."""
        first = fence not in self._failed
        self._failed[fence] = error
        if len(self._failed) > REMEMBERED_FAILURES:
            self._failed.popitem(last=False)
        if first and self.refused is not None:
            self.refused(fence)

    async def drain(self) -> None:
        """Return when nothing waits and nothing is in flight."""
        await self._idle.wait()

    async def retried(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Try again while the error is one that may pass, for a bounded time."""
        ends = self._loop.time() + self.retry_seconds
        pause = 0.02
        while True:
            try:
                return await attempt()
            except (DatabaseAway, LockTimeout):
                if self._loop.time() + pause > ends:
                    raise
            await asyncio.sleep(pause * (0.5 + random.random()))  # noqa: S311
            pause = min(pause * 2, 1.0)

    def _future(self) -> asyncio.Future[Any]:
        future = self._loop.create_future()
        # Whoever waited may have been cancelled; the failure was told to the run all the same.
        future.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        return future

    async def _do(self, operation: Operation) -> Any:
        if operation.fence is not None and (error := self._failed.get(operation.fence)):
            raise error
        self._waiting.append(operation)
        self._idle.clear()
        # What is small and finds its lane busy goes when that lane comes back.
        if not self._pump_due and not (
            self._small_flying and operation.work is None and not operation.is_large
        ):
            self._pump_due = True
            self._loop.call_soon(self._pump)
        return await asyncio.shield(operation.done)

    # --- who goes next ---

    def _pump(self) -> None:
        """Send off, in order, whatever may go now."""
        self._pump_due = False
        held = set(self._busy)
        left: deque[Operation] = deque()
        small: list[Operation] = []
        small_threads: set[str] = set()
        small_bytes = 0
        small_open = not self._small_flying
        for operation in self._waiting:
            threads = operation.threads
            free = held.isdisjoint(threads)
            if operation.work is not None:
                if (
                    free
                    and small_threads.isdisjoint(threads)
                    and (self._solo < SOLO_TASKS or not threads)
                ):
                    self._solo += 1
                    self._launch([operation], self._work_alone(operation))
                    held.update(threads)
                    continue
            elif operation.is_large:
                if free and not self._large_flying and small_threads.isdisjoint(threads):
                    self._large_flying = True
                    self._launch([operation], self._fly_large(operation))
                    held.update(threads)
                    continue
            elif free and small_open:
                if len(small) < FLUSH_OPERATIONS and small_bytes + operation.size <= FLUSH_BYTES:
                    small.append(operation)
                    small_threads.update(threads)
                    small_bytes += operation.size
                    continue
                small_open = False
            held.update(threads)
            left.append(operation)
        self._waiting = left
        if small:
            self._small_flying = True
            self._launch(small, self._fly_small(small))
        if not self._waiting and not self._tasks:
            self._idle.set()

    def _launch(self, operations: Sequence[Operation], flight: Any) -> None:
        for operation in operations:
            self._busy.update(operation.threads)
        task = self._loop.create_task(flight, name=f"saver {operations[0].threads}")
        self._tasks.add(task)
        task.add_done_callback(self._landed)

    def _landed(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._pump()

    def _free(self, operations: Sequence[Operation]) -> None:
        for operation in operations:
            for thread in operation.threads:
                self._busy[thread] -= 1
                if self._busy[thread] <= 0:
                    del self._busy[thread]

    # --- one flight each ---

    async def _fly_small(self, operations: list[Operation]) -> None:
        try:
            skipped = await self._flush(operations)
        finally:
            self._small_flying = False
            self._free(operations)
        self._again(skipped)

    async def _fly_large(self, operation: Operation) -> None:
        try:
            skipped = await self._flush([operation])
        finally:
            self._large_flying = False
            self._free([operation])
        self._again(skipped)

    async def _work_alone(self, operation: Operation) -> None:
        assert operation.work is not None  # noqa: S101
        try:
            operation.succeed(await self.retried(operation.work))
        except asyncio.CancelledError:
            operation.fail(DatabaseAway("the saver was closed"))
            raise
        except BaseException as error:
            operation.fail(error)
        finally:
            self._solo -= 1
            self._free([operation])

    def _again(self, skipped: Sequence[Operation]) -> None:
        """Send the writes of each thread whose lease was held, alone and before all later ones."""
        by_fence: dict[Fence, list[Operation]] = {}
        for operation in skipped:
            assert operation.covered is not None  # noqa: S101
            by_fence.setdefault(operation.covered, []).append(operation)
        for fence, operations in by_fence.items():
            self._launch(operations, self._fly_waiting(fence, operations))

    async def _fly_waiting(self, fence: Fence, operations: list[Operation]) -> None:
        async def attempt() -> list[Row] | None:
            async with self.database.transaction() as connection:
                async with connection.savepoint(lock_timeout=LOCK_SECONDS):
                    held = await connection.fetchrow(
                        SQL.lock_fence, fence.thread_id, fence.epoch, fence.owner
                    )
                return await self._send(connection, operations) if held else None

        try:
            rows = await self.retried(attempt)
        except asyncio.CancelledError:
            self._fail_all(operations, DatabaseAway("the saver was closed"))
            raise
        except SaysoError as error:
            self._fail_all(operations, error)
        except Exception as error:
            self._fail_all(operations, DatabaseAway(type(error).__name__))
        else:
            if rows:
                self._note_late(rows, operations)
                for operation in operations:
                    operation.succeed()
            else:
                self._fail_all(operations, StaleOwner(fence.thread_id, fence.epoch))
        finally:
            self._free(operations)

    async def _flush(self, operations: list[Operation]) -> list[Operation]:
        """Write them all, answer each; return those whose lease somebody held."""
        # What failed while these waited must fail them too.
        alive: list[Operation] = []
        for operation in operations:
            error = self._failed.get(operation.fence) if operation.fence else None
            if error is not None:
                operation.fail(error)
            else:
                alive.append(operation)
        if not alive:
            return []

        async def attempt() -> list[Row]:
            async with self.database.connection() as connection:
                return await self._send(connection, alive)

        try:
            rows = await self.retried(attempt)
        except asyncio.CancelledError:
            self._fail_all(alive, DatabaseAway("the saver was closed"))
            raise
        except (DatabaseAway, LockTimeout) as error:
            self._fail_all(alive, error)
            return []
        except SaysoError as error:
            if len(alive) == 1:
                self._fail_all(alive, error)
                return []
            skipped: list[Operation] = []
            for operation in alive:
                skipped += await self._flush([operation])
            return skipped
        except Exception as error:
            log.exception("a flush failed in a way that nobody foresaw")
            self._fail_all(alive, DatabaseAway(type(error).__name__))
            return []
        return self._answer(rows, alive)

    def _answer(self, rows: Sequence[Row], operations: Sequence[Operation]) -> list[Operation]:
        tickets = tickets_of(operations)
        granted = {row["ticket"] for row in rows}
        self._note_late(rows, operations)
        skipped: list[Operation] = []
        for operation in operations:
            if tickets[operation.thread_id, operation.covered] in granted:
                operation.succeed()
            elif operation.covered is not None:
                skipped.append(operation)
            else:
                self._fail_all([operation], NotTheOwner(operation.thread_id))
        return skipped

    def _fail_all(self, operations: Sequence[Operation], error: SaysoError) -> None:
        for operation in operations:
            if operation.fence is not None:
                self.fail(operation.fence, error)
            operation.fail(error)

    def _note_late(self, rows: Sequence[Row], operations: Sequence[Operation]) -> None:
        """Say which checkpoints were dropped because their thread was deleted before."""
        for row in rows:
            if row["deleted_id"] is None:
                continue
            tickets = tickets_of(operations)
            for operation in operations:
                if (
                    operation.put is not None
                    and tickets[operation.thread_id, operation.covered] == row["ticket"]
                    and operation.put.checkpoint_id not in row["put_ids"]
                ):
                    log.warning(
                        "checkpoint %s came after thread %s was deleted, and was dropped",
                        operation.put.checkpoint_id,
                        operation.thread_id,
                    )

    async def _send(self, connection: Connection, operations: Sequence[Operation]) -> list[Row]:
        failpoints.reached("flush.before")
        rows = await connection.fetch(SQL.flush, *columns(operations))
        failpoints.reached("flush.sent")
        return rows
