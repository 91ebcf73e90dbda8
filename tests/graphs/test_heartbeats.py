"""Heartbeats and claims beside a process that is frozen with a lock in its hands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

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
