"""Checkpoints made by hand, for the tests of the savers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from langgraph.checkpoint.base import Checkpoint
from langgraph.checkpoint.base.id import uuid6

from checkpoints import leases
from checkpoints.database import Database
from checkpoints.leases import Fence


def config(
    thread_id: str,
    checkpoint_id: str | None = None,
    *,
    namespace: str = "",
    fence: Fence | None = None,
) -> Any:
    configurable: dict[str, Any] = {"thread_id": thread_id, "checkpoint_ns": namespace}
    if checkpoint_id is not None:
        configurable["checkpoint_id"] = checkpoint_id
    if fence is not None:
        configurable[leases.FENCE] = fence
    return {"configurable": configurable}


def checkpoint(values: dict[str, Any], versions: dict[str, Any] | None = None) -> Checkpoint:
    return Checkpoint(
        v=4,
        id=str(uuid6()),
        ts="2026-01-01T00:00:00+00:00",
        channel_values=values,
        channel_versions=versions if versions is not None else dict.fromkeys(values, 1),
        versions_seen={},
        updated_channels=None,
    )


async def put(
    saver: Any,
    thread_id: str,
    values: dict[str, Any] | None = None,
    *,
    parent: Any = None,
    version: Any = 1,
    namespace: str = "",
    fence: Fence | None = None,
    **metadata: Any,
) -> Any:
    """Put a checkpoint whose values are all new, and return its configuration."""
    values = values or {}
    versions = dict.fromkeys(values, version)
    parent_id = parent["configurable"]["checkpoint_id"] if parent else None
    return await saver.aput(
        config(thread_id, parent_id, namespace=namespace, fence=fence),
        checkpoint(values, versions),
        {"source": "loop", "step": 1, "parents": {}, **metadata},
        versions,
    )


async def claimed(database: Database, thread_id: str, owner: str = "w1") -> Fence:
    """Make the thread one of Sayso's, and return the fence of its first owner."""
    scope = f"T0SAYSO/{thread_id}"
    async with database.transaction() as connection:
        await leases.create(connection, thread_id, scope)
        await leases.wake(connection, thread_id)
        [lease] = await leases.claim(
            connection, owner=owner, scopes=[scope], limit=1, lease_seconds=30
        )
        return lease.fence


async def as_superuser(database: Database, statement: str) -> None:
    """Do what Sayso itself may not do."""
    driver = await asyncpg.connect(database.url)
    try:
        await driver.execute(statement)
    finally:
        await driver.close()


async def waits_for_a_lock(database: Database) -> None:
    """Return once somebody waits for a lock."""
    async with asyncio.timeout(10):
        while not await database.fetchval("select count(*) from pg_locks where not granted"):
            pass


@asynccontextmanager
async def process(*command: str, **environment: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A real process with our code on its path."""
    started = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield started
    finally:
        if started.returncode is None:
            started.kill()
        await started.communicate()
