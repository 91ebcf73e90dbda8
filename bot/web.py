"""The web process's door: one route for everything Slack sends, and three for whoever watches.

Bolt has no request handler for an aiohttp server, and two kinds of request make it answer 500
before it has looked at the signature: a timestamp that is no integer and a body that is not what
its content type says. So the route looks at size, signature and shape itself, and hands on only
what is Slack's and well formed. What fails before its signature is proved is counted, and one
audit entry a minute says how many: an open door must not fill the record.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qs

import structlog
from aiohttp import ClientPayloadError, web
from aiohttp.http_exceptions import HttpProcessingError
from prometheus_client import CONTENT_TYPE_LATEST
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp

from bot.gauges import Gauges
from checkpoints.database import Database
from checkpoints.errors import SaysoError

log = structlog.get_logger("sayso.web")

MAX_BODY_BYTES: Final = 1_000_000
OLD_SECONDS: Final = 300
COUNTED_SECONDS: Final = 60.0
FIRST_COUNTED_SECONDS: Final = 1.0
_FORM: Final = "application/x-www-form-urlencoded"
_JSON: Final = "application/json"

Record = Callable[[dict[str, int]], Awaitable[None]]


class Door:
    """What stands between the network and Bolt."""

    def __init__(
        self,
        app: AsyncApp,
        signing_secret: str,
        *,
        record_unproved: Record,
        counted_seconds: float = COUNTED_SECONDS,
    ) -> None:
        self._app = app
        self._secret = signing_secret
        self._record = record_unproved
        self._counted_seconds = counted_seconds
        self._unproved: Counter[str] = Counter()
        self._counted = asyncio.Event()

    async def receive(self, request: web.Request) -> web.StreamResponse:
        """Check size, signature and shape, then let Bolt route it; a clean 4xx otherwise."""
        try:
            body = await request.read()
        except web.HTTPRequestEntityTooLarge:
            return self._refuse(413, "too_large", "The request is too large.")
        except (web.RequestPayloadError, ClientPayloadError, HttpProcessingError):
            return self._refuse(400, "unreadable", "The body is not what its headers say.")
        refused = self._unproven(request, body)
        if refused is not None:
            return refused
        if _malformed(request.content_type, body):
            return _plain(400, "The body is not what its content type says.")
        try:
            answer = await self._app.async_dispatch(await to_bolt_request(request))
        except (TypeError, KeyError, AttributeError, ValueError):
            # What our listeners raise, Bolt catches: this is its routing, and a shape nobody knows.
            log.warning("a body of an unknown shape", path=request.path, exc_info=True)
            return _plain(400, "The body is not what its type says.")
        if answer.status >= 400:
            log.info("request not taken", status=answer.status, path=request.path)
        return await to_aiohttp_response(answer)

    async def record_for_ever(self) -> None:
        """Write down how many requests were refused unproved: soon, and then once a minute."""
        while True:
            await self._counted.wait()
            await asyncio.sleep(min(FIRST_COUNTED_SECONDS, self._counted_seconds))
            self._counted.clear()
            await self.record_now()
            await asyncio.sleep(self._counted_seconds)

    async def record_now(self) -> None:
        """Write down what was counted since the last time."""
        if not self._unproved:
            return
        counted, self._unproved = self._unproved, Counter()
        try:
            await self._record(dict(counted))
        except SaysoError as error:
            self._unproved += counted
            log.warning("cannot record refused requests", error=str(error))

    def _unproven(self, request: web.Request, body: bytes) -> web.Response | None:
        timestamp = request.headers.get("X-Slack-Request-Timestamp", "")
        signature = request.headers.get("X-Slack-Signature", "")
        if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 20):
            return self._refuse(400, "no_timestamp", "The request has no usable timestamp.")
        if abs(time.time() - int(timestamp)) > OLD_SECONDS:
            return self._refuse(401, "old_timestamp", "The request is too old.")
        # By hand and over bytes: the SDK decodes the body first, and one that is no text raises.
        base = b"v0:" + timestamp.encode() + b":" + body
        expected = f"v0={hmac.new(self._secret.encode(), base, hashlib.sha256).hexdigest()}"
        if not hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace")):
            return self._refuse(401, "wrong_signature", "The signature is not Slack's.")
        return None

    def _refuse(self, status: int, why: str, sentence: str) -> web.Response:
        self._unproved[why] += 1
        self._counted.set()
        log.info("refused before proof", why=why)
        return _plain(status, sentence)


def site(database: Database, door: Callable[[], Door | None], gauges: Gauges) -> web.Application:
    """The routes: Slack's one, /healthz (we run), /readyz (the database answers too), /metrics.

    ``door`` is None until Slack has said who we are; Slack sends again what came before that.
    """
    application = web.Application(client_max_size=MAX_BODY_BYTES)

    async def healthz(_: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def readyz(_: web.Request) -> web.Response:
        up, open_ = await database.is_up(), door() is not None
        ready = up and open_
        return web.json_response(
            {"ok": ready, "database": up, "slack": open_}, status=200 if ready else 503
        )

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=await gauges.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def events(request: web.Request) -> web.StreamResponse:
        opened = door()
        if opened is None:
            return _plain(503, "Not ready yet. Send it again.")
        return await opened.receive(request)

    application.router.add_get("/healthz", healthz)
    application.router.add_get("/readyz", readyz)
    application.router.add_get("/metrics", metrics)
    application.router.add_post("/slack/events", events)
    return application


@contextlib.asynccontextmanager
async def listening(
    application: web.Application, *, host: str, port: int
) -> AsyncIterator[tuple[str, int]]:
    """Serve the application; yields the host and port it really listens on."""
    runner = web.AppRunner(application, access_log=None, handle_signals=False, shutdown_timeout=3)
    await runner.setup()
    try:
        tcp = web.TCPSite(runner, host, port)
        await tcp.start()
        address = runner.addresses[0]
        yield str(address[0]), int(address[1])
    finally:
        await runner.cleanup()


def _malformed(content_type: str, body: bytes) -> bool:
    """Whether Bolt could not read the body: it must be UTF-8 and hold an object of known shape."""
    try:
        text = body.decode("utf-8")
        if content_type == _JSON:
            return not _has_shape(json.loads(text), _EVENT_BODY)
        if content_type != _FORM:
            return True
        form: dict[str, list[Any]] = parse_qs(text, keep_blank_values=True, max_num_fields=200)
        if "payload" in form:
            said = json.loads(form["payload"][0])
            return not (_has_shape(said, _INTERACTION) and _has_inputs(said))
        return not ("command" in form or "ssl_check" in form)
    except (ValueError, RecursionError):
        return True


_Shape: TypeAlias = Mapping[str, "type | tuple[type, ...] | _Shape"]

_MESSAGE: Final[_Shape] = {
    "user": (str, dict),  # the whole person in user_change, the whole channel in channel_rename
    "channel": (str, dict),
    "ts": str,
    "thread_ts": str,
    "event_ts": str,
    "text": str,
    "type": str,
    "subtype": str,
    "bot_id": str,
    "team": str,
    "files": list,
    "message": dict,
    "view": dict,
}
_EVENT_BODY: Final[_Shape] = {
    "type": str,
    "team_id": str,
    "enterprise_id": str,
    "api_app_id": str,
    "event_id": str,
    "event": _MESSAGE,
    "authorizations": list,
    "challenge": str,
}
_PLACE: Final[_Shape] = {"id": str, "name": str, "team_id": str}
_INTERACTION: Final[_Shape] = {
    "type": str,
    "callback_id": str,
    "trigger_id": str,
    "response_url": str,
    "team": _PLACE,
    "enterprise": dict,
    "user": _PLACE,
    "channel": _PLACE,
    "container": {"type": str, "channel_id": str, "message_ts": str, "thread_ts": str},
    "message": {"ts": str, "thread_ts": str},
    "actions": list,
    "view": {
        "id": str,
        "callback_id": str,
        "private_metadata": str,
        "state": {"values": dict},
        "blocks": list,
    },
}
_LISTS_OF_OBJECTS: Final = frozenset({"files", "authorizations", "actions", "blocks"})


def _has_shape(value: Any, shape: _Shape) -> bool:
    """Whether it is an object whose known members are what Slack says, where they are there."""
    if not isinstance(value, dict):
        return False
    for name, wanted in shape.items():
        found = value.get(name)
        if found is not None and not _is(found, wanted, name):
            return False
    return True


def _has_inputs(said: Mapping[str, Any]) -> bool:
    """Whether what was written in a window stands in it as blocks of inputs."""
    blocks = (((said.get("view") or {}).get("state") or {}).get("values") or {}).values()
    return all(
        isinstance(block, dict) and all(isinstance(each, dict) for each in block.values())
        for block in blocks
    )


def _is(found: Any, wanted: type | tuple[type, ...] | _Shape, name: str) -> bool:
    if isinstance(wanted, Mapping):
        return _has_shape(found, wanted)
    if name in _LISTS_OF_OBJECTS and isinstance(found, list):
        return all(isinstance(each, dict) for each in found)
    return isinstance(found, wanted)


def _plain(status: int, sentence: str) -> web.Response:
    return web.Response(status=status, text=sentence + "\n")
