"""What happens by the clock: APScheduler only ticks, the rows hold the truth.

A tick reads what is due and claims it in the database, so that any number of workers tick beside
each other and one that was away for an hour catches up in one go. A database that is away is
waited for; any other error ends the duty, and with it the worker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias

import aiohttp
import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from checkpoints.errors import DatabaseAway, LockTimeout

log = structlog.get_logger("sayso.ticking")

CLOCK_SECONDS: Final = 2.0

Tick: TypeAlias = Callable[[], Awaitable[Any]]


async def shown_time(url: str) -> datetime | None:
    """The time of a clock that somebody may have moved; None for the database's own."""
    if not url:
        return None
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=CLOCK_SECONDS)) as session,
            session.get(url) as answer,
        ):
            clock = await answer.json()
        return datetime.fromisoformat(clock["now"]) if clock["moved"] else None
    except (aiohttp.ClientError, TimeoutError, ValueError, KeyError, TypeError) as error:
        log.warning("clock.not_read", error=type(error).__name__)
        return None


async def tick_for_ever(ticks: Mapping[str, tuple[float, Tick]]) -> None:
    """Call each tick every so many seconds, never twice at once; runs until cancelled.

    Raises:
        Whatever a tick raised that is not the database being away.
    """
    failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def call(name: str, tick: Tick) -> None:
        try:
            await tick()
        except (DatabaseAway, LockTimeout) as error:
            log.warning("tick.failed", tick=name, error=str(error))
        except Exception as error:
            if not failed.done():
                failed.set_exception(error)

    scheduler = AsyncIOScheduler(timezone="UTC")
    for name, (seconds, tick) in ticks.items():
        # Its own grace of a second would drop the ticks of a loop that was held up.
        scheduler.add_job(
            call, "interval", (name, tick), seconds=seconds, id=name, coalesce=True,
            max_instances=1, misfire_grace_time=None,
        )  # fmt: skip
    scheduler.start()
    try:
        await failed
    finally:
        scheduler.shutdown(wait=False)
