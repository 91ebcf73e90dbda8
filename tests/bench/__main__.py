"""`make bench`: what it costs, as a table; figures to look at, and no test.

It makes an embedded Postgres in a temporary folder and takes it away again. What is compared is
measured in the same run, in turn, several times. The server writes to memory only as often as it
must (`fsync` is off): waiting for a disk would hide what differs.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import asyncpg

from checkpoints import embedded
from checkpoints.database import Database
from tests.bench import crowds, measures, searches, ticks, waits
from tests.bench.crowds import Crowd
from tests.bench.ticks import Cold

FEW, MANY, QUICK = 1_000, 1_000_000, 100_000
DUE, ROUNDS = 100, 15


async def run(
    home: Path,
    *,
    sizes: Sequence[int] = (FEW, MANY),
    due: int = DUE,
    rounds: int = ROUNDS,
    cold: Cold | None = None,
    explain: bool = False,
) -> str:
    """Measure everything on a server that runs, and return the table."""
    for size in sizes:
        await _create(home, _name(size))
        await crowds.fill(embedded.address(home, _name(size)), size)

    @asynccontextmanager
    async def opened() -> AsyncIterator[list[Crowd]]:
        async with AsyncExitStack() as stack:
            yield [await _crowd(stack, home, size) for size in sizes]

    figures = [one async for one in ticks.figures(opened, due=due, rounds=rounds, cold=cold)]
    async with opened() as filled:
        figures += await waits.figures(filled, rounds=rounds)
    figures.append(searches.figure(rounds))
    # Savers against a peer: append theirs here.
    if explain:
        async with opened() as filled:
            print(await ticks.plan(filled[-1], due))
    return measures.table(figures)


async def _crowd(stack: AsyncExitStack, home: Path, size: int) -> Crowd:
    url = embedded.address(home, _name(size))
    database = await stack.enter_async_context(Database.open(url))
    driver = await asyncpg.connect(url)
    stack.push_async_callback(driver.close)
    return Crowd(size, database, driver)


async def _create(home: Path, name: str) -> None:
    driver = await asyncpg.connect(embedded.address(home))
    try:
        await driver.execute(f"drop database if exists {name} with (force)")
        await driver.execute(f"create database {name}")
    finally:
        await driver.close()


def _name(size: int) -> str:
    return f"bench_{size}"


async def main() -> None:
    """Read the options, and print the table."""
    options = argparse.ArgumentParser(prog="make bench", description="Print a table of figures.")
    options.add_argument("--quick", action="store_true", help=f"{QUICK:,} reviews, not {MANY:,}")
    options.add_argument("--rounds", type=int, default=ROUNDS, help="how often each is measured")
    options.add_argument("--explain", action="store_true", help="how what is due is found")
    given = options.parse_args()
    home = Path(tempfile.mkdtemp(prefix="sayso-bench-"))

    async def cold() -> None:
        await embedded.stop(home)
        await embedded.start(home, fsync=False)

    try:
        await embedded.start(home, fsync=False)
        print("Filling two databases, which takes some minutes", file=sys.stderr)
        sizes = (FEW, QUICK if given.quick else MANY)
        made = await run(home, sizes=sizes, rounds=given.rounds, cold=cold, explain=given.explain)
    finally:
        await embedded.stop(home)
        shutil.rmtree(home, ignore_errors=True)
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {given.rounds} rounds each")
    print(made)


if __name__ == "__main__":
    asyncio.run(main())
