"""Cards on the page: every kind of block, every card of the bot, and what a press does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from playwright.async_api import expect

if TYPE_CHECKING:
    from tests.browser.conftest import Place

pytestmark = pytest.mark.browser

JSON = dict[str, Any]

GOLDEN = Path(__file__).parents[1] / "bot" / "golden"
NOT_DRAWN = "not drawn here"


async def test_every_kind_of_block_is_drawn(place: Place) -> None:
    await place.post_card()
    page = await place.open("U0ALICE", "C0CREDIT", height=1200)
    card = page.locator("#log article")
    await expect(card.locator(".header")).to_have_text("Loan of 60,000 for Asha Traders")
    await expect(card.get_by_role("img", name="hourglass flowing sand")).to_be_visible()
    await expect(card.get_by_text("Needs a decision.")).to_have_css("font-weight", "700")
    await expect(card).to_contain_text("Asked by  @Bob, Nov 30, 2026 at 09:12")
    await expect(card).to_contain_text("One person from @credit")
    await expect(card.locator("li").first).to_have_text("van-quote.pdf: 58,900")
    await expect(card.locator("li").last).to_have_text("<b>*not bold*</b> :tada:")
    await expect(card.locator("blockquote")).to_have_text("Insure the van.")
    await expect(card.locator("pre")).to_have_text("amount  60000")
    await expect(card.locator("hr")).to_have_count(1)
    await expect(card.locator(".fields")).to_contain_text("1 < 2")
    await expect(card.locator(".fields")).to_contain_text("Two *stars*")
    await expect(card.locator("th")).to_have_text(["Month", "Income"])
    await expect(card.locator("td")).to_have_text(["October", "31,400"])
    await expect(card.locator(".footnote")).to_have_text("Request 412 · 17:10")
    names = ["Details", "Approve", "Reject"]
    await expect(card.locator(".block button:not(.more, .mention)")).to_have_text(names)
    await card.get_by_role("button", name="More", exact=True).click()
    items = page.get_by_role("menuitem")
    await expect(items).to_have_text(["Ask Bob a question", "Show the history"])
    await page.keyboard.press("Escape")
    await expect(items).to_have_count(0)
    await place.picture(page, "page-1280-card")


@pytest.mark.parametrize("width", [390, 1280])
async def test_every_message_of_the_bot_is_drawn_whole(place: Place, width: int) -> None:
    golden = {path.stem: orjson.loads(path.read_bytes()) for path in sorted(GOLDEN.glob("*.json"))}
    messages = {name: one for name, one in golden.items() if is_message(one)}
    assert messages
    for one in messages.values():
        await place.api("chat.postMessage", channel="C0CREDIT", **one)
    page = await place.open("U0ALICE", "C0CREDIT", width=width)
    await expect(page.locator("#log article")).to_have_count(len(messages))
    assert NOT_DRAWN not in await page.locator("#log").inner_text()
    assert await page.locator("#scroll").evaluate("(it) => it.scrollWidth <= it.clientWidth")


async def test_every_modal_and_home_of_the_bot_is_drawn_whole(place: Place) -> None:
    there = (await place.upload_picture()).encode()
    golden = {
        path.stem: orjson.loads(path.read_bytes().replace(b"F0PATH", there))
        for path in sorted(GOLDEN.glob("*.json"))
    }
    await place.post_card()
    page = await place.open("U0ALICE", "C0CREDIT")
    for one in golden.values():
        if one.get("type") == "modal":
            place.opens(one)
            await place.control("click", user="U0ALICE", channel="C0CREDIT", action_id="reject")
            dialog = page.get_by_role("dialog", name=one["title"]["text"], exact=True)
            await expect(dialog.locator(".modal-body > .block")).to_have_count(len(one["blocks"]))
            assert NOT_DRAWN not in await dialog.inner_text()
            async with page.expect_response("**/_control/close"):
                await page.keyboard.press("Escape")
            await expect(page.get_by_role("dialog")).to_have_count(0)
    place.app.answer = None
    await page.get_by_role("button", name="Sayso home").click()
    for one in golden.values():
        if one.get("type") == "home":
            await place.api("views.publish", user_id="U0ALICE", view=one)
            await expect(page.locator(".home > .block")).to_have_count(len(one["blocks"]))
            assert NOT_DRAWN not in await page.locator("#log").inner_text()


async def test_a_press_reaches_the_app_with_person_action_and_value(place: Place) -> None:
    ts = await place.post_card()
    page = await place.open("U0ALICE", "C0CREDIT")
    await page.get_by_role("button", name="Approve", exact=True).click()
    await expect(page.locator("[aria-busy=true]")).to_have_count(0)
    await page.get_by_role("button", name="More", exact=True).click()
    await page.get_by_role("menuitem", name="Show the history").click()
    await expect(page.locator("[aria-busy=true]")).to_have_count(0)
    pressed, chosen = place.app.of("block_actions")
    assert pressed["user"]["id"] == "U0ALICE"
    assert pressed["container"]["message_ts"] == ts
    assert pressed["actions"][0]["action_id"] == "approve"
    assert pressed["actions"][0]["value"] == "412.1"
    assert chosen["actions"][0]["selected_option"]["value"] == "history"


async def test_an_app_that_does_not_answer_is_told_beside_the_button(place: Place) -> None:
    async def fail(_: JSON) -> JSON | None:
        raise RuntimeError("broken on purpose")

    place.app.answer = fail
    await place.post_card()
    page = await place.open("U0ALICE", "C0CREDIT")
    await page.get_by_role("button", name="Approve", exact=True).click()
    await expect(page.get_by_text("This app did not respond").first).to_be_visible()


def is_message(one: JSON) -> bool:
    return "blocks" in one and "type" not in one
