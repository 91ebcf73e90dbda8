"""`sayso threads history`, `rewind` and `graph`: what they do, say and refuse."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from bot import commands_threads, logs, printing, retracing
from checkpoints.database import Database
from checkpoints.errors import SaysoError
from graphs import threads
from graphs.rewinding import Past
from tests.bot.test_commands import ROOT, Terminal
from tests.graphs.conftest import House, house, loaded
from tests.graphs.test_runner import loan

__all__ = ["house"]

CONFIG = """
[operators]
users = ["U0OSCAR"]
[graphs.loan]
path = "tests.graphs.asking:loan"
[graphs.gone]
path = "tests.graphs.asking:nothing"
"""


@pytest.fixture(autouse=True)
def at_a_terminal(monkeypatch: pytest.MonkeyPatch, database_url: str, tmp_path: Path) -> None:
    (tmp_path / "sayso.toml").write_text(CONFIG)
    monkeypatch.setenv("SAYSO_DATABASE_URL", database_url)
    monkeypatch.setenv("SAYSO_CONFIG", str(tmp_path / "sayso.toml"))
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(logs, "set_up", lambda *_, **__: None)


def yes(past: Sequence[Past]) -> bool:
    return True


def no(past: Sequence[Past]) -> bool:
    return False


async def back(thread_id: str, step: str, **given: Any) -> Any:
    return await retracing.rewind(
        thread_id, step, **{"edit": {}, "user": None, "confirm": yes, **given}
    )


async def test_a_thread_is_told_step_by_step_taken_back_and_refused_for_a_reason(
    house: Callable[..., House], database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    here = house(loaded("loan", loan(), outcome="Paid, reference TX-1."))
    async with here.working():
        thread_id = await here.start("loan", {"text": "long " * 100})
        await here.until(thread_id, "paused")
        (first,) = await here.open_reviews(thread_id)

        # Nobody but an operator, no unknown step, no value that does not fit; all of it recorded.
        found, done, refused = await back(thread_id, "1", user="U0CHARLIE")
        assert (done, "It is for U0OSCAR" in str(refused)) == (None, True)
        for step, edit, told in (
            ("99", {}, "There is no step 99 to rewind to"),
            ("1", {"nothing": 1}, "The state has no value nothing"),
            ("1", {"risk": "high"}, "risk does not fit"),
        ):
            with pytest.raises(SaysoError, match=told):
                await back(thread_id, step, edit=edit)
        assert [each.id for each in await here.open_reviews(thread_id)] == [first.id]

        found, done, refused = await back(thread_id, "2", user="U0OSCAR", edit={"risk": 99})
        assert (refused, done.withdrawn) == (None, (first.id,))
        printing.print_rewound(done)
        said = capsys.readouterr().out
        assert "It goes on from step 2; it was paused before." in said
        assert f"Withdrawn: review {first.id}." in said
        await here.until(thread_id, "paused")
        (second,) = await here.open_reviews(thread_id)
        assert second.question == {"question": "Go on?", "risk": 99}
        await here.vote(second.id, {"decision": "approve"}, note="Fine.\x1b[31m")
        await here.until(thread_id, "done")

        asked: list[Past] = []
        found, done, refused = await back(
            thread_id, "2", confirm=lambda past: bool(asked.extend(past))
        )
        assert (done, refused) == (None, "Nothing was changed.")
        assert [each.outcome for each in asked] == ["Paid, reference TX-1."]
        assert found["status"] == "done"
        assert printing.confirmed_behind(asked) is False
        said = capsys.readouterr().err
        assert "let through by Alice" in said
        assert "--yes goes back all the same" in said
        _, done, _ = await back(thread_id, "2")
        assert done.uncounted == (second.id,)
        await here.until(thread_id, "paused")

    history = await retracing.history_of(str((await threads.get(database, thread_id)).number))
    steps = history["steps"]
    assert [(step["number"], step["kind"], step["node"]) for step in steps] == [
        (1, "start", ""), (2, "step", "assess"), (3, "rewind", ""), (4, "step", "ask"),
        (5, "step", "pay"), (6, "rewind", ""),
    ]  # fmt: skip
    assert (steps[2]["changed"], steps[2]["next"]) == ({"risk": 99}, ["ask"])
    assert steps[0]["changed"]["text"] == "long " * 100  # JSON has the whole
    assert [(one["node"], one["choice"]) for one in history["routings"]] == [("assess", "ask")]
    assert history["routings"][0]["state"]["risk"] == 71
    assert [(one["by"], one["counts"]) for one in history["decisions"]] == [("U0ALICE", False)]
    whats = [(one["what"], one["actor"]) for one in history["audit"]]
    assert ("rewind.refused", "U0CHARLIE") in whats
    assert ("rewind.taken", "U0OSCAR") in whats
    assert len([what for what, _ in whats if what == "thread.rewound"]) == 2
    json.dumps(history)

    printing.print_history(history)
    lines = capsys.readouterr().out.splitlines()
    text = "\n".join(lines)
    assert max(map(len, lines)) < 200
    for told in ("then ask", "risk: 71", "by_risk chose ask", "with risk: 71", "rewound",
                 "approved by Alice: Fine.", "does not count any more", "waiting"):  # fmt: skip
        assert told in text, told
    assert "\x1b" not in text


async def test_a_threads_graph_is_written_as_text_and_picture(
    house: Callable[..., House], tmp_path: Path
) -> None:
    here = house(loaded("loan", loan()))
    async with here.working():
        thread_id = await here.start("loan")
        paused = await here.until(thread_id, "paused")
    written, reason = await retracing.picture(thread_id, tmp_path / "out")
    assert [file.name for file in written] == [
        f"loan-{paused.number}.mmd", f"loan-{paused.number}.png",
    ]  # fmt: skip
    assert reason == ""
    assert "waits here" in written[0].read_text()
    assert written[1].read_bytes().startswith(b"\x89PNG")
    with pytest.raises(SaysoError, match="Nothing can be written"):
        await retracing.picture(thread_id, written[0])
    gone = await here.start("gone")
    with pytest.raises(SaysoError, match="Graph gone cannot be loaded"):
        await retracing.picture(gone, tmp_path)


def test_an_edit_file_that_is_none_is_wrong_usage(tmp_path: Path) -> None:
    import typer

    for content, told in ((b"[]", "JSON object"), (b"{", "not JSON"), (b"\xff\xfe", "read")):
        (tmp_path / "edit.json").write_bytes(content)
        with pytest.raises(typer.BadParameter, match=told):
            commands_threads._edit(tmp_path / "edit.json")
    assert commands_threads._edit(None) == {}


async def test_the_words_of_the_command_line_reach_it(database_url: str, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, database_url)
    code, _, err = await terminal.run("threads", "rewind", "nothing", "2", "--yes")
    assert (code, "There is no thread nothing" in err) == (1, True)
