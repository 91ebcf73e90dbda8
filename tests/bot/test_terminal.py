"""What the command line says and does where there is no Slack: letting go on, and refusals."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot import printing, terminal
from bot.commands_threads import show_json
from bot.errors import NotConfigured
from checkpoints.database import Database
from checkpoints.errors import BlockedType
from graphs import threads, votes
from graphs.policy import Reason
from graphs.specs import People, Rule
from tests.bot.conftest import Desk, until
from tests.bot.test_commands import Terminal
from tests.bot.test_commands import terminal as terminal_fixture  # noqa: F401

GRAPH = """
from typing import TypedDict
from langgraph.graph import START, StateGraph

class State(TypedDict, total=False):
    text: str
    amount: int

class Own:
    pass

builder = StateGraph(State)
builder.add_node("a", lambda state: {})
builder.add_edge(START, "a")
graph = builder.compile()
"""


@pytest.fixture
def shell(database_url: str, tmp_path: Path) -> Terminal:
    (tmp_path / "flow.py").write_text(GRAPH)
    configured(tmp_path)
    return Terminal(tmp_path, database_url)


def configured(directory: Path, more: str = "") -> None:
    (directory / "sayso.toml").write_text(
        f'[operators]\nusers = ["U0OSCAR"]\n[graphs.flow]\npath = "./flow.py:graph"\n{more}\n'
    )


async def start(shell: Terminal, *words: str) -> tuple[int, str, str]:
    return await shell.run(
        "threads", "start", *words, SAYSO_CONFIG=str(shell.directory / "sayso.toml")
    )


def test_nothing_that_a_question_or_a_state_says_acts_on_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hostile = {"a\x9b31m": "\x1b[2J\u202e\x7f\u2066 and é stays"}
    show_json(hostile)
    out = capsys.readouterr().out
    assert json.loads(out) == hostile
    assert all(sign.isprintable() or sign == "\n" for sign in out)
    assert "é stays" in out
    bad = votes.BadAnswer("Choose \x1b[2J or \x9b31m.")
    said = terminal.not_counted(bad, None, "U0ALICE")  # type: ignore[arg-type]
    assert said is not None
    assert said.isprintable()


async def held(database: Database, thread_id: str, reason: str) -> None:
    await database.execute(
        "update sayso.threads set mark = 'held', mark_reason = $2 where id = $1", thread_id, reason
    )
    await database.execute(
        "update sayso.leases set ready_at = null where thread_id = $1", thread_id
    )


async def test_a_held_thread_is_let_go_on_from_the_command_line(
    shell: Terminal, database: Database
) -> None:
    config = str(shell.directory / "sayso.toml")
    started = json.loads((await start(shell, "flow", "--input", '{"text": "a"}', "--json"))[1])
    await held(database, started["id"], "why")
    code, _, err = await shell.run(
        "threads", "retry", started["id"], "--as", "U0CHARLIE", SAYSO_CONFIG=config
    )
    assert (code, err) == (
        1, "U0CHARLIE may not do this. It is for U0OSCAR. Nothing was changed.\n",
    )  # fmt: skip
    code, out, err = await shell.run(
        "threads", "retry", str(started["number"]), "--json", SAYSO_CONFIG=config
    )
    assert (code, json.loads(out)["status"], err) == (0, "queued", "")
    code, _, err = await shell.run("threads", "retry", started["id"][:8], SAYSO_CONFIG=config)
    assert (code, "nothing to try again" in err) in {(0, False), (1, True)}
    audit = await database.fetch(
        "select what, actor from sayso.audit where thread_id = $1 order by id", started["id"]
    )
    whats = {(row["what"], row["actor"]) for row in audit}
    assert ("try_again.refused", "U0CHARLIE") in whats
    assert any(what == "thread.retried" and who.startswith("cli:") for what, who in whats)


async def test_a_worker_lets_go_of_what_was_held_for_a_type_that_is_named_now(
    shell: Terminal, database: Database
) -> None:
    config = str(shell.directory / "sayso.toml")
    ids = []
    for _ in range(2):
        out = (await start(shell, "flow", "--input", '{"text": "a"}', "--json"))[1]
        ids.append(json.loads(out)["id"])
    await held(database, ids[0], str(BlockedType(["sayso_flow:Own"])))
    await held(database, ids[1], str(BlockedType(["sayso_flow:Own", "sayso_flow:Other"])))
    configured(shell.directory, 'types = ["sayso_flow:Own"]')
    process = await shell.start("worker", SAYSO_CONFIG=config)
    try:

        async def done() -> bool:
            return (await threads.get(database, ids[0])).status == "done"

        await until("the thread to go on", done, 30)
        assert (await threads.get(database, ids[1])).status == "held"
    finally:
        process.terminate()
        await process.communicate()


async def test_an_input_that_does_not_fit_and_a_taken_key_start_nothing(shell: Terminal) -> None:
    code, out, err = await start(shell, "flow", "--input", "[1]")
    assert (code, out) == (1, "")
    assert "must be a JSON object with text, amount" in err
    words = ("flow", "--key", "order-7", "--json", "--input")
    first = await start(shell, *words, '{"amount": 1}')
    again = await start(shell, *words, '{"amount": 1}')
    assert json.loads(first[1])["id"] == json.loads(again[1])["id"]
    code, _, err = await start(shell, *words, '{"amount": 2}')
    assert code == 1
    assert f"has started thread {json.loads(first[1])['id']} of graph flow" in err


async def test_the_list_gives_whole_threads_and_whole_ids(shell: Terminal) -> None:
    started = json.loads((await start(shell, "flow", "--input", '{"text": "a"}', "--json"))[1])
    (listed,) = await shell.json("threads", "list")
    assert set(listed) == set(started)
    assert {"id", "graph", "status", "next", "state", "error", "reviews"} <= set(listed)
    code, out, _ = await shell.run("threads", "list", COLUMNS="60")
    assert (code, started["id"] in out) == (0, True)
    shown = await shell.json("threads", "show", started["id"][:6])
    assert shown["id"] == started["id"]


async def test_an_own_earlier_decision_is_told_as_that(desk: Desk) -> None:
    from graphs import reviews

    rule = Rule(graph="loan", channel="C0CREDIT", approvers=People(users=("U0ALICE", "U0DANA")))
    review = await reviews.get(desk.database, await desk.review(rule=rule))
    at = datetime(2026, 11, 29, 10, 4, tzinfo=UTC)
    decided = votes.AlreadyDecided("U0ALICE", "Alice", at, "approved", "approve")
    for user, who in (("U0ALICE", "You (U0ALICE)"), ("U0DANA", "U0ALICE")):
        assert terminal.not_counted(decided, review, user) == (
            f"{who} decided this already, at 2026-11-29 10:04 UTC: approved. Nothing was changed."
        )
    refused = votes.Refused(Reason.NOT_ALLOWED, rule)
    assert terminal.not_counted(refused, review, "U0CHARLIE") == (
        "U0CHARLIE may not do this. It is for U0ALICE or U0DANA. Nothing was changed."
    )


def test_what_is_not_set_is_named_and_nothing_else() -> None:
    assert str(NotConfigured(["A", "B"], "Why.")) == "A and B are not set. Why."
    assert str(NotConfigured(["A"], "Why.")) == "A is not set. Why."


def test_a_value_is_printed_in_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found: dict[str, Any] = {
        "steps": [],
        "routings": [
            {"at": "2026-11-29T10:00:00", "node": "a", "branch": "b", "choice": "c",
             "checkpoint": "1", "state": {"risk": {"score": 71}, "lines": [{"x": 1}], "no": None}}
        ],
        "decisions": [], "unfinished": [], "audit": [],
    }  # fmt: skip
    printing.print_history(found)
    said = capsys.readouterr().out
    assert "risk.score: 71" in said
    assert "lines[1].x: 1" in said
    assert "{" not in said
