"""What a document says: its text, the figures found in it, or why it could not be read.

A document that cannot be read is a result, not an error: its `problem` is a clause that goes on
after the file's name ("has a password"), its `remedy` a sentence for whoever sent it.
Figures are taken from lines of the form "Label: value" and from tables of labels and values; the
labels stand in `FIGURES`. Where two documents differ, `together` keeps the more careful figure.
Figures are whole units of money, rounded; nothing is computed in floats.

PDFs are read in a process apart. Texts and tables are read here: only so much of them is looked
at, each step is linear, and the largest takes a tenth of a second.
"""

from __future__ import annotations

import codecs
import csv
import io
import logging
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import PurePath
from typing import Protocol

from checkpoints.text import clean
from graphs.library import apart, pdf
from graphs.library.amounts import amounts
from graphs.library.pdf import MAX_CHARACTERS, Pdf

MAX_BYTES = 10 * 1024 * 1024


class Document(Protocol):
    """A stored file, as the runner hands it to a node."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def media_type(self) -> str: ...
    @property
    def body(self) -> bytes: ...
    @property
    def problem(self) -> str | None: ...  # why it could not be had, where it could not


@dataclass(frozen=True)
class Reading:
    """What came of one document; `finding` is one line for people: "income 31,400 a month, …"."""

    id: str
    name: str
    pages: int = 0
    text: str = ""
    finding: str = ""
    figures: dict[str, int] = field(default_factory=dict)
    problem: str | None = None
    remedy: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure we look for: its labels in documents, and which of two values is more careful."""

    name: str
    labels: tuple[str, ...]
    careful: str  # "low" or "high"


FIGURES = (
    Figure("income", ("monthly income", "average income", "income per month", "income"), "low"),
    Figure("lowest_balance", ("lowest balance", "minimum balance"), "low"),
    Figure(
        "instalments",
        ("existing instalments", "instalments", "monthly instalments", "loan instalments"),
        "high",
    ),
    Figure("late_payments", ("late payments in 12 months", "late payments"), "high"),
    Figure("trading_months", ("trading for", "trading since"), "high"),  # the newest document's
    Figure("price", ("total on the road", "total price", "total", "price", "amount due"), "high"),
)


async def read(document: Document) -> Reading:
    """Read a document within the limits, a PDF apart; never raises for what is in it."""
    refusal = _refusal(document)
    if refusal is None and _is_pdf(document):
        return _of_pdf(document, await apart.text_of(document.body))
    return refusal or _of_text(document)


def reading(document: Document) -> Reading:
    """Read a document here and now: PDF, CSV or plain text, by its content first."""
    refusal = _refusal(document)
    if refusal is None and _is_pdf(document):
        return _of_pdf(document, pdf.text_of(document.body))
    return refusal or _of_text(document)


def refused(document_id: str, name: str, reason: str) -> Reading:
    """The reading of a file that could not be had; `reason` is a clause: "it is too large"."""
    problem = f"could not be fetched: {clean(reason).rstrip('.')}"
    return Reading(document_id, name, problem=problem, remedy="Please send another.")


def together(readings: Iterable[dict[str, int]]) -> dict[str, int]:
    """The figures of several documents as one; where they differ, the more careful one counts."""
    careful = {figure.name: min if figure.careful == "low" else max for figure in FIGURES}
    figures: dict[str, int] = {}
    for found in readings:
        for name, value in found.items():
            choose = careful.get(name, min)
            figures[name] = choose(value, figures[name]) if name in figures else value
    return figures


def _refusal(document: Document) -> Reading | None:
    """Why the document is not looked into at all."""
    if document.problem:
        return refused(document.id, document.name, document.problem)
    if len(document.body) > MAX_BYTES:
        return _not_read(document, "is larger than 10 MB", "Please send a smaller one.")
    if not document.body.strip():
        return _not_read(document, "is empty", _AGAIN)
    return None


def _is_pdf(document: Document) -> bool:
    if document.body[:1024].lstrip().startswith(b"%PDF-"):
        return True
    return _ending(document) == ".pdf" or _media_type(document) == "application/pdf"


def _of_pdf(document: Document, found: Pdf) -> Reading:
    if found.unread is not None:
        if found.error is not None:
            logging.getLogger(__name__).info("a PDF could not be read: %s", found.error)
        return _not_read(document, *_UNREAD.get(found.unread, _UNREAD[pdf.BROKEN]))
    if not found.text.strip():
        return _not_read(
            document,
            "has no text in it, it may be a scan",
            "Please send one with text that can be selected.",
        )
    return _with_findings(document, found.text, found.pages)


def _of_text(document: Document) -> Reading:
    ending = _ending(document)
    if ending not in _TEXTS and not document.media_type.startswith("text/"):
        return _not_read(document, "is of a kind that cannot be read", _SEND_PDF)
    text = _decoded(document.body)
    if text is None:
        return _not_read(document, "cannot be read as text", _SEND_PDF)
    if ending in _TABLES or _media_type(document) in ("text/csv", _TSV):
        text = _as_lines(text)
    return _with_findings(document, text, pages=1)


def _ending(document: Document) -> str:
    return PurePath(document.name.lower()).suffix


def _media_type(document: Document) -> str:
    return document.media_type.split(";")[0]


def _decoded(body: bytes) -> str | None:
    # Cut before it is decoded: each byte that is wrong in its encoding costs a call.
    head, whole = body[:_TEXT_BYTES], len(body) <= _TEXT_BYTES
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", errors="replace")[:MAX_CHARACTERS]
    if b"\x00" in body:
        return None
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head, final=whole)
    except UnicodeDecodeError:
        text = head.decode("cp1252", errors="replace")
    return text[:MAX_CHARACTERS]


def _as_lines(text: str) -> str:
    """A table of labels and values as "Label: value" lines; other rows keep their commas."""
    lines = []
    try:
        for row in csv.reader(io.StringIO(text), delimiter=_delimiter(text), skipinitialspace=True):
            cells = [cell.strip() for cell in row if cell.strip()]
            lines.append(": ".join(cells) if len(cells) == 2 else ", ".join(cells))
    except csv.Error:
        return text
    return "\n".join(lines)


def _delimiter(text: str) -> str:
    """What stands outside quotes equally often on the most of the first lines.

    Not csv.Sniffer: its patterns take time with the fourth power of what they look at, and hold
    up the whole process; 4,000 quotes take days.
    """
    lines: list[Counter[str]] = [Counter()]
    quoted = False
    for character in text[:_SAMPLE_CHARACTERS]:
        if character == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif character == "\n":
            lines.append(Counter())
        elif character in _DELIMITERS:
            lines[-1][character] += 1

    def agreeing(delimiter: str) -> int:
        return max(
            Counter(line[delimiter] for line in lines if line[delimiter]).values(), default=0
        )

    # Where they stand equally often the comma is last: it may belong to the numbers.
    return max(_DELIMITERS, key=agreeing) if any(lines) else ","


def _with_findings(document: Document, text: str, pages: int) -> Reading:
    text = clean(text)[:MAX_CHARACTERS]
    labels = _labels(text)
    figures = {
        figure.name: value for figure in FIGURES if (value := _figure(figure, labels)) is not None
    }
    return Reading(
        id=document.id,
        name=document.name,
        pages=pages,
        text=text,
        finding=_finding(figures, labels, pages),
        figures=figures,
    )


def _labels(text: str) -> dict[str, str]:
    """Every "Label: value" line; the first of a label counts."""
    labels: dict[str, str] = {}
    for line in text.splitlines():
        bare = _TRADING.match(line.strip())
        label, colon, value = ("trading for", ":", bare[1]) if bare else line.partition(":")
        if colon and value.strip() and len(label) <= _LABEL_CHARACTERS:
            labels.setdefault(" ".join(label.lower().split()), value.strip())
    return labels


def _figure(figure: Figure, labels: dict[str, str]) -> int | None:
    for label in figure.labels:
        value = labels.get(label)
        if value is None:
            continue
        number = (
            _months_trading(label, value, labels)
            if figure.name == "trading_months"
            else _whole(value)
        )
        if number is not None:
            return number
    return None


def _whole(text: str) -> int | None:
    found = [one.value for one in amounts(text[:_VALUE_CHARACTERS]) if one.value is not None]
    if not found or abs(found[0]) >= _MOST:
        return None
    return int(found[0].quantize(Decimal(1), ROUND_HALF_UP))


def _months_trading(label: str, value: str, labels: dict[str, str]) -> int | None:
    if label == "trading for":
        match = _SPAN.search(value)
        return int(match[1]) * (12 if match[2].lower() == "y" else 1) if match else None
    since, today = _month(value), _month(labels.get("period", "").rpartition(" to ")[2])
    if since is None or today is None or today < since:
        return None
    return today - since


def _month(text: str) -> int | None:
    """A month as a count since the year 0: "October 2025"."""
    match = _MONTH_OF.search(text)
    if match is None or match[1].lower() not in _MONTHS:
        return None
    return int(match[2]) * 12 + _MONTHS.index(match[1].lower())


def _finding(figures: dict[str, int], labels: dict[str, str], pages: int) -> str:
    said = []
    if "income" in figures:
        said.append(f"income {figures['income']:,} a month")
    if "lowest_balance" in figures:
        said.append(f"lowest balance {figures['lowest_balance']:,}")
    if "price" in figures and "income" not in figures:
        on_the_road = " on the road" if "total on the road" in labels else " in all"
        said.append(f"{figures['price']:,}{on_the_road}")
    if labels.get("valid until"):
        said.append(f"valid until {labels['valid until'][:_DATE_CHARACTERS]}")
    if not said and "trading_months" in figures:
        said.append(f"trading for {figures['trading_months']} months")
    if said:
        return ", ".join(said)
    return f"{pages:,} {'page' if pages == 1 else 'pages'} read, none of the figures we look for"


def _not_read(document: Document, problem: str, remedy: str) -> Reading:
    return Reading(id=document.id, name=document.name, problem=problem, remedy=remedy)


_TEXTS = (".txt", ".csv", ".tsv", ".md", ".text")
_TABLES = (".csv", ".tsv")
_TSV = "text/tab-separated-values"
_AGAIN = "Please send it again."
_SEND_PDF = "Please send a PDF with text, a CSV or a text file."
_UNREAD = {
    pdf.LOCKED: ("has a password", "Please send one without."),
    pdf.BROKEN: ("cannot be opened as a PDF", _AGAIN),
    pdf.TOO_LARGE: ("takes too much memory to read", _SEND_PDF),
    pdf.TOO_SLOW: ("takes too long to read", _SEND_PDF),
}
_DELIMITERS = "\t;,"
_SAMPLE_CHARACTERS = 4_096
_TEXT_BYTES = 4 * MAX_CHARACTERS  # UTF-8 takes four bytes a character, at most
_LABEL_CHARACTERS = 60
_DATE_CHARACTERS = 40
_VALUE_CHARACTERS = 200
_MOST = Decimal(10) ** 12
_TRADING = re.compile(r"trading for (\d{1,4} (?:months?|years?))\b\.?$", re.IGNORECASE)
_SPAN = re.compile(r"\b(\d{1,4})\s*([my])", re.IGNORECASE)
_MONTH_OF = re.compile(r"\b([a-z]+)\s+(\d{4})\b", re.IGNORECASE)
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
