"""Slack's own strictness about blocks and views, with rules of its own.

The bot has its gate in bot/limits.py. These rules are written apart from it, from Slack's
reference, so that one mistake cannot hide in both: nothing here may import from the bot.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from bot.simulator.cast import JSON
from bot.simulator.checks import (
    Check,
    Place,
    Shape,
    boolean,
    list_of,
    one_of,
    shape,
    string,
    typed,
    whole,
)
from bot.simulator.errors import Refused

MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100
MESSAGE_CHARACTERS = 13_000
MARKDOWN_CHARACTERS = 12_000
VIEW_BYTES = 250_000
METADATA_BYTES = 16_000
POST_TEXT = 40_000
UPDATE_TEXT = 4_000


# ---- composition objects


def plain(most: int, *, least: int = 1) -> Check:
    """A plain_text object."""
    return typed(
        {"plain_text": shape({"emoji": boolean}, text=string(most, least=least))}, "plain text"
    )


def words(most: int) -> Check:
    """A plain_text or mrkdwn object."""
    return typed(
        {
            "plain_text": shape({"emoji": boolean}, text=string(most)),
            "mrkdwn": shape({"verbatim": boolean}, text=string(most)),
        },
        "text",
    )


ID = string(255)
URL = string(3_000, pattern=r"(https?|mailto|slack|tel):.+")
DATE = string(10, pattern=r"\d{4}-\d\d-\d\d")
TIME = string(5, pattern=r"([01]\d|2[0-3]):[0-5]\d")
NUMBER = string(64, pattern=r"-?\d+(\.\d+)?")
USER = string(32, pattern=r"[UW][A-Z0-9]+")
CONVERSATION = string(32, pattern=r"[CDG][A-Z0-9]+")
STYLE = one_of("primary", "danger")

CONFIRM = shape(
    {"style": STYLE}, title=plain(100), text=plain(300), confirm=plain(30), deny=plain(30)
)


def option(*, formatted: bool = False, link: bool = False) -> Check:
    """One option of a menu."""
    may: dict[str, Check] = {"description": words(75) if formatted else plain(75)}
    if link:
        may["url"] = URL
    return shape(may, text=words(75) if formatted else plain(75), value=string(150))


def _options(most: int, *, least: int = 1, **kind: bool) -> Check:
    return list_of(option(**kind), most, least=least)


OPTION_GROUPS = list_of(shape(label=plain(75), options=_options(100)), 100)


def _either(one: str, other: str) -> Check:
    def check(value: Any, place: Place) -> None:
        if (one in value) == (other in value):
            place.wrong(f"must have one of: {one}, {other}")

    return check


def _all(*checks: Check) -> Check:
    def check(value: Any, place: Place) -> None:
        for each in checks:
            each(value, place)

    return check


def _initials_are_options(value: Any, place: Place) -> None:
    chosen = value.get("initial_options", [])
    chosen = [*chosen, value["initial_option"]] if "initial_option" in value else chosen
    offered = list(value.get("options") or [])
    for group in value.get("option_groups") or []:
        offered += group.get("options", []) if isinstance(group, dict) else []
    for one in chosen if isinstance(chosen, list) else []:
        if one not in offered:
            place.wrong("initial option is not one of the options")


# ---- interactive elements

_COMMON: dict[str, Check] = {"action_id": ID, "confirm": CONFIRM, "focus_on_load": boolean}
_MENU: dict[str, Check] = {**_COMMON, "placeholder": plain(150)}
_INPUT: dict[str, Check] = {
    "action_id": ID,
    "focus_on_load": boolean,
    "placeholder": plain(150),
    "dispatch_action_config": shape(
        {
            "trigger_actions_on": list_of(one_of("on_enter_pressed", "on_character_entered"), 2),
        }
    ),
}
_FILTER = shape(
    {
        "include": list_of(one_of("im", "mpim", "private", "public"), 4),
        "exclude_external_shared_channels": boolean,
        "exclude_bot_users": boolean,
    }
)
_SELECTED = {"max_selected_items": whole(1, 1_000)}
_STATIC = {"options": _options(100), "option_groups": OPTION_GROUPS}
_PICKED = _all(_either("options", "option_groups"), _initials_are_options)


def _menu(**more: Check) -> Shape:
    return Shape({}, {**_MENU, **more})


def _lengths_agree(value: Any, place: Place) -> None:
    least, most = value.get("min_length", 0), value.get("max_length", 3_000)
    if isinstance(least, int) and isinstance(most, int) and least > most:
        place.wrong("min_length must not exceed max_length")


IN_ACTIONS: dict[str, Check] = {
    "button": shape(
        {
            "action_id": ID,
            "url": URL,
            "value": string(2_000, least=0),
            "style": STYLE,
            "confirm": CONFIRM,
            "accessibility_label": string(75),
        },
        text=plain(75),
    ),
    "overflow": shape(
        {"action_id": ID, "confirm": CONFIRM}, options=_options(5, least=2, link=True)
    ),
    "static_select": Shape({}, {**_MENU, **_STATIC, "initial_option": option()}, _PICKED),
    "multi_static_select": Shape(
        {}, {**_MENU, **_STATIC, **_SELECTED, "initial_options": _options(100)}, _PICKED
    ),
    "external_select": _menu(initial_option=option(), min_query_length=whole(0, 1_000)),
    "multi_external_select": _menu(
        initial_options=_options(100), min_query_length=whole(0, 1_000), **_SELECTED
    ),
    "users_select": _menu(initial_user=USER),
    "multi_users_select": _menu(initial_users=list_of(USER, 1_000), **_SELECTED),
    "conversations_select": _menu(
        initial_conversation=CONVERSATION,
        default_to_current_conversation=boolean,
        response_url_enabled=boolean,
        filter=_FILTER,
    ),
    "multi_conversations_select": _menu(
        initial_conversations=list_of(CONVERSATION, 1_000),
        default_to_current_conversation=boolean,
        filter=_FILTER,
        **_SELECTED,
    ),
    "channels_select": _menu(initial_channel=CONVERSATION, response_url_enabled=boolean),
    "multi_channels_select": _menu(initial_channels=list_of(CONVERSATION, 1_000), **_SELECTED),
    "checkboxes": Shape(
        {"options": _options(10, formatted=True)},
        {**_COMMON, "initial_options": _options(10, formatted=True)},
        _initials_are_options,
    ),
    "radio_buttons": Shape(
        {"options": _options(10, formatted=True)},
        {**_COMMON, "initial_option": option(formatted=True)},
        _initials_are_options,
    ),
    "datepicker": _menu(initial_date=DATE),
    "timepicker": _menu(initial_time=TIME, timezone=string(64)),
    "datetimepicker": Shape(
        {}, {**_COMMON, "initial_date_time": whole(1_000_000_000, 9_999_999_999)}
    ),
}

TYPED_IN: dict[str, Check] = {
    "plain_text_input": Shape(
        {},
        {
            **_INPUT,
            "initial_value": string(3_000, least=0),
            "multiline": boolean,
            "min_length": whole(0, 3_000),
            "max_length": whole(1, 3_000),
        },
        _lengths_agree,
    ),
    "number_input": Shape(
        {"is_decimal_allowed": boolean},
        {**_INPUT, "initial_value": NUMBER, "min_value": NUMBER, "max_value": NUMBER},
    ),
    "email_text_input": Shape({}, {**_INPUT, "initial_value": string(3_000)}),
    "url_text_input": Shape({}, {**_INPUT, "initial_value": string(3_000)}),
    "rich_text_input": Shape({}, {**_INPUT, "initial_value": lambda value, place: None}),
    "file_input": shape(
        {"action_id": ID, "filetypes": list_of(string(32), 100), "max_files": whole(1, 10)}
    ),
}

_NOT_AN_INPUT = {"button", "overflow"}
IN_INPUT = {**TYPED_IN, **{kind: IN_ACTIONS[kind] for kind in IN_ACTIONS.keys() - _NOT_AN_INPUT}}

IMAGE = Shape(
    {"alt_text": string(2_000)},
    {
        "image_url": URL,
        "slack_file": Shape({}, {"id": ID, "url": URL}, _either("id", "url")),
        "image_width": whole(0, 10_000),
        "image_height": whole(0, 10_000),
    },
    _either("image_url", "slack_file"),
)

# ---- rich text

_LOOK = shape(dict.fromkeys(("bold", "italic", "strike", "code", "underline"), boolean))
_MENTION = shape(
    dict.fromkeys(
        ("bold", "italic", "strike", "highlight", "client_highlight", "unlink", "code"), boolean
    )
)
RUN = typed(
    {
        "text": shape({"style": _LOOK}, text=string(13_000)),
        "link": shape({"text": string(3_000), "unsafe": boolean, "style": _LOOK}, url=URL),
        "user": shape({"style": _MENTION}, user_id=USER),
        "usergroup": shape({"style": _MENTION}, usergroup_id=string(32, pattern=r"S[A-Z0-9]+")),
        "channel": shape({"style": _MENTION}, channel_id=CONVERSATION),
        "broadcast": shape({"style": _MENTION}, range=one_of("here", "channel", "everyone")),
        "emoji": shape(
            {"unicode": string(100), "skin_tone": whole(1, 6), "style": _LOOK}, name=string(100)
        ),
        "date": shape(
            {"url": URL, "fallback": string(300), "style": _LOOK},
            timestamp=whole(0, 9_999_999_999),
            format=string(300, pattern=r"[\s\S]*\{[a-z_]+\}[\s\S]*"),
        ),
        "color": shape({"style": _LOOK}, value=string(7, pattern=r"#[0-9a-fA-F]{6}")),
        "team": shape({"style": _MENTION}, team_id=string(32)),
    },
    "rich text element",
)
RUNS = list_of(RUN, 1_000)
SECTION_OF_RUNS = typed({"rich_text_section": shape(elements=RUNS)}, "rich text section")
RICH_TEXT_PARTS = typed(
    {
        "rich_text_section": shape(elements=list_of(RUN, 1_000, least=0)),
        "rich_text_list": shape(
            {"indent": whole(0, 8), "offset": whole(0, 10_000), "border": whole(0, 1)},
            style=one_of("bullet", "ordered"),
            elements=list_of(SECTION_OF_RUNS, 1_000),
        ),
        "rich_text_quote": shape({"border": whole(0, 1)}, elements=RUNS),
        "rich_text_preformatted": shape(
            {"border": whole(0, 1), "language": string(32)}, elements=RUNS
        ),
    },
    "rich text part",
)

# ---- blocks


def _section_says_something(value: Any, place: Place) -> None:
    if "text" not in value and "fields" not in value:
        place.wrong("must have one of: text, fields")


_ID: dict[str, Check] = {"block_id": ID}
_ACCESSORY = typed({**IN_ACTIONS, "image": IMAGE}, "accessory of a section")
_CELL = typed(
    {
        "raw_text": shape(text=string(3_000)),
        "rich_text": shape(_ID, elements=list_of(RICH_TEXT_PARTS, 100)),
    },
    "table cell",
)

EVERYWHERE: dict[str, Check] = {
    "section": Shape(
        {},
        {
            **_ID,
            "text": words(3_000),
            "fields": list_of(words(2_000), 10),
            "accessory": _ACCESSORY,
            "expand": boolean,
        },
        _section_says_something,
    ),
    "divider": Shape({}, _ID),
    "header": shape(_ID, text=plain(150)),
    "context": shape(
        _ID,
        elements=list_of(
            typed(
                {
                    "image": IMAGE,
                    "plain_text": words(3_000),
                    "mrkdwn": words(3_000),
                },
                "context element",
            ),
            10,
        ),
    ),
    "actions": shape(_ID, elements=list_of(typed(IN_ACTIONS, "element of an actions block"), 25)),
    "image": Shape(IMAGE.must, {**IMAGE.may, **_ID, "title": plain(2_000)}, IMAGE.also),
    "input": shape(
        {**_ID, "hint": plain(2_000), "optional": boolean, "dispatch_action": boolean},
        label=plain(2_000),
        element=typed(IN_INPUT, "input element"),
    ),
    "rich_text": shape(_ID, elements=list_of(RICH_TEXT_PARTS, 1_000)),
}
IN_MESSAGES: dict[str, Check] = {
    **EVERYWHERE,
    "markdown": shape(_ID, text=string(MARKDOWN_CHARACTERS)),
    "table": shape(
        {
            **_ID,
            "column_settings": list_of(
                shape({"align": one_of("left", "center", "right"), "is_wrapped": boolean}), 20
            ),
        },
        rows=list_of(list_of(_CELL, 20), 100),
    ),
}


def elements_of(block: JSON) -> Iterator[JSON]:
    """A block's interactive elements, where it has any."""
    if block.get("type") in ("actions", "context_actions"):
        yield from (one for one in block.get("elements") or [] if isinstance(one, dict))
    for key in ("accessory", "element"):
        if isinstance(block.get(key), dict) and block[key].get("type") != "image":
            yield block[key]


def _check_blocks(blocks: Any, kinds: Mapping[str, Check], most: int, place: Place) -> None:
    if len(blocks) > most:
        place.wrong(f"no more than {most} items allowed")
    block = typed(kinds, "block here")
    seen: set[str] = set()
    focused = False
    for at, one in enumerate(blocks):
        id_ = one.get("block_id") if isinstance(one, dict) else None
        here = replace(place.at(at), block_id=id_ if isinstance(id_, str) else None)
        block(one, here)
        if not isinstance(one, dict):
            continue
        if isinstance(id_, str):
            if id_ in seen:
                here.wrong(f'block_id "{id_}" already exists')
            seen.add(id_)
        actions: set[str] = set()
        for element in elements_of(one):
            if element.get("focus_on_load") is True:
                if focused:
                    here.wrong("only one element can have focus_on_load set to true")
                focused = True
            action = element.get("action_id")
            if isinstance(action, str):
                if action in actions:
                    here.wrong(f'action_id "{action}" already exists within block_id "{id_}"')
                actions.add(action)


def characters(value: Any) -> int:
    """How many characters of text a reader of these blocks gets."""
    if isinstance(value, dict):
        return sum(
            len(inside) if name == "text" and isinstance(inside, str) else characters(inside)
            for name, inside in value.items()
        )
    if isinstance(value, list):
        return sum(characters(inside) for inside in value)
    return 0


# ---- the two doors


def check_message(blocks: Any) -> None:
    """Refuse these blocks as chat.postMessage would; return when they may be shown."""
    if not isinstance(blocks, list):
        raise Refused("invalid_blocks_format")
    place = Place("/blocks")
    _check_blocks(blocks, IN_MESSAGES, MESSAGE_BLOCKS, place)
    kinds = [one.get("type") for one in blocks if isinstance(one, dict)]
    if kinds.count("table") > 1:
        raise Refused("invalid_attachments", ["[ERROR] only_one_table_allowed"])
    markdown = [one for one in blocks if isinstance(one, dict) and one.get("type") == "markdown"]
    if characters(markdown) > MARKDOWN_CHARACTERS:
        place.wrong(f"markdown blocks must be less than {MARKDOWN_CHARACTERS + 1} characters")
    if place.found:
        raise Refused("invalid_blocks", place.found)
    if characters(blocks) > MESSAGE_CHARACTERS:
        raise Refused("msg_blocks_too_long")


_VIEW_MAY: dict[str, Check] = {
    "private_metadata": string(3_000, least=0),
    "callback_id": string(255, least=0),
    "external_id": string(255, least=0),
    "clear_on_close": boolean,
    "notify_on_close": boolean,
}
_BLOCKS: Check = list_of(lambda value, place: None, 10_000, least=0)
MODAL = Shape(
    {"title": plain(24), "blocks": _BLOCKS},
    {**_VIEW_MAY, "close": plain(24), "submit": plain(24), "submit_disabled": boolean},
)
HOME = Shape({"blocks": _BLOCKS}, _VIEW_MAY)


def check_view(view: Any, kind: str) -> None:
    """Refuse this view as views.open (kind modal) or views.publish (kind home) would."""
    if not isinstance(view, dict):
        raise Refused("invalid_arguments", ["[ERROR] must be an object [json-pointer:/view]"])
    place = Place("/view")
    if view.get("type") != kind:
        place.at("type").wrong(f"must be {kind}")
    (MODAL if kind == "modal" else HOME)(view, place)
    blocks = view.get("blocks")
    if isinstance(blocks, list):
        _check_blocks(blocks, EVERYWHERE, VIEW_BLOCKS, place.at("blocks"))
        inputs = any(isinstance(one, dict) and one.get("type") == "input" for one in blocks)
        if kind == "modal" and inputs and "submit" not in view:
            place.wrong("must define `submit` to use an `input` block in modals")
    if place.found:
        raise Refused("invalid_arguments", place.found)
    if len(json.dumps(view, ensure_ascii=False).encode("utf-8", "replace")) > VIEW_BYTES:
        raise Refused("view_too_large")


def check_metadata(metadata: Any) -> None:
    """Refuse this message metadata as Slack would."""
    right = (
        isinstance(metadata, dict)
        and metadata.keys() == {"event_type", "event_payload"}
        and isinstance(metadata["event_type"], str)
        and isinstance(metadata["event_payload"], dict)
    )
    if not right:
        raise Refused("invalid_metadata_format")
    if not metadata["event_type"] or len(metadata["event_type"]) > 255:
        raise Refused("invalid_metadata_schema")
    if len(json.dumps(metadata)) > METADATA_BYTES:
        raise Refused("metadata_too_large")


def with_ids(blocks: list[JSON], new_id: Callable[[str], str]) -> list[JSON]:
    """The blocks as Slack keeps them: every block and every element has an id."""

    def element(one: JSON) -> JSON:
        named = one.get("type") in IN_ACTIONS or one.get("type") in TYPED_IN
        return one if not named or one.get("action_id") else {**one, "action_id": new_id("a")}

    kept = []
    for block in blocks:
        whole_ = {**block, "block_id": block.get("block_id") or new_id("b")}
        if block.get("type") == "actions":
            whole_["elements"] = [element(one) for one in block["elements"]]
        for key in ("accessory", "element"):
            if key in block:
                whole_[key] = element(block[key])
        kept.append(whole_)
    return kept
