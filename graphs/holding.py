"""Letting go of what was held, once what it was held for has been mended.

A state that names a type which may not be loaded holds its thread; the type is then named in
sayso.toml. So does code that cannot go on with what was asked; then the code is brought back. The
worker that starts with it lets those threads go on by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from checkpoints.database import Database
from checkpoints.errors import BlockedType
from graphs import interventions, threads
from graphs.ports import Wish, no_wish
from graphs.registry import LoadedGraph, Registry
from graphs.threads import Status

BY = "sayso"


async def release_allowed(
    database: Database, registry: Registry, *, wish: Wish = no_wish
) -> list[str]:
    """Let threads go on that are held for types which their graph allows now; their ids."""
    released = []
    for name, loaded in registry.loaded.items():
        allowed = _allowed(loaded)
        for thread in await threads.list_(database, status=Status.HELD, graph=name):
            blocked = BlockedType.names_in(thread.mark_reason or "")
            if not blocked or not blocked <= allowed:
                continue
            async with database.transaction() as connection:
                done = await interventions.retry(
                    connection, thread.id, by=BY, may_unpark=True, wish=wish
                )
            if isinstance(done, interventions.Retried):
                released.append(thread.id)
    return released


async def release_mended(
    database: Database, thread_ids: Sequence[str], *, wish: Wish = no_wish
) -> list[str]:
    """Let threads go on whose code fits again; their ids."""
    released = []
    for thread_id in thread_ids:
        async with database.transaction() as connection:
            done = await interventions.retry(
                connection, thread_id, by=BY, may_unpark=True, wish=wish
            )
        if isinstance(done, interventions.Retried):
            released.append(thread_id)
    return released


def _allowed(loaded: LoadedGraph) -> set[str]:
    """What the configuration names, and what the graph's own schema shows."""
    shown = loaded.graph._serde_allowlist or ()
    return {*loaded.spec.types, *(":".join(name) for name in shown)}
