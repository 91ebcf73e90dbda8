"""Modals on the page: input of every kind, errors on fields, focus, Escape, updates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

if TYPE_CHECKING:
    from tests.browser.conftest import Place

pytestmark = pytest.mark.browser

JSON = dict[str, Any]


async def test_a_modal_takes_input_shows_errors_and_is_submitted(place: Place, modal: JSON) -> None:
    place.opens(modal)
    open_it = place.app.answer

    async def answer(heard: JSON) -> JSON | None:
        if heard["type"] != "view_submission":
            return await open_it(heard) if open_it else None
        reason = heard["view"]["state"]["values"]["reason"]["value"]["value"]
        errors = {"reason": "Write a whole sentence."}
        return {"response_action": "errors", "errors": errors} if reason == "no" else None

    place.app.answer = answer
    await place.post_card()
    page = await place.open("U0ALICE", "C0CREDIT")
    await page.get_by_role("button", name="Reject").click()
    dialog = page.get_by_role("dialog", name="Reject this request")
    reason = dialog.get_by_label("Reason")
    submit = dialog.get_by_role("button", name="Reject")
    await expect(reason).to_be_focused()
    await place.picture(page, "page-1280-modal")

    await submit.click()
    await expect(dialog.get_by_text("Write something here.")).to_be_visible()
    assert place.app.of("view_submission") == []

    await reason.fill("no")
    await dialog.get_by_label("Amount").fill("50")
    await submit.click()
    await expect(dialog.get_by_text("Write a whole number of at least 1000.")).to_be_visible()

    await dialog.get_by_label("Amount").fill("45000")
    await dialog.get_by_label("Repaid over").select_option("24")
    await dialog.get_by_label("No", exact=True).check()
    await dialog.get_by_label("Statement").check()
    await dialog.get_by_label("Quote").check()
    await dialog.get_by_label("First payment").fill("2027-01-05")
    await dialog.get_by_label("Who decides").select_option("U0ERIN")
    await submit.click()
    await expect(dialog.get_by_text("Write a whole sentence.")).to_be_visible()
    await expect(reason).to_have_value("no")
    await expect(reason).to_be_focused()
    await place.picture(page, "page-1280-modal-error")

    await reason.fill("The instalments are too high.")
    await submit.click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    values = place.app.of("view_submission")[-1]["view"]["state"]["values"]
    assert values["reason"]["value"]["value"] == "The instalments are too high."
    assert values["amount"]["value"]["value"] == "45000"
    assert values["months"]["value"]["selected_option"]["value"] == "24"
    assert values["insured"]["value"]["selected_option"]["value"] == "false"
    ticked = values["papers"]["value"]["selected_options"]
    assert [one["value"] for one in ticked] == ["statement", "quote"]
    assert values["day"]["value"]["selected_date"] == "2027-01-05"
    assert values["who"]["value"]["selected_user"] == "U0ERIN"


async def test_a_submission_without_an_answer_keeps_what_was_typed(
    place: Place, modal: JSON
) -> None:
    place.opens(modal)
    await place.post_card()
    page = await place.open("U0ALICE", "C0CREDIT")
    await page.locator("#log").get_by_role("button", name="Reject").click()
    await page.get_by_label("Reason").fill("The instalments are too high.")

    async def fail(_: JSON) -> JSON | None:
        raise RuntimeError("broken on purpose")

    place.app.answer = fail
    await page.get_by_role("dialog").get_by_role("button", name="Reject").click()
    await expect(page.get_by_text("We had some trouble connecting. Try again?")).to_be_visible()
    await expect(page.get_by_label("Reason")).to_have_value("The instalments are too high.")


async def test_escape_closes_a_modal_and_focus_returns_to_its_button(
    place: Place, modal: JSON
) -> None:
    place.opens(modal)
    await place.post_card()
    page = await place.open("U0ALICE", "C0CREDIT")
    opener = page.locator("#log").get_by_role("button", name="Reject")
    await opener.click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    for _ in range(20):
        await page.keyboard.press("Tab")
        outside = await page.evaluate(
            "document.activeElement !== document.body && !document.activeElement.closest('dialog')"
        )
        assert not outside, "the focus left the modal"
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(opener).to_be_focused()


async def test_an_updated_modal_keeps_what_was_typed(place: Place, modal: JSON) -> None:
    opened = place.opens(modal)
    await place.post_card()
    page = await place.open("U0ALICE", "C0CREDIT")
    await page.locator("#log").get_by_role("button", name="Reject").click()
    await page.get_by_label("Reason").fill("Half written")
    text = {"type": "mrkdwn", "text": "Bob added a document."}
    note = {"type": "section", "block_id": "note", "text": text}
    changed = {**modal, "blocks": [note, *modal["blocks"]]}
    await place.api("views.update", view_id=opened[0], view=changed)
    await expect(page.get_by_text("Bob added a document.")).to_be_visible()
    await expect(page.get_by_label("Reason")).to_have_value("Half written")
    await expect(page.get_by_label("Reason")).to_be_focused()


async def test_closing_the_upper_modal_shows_the_lower_one(place: Place, modal: JSON) -> None:
    place.opens(modal)
    await place.post_card()
    page = await place.open("U0ALICE", "C0CREDIT")
    await page.locator("#log").get_by_role("button", name="Reject").click()
    lower = page.get_by_role("dialog", name="Reject this request")
    await expect(lower).to_be_visible()
    upper = {
        "type": "modal",
        "title": {"type": "plain_text", "text": "What we know"},
        "blocks": [{"type": "section", "text": {"type": "plain_text", "text": "Nothing yet."}}],
    }

    async def push(_: JSON) -> JSON | None:
        return {"response_action": "push", "view": upper}

    place.app.answer = push
    await page.get_by_label("Reason").fill("The instalments are too high.")
    await lower.get_by_role("button", name="Reject").click()
    await expect(page.get_by_role("dialog", name="What we know")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(lower).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_a_picture_that_slack_has_is_drawn_in_a_modal(place: Place) -> None:
    file_id = await place.upload_picture()
    place.opens(
        {
            "type": "modal",
            "callback_id": "details",
            "title": {"type": "plain_text", "text": "Details"},
            "blocks": [
                {
                    "type": "image",
                    "block_id": "path",
                    "slack_file": {"id": file_id},
                    "alt_text": "The path so far",
                }
            ],
        }
    )
    await place.post_card()
    page = await place.open("U0ALICE", "C0CREDIT")
    await page.get_by_role("button", name="Reject").click()
    picture = page.get_by_role("dialog").get_by_role("img", name="The path so far")
    await expect(picture).to_be_visible()
    assert await picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") == 1
