"""The scorecard: every rule says what it came to, in points and in a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs.library.scorecard import Applicant, assess

ASHA = {
    "income": 31400,
    "instalments": 9100,
    "lowest_balance": 2150,
    "late_payments": 2,
    "trading_months": 14,
}


def test_the_example_comes_to_71_and_says_why() -> None:
    risk = assess(Applicant.of(60000, 12, ASHA))
    assert (risk.score, risk.level) == (71, "high")
    assert [(one.points, one.text) for one in risk.points[:3]] == [
        (35, "Instalments would take 46% of monthly income. The limit is 40%."),
        (18, "Two payments were late in the last 12 months."),
        (18, "Trading for 14 months. Under 24 counts as new."),
    ]


def test_an_instalment_is_an_annuity_without_floats() -> None:
    assert Applicant(60000, 12).instalment == 5331
    assert Applicant(60000, 1).instalment == 60600


@pytest.mark.parametrize(
    ("change", "text", "points"),
    [
        ({"income": 0}, "There is no monthly income.", 45),
        ({"late_payments": 1}, "One payment was late in the last 12 months.", 9),
        ({"late_payments": 12}, "12 payments were late in the last 12 months.", 30),
        ({"late_payments": 0}, "No payment was late in the last 12 months.", 0),
        ({"trading_months": 6}, "Trading for 6 months. Under 24 counts as new.", 24),
        ({"lowest_balance": -200}, "The account fell to -200.", 15),
        ({"price": 50000}, "The loan is 10,000 above the quoted price of 50,000.", 10),
        ({"price": 58900}, "The quoted price is 58,900.", 0),
    ],
)
def test_each_rule_says_what_it_found(change: dict[str, int], text: str, points: int) -> None:
    risk = assess(Applicant.of(60000, 12, {**ASHA, **change}))
    assert (points, text) in [(one.points, one.text) for one in risk.points]


def test_what_is_not_known_counts_and_says_so() -> None:
    risk = assess(Applicant.of(60000, 12, {}))
    assert risk.level == "medium"
    assert "No monthly income is known." in [one.text for one in risk.points]


@given(
    st.integers(1, 10_000_000),
    st.integers(1, 120),
    st.dictionaries(st.sampled_from([*ASHA, "price", "other"]), st.integers(-(10**9), 10**9)),
)
def test_any_figures_give_a_score_from_0_to_100(
    amount: int, months: int, figures: dict[str, int]
) -> None:
    risk = assess(Applicant.of(amount, months, figures))
    assert 0 <= risk.score <= 100
    assert risk.to_json()["reasons"]
