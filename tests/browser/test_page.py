"""The page of the local Slack in a real Chromium: people, messages, replies, keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

if TYPE_CHECKING:
    from tests.browser.conftest import Place

pytestmark = pytest.mark.browser

FIRST = "Loan for Asha Traders, 60000 for a delivery van"
SUMMARY = "Loan of 60,000 for Asha Traders: a decision is needed."


async def test_bob_sends_the_typed_message_with_its_documents_by_one_press(place: Place) -> None:
    page = await place.open("U0BOB", "C0LOANS")
    await expect(page.get_by_role("heading", name="Bob needs a loan")).to_be_visible()
    await place.picture(page, "page-1280-first")

    await page.get_by_role("button", name="Send", exact=True).click()

    sent = page.locator("#log article")
    await expect(sent).to_contain_text(FIRST)
    await expect(sent.locator(".file")).to_have_count(2)
    await expect(page.get_by_label("Message #loans as Bob")).to_have_value("")
    await expect(page.locator(".step.done")).to_contain_text(["Bob asks for a loan"])


async def test_a_document_of_ones_own_is_sent_with_the_message(place: Place) -> None:
    page = await place.open("U0ALICE", "C0LOANS")
    own = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"Income 31,400 a month."}
    await page.locator("#composer input[type=file]").set_input_files([own])
    await page.get_by_role("button", name="Attach a document").click()
    await expect(page.get_by_role("menuitem", name="/sayso")).to_be_visible()
    await page.get_by_role("menuitem", name="van-quote.pdf").click()
    await page.get_by_label("Message #loans as Alice").press("Enter")
    await expect(page.locator("#log .file")).to_contain_text(["notes.txt", "van-quote.pdf"])
    async with page.context.expect_page() as opened:
        await page.get_by_role("link", name="notes.txt").click()
    await (await opened.value).close()


async def test_a_message_has_a_menu_with_the_shortcut_that_asks_about_it(place: Place) -> None:
    sent = await place.control("message", user="U0ALICE", channel="C0CREDIT", text="Broken lamp")
    page = await place.open("U0BOB", "C0CREDIT")
    message = page.locator("#log article", has_text="Broken lamp")
    await message.hover()
    await message.get_by_role("button", name="More to do with this message").click()
    async with page.expect_response("**/_control/shortcut"):
        await page.get_by_role("menuitem", name="Ask Sayso about this").click()

    await expect(page.get_by_role("menuitem")).to_have_count(0)
    (heard,) = place.app.of("message_action")
    assert (heard["user"]["id"], heard["callback_id"]) == ("U0BOB", "ask_sayso")
    assert (heard["channel"]["id"], heard["message"]["ts"]) == ("C0CREDIT", sent["ts"])
    assert heard["message"]["text"] == "Broken lamp"


async def test_what_people_write_is_shown_and_never_run(place: Place) -> None:
    hostile = "<img src=x onerror=alert(1)> & *bold* <!channel> <https://evil.example|bank>"
    await place.control("message", user="U0BOB", channel="C0LOANS", text=hostile)
    page = await place.open("U0BOB", "C0LOANS")
    said = page.locator("#log .said")
    shown = "<img src=x onerror=alert(1)> & bold <!channel> <https://evil.example|bank>"
    await expect(said).to_have_text(shown)
    await expect(said.locator("img")).to_have_count(0)


async def test_a_posted_card_appears_and_changes_without_a_reload(place: Place) -> None:
    page = await place.open("U0ALICE", "C0CREDIT")
    await expect(page.get_by_text("No card yet.")).to_be_visible()

    ts = await place.post_card()
    await expect(page.locator("#log article .header")).to_be_visible()
    await expect(page.locator("#says")).to_contain_text(SUMMARY)

    status = {"type": "mrkdwn", "text": ":white_check_mark:  *Done.*  60,000 paid."}
    closed = [{"type": "section", "block_id": "status2", "text": status}]
    text = "Done: Loan of 60,000 for Asha Traders."
    await place.api("chat.update", channel="C0CREDIT", ts=ts, text=text, blocks=closed)
    await expect(page.locator("#log article")).to_contain_text("60,000 paid.")
    await expect(page.get_by_role("button", name="Approve", exact=True)).to_have_count(0)
    await expect(page.locator("#says")).to_contain_text(text)


async def test_a_private_message_is_marked_and_only_its_reader_sees_it(place: Place) -> None:
    await place.post_card()
    await place.api(
        "chat.postEphemeral", channel="C0CREDIT", user="U0CHARLIE", text="You cannot decide this."
    )
    alice = await place.open("U0ALICE", "C0CREDIT")
    await expect(alice.locator(".message.private")).to_have_count(0)
    charlie = await place.open("U0CHARLIE", "C0CREDIT")
    await expect(charlie.locator(".message.private")).to_contain_text("Only visible to you")
    await charlie.get_by_role("button", name="Dismiss").click()
    await expect(charlie.locator(".message.private")).to_have_count(0)


async def test_a_reply_stands_under_its_message_and_in_the_conversation(place: Place) -> None:
    sent = await place.control("message", user="U0BOB", channel="C0LOANS", text="Loan, 60000")
    page = await place.open("U0BOB", "C0LOANS")
    await place.api(
        "chat.postMessage", channel="C0LOANS", thread_ts=sent["ts"], text="Reading the request."
    )
    await expect(page.locator("#log .reply")).to_contain_text("Reading the request.")
    await page.get_by_role("button", name="Conversation, 1 reply").click()
    pane = page.locator("#pane")
    await expect(pane.locator("article")).to_have_count(2)
    field = pane.get_by_label("Reply as Bob")
    await field.fill("It is for the month of May.")
    await field.press("Enter")
    await expect(pane.locator("article")).to_have_count(3)
    await expect(page.locator("#log .reply")).to_have_count(2)


async def test_ones_own_message_can_be_changed_and_deleted(place: Place) -> None:
    await place.control("message", user="U0BOB", channel="C0LOANS", text="Loan, 6000")
    page = await place.open("U0BOB", "C0LOANS")
    await page.locator("#log article").hover()
    await page.get_by_role("button", name="Edit this message").click()
    await page.get_by_role("dialog").get_by_label("Message").fill("Loan, 60000")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator("#log article")).to_contain_text("(edited)")
    await expect(page.locator("#log .said")).to_have_text("Loan, 60000")
    await page.locator("#log article").hover()
    await page.get_by_role("button", name="Delete this message").click()
    await page.get_by_role("button", name="Delete", exact=True).click()
    await expect(page.locator("#log article")).to_have_count(0)


async def test_a_permalink_leads_to_its_message(place: Place) -> None:
    ts = await place.post_card()
    said = await place.api("chat.getPermalink", channel="C0CREDIT", message_ts=ts)
    page = await place.open("U0ALICE", "C0LOANS")
    await page.goto(said["permalink"])
    await expect(page.locator("#log article")).to_be_focused()
    await expect(page.get_by_role("heading", name="credit", level=1)).to_be_visible()


async def test_trouble_made_on_the_bank_page_reaches_the_bank(place: Place) -> None:
    page = await place.open("U0BOB", "C0LOANS", pane="bank")
    await expect(page.get_by_text("No payment yet.")).to_be_visible()
    await page.get_by_label("The bank does not answer").check()
    async with place.session.get(f"{place.url}/_control/state") as response:
        assert (await response.json())["misbehave"]["bank_down"] is True
    await page.get_by_label("The bank does not answer").uncheck()

    headers = {"Idempotency-Key": "one"}
    paid = {"amount": 60000, "to": "Asha Traders"}
    for _ in range(2):
        await place.session.post(f"{place.url}/transfers", json=paid, headers=headers)
    row = page.locator(".transfers tbody tr")
    await expect(row).to_have_count(1)
    await expect(row).to_contain_text("Asked for 2 times, paid once.")
    await expect(row).to_contain_text("60,000")


async def test_the_keyboard_alone_asks_switches_and_decides(place: Place) -> None:
    page = await place.open("U0BOB", "C0LOANS")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to the message field")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Message #loans as Bob")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("#log article")).to_contain_text("Asha Traders")

    await place.post_card()
    await page.keyboard.press("Alt+2")
    await expect(page.locator(".person.chosen")).to_contain_text("Alice")
    await page.keyboard.press("Control+k")
    await page.keyboard.type("cred")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="credit", level=1)).to_be_visible()
    await page.get_by_label("Message #credit as Alice").focus()
    await page.keyboard.press("ArrowUp")
    await expect(page.locator("#log article")).to_be_focused()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")  # from Details to the table, which scrolls by itself
    await page.keyboard.press("Tab")
    await expect(page.locator("#log").get_by_role("button", name="Approve")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("[aria-busy=true]")).to_have_count(0)
    assert place.app.of("block_actions")[0]["actions"][0]["action_id"] == "approve"
    await page.keyboard.press("Escape")
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_the_page_says_that_the_bot_stopped_and_mends_itself(place: Place) -> None:
    page = await place.open("U0BOB", "C0LOANS")
    place.allowed += ["net::ERR", "Failed to load resource"]
    await page.context.set_offline(True)
    await page.get_by_role("button", name="Send", exact=True).click()
    notice = page.locator("#notice")
    await expect(notice).to_have_text("Bot stopped. Start it again, nothing is lost.")
    await expect(page.get_by_label("Message #loans as Bob")).to_have_value(FIRST)
    await page.context.set_offline(False)
    await expect(notice).to_be_empty()
