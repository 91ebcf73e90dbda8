"""What a process does with the files of its configuration while it runs."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.present import Present
from bot.printing import print_policies
from bot.settings import load
from bot.watching import Watch
from checkpoints.database import Database
from graphs import policies
from graphs.policies import MAX_DIFF, diff

FILE = """
[operators]
channel = "C0OPS"
[roles]
credit = {{ users = ["{who}"] }}
[managers]
file = "managers.csv"
[graphs.loan]
path = "graphs.library.loan:graph"
title = "{title}"
context = {{ word = "hush" }}
[graphs.loan.config]
bank = {bank}
[[reviews]]
graph = "loan"
approvers = {{ roles = ["credit"] }}
"""


def text(
    who: str = "U0ALICE", title: str = "the loan", bank: str = '"hush"', more: str = ""
) -> str:
    return FILE.format(who=who, title=title, bank=bank) + more


@dataclass
class Desk:
    """A file, and processes that work by it."""

    file: Path
    database: Database

    def present(self) -> Present:
        environ = {"SAYSO_CONFIG": str(self.file), "SAYSO_HOME": str(self.file.parent)}
        return Present(load(environ))

    def process(self, **of: Any) -> tuple[Present, Watch]:
        present = self.present()
        return present, Watch(present, self.database, by="cli:oscar", **of)

    async def audit(self, what: str) -> list[dict[str, Any]]:
        rows = await self.database.fetch(
            "select a.actor, d.detail from sayso.audit as a "
            "join sayso.audit_details as d on d.audit_id = a.id where a.what = $1 order by a.id",
            what,
        )
        return [{"actor": row["actor"], **row["detail"]} for row in rows]

    async def told(self) -> list[str]:
        rows = await self.database.fetch(
            "select subject from sayso.posts where kind = 'notice' and place = 'C0OPS' "
            "order by created_at"
        )
        return [row["subject"].partition(":")[0].rpartition(".")[2] for row in rows]


@pytest.fixture
async def desk(tmp_path: Path, database_url: str) -> AsyncIterator[Desk]:
    file = tmp_path / "sayso.toml"
    file.write_text(text())
    (tmp_path / "managers.csv").write_text("U0BOB,U0ERIN\n")
    async with Database.open(database_url) as database:
        yield Desk(file, database)


async def test_what_is_still_being_written_is_waited_for(desk: Desk) -> None:
    present, watch = desk.process()
    await watch.look()
    await watch.look()
    desk.file.write_text(text("U0DANA"))
    await watch.look()
    assert present.policy.directory.roles["credit"].users == ("U0ALICE",)
    desk.file.write_text(text("U0ERIN"))
    await watch.look()
    assert present.policy.directory.roles["credit"].users == ("U0ALICE",)
    await watch.look()
    assert present.policy.directory.roles["credit"].users == ("U0ERIN",)
    desk.file.write_text(text("U0DANA"))
    await watch.look(whole=True)
    assert present.policy.directory.roles["credit"].users == ("U0DANA",)


async def test_a_change_between_the_start_and_the_first_look_is_not_missed(desk: Desk) -> None:
    present = desk.present()
    desk.file.write_text(text("U0DANA").replace("\n", "\r\n"), newline="")
    watch = Watch(present, desk.database, by="cli:oscar")
    await watch.look(whole=True)
    assert (
        present.settings.reading.hash
        == hashlib.sha256(desk.file.read_bytes() + b"U0BOB,U0ERIN\n").hexdigest()
    )
    assert present.policy.directory.roles["credit"].users == ("U0DANA",)


async def test_the_file_of_the_managers_is_looked_at_like_the_one_that_names_it(desk: Desk) -> None:
    present, watch = desk.process()
    await watch.look(whole=True)
    managers = desk.file.parent / "managers.csv"
    managers.write_text("U0BOB,U0DANA\n")
    await watch.look(whole=True)
    assert present.policy.directory.managers == {"U0BOB": "U0DANA"}
    assert "+U0BOB,U0DANA" in (await desk.audit("configuration.changed"))[-1]["diff"]
    managers.write_text("Bob,U0DANA\n")
    await watch.look(whole=True)
    assert present.broken
    assert present.policy.directory.managers == {"U0BOB": "U0DANA"}


async def test_two_processes_write_each_change_down_and_tell_it_once(desk: Desk) -> None:
    processes = [desk.process() for _ in range(2)]

    async def look() -> None:
        await asyncio.gather(*(watch.look(whole=True) for _, watch in processes))

    await look()
    for written in (text("U0DANA"), "not TOML", "not TOML", text("U0DANA"), text(bank="1")):
        desk.file.write_text(written)
        await look()
        assert [present.broken for present, _ in processes] == [written == "not TOML"] * 2
    changed = await desk.audit("configuration.changed")
    assert [each["actor"] for each in changed] == ["cli:oscar", "sayso", "sayso"]
    assert [each["before"] for each in changed[1:]] == [each["hash"] for each in changed[:-1]]
    assert len(await desk.audit("configuration.refused")) == 1
    assert await desk.told() == ["refused", "mended", "restart"]
    assert "hush" not in json.dumps(changed)
    rows = await desk.database.fetch("select text from sayso.policies")
    assert "hush" not in str(rows)
    assert "credit" in rows[0]["text"]


async def test_a_file_that_is_gone_is_a_mistake_and_not_an_empty_configuration(desk: Desk) -> None:
    present, watch = desk.process()
    await watch.look(whole=True)
    desk.file.unlink()
    await watch.look(whole=True)
    assert present.broken
    assert len(present.policy.rules) == 1


async def test_the_words_of_a_graph_are_read_anew_and_what_runs_is_left_for_the_next_start(
    desk: Desk,
) -> None:
    taken = list[str]()
    present, watch = desk.process(taken=lambda: taken.append(present.specs["loan"].title or ""))
    other = '[graphs.other]\npath = "graphs.library.loan:graph"\nchannels = ["C0LOANS"]\n'
    desk.file.write_text(text(title="the credit", bank='"b"', more=other))
    await watch.look(whole=True)
    assert taken == ["the credit"]
    assert present.specs["loan"].config == {"bank": "hush"}
    assert list(present.specs) == ["loan"]
    (change,) = [change for change in await policies.newest(desk.database, 5) if change.restart]
    assert [each.partition(": ")[2] for each in change.restart] == [
        "graphs.loan.config: it was changed.", "graphs.other: it is new."
    ]  # fmt: skip
    desk.file.write_text('[operators]\nchannel = "C0OPS"\n' + other)
    await watch.look(whole=True)
    assert list(present.specs) == ["loan"]
    assert present.policy.rules == ()


async def test_what_cannot_be_written_down_is_not_taken_up(
    desk: Desk, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Database.open(database_url) as database:
        present, watch = Desk(desk.file, database).process()
        await watch.look(whole=True)
    desk.file.write_text(text("U0DANA"))
    await watch.look(whole=True)  # its database is closed
    assert present.policy.directory.roles["credit"].users == ("U0ALICE",)
    async with Database.open(database_url) as database:
        monkeypatch.setattr(watch, "_database", database)
        await watch.look()
    assert present.policy.directory.roles["credit"].users == ("U0DANA",)


async def test_a_process_refuses_what_only_it_can_find(desk: Desk) -> None:
    present, watch = desk.process(check=lambda _: ["reviews[1].node: there is none."])
    desk.file.write_text(text("U0DANA"))
    await watch.look(whole=True)
    assert present.broken
    (refused,) = await desk.audit("configuration.refused")
    assert refused["mistakes"] == ["reviews[1].node: there is none."]


def test_the_history_in_a_terminal_is_one_line_for_each_thing_that_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = {"at": "2026-12-01T10:04:00+00:00", "by": "cli:oscar", "hash": "a" * 64}
    in_force = {
        "mistakes": [],
        "restart": ["graphs.loan.path"],
        "diff": "-quorum = 1\n+quorum = 2\n",
    }
    print_policies([row | in_force, row | {"mistakes": ["sayso.toml:3: a\x1b[2Jb"], "restart": []}])
    assert capsys.readouterr().out.splitlines() == [
        "2026-12-01T10:04:00+00:00  aaaaaaaaaaaa  in force, cli:oscar",
        "  waits for a restart: graphs.loan.path",
        "  -quorum = 1",
        "  +quorum = 2",
        "2026-12-01T10:04:00+00:00  aaaaaaaaaaaa  refused, cli:oscar",
        "  mistake: sayso.toml:3: a⟨U+001B⟩[2Jb",
    ]


def test_a_diff_is_cut_where_it_is_long_and_says_how_much_is_left() -> None:
    after = "\n".join(f"line {number}" for number in range(10_000))
    shown = diff("", after)
    assert len(shown) < MAX_DIFF + 100
    assert shown.splitlines()[-1].startswith("and ")
    assert diff(after, after) == ""
