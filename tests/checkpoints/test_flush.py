"""The write queue: the fence, groups, order, cancellation, and errors that pass or stay."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkpoints import flush, leases
from checkpoints.codec import EncodedCheckpoint, EncodedWrites
from checkpoints.database import Database
from checkpoints.errors import BadValue, DatabaseAway, LockTimeout, NotTheOwner, StaleOwner
from checkpoints.flush import FlushQueue
from checkpoints.leases import Fence
from checkpoints.operations import Operation, columns
from checkpoints.postgres import PostgresSaver
from tests.checkpoints.savers import (
    as_superuser,
    checkpoint,
    claimed,
    config,
    put,
    waits_for_a_lock,
)


@pytest.fixture
async def saver(database: Database) -> AsyncIterator[PostgresSaver]:
    made = PostgresSaver(database)
    yield made
    await made.drain()


@pytest.fixture
def flushes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of operations of each statement that was sent."""
    sent: list[int] = []
    send = FlushQueue._send

    async def counting(self: FlushQueue, connection: Any, operations: Any) -> Any:
        sent.append(len(operations))
        return await send(self, connection, operations)

    monkeypatch.setattr(FlushQueue, "_send", counting)
    return sent


async def count(database: Database, thread_id: str) -> int:
    number: int = await database.fetchval(
        "select count(*) from sayso.checkpoints where thread_id = $1", thread_id
    )
    return number


# --- the fence ------------------------------------------------------------------------------


async def test_the_owner_writes_and_a_stale_one_does_not(
    saver: PostgresSaver, database: Database
) -> None:
    old = await claimed(database, "a")
    stored = await put(saver, "a", {"x": 1}, fence=old)
    await database.execute("update sayso.leases set lease_until = now() - interval '1 s'")
    async with database.transaction() as connection:
        [lease] = await leases.claim(
            connection, owner="w2", scopes=["T0SAYSO/a"], limit=1, lease_seconds=30
        )
    stored["configurable"][leases.FENCE] = old
    with pytest.raises(StaleOwner):
        await saver.aput_writes(stored, [("c", 1)], "task")
    with pytest.raises(StaleOwner):
        await put(saver, "a", {"x": 2}, parent=stored, fence=old)
    await put(saver, "a", {"x": 3}, parent=stored, fence=lease.fence)
    found = await saver.aget_tuple(config("a"))
    assert found is not None
    assert found.checkpoint["channel_values"] == {"x": 3}
    assert await count(database, "a") == 2


@pytest.mark.parametrize(
    "change", [{"epoch": 7}, {"epoch": 0}, {"owner": "somebody else"}, {"thread_id": "b"}]
)
async def test_a_fence_that_differs_in_anything_is_refused(
    saver: PostgresSaver, database: Database, change: dict[str, Any]
) -> None:
    fence = await claimed(database, "a")
    other = Fence(**{"thread_id": "a", "epoch": fence.epoch, "owner": fence.owner} | change)
    with pytest.raises(StaleOwner):
        await put(saver, "a", {"x": 1}, fence=other)
    assert await count(database, "a") == 0
    await put(saver, "a", {"x": 1}, fence=fence)


async def test_without_a_fence_only_threads_without_a_lease_are_written(
    saver: PostgresSaver, database: Database
) -> None:
    fence = await claimed(database, "a")
    with pytest.raises(NotTheOwner):
        await put(saver, "a", {"x": 1})
    with pytest.raises(NotTheOwner):
        await saver.aput_writes(config("a", checkpoint({})["id"]), [("c", 1)], "task")
    await put(saver, "elsewhere", {"x": 1})
    # A graph in a run of Sayso that keeps a thread of its own beside.
    await put(saver, "beside", {"x": 1}, fence=fence)
    for thread_id in ("elsewhere", "beside"):
        assert await count(database, thread_id) == 1
    with pytest.raises(NotTheOwner):
        await saver.adelete_thread("a")
    with pytest.raises(NotTheOwner):
        await saver.aprune(["elsewhere", "a"])
    with pytest.raises(NotTheOwner):
        await saver.acopy_thread("elsewhere", "a")


async def test_what_is_no_fence_is_refused(saver: PostgresSaver) -> None:
    with pytest.raises(BadValue, match="fence"):
        await put(saver, "a", {"x": 1}, fence="let me in")  # type: ignore[arg-type]


async def test_a_refused_write_is_told_at_once_and_all_later_ones_fail(
    saver: PostgresSaver, database: Database
) -> None:
    told: list[Fence] = []
    saver.with_types(["some.module:Type"]).refused = told.append
    fence = await claimed(database, "a")
    async with database.transaction() as connection:
        await leases.seize(connection, "a")
    with pytest.raises(StaleOwner):
        await put(saver, "a", {"x": 1}, fence=fence)
    assert told == [fence]
    assert isinstance(saver.failure(fence), StaleOwner)
    # Not even a lease that came back by some accident would let this run write again.
    await database.execute(
        "update sayso.leases set owner = $1, epoch = $2, lease_until = now() + interval '1 min'",
        fence.owner,
        fence.epoch,
    )
    with pytest.raises(StaleOwner):
        await put(saver, "a", {"x": 2}, fence=fence)
    assert told == [fence]


async def test_a_write_to_a_foreign_thread_stops_the_run(
    saver: PostgresSaver, database: Database
) -> None:
    told: list[Fence] = []
    saver.refused = told.append
    mine, _ = await claimed(database, "a"), await claimed(database, "b")
    with pytest.raises(NotTheOwner):
        await put(saver, "b", {"x": 1}, fence=mine)
    assert told == [mine]


async def test_a_value_that_cannot_be_stored_leaves_no_gap_in_the_run(
    saver: PostgresSaver, database: Database
) -> None:
    fence = await claimed(database, "a")
    with pytest.raises(BadValue):
        await put(saver, "a", {"x": object()}, fence=fence)
    await asyncio.sleep(0)
    with pytest.raises(BadValue):
        await put(saver, "a", {"x": 1}, fence=fence)


async def test_a_take_over_and_a_write_that_meet_never_both_win(
    saver: PostgresSaver, database: Database
) -> None:
    """The write waits for the seizing transaction, or the seizing one waits for the write."""
    for number in range(10):
        thread_id = f"t{number}"
        fence = await claimed(database, thread_id)
        async with database.transaction() as connection:
            await leases.seize(connection, thread_id)
            writing = asyncio.create_task(put(saver, thread_id, {"x": 1}, fence=fence))
            await waits_for_a_lock(database)
            assert await count(database, thread_id) == 0
        with pytest.raises(StaleOwner):
            await writing
        assert await count(database, thread_id) == 0


async def test_a_locked_lease_does_not_hold_up_other_threads(
    saver: PostgresSaver, database: Database
) -> None:
    fences = {name: await claimed(database, name) for name in ("a", "b", "c")}
    async with database.transaction() as settling:
        await leases.hold(settling, fences["b"])
        writing = asyncio.create_task(put(saver, "b", {"x": 1}, fence=fences["b"]))
        later = asyncio.create_task(put(saver, "b", {"x": 2}, fence=fences["b"]))
        await asyncio.gather(
            *(put(saver, name, {"x": 1}, fence=fences[name]) for name in ("a", "c"))
        )
        assert not writing.done()
        assert not later.done()
    await asyncio.gather(writing, later)
    assert await count(database, "b") == 2


async def test_a_lease_locked_for_long_is_an_error_that_says_so(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flush, "LOCK_SECONDS", 0.05)
    saver = PostgresSaver(database)
    saver._core.queue.retry_seconds = 0.2
    fence = await claimed(database, "a")
    async with database.transaction() as frozen:
        await leases.hold(frozen, fence)
        with pytest.raises(LockTimeout):
            await put(saver, "a", {"x": 1}, fence=fence)


async def test_stale_and_good_writes_of_one_flush_are_answered_each_by_its_own(
    saver: PostgresSaver, database: Database, flushes: list[int]
) -> None:
    fences = [await claimed(database, f"t{number}") for number in range(6)]
    async with database.transaction() as connection:
        for number in (1, 4):
            await leases.seize(connection, f"t{number}")
    ended = await asyncio.gather(
        *(put(saver, fence.thread_id, {"x": 1}, fence=fence) for fence in fences),
        put(saver, "t2", {"x": 1}),
        put(saver, "free", {"x": 1}),
        return_exceptions=True,
    )
    kinds = [type(result).__name__ if isinstance(result, Exception) else "ok" for result in ended]
    assert kinds == ["ok", "StaleOwner", "ok", "ok", "StaleOwner", "ok", "NotTheOwner", "ok"]
    assert flushes[0] == 8


async def test_flushes_and_heartbeats_do_not_deadlock(
    database_url: str, database: Database
) -> None:
    fences = [await claimed(database, f"t{number:02}") for number in range(12)]

    async def write(turn: int) -> None:
        async with PostgresSaver.from_url(database_url, size=3) as saver:
            for _ in range(15):
                mine = fences if turn % 2 else fences[::-1]
                await asyncio.gather(
                    *(put(saver, fence.thread_id, {"x": turn}, fence=fence) for fence in mine)
                )

    async def beat() -> None:
        for _ in range(30):
            async with database.connection() as connection:
                extended = await leases.extend(connection, fences, 30)
                assert len(extended.kept | extended.skipped) == 12

    await asyncio.gather(write(0), write(1), write(2), beat(), beat())
    assert await database.fetchval("select count(*) from sayso.checkpoints") == 12 * 45
    deadlocks = await database.fetchval(
        "select deadlocks from pg_stat_database where datname = current_database()"
    )
    assert deadlocks == 0


# --- groups and order -----------------------------------------------------------------------


async def test_what_waits_during_a_flush_goes_with_the_next(
    saver: PostgresSaver, database: Database, flushes: list[int]
) -> None:
    await asyncio.gather(*(put(saver, f"t{number}", {"x": number}) for number in range(64)))
    assert sum(flushes) == 64
    assert len(flushes) <= 3
    assert await database.fetchval("select count(*) from sayso.checkpoints") == 64


async def test_a_flush_is_bounded(
    saver: PostgresSaver, flushes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flush, "FLUSH_OPERATIONS", 10)
    await asyncio.gather(*(put(saver, f"t{number}", {"x": number}) for number in range(35)))
    assert sum(flushes) == 35
    assert max(flushes) == 10


@pytest.mark.parametrize("last", [29, 30])
async def test_large_and_small_writes_of_a_thread_do_not_overtake_each_other(
    saver: PostgresSaver, last: int
) -> None:
    """First in, first out for each thread, across the lanes: told by what a put overwrites."""
    again = checkpoint({"x": [0]})
    for _ in range(5):
        tasks = []
        for number in range(last - 5, last + 1):
            values = {"x": [number, "x" * (300_000 if number % 3 == 0 else 10)]}
            same: Any = {**again, "channel_values": values}
            tasks.append(saver.aput(config("a"), same, {"source": "loop"}, {"x": 1}))
            tasks.append(put(saver, f"t{number}", {"x": number}))
        await asyncio.gather(*tasks)
        found = await saver.aget_tuple(config("a"))
        assert found is not None
        assert found.checkpoint["channel_values"]["x"][0] == last


async def test_a_delete_waits_for_what_was_queued_before_it_and_holds_what_comes_after(
    saver: PostgresSaver, database: Database
) -> None:
    before = [asyncio.create_task(put(saver, "a", {"x": n})) for n in range(5)]
    await asyncio.sleep(0)
    deleting = asyncio.create_task(saver.adelete_thread("a"))
    await asyncio.sleep(0)
    fresh = asyncio.create_task(put(saver, "a", {"x": "fresh"}))
    await asyncio.gather(*before, deleting)
    await saver.quiet("a")
    # The newcomer's id was made before the delete ran, so it belongs to what was deleted.
    await fresh
    assert await count(database, "a") == 0


async def test_concurrent_puts_of_one_thread_all_land(
    saver: PostgresSaver, database: Database
) -> None:
    root = await put(saver, "a", {"x": [0]})
    stored = await asyncio.gather(
        *(put(saver, "a", {"x": [n]}, parent=root, version=2) for n in range(40))
    )
    for n, place in enumerate(stored):
        found = await saver.aget_tuple(place)
        assert found is not None
        assert found.checkpoint["channel_values"] == {"x": [n]}


async def test_two_programs_may_write_to_one_thread(database_url: str, database: Database) -> None:
    async def program(number: int) -> None:
        async with PostgresSaver.from_url(database_url, size=2) as saver:
            for n in range(20):
                stored = await put(saver, "a", {"x": [number, n]}, version=n + 1)
                await saver.aput_writes(stored, [("c", n)], "task")

    await asyncio.gather(program(1), program(2), program(3))
    assert await count(database, "a") == 60


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans(), st.integers(0, 99)),
        max_size=30,
    )
)
@settings(max_examples=200, deadline=None)
def test_a_group_of_writes_is_worth_the_same_writes_one_by_one(
    writes: list[tuple[int, int, bool, int]],
) -> None:
    """Each key stands once in a statement; which value it has is told by doing them in turn."""
    one_by_one: dict[tuple[str, int], bytes] = {}
    operations = []
    for task, idx, replace, number in writes:
        key, value = (f"task{task}", idx), bytes([number])
        if replace or key not in one_by_one:
            one_by_one[key] = value
        encoded = EncodedWrites("", "id", f"task{task}", "", [(idx, "c", value)], replace)
        operations.append(Operation(("a",), None, writes=encoded))  # type: ignore[arg-type]
    arguments = columns(operations)
    keys = list(zip(arguments[22], arguments[23], strict=True))
    assert dict(zip(keys, arguments[26], strict=True)) == one_by_one
    assert len(set(keys)) == len(keys)


def test_a_checkpoint_put_twice_in_one_group_keeps_the_values_it_brought_first() -> None:
    def encoded(values: list[tuple[str, int, bytes]]) -> EncodedCheckpoint:
        return EncodedCheckpoint("", "id", None, None, b"", {"x": 1}, values, {}, None)

    operations = [
        Operation(("a",), None, put=encoded(values))  # type: ignore[arg-type]
        for values in ([("x", 1, b"first")], [])
    ]
    arguments = columns(operations)
    assert arguments[6] == ["id"]
    assert arguments[15:19] == [[1], ["x"], [1], [b"first"]]


# --- cancellation and errors ----------------------------------------------------------------


async def test_a_cancelled_put_is_not_taken_out_of_the_flush(
    saver: PostgresSaver, database: Database, flushes: list[int]
) -> None:
    fences = [await claimed(database, f"t{number}") for number in range(3)]
    async with database.transaction() as holder:
        # Holds the flush where it is: an insert of the same key must wait for this one to end.
        blocked_id = checkpoint({"x": 1})
        await holder.execute(
            "insert into sayso.checkpoints values ('t1', '', $1, null, '', '{}', '{}', null)",
            blocked_id["id"],
        )
        place = config("t1", fence=fences[1])
        tasks = [
            asyncio.create_task(put(saver, "t0", {"x": 1}, fence=fences[0])),
            asyncio.create_task(saver.aput(place, blocked_id, {}, {"x": 1})),
            asyncio.create_task(put(saver, "t2", {"x": 1}, fence=fences[2])),
        ]
        await waits_for_a_lock(database)
        tasks[1].cancel()
        with pytest.raises(asyncio.CancelledError):
            await tasks[1]
        # A later one of the same thread, cancelled while it only waits for its turn.
        waiting = asyncio.create_task(put(saver, "t1", {"x": 2}, fence=fences[1]))
        await asyncio.sleep(0)
        waiting.cancel()
    await asyncio.gather(tasks[0], tasks[2])
    await saver.quiet("t1")
    assert [await count(database, f"t{number}") for number in range(3)] == [1, 2, 1]
    assert flushes[0] == 3


async def test_a_flush_that_fails_on_one_value_is_tried_write_by_write(
    saver: PostgresSaver, database: Database
) -> None:
    await as_superuser(
        database,
        "alter table sayso.checkpoints add constraint no_bad check (metadata ->> 'bad' is null)",
    )
    ended = await asyncio.gather(
        *(put(saver, f"t{n}", {"x": n}, **({"bad": "yes"} if n == 3 else {})) for n in range(6)),
        return_exceptions=True,
    )
    assert [isinstance(result, Exception) for result in ended] == [n == 3 for n in range(6)]
    assert "no_bad" in str(ended[3])
    assert await database.fetchval("select count(*) from sayso.checkpoints") == 5


async def test_a_broken_connection_is_tried_again_inside_the_saver(
    saver: PostgresSaver, database: Database
) -> None:
    parent: Any = None
    for n in range(12):
        if n % 3 == 0:
            await as_superuser(
                database,
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and pid <> pg_backend_pid()",
            )
        parent, _ = await asyncio.gather(
            put(saver, "a", {"x": [n]}, parent=parent, version=n + 1),
            saver.aget_tuple(config("a")),
        )
    found = await saver.aget_tuple(config("a"))
    assert found is not None
    assert found.checkpoint["channel_values"] == {"x": [11]}


async def test_a_database_that_stays_away_is_an_error_after_a_while(
    saver: PostgresSaver, monkeypatch: pytest.MonkeyPatch, database: Database
) -> None:
    tries: list[int] = []

    async def away(*_: Any) -> Any:
        tries.append(1)
        raise DatabaseAway("cut")

    fence = await claimed(database, "a")
    saver._core.queue.retry_seconds = 0.2
    monkeypatch.setattr(FlushQueue, "_send", away)
    with pytest.raises(DatabaseAway):
        await put(saver, "a", {"x": 1}, fence=fence)
    assert len(tries) > 2
    monkeypatch.undo()
    with pytest.raises(DatabaseAway):
        await put(saver, "a", {"x": 2}, fence=fence)
    assert await count(database, "a") == 0


async def test_draining_waits_for_everything(saver: PostgresSaver, database: Database) -> None:
    tasks = [asyncio.create_task(put(saver, f"t{n}", {"x": "x" * 300_000})) for n in range(5)]
    await asyncio.sleep(0)
    await saver.drain()
    assert await database.fetchval("select count(*) from sayso.checkpoints") == 5
    await asyncio.gather(*tasks)
