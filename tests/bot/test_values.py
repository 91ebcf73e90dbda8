"""Text from outside: every letter is shown, nothing of it acts."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.inline import Many, Moment, mrkdwn, names, notification, plain, rich, said
from bot.values import (
    cut,
    cut_within,
    defused,
    escape,
    flattened,
    letters,
    number,
    shorten,
    size,
    unescape,
    visible,
    worded,
)
from bot.views import Person, UserGroup
from bot.wording import say

ANY = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u200bb\ufeff", "a⟨U+200B⟩b⟨U+FEFF⟩"),
        ("a\x07b", "a⟨U+0007⟩b"),
        ("a\x00b\ud800c", "abc"),
        ("a\r\nb\rc\td", "a\nb\nc\td"),
        ("हिन्दी क्‍ष", "हिन्दी क्‍ष"),
        ("pay\u200dpal", "pay⟨U+200D⟩pal"),
        ("a\u2028b\u3164", "a⟨U+2028⟩b⟨U+3164⟩"),
        ("a\U000e0041", "a⟨U+E0041⟩"),
        ("❤\ufe0f", "❤\ufe0f"),
    ],
)
def test_what_would_be_invisible_is_shown_as_its_code(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Hi <!channel> <@U0ALICE>", "Hi channel U0ALICE"),
        ("<https://evil.example|Approve here>", "Approve here"),
        ("*bold* _it_ ~no~ `code` :tada:", "bold it no code tada"),
        ("two\nlines", "two lines"),
        ("TX_20931_A at 10:04:30", "TX_20931_A at 10:04:30"),
        ("a < b > c", "a \u2039 b \u203a c"),
        ("5 * 3, ~5%", "5 \u2217 3, \u223c5%"),
    ],
)
def test_titles_and_notifications_are_stripped_to_letters(text: str, shown: str) -> None:
    assert letters(text) == shown


@given(ANY)
def test_a_defused_text_holds_nothing_that_slack_acts_on(text: str) -> None:
    made = defused(text)
    assert not any(character in made for character in "<>*~`\n\x00\u202e")
    assert "&" not in made.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "")


@given(ANY, st.integers(1, 400))
def test_a_cut_keeps_the_beginning_and_counts_the_rest(text: str, limit: int) -> None:
    made = cut(text, limit)
    if size(text) <= limit:
        assert made == text
    else:
        assert "more characters under Details" in made
    assert size(shorten(text, limit)) <= limit
    assert size(cut_within(text, limit + 60)) <= limit + 60


def test_the_rest_of_a_long_text_is_counted_in_words() -> None:
    assert cut("a" * 7_312, 280) == "a" * 280 + " … and 7,032 more characters under Details"


def test_values_come_out_in_words() -> None:
    assert number(60_000) == "60,000"
    assert number(31_400.0) == "31,400"
    assert [worded(value) for value in (True, False, None, 42, 0.5)] == [
        "Yes",
        "No",
        "",
        "42",
        "0.5",
    ]
    assert worded([1, 2]) == "2 entries"
    assert worded(date(2026, 12, 2)) == "2026-12-02"


def test_nested_values_are_flattened_with_their_names() -> None:
    assert flattened({"risk": {"score": 71, "why": ["a", ""]}, "note": None, "none": {}}) == [
        ("risk.score", "71"),
        ("risk.why 1", "a"),
        ("risk.why 2", "empty"),
        ("note", "not given"),
        ("none", "0 entries"),
    ]


def test_slack_text_is_escaped_and_unescaped_once() -> None:
    assert escape("a & <b>") == "a &amp; &lt;b&gt;"
    assert unescape("&amp;lt; &lt;") == "&lt; <"


def test_a_time_keeps_its_word_inside_the_token_and_names_the_zone_of_its_fallback() -> None:
    at = datetime(2026, 12, 3, 18, 0, tzinfo=ZoneInfo("Asia/Kolkata"))
    by = Moment(at, "Asia/Kolkata", "by")
    assert mrkdwn(say("note.decide", by=by)) == (
        "Decide <!date^1796301000^by {date_short_pretty} at {time}|by Thu 3 Dec, 18:00 IST>."
    )
    assert rich(by)[0]._resolve() == {
        "type": "date",
        "timestamp": 1796301000,
        "format": "by {date_short_pretty} at {time}",
        "fallback": "by Thu 3 Dec, 18:00 IST",
    }
    assert Moment(at, "Asia/Kolkata", "at", near=at).fallback() == "at 18:00 IST"
    assert Moment(at, "America/Sao_Paulo", "on").fallback() == "Thu 3 Dec, 09:30 UTC-03"
    assert Moment(at, "No/Where", "on").fallback() == "Thu 3 Dec, 12:30 UTC"


def test_people_are_mentions_in_blocks_and_names_elsewhere() -> None:
    alice, dana = Person("U0ALICE", "Alice"), Person("U0DANA", "*Dana*")
    both = said("{who}")
    assert both.slots == {"it": "{who}"}
    many = say("outcome.by", who=Many((alice, dana)))
    assert mrkdwn(many) == "Approved by <@U0ALICE> and <@U0DANA>."
    assert plain(many) == "Approved by Alice and Dana."
    assert names([alice, dana, Person("")]) == "Alice, Dana and someone"
    assert mrkdwn(say("private.is_with", who=UserGroup("S0CREDIT", "credit"))) == (
        "It is with <!subteam^S0CREDIT>."
    )
    quiet = UserGroup("S0CREDIT", "credit", ping=False)
    assert mrkdwn(say("private.is_with", who=quiet)) == "It is with credit."
    assert mrkdwn(say("private.is_with", who=Person("U1|<!here>", ""))) == "It is with someone."


@given(st.lists(ANY, max_size=4), st.lists(ANY, max_size=4))
def test_a_notification_is_at_most_150_characters_whatever_comes(
    needed: list[str], extra: list[str]
) -> None:
    text = notification([said(each) for each in needed], [said(each) for each in extra])
    assert len(text) <= 150
    assert "\n" not in text


def test_a_notification_drops_the_reasons_before_it_cuts_the_subject() -> None:
    subject, until = said("Loan for Asha."), said("Decide by Thu.")
    assert notification([subject, until], [said("Risk 71."), said("b" * 140)]) == (
        "Loan for Asha. Risk 71. Decide by Thu."
    )
    assert notification([said("a" * 200), until]) == "a" * 134 + "… Decide by Thu."
