"""The views.* methods: modals in a stack of at most three, and the home tab.

A view keeps what was typed under the same block_id and action_id when it is updated.
"""

import secrets
import time
from typing import Any

from bot.simulator import files, shapes, strictness
from bot.simulator.arguments import Call
from bot.simulator.cast import JSON
from bot.simulator.errors import Refused
from bot.simulator.slack import Slack

STACK_VIEWS = 3


async def open_(call: Call) -> JSON:
    """views.open: a first modal for whoever pulled the trigger; an open stack makes way."""
    view = _view(call, "modal")
    trigger = call.slack.spend_trigger(call.needed("trigger_id"))
    for old in call.workspace.stack(trigger.user)[:1]:
        call.workspace.close_view(old)
    return {"view": shapes.view(add_view(call.slack, trigger.user, view))}


async def push(call: Call) -> JSON:
    """views.push: one more on the stack of the modal in which the trigger was pulled."""
    view = _view(call, "modal")
    trigger = call.slack.spend_trigger(call.needed("trigger_id"))
    if not call.workspace.stack(trigger.user) or trigger.view_id is None:
        raise Refused("invalid_trigger_id")
    return {"view": shapes.view(push_view(call.slack, trigger.user, view))}


async def update(call: Call) -> JSON:
    """views.update: by view_id or external_id, and only the very hash that is named."""
    view = _view(call, "modal")
    if not call.has("view_id") and not call.has("external_id"):
        raise Refused("invalid_arguments", ["[ERROR] missing required field: view_id"])
    row = _find(call)
    if row is None:
        raise Refused("not_found")
    if call.has("hash") and call.text("hash") != row["hash"]:
        raise Refused("hash_conflict")
    return {"view": shapes.view(change_view(call.slack, row, view))}


async def publish(call: Call) -> JSON:
    """views.publish: a person's home tab."""
    view = _view(call, "home")
    user = call.needed("user_id")
    if user not in call.workspace.people():
        raise Refused("user_not_found")
    old = call.workspace.get("homes", user)
    if call.has("hash") and (old is None or call.text("hash") != old["hash"]):
        raise Refused("hash_conflict")
    id_ = old["id"] if old else call.workspace.new_id("V0")
    row = {**_kept(view, id_), "user": user, "root_view_id": id_, "previous_view_id": None}
    call.workspace.put("homes", user, row)
    return {"view": shapes.view(row)}


# ---- shared with the answers to a submission


def add_view(slack: Slack, user: str, view: JSON, previous: JSON | None = None) -> JSON:
    """Put a checked view on a person's stack."""
    external = view.get("external_id")
    taken = {row.get("external_id") for row in slack.workspace.table("views").values()}
    if external and external in taken:
        raise Refused("duplicate_external_id")
    id_ = slack.workspace.new_id("V0")
    row = {
        **_kept(view, id_),
        "user": user,
        "opened": time.time(),
        "root_view_id": previous["root_view_id"] if previous else id_,
        "previous_view_id": previous["id"] if previous else None,
    }
    slack.workspace.put_view(row)
    return row


def push_view(slack: Slack, user: str, view: JSON) -> JSON:
    """Put a checked view on top of an open one, three at most."""
    stack = slack.workspace.stack(user)
    if len(stack) >= STACK_VIEWS:
        raise Refused("push_limit_reached")
    return add_view(slack, user, view, stack[-1])


def change_view(slack: Slack, row: JSON, view: JSON) -> JSON:
    """Show another view in this one's place; what was typed stays under the same ids."""
    kept = _kept(view, row["id"])
    values = row["state"]["values"]
    for block_id, actions in kept["state"]["values"].items():
        for action_id, value in actions.items():
            typed = values.get(block_id, {}).get(action_id)
            if typed and typed["type"] == value["type"]:
                actions[action_id] = typed
    places = ("user", "opened", "root_view_id", "previous_view_id")
    after = {**kept, **{key: row[key] for key in places if key in row}}
    slack.workspace.put_view(after)
    return after


def initial_state(element: JSON) -> JSON:
    """An element's value before anybody touched it, in the words of `view.state.values`."""
    kind = element["type"]
    state: JSON = {"type": kind}
    for key, names in _INITIAL.items():
        if kind in names:
            mine, theirs = key
            default: Any = [] if mine.endswith("s") and kind != "rich_text_input" else None
            state[mine] = element.get(theirs, default)
    return state


_INITIAL: dict[tuple[str, str], tuple[str, ...]] = {
    ("value", "initial_value"): (
        "plain_text_input",
        "number_input",
        "email_text_input",
        "url_text_input",
    ),
    ("rich_text_value", "initial_value"): ("rich_text_input",),
    ("selected_option", "initial_option"): ("static_select", "external_select", "radio_buttons"),
    ("selected_options", "initial_options"): (
        "multi_static_select",
        "multi_external_select",
        "checkboxes",
    ),
    ("selected_user", "initial_user"): ("users_select",),
    ("selected_users", "initial_users"): ("multi_users_select",),
    ("selected_conversation", "initial_conversation"): ("conversations_select",),
    ("selected_conversations", "initial_conversations"): ("multi_conversations_select",),
    ("selected_channel", "initial_channel"): ("channels_select",),
    ("selected_channels", "initial_channels"): ("multi_channels_select",),
    ("selected_date", "initial_date"): ("datepicker",),
    ("selected_time", "initial_time"): ("timepicker",),
    ("selected_date_time", "initial_date_time"): ("datetimepicker",),
    ("files", "initial_files"): ("file_input",),
}


def initial_values(blocks: list[JSON]) -> JSON:
    """`view.state.values` of these blocks: every element that carries a value."""
    values: JSON = {}
    for block in blocks:
        for element in strictness.elements_of(block):
            if element["type"] not in ("button", "overflow"):
                at = values.setdefault(block["block_id"], {})
                at[element["action_id"]] = initial_state(element)
    return values


def _view(call: Call, kind: str) -> JSON:
    view = call.data("view", "invalid_arguments")
    strictness.check_view(view, kind)
    files.check_pictures(call.slack, view["blocks"], "invalid_arguments", "/view/blocks")
    return dict(view)


def _find(call: Call) -> JSON | None:
    for row in call.workspace.table("views").values():
        if call.has("view_id"):
            if row["id"] == call.text("view_id"):
                return dict(row)
        elif row.get("external_id") == call.text("external_id"):
            return dict(row)
    return None


def _kept(view: JSON, id_: str) -> JSON:
    blocks = strictness.with_ids(view["blocks"], lambda prefix: prefix + secrets.token_hex(3))
    row: JSON = {
        "id": id_,
        "type": view["type"],
        "callback_id": view.get("callback_id", ""),
        "private_metadata": view.get("private_metadata", ""),
        "external_id": view.get("external_id", ""),
        "clear_on_close": view.get("clear_on_close", False),
        "notify_on_close": view.get("notify_on_close", False),
        "blocks": blocks,
        "state": {"values": initial_values(blocks)},
        "hash": f"{int(time.time())}.{secrets.token_hex(4)}",
        "title": view.get("title"),
        "close": view.get("close"),
        "submit": view.get("submit"),
    }
    return row
