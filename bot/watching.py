"""A running service that is handed a changed sayso.toml: taken up where it is whole, else not.

1. Every few seconds the files' bytes are looked at. A change counts once two looks found the same,
   so that half of what somebody is writing is never taken up; a SIGHUP says that it is whole.
2. The files are read and checked as at the start.
3. What has no mistakes is written down, and is in force from then on: rules, roles, managers,
   operators, the words of questions. What needs a start of the process is told to the operators.
4. What has mistakes is told once: in the log, by a figure, to the operators. The old stays.

Where the database is away nothing is taken up, and the next look begins again: what is in force is
always written down.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import structlog

from bot.present import Present, beside
from bot.project import NAME
from bot.settings import Settings, reread
from bot.ticking import tick_for_ever
from bot.wishes import Wishes
from checkpoints.database import Connection, Database
from checkpoints.errors import SaysoError
from graphs import audit, policies

log = structlog.get_logger("sayso.configuration")

LOOK_SECONDS: Final = 1.0
NOTICE: Final = "configuration"  # what a notice of it is about, with the number of its row
MAX_TOLD: Final = 10  # mistakes in one notice

Check = Callable[[Settings], Iterable[str]]


class Watch:
    """Looks at the files of one process's configuration, and takes up what is whole."""

    def __init__(
        self,
        present: Present,
        database: Database,
        *,
        by: str,
        check: Check = lambda _: (),
        taken: Callable[[], None] = lambda: None,
    ) -> None:
        """Take the collaborators; `begin` comes first.

        Args:
            by: who started this process, for the record.
            check: further mistakes, which only this process can find.
            taken: called when something else is in force.
        """
        self._present = present
        self._database = database
        self._wishes = Wishes(present)
        self._by = by
        self._check = check
        self._taken = taken
        self._begun = False
        self._files = _files(present.settings)
        # Nothing is seen yet: the files may have changed since this process read them.
        self._seen = self._changed = ""
        self._looking = asyncio.Lock()

    async def begin(self) -> None:
        """Write down what this process starts with."""
        await self._write_down(self._present.settings, "a process was started", by=self._by)
        self._begun = True

    async def look(self, *, whole: bool = False) -> None:
        """Look whether the files changed; `whole` where somebody says that they are written."""
        async with self._looking:
            try:
                await self._look(whole=whole)
            except SaysoError as error:
                log.warning("configuration.not_looked_at", why=str(error))
            except Exception:  # a mistake of ours must not end what runs by the old one
                log.exception("configuration.not_taken_up")
                self._present.broken = True
                self._seen = self._changed

    async def _look(self, *, whole: bool) -> None:
        if not self._begun:
            await self.begin()
        before, self._changed = self._changed, await asyncio.to_thread(_digest, self._files)
        if self._changed == self._seen or not (whole or self._changed == before):
            return
        read, mistakes = await asyncio.to_thread(self._read)
        files = _files(self._present.settings) | _files(read)
        digest = await asyncio.to_thread(_digest, self._files)
        if digest != self._changed:
            return  # somebody writes; the next look is about what stands there then
        if mistakes:
            await self._refuse(read, mistakes)
        else:
            await self._take(read)
        if files != self._files:
            self._files, digest = files, await asyncio.to_thread(_digest, files)
        self._seen = self._changed = digest

    def _read(self) -> tuple[Settings, list[str]]:
        read, mistakes = reread(self._present.settings)
        return read, [*mistakes, *self._check(read)]

    async def _take(self, read: Settings) -> None:
        taken, waits = beside(self._present.settings, read)
        changed = taken.configuration != self._present.configuration
        await self._write_down(taken, "taken up from the file by a running service", restart=waits)
        self._present.take(taken)
        self._taken()
        if changed:
            log.info("configuration.taken_up", hash=read.reading.hash)
        for each in waits:
            log.warning("configuration.waits_for_a_start", what=each)

    async def _refuse(self, read: Settings, mistakes: list[str]) -> None:
        self._present.broken = True
        for mistake in mistakes:
            log.warning("configuration.refused", mistake=mistake)
        async with self._database.transaction() as connection:
            written = await policies.refuse(
                connection, hash_=read.reading.hash, mistakes=mistakes, actor=audit.SYSTEM
            )
            if written is not None:
                await self._tell(connection, written, "refused", mistakes)

    async def _write_down(
        self,
        settings: Settings,
        how: str,
        *,
        by: str = audit.SYSTEM,
        restart: Sequence[str] = (),
    ) -> None:
        reading = settings.reading
        async with self._database.transaction() as connection:
            written = await policies.take(
                connection,
                hash_=reading.hash,
                text=reading.open_text,
                actor=by,
                how=how,
                restart=restart,
            )
            if written is not None and written.mended:
                await self._tell(connection, written, "mended", ())
            if written is not None and restart:
                await self._tell(connection, written, "restart", restart)

    async def _tell(
        self, connection: Connection, written: policies.Written, what: str, lines: Sequence[str]
    ) -> None:
        """Tell the operators, of each thing by itself."""
        told = [*lines[:MAX_TOLD]]
        if len(lines) > len(told):
            told.append(f"and {len(lines) - len(told):,} more")
        await self._wishes.tell_operators(
            connection, f"{NOTICE}.{what}:{written.number}", {"lines": told}
        )


@asynccontextmanager
async def watched(watch: Watch) -> AsyncIterator[None]:
    """Look for as long as the block takes: every second, and at once when there is a SIGHUP.

    Where a terminal is attached a SIGHUP is its end, and ours with it.
    """
    looking: set[asyncio.Task[None]] = set()

    def look(*, whole: bool) -> None:
        task = asyncio.create_task(watch.look(whole=whole), name="look at the configuration")
        looking.add(task)
        task.add_done_callback(looking.discard)

    async def tick() -> None:
        if not looking:  # one that loads graphs may take longer than a tick
            look(whole=False)

    loop = asyncio.get_running_loop()
    detached = not os.isatty(0)
    if detached:
        loop.add_signal_handler(signal.SIGHUP, lambda: look(whole=True))
    await watch.look()
    ticks = asyncio.create_task(tick_for_ever({NOTICE: (LOOK_SECONDS, tick)}), name=NOTICE)
    try:
        yield
    finally:
        if detached:
            loop.remove_signal_handler(signal.SIGHUP)
        for task in (ticks, *looking):
            task.cancel()
        await asyncio.gather(ticks, *looking, return_exceptions=True)


def _files(settings: Settings) -> frozenset[Path]:
    """Everything that a configuration is read from."""
    named = [file for file, _ in settings.reading.texts]
    beside_it = settings.file.parent / NAME
    return frozenset([settings.file, beside_it, *named, *settings.reading.secrets])


def _digest(files: frozenset[Path]) -> str:
    """A hash of what the files hold now; one that cannot be read counts as another content."""
    whole = hashlib.sha256()
    for file in sorted(files):
        try:
            held = hashlib.sha256(file.read_bytes()).hexdigest()
        except OSError as error:
            held = f"none, {error.errno}"
        whole.update(f"{file}\0{held}\0".encode())
    return whole.hexdigest()
