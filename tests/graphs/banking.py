"""A bank on the loopback interface, for the graphs of the library that pay."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Bank:
    """A bank that pays once for each key, and refuses when it is told to."""

    url: str = ""
    transfers: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    loses_answers: int = 0
    answers: list[web.Response] = field(default_factory=list)

    async def transfer(self, request: web.Request) -> web.Response:
        key = request.headers["Idempotency-Key"]
        self.asked.append(key)
        if self.answers:
            return self.answers.pop(0)
        paid = self.transfers.setdefault(key, await request.json())
        reference = f"TX-{20931 + list(self.transfers).index(key)}"
        if self.loses_answers:
            self.loses_answers -= 1
            assert request.transport is not None
            request.transport.close()
        assert paid == await request.json()
        return web.json_response({"reference": reference}, status=201)


@asynccontextmanager
async def an_open_bank() -> AsyncIterator[Bank]:
    """A bank that takes transfers at its `url`."""
    bank = Bank()
    app = web.Application()
    app.router.add_post("/transfers", bank.transfer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        bank.url = f"http://127.0.0.1:{runner.addresses[0][1]}/transfers"
        yield bank
    finally:
        await runner.cleanup()
