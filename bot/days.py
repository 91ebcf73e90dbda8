"""A day as people write it: "Friday", "tomorrow", "12 Dec", "2026-12-05". Pure.

What could be read in two ways is not guessed at, and what names no whole day is no day.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from dateutil import parser

from graphs.calendars import instant, wall_of

LONGEST: Final = 40  # characters
MOST_DAYS: Final = 366
_MIDNIGHT: Final = wall_of("00:00")
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class NoDay(Exception):
    """The text names no day: `why` is "no_day", "two_ways", "past" or "too_long"."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


def day_of(text: str, today: date) -> date:
    """The day that a text names, from today on and within a year.

    Without a year it is the next one of that name, today included.

    Raises:
        NoDay
    """
    said = " ".join(text.casefold().strip(" .,;").split())
    if not said or len(said) > LONGEST:
        raise NoDay("no_day")
    if said in ("today", "tonight"):
        return today
    if said == "tomorrow":
        return today + timedelta(days=1)
    named = [at for at, name in enumerate(_WEEKDAYS) if said in (name, name[:3])]
    if named:
        return today + timedelta(days=(named[0] - today.weekday()) % 7)
    return checked(_iso(said) or _written(said, today), today)


def checked(day: date, today: date) -> date:
    """The day itself, where it is not over and not more than a year away.

    Raises:
        NoDay
    """
    if day < today:
        raise NoDay("past")
    if day > today + timedelta(days=MOST_DAYS):
        raise NoDay("too_long")
    return day


def end_of(day: date, zone: ZoneInfo) -> datetime:
    """The instant at which the day is over there."""
    return instant(day + timedelta(days=1), _MIDNIGHT, zone)


def _iso(said: str) -> date | None:
    try:
        return date.fromisoformat(said)
    except ValueError:
        return None


def _written(said: str, today: date) -> date:
    """A day with its month, whichever way round; the next one where no year is named.

    Two readings of each are compared: what differs by the day that fills the gaps was not said,
    and what differs by the order of day and month was said in two ways.
    """
    firsts = [_read(said, datetime(2024, month, 1, 0, 0)) for month in (1, 3)]
    later = _read(said, datetime(2028, 5, 31, 17, 43, 21))
    if any((one.month, one.day) != (later.month, later.day) for one in firsts):
        raise NoDay("no_day")
    if firsts[0].time() != _MIDNIGHT or (later.hour, later.minute, later.second) != (17, 43, 21):
        raise NoDay("no_day")  # a time of day
    other = _read(said, datetime(2024, 1, 1), day_first=True)
    if (other.month, other.day) != (later.month, later.day):
        raise NoDay("two_ways")
    if firsts[0].year == later.year:
        return later.date()
    for year in range(today.year, today.year + 9):  # 29 Feb comes round in eight at most
        try:
            found = date(year, later.month, later.day)
        except ValueError:
            continue
        if found >= today:
            return found
    raise NoDay("no_day")


def _read(said: str, gaps: datetime, *, day_first: bool = False) -> datetime:
    try:
        return parser.parse(said, default=gaps, dayfirst=day_first, ignoretz=True)
    except (ValueError, OverflowError, TypeError, AttributeError, ArithmeticError) as error:
        raise NoDay("no_day") from error
