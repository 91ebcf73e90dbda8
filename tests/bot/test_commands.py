"""The product without Slack: start, look, decide and serve from a terminal, as a script would."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from checkpoints.database import Database
from graphs import audit, reviews
from graphs.specs import People, Rule
from tests import zygote
from tests.bot.conftest import Desk, until

ROOT = Path(__file__).parent.parent.parent
LOAN = {"text": "Loan for Asha Traders, 60000 for a delivery van"}


@dataclass
class Terminal:
    """A terminal in an empty directory, with a database and no Slack."""

    directory: Path
    url: str

    def environ(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return kept | {
            "SAYSO_DATABASE_URL": self.url,
            "SAYSO_CONFIG": str(ROOT / "sayso.toml"),
            "SAYSO_LEASE_SECONDS": "1",
            "SAYSO_POLL_SECONDS": "0.2",
            "PYTHONWARNINGS": "default",
            **more,
        }

    async def start(self, *arguments: str, **environ: str) -> zygote.Forked:
        return await zygote.start(
            "-m", "bot", *arguments,
            env=self.environ(**environ), cwd=self.directory,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip

    async def run(self, *arguments: str, **environ: str) -> tuple[int, str, str]:
        process = await self.start(*arguments, **environ)
        out, err = await process.communicate()
        return process.returncode or 0, out.decode(), err.decode()

    async def json(self, *arguments: str) -> Any:
        code, out, err = await self.run(*arguments, "--json")
        assert code == 0, err
        return json.loads(out)

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[None]:
        process = await self.start("worker")
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            _, err = await asyncio.wait_for(process.communicate(), 30)
        assert process.returncode == 0, err.decode()


@pytest.fixture
def terminal(database_url: str, tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, database_url)


async def test_a_loan_is_run_and_decided_without_slack(terminal: Terminal) -> None:
    started = await terminal.json(
        "threads", "start", "loan", "--input", json.dumps(LOAN), "--customer", "Asha Traders"
    )
    assert (started["graph"], started["status"]) == ("loan", "queued")
    async with terminal.worker():

        async def review() -> Any:
            found = await terminal.json("reviews", "list", "--thread", started["id"])
            return found[0] if found else None

        asked = await until("the review", review, 30)
        assert (asked["node"], asked["status"]) == ("human_review", "open")
        assert asked["question"]["amount"] == 60000

        code, out, err = await terminal.run(
            "reviews", "decide", str(asked["id"]), "--as", "U0CHARLIE",
            "--answer", '{"decision": "approve"}', "--json",
        )  # fmt: skip
        assert (code, json.loads(out)["status"]) == (1, "open")
        assert "Nothing was changed" in err

        decided = await terminal.json(
            "reviews", "decide", str(asked["id"]), "--as", "U0ALICE",
            "--answer", '{"decision": "reject", "note": "Too old."}',
        )  # fmt: skip
        assert (decided["status"], decided["outcome"]) == ("decided", "rejected")
        assert [(vote["voter"], vote["via"]) for vote in decided["votes"]] == [("U0ALICE", "cli")]

        async def done() -> Any:
            found = await terminal.json("threads", "show", started["id"])
            return found if found["status"] == "done" else None

        thread = await until("the end", done, 30)
    assert thread["outcome"] == "Nothing was paid."
    assert thread["state"]["customer"] == "Asha Traders"
    assert [one["id"] for one in thread["reviews"]] == [asked["id"]]
    history = await terminal.json("threads", "history", started["id"])
    choices = {one["node"]: one for one in history["routings"]}
    assert choices["human_review"]["choice"] == "decline"
    assert choices["human_review"]["state"]["decision"]["note"] == "Too old."
    assert os_user_is_named(history)
    assert (await terminal.json("threads", "list", "--status", "done"))[0]["id"] == started["id"]
    for words in (("threads", "list"), ("threads", "show", started["id"]),
                  ("threads", "history", started["id"]), ("reviews", "list"),
                  ("reviews", "show", str(asked["id"]))):  # fmt: skip
        code, out, err = await terminal.run(*words)
        assert (code, bool(out)) == (0, True), err


def os_user_is_named(history: Any) -> bool:
    return any(
        entry["what"] == "vote.counted" and entry["detail"].get("os_user")
        for entry in history["audit"]
    )


@pytest.mark.parametrize("token", ["xoxb-local-sayso", "xoxb-another"])
async def test_with_a_token_and_without_slack_nobody_is_taken_at_their_word(
    desk: Desk, tmp_path: Path, token: str
) -> None:
    rule = Rule(graph="loan", channel="C0CREDIT", approvers=People(users=("U0GONE",)))
    review_id = await desk.review(rule=rule)
    terminal = Terminal(tmp_path, desk.settings.database_url or "")
    code, _, err = await terminal.run(
        "reviews", "decide", str(review_id), "--as", "U0GONE",
        "--answer", '{"decision": "approve"}',
        SAYSO_SLACK_BOT_TOKEN=token, SAYSO_SLACK_SIGNING_SECRET="secret",
        SAYSO_SLACK_API_URL="http://127.0.0.1:9/api/",
    )  # fmt: skip
    assert code == 1
    assert "could not check who you are" in err
    assert (await reviews.get(desk.database, review_id)).status == "open"
    (entry,) = await desk.audit("vote.refused")
    assert entry["actor"] == "U0GONE"
    assert "cannot_check" in entry.values()


async def test_the_same_key_starts_one_thread(terminal: Terminal) -> None:
    words = ("threads", "start", "loan", "--input", json.dumps(LOAN), "--key", "order-7")
    first = await terminal.json(*words)
    second = await terminal.json(*words)
    assert first["id"] == second["id"]


async def test_what_should_be_shown_waits_without_slack(
    terminal: Terminal, database: Database
) -> None:
    started = await terminal.json("threads", "start", "loan", "--input", json.dumps(LOAN))
    async with terminal.worker():

        async def wanted() -> bool:
            found = await database.fetchval(
                "select count(*) from sayso.posts where kind = 'card' and place = 'C0CREDIT'"
            )
            return found == 1

        await until("the wish", wanted, 30)
    assert started["reviews"] == []


async def test_a_parked_thread_is_listed_with_why_and_goes_on_when_an_operator_says_so(
    terminal: Terminal, database: Database
) -> None:
    started = await terminal.json("threads", "start", "loan", "--input", json.dumps(LOAN))
    unpark = ("threads", "unpark", started["id"])

    async def set_aside(mark: str) -> None:
        await database.execute(
            "update sayso.threads set mark = $1, mark_reason = 'its worker ended 5 times'", mark
        )
        await database.execute("update sayso.leases set crashes = 5")

    await set_aside("held")
    code, _, err = await terminal.run(*unpark)
    assert (code, "The thread is held and not parked." in err) == (1, True), err
    await set_aside("parked")
    assert await terminal.json("threads", "list", "--status", "held") == []
    code, out, _ = await terminal.run("threads", "list", "--status", "parked")
    assert (code, started["id"] in out, "its worker ended 5 times" in out) == (0, True, True)

    code, _, err = await terminal.run(*unpark, "--as", "U0ALICE")
    assert (code, "U0ALICE may not do this." in err) == (1, True), err
    assert (await terminal.json("threads", "show", started["id"]))["status"] == "parked"
    assert (await terminal.json(*unpark))["status"] == "queued"
    assert await database.fetchval("select crashes from sayso.leases") == 0
    assert (await terminal.run(*unpark))[0] == 1
    whats = [entry.what for entry in await audit.of_thread(database, started["id"])]
    assert whats == ["thread.started", *["try_again.refused"] * 2, "thread.retried",
                     "try_again.refused"]  # fmt: skip
    async with terminal.worker():

        async def asked() -> Any:
            return await terminal.json("reviews", "list", "--thread", started["id"])

        await until("the question", asked, 30)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("threads", "start", "nothing", "--input", "{}"), 1, "Configured are: loan"),
        (("threads", "start", "loan", "--input", "{not"), 2, "not JSON"),
        (("threads", "start", "loan", "--input", "null"), 2, "null"),
        (("threads", "start", "loan"), 2, "--input"),
        (("threads", "start", "loan", "--input", "{}", "--configurable", "[]"), 2, "object"),
        (("threads", "start", "loan", "--input", "{}", "--context", "1"), 2, "object"),
        (("threads", "list", "--status", "sleeping"), 2, "paused"),
        (("threads", "show", "nothing"), 1, "no thread nothing"),
        (("threads", "unpark", "nothing"), 1, "no thread nothing"),
        (("threads", "history", "nothing"), 1, "no thread nothing"),
        (("reviews", "list", "--thread", "nothing"), 1, "no thread nothing"),
        (("reviews", "show", "412"), 1, "no review 412"),
        (("reviews", "show", "x"), 2, "integer"),
        (("reviews", "decide", "412", "--as", "U0ALICE", "--answer", "1"), 1, "no review 412"),
        (("reviews", "decide", "412", "--as", "U0ALICE"), 2, "--answer"),
        (("serve",), 1, "SAYSO_SLACK_BOT_TOKEN"),
        (("dance",), 2, "No such command"),
    ],
)
async def test_refused_is_1_and_wrong_usage_is_2_with_the_reason_on_stderr(
    terminal: Terminal, words: tuple[str, ...], code: int, told: str
) -> None:
    status, out, err = await terminal.run(*words)
    assert (status, told in err) == (code, True), err
    assert out == ""


async def test_two_customers_of_one_name_are_listed_and_nothing_starts(
    terminal: Terminal, database: Database
) -> None:
    from memory import customers

    async with database.transaction() as connection:
        made = [await customers.create(connection, "Asha Traders") for _ in range(2)]
    code, _, err = await terminal.run(
        "threads", "start", "loan", "--input", json.dumps(LOAN), "--customer", "Asha Traders"
    )
    assert code == 1
    assert all(customer.id in err for customer in made)
    assert await terminal.json("threads", "list") == []


async def test_a_given_database_is_migrated_by_migrate_alone(
    empty_url: str, tmp_path: Path
) -> None:
    terminal = Terminal(tmp_path, empty_url)
    for words in (("threads", "list"), ("reviews", "list"), ("worker",), ("check",)):
        code, out, err = await terminal.run(*words)
        assert (code, "sayso migrate" in out + err) == (1, True), words
    assert (await terminal.run("migrate"))[0] == 0
    assert await terminal.json("threads", "list") == []
    code, out, _ = await terminal.run("migrate")
    assert (code, "up to date" in out) == (0, True)


async def test_check_tells_mistakes_from_warnings(terminal: Terminal) -> None:
    code, out, err = await terminal.run("check", SAYSO_PRT="1")
    assert (code, err) == (0, "")
    assert "warning: SAYSO_PRT" in out
    broken = terminal.directory / "broken.toml"
    broken.write_text('[graphs.loan]\npath = "graphs.library.nothing:graph"\n')
    code, out, _ = await terminal.run("check", SAYSO_CONFIG=str(broken))
    assert (code, "mistake: Graph loan cannot be loaded" in out) == (1, True)


async def test_wrong_settings_end_every_command_with_all_mistakes(terminal: Terminal) -> None:
    code, _, err = await terminal.run("threads", "list", SAYSO_PORT="x", SAYSO_LEASE_SECONDS="0")
    assert code == 1
    assert "SAYSO_PORT" in err
    assert "SAYSO_LEASE_SECONDS" in err
    assert "Traceback" not in err


async def test_a_tied_worker_ends_when_its_parent_is_gone(terminal: Terminal) -> None:
    process = await terminal.start("worker", "--tied")
    assert process.stdin is not None
    process.stdin.close()
    await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 0


async def test_the_worker_of_a_killed_web_process_ends_too(terminal: Terminal) -> None:
    process = await terminal.start(
        "serve",
        SAYSO_PORT="0",
        SAYSO_SLACK_BOT_TOKEN="xoxb-nobody",
        SAYSO_SLACK_SIGNING_SECRET="secret",
        SAYSO_SLACK_API_URL="http://127.0.0.1:9/api/",
    )

    def child() -> psutil.Process | None:
        found = psutil.Process(process.pid).children()
        return found[0] if found else None

    worker = await until("the worker", child, 30)
    process.kill()
    await process.communicate()
    await until("the worker to end", lambda: not worker.is_running(), 30)


@pytest.mark.crash
async def test_the_demo_prints_one_address_survives_a_kill_and_ends_everything(
    tmp_path: Path, demo_ports: None
) -> None:
    (tmp_path / "sayso.toml").write_bytes((ROOT / "sayso.toml").read_bytes())
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}

    async def demo() -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "demo", env=kept, cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip

    first = await demo()
    assert first.stdout is not None
    assert first.stderr is not None
    try:
        address = await asyncio.wait_for(_address(first.stdout), 60)
        second = await demo()
        out, _ = await asyncio.wait_for(second.communicate(), 60)
        assert (second.returncode, address in out.decode()) == (0, True)

        (bot,) = [
            child for child in psutil.Process(first.pid).children() if "serve" in child.cmdline()
        ]
        bot.kill()
        said = await asyncio.wait_for(first.stderr.readline(), 30)
        assert b"Nothing is lost" in said
        third = await demo()
        out, _ = await asyncio.wait_for(third.communicate(), 60)
        assert "started again" in out.decode()
        children = psutil.Process(first.pid).children(recursive=True)
        first.send_signal(signal.SIGINT)
        _, err = await asyncio.wait_for(first.communicate(), 60)
        assert first.returncode == 0, err.decode()
    finally:
        if first.returncode is None:
            first.kill()
            await first.communicate()
    await until("the children to end", lambda: not any(c.is_running() for c in children), 30)
    assert not list((tmp_path / ".sayso" / "postgres").glob("postmaster.pid"))


async def _address(stream: asyncio.StreamReader) -> str:
    while True:
        line = (await stream.readline()).decode().strip()
        if line.startswith("http://"):
            return line
