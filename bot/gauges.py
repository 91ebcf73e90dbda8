"""Figures for whoever runs Sayso, in the form that Prometheus reads: counts, and nobody's name.

They are counted when somebody asks, at most once in a few seconds; while the database is away only
what the process knows by itself is told, and that the rest could not be counted.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from typing import Final

import structlog
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from bot.present import Present
from checkpoints.database import Database, queries
from checkpoints.errors import SaysoError
from graphs import figures
from graphs.figures import Figures

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
        self._threads = self._gauge(
            "sayso_threads", "Threads that are not over, by where they stand.", "status"
        )
        self._plain = {name: self._gauge(name, says) for name, says in _SAYS.items()}

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
        graphs = self._present.settings.configuration.graphs
        try:
            async with self._database.connection() as connection:
                counted = await figures.count(connection, graphs)
                posts = await connection.fetchrow(SQL.waiting)
        except SaysoError as error:
            log.warning("gauges.not_counted", why=type(error).__name__)
            self._up.set(0)
            self._forget()
            return
        self._up.set(1)
        for name, value in _values(counted, dict(posts or {})).items():
            self._plain[name].set(value)
        for status, count in counted.threads.items():
            self._threads.labels(status).set(count)

    def _forget(self) -> None:
        """What was counted before is no figure of now: a backlog must not look as small as ever."""
        self._threads.clear()
        for gauge in self._plain.values():
            gauge.set(math.nan)

    def _gauge(self, name: str, says: str, *labels: str) -> Gauge:
        return Gauge(name, says, labels, registry=self._registry)


_SAYS: Final[Mapping[str, str]] = {
    "sayso_reviews_open": "Questions that wait for an answer.",
    "sayso_threads_ready": "Threads that have something to do and that nobody runs.",
    "sayso_threads_ready_oldest_seconds": "For how long the one of them has that waits longest.",
    "sayso_leases_held": "Threads that a worker runs.",
    "sayso_leases_run_out": "Threads whose worker is gone, and no other has taken them over yet.",
    "sayso_leases_taken_over": "Threads that run again after a worker was lost with them.",
    "sayso_crashes": "Workers lost in a row, of all threads that run or have something to do.",
    "sayso_mailbox_waiting": "What was said or decided and waits for a worker to take it.",
    "sayso_mailbox_oldest_seconds": "For how long the oldest of it waits.",
    "sayso_posts_waiting": "Messages that Slack does not show yet as they should be.",
    "sayso_posts_oldest_seconds": "For how long the oldest of them waits, without what is parked.",
    "sayso_posts_parked": "Messages that Slack refused, until somebody acts.",
    "sayso_audit_unsealed": "Entries of the record without a seal.",
    "sayso_audit_unsealed_oldest_seconds": "How old the oldest of them is.",
    "sayso_timers_overdue": "Reminders, escalations and deadlines that are due and did not happen.",
    "sayso_timers_overdue_oldest_seconds": "How late the oldest of them is.",
}


def _values(counted: Figures, posts: Mapping[str, float]) -> Mapping[str, float]:
    load = counted.leases
    return {
        "sayso_reviews_open": counted.open_reviews,
        "sayso_threads_ready": load.ready,
        "sayso_threads_ready_oldest_seconds": load.ready_seconds,
        "sayso_leases_held": load.held,
        "sayso_leases_run_out": load.run_out,
        "sayso_leases_taken_over": load.taken_over,
        "sayso_crashes": load.crashes,
        "sayso_mailbox_waiting": counted.mailbox.count,
        "sayso_mailbox_oldest_seconds": counted.mailbox.seconds,
        "sayso_posts_waiting": posts["messages"],
        "sayso_posts_oldest_seconds": posts["seconds"],
        "sayso_posts_parked": posts["parked"],
        "sayso_audit_unsealed": counted.unsealed.count,
        "sayso_audit_unsealed_oldest_seconds": counted.unsealed.seconds,
        "sayso_timers_overdue": counted.overdue.count,
        "sayso_timers_overdue_oldest_seconds": counted.overdue.seconds,
    }
