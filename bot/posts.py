"""What Slack should show: the rows behind every message of ours.

A row says what is wanted (a counter that grows at every change of what it stands for) and what
is shown (the counter as it was when the shown state was rendered). No text is kept: the poster
renders the whole message from the rows at the moment it sends. Rows are wanted inside the
transaction that changes the state, so a state that is committed is never without its wish.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from checkpoints.database import Connection, Database, Row, queries

SQL = queries(__file__)

CHANNEL: Final = "sayso_posts"
PROGRESS_SECONDS: Final = 3.0

CARD: Final = "card"  # subject: a review
PROGRESS: Final = "progress"  # subject: a thread
ASK: Final = "ask"  # subject: a review whose audience is the requester
QUESTION: Final = "question"  # subject: an exchange, what a reviewer asks the requester
ANSWERED: Final = "answered"  # subject: an exchange that has its answer, for whoever asked
TAKEN: Final = "taken"  # subject: a taking, and from whom, see graphs.ports
OUTCOME: Final = "outcome"  # subject: a thread
KEPT: Final = "kept"  # subject: the message that was kept
COVER: Final = "cover"  # subject: an absence, for whoever covers
HANDED: Final = "handed"  # subject: a hand-over, for whoever decides now
LAPSED: Final = "lapsed"  # subject: a vote that an edit took away, see graphs.ports
REMINDER: Final = "reminder"  # subject: a timer, see graphs.ports; one for each person
ESCALATION: Final = "escalation"  # subject: an item whose rule lets more people decide now
DIGEST: Final = "digest"  # subject: a day of the reader's, "2026-12-01"; all that waits for them
NOTICE: Final = "notice"  # subject: what the operators have to know
FILE: Final = "file"  # subject: a review and its revision, or a record and who asked for it
OFFER: Final = "offer"  # subject: a draft, and what its person can ask for
PICTURE: Final = "picture"  # subject: a thread and the head it is drawn for; nobody is sent it

# In a post's body: whoever reads this channel is shown the subject there, and not once more.
UNLESS_IN: Final = "unless_in"

# In a post's body: who is not shown it, whoever else the place stands for.
NOT_TO: Final = "not_to"

# In a card's body: since when it does not stand here any more, but at other places.
LEFT: Final = "left"

# In a file's body: the message it stands under, its id in Slack, and what it came to there.
UNDER: Final = "under"
IN_SLACK: Final = "file"
TITLE: Final = "title"
COMMENT: Final = "comment"

# In an outcome's body: the failure it told of, and that the thread has gone on since.
FAILED: Final = "failed"


@dataclass(frozen=True)
class Post:
    """One row: what it is about, where it stands, and what Slack has of it."""

    id: UUID
    kind: str
    subject: str
    place: str
    thread_id: str | None
    body: Mapping[str, Any] | None
    wanted: int
    shown: int
    digest: str | None
    channel: str | None
    ts: str | None
    tried_at: datetime | None
    unsure: bool
    attempts: int
    parked_at: datetime | None
    created_at: datetime


@dataclass(frozen=True)
class Shown:
    """Where something is shown in Slack."""

    place: str
    channel: str | None
    ts: str | None


async def want(
    connection: Connection,
    kind: str,
    subject: str,
    place: str,
    *,
    thread_id: str | None = None,
    body: Mapping[str, Any] | None = None,
) -> None:
    """Want the subject shown at the place, or shown anew.

    ``place`` is a channel, a person (their direct messages), or what stands for some: a user group
    (each member's), an address, "role:NAME", "manager:U…" (of whom).
    ``thread_id`` puts the message into that thread's conversation.
    """
    await connection.execute(SQL.lane, place)
    await connection.execute(
        SQL.want, kind, subject, place, thread_id, dict(body) if body else None, _pace(kind)
    )
    await connection.execute(SQL.hint, place)


async def want_once(
    connection: Connection, kind: str, subject: str, place: str, *, body: Mapping[str, Any]
) -> None:
    """Want the subject shown at a place where it never was wanted."""
    await connection.execute(SQL.lane, place)
    await connection.execute(SQL.want_once, kind, subject, place, dict(body))
    await connection.execute(SQL.hint, place)


async def enclose(connection: Connection, subject: str, place: str, *, under: str) -> None:
    """Want a file under a message of the place, once."""
    await connection.execute(SQL.enclose, subject, place, {UNDER: under})
    await connection.execute(SQL.hint, place)


async def again(connection: Connection, kind: str, subject: str) -> bool:
    """Want whatever is shown of the subject shown anew; False when nothing was ever wanted."""
    places = await connection.fetch(SQL.again, kind, subject, _pace(kind))
    if places:
        await connection.execute(SQL.hint, places[0]["place"])
    return bool(places)


async def leave(connection: Connection, kind: str, subject: str) -> None:
    """Let the subject leave every place where it is; where it is wanted from now on, it stays."""
    await connection.execute(SQL.leave, kind, subject)


async def left_again(connection: Connection, kind: str, subject: str) -> None:
    """Want it shown anew where the subject left: there it can lead to where it stands now."""
    await connection.execute(SQL.left_again, kind, subject)


async def overtake(connection: Connection, thread_id: str, *, stands: str) -> None:
    """Want the outcomes of a thread that offered something shown anew, but for the one it has."""
    places = await connection.fetch(SQL.overtake, thread_id, stands)
    if places:
        await connection.execute(SQL.hint, places[0]["place"])


async def stands_again(connection: Connection, subject: str) -> None:
    """Note that an outcome is the one its thread has, so that it can be overtaken later."""
    await connection.execute(SQL.stands_again, subject)


async def unpark(connection: Connection, place: str) -> None:
    """Try what could not be shown at the place again now."""
    await connection.execute(SQL.unpark, place)
    await connection.execute(SQL.hint, place)


async def move(connection: Connection, old: str, new: str) -> None:
    """Follow a channel to its new id."""
    await connection.execute(SQL.lane, new)
    await connection.execute(SQL.move, old, new)


async def showed(
    database: Connection | Database,
    post: Post,
    digest: str | None,
    channel: str | None,
    ts: str | None,
) -> None:
    """Write down that Slack shows the post as it was wanted when it was rendered."""
    await database.execute(SQL.showed, post.id, post.wanted, digest, channel, ts)


async def uploaded(database: Database, post: Post, *, file: str, title: str, comment: str) -> None:
    """Keep the id of the bytes that Slack has; where one is kept already, that one stays."""
    kept = {IN_SLACK: file, TITLE: title, COMMENT: comment}
    await database.execute(SQL.uploaded, post.id, kept, IN_SLACK)


async def upload_again(database: Database, post: Post) -> None:
    """Forget the id of bytes that Slack does not have any more."""
    await database.execute(SQL.upload_again, post.id, [IN_SLACK, TITLE, COMMENT])


async def later(
    database: Connection | Database,
    post: Post,
    why: str,
    seconds: float,
    *,
    keep_tried: bool = False,
) -> None:
    """Write down that nothing was sent, and when to try again."""
    await database.execute(SQL.later, post.id, why, seconds, keep_tried)


async def shown_at(connection: Connection | Database, kind: str, subject: str) -> list[Shown]:
    """Where the subject is shown, oldest first, but for places that it left."""
    rows = await connection.fetch(SQL.of_subject, kind, subject)
    return [Shown(row["place"], row["channel"], row["ts"]) for row in rows]


def post(row: Row) -> Post:
    """The row as a value."""
    return Post(**{name: row[name] for name in Post.__dataclass_fields__})


def _pace(kind: str) -> float:
    return PROGRESS_SECONDS if kind == PROGRESS else 0.0
