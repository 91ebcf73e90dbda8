"""What `sayso policy history` shows: each configuration that was in force or refused, and when."""

from __future__ import annotations

import logging
from datetime import UTC
from typing import Any

from bot import app, logs
from bot.errors import SettingsWrong
from bot.settings import examined
from graphs import policies
from graphs.policies import Change


async def history(limit: int, *, with_diff: bool) -> list[dict[str, Any]]:
    """The newest configurations, newest first.

    Args:
        with_diff: also what each changed of the one that was in force before it.
    """
    settings, mistakes = examined()
    # What is wrong in sayso.toml may be the very reason for which somebody reads this.
    if others := [each for each in mistakes if each not in settings.reading.mistakes]:
        raise SettingsWrong(others)
    logs.set_up(settings.environment.log, "command", level=logging.WARNING)
    async with app.opened(settings, "command") as database:
        changes = await policies.newest(database, limit)
    return [_row(change) | ({"diff": change.diff()} if with_diff else {}) for change in changes]


def _row(change: Change) -> dict[str, Any]:
    return {
        "at": change.at.astimezone(UTC).isoformat(timespec="seconds"),
        "by": change.actor,
        "hash": change.hash,
        "mistakes": list(change.mistakes),
        "restart": list(change.restart),
    }
