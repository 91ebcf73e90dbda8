"""Processes of ours that must not outlive us, and that we start again when they die.

A child is tied to its parent by a pipe on its standard input that nobody writes to: when the
parent is gone, for whatever reason and at whatever instruction, the kernel closes it, and the
child reads the end and stops. No pid is looked at, so a reused one cannot fool anybody.

A child that stands still is dead to everybody but the kernel. A call in C that keeps Python's lock
(a pattern that takes for ever, say) stops all its threads, its heartbeats and its signal handlers,
so nothing inside can notice. Such a child is told of a second pipe, and writes a byte into it from
its main loop now and then (`show_life`); once it has begun to, silence for long enough ends it by
SIGKILL, and it is started again like one that died.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

import structlog

log = structlog.get_logger("sayso.supervision")

FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 30.0
STEADY_SECONDS: Final = 60.0
ALIVE: Final = "--alive"  # with the descriptor of the pipe for the signs of life
SIGNS_IN_SILENCE: Final = 6  # signs of life in the time that ends a child without any


class Child:
    """A process of ours, started again whenever it ends by itself."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        name: str,
        environ: Mapping[str, str] | None = None,
        restart: bool = True,
        ended: Callable[[int], None] | None = None,
        output: int | None = None,
        silence_seconds: float | None = None,
    ) -> None:
        """Describe it; `run` starts it.

        Args:
            silence_seconds: end it when it has shown life once and then none for so long; its
                command line has to take `--alive DESCRIPTOR`. None: it is not watched.
        """
        self._arguments = tuple(arguments)
        self._name = name
        self._environ = dict(environ) if environ is not None else None
        self._restart = restart
        self._ended = ended
        self._output = output
        self._silence_seconds = silence_seconds
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = False
        self._killed = False

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return self._process.pid if self._process else None

    async def run(self) -> None:
        """Keep it running until cancelled; its pauses grow while it keeps dying at once."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            begun = asyncio.get_running_loop().time()
            self._killed = False
            async with self._started() as self._process:
                log.info("started", child=self._name, pid=self._process.pid)
                code = await self._process.wait()
            self._process = None
            if self._stopping:
                return
            if not self._killed:
                log.error("ended by itself", child=self._name, code=code)
            if self._ended is not None:
                self._ended(code)
            if not self._restart:
                return
            if asyncio.get_running_loop().time() - begun > STEADY_SECONDS:
                pause = FIRST_PAUSE_SECONDS
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def stop(self, seconds: float) -> None:
        """Ask it to end and wait so long; then end it."""
        self._stopping = True
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(seconds):
                await process.wait()
        except TimeoutError:
            log.warning("did not end in time", child=self._name)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    @asynccontextmanager
    async def _started(self) -> AsyncIterator[asyncio.subprocess.Process]:
        """Start it, and watch it for as long as the block takes."""
        if self._silence_seconds is None:
            yield await self._start()
            return
        ours, its = os.pipe()
        try:
            try:
                process = await self._start(ALIVE, str(its), descriptor=its)
            finally:
                os.close(its)
            watch = asyncio.create_task(
                self._watch(process, ours, self._silence_seconds), name="watch"
            )
            try:
                yield process
            finally:
                watch.cancel()
                await asyncio.gather(watch, return_exceptions=True)
        finally:
            os.close(ours)

    async def _watch(
        self, process: asyncio.subprocess.Process, pipe: int, silence_seconds: float
    ) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as limit:

                def hear() -> None:
                    # Where we stood still ourselves, this comes before the timeout.
                    if os.read(pipe, 4096):
                        limit.reschedule(loop.time() + silence_seconds)
                    else:  # it has closed its end; whether it also ends is still watched
                        loop.remove_reader(pipe)

                loop.add_reader(pipe, hear)
                await loop.create_future()
        except TimeoutError:
            self._killed = True
            log.error(
                "no sign of life, killed",
                child=self._name,
                pid=process.pid,
                seconds=silence_seconds,
            )
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        finally:
            loop.remove_reader(pipe)

    async def _start(self, *more: str, descriptor: int | None = None) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *self._arguments,
            *more,
            pass_fds=() if descriptor is None else (descriptor,),
            stdin=asyncio.subprocess.PIPE,
            env=self._environ,
            stdout=self._output,
            stderr=self._output,
            # A Ctrl-C in the terminal reaches the parent, and the parent stops its children in
            # their order; they must not all be interrupted at once.
            start_new_session=True,
        )


@asynccontextmanager
async def supervised(child: Child, *, stop_seconds: float) -> AsyncIterator[Child]:
    """Keep the child running inside the block, and stop it at the end."""
    task = asyncio.create_task(child.run(), name="supervise")
    try:
        yield child
    finally:
        await child.stop(stop_seconds)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def command(*arguments: str) -> list[str]:
    """The command line of another process of this program."""
    # -P: a folder called bot where it is started must not stand for ours.
    return [sys.executable, "-P", "-m", "bot", *arguments]


async def show_life(pipe: int, silence_seconds: float) -> None:
    """Show our supervisor again and again that this loop moves, into the pipe it gave us."""
    os.set_inheritable(pipe, False)
    os.set_blocking(pipe, False)
    while True:
        # Full: it does not look. Broken: it is gone, which our tie tells us too.
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            os.write(pipe, b".")
        await asyncio.sleep(silence_seconds / SIGNS_IN_SILENCE)


def until_told_to_stop(*, tied: bool = False) -> asyncio.Event:
    """An event that is set by SIGTERM, by SIGINT and, if tied, by the end of our parent."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if tied:
        threading.Thread(
            target=_wait_for_end_of_parent, args=(loop, stop), name="parent", daemon=True
        ).start()
    return stop


def _wait_for_end_of_parent(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    # The descriptor itself and not sys.stdin: its lock would be held at the interpreter's end.
    while True:
        try:
            if not os.read(0, 1024):
                break
        except InterruptedError:
            continue
        except OSError:
            break
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(stop.set)
