"""The seal of the record: a chain of hashes, so that a changed entry shows.

Transactions only append entries. A chain that each of them extended would make every click wait
for one lock (measured: 8,311 transactions a second fall to 1,643, and one frozen worker holds them
all), so one claimed sealer gives the entries their places within a second.

    leaf = SHA-256 of the entry's own fields and of a salted digest of its detail
    hash = SHA-256 of the hash before, the position and the leaf

A line of the chain says nothing of a detail that is not shown beside it: its digest has a random
salt, which stands with the detail. So an export of a part holds, for the entries in between, their
leaves alone, and still leads to the head. What the chain proves: whoever kept a head can show that
every entry up to it is as it was. Without a kept head it proves only that the file is of one piece,
because whoever owns the database could have written all of it anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import rfc8785

from checkpoints.database import Connection, Database, queries
from graphs.plain import canonical

SQL = queries(__file__)

AT_ONCE: Final = 1_000
START: Final = bytes(32)


@dataclass(frozen=True)
class Head:
    """Where the chain ends: the place and the hash of its last entry."""

    position: int
    hash: str

    def __str__(self) -> str:
        return f"{self.position}:{self.hash}"


@dataclass(frozen=True)
class Sealed:
    """One place of the chain; `entry` is None where only the leaf is known."""

    position: int
    leaf: str
    hash: str
    entry: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Broken:
    """The first place that does not hold, and what is wrong with it."""

    position: int
    why: str


@dataclass(frozen=True)
class Wanted:
    """Which entries an export is about; what is None does not matter. Times are aware."""

    since: datetime | None = None
    until: datetime | None = None
    thread_id: str | None = None
    graph: str | None = None
    customer_id: str | None = None
    actor: str | None = None


async def seal(connection: Connection, limit: int = AT_ONCE) -> int:
    """Give the entries that have none their places; how many, 0 where another one is at it.

    The order is that of the sealing: of two transactions at once the later number may be first.
    """
    head = await connection.fetchrow(SQL.claim_head)
    if head is None:
        return 0
    position, last = head["position"], head["hash"]
    places: list[tuple[int, int, bytes, bytes]] = []
    for row in await connection.fetch(SQL.unsealed, limit):
        position += 1
        leaf = leaf_of(_entry(row))
        last = chained(last, position, leaf)
        places.append((position, row["id"], leaf, last))
    if places:
        positions, ids, leaves, hashes = (list(each) for each in zip(*places, strict=True))
        await connection.execute(SQL.seal, positions, ids, leaves, hashes)
        await connection.execute(SQL.move_head, position, last)
    return len(places)


async def seal_all(database: Database) -> int:
    """Seal until nothing is left; how many entries."""
    total = 0
    while True:
        async with database.transaction() as connection:
            sealed = await seal(connection)
        total += sealed
        if sealed < AT_ONCE:
            return total


async def head(connection: Connection | Database) -> Head:
    """Where the chain ends now."""
    row = await connection.fetchrow(SQL.head)
    assert row is not None  # noqa: S101  the migration wrote it
    return Head(row["position"], row["hash"].hex())


async def claim_telling(connection: Connection, seconds: float) -> Head | None:
    """The head where it grew and was told to nobody for so long, marked as told; else None."""
    row = await connection.fetchrow(SQL.claim_telling, seconds)
    return Head(row["position"], row["hash"].hex()) if row is not None else None


async def places(
    connection: Connection, wanted: Wanted, *, page: int = 1_000
) -> AsyncIterator[Sealed]:
    """The chain from the first wanted entry to its end, the entries in between by their leaf."""
    given = (
        wanted.since, wanted.until, wanted.thread_id, wanted.graph, wanted.customer_id,
        wanted.actor,
    )  # fmt: skip
    at = await connection.fetchval(SQL.first_wanted, *given)
    while at is not None:
        rows = await connection.fetch(SQL.places, *given, at, page)
        for row in rows:
            entry = _entry(row) if row["wanted"] else None
            yield Sealed(row["position"], row["leaf"].hex(), row["hash"].hex(), entry)
        at = rows[-1]["position"] + 1 if len(rows) == page else None


async def before(connection: Connection, position: int) -> Head:
    """The place before that one: where a part of the chain is anchored."""
    found: bytes | None = await connection.fetchval(SQL.hash_at, position - 1)
    return Head(position - 1, (found or START).hex())


def leaf_of(entry: Mapping[str, Any]) -> bytes:
    """The hash of an entry: of its own fields, and of its detail with the salt.

    Raises:
        KeyError, TypeError, ValueError: it is no entry.
    """
    salted = UUID(str(entry["salt"])).bytes + _canonical(entry["detail"])
    fields = {name: entry[name] for name in _FIELDS}
    return hashlib.sha256(
        _canonical({**fields, "digest": hashlib.sha256(salted).hexdigest()})
    ).digest()


def chained(last: bytes, position: int, leaf: bytes) -> bytes:
    """The hash of a place."""
    return hashlib.sha256(last + position.to_bytes(8, "big") + leaf).digest()


def verify(anchor: Head, chain: Iterable[Sealed], kept: str | None = None) -> Head | Broken:
    """Follow the chain from its anchor; its head, or the first place that does not hold.

    Args:
        anchor: the place before the first; before place 1 its hash is all zeros.
        kept: a head that was kept, "POSITION:HASH" or the hash alone: it must be in the chain;
            an empty one is in none.
    """
    position, last = anchor.position, bytes.fromhex(anchor.hash)
    if position == 0 and last != START:
        return Broken(1, "the chain does not begin with its first entry")
    place, _, wanted = (kept or "").strip().lower().rpartition(":")
    seen = kept is None or (wanted == last.hex() and place in ("", str(position)))
    for one in chain:
        position += 1
        if one.position != position:
            return Broken(position, f"it is missing: place {one.position} stands there")
        try:
            leaf = bytes.fromhex(one.leaf) if one.entry is None else leaf_of(one.entry)
        except (KeyError, TypeError, ValueError, AttributeError):
            return Broken(position, "it is no entry of a record")
        if leaf.hex() != one.leaf:
            return Broken(position, "the entry was changed")
        last = chained(last, position, leaf)
        if last.hex() != one.hash:
            return Broken(position, "it does not follow on the place before")
        seen = seen or (wanted == last.hex() and place in ("", str(position)))
    if not seen:
        return Broken(position, "the chain does not lead through the head that was kept")
    return Head(position, last.hex())


_FIELDS: Final = ("id", "at", "what", "actor", "thread_id", "review_id")


def _entry(row: Mapping[str, Any]) -> dict[str, Any]:
    """An entry as it stands in an export: JSON, its time in UTC to the microsecond."""
    at: datetime = row["at"]
    return {
        "id": row["id"],
        "at": at.astimezone(UTC).isoformat(timespec="microseconds"),
        "what": row["what"],
        "actor": row["actor"],
        "thread_id": row["thread_id"],
        "review_id": row["review_id"],
        "detail": row["detail"],
        "salt": str(row["salt"]),
    }


def _canonical(value: Any) -> bytes:
    return rfc8785.dumps(canonical(value))
