"""What a person asks for in a message: how much, for whom, what for, over how many months.

    "Loan for Asha Traders, 60000 for a delivery van"
    "Asha Traders needs 1.2 lakh for stock over 24 months"
    "Customer: Asha Traders", "Amount: 60,000", "Purpose: a delivery van", on lines of their own

What is missing, absurd or said twice differently becomes a question to the person, never a guess.
Amounts are whole units of money (int): a loan has no fractions.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import Any

from checkpoints.text import clean
from graphs.library.amounts import Amount, amounts

MOST = 10_000_000
MONTHS = 12  # where nothing is said
MOST_MONTHS = 120
TEXT_CHARACTERS = 4_000  # more is a document
NAME_CHARACTERS = 80
PURPOSE_CHARACTERS = 200


@dataclass(frozen=True)
class Question:
    """What the requester is asked; `kind` is amount, customer, documents or changes.

    `problem` says what is wrong where something is, `note` is a reviewer's own words, `example` is
    there to copy.
    """

    kind: str
    question: str
    problem: str = ""
    example: str = ""
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """As the payload of an interrupt and the thread's state hold it."""
        return asdict(self)


@dataclass(frozen=True)
class Request:
    """A request as far as it is understood; None is what has not been said yet."""

    amount: int | None = None
    currency: str = ""
    customer: str | None = None
    purpose: str = ""
    months: int = MONTHS
    trouble: str = ""  # why the amount could not be taken, a whole sentence

    def to_json(self) -> dict[str, Any]:
        """As the thread's state holds it; `Request(**value)` is the way back."""
        return asdict(self)

    def for_customer(self, name: str | None) -> Request:
        """The same request for the customer of that name."""
        return replace(self, customer=name)

    @property
    def sum(self) -> str:
        """The amount as people read it, with its currency where the message named one."""
        return "" if self.amount is None else f"{self.amount:,} {self.currency}".strip()

    def question(self) -> Question | None:
        """What has to be asked before anything can be done; None when it is all there."""
        example = (
            f"Loan for {self.customer or 'Asha Traders'}, "
            f"{self.amount or 60000} for {self.purpose or 'a delivery van'}"
        )
        if self.amount is None:
            asks = self.trouble or (
                "How much should the loan be?"
                if self.customer
                else "Who is the loan for, and how much should it be?"
            )
            return Question("amount", asks, example=example)
        if self.customer is None:
            return Question("customer", "Who is the loan for?", example=example)
        return None


def understood(text: str) -> Request:
    """The request in a first message."""
    text = clean(text)[:TEXT_CHARACTERS]
    labels, text = _labelled(text)
    months, text = _months(text)
    found = _meant(amounts(labels.get("amount", text)))
    customer, purpose = _whom_and_what(text, found)
    return replace(
        _with_amount(Request(), found),
        customer=_name(labels.get("customer", "")) or customer,
        purpose=_purpose(labels.get("purpose", "")) or purpose,
        months=months or MONTHS,
    )


def revised(request: Request, text: str, kind: str) -> Request:
    """The request after a reply of the requester.

    A reply to "how much" or "for whom" may be the bare answer. In any other reply a number counts
    only where the words say that it is the new amount; where that is not clear, it is asked.
    """
    text = clean(text)[:TEXT_CHARACTERS]
    said = understood(text)
    if kind in ("amount", "customer") and said.customer is None:
        said = replace(said, customer=_bare_name(text))
    customer = (
        said.customer
        if kind == "customer" or (kind == "amount" and request.customer is None)
        else None
    )
    new = replace(
        request,
        customer=customer or request.customer,
        purpose=request.purpose or said.purpose,
        months=said.months if said.months != MONTHS else request.months,
        trouble="",
    )
    if kind == "amount":
        return _taking(new, said)
    found = _meant(amounts(text))
    if not found or (said.amount, said.currency or request.currency) == (
        request.amount,
        request.currency,
    ):
        return new
    if _is_bare(text, found) or (_CHANGES.search(text) and said.amount is not None):
        return _taking(new, said)
    if any(amount.is_plain for amount in found) and kind == "changes":
        named = " and ".join(dict.fromkeys(amount.text for amount in found[:3]))
        return replace(
            new,
            amount=None,
            trouble=f"You wrote {named}. How much should the loan be, if not {request.sum} as "
            "before?",
        )
    return new


def goes_on_without(text: str) -> bool:
    """Whether a reply says to go on without what could not be read."""
    return bool(_WITHOUT.search(text))


def other_customer(known: str) -> Question:
    """The question when a message names another customer than the one it is about."""
    return Question(
        "customer",
        f"Is this loan for {known}?",
        problem=f"This conversation is about {known}. For another customer start a new request.",
        example=f"It is for {known}",
    )


def same_name(one: str, other: str) -> bool:
    """Whether two names are the same, or one is the longer form of the other."""
    mine, theirs = set(_WORD.findall(one.casefold())), set(_WORD.findall(other.casefold()))
    return mine <= theirs or theirs <= mine


def _taking(request: Request, said: Request) -> Request:
    currency = said.currency or request.currency
    return replace(request, amount=said.amount, currency=currency, trouble=said.trouble)


def _with_amount(request: Request, found: list[Amount]) -> Request:
    """The one amount that was meant, or a sentence that says why there is none."""
    if not found:
        return request
    if any(amount.value is None for amount in found):
        unclear = next(amount.text for amount in found if amount.value is None)
        return replace(
            request,
            trouble=f"“{unclear}” can be read in more than one way. How much should the loan be?",
        )
    values = list(dict.fromkeys(amount.value for amount in found))
    currencies = list(dict.fromkeys(amount.currency for amount in found if amount.currency))
    if len(values) > 1:
        named = " and ".join(amount.text for amount in found[:3])
        return replace(
            request,
            trouble=f"Your message names more than one amount: {named}. Which one should the "
            "loan be?",
        )
    if len(currencies) > 1:
        return replace(
            request,
            trouble=f"Your message names {' and '.join(currencies)}. How much should the loan be, "
            "and in which currency?",
        )
    value = values[0]
    assert value is not None  # noqa: S101  asked above
    if value < 0:
        trouble = "A loan cannot be below zero. How much should it be?"
    elif value == 0:
        trouble = "A loan of 0 cannot be paid. How much should it be?"
    elif value > MOST:
        trouble = f"More than {MOST:,} cannot be asked for here. How much should the loan be?"
    elif value != value.to_integral_value():
        trouble = "A loan has no fractions. How much should it be, in whole numbers?"
    else:
        currency = currencies[0] if currencies else ""
        return replace(request, amount=int(value), currency=currency)
    return replace(request, trouble=trouble)


def _meant(found: list[Amount]) -> list[Amount]:
    """The amounts that are plainly money, or the bare small numbers where there are no others."""
    return [amount for amount in found if amount.is_plain] or found


def _is_bare(text: str, found: list[Amount]) -> bool:
    rest = text
    for amount in found:
        rest = rest.replace(amount.text, " ")
    return len(_WORD.findall(rest)) <= 1 and len({amount.value for amount in found}) == 1


def _labelled(text: str) -> tuple[dict[str, str], str]:
    """The values of "Label: value" lines, and the text without them."""
    labels: dict[str, str] = {}
    rest = []
    for line in text.splitlines():
        match = _LABEL.match(line)
        if match:
            labels.setdefault(_LABELS[match[1].lower()], match[2].strip())
        else:
            rest.append(line)
    return labels, "\n".join(rest)


def _months(text: str) -> tuple[int | None, str]:
    match = _TERM.search(text)
    if match is None:
        return None, text
    months = int(match[1]) * (12 if match[2].lower().startswith("y") else 1)
    rest = text[: match.start()] + " " + text[match.end() :]
    return (months if 1 <= months <= MOST_MONTHS else None), rest


def _whom_and_what(text: str, found: list[Amount]) -> tuple[str | None, str]:
    """Customer and purpose: "for X" is a purpose when it begins like one ("a van", "buying")."""
    first = found[0] if found else None
    before = text[: first.start] if first else text
    after = text[first.end :] if first else ""
    customer, purpose = None, ""
    phrases = [(phrase, True) for phrase in _phrases(before)]
    phrases += [(phrase, False) for phrase in _phrases(after)]
    for position, (phrase, is_before) in enumerate(phrases):
        last_hope = not is_before and position == len(phrases) - 1
        if _PURPOSE.match(phrase) or (last_hope and not _is_capital(phrase)):
            purpose = purpose or _purpose(phrase)
        elif customer is None:
            customer = _name(phrase)
        else:
            purpose = purpose or _purpose(phrase)
    if customer is None:
        customer = _subject(before)
    if not purpose:
        fragments = [piece.strip() for piece in _BREAK.split(after) if piece.strip()]
        loose = [one for one in fragments if not _MARKER.search(one) and _WORD.search(one)]
        purpose = _purpose(loose[0]) if loose else ""
    return customer, purpose


def _phrases(text: str) -> list[str]:
    """What follows each "for" or "to", up to the next one or the next break."""
    found = []
    for piece in _BREAK.split(text):
        _, *rest = _MARKER.split(piece)
        found += [one.strip() for one in rest if one.strip()]
    return found


def _subject(before: str) -> str | None:
    """The customer who begins the sentence: "Asha Traders needs", "Asha Traders,"."""
    lines = [piece.strip() for piece in _BREAK.split(before) if piece.strip()]
    lead = _VERB.split(lines[0])[0].strip() if lines else ""
    if not lead or not _is_capital(lead) or _NOISE.match(lead):
        return None
    return _name(lead)


def _bare_name(text: str) -> str | None:
    words = _WORD.findall(text)
    if not words or len(words) > 6 or any(character.isdigit() for character in text):
        return None
    return _name(re.sub(r"^(?:it is |it's |its )?(?:for |to )?", "", text.strip(), flags=re.I))


def _name(text: str) -> str | None:
    name = " ".join(_VERB.split(_CUSTOMER.sub("", text.strip()))[0].split())
    name = re.sub(r"\s(?:of|over|with|and|is)$", "", name, flags=re.IGNORECASE)
    name = name.strip(" .,;:\"'“”‘’()[]")[:NAME_CHARACTERS].strip()  # noqa: RUF001
    return name if any(character.isalpha() for character in name) else None


def _purpose(text: str) -> str:
    words = " ".join(text.split()).strip(" .,;:").removesuffix("please").strip(" .,;:")
    return words[:PURPOSE_CHARACTERS] if _WORD.search(words) else ""


def _is_capital(phrase: str) -> bool:
    """Whether it looks like a name: a capital letter, or a script that has none."""
    letters = [character for character in phrase if character.isalpha()]
    return any(
        character.isupper() or character.lower() == character.upper() for character in letters
    )


_WORD = re.compile(r"\w+")
_LABELS = {
    "customer": "customer",
    "client": "customer",
    "amount": "amount",
    "loan": "amount",
    "purpose": "purpose",
    "for": "purpose",
}
_LABEL = re.compile(r"\s*[*_]?(customer|client|amount|purpose)[*_]?\s*[:=]\s*(.+)", re.IGNORECASE)
_TERM = re.compile(
    r"\b(?:over|within|across|repaid\s+(?:over|in))\s+(\d{1,3})\s+(months?|years?)\b", re.I
)
_BREAK = re.compile(r"[,;:\n()]|\s[-–—]\s|[.!?](?=\s|$)")  # noqa: RUF001
_MARKER = re.compile(r"\b(?:for|to)\b", re.IGNORECASE)
_PURPOSE = re.compile(
    r"(?:an?|the|my|our|his|her|its|their|some|new|more|another|two|three|\d+"
    r"|buy|pay|purchase|finance|fund|cover|get|replace|repair|open|expand|\w+ing)\b"
    r"(?!\s+(?:customer|client)\b)",
    re.IGNORECASE,
)
_CUSTOMER = re.compile(r"^(?:(?:the|our|my|a)\s+)?(?:customer|client)\s+", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:needs?|wants?|asks?|requests?|requires?|would\s+like|is\s+asking)\b", re.IGNORECASE
)
_NOISE = re.compile(
    r"(?:an?\s+|the\s+|new\s+|please\b.*|hi\b.*|hello\b.*|i\b.*|we\b.*|can\b.*|could\b.*)?"
    r"(?:business\s+|small\s+)?(?:loans?|credit|request|lend|borrow|please|hi|hello|i|we)\b",
    re.IGNORECASE,
)
_WITHOUT = re.compile(
    r"\b(?:go\s+on|go\s+ahead|continue|proceed|without\s+(?:it|them)|skip|leave\s+(?:it|them)\s+out)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:instead|make\s+it|change|changed|reduce|reduced|lower|lowered|increase|increased|raise"
    r"|amount\s*(?:should|is|to|:)|loan\s+(?:of|for)|only\s+need|is\s+enough|would\s+be\s+enough)\b",
    re.IGNORECASE,
)
