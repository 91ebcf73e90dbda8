"""Every limit of Slack's that the local Slack keeps: what is sent, and how it is refused."""

from __future__ import annotations

from typing import Any

import pytest

from bot.simulator import strictness
from bot.simulator.errors import Refused
from tests.simulator.conftest import actions, button, field_, modal, mrkdwn, plain, section

JSON = dict[str, Any]


def options(count: int, **more: Any) -> list[JSON]:
    return [{"text": plain(f"Option {n}"), "value": f"v{n}", **more} for n in range(count)]


def menu(kind: str = "static_select", count: int = 2, **more: Any) -> JSON:
    return {"type": kind, "action_id": "menu", "options": options(count), **more}


def rich(*runs: JSON) -> JSON:
    part = {"type": "rich_text_section", "elements": list(runs)}
    return {"type": "rich_text", "elements": [part]}


def confirm(**more: Any) -> JSON:
    fields = {"title": "Sure", "text": "It is paid.", "confirm": "Yes", "deny": "No"}
    return {**{key: plain(text) for key, text in fields.items()}, **more}


def table(rows: int, columns: int) -> JSON:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": "a"}] * columns] * rows}


GOOD_BLOCKS: dict[str, list[JSON]] = {
    "everything at its limit": [
        {"type": "header", "text": plain("h" * 150)},
        section("s" * 3000),
        {"type": "section", "fields": [mrkdwn("f")] * 10},
        {"type": "context", "elements": [mrkdwn("c")] * 10},
        actions(*[button("b" * 75, f"a{n}", value="v") for n in range(25)]),
        {"type": "divider"},
    ],
    "fifty blocks": [{"type": "divider"}] * 50,
    "menus": [
        actions(
            menu("overflow", 5),
            {**menu("radio_buttons", 10), "action_id": "radio"},
            {**menu("checkboxes", 10), "action_id": "boxes"},
            {**menu("static_select", 100), "action_id": "select"},
        )
    ],
    "rich text": [
        rich(
            {"type": "text", "text": "Asked by ", "style": {"bold": True}},
            {"type": "user", "user_id": "U0BOB"},
            {"type": "usergroup", "usergroup_id": "S0CREDIT"},
            {"type": "date", "timestamp": 1796010120, "format": "{time}", "fallback": "09:12"},
            {"type": "emoji", "name": "x"},
            {"type": "link", "url": "https://example.com"},
        )
    ],
    "a table and markdown": [table(100, 20), {"type": "markdown", "text": "m" * 9000}],
    "a confirm dialog": [actions(button(confirm=confirm(style="danger")))],
    "an accessory": [section(accessory=button(style="primary"))],
    "an image": [{"type": "image", "image_url": "https://example.com/a.png", "alt_text": "a"}],
}

BAD_BLOCKS: dict[str, tuple[list[Any], str]] = {
    "a block of no kind": ([{"text": plain("x")}], "missing required field: type"),
    "an unknown block": ([{"type": "carousel"}], "unsupported type: carousel"),
    "a block that is text": (["x"], "must be an object"),
    "an unknown field": ([section(colour="red")], "invalid additional property: colour"),
    "fifty-one blocks": ([{"type": "divider"}] * 51, "no more than 50 items"),
    "a long section": ([section("s" * 3001)], "must be less than 3001 characters"),
    "an empty section text": ([section("")], "must be more than 0 characters"),
    "an empty section": ([{"type": "section"}], "must have one of: text, fields"),
    "eleven fields": ([{"type": "section", "fields": [mrkdwn("f")] * 11}], "no more than 10"),
    "a long field": ([{"type": "section", "fields": [mrkdwn("f" * 2001)]}], "less than 2001"),
    "a long header": ([{"type": "header", "text": plain("h" * 151)}], "less than 151"),
    "a header in mrkdwn": ([{"type": "header", "text": mrkdwn("h")}], "mrkdwn is no plain text"),
    "emoji in mrkdwn": ([section() | {"text": {**mrkdwn("x"), "emoji": True}}], "property: emoji"),
    "verbatim in plain text": (
        [{"type": "header", "text": {**plain("x"), "verbatim": True}}],
        "property: verbatim",
    ),
    "eleven context elements": (
        [{"type": "context", "elements": [mrkdwn("c")] * 11}],
        "no more than 10",
    ),
    "no actions": ([actions()], "no fewer than 1"),
    "twenty-six actions": (
        [actions(*[button("b", f"a{n}") for n in range(26)])],
        "no more than 25",
    ),
    "a text input among actions": (
        [actions({"type": "plain_text_input", "action_id": "x"})],
        "no element of an actions block",
    ),
    "a long button": ([actions(button("b" * 76))], "less than 76"),
    "a long button value": ([actions(button(value="v" * 2001))], "less than 2001"),
    "a long button url": ([actions(button(url="https://" + "u" * 3000))], "less than 3001"),
    "a script as url": ([actions(button(url="javascript:alert(1)"))], "does not match"),
    "a long action_id": ([actions(button(action_id="a" * 256))], "less than 256"),
    "an empty action_id": ([actions(button(action_id=""))], "more than 0"),
    "a long block_id": ([section(block_id="b" * 256)], "less than 256"),
    "a style of one's own": ([actions(button(style="warning"))], "one of: primary, danger"),
    "a default style": ([actions(button(style="default"))], "one of: primary, danger"),
    "a long accessibility label": (
        [actions(button(accessibility_label="a" * 76))],
        "less than 76",
    ),
    "an action_id twice in a block": (
        [actions(button(), button("Again"), block_id="decide")],
        'action_id "approve" already exists within block_id "decide"',
    ),
    "a block_id twice": (
        [section(block_id="a"), section(block_id="a")],
        'block_id "a" already exists',
    ),
    "an overflow of one": ([actions(menu("overflow", 1))], "no fewer than 2"),
    "an overflow of six": ([actions(menu("overflow", 6))], "no more than 5"),
    "a menu of 101": ([actions(menu(count=101))], "no more than 100"),
    "radio buttons of 11": ([actions(menu("radio_buttons", 11))], "no more than 10"),
    "checkboxes of 11": ([actions(menu("checkboxes", 11))], "no more than 10"),
    "a menu of nothing": ([actions(menu(count=0))], "no fewer than 1"),
    "a long option": (
        [actions(menu() | {"options": [{"text": plain("o" * 76), "value": "v"}]})],
        "less than 76",
    ),
    "a long option value": (
        [actions(menu() | {"options": [{"text": plain("o"), "value": "v" * 151}]})],
        "less than 151",
    ),
    "a long option description": (
        [actions(menu() | {"options": options(1, description=plain("d" * 76))})],
        "less than 76",
    ),
    "an initial option that is not offered": (
        [actions(menu(initial_option={"text": plain("Else"), "value": "else"}))],
        "initial option is not one of the options",
    ),
    "options and groups": (
        [actions(menu(option_groups=[{"label": plain("g"), "options": options(1)}]))],
        "must have one of: options, option_groups",
    ),
    "a long placeholder": ([actions(menu(placeholder=plain("p" * 151)))], "less than 151"),
    "a confirm in mrkdwn": (
        [actions(button(confirm=confirm(text=mrkdwn("x"))))],
        "mrkdwn is no plain text",
    ),
    "a long confirm title": (
        [actions(button(confirm=confirm(title=plain("t" * 101))))],
        "less than 101",
    ),
    "a long confirm text": (
        [actions(button(confirm=confirm(text=plain("t" * 301))))],
        "less than 301",
    ),
    "a long confirm button": (
        [actions(button(confirm=confirm(deny=plain("d" * 31))))],
        "less than 31",
    ),
    "an empty run": ([rich({"type": "text", "text": ""})], "more than 0"),
    "an unknown run": ([rich({"type": "bold", "text": "x"})], "no rich text element"),
    "an unknown style": (
        [rich({"type": "text", "text": "x", "style": {"red": True}})],
        "property: red",
    ),
    "a mention of nobody": ([rich({"type": "user", "user_id": "Bob"})], "does not match"),
    "a date without a token": (
        [rich({"type": "date", "timestamp": 1, "format": "today"})],
        "does not match",
    ),
    "a date as text": (
        [rich({"type": "date", "timestamp": "1", "format": "{time}"})],
        "must be an integer",
    ),
    "a long table": ([table(101, 1)], "no more than 100"),
    "a wide table": ([table(1, 21)], "no more than 20"),
    "a long markdown": ([{"type": "markdown", "text": "m" * 12001}], "less than 12001"),
    "markdown too long together": (
        [{"type": "markdown", "text": "m" * 6001}] * 2,
        "markdown blocks must be less than 12001",
    ),
    "an image without words": (
        [{"type": "image", "image_url": "https://example.com/a.png"}],
        "missing required field: alt_text",
    ),
    "an image of two sources": (
        [
            {
                "type": "image",
                "image_url": "https://example.com/a.png",
                "slack_file": {"id": "F1"},
                "alt_text": "a",
            }
        ],
        "must have one of: image_url, slack_file",
    ),
    "a long label": ([{**field_(), "label": plain("l" * 2001)}], "less than 2001"),
    "a long hint": ([field_() | {"hint": plain("h" * 2001)}], "less than 2001"),
    "a long max_length": ([field_(max_length=3001)], "must be from 1 to 3000"),
    "lengths the wrong way round": (
        [field_(min_length=5, max_length=4)],
        "min_length must not exceed max_length",
    ),
    "a button as an input": (
        [{"type": "input", "label": plain("x"), "element": button()}],
        "button is no input element",
    ),
}


@pytest.mark.parametrize("name", GOOD_BLOCKS)
def test_blocks_within_the_limits_are_taken(name: str) -> None:
    strictness.check_message(GOOD_BLOCKS[name])


@pytest.mark.parametrize("name", BAD_BLOCKS)
def test_blocks_beyond_a_limit_are_refused_by_name(name: str) -> None:
    blocks, because = BAD_BLOCKS[name]
    with pytest.raises(Refused) as refusal:
        strictness.check_message(blocks)
    assert refusal.value.code == "invalid_blocks"
    assert any(because in message for message in refusal.value.messages), refusal.value.messages


def test_the_refusal_names_the_block_and_the_place_in_it() -> None:
    with pytest.raises(Refused) as refusal:
        strictness.check_message([section(), section("s" * 3001, block_id="evidence")])
    assert refusal.value.messages == (
        "[ERROR] must be less than 3001 characters "
        "[json-pointer:/blocks/1/text/text] [block_id: evidence]",
    )


def test_a_whole_message_above_thirteen_thousand_characters_is_too_long() -> None:
    strictness.check_message([section("s" * 2600)] * 5)
    with pytest.raises(Refused, match="msg_blocks_too_long"):
        strictness.check_message([section("s" * 2601)] * 5)


def test_two_tables_are_one_too_many() -> None:
    with pytest.raises(Refused, match="invalid_attachments"):
        strictness.check_message([table(1, 1), table(1, 1)])


@pytest.mark.parametrize("blocks", ["x", {"type": "divider"}, 4])
def test_blocks_that_are_no_list_have_the_wrong_format(blocks: Any) -> None:
    with pytest.raises(Refused, match="invalid_blocks_format"):
        strictness.check_message(blocks)


SUBMIT = {"submit": plain("Send")}
BAD_VIEWS: dict[str, tuple[Any, str]] = {
    "no object": ("x", "must be an object"),
    "no title": ({"type": "modal", "blocks": []}, "missing required field: title"),
    "no blocks": ({"type": "modal", "title": plain("x")}, "missing required field: blocks"),
    "another type": (modal() | {"type": "home"}, "must be modal"),
    "a long title": (modal(title=plain("t" * 25)), "less than 25"),
    "a long submit": (modal(submit=plain("s" * 25)), "less than 25"),
    "a long close": (modal(close=plain("c" * 25)), "less than 25"),
    "a long private_metadata": (modal(private_metadata="p" * 3001), "less than 3001"),
    "a long callback_id": (modal(callback_id="c" * 256), "less than 256"),
    "a long external_id": (modal(external_id="c" * 256), "less than 256"),
    "a field of its own": (modal(colour="red"), "property: colour"),
    "101 blocks": (modal(*[{"type": "divider"}] * 101), "no more than 100"),
    "an input without submit": (modal(field_()), "must define `submit`"),
    "markdown in a modal": (modal({"type": "markdown", "text": "x"}), "markdown is no block here"),
    "a table in a modal": (modal(table(1, 1)), "table is no block here"),
    "a block_id twice": (modal(field_(), field_(), **SUBMIT), 'block_id "reason" already exists'),
    "two elements with the focus": (
        modal(field_("a", focus_on_load=True), field_("b", focus_on_load=True), **SUBMIT),
        "only one element can have focus_on_load",
    ),
    "a long block": (modal(section("s" * 3001)), "/view/blocks/0/text/text"),
    "a number_input that says nothing of decimals": (
        modal({**field_(), "element": {"type": "number_input", "action_id": "n"}}, **SUBMIT),
        "missing required field: is_decimal_allowed",
    ),
}


@pytest.mark.parametrize("name", BAD_VIEWS)
def test_views_beyond_a_limit_are_refused_by_name(name: str) -> None:
    view, because = BAD_VIEWS[name]
    with pytest.raises(Refused) as refusal:
        strictness.check_view(view, "modal")
    assert refusal.value.code == "invalid_arguments"
    assert any(because in message for message in refusal.value.messages), refusal.value.messages


def test_a_view_at_the_limits_is_taken() -> None:
    strictness.check_view(
        modal(
            field_(),
            *[{"type": "divider"}] * 99,
            title=plain("t" * 24),
            submit=plain("s" * 24),
            close=plain("c" * 24),
            private_metadata="p" * 3000,
            callback_id="c" * 255,
            notify_on_close=True,
        ),
        "modal",
    )
    strictness.check_view({"type": "home", "blocks": [section()]}, "home")


def test_a_view_above_250_kilobytes_is_too_large() -> None:
    blocks = [section("ü" * 3000) for _ in range(50)]
    with pytest.raises(Refused, match="view_too_large"):
        strictness.check_view(modal(*blocks), "modal")


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ("x", "invalid_metadata_format"),
        ({"event_type": "a"}, "invalid_metadata_format"),
        ({"event_type": "a", "event_payload": []}, "invalid_metadata_format"),
        ({"event_type": "", "event_payload": {}}, "invalid_metadata_schema"),
        ({"event_type": "a", "event_payload": {"x": "y" * 16_000}}, "metadata_too_large"),
    ],
)
def test_metadata_is_checked(metadata: Any, code: str) -> None:
    with pytest.raises(Refused, match=code):
        strictness.check_metadata(metadata)
