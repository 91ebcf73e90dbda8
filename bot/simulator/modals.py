"""What a person does in a modal: submit and close, with what Slack's own window checks first.

What the window refuses never reaches the app (unless `force`), and an answer of the app that
Slack would not take ends as the warning that people see.
"""

import re
from typing import Any

from bot.simulator import shapes, strictness, views
from bot.simulator.acts import actor, attach, sender
from bot.simulator.cast import JSON
from bot.simulator.errors import Impossible, Refused
from bot.simulator.slack import Slack

REQUIRED = "Please complete this required field."
TROUBLE = "We had some trouble connecting. Try again?"


async def submit(slack: Slack, act: JSON) -> JSON:
    """Submit a modal with these values."""
    user = actor(act)
    view = open_view(slack, user, act)
    if "submit" not in view or view["submit"] is None:
        raise Impossible("This modal has nothing to submit.")
    view = _filled(slack, view, act.get("values") or {})
    errors = {} if act.get("force") else _client_errors(view)
    if errors:
        return {"ok": False, "status": None, "response_action": None, "errors": errors}
    payload = {
        "type": "view_submission",
        **sender(slack, user),
        "trigger_id": slack.new_trigger(user, view["id"]),
        "view": shapes.view(view),
        "response_urls": [],
    }
    answer = await slack.deliveries.interaction(payload)
    result: JSON = {
        "ok": answer.taken,
        "status": answer.status,
        "response_action": None,
        "errors": None,
        "error": None if answer.taken else TROUBLE,
    }
    if answer.taken:
        try:
            result.update(_obey(slack, user, view, answer.body.strip(), answer.json()))
        except Refused as refusal:
            result.update(
                ok=False, error=TROUBLE, refused=refusal.code, messages=list(refusal.messages)
            )
    return result


async def close(slack: Slack, act: JSON) -> JSON:
    """Close a modal, or with `all` the whole stack; the app hears of it if it asked to."""
    user = actor(act)
    view = open_view(slack, user, act)
    stack = slack.workspace.stack(user)
    everything = bool(act.get("all")) or bool(view["clear_on_close"])
    told = [one for one in (stack if everything else [view]) if one["notify_on_close"]]
    slack.workspace.close_view(stack[0] if everything else view)
    status = None
    if told:
        payload = {
            "type": "view_closed",
            **sender(slack, user),
            "view": shapes.view(told[-1]),
            "is_cleared": everything and len(stack) > 1,
        }
        status = (await slack.deliveries.interaction(payload)).status
    return {"ok": True, "status": status}


# ---- shared with presses


def open_view(slack: Slack, user: str, act: JSON) -> JSON:
    stack = slack.workspace.stack(user)
    if view_id := act.get("view_id"):
        for view in stack:
            if view["id"] == view_id:
                return view
        raise Impossible("This modal is not open.", 404)
    if not stack:
        raise Impossible("No modal is open for this person.", 404)
    return stack[-1]


def _filled(slack: Slack, view: JSON, wanted: Any) -> JSON:
    """The view with these values typed in; keys are block_ids or action_ids."""
    if not isinstance(wanted, dict):
        raise Impossible("values must be an object.")
    values = {block: dict(actions) for block, actions in view["state"]["values"].items()}
    inputs = [
        (block["block_id"], element)
        for block in view["blocks"]
        for element in strictness.elements_of(block)
        if element["type"] not in ("button", "overflow")
    ]
    for key, value in wanted.items():
        matching = [
            (block_id, element)
            for block_id, element in inputs
            if key in (block_id, element["action_id"])
        ]
        if not matching:
            there = ", ".join(f"{block} ({one['action_id']})" for block, one in inputs)
            raise Impossible(f"There is nothing to fill in called {key}. There is: {there}.")
        block_id, element = matching[0]
        if isinstance(value, dict) and element["action_id"] in value:
            value = value[element["action_id"]]
        if element["type"] == "file_input":
            files = [attach(slack, view["user"], one) for one in value or []]
            value = [shapes.file(one, slack.url) for one in files]
        values[block_id][element["action_id"]] = state_of(element, value)
    row = {**view, "state": {"values": values}}
    slack.workspace.put_view(row)
    return row


def state_of(element: JSON, value: Any) -> JSON:
    """An element's state once this value was typed or chosen; None empties it."""
    state = views.initial_state(element)
    key = next(name for name in state if name != "type")
    if value is None or value == "":
        state[key] = [] if isinstance(state[key], list) else None
    elif key in ("selected_option", "selected_options") and options_of(element):
        picked = pick(options_of(element), value)
        if picked is None:
            there = ", ".join(option["value"] for option in options_of(element))
            raise Impossible(f"{value!r} cannot be chosen here. There is: {there}.")
        state[key] = picked if key == "selected_options" else picked[0]
    elif key in ("selected_option", "selected_options"):
        found = [_suggested(one) for one in (value if isinstance(value, list) else [value])]
        state[key] = found if key == "selected_options" else found[0]
    elif isinstance(state[key], list):
        state[key] = value if isinstance(value, list) else [value]
    else:
        state[key] = value if key in ("selected_date_time", "rich_text_value") else str(value)
    return state


def _suggested(value: Any) -> JSON:
    """An option of an external select: as the app offered it, or by its value alone."""
    if isinstance(value, dict):
        return value
    return {"text": {"type": "plain_text", "text": str(value)}, "value": str(value)}


def _client_errors(view: JSON) -> JSON:
    """What Slack's own window would not let through, by block_id."""
    errors: JSON = {}
    for block in view["blocks"]:
        if block["type"] != "input":
            continue
        element = block["element"]
        state = view["state"]["values"][block["block_id"]][element["action_id"]]
        value = next((of for key, of in state.items() if key != "type"), None)
        if value is None or value == [] or value == "":
            if not block.get("optional"):
                errors[block["block_id"]] = REQUIRED
        elif error := _wrong(element, value):
            errors[block["block_id"]] = error
    return errors


def _wrong(element: JSON, value: Any) -> str | None:
    kind = element["type"]
    if kind == "plain_text_input":
        if len(value) > element.get("max_length", 3_000):
            return f"Please use at most {element.get('max_length', 3_000)} characters."
        if len(value) < element.get("min_length", 0):
            return f"Please use at least {element['min_length']} characters."
    if kind == "number_input":
        decimals = element["is_decimal_allowed"]
        if not re.fullmatch(r"-?\d+(\.\d+)?" if decimals else r"-?\d+", value):
            return "Please enter a number."
        if "min_value" in element and float(value) < float(element["min_value"]):
            return f"Please enter at least {element['min_value']}."
        if "max_value" in element and float(value) > float(element["max_value"]):
            return f"Please enter at most {element['max_value']}."
    return None


def _obey(slack: Slack, user: str, view: JSON, body: bytes, said: Any) -> JSON:
    """Do what the app answered to a submission; refuses what Slack would not understand."""
    if not body:
        slack.workspace.close_view(view)
        return {"response_action": None}
    if not isinstance(said, dict):
        raise Refused("invalid_response", ["[ERROR] the answer is neither empty nor JSON"])
    action = said.get("response_action")
    if action is None and not said:
        slack.workspace.close_view(view)
    elif action == "clear":
        for open_one in slack.workspace.stack(user)[:1]:
            slack.workspace.close_view(open_one)
    elif action == "errors":
        inputs = {block["block_id"] for block in view["blocks"] if block["type"] == "input"}
        errors = said.get("errors")
        if not isinstance(errors, dict) or not errors or not errors.keys() <= inputs:
            raise Refused("invalid_errors", ["[ERROR] errors must name input blocks"])
        return {"ok": True, "response_action": "errors", "errors": errors}
    elif action in ("update", "push"):
        strictness.check_view(said.get("view"), "modal")
        if action == "update":
            now = slack.workspace.get("views", view["id"])
            if now is None:
                raise Refused("not_found")
            views.change_view(slack, now, said["view"])
        else:
            views.push_view(slack, user, said["view"])
    else:
        raise Refused("invalid_response_action", [f"[ERROR] {action!r} is no response_action"])
    return {"response_action": action}


def same(wanted: Any, *names: str | None) -> bool:
    return any(name is not None and str(wanted).lower() == name.lower() for name in names)


def options_of(element: JSON) -> list[JSON]:
    groups = element.get("option_groups") or []
    return [*(element.get("options") or []), *(one for of in groups for one in of["options"])]


def pick(options: list[JSON], wanted: Any) -> list[JSON] | None:
    picked = []
    for one in wanted if isinstance(wanted, list) else [wanted]:
        match = next((o for o in options if same(one, o["value"], o["text"]["text"])), None)
        if match is None:
            return None
        picked.append(match)
    return picked
