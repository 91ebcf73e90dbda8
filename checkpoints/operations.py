"""One write that waits, and many of them as the columns of one statement."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from checkpoints.codec import EncodedCheckpoint, EncodedWrites
from checkpoints.leases import Fence

LARGE_BYTES: Final = 256 * 1024


@dataclass(eq=False, slots=True)
class Operation:
    """One thing to do for some threads, and the future that says how it went."""

    threads: tuple[str, ...]
    done: asyncio.Future[Any]
    fence: Fence | None = None
    put: EncodedCheckpoint | None = None
    writes: EncodedWrites | None = None
    work: Callable[[], Awaitable[Any]] | None = None
    size: int = 0

    @property
    def thread_id(self) -> str:
        """The thread of a write."""
        return self.threads[0]

    @property
    def covered(self) -> Fence | None:
        """The fence, if it is this thread's: it says nothing about any other."""
        return self.fence if self.fence and self.fence.thread_id == self.threads[0] else None

    @property
    def is_large(self) -> bool:
        """Whether it has a lane of its own."""
        return self.size > LARGE_BYTES

    def fail(self, error: BaseException) -> None:
        """Tell the one who waits, if anybody still does."""
        if not self.done.done():
            self.done.set_exception(error)

    def succeed(self, result: Any = None) -> None:
        """Tell the one who waits, if anybody still does."""
        if not self.done.done():
            self.done.set_result(result)


def tickets_of(operations: Sequence[Operation]) -> dict[tuple[str, Fence | None], int]:
    tickets: dict[tuple[str, Fence | None], int] = {}
    for operation in operations:
        tickets.setdefault((operation.thread_id, operation.covered), len(tickets) + 1)
    return tickets


_PutKey = tuple[int, str, str]
_WriteKey = tuple[int, str, str, str, int]


def columns(operations: Sequence[Operation]) -> list[list[Any]]:
    """Turn the operations into the columns of `flush`, each key once, as if done in order."""
    tickets = tickets_of(operations)
    puts: dict[_PutKey, EncodedCheckpoint] = {}
    values: dict[tuple[_PutKey, str, int], bytes] = {}
    writes: dict[_WriteKey, tuple[str, str, bytes, bool]] = {}
    for operation in operations:
        ticket = tickets[operation.thread_id, operation.covered]
        if operation.put is not None:
            put = operation.put
            put_key = (ticket, put.namespace, put.checkpoint_id)
            puts[put_key] = put
            for channel, version, value in put.values:
                values[put_key, channel, version] = value
        if operation.writes is not None:
            written = operation.writes
            for idx, channel, value in written.rows:
                key = (ticket, written.namespace, written.checkpoint_id, written.task_id, idx)
                if written.replace or key not in writes:
                    writes[key] = (written.task_path, channel, value, written.replace)
    numbers = {key: number for number, key in enumerate(puts, start=1)}
    firsts = [_first(key, puts) for key in puts]
    return [
        list(tickets.values()),
        [thread_id for thread_id, _ in tickets],
        [fence.epoch if fence else None for _, fence in tickets],
        [fence.owner if fence else None for _, fence in tickets],
        [ticket for ticket, _, _ in puts],
        [put.namespace for put in puts.values()],
        [put.checkpoint_id for put in puts.values()],
        [put.parent_id for put in puts.values()],
        [put.body for put in puts.values()],
        [put.held for put in puts.values()],
        [put.metadata for put in puts.values()],
        [put.exact_metadata for put in puts.values()],
        [first.checkpoint_id for first in firsts],
        [first.parent_id for first in firsts],
        [first.above_id for first in firsts],
        [numbers[key] for key, _, _ in values],
        [channel for _, channel, _ in values],
        [version for _, _, version in values],
        list(values.values()),
        [key[0] for key in writes],
        [key[1] for key in writes],
        [key[2] for key in writes],
        [key[3] for key in writes],
        [key[4] for key in writes],
        [path for path, _, _, _ in writes.values()],
        [channel for _, channel, _, _ in writes.values()],
        [value for _, _, value, _ in writes.values()],
        [replace for _, _, _, replace in writes.values()],
    ]


def _first(key: _PutKey, puts: dict[_PutKey, EncodedCheckpoint]) -> EncodedCheckpoint:
    """Return the ancestor in this flush on which it all builds: if that is late, so is this."""
    seen: set[_PutKey] = set()
    put = puts[key]
    while put.parent_id is not None and key not in seen:
        seen.add(key)
        key = (key[0], key[1], put.parent_id)
        if key not in puts:
            break
        put = puts[key]
    return put
