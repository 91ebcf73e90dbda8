"""Posts that are files: the evidence that is too long for a card, and the record somebody wants.

A file is sent like every other post, by its row, and is shared once:

1. Its bytes are uploaded, and the id that Slack gave them is kept in the row. Nobody sees anything
   yet. A crash before the row knows the id leaves bytes that Slack throws away; the first id that
   is kept stays, so that two posters share one file and not two.
2. `tried_at` is committed, then the file of that id is completed into its place.
3. Whoever finds a file that was tried asks Slack for that id. Where it is shared, it is done. Where
   it is not, the same id is completed again: Slack completes a file once, so this cannot share it
   twice. Only where Slack knows nothing of the id are the bytes sent anew.

The whole file is written from the rows at the moment it is uploaded, and is never changed.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable
from typing import Any, Final, Protocol

import structlog

from bot import posts
from bot.errors import Outcome, SlackFailed
from bot.places import Places
from bot.posts import Post
from bot.uploads import GONE, Upload, Uploads
from checkpoints.database import Connection, Database
from checkpoints.failpoints import reached

log = structlog.get_logger("sayso.filing")

_LOOKS: Final = 3  # for a share that Slack has not made yet


class Write(Protocol):
    """Writes a file from the rows as they are; None where it is not wanted any more."""

    def __call__(self, connection: Connection, post: Post) -> Awaitable[Upload | None]: ...


class Filing:
    """Uploads and shares the files that are posts."""

    def __init__(
        self,
        database: Database,
        uploads: Uploads,
        places: Places,
        write: Write,
        *,
        call_seconds: float,
        youngest: float,
        look_seconds: float,
    ) -> None:
        self._database = database
        self._uploads = uploads
        self._places = places
        self._write = write
        self._call_seconds = call_seconds
        self._youngest = youngest
        self._look_seconds = look_seconds

    async def send(self, post: Post, begun: float) -> bool:
        """Take the file one step further; True when it was shared."""
        if post.ts is not None:
            await posts.showed(self._database, post, None, None, None)
            return False
        kept = post.body or {}
        if posts.IN_SLACK not in kept:
            await self._upload(post)
            return False
        channel = post.channel or await self._places.channel(post.place)
        file = str(kept[posts.IN_SLACK])
        if post.tried_at is not None and await self._is_settled(post, file, channel):
            return False
        return await self._share(post, file, channel, begun)

    async def _upload(self, post: Post) -> None:
        async with self._database.connection() as connection:
            upload = await self._write(connection, post)
        if upload is None:
            await posts.showed(self._database, post, None, None, None)
            return
        file = await self._uploads.put(upload)
        reached("file.uploaded")
        await posts.uploaded(
            self._database, post, file=file, title=upload.title, comment=upload.comment
        )

    async def _share(self, post: Post, file: str, channel: str, begun: float) -> bool:
        kept: dict[str, Any] = dict(post.body or {})
        upload = Upload("", str(kept[posts.TITLE]), b"", str(kept[posts.COMMENT]))
        root = await self._places.root(post)
        await self._database.execute(posts.SQL.trying, post.id, 0.0)
        if time.monotonic() - begun > self._youngest:
            tried = post.tried_at is not None
            await posts.later(self._database, post, "claim too old", 0.0, keep_tried=tried)
            return False
        reached("post.before_send")
        try:
            ts = await self._uploads.complete(
                file, upload, channel=channel, root=root, timeout=self._call_seconds
            )
        except SlackFailed as error:
            if error.error in GONE:
                log.info("an upload is gone and is sent anew", post=str(post.id))
                await posts.upload_again(self._database, post)
                return False
            if post.tried_at is None or error.outcome is not Outcome.OURS:
                raise
            # It was tried before, and Slack does not complete a file twice.
            log.info("a file is taken as shared", post=str(post.id), error=error.error)
            ts = None
        reached("post.sent")
        await posts.showed(self._database, post, None, channel, ts or file)
        log.info("shared", post=str(post.id), subject=post.subject, channel=channel)
        return True

    async def _is_settled(self, post: Post, file: str, channel: str) -> bool:
        """Whether an earlier try has shared it, or Slack may need a moment to say so."""
        found = await self._uploads.look(file)
        if found is None:
            return False
        ts = next((ts for where, ts in found.shares if where == channel), None)
        if ts is not None:
            await posts.showed(self._database, post, None, channel, ts)
            return True
        if post.attempts >= _LOOKS:
            return False
        await self._database.execute(
            posts.SQL.unknown, post.id, "not shared yet", self._look_seconds, 0.0
        )
        return True
