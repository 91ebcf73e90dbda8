"""Where a thread is talked about: Slack's own thread under one message, its conversation.

A thread that began with a message has its conversation from the start. One that began with a
command gets it when the progress message is posted: that message is the root, and until then
`root` is None.

A start can be put off until Slack sends it again. Until then the message above is noted, so that
what is written under it does not overtake it and get lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from checkpoints.database import Connection, Row, queries

SQL = queries(__file__)

# Slack's last retry comes about six minutes after the first delivery.
AWAITED_SECONDS: Final = 900.0


@dataclass(frozen=True)
class Conversation:
    """A thread's place in Slack; ``channel`` may be a person's id until the first post."""

    thread_id: str
    team: str
    channel: str
    root: str | None


async def open_(
    connection: Connection, thread_id: str, *, team: str, channel: str, root: str | None
) -> str:
    """Say where a thread is talked about; returns whose conversation it is: the first one's."""
    opened = await connection.fetchval(SQL.open, thread_id, team, channel, root)
    if opened is None and root is not None:
        first = await at(connection, team=team, channel=channel, root=root)
        if first is not None:
            return first.thread_id
    return thread_id


async def put_off(connection: Connection, *, team: str, channel: str, root: str, ts: str) -> None:
    """Note that the start by message ``ts`` was put off: Slack sends it again."""
    await connection.execute(SQL.put_off, team, channel, root, ts)


async def awaits_start(
    connection: Connection, *, team: str, channel: str, root: str, ts: str
) -> bool:
    """Whether a start by another message than ``ts`` was put off here and has not come again."""
    found = await connection.fetchval(SQL.awaits_start, team, channel, root, ts, AWAITED_SECONDS)
    return found is not None


async def start_came(connection: Connection, *, team: str, channel: str, root: str) -> None:
    """Take the note away that a start was put off here, and those nobody came for."""
    await connection.execute(SQL.start_came, team, channel, root, AWAITED_SECONDS)


async def hang(connection: Connection, thread_id: str, *, channel: str, root: str) -> None:
    """Note the message that the conversation hangs under, unless it has one."""
    await connection.execute(SQL.root, thread_id, channel, root)


async def of_thread(connection: Connection, thread_id: str) -> Conversation | None:
    """Where the thread is talked about, if anywhere."""
    return _conversation(await connection.fetchrow(SQL.of_thread, thread_id))


async def at(connection: Connection, *, team: str, channel: str, root: str) -> Conversation | None:
    """The thread that is talked about under this message, if any."""
    return _conversation(await connection.fetchrow(SQL.at, team, channel, root))


async def move(connection: Connection, *, team: str, old: str, new: str) -> None:
    """Follow a channel to its new id."""
    await connection.execute(SQL.move, team, old, new)


def _conversation(row: Row | None) -> Conversation | None:
    return Conversation(**dict(row)) if row is not None else None
