"""What is done after the answer to Slack: messages to one person, modals, look-ups.

Nothing in here is durable work; a crash may lose it, and nothing is wrong then. Bolt keeps no
strong reference to such tasks and only logs what they raise, so they are kept and watched here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import structlog

from bot.errors import SlackFailed
from checkpoints.errors import SaysoError

log = structlog.get_logger("sayso.afterwards")


class Afterwards:
    """Holds and names the tasks that outlive their request."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        """Run the work beside everything else; what it raises is logged and goes no further."""
        task = asyncio.create_task(_watched(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self, seconds: float = 3.0) -> None:
        """Wait for what runs, at most so long; cancel the rest."""
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)


async def _watched(work: Coroutine[Any, Any, Any], name: str) -> None:
    try:
        await work
    except SlackFailed as error:
        log.warning("slack did not take it", task=name, method=error.method, error=error.error)
    except SaysoError as error:
        log.warning("not done", task=name, error=str(error))
    except Exception:
        log.exception("failed", task=name)
