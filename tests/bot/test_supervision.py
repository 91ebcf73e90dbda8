"""A child that ends, and one that stands still: both are started again."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.supervision import Child, supervised

SILENCE_SECONDS = 1.0
# The last argument is the descriptor; the one before it a file that counts the starts.
BEGIN = """
import os, sys, time
with open(sys.argv[1], "a") as file: file.write(f"{os.getpid()}\\n")
pipe = int(sys.argv[-1])
assert sys.argv[-2] == "--alive"
"""
SHOWS_LIFE_ONCE = BEGIN + "os.write(pipe, b'.')\nwhile True: time.sleep(60)"
SHOWS_NONE = BEGIN + "time.sleep(3)\nopen(sys.argv[1] + '.late', 'w')\ntime.sleep(60)"
SHOWS_LIFE = BEGIN + (
    "for _ in range(30): os.write(pipe, b'.'); time.sleep(0.1)\n"
    "open(sys.argv[1] + '.late', 'w')\n"
    "while True: os.write(pipe, b'.'); time.sleep(0.1)\n"
)
HOLDS_THE_LOCK = """
import asyncio, re, sys
from bot.supervision import show_life
with open(sys.argv[1], "a") as file: file.write("started\\n")
async def main():
    life = asyncio.create_task(show_life(int(sys.argv[-1]), 1.0))
    await asyncio.sleep(0.1)
    await asyncio.to_thread(re.fullmatch, "(a|a)*b", "a" * 64)
asyncio.run(main())
"""


@asynccontextmanager
async def watched(program: str, starts: Path) -> AsyncIterator[Child]:
    child = Child(
        [sys.executable, "-c", program, str(starts)],
        name="child",
        silence_seconds=SILENCE_SECONDS,
    )
    async with supervised(child, stop_seconds=0):
        yield child


async def exists(path: Path, lines: int = 0) -> None:
    async with asyncio.timeout(30):
        while not path.exists() or len(path.read_text().splitlines()) < lines:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("program", [SHOWS_LIFE_ONCE, HOLDS_THE_LOCK], ids=["still", "lock"])
async def test_a_child_that_stands_still_is_killed_and_started_again(
    program: str, tmp_path: Path
) -> None:
    async with watched(program, tmp_path / "starts"):
        await exists(tmp_path / "starts", lines=2)


@pytest.mark.parametrize("program", [SHOWS_NONE, SHOWS_LIFE], ids=["starting", "alive"])
async def test_a_child_that_still_starts_or_shows_life_is_left_alone(
    program: str, tmp_path: Path
) -> None:
    async with watched(program, tmp_path / "starts"):
        await exists(tmp_path / "starts.late")
    assert len((tmp_path / "starts").read_text().splitlines()) == 1


async def test_a_child_that_is_killed_is_started_again(tmp_path: Path) -> None:
    async with watched(SHOWS_LIFE, tmp_path / "starts") as child:
        await exists(tmp_path / "starts", lines=1)
        pid = int((tmp_path / "starts").read_text())
        assert child.pid == pid
        os.kill(pid, signal.SIGKILL)
        await exists(tmp_path / "starts", lines=2)
