"""What takes checkpoints away or copies them: delete, prune, copy.

**A deleted thread stays deleted.** Its delete leaves a tombstone, the newest checkpoint id there
was. What comes later and builds on something that is gone is dropped by `flush`; a new life under
the same id starts from a newer root and is accepted. A write that was in flight elsewhere when the
tombstone was laid has not seen it: so the delete first lays the tombstone and commits, then waits
for the writers of that moment, then deletes what there is. It locks nothing and holds nobody up.

**Pruning keeps whatever can still be resumed.** Not only the newest checkpoint of each namespace:
a checkpoint at which a task still asks and that nothing came after (a fork left waiting), the
checkpoints above it that lead to the question (a graph in a graph in a graph), those below it that
belong to it, and the ancestors from which a delta channel is rebuilt. Losing one of these would
run finished tasks again, in silence.

The verbs take the caller's connection. Threads that Sayso owns are changed only by whoever holds
or has seized their lease in the same transaction (`erase`, `thin`); the saver asks `refuse_owned`
first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.serde.base import SerializerProtocol

from checkpoints.codec import Held, open_body
from checkpoints.database import Connection, Database, queries
from checkpoints.errors import LockTimeout, NotTheOwner

SQL = queries(__file__)

WRITERS_SECONDS: Final = 10.0
WRITERS_PAUSE_SECONDS: Final = 0.005

Place = tuple[str, str]  # namespace, checkpoint id


@dataclass(frozen=True, slots=True)
class Outline:
    """One checkpoint as `kept` looks at it.

    Attributes:
        above: the checkpoints of the enclosing graphs, namespace to id.
        asks: some task on it raised an interrupt.
        has: the channels whose value it carries.
        deltas: the channels that are rebuilt from ancestors where it does not carry them.
    """

    namespace: str
    checkpoint_id: str
    parent_id: str | None
    above: Mapping[str, str] = field(default_factory=dict)
    asks: bool = False
    has: frozenset[str] = frozenset()
    deltas: frozenset[str] = frozenset()

    @property
    def place(self) -> Place:
        """Where it is found."""
        return self.namespace, self.checkpoint_id


def kept(outlines: Sequence[Outline]) -> set[Place]:
    """Return the places of the checkpoints that pruning must keep. Pure.

    1. The newest of each namespace.
    2. Those at which a task asks and after which nothing came.
    3. What encloses the kept ones, by their own word.
    4. Under each that still asks, the newest of each namespace that names it as enclosing.
    5. For each kept one, the ancestors back to where every delta channel has a value.
    """
    by_place = {outline.place: outline for outline in outlines}
    have_children = {
        (outline.namespace, outline.parent_id) for outline in outlines if outline.parent_id
    }
    newest: dict[str, str] = {}
    below: dict[Place, dict[str, str]] = {}
    for outline in outlines:
        _newer(newest, outline)
        for namespace, checkpoint_id in outline.above.items():
            _newer(below.setdefault((namespace, checkpoint_id), {}), outline)
    keep: set[Place] = set()
    todo = list(newest.items())
    todo += [
        outline.place for outline in outlines if outline.asks and outline.place not in have_children
    ]
    while todo:
        place = todo.pop()
        at = by_place.get(place)
        if at is None or place in keep:
            continue
        keep.add(place)
        todo += at.above.items()
        if at.asks and place not in have_children:
            todo += below.get(place, {}).items()
    for place in list(keep):
        keep |= _delta_ancestors(by_place[place], by_place)
    return keep


def _newer(newest: dict[str, str], outline: Outline) -> None:
    there = newest.get(outline.namespace, "")
    newest[outline.namespace] = max(there, outline.checkpoint_id)


def _delta_ancestors(outline: Outline, by_place: Mapping[Place, Outline]) -> set[Place]:
    places: set[Place] = set()
    missing = outline.deltas - outline.has
    while missing and outline.parent_id:
        parent = by_place.get((outline.namespace, outline.parent_id))
        if parent is None:
            break
        places.add(parent.place)
        missing -= parent.has
        outline = parent
    return places


async def refuse_owned(connection: Connection, threads: Sequence[str]) -> None:
    """Raise `NotTheOwner` if any of the threads belongs to Sayso."""
    owned = await connection.fetchval(SQL.owned_among, list(threads))
    if owned is not None:
        raise NotTheOwner(owned)


async def delete_threads(database: Database, threads: Sequence[str]) -> None:
    """Delete all checkpoints, values and writes of threads that nobody owns, for good.

    Raises:
        NotTheOwner: one of them belongs to Sayso.
        LockTimeout: a writer of that moment did not finish; the same call may work later.
    """
    async with database.transaction() as connection:
        await refuse_owned(connection, threads)
        await connection.execute(SQL.bury, list(threads), str(uuid6()))
    await _wait_for_writers(database)
    async with database.transaction() as connection:
        await erase(connection, threads)


async def erase(connection: Connection, threads: Sequence[str]) -> None:
    """Delete all checkpoints of the threads and leave their tombstones.

    For threads that Sayso owns the caller has seized the leases in this transaction: a write in
    flight waits for them, and is stale.
    """
    mine = sorted(set(threads))
    await connection.execute(SQL.bury, mine, str(uuid6()))
    await connection.execute(SQL.delete_checkpoints, mine)
    await connection.execute(SQL.delete_writes, mine)
    await connection.execute(SQL.delete_values, mine)


async def threads_of_runs(connection: Connection, run_ids: Sequence[str]) -> list[str]:
    """Return the threads in which any of the runs left checkpoints."""
    rows = await connection.fetch(SQL.threads_of_runs, list(run_ids))
    return [row["thread_id"] for row in rows]


async def delete_runs(connection: Connection, thread_id: str, run_ids: Sequence[str]) -> None:
    """Delete what the runs left in one thread; values that others still hold stay."""
    rows = await connection.fetch(SQL.checkpoints_of_runs, thread_id, list(run_ids))
    await _drop(connection, thread_id, [(row["namespace"], row["checkpoint_id"]) for row in rows])


async def thin(connection: Connection, thread_id: str, serde: SerializerProtocol) -> int:
    """Keep of one thread what can still be resumed; return how many checkpoints went."""
    rows = await connection.fetch(SQL.outline, thread_id)
    outlines = [_outline(row, serde) for row in rows]
    keep = kept(outlines)
    gone = [outline.place for outline in outlines if outline.place not in keep]
    await _drop(connection, thread_id, gone)
    return len(gone)


async def copy(connection: Connection, source: str, target: str) -> None:
    """Copy every checkpoint, value and write of a thread; what the target has stays."""
    await connection.execute(SQL.copy_checkpoints, source, target)
    await connection.execute(SQL.copy_values, source, target)
    await connection.execute(SQL.copy_writes, source, target)


async def _drop(connection: Connection, thread_id: str, places: Sequence[Place]) -> None:
    if not places:
        return
    namespaces = [namespace for namespace, _ in places]
    ids = [checkpoint_id for _, checkpoint_id in places]
    await connection.execute(SQL.delete_some_checkpoints, thread_id, namespaces, ids)
    await connection.execute(SQL.delete_some_writes, thread_id, namespaces, ids)
    await connection.execute(SQL.delete_unheld_values, thread_id)


def _outline(row: Mapping[str, Any], serde: SerializerProtocol) -> Outline:
    metadata: dict[str, Any] = row["metadata"]
    counted = metadata.get("counters_since_delta_snapshot") or {}
    held: Held = row["held"]
    # The body is opened only where delta channels are counted; one without a version was never
    # written, so there is nothing to rebuild.
    checkpoint, small = open_body(serde, row["body"]) if counted else ({}, {})
    deltas = frozenset(counted) & frozenset(checkpoint.get("channel_versions", ()))
    parents = metadata.get("parents") or {}
    return Outline(
        namespace=row["namespace"],
        checkpoint_id=row["checkpoint_id"],
        parent_id=row["parent_id"],
        above={
            namespace: checkpoint_id
            for namespace, checkpoint_id in parents.items()
            if namespace != row["namespace"] and isinstance(checkpoint_id, str)
        },
        asks=row["asks"],
        has=frozenset(held) | frozenset(small),
        deltas=deltas,
    )


async def _wait_for_writers(database: Database) -> None:
    """Return when everybody who was writing at this moment has finished."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + WRITERS_SECONDS
    rows = await database.fetch(SQL.writers)
    waited_for = {row["virtualtransaction"] for row in rows}
    while waited_for:
        if loop.time() > ends:
            raise LockTimeout
        await asyncio.sleep(WRITERS_PAUSE_SECONDS)
        rows = await database.fetch(SQL.writers)
        waited_for &= {row["virtualtransaction"] for row in rows}
