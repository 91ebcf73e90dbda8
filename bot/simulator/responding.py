"""What the app says back where somebody acted: response urls, and the bodies of its answers."""

import json
import time
from typing import Any

from aiohttp import web

from bot.simulator import cast, strictness
from bot.simulator.arguments import Call
from bot.simulator.cast import JSON
from bot.simulator.chat import content_of
from bot.simulator.deliveries import Answer
from bot.simulator.errors import Refused
from bot.simulator.slack import RESPONSE_SECONDS, RESPONSE_USES, Slack


async def respond(request: web.Request, slack: Slack) -> web.Response:
    """POST /respond/<token>: five times in thirty minutes, no token of the app needed."""
    token = request.match_info["token"]
    about = slack.workspace.get("responses", token)
    try:
        if about is None or time.time() - about["born"] > RESPONSE_SECONDS:
            raise Refused("expired_url")
        if about["uses"] >= RESPONSE_USES:
            raise Refused("used_url")
        try:
            said = json.loads(await request.read())
        except ValueError:
            raise Refused("invalid_json") from None
        if not isinstance(said, dict):
            raise Refused("invalid_payload")
        slack.workspace.put("responses", token, {**about, "uses": about["uses"] + 1})
        say(slack, said, about)
    except Refused as refusal:
        gone = refusal.code in ("expired_url", "used_url")
        _note(slack, refusal.code)
        return web.json_response(refusal.as_json(), status=404 if gone else 400)
    _note(slack, None)
    return web.Response(text="ok")


def say(slack: Slack, said: JSON, about: JSON) -> None:
    """Do what such a body asks: a private answer, a public one, or another face of the original."""
    original = about.get("message_ts")
    if said.get("delete_original"):
        _delete(slack, about, original)
        return
    content = content_of(Call(slack, "response_url", said), most=strictness.POST_TEXT)
    if said.get("replace_original") and original:
        _replace(slack, about, original, content)
        return
    thread = said.get("thread_ts") or about.get("thread_ts")
    row: JSON = {
        "channel": about["channel"],
        "ts": slack.workspace.new_ts(),
        "user": cast.BOT_USER,
        "bot_id": cast.BOT_ID,
        **content,
        **({"thread_ts": thread} if thread else {}),
    }
    if said.get("response_type") == "in_channel":
        slack.workspace.put_message(row)
        slack.tell_of_message(row)
    else:
        slack.workspace.put("ephemerals", row["ts"], {**row, "to": about["user"]})


def say_answer(slack: Slack, answer: Answer, about: JSON) -> str | None:
    """Show what the app put in the body of its answer to a command; an error, or None."""
    if not answer.body.strip():
        return None
    said: Any = answer.json()
    if not isinstance(said, dict):
        said = {"text": answer.body.decode("utf-8", "replace")}
    try:
        say(slack, said, about)
    except Refused as refusal:
        return refusal.code
    return None


def slackbot_says(slack: Slack, channel: str, user: str, text: str) -> None:
    """Slack's own private word to a person, when the app did not answer."""
    ts = slack.workspace.new_ts()
    row = {"channel": channel, "ts": ts, "to": user, "user": cast.SLACKBOT, "text": text}
    slack.workspace.put("ephemerals", ts, row)


def _delete(slack: Slack, about: JSON, original: str | None) -> None:
    if about.get("ephemeral") and original:
        slack.workspace.drop("ephemerals", original)
    elif original and (row := slack.workspace.messages(about["channel"]).get(original)):
        slack.workspace.remove_message(row)
        slack.tell_of_change(row, None)


def _replace(slack: Slack, about: JSON, original: str, content: JSON) -> None:
    if about.get("ephemeral"):
        before = slack.workspace.get("ephemerals", original)
    else:
        before = slack.workspace.messages(about["channel"]).get(original)
    if before is None:
        raise Refused("message_not_found")
    after = {key: value for key, value in before.items() if key != "blocks"} | content
    if about.get("ephemeral"):
        slack.workspace.put("ephemerals", original, after)
    else:
        slack.workspace.put_message(after)
        slack.tell_of_change(before, after)


def _note(slack: Slack, error: str | None) -> None:
    slack.calls.append({"method": "response_url", "ok": error is None, "error": error})
