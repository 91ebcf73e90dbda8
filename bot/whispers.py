"""Words for one person only: a refusal, a result, a question that was not understood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog

from bot import limits
from bot.cards import Payload
from bot.errors import SlackFailed
from bot.house import House

log = structlog.get_logger("sayso.whispers")


def whisper(
    house: House, payload: Payload, *, user: str, channel: str | None, root: str | None = None
) -> None:
    """Tell the person, after the answer to Slack; in the channel, else by direct message."""
    house.afterwards.start(_whisper(house, payload, user, channel, root), f"whisper to {user}")


async def _whisper(
    house: House, payload: Payload, user: str, channel: str | None, root: str | None
) -> None:
    limits.check_message(payload.text, payload.blocks)
    message: dict[str, Any] = {"text": payload.text, "blocks": payload.blocks, "parse": "none"}
    if channel is not None:
        try:
            await house.slack.call(
                "chat.postEphemeral", channel=channel, user=user, thread_ts=root, **message
            )
            return
        except SlackFailed as error:
            # Where the app is no member it cannot whisper; the person still has to be told.
            log.info("cannot whisper here", channel=channel, error=error.error)
    opened = await house.slack.call("conversations.open", users=user)
    await house.slack.call("chat.postMessage", channel=opened["channel"]["id"], **message)


def place_of(body: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The channel and the conversation in which something was pressed."""
    container = body.get("container") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id")
    root = (body.get("message") or {}).get("thread_ts") or container.get("thread_ts")
    return channel, root
