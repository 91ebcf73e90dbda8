"""What a person presses: buttons and menus of a message, a modal or the home tab."""

from collections.abc import Iterator

from bot.simulator import shapes, strictness, views
from bot.simulator.acts import actor, channel_of, place_of, sender
from bot.simulator.cast import JSON
from bot.simulator.errors import Impossible
from bot.simulator.modals import open_view, options_of, pick, same, state_of
from bot.simulator.slack import Slack


async def click(slack: Slack, act: JSON) -> JSON:
    """Press a button, or choose in a menu, of a message, a modal or the home tab.

    With a message's ts it may be something that the message showed before: the person's window
    had not caught up. The answer says then that it was `stale`.
    """
    user = actor(act)
    found = _find(slack, user, act)
    action = {
        "action_id": found.element["action_id"],
        "block_id": found.block["block_id"],
        "type": found.element["type"],
        "action_ts": slack.workspace.new_ts(),
        **found.chosen,
    }
    if found.element["type"] == "button":
        action["text"] = found.element["text"]
        action.update(
            {key: found.element[key] for key in ("value", "style") if key in found.element}
        )
    payload: JSON = {
        "type": "block_actions",
        **sender(slack, user),
        "actions": [action],
    }
    if found.view:
        row = _typed_in(slack, found, action)
        payload["container"] = {"type": "view", "view_id": row["id"]}
        payload["view"] = shapes.view(row)
    else:
        payload.update(_about_message(slack, found, user))
    payload["trigger_id"] = slack.new_trigger(user, found.view["id"] if found.view else None)
    answer = await slack.deliveries.interaction(payload)
    error = None if answer.taken else "operation_timeout"
    return {
        "ok": answer.taken,
        "status": answer.status,
        "response": answer.json(),
        "error": error,
        "confirm": found.element.get("confirm"),
        "stale": bool(found.message and found.message.get("stale")),
    }


async def suggest(slack: Slack, act: JSON) -> JSON:
    """Type into an external select; the options that the app offers."""
    user = actor(act)
    found = _find(slack, user, act)
    payload: JSON = {
        "type": "block_suggestion",
        **sender(slack, user),
        "action_id": found.element["action_id"],
        "block_id": found.block["block_id"],
        "value": str(act.get("value") or ""),
    }
    if found.view:
        payload["container"] = {"type": "view", "view_id": found.view["id"]}
        payload["view"] = shapes.view(found.view)
    else:
        payload.update(_about_message(slack, found, user))
    answer = await slack.deliveries.interaction(payload)
    said = answer.json()
    offered = said if answer.taken and isinstance(said, dict) else {}
    groups = offered.get("option_groups") or []
    options = offered.get("options") or [one for of in groups for one in of["options"]]
    return {"ok": answer.taken, "status": answer.status, "options": options}


# ---- finding what to press


class Found:
    """An element, where it stands, and what is chosen in it."""

    def __init__(
        self,
        block: JSON,
        element: JSON,
        chosen: JSON,
        *,
        view: JSON | None = None,
        message: JSON | None = None,
    ) -> None:
        self.block, self.element, self.chosen = block, element, chosen
        self.view, self.message = view, message


def _find(slack: Slack, user: str, act: JSON) -> Found:
    if not any(act.get(key) for key in ("action_id", "label", "value")):
        raise Impossible("Name what to press: action_id, label or value.")
    seen: list[str] = []
    for row, kind in _surfaces(slack, user, act):
        for block in row.get("blocks") or []:
            for element in strictness.elements_of(block):
                named = act.get("block_id") in (None, block["block_id"])
                chosen = _choice(element, act) if named else None
                if chosen is not None:
                    return Found(block, element, chosen, **{kind: row})
                seen.append(_label(element))
    there = ", ".join(dict.fromkeys(seen)) or "nothing"
    raise Impossible(f"There is nothing like that to press here. There is: {there}.", 404)


def _surfaces(slack: Slack, user: str, act: JSON) -> Iterator[tuple[JSON, str]]:
    """Where to look, nearest first: the named place, else the open modal, messages, the home."""
    home = slack.workspace.get("homes", user)
    if view_id := act.get("view_id"):
        if home and view_id in ("home", home["id"]):
            yield home, "view"
        else:
            yield open_view(slack, user, act), "view"
        return
    if not act.get("channel") and not act.get("ts"):
        for view in reversed(slack.workspace.stack(user)):
            yield view, "view"
    places = [place_of(slack, act)] if act.get("channel") else slack.workspace.channels().values()
    rows = [
        row
        for place in places
        if not place["is_im"] or user in place["members"]
        for row in _seen_by(slack, user, place["id"])
        if not act.get("ts") or row["ts"] == act["ts"]
    ]
    if act.get("ts") and not rows:
        raise Impossible("There is no such message for this person.", 404)
    for row in sorted(rows, key=lambda one: one["ts"], reverse=True):
        yield row, "message"
        for blocks in slack.workspace.earlier_faces(row["ts"]) if act.get("ts") else ():
            yield {**row, "blocks": blocks, "stale": True}, "message"
    if home and not act.get("channel") and not act.get("ts"):
        yield home, "view"


def _seen_by(slack: Slack, user: str, channel: str) -> list[JSON]:
    private = [
        row
        for row in slack.workspace.table("ephemerals").values()
        if row["channel"] == channel and row["to"] == user
    ]
    return [*slack.workspace.messages(channel).values(), *private]


def _choice(element: JSON, act: JSON) -> JSON | None:
    """What the act chooses in this element; None when it is not the one meant."""
    action_id, label, value = act.get("action_id"), act.get("label"), act.get("value")
    kind = element["type"]
    if action_id and element.get("action_id") != action_id:
        return None
    if kind == "button":
        named = (element["text"]["text"], element.get("accessibility_label"))
        if label is not None and not same(label, *named):
            return None
        return None if value is not None and element.get("value") != value else {}
    options = options_of(element)
    if options:
        if kind in ("overflow", "static_select", "radio_buttons"):
            wanted = label if label is not None else value
            for option in options:
                if wanted is not None and same(wanted, option["value"], option["text"]["text"]):
                    return {"selected_option": option}
            return None
        chosen = pick(options, value)
        return {"selected_options": chosen} if action_id and chosen is not None else None
    if not action_id or label is not None:
        return None
    return {key: of for key, of in state_of(element, value).items() if key != "type"}


def _label(element: JSON) -> str:
    if element["type"] == "button":
        return f"{element['text']['text']} ({element.get('action_id')})"
    options = ", ".join(option["text"]["text"] for option in options_of(element))
    return f"{element.get('action_id')}{f' with {options}' if options else ''}"


def _about_message(slack: Slack, found: Found, user: str) -> JSON:
    row = found.message or {}
    place = slack.workspace.channels()[row["channel"]]
    private = "to" in row
    slack.workspace.join(place["id"], user)
    place = slack.workspace.channels()[row["channel"]]
    container: JSON = {
        "type": "message",
        "message_ts": row["ts"],
        "channel_id": place["id"],
        "is_ephemeral": private,
    }
    if row.get("thread_ts"):
        container["thread_ts"] = row["thread_ts"]
    about: JSON = {
        "container": container,
        "channel": channel_of(place),
        "state": {"values": views.initial_values(row["blocks"])},
        "response_url": slack.new_response_url(
            channel=place["id"],
            user=user,
            message_ts=row["ts"],
            thread_ts=row.get("thread_ts"),
            ephemeral=private,
        ),
    }
    if not private:
        now = slack.workspace.messages(place["id"]).get(row["ts"], row)
        about["message"] = shapes.message(slack.workspace, now, slack.url)
    return about


def _typed_in(slack: Slack, found: Found, action: JSON) -> JSON:
    """The view with what was just chosen in it."""
    row = found.view or {}
    values = row["state"]["values"]
    at = values.get(action["block_id"], {}).get(action["action_id"])
    if at is None:
        return row
    chosen = {"type": at["type"], **found.chosen}
    block = {**values[action["block_id"]], action["action_id"]: chosen}
    row = {**row, "state": {"values": {**values, action["block_id"]: block}}}
    if row["type"] == "home":
        slack.workspace.put("homes", row["user"], row)
    else:
        slack.workspace.put_view(row)
    return row
