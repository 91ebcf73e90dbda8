"""What survives: a kill at any moment, a half-written line, a second process on the same folder."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from bot.simulator import LocalSlack, cast
from bot.simulator.errors import HomeInUse
from bot.simulator.journal import Journal
from bot.simulator.workspace import Workspace
from tests.simulator.conftest import App, until

SERVE = (
    "import asyncio, sys; from pathlib import Path; from bot.simulator import serve; "
    "asyncio.run(serve(int(sys.argv[1]), home=Path(sys.argv[2]), events_url=sys.argv[3]))"
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def served(
    port: int, home: Path, events_url: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A local Slack in a process of its own, answering; killed when the test is over."""
    arguments = (sys.executable, "-c", SERVE, str(port), str(home), events_url)
    process = await asyncio.create_subprocess_exec(*arguments)
    try:
        async with aiohttp.ClientSession() as http, asyncio.timeout(20):
            while not await answers(http, port):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def answers(http: aiohttp.ClientSession, port: int) -> bool:
    try:
        async with http.get(f"http://127.0.0.1:{port}/_control/state") as response:
            return response.status == 200
    except aiohttp.ClientError:
        return False


@pytest.mark.crash
async def test_whatever_was_acknowledged_survives_a_kill(
    app: App, http: aiohttp.ClientSession, tmp_path: Path
) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    said = {
        "user": "U0BOB",
        "channel": "C0LOANS",
        "text": "Loan",
        "files": [{"sample": "van-quote.pdf"}],
    }
    paid = {"amount": 60000, "to": "Asha Traders"}
    async with served(port, tmp_path, "http://127.0.0.1:1/slack/events") as process:
        async with http.post(f"{url}/_control/message", json=said) as response:
            sent = await response.json()
        key = {"Idempotency-Key": "k"}
        async with http.post(f"{url}/transfers", json=paid, headers=key) as response:
            reference = (await response.json())["reference"]
        process.kill()
    async with served(port, tmp_path, app.url) as process:
        async with http.get(f"{url}/_control/state") as response:
            after = await response.json()
        assert [one["ts"] for one in after["messages"]["C0LOANS"]] == [sent["ts"]]
        assert [one["reference"] for one in after["bank"]["transfers"]] == [reference]
        async with http.get(f"{url}/_page/files/{sent['files'][0]['id']}/x") as response:
            assert (await response.read()).startswith(b"%PDF-")
        # The event that nobody took before the kill is delivered after it.
        (event,) = await until(lambda: app.events("message"))
        assert event["ts"] == sent["ts"]
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def test_a_line_cut_in_half_is_the_only_thing_lost(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.put("reads", "a", "1")
    workspace.put("reads", "b", "2")
    workspace.close()
    file = tmp_path / Journal.FILE
    file.write_bytes(file.read_bytes()[:-5])
    again = Workspace(tmp_path)
    assert again.table("reads") == {"a": "1"}
    again.put("reads", "c", "3")
    again.close()
    last = Workspace(tmp_path)
    assert last.table("reads") == {"a": "1", "c": "3"}
    last.close()


async def test_the_journal_is_compacted_at_every_start(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    for n in range(500):
        workspace.put("reads", "a", str(n))
    workspace.close()
    file = tmp_path / Journal.FILE
    before = file.stat().st_size
    Workspace(tmp_path).close()
    assert file.stat().st_size < before / 2
    assert ["reads", "a", "499"] in [json.loads(line) for line in file.read_bytes().splitlines()]


async def test_a_channel_that_moved_does_not_come_back_at_its_old_id(tmp_path: Path) -> None:
    async with LocalSlack.start(home=tmp_path) as slack:
        await slack.act("move", channel="C0OPS", becomes="C1OPS")
    for _ in range(2):
        async with LocalSlack.start(home=tmp_path) as slack:
            assert {"C0LOANS", "C1OPS"} <= set(slack.workspace.channels())
            assert "C0OPS" not in slack.workspace.channels()


async def test_a_channel_that_is_new_in_the_cast_comes_into_an_older_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr(cast, "CHANNELS", cast.CHANNELS[:1])
        async with LocalSlack.start(home=tmp_path) as slack:
            assert list(slack.workspace.channels()) == ["C0LOANS"]
    async with LocalSlack.start(home=tmp_path) as slack:
        assert list(slack.workspace.channels()) == [one["id"] for one in cast.CHANNELS]


async def test_times_never_repeat_across_a_restart(tmp_path: Path) -> None:
    async with LocalSlack.start(home=tmp_path) as slack:
        future = "9999999999.000001"
        slack.workspace.put_message(
            {"channel": "C0OPS", "ts": future, "user": "U0BOB", "text": "From the future"}
        )
    async with LocalSlack.start(home=tmp_path) as slack:
        sent = await slack.message("U0BOB", "C0OPS", "Now")
        assert sent["ts"] > future


async def test_a_folder_serves_one_local_slack_at_a_time(tmp_path: Path) -> None:
    async with LocalSlack.start(home=tmp_path):
        with pytest.raises(HomeInUse, match="Stop it first"):
            async with LocalSlack.start(home=tmp_path):
                pass
    async with LocalSlack.start(home=tmp_path) as slack:
        assert slack.url


async def test_without_a_home_nothing_is_written(tmp_path: Path) -> None:
    async with LocalSlack.start() as slack:
        await slack.message("U0BOB", "C0OPS", "", files=[{"name": "a.txt", "text": "x"}])
        file = slack.workspace.messages("C0OPS")
        assert len(file) == 1
    assert list(tmp_path.iterdir()) == []
