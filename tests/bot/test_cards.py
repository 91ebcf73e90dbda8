"""Every card, window and message: golden files through the last gate, and the rules of words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot import limits, notices
from bot.cards import render
from bot.simulator import strictness
from bot.views import Refused, Status
from graphs.questions import Choice, Group, Line
from tests.bot import (
    action_samples,
    card_samples,
    cover_samples,
    stage_samples,
    talk_samples,
    window_samples,
)
from tests.bot.card_samples import HOSTILE, LOAN, LOAN_SHOWN

FORBIDDEN = re.compile(
    r"\b(threads?|interrupts?|nodes?|payloads?|checkpoints?|resume[ds]?|schemas?|states?|stale|"
    r"invalid|null|please note)\b",
    re.IGNORECASE,
)
MARKS = re.compile(
    r":(hourglass_flowing_sand|alarm_clock|arrow_forward|x|white_check_mark|warning|"
    r"black_square_for_stop|leftwards_arrow_with_hook|double_vertical_bar):"
)
CARDS = {**card_samples.CARDS, **action_samples.CARDS, **talk_samples.CARDS}
CARDS |= stage_samples.CARDS | cover_samples.CARDS
REFUSALS = {**window_samples.REFUSALS, **action_samples.REFUSALS, **talk_samples.REFUSALS}
REFUSALS |= stage_samples.REFUSALS | cover_samples.REFUSALS
MESSAGES = {**window_samples.MESSAGES, **action_samples.MESSAGES, **talk_samples.MESSAGES}
MESSAGES |= stage_samples.MESSAGES | cover_samples.MESSAGES
VIEWS = {**window_samples.VIEWS, **action_samples.VIEWS, **talk_samples.VIEWS}
VIEWS |= stage_samples.VIEWS | cover_samples.VIEWS
GOLDEN = Path(__file__).parent / "golden"
Golden = Callable[[str, dict[str, Any]], None]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a payload with its golden file, byte for byte; --update-golden writes it anew."""

    def compare(name: str, payload: dict[str, Any]) -> None:
        file = GOLDEN / f"{name}.json"
        text = json.dumps(payload, indent=2, ensure_ascii=False) + "\n"
        if request.config.getoption("--update-golden", default=False):
            file.write_text(text, encoding="utf-8")
        assert file.exists(), f"{file.name} is missing: run pytest tests/bot --update-golden"
        assert text.encode() == file.read_bytes(), f"{file.name} differs: look, then update it"

    return compare


def payloads() -> dict[str, dict[str, Any]]:
    """Everything that people are shown, by the name of its golden file."""
    made: dict[str, dict[str, Any]] = {}
    for name, card in CARDS.items():
        payload = render(card)
        made[name] = {"text": payload.text, "blocks": payload.blocks}
    for name, refusal in REFUSALS.items():
        payload = notices.refused(refusal)
        made[name] = {"text": payload.text, "blocks": payload.blocks}
    for name, make in MESSAGES.items():
        payload = make()
        made[name] = {"text": payload.text, "blocks": payload.blocks}
    for name, view in VIEWS.items():
        made[name] = view()
    return made


ALL = payloads()
MESSAGE_NAMES = [name for name, payload in ALL.items() if "text" in payload]


def walk(value: Any) -> Iterator[dict[str, Any]]:
    """Every dictionary in a payload, outermost first."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from walk(inner)


def words(payload: dict[str, Any]) -> list[str]:
    """Every text that a person can read in it, tokens and marks left out."""
    texts = [payload["text"]] if isinstance(payload.get("text"), str) else []
    for part in walk(payload):
        seen = [part.get(name) for name in ("text", "fallback", "accessibility_label")]
        texts += [text for text in seen if isinstance(text, str) and part is not payload]
    return [re.sub(r"<[^>]*>|:[a-z_]+:|sayso threads show", " ", text) for text in texts]


def buttons(payload: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for part in walk(payload) if part.get("type") == "button"]


@pytest.mark.parametrize("name", ALL)
def test_what_people_see_is_what_the_golden_file_says(name: str, golden: Golden) -> None:
    golden(name, ALL[name])


def test_every_golden_file_is_still_made_by_something() -> None:
    files = {file.stem for file in GOLDEN.glob("*.json")}
    assert files == set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_everything_passes_the_last_gate(name: str) -> None:
    payload = ALL[name]
    if "text" in payload:
        limits.check_message(payload["text"], payload["blocks"])
    else:
        limits.check_view(payload)


@pytest.mark.parametrize("name", ALL)
def test_everything_passes_the_rules_that_the_local_slack_has_of_its_own(name: str) -> None:
    payload = ALL[name]
    if "text" in payload:
        strictness.check_message(payload["blocks"])
    else:
        strictness.check_view(payload, payload["type"])


@pytest.mark.parametrize("name", [name for name in ALL if "hostile" not in name])
def test_no_word_of_ours_is_loud_or_technical(name: str) -> None:
    for text in words(ALL[name]):
        assert "!" not in text
        assert "\u2014" not in text
        assert "\u2013" not in text
        assert not FORBIDDEN.search(text), text


@pytest.mark.parametrize("name", ALL)
def test_there_is_at_most_one_mark_and_never_in_the_title(name: str) -> None:
    said = [part["text"] for part in walk(ALL[name]) if part.get("type") == "mrkdwn"]
    assert sum(len(MARKS.findall(text)) for text in said) <= 1
    titles = [block for block in ALL[name]["blocks"] if block["type"] == "header"]
    assert not any(MARKS.search(json.dumps(title)) for title in titles)


@pytest.mark.parametrize("name", MESSAGE_NAMES)
def test_the_notification_is_one_short_line_without_markup(name: str) -> None:
    text = ALL[name]["text"]
    assert 0 < len(text) <= 150
    assert "\n" not in text
    assert not re.search(r"[<>*`~]|(?<!\w)_|:[a-z_]+:", text)


@pytest.mark.parametrize("name", CARDS)
def test_the_header_alone_names_the_request_and_never_changes(name: str) -> None:
    header = ALL[name]["blocks"][0]
    assert header["type"] == "header"
    assert len(header["text"]["text"]) <= 80
    if name.startswith("loan-") and "hostile" not in name:
        assert header["text"]["text"] == LOAN_SHOWN.title


@pytest.mark.parametrize("name", ALL)
def test_rows_of_buttons_are_short_labelled_and_have_one_primary(name: str) -> None:
    for part in walk(ALL[name]):
        if part.get("type") == "actions":
            assert len(part["elements"]) <= 5
            assert sum(each.get("style") == "primary" for each in part["elements"]) <= 1
    for button in buttons(ALL[name]):
        assert len(button["text"]["text"]) <= 24
        assert button["accessibility_label"]


@pytest.mark.parametrize("name", CARDS)
def test_a_button_carries_the_review_and_its_revision_and_nothing_else(name: str) -> None:
    for button in buttons(ALL[name]):
        assert re.fullmatch(r"\d+\.\d+", button["value"])


@pytest.mark.parametrize("name", ALL)
def test_our_own_sentences_are_verbatim_and_plain_text_shows_no_emoji(name: str) -> None:
    for part in walk(ALL[name]):
        if part.get("type") == "mrkdwn":
            assert part["verbatim"] is True
        if part.get("type") == "plain_text":
            assert part["emoji"] is False


@pytest.mark.parametrize("name", [name for name in CARDS if "-open" not in name])
def test_a_closed_card_is_short(name: str) -> None:
    if CARDS[name].status is not Status.OPEN:
        assert 3 <= len(ALL[name]["blocks"]) <= 6


@pytest.mark.parametrize("name", [name for name in CARDS if "open" in name])
def test_an_open_card_says_what_happens_then_and_has_its_buttons(name: str) -> None:
    card, view = ALL[name], CARDS[name]
    most = 15 + 2 * min(len(view.actions), 5) + 7 * (len(view.actions) > 5)
    assert len(card["blocks"]) <= most + min(len(view.talk), 6)
    said = json.dumps(card)
    assert "If nobody" in said
    found = {button["action_id"] for button in buttons(card)}
    menus = [part for part in walk(card) if part.get("type") == "static_select"]
    found |= {option["value"].split(".")[0] for menu in menus for option in menu["options"]}
    assert {choice.verb for choice in view.shown.choices} <= found


@pytest.mark.parametrize("name", [name for name in CARDS if "running" in name or "done" in name])
def test_a_decided_card_has_no_button_that_decides(name: str) -> None:
    decisions = {choice.verb for choice in CARDS[name].shown.choices}
    assert not decisions & {button["action_id"] for button in buttons(ALL[name])}


def test_the_row_version_is_in_every_block_id_of_a_card() -> None:
    earlier = {block["block_id"] for block in render(replace(LOAN, row=3)).blocks}
    later = {block["block_id"] for block in render(replace(LOAN, row=4)).blocks}
    assert not earlier & later


def test_hostile_text_stays_letters_in_rich_text_and_never_reaches_mrkdwn_alive() -> None:
    card = ALL["loan-hostile"]
    for part in walk(card):
        if part.get("type") == "mrkdwn":
            assert "<!channel>" not in part["text"]
            assert "<https" not in part["text"]
        assert part.get("type") not in ("link", "emoji", "broadcast")
    runs = [part["text"] for part in walk(card) if part.get("type") == "text"]
    assert any("<!channel>" in run for run in runs)
    assert all("\u202e" not in run for run in runs)
    assert any("⟨U+202E⟩" in run for run in runs)


def test_time_that_ran_out_is_never_called_a_rejection() -> None:
    for name in ("loan-expired", "question-expired", "dictionary-expired", "outcome-expired"):
        said = " ".join(words(ALL[name]))
        assert "ejected by" not in said
        assert "Rejected" not in said


def test_every_refusal_says_that_nothing_came_of_it() -> None:
    nothing = re.compile(
        r"[Nn]othing was (changed|decided|shown|started)|not counted|changed nothing"
    )
    for name in REFUSALS:
        assert nothing.search(" ".join(words(ALL[name]))), name
    assert {refusal.kind for refusal in REFUSALS.values()} == set(Refused)


def test_what_is_left_out_of_the_evidence_is_counted() -> None:
    group = Group("Found", tuple(Line(f"Finding {number}") for number in range(100)))
    card = render(replace(LOAN, shown=replace(LOAN_SHOWN, groups=(group,) * 5)))
    said = json.dumps(card.blocks)
    assert "and 96 more under Details" in said
    assert "2 more findings are under Details." in said
    long = replace(LOAN_SHOWN, groups=(Group("Found", (Line("a" * 500),)),))
    assert "and 380 more characters under Details" in json.dumps(
        render(replace(LOAN, shown=long)).blocks
    )


def test_a_card_that_would_be_too_big_shows_less_evidence_and_keeps_its_buttons() -> None:
    wide = Group("\u202e" * 400, tuple(Line("\u202e" * 400, "\u202e" * 400) for _ in range(9)))
    card = render(replace(LOAN, shown=replace(LOAN_SHOWN, groups=(wide,) * 9)))
    assert limits.characters(card.blocks) <= limits.MESSAGE_CHARACTERS
    assert {"approve", "reject"} <= {
        button["action_id"] for button in buttons({"blocks": card.blocks})
    }


def test_two_primaries_and_a_verb_that_stands_twice_do_not_reach_slack() -> None:
    choices = (
        Choice("a", "A", "primary"),
        Choice("b", "B", "primary"),
        Choice("a", "A again"),
        *(Choice(f"more_{number}", f"More {number}") for number in range(9)),
    )
    card = render(replace(LOAN, shown=replace(LOAN_SHOWN, choices=choices)))
    found = [button["action_id"] for button in buttons({"blocks": card.blocks})]
    (menu,) = [part for part in walk(card.blocks) if part.get("type") == "static_select"]
    assert found.count("a") == 1
    assert len(found) == 8 + 2
    assert [option["value"] for option in menu["options"]] == [
        f"more_{number}.{LOAN.ref}" for number in (6, 7, 8)
    ]


def test_an_open_action_has_its_own_buttons_and_a_decided_one_its_values_and_none() -> None:
    card = ALL["refund-open-1-of-2"]
    verbs = [button["action_id"] for button in buttons(card)]
    assert verbs == ["approve:1", "edit:1", "reject:1", "details"]
    first = next(block for block in card["blocks"] if block["block_id"].startswith("action_1"))
    assert "approved by" in json.dumps(first)
    assert "A-2231" in json.dumps(first)


def test_an_edited_value_is_struck_through_beside_the_new_one_in_bold() -> None:
    runs = [part for part in walk(ALL["refund-open-1-edited"]) if part.get("type") == "text"]
    assert {"strike": True} in [run.get("style") for run in runs if run["text"] == "4,000"]
    assert {"bold": True} in [run.get("style") for run in runs if run["text"] == "3,500"]


def test_beyond_five_an_action_is_a_line_with_review_and_the_rest_is_counted() -> None:
    card = ALL["refund-open-14"]
    verbs = [button["action_id"] for button in buttons(card)]
    assert [verb for verb in verbs if verb.startswith("review:")] == [
        f"review:{item}" for item in (5, 7, 8, 9, 10, 11)
    ]
    assert "Show the other 3" in json.dumps(card)
    assert "Approve the other 12" in json.dumps(card)


def test_a_warning_is_read_before_an_approval_and_asked_about_again() -> None:
    card = ALL["refund-open-rewound"]
    warning = action_samples.CARDS["refund-open-rewound"].warning
    assert warning in json.dumps(card["blocks"][2])
    asks = [each for each in buttons(card) if each["action_id"].startswith("approve")]
    assert len(asks) == 3
    assert all(warning == each["confirm"]["text"]["text"] for each in asks)


def test_where_rules_differ_each_action_says_who_decides_it() -> None:
    said = json.dumps(ALL["refund-open-two-rules"])
    assert said.count("Who decides: ") == 2
    assert "Who decides  " not in said


def test_a_menu_of_one_is_a_button() -> None:
    card = render(replace(LOAN, offers=frozenset({"details", "history"})))
    assert "history" in {button["action_id"] for button in buttons({"blocks": card.blocks})}
    assert not [part for part in walk(card.blocks) if part.get("type") == "overflow"]


def test_somebody_without_an_id_is_named_and_never_mentioned() -> None:
    someone = replace(LOAN.requester, id="U1> <!channel", name=HOSTILE)
    card = render(replace(LOAN, requester=someone))
    assert "<!channel>" not in json.dumps(
        [part for part in walk(card.blocks) if part.get("type") == "mrkdwn"]
    )
    assert not [part for part in walk(card.blocks) if part.get("user_id", "").startswith("U1>")]
