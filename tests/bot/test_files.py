"""The token goes to Slack and nowhere else, and no file is read beyond the limit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import web

from bot.files import MAX_FILE_BYTES, SlackFiles
from bot.slack import Slack
from graphs.errors import FileRefused
from graphs.threads import FileRef
from tests.bot.conftest import Desk

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[Handler], Awaitable[str]]


@pytest.fixture
async def server_of() -> AsyncIterator[Serve]:
    """Serves one handler for every path and says where."""
    runners: list[web.AppRunner] = []

    async def serve(handler: Handler) -> str:
        application = web.Application()
        application.router.add_get("/{path:.*}", handler)
        runner = web.AppRunner(application, shutdown_timeout=0.1)
        runners.append(runner)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}"

    yield serve
    for runner in runners:
        await runner.cleanup()


def named(url: str, size: int = 10, media_type: str = "text/plain") -> FileRef:
    return FileRef("F1", "file", size, url, media_type)


async def test_a_file_of_a_message_is_read(desk: Desk) -> None:
    await desk.slack.message(
        "U0BOB", "C0CREDIT", "here", files=[{"name": "note.txt", "text": "31,400 a month"}]
    )
    (message,) = desk.slack.messages("C0CREDIT")
    url = message["files"][0].get("url_private") or message["files"][0]["url"]
    body = await SlackFiles(desk.client)(named(url))
    assert body == b"31,400 a month"


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "https://slack.com.evil.example/files/1",
        "https://evil.example/slack.com",
        "https://slack.com@evil.example/x",
        "http://files.slack.com/x",
        "https://files.slack.com:8443/x",
        "file:///etc/passwd",
        "//files.slack.com/x",
        "https://[",
        "",
    ],
)
async def test_an_address_that_is_not_slacks_is_not_asked(url: str) -> None:
    async with Slack.open("xoxb-test") as slack:
        with pytest.raises(FileRefused):
            await SlackFiles(slack)(named(url))


async def test_a_redirect_elsewhere_is_not_followed(server_of: Serve) -> None:
    async def away(_: web.Request) -> web.StreamResponse:
        raise web.HTTPFound("http://169.254.169.254/")

    url = await server_of(away)
    async with Slack.open("xoxb-test", api_url=f"{url}/api/") as slack:
        with pytest.raises(FileRefused):
            await SlackFiles(slack)(named(f"{url}/file"))


async def test_a_file_larger_than_it_was_said_to_be_is_cut_off(server_of: Serve) -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b"x" * 65536)
        except ConnectionError:
            return response

    url = await server_of(endless)
    async with Slack.open("xoxb-test", api_url=f"{url}/api/") as slack:
        with pytest.raises(FileRefused, match="larger than 10 MB"):
            await SlackFiles(slack)(named(f"{url}/file"))


async def test_a_file_that_says_it_is_too_large_is_not_asked_for() -> None:
    async with Slack.open("xoxb-test") as slack:
        with pytest.raises(FileRefused, match="larger than 10 MB"):
            await SlackFiles(slack)(named("https://files.slack.com/x", MAX_FILE_BYTES + 1))


async def test_slacks_sign_in_page_is_no_document(server_of: Serve) -> None:
    async def page(_: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>Sign in</html>", content_type="text/html")

    url = await server_of(page)
    async with Slack.open("xoxb-test", api_url=f"{url}/api/") as slack:
        with pytest.raises(FileRefused, match="does not let us"):
            await SlackFiles(slack)(named(f"{url}/file"))
        body = await SlackFiles(slack)(named(f"{url}/file", media_type="text/html"))
        assert body.startswith(b"<html>")
