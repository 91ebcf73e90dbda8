"""What is read from documents, and what is said of those that cannot be read."""

from __future__ import annotations

import asyncio
import io
import mimetypes
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

import psutil
import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs.library import apart, pdf
from graphs.library.reading import MAX_BYTES, read, reading, together
from tests import zygote

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
        (File("a.pdf", b"%PDF-1.7" + b"x" * 9_000_000), "cannot be opened as a PDF"),
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


@pytest.mark.parametrize(
    "body",
    [
        b',"a",\n' + b'"' * 4_000 + b"a",
        b'"' * 200_000,
        b'",' * 100_000,
        b'a,"b\n' * 50_000,
        b"Label: 1 " * 25_000,
        b"a:1\n" * 60_000,
        b"Trading for: 1" + b" " * 190_000,
        b"Trading since: " + b"a" * 190_000,
        b"Period: x to " + b"a " * 95_000 + b"\nTrading since: May 2020",
        b"\x81" * 10_000_000,
        b"\xff\xfe" + b"\x00\xd8" * 5_000_000,
    ],
    ids=lambda body: repr(body[:12]),
)
async def test_no_text_or_table_holds_anything_up(body: bytes) -> None:
    started = time.process_time()
    for name in ("a.csv", "a.txt"):
        assert (await read(File(name, body))).problem is None
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ('"Monthly income";"31,400"\n"Late payments";"2"', {"income": 31400, "late_payments": 2}),
        ("Monthly income;31,400\nPrice;58,900", {"income": 31400, "price": 58900}),
        ('Monthly income, "31,400"\nLate payments, 2', {"income": 31400, "late_payments": 2}),
        ("Statement, of September\nMonthly income\t31400\nPrice\t5", {"income": 31400, "price": 5}),
        ("Monthly income: 31400", {"income": 31400}),
    ],
)
def test_the_delimiter_is_what_most_lines_agree_on(text: str, figures: dict[str, int]) -> None:
    assert reading(File("a.csv", text.encode())).figures == figures


def heavy_pdf(pages: int = 100, operators: int = 150_000) -> bytes:
    """A small PDF of minutes of work: its pages share one long stream that shows nothing."""
    content = zlib.compress(b"BT /F 12 Tf " + b"() Tj " * operators + b"ET", 9)
    page = (
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 3 0 R"
        b"/Resources<</Font<</F 4 0 R>>>>>>"
    )
    kids = b" ".join(b"%d 0 R" % (5 + number) for number in range(pages))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%b]/Count %d>>" % (kids, pages),
        b"<</Length %d/Filter/FlateDecode>>stream\n%b\nendstream" % (len(content), content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        *[page] * pages,
    ]
    body, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%b\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return (
        body
        + b"xref\n0 %d\n0000000000 65535 f \n%b" % (size, table)
        + b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, len(body))
    )


def readers() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if child.pid != zygote.pid()]


async def test_heavy_pdfs_hold_up_no_text_and_no_other_pdf_for_long() -> None:
    """One more than have their turn at once: the innocent ones are read all the same."""
    body = heavy_pdf()
    assert len(body) < 20_000
    heavy = [
        asyncio.create_task(apart.text_of(body, cpu_seconds=1)) for _ in range(apart.AT_ONCE + 1)
    ]
    await asyncio.sleep(0)
    text = await read(File("a.txt", b"Monthly income: 5000"))
    assert text.figures == {"income": 5000}
    assert not any(task.done() for task in heavy)
    assert (await read(sample("van-quote.pdf"))).figures == {"price": 58900}
    assert {found.unread for found in await asyncio.gather(*heavy)} == {pdf.TOO_SLOW}
    assert readers() == []


async def test_a_heavy_pdf_is_ended_by_its_share_of_the_processor() -> None:
    assert await apart.text_of(heavy_pdf(), cpu_seconds=1) == pdf.Pdf(unread=pdf.TOO_SLOW)


async def test_a_pdf_that_takes_too_long_is_ended_and_leaves_no_process() -> None:
    started = time.monotonic()
    assert (await apart.text_of(heavy_pdf(), wall_seconds=0.5)).unread == pdf.TOO_SLOW
    assert time.monotonic() - started < apart.CPU_SECONDS  # it has not come to its end by itself
    assert readers() == []


async def test_a_reading_that_is_cancelled_leaves_no_process() -> None:
    task = asyncio.create_task(apart.text_of(heavy_pdf()))
    async with asyncio.timeout(20):
        while not any(one.cpu_times().user > 0.5 for one in readers()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - started < apart.CPU_SECONDS / 2
    assert readers() == []


async def test_the_wait_for_a_turn_is_not_counted_as_reading() -> None:
    started = time.monotonic()
    heavy = [apart.text_of(heavy_pdf(), wall_seconds=0.5) for _ in range(2 * apart.AT_ONCE)]
    assert {found.unread for found in await asyncio.gather(*heavy)} == {pdf.TOO_SLOW}
    assert time.monotonic() - started >= 1.0


@given(st.binary(), st.sampled_from(["a.pdf", "a.csv", "a.txt", "a"]))
def test_any_bytes_are_read_or_refused_in_words(body: bytes, name: str) -> None:
    for prefix in (b"", b"%PDF-1.4\n"):
        found = reading(File(name, prefix + body))
        assert (found.problem is None) == (found.finding != "")
