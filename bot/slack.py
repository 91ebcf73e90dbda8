"""The one door to Slack's Web API: a call succeeds, or says what to do about it.

`slack_sdk` builds and sends the request; what is kept here is what its callers must never get
wrong: no retries behind our back (a retried post is a second card), one shared session, a
timeout on every call, and every failure as `SlackFailed` with an outcome. An answer that never
came is `SlackUnknown`: it may have been done.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import SlackFailed, SlackUnknown

CALL_SECONDS: Final = 10.0
_RETRY_AFTER_SECONDS: Final = 30.0
_SERVER_ERROR: Final = 500
_TOO_MANY: Final = 429
_FILE_HOSTS: Final = ("slack.com", "slack-files.com", "slack-edge.com")


class Slack:
    """Calls the Web API with the bot's token."""

    def __init__(self, client: AsyncWebClient, session: aiohttp.ClientSession) -> None:
        self.client = client
        self.session = session
        # What the token may do, as Slack's last answer said; empty before the first.
        self.scopes: frozenset[str] = frozenset()

    @classmethod
    @asynccontextmanager
    async def open(cls, token: str, *, api_url: str | None = None) -> AsyncIterator[Slack]:
        """Open the shared session, close it at the end."""
        timeout = aiohttp.ClientTimeout(total=60, connect=5)
        async with aiohttp.ClientSession(timeout=timeout, trust_env=True) as session:
            quiet = logging.getLogger("sayso.slack")
            client = AsyncWebClient(
                token=token,
                base_url=(api_url or AsyncWebClient.BASE_URL).rstrip("/") + "/",
                session=session,
                retry_handlers=[],
                logger=quiet,
            )
            yield cls(client, session)

    @property
    def api_url(self) -> str:
        """Where the Web API is, with a slash at its end."""
        return self.client.base_url

    @property
    def token(self) -> str:
        """The bot's token."""
        return self.client.token or ""

    @property
    def token_digest(self) -> str:
        """Tells tokens apart without showing them."""
        return hashlib.sha256(self.token.encode()).hexdigest()[:32]

    def keeps(self, address: str) -> bool:
        """Whether the address is one of Slack's own, or of the Web API that was configured.

        Raises:
            ValueError: it is no address.
        """
        asked, api = urlsplit(address), urlsplit(self.api_url)
        if (asked.scheme, asked.netloc) == (api.scheme, api.netloc):
            return True
        host = asked.hostname or ""
        return (
            asked.scheme == "https"
            and asked.port in {None, 443}
            and any(host == known or host.endswith(f".{known}") for known in _FILE_HOSTS)
        )

    async def call(
        self, method: str, *, timeout: float = CALL_SECONDS, **arguments: Any
    ) -> dict[str, Any]:
        """Call a method by Slack's name for it and return the answer.

        Raises:
            SlackFailed: Slack said no; nothing was done.
            SlackUnknown: no usable answer; it may have been done.
        """
        bound = getattr(self.client, method.replace(".", "_"))
        try:
            async with asyncio.timeout(timeout):
                answer = await bound(**arguments)
        except SlackApiError as error:
            raise _failure(method, error) from None
        except (
            aiohttp.ClientConnectorError,
            aiohttp.ClientConnectorDNSError,
        ) as error:
            # The connection was never made, so nothing was sent.
            raise SlackFailed(method, "service_unavailable") from error
        except (TimeoutError, aiohttp.ClientError, json.JSONDecodeError, OSError) as error:
            raise SlackUnknown(method, type(error).__name__) from error
        named = str((answer.headers or {}).get("X-OAuth-Scopes") or "")
        if named:
            self.scopes = frozenset(scope.strip() for scope in named.split(","))
        data = answer.data
        return data if isinstance(data, dict) else {}


def _failure(method: str, error: SlackApiError) -> SlackFailed:
    response = error.response
    status = int(getattr(response, "status_code", getattr(response, "status", 0)) or 0)
    data = getattr(response, "data", None)
    name = str(data.get("error") or "") if isinstance(data, dict) else ""
    if status == _TOO_MANY or name in {"ratelimited", "rate_limited"}:
        headers = getattr(response, "headers", None) or {}
        return SlackFailed(method, "ratelimited", retry_after=_seconds(headers.get("Retry-After")))
    if status >= _SERVER_ERROR or not name:
        return SlackUnknown(method, name or f"http_{status}")
    failed = SlackFailed(method, name)
    return SlackUnknown(method, name) if failed.outcome.value == "unknown" else failed


def _seconds(header: Any) -> float:
    try:
        return max(0.0, min(float(header), 3600.0))
    except (TypeError, ValueError):
        return _RETRY_AFTER_SECONDS
