"""Two loops in one worker: the engine's own, and another in a thread for the graphs.

A node that blocks its loop (a synchronous client in an async function) must not lose a lease, hold
up a settle or delay a card. So everything of ours runs on the engine's loop, and graphs, with a
pool, saver and store of their own, on this one. A job is started on the one and awaited on the
other; what crosses over is a value or an exception.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Cut(Exception):
    """The job was cancelled by the engine; how far it got, the checkpoint says."""


class Job(Generic[T]):
    """A coroutine that runs on the graphs' loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, done: asyncio.Future[T]) -> None:
        self._loop = loop
        self._done = done
        self._task: asyncio.Task[T] | None = None
        self._cut = False

    def cancel(self) -> None:
        """Ask it to end; `done` says when it has. Safe from any thread, any number of times."""
        self._cut = True
        # Through the loop even before the task exists: the begin that is queued there comes first.
        self._loop.call_soon_threadsafe(self._cancel)

    async def done(self) -> T:
        """Wait for its end; cancelling the waiting does not cancel the job.

        Raises:
            Cut: it was cancelled. Else whatever it raised.
        """
        return await asyncio.shield(self._done)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()


class GraphLoop:
    """The loop that graphs run on, in a daemon thread of its own."""

    def __init__(self, name: str = "graphs") -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._engine: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stop: asyncio.Event | None = None
        self._ended: asyncio.Future[None] | None = None
        self._ticked = time.monotonic()

    async def open(self, resource: Callable[[], AbstractAsyncContextManager[T]]) -> T:
        """Start the thread, open the resource on its loop, and return it.

        Raises:
            Whatever opening raised; the thread has ended then.
        """
        self._engine = asyncio.get_running_loop()
        opened: asyncio.Future[T] = self._engine.create_future()
        self._ended = self._engine.create_future()
        self._thread = threading.Thread(
            target=lambda: _run(self._main(resource, opened)), name=self._name, daemon=True
        )
        self._thread.start()
        return await opened

    def run(self, coroutine: Coroutine[Any, Any, T], name: str = "job") -> Job[T]:
        """Start the coroutine over there; a job that is dropped goes on."""
        assert self._loop is not None  # noqa: S101  open() comes first
        engine = asyncio.get_running_loop()
        done: asyncio.Future[T] = engine.create_future()
        done.add_done_callback(_seen)
        job = Job(self._loop, done)

        def begin() -> None:
            assert self._loop is not None  # noqa: S101
            task = self._loop.create_task(_whole(coroutine), name=name)
            job._task = task
            task.add_done_callback(finish)
            if job._cut:
                task.cancel()

        def finish(task: asyncio.Task[T]) -> None:
            if task.cancelled():
                engine.call_soon_threadsafe(_fail, done, Cut())
            elif (error := task.exception()) is not None:
                engine.call_soon_threadsafe(_fail, done, error)
            else:
                engine.call_soon_threadsafe(_succeed, done, task.result())

        self._loop.call_soon_threadsafe(begin)
        return job

    def ping(self) -> None:
        """Ask the loop for a sign of life; `still_for` tells how long ago it gave one."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._tick)

    def still_for(self) -> float:
        """Seconds since the loop last moved, as far as it was asked."""
        return time.monotonic() - self._ticked

    async def ended(self) -> None:
        """Return when the thread has ended."""
        if self._ended is not None:
            await asyncio.shield(self._ended)

    async def close(self, wait_seconds: float = 10.0) -> bool:
        """Close the resource and end the thread; False where a node blocks it and it is left."""
        if self._loop is None or self._stop is None or self._ended is None:
            return True
        self._loop.call_soon_threadsafe(self._stop.set)
        try:
            await asyncio.wait_for(asyncio.shield(self._ended), wait_seconds)
        except TimeoutError:
            return False
        return True

    async def _main(
        self, resource: Callable[[], AbstractAsyncContextManager[T]], opened: asyncio.Future[T]
    ) -> None:
        assert self._engine is not None  # noqa: S101
        assert self._ended is not None  # noqa: S101
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        try:
            async with resource() as value:
                self._engine.call_soon_threadsafe(_succeed, opened, value)
                await self._stop.wait()
        except BaseException as error:
            self._engine.call_soon_threadsafe(_fail, opened, error)
        finally:
            if not self._engine.is_closed():
                self._engine.call_soon_threadsafe(_succeed, self._ended, None)

    def _tick(self) -> None:
        self._ticked = time.monotonic()


def _run(main: Coroutine[Any, Any, None]) -> None:
    """Run the loop to the end of `main`, whatever a node does.

    asyncio lets SystemExit and KeyboardInterrupt of any task end the loop itself, and with it
    every graph of the worker; the job that raised it fails, and the loop goes on.
    """
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        task = loop.create_task(main)
        while not task.done():
            with contextlib.suppress(SystemExit, KeyboardInterrupt):
                loop.run_until_complete(task)


async def _whole(coroutine: Coroutine[Any, Any, T]) -> T:
    """Let a cancelled run finish its last writes: LangGraph hands them over in the error's args."""
    try:
        return await coroutine
    except (SystemExit, KeyboardInterrupt) as ended:  # either would end the loop of all graphs
        raise RuntimeError("a node tried to end the process") from ended
    except asyncio.CancelledError as cancelled:
        rest = cancelled.args[-1] if cancelled.args else None
        if inspect.isawaitable(rest):
            await asyncio.gather(rest, return_exceptions=True)
        raise


def _succeed(future: asyncio.Future[T], value: T) -> None:
    if not future.done():
        future.set_result(value)


def _fail(future: asyncio.Future[T], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


def _seen(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()  # marks it as retrieved: a job that was given up is no error
