"""Heartbeats and claims beside a process that is frozen with a lock in its hands."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import datetime

from checkpoints import leases
from checkpoints.database import Database
from tests.graphs.conftest import House, loaded, until
from tests.graphs.test_runner import State, line


async def test_a_click_that_is_frozen_on_one_thread_costs_no_other_thread_its_lease(
    house: Callable[..., House], database: Database
) -> None:
    async def slow(state: State) -> State:
        await asyncio.sleep(60)
        return {"log": ["slow"]}

    here = house(loaded("loan", line(slow).compile()))
    async with here.working():
        clicked, innocent, late = [await here.start("loan") for _ in range(3)]
        await here.until(clicked, "running")
        await here.until(innocent, "running")
        await here.until(late, "running")
        async with database.transaction() as frozen, database.connection() as looking:
            assert await leases.lock(frozen, clicked)
            for _ in range(2):
                before = await leases.standings(looking, [innocent, late])

                async def extended(before: dict[str, leases.Standing] = before) -> bool:
                    now = await leases.standings(looking, [innocent, late])
                    ends = [(now[each].lease_until, before[each].lease_until) for each in before]
                    return all(new and old and new > old for new, old in ends)

                await until(extended)
            kept = await leases.standings(looking, [innocent, late])
        assert [(each.epoch, each.crashes) for each in kept.values()] == [(1, 0), (1, 0)]


async def ends(may_end: threading.Event) -> None:
    """What a node does for as long as the test wants, on the graphs' own loop."""
    while not may_end.is_set():  # noqa: ASYNC110  it is set from another loop
        await asyncio.sleep(0.02)


async def lease_of(database: Database, thread_id: str) -> leases.Standing:
    async with database.connection() as connection:
        return (await leases.standings(connection, [thread_id]))[thread_id]


async def test_a_thread_whose_older_run_still_ends_keeps_the_heartbeats_of_its_new_run(
    house: Callable[..., House], database: Database
) -> None:
    calls = 0
    older, cut, release = threading.Event(), threading.Event(), threading.Event()

    async def slow(state: State) -> State:
        nonlocal calls
        calls += 1
        try:
            await ends(older if calls == 1 else release)
        except asyncio.CancelledError:
            cut.set()
            await ends(older)  # it takes its time to end
            raise
        return {"log": ["slow"]}

    here = house(loaded("loan", line(slow).compile()))
    async with here.working() as runner:
        thread_id = await here.start("loan")
        await until(lambda: asyncio.sleep(0, calls == 1))
        async with database.transaction() as connection:
            await leases.seize(connection, thread_id)
        await until(lambda: asyncio.sleep(0, calls == 2))
        await until(lambda: asyncio.sleep(0, cut.is_set()))
        older.set()
        for _ in range(4):  # longer than a lease
            before = (await lease_of(database, thread_id)).lease_until
            assert before is not None

            async def extended(before: datetime = before) -> bool:
                now = (await lease_of(database, thread_id)).lease_until
                return now is not None and now > before

            await until(extended)
        assert runner.running == (thread_id,)
        assert (await lease_of(database, thread_id)).epoch == 3  # the seizure and the new claim
        release.set()
        await here.until(thread_id, "done")


async def test_a_worker_whose_loop_stalled_for_longer_than_a_lease_takes_nothing_over_from_itself(
    house: Callable[..., House], database: Database
) -> None:
    release = threading.Event()

    async def slow(state: State) -> State:
        await ends(release)
        return {"log": ["slow"]}

    here = house(loaded("loan", line(slow).compile()))
    async with here.working() as runner:
        thread_id = await here.start("loan")
        await here.until(thread_id, "running")
        for _ in range(3):
            # What a stall leaves behind, and the look for work may come before the heartbeat.
            await database.execute("update sayso.leases set lease_until = now() - interval '1 s'")
            runner.look()
            stalled = (await lease_of(database, thread_id)).lease_until
            assert stalled is not None

            async def extended(stalled: datetime = stalled) -> bool:
                now = (await lease_of(database, thread_id)).lease_until
                return now is not None and now > stalled

            await until(extended)
        standing = await lease_of(database, thread_id)
        assert (standing.epoch, standing.crashes) == (1, 0)
        release.set()
        await here.until(thread_id, "done")
