"""One thread in the hands of its owner: prepared, played, settled, or handed back.

What ends a play, and what is done then:

    it rests (asked, failed, at its end)   settle, one transaction (`graphs/settling.py`)
    it was drained or cut by a stop        handed back: ready for the next owner, no crash counted
    the lease is somebody else's           nothing
    the database was away                  handed back for a little later; if even that fails, the
                                           lease runs out and the next owner reads the state
    its state cannot be read as written    held, and the operators are told
    the code asks otherwise than before    held with what changed; the answer is kept
    it crashed its workers five times      parked, and the operators are told
    a mistake of ours raised something     handed back for later and counted as a crash; at the
                                           fifth in a row held, and the operators are told
"""

from __future__ import annotations

import asyncio
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
from graphs import orders, settling, threads
from graphs.errors import CodeChanged
from graphs.feeding import Plan
from graphs.loops import Cut, GraphLoop, Job
from graphs.plays import Order, Played, Side, play
from graphs.policy import Policy
from graphs.ports import Clock, Fetch, Wish
from graphs.progress import Progress
from graphs.registry import LoadedGraph, Registry
from graphs.states import Broke
from graphs.steps import Told
from graphs.threads import Thread

log = structlog.get_logger(__name__)

SETTLE_RETRY_SECONDS: Final = 0.2
AWAY_SECONDS: Final = 2.0


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
class Ownership:
    """One thread that this worker owns now."""

    lease: Lease
    control: RunControl = field(default_factory=RunControl)
    job: Job[Any] | None = None
    lost: bool = False
    failure: SaysoError | None = None
    stopped: bool = False
    running: dict[str, str] = field(default_factory=dict)
    task: asyncio.Task[None] | None = None

    @property
    def alone(self) -> bool:
        """Whether nothing may run beside it."""
        return self.lease.crashes >= leases.ALONE_FROM_CRASHES

    def cut(self) -> None:
        """Cancel what runs, and whatever would run next."""
        self.stopped = True
        if self.job is not None:
            self.job.cancel()

    def lose(self) -> None:
        """The lease is somebody else's: run nothing more, write nothing more."""
        self.lost = True
        self.cut()


class Owner:
    """What owning a thread takes; one for each worker."""

    def __init__(
        self,
        database: Database,
        registry: Registry,
        *,
        policy: Callable[[], Policy],
        limits: Limits,
        wish: Wish,
        fetch: Fetch,
        clock: Clock,
        loop: GraphLoop,
        side: Side,
    ) -> None:
        self._database = database
        self._registry = registry
        self._policy = policy
        self._limits = limits
        self._wish = wish
        self._fetch = fetch
        self._clock = clock
        self._loop = loop
        self._side = side

    async def own(self, run: Ownership) -> None:
        """Take one thread from its claim to its release; whatever happens, nothing is raised."""
        lease = run.lease
        logger = log.bind(thread=lease.thread_id, epoch=lease.fence.epoch)
        if lease.taken_over:
            logger.warning("thread.taken_over", crashes=lease.crashes)
        try:
            await self._advance(run)
        except StaleOwner:
            logger.info("thread.lost")
        except (BlockedType, LostCheckpoint, CodeChanged) as wrong:
            logger.error("thread.held", why=str(wrong))
            on = f"`sayso threads retry {lease.thread_id}` lets the thread go on."
            await self._aside(run, "held", f"{wrong} {on}")
        except Cut:
            await self._hand_back(run, 0.0)
        except (DatabaseAway, LockTimeout) as error:
            logger.warning("thread.handed_back", why=str(error))
            await self._hand_back(run, AWAY_SECONDS)
        except Exception as error:
            # A mistake of ours and not of the graph: let it be seen, and do not spin on it.
            logger.exception("thread.not_advanced")
            await self._unforeseen(run, error)

    async def _advance(self, run: Ownership) -> None:
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
        self, run: Ownership, thread: Thread, loaded: LoadedGraph
    ) -> tuple[Played, Thread]:
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
            broke = Broke("intake", failed.type, failed.message, failed.permanent)
            return Played(Plan("input"), head=thread.head, broke=broke), thread
        telling = Progress(self._database, thread.id, run.running, self._wish)
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
            stopped=prepared.stopped,
            pauses=prepared.pauses,
            control=run.control,
            tell=lambda told: _safely(engine, telling.hear, told),
            asks_of_state=self._policy().asks_of_state(thread.graph),
        )
        try:
            return await self._over_there(run, play(side, order), f"play {thread.id}"), order.thread
        finally:
            await telling.close()

    async def _over_there(
        self, run: Ownership, coroutine: Coroutine[Any, Any, Any], name: str
    ) -> Any:
        """Run on the graphs' loop, so that a stop or a lost lease can cut it."""
        run.job = self._loop.run(coroutine, name)
        if run.stopped:
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

    async def _settle(
        self, run: Ownership, thread: Thread, loaded: LoadedGraph, played: Played
    ) -> None:
        """Settle, again and again while the database is away and the lease may still be ours."""

        async def once() -> None:
            at = await self._clock() if played.asked else None
            async with self._database.transaction() as connection:
                rest = await settling.settle(
                    connection,
                    run.lease,
                    thread=thread,
                    loaded=loaded,
                    played=played,
                    policy=self._policy(),
                    wish=self._wish,
                    at=at,
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

    async def _unforeseen(self, run: Ownership, error: Exception) -> None:
        """Count it with the lease's crashes, so that it ends also where workers come and go."""
        times = run.lease.crashes + 1
        if times < self._limits.crashes_to_park:
            await self._hand_back(run, self._limits.lease_seconds, crashed=True)
            return
        # The type and not the message, which may hold what people wrote.
        why = f"it could not be run {times} times in a row: {type(error).__name__}"
        await self._aside(run, "held", why)

    async def _aside(self, run: Ownership, mark: Any, why: str) -> None:
        if run.lost:
            return
        try:
            async with self._database.transaction() as connection:
                await settling.put_aside(
                    connection, run.lease, run.lease.thread_id, mark, why, self._wish
                )
        except SaysoError as error:  # its lease runs out, and the next owner finds the same
            log.warning("thread.not_put_aside", thread=run.lease.thread_id, error=str(error))
        except Exception:  # and so does this
            log.exception("thread.not_put_aside", thread=run.lease.thread_id)

    async def _hand_back(
        self, run: Ownership, later_seconds: float, *, crashed: bool = False
    ) -> None:
        if run.lost:
            return
        try:
            async with self._database.transaction() as connection:
                await settling.hand_back(
                    connection, run.lease, later_seconds=later_seconds, crashed=crashed
                )
        except SaysoError as error:  # the lease runs out by itself
            log.info("thread.not_handed_back", thread=run.lease.thread_id, error=str(error))


def _safely(engine: asyncio.AbstractEventLoop, hear: Callable[[Told], None], told: Told) -> None:
    if not engine.is_closed():
        engine.call_soon_threadsafe(hear, told)
