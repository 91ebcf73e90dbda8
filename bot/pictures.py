"""Pictures of threads: the graph with the path that was walked, as a file that windows may show.

A picture is a post that nobody is sent: its subject is the thread and the checkpoint it is drawn
for, what comes of it is the id of a file that belongs to the app alone. So it is drawn once, by a
worker, which has the graph; the row is what the next look finds at once. Where no picture can be
made the row says so, and a window goes without.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from bot import posts
from bot.posts import Post
from bot.uploads import Upload, Uploads
from checkpoints.database import Connection, Database
from graphs import drawing, steps, threads
from graphs.registry import Registry
from graphs.threads import Status

log = structlog.get_logger("sayso.pictures")

PLACE: Final = "pictures"
MOST_BYTES: Final = 5_000_000
_LOOKS: Final = 8
_LOOK_SECONDS: Final = 0.5

Draw = Callable[[str], Awaitable[bytes | None]]
"""The picture of a thread as it is now, PNG; None where there is none."""


def subject(thread_id: str, head: str | None) -> str:
    """Names the picture of a thread at a checkpoint."""
    return f"{thread_id}:{head or ''}"


async def want(connection: Connection, thread_id: str, head: str | None) -> None:
    """Want the picture drawn, once for each checkpoint."""
    if await find(connection, thread_id, head) is None:
        body = {"thread": thread_id}
        await posts.want(connection, posts.PICTURE, subject(thread_id, head), PLACE, body=body)


async def find(connection: Connection | Database, thread_id: str, head: str | None) -> str | None:
    """The id of the picture's file, "" where there is none; None where it was not drawn yet."""
    row = await connection.fetchrow(posts.SQL.picture, subject(thread_id, head))
    if row is None or (row["ts"] is None and row["shown"] < row["wanted"] and not row["error"]):
        return None
    return str(row["ts"] or "")


async def forget(connection: Connection | Database, thread_id: str, head: str | None) -> None:
    """Forget a picture that Slack does not show any more."""
    await connection.execute(posts.SQL.forget_picture, subject(thread_id, head))


def drawer(database: Database, registry: Registry) -> Draw:
    """Draws threads of the graphs that are loaded here, with the path that was walked."""

    async def draw(thread_id: str) -> bytes | None:
        thread = await threads.get(database, thread_id)
        loaded = registry.loaded.get(thread.graph)
        if loaded is None:
            return None
        taken = await steps.of_thread(database, thread_id)
        walked = [step.node for step in taken if step.status == "done"]
        if thread.status is Status.DONE:
            walked.append("__end__")
        waits = [step.node for step in taken if step.status in {"waiting", "failed", "running"}]
        named = (*loaded.graph.nodes, *walked, *waits)
        labels = {node: loaded.spec.label(node) for node in named}
        made = await drawing.draw(
            loaded.graph, walked, list(dict.fromkeys(waits or thread.next)), labels=labels
        )
        if made.png is None:
            log.info("no picture", thread=thread_id, why=made.reason)
        return made.png

    return draw


class Pictures:
    """Draws what is wanted and hands it to Slack."""

    def __init__(self, database: Database, uploads: Uploads, draw: Draw) -> None:
        self._database = database
        self._uploads = uploads
        self._draw = draw

    async def send(self, post: Post) -> bool:
        """Draw one picture; False, for nobody sees it."""
        drawn = None
        if post.ts is None:
            drawn = await self._draw(str((post.body or {}).get("thread", "")))
        if drawn is None or len(drawn) > MOST_BYTES:
            await posts.showed(self._database, post, None, None, post.ts)
            return False
        upload = Upload("path.png", "The path so far", drawn)
        file = await self._uploads.put(upload)
        await self._uploads.complete(file, upload, timeout=10.0)
        for _ in range(_LOOKS):
            found = await self._uploads.look(file)
            if found is not None and found.ready:
                break
            await asyncio.sleep(_LOOK_SECONDS)
        await posts.showed(self._database, post, None, None, file)
        log.info("drawn", subject=post.subject, bytes=len(drawn))
        return False
