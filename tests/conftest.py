"""Fixtures over real parts: one embedded Postgres for the run, a fresh database for each test.

The server's data lives in a scratch directory of this run and is stopped at its end. The
migrated schema is a template, so that a fresh database costs a copy of some 350 files: in memory,
where there is enough of it, 15 ms, and on a disk that others use too up to half a second.
"""

from __future__ import annotations

import asyncio
import fcntl
import itertools
import os
import pwd
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import psutil
import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadGroupScheduling

# Before langgraph is imported anywhere: it reads the switch at import.
os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")

from checkpoints import embedded
from checkpoints.database import Database
from checkpoints.migrate import migrate

# On a busy machine an example may take long; that is no fault of the code under test.
settings.register_profile(
    "sayso", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("sayso")

# Tests that share a product, a browser's demo or what they began together, and so a worker of
# pytest. pytest-xdist 3.8 loses its own groups (the suffix of a nodeid) since pytest 9.
_TOGETHER = {
    "tests/journeys/test_asking.py": "asking",
    "tests/journeys/test_crashes.py": "crashes",
    "tests/journeys/test_pausing.py": "pausing",
    "tests/journeys/test_standstill.py": "standstill",
    "tests/journeys/": "journeys",
    "tests/browser/test_demo_": "demo",
}

_PREFIX = "sayso-tests-"
_MEMORY = Path("/dev/shm")
_MEMORY_BYTES = 2 << 30  # a server takes 150 MB; there is one for each worker of pytest
_numbers = itertools.count(1)


class _Together(LoadGroupScheduling):
    """Shares out the tests one by one, and those of a group to one worker; the groups first."""

    def _split_scope(self, nodeid: str) -> str:
        return next((name for head, name in _TOGETHER.items() if nodeid.startswith(head)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _Together:
    return _Together(config, log)


@pytest.fixture(scope="session")
def server() -> Iterator[Path]:
    """The home of the run's own embedded Postgres."""
    _remove_left_behind()
    home = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=_folder()))
    asyncio.run(embedded.start(home, fsync=False))
    try:
        yield home
    finally:
        _remove(home)


def _folder() -> str | None:
    if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _MEMORY_BYTES:
        return str(_MEMORY)
    return None


def _remove_left_behind() -> None:
    """Stop and remove the servers of runs that were killed before they could."""
    folders = (Path(tempfile.gettempdir()), _MEMORY)
    for home in itertools.chain(*(folder.glob(f"{_PREFIX}*-*") for folder in folders)):
        pid = home.name.removeprefix(_PREFIX).split("-")[0]
        if home.owner() == _me() and pid.isdigit() and not psutil.pid_exists(int(pid)):
            _remove(home)


def _remove(home: Path) -> None:
    asyncio.run(embedded.stop(home))
    shutil.rmtree(home, ignore_errors=True)


def _me() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name


@pytest.fixture(scope="session")
def template(server: Path) -> str:
    """The name of a migrated database that tests clone."""

    async def build() -> None:
        driver = await asyncpg.connect(embedded.address(server))
        await driver.execute("create database sayso_template")
        await driver.close()
        await migrate(embedded.address(server, "sayso_template"))

    asyncio.run(build())
    return "sayso_template"


@pytest.fixture
async def empty_url(server: Path) -> AsyncIterator[str]:
    """The address of a fresh database without any table, in which everybody may make some."""
    async with fresh_database(server, "template1") as url:
        driver = await asyncpg.connect(url)
        await driver.execute("grant create on schema public to public")
        await driver.close()
        yield url


@pytest.fixture
async def database_url(server: Path, template: str) -> AsyncIterator[str]:
    """The address of a fresh, migrated database."""
    async with fresh_database(server, template) as url:
        yield url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """The door to a fresh, migrated database."""
    async with Database.open(database_url) as opened:
        yield opened


@pytest.fixture
def demo_ports() -> Iterator[None]:
    """The demo's two ports, for one test at a time: tests run side by side in processes."""
    with (Path(tempfile.gettempdir()) / f"sayso-demo-{os.getuid()}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@asynccontextmanager
async def fresh_database(server: Path, template: str) -> AsyncIterator[str]:
    """The address of a database that was made for this block."""
    name = f"test_{os.getpid()}_{next(_numbers)}"
    driver = await asyncpg.connect(embedded.address(server))
    try:
        await driver.execute(f"create database {name} template {template}")
        try:
            yield embedded.address(server, name)
        finally:
            await driver.execute(f"drop database {name} with (force)")
    finally:
        await driver.close()
