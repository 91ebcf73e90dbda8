"""`sayso check` after a deploy: which threads are stuck, which run changed code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot import check, logs
from graphs import deploys
from graphs.registry import Registry
from tests.graphs.conftest import House, house
from tests.graphs.test_fingerprints import ADDED, CODE, RENAMED, loaded

__all__ = ["house"]


async def test_check_ends_with_3_for_stuck_threads_alone_and_says_what_it_did_not_look_at(
    house: Callable[..., House],
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(logs, "set_up", lambda *_, **__: None)
    (tmp_path / "sayso.toml").write_text('[graphs.loan]\npath = "./now.py:graph"\n')
    (tmp_path / "now.py").write_text(CODE)
    monkeypatch.setenv("SAYSO_CONFIG", str(tmp_path / "sayso.toml"))
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "home"))
    assert await check.check() == 0
    assert "was not looked at: the embedded database does not run" in capsys.readouterr().out

    monkeypatch.setenv("SAYSO_DATABASE_URL", database_url)
    code = CODE
    for old, new in RENAMED:
        code = code.replace(old, new)
    here = house(loaded(tmp_path, "before.py", code))
    async with here.working():
        thread_id = await here.start("loan", {"amount": 5})
        await here.until(thread_id, "paused")
    assert await check.check() == 3
    said = capsys.readouterr().out
    assert "stuck: Thread 1 cannot go on. The step ask_a_person, which asks" in said
    for old, new in ADDED:
        code = code.replace(old, new)
    added = loaded(tmp_path, "added.py", code)
    found = await deploys.changed(here.database, Registry({"loan": added.spec}, {"loan": added}))
    assert found.stuck == ()
    assert any("The step audit is new. 1 thread waits" in note for note in found.notes)
