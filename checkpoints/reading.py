"""Reading checkpoints: by primary keys, and only what was asked for.

The newest checkpoint, its values and what was written on it come with one statement that touches
no other checkpoint of the thread, however long it is. Pages and the history of a delta channel
take one statement each for checkpoints, values and writes.

What is read is bytes: the saver decodes it, with the serializer of the copy that was asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from checkpoints.codec import Held
from checkpoints.database import Database, Row, queries
from checkpoints.errors import LostCheckpoint
from checkpoints.flush import FlushQueue

SQL = queries(__file__)

ANCESTORS: Final = 100

Several = Mapping[str, Sequence[tuple[str, bytes]]]  # channel to (checkpoint id, value) each


@dataclass(frozen=True, slots=True)
class Found:
    """One checkpoint with the values it holds and what was written on it, in order."""

    thread_id: str
    namespace: str
    checkpoint_id: str
    parent_id: str | None
    body: bytes
    metadata: dict[str, Any]
    exact_metadata: bytes | None
    values: Mapping[str, bytes]
    writes: Sequence[tuple[str, str, bytes]]


@dataclass(slots=True)
class History:
    """What built one channel: its last stored value, if any, and the writes since, in order."""

    writes: list[tuple[str, bytes]] = field(default_factory=list)
    seed: bytes | None = None
    small_seed: tuple[Any] | None = None


@dataclass(frozen=True)
class Reader:
    """Reads from one database, trying again what may pass."""

    database: Database
    queue: FlushQueue

    async def one(self, thread_id: str, namespace: str, checkpoint_id: str | None) -> Found | None:
        """Return the named checkpoint, or the newest of the namespace.

        Raises:
            LostCheckpoint: a value it holds is not stored any more.
        """
        rows = await self._fetch(SQL.read, thread_id, namespace, checkpoint_id)
        head = next((row for row in rows if row["kind"] == 0), None)
        if head is None:
            return None
        values: dict[str, list[tuple[str, bytes]]] = {}
        writes: list[Row] = []
        for row in rows:
            if row["kind"] == 1:
                values.setdefault(row["a"], []).append((row["b"], row["value"]))
            elif row["kind"] == 2:
                writes.append(row)
        writes.sort(key=lambda row: (row["b"], row["a"], row["idx"]))
        return Found(
            thread_id,
            namespace,
            head["a"],
            head["b"],
            head["value"],
            head["metadata"],
            head["exact_metadata"],
            await self._resolved(thread_id, namespace, head["a"], head["held"], values),
            [(row["a"], row["c"], row["value"]) for row in writes],
        )

    async def page(
        self,
        *,
        thread_id: str | None,
        namespace: str | None,
        checkpoint_id: str | None,
        before_id: str | None,
        last: Found | None,
        contains: dict[str, Any] | None,
        size: int,
    ) -> list[Found]:
        """Return the next checkpoints behind the last, newest first."""
        rows = await self._fetch(
            SQL.page,
            thread_id,
            namespace,
            checkpoint_id,
            before_id,
            last.checkpoint_id if last else None,
            last.thread_id if last else None,
            last.namespace if last else None,
            contains,
            size,
        )
        places = [(row["thread_id"], row["namespace"], row["checkpoint_id"]) for row in rows]
        values: list[dict[str, list[tuple[str, bytes]]]] = [{} for _ in rows]
        held = [
            (number, row["thread_id"], row["namespace"], channel, version)
            for number, row in enumerate(rows)
            for channel, version in row["held"].items()
        ]
        for value in await self._values_of(held):
            several = values[value["number"]].setdefault(value["channel"], [])
            several.append((value["checkpoint_id"], value["value"]))
        writes: list[list[tuple[str, str, bytes]]] = [[] for _ in rows]
        for row in await self._writes_of(places, None):
            writes[row["number"]].append((row["task_id"], row["channel"], row["value"]))
        return [
            Found(
                *place,
                row["parent_id"],
                row["body"],
                row["metadata"],
                row["exact_metadata"],
                await self._resolved(*place, row["held"], values[number]),
                writes[number],
            )
            for number, (row, place) in enumerate(zip(rows, places, strict=True))
        ]

    async def histories(
        self,
        thread_id: str,
        namespace: str,
        checkpoint_id: str | None,
        channels: Sequence[str],
        small_of: Callable[[bytes], Mapping[str, Any]],
    ) -> dict[str, History]:
        """Walk the ancestors of a checkpoint back to where each channel was stored.

        The writes on the checkpoint itself are not among those returned; those on the ancestor
        that stored the value are.

        Args:
            small_of: opens a body and returns the small values in it.
        """
        rows = await self._fetch(SQL.read, thread_id, namespace, checkpoint_id)
        next_id: str | None = next((row["b"] for row in rows if row["kind"] == 0), None)
        histories = {channel: History() for channel in channels}
        missing = set(channels)
        # For each checkpoint on the way back, the channels that were still missing there.
        passed: list[tuple[str, frozenset[str]]] = []
        while next_id is not None and missing:
            line = await self._fetch(SQL.ancestors, thread_id, namespace, next_id, ANCESTORS)
            for row in line:
                if not missing:
                    break
                passed.append((row["checkpoint_id"], frozenset(missing)))
                small = small_of(row["body"])
                here = {channel: row["held"][channel] for channel in missing & set(row["held"])}
                for channel, value in (await self._seeds(thread_id, namespace, row, here)).items():
                    histories[channel].seed = value
                for channel in missing & set(small):
                    histories[channel].small_seed = (small[channel],)
                missing -= set(here) | set(small)
            next_id = line[-1]["parent_id"] if line else None
        passed.reverse()
        places = [(thread_id, namespace, ancestor_id) for ancestor_id, _ in passed]
        for row in await self._writes_of(places, list(channels)):
            if row["channel"] in passed[row["number"]][1]:
                histories[row["channel"]].writes.append((row["task_id"], row["value"]))
        return histories

    async def _seeds(
        self, thread_id: str, namespace: str, row: Row, held: Held
    ) -> Mapping[str, bytes]:
        if not held:
            return {}
        several: dict[str, list[tuple[str, bytes]]] = {}
        for value in await self._values_of(
            [(0, thread_id, namespace, channel, version) for channel, version in held.items()]
        ):
            one = (value["checkpoint_id"], value["value"])
            several.setdefault(value["channel"], []).append(one)
        return await self._resolved(thread_id, namespace, row["checkpoint_id"], held, several)

    async def _resolved(
        self, thread_id: str, namespace: str, checkpoint_id: str, held: Held, found: Several
    ) -> dict[str, bytes]:
        """Return the one value of each held channel: its own, or that of the nearest ancestor.

        Only forks that gave one version number to two values make this look further.
        """
        lost = [channel for channel in held if channel not in found]
        if lost:
            raise LostCheckpoint(thread_id, checkpoint_id, lost)
        resolved: dict[str, bytes] = {}
        depths: dict[str, int] | None = None
        for channel in held:
            several = found[channel]
            if len(several) == 1:
                resolved[channel] = several[0][1]
                continue
            if depths is None:
                line = await self._fetch(SQL.line_of, thread_id, namespace, checkpoint_id)
                depths = {row["checkpoint_id"]: depth for depth, row in enumerate(line)}
            on_line = [(depths[one[0]], one[1]) for one in several if one[0] in depths]
            if on_line:
                resolved[channel] = min(on_line)[1]
            else:
                # The ancestor was pruned: the newest that is not newer than this checkpoint.
                older = [one for one in several if one[0] <= checkpoint_id]
                resolved[channel] = max(older or several)[1]
        return resolved

    async def _values_of(self, held: Sequence[tuple[int, str, str, str, int]]) -> Sequence[Row]:
        if not held:
            return []
        return await self._fetch(SQL.values_of, *map(list, zip(*held, strict=True)))

    async def _writes_of(
        self, places: Sequence[tuple[str, str, str]], channels: Sequence[str] | None
    ) -> Sequence[Row]:
        if not places:
            return []
        return await self._fetch(
            SQL.writes_of,
            list(range(len(places))),
            *map(list, zip(*places, strict=True)),
            channels,
        )

    async def _fetch(self, sql: str, *arguments: Any) -> Sequence[Row]:
        def attempt() -> Awaitable[Sequence[Row]]:
            return self.database.fetch(sql, *arguments)

        return await self.queue.retried(attempt)
