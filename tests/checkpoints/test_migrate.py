"""Migrations run once, in order, under one lock, and never change afterwards."""

import asyncio
from pathlib import Path

import asyncpg
import pytest

from checkpoints import migrate as migrations_module
from checkpoints.database import Database
from checkpoints.errors import MigrationChanged, NotMigrated
from checkpoints.migrate import migrate, migrations, require


async def _schema(url: str) -> list[tuple[str, ...]]:
    driver = await asyncpg.connect(url)
    try:
        rows = await driver.fetch(
            "select table_name, column_name, data_type, is_nullable, column_default "
            "from information_schema.columns where table_schema = 'sayso' order by 1, 2"
        )
        return [tuple(str(value) for value in row) for row in rows]
    finally:
        await driver.close()


async def test_a_second_run_applies_nothing_and_a_replay_gives_the_same_schema(
    empty_url: str, database_url: str
) -> None:
    assert await migrate(empty_url) == [migration.name for migration in migrations()]
    assert await migrate(empty_url) == []
    assert await _schema(empty_url) == await _schema(database_url)


async def test_six_that_migrate_at_once_apply_each_file_once(empty_url: str) -> None:
    applied = await asyncio.gather(*(migrate(empty_url) for _ in range(6)))
    assert sorted(name for names in applied for name in names) == sorted(
        migration.name for migration in migrations()
    )


async def test_a_database_that_was_not_migrated_is_told_what_to_run(empty_url: str) -> None:
    async with Database.open(empty_url) as database:
        with pytest.raises(NotMigrated, match="sayso migrate"):
            await require(database)


async def test_an_applied_file_that_changed_is_refused(
    empty_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "checkpoints" / "migrations" / "001_one.sql"
    file.parent.mkdir(parents=True)
    file.write_text("create table sayso.one (id int);")
    monkeypatch.setattr(migrations_module, "_HOUSE", tmp_path)
    assert await migrate(empty_url) == ["checkpoints/001_one.sql"]
    file.write_text("create table sayso.one (id bigint);")
    with pytest.raises(MigrationChanged, match=r"001_one\.sql"):
        await migrate(empty_url)


async def test_a_broken_file_leaves_the_database_as_it_was(
    empty_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "checkpoints" / "migrations"
    folder.mkdir(parents=True)
    (folder / "001_good.sql").write_text("create table sayso.good (id int);")
    (folder / "002_bad.sql").write_text("create table sayso.bad (id nonsense);")
    monkeypatch.setattr(migrations_module, "_HOUSE", tmp_path)
    with pytest.raises(Exception, match="nonsense"):
        await migrate(empty_url)
    assert await _schema(empty_url) == []
