"""What somebody wrote in Slack, as the plain message that a graph's intake is given.

Slack sends text escaped (`&amp; &lt; &gt;`, once) and with its own marks for links and mentions.
Both are undone here, exactly once, so that a graph reads what the person saw.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from bot.values import unescape
from checkpoints.text import clean
from graphs.threads import FileRef, Message

MAX_FILES: Final = 20
_MARK = re.compile(r"<([^<>|]+)(?:\|([^<>]*))?>")


def message_of(event: Mapping[str, Any], bot_user: str) -> Message:
    """The message of an event or a command."""
    files = [
        _file(file)
        for file in event.get("files") or []
        if isinstance(file, dict) and file.get("id") and file.get("mode") != "tombstone"
    ]
    return Message(
        text=plain_text(str(event.get("text") or ""), bot_user),
        sender=str(event.get("user") or ""),
        files=tuple(files[:MAX_FILES]),
    )


def plain_text(text: str, bot_user: str) -> str:
    """Slack's text without its marks; a mention of the bot itself is dropped."""

    def unmarked(found: re.Match[str]) -> str:
        target, label = found[1], found[2]
        if target == f"@{bot_user}":
            return ""
        if target.startswith(("@", "#", "!")):
            name = label or target[1:]
            return name if name[:1] in "@#" else f"{target[0].replace('!', '@')}{name}"
        return label or target.removeprefix("mailto:")

    text = _MARK.sub(unmarked, text)
    return clean(unescape(text)).strip()


def _file(file: Mapping[str, Any]) -> FileRef:
    size = file.get("size")
    return FileRef(
        id=clean(str(file["id"])),
        name=clean(str(file.get("name") or file.get("title") or "file")),
        size=size if isinstance(size, int) and size >= 0 else 0,
        url=clean(str(file.get("url_private_download") or file.get("url_private") or "")),
        media_type=clean(str(file.get("mimetype") or "")),
    )
