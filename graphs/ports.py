"""What graphs/ needs from the house above it: small functions that the composition root hands in.

`graphs/` knows neither Slack nor posts. It says inside its own transactions what should be shown
(`Wish`), and asks for the bytes of a file that the chat named (`Fetch`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeAlias

from checkpoints.database import Connection

if TYPE_CHECKING:
    from graphs.messages import FileRef

CARD: Final = "card"  # id: a review whose audience is the reviewers
MOVED: Final = "moved"  # id: a review that other rules are for now; its card may stand elsewhere
ASK: Final = "ask"  # id: a review whose audience is the requester
PROGRESS: Final = "progress"  # id: a thread
OUTCOME: Final = "outcome"  # id: a thread that ended: done, failed, cancelled
QUESTION: Final = "question"  # id: an exchange, what a reviewer asks the requester
ANSWERED: Final = "answered"  # id: an exchange that has its answer now, for whoever asked
TAKEN: Final = "taken"  # id: "TAKING.PERSON", for the person who looked at the review before
COVER: Final = "cover"  # id: an absence, for the person who covers
HANDED: Final = "handed"  # id: a hand-over, for the person who decides now
LAPSED: Final = "lapsed"  # id: "REVIEW.ITEM.REVISION.VOTER", a vote that does not count any more
REMINDER: Final = "reminder"  # id: "REVIEW.ITEM.TURN", for those who have not voted
ESCALATION: Final = "escalation"  # id: "REVIEW.ITEM", for those who may decide from now on
NOTICE: Final = "notice"  # id: what operators have to know, "thread:ID", "review:ID", "overdue:ID"

Wish: TypeAlias = Callable[[Connection, str, str], Awaitable[None]]
"""`wish(connection, kind, id)`: this should be shown, or shown anew; part of the transaction."""

Fetch: TypeAlias = Callable[["FileRef"], Awaitable[bytes]]
"""`fetch(file)`: the bytes of a file the chat named; raises `graphs.errors.FileRefused`."""


Clock: TypeAlias = Callable[[], Awaitable[datetime | None]]
"""`clock()`: the time by which people are asked; None for the database's own."""


async def no_clock() -> None:
    """Leave the time to the database."""


async def no_wish(connection: Connection, kind: str, subject: str) -> None:
    """Wish for nothing: where nobody shows anything."""


async def no_fetch(file: FileRef) -> bytes:
    """Fetch nothing: where there is no chat that could name a file."""
    from graphs.errors import FileRefused

    raise FileRefused("this process has no access to the files of the chat")
