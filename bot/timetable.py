"""When a person is sent what is wanted by the clock, and whether they are.

A timer fires once and wants a post for each person; what is a person's own is looked at here, right
before a post is sent for the first time, while the lane of their direct messages is claimed: there
is one poster for a person, so nothing in here is done twice.

1. **Their hour.** A reminder for "09:30" waits for the reader's own 09:30.
2. **Their night.** Nothing is sent then; it comes in the morning.
3. **Their day.** Of several reminders of one review, whichever items they are about, a person gets
   the first of their day; the others are dropped.
4. **Their list.** Above `SINGLY` that wait for them they get one digest that day, and no reminder
   beside it. A day has one digest, because the day is the digest's subject.

What was dropped says so in its row, for `sayso policy explain`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, time
from typing import Any, Final
from zoneinfo import ZoneInfo

from bot import posts
from bot.posts import Post
from bot.ticking import shown_time
from checkpoints.database import Connection, Database, queries
from graphs import deadlines, timers
from graphs.calendars import Hours, wall_of, zone_of
from graphs.specs import Rule
from graphs.timers import EVERY_DAY, Timer

SQL = queries(__file__)

Zone = Callable[[str], Awaitable[str | None]]
Clock = Callable[[], Awaitable[datetime]]
Waits = Callable[[str], Awaitable[int]]
"""How many requests wait for a person, up to a few more than matter."""

SINGLY: Final = 5
AWAKE: Final = (time(8), time(20))
TIMED: Final = frozenset({posts.REMINDER, posts.ESCALATION, posts.DIGEST})

# In a reminder's body: the reader's hour, from when on it counts, and on which days.
AT: Final = "at"
SINCE: Final = "since"
DAYS: Final = "days"
COUNTRY: Final = "holidays"
ZONE: Final = "zone"

ONE_A_DAY: Final = "had one that day"
IN_DIGEST: Final = "in the digest of that day"

# People travel, and an unknown zone may be known later: so long a post sleeps at most.
_LOOK_AGAIN_SECONDS: Final = 6 * 3600.0
_UNKNOWN_AGAIN_SECONDS: Final = 600.0
_MOVABLE_AGAIN_SECONDS: Final = 2.0


async def now() -> datetime:
    """What time it is."""
    return datetime.now(UTC)


def clock_of(url: str) -> Clock:
    """The time of the clock that one can move from the page, where there is one."""

    async def shown() -> datetime:
        return await shown_time(url) or await now()

    return shown if url else now


def hour_of(rule: Rule, timer: Timer) -> dict[str, object] | None:
    """What the post of a reminder keeps of the hour it is for; None where it is for none."""
    if timer.wall is None:
        return None
    kept: dict[str, object] = {AT: timer.wall, SINCE: timer.due_at.isoformat()}
    if rule.hours is not None:
        kept |= {DAYS: rule.hours.days, COUNTRY: rule.hours.holidays, ZONE: rule.hours.zone}
    return kept


class Timetable:
    """Lets posts wait for their reader's hour, and drops what is too much."""

    def __init__(
        self,
        database: Database,
        *,
        zone: Zone,
        waits: Waits,
        clock: Clock = now,
    ) -> None:
        self._database = database
        self._zone = zone
        self._waits = waits
        self._clock = clock

    async def lets_wait(self, post: Post) -> bool:
        """Whether a post is not sent yet; why, and when to look again, is written down."""
        if post.kind not in TIMED or post.ts is not None or post.tried_at is not None:
            return False
        body = post.body or {}
        at, known = await self._clock(), await self._zone_of(post.place)
        if known is not None or AT in body:
            zone = known or _zone(str(body.get(ZONE, "UTC"))) or ZoneInfo("UTC")
            hour = _hour(body, zone) if AT in body else at
            if hour > at:
                await self._wait(post, "not yet the hour there", hour - at, known)
                return True
        if known is not None:
            morning = Hours(known, frozenset(range(7)), *AWAKE).next_open(at)
            if morning > at:
                await self._wait(post, "night there", morning - at, known)
                return True
        return False

    async def drops(self, post: Post) -> bool:
        """Whether a reminder that has something to say is one too many of its reader's day."""
        if post.kind != posts.REMINDER or post.ts is not None or post.tried_at is not None:
            return False
        zone = await self._zone_of(post.place) or UTC
        day = (await self._clock()).astimezone(zone).date().isoformat()
        review_id = int(post.subject.partition(".")[0])
        subjects = await subjects_of(self._database, review_id)
        digest = await self._database.fetchval(SQL.has_digest, day, post.place)
        much = bool(digest) or await self._waits(post.place) > SINGLY
        async with self._database.transaction() as connection:
            if much:
                await posts.want_once(connection, posts.DIGEST, day, post.place, body={})
                await self._drop(connection, post, IN_DIGEST)
            elif await connection.fetchval(SQL.reminded, subjects, post.place, post.id, day):
                await self._drop(connection, post, ONE_A_DAY)
            else:
                await connection.execute(SQL.on_day, post.id, day)
                return False
        return True

    async def _drop(self, connection: Connection | Database, post: Post, why: str) -> None:
        await connection.execute(SQL.drop, post.id, why)

    async def _wait(self, post: Post, why: str, wait: Any, zone: ZoneInfo | None) -> None:
        most = _LOOK_AGAIN_SECONDS if zone is not None else _UNKNOWN_AGAIN_SECONDS
        if self._clock is not now:
            most = _MOVABLE_AGAIN_SECONDS
        await posts.later(self._database, post, why, min(wait.total_seconds(), most))

    async def _zone_of(self, place: str) -> ZoneInfo | None:
        found = await self._zone(place)
        return _zone(found) if found is not None else None


async def subjects_of(connection: Connection | Database, review_id: int) -> list[str]:
    """The subjects of all reminders of a review."""
    found = await deadlines.all_of_review(connection, review_id)
    return [
        f"{review_id}.{item}.{timer.turn}"
        for item, its in found.items()
        for timer in its
        if timer.kind == "remind"
    ]


def _hour(body: Mapping[str, Any], zone: ZoneInfo) -> datetime:
    since = datetime.fromisoformat(body[SINCE])
    days = body.get(DAYS) or EVERY_DAY
    return timers.own_time(wall_of(body[AT]), since, zone, days, body.get(COUNTRY))


def _zone(name: str) -> ZoneInfo | None:
    try:
        return zone_of(name)
    except ValueError:  # a zone that this machine does not know
        return None
