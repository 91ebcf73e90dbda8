"""What a new version of the code means for the threads that wait for people.

`changed` looks at all of them before anybody decides: for `sayso check` ahead of a deploy, and for
every worker that starts. That worker wakes those that cannot go on (`wake`), so that the owner of
each asks `blocking` and holds it at once, and nobody decides on a card that leads nowhere.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from checkpoints import leases
from checkpoints.database import Database, Row, queries
from graphs import fingerprints
from graphs.fingerprints import Changes
from graphs.registry import LoadedGraph, Registry

SQL = queries(__file__)
PAGE: Final = 500
REASON: Final = "The step "  # how the reason of a thread begins that is held for its code


@dataclass(frozen=True)
class Deployed:
    """One line for each thread that the code of now cannot go on with, and one for each other
    change, however many threads wait under it.

    `to_hold` are threads that are not held yet, `mended` those that were and whose code fits again.
    """

    stuck: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    to_hold: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pause:
    """A question at which a thread may rest, answered or not, and the graph as it asked."""

    node: str
    ordinal: int
    checkpoint_id: str
    fingerprint: Any


async def pauses(database: Database, thread_id: str) -> tuple[Pause, ...]:
    """The questions of a thread, open, waiting to be fed, or at the checkpoint where it rests."""
    return tuple(Pause(**row) for row in await database.fetch(SQL.of_thread, thread_id))


def blocking(found: Sequence[Pause], head: str | None, loaded: LoadedGraph) -> tuple[str, ...]:
    """Why the code of now must not run on from `head`: it would lose one of these questions.

    A step with another name is none that LangGraph knows: the graph ends there without an error,
    whoever is still asked, and whatever was answered.
    """
    said: dict[str, None] = {}
    for each in found:
        if each.checkpoint_id == head:
            now = fingerprints.changes(each.fingerprint, loaded, each.node, each.ordinal)
            said |= dict.fromkeys(now.blocking)
    return tuple(said)


async def changed(database: Database, registry: Registry) -> Deployed:
    """Compare every thread that waits with the code of now."""
    stuck: dict[int, dict[str, None]] = {}
    to_hold: dict[str, None] = {}
    unknown: dict[str, set[int]] = {}
    others: dict[tuple[str, str], set[int]] = {}
    mended: dict[int, tuple[str, str]] = {}
    compared: dict[str, Changes] = {}
    async for row in _waiting(database):
        number, graph = row["number"], row["graph"]
        loaded = registry.loaded.get(graph)
        if loaded is None:
            unknown.setdefault(graph, set()).add(number)
            continue
        asked = json.dumps([graph, row["node"], row["ordinal"], row["fingerprint"]])
        if asked not in compared:
            compared[asked] = fingerprints.changes(
                row["fingerprint"], loaded, row["node"], row["ordinal"]
            )
        found = compared[asked]
        if found.blocking:
            stuck.setdefault(number, {}).update(dict.fromkeys(found.blocking))
            if row["mark"] is None:
                to_hold[row["thread_id"]] = None
        elif row["mark"] == "held" and row["mark_reason"].startswith(REASON):
            mended[number] = graph, row["thread_id"]
        for sentence in found.other:
            others.setdefault((graph, sentence), set()).add(number)
    lines = [
        f"Thread {number} cannot go on. {' '.join(sentences)} Bring that back, or take the thread "
        f"back: sayso threads rewind {number} STEP"
        for number, sentences in stuck.items()
    ]
    lines += [
        f"The graph {graph} is not loaded, and {_threads(len(numbers))} for it. Bring it back."
        for graph, numbers in unknown.items()
    ]
    notes = [
        f"Thread {number} of {graph} is held, and its code is as it was: the next worker that "
        f"starts lets it go on, or sayso threads retry {number}"
        for number, (graph, _) in mended.items()
        if number not in stuck
    ]
    counted = Counter({key: len(numbers) for key, numbers in others.items()})
    notes += [
        f"{graph}: {sentence} {_threads(count)} and will run the new code."
        for (graph, sentence), count in counted.items()
    ]
    return Deployed(
        tuple(lines),
        tuple(notes),
        tuple(to_hold),
        tuple(thread for number, (_, thread) in mended.items() if number not in stuck),
    )


async def wake(database: Database, deployed: Deployed) -> None:
    """Let the owners of the threads that cannot go on look at them now.

    One whose row somebody else has locked is looked at when it is fed.
    """
    for begin in range(0, len(deployed.to_hold), PAGE):
        async with database.transaction() as connection:
            await leases.wake_free(connection, deployed.to_hold[begin : begin + PAGE])


async def _waiting(database: Database) -> AsyncIterator[Row]:
    last = 0
    while rows := await database.fetch(SQL.waiting, last, PAGE):
        for row in rows:
            yield row
        last = rows[-1]["id"]


def _threads(count: int) -> str:
    return "1 thread waits" if count == 1 else f"{count:,} threads wait"
