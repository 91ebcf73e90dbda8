"""The rows of what is remembered: read, searched, listed and written on the caller's connection.

These verbs know absolute namespaces and no rights; who may name which namespace is decided in
`memory.store`. Our own code writes through `put` inside a larger transaction (an outcome is
remembered by the transaction that settles its thread). A memory is keyed by what taught it, usually
the thread's id, so that a second run of the same step overwrites and never adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from checkpoints.database import Connection, Row, queries
from checkpoints.errors import Conflict
from checkpoints.text import clean
from memory.errors import BadNamespace, BadSearch, UnknownCustomer
from memory.filters import Condition
from memory.values import encoded

SQL = queries(__file__)

Namespace = tuple[str, ...]

MAX_NAMESPACE_BYTES: Final = 1000  # with the key inside the 2.7 kB that an index entry may have
MAX_KEY_BYTES: Final = 1000
MAX_LIMIT: Final = 10_000
MAX_OFFSET: Final = 1_000_000
MAX_WORDS_CHARACTERS: Final = 2_000
_CUSTOMER_KEY: Final = "memories_customer_id_fkey"


@dataclass(frozen=True)
class Memory:
    """One item: a JSON object under a namespace and a key."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    score: float | None = None


@dataclass(frozen=True)
class Search:
    """What is looked for at and under a namespace."""

    namespace: Namespace
    conditions: Sequence[Condition] = ()
    words: str | None = None
    limit: int = 10
    offset: int = 0


@dataclass(frozen=True)
class Listing:
    """Which namespaces under a root are listed, without the root's labels.

    A condition is ``{"kind": "prefix" | "suffix", "path": [labels, "*" for any]}``.
    """

    root: Namespace
    within: Namespace
    conditions: Sequence[Mapping[str, Any]] = field(default=())
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True)
class Write:
    """A value to put under a namespace and a key, as JSON text; None removes what is there."""

    namespace: Namespace
    key: str
    text: str | None


async def get(
    connection: Connection, asked: Iterable[tuple[Namespace, str]]
) -> dict[tuple[Namespace, str], Memory]:
    """Return the items that exist of those asked for."""
    pairs = list(dict.fromkeys(asked))
    rows = await connection.fetch(
        SQL.get,
        [joined(namespace) for namespace, _ in pairs],
        [checked_key(key) for _, key in pairs],
    )
    found = (_memory(row) for row in rows)
    return {(memory.namespace, memory.key): memory for memory in found}


async def search(connection: Connection, asked: Search) -> list[Memory]:
    """Return the items that match, the newest first, or the best match first when words are given.

    Raises:
        BadSearch: an absurd limit or offset.
    """
    check_page(asked.limit, asked.offset)
    words = None if asked.words is None else clean(asked.words)[:MAX_WORDS_CHARACTERS]
    rows = await connection.fetch(
        SQL.search,
        joined(asked.namespace),
        list(asked.conditions),
        asked.limit,
        asked.offset,
        words,
    )
    return [_memory(row, row["score"]) for row in rows]


async def namespaces(connection: Connection, asked: Listing) -> list[Namespace]:
    """Return the namespaces that hold an item, sorted, without the root's labels.

    Raises:
        BadSearch: an absurd depth, limit or offset.
    """
    check_page(asked.limit, asked.offset)
    if asked.max_depth is not None and not 0 <= asked.max_depth <= MAX_LIMIT:
        raise BadSearch(f"a depth of {asked.max_depth}")
    rows = await connection.fetch(
        SQL.namespaces,
        joined(asked.within),
        len(asked.root),
        list(asked.conditions),
        asked.max_depth,
        asked.limit,
        asked.offset,
    )
    return [tuple(row["labels"]) for row in rows]


async def put(
    connection: Connection,
    namespace: Namespace,
    key: str,
    value: Mapping[str, Any],
    *,
    now: datetime | None = None,
) -> None:
    """Remember the value under namespace and key, over what was there.

    Raises:
        BadMemory, BadNamespace, UnknownCustomer
    """
    await write(connection, [Write(namespace, key, encoded(value))], now=now)


async def write(
    connection: Connection, writes: Iterable[Write], *, now: datetime | None = None
) -> None:
    """Put and remove items; of two writes to one place the last counts.

    Raises:
        BadNamespace, UnknownCustomer
    """
    last = {(joined(one.namespace), checked_key(one.key)): one for one in writes}
    removed = [place for place, one in last.items() if one.text is None]
    if len(removed) < len(last):
        texts = ["{}" if one.text is None else one.text for one in last.values()]
        try:
            await connection.execute(SQL.put, *_columns(list(last)), texts, now)
        except Conflict as error:
            if error.constraint != _CUSTOMER_KEY:
                raise
            ids = sorted({namespace.split(".")[1] for namespace, _ in last})
            raise UnknownCustomer(", ".join(ids)) from error
    if removed:
        await connection.execute(SQL.delete, *_columns(removed))


def joined(namespace: Namespace) -> str:
    """Return the namespace as it is stored.

    Raises:
        BadNamespace: a label that is empty, not text, too long, or has a '.' or a NUL.
    """
    for label in namespace:
        if not isinstance(label, str):
            raise BadNamespace(f"a label is text, not {type(label).__name__}")
        if not label:
            raise BadNamespace("a label is empty")
        if "." in label:
            raise BadNamespace(f"the label {label[:80]} has a '.'")
        if clean(label) != label:
            raise BadNamespace("a label has a character that cannot be stored")
    path = ".".join(namespace)
    if len(path.encode()) > MAX_NAMESPACE_BYTES:
        raise BadNamespace(f"the namespace is longer than {MAX_NAMESPACE_BYTES} bytes")
    return path


def checked_key(key: str) -> str:
    """Return the key if it can be stored.

    Raises:
        BadNamespace
    """
    if not isinstance(key, str):
        raise BadNamespace(f"a key is text, not {type(key).__name__}")
    if clean(key) != key:
        raise BadNamespace("the key has a character that cannot be stored")
    if len(key.encode()) > MAX_KEY_BYTES:
        raise BadNamespace(f"the key is longer than {MAX_KEY_BYTES} bytes")
    return key


def check_page(limit: int, offset: int) -> None:
    """Refuse a page that nobody reads.

    Raises:
        BadSearch
    """
    for name, value, most in (("limit", limit, MAX_LIMIT), ("offset", offset, MAX_OFFSET)):
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            raise BadSearch(f"{name} {value!r:.40} is not between 0 and {most:,}")


def _columns(places: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [namespace for namespace, _ in places], [key for _, key in places]


def _memory(row: Row, score: float | None = None) -> Memory:
    return Memory(
        namespace=tuple(row["namespace"].split(".")),
        key=row["key"],
        value=row["value"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        score=score,
    )
