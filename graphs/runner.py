"""The runner: claims threads, has them played, settles them, and stops without losing anything.

**Two loops.** Claims, heartbeats, settle and whatever else is ours run on the loop that called
`run`; graphs run on another loop in a thread of its own (`graphs/loops.py`). So a node that blocks
loses no lease and holds up no settle. A loop of graphs that stands still for a lease is reported
with the names of the nodes, after ten minutes the worker ends, and others take its threads over.

**One owner.** A thread is played by whoever holds its lease. The epoch of that lease travels in
the run's configuration, and every checkpoint write names it; a refused write, a heartbeat that
finds the lease gone, or a word that it was seized cancels the run at once, and nothing more is
written.

What ends a play, and what is done then, stands in `graphs/ownership.py`.

**No lost wake-up.** A notification is a hint; every second, with jitter, the runner looks itself.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import time
import uuid
from collections.abc import Callable
from typing import Any, Final

import structlog

from checkpoints import leases
from checkpoints.database import Database
from checkpoints.errors import (
    DatabaseAway,
    LockTimeout,
    SaysoError,
    StaleOwner,
)
from checkpoints.leases import Lease
from checkpoints.postgres import PostgresSaver
from graphs import mailbox
from graphs.errors import LoopStuck
from graphs.loops import GraphLoop
from graphs.ownership import AWAY_SECONDS, Owner, Ownership
from graphs.ownership import Limits as Limits
from graphs.plays import MakeSaver, Side, open_side
from graphs.policy import Policy
from graphs.ports import Clock, Fetch, Wish, no_clock, no_fetch, no_wish
from graphs.registry import Registry

log = structlog.get_logger(__name__)

WORKING_SHARE: Final = 10  # a busy worker gives way for one tenth of the time, at most


class Runner:
    """Runs the threads of one team's loaded graphs; any number of runners share the work."""

    def __init__(
        self,
        database: Database,
        registry: Registry,
        *,
        team: str,
        policy: Policy | Callable[[], Policy] | None = None,
        limits: Limits | None = None,
        wish: Wish = no_wish,
        fetch: Fetch = no_fetch,
        clock: Clock = no_clock,
        make_saver: MakeSaver | None = None,
        owner: str | None = None,
    ) -> None:
        """Take the collaborators; nothing is opened before `run`.

        Args:
            database: on the loop that will call `run`; the graphs' loop opens its own.
            policy: the rules; a function is asked for those in force whenever they are needed.
            owner: who holds the leases, unique to this worker; made up where it is not given.
        """
        self._database = database
        self._registry = registry
        self._team = team
        self._policy = policy if callable(policy) else lambda: policy or Policy()
        self._limits = limits or Limits()
        self._wish = wish
        self._fetch = fetch
        self._clock = clock
        self._make_saver = make_saver or _postgres_saver
        self.owner = owner or f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._loop = GraphLoop()
        self._hands: Owner | None = None
        self._runs: dict[str, Ownership] = {}
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
        side = await self._open()
        if side is None:
            return
        self._hands = Owner(
            self._database,
            self._registry,
            policy=self._policy,
            limits=self._limits,
            wish=self._wish,
            fetch=self._fetch,
            clock=self._clock,
            loop=self._loop,
            side=side,
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

    async def _open(self) -> Side | None:
        """Open the graphs' side, again while the database is away; None where a stop came first."""
        while not self._stopping.is_set():
            try:
                return await self._loop.open(
                    lambda: open_side(
                        self._database.url,
                        self._make_saver,
                        self._refused,
                        size=self._limits.pool_size,
                        statement_cache=self._limits.statement_cache,
                    )
                )
            except DatabaseAway as error:
                log.warning("graphs.not_opened", error=str(error))
                await _wait(self._stopping, AWAY_SECONDS)
        return None

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
            running=[thread_id for thread_id, run in self._runs.items() if not run.lost],
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
        assert self._hands is not None  # noqa: S101  run() made them
        run = Ownership(lease)
        # Taken from our own hands and free again: what still runs under the old epoch is nobody's.
        if (older := self._runs.get(lease.thread_id)) is not None:
            older.lose()
        self._runs[lease.thread_id] = run
        run.task = asyncio.create_task(self._hands.own(run), name=f"own {lease.thread_id}")
        run.task.add_done_callback(lambda _: self._ended(run))

    def _ended(self, run: Ownership) -> None:
        # Not a younger run of the same thread: without its place here it would get no heartbeat.
        if self._runs.get(run.lease.thread_id) is run:
            del self._runs[run.lease.thread_id]
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
                extended = await leases.extend(connection, fences, self._limits.lease_seconds)
            for thread_id in held.keys() - extended.kept - extended.skipped:
                self._lost(held[thread_id])
            await self._beat_alone([held[thread_id] for thread_id in sorted(extended.skipped)])
        except (DatabaseAway, LockTimeout) as error:
            log.warning("heartbeat.failed", error=str(error))

    async def _beat_alone(self, runs: list[Ownership]) -> None:
        """Extend one by one those whose rows were locked; the next beat must not be late for it."""
        until = time.monotonic() + self._limits.lease_seconds / 6
        for run in runs:
            if time.monotonic() > until:
                return
            async with self._database.transaction() as connection:
                kept = await leases.extend_alone(
                    connection, run.lease.fence, self._limits.lease_seconds
                )
            if kept is None:
                log.info("lease.locked", thread=run.lease.thread_id)
            elif not kept:
                self._lost(run)

    def _lost(self, run: Ownership) -> None:
        # Not one that has let go of its lease while we asked.
        if self._runs.get(run.lease.thread_id) is run:
            log.info("lease.lost", thread=run.lease.thread_id)
            run.lose()

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
