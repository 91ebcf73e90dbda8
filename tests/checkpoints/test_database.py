"""The database door: errors in our own words, and a pool that outlives its server."""

import asyncio
import time
from pathlib import Path

import psutil
import pytest

from checkpoints import embedded
from checkpoints.database import Database, queries
from checkpoints.errors import (
    BadValue,
    Conflict,
    DatabaseAway,
    DatabaseRefused,
    LockTimeout,
    NotMigrated,
)
from checkpoints.migrate import migrate


async def test_a_constraint_that_refuses_a_row_is_named(empty_url: str) -> None:
    async with Database.open(empty_url) as database:
        await database.execute("create table public.one (id int constraint one_id primary key)")
        await database.execute("insert into public.one values (1)")
        with pytest.raises(Conflict) as refused:
            await database.execute("insert into public.one values (1)")
    assert refused.value.constraint == "one_id"
    assert refused.value.__cause__ is not None


async def test_a_value_that_cannot_be_stored_is_refused_with_a_reason(database: Database) -> None:
    with pytest.raises(BadValue, match="0x00"):
        await database.fetchval("select $1::text", "nul \x00 inside")
    with pytest.raises(BadValue):
        await database.fetchval("select $1::text", "half a pair \ud800")
    with pytest.raises(BadValue):
        await database.fetchval("select $1::integer", "seven")


async def test_an_error_of_the_caller_passes_through_a_transaction_unchanged(
    database: Database,
) -> None:
    with pytest.raises(ConnectionError, match="the bank"):
        async with database.transaction():
            raise ConnectionError("the bank")


async def test_a_failed_transaction_leaves_nothing(empty_url: str) -> None:
    async with Database.open(empty_url) as database:
        await database.execute("create table public.one (id int)")
        with pytest.raises(RuntimeError):
            async with database.transaction() as connection:
                await connection.execute("insert into public.one values (1)")
                raise RuntimeError("after the insert")
        assert await database.fetchval("select count(*) from public.one") == 0


async def test_a_savepoint_gives_up_on_a_held_lock_and_the_transaction_goes_on(
    empty_url: str,
) -> None:
    async with Database.open(empty_url) as database:
        await database.execute("create table public.one (id int)")
        await database.execute("insert into public.one values (1)")
        async with database.transaction() as holder, database.transaction() as other:
            await holder.execute("select id from public.one for update")
            with pytest.raises(LockTimeout):
                async with other.savepoint(lock_timeout=0.05):
                    await other.execute("select id from public.one for update")
            assert await other.fetchval("select 7") == 7
            assert await other.fetchval("show lock_timeout") == "0"


async def test_the_pool_recovers_when_the_server_ends_its_connections(database_url: str) -> None:
    async with Database.open(database_url, name="victim", size=2) as database:
        assert await database.is_up()
        async with Database.open(database_url, name="killer") as killer:
            with pytest.raises(DatabaseAway):
                async with database.transaction() as connection:
                    mine = await connection.fetchval("select pg_backend_pid()")
                    async with killer.connection() as other:
                        await other.execute("reset role")
                        await other.execute("select pg_terminate_backend($1)", mine)
                    await connection.fetchval("select 1")
        assert await database.fetchval("select 2") == 2


async def test_a_transaction_that_the_server_ended_for_its_rest_is_told_as_that_and_no_mistake(
    database_url: str,
) -> None:
    causes = set()
    async with Database.open(database_url, size=1, idle_in_transaction_seconds=0.05) as database:
        for turns in range(4):  # how far the driver has read of the end when the next call comes
            with pytest.raises(DatabaseAway) as away:
                async with database.transaction() as connection:
                    backend = await connection.fetchval("select pg_backend_pid()")
                    while psutil.pid_exists(backend):
                        time.sleep(0.01)  # noqa: ASYNC251  the loop stands still
                    for _ in range(turns):
                        await asyncio.sleep(0)
                    await connection.fetchval("select 1")
            assert "operation" not in str(away.value)
            causes.add(type(away.value.__cause__).__name__)
            assert await database.fetchval("select 2") == 2
    assert "InternalClientError" in causes


async def test_nobody_works_as_superuser(database: Database) -> None:
    row = await database.fetchrow(
        "select current_user as name, rolsuper from pg_roles where rolname = current_user"
    )
    assert row is not None
    assert (row["name"], row["rolsuper"]) == ("sayso", False)


async def test_a_notification_is_heard_also_after_the_listener_was_cut_off(
    database_url: str,
) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    async with Database.open(database_url, name="ear") as database:
        task = asyncio.create_task(database.listen("tests", heard.put_nowait))
        try:
            assert await asyncio.wait_for(heard.get(), 10) == ""
            await database.execute("select pg_notify('tests', 'first')")
            assert await asyncio.wait_for(heard.get(), 10) == "first"
            async with database.connection() as other:
                await other.execute("reset role")
                await other.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity "
                    "where application_name = 'ear listens'"
                )
                await other.execute("set role sayso")
            assert await asyncio.wait_for(heard.get(), 10) == ""
            await database.execute("select pg_notify('tests', 'second')")
            assert await asyncio.wait_for(heard.get(), 10) == "second"
        finally:
            task.cancel()


async def test_json_and_times_come_back_as_they_were_given(database: Database) -> None:
    value = {"amount": 60000, "notes": ["ä", None, True, 1.5]}
    assert await database.fetchval("select $1::jsonb", value) == value
    stamp = await database.fetchval("select '2026-11-30 09:12:00+05:30'::timestamptz")
    assert stamp.isoformat() == "2026-11-30T03:42:00+00:00"


async def test_missing_tables_are_told_as_a_missing_migration(empty_url: str) -> None:
    async with Database.open(empty_url) as database:
        with pytest.raises(NotMigrated, match="sayso migrate"):
            await database.fetchval("select 1 from sayso.leases")


def test_a_statement_named_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.sql").write_text("-- name: a\nselect 1;\n-- name: a\nselect 2;\n")
    with pytest.raises(ValueError, match="stands twice"):
        queries(str(tmp_path / "x.py"))


async def test_a_server_that_is_away_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(DatabaseAway):
        async with Database.open(embedded.address(tmp_path)):
            pass


@pytest.mark.parametrize("rest", ["u:S3cr/et@h/db", "u:S3c#ret@h/db", "u:S3[ret@h/db"])
async def test_an_address_that_cannot_be_read_is_refused_without_its_words(rest: str) -> None:
    for opening in (_opened(f"postgresql://{rest}"), migrate(f"postgresql://{rest}")):
        with pytest.raises(DatabaseRefused) as caught:
            await opening
        assert "S3" not in str(caught.value)
        assert caught.value.__suppress_context__


async def _opened(url: str) -> None:
    async with Database.open(url):
        pass
