"""Ownership of threads: one owner, no lost wake-up, no late write, no deadlock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from checkpoints import leases
from checkpoints.database import Connection, Database
from checkpoints.errors import Conflict, StaleOwner
from checkpoints.leases import Fence, Lease

TEAM = "T0SAYSO/loan"
OTHER = "T0SAYSO/refund"


@pytest.fixture
async def connection(database: Database) -> AsyncIterator[Connection]:
    """One connection in autocommit: each verb commits by itself."""
    async with database.connection() as lent:
        yield lent


async def ready(connection: Connection, *threads: str, scope: str = TEAM) -> None:
    for thread in threads:
        await leases.create(connection, thread, scope)
        await leases.wake(connection, thread)


async def claim(
    connection: Connection, owner: str = "w1", *, limit: int = 10, alone: bool = False
) -> list[Lease]:
    return await leases.claim(
        connection, owner=owner, scopes=[TEAM], limit=limit, lease_seconds=30, alone=alone
    )


async def expire(connection: Connection, thread: str) -> None:
    await connection.execute(
        "update sayso.leases set lease_until = now() - interval '1 second' where thread_id = $1",
        thread,
    )


def kept(*threads: str) -> leases.Extended:
    return leases.Extended(frozenset(threads), frozenset())


async def test_a_new_thread_rests_until_it_is_woken(connection: Connection) -> None:
    await leases.create(connection, "a", TEAM)
    assert await claim(connection) == []
    await leases.wake(connection, "a")
    [lease] = await claim(connection)
    assert lease == Lease(Fence("a", 1, "w1"), seq=1, crashes=0, taken_over=False)


async def test_creating_a_lease_twice_changes_nothing(connection: Connection) -> None:
    await ready(connection, "a")
    await leases.create(connection, "a", OTHER)
    assert len(await claim(connection)) == 1


async def test_a_wake_of_a_thread_without_a_lease_does_not_pass_in_silence(
    connection: Connection,
) -> None:
    with pytest.raises(Conflict):
        await leases.wake(connection, "nobody")


async def test_an_owned_thread_is_not_claimed_again(connection: Connection) -> None:
    await ready(connection, "a")
    assert len(await claim(connection, "w1")) == 1
    await leases.wake(connection, "a")
    assert await claim(connection, "w2") == []


async def test_a_worker_claims_only_what_it_serves_and_the_oldest_first(
    connection: Connection,
) -> None:
    await ready(connection, "elsewhere", scope=OTHER)
    for minutes, thread in ((1, "young"), (3, "old"), (2, "middle")):
        await leases.create(connection, thread, TEAM)
        at = datetime.now(UTC) - timedelta(minutes=minutes)
        await leases.wake(connection, thread, at=at)
    assert {lease.thread_id for lease in await claim(connection, limit=2)} == {"old", "middle"}
    assert {lease.thread_id for lease in await claim(connection, limit=2)} == {"young"}


async def test_a_thread_woken_for_later_waits_for_its_time(connection: Connection) -> None:
    await leases.create(connection, "a", TEAM)
    later = datetime.now(UTC) + timedelta(hours=1)
    await leases.wake(connection, "a", at=later)
    assert await claim(connection) == []
    await leases.wake(connection, "a", at=later + timedelta(hours=1))
    standing = (await leases.standings(connection, ["a"]))["a"]
    assert standing.ready_at == later
    await leases.wake(connection, "a")
    assert len(await claim(connection)) == 1


async def test_two_workers_that_claim_at_once_never_get_the_same_thread(
    database: Database,
) -> None:
    names = [f"t{number:03}" for number in range(40)]
    async with database.transaction() as connection:
        await ready(connection, *names)

    async def worker(owner: str) -> list[str]:
        got: list[str] = []
        while True:
            async with database.transaction() as connection:
                mine = await claim(connection, owner, limit=3)
            if not mine:
                return got
            got += [lease.thread_id for lease in mine]

    shares = await asyncio.gather(*(worker(f"w{number}") for number in range(5)))
    assert sorted(name for share in shares for name in share) == names


async def test_an_owner_takes_over_its_own_expired_lease_only_where_it_does_not_run_the_thread(
    connection: Connection,
) -> None:
    await ready(connection, "lost", "running")
    await claim(connection)
    await expire(connection, "lost")
    await expire(connection, "running")
    again = await leases.claim(
        connection, owner="w1", scopes=[TEAM], limit=10, lease_seconds=30, running=["running"]
    )
    assert [(lease.fence, lease.crashes) for lease in again] == [(Fence("lost", 2, "w1"), 1)]


async def test_an_expired_lease_is_taken_over_and_counts_a_crash(connection: Connection) -> None:
    await ready(connection, "a")
    [first] = await claim(connection, "w1")
    await expire(connection, "a")
    [second] = await claim(connection, "w2")
    assert second == Lease(Fence("a", 2, "w2"), seq=1, crashes=1, taken_over=True)
    with pytest.raises(StaleOwner):
        await leases.hold(connection, first.fence)
    await leases.hold(connection, second.fence)


async def test_from_the_second_crash_on_a_thread_is_claimed_alone(connection: Connection) -> None:
    await ready(connection, "bad", "worse", "good")
    for crash in range(2):
        taken = await claim(connection, f"w{crash}")
        assert {lease.thread_id for lease in taken} >= {"bad", "worse"}
        await expire(connection, "bad")
        await expire(connection, "worse")
    assert {lease.thread_id for lease in await claim(connection, "w8")} == set()
    [one] = await claim(connection, "w9", alone=True)
    assert one.crashes == 2
    assert one.taken_over
    [other] = await claim(connection, "w9", alone=True)
    assert {one.thread_id, other.thread_id} == {"bad", "worse"}


async def test_a_worker_for_lone_threads_takes_no_other_kind(connection: Connection) -> None:
    await ready(connection, "good")
    assert await claim(connection, alone=True) == []


async def test_progress_forgets_the_crashes_and_handing_back_does_not(
    connection: Connection,
) -> None:
    await ready(connection, "a")
    await claim(connection, "w1")
    await expire(connection, "a")
    [lease] = await claim(connection, "w2")
    now = datetime.now(UTC)
    assert await leases.release(
        connection, lease.fence, seq=lease.seq, ready_at=now, progress=False
    )
    [lease] = await claim(connection, "w3")
    assert lease.crashes == 1
    assert not lease.taken_over
    await leases.release(connection, lease.fence, seq=lease.seq, ready_at=now)
    [lease] = await claim(connection, "w4")
    assert lease.crashes == 0
    await leases.release(
        connection, lease.fence, seq=lease.seq, ready_at=now, progress=False, crashed=True
    )
    [lease] = await claim(connection, "w5")
    assert lease.crashes == 1


async def test_extending_returns_only_what_is_still_held(connection: Connection) -> None:
    await ready(connection, "a", "b", "c")
    fences = [lease.fence for lease in await claim(connection)]
    await leases.seize(connection, "b")
    assert await leases.extend(connection, fences, 30) == kept("a", "c")
    assert await leases.extend(connection, [], 30) == kept()


async def test_a_row_that_somebody_holds_is_skipped_and_costs_no_other_lease(
    database: Database,
) -> None:
    async with database.connection() as connection:
        await ready(connection, "a", "b", "c", "gone")
        fences = [lease.fence for lease in await claim(connection)]
        await leases.seize(connection, "gone")
        started = asyncio.get_running_loop().time()
        async with database.transaction() as frozen:
            assert await leases.lock(frozen, "b")
            extended = await leases.extend(connection, fences, 30)
            assert asyncio.get_running_loop().time() - started < leases.LOCK_SECONDS
            assert extended == leases.Extended(frozenset({"a", "c"}), frozenset({"b"}))
        assert await leases.extend(connection, fences, 30) == kept("a", "b", "c")


async def test_a_skipped_lease_is_extended_alone_and_waits_for_its_row_half_a_second(
    database: Database,
) -> None:
    async with database.connection() as connection:
        await ready(connection, "a")
        [lease] = await claim(connection)
        await expire(connection, "a")
    async with database.transaction() as frozen, database.transaction() as beating:
        assert await leases.lock(frozen, "a")
        assert await leases.extend_alone(beating, lease.fence, 30) is None
    async with database.transaction() as connection:
        assert await leases.extend_alone(connection, lease.fence, 30) is True
        assert await claim(connection, "w2") == []
        await leases.seize(connection, "a")
        assert await leases.extend_alone(connection, lease.fence, 30) is False


async def test_waking_many_waits_for_nobody_and_names_those_not_woken(database: Database) -> None:
    async with database.connection() as connection:
        for name in ("a", "b"):
            await leases.create(connection, name, TEAM)
        async with database.transaction() as frozen:
            assert await leases.lock(frozen, "a")
            assert await leases.wake_free(connection, ["a", "b", "without a lease"]) == {"a"}
        assert [lease.thread_id for lease in await claim(connection)] == ["b"]
        assert await leases.wake_free(connection, ["a", "b"]) == set()
        assert [lease.thread_id for lease in await claim(connection)] == ["a"]


async def test_an_extended_lease_does_not_run_out(connection: Connection) -> None:
    await ready(connection, "a")
    [lease] = await claim(connection)
    await expire(connection, "a")
    assert await leases.extend(connection, [lease.fence], 30) == kept("a")
    assert await claim(connection, "w2") == []


async def test_a_wake_during_the_run_keeps_the_thread_due(connection: Connection) -> None:
    await ready(connection, "a")
    [lease] = await claim(connection)
    await leases.wake(connection, "a")
    assert await leases.release(connection, lease.fence, seq=lease.seq) is False
    [again] = await claim(connection, "w2")
    assert again.seq == 2


async def test_a_released_thread_rests(connection: Connection) -> None:
    await ready(connection, "a")
    [lease] = await claim(connection)
    assert await leases.release(connection, lease.fence, seq=lease.seq) is True
    assert await claim(connection) == []
    with pytest.raises(StaleOwner):
        await leases.release(connection, lease.fence, seq=lease.seq)


async def test_a_wake_that_races_a_release_is_never_lost(database: Database) -> None:
    """The wake waits for the row that settle holds, or settle sees the moved seq: both orders."""
    async with database.connection() as connection:
        await leases.create(connection, "a", TEAM)
    for wake_first in (True, False) * 10:
        async with database.connection() as connection:
            await leases.wake(connection, "a")
            [lease] = await claim(connection)

        async def wake() -> None:
            async with database.transaction() as other:
                await leases.wake(other, "a")

        async with database.transaction() as settling:
            if wake_first:
                task = asyncio.create_task(wake())
                await task
                await leases.hold(settling, lease.fence)
            else:
                await leases.hold(settling, lease.fence)
                task = asyncio.create_task(wake())
                await blocked(database)
            rested = await leases.release(settling, lease.fence, seq=lease.seq)
        await task
        assert rested is not wake_first
        async with database.connection() as connection:
            [again] = await claim(connection)
            await leases.release(connection, again.fence, seq=again.seq)


async def blocked(database: Database) -> None:
    """Return once some backend of this database waits for a lock."""
    async with asyncio.timeout(10):
        while not await database.fetchval("select count(*) from pg_locks where not granted"):
            pass


async def test_a_seized_thread_has_no_owner_and_its_owner_may_not_write(
    connection: Connection,
) -> None:
    await ready(connection, "a")
    [lease] = await claim(connection)
    assert await leases.seize(connection, "a") == 2
    with pytest.raises(StaleOwner):
        await leases.hold(connection, lease.fence)
    with pytest.raises(StaleOwner):
        await leases.release(connection, lease.fence, seq=lease.seq)
    [next_] = await claim(connection, "w2")
    assert next_.fence.epoch == 3
    assert next_.crashes == 0
    with pytest.raises(Conflict):
        await leases.seize(connection, "nobody")


async def test_seizing_an_idle_thread_does_not_make_it_due(connection: Connection) -> None:
    await leases.create(connection, "a", TEAM)
    await leases.seize(connection, "a")
    assert await claim(connection) == []


async def test_a_lock_is_given_up_after_half_a_second(database: Database) -> None:
    async with database.connection() as connection:
        await ready(connection, "a")
    async with database.transaction() as frozen:
        assert await leases.lock(frozen, "a") is True
        async with database.transaction() as accepting:
            started = asyncio.get_running_loop().time()
            assert await leases.lock(accepting, "a") is False
            assert asyncio.get_running_loop().time() - started < 1.5
            # The transaction goes on: what was accepted can still be stored.
            assert await accepting.fetchval("select 1") == 1
            assert await accepting.fetchval("show lock_timeout") == "0"


async def test_there_is_no_lock_on_a_thread_without_a_lease(database: Database) -> None:
    async with database.transaction() as connection:
        assert await leases.lock(connection, "nobody") is False


async def test_wakes_and_seizures_are_told_at_commit(database: Database) -> None:
    told: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
    tasks = [
        asyncio.create_task(
            database.listen(channel, lambda said, name=channel: told.put_nowait((name, said)))
        )
        for channel in (leases.READY, leases.SEIZED)
    ]
    try:
        assert {(await told.get())[1], (await told.get())[1]} == {""}
        async with database.transaction() as connection:
            await leases.create(connection, "a", TEAM)
            later = datetime.now(UTC) + timedelta(hours=1)
            await leases.wake(connection, "a", at=later)
            await leases.wake(connection, "a")
            await leases.seize(connection, "a")
        heard = {await told.get(), await told.get()}
        assert heard == {(leases.READY, TEAM), (leases.SEIZED, "a")}
        assert told.empty()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_heartbeats_in_any_order_do_not_deadlock(database: Database) -> None:
    names = [f"t{number:02}" for number in range(24)]
    async with database.connection() as connection:
        await ready(connection, *names)
        fences = [lease.fence for lease in await claim(connection, limit=24)]

    async def beat(turn: int) -> None:
        mine = fences if turn % 2 else fences[::-1]
        for _ in range(15):
            async with database.connection() as connection:
                extended = await leases.extend(connection, mine, 30)
                assert len(extended.kept | extended.skipped) == 24

    await asyncio.gather(*(beat(turn) for turn in range(6)))


async def test_standings_tell_who_owns_what(connection: Connection) -> None:
    await ready(connection, "a", "b")
    await claim(connection, limit=1)
    standings = await leases.standings(connection, ["a", "b", "c"])
    assert set(standings) == {"a", "b"}
    assert [standings[name].owner for name in ("a", "b")] == ["w1", None]
