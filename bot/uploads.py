"""Files on their way to Slack, in the three steps that Slack wants, and where they were shared.

1. `put` asks for an address and sends the bytes there. Nobody sees anything yet, and Slack drops
   what is not completed. The address is Slack's word, so its host is looked at, and it gets no
   token: it is its own permission.
2. `complete` makes the file one, shared in a channel under a message, or with nobody.
3. `look` says what came of it.

Slack completes a file once. So the file's id is what makes sharing safe to repeat: after an answer
that never came the same id is looked for and completed again, and one file is never shared twice.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import aiohttp

from bot.errors import SlackFailed, SlackUnknown
from bot.slack import Slack

UPLOAD_SECONDS: Final = 60.0
SEND: Final = "files.upload"  # the step that is no method of the Web API
GONE: Final = frozenset({"file_not_found", "file_deleted"})


@dataclass(frozen=True)
class Upload:
    """A file of ours: what it is called, its bytes, and one sentence that comes with it."""

    name: str
    title: str
    body: bytes
    comment: str = ""  # mrkdwn, made safe
    description: str = ""  # of a picture, for those who cannot see it


@dataclass(frozen=True)
class Found:
    """What Slack says of a file: whether it has looked at it, and the messages that share it."""

    ready: bool
    shares: tuple[tuple[str, str], ...] = ()  # channel, ts


class Uploads:
    """Sends files with the bot's token."""

    def __init__(self, slack: Slack) -> None:
        self._slack = slack

    async def put(self, upload: Upload) -> str:
        """Send the bytes and return the file's id; nobody sees it yet.

        Raises:
            SlackFailed: it was not taken.
        """
        answer = await self._slack.call(
            "files.getUploadURLExternal",
            filename=upload.name,
            length=len(upload.body),
            alt_txt=upload.description or None,
        )
        address, file = str(answer.get("upload_url") or ""), str(answer.get("file_id") or "")
        if not file or not self._is_slacks(address):
            raise SlackFailed("files.getUploadURLExternal", "upload_address_not_slacks")
        await self._send(address, upload.body)
        return file

    async def complete(
        self,
        file: str,
        upload: Upload,
        *,
        channel: str | None = None,
        root: str | None = None,
        timeout: float,
    ) -> str | None:
        """Make it a file, shared where that is said; the message's ts where Slack names it.

        Raises:
            SlackFailed: it was not done.
            SlackUnknown: it may have been done.
        """
        answer = await self._slack.call(
            "files.completeUploadExternal",
            timeout=timeout,
            files=[{"id": file, "title": upload.title}],
            channel_id=channel,
            thread_ts=root,
            initial_comment=upload.comment or None,
        )
        files = answer.get("files") or [{}]
        return next((ts for where, ts in _shares(files[0]) if where == channel), None)

    async def look(self, file: str) -> Found | None:
        """What became of the file; None where Slack does not know it.

        Raises:
            SlackFailed: it could not be found out.
        """
        try:
            answer = await self._slack.call("files.info", file=file)
        except SlackFailed as error:
            if error.error in GONE:
                return None
            raise
        info = answer.get("file") or {}
        # Slack looks at a file after it was completed: until then it has no type, and no block
        # may show it.
        return Found(bool(info.get("mimetype")), tuple(_shares(info)))

    def _is_slacks(self, address: str) -> bool:
        try:
            return self._slack.keeps(address)
        except ValueError:
            return False

    async def _send(self, address: str, body: bytes) -> None:
        try:
            async with self._slack.session.post(
                address,
                data=io.BytesIO(body),  # sent in pieces: other requests go on
                headers={"Content-Type": "application/octet-stream"},
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=UPLOAD_SECONDS),
            ) as response:
                status = response.status
        except (aiohttp.ClientError, TimeoutError, OSError, asyncio.IncompleteReadError) as error:
            raise SlackUnknown(SEND, type(error).__name__) from error
        if status >= 500 or status == 429:
            raise SlackUnknown(SEND, f"http_{status}")
        if status != 200:
            raise SlackFailed(SEND, f"upload_refused_{status}")


def _shares(info: dict[str, Any]) -> Iterator[tuple[str, str]]:
    shares = info.get("shares")
    for kind in shares.values() if isinstance(shares, dict) else ():
        for channel, messages in kind.items() if isinstance(kind, dict) else ():
            for message in messages or ():
                yield str(channel), str(message.get("ts") or "")
