"""What `sayso posts …` does: it lists what Slack does not show, and tries what is parked again.

A post is parked where Slack refused it for good: somebody has to act first, invite the bot or open
the channel again. It is tried every ten minutes all the same; whoever has acted need not wait.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from bot import app, logs, posts, terminal
from bot.settings import load
from checkpoints.database import Connection, Database, Row
from graphs import audit

LISTED: Final = 500
ID_CHARACTERS: Final = 36


async def waiting(*, parked: bool) -> tuple[list[dict[str, Any]], int]:
    """What Slack does not show as it should, oldest first and at most 500; and how much it is."""
    async with _opened() as database:
        rows = await database.fetch(posts.SQL.not_shown, parked, LISTED)
    return [_post(row) for row in rows], int(rows[0]["altogether"]) if rows else 0


async def retry(said: str | None) -> tuple[list[dict[str, Any]], str | None]:
    """Have what is parked tried again at once; these posts, and why one was refused, if so.

    Args:
        said: the post's id, or how it begins; None is all that is parked.
    """
    async with _opened() as database, database.transaction() as connection:
        chosen, refused = (None, None) if said is None else await _chosen(connection, said)
        rows: list[Row] = []
        if refused is None:
            rows = await connection.fetch(posts.SQL.try_again, chosen)
        if rows:
            await connection.execute(posts.SQL.hint, rows[0]["place"])
        for row in rows:
            post = _post(row)
            about = ("id", "kind", "subject", "place", "error", "parked_at")
            await _record(connection, "post.retried", {name: post[name] for name in about})
        if chosen is not None and not rows:  # it was shown between the look and the lock
            refused = terminal.no_such_post(said or "")
        if refused is not None:
            detail = {"id": (said or "")[:ID_CHARACTERS], "why": refused}
            await _record(connection, "post.retry_refused", detail)
    return [_post(row) for row in rows], refused


async def _chosen(connection: Connection, said: str) -> tuple[Any, str | None]:
    """The id of the parked post that is meant, or why none is."""
    found = await connection.fetch(posts.SQL.begins, said.strip().lower()) if said.strip() else []
    if not found:
        return None, terminal.no_such_post(said)
    if len(found) > 1:
        return None, terminal.several_posts(said)
    if found[0]["parked_at"] is None:
        return None, terminal.post_not_parked(said)
    return found[0]["id"], None


async def _record(connection: Connection, what: str, detail: dict[str, Any]) -> None:
    await audit.record(
        connection, what, actor=f"cli:{app.os_user()}", detail={**detail, "via": "cli"}
    )


@asynccontextmanager
async def _opened() -> AsyncIterator[Database]:
    """The database alone: nothing here needs a word of Slack's."""
    settings = load()
    logs.set_up(settings.environment.log, "command")
    async with app.opened(settings, "command") as database:
        yield database


def _post(row: Row) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "kind": row["kind"],
        "subject": row["subject"],
        "place": row["place"],
        "thread": row["thread_id"],
        "created_at": row["created_at"].isoformat(),
        "due_at": row["due_at"].isoformat(),
        "parked_at": row["parked_at"].isoformat() if row["parked_at"] else None,
        "attempts": row["attempts"],
        "error": row["error"],
    }
