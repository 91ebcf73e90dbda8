"""Migrations: numbered ``.sql`` files of each folder, run in import order under one lock, up only.

Each file runs once in a database and is recorded with a checksum; a file that changed after it
was applied is refused. All pending files run in one transaction, so a database is never half
migrated. The lock is the server's own advisory lock, held by that transaction: six processes that
start at once run them once.

Everything lives in the schema ``sayso``, so that the saver can share a database with tables of
LangGraph's own savers. Migrations run as the login of the address; everything else runs as the
role ``sayso``, which is made here where the login may make roles and owns nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import asyncpg

from checkpoints.database import CONNECT_SECONDS, Database, translated, understood
from checkpoints.errors import MigrationChanged, NotMigrated

FOLDERS: Final = ("checkpoints", "memory", "graphs", "bot")
_HOUSE: Final = Path(__file__).parent.parent
LOCK: Final = 7_297_601  # any number, the same in every process

_GROUND: Final = """
do $$
begin
  if (select rolsuper or rolcreaterole from pg_roles where rolname = current_user)
     and not exists (select from pg_roles where rolname = 'sayso') then
    begin
      create role sayso nologin;
    exception
      -- Roles belong to the server, the lock to one database: another one may have been first.
      when duplicate_object or unique_violation then null;
    end;
  end if;
end
$$;
create schema if not exists sayso;
create table if not exists sayso.migrations (
  name text primary key,
  checksum text not null,
  applied_at timestamptz not null default now()
);
"""

_RIGHTS: Final = """
do $$
begin
  if exists (select from pg_roles where rolname = 'sayso') then
    grant usage on schema sayso to sayso;
    grant select, insert, update, delete on all tables in schema sayso to sayso;
    grant usage on all sequences in schema sayso to sayso;
    grant execute on all functions in schema sayso to sayso;
    revoke insert, update, delete on sayso.migrations from sayso;
  end if;
end
$$;
"""


@dataclass(frozen=True)
class Migration:
    """One file: its name is "folder/001_what.sql", its checksum is over its text."""

    name: str
    text: str
    checksum: str


def migrations(folders: Sequence[str] = FOLDERS) -> list[Migration]:
    """Return the files of the folders, in the order in which they run."""
    found: list[Migration] = []
    for folder in folders:
        # By path and not by import: the folders above this one are only read, never loaded.
        for file in sorted((_HOUSE / folder / "migrations").glob("*.sql")):
            text = file.read_text(encoding="utf-8")
            checksum = hashlib.sha256(text.encode()).hexdigest()
            found.append(Migration(f"{folder}/{file.name}", text, checksum))
    return found


async def migrate(url: str, folders: Sequence[str] = FOLDERS) -> list[str]:
    """Bring the database up to this program and return the names of what was applied.

    Raises:
        MigrationChanged: an applied file is not what it was; nothing was changed.
        DatabaseAway, DatabaseRefused
    """
    with translated():
        with understood():
            driver = await asyncpg.connect(url, timeout=CONNECT_SECONDS)
        try:
            async with driver.transaction():
                await driver.execute("select pg_advisory_xact_lock($1)", LOCK)
                await driver.execute(_GROUND)
                rows = await driver.fetch("select name, checksum from sayso.migrations")
                applied = {row["name"]: row["checksum"] for row in rows}
                fresh: list[str] = []
                for migration in migrations(folders):
                    if migration.name in applied:
                        if applied[migration.name] != migration.checksum:
                            raise MigrationChanged(migration.name)
                        continue
                    await driver.execute(migration.text)
                    await driver.execute(
                        "insert into sayso.migrations (name, checksum) values ($1, $2)",
                        migration.name,
                        migration.checksum,
                    )
                    fresh.append(migration.name)
                if fresh:
                    await driver.execute(_RIGHTS)
                return fresh
        finally:
            await driver.close(timeout=CONNECT_SECONDS)


async def require(database: Database, folders: Sequence[str] = FOLDERS) -> None:
    """Raise `NotMigrated` unless every file of the folders was applied as it stands here."""
    expected = migrations(folders)
    exists = await database.fetchval("select to_regclass('sayso.migrations') is not null")
    rows = await database.fetch("select name, checksum from sayso.migrations") if exists else []
    applied = {row["name"]: row["checksum"] for row in rows}
    missing = [migration.name for migration in expected if migration.name not in applied]
    if missing:
        raise NotMigrated(missing)
    for migration in expected:
        if applied[migration.name] != migration.checksum:
            raise MigrationChanged(migration.name)
