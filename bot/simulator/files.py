"""Files: the files.* methods, the address bytes are sent to, and the private url they come from."""

import time
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

from aiohttp import web

from bot.simulator import cast, shapes
from bot.simulator.arguments import Call
from bot.simulator.cast import JSON
from bot.simulator.conversations import place_to_write
from bot.simulator.errors import Refused
from bot.simulator.slack import Slack

FILE_BYTES = 1_000_000_000
_SHOWN = ("image/png", "image/jpeg", "image/gif")
_CHUNK = 65_536


async def info(call: Call) -> JSON:
    """files.info."""
    row = call.workspace.get("files", call.needed("file", "file_not_found"))
    if row is None or row.get("pending"):
        raise Refused("file_not_found")
    return {
        "file": shapes.file(row, call.slack.url),
        "comments": [],
        "response_metadata": {"next_cursor": ""},
    }


async def get_upload_url(call: Call) -> JSON:
    """files.getUploadURLExternal: where to send the bytes."""
    name = call.needed("filename")
    length = call.number("length", 0, FILE_BYTES)
    if not length:
        raise Refused("invalid_arguments", ["[ERROR] missing required field: length"])
    row = new_file(call.slack, cast.BOT_USER, name, b"", size=length, pending=True)
    return {"upload_url": f"{call.slack.url}/upload/{row['id']}", "file_id": row["id"]}


async def complete_upload(call: Call) -> JSON:
    """files.completeUploadExternal: share what was sent, in a channel or with nobody yet."""
    wanted = call.data("files", "invalid_arguments")
    if not isinstance(wanted, list) or not wanted:
        raise Refused("invalid_arguments", ["[ERROR] missing required field: files"])
    rows = []
    for one in wanted:
        row = call.workspace.get("files", one.get("id", "")) if isinstance(one, dict) else None
        if row is None:
            raise Refused("file_not_found")
        if row.get("pending") is False:
            raise Refused("file_update_failed")  # a file is completed once
        if not row.get("arrived"):
            raise Refused("file_upload_not_complete")
        seen_at = time.time() + call.slack.misbehaviour["file_ms"] / 1000
        title = one.get("title") or row["title"]
        rows.append({**row, "title": title, "pending": False, "seen_at": seen_at})
    channel = call.text("channel_id") or call.text("channels")
    place = None
    if channel:
        asked = Call(call.slack, call.method, {**call.arguments, "channel": channel})
        place = place_to_write(asked)
    for row in rows:
        call.workspace.put("files", row["id"], row)
    if place:
        share(call.slack, place, rows, call.text("initial_comment"), call.text("thread_ts"))
    # Slack looks at a file, and shares it, a moment after it has answered.
    return {"files": [{"id": row["id"], "title": row["title"]} for row in rows]}


def share(slack: Slack, place: JSON, rows: list[JSON], comment: str, thread_ts: str) -> None:
    """Post the app's files into a channel, as completing an upload does."""
    message: JSON = {
        "channel": place["id"],
        "ts": slack.workspace.new_ts(),
        "user": cast.BOT_USER,
        "bot_id": cast.BOT_ID,
        "text": comment,
        "files": [row["id"] for row in rows],
    }
    if thread_ts:
        message["thread_ts"] = thread_ts
    slack.workspace.put_message(message)
    for row in rows:
        shares = {**row.get("shares", {}), place["id"]: [message["ts"]]}
        slack.workspace.put("files", row["id"], {**row, "shares": shares})
    slack.tell_of_message(message)


def check_pictures(slack: Slack, blocks: Any, code: str, pointer: str) -> None:
    """Refuse blocks that show a file of Slack's which is no picture, or not looked at yet."""
    for at, block in enumerate(blocks if isinstance(blocks, list) else ()):
        shown = block.get("slack_file") if isinstance(block, dict) else None
        if not isinstance(shown, dict) or "id" not in shown:
            continue
        row = slack.workspace.get("files", str(shown["id"]))
        if row is None or not shapes.is_seen(row) or row["mimetype"] not in _SHOWN:
            where = f"{pointer}/{at}/slack_file"
            raise Refused(code, [f"[ERROR] invalid slack file [json-pointer:{where}]"])


def new_file(slack: Slack, user: str, name: str, body: bytes, **more: Any) -> JSON:
    """Keep a file; `size` may claim what it likes, `serve_size` is how much really comes."""
    kind, media_type, pretty = shapes.file_type(name)
    row: JSON = {
        "id": slack.workspace.new_id("F0"),
        "name": name,
        "name_in_url": quote(name.lower().replace(" ", "_").replace("/", "_"), safe="._-"),
        "title": name,
        "mimetype": media_type,
        "filetype": kind,
        "pretty_type": pretty,
        "user": user,
        "size": len(body),
        "created": int(time.time()),
        **more,
    }
    slack.workspace.keep_bytes(row["id"], body)
    slack.workspace.put("files", row["id"], row)
    return row


# ---- over HTTP


async def upload(request: web.Request, slack: Slack) -> web.Response:
    """POST /upload/<id>: the bytes, raw or as a form's file."""
    row = slack.workspace.get("files", request.match_info["id"])
    if row is None or row.get("pending") is not True:
        return web.Response(status=404, text="Not found")
    body = await request.read()
    if request.content_type == "multipart/form-data":
        form = await request.post()
        sent = next((one for one in form.values() if isinstance(one, web.FileField)), None)
        body = sent.file.read() if sent else b""
    if len(body) != row["size"]:
        return web.Response(status=400, text="The length is not the one that was announced")
    slack.workspace.keep_bytes(row["id"], body)
    slack.workspace.put("files", row["id"], {**row, "arrived": True})
    return web.Response(text=f"OK - {len(body)}")


async def private(request: web.Request, slack: Slack) -> web.StreamResponse:
    """GET /files/<id>/<name>: with the app's token the bytes, else Slack's way to its sign-in."""
    allowed = request.headers.get("Authorization") == f"Bearer {slack.bot_token}"
    if not allowed or slack.misbehaviour["revoke"] or slack.misbehaviour["uninstall"]:
        raise web.HTTPFound(f"/signin?redir={quote(request.path)}")
    row = slack.workspace.get("files", request.match_info["id"])
    if row is None or row["name_in_url"] not in (
        request.match_info["name"],
        quote(request.match_info["name"], safe="._-"),
    ):
        raise web.HTTPNotFound(text="Not found")
    return await stream(request, slack, row)


async def sign_in(request: web.Request) -> web.Response:
    """GET /signin: the page that a downloader without a token gets, as HTTP 200 and HTML."""
    page = "<!DOCTYPE html><title>Sign in</title><p>Sign in to see this file.</p>"
    return web.Response(text=page, content_type="text/html")


async def stream(request: web.Request, slack: Slack, row: JSON) -> web.StreamResponse:
    """A file's bytes, filled up to `serve_size` where it has one, never run by a browser."""
    response = web.StreamResponse(
        headers={
            "Content-Type": row["mimetype"],
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(row['name'], safe='')}",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox; default-src 'none'",
        }
    )
    await response.prepare(request)
    async for chunk in _chunks(slack, row):
        await response.write(chunk)
    await response.write_eof()
    return response


async def _chunks(slack: Slack, row: JSON) -> AsyncIterator[bytes]:
    body = slack.workspace.read_bytes(row["id"])
    yield body
    left = int(row.get("serve_size", 0)) - len(body)
    while left > 0:
        yield b" " * min(left, _CHUNK)
        left -= _CHUNK
