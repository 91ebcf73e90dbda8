"""`/api/<method>`: Slack's Web API, as far as the app uses it.

The order of a call is Slack's: the rate limit, the token, the scope, then the arguments. An
answer is HTTP 200 even when it refuses; only a rate limit is 429 and only an outage 5xx.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from aiohttp import web

from bot.simulator import (
    arguments,
    cast,
    chat,
    conversations,
    files,
    people,
    views,
)
from bot.simulator.arguments import Call
from bot.simulator.cast import JSON
from bot.simulator.errors import Refused
from bot.simulator.slack import Slack

POST_BURST = 5


@dataclass(frozen=True)
class Method:
    """What answers a method, and which scope it needs (any one of several)."""

    run: Callable[[Call], Awaitable[JSON]]
    scopes: tuple[str, ...] = ()
    token: str = "bot"


async def api_test(call: Call) -> JSON:
    """api.test: the arguments back."""
    if call.has("error"):
        raise Refused(call.text("error"))
    return {"args": {key: of for key, of in call.arguments.items() if key != "token"}}


async def auth_test(call: Call) -> JSON:
    """auth.test: who the token is."""
    return {
        "url": f"{call.slack.url}/",
        "team": cast.TEAM["name"],
        "user": cast.BOT_NAME.lower(),
        "team_id": cast.TEAM["id"],
        "user_id": cast.BOT_USER,
        "bot_id": cast.BOT_ID,
        "is_enterprise_install": False,
    }


async def open_connection(call: Call) -> JSON:
    """apps.connections.open: Socket Mode is switched off in this workspace."""
    raise Refused("socket_mode_not_enabled")


_READS = ("channels:read", "groups:read", "im:read", "mpim:read")
_HISTORY = ("channels:history", "groups:history", "im:history", "mpim:history")

METHODS: dict[str, Method] = {
    "api.test": Method(api_test, token="none"),
    "apps.connections.open": Method(open_connection, token="app"),
    "auth.test": Method(auth_test),
    "chat.delete": Method(chat.delete, ("chat:write",)),
    "chat.getPermalink": Method(chat.get_permalink),
    "chat.postEphemeral": Method(chat.post_ephemeral, ("chat:write",)),
    "chat.postMessage": Method(chat.post_message, ("chat:write",)),
    "chat.update": Method(chat.update, ("chat:write",)),
    "conversations.history": Method(conversations.history, _HISTORY),
    "conversations.info": Method(conversations.info, _READS),
    "conversations.list": Method(conversations.list_, _READS),
    "conversations.members": Method(conversations.members, _READS),
    "conversations.open": Method(conversations.open_, ("im:write", "mpim:write")),
    "conversations.replies": Method(conversations.replies, _HISTORY),
    "files.completeUploadExternal": Method(files.complete_upload, ("files:write",)),
    "files.getUploadURLExternal": Method(files.get_upload_url, ("files:write",)),
    "files.info": Method(files.info, ("files:read",)),
    "reactions.add": Method(chat.add_reaction, ("reactions:write",)),
    "usergroups.list": Method(people.list_groups, ("usergroups:read",)),
    "usergroups.users.list": Method(people.list_group_users, ("usergroups:read",)),
    "users.info": Method(people.info, ("users:read",)),
    "users.list": Method(people.list_, ("users:read",)),
    "users.lookupByEmail": Method(people.lookup_by_email, (people.EMAIL_SCOPE,)),
    "views.open": Method(views.open_),
    "views.publish": Method(views.publish),
    "views.push": Method(views.push),
    "views.update": Method(views.update),
}


class Api:
    """Answers the Web API of one local Slack."""

    def __init__(self, slack: Slack) -> None:
        self._slack = slack
        self._posts: dict[str, tuple[float, float]] = {}

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one call; whatever happens is in `calls`."""
        name = request.match_info["method"]
        knobs = self._slack.misbehaviour
        given: JSON = {}
        try:
            given = await arguments.read(request)
            if limited := self._rate_limited(name, given):
                return self._limit(name, given, limited)
            if knobs.take_for("server_error", name):
                self._note(name, given, "HTTP 500")
                return web.Response(status=500, text="Internal Server Error")
            await self._delay(name)
            answer = await self._answer(name, request, given)
        except Refused as refusal:
            answer = refusal.as_json()
        lost = knobs.loses_answer_of(name)
        self._note(name, given, answer.get("error"), lost=lost)
        if lost:
            return self._lose(request)
        scopes = ",".join(sorted(self._slack.granted_scopes()))
        return web.json_response(answer, headers={"X-OAuth-Scopes": scopes})

    async def _answer(self, name: str, request: web.Request, given: JSON) -> JSON:
        method = METHODS.get(name)
        if method is None:
            raise Refused("unknown_method", req_method=name)
        self._authorize(method, request, given)
        if told := self._slack.misbehaviour.take_for("api_error", name):
            raise Refused(told.get("error", "internal_error"))
        return {"ok": True, **await method.run(Call(self._slack, name, given))}

    def _authorize(self, method: Method, request: web.Request, given: JSON) -> None:
        if method.token == "none":
            return
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            token = given.get("token") or ""
        if not token:
            raise Refused("not_authed")
        known = {self._slack.bot_token: "bot", self._slack.app_token: "app"}
        kind = known.get(token.strip()) if isinstance(token, str) else None
        if kind is None:
            raise Refused("invalid_auth")
        if kind != method.token:
            raise Refused("not_allowed_token_type")
        knobs = self._slack.misbehaviour
        if kind == "bot" and knobs["uninstall"]:
            raise Refused("account_inactive")
        if kind == "bot" and knobs["revoke"]:
            raise Refused("token_revoked")
        granted = self._slack.granted_scopes()
        if method.scopes and not granted.intersection(method.scopes):
            provided = ",".join(sorted(granted))
            raise Refused("missing_scope", needed=method.scopes[0], provided=provided)

    # ---- misbehaviour

    def _rate_limited(self, name: str, given: JSON) -> JSON | None:
        told = self._slack.misbehaviour.take_for("ratelimit", name)
        if told or name != "chat.postMessage" or not self._slack.misbehaviour["rates"]:
            return told
        channel, now = str(given.get("channel")), time.monotonic()
        left, then = self._posts.get(channel, (float(POST_BURST), now))
        left = min(float(POST_BURST), left + now - then)
        self._posts[channel] = (max(left - 1, 0) if left >= 1 else left, now)
        return {"retry_after": 1} if left < 1 else None

    def _limit(self, name: str, given: JSON, told: JSON) -> web.Response:
        self._note(name, given, "ratelimited")
        return web.json_response(
            {"ok": False, "error": "ratelimited"},
            status=429,
            headers={"Retry-After": str(told.get("retry_after", 1))},
        )

    async def _delay(self, name: str) -> None:
        knobs = self._slack.misbehaviour
        delay = knobs["api_delay_ms"]
        if name in ("conversations.history", "conversations.replies"):
            delay += knobs["slow_history_ms"]
        if name == "users.info":
            delay += knobs["users_info_ms"]
        if delay:
            await asyncio.sleep(delay / 1000)

    def _lose(self, request: web.Request) -> web.Response:
        if self._slack.misbehaviour["lose_by"] == "close" and request.transport:
            request.transport.abort()
        return web.Response(status=500, text="Internal Server Error")

    def _note(self, name: str, given: JSON, error: str | None, *, lost: bool = False) -> None:
        self._slack.calls.append(
            {
                "method": name,
                "ok": error is None,
                "error": error,
                "lost": lost,
                "channel": given.get("channel"),
                "at": datetime.now(UTC).isoformat(),
            }
        )
