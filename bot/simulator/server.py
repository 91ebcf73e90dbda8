"""The local Slack as one aiohttp server on the loopback interface.

`LocalSlack.start(...)` runs it inside a program (tests); `serve(...)` is the command
`sayso simulator`. Nothing but this machine is listened to, and a request must also have been
meant for it: a Host that is not loopback is DNS rebinding, a POST from another origin is a
foreign page that drives the people here.
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web

from bot.simulator import acts, bank, cast, control, files, modals, presses, responding
from bot.simulator.api import Api
from bot.simulator.cast import JSON
from bot.simulator.deliveries import ACK_SECONDS, Deliveries
from bot.simulator.errors import Impossible
from bot.simulator.guide import Guide
from bot.simulator.misbehaviour import Misbehaviour
from bot.simulator.page import Page
from bot.simulator.slack import TRIGGER_SECONDS, Slack
from bot.simulator.workspace import Workspace

HOST = "127.0.0.1"
HEALTH_SECONDS = 1.0
BODY_BYTES = 100_000_000
# What a link from elsewhere may lead to.
_OPEN = ("/page/", "/archives/", "/files/")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class LocalSlack:
    """A running local Slack: where it answers, and its people's hands for tests in-process."""

    def __init__(self, slack: Slack) -> None:
        self.slack = slack

    @classmethod
    @asynccontextmanager
    async def start(
        cls,
        port: int = 0,
        *,
        home: Path | None = None,
        events_url: str = "",
        retry_scale: float = 1.0,
        ack_seconds: float = ACK_SECONDS,
        trigger_seconds: float = TRIGGER_SECONDS,
        bot_token: str = cast.BOT_TOKEN,
        signing_secret: str = cast.SIGNING_SECRET,
        health_seconds: float = HEALTH_SECONDS,
    ) -> AsyncIterator["LocalSlack"]:
        """Serve on 127.0.0.1:port (0: any free one) until the block is left."""
        workspace = Workspace(home)
        misbehaviour = Misbehaviour()
        deliveries = Deliveries(
            workspace,
            misbehaviour,
            events_url=events_url,
            signing_secret=signing_secret,
            retry_scale=retry_scale,
            ack_seconds=ack_seconds,
        )
        slack = Slack(
            workspace,
            misbehaviour,
            deliveries,
            bot_token=bot_token,
            trigger_seconds=trigger_seconds,
        )
        steps = Guide(workspace)
        runner = web.AppRunner(
            application(slack, steps), access_log=None, shutdown_timeout=1.0, handle_signals=False
        )
        try:
            await runner.setup()
            site = web.TCPSite(runner, HOST, port)
            await site.start()
            slack.url = f"http://{HOST}:{runner.addresses[0][1]}"
            await deliveries.open()
            watch = asyncio.create_task(_watch_bot(slack, steps, health_seconds), name="bot health")
            try:
                yield cls(slack)
            finally:
                watch.cancel()
                await asyncio.gather(watch, return_exceptions=True)
        finally:
            await deliveries.close()
            await runner.cleanup()
            workspace.close()

    # ---- where

    @property
    def url(self) -> str:
        """The page's address, without a slash at the end."""
        return self.slack.url

    @property
    def api_url(self) -> str:
        """What a Slack client takes as base_url."""
        return f"{self.slack.url}/api/"

    @property
    def bank_url(self) -> str:
        """Where the loan pays."""
        return f"{self.slack.url}/transfers"

    @property
    def workspace(self) -> Workspace:
        """The state itself."""
        return self.slack.workspace

    @property
    def events_url(self) -> str:
        """Where the app takes its deliveries; may be set when its port is known."""
        return self.slack.deliveries.events_url

    @events_url.setter
    def events_url(self, url: str) -> None:
        self.slack.deliveries.events_url = url

    # ---- the people's hands, as the control routes have them

    async def message(self, user: str, channel: str, text: str = "", **more: Any) -> JSON:
        """Write a message; {channel, ts, files}."""
        act = {"user": user, "channel": channel, "text": text, **more}
        return await acts.message(self.slack, act)

    async def click(self, user: str, **what: Any) -> JSON:
        """Press something; see the control route for what names it."""
        return await presses.click(self.slack, {"user": user, **what})

    async def submit(self, user: str, values: JSON | None = None, **more: Any) -> JSON:
        """Submit the person's top modal."""
        return await modals.submit(self.slack, {"user": user, "values": values or {}, **more})

    async def act(self, name: str, /, **what: Any) -> JSON:
        """Any control route by its name: act("close", user="U0BOB")."""
        return await control.ACTS[name](self.slack, what)

    async def misbehave(self, **knobs: Any) -> JSON:
        """Turn knobs."""
        return await control.misbehave(self.slack, knobs)

    def messages(self, channel: str) -> list[JSON]:
        """A channel's messages, oldest first."""
        place = acts.place_of(self.slack, {"channel": channel})
        rows = self.workspace.messages(place["id"]).values()
        return [control.message_json(self.slack, row) for row in rows]

    def private_messages(self, user: str) -> list[JSON]:
        """What only this person was shown, oldest first."""
        rows = self.workspace.table("ephemerals").values()
        return [control.message_json(self.slack, row) for row in rows if row["to"] == user]

    def views(self, user: str) -> list[JSON]:
        """The person's open modals, the top one last."""
        return self.workspace.stack(user)

    def transfers(self) -> list[JSON]:
        """What the bank paid, oldest first."""
        return list(self.workspace.table("transfers").values())

    @property
    def deliveries(self) -> list[JSON]:
        """What was sent to the app and how it ended, oldest first."""
        return list(self.slack.deliveries.log)

    @property
    def calls(self) -> list[JSON]:
        """The Web API calls that came in, oldest first."""
        return list(self.slack.calls)


async def serve(
    port: int,
    *,
    home: Path | None,
    events_url: str,
    retry_scale: float = 1.0,
    ready: Callable[[LocalSlack], None] | None = None,
) -> None:
    """Run the local Slack until it is told to stop (SIGINT, SIGTERM or cancelled)."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, stop.set)
    try:
        async with LocalSlack.start(
            port, home=home, events_url=events_url, retry_scale=retry_scale
        ) as local:
            if ready:
                ready(local)
            await stop.wait()
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(number)


def application(slack: Slack, steps: Guide) -> web.Application:
    """Every route of the local Slack."""
    app = web.Application(middlewares=[_guard, _sentences], client_max_size=BODY_BYTES)
    page, api = Page(slack, steps), Api(slack)

    def of(handler: Callable[[web.Request, Slack], Awaitable[web.StreamResponse]]) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            return await handler(request, slack)

        return handle

    app.add_routes(
        [
            web.get("/api/{method}", api.handle),
            web.post("/api/{method}", api.handle),
            web.post("/respond/{token}", of(responding.respond)),
            web.post("/upload/{id}", of(files.upload)),
            web.get("/files/{id}/{name}", of(files.private)),
            web.get("/signin", files.sign_in),
            web.post("/transfers", of(bank.transfer)),
            web.get("/transfers", of(bank.transfers)),
            web.get("/_control/messages", of(control.messages)),
            web.get("/_control/state", of(control.state)),
            web.get("/_control/clock", of(control.clock_now)),
            web.post("/_control/{act}", of(control.act)),
            web.get("/_page/state", page.state),
            web.get("/_page/events", page.events),
            web.post("/_page/read", page.read),
            web.get("/_page/samples/{name}", page.sample),
            web.get("/_page/files/{id}/{name}", page.file),
            web.get(r"/archives/{channel:\w+}/p{ts:\d{7,}}", page.archive),
            web.get("/page/{file:.+}", page.static),
            web.get("/", page.index),
        ]
    )
    app.on_shutdown.append(page.close)
    return app


@web.middleware
async def _guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer only what was meant for this machine, and drive people only from our own page."""
    if not _is_loopback(f"//{request.headers.get('Host', '')}"):
        return web.json_response({"error": "This answers on this machine only."}, status=403)
    looks_only = request.path in ("/", "/signin") or request.path.startswith(_OPEN)
    if not looks_only:
        # The tokens here are no secret, so the Web API is guarded as the control routes are; a
        # Slack client sends none of these headers.
        origin = request.headers.get("Origin")
        if origin is not None and origin != f"{request.scheme}://{request.host}":
            return web.json_response({"error": "Another page cannot act here."}, status=403)
        if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            return web.json_response({"error": "Another page cannot act here."}, status=403)
        drives = request.path.startswith(("/_control/", "/_page/")) and request.method == "POST"
        if drives and request.content_type != "application/json":
            return web.json_response({"error": "Send application/json."}, status=415)
    return await handler(request)


@web.middleware
async def _sentences(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Say in a sentence what cannot be done."""
    try:
        response = await handler(request)
    except Impossible as problem:
        response = web.json_response({"error": str(problem)}, status=problem.status)
    if not response.prepared:
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Referrer-Policy", "no-referrer")
        if request.path.startswith(("/_control/", "/_page/")):
            response.headers.setdefault("Cache-Control", "no-store")
    return response


def _is_loopback(url: str) -> bool:
    try:
        return urlsplit(url).hostname in _LOOPBACK
    except ValueError:
        return False


async def _watch_bot(slack: Slack, steps: Guide, every: float) -> None:
    """Ask the app every second whether it is ready; when it is back, send what waits."""
    timeout = aiohttp.ClientTimeout(total=max(every, 0.5))
    async with aiohttp.ClientSession(timeout=timeout) as session:
        while True:
            running = await _is_ready(session, slack.deliveries.events_url)
            # It may have been away between two looks; what was sent meanwhile tells.
            if steps.saw_bot(running) or (running and slack.deliveries.unreached):
                slack.deliveries.hurry()
            if running != slack.bot_running:
                slack.bot_running = running
                slack.workspace.touch()
            await asyncio.sleep(every)


async def _is_ready(session: aiohttp.ClientSession, events_url: str) -> bool:
    if not events_url:
        return False
    parts = urlsplit(events_url)
    try:
        async with session.get(f"{parts.scheme}://{parts.netloc}/readyz") as response:
            return response.status == 200
    except (TimeoutError, aiohttp.ClientError):
        return False
