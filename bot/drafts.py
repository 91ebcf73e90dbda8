"""Drafts: requests that were begun and are not sent yet.

Whoever still has to choose what to ask for, or to fill in a form, began with something: a message,
its files, a place. It waits here, and the button or window that goes on with it carries its id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from checkpoints.database import Connection, Database, queries
from graphs.messages import Message

SQL = queries(__file__)

KEEP_DAYS: Final = 30


@dataclass(frozen=True)
class Draft:
    """What somebody began, and the thread it became; `channel` may be a person's id."""

    id: int
    team: str
    person: str
    channel: str
    root: str | None
    message: Message
    thread_id: str | None

    @property
    def key(self) -> str:
        """What it starts is started once, however often it is sent."""
        return f"draft:{self.id}"


async def begin(
    connection: Connection,
    *,
    team: str,
    person: str,
    channel: str,
    root: str | None,
    message: Message,
) -> int:
    """Keep what somebody began; returns its id."""
    begun: int = await connection.fetchval(
        SQL.begin, team, person, channel, root, message.to_json()
    )
    return begun


async def find(connection: Connection | Database, draft_id: int) -> Draft | None:
    """What was begun, or None."""
    row = await connection.fetchrow(SQL.get, draft_id)
    if row is None:
        return None
    return Draft(**{**dict(row), "message": Message.from_json(row["message"])})


async def sent(connection: Connection, draft_id: int, thread_id: str) -> None:
    """Note the thread that a draft became."""
    await connection.execute(SQL.sent, draft_id, thread_id)


async def forget_old(connection: Connection) -> None:
    """Drop what nobody went on with."""
    await connection.execute(SQL.forget_old, KEEP_DAYS)
