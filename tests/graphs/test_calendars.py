"""Working time against a reference that looks at every minute of the wall clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from holidays import country_holidays
from hypothesis import given
from hypothesis import strategies as st

from graphs.calendars import (
    Hours,
    NoWorkingTime,
    country_of,
    days_of,
    instant,
    wall_of,
    zone_of,
)
from graphs.timers import own_time

BERLIN, KOLKATA = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kolkata")
# Odd clocks: half hours, a change of half an hour, one at midnight, a day left out, the far east.
ZONES = st.sampled_from(
    [
        ZoneInfo(name)
        for name in (
            "UTC", "Europe/Berlin", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe",
            "America/Santiago", "Pacific/Apia", "Pacific/Kiritimati", "America/Sao_Paulo",
            "Africa/Cairo", "Asia/Tehran",
        )
    ]
)  # fmt: skip
INSTANTS = st.datetimes(datetime(2011, 1, 1), datetime(2029, 12, 31), timezones=st.just(UTC)).map(
    lambda at: at.replace(second=0, microsecond=0)
)
WALLS = st.times().map(lambda at: at.replace(minute=at.minute // 30 * 30, second=0, microsecond=0))
HOURS = st.builds(
    Hours, zone=ZONES, days=st.frozensets(st.integers(0, 6), min_size=1), opens=WALLS, closes=WALLS
)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def reference(hours: Hours, moment: datetime) -> bool:
    """Whether it is working time, by the days around it alone."""
    local = moment.astimezone(hours.zone).date()
    for day in (local - timedelta(days=1), local):
        if day.weekday() in hours.days:
            closing = day + timedelta(days=hours.closes <= hours.opens)
            begin = instant(day, hours.opens, hours.zone)
            if begin <= moment < instant(closing, hours.closes, hours.zone):
                return True
    return False


@given(hours=HOURS, moment=INSTANTS, minutes=st.integers(0, 3000))
def test_working_time_is_what_every_minute_says(
    hours: Hours, moment: datetime, minutes: int
) -> None:
    end = moment + timedelta(minutes=minutes)
    steps = [moment + timedelta(minutes=minute) for minute in range(minutes)]
    counted = 60 * sum(reference(hours, step) for step in steps)
    assert hours.between(moment, end) == counted
    assert hours.is_open(moment) == reference(hours, moment)


@given(hours=HOURS, moment=INSTANTS, seconds=st.integers(0, 200_000))
def test_after_some_working_time_just_that_much_has_passed(
    hours: Hours, moment: datetime, seconds: int
) -> None:
    try:
        end = hours.after(moment, seconds)
    except NoWorkingTime:  # opens and closes at what the clock makes the same instant
        return
    assert end >= moment
    assert hours.between(moment, end) == seconds
    opened = hours.next_open(moment)
    assert opened == moment or not hours.is_open(moment)
    assert hours.is_open(opened)


@given(hours=HOURS, moment=INSTANTS, wall=WALLS, holidays=st.sampled_from([None, "IN", "DE-BY"]))
def test_the_next_time_of_day_is_the_first_of_all_days_on_which_somebody_works(
    hours: Hours, moment: datetime, wall: time, holidays: str | None
) -> None:
    hours = replace(hours, country=holidays)
    free = country_holidays("IN") if holidays == "IN" else country_holidays("DE", subdiv="BY")
    local = moment.astimezone(hours.zone).date()
    later = (local + timedelta(days=step) for step in range(-1, 60))
    wanted = min(
        found
        for day in later
        if day.weekday() in hours.days and not (holidays and day in free)
        if (found := instant(day, wall, hours.zone)) > moment
    )
    assert hours.next_time(moment, wall) == wanted
    assert hours.next_time(wanted - timedelta(seconds=1), wall) == wanted
    assert hours.next_time(wanted, wall) > wanted


@pytest.mark.parametrize(
    ("since", "wall", "then"),
    [
        ("2026-03-28T12:00+01:00", "02:30", "2026-03-29T03:00+02:00"),  # left out that night
        ("2026-10-24T12:00+02:00", "02:30", "2026-10-25T02:30+02:00"),  # comes twice: the first
        ("2026-10-25T02:30+02:00", "02:30", "2026-10-26T02:30+01:00"),  # and not once more
        ("2026-01-31T23:45+01:00", "23:30", "2026-02-01T23:30+01:00"),
        ("2028-02-28T23:30+01:00", "23:30", "2028-02-29T23:30+01:00"),
        ("2026-12-31T09:30+01:00", "09:30", "2027-01-01T09:30+01:00"),
    ],
)
def test_a_reader_has_a_time_of_day_once_a_day_whatever_the_clock_does(
    since: str, wall: str, then: str
) -> None:
    assert own_time(wall_of(wall), at(since), BERLIN) == at(then)


@given(zone=ZONES, day=st.dates(date(2011, 1, 1), date(2029, 12, 31)), wall=WALLS)
def test_a_wall_time_is_the_first_instant_that_is_not_before_it(
    zone: ZoneInfo, day: date, wall: time
) -> None:
    found = instant(day, wall, zone)
    wanted = datetime.combine(day, wall)
    assert found.astimezone(zone).replace(tzinfo=None) >= wanted
    just_before = (found - timedelta(seconds=1)).astimezone(zone).replace(tzinfo=None)
    assert just_before < wanted


def test_a_clock_change_leaves_out_an_hour_and_brings_another_twice() -> None:
    assert instant(date(2026, 3, 29), time(2, 30), BERLIN) == at("2026-03-29T01:00:00+00:00")
    assert instant(date(2026, 10, 25), time(2, 30), BERLIN) == at("2026-10-25T00:30:00+00:00")
    night = Hours(BERLIN, frozenset({5}), time(22), time(6))
    assert night.between(at("2026-03-28T12:00Z"), at("2026-03-30T00:00Z")) == 7 * 3600
    assert night.between(at("2026-10-24T12:00Z"), at("2026-10-26T00:00Z")) == 9 * 3600


def test_a_night_a_weekend_and_a_holiday_are_free() -> None:
    hours = Hours(KOLKATA, country=country_of("IN"))
    friday_evening = at("2026-01-23T20:00+05:30")
    # Monday is Republic Day.
    assert hours.next_open(friday_evening) == at("2026-01-27T09:00+05:30")
    assert hours.after(friday_evening, 3600) == at("2026-01-27T10:00+05:30")
    assert hours.after(at("2026-01-23T17:00+05:30"), 3600) == at("2026-01-23T18:00+05:30")


@pytest.mark.parametrize(
    ("begin", "days", "end"),
    [
        ("2028-02-28T09:00+01:00", 2, "2028-02-29T18:00+01:00"),  # a leap day
        ("2026-01-30T09:00+01:00", 2, "2026-02-02T18:00+01:00"),  # a month's end over a weekend
        ("2026-12-31T23:30+01:00", 1, "2027-01-01T18:00+01:00"),
    ],
)
def test_working_days_are_counted_over_the_ends_of_months(begin: str, days: int, end: str) -> None:
    assert Hours(BERLIN).after(at(begin), days * 9 * 3600) == at(end)


def test_days_zones_and_countries_are_read_or_refused_in_a_clause() -> None:
    assert days_of("mon-fri") == frozenset(range(5))
    assert days_of("Sun-Thu") == {6, 0, 1, 2, 3}
    assert days_of("mon, wed") == {0, 2}
    for wrong in ("", "mon-", "monday", "mon--fri"):
        with pytest.raises(ValueError, match="names no days"):
            days_of(wrong)
    for wrong in ("Mars/Base", "../etc/passwd", ""):
        with pytest.raises(ValueError, match="no time zone"):
            zone_of(wrong)
    for wrong in ("XX", "DE-ZZ", ""):
        with pytest.raises(ValueError, match="no holidays"):
            country_of(wrong)
