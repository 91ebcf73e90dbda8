"""The demo's documents can be read, or cannot, just as the story needs them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pypdf import PdfReader

from bot.simulator import cast
from bot.simulator.acts import SAMPLES


def text_of(name: str) -> list[str]:
    return [
        line.strip()
        for page in PdfReader(SAMPLES / name).pages
        for line in page.extract_text().splitlines()
    ]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "bank-statement-oct.pdf",
            [
                "Monthly income: 31,400",
                "Lowest balance: 2,150",
                "Late payments in 12 months: 2",
                "Existing instalments: 9,100",
                "Trading since: October 2025",
                "Trading for 14 months",
            ],
        ),
        ("van-quote.pdf", ["Total on the road: 58,900", "Valid until: 15 Dec 2026"]),
    ],
)
def test_a_pdf_says_its_findings_in_plain_lines(name: str, lines: list[str]) -> None:
    assert set(lines) <= set(text_of(name))


def test_two_documents_cannot_be_read() -> None:
    assert text_of("scan-without-text.pdf") == []
    assert PdfReader(SAMPLES / "locked-statement.pdf").is_encrypted


def test_every_sample_is_offered_by_the_page() -> None:
    assert {path.name for path in Path(SAMPLES).iterdir()} == set(cast.SAMPLES)
