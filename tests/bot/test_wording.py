"""The catalogue: plain words, whole sentences, the same slots in every form and language."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from bot.wording import CATALOGUES, ENGLISH, phrase, say

SLOT = re.compile(r"\{(\w+)\}")
FORBIDDEN = re.compile(
    r"\b(thread|interrupt|node|payload|checkpoint|resume|schema|state|stale|invalid|null|can't|"
    r"please note)s?\b",
    re.IGNORECASE,
)


def forms(key: str) -> Iterator[str]:
    entry = ENGLISH[key]
    yield from entry.values() if isinstance(entry, dict) else [entry]


@pytest.mark.parametrize("key", ENGLISH)
def test_an_entry_is_plain_and_has_no_loose_markup(key: str) -> None:
    for form in forms(key):
        words = SLOT.sub("", form)
        assert not FORBIDDEN.search(words), form
        assert not re.search("[!\u2014\u2013]", words), form
        assert form.count("*") % 2 == 0
        assert "_" not in words


@pytest.mark.parametrize("key", [key for key, entry in ENGLISH.items() if isinstance(entry, dict)])
def test_an_entry_with_forms_has_one_for_every_other_count(key: str) -> None:
    entry = ENGLISH[key]
    assert isinstance(entry, dict)
    assert "other" in entry
    most = set(SLOT.findall(entry["other"])) | {"count"}
    assert all(set(SLOT.findall(form)) <= most for form in entry.values())


def test_every_language_has_the_same_entries_and_slots() -> None:
    for catalogue in CATALOGUES.values():
        assert set(catalogue) == set(ENGLISH)


def test_a_form_is_chosen_by_its_count() -> None:
    assert phrase("home.waiting", count=0) == "Nothing waits for you"
    assert phrase("home.waiting", count=1) == "1 request waits for you"
    assert phrase("home.waiting", count=7) == "7 requests wait for you"


def test_a_sentence_keeps_bold_and_slots_apart() -> None:
    pieces = list(say("private.guest", noun="*loan*").pieces())
    assert [(str(getattr(piece, "value", piece)), bold) for piece, bold in pieces] == [
        ("Guests cannot decide this ", True),
        ("*loan*", True),
        (".", True),
    ]


def test_a_missing_entry_or_slot_is_a_mistake_that_shows_at_once() -> None:
    with pytest.raises(KeyError):
        say("nothing.like.it")
    with pytest.raises(KeyError):
        phrase("footer.request")
