"""What a document says: its text, the figures found in it, or why it could not be read.

A document that cannot be read is a result, not an error: its `problem` is a clause that goes on
after the file's name ("has a password"), its `remedy` a sentence for whoever sent it.
Figures are taken from lines of the form "Label: value" and from tables of labels and values; the
labels stand in `FIGURES`. Where two documents differ, `together` keeps the more careful figure.
Figures are whole units of money, rounded; nothing is computed in floats.
"""

from __future__ import annotations

import asyncio
import csv
import io
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import PurePath
from typing import Protocol

import pypdf
from pypdf.errors import FileNotDecryptedError

from checkpoints.text import clean
from graphs.library.amounts import amounts

MAX_BYTES = 10 * 1024 * 1024
MAX_PAGES = 100
MAX_CHARACTERS = 200_000
READING_SECONDS = 30.0

logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns of every oddity it reads around


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
    """Read a document off the loop, within the limits; never raises for what is in it."""
    try:
        async with asyncio.timeout(READING_SECONDS):
            return await asyncio.to_thread(reading, document)
    except TimeoutError:
        return _not_read(document, "takes too long to read", _SEND_PDF)


def reading(document: Document) -> Reading:
    """Read a document here and now: PDF, CSV or plain text, by its content first."""
    body = document.body
    if document.problem:
        return refused(document.id, document.name, document.problem)
    if len(body) > MAX_BYTES:
        return _not_read(document, "is larger than 10 MB", "Please send a smaller one.")
    if not body.strip():
        return _not_read(document, "is empty", _AGAIN)
    ending = PurePath(document.name.lower()).suffix
    is_pdf = ending == ".pdf" or document.media_type.split(";")[0] == "application/pdf"
    if body[:1024].lstrip().startswith(b"%PDF-") or is_pdf:
        return _pdf(document)
    if ending not in _TEXTS and not document.media_type.startswith("text/"):
        return _not_read(document, "is of a kind that cannot be read", _SEND_PDF)
    text = _decoded(body)
    if text is None:
        return _not_read(document, "cannot be read as text", _SEND_PDF)
    if ending in _TABLES or document.media_type.split(";")[0] in ("text/csv", _TSV):
        text = _as_lines(text)
    return _with_findings(document, text, pages=1)


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


def _pdf(document: Document) -> Reading:
    try:
        reader = pypdf.PdfReader(io.BytesIO(document.body))
        if reader.is_encrypted and not reader.decrypt(""):
            return _not_read(document, "has a password", "Please send one without.")
        pages = reader.pages[:MAX_PAGES]
        parts, characters = [], 0
        for page in pages:
            parts.append(page.extract_text())
            characters += len(parts[-1])
            if characters > MAX_CHARACTERS:
                break
    except FileNotDecryptedError:
        return _not_read(document, "has a password", "Please send one without.")
    except Exception as error:  # a hostile file may make the parser raise anything at all
        logging.getLogger(__name__).info("a PDF could not be read: %s", type(error).__name__)
        return _not_read(document, "cannot be opened as a PDF", _AGAIN)
    text = "\n".join(parts)
    if not text.strip():
        return _not_read(
            document,
            "has no text in it, it may be a scan",
            "Please send one with text that can be selected.",
        )
    return _with_findings(document, text, pages=len(reader.pages))


def _decoded(body: bytes) -> str | None:
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", errors="replace")
    if b"\x00" in body:
        return None
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("cp1252", errors="replace")


def _as_lines(text: str) -> str:
    """A table of labels and values as "Label: value" lines; other rows keep their commas."""
    try:
        dialect = csv.Sniffer().sniff(text[:4_096], delimiters=",;\t")
    except csv.Error:
        dialect = csv.excel
    lines = []
    try:
        for row in csv.reader(io.StringIO(text[:MAX_CHARACTERS]), dialect):
            cells = [cell.strip() for cell in row if cell.strip()]
            lines.append(": ".join(cells) if len(cells) == 2 else ", ".join(cells))
    except csv.Error:
        return text
    return "\n".join(lines)


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
