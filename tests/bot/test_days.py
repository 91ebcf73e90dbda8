"""Days as people write them; what is no day, or two, is never guessed at."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.days import LONGEST, MOST_DAYS, NoDay, day_of, end_of

TODAY = date(2026, 12, 1)  # a Tuesday
DAYS = st.integers(0, MOST_DAYS).map(lambda days: TODAY + timedelta(days=days))


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Friday", date(2026, 12, 4)),
        ("fri.", date(2026, 12, 4)),
        ("Tuesday", TODAY),
        ("today", TODAY),
        ("Tomorrow", date(2026, 12, 2)),
        ("12 Dec", date(2026, 12, 12)),
        ("Dec 12", date(2026, 12, 12)),
        ("12 December 2026", date(2026, 12, 12)),
        ("5 Jan", date(2027, 1, 5)),
        ("2026-12-05", date(2026, 12, 5)),
        ("1 Dec", TODAY),
    ],
)
def test_a_day_is_read_as_people_write_it(text: str, day: date) -> None:
    assert day_of(text, TODAY) == day


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no_day"),
        ("whenever", "no_day"),
        ("10", "no_day"),
        ("December", "no_day"),
        ("5pm", "no_day"),
        ("12 Dec 14:00", "no_day"),
        ("30 Feb", "no_day"),
        ("1" * (LONGEST + 1), "no_day"),
        ("9" * LONGEST, "no_day"),
        ("\u0661\u0662 Dec UTC", "no_day"),
        ("05/12", "two_ways"),
        ("31/12", "no_day"),
        ("2026-11-30", "past"),
        ("30 Nov 2026", "past"),
        ("30 Nov", ""),
        ("2028-01-01", "too_long"),
    ],
)
def test_what_is_no_day_says_why(text: str, why: str) -> None:
    if not why:
        assert day_of(text, TODAY) == date(2027, 11, 30)
        return
    with pytest.raises(NoDay) as refused:
        day_of(text, TODAY)
    assert refused.value.why == why


@given(DAYS, st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%d %b"]))
def test_every_day_of_a_year_is_read_from_every_way_of_writing_it(day: date, form: str) -> None:
    again = day_of(day.strftime(form), TODAY)
    assert (again.month, again.day) == (day.month, day.day)
    assert again == day or "%Y" not in form


@given(st.text(max_size=30))
@settings(max_examples=300)
def test_whatever_is_written_is_a_day_of_the_next_year_or_no_day(text: str) -> None:
    try:
        day = day_of(text, TODAY)
    except NoDay:
        return
    assert TODAY <= day <= TODAY + timedelta(days=MOST_DAYS)


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "America/Santiago", "Pacific/Apia", "UTC"])
def test_a_day_ends_where_the_next_begins_in_the_persons_zone(zone: str) -> None:
    there = ZoneInfo(zone)
    end = end_of(date(2026, 12, 4), there)
    assert end.astimezone(there).date() == date(2026, 12, 5)
    assert (end - timedelta(seconds=1)).astimezone(there).date() == date(2026, 12, 4)
    night = end_of(date(2026, 9, 5), ZoneInfo("America/Santiago"))  # midnight is jumped over
    assert night.astimezone(ZoneInfo("America/Santiago")) >= datetime(
        2026, 9, 6, tzinfo=ZoneInfo("America/Santiago")
    )
