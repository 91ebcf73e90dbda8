"""Progress: what the stream says of the steps becomes rows, and the progress message is wished."""

from __future__ import annotations

import asyncio

import structlog

from checkpoints.database import Database
from checkpoints.errors import SaysoError
from graphs import ports, steps
from graphs.ports import Wish
from graphs.steps import Told

log = structlog.get_logger(__name__)


class Progress:
    """Writes what the stream says of the steps, and wishes the progress shown, a batch at a time.

    While one batch is being written the next collects: a quick graph costs few transactions, and
    nothing waits for them but the settle.
    """

    def __init__(
        self, database: Database, thread_id: str, running: dict[str, str], wish: Wish
    ) -> None:
        self._database = database
        self._thread_id = thread_id
        self._running = running
        self._wish = wish
        self._told: list[Told] = []
        self._writing: asyncio.Task[None] | None = None

    def hear(self, told: Told) -> None:
        """Take one word of the stream."""
        if told.status == "running":
            self._running[told.task_id] = told.node
        else:
            self._running.pop(told.task_id, None)
        self._told.append(told)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write(), name=f"steps {self._thread_id}")

    async def close(self) -> None:
        """Wait until all is written."""
        self._running.clear()
        if self._writing is not None:
            await self._writing

    async def _write(self) -> None:
        while self._told:
            batch, self._told = self._told, []
            try:
                async with self._database.transaction() as connection:
                    await steps.tell(connection, self._thread_id, batch)
                    await self._wish(connection, ports.PROGRESS, self._thread_id)
            except SaysoError as error:  # steps are for people; the run goes on
                log.warning("steps.not_kept", thread=self._thread_id, error=str(error))
