"""When a rule lets something happen by the clock: pure, from the instant its time begins to run.

With `hours` only working time passes, and a time of day is that of the rule's zone on a working
day. A reminder's time of day is each reader's own: its timer says from when on they look for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from graphs.calendars import Hours, country_of, days_of
from graphs.specs import Rule, TimeOfDay

EVERY_DAY = "mon-sun"


@dataclass(frozen=True)
class Timer:
    """One thing that happens by the clock: when, and what became of it where that has come.

    `wall` is the time of day at which each reader gets a reminder, the first after `due_at`.
    """

    kind: str  # remind, escalate, deadline
    turn: int
    due_at: datetime
    fired_at: datetime | None = None
    dropped: bool = False
    wall: str | None = None


def planned(rule: Rule | None, begin_at: datetime) -> Iterator[Timer]:
    """What a rule lets happen where its time begins to run then."""
    if rule is None:
        return
    for turn, after in enumerate(rule.remind):
        if isinstance(after, TimeOfDay):
            yield Timer("remind", turn, _passed(rule, begin_at, after), wall=f"{after.wall:%H:%M}")
        else:
            yield Timer("remind", turn, due_at(rule, begin_at, after))
    if rule.escalate is not None:
        yield Timer("escalate", 0, due_at(rule, begin_at, rule.escalate.after))
    if rule.deadline is not None:
        yield Timer("deadline", 0, due_at(rule, begin_at, rule.deadline.after))


def due_at(rule: Rule, begin_at: datetime, after: float | TimeOfDay) -> datetime:
    """When that much time has passed, or when the rule's clock shows that time on a working day."""
    begin_at = _passed(rule, begin_at, after)
    if not isinstance(after, TimeOfDay):
        return begin_at
    assert rule.hours is not None  # noqa: S101  a rule with such a time has them
    return rule.hours.hours().next_time(begin_at, after.wall)


def own_time(
    wall: time, since: datetime, zone: ZoneInfo, days: str = EVERY_DAY, country: str | None = None
) -> datetime:
    """When a reader's own clock shows a time, the first after an instant, on these days.

    Args:
        country: whose public holidays are left out, where the rule's hours name one.
    """
    free = country_of(country) if country is not None else None
    return Hours(zone, days_of(days), country=free).next_time(since, wall)


def _passed(rule: Rule, begin_at: datetime, after: float | TimeOfDay) -> datetime:
    """When the time before a time of day has passed, or all of it: working time with hours."""
    if isinstance(after, TimeOfDay):
        if not after.seconds:
            return begin_at
        after = after.seconds
    if rule.hours is None:
        return begin_at + timedelta(seconds=after)
    return rule.hours.hours().after(begin_at, after)
