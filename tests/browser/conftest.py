"""A real Chromium, a real local Slack, and a small app that answers in place of the bot.

Every page watches itself: a word on the console, an error, or a request that leaves the machine
fails the test at its end.
"""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import aiohttp
import orjson
import pytest
from aiohttp import web
from playwright.async_api import Browser, Page, async_playwright

from bot.simulator import cast
from bot.simulator.server import LocalSlack

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)

PICTURES = Path(__file__).parents[2] / "test-output"
PAYLOADS = Path(__file__).parent / "payloads"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ZONE = "Asia/Kolkata"
JSON = dict[str, Any]
Answer = Callable[[JSON], Awaitable[JSON | None]]


def payload(name: str) -> JSON:
    """A payload of these tests by its name."""
    value: JSON = orjson.loads((PAYLOADS / f"{name}.json").read_bytes())
    return value


@pytest.fixture
def modal() -> JSON:
    """A modal with an input of every kind."""
    return payload("modal")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the system's Chromium."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        reason = "no Chromium on the PATH: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@pytest.fixture
async def browser(chromium: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        )
        yield browser
        await browser.close()


@dataclass
class App:
    """Stands where the bot stands: keeps what was delivered, answers as a test wants."""

    heard: list[JSON] = field(default_factory=list)
    answer: Answer | None = None

    async def take(self, request: web.Request) -> web.Response:
        raw = await request.read()
        if request.content_type == "application/json":
            heard = orjson.loads(raw)
            if heard.get("type") == "url_verification":
                return web.json_response({"challenge": heard["challenge"]})
        else:
            form = parse_qs(raw.decode())
            heard = orjson.loads(form["payload"][0]) if "payload" in form else {"form": form}
        self.heard.append(heard)
        said = await self.answer(heard) if self.answer and "event" not in heard else None
        return web.json_response(said) if said is not None else web.Response()

    def of(self, kind: str) -> list[JSON]:
        """What was delivered of one kind, oldest first."""
        return [one for one in self.heard if one.get("type") == kind]


@pytest.fixture
async def app() -> AsyncIterator[tuple[App, str]]:
    app = App()
    server = web.Application()
    server.router.add_post("/slack/events", app.take)
    server.router.add_get("/readyz", _ready)
    runner = web.AppRunner(server)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    yield app, f"http://127.0.0.1:{port}/slack/events"
    await runner.cleanup()


async def _ready(_: web.Request) -> web.Response:
    return web.Response(text="ready")


@dataclass
class Place:
    """A local Slack with its page, its app, and the app's Web API."""

    url: str
    app: App
    session: aiohttp.ClientSession
    browser: Browser
    pages: list[Page] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)

    async def api(self, method: str, **arguments: Any) -> JSON:
        """Call the Web API as the bot does; an error fails the test."""
        headers = {"authorization": f"Bearer {cast.BOT_TOKEN}"}
        where = f"{self.url}/api/{method}"
        async with self.session.post(where, json=arguments, headers=headers) as response:
            said: JSON = await response.json()
        assert said["ok"], (method, said)
        return said

    async def upload_picture(self) -> str:
        """Give Slack a picture as the bot does; the id of its file."""
        there = await self.api("files.getUploadURLExternal", filename="path.png", length=len(PNG))
        async with self.session.post(there["upload_url"], data=PNG) as response:
            assert response.status == 200
        await self.api("files.completeUploadExternal", files=[{"id": there["file_id"]}])
        return str(there["file_id"])

    async def control(self, name: str, **act: Any) -> JSON:
        """Use a control route, as another person's page would."""
        async with self.session.post(f"{self.url}/_control/{name}", json=act) as response:
            said: JSON = await response.json()
        assert response.status == 200, (name, said)
        return said

    async def post_card(self) -> str:
        """The app posts the card of these tests in #credit; its ts."""
        card = payload("card")
        said = await self.api("chat.postMessage", channel="C0CREDIT", **card)
        return str(said["ts"])

    def opens(self, view: JSON) -> list[str]:
        """From now on the app answers a press with this modal; the ids of those it opened."""
        opened: list[str] = []

        async def answer(heard: JSON) -> JSON | None:
            if heard["type"] == "block_actions":
                said = await self.api("views.open", trigger_id=heard["trigger_id"], view=view)
                opened.append(said["view"]["id"])
            return None

        self.app.answer = answer
        return opened

    async def open(
        self, user: str, channel: str, *, width: int = 1280, height: int = 800, pane: str = "guide"
    ) -> Page:
        """The page as this person sees this place, in a window of this size."""
        context = await self.browser.new_context(
            viewport={"width": width, "height": height}, timezone_id=ZONE, reduced_motion="reduce"
        )
        page = await context.new_page()
        self.pages.append(page)
        page.on("console", lambda said: self._console(said.type, said.text))
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("request", lambda asked: self._request(asked.url))
        await page.goto(f"{self.url}/#as={user}&in={channel}&pane={pane}")
        await page.wait_for_selector("#log > *")
        return page

    async def picture(self, page: Page, name: str) -> None:
        """Keep what the page looks like for people to see."""
        PICTURES.mkdir(exist_ok=True)
        await page.screenshot(path=PICTURES / f"{name}.png")

    def _console(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and not any(each in text for each in self.allowed):
            self.wrong.append(f"console {kind}: {text}")

    def _request(self, url: str) -> None:
        if not url.startswith((self.url, "blob:", "data:")):
            self.wrong.append(f"asked outside: {url}")


@pytest.fixture
async def place(app: tuple[App, str], browser: Browser) -> AsyncIterator[Place]:
    listener, events_url = app
    async with (
        LocalSlack.start(port=0, events_url=events_url) as slack,
        aiohttp.ClientSession() as session,
    ):
        place = Place(slack.url.rstrip("/"), listener, session, browser)
        yield place
        for page in place.pages:
            await page.context.close()
        assert place.wrong == []
