"""The conversations.* methods, and which channel a call may write to."""

from typing import Any

from bot.simulator import cast, shapes
from bot.simulator.arguments import Call
from bot.simulator.cast import JSON
from bot.simulator.errors import Refused


async def info(call: Call) -> JSON:
    """conversations.info."""
    place = visible(call)
    return {"channel": shapes.channel(place, members=call.flag("include_num_members"))}


async def list_(call: Call) -> JSON:
    """conversations.list: what the app may know of, by type."""
    types = set(call.text("types", "public_channel").split(","))
    unknown = types - {"public_channel", "private_channel", "im", "mpim"}
    if unknown:
        raise Refused("invalid_types")
    rows = [
        shapes.channel(place, members=True)
        for place in call.workspace.channels().values()
        if _type(place) in types
        and (_type(place) == "public_channel" or cast.BOT_USER in place["members"])
        and not (call.flag("exclude_archived") and place["is_archived"])
    ]
    page, cursor = call.page(rows)
    return {"channels": page, "response_metadata": {"next_cursor": cursor}}


async def members(call: Call) -> JSON:
    """conversations.members."""
    page, cursor = call.page(visible(call)["members"])
    return {"members": page, "response_metadata": {"next_cursor": cursor}}


async def history(call: Call) -> JSON:
    """conversations.history: newest first, without the replies inside conversations."""
    place = readable(call)
    rows = [
        row
        for row in call.workspace.messages(place["id"]).values()
        if row.get("thread_ts") in (None, row["ts"]) or row.get("subtype") == "thread_broadcast"
    ]
    rows = [row for row in reversed(rows) if _in_range(call, row["ts"])]
    return {**_shown(call, rows), "pin_count": 0}


async def replies(call: Call) -> JSON:
    """conversations.replies: the message itself, then its replies, oldest first."""
    place = readable(call)
    ts = call.needed("ts", "thread_not_found")
    row = call.workspace.messages(place["id"]).get(ts)
    if row is None:
        raise Refused("thread_not_found")
    root = call.workspace.messages(place["id"]).get(row.get("thread_ts") or ts, row)
    below = call.workspace.replies(place["id"], root["ts"])
    return _shown(call, [root, *(one for one in below if _in_range(call, one["ts"]))])


async def open_(call: Call) -> JSON:
    """conversations.open: the direct messages with one person."""
    if call.has("channel"):
        place = visible(call)
        if not place["is_im"]:
            raise Refused("method_not_supported_for_channel_type")
    else:
        users = [one for one in call.text("users").split(",") if one]
        if not users:
            raise Refused("users_list_not_supplied")
        if len(users) > 1:
            raise Refused("invalid_arguments", ["[ERROR] group messages are not simulated"])
        known = call.workspace.channels().get("D" + users[0][1:])
        place = open_direct(call, users[0])
        if known:
            full = shapes.channel(place) if call.flag("return_im") else {"id": place["id"]}
            return {"no_op": True, "already_open": True, "channel": full}
    return {"channel": shapes.channel(place) if call.flag("return_im") else {"id": place["id"]}}


# ---- which channel


def visible(call: Call) -> JSON:
    """The channel that the call names, when the app may know that it exists."""
    place = call.workspace.channels().get(call.needed("channel", "channel_not_found"))
    hidden = place is None or (
        (place["is_private"] or place["is_im"]) and cast.BOT_USER not in place["members"]
    )
    if place is None or hidden:
        raise Refused("channel_not_found")
    return place


def readable(call: Call) -> JSON:
    """The channel that the call names, when the app is in it."""
    place = visible(call)
    if cast.BOT_USER not in place["members"]:
        raise Refused("not_in_channel")
    return place


def place_to_write(call: Call, *, people_too: bool = True) -> JSON:
    """The channel to write to; a person's id means their direct messages, where that is allowed."""
    named = call.needed("channel")
    if people_too and named[:1] in ("U", "W"):
        return open_direct(call, named)
    if people_too and named.startswith("#"):
        by_name = {place["name"]: place for place in call.workspace.channels().values()}
        place = by_name.get(named[1:])
        if place is None or place["is_private"]:
            raise Refused("channel_not_found")
    else:
        place = visible(call)
    if place["is_archived"]:
        raise Refused("is_archived")
    if cast.BOT_USER not in place["members"]:
        raise Refused("not_in_channel")
    return place


def open_direct(call: Call, user: str) -> JSON:
    """The direct messages with this person, if they are somebody one can write to."""
    person: Any = call.workspace.people().get(user)
    if person is None:
        raise Refused("user_not_found")
    if person["flags"].get("deleted"):
        raise Refused("user_disabled")
    if person["flags"].get("is_bot") or user == cast.SLACKBOT:
        raise Refused("cannot_dm_bot")
    return call.workspace.open_direct(user)


def _type(place: JSON) -> str:
    if place["is_im"]:
        return "im"
    return "private_channel" if place["is_private"] else "public_channel"


def _in_range(call: Call, ts: str) -> bool:
    oldest, latest = call.text("oldest"), call.text("latest")
    edge = call.flag("inclusive")
    try:
        after = not oldest or float(ts) > float(oldest) or (edge and ts == oldest)
        before = not latest or float(ts) < float(latest) or (edge and ts == latest)
    except ValueError:
        raise Refused("invalid_ts_oldest" if oldest else "invalid_ts_latest") from None
    return after and before


def _shown(call: Call, rows: list[JSON]) -> JSON:
    page, cursor = call.page(rows, most=999)
    metadata = call.flag("include_all_metadata")
    return {
        "messages": [
            shapes.message(call.workspace, row, call.slack.url, metadata=metadata) for row in page
        ],
        "has_more": bool(cursor),
        "response_metadata": {"next_cursor": cursor},
    }
