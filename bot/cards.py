"""The approval card: one frozen value, rendered whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.views import CardView, Decides, Person, Ref, Status, UserGroup, Vote, Words

__all__ = [
    "CardView",
    "Decides",
    "Payload",
    "Person",
    "Ref",
    "Status",
    "UserGroup",
    "Vote",
    "Words",
    "render",
]


@dataclass(frozen=True)
class Payload:
    """One message: `text` for phones and screen readers, `blocks` for everybody else."""

    text: str
    blocks: list[dict[str, Any]]


def render(view: CardView) -> Payload:
    """The whole card of the view; always within every limit of Slack."""
    raise NotImplementedError
