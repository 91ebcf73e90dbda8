"""Where a thread is talked about: Slack's own thread under one message, its conversation.

A thread that began with a message has its conversation from the start. One that began with a
command gets it when the progress message is posted: that message is the root, and until then
`root` is None.
"""

from __future__ import annotations

from dataclasses import dataclass

from checkpoints.database import Connection, Row, queries

SQL = queries(__file__)


@dataclass(frozen=True)
class Conversation:
    """A thread's place in Slack; ``channel`` may be a person's id until the first post."""

    thread_id: str
    team: str
    channel: str
    root: str | None


async def open_(
    connection: Connection, thread_id: str, *, team: str, channel: str, root: str | None
) -> None:
    """Say where a thread is talked about; what was said first stays."""
    await connection.execute(SQL.open, thread_id, team, channel, root)


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
