"""The risk of a loan as a table of rules: points and a sentence each, nothing hidden.

The score is the sum of the points, at most 100. Whoever doubts it reads the rules; whoever wants
another policy writes another table. What is not known costs points too, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

YEARLY_RATE = Decimal("0.12")
INSTALMENT_LIMIT_PERCENT = 40
HIGH = 60
MEDIUM = 35


@dataclass(frozen=True)
class Applicant:
    """What the rules look at; None is what no document said. Money in whole units."""

    amount: int
    months: int
    income: int | None = None
    instalments: int | None = None
    lowest_balance: int | None = None
    late_payments: int | None = None
    trading_months: int | None = None
    price: int | None = None
    rejected: Sequence[str] = ()  # when earlier requests were rejected: "Nov 2026"

    @classmethod
    def of(
        cls, amount: int, months: int, figures: Mapping[str, int], rejected: Sequence[str] = ()
    ) -> Applicant:
        """The applicant as the documents' figures describe them; other figures are ignored."""
        known = {name: value for name, value in figures.items() if name in cls.__annotations__}
        return cls(amount=amount, months=months, rejected=rejected, **known)

    @property
    def instalment(self) -> int:
        """What this loan costs a month, as an annuity, rounded to whole units."""
        rate = YEARLY_RATE / 12
        share = rate / (1 - (1 + rate) ** -self.months)
        return int((self.amount * share).quantize(Decimal(1), ROUND_HALF_UP))


@dataclass(frozen=True)
class Point:
    """What one rule came to; 0 points say that the rule was looked at and found nothing."""

    rule: str
    points: int
    text: str


@dataclass(frozen=True)
class Risk:
    """The score with every rule behind it, the heaviest first."""

    score: int
    level: str
    points: tuple[Point, ...]

    def to_json(self) -> dict[str, Any]:
        """As the thread's state and the question hold it; `reasons` are the rules that counted."""
        rules = [{"rule": one.rule, "points": one.points, "text": one.text} for one in self.points]
        reasons = [one for one in rules if one["points"]]
        return {
            "score": self.score,
            "level": self.level,
            "reasons": reasons or [{"rule": "none", "points": 0, "text": _NOTHING}],
            "rules": rules,
        }


def assess(applicant: Applicant) -> Risk:
    """Apply every rule; pure."""
    points = [Point(rule.__name__.strip("_"), *rule(applicant)) for rule in RULES]
    points.sort(key=lambda one: -one.points)
    score = min(100, sum(one.points for one in points))
    level = "high" if score >= HIGH else "medium" if score >= MEDIUM else "low"
    return Risk(score, level, tuple(points))


def _instalments(applicant: Applicant) -> tuple[int, str]:
    if applicant.income is None:
        return 30, "No monthly income is known."
    if applicant.income <= 0:
        return 45, "There is no monthly income."
    monthly = Decimal(applicant.instalment + (applicant.instalments or 0))
    percent = int((100 * monthly / applicant.income).quantize(Decimal(1), ROUND_HALF_UP))
    text = (
        f"Instalments would take {percent:,}% of monthly income. "
        f"The limit is {INSTALMENT_LIMIT_PERCENT}%."
    )
    if percent > INSTALMENT_LIMIT_PERCENT + 10:
        return 45, text
    if percent > INSTALMENT_LIMIT_PERCENT:
        return 35, text
    return (15 if percent > INSTALMENT_LIMIT_PERCENT - 10 else 0), text


def _late_payments(applicant: Applicant) -> tuple[int, str]:
    late = applicant.late_payments
    if late is None:
        return 10, "Nothing is known of late payments."
    if late <= 0:
        return 0, "No payment was late in the last 12 months."
    if late == 1:
        return 9, "One payment was late in the last 12 months."
    return (30 if late >= 4 else 18), f"{_counted(late)} payments were late in the last 12 months."


def _trading(applicant: Applicant) -> tuple[int, str]:
    months = applicant.trading_months
    if months is None:
        return 10, "How long the business has traded is not known."
    if months >= 24:
        return 0, f"Trading for {months:,} months."
    return (24 if months < 12 else 18), f"Trading for {months} months. Under 24 counts as new."


def _balance(applicant: Applicant) -> tuple[int, str]:
    balance = applicant.lowest_balance
    if balance is None:
        return 0, "The lowest balance is not known."
    if balance <= 0:
        return 15, f"The account fell to {balance:,}."
    return 0, f"The lowest balance was {balance:,}."


def _price(applicant: Applicant) -> tuple[int, str]:
    if applicant.price is None or applicant.price <= 0:
        return 0, "No quote was attached."
    over = applicant.amount - applicant.price
    if over * 10 > applicant.price:
        return 10, f"The loan is {over:,} above the quoted price of {applicant.price:,}."
    return 0, f"The quoted price is {applicant.price:,}."


def _earlier(applicant: Applicant) -> tuple[int, str]:
    if not applicant.rejected:
        return 0, "No earlier request was rejected."
    return 10, f"An earlier request was rejected in {applicant.rejected[0]}."


def _counted(number: int) -> str:
    words = ("Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
    return words[number - 2] if 2 <= number <= 9 else f"{number:,}"


RULES: tuple[Callable[[Applicant], tuple[int, str]], ...] = (
    _instalments,
    _late_payments,
    _trading,
    _balance,
    _price,
    _earlier,
)
_NOTHING = "No rule counts against it."
