"""`sayso demo` as a newcomer starts it, and a real Chromium that looks at it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil
from playwright.async_api import Browser, Page

from tests.browser.conftest import PICTURES, ZONE

ROOT = Path(__file__).parents[2]
PATIENCE_MS = 30_000


@dataclass
class Demo:
    """A demo that runs, and its terminal."""

    process: asyncio.subprocess.Process
    url: str
    home: Path

    def bot(self) -> psutil.Process:
        """The web process of the bot; its worker is its child."""
        for child in psutil.Process(self.process.pid).children():
            if "serve" in child.cmdline():
                return child
        raise AssertionError("there is no bot")

    async def interrupt(self) -> int:
        """Press Ctrl-C in its terminal."""
        self.process.send_signal(signal.SIGINT)
        return await asyncio.wait_for(self.process.wait(), 40)


async def start(home: Path) -> Demo:
    environ = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "demo", cwd=ROOT, stdout=asyncio.subprocess.PIPE,
        env={**environ, "SAYSO_HOME": str(home)},
    )  # fmt: skip
    assert process.stdout is not None
    said = ""
    async with asyncio.timeout(60):
        while not (found := re.search(r"http://127\.0\.0\.1:\d+/", said)):
            line = await process.stdout.readline()
            log = home / "demo.log"
            assert line, (
                f"the demo ended: {said} {log.read_text()[-2000:] if log.is_file() else ''}"
            )
            said += line.decode()
    return Demo(process, found.group(), home)


async def look(browser: Browser, demo: Demo, user: str, channel: str, pane: str) -> Page:
    context = await browser.new_context(
        viewport={"width": 1280, "height": 900}, timezone_id=ZONE, reduced_motion="reduce"
    )
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    await page.goto(f"{demo.url}#as={user}&in={channel}&pane={pane}")
    await page.wait_for_selector("#log > *")
    return page


async def picture(page: Page, name: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    await page.screenshot(path=PICTURES / f"{name}.png")
