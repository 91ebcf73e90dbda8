"""The bytes of a file that Slack named, fetched with the bot's token from Slack's own hosts only.

An event says where a file is, and whoever can forge or influence that must not be sent our token
or make us read an address inside the network: the host has to be Slack's, or the host of the Web
API that was configured. The size is looked at in the event and again while reading.
"""

from __future__ import annotations

import asyncio
from typing import Final

import aiohttp
import structlog

from bot.slack import Slack
from graphs.errors import FileRefused
from graphs.threads import FileRef

MAX_FILE_BYTES: Final = 10 * 1024 * 1024
FETCH_SECONDS: Final = 60
_PIECE: Final = 64 * 1024
_REDIRECTS: Final = 3
_PAUSES_SECONDS: Final = (1.0, 3.0, 0.0)
log = structlog.get_logger("sayso.files")


class SlackFiles:
    """The fetch port of graphs/: a `FileRef` in, its bytes out."""

    def __init__(self, slack: Slack) -> None:
        self._slack = slack

    async def __call__(self, file: FileRef) -> bytes:
        """Read the file.

        Raises:
            FileRefused: with a clause for the person who sent it.
        """
        if file.size > MAX_FILE_BYTES:
            raise FileRefused(too_large())
        for pause in _PAUSES_SECONDS:
            try:
                return await self._follow(file)
            except (aiohttp.ClientError, TimeoutError) as error:
                log.warning("a file did not come", file=file.id, why=type(error).__name__)
                await asyncio.sleep(pause)
        raise FileRefused("Slack did not send it")

    async def _follow(self, file: FileRef) -> bytes:
        url = file.url
        for _ in range(_REDIRECTS):
            answer = await self._read(url, page="html" in file.media_type)
            if isinstance(answer, bytes):
                return answer
            url = answer
        raise FileRefused("Slack sends it from somewhere else")

    async def _read(self, url: str, *, page: bool) -> bytes | str:
        """The bytes, or where they are instead; ``page``: the file itself is a web page."""
        try:
            if not self._slack.keeps(url):
                raise FileRefused("it is not kept by Slack")
            async with self._slack.session.get(
                url,
                headers={"Authorization": f"Bearer {self._slack.token}"},
                # A redirect is followed by us, so that each address is looked at.
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=FETCH_SECONDS),
            ) as response:
                if response.status in {301, 302, 303, 307, 308}:
                    return response.headers.get("Location", "")
                if response.status in {401, 403}:
                    raise FileRefused("Slack does not let us read it")
                if response.status in {404, 410}:
                    raise FileRefused("it is not in Slack any more")
                # Anything else may be better in a moment.
                response.raise_for_status()
                if response.content_type == "text/html" and not page:
                    # What Slack answers, with 200, to a token that lacks files:read.
                    raise FileRefused("Slack does not let us read it")
                return await _capped(response)
        except ValueError:
            raise FileRefused("its address cannot be read") from None


def too_large() -> str:
    """The clause for a file above the limit."""
    return f"it is larger than {MAX_FILE_BYTES // (1024 * 1024)} MB"


async def _capped(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_chunked(_PIECE):
        body += piece
        if len(body) > MAX_FILE_BYTES:
            raise FileRefused(too_large())
    return bytes(body)
