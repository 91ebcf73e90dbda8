"""Working time: when somebody can be expected to act, across zones, clock changes and holidays.

Everything is computed from local dates: a day's hours are its wall times turned into instants, so
that a day is as long as the clock made it. A wall time that a clock change leaves out is the first
instant after it, one that comes twice is the first of the two. Instants are aware and in UTC.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import holidays

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
LOOK_AHEAD_DAYS: Final = 3_700  # ten years: longer, and nobody ever works there


class NoWorkingTime(ValueError):
    """The hours never open within ten years."""


@dataclass(frozen=True)
class Hours:
    """Working hours: these weekdays (0 is Monday) from one wall time to another, in a zone.

    `closes` at or before `opens` is on the next day. `country` is a code of the `holidays` library
    ("IN", "DE-BY"): its public holidays are free.
    """

    zone: ZoneInfo
    days: frozenset[int] = frozenset(range(5))
    opens: time = time(9)
    closes: time = time(18)
    country: str | None = None

    def is_open(self, at: datetime) -> bool:
        """Whether somebody works at that instant; the end of a day is not in it."""
        return any(begin <= at < end for begin, end in self._around(at))

    def next_open(self, at: datetime) -> datetime:
        """That instant where somebody works then, else when somebody begins to.

        Raises:
            NoWorkingTime
        """
        begin, _ = next(self._spans(at), (None, None))
        if begin is None:
            raise NoWorkingTime
        return max(begin, at.astimezone(UTC))

    def after(self, at: datetime, seconds: float) -> datetime:
        """When that much working time has passed; at the end of a day rather than at the next.

        Raises:
            NoWorkingTime
        """
        left = timedelta(seconds=seconds)
        for begin, end in self._spans(at):
            begin = max(begin, at.astimezone(UTC))
            if end - begin >= left:
                return begin + left
            left -= end - begin
        raise NoWorkingTime

    def next_time(self, at: datetime, wall: time) -> datetime:
        """The first instant after that one at which the clock shows a time, on a working day.

        Raises:
            NoWorkingTime
        """
        day = at.astimezone(self.zone).date() - timedelta(days=1)
        for _ in range(LOOK_AHEAD_DAYS):
            if self._works(day) and (found := instant(day, wall, self.zone)) > at:
                return found
            if day == date.max:
                break
            day += timedelta(days=1)
        raise NoWorkingTime

    def between(self, begin: datetime, end: datetime) -> float:
        """How many seconds of working time lie between two instants; 0 where they do not follow."""
        total = timedelta()
        for opened, closed in self._spans(begin):
            if opened >= end:
                break
            total += max(timedelta(), min(closed, end) - max(opened, begin))
        return total.total_seconds()

    def _around(self, at: datetime) -> Iterator[tuple[datetime, datetime]]:
        day = at.astimezone(self.zone).date()
        for each in (day - timedelta(days=1), day):
            if self._works(each):
                yield self._span(each)

    def _spans(self, at: datetime) -> Iterator[tuple[datetime, datetime]]:
        """The working days from that instant on, each as (begin, end); the first may have begun."""
        day = at.astimezone(self.zone).date() - timedelta(days=1)
        last = datetime.min.replace(tzinfo=UTC)
        for _ in range(LOOK_AHEAD_DAYS):
            if self._works(day):
                begin, end = self._span(day)
                begin = max(begin, last)  # a clock change may let two days meet
                if end > at and end > begin:
                    yield begin, end
                    last = end
            if day == date.max:
                return
            day += timedelta(days=1)

    def _works(self, day: date) -> bool:
        if day.weekday() not in self.days:
            return False
        return self.country is None or day not in _free_days(self.country, day.year)

    def _span(self, day: date) -> tuple[datetime, datetime]:
        next_day = self.closes <= self.opens
        closing = day + timedelta(days=1) if next_day else day
        return instant(day, self.opens, self.zone), instant(closing, self.closes, self.zone)


def instant(day: date, wall: time, zone: ZoneInfo) -> datetime:
    """The instant of a wall time on a day, in UTC."""
    early = datetime.combine(day, wall, tzinfo=zone).astimezone(UTC)
    if early.astimezone(zone).replace(tzinfo=None) == datetime.combine(day, wall):
        return early
    # The clock jumps over it. With the offset of after the jump the same wall time lies before it.
    before = datetime.combine(day, wall, tzinfo=zone).replace(fold=1).astimezone(UTC)
    offset = before.astimezone(zone).utcoffset()
    low, high = int(before.timestamp()), int(early.timestamp())
    while high - low > 1:
        middle = (low + high) // 2
        same = datetime.fromtimestamp(middle, zone).utcoffset() == offset
        low, high = (middle, high) if same else (low, middle)
    return datetime.fromtimestamp(high, UTC)


def zone_of(name: str) -> ZoneInfo:
    """The zone of that name.

    Raises:
        ValueError: there is none.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{name!r} is no time zone; write for example Europe/Berlin") from error


def wall_of(text: str) -> time:
    """The time of day of "09:00".

    Raises:
        ValueError: it is none.
    """
    try:
        found = time.fromisoformat(text.strip())
    except ValueError:
        found = None
    if found is None or found.tzinfo is not None or found.second or found.microsecond:
        raise ValueError(f"{text!r} is no time of day; write for example 09:00")
    return found


def days_of(text: str) -> frozenset[int]:
    """The weekdays of "mon-fri", "mon,wed,fri" or "sun-thu", as numbers from Monday on.

    Raises:
        ValueError: it names none.
    """
    found: set[int] = set()
    for part in text.casefold().split(","):
        first, dash, last = (each.strip() for each in part.partition("-"))
        if first not in DAYS or (dash and last not in DAYS):
            raise ValueError(f'{text!r} names no days; write for example "mon-fri"')
        begin, end = DAYS.index(first), DAYS.index(last if dash else first)
        found.update((begin + step) % 7 for step in range((end - begin) % 7 + 1))
    return frozenset(found)


def country_of(code: str) -> str:
    """The code of a country, or of a part of one, whose holidays are known.

    Raises:
        ValueError: it is none.
    """
    try:
        _free_days(code, 2026)
    except (NotImplementedError, KeyError) as error:
        raise ValueError(f"no holidays are known of {code!r}; write IN or DE-BY") from error
    return code


@lru_cache(maxsize=256)
def _free_days(code: str, year: int) -> frozenset[date]:
    country, _, part = code.partition("-")
    return frozenset(holidays.country_holidays(country, subdiv=part or None, years=year))
