"""The runner: claims threads, has them played, settles them, and stops without losing anything.

**Two loops.** Claims, heartbeats, settle and whatever else is ours run on the loop that called
`run`; graphs run on another loop in a thread of its own (`graphs/loops.py`). So a node that blocks
loses no lease and holds up no settle. A loop of graphs that stands still for a lease is reported
with the names of the nodes, after ten minutes the worker ends, and others take its threads over.

**One owner.** A thread is played by whoever holds its lease. The epoch of that lease travels in
the run's configuration, and every checkpoint write names it; a refused write, a heartbeat that
finds the lease gone, or a word that it was seized cancels the run at once, and nothing more is
written.

**What ends a play**, and what is done then:

    it rests (asked, failed, at its end)   settle, one transaction (`graphs/settling.py`)
    it was drained or cut by a stop        handed back: ready for the next owner, no crash counted
    the lease is somebody else's           nothing
    the database was away                  handed back for a little later; if even that fails, the
                                           lease runs out and the next owner reads the state
    its state names a blocked type         held, and the operators are told
    it crashed its workers five times      parked, and the operators are told

**No lost wake-up.** A notification is a hint; every second, with jitter, the runner looks itself.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

import structlog
from langgraph.runtime import RunControl

from checkpoints import leases
from checkpoints.database import Database
from checkpoints.errors import (
    BlockedType,
    DatabaseAway,
    LockTimeout,
    LostCheckpoint,
    SaysoError,
    StaleOwner,
)
from checkpoints.failpoints import reached
from checkpoints.leases import Lease
from checkpoints.postgres import PostgresSaver
from graphs import mailbox, orders, ports, settling, steps, threads
from graphs.errors import LoopStuck
from graphs.feeding import Plan
from graphs.loops import Cut, GraphLoop, Job
from graphs.plays import Broke, MakeSaver, Order, Played, Side, open_side, play
from graphs.policy import Policy
from graphs.ports import Fetch, Wish, no_fetch, no_wish
from graphs.registry import LoadedGraph, Registry
from graphs.steps import Told
from graphs.threads import Thread

log = structlog.get_logger(__name__)

SETTLE_RETRY_SECONDS: Final = 0.2
AWAY_SECONDS: Final = 2.0
WORKING_SHARE: Final = 10  # a busy worker gives way for one tenth of the time, at most


@dataclass(frozen=True)
class Limits:
    """How long and how many; tests and chaos run with a lease of one second."""

    lease_seconds: float = 20.0
    poll_seconds: float = 1.0
    at_once: int = 64
    drain_seconds: float = 20.0
    cut_seconds: float = 5.0
    stuck_seconds: float = 600.0
    pool_size: int = 10
    statement_cache: int = 256
    crashes_to_park: int = 5


@dataclass
class _Run:
    """One thread that this worker owns now."""

    lease: Lease
    control: RunControl = field(default_factory=RunControl)
    job: Job[Any] | None = None
    lost: bool = False
    failure: SaysoError | None = None
    running: dict[str, str] = field(default_factory=dict)
    task: asyncio.Task[None] | None = None

    @property
    def alone(self) -> bool:
        return self.lease.crashes >= leases.ALONE_FROM_CRASHES

    def cut(self) -> None:
        """Cancel what runs, if something does."""
        if self.job is not None:
            self.job.cancel()

    def lose(self) -> None:
        """The lease is somebody else's: run nothing more, write nothing more."""
        self.lost = True
        self.cut()


class Runner:
    """Runs the threads of one team's loaded graphs; any number of runners share the work."""

    def __init__(
        self,
        database: Database,
        registry: Registry,
        *,
        team: str,
        policy: Policy | None = None,
        limits: Limits | None = None,
        wish: Wish = no_wish,
        fetch: Fetch = no_fetch,
        make_saver: MakeSaver | None = None,
        owner: str | None = None,
    ) -> None:
        """Take the collaborators; nothing is opened before `run`.

        Args:
            database: on the loop that will call `run`; the graphs' loop opens its own.
            owner: who holds the leases, unique to this worker; made up where it is not given.
        """
        self._database = database
        self._registry = registry
        self._team = team
        self._policy = policy or Policy()
        self._limits = limits or Limits()
        self._wish = wish
        self._fetch = fetch
        self._make_saver = make_saver or _postgres_saver
        self.owner = owner or f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._loop = GraphLoop()
        self._side: Side | None = None
        self._runs: dict[str, _Run] = {}
        self._stopping = asyncio.Event()
        self._look = asyncio.Event()
        self._engine: asyncio.AbstractEventLoop | None = None
        self._gave_way = float("-inf")

    @property
    def running(self) -> tuple[str, ...]:
        """The threads that are owned now."""
        return tuple(self._runs)

    def stop(self) -> None:
        """Take no more threads, drain those that run, let `run` return. Safe from any thread."""
        if self._engine is None:
            self._stopping.set()
        else:
            self._engine.call_soon_threadsafe(self._stopping.set)

    def look(self) -> None:
        """Look for ready threads now and not only at the next poll."""
        self._look.set()

    async def run(self) -> None:
        """Run until `stop`, or until a duty of the runner itself fails.

        Raises:
            LoopStuck: a node blocks the graphs' loop for good; the process should end.
            Whatever ended one of the duties.
        """
        self._engine = asyncio.get_running_loop()
        self._side = await self._loop.open(
            lambda: open_side(
                self._database.url,
                self._make_saver,
                self._refused,
                size=self._limits.pool_size,
                statement_cache=self._limits.statement_cache,
            )
        )
        duties = [
            asyncio.create_task(self._claim_for_ever(), name="claims"),
            asyncio.create_task(self._beat_for_ever(), name="heartbeats"),
            asyncio.create_task(self._loop.ended(), name="graphs"),
            asyncio.create_task(self._database.listen(leases.READY, self._heard_ready)),
            asyncio.create_task(self._database.listen(leases.SEIZED, self._heard_seized)),
        ]
        stopping = asyncio.create_task(self._stopping.wait(), name="stopping")
        try:
            await asyncio.wait([*duties, stopping], return_when=asyncio.FIRST_COMPLETED)
            # The heartbeats go on while what runs is drained.
            await _end([duties[0], *duties[2:]])
            await self._drain()
        finally:
            await _end([*duties, stopping])
            if not await self._loop.close(self._limits.cut_seconds):
                log.warning("graphs.left", why="a node blocks their loop")
        for duty in duties:
            if not duty.cancelled() and (error := duty.exception()) is not None:
                raise error

    # Claims and heartbeats

    async def _claim_for_ever(self) -> None:
        while not self._stopping.is_set():
            self._look.clear()
            try:
                full = await self._claim()
            except (DatabaseAway, LockTimeout) as error:
                log.warning("claim.failed", error=str(error))
                full = False
            if full:
                continue
            pause = self._limits.poll_seconds * random.uniform(0.5, 1.0)  # noqa: S311
            await _wait(self._look, pause)

    async def _claim(self) -> bool:
        """Claim what there is room for; True when there may be more at once."""
        async with self._database.transaction() as connection:
            await mailbox.wake_unwoken(connection)
        room = self._limits.at_once - len(self._runs)
        if room <= 0 or any(run.alone for run in self._runs.values()):
            return False
        claimed: list[Lease] = []
        async with self._database.transaction() as connection:
            if not self._runs:
                claimed = await self._claim_in(connection, 1, alone=True)
            if not claimed and not await self._gives_way(connection):
                claimed = await self._claim_in(connection, room, alone=False)
        for lease in claimed:
            self._begin(lease)
        return len(claimed) == room

    async def _claim_in(self, connection: Any, limit: int, *, alone: bool) -> list[Lease]:
        return await leases.claim(
            connection,
            owner=self.owner,
            scopes=self._registry.scopes(self._team),
            limit=limit,
            lease_seconds=self._limits.lease_seconds,
            alone=alone,
        )

    async def _gives_way(self, connection: Any) -> bool:
        """Whether to take nothing more because a thread waits that has to run alone.

        Without it a busy worker would never be empty and such a thread never run. It gives way for
        as long as a drain may take, then works on for a while: what runs may run for hours.
        """
        if not self._runs:
            return False
        now, patience = time.monotonic(), self._limits.drain_seconds
        if now - self._gave_way >= patience * WORKING_SHARE:
            self._gave_way = now
        if now - self._gave_way >= patience:
            return False
        return await leases.waits_alone(connection, self._registry.scopes(self._team))

    def _begin(self, lease: Lease) -> None:
        run = _Run(lease)
        self._runs[lease.thread_id] = run
        run.task = asyncio.create_task(self._own(run), name=f"own {lease.thread_id}")
        run.task.add_done_callback(lambda _: self._ended(run))

    def _ended(self, run: _Run) -> None:
        self._runs.pop(run.lease.thread_id, None)
        self._look.set()

    async def _beat_for_ever(self) -> None:
        reported = False
        while True:
            await asyncio.sleep(self._limits.lease_seconds / 3)
            await self._beat()
            still = self._loop.still_for()
            self._loop.ping()
            if still > self._limits.lease_seconds and not reported:
                log.error("graphs.stand_still", seconds=round(still), nodes=self._nodes())
            reported = still > self._limits.lease_seconds
            if still > self._limits.stuck_seconds:
                raise LoopStuck(still, self._nodes())

    async def _beat(self) -> None:
        """Extend all leases; a run whose lease is gone is cancelled."""
        held = {thread_id: run for thread_id, run in self._runs.items() if not run.lost}
        if not held:
            return
        fences = [run.lease.fence for run in held.values()]
        try:
            async with self._database.transaction() as connection:
                kept = await leases.extend(connection, fences, self._limits.lease_seconds)
        except (DatabaseAway, LockTimeout) as error:
            log.warning("heartbeat.failed", error=str(error))
            return
        for thread_id in held.keys() - kept:
            # Not one that has let go of its lease while we asked.
            if self._runs.get(thread_id) is held[thread_id]:
                log.info("lease.lost", thread=thread_id)
                held[thread_id].lose()

    def _refused(self, fence: leases.Fence, why: SaysoError | None) -> None:
        """A write was refused: end that run now, and not at the end of its step."""
        if self._engine is not None and not self._engine.is_closed():
            self._engine.call_soon_threadsafe(self._cut_refused, fence, why)

    def _cut_refused(self, fence: leases.Fence, why: SaysoError | None) -> None:
        run = self._runs.get(fence.thread_id)
        if run is None or run.lease.fence != fence:
            return
        if isinstance(why, StaleOwner):
            run.lose()
        elif isinstance(why, DatabaseAway | LockTimeout):
            run.failure = why
            run.cut()

    def _heard_ready(self, scope: str) -> None:
        if scope == "" or scope in self._registry.scopes(self._team):
            self._look.set()

    def _heard_seized(self, thread_id: str) -> None:
        # A hint: it may tell of a time before this claim, so the row is asked.
        if thread_id == "" or thread_id in self._runs:
            beat = asyncio.get_running_loop().create_task(self._beat(), name="seized")
            beat.add_done_callback(lambda task: task.cancelled() or task.exception())

    def _nodes(self) -> tuple[str, ...]:
        return tuple(node for run in self._runs.values() for node in run.running.values())

    # One thread, from claim to release

    async def _own(self, run: _Run) -> None:
        lease = run.lease
        logger = log.bind(thread=lease.thread_id, epoch=lease.fence.epoch)
        if lease.taken_over:
            logger.warning("thread.taken_over", crashes=lease.crashes)
        try:
            await self._advance(run)
        except StaleOwner:
            logger.info("thread.lost")
        except (BlockedType, LostCheckpoint) as unreadable:
            logger.error("thread.held", why=str(unreadable))
            await self._aside(run, "held", str(unreadable))
        except Cut:
            await self._hand_back(run, 0.0)
        except (DatabaseAway, LockTimeout) as error:
            logger.warning("thread.handed_back", why=str(error))
            await self._hand_back(run, AWAY_SECONDS)
        except Exception:
            # A mistake of ours and not of the graph: let it be seen, and do not spin on it.
            logger.exception("thread.not_advanced")
            await self._hand_back(run, self._limits.lease_seconds)

    async def _advance(self, run: _Run) -> None:
        """Prepare, play, settle."""
        lease = run.lease
        thread = await threads.get(self._database, lease.thread_id)
        if thread.status in (threads.Status.CANCELLED, threads.Status.HELD, threads.Status.PARKED):
            async with self._database.transaction() as connection:
                await leases.hold(connection, lease.fence)
                await leases.release(connection, lease.fence, seq=lease.seq)
            return
        if lease.crashes >= self._limits.crashes_to_park:
            why = f"its worker ended {lease.crashes} times in a row while it ran"
            await self._aside(run, "parked", why)
            return
        loaded = self._registry.get(thread.graph)
        played, thread = await self._played(run, thread, loaded)
        if played.drained:
            await self._hand_back(run, 0.0)
            return
        reached("settle.before")
        await self._settle(run, thread, loaded, played)
        reached("settle.after")

    async def _played(
        self, run: _Run, thread: Thread, loaded: LoadedGraph
    ) -> tuple[Played, Thread]:
        assert self._side is not None  # noqa: S101
        side = self._side
        try:
            prepared = await orders.prepare(
                self._database,
                run.lease,
                thread,
                loaded,
                fetch=self._fetch,
                take_in=lambda message: self._over_there(
                    run, orders.take_in(side, loaded, message), "intake"
                ),
            )
        except orders.IntakeFailed as failed:
            broke = Broke("intake", failed.type, failed.message)
            return Played(Plan("input"), head=thread.head, broke=broke), thread
        telling = _Telling(self._database, thread.id, run, self._wish)
        engine = asyncio.get_running_loop()
        order = Order(
            thread=prepared.thread,
            loaded=loaded,
            fence=run.lease.fence,
            rows=prepared.rows,
            input=prepared.input,
            values=prepared.values,
            turns=prepared.turns,
            decisions=prepared.decisions,
            control=run.control,
            tell=lambda told: _safely(engine, telling.hear, told),
        )
        try:
            return await self._over_there(run, play(side, order), f"play {thread.id}"), order.thread
        finally:
            await telling.close()

    async def _over_there(self, run: _Run, coroutine: Coroutine[Any, Any, Any], name: str) -> Any:
        """Run on the graphs' loop, so that a stop or a lost lease can cut it."""
        run.job = self._loop.run(coroutine, name)
        if run.lost:
            run.job.cancel()
        try:
            return await run.job.done()
        except Cut:
            if run.lost:
                raise StaleOwner(run.lease.thread_id, run.lease.fence.epoch) from None
            if run.failure is not None:
                raise run.failure from None
            raise
        finally:
            run.job = None

    async def _settle(self, run: _Run, thread: Thread, loaded: LoadedGraph, played: Played) -> None:
        """Settle, again and again while the database is away and the lease may still be ours."""

        async def once() -> None:
            async with self._database.transaction() as connection:
                rest = await settling.settle(
                    connection,
                    run.lease,
                    thread=thread,
                    loaded=loaded,
                    played=played,
                    policy=self._policy,
                    wish=self._wish,
                )
                reached("settle.written")
            log.info(
                "thread.settled",
                thread=thread.id,
                mark=rest.mark,
                opened=rest.opened,
                ran=played.plan.do,
            )

        await self._persist(once)

    async def _persist(self, once: Callable[[], Awaitable[None]]) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + self._limits.lease_seconds
        while True:
            try:
                await once()
                return
            except (DatabaseAway, LockTimeout):
                if loop.time() > until:
                    raise
                await asyncio.sleep(SETTLE_RETRY_SECONDS)

    async def _aside(self, run: _Run, mark: Any, why: str) -> None:
        try:
            async with self._database.transaction() as connection:
                await settling.put_aside(
                    connection, run.lease, run.lease.thread_id, mark, why, self._wish
                )
        except SaysoError as error:  # its lease runs out, and the next owner finds the same
            log.warning("thread.not_put_aside", thread=run.lease.thread_id, error=str(error))

    async def _hand_back(self, run: _Run, later_seconds: float) -> None:
        if run.lost:
            return
        try:
            async with self._database.transaction() as connection:
                await settling.hand_back(connection, run.lease, later_seconds=later_seconds)
        except SaysoError as error:  # the lease runs out by itself
            log.info("thread.not_handed_back", thread=run.lease.thread_id, error=str(error))

    # Stopping

    async def _drain(self) -> None:
        """Let everything that runs come to its next step, then cut it; hand all leases back."""
        for run in self._runs.values():
            run.control.request_drain("stopping")
        if await self._all_ended(self._limits.drain_seconds):
            return
        for run in self._runs.values():
            run.cut()
        if not await self._all_ended(self._limits.cut_seconds):
            # A node that cannot be cancelled: its lease must not be given away while it acts.
            log.warning("drain.left", threads=list(self._runs), nodes=self._nodes())

    async def _all_ended(self, seconds: float) -> bool:
        tasks = [run.task for run in self._runs.values() if run.task is not None]
        if not tasks:
            return True
        _, pending = await asyncio.wait(tasks, timeout=seconds)
        return not pending


class _Telling:
    """Writes what the stream says of the steps, and wishes the progress shown, a batch at a time.

    While one batch is being written the next collects: a quick graph costs few transactions, and
    nothing waits for them but the settle.
    """

    def __init__(self, database: Database, thread_id: str, run: _Run, wish: Wish) -> None:
        self._database = database
        self._thread_id = thread_id
        self._run = run
        self._wish = wish
        self._told: list[Told] = []
        self._writing: asyncio.Task[None] | None = None

    def hear(self, told: Told) -> None:
        """Take one word of the stream."""
        if told.status == "running":
            self._run.running[told.task_id] = told.node
        else:
            self._run.running.pop(told.task_id, None)
        self._told.append(told)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write(), name=f"steps {self._thread_id}")

    async def close(self) -> None:
        """Wait until all is written."""
        self._run.running.clear()
        if self._writing is not None:
            await self._writing

    async def _write(self) -> None:
        while self._told:
            batch, self._told = self._told, []
            try:
                async with self._database.transaction() as connection:
                    await steps.tell(connection, self._thread_id, batch)
                    await self._wish(connection, ports.PROGRESS, self._thread_id)
            except SaysoError as error:  # steps are for people; the run goes on
                log.warning("steps.not_kept", thread=self._thread_id, error=str(error))


def _safely(engine: asyncio.AbstractEventLoop, hear: Callable[[Told], None], told: Told) -> None:
    if not engine.is_closed():
        engine.call_soon_threadsafe(hear, told)


def _postgres_saver(database: Database) -> Any:
    return PostgresSaver(database)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


async def _end(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
