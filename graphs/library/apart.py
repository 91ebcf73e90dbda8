"""A PDF read apart: in a process of its own that can be ended, a few of them at once.

What can go wrong with a document stays in that process: it is killed when it takes too long, when
whoever waits for it is cancelled, and by the kernel when it uses more than its share. It gets
nothing of our environment, so no secret is within its reach.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from typing import Any, Final
from weakref import WeakKeyDictionary

from graphs.library import pdf
from graphs.library.pdf import Pdf

WALL_SECONDS: Final = 30.0  # from when the reading begins, not while it waits for its turn
CPU_SECONDS: Final = 10  # a hundred dense pages took 3
MEMORY_BYTES: Final = 768 * 1024 * 1024
AT_ONCE: Final = 4


async def text_of(
    body: bytes, *, wall_seconds: float = WALL_SECONDS, cpu_seconds: int = CPU_SECONDS
) -> Pdf:
    """Read the text of a PDF in a process of its own; never raises for what is in the file.

    Raises:
        OSError: no process can be started.
    """
    async with _turn():
        try:
            async with asyncio.timeout(wall_seconds):
                status, answer = await _ask(body, cpu_seconds)
        except TimeoutError:
            return Pdf(unread=pdf.TOO_SLOW)
    # The kernel says SIGXCPU at the soft limit and SIGKILL at the hard one, which is the same.
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return Pdf(unread=pdf.TOO_SLOW)
    return _answer(answer) if status == 0 else Pdf(unread=pdf.BROKEN, error=f"status {status}")


async def _ask(body: bytes, cpu_seconds: int) -> tuple[int, bytes]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "graphs.library.pdf", str(cpu_seconds), str(MEMORY_BYTES),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    try:
        answer, _ = await process.communicate(body)
        return await process.wait(), answer
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _answer(text: bytes) -> Pdf:
    """What the process said, looked at as something from outside."""
    try:
        said: dict[str, Any] = json.loads(text)
        answer = Pdf(**said)
    except (ValueError, TypeError):
        return Pdf(unread=pdf.BROKEN, error="no answer")
    if type(answer.pages) is not int or not isinstance(answer.text, str):
        return Pdf(unread=pdf.BROKEN, error="no answer")
    return answer


def _turn() -> asyncio.Semaphore:
    """The turns of this loop: a semaphore belongs to one."""
    return _TURNS.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(AT_ONCE))


_TURNS: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
