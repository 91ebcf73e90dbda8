"""A tick over very many pending reviews against one over few, with the same number due.

Both do the same work for what is due, and what they have to find it among differs. Nothing is
shown to anybody, so that no constant work outside makes the ratio look better than it is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, TypeAlias

from graphs import deadlines
from graphs.ports import no_wish
from tests.bench import measures
from tests.bench.crowds import SPECS, Crowd
from tests.bench.measures import Figure, Goal

GOAL: Final = Goal(1.2, 2.0)
WARM_UP: Final = 2
IDLE: Final = 20  # ticks that find nothing, measured together

Opened: TypeAlias = Callable[[], AbstractAsyncContextManager[Sequence[Crowd]]]
Cold: TypeAlias = Callable[[], Awaitable[None]]


async def figures(
    opened: Opened, *, due: int, rounds: int, cold: Cold | None
) -> AsyncIterator[Figure]:
    """Measure warm, idle, and where the server can be started anew also cold."""
    warm: dict[int, list[float]] = {}
    idle: dict[int, list[float]] = {}
    async with opened() as crowds:
        for number in range(WARM_UP + rounds):
            for crowd in _in_turn(crowds, number):
                await crowd.make_due(due)
                took = await measures.timed(_tick, crowd, due)
                rested = await measures.timed(_rest, crowd)
                await crowd.undo()
                if number >= WARM_UP:
                    warm.setdefault(crowd.size, []).append(took)
                    idle.setdefault(crowd.size, []).append(rested / IDLE)
    for figure in measures.compared(f"tick, {due} due", warm, GOAL):
        yield figure
    for figure in measures.compared("tick, nothing due", idle):
        yield figure
    if cold is None:
        return
    first: dict[int, list[float]] = {}
    for number in range(max(5, rounds // 3)):
        async with opened() as crowds:
            for crowd in crowds:
                await crowd.undo()
                await crowd.make_due(due)
        await cold()
        async with opened() as crowds:
            for crowd in _in_turn(crowds, number):
                took = await measures.timed(_tick, crowd, due)
                first.setdefault(crowd.size, []).append(took)
    for figure in measures.compared(f"first tick after a start, {due} due", first, GOAL):
        yield figure


async def plan(crowd: Crowd, due: int) -> str:
    """How the database finds what is due."""
    await crowd.make_due(due)
    statement = "explain (analyze, buffers) " + str(deadlines.SQL.due)
    rows = await crowd.driver.fetch(statement, list(SPECS), None, deadlines.AT_ONCE)
    return "\n".join(row[0] for row in rows)


async def _tick(crowd: Crowd, due: int) -> None:
    left = due
    while left > 0:
        acted = await deadlines.tick(crowd.database, SPECS, no_wish)
        assert acted, f"{left} of {due} due timers were not found"
        left -= acted


async def _rest(crowd: Crowd) -> None:
    for _ in range(IDLE):
        assert await deadlines.tick(crowd.database, SPECS, no_wish) == 0


def _in_turn(crowds: Sequence[Crowd], number: int) -> Sequence[Any]:
    return crowds if number % 2 == 0 else list(reversed(crowds))
