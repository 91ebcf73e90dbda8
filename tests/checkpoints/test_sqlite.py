"""The SQLite file of a first experiment: its address, and that it stays this process's own."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from checkpoints.errors import FileNotUsable
from checkpoints.sqlite import file_of, opened


@pytest.mark.parametrize(
    ("address", "file"),
    [
        ("sqlite:///kept.db", "kept.db"),
        ("sqlite:///a/kept.db", "a/kept.db"),
        ("sqlite:////tmp/kept.db", "/tmp/kept.db"),
        ("sqlite:///", None),
        ("sqlite://kept.db", None),
        ("sqlite:///:memory:", None),
        ("sqlite:///a\0b", None),
        ("postgresql://a/b", None),
        ("kept.db", None),
    ],
)
def test_an_address_names_a_file_or_is_refused(address: str, file: str | None) -> None:
    assert file_of(address) == (Path(file) if file else None)


async def test_a_file_is_private_to_its_owner_and_open_once(tmp_path: Path) -> None:
    file = tmp_path / "kept.db"
    async with opened(file):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        with pytest.raises(FileNotUsable, match="another `sayso try` is using it"):
            async with opened(file):
                pass
    async with opened(file):
        pass


async def test_a_folder_or_something_else_than_a_database_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotUsable):
        async with opened(tmp_path):
            pass
    (tmp_path / "words").write_text("no database at all, " * 100)
    with pytest.raises(FileNotUsable, match="not a database"):
        async with opened(tmp_path / "words"):
            pass
    assert (tmp_path / "words").read_text().startswith("no database")
