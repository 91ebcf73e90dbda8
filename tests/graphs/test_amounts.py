"""Amounts of money in what people write."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs.library.amounts import amounts


@pytest.mark.parametrize(
    ("text", "value", "currency"),
    [
        ("60000", "60000", ""),
        ("60,000", "60000", ""),
        ("60k", "60000", ""),
        ("12.5k", "12500", ""),
        ("1.2 lakh", "120000", ""),
        ("2 crore", "20000000", ""),
        ("1.5 million", "1500000", ""),
        ("€60.000,00", "60000", "EUR"),
        ("€60.000", "60000", "EUR"),
        ("1.234.567,89", "1234567.89", ""),
        ("1,50,000", "150000", ""),
        ("₹1,20,000.50", "120000.50", "INR"),
        ("Rs. 60,000/-", "60000", "INR"),
        ("60'000 CHF", "60000", "CHF"),
        ("60 000", "60000", ""),
        ("60\u202f000,50", "60000.50", ""),
        ("USD 5,000", "5000", "USD"),
        ("5000€", "5000", "EUR"),
        ("$ 60000", "60000", "USD"),
        ("-60000", "-60000", ""),
        ("-€50", "-50", "EUR"),
        ("0", "0", ""),
        ("६०,०००", "60000", ""),  # noqa: RUF001
    ],
)
def test_an_amount_is_read_as_it_is_meant(text: str, value: str, currency: str) -> None:
    (found,) = amounts(f"Asha Traders, {text} for a van")
    assert found.value == Decimal(value)
    assert found.currency == currency


@pytest.mark.parametrize("text", ["60,0000", "1.234,56,7", "1,2,3"])
def test_an_amount_that_can_be_read_in_two_ways_has_no_value(text: str) -> None:
    (found,) = amounts(text)
    assert found.value is None


@pytest.mark.parametrize(
    "text",
    [
        "by 15 Dec 2026",
        "since October 2025",
        "from 2026-12-15 on",
        "on 15/12/2026 at 10:30",
        "over 24 months at 12%",
        "since 2019",
        "TX-20931",
        "v2.14",
        "1e5",
        "60000e999",
        "",
    ],
)
def test_dates_terms_and_references_are_no_amounts(text: str) -> None:
    assert amounts(text) == []


def test_a_dash_before_an_amount_is_not_a_minus() -> None:
    assert amounts("Asha Traders - 60000")[0].value == Decimal(60000)


def test_both_ends_of_a_range_are_amounts() -> None:
    for text in ("60-80k", "60 or 80k", "60000 to 80000"):
        assert [one.is_plain for one in amounts(text)] == [True, True]


def test_a_count_of_things_is_not_plainly_money() -> None:
    vans, money = amounts("2 vans for 60k")
    assert not vans.is_plain
    assert money.is_plain


def test_an_endless_number_is_beyond_everything_and_costs_nothing() -> None:
    (found,) = amounts("9" * 100_000)
    assert found.value is not None
    assert found.value > 10**15


@given(st.integers(min_value=1, max_value=9_999_999))
def test_grouped_and_plain_numbers_say_the_same(number: int) -> None:
    for text in (f"{number}", f"{number:,}", f"€{number:,}".replace(",", "."), f"{number:,}.00"):
        assert [one.value for one in amounts(text)] == [Decimal(number)]


@given(st.text() | st.text(alphabet="0123456789.,'- k€lah"))
def test_any_text_can_be_looked_through(text: str) -> None:
    for one in amounts(text):
        assert text[one.start : one.end].strip()
