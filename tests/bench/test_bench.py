"""The bench runs and prints its table; what its figures are is looked at, and not tested."""

from __future__ import annotations

from pathlib import Path

from checkpoints import embedded
from checkpoints.database import Database
from tests.bench.__main__ import run
from tests.bench.measures import Goal


async def test_the_bench_measures_in_turn_and_prints_a_table(server: Path) -> None:
    told = await run(server, sizes=(40, 120), due=6, rounds=2)
    lines = told.splitlines()
    assert lines[0].split()[:2] == ["figure", "median"]
    assert [line.split("  ")[0] for line in lines[2:]] == [
        "tick, 6 due, among 40",
        "tick, 6 due, among 120",
        "tick, 6 due, ratio",
        "tick, nothing due, among 40",
        "tick, nothing due, among 120",
        "tick, nothing due, ratio",
        "what waits for a person, among 40",
        "what waits for a person, among 120",
        "what waits for a person, ratio",
        "search of a rule, 200 rules with a condition",
    ]
    # What it left: every second of what was due was a deadline, and the graph got its answer.
    async with Database.open(embedded.address(server, "bench_120")) as database:
        kinds = "select what, count(*) as times from sayso.audit group by what order by what"
        rows = await database.fetch(kinds)
    assert {row["what"]: row["times"] for row in rows} == {
        "review.expired": 3 * 4,
        "review.reminded": 3 * 4,
    }
    assert [Goal(1.2, 2).of(ratio) for ratio in (1.2, 1.3, 2.1)] == [
        "met",
        "above the goal",
        "ABOVE THE LIMIT",
    ]
