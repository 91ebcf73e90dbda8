"""What else the demo offers, in a real Chromium: two more graphs, and the rules of larger loans."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.browser.demo import PATIENCE_MS, Demo, look, picture, start

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("demo")]


@pytest.fixture
async def demo(tmp_path: Path, demo_ports: None) -> AsyncIterator[Demo]:
    started = await start(tmp_path / "home")
    yield started
    await started.interrupt()


def card(page: Page, *texts: str) -> Locator:
    found = page.locator("#log article:not(.reply, .private)")
    for text in texts:
        found = found.filter(has_text=text)
    return found


async def press(where: Locator, label: str) -> None:
    await where.get_by_role("button", name=re.compile(f"^{label}")).first.click()


async def see(where: Locator, *texts: str) -> None:
    for text in texts:
        await expect(where).to_contain_text(text, timeout=PATIENCE_MS)


async def refund(demo: Demo, bob: Page, browser: Browser) -> None:
    """Alice changes the amount, approves it and rejects the email; Bob reads what was done."""
    await bob.get_by_role("button", name="Refund an order").click()
    alice = await look(browser, demo, "U0ALICE", "C0REFUNDS", "bank")
    asked = card(alice, "Refund agent wants to: issue refund, send email")
    await see(asked, "Needs 2 decisions.", "because money leaves the house", "Amount: 4,000")
    await picture(alice, "demo-refund-1-card")

    await press(asked, "Edit")
    dialog = alice.get_by_role("dialog")
    amount = dialog.get_by_label(re.compile("^Amount"))
    await amount.fill("0")
    await press(dialog, "Approve as changed")
    await see(dialog, "Write a whole number from 1 to")
    await amount.fill("3500")
    await picture(alice, "demo-refund-2-form")
    await press(dialog, "Approve as changed")
    await see(asked, "1 of 2 decided.", "changed and approved by @Alice", "4,000", "3,500")
    await picture(alice, "demo-refund-3-edited")

    await press(asked, "Reject")
    await dialog.get_by_role("textbox").fill("I call her today.")
    await press(dialog, "Reject")
    await see(asked, "Done.", "rejected by @Alice", "I call her today.")
    paid = alice.locator("#pane [data-reference]")
    await expect(paid).to_have_count(1)
    await see(paid, "Meera Nair", "3,500")
    await picture(alice, "demo-refund-4-done")
    await see(bob.locator("#log"), "3,500 was refunded to Meera Nair, reference TX-")
    await see(
        bob.locator("#log"), "The email was not sent: “I call her today.”", "Decided by @Alice"
    )
    await picture(bob, "demo-refund-5-bob")


async def text(demo: Demo, bob: Page, browser: Browser) -> None:
    """Alice and Erin are asked at the same time, want changes, and agree on the second draft."""
    await bob.get_by_role("button", name="Two people review a text").click()
    alice = await look(browser, demo, "U0ALICE", "C0CONTENT", "guide")
    erin = await look(browser, demo, "U0ERIN", "C0CONTENT", "guide")
    true, reads = "Is everything in this text true?", "How does this text read?"
    await see(card(alice, true), "Needs a decision.", "Round  1 of 3", "1 more question")
    await see(card(erin, reads), "Needs a decision.", "We are glad to tell you about")
    await picture(alice, "demo-content-1-cards")

    await press(card(erin, reads), "Fill in")
    dialog = erin.get_by_role("dialog")
    await dialog.get_by_label("too loud").check()
    await press(dialog, "Send answer")
    await see(dialog, "Promises what may not be kept")
    await expect(dialog.locator(".error:not(:empty)")).to_have_count(1)
    await picture(erin, "demo-content-2-form")
    await dialog.get_by_label("Yes").check()
    await press(dialog, "Send answer")
    await see(card(erin, reads), "Answered by")
    await press(card(alice, true), "Something else")
    words = alice.get_by_role("dialog")
    await words.get_by_role("textbox").fill("On Sundays we are closed")
    await press(words, "Send")

    again = card(alice, true, "2 of 3")
    await see(again, "This is about the new opening hours.", "Added: On Sundays we are closed.")
    await see(again, "Added: Some of this may still change.", "It was too loud")
    await picture(alice, "demo-content-3-again")
    await press(again, "It is all true")
    await press(card(erin, reads, "2 of 3"), "Fill in")
    await dialog.get_by_label("fits").check()
    await dialog.get_by_label("No", exact=True).check()
    await press(dialog, "Send answer")
    await see(bob.locator("#log"), "Published in round 2: “This is about the new opening hours. On")
    await picture(bob, "demo-content-4-published")


async def loans(demo: Demo, bob: Page, browser: Browser) -> None:
    """Two have to approve, one for somebody who is away; stages; and a clock that is moved."""
    await bob.get_by_role("button", name="Two have to approve").click()
    alice = await look(browser, demo, "U0ALICE", "C0CREDIT", "guide")
    large = card(alice, "Loan of 120,000 for Lakshmi Tailors")
    await see(large, "Needs 2 approvals.", "None yet.")
    await alice.get_by_role("button", name="Charlie covers for Alice").click()
    await see(alice.locator("#log"), "You are away until", "@Charlie decides in your place")
    await see(large, "@Charlie for @Alice, who is away until")
    charlie = await look(browser, demo, "U0CHARLIE", "C0CREDIT", "guide")
    await press(card(charlie, "Loan of 120,000"), "Approve: ")
    await see(large, "1 of 2 approvals.", "@Charlie for @Alice")
    await picture(alice, "demo-rules-1-covered")

    await bob.get_by_role("button", name="Erin first, then two").click()
    largest = card(alice, "Loan of 300,000 for Harbour Fish")
    await see(largest, "Needs 1 approval, stage 1 of 2.", "Stage 1: @Erin")
    await press(largest, "Approve: ")
    await see(alice.locator("#log"), "Erin decides first")
    erin = await look(browser, demo, "U0ERIN", "C0CREDIT", "guide")
    await press(card(erin, "Loan of 300,000"), "Approve: ")
    await see(largest, "stage 2 of 2.", "Stage 1: approved by @Erin")
    await picture(alice, "demo-rules-2-stages")

    for _ in range(9):  # past the escalation after eight hours
        await erin.get_by_role("button", name="+1 hour").click()
    await see(large, "Overdue, 1 of 2 approvals.")
    await press(card(erin, "Loan of 120,000"), "Approve: ")
    await see(large, "Done.", "120,000 paid to Lakshmi Tailors")
    await erin.get_by_role("button", name="Run out the clock").click()
    await see(largest, "Time ran out.")
    await picture(alice, "demo-rules-3-clock")


async def test_the_demo_offers_a_refund_a_text_for_two_and_rules_with_stages_absence_and_a_clock(
    demo: Demo, browser: Browser
) -> None:
    bob = await look(browser, demo, "U0BOB", "C0LOANS", "guide")
    await refund(demo, bob, browser)
    await text(demo, bob, browser)
    # Neither is the story of the loan, which is still to be told.
    await expect(bob.locator(".step.done")).to_have_count(0)
    await loans(demo, bob, browser)
