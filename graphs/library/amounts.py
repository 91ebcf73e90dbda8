"""Amounts of money in what people write: "60000", "60,000", "60k", "1.2 lakh", "€60.000,00".

Found, never guessed: a number that can be read in two ways comes back without a value, dates and
terms ("15 Dec 2026", "24 months") do not come back at all, and which of several is meant is left
to the caller. Values are Decimal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal

BEYOND = Decimal(10) ** 16  # stands for every longer number: nobody means those


@dataclass(frozen=True)
class Amount:
    """A number as written, what it comes to, and whether it is plainly money.

    `value` is None where it can be read in more than one way; `is_plain` where a currency, a unit,
    groups or at least four digits say that this is an amount and not "2" of "2 vans".
    """

    text: str
    value: Decimal | None
    currency: str
    is_plain: bool
    start: int
    end: int


def amounts(text: str) -> list[Amount]:
    """Every amount in the text, in its order."""
    for pattern in _NO_MONEY:
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    found = [_amount(match) for match in _AMOUNT.finditer(text) if not _is_part(text, match)]
    return _ranges(text, found)


def _is_part(text: str, match: re.Match[str]) -> bool:
    """Whether the number belongs to something else: TX-20931, v2.14, #412."""
    before = text[max(0, match.start() - _NEAR_CHARACTERS) : match.start()]
    if _REFERENCE.search(before):
        return True
    return not match["sign"] and (before[-1:].isalnum() or before[-1:] in ("_", "#", ".", "@"))


def _amount(match: re.Match[str]) -> Amount:
    unit = (match["unit"] or match["unit_word"] or "").lower()
    number = match["number"]
    value = _value(number, has_unit=bool(unit))
    if value is not None:
        value = value * _UNITS.get(unit, Decimal(1)) * (-1 if match["sign"] else 1)
    currency = _code(match["before"] or match["after"] or "")
    digits = sum(character.isdigit() for character in number)
    return Amount(
        text=" ".join(match[0].split()),
        value=value,
        currency=currency,
        is_plain=bool(currency or unit or digits >= _PLAIN_DIGITS or not number.isdigit()),
        start=match.start(),
        end=match.end(),
    )


def _value(number: str, *, has_unit: bool) -> Decimal | None:
    digits = re.sub(r"[\s'’_]", "", number)  # noqa: RUF001
    if len(digits) > _LONGEST:
        return BEYOND
    separators = {character for character in digits if character in ".,"}
    if not separators:
        return Decimal(digits)
    last = max(separators, key=digits.rfind)
    whole, _, tail = digits.rpartition(last)
    if len(separators) == 2:
        return _decimal(whole, tail) if whole.count(last) == 0 and _is_grouped(whole) else None
    if last in whole:
        return Decimal(re.sub(r"[.,]", "", digits)) if _is_grouped(digits) else None
    if len(tail) == _GROUP and not has_unit and not whole.startswith("0"):
        return Decimal(whole + tail) if len(whole) <= _GROUP else None
    return _decimal(whole, tail) if len(tail) < _GROUP or has_unit else None


def _decimal(whole: str, tail: str) -> Decimal:
    return Decimal(f"{re.sub('[.,]', '', whole)}.{tail}")


def _is_grouped(digits: str) -> bool:
    """Groups of three, or the Indian way: two, two, three."""
    first, *groups = re.split(r"[.,]", digits)
    if not groups:
        return True
    inner = [len(group) for group in groups[:-1]]
    return (
        1 <= len(first) <= _GROUP
        and len(groups[-1]) == _GROUP
        and (all(size == _GROUP for size in inner) or all(size == 2 for size in inner))
    )


def _ranges(text: str, found: list[Amount]) -> list[Amount]:
    """In "60-80k" and "60 or 80k" both ends are meant as amounts."""
    for left in range(len(found) - 1):
        right = left + 1
        between = text[found[left].end : found[right].start].strip().lower()
        if between in _BETWEEN and (found[left].is_plain or found[right].is_plain):
            found[left] = replace(found[left], is_plain=True)
            found[right] = replace(found[right], is_plain=True)
    return found


def _code(currency: str) -> str:
    return _CURRENCIES.get(currency.strip().rstrip(".").lower(), currency.strip().upper())


_CURRENCIES = {
    "€": "EUR",
    "euro": "EUR",
    "euros": "EUR",
    "$": "USD",
    "dollar": "USD",
    "dollars": "USD",
    "£": "GBP",
    "pounds": "GBP",
    "₹": "INR",
    "rs": "INR",
    "rupee": "INR",
    "rupees": "INR",
    "¥": "JPY",
}
_UNITS = {
    "k": Decimal(1_000),
    "thousand": Decimal(1_000),
    "lakh": Decimal(100_000),
    "lakhs": Decimal(100_000),
    "lac": Decimal(100_000),
    "lacs": Decimal(100_000),
    "m": Decimal(1_000_000),
    "mn": Decimal(1_000_000),
    "million": Decimal(1_000_000),
    "millions": Decimal(1_000_000),
    "cr": Decimal(10_000_000),
    "crore": Decimal(10_000_000),
    "crores": Decimal(10_000_000),
}
_REFERENCE = re.compile(r"(?<!\w)[^\W\d_]+[-−]$")  # noqa: RUF001
_BETWEEN = {"-", "–", "—", "to", "or", "and", "/"}  # noqa: RUF001
_GROUP = 3
_LONGEST = 16  # characters
_NEAR_CHARACTERS = 40
_PLAIN_DIGITS = 4

_CODES = r"eur|usd|gbp|inr|chf|jpy|aed|sgd|cad|aud|euros?|dollars?|pounds|rs\.?|rupees?"
_AMOUNT = re.compile(
    rf"""
    (?P<sign>(?<![^\s(:,€$£₹])[-−])?                        # minus only after a space or a sign
    (?:(?P<before>[€$£₹¥]|\b(?:{_CODES})(?![a-z]))\s?)?
    (?<!\d)(?<!\d[.,'’_])                                   # the whole number, not its tail
    (?P<number>\d{{1,3}}(?:[ \u00a0\u202f]\d{{3}})++(?![\d])(?:[.,]\d{{1,2}}(?!\d))?
             |\d++(?:[.,'’_]\d++)*+)                        # 60 000 or 60,000.00
    (?:(?P<unit>k|m|mn|cr)\b|\s?(?P<unit_word>thousand|lakhs?|lacs?|crores?|cr|millions?|mn)\b)?
    (?:\s?(?P<after>[€$£₹¥]|(?:{_CODES})\b))?
    (?:/-)?
    (?![\w%]|[.,]\d)
    """,  # noqa: RUF001
    re.IGNORECASE | re.VERBOSE,
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_NO_MONEY = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b\d{4}-\d{2}-\d{2}\b",
        r"\b\d{1,2}[/.]\d{1,2}[/.](?:\d{4}|\d{2})\b",
        r"\b\d{1,2}:\d{2}\b",
        rf"\b\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH}\b\.?(?:,?\s+\d{{4}}\b)?",
        rf"\b{_MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?(?!\d)(?:,?\s+\d{{4}}\b)?",
        rf"\b{_MONTH}\.?\s+(?:19|20)\d{{2}}\b",
        r"\b(?:in|since|until|year)\s+(?:19|20)\d{2}\b",
        r"(?<!\d)(?<!\d[.,])\d[\d.,]*+\s*(?:%|percent\b|months?\b|years?\b|weeks?\b|days?\b|hours?\b|km\b|kg\b)",
    )
]
