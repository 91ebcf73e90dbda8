"""The door to Postgres: a pool, transactions, named SQL, and errors in our own words.

Everything else in Sayso speaks to the database through `Database` and `Connection`; the driver
is imported nowhere else. Three promises are kept here:

1. **Errors are translated once.** A driver's error becomes one of `checkpoints.errors`, with the
   driver's as its cause. Callers ask for a class or a constraint's name and never parse a message.
2. **A restart of the server costs an error and no more.** What was in flight raises
   `DatabaseAway`; the pool replaces broken connections by itself. Nothing is tried again in here:
   whether a statement may run twice is known only to the caller.
3. **No superuser.** A connection whose login is a superuser takes on the role `sayso` at once, so
   that row-level security and the rights of the tables hold for it. Only migrations stay what
   they logged in as.

A pool belongs to the event loop that opened it.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

import asyncpg
import orjson

from checkpoints.errors import (
    BadValue,
    Conflict,
    DatabaseAway,
    DatabaseRefused,
    LockTimeout,
    NotMigrated,
    SaysoError,
)
from checkpoints.text import clean

Row = Mapping[str, Any]

CONNECT_SECONDS: Final = 10.0
COMMAND_SECONDS: Final = 30.0
LISTEN_RETRY_SECONDS: Final = 1.0

# Session settings do not survive a transaction pooler; the role does not need to there, since
# such a deployment logs in as a plain role.
_TAKE_ROLE: Final = """
do $$
begin
  if (select rolsuper from pg_roles where rolname = session_user) then
    set role sayso;
  end if;
exception
  when undefined_object then null;
  when invalid_parameter_value then null;
end
$$
"""


class Connection:
    """One connection of the pool, inside a transaction or in autocommit."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    async def fetch(self, sql: str, *args: Any) -> list[Row]:
        """Run the statement and return all its rows."""
        with translated():
            rows: list[Row] = await self._driver.fetch(sql, *args)
            return rows

    async def fetchrow(self, sql: str, *args: Any) -> Row | None:
        """Run the statement and return its first row, or None."""
        with translated():
            row: Row | None = await self._driver.fetchrow(sql, *args)
            return row

    async def fetchval(self, sql: str, *args: Any) -> Any:
        """Run the statement and return the first column of its first row, or None."""
        with translated():
            return await self._driver.fetchval(sql, *args)

    async def execute(self, sql: str, *args: Any) -> str:
        """Run the statement and return the server's status, for example "UPDATE 1"."""
        with translated():
            status: str = await self._driver.execute(sql, *args)
            return status

    async def executemany(self, sql: str, args: Iterable[Sequence[Any]]) -> None:
        """Run the statement once for each row of arguments."""
        with translated():
            await self._driver.executemany(sql, args)

    @asynccontextmanager
    async def savepoint(self, *, lock_timeout: float | None = None) -> AsyncIterator[None]:
        """Undo only what happens inside when it fails; the transaction itself goes on.

        Args:
            lock_timeout: seconds that a statement inside waits for a row lock before it raises
                `LockTimeout`; None leaves the server's own setting.
        """
        savepoint = self._driver.transaction()
        with translated():
            await savepoint.start()
        try:
            if lock_timeout is not None:
                await self.execute(f"set local lock_timeout = '{int(lock_timeout * 1000)}ms'")
            yield
            if lock_timeout is not None:
                # A released savepoint keeps `set local`, so the wait must be put back.
                await self.execute("set local lock_timeout to default")
        except BaseException:
            with contextlib.suppress(
                asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError
            ):
                await savepoint.rollback()
            raise
        with translated():
            await savepoint.commit()


class Database:
    """A pool of connections to one database, with the errors of this folder."""

    def __init__(self, pool: Any, url: str, name: str) -> None:
        self._pool = pool
        self._name = name
        self.url = url

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        url: str,
        *,
        size: int = 10,
        name: str = "sayso",
        idle_in_transaction_seconds: float | None = None,
        statement_cache: int = 256,
    ) -> AsyncIterator[Database]:
        """Open the pool, close it at the end.

        Args:
            url: a libpq address, ``postgresql://…``.
            size: the most connections held at once.
            name: shown by the server as application_name.
            idle_in_transaction_seconds: a transaction that rests longer is ended by the server,
                so that a frozen worker cannot hold up a click.
            statement_cache: 0 behind a pooler in transaction mode.

        Raises:
            DatabaseAway, DatabaseRefused
        """
        server_settings = {"application_name": name, "timezone": "UTC"}
        if idle_in_transaction_seconds is not None:
            server_settings["idle_in_transaction_session_timeout"] = str(
                int(idle_in_transaction_seconds * 1000)
            )
        with translated(), understood():
            pool = await asyncpg.create_pool(
                url,
                min_size=1,
                max_size=size,
                timeout=CONNECT_SECONDS,
                command_timeout=COMMAND_SECONDS,
                init=_prepare,
                # The default reset query costs a round trip at every release; nothing here
                # leaves session state behind except the role, which must stay.
                reset=_keep,
                server_settings=server_settings,
                statement_cache_size=statement_cache,
            )
        try:
            yield cls(pool, url, name)
        finally:
            try:
                await asyncio.wait_for(asyncio.shield(pool.close()), CONNECT_SECONDS)
            except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                pool.terminate()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Lend one connection in autocommit."""
        async with self._lend() as driver:
            yield Connection(driver)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """Lend one connection inside a transaction: committed at the end, undone on any error."""
        async with self._lend() as driver:
            # Not `async with driver.transaction()`: an error of the caller's own must pass
            # through as it is, and only the driver's be translated.
            transaction = driver.transaction()
            with translated():
                await transaction.start()
            try:
                yield Connection(driver)
            except BaseException:
                with contextlib.suppress(
                    asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError
                ):
                    await transaction.rollback()
                raise
            with translated():
                await transaction.commit()

    @asynccontextmanager
    async def _lend(self) -> AsyncIterator[Any]:
        with translated():
            driver = await self._pool.acquire(timeout=CONNECT_SECONDS)
        try:
            yield driver
        finally:
            with contextlib.suppress(
                asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError
            ):
                await self._pool.release(driver)

    async def fetch(self, sql: str, *args: Any) -> list[Row]:
        """Run one statement in autocommit and return all its rows."""
        async with self.connection() as connection:
            return await connection.fetch(sql, *args)

    async def fetchrow(self, sql: str, *args: Any) -> Row | None:
        """Run one statement in autocommit and return its first row, or None."""
        async with self.connection() as connection:
            return await connection.fetchrow(sql, *args)

    async def fetchval(self, sql: str, *args: Any) -> Any:
        """Run one statement in autocommit and return its first value, or None."""
        async with self.connection() as connection:
            return await connection.fetchval(sql, *args)

    async def execute(self, sql: str, *args: Any) -> str:
        """Run one statement in autocommit and return the server's status."""
        async with self.connection() as connection:
            return await connection.execute(sql, *args)

    async def listen(self, channel: str, heard: Callable[[str], None]) -> None:
        """Call ``heard`` with each payload notified on the channel, for ever.

        A notification is a hint: those sent while the connection was away are lost, so ``heard``
        is also called with "" after every (re)connect, and the caller polls all the same.
        Run it as a task and cancel it to stop.
        """
        while True:
            try:
                await self._listen_once(channel, heard)
            except (SaysoError, OSError, TimeoutError):
                await asyncio.sleep(LISTEN_RETRY_SECONDS * (0.5 + random.random()))  # noqa: S311

    async def _listen_once(self, channel: str, heard: Callable[[str], None]) -> None:
        ended = asyncio.Event()
        with translated(), understood():
            driver = await asyncpg.connect(
                self.url,
                timeout=CONNECT_SECONDS,
                server_settings={"application_name": f"{self._name} listens"},
            )
        try:
            with translated():
                driver.add_termination_listener(lambda _: ended.set())
                await driver.add_listener(channel, lambda *said: heard(str(said[3])))
            heard("")
            await ended.wait()
        finally:
            with contextlib.suppress(Exception):
                driver.terminate()

    async def is_up(self) -> bool:
        """Tell whether the database answers a trivial statement within two seconds."""
        try:
            async with asyncio.timeout(2):
                return bool(await self.fetchval("select true"))
        except (SaysoError, OSError, TimeoutError):
            return False


class Queries:
    """The named statements of one ``.sql`` file, each an attribute."""

    def __init__(self, statements: Mapping[str, str]) -> None:
        self._statements = dict(statements)

    def __getattr__(self, name: str) -> str:
        try:
            return self._statements[name]
        except KeyError:
            raise AttributeError(f"no statement is named {name}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._statements)


_NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


def queries(file: str) -> Queries:
    """Read the ``.sql`` file beside the module: ``SQL = queries(__file__)``.

    Each statement begins with a line ``-- name: the_name``. A name that stands twice, or a
    statement without one, is a mistake of ours and raises ValueError at import.
    """
    path = Path(file).with_suffix(".sql")
    parts = _NAME.split(path.read_text(encoding="utf-8"))
    statements: dict[str, str] = {}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        if name in statements:
            raise ValueError(f"{path.name}: {name} stands twice")
        statements[name] = text.strip().rstrip(";")
    return Queries(statements)


@contextmanager
def translated() -> Iterator[None]:
    """Turn the driver's errors into those of this folder, keeping the cause."""
    try:
        yield
    except asyncpg.PostgresError as error:
        raise _translate(error) from error
    except asyncpg.InterfaceError as error:
        # The driver refuses by itself what it cannot encode; that never gets better by waiting.
        if isinstance(error, ValueError):
            raise BadValue(clean(str(error))) from error
        raise DatabaseAway(str(error)) from error
    except asyncpg.InternalClientError as error:
        # The server ended the connection, for example because a loop that stood still let its
        # transaction rest for too long. The driver finds itself between two states then, and its
        # words ("another operation is in progress") tell of a mistake that nobody made.
        raise DatabaseAway("the server ended the connection") from error
    except (ConnectionError, TimeoutError) as error:
        raise DatabaseAway(type(error).__name__) from error
    except OSError as error:
        raise DatabaseAway(error.strerror or type(error).__name__) from error


@contextmanager
def understood() -> Iterator[None]:
    """Say that an address cannot be read, without the driver's words: they quote parts of it."""
    try:
        yield
    except ValueError:
        raise DatabaseRefused("its address cannot be read") from None


def _translate(error: asyncpg.PostgresError) -> SaysoError:
    if isinstance(error, asyncpg.IntegrityConstraintViolationError):
        return Conflict(error.constraint_name or error.column_name or "", type(error).__name__)
    if isinstance(error, asyncpg.LockNotAvailableError | asyncpg.DeadlockDetectedError):
        return LockTimeout()
    if isinstance(
        error,
        asyncpg.PostgresConnectionError
        | asyncpg.OperatorInterventionError
        | asyncpg.InsufficientResourcesError
        | asyncpg.IdleInTransactionSessionTimeoutError
        | asyncpg.CannotConnectNowError,
    ):
        return DatabaseAway(type(error).__name__)
    if isinstance(error, asyncpg.UndefinedTableError | asyncpg.InvalidSchemaNameError):
        return NotMigrated([str(error)])
    if isinstance(
        error,
        asyncpg.InvalidAuthorizationSpecificationError
        | asyncpg.InvalidCatalogNameError
        | asyncpg.InsufficientPrivilegeError,
    ):
        return DatabaseRefused(str(error))
    if isinstance(error, asyncpg.DataError):
        return BadValue(str(error))
    return DatabaseRefused(f"{type(error).__name__}: {error}")


async def _prepare(driver: Any) -> None:
    await driver.execute(_TAKE_ROLE)
    for kind in ("json", "jsonb"):
        await driver.set_type_codec(
            kind,
            encoder=lambda value: orjson.dumps(value).decode(),
            decoder=orjson.loads,
            schema="pg_catalog",
        )


async def _keep(driver: Any) -> None:
    """Leave a returned connection as it is."""
