"""Checkpoints in one SQLite file, for a first experiment: no server, one process at a time.

The saver and the store are LangGraph's own (the extra `try`). What is ours: types that may not be
loaded are refused and do not turn into dictionaries in silence, one process at a time has the
file, and an answer that a node did not take can be taken back.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import ERROR, RESUME
from langgraph.types import Interrupt

from checkpoints.codec import noticing_blocked
from checkpoints.errors import BlockedType, ExtraMissing, FileNotUsable
from checkpoints.text import clean

try:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.store.sqlite.aio import AsyncSqliteStore
except ModuleNotFoundError as error:
    raise ExtraMissing("langgraph-checkpoint-sqlite") from error

SCHEME: Final = "sqlite:///"


def file_of(address: str) -> Path | None:
    """The file of `sqlite:///file` (`sqlite:////absolute`); None where it is no such address."""
    name = address.removeprefix(SCHEME)
    if not address.startswith(SCHEME) or not name or name.startswith(":") or clean(name) != name:
        return None
    return Path(name)


class SqliteSaver(AsyncSqliteSaver):
    """LangGraph's saver on SQLite, and the repair of an answer that a node did not take."""

    async def take_back_answer(
        self, thread_id: str, task_id: str, checkpoint_id: str, *, namespace: str = ""
    ) -> bool:
        """Undo the last answer of a task that raised because of it, so that it can ask again.

        Its error and the last value of its resume write go; the interrupt keeps its id. Return
        whether there was an answer.
        """
        key = (thread_id, namespace, checkpoint_id, task_id)
        async with self.lock:
            found = await self.conn.execute_fetchall(_ANSWERS, (*key, RESUME))
            rows = list(found)
            if not rows:
                return False
            left = list(self.serde.loads_typed((rows[0][0], rows[0][1])))[:-1]
            if left:
                await self.conn.execute(_KEEP, (*self.serde.dumps_typed(left), *key, RESUME))
            else:
                await self.conn.execute(_FORGET, (*key, RESUME))
            await self.conn.execute(_FORGET, (*key, ERROR))
            await self.conn.commit()
        return True

    async def forget_error_of(
        self, thread_id: str, task_id: str, checkpoint_id: str, *, namespace: str = ""
    ) -> None:
        """Undo the error of a task alone, so that it runs again with the answers it has."""
        async with self.lock:
            key = (thread_id, namespace, checkpoint_id, task_id)
            await self.conn.execute(_FORGET, (*key, ERROR))
            await self.conn.commit()


@dataclass(frozen=True)
class Kept:
    """What is open of the file."""

    saver: SqliteSaver
    store: AsyncSqliteStore

    async def thread_id(self, name: str) -> str:
        """The id of the thread with that name: the same as long as the file lives, and no other's.

        Effect keys are made of it, so that two experiments with one name must not share it.
        """
        async with self.saver.lock:
            await self.saver.conn.execute(_NAMES)
            await self.saver.conn.execute(_NAME, (name, str(uuid.uuid4())))
            await self.saver.conn.commit()
            ((found,),) = await self.saver.conn.execute_fetchall(_ID, (name,))
        return str(found)


@asynccontextmanager
async def opened(file: Path, types: Sequence[str] = ()) -> AsyncIterator[Kept]:
    """Open the file, and make it where there is none; only one process at a time has it.

    Args:
        types: what may be loaded besides the types of the graph's schema, "module:Class" each.

    Raises:
        FileNotUsable: it cannot be opened, is something else, or another process has it.
    """
    with _alone(file):
        async with (
            AsyncSqliteSaver.from_conn_string(str(file)) as plain,
            AsyncSqliteStore.from_conn_string(str(file)) as store,
        ):
            saver = SqliteSaver(plain.conn, serde=_Refusing())
            if types:
                names = [cast("tuple[str, ...]", tuple(name.split(":", 1))) for name in types]
                saver = cast("SqliteSaver", saver.with_allowlist(names))
            try:
                await saver.setup()
                await store.setup()
                yield Kept(saver, store)
            except sqlite3.Error as error:
                raise FileNotUsable(file, str(error)) from error


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Hold the file for this process; the lock goes with the process, however it ends."""
    try:
        held = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise FileNotUsable(file, (error.strerror or "it cannot be opened").lower()) from error
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise FileNotUsable(file, "another `sayso try` is using it") from error
        yield
    finally:
        # Last of all: closing any descriptor of the file drops the locks that SQLite holds on it.
        os.close(held)


class _Refusing(JsonPlusSerializer):
    """LangGraph's serializer, which says so when a stored type may not be loaded."""

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        with noticing_blocked() as names:
            value = super().loads_typed(data)
        if names and not _is_question(value):
            raise BlockedType(sorted(names))
        return value


def _is_question(value: Any) -> bool:
    """A question is for people to read: a model in it may well arrive as a dictionary."""
    return isinstance(value, list | tuple) and all(isinstance(one, Interrupt) for one in value)


_OF_TASK: Final = "thread_id = ? and checkpoint_ns = ? and checkpoint_id = ? and task_id = ?"
_ANSWERS: Final = f"select type, value from writes where {_OF_TASK} and channel = ?"  # noqa: S608
_KEEP: Final = f"update writes set type = ?, value = ? where {_OF_TASK} and channel = ?"  # noqa: S608
_FORGET: Final = f"delete from writes where {_OF_TASK} and channel = ?"  # noqa: S608
_NAMES: Final = "create table if not exists sayso_try (name text primary key, id text not null)"
_NAME: Final = "insert into sayso_try (name, id) values (?, ?) on conflict (name) do nothing"
_ID: Final = "select id from sayso_try where name = ?"
