"""What a person does by writing: messages, edits, files, commands, shortcuts, the home tab."""

import base64
import binascii
import re
import time
from pathlib import Path
from typing import Any

from bot.simulator import cast, shapes
from bot.simulator.cast import JSON
from bot.simulator.errors import Impossible
from bot.simulator.files import new_file
from bot.simulator.responding import say_answer, slackbot_says
from bot.simulator.slack import Slack

SAMPLES = Path(__file__).parent / "samples"
MESSAGE_CHARACTERS = 40_000
_USER = re.compile(r"[UW][A-Z0-9]{1,30}")
_MENTION = re.compile(r"&lt;@([UW][A-Z0-9]+)&gt;")
_TYPED_NAME = re.compile(r"(?<![\w@])@(\w+)")


async def message(slack: Slack, act: JSON) -> JSON:
    """Write a message, with files, in a channel or in reply to one."""
    user, place = actor(act), place_of(slack, act)
    text = words(act, "text", default="")
    if place["is_archived"]:
        raise Impossible("This channel is archived.")
    if len(text) > MESSAGE_CHARACTERS:
        raise Impossible(f"A message has at most {MESSAGE_CHARACTERS} characters.")
    files = [attach(slack, user, one) for one in act.get("files") or []]
    if not text.strip() and not files:
        raise Impossible("A message has a text or a file.")
    slack.workspace.join(place["id"], user)
    row: JSON = {
        "channel": place["id"],
        "ts": slack.workspace.new_ts(),
        "user": user,
        "text": _as_delivered(slack, text),
        "files": [one["id"] for one in files],
        "client_msg_id": slack.workspace.new_id("m").lower(),
    }
    if thread_ts := act.get("thread_ts"):
        parent = slack.workspace.messages(place["id"]).get(str(thread_ts))
        if parent is None:
            raise Impossible("There is no such message to reply to.", 404)
        row["thread_ts"] = parent.get("thread_ts") or parent["ts"]
    slack.workspace.put_message(row)
    slack.tell_of_message(row)
    shown = [{"id": one["id"], "name": one["name"], "size": one["size"]} for one in files]
    return {"ok": True, "channel": place["id"], "ts": row["ts"], "files": shown}


async def edit(slack: Slack, act: JSON) -> JSON:
    """Change the text of one's own message."""
    user, before = actor(act), _own(slack, act)
    after = {
        **before,
        "text": _as_delivered(slack, words(act, "text")),
        "edited": {"user": user, "ts": slack.workspace.new_ts()},
    }
    slack.workspace.put_message(after)
    slack.tell_of_change(before, after)
    return {"ok": True, "channel": before["channel"], "ts": before["ts"]}


async def delete(slack: Slack, act: JSON) -> JSON:
    """Delete one's own message."""
    row = _own(slack, act)
    slack.workspace.remove_message(row)
    slack.tell_of_change(row, None)
    return {"ok": True}


async def dismiss(slack: Slack, act: JSON) -> JSON:
    """Put away a message that only this person sees."""
    user, ts = actor(act), words(act, "ts")
    row = slack.workspace.get("ephemerals", ts)
    if row is None or row["to"] != user:
        raise Impossible("There is no such private message.", 404)
    slack.workspace.drop("ephemerals", ts)
    return {"ok": True}


async def command(slack: Slack, act: JSON) -> JSON:
    """Type a slash command; what the app answers is shown to its writer."""
    user, place, name = actor(act), place_of(slack, act), words(act, "command")
    if not name.startswith("/"):
        raise Impossible("A command begins with a slash.")
    if act.get("thread_ts"):
        raise Impossible("Slash commands cannot be used in replies.")
    slack.workspace.join(place["id"], user)
    about = {"channel": place["id"], "user": user}
    who = shapes.person(slack.workspace, user)
    answer = await slack.deliveries.command(
        {
            "token": cast.VERIFICATION_TOKEN,
            "team_id": who["team_id"],
            "team_domain": cast.TEAM["domain"],
            "channel_id": place["id"],
            "channel_name": "directmessage" if place["is_im"] else place["name"],
            "user_id": user,
            "user_name": who["name"],
            "command": name,
            "text": _as_commanded(slack, name, words(act, "text", default="").strip()),
            "api_app_id": cast.APP_ID,
            "is_enterprise_install": "false",
            "response_url": slack.new_response_url(**about),
            "trigger_id": slack.new_trigger(user),
        }
    )
    error = say_answer(slack, answer, about) if answer.taken else "operation_timeout"
    if error:
        said = f"{name} failed with the error “{error}”"
        slackbot_says(slack, place["id"], user, said)
    return {"ok": error is None, "status": answer.status, "response": answer.json(), "error": error}


async def shortcut(slack: Slack, act: JSON) -> JSON:
    """Use a shortcut, of a message when ts is given, else a global one."""
    user = actor(act)
    payload: JSON = {
        "type": "shortcut",
        **sender(slack, user),
        "callback_id": words(act, "callback_id"),
        "action_ts": slack.workspace.new_ts(),
    }
    if act.get("ts"):
        place = place_of(slack, act)
        row = slack.workspace.messages(place["id"]).get(str(act["ts"]))
        if row is None:
            raise Impossible("There is no such message.", 404)
        payload.update(
            type="message_action",
            channel=channel_of(place),
            message_ts=row["ts"],
            message=shapes.message(slack.workspace, row, slack.url),
            response_url=slack.new_response_url(channel=place["id"], user=user),
        )
    payload["trigger_id"] = slack.new_trigger(user)
    answer = await slack.deliveries.interaction(payload)
    return {"ok": answer.taken, "status": answer.status, "response": answer.json()}


async def home(slack: Slack, act: JSON) -> JSON:
    """Open the app's home tab."""
    user = actor(act)
    place = slack.workspace.open_direct(user)
    ts = slack.workspace.new_ts()
    event: JSON = {
        "type": "app_home_opened",
        "user": user,
        "channel": place["id"],
        "tab": str(act.get("tab") or "home"),
        "event_ts": ts,
    }
    if shown := slack.workspace.get("homes", user):
        event["view"] = shapes.view(shown)
    slack.deliveries.event(event)
    return {"ok": True, "view": shown and {"id": shown["id"]}}


# ---- shared with presses


def actor(act: JSON) -> str:
    """Who acts; somebody nobody knows may, so that the app can be tried with them."""
    user = act.get("user") or act.get("as")
    if not isinstance(user, str) or not _USER.fullmatch(user):
        raise Impossible("user must be an id such as U0BOB.")
    return user


def words(act: JSON, name: str, default: str | None = None) -> str:
    """A text field of what is asked for."""
    value = act.get(name, default)
    if value is None:
        raise Impossible(f"{name} is missing.")
    if not isinstance(value, str):
        raise Impossible(f"{name} must be a text.")
    return value


def place_of(slack: Slack, act: JSON) -> JSON:
    """The channel, by id or #name; a person's own direct messages come into being."""
    named = words(act, "channel")
    channels = slack.workspace.channels()
    user = act.get("user") or act.get("as")
    if isinstance(user, str) and _USER.fullmatch(user) and named in ("D" + user[1:], "dm"):
        return slack.workspace.open_direct(user)
    by_name = {place["name"]: place for place in channels.values() if place["name"]}
    place = channels.get(named) or by_name.get(named.removeprefix("#"))
    if place is None or (place["is_im"] and user and user not in place["members"]):
        raise Impossible(f"There is no channel {named} for this person.", 404)
    return place


def sender(slack: Slack, user: str) -> JSON:
    """The part that every interaction has."""
    return {
        "user": shapes.person(slack.workspace, user),
        "team": {"id": cast.TEAM["id"], "domain": cast.TEAM["domain"]},
        "enterprise": None,
        "is_enterprise_install": False,
        "api_app_id": cast.APP_ID,
        "token": cast.VERIFICATION_TOKEN,
    }


def channel_of(place: JSON) -> JSON:
    """A channel as interactions name it."""
    name = place["name"]
    if place["is_im"]:
        name = "directmessage"
    elif place["is_private"]:
        name = "privategroup"
    return {"id": place["id"], "name": name}


def sample(name: str) -> bytes:
    """A sample document's bytes."""
    path = SAMPLES / name
    if "/" in name or "\\" in name or name.startswith(".") or not path.is_file():
        raise Impossible(f"There is no sample {name}.", 404)
    return path.read_bytes()


def samples() -> list[JSON]:
    """The sample documents, the readable ones first."""
    return [
        {"name": name, "size": (SAMPLES / name).stat().st_size, **({"note": note} if note else {})}
        for name, note in cast.SAMPLES.items()
    ]


def first_message() -> JSON:
    """What the page proposes to write first, with the documents' sizes."""
    sizes = {one["name"]: one["size"] for one in samples()}
    named = [{"name": name, "size": sizes[name]} for name in cast.FIRST_FILES]
    return {"text": cast.FIRST_TEXT, "files": named}


def _own(slack: Slack, act: JSON) -> JSON:
    place = place_of(slack, act)
    row: JSON | None = slack.workspace.messages(place["id"]).get(words(act, "ts"))
    if row is None:
        raise Impossible("There is no such message.", 404)
    if row["user"] != actor(act):
        raise Impossible("This message is somebody else's.", 403)
    return row


def _as_delivered(slack: Slack, text: str) -> str:
    """Escaped as Slack does, with `@Name` and `<@U…>` of people who exist as mentions."""
    people = slack.workspace.people()
    by_name = {person["name"].lower(): id_ for id_, person in people.items()}

    def mention(match: re.Match[str]) -> str:
        return f"<@{match[1]}>" if match[1] in people else match[0]

    def name(match: re.Match[str]) -> str:
        id_ = by_name.get(match[1].lower())
        return f"<@{id_}>" if id_ else match[0]

    return _TYPED_NAME.sub(name, _MENTION.sub(mention, shapes.escaped(text)))


def _as_commanded(slack: Slack, command: str, text: str) -> str:
    """What follows a command; where its people are escaped, each mention carries the name."""
    delivered = _as_delivered(slack, text)
    if not any(one["command"] == command and one.get("escape") for one in cast.COMMANDS):
        return delivered
    people = slack.workspace.people()
    return re.sub(
        r"<@([UW][A-Z0-9]+)>",
        lambda found: f"<@{found[1]}|{people[found[1]]['name'].lower()}>",
        delivered,
    )


def attach(slack: Slack, user: str, one: Any) -> JSON:
    """A file that somebody adds: new, a sample, or one that is known by its id."""
    if not isinstance(one, dict):
        raise Impossible("A file is an object with a name and a text, content_base64 or sample.")
    if "id" in one:
        known: JSON | None = slack.workspace.get("files", str(one["id"]))
        if known is None:
            raise Impossible("There is no such file.", 404)
        return known
    if "sample" in one:
        name = words(one, "sample")
        body = sample(name)
    else:
        name = words(one, "name")
        body = _content(one)
    more: JSON = {key: one[key] for key in ("mimetype", "filetype") if key in one}
    claimed = one.get("claim_size", max(len(body), int(one.get("serve_size", 0))))
    if not isinstance(claimed, int):
        raise Impossible("claim_size must be a number of bytes.")
    if "serve_size" in one:
        more["serve_size"] = int(one["serve_size"])
    return new_file(slack, user, name, body, size=claimed, created=int(time.time()), **more)


def _content(one: JSON) -> bytes:
    if "content_base64" in one:
        try:
            return base64.b64decode(words(one, "content_base64"), validate=True)
        except (binascii.Error, ValueError):
            raise Impossible("content_base64 is not base64.") from None
    return words(one, "text", default="").encode("utf-8", "replace")
