"""The home tab and what is known, as they are filled from the rows."""

from __future__ import annotations

import json
from typing import Any

from bot.looking import _fact
from tests.bot.conftest import Desk, until
from tests.bot.test_web import post, signed


async def home_of(desk: Desk, user: str) -> list[dict[str, Any]]:
    """The blocks of a person's home tab once they opened it."""
    before = len(desk.slack.calls)
    body = json.dumps(
        {
            "type": "event_callback",
            "team_id": "T0SAYSO",
            "api_app_id": "A0SAYSO",
            "event_id": f"EvHome{before}",
            "event": {"type": "app_home_opened", "user": user, "tab": "home", "channel": "D0X"},
        }
    ).encode()
    assert (await post(desk, body, signed(body)))[0] == 200

    def published() -> dict[str, Any] | None:
        calls = [call for call in desk.slack.calls[before:] if call["method"] == "views.publish"]
        return calls[-1] if calls else None

    await until("the home tab", published)
    return list(desk.slack.workspace.get("homes", user)["blocks"])


async def test_a_waiting_row_leads_to_its_card_by_title_and_by_button(desk: Desk) -> None:
    await desk.review()
    await desk.post_all()
    (card,) = desk.slack.messages("C0CREDIT")
    link = f"{desk.slack.url}/archives/C0CREDIT/p{card['ts'].replace('.', '')}"
    for _ in range(2):
        row = next(block for block in await home_of(desk, "U0ALICE") if "accessory" in block)
        assert f"<{link}|Loan of 60,000 for Asha Traders>" in row["text"]["text"]
        assert (row["accessory"]["action_id"], row["accessory"]["url"]) == ("open", link)
    asked = [call for call in desk.slack.calls if call["method"] == "chat.getPermalink"]
    assert len(asked) == 1


async def test_a_row_without_an_address_still_stands_on_the_home_tab(desk: Desk) -> None:
    await desk.review()  # its card was not posted yet
    blocks = await home_of(desk, "U0ALICE")
    assert "Loan of 60,000 for Asha Traders" in str(blocks)
    assert not any("accessory" in block for block in blocks)


async def test_the_home_tab_names_the_channel_as_slack_does(desk: Desk) -> None:
    blocks = await home_of(desk, "U0BOB")
    assert "{'type': 'channel', 'channel_id': 'C0LOANS'}" in str(blocks)


def test_a_remembered_loan_keeps_its_condition_or_its_reason() -> None:
    known = {"text": "Nov 2026: loan.", "outcome": "rejected", "note": "Too\n late", "by": []}
    assert (_fact(known).note, _fact(known).note_is) == ("Too late", "reason")
    approved = {**known, "outcome": "approved with conditions"}
    assert _fact(approved).note_is == "condition"
    assert _fact({**known, "note": None}).note == ""
