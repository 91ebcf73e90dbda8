"""What waits for one person, among what waits for everybody: twenty of theirs in each crowd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from graphs import waiting
from tests.bench import measures
from tests.bench.crowds import MINE, Crowd
from tests.bench.measures import Figure

LOOKS: Final = 20  # measured together
KEYS: Final = ("user:U0ALICE", "email:alice@example.com", "group:S0CREDIT", "role:risk")


async def figures(crowds: Sequence[Crowd], *, rounds: int) -> list[Figure]:
    """The first ten of them with their count, as the home tab asks for them."""
    took: dict[int, list[float]] = {}
    for crowd in crowds:
        await crowd.undo()
    for number in range(rounds + 1):
        for crowd in crowds if number % 2 == 0 else list(reversed(crowds)):
            seconds = await measures.timed(_look, crowd) / LOOKS
            if number:
                took.setdefault(crowd.size, []).append(seconds)
    return measures.compared("what waits for a person", took)


async def _look(crowd: Crowd) -> None:
    for _ in range(LOOKS):
        found = await waiting.of_person(crowd.database, KEYS, voter="U0ALICE", limit=10)
        assert (len(found.reviews), found.total) == (min(10, MINE), MINE)
