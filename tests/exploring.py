"""All interleavings of a small configuration, breadth first, so that a trace found is a shortest.

A model gives its first world and the moves of each. A move names the queries that it stands for, so
that a query which is renamed or dropped breaks the model instead of leaving it behind.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Generic, NamedTuple, Protocol, TypeVar

World = TypeVar("World")


class Move(NamedTuple, Generic[World]):
    """One step of somebody; `goes_on` is False for faults and for what comes from outside."""

    name: str
    by: int
    after: World
    goes_on: bool = True
    wrong: str | None = None


class Model(Protocol[World]):
    """What can be explored."""

    def first(self) -> World:
        """Where it begins."""

    def moves(self, world: World) -> Iterable[Move[World]]:
        """Everything that can happen next."""

    def wrong(self, world: World) -> Iterable[str]:
        """What must never be true."""

    def wrong_at_rest(self, world: World) -> Iterable[str]:
        """What must not be true where nobody has anything left to do."""


@dataclass
class Explored:
    """How many worlds there are, and for each thing that is wrong a shortest way to it."""

    worlds: int = 0
    rests: int = 0
    moves: set[str] = field(default_factory=set)
    wrong: dict[str, list[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        told = [f"{self.worlds:,} states, {self.rests:,} of them at rest"]
        for what, way in self.wrong.items():
            told += [f"WRONG: {what}", *(f"  {number}. {step}" for number, step in enumerate(way))]
        return "\n".join(told)


def explore(model: Model[World], *, until: str | None = None) -> Explored:
    """Look at every world that can be reached, or stop at the first where `until` is wrong."""
    first = model.first()
    came: dict[World, tuple[World, str] | None] = {first: None}
    found = Explored()
    queue = deque([first])

    def way(world: World, *last: str) -> list[str]:
        steps = list(last)
        before = came[world]
        while before is not None:
            steps.append(before[1])
            before = came[before[0]]
        return steps[::-1]

    while queue and until not in found.wrong:
        world = queue.popleft()
        found.worlds += 1
        rests = True
        for move in model.moves(world):
            found.moves.add(move.name)
            rests = rests and not move.goes_on
            label = f"{move.name} ({move.by})"
            if move.wrong is not None and move.wrong not in found.wrong:
                found.wrong[move.wrong] = way(world, label)
            if move.after not in came:
                came[move.after] = (world, label)
                queue.append(move.after)
        found.rests += rests
        for what in [*model.wrong(world), *(model.wrong_at_rest(world) if rests else ())]:
            if what not in found.wrong:
                found.wrong[what] = way(world)
    return found


def missing(queries: dict[str, tuple[str, ...]]) -> list[str]:
    """The named queries, as `folder.module.name`, that do not exist."""
    return [
        query
        for names in queries.values()
        for query in names
        if not hasattr(import_module(query.rpartition(".")[0]).SQL, query.rpartition(".")[2])
    ]
