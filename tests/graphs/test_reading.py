"""What is read from documents, and what is said of those that cannot be read."""

from __future__ import annotations

import io
import mimetypes
from dataclasses import dataclass
from pathlib import Path

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs.library.reading import MAX_BYTES, read, reading, together

SAMPLES = Path(__file__).parents[2] / "bot" / "simulator" / "samples"


@dataclass(frozen=True)
class File:
    name: str
    body: bytes
    media_type: str = ""
    id: str = "D1"
    problem: str | None = None


def sample(name: str) -> File:
    return File(name, (SAMPLES / name).read_bytes(), mimetypes.guess_type(name)[0] or "")


def blank_pdf(password: str | None = None) -> bytes:
    writer, body = pypdf.PdfWriter(), io.BytesIO()
    writer.add_blank_page(72, 72)
    if password is not None:
        writer.encrypt(password, algorithm="AES-256")
    writer.write(body)
    return body.getvalue()


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        ("bank-statement-oct.pdf", "income 31,400 a month, lowest balance 2,150"),
        ("bank-statement-sep.csv", "income 30,900 a month, lowest balance 3,040"),
        ("business-letter.txt", "income 31,400 a month"),
        ("van-quote.pdf", "58,900 on the road, valid until 15 Dec 2026"),
    ],
)
async def test_the_samples_are_read(name: str, finding: str) -> None:
    found = await read(sample(name))
    assert found.problem is None
    assert found.finding == finding
    assert found.pages == 1


def test_the_figures_of_a_statement_are_found() -> None:
    assert reading(sample("bank-statement-oct.pdf")).figures == {
        "income": 31400,
        "lowest_balance": 2150,
        "instalments": 9100,
        "late_payments": 2,
        "trading_months": 14,
    }


def test_where_documents_differ_the_more_careful_figure_counts() -> None:
    assert together(
        [{"income": 31400, "late_payments": 1}, {"income": 30900, "late_payments": 2}, {}]
    ) == {"income": 30900, "late_payments": 2}


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        (File("a.pdf", b""), "is empty"),
        (File("a.txt", b" \n\t"), "is empty"),
        (File("a.txt", b"x" * (MAX_BYTES + 1)), "is larger than 10 MB"),
        (File("a.pdf", b"%PDF-1.7 nonsense"), "cannot be opened as a PDF"),
        (File("a.pdf", b"not a PDF at all"), "cannot be opened as a PDF"),
        (File("a.pdf", blank_pdf()), "has no text in it, it may be a scan"),
        (File("a.pdf", blank_pdf("secret")), "has a password"),
        (File("a.png", b"\x89PNG\r\n"), "is of a kind that cannot be read"),
        (File("a.docx", b"PK\x03\x04"), "is of a kind that cannot be read"),
        (File("a.txt", b"a\x00b"), "cannot be read as text"),
        (
            File("a.pdf", b"", problem="it is larger than 10 MB"),
            "could not be fetched: it is larger than 10 MB",
        ),
        (sample("locked-statement.pdf"), "has a password"),
        (sample("scan-without-text.pdf"), "has no text in it, it may be a scan"),
    ],
)
async def test_what_cannot_be_read_says_why_and_what_to_send(file: File, problem: str) -> None:
    found = await read(file)
    assert found.problem == problem
    assert found.remedy.startswith("Please send ")
    assert found.figures == {}


def test_a_pdf_that_opens_without_a_password_is_read_although_it_is_encrypted() -> None:
    found = reading(File("a.pdf", blank_pdf("")))
    assert found.problem == "has no text in it, it may be a scan"


def test_a_pdf_is_known_by_its_content_whatever_it_is_called() -> None:
    found = reading(File("statement.txt", (SAMPLES / "van-quote.pdf").read_bytes()))
    assert found.figures == {"price": 58900}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_texts_of_every_usual_encoding_are_read(encoding: str) -> None:
    found = reading(File("a.txt", "Café\nMonthly income: 31,400.50\n".encode(encoding)))
    assert found.figures == {"income": 31401}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_tables_of_labels_and_values_are_read(separator: str) -> None:
    lines = [("Label", "Value"), ("Monthly income", "31400"), ("Late payments", "2")]
    body = "\n".join(separator.join(line) for line in lines)
    assert reading(File("a.csv", body.encode())).figures == {"income": 31400, "late_payments": 2}


def test_trading_since_is_counted_to_the_end_of_the_statements_period() -> None:
    body = "Period: 1 September 2026 to 30 September 2026\nTrading since: October 2025\n"
    assert reading(File("a.txt", body.encode())).figures == {"trading_months": 11}


def test_a_document_without_known_figures_says_so() -> None:
    found = reading(File("a.txt", b"Dear bank, please be kind."))
    assert found.problem is None
    assert found.finding == "1 page read, none of the figures we look for"


def test_hostile_text_is_cleaned_and_cut() -> None:
    found = reading(File("a.txt", ("Monthly income: " + "9" * 50 + "\n" + "x" * 300_000).encode()))
    assert len(found.text) == 200_000
    assert found.figures == {}


@given(st.binary(), st.sampled_from(["a.pdf", "a.csv", "a.txt", "a"]))
def test_any_bytes_are_read_or_refused_in_words(body: bytes, name: str) -> None:
    for prefix in (b"", b"%PDF-1.4\n"):
        found = reading(File(name, prefix + body))
        assert (found.problem is None) == (found.finding != "")
