"""A local Slack over real HTTP, and an app that takes its deliveries and answers as told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import aiohttp
import pytest
from aiohttp import web

from bot.simulator import LocalSlack, cast

JSON = dict[str, Any]
PATIENCE_SECONDS = 10.0


@dataclass
class Delivery:
    """One request that reached the app."""

    headers: dict[str, str]
    raw: bytes
    form: dict[str, str]
    body: JSON

    @property
    def event(self) -> JSON:
        return dict(self.body["event"])


@dataclass
class App:
    """Stands where the bot would: keeps what came, answers with `answer`."""

    url: str = ""
    ready: bool = True
    got: list[Delivery] = field(default_factory=list)
    answer: Callable[[Delivery], web.Response | None] = lambda delivery: None
    hold: asyncio.Event | None = None

    async def take(self, request: web.Request) -> web.Response:
        raw = await request.read()
        form: dict[str, str] = {}
        if request.content_type == "application/json":
            body = json.loads(raw)
        else:
            form = {key: values[0] for key, values in parse_qs(raw.decode()).items()}
            body = json.loads(form["payload"]) if "payload" in form else {}
        delivery = Delivery(dict(request.headers), raw, form, body)
        self.got.append(delivery)
        if self.hold:
            await self.hold.wait()
        return self.answer(delivery) or web.Response()

    async def is_ready(self, request: web.Request) -> web.Response:
        return web.Response(status=200 if self.ready else 503)

    @property
    def last(self) -> Delivery:
        """The last click, submission or command that came."""
        return [one for one in self.got if one.body.get("type") != "event_callback"][-1]

    def events(self, kind: str = "") -> list[JSON]:
        """The events that came, of one type when it is named."""
        every = [one.event for one in self.got if one.body.get("type") == "event_callback"]
        return [event for event in every if not kind or event["type"] == kind]


async def until(look: Callable[[], Any]) -> Any:
    """Wait until this is true, and return it."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (seen := look()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return seen


@pytest.fixture
async def app() -> AsyncIterator[App]:
    """An app on a free port."""
    made = App()
    server = web.Application()
    server.router.add_post("/slack/events", made.take)
    server.router.add_get("/readyz", made.is_ready)
    runner = web.AppRunner(server, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    yield made
    if made.hold:
        made.hold.set()
    await runner.cleanup()


@pytest.fixture
async def slack(app: App) -> AsyncIterator[LocalSlack]:
    """A local Slack that delivers to the app; its retries wait a thousandth of Slack's."""
    async with LocalSlack.start(
        events_url=app.url, retry_scale=0.001, health_seconds=0.05
    ) as running:
        yield running


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
def call(slack: LocalSlack, http: aiohttp.ClientSession) -> Callable[..., Any]:
    """Call a Web API method with the bot's token, JSON in and out."""

    async def one(method: str, **arguments: Any) -> JSON:
        headers = {"Authorization": f"Bearer {cast.BOT_TOKEN}"}
        async with http.post(slack.api_url + method, json=arguments, headers=headers) as response:
            return dict(await response.json())

    return one


@pytest.fixture
def control(slack: LocalSlack, http: aiohttp.ClientSession) -> Callable[..., Any]:
    """POST a control route; (status, body)."""

    async def one(act: str, **body: Any) -> tuple[int, JSON]:
        async with http.post(f"{slack.url}/_control/{act}", json=body) as response:
            return response.status, dict(await response.json())

    return one


def plain(text: str) -> JSON:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> JSON:
    return {"type": "mrkdwn", "text": text}


def section(text: str = "Hello", **more: Any) -> JSON:
    return {"type": "section", "text": mrkdwn(text), **more}


def button(label: str = "Approve", action_id: str = "approve", **more: Any) -> JSON:
    return {"type": "button", "text": plain(label), "action_id": action_id, **more}


def actions(*elements: JSON, **more: Any) -> JSON:
    return {"type": "actions", "elements": list(elements), **more}


def field_(block_id: str = "reason", **more: Any) -> JSON:
    return {
        "type": "input",
        "block_id": block_id,
        "label": plain("Reason"),
        "element": {"type": "plain_text_input", "action_id": "text", **more},
    }


def modal(*blocks: JSON, **more: Any) -> JSON:
    return {"type": "modal", "title": plain("A window"), "blocks": list(blocks), **more}
