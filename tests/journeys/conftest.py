"""A whole Sayso for a test: a local Slack with its bank, a database, and real processes.

`Product` starts `sayso serve` (the web process and its worker), or a worker alone, on free ports
against a fresh database, and offers what a person in Slack and an operator in a terminal can do.
Everything goes over real HTTP with signatures, nothing is patched, and waiting is always waiting
for a condition.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import signal
import socket
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import asyncpg
import psutil
import pytest
import pytest_asyncio

from bot.simulator import LocalSlack, cast
from checkpoints.database import Database
from tests import zygote
from tests.conftest import fresh_database

Seen = TypeVar("Seen")
JSON = Any

PATIENCE_SECONDS = 40.0
LEASE_SECONDS = 2.0
REPOSITORY = Path(__file__).parent.parent.parent
SAMPLES = REPOSITORY / "bot" / "simulator" / "samples"
CONFIG = REPOSITORY / "sayso.toml"
# What stays when all else is forgotten: what the product knows of its workspace and its tables.
KEPT_TABLES = ("migrations", "workspaces")
REST_SECONDS = 10.0
RESTLESS = """
select exists (select from sayso.leases where owner is not null or ready_at is not null)
  or exists (
    select from sayso.posts
    where parked_at is null
      and (shown < wanted or unsure)
      and due_at <= now()
  )
"""


async def until(
    what: str,
    look: Callable[[], Awaitable[Seen | None]],
    seconds: float = PATIENCE_SECONDS,
) -> Seen:
    """Look again and again until there is something to see, and return it."""
    seen: Seen | None = None
    try:
        async with asyncio.timeout(seconds):
            while not (seen := await look()):  # noqa: ASYNC110  there is nothing to be told by
                await asyncio.sleep(0.05)
    except TimeoutError:
        pytest.fail(f"waited {seconds:.0f} s in vain for {what}")
    return seen


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Process:
    """One process of the product, its output kept for the failure report."""

    name: str
    process: zygote.Forked
    output: Path
    environ: Mapping[str, str]

    @property
    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def kill(self) -> None:
        """End it as a power cut would."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()

    async def gone(self) -> int:
        return await self.process.wait()


@dataclass
class Product:
    """The product under test, and what people do with it."""

    slack: LocalSlack
    database: Database
    directory: Path
    config: Path
    port: int
    url: str
    http: aiohttp.ClientSession
    processes: list[Process] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    # Processes

    def environ(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return {
            **kept,
            "PYTHONPATH": str(REPOSITORY),
            "SAYSO_DATABASE_URL": self.url,
            "SAYSO_CONFIG": str(self.config),
            "SAYSO_HOME": str(self.directory / "home"),
            "SAYSO_PORT": str(self.port),
            "SAYSO_SLACK_BOT_TOKEN": cast.BOT_TOKEN,
            "SAYSO_SLACK_SIGNING_SECRET": cast.SIGNING_SECRET,
            "SAYSO_SLACK_API_URL": f"{self.slack.url}/api/",
            "SAYSO_LEASE_SECONDS": str(LEASE_SECONDS),
            "SAYSO_POLL_SECONDS": "0.2",
            "SAYSO_HOLD_OFF_SECONDS": "0.5",
            **self.environment,
            **more,
        }

    async def start(self, *arguments: str, name: str | None = None, **environ: str) -> Process:
        """Start ``sayso ARGUMENTS`` and leave it running."""
        name = name or arguments[0]
        output = self.directory / f"{len(self.processes)}-{name}.log"
        with output.open("w") as file:
            process = await zygote.start(
                "-m", "bot", *arguments,
                env=self.environ(**environ), stdin=asyncio.subprocess.DEVNULL,
                stdout=file, stderr=file, cwd=self.directory,
            )  # fmt: skip
        started = Process(name, process, output, environ)
        self.processes.append(started)
        return started

    async def serve(self, **environ: str) -> Process:
        """Start the bot and wait until it is ready."""
        started = await self.start("serve", **environ)
        await until("the bot to be ready", lambda: self.ready(started))
        return started

    async def ready(self, started: Process | None = None) -> bool:
        if started is not None and started.process.returncode is not None:
            pytest.fail(f"{started.name} ended: {started.output.read_text()[-3000:]}")
        try:
            async with self.http.get(f"http://127.0.0.1:{self.port}/readyz") as response:
                return response.status == 200
        except aiohttp.ClientError:
            return False

    async def run(
        self, *arguments: str, check: bool = True, **environ: str
    ) -> tuple[int, str, str]:
        """Run ``sayso ARGUMENTS`` to its end; return status, output and errors."""
        process = await zygote.start(
            "-m", "bot", *arguments,
            env=self.environ(**environ), stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=self.directory,
        )  # fmt: skip
        out, err = await process.communicate()
        status = process.returncode or 0
        if check and status:
            pytest.fail(f"sayso {' '.join(arguments)} ended with {status}: {err.decode()}")
        return status, out.decode(), err.decode()

    async def json(self, *arguments: str, **environ: str) -> JSON:
        """Run a command with ``--json`` and return what it printed."""
        _, out, _ = await self.run(*arguments, "--json", **environ)
        return json.loads(out)

    async def power_cut(self) -> None:
        """Kill everything at once, the children too, and wait until it is gone."""
        alive = [one for one in self.processes if one.process.returncode is None]
        for started in alive:
            children = started.children
            started.kill()
            for child in children:
                with contextlib.suppress(psutil.NoSuchProcess):
                    child.kill()
        for started in alive:
            await started.gone()
        # As if their time had run out: who died in the middle of a post cannot say so.
        await self.database.execute("update sayso.lanes set claimed_until = now()")

    async def begin_anew(self) -> None:
        """Forget everything that happened, so that the next test finds it all as new.

        What still runs, or waits for another attempt, goes with its processes.
        """
        try:
            async with asyncio.timeout(REST_SECONDS):
                while await self.database.fetchval(RESTLESS):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        except TimeoutError:
            await self.power_cut()
        await self.control("reset")
        tables = await self.database.fetch(
            "select tablename from pg_tables where schemaname = 'sayso' and tablename <> all ($1)",
            list(KEPT_TABLES),
        )
        names = ", ".join(f"sayso.{row['tablename']}" for row in tables)
        driver = await asyncpg.connect(self.url)
        # The record refuses to be emptied; here it may.
        await driver.execute(f"set session_replication_role = replica; truncate {names}")
        await driver.close()
        alive = [one for one in self.processes if one.process.returncode is None]
        if len(alive) != 1 or alive[0].environ:
            await self.power_cut()
            alive = [await self.serve()]
        self.processes = alive

    async def stop(self) -> None:
        for started in self.processes:
            if started.process.returncode is None:
                # Children first in the list, so that a worker is not left to its own end.
                for child in started.children:
                    with contextlib.suppress(psutil.NoSuchProcess):
                        child.send_signal(signal.SIGCONT)
                with contextlib.suppress(ProcessLookupError):
                    started.process.send_signal(signal.SIGCONT)
                    started.process.terminate()
        for started in self.processes:
            try:
                await asyncio.wait_for(started.process.wait(), 30)
            except TimeoutError:
                started.kill()
                await started.process.wait()
                pytest.fail(f"{started.name} did not stop within 30 s of SIGTERM")

    def logs(self) -> str:
        return "\n".join(
            f"--- {started.output.name}\n{started.output.read_text()[-6000:]}"
            for started in self.processes
        )

    # What people do in Slack

    async def control(self, what: str, **body: Any) -> JSON:
        async with self.http.post(f"{self.slack.url}/_control/{what}", json=body) as response:
            answer = await response.json()
            assert response.status == 200, f"{what} {body}: {answer}"
            return answer

    async def refused(self, what: str, **body: Any) -> JSON:
        async with self.http.post(f"{self.slack.url}/_control/{what}", json=body) as response:
            return response.status, await response.json()

    async def say(
        self,
        user: str,
        channel: str,
        text: str,
        *samples: str,
        thread_ts: str | None = None,
        more: dict[str, bytes] | None = None,
    ) -> str:
        """Write a message, with demo documents and more files attached; return its ts."""
        attached = {name: (SAMPLES / name).read_bytes() for name in samples} | (more or {})
        files = [
            {"name": name, "content_base64": base64.b64encode(content).decode()}
            for name, content in attached.items()
        ]
        body: dict[str, Any] = {"user": user, "channel": channel, "text": text, "files": files}
        if thread_ts:
            body["thread_ts"] = thread_ts
        return str((await self.control("message", **body))["ts"])

    async def click(self, user: str, label: str, message: JSON) -> JSON:
        return await self.control(
            "click", user=user, channel=message["channel"], ts=message["ts"], label=label
        )

    async def state(self) -> JSON:
        async with self.http.get(f"{self.slack.url}/_control/state") as response:
            return await response.json()

    async def messages(self, channel: str, **query: str) -> list[JSON]:
        async with self.http.get(
            f"{self.slack.url}/_control/messages", params={"channel": channel, **query}
        ) as response:
            return [
                {**message, "channel": channel} for message in (await response.json())["messages"]
            ]

    async def message(self, channel: str, *texts: str, **query: str) -> JSON:
        """Wait for a message of the bot that shows all these texts, and return it."""

        async def look() -> JSON | None:
            for message in reversed(await self.messages(channel, **query)):
                shown = everything(message)
                if message["user"] == cast.BOT_USER and all(text in shown for text in texts):
                    return message
            return None

        return await until(f"a message in {channel} with {texts}", look)

    async def shows(self, card: JSON, *texts: str, seconds: float = PATIENCE_SECONDS) -> JSON:
        """Wait until this very message shows all these texts."""

        async def look() -> JSON | None:
            for message in await self.messages(card["channel"]):
                shown = everything(message)
                if message["ts"] == card["ts"] and all(text in shown for text in texts):
                    return message
            return None

        return await until(f"{card['ts']} to show {texts}", look, seconds)

    async def private(self, user: str, *texts: str) -> JSON:
        """Wait for a message that only this person sees."""

        async def look() -> JSON | None:
            for message in reversed((await self.state())["ephemerals"]):
                shown = everything(message)
                to = message.get("ephemeral_to") or message.get("to")
                if to == user and all(text in shown for text in texts):
                    return message
            return None

        return await until(f"a private message to {user} with {texts}", look)

    async def view(self, user: str, *texts: str) -> JSON:
        """Wait for an open modal of this person that shows all these texts."""

        async def look() -> JSON | None:
            for view in reversed((await self.state())["views"].get(user, [])):
                shown = json.dumps(view, ensure_ascii=False)
                if all(text in shown for text in texts):
                    return view
            return None

        return await until(f"a modal of {user} with {texts}", look)

    async def transfers(self) -> list[JSON]:
        async with self.http.get(f"{self.slack.url}/transfers") as response:
            answer = await response.json()
            return answer["transfers"] if isinstance(answer, dict) else answer

    async def audit(self, what: str) -> list[JSON]:
        rows = await self.database.fetch(
            "select a.what, a.actor, a.thread_id, a.review_id, d.detail from sayso.audit as a "
            "left join sayso.audit_details as d on d.audit_id = a.id where a.what = $1 "
            "order by a.id",
            what,
        )
        return [dict(row) for row in rows]


def everything(message: JSON) -> str:
    """All that a message shows, as one text."""
    return json.dumps([message.get("text"), message.get("blocks")], ensure_ascii=False)


def toml(value: JSON) -> str:
    """A value as TOML, tables inline."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def written(configured: JSON) -> str:
    """A configuration as the text of a sayso.toml."""
    tables = [("[operators]", configured["operators"])]
    tables += [(f"[graphs.{name}]", spec) for name, spec in configured["graphs"].items()]
    tables += [("[[reviews]]", rule) for rule in configured["reviews"]]
    return "\n".join(
        "\n".join([head, *(f"{key} = {toml(value)}" for key, value in table.items()), ""])
        for head, table in tables
    )


def loan_alone(slack: LocalSlack) -> JSON:
    """The configuration that we ship, with the loan as its only graph and quick attempts."""
    shipped = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    loan = shipped["graphs"]["loan"]
    loan |= {"retry": ["0.2s", "0.2s", "0.2s"], "config": {"bank_url": slack.bank_url}}
    rules = [rule for rule in shipped["reviews"] if rule["graph"] == "loan"]
    return {"operators": shipped["operators"], "graphs": {"loan": loan}, "reviews": rules}


@asynccontextmanager
async def a_product(
    database_url: str,
    directory: Path,
    configured: Callable[[LocalSlack], JSON] = loan_alone,
    **slack_options: Any,
) -> AsyncIterator[Product]:
    port = free_port()
    events_url = f"http://127.0.0.1:{port}/slack/events"
    async with (
        LocalSlack.start(port=0, events_url=events_url, **slack_options) as slack,
        Database.open(database_url, name="test") as database,
        aiohttp.ClientSession() as http,
    ):
        config = directory / "sayso.toml"
        config.write_text(written(configured(slack)), encoding="utf-8")
        product = Product(slack, database, directory, config, port, database_url, http)
        try:
            yield product
        finally:
            await product.stop()
            print(product.logs())  # shown by pytest where the test failed


@pytest.fixture
async def product(database_url: str, tmp_path: Path) -> AsyncIterator[Product]:
    """Everything but the bot, new; the test starts what it wants."""
    async with a_product(database_url, tmp_path) as made:
        yield made


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared(
    server: Path, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Product]:
    """One product for every test that starts from nothing and harms no process."""
    async with (
        fresh_database(server, template) as url,
        a_product(url, tmp_path_factory.mktemp("shared")) as made,
    ):
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def running(shared: Product) -> AsyncIterator[Product]:
    """Everything, with the bot ready and nothing in it; for tests in the session's loop."""
    await shared.begin_anew()
    yield shared
    print(shared.logs())  # shown by pytest where the test failed
