"""The file that makes the local Slack survive kill -9.

One line a change: `[table, key, value]`, null for gone. A line reaches the kernel before the
change is acknowledged, so a killed process loses nothing; only a line cut in half by the kill
itself is dropped when the file is read again. At every start the file is written anew with what
is still true, and a lock keeps a second process out.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bot.simulator.errors import HomeInUse

Change = tuple[str, str, Any]


class Journal:
    """An append-only file of changes under the simulator's home."""

    FILE = "simulator.jsonl"
    LOCK = "simulator.lock"

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.path = home / self.FILE
        self._lock = os.open(home / self.LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise HomeInUse(home) from None
        self._file: int | None = None

    def read(self) -> Iterator[Change]:
        """Every whole line that was ever written, oldest first."""
        if not self.path.exists():
            return
        with self.path.open("rb") as lines:
            for line in lines:
                try:
                    table, key, value = json.loads(line)
                except ValueError:
                    continue
                yield table, key, value

    def rewrite(self, changes: Iterable[Change]) -> None:
        """Start over with just these changes, atomically, and append from here on."""
        fresh = self.path.with_suffix(".new")
        with fresh.open("wb") as lines:
            lines.writelines(self._line(change) for change in changes)
            lines.flush()
            os.fsync(lines.fileno())
        fresh.replace(self.path)
        if self._file is not None:
            os.close(self._file)
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND)

    def append(self, change: Change) -> None:
        """Write one change; it is safe from kill -9 when this returns."""
        assert self._file is not None, "rewrite() comes first"  # noqa: S101
        line = self._line(change)
        while line:
            line = line[os.write(self._file, line) :]

    def close(self) -> None:
        """Let go of the file and of the lock."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    @staticmethod
    def _line(change: Change) -> bytes:
        return json.dumps(change, separators=(",", ":")).encode() + b"\n"
