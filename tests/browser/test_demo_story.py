"""What a newcomer sees: `sayso demo` as it is, driven in a real Chromium from message to money."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.browser.conftest import PICTURES
from tests.browser.demo import PATIENCE_MS, ROOT, Demo, look, picture, start

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("demo")]


@pytest.fixture
async def demo(tmp_path: Path, demo_ports: None) -> AsyncIterator[Demo]:
    started = await start(tmp_path / "home")
    yield started
    if started.process.returncode is None:
        await started.interrupt()


async def test_the_story_from_message_to_money_and_memory(demo: Demo, browser: Browser) -> None:
    bob = await look(browser, demo, "U0BOB", "C0LOANS", "guide")
    await bob.get_by_role("button", name="Send", exact=True).click()
    await expect(bob.locator("#log")).to_contain_text("Waiting for", timeout=PATIENCE_MS)
    await expect(bob.locator("#log")).to_contain_text("✓ Read the documents")
    await picture(bob, "demo-1-bob-waits")

    alice = await look(browser, demo, "U0ALICE", "C0CREDIT", "bank")
    open_card = alice.locator("#log article").filter(has_text="Loan of 60,000 for Asha Traders")
    await expect(open_card).to_contain_text("Needs a decision.", timeout=PATIENCE_MS)
    for evidence in ("Risk 71 of 100, high", "bank-statement-oct.pdf", "31,400", "van-quote.pdf"):
        await expect(open_card).to_contain_text(evidence)
    await picture(alice, "demo-2-card")
    await open_card.screenshot(path=PICTURES / "demo-card.png")

    await open_card.get_by_role("button", name=re.compile("^Approve with conditions")).click()
    dialog = alice.get_by_role("dialog")
    await dialog.get_by_role("textbox").fill("Insure the van before it is handed over.")
    await picture(alice, "demo-3-modal")
    await dialog.get_by_role("button", name="Approve").click()
    await expect(open_card).to_contain_text("Done.", timeout=PATIENCE_MS)
    await expect(open_card).to_contain_text(re.compile(r"60,000 paid to Asha Traders.*TX-"))
    await expect(open_card).to_contain_text("Insure the van")
    await expect(open_card.get_by_role("button", name="Approve")).to_have_count(0)
    await expect(alice.locator("#pane")).to_contain_text("Reference TX-", timeout=PATIENCE_MS)
    await picture(alice, "demo-4-done")
    await expect(bob.locator("#log")).to_contain_text("TX-", timeout=PATIENCE_MS)

    await bob.get_by_label("Message #loans as Bob").fill(
        "Loan for Asha Traders, 70000 for a second van"
    )
    await bob.get_by_role("button", name="Send", exact=True).click()
    second = alice.locator("#log article").filter(has_text="Loan of 70,000 for Asha Traders")
    await expect(second).to_contain_text("What we know of Asha Traders", timeout=PATIENCE_MS)
    await expect(second).to_contain_text("Insure the van before it is handed over.")
    await picture(alice, "demo-5-remembers")


async def test_a_killed_bot_and_a_stopped_demo_go_on_where_they_were(
    demo: Demo, browser: Browser
) -> None:
    bob = await look(browser, demo, "U0BOB", "C0LOANS", "guide")
    await bob.get_by_role("button", name="Send", exact=True).click()
    alice = await look(browser, demo, "U0ALICE", "C0CREDIT", "bank")
    waiting = alice.locator("#log article").filter(has_text="Loan of 60,000 for Asha Traders")
    await expect(waiting).to_contain_text("Needs a decision.", timeout=PATIENCE_MS)

    demo.bot().kill()
    await expect(alice.get_by_text("Bot stopped").first).to_be_visible(timeout=PATIENCE_MS)
    again = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "demo", cwd=ROOT, stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "SAYSO_HOME": str(demo.home)},
    )  # fmt: skip
    said, _ = await asyncio.wait_for(again.communicate(), 60)
    assert demo.url in said.decode()
    assert again.returncode == 0

    assert await demo.interrupt() == 0
    resumed = await start(demo.home)
    try:
        alice = await look(browser, resumed, "U0ALICE", "C0CREDIT", "bank")
        waiting = alice.locator("#log article").filter(has_text="Loan of 60,000 for Asha Traders")
        await expect(waiting).to_have_count(1)
        await waiting.get_by_role("button", name=re.compile("^Approve: ")).click()
        await expect(waiting).to_contain_text("Done.", timeout=PATIENCE_MS)
        await expect(alice.locator("#pane")).to_contain_text("Reference TX-", timeout=PATIENCE_MS)
    finally:
        with contextlib.suppress(ProcessLookupError):
            await resumed.interrupt()
