"""Figures for whoever runs Sayso, in the form that Prometheus reads: counts, and nobody's name.

They are counted when somebody asks, at most once in a few seconds; while the database is away only
what the process knows by itself is told, and that the rest could not be counted.
"""

from __future__ import annotations

import asyncio
from typing import Final

import structlog
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from bot.present import Present
from checkpoints.database import Database, queries
from checkpoints.errors import SaysoError
from graphs import figures

log = structlog.get_logger("sayso.gauges")

SQL = queries(__file__)

FRESH_SECONDS: Final = 5.0


class Gauges:
    """The figures of one web process."""

    def __init__(self, database: Database, present: Present) -> None:
        self._database = database
        self._present = present
        self._counted_at = float("-inf")
        self._counting = asyncio.Lock()
        # A registry of our own: the common one would tell of the process's files and memory.
        self._registry = CollectorRegistry()
        self._broken = self._gauge(
            "sayso_configuration_broken", "1 where the file has mistakes and an older one holds."
        )
        self._in_force = self._gauge(
            "sayso_configuration_info", "The hash of the configuration in force.", "hash"
        )
        self._up = self._gauge("sayso_counted", "0 where the database could not be asked.")
        self._reviews = self._gauge("sayso_reviews_open", "Questions that wait for an answer.")
        self._threads = self._gauge(
            "sayso_threads", "Threads that are not over, by where they stand.", "status"
        )
        self._posts = self._gauge(
            "sayso_posts_waiting", "Messages that Slack does not show yet as they should be."
        )

    async def text(self) -> bytes:
        """All of them as they are now."""
        async with self._counting:
            now = asyncio.get_running_loop().time()
            if now - self._counted_at >= FRESH_SECONDS:
                await self._count()
                self._counted_at = now
        self._broken.set(self._present.broken)
        self._in_force.clear()
        self._in_force.labels(self._present.settings.reading.hash).set(1)
        return generate_latest(self._registry)

    async def _count(self) -> None:
        try:
            async with self._database.connection() as connection:
                counted = await figures.count(connection)
                waiting = await connection.fetchval(SQL.waiting)
        except SaysoError as error:
            log.warning("gauges.not_counted", why=type(error).__name__)
            self._up.set(0)
            return
        self._up.set(1)
        self._reviews.set(counted.open_reviews)
        self._posts.set(waiting)
        for status, count in counted.threads.items():
            self._threads.labels(status).set(count)

    def _gauge(self, name: str, says: str, *labels: str) -> Gauge:
        return Gauge(name, says, labels, registry=self._registry)
