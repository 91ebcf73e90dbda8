"""The page's own routes: its files, what one person may see, and a stream of changes."""

import asyncio
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from aiohttp import web

from bot.simulator import acts, bank, cast, control, files, guide
from bot.simulator.cast import JSON
from bot.simulator.errors import Impossible
from bot.simulator.guide import Guide
from bot.simulator.slack import Slack
from checkpoints.text import clean

PAGE = Path(__file__).parent / "page"
KEEP_ALIVE_SECONDS = 15.0
CSP = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_MEDIA_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".png": "image/png",
    ".ico": "image/x-icon",
}
# A card says who decides on a line that begins with one of these; nobody else is waited for.
_WHO_DECIDES = ("Who decides", "Who answers")


class Page:
    """Serves the page of one local Slack."""

    def __init__(self, slack: Slack, steps: Guide) -> None:
        self._slack = slack
        self._guide = steps
        self._closing = asyncio.Event()

    async def close(self, app: web.Application) -> None:
        """Let every open stream end."""
        self._closing.set()
        self._slack.workspace.touch()

    async def index(self, request: web.Request) -> web.StreamResponse:
        """GET /: the page."""
        return self._file("index.html")

    async def static(self, request: web.Request) -> web.StreamResponse:
        """GET /page/<file>: its modules and styles."""
        return self._file(request.match_info["file"])

    async def sample(self, request: web.Request) -> web.StreamResponse:
        """GET /_page/samples/<name>: a sample document."""
        name = request.match_info["name"]
        return web.Response(
            body=acts.sample(name),
            content_type="application/octet-stream",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )

    async def file(self, request: web.Request) -> web.StreamResponse:
        """GET /_page/files/<id>/<name>: a file of a message, as a person downloads it."""
        row = self._slack.workspace.get("files", request.match_info["id"])
        if row is None:
            raise Impossible("There is no such file.", 404)
        return await files.stream(request, self._slack, row)

    async def archive(self, request: web.Request) -> web.StreamResponse:
        """GET /archives/<channel>/p<ts>: a permalink, shown by the page."""
        ts = request.match_info["ts"]
        channel = request.match_info["channel"]
        raise web.HTTPFound(f"/#in={channel}&ts={ts[:-6]}.{ts[-6:]}")

    async def read(self, request: web.Request) -> web.Response:
        """POST /_page/read: this person has seen what is in this channel."""
        act = await control.body(request)
        user, place = acts.actor(act), acts.place_of(self._slack, act)
        last = max(self._slack.workspace.messages(place["id"]), default="")
        key = f"{user}:{place['id']}"
        if self._slack.workspace.get("reads", key) != last:
            self._slack.workspace.put("reads", key, last)
        return web.json_response({"ok": True})

    async def events(self, request: web.Request) -> web.StreamResponse:
        """GET /_page/events: the seq at every change, and now and then."""
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        )
        await response.prepare(request)
        seq = -1
        try:
            while not self._closing.is_set():
                seq = await self._slack.workspace.changed(seq, KEEP_ALIVE_SECONDS)
                await response.write(f'data: {{"seq": {seq}}}\n\n'.encode())
        except ConnectionResetError:
            pass
        return response

    async def state(self, request: web.Request) -> web.Response:
        """GET /_page/state?user=U0BOB: what this person may see."""
        user = request.query.get("user", "U0BOB")
        workspace = self._slack.workspace
        if user not in workspace.people():
            raise Impossible(f"There is nobody called {user}.", 404)
        self._guide.look()
        direct = cast.direct(user)
        places = [place for place in workspace.channels().values() if user in place["members"]]
        return web.json_response(
            {
                "me": self._person(user),
                "team": cast.TEAM,
                "clock": control.clock_json(self._slack),
                "bot": {"running": self._slack.bot_running},
                "people": [
                    self._person(id_) for id_, row in workspace.people().items() if row["shown"]
                ],
                "channels": [
                    {
                        "id": place["id"],
                        "name": place["name"],
                        "topic": place["topic"],
                        "is_private": place["is_private"],
                        "is_archived": place["is_archived"],
                        "unread": self._unread(user, place["id"]),
                        "is_member": True,
                    }
                    for place in places
                    if not place["is_im"]
                ],
                "dms": [
                    {
                        "id": direct["id"],
                        "name": cast.BOT_NAME,
                        "unread": self._unread(user, direct["id"]),
                    }
                ],
                "messages": {
                    id_: self._messages(user, id_)
                    for id_ in dict.fromkeys([*(place["id"] for place in places), direct["id"]])
                },
                "views": [self._view(row) for row in workspace.stack(user)],
                "home": self._home(user),
                "names": self._names(),
                "bank": bank.summary(self._slack),
                "guide": self._guide.ticks(),
                "first": acts.first_message(),
                "samples": acts.samples(),
                "commands": cast.COMMANDS,
                "shortcuts": cast.SHORTCUTS,
                "misbehave": self._slack.misbehaviour.as_json(),
                "seq": workspace.seq,
            }
        )

    # ---- inside

    def _file(self, name: str) -> web.StreamResponse:
        path = PAGE / clean(name)  # no file system takes a NUL
        media_type = _MEDIA_TYPES.get(path.suffix)
        inside = path.resolve().is_relative_to(PAGE.resolve())
        if clean(name) != name or not inside or media_type is None or not path.is_file():
            raise Impossible("There is no such page.", 404)
        return web.Response(
            body=path.read_bytes(),
            content_type=media_type,
            charset="utf-8" if media_type.startswith(("text/", "application/")) else None,
            headers={"Content-Security-Policy": CSP, "Cache-Control": "no-cache"},
        )

    def _person(self, user: str) -> JSON:
        row = self._slack.workspace.people()[user]
        return {
            "id": user,
            "name": row["name"],
            "role": row["role"],
            "color": row["color"],
            "tz": row["tz"],
            "waiting": self._waiting(user),
        }

    def _waiting(self, user: str) -> int:
        return sum(
            guide.asks(row.get("blocks") or [], user)
            or (guide.waits(row.get("blocks") or []) and user in self._asked(row["blocks"]))
            for place in self._slack.workspace.channels().values()
            if user in place["members"]
            for row in self._slack.workspace.messages(place["id"]).values()
        )

    def _asked(self, blocks: list[JSON]) -> set[str]:
        """Whom an open card names as deciding, its groups as they are now, without who voted."""
        groups = self._slack.workspace.table("groups")
        by_handle = {row["handle"]: row["users"] for row in groups.values()}
        asked: set[str] = set()
        voted = ""
        for block in blocks:
            if block["type"] == "section":
                voted += (block.get("text") or {}).get("text", "")
            for part in _who_decides(block):
                if part["type"] == "user":
                    asked.add(part["user_id"])
                elif part["type"] == "usergroup":
                    asked.update(groups.get(part["usergroup_id"], {}).get("users", []))
                elif part["type"] == "text":  # after the first post a group is its plain name
                    for word in re.findall(r"[\w-]+", part["text"]):
                        asked.update(by_handle.get(word, []))
        return {user for user in asked if f"<@{user}>" not in voted}

    def _unread(self, user: str, channel: str) -> int:
        last = self._slack.workspace.get("reads", f"{user}:{channel}") or ""
        return sum(
            ts > last and row["user"] != user
            for ts, row in self._slack.workspace.messages(channel).items()
        )

    def _messages(self, user: str, channel: str) -> list[JSON]:
        workspace = self._slack.workspace
        private = [
            row
            for row in workspace.table("ephemerals").values()
            if row["channel"] == channel and row["to"] == user
        ]
        rows = sorted(
            [*workspace.messages(channel).values(), *private], key=lambda row: str(row["ts"])
        )
        replies: dict[str, int] = {}
        for row in rows:
            if "to" not in row and row.get("thread_ts") not in (None, row["ts"]):
                replies[row["thread_ts"]] = replies.get(row["thread_ts"], 0) + 1
        return [self._message(row, replies.get(row["ts"], 0)) for row in rows]

    def _message(self, row: JSON, replies: int) -> JSON:
        known = self._slack.workspace.table("files")
        return {
            "ts": row["ts"],
            "user": row["user"],
            "name": self._slack.workspace.name_of(row["user"]),
            "is_bot": bool(row.get("bot_id")) or row["user"] == cast.SLACKBOT,
            "text": row["text"],
            "blocks": row.get("blocks") or [],
            "files": [
                {
                    "id": id_,
                    "name": known[id_]["name"],
                    "size": known[id_]["size"],
                    "url": f"/_page/files/{id_}/{known[id_]['name_in_url']}",
                }
                for id_ in row.get("files") or []
                if id_ in known
            ],
            "thread_ts": row.get("thread_ts"),
            "reply_count": replies,
            "broadcast": row.get("subtype") == "thread_broadcast",
            "ephemeral": "to" in row,
            "edited": bool(row.get("edited")),
            "reactions": row.get("reactions") or [],
            "at": _iso(row["ts"]),
        }

    @staticmethod
    def _view(row: JSON) -> JSON:
        return {
            "id": row["id"],
            "type": row["type"],
            "title": row["title"],
            "submit": row["submit"],
            "close": row["close"],
            "blocks": row["blocks"],
            "values": row["state"]["values"],
            "hash": row["hash"],
            "callback_id": row["callback_id"],
        }

    def _home(self, user: str) -> JSON | None:
        row = self._slack.workspace.get("homes", user)
        if row is None:
            return None
        return {"id": row["id"], "blocks": row["blocks"], "hash": row["hash"]}

    def _names(self) -> JSON:
        workspace = self._slack.workspace
        return {
            "users": {id_: row["name"] for id_, row in workspace.people().items()},
            "groups": {id_: row["handle"] for id_, row in workspace.table("groups").items()},
            "channels": {
                id_: row["name"] for id_, row in workspace.channels().items() if row["name"]
            },
        }


def _who_decides(block: JSON) -> Iterator[JSON]:
    """The elements of a card's line that says who decides, without its label.

    Where people decide one after another it is the line of the stage that is open.
    """
    for inner in block.get("elements") or [] if block["type"] == "rich_text" else []:
        parts = inner.get("elements") or []
        staged = any(_opens_stage(part) for part in parts)
        on = False
        for part in parts:
            text = part.get("text", "") if part.get("type") == "text" else ""
            label, _, names = text.strip().partition(":")
            if _opens_stage(part):
                on = True
            elif label in _WHO_DECIDES and not staged:
                on = True
                yield {**part, "text": names}
            elif on and "\n" in text:
                yield {**part, "text": text.partition("\n")[0]}
                on = False
            elif on:
                yield part


def _opens_stage(part: JSON) -> bool:
    return "●" in str(part.get("text", "")).rpartition("\n")[2]


def _iso(ts: str) -> str:

    return datetime.fromtimestamp(float(ts), UTC).isoformat()
