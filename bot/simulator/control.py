"""`/_control/…`: how tests and the page drive the people, the knobs and the clock.

JSON in, JSON out; what cannot be done is a 4xx with one sentence under `error`. A channel is
named by its id or #name; `user` (or `as`) is a person's id, also of somebody nobody knows.

| POST | with | answers |
|---|---|---|
| message | user, channel, text, thread_ts, files | channel, ts, files |
| edit, delete, dismiss | user, channel, ts, text | |
| click | user, label or action_id or value; channel, ts, view_id, block_id | status, response |
| submit | user, values by block_id or action_id; view_id, force | status, errors |
| close, home | user; view_id, all | |
| command | user, channel, command, text | status, response |
| shortcut, suggest | user, callback_id, channel, ts; as click | status, options |
| misbehave | see misbehaviour.py; reset | misbehave |
| person, group, channel, move | see below | |
| clock, reset, point | advance_seconds or reset; nothing; events_url | |

A file is {name, text}, {name, content_base64}, {sample} or {id}; with claim_size it says it is
that large, with serve_size so many bytes really come. GET messages and state show what there is,
GET clock the shown time, for a bot that goes by it.
"""

import json
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from bot.simulator import acts, bank, cast, modals, presses, shapes
from bot.simulator.cast import JSON
from bot.simulator.errors import Impossible
from bot.simulator.misbehaviour import PLACES
from bot.simulator.slack import Slack

CLOCK_READ_SECONDS = 10.0

Act = Callable[[Slack, JSON], Awaitable[JSON]]


async def misbehave(slack: Slack, act: JSON) -> JSON:
    """Turn knobs; places change at once, with the event that Slack sends of it."""
    if act.get("reset"):
        slack.misbehaviour.reset()
    before = slack.misbehaviour.as_json()
    places = {knob: acts.place_of(slack, {"channel": act[knob]}) for knob in PLACES if knob in act}
    slack.misbehaviour.merge(act)
    for knob, place in places.items():
        _change_place(slack, knob, place)
    if slack.misbehaviour["revoke"] and not before["revoke"]:
        _tell_revoked(slack)
    if slack.misbehaviour["uninstall"] and not before["uninstall"]:
        slack.deliveries.event({"type": "app_uninstalled", "event_ts": _ts(slack)})
        _tell_revoked(slack)
    slack.workspace.touch()
    return {"ok": True, "misbehave": slack.misbehaviour.as_json()}


async def person(slack: Slack, act: JSON) -> JSON:
    """Make or change a person: {user, name?, role?, team_id?, email?, deleted?, …}."""
    user = acts.actor(act)
    row: JSON | None = slack.workspace.people().get(user)
    if row is None:
        new: JSON = {"name": user, "role": "", "email": "", "shown": False, "flags": {}}
        row = {**cast.PEOPLE[0], "id": user, **new}
    fields: JSON = {key: act[key] for key in _FIELDS if key in act}
    flags = {key: act[key] for key in _FLAGS if key in act}
    row = {**row, **fields, "flags": {**row["flags"], **flags}}
    slack.workspace.put("people", user, row)
    shown = shapes.user(row, include_locale=True)
    slack.deliveries.event({"type": "user_change", "user": shown, "event_ts": _ts(slack)})
    return {"ok": True, "user": shown}


async def group(slack: Slack, act: JSON) -> JSON:
    """Make or change a user group: {group, users, handle?, name?}."""
    id_, users = acts.words(act, "group"), act.get("users")
    if not isinstance(users, list):
        raise Impossible("users must be a list of ids.")
    old: JSON = slack.workspace.get("groups", id_) or {
        "id": id_,
        "handle": id_.lower(),
        "name": id_,
    }
    before = old.get("users", [])
    named = {key: act[key] for key in ("handle", "name") if key in act}
    slack.workspace.put("groups", id_, {**old, **named, "users": users})
    slack.deliveries.event(
        {
            "type": "subteam_members_changed",
            "subteam_id": id_,
            "team_id": cast.TEAM["id"],
            "added_users": [one for one in users if one not in before],
            "added_users_count": len(set(users) - set(before)),
            "removed_users": [one for one in before if one not in users],
            "removed_users_count": len(set(before) - set(users)),
            "event_ts": _ts(slack),
        }
    )
    return {"ok": True}


async def channel(slack: Slack, act: JSON) -> JSON:
    """Make or change a channel: {channel: id, name?, is_private?, is_ext_shared?, members?}."""
    id_ = acts.words(act, "channel")
    if not id_.startswith("C"):
        raise Impossible("A channel's id begins with C.")
    old = slack.workspace.channels().get(id_)
    row = old or cast.channel(id_, id_.lower())
    for key, kind in _CHANNEL_FIELDS.items():
        if key in act:
            if not isinstance(act[key], kind):
                raise Impossible(f"{key} cannot be {act[key]!r}.")
            row = {**row, key: act[key]}
    if old and old["name"] != row["name"]:
        row["previous_names"] = [old["name"], *old.get("previous_names", [])]
    slack.workspace.put("channels", id_, row)
    if old and old["name"] != row["name"]:
        renamed = {"id": id_, "name": row["name"], "created": 1_780_000_000}
        event = {"type": "channel_rename", "channel": renamed, "event_ts": _ts(slack)}
        slack.tell(row, event)
    return {"ok": True, "channel": shapes.channel(row, members=True)}


async def move(slack: Slack, act: JSON) -> JSON:
    """Give a channel another id, as Slack does when it is shared: {channel, becomes}."""
    place, becomes = acts.place_of(slack, act), acts.words(act, "becomes")
    if not becomes.startswith("C") or becomes in slack.workspace.channels():
        raise Impossible("becomes must be an id that begins with C and is not taken.")
    row = slack.workspace.move_channel(place, becomes)
    ids = {"old_channel_id": place["id"], "new_channel_id": becomes}
    slack.tell(row, {"type": "channel_id_changed", **ids, "event_ts": _ts(slack)})
    return {"ok": True, "channel": shapes.channel(row, members=True)}


async def clock(slack: Slack, act: JSON) -> JSON:
    """Move the shown clock on, or back to now."""
    if act.get("reset"):
        slack.workspace.drop("clock", "moved")
    elif isinstance(act.get("advance_seconds"), int | float):
        moved = slack.workspace.clock_moved_by() + act["advance_seconds"]
        slack.workspace.put("clock", "moved", moved)
    else:
        raise Impossible("Say advance_seconds or reset.")
    return {"ok": True, "clock": clock_json(slack)}


async def reset(slack: Slack, act: JSON) -> JSON:
    """Empty everything: messages, modals, bank, knobs, logs."""
    slack.deliveries.forget()
    slack.misbehaviour.reset()
    slack.calls.clear()
    slack.triggers.clear()
    slack.workspace.reset()
    return {"ok": True}


async def point(slack: Slack, act: JSON) -> JSON:
    """Deliver to another events_url, on this machine only."""
    url = acts.words(act, "events_url")
    if url and urlsplit(url).hostname not in ("127.0.0.1", "localhost", "::1"):
        raise Impossible("events_url must be on this machine.")
    slack.deliveries.events_url = url
    return {"ok": True}


ACTS: dict[str, Act] = {
    "message": acts.message,
    "edit": acts.edit,
    "delete": acts.delete,
    "dismiss": acts.dismiss,
    "click": presses.click,
    "suggest": presses.suggest,
    "submit": modals.submit,
    "close": modals.close,
    "command": acts.command,
    "shortcut": acts.shortcut,
    "home": acts.home,
    "misbehave": misbehave,
    "person": person,
    "group": group,
    "channel": channel,
    "move": move,
    "clock": clock,
    "reset": reset,
    "point": point,
}

_FIELDS = ("name", "role", "team_id", "tz", "locale", "email")
_FLAGS = (
    "deleted",
    "is_restricted",
    "is_ultra_restricted",
    "is_stranger",
    "is_bot",
    "is_admin",
    "is_email_confirmed",
)
_CHANNEL_FIELDS: dict[str, type] = {
    "name": str,
    "topic": str,
    "is_private": bool,
    "is_ext_shared": bool,
    "is_archived": bool,
    "members": list,
}


async def act(request: web.Request, slack: Slack) -> web.Response:
    """POST /_control/<act>."""
    name = request.match_info["act"]
    if name not in ACTS:
        raise Impossible(f"There is no {name}. There is: {', '.join(ACTS)}.", 404)
    return web.json_response(await ACTS[name](slack, await body(request)))


async def messages(request: web.Request, slack: Slack) -> web.Response:
    """GET /_control/messages: one channel's or all, oldest first, private ones included."""
    query = request.query
    rows = list(slack.workspace.table("ephemerals").values())
    for channel_id in slack.workspace.channels():
        rows += slack.workspace.messages(channel_id).values()
    if named := query.get("channel"):
        found = acts.place_of(slack, {"channel": named, "user": query.get("user")})
        rows = [row for row in rows if row["channel"] == found["id"]]
    if thread_ts := query.get("thread_ts"):
        rows = [row for row in rows if thread_ts in (row.get("thread_ts"), row["ts"])]
    if user := query.get("user"):
        rows = [row for row in rows if row.get("to") in (None, user)]
    rows.sort(key=lambda row: str(row["ts"]))
    return web.json_response({"messages": [message_json(slack, row) for row in rows]})


async def state(request: web.Request, slack: Slack) -> web.Response:
    """GET /_control/state: everything, as it is now."""
    workspace = slack.workspace
    return web.json_response(
        {
            "seq": workspace.seq,
            "team": cast.TEAM,
            "people": [shapes.user(row) for row in workspace.people().values()],
            "groups": list(workspace.table("groups").values()),
            "channels": list(workspace.channels().values()),
            "messages": {
                id_: [message_json(slack, row) for row in workspace.messages(id_).values()]
                for id_ in workspace.channels()
            },
            "ephemerals": [
                message_json(slack, row) for row in workspace.table("ephemerals").values()
            ],
            "views": {user: workspace.stack(user) for user in workspace.table("stacks")},
            "homes": dict(workspace.table("homes")),
            "files": list(workspace.table("files").values()),
            "bank": bank.summary(slack),
            "deliveries": list(slack.deliveries.log),
            "outbox": list(workspace.table("outbox").values()),
            "calls": list(slack.calls),
            "misbehave": slack.misbehaviour.as_json(),
            "clock": clock_json(slack),
            "bot": {"running": slack.bot_running},
            "guide": dict(workspace.table("guide")),
        }
    )


def message_json(slack: Slack, row: JSON) -> JSON:
    """A message as tests read it, with everything the app gave to it."""
    known = slack.workspace.table("files")
    return {
        "channel": row["channel"],
        "ts": row["ts"],
        "user": row["user"],
        "bot_id": row.get("bot_id"),
        "text": row["text"],
        "blocks": row.get("blocks") or [],
        "thread_ts": row.get("thread_ts"),
        "edited": row.get("edited"),
        "metadata": row.get("metadata"),
        "ephemeral_to": row.get("to"),
        "reactions": row.get("reactions") or [],
        "files": [
            shapes.file(known[id_], slack.url) for id_ in row.get("files") or [] if id_ in known
        ],
    }


def clock_json(slack: Slack) -> JSON:
    """The shown clock."""
    return {
        "now": slack.workspace.shown_now().isoformat(),
        "moved": slack.workspace.clock_moved_by() != 0,
        # Only where somebody goes by it: else one would move it and nothing would happen.
        "movable": time.monotonic() - slack.clock_read_at < CLOCK_READ_SECONDS,
        "deadline": _deadline(slack),
    }


async def clock_now(request: web.Request, slack: Slack) -> web.Response:
    """GET /_control/clock: the shown clock, for a bot that goes by it."""
    slack.clock_read_at = time.monotonic()
    return web.json_response(clock_json(slack))


def _deadline(slack: Slack) -> str | None:
    """When the next open card runs out, as its own date says it."""
    now = slack.workspace.shown_now().timestamp()
    found = [
        int(date["timestamp"])
        for channel in slack.workspace.channels()
        for row in slack.workspace.messages(channel).values()
        if any(block.get("type") == "actions" for block in row.get("blocks") or [])
        for date in _dates(row.get("blocks"))
        if str(date.get("format", "")).startswith("by ")
    ]
    ahead = [stamp for stamp in found if stamp > now]
    return datetime.fromtimestamp(min(ahead), UTC).isoformat() if ahead else None


def _dates(value: Any) -> Iterator[JSON]:
    if isinstance(value, dict):
        if value.get("type") == "date":
            yield value
        for inner in value.values():
            yield from _dates(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _dates(inner)


async def body(request: web.Request) -> JSON:
    """The JSON object that was posted."""
    try:
        value: Any = json.loads(await request.read() or b"{}")
    except ValueError:
        raise Impossible("The body is not JSON.") from None
    if not isinstance(value, dict):
        raise Impossible("The body must be a JSON object.")
    return value


def _tell_revoked(slack: Slack) -> None:
    tokens = {"oauth": [], "bot": [cast.BOT_USER]}
    slack.deliveries.event({"type": "tokens_revoked", "tokens": tokens, "event_ts": _ts(slack)})


def _change_place(slack: Slack, knob: str, place: JSON) -> None:
    id_, ts = place["id"], _ts(slack)
    who = {"user": "U0OSCAR", "event_ts": ts}
    private = "group" if place["is_private"] else "channel"
    if knob in ("archive", "unarchive"):
        row = {**place, "is_archived": knob == "archive"}
        slack.workspace.put("channels", id_, row)
        slack.tell(row, {"type": f"{private}_{knob}", "channel": id_, **who})
        return
    others = [one for one in place["members"] if one != cast.BOT_USER]
    members = others if knob == "remove_bot" else [*others, cast.BOT_USER]
    slack.workspace.put("channels", id_, {**place, "members": members})
    about = {"user": cast.BOT_USER, "channel": id_, "team": cast.TEAM["id"], "event_ts": ts}
    if knob == "remove_bot":
        about["channel_type"] = "G" if place["is_private"] else "C"
        slack.tell(place, {"type": "member_left_channel", **about})
        slack.tell(place, {"type": f"{private}_left", "channel": id_, "event_ts": ts})


def _ts(slack: Slack) -> str:
    return slack.workspace.new_ts()
