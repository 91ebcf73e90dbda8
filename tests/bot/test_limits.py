"""The last gate takes what Slack takes and refuses the next larger, limit by limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bot import limits
from bot.limits import OverLimit, check_message, check_view

JSON = dict[str, Any]


def plain(text: str) -> JSON:
    return {"type": "plain_text", "text": text, "emoji": False}


def mrkdwn(text: str) -> JSON:
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def press(**more: Any) -> JSON:
    button = {"type": "button", "action_id": "go", "text": plain("Go")}
    return button | {"accessibility_label": "Go", **more}


def section(**more: Any) -> JSON:
    return {"type": "section", "text": mrkdwn("Hello"), **more}


def actions(*elements: JSON) -> JSON:
    return {"type": "actions", "elements": list(elements)}


def presses(count: int) -> JSON:
    return actions(*(press(action_id=f"go_{number}") for number in range(count)))


def options(count: int, kind: str = "static_select", **option: Any) -> JSON:
    one = {"text": plain("One"), "value": "one", **option}
    return actions({"type": kind, "action_id": "pick", "options": [one] * count})


def confirm(**more: Any) -> JSON:
    dialog = {"title": plain("T"), "text": plain("T"), "confirm": plain("Y"), "deny": plain("N")}
    return actions(press(confirm=dialog | more))


def modal(*blocks: JSON, **more: Any) -> JSON:
    return {
        "type": "modal",
        "title": plain("Title"),
        "blocks": list(blocks or (section(),)),
        **more,
    }


def entry(**more: Any) -> JSON:
    element = {"type": "plain_text_input", "action_id": "value", **more}
    return {"type": "input", "label": plain("Label"), "element": element}


def asking(block: JSON) -> JSON:
    return modal(block, submit=plain("Send"))


def table(rows: int, columns: int) -> JSON:
    cell = {"type": "raw_text", "text": "x"}
    return {"type": "table", "rows": [[cell] * columns] * rows}


def rich(text: str) -> JSON:
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
    return {"type": "rich_text", "elements": [section]}


MESSAGES: dict[str, tuple[int, Callable[[int], list[JSON]]]] = {
    "blocks in a message": (50, lambda n: [{"type": "divider"}] * n),
    "section text": (3_000, lambda n: [section(text=mrkdwn("a" * n))]),
    "section fields": (10, lambda n: [section(fields=[mrkdwn("a")] * n)]),
    "one field": (2_000, lambda n: [section(fields=[mrkdwn("a" * n)])]),
    "header": (150, lambda n: [{"type": "header", "text": plain("a" * n)}]),
    "header in wide letters": (150, lambda n: [{"type": "header", "text": plain("a" * n)}]),
    "actions elements": (25, lambda n: [presses(n)]),
    "context elements": (10, lambda n: [{"type": "context", "elements": [mrkdwn("a")] * n}]),
    "button text": (75, lambda n: [actions(press(text=plain("a" * n)))]),
    "button value": (2_000, lambda n: [actions(press(value="a" * n))]),
    "button url": (3_000, lambda n: [actions(press(url="a" * n))]),
    "accessibility label": (75, lambda n: [actions(press(accessibility_label="a" * n))]),
    "action_id": (255, lambda n: [actions(press(action_id="a" * n))]),
    "block_id": (255, lambda n: [section(block_id="a" * n)]),
    "option text": (75, lambda n: [options(1, text=plain("a" * n))]),
    "option value": (150, lambda n: [options(1, value="a" * n)]),
    "option description": (75, lambda n: [options(1, description=plain("a" * n))]),
    "options": (100, lambda n: [options(n)]),
    "radio buttons": (10, lambda n: [options(n, "radio_buttons")]),
    "checkboxes": (10, lambda n: [options(n, "checkboxes")]),
    "overflow": (5, lambda n: [options(n, "overflow")]),
    "confirm title": (100, lambda n: [confirm(title=plain("a" * n))]),
    "confirm text": (300, lambda n: [confirm(text=plain("a" * n))]),
    "confirm button": (30, lambda n: [confirm(confirm=plain("a" * n))]),
    "confirm deny": (30, lambda n: [confirm(deny=plain("a" * n))]),
    "markdown": (12_000, lambda n: [{"type": "markdown", "text": "a" * n}]),
    "table rows": (100, lambda n: [table(n, 1)]),
    "table columns": (20, lambda n: [table(1, n)]),
    "rich text run": (3_000, lambda n: [rich("a" * n)]),
}
VIEWS: dict[str, tuple[int, Callable[[int], JSON]]] = {
    "blocks in a view": (100, lambda n: modal(*([section()] * n))),
    "blocks in a home": (100, lambda n: {"type": "home", "blocks": [section()] * n}),
    "title": (24, lambda n: modal(title=plain("a" * n))),
    "submit": (24, lambda n: modal(submit=plain("a" * n))),
    "close": (24, lambda n: modal(close=plain("a" * n))),
    "private_metadata": (3_000, lambda n: modal(private_metadata="a" * n)),
    "callback_id": (255, lambda n: modal(callback_id="a" * n)),
    "external_id": (255, lambda n: modal(external_id="a" * n)),
    "label": (2_000, lambda n: asking(entry() | {"label": plain("a" * n)})),
    "hint": (2_000, lambda n: asking(entry() | {"hint": plain("a" * n)})),
    "placeholder": (150, lambda n: asking(entry(placeholder=plain("a" * n)))),
    "max_length": (3_000, lambda n: asking(entry(max_length=n))),
    "initial_value": (3_000, lambda n: asking(entry(initial_value="a" * n))),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_passes_at_its_limit_and_is_refused_one_above(name: str) -> None:
    limit, make = MESSAGES[name]
    check_message("text", make(limit))
    with pytest.raises(OverLimit):
        check_message("text", make(limit + 1))


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_passes_at_its_limit_and_is_refused_one_above(name: str) -> None:
    limit, make = VIEWS[name]
    check_view(make(limit))
    with pytest.raises(OverLimit):
        check_view(make(limit + 1))


WRONG: dict[str, list[JSON]] = {
    "a header that is not plain": [{"type": "header", "text": mrkdwn("a")}],
    "a section of nothing": [{"type": "section"}],
    "an empty text": [section(text=mrkdwn(""))],
    "an overflow of one": [options(1, "overflow")],
    "a menu of none": [options(0)],
    "an action_id twice": [actions(press(), press())],
    "a block_id twice": [section(block_id="a"), section(block_id="a")],
    "a style that is none": [actions(press(style="green"))],
    "two primaries": [actions(press(style="primary"), press(action_id="b", style="primary"))],
    "a button nobody can hear": [actions(press(accessibility_label=None))],
    "a confirm in mrkdwn": [confirm(text=mrkdwn("a"))],
    "an input in a message": [entry()],
    "a NUL": [section(text=mrkdwn("a\x00b"))],
    "a lone surrogate": [rich("a\ud800b")],
    "an empty rich text": [{"type": "rich_text", "elements": []}],
    "an empty list": [{"type": "rich_text", "elements": [{"type": "rich_text_list"}]}],
    "a new block that old clients do not show": [{"type": "card"}],
    "no elements": [actions()],
    "markdown in several blocks": [{"type": "markdown", "text": "a" * 6_001}] * 2,
    "letters that Slack counts twice": [{"type": "header", "text": plain("😀" * 76)}],
}


@pytest.mark.parametrize("name", WRONG)
def test_what_slack_does_not_take_is_refused(name: str) -> None:
    with pytest.raises(OverLimit):
        check_message("text", WRONG[name])


def test_a_whole_message_has_a_limit_of_its_own() -> None:
    check_message("text", [section(text=mrkdwn("a" * 2_900))] * 4)
    with pytest.raises(OverLimit, match="in all, at most 13000"):
        check_message("text", [section(text=mrkdwn("a" * 2_900))] * 5)


def test_a_message_needs_its_notification() -> None:
    with pytest.raises(OverLimit, match="text"):
        check_message("", [section()])
    check_message("a" * 4_000, [section()])
    with pytest.raises(OverLimit, match="text"):
        check_message("a" * 4_001, [section()])


def test_a_modal_with_inputs_needs_a_submit_button() -> None:
    with pytest.raises(OverLimit, match="submit"):
        check_view(modal(entry()))


def test_a_view_is_a_modal_or_a_home_and_a_modal_has_a_title() -> None:
    for wrong in (
        {"type": "page", "blocks": [section()]},
        {"type": "modal", "blocks": [section()]},
    ):
        with pytest.raises(OverLimit):
            check_view(wrong)
    with pytest.raises(OverLimit):
        check_view({"type": "home", "blocks": []})


def test_a_view_may_not_weigh_more_than_250_kb() -> None:
    heavy = [section(text=mrkdwn("a" * 2_990)) for _ in range(90)]
    with pytest.raises(OverLimit, match="bytes"):
        check_view(modal(*heavy))


def test_the_error_names_the_block_and_what_is_wrong() -> None:
    bad = section(block_id="status", text=mrkdwn("a" * 3_001))
    with pytest.raises(OverLimit) as caught:
        check_message("text", [section(), bad])
    assert caught.value.where == "block 2 (section status) text"
    assert str(caught.value) == (
        "Slack would refuse this at block 2 (section status) text: "
        "3001 characters, at most 3000. Mend what builds it."
    )


def test_fits_says_the_same_without_raising() -> None:
    assert limits.fits("text", [section()])
    assert not limits.fits("text", [section(text=mrkdwn("a" * 3_001))])
