"""`sayso demo`: a database, a local Slack, the bot and a worker on this machine, and one address.

The demo is a parent of two tied processes, the local Slack and `sayso serve`, which has a worker
of its own. Whatever ends the parent ends them all; the database belongs to its data directory and
is stopped only when the demo ends in order. Nothing is kept anywhere but in SAYSO_HOME, so that
starting it again goes on where it was.

A second demo in the same home finds the first one's lock: it says where the page is, and if the
bot was killed meanwhile it has the first one start it again.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp
import typer

from bot import app, logs, simulator
from bot.errors import NotConfigured
from bot.settings import Settings, environ_for_child, load
from bot.simulator import cast
from bot.supervision import Child, command, supervised, until_told_to_stop
from checkpoints import embedded

SLACK_PORT: Final = 8090
BOT_PORT: Final = 3000
START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 15.0
LEASE_SECONDS: Final = "5"  # so that what a kill interrupts goes on soon
STARTED_AGAIN_SECONDS: Final = 20.0


async def demo() -> int:
    """Run everything until Ctrl-C; 0 if it ended in order."""
    settings = load()
    logs.set_up("text", "demo", level=logging.CRITICAL)
    home = settings.home
    home.mkdir(parents=True, exist_ok=True)
    with _lock(home) as first:
        if not first:
            return await _second(home)
        try:
            return await _first(settings)
        finally:
            (home / "demo.json").unlink(missing_ok=True)
            if settings.database_url is None:
                await embedded.stop(home)


async def simulate(port: int, *, home: Path | None, events_url: str, tied: bool) -> None:
    """Run the local Slack alone."""
    stop = until_told_to_stop(tied=tied)
    serving = asyncio.create_task(
        simulator.serve(
            port,
            home=home,
            events_url=events_url,
            ready=None if tied else lambda slack: typer.echo(f"{slack.url}/"),
        ),
        name="local slack",
    )
    stopping = asyncio.create_task(stop.wait(), name="stop")
    await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not serving.done():
        serving.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await serving


async def _first(settings: Settings) -> int:
    home = settings.home
    stop = until_told_to_stop()
    async with app.opened(settings, "demo"):
        pass  # the database runs, and its tables are there
    slack_port, bot_port = _port(SLACK_PORT), _port(BOT_PORT)
    address = f"http://127.0.0.1:{slack_port}/"
    events = f"http://127.0.0.1:{bot_port}/slack/events"
    log = (home / "demo.log").open("ab")
    slack = Child(
        command(
            "simulator", "--tied", "--port", str(slack_port), "--home", str(home / "slack"),
            "--events-url", events,
        ),
        name="local slack", output=log.fileno(),
    )  # fmt: skip
    bot = Child(
        command("serve", "--tied"),
        name="bot",
        output=log.fileno(),
        environ=environ_for_child(
            slack_bot_token=cast.BOT_TOKEN,
            slack_signing_secret=cast.SIGNING_SECRET,
            slack_api_url=f"{address}api/",
            port=str(bot_port),
            home=str(home),
            config=str(_configuration(settings, slack_port)),
            lease_seconds=LEASE_SECONDS,
            clock_url=f"{address}_control/clock",
        ),
        restart=False,
        ended=lambda _: typer.echo(_STOPPED, err=True),
    )
    again = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, again.set)
    async with supervised(slack, stop_seconds=STOP_SECONDS), aiohttp.ClientSession() as session:
        # The bot asks Slack who it is as soon as it starts.
        up = await _until_up(session, f"{address}_page/state?user=U0BOB", stop)
        async with _revived(bot, again):
            up = up and await _until_up(session, f"http://127.0.0.1:{bot_port}/readyz", stop)
            if not up and not stop.is_set():
                typer.echo(f"The demo did not start. Its log is {home / 'demo.log'}.", err=True)
                return 1
            if not stop.is_set():
                about = {"url": address, "pid": os.getpid(), "bot": f"http://127.0.0.1:{bot_port}"}
                (home / "demo.json").write_text(json.dumps(about), encoding="utf-8")
                typer.echo(_ADDRESS.format(address=address))
            await stop.wait()
            typer.echo("Stopping.")
    log.close()
    return 0


async def _second(home: Path) -> int:
    """Another demo has the lock: say where it is, and have it start a killed bot again."""
    try:
        about = json.loads((home / "demo.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        typer.echo("Another demo is starting in this directory. Try again in a moment.", err=True)
        return 1
    async with aiohttp.ClientSession() as session:
        ready = f"{about['bot']}/readyz"
        if not await _is_up(session, ready):
            os.kill(int(about["pid"]), signal.SIGUSR1)
            if not await _until_up(session, ready, asyncio.Event(), STARTED_AGAIN_SECONDS):
                typer.echo(f"The bot does not start. See {home / 'demo.log'}.", err=True)
                return 1
            typer.echo("The bot had stopped; it is started again and nothing was lost.")
    typer.echo(f"The demo runs already:\n\n  {about['url']}")
    return 0


_ADDRESS: Final = """
  {address}

  Open it in a browser. Ctrl-C ends the demo, its state is kept."""
_STOPPED: Final = "The bot has stopped. Nothing is lost: `make demo` in another terminal starts it."


@asynccontextmanager
async def _revived(bot: Child, again: asyncio.Event) -> AsyncIterator[None]:
    """Keep the bot, and start it anew each time somebody asks for it after it ended."""

    async def keep() -> None:
        while True:
            await bot.run()
            again.clear()
            await again.wait()

    task = asyncio.create_task(keep(), name="bot")
    try:
        yield
    finally:
        await bot.stop(STOP_SECONDS)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _configuration(settings: Settings, slack_port: int) -> Path:
    """The configuration, with the bank where the local Slack really is."""
    given = settings.directory / settings.environment.config.name
    if not given.is_file():
        raise NotConfigured(["sayso.toml"], "Run `sayso demo` where it is, or set SAYSO_CONFIG.")
    if slack_port == SLACK_PORT:
        return given
    moved = given.read_text(encoding="utf-8").replace(
        f"127.0.0.1:{SLACK_PORT}", f"127.0.0.1:{slack_port}"
    )
    copy = settings.home / "demo.toml"
    copy.write_text(moved, encoding="utf-8")
    return copy


@contextmanager
def _lock(home: Path) -> Iterator[bool]:
    """Whether we are the only demo of this home; the kernel lets go when the process ends."""
    with (home / "demo.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def _port(wanted: int) -> int:
    """The wanted port, or a free one where somebody else has it."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    return wanted


async def _until_up(
    session: aiohttp.ClientSession, url: str, stop: asyncio.Event, seconds: float = START_SECONDS
) -> bool:
    try:
        async with asyncio.timeout(seconds):
            while not stop.is_set():
                if await _is_up(session, url):
                    return True
                await asyncio.sleep(0.1)
    except TimeoutError:
        pass
    return False


async def _is_up(session: aiohttp.ClientSession, url: str) -> bool:
    wait: Any = aiohttp.ClientTimeout(total=2)
    try:
        async with session.get(url, timeout=wait) as answer:
            return answer.status < 400
    except (aiohttp.ClientError, TimeoutError, OSError):
        return False
