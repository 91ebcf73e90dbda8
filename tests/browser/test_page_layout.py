"""How the page stands at every width: nothing sideways, legible colours, sheets on a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import Page, expect

if TYPE_CHECKING:
    from tests.browser.conftest import Place

pytestmark = pytest.mark.browser

JSON = dict[str, Any]

# Most of #credit is one card; the long name has no place to break.
LONG = "Loan for " + "Averylongnamewithoutanyspace" * 12 + ", 60000"

SIDEWAYS = """() => [document.documentElement, ...document.querySelectorAll(
    '#scroll, .pane-body, .modal-body, #top, #side')]
  .filter((node) => node.clientWidth && node.scrollWidth > node.clientWidth + 1)
  .map((node) => `${node.tagName}#${node.id}.${node.className}`)"""

# The texts whose colour is less than 4.5 from what lies behind them.
CONTRAST = """() => {
  const parse = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((part) => {
      const s = part / 255;
      return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
      if (a === 1 && r !== undefined) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const wrong = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim();
    const node = walker.currentNode.parentElement;
    if (!text || !node.checkVisibility() || node.closest('svg, .unseen, noscript')) continue;
    const style = getComputedStyle(node);
    const [a, b] = [light(parse(style.color)), light(behind(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) wrong.push(`${ratio.toFixed(2)} ${text.slice(0, 40)}`);
  }
  return wrong;
}"""

SMALL_TARGETS = """() => [...document.querySelectorAll('button, select, a.button')]
  .filter((node) => node.checkVisibility() && !node.closest('.tools, .said, .richtext'))
  .map((node) => [node.textContent.trim() || node.ariaLabel, node.getBoundingClientRect()])
  .filter(([, box]) => box.height > 0 && box.height < 34)
  .map(([name, box]) => `${name} ${box.height}`)"""


async def check(page: Page) -> None:
    assert await page.evaluate(SIDEWAYS) == []
    assert await page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("width", [390, 820, 1280])
async def test_nothing_scrolls_sideways_and_text_has_contrast(
    place: Place, modal: JSON, width: int
) -> None:
    place.opens(modal)
    await place.control("message", user="U0BOB", channel="C0LOANS", text=LONG)
    await place.post_card()
    await place.api("chat.postEphemeral", channel="C0CREDIT", user="U0ALICE", text="Only for you.")
    page = await place.open("U0BOB", "C0LOANS", width=width)
    await check(page)
    await place.picture(page, f"page-{width}-loans")
    page = await place.open("U0ALICE", "C0CREDIT", width=width)
    await check(page)
    await place.picture(page, f"page-{width}-credit")
    await page.locator("#log").get_by_role("button", name="Reject").click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    await check(page)
    await place.picture(page, f"page-{width}-modal")


async def test_on_a_phone_bars_and_sheets_lead_everywhere(place: Place) -> None:
    await place.post_card()
    page = await place.open("U0BOB", "C0LOANS", width=390, height=768)
    await place.picture(page, "page-390-first")
    await check(page)
    assert await page.evaluate(SMALL_TARGETS) == []
    bar = page.get_by_role("navigation", name="Views")
    for tab, text in (("Guide", "Two minutes, six steps."), ("Bank", "A pretend bank.")):
        await bar.get_by_role("button", name=tab).click()
        await expect(page.get_by_text(text)).to_be_visible()
        await check(page)
        await place.picture(page, f"page-390-{tab.lower()}")
    await bar.get_by_role("button", name="Home").click()
    await expect(page.get_by_role("heading", name="Sayso home")).to_be_visible()
    await check(page)
    await page.get_by_role("button", name="You are Bob").click()
    sheet = page.get_by_role("dialog", name="People and channels")
    await expect(sheet).to_be_visible()
    await check(page)
    await place.picture(page, "page-390-sheet")
    await sheet.get_by_role("button", name="Alice").click()
    await expect(sheet).to_have_count(0)
    await expect(page.get_by_role("button", name="You are Alice")).to_be_visible()
    await bar.get_by_role("button", name="Channels").click()
    await bar.get_by_role("button", name="Channels").click()
    await sheet.get_by_role("button", name="credit").last.click()
    await expect(page.locator("#log").get_by_role("button", name="Approve")).to_be_visible()


async def test_in_between_the_pane_opens_over_the_channel_and_closes(place: Place) -> None:
    page = await place.open("U0BOB", "C0LOANS", width=820)
    pane = page.locator("#pane")
    await expect(pane).to_be_hidden()
    await page.locator("#place").get_by_role("button", name="Bank").click()
    await expect(pane.get_by_text("A pretend bank.")).to_be_visible()
    await pane.get_by_role("button", name="Close this pane").click()
    await expect(pane).to_be_hidden()
