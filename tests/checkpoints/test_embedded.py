"""The embedded Postgres belongs to its directory: started once, stopped on request, never lost."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest

from checkpoints import embedded
from checkpoints.database import Database

_START = """
import asyncio, sys
from pathlib import Path
from checkpoints import embedded
print(asyncio.run(embedded.start(Path(sys.argv[1]), fsync=False)), flush=True)
"""


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A folder of our own: pytest closes its own to other accounts when another run begins."""
    with tempfile.TemporaryDirectory(prefix="sayso-embedded-") as folder:
        yield Path(folder)


@pytest.fixture
async def home(scratch: Path) -> AsyncIterator[Path]:
    yield scratch / "home"
    await embedded.stop(scratch / "home")


def _pid(home: Path) -> int:
    return int((home / "postgres" / "postmaster.pid").read_text().splitlines()[0])


async def test_it_outlives_the_process_that_started_it_and_stops_on_request(home: Path) -> None:
    command = [sys.executable, "-c", _START, str(home)]
    url = (await asyncio.to_thread(subprocess.check_output, command, text=True)).strip()
    async with Database.open(url) as database:
        assert await database.fetchval("select 1") == 1
    assert await embedded.stop(home)
    assert not await embedded.stop(home)


async def test_six_that_start_at_once_share_one_server(home: Path) -> None:
    command = [sys.executable, "-c", _START, str(home)]
    started = [
        await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE) for _ in range(6)
    ]
    answers = {(await process.communicate())[0] for process in started}
    assert [process.returncode for process in started] == [0] * 6
    assert len(answers) == 1


async def test_it_starts_again_after_a_kill_and_keeps_what_was_committed(home: Path) -> None:
    url = await embedded.start(home)
    async with Database.open(url) as database:
        await database.execute("create table public.kept as select 42 as answer")
    os.kill(_pid(home), signal.SIGKILL)
    await embedded.start(home)
    async with Database.open(url) as database:
        assert await database.fetchval("select answer from public.kept") == 42


def _initdb_of(home: Path, *, beside: psutil.Process | None = None) -> psutil.Process:
    """The process that makes the data of this home, once it has begun to write."""
    while True:
        for folder in home.glob("postgres.new-*/PG_VERSION"):
            for process in psutil.process_iter(["cmdline", "name"]):
                command = process.info["cmdline"] or []
                writes_here = process.info["name"] == "initdb" and str(folder.parent) in command
                if writes_here and process != beside:
                    return process
        time.sleep(0.002)


async def test_a_start_whose_first_init_is_killed_makes_the_data_anew(home: Path) -> None:
    command = [sys.executable, "-c", _START, str(home)]
    started = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    (await asyncio.to_thread(_initdb_of, home)).kill()
    url = (await started.communicate())[0].decode().strip()
    async with Database.open(url) as database:
        assert await database.fetchval("select 1") == 1


async def test_a_start_beside_the_init_that_a_killed_one_left_running_works(home: Path) -> None:
    command = [sys.executable, "-c", _START, str(home)]
    killed = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    orphan = await asyncio.to_thread(_initdb_of, home)
    orphan.suspend()
    killed.kill()
    await killed.wait()
    started = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    await asyncio.to_thread(_initdb_of, home, beside=orphan)
    orphan.resume()
    url = (await started.communicate())[0].decode().strip()
    async with Database.open(url) as database:
        assert await database.fetchval("select 1") == 1
    await asyncio.to_thread(psutil.wait_procs, [orphan])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts it under another account")
async def test_it_stops_also_when_the_folders_above_it_were_closed_meanwhile(home: Path) -> None:
    await embedded.start(home, fsync=False)
    home.chmod(0o700)
    assert await embedded.stop(home)


async def test_a_pid_file_that_names_another_process_is_not_taken_for_the_server(
    home: Path,
) -> None:
    url = await embedded.start(home, fsync=False)
    await embedded.stop(home)
    stale = home / "postgres" / "postmaster.pid"
    stale.write_text(f"{os.getpid()}\n{home / 'postgres'}\n1\n5432\n\n\n0 0\nready\n")
    await embedded.start(home, fsync=False)
    async with Database.open(url) as database:
        assert await database.fetchval("select 1") == 1


async def test_a_path_too_long_for_a_socket_still_works(scratch: Path) -> None:
    home = scratch / ("long" * 20) / "home"
    url = await embedded.start(home, fsync=False)
    try:
        async with Database.open(url) as database:
            assert await database.fetchval("select 1") == 1
    finally:
        await embedded.stop(home)
    assert not Path(url.split("host=")[1]).exists()


async def test_a_server_in_a_socket_directory_of_somebody_else_is_not_believed(
    scratch: Path,
) -> None:
    home = scratch / ("long" * 20) / "home"
    home.mkdir(parents=True)
    directory = Path(embedded.address(home).split("host=")[1])
    directory.mkdir(mode=0o777)
    directory.chmod(0o777)
    try:
        with pytest.raises(embedded.EmbeddedFailed, match="belongs to somebody else"):
            await embedded.start(home)
        assert not (home / "postgres").exists()
    finally:
        directory.rmdir()


async def test_data_of_another_version_is_refused_with_the_next_step(home: Path) -> None:
    data = home / "postgres"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("12\n")
    with pytest.raises(embedded.EmbeddedFailed, match="Postgres 12"):
        await embedded.start(home)
