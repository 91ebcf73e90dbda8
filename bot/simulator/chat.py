"""The chat.* and reactions.* methods: what the app writes, and how it changes what it wrote."""

import secrets
from typing import Any

from bot.simulator import cast, files, shapes, strictness
from bot.simulator.arguments import Call
from bot.simulator.cast import JSON
from bot.simulator.conversations import place_to_write
from bot.simulator.errors import Refused


async def post_message(call: Call) -> JSON:
    """chat.postMessage: a new message of the app, as people and events see it."""
    place = place_to_write(call)
    content = content_of(call, most=strictness.POST_TEXT)
    row: JSON = {
        "channel": place["id"],
        "ts": call.workspace.new_ts(),
        "user": cast.BOT_USER,
        "bot_id": cast.BOT_ID,
        **content,
        **_thread(call, place),
    }
    call.workspace.put_message(row)
    call.slack.tell_of_message(row)
    shown = shapes.message(call.workspace, row, call.slack.url, metadata=True)
    answer: JSON = {"channel": place["id"], "ts": row["ts"], "message": shown}
    if "blocks" in content and not content["text"]:
        answer["warning"] = "missing_text_in_message"
        answer["response_metadata"] = {"warnings": ["missing_text_in_message"]}
    return answer


async def update(call: Call) -> JSON:
    """chat.update: text alone removes the blocks and marks it edited; blocks leave no mark."""
    before = own_message(call, "cant_update_message")
    content = content_of(call, most=strictness.UPDATE_TEXT)
    after = {key: value for key, value in before.items() if key not in ("blocks", "edited")}
    after.update(content)
    if "metadata" not in content and call.has("metadata"):
        after.pop("metadata", None)
    if "blocks" not in content:
        after["edited"] = {"user": cast.BOT_USER, "ts": call.workspace.new_ts()}
    call.workspace.put_message(after)
    call.slack.tell_of_change(before, after)
    shown = shapes.message(call.workspace, after, call.slack.url, metadata=True)
    return {
        "channel": before["channel"],
        "ts": before["ts"],
        "text": after["text"],
        "message": shown,
    }


async def post_ephemeral(call: Call) -> JSON:
    """chat.postEphemeral: for one person who is in the channel, never found again by the app."""
    place = place_to_write(call, people_too=False)
    user = call.needed("user")
    if user not in place["members"]:
        raise Refused("user_not_in_channel")
    row = {
        "channel": place["id"],
        "ts": call.workspace.new_ts(),
        "to": user,
        "user": cast.BOT_USER,
        "bot_id": cast.BOT_ID,
        **content_of(call, most=strictness.POST_TEXT),
        **_thread(call, place),
    }
    call.workspace.put("ephemerals", row["ts"], row)
    return {"message_ts": row["ts"]}


async def delete(call: Call) -> JSON:
    """chat.delete: only what the app wrote."""
    row = own_message(call, "cant_delete_message")
    call.workspace.remove_message(row)
    call.slack.tell_of_change(row, None)
    return {"channel": row["channel"], "ts": row["ts"]}


async def get_permalink(call: Call) -> JSON:
    """chat.getPermalink: an address of the page that shows this message."""
    place = call.workspace.channels().get(call.needed("channel", "channel_not_found"))
    if place is None:
        raise Refused("channel_not_found")
    ts = call.needed("message_ts", "message_not_found")
    if ts not in call.workspace.messages(place["id"]):
        raise Refused("message_not_found")
    link = f"{call.slack.url}/archives/{place['id']}/p{ts.replace('.', '')}"
    return {"channel": place["id"], "permalink": link}


async def add_reaction(call: Call) -> JSON:
    """reactions.add: one of each name a person."""
    place = place_to_write(call, people_too=False)
    ts = call.needed("timestamp", "no_item_specified")
    row = call.workspace.messages(place["id"]).get(ts)
    if row is None:
        raise Refused("message_not_found")
    name = call.needed("name", "invalid_name").strip(":")
    reactions = [dict(one) for one in row.get("reactions", [])]
    found = next((one for one in reactions if one["name"] == name), None)
    if found is None:
        reactions.append({"name": name, "users": [cast.BOT_USER], "count": 1})
    elif cast.BOT_USER in found["users"]:
        raise Refused("already_reacted")
    else:
        found.update(users=[*found["users"], cast.BOT_USER], count=found["count"] + 1)
    call.workspace.put_message({**row, "reactions": reactions})
    return {}


# ---- shared with files and response urls


def content_of(call: Call, *, most: int) -> JSON:
    """text, blocks and metadata of a message, refused as Slack refuses them."""
    text = call.text("text")
    blocks = call.data("blocks", "invalid_blocks_format")
    metadata = call.data("metadata", "invalid_metadata_format")
    content: JSON = {"text": text}
    if len(text) > most:
        raise Refused("msg_too_long")
    if blocks is not None:
        strictness.check_message(blocks)
        files.check_pictures(call.slack, blocks, "invalid_blocks", "/blocks")
    if not text.strip() and not blocks and not call.data("attachments", "invalid_attachments"):
        raise Refused("no_text")
    if blocks:
        content["blocks"] = strictness.with_ids(blocks, _short_id)
    if metadata:
        strictness.check_metadata(metadata)
        content["metadata"] = metadata
    return content


def own_message(call: Call, otherwise: str) -> JSON:
    """The app's own message that channel and ts name; the channel's real id, not a person's."""
    place = place_to_write(call, people_too=False)
    row = call.workspace.messages(place["id"]).get(call.needed("ts", "message_not_found"))
    if row is None:
        raise Refused("message_not_found")
    if row.get("bot_id") != cast.BOT_ID:
        raise Refused(otherwise)
    return row


def _thread(call: Call, place: JSON) -> JSON:
    thread_ts: Any = call.text("thread_ts")
    if not thread_ts:
        return {}
    parent = call.workspace.messages(place["id"]).get(thread_ts)
    if parent is None or parent.get("subtype") == "tombstone":
        raise Refused("cannot_reply_to_message")
    placed: JSON = {"thread_ts": parent.get("thread_ts") or thread_ts}
    if call.flag("reply_broadcast"):
        placed["subtype"] = "thread_broadcast"
    return placed


def _short_id(prefix: str) -> str:
    return prefix + secrets.token_hex(3)
