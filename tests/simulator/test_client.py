"""The real client of Slack's own library drives the local Slack as it would drive Slack."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from bot.simulator import LocalSlack, cast
from tests.simulator.conftest import App, actions, button, field_, modal, plain, section

GOLDEN = Path(__file__).parent.parent / "bot" / "golden"
PICTURE = "F0PATH"  # in a golden file: a picture that was uploaded before
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


@pytest.fixture
def client(slack: LocalSlack) -> AsyncWebClient:
    return AsyncWebClient(cast.BOT_TOKEN, base_url=slack.api_url)


async def test_the_journey_of_a_card(client: AsyncWebClient, slack: LocalSlack, app: App) -> None:
    me = await client.auth_test()
    assert (me["user_id"], me["team_id"], me["bot_id"]) == ("U0SAYSO", "T0SAYSO", "B0SAYSO")
    blocks = [section("Loan of 60,000"), actions(button(value="412.1"), block_id="decide.1")]
    card = await client.chat_postMessage(
        channel="C0CREDIT",
        text="Loan of 60,000: your decision is needed.",
        blocks=blocks,
        metadata={"event_type": "sayso_post", "event_payload": {"post": "1"}},
        unfurl_links=False,
        unfurl_media=False,
        parse="none",
    )
    await slack.click("U0ALICE", label="Approve")
    payload = app.last.body
    view = modal(section("One moment"))
    opened = await client.views_open(trigger_id=payload["trigger_id"], view=view)
    full = modal(field_(), submit=plain("Approve"), private_metadata="412.1")
    await client.views_update(view_id=opened["view"]["id"], view=full)
    result = await slack.submit("U0ALICE", {"reason": "By standing order"})
    assert result["ok"]
    await client.chat_update(
        channel=str(card["channel"]), ts=str(card["ts"]), text="Approved", blocks=[section("Done")]
    )
    await client.chat_postEphemeral(channel="C0CREDIT", user="U0CHARLIE", text="Not you")
    opened_dm = await client.conversations_open(users="U0BOB")
    assert opened_dm["channel"]["id"] == "D0BOB"
    history = await client.conversations_history(channel="C0CREDIT", include_all_metadata=True)
    (kept,) = history["messages"]
    assert kept["metadata"]["event_payload"] == {"post": "1"}
    assert kept["blocks"][0]["text"]["text"] == "Done"


async def test_a_file_is_uploaded_by_the_librarys_own_way(
    client: AsyncWebClient, slack: LocalSlack
) -> None:
    done = await client.files_upload_v2(
        channel="C0CREDIT", filename="record.txt", content="The record", title="The record"
    )
    (message,) = slack.messages("C0CREDIT")
    assert message["files"][0]["id"] == done["files"][0]["id"]
    assert message["files"][0]["size"] == len("The record")


async def test_a_refusal_is_slacks_own_error_for_the_library(client: AsyncWebClient) -> None:
    with pytest.raises(SlackApiError) as error:
        await client.chat_postMessage(channel="C0CREDIT", text="x", blocks=[section("s" * 3001)])
    assert error.value.response["error"] == "invalid_blocks"
    assert "/blocks/0/text/text" in error.value.response["response_metadata"]["messages"][0]


async def test_the_librarys_own_retry_waits_out_a_rate_limit(
    client: AsyncWebClient, slack: LocalSlack
) -> None:
    client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=1))
    await slack.misbehave(ratelimit={"method": "auth.test", "n": 1, "retry_after": 0})
    assert (await client.auth_test())["ok"]
    assert [one["error"] for one in slack.calls] == ["ratelimited", None]


async def test_paging_by_the_librarys_cursor(client: AsyncWebClient) -> None:
    seen = [
        person["id"]
        async for page in await client.users_list(limit=3)
        for person in page["members"]
    ]
    assert seen == [one["id"] for one in cast.PEOPLE]


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
async def test_every_golden_payload_of_the_bot_is_taken(
    client: AsyncWebClient, slack: LocalSlack, app: App, path: Path
) -> None:
    text = path.read_text(encoding="utf-8")
    if PICTURE in text:
        made = await client.files_upload_v2(filename="path.png", content=PNG)
        text = text.replace(PICTURE, made["file"]["id"])
    payload = json.loads(text)
    kind = payload.get("type")
    if kind == "home":
        await client.views_publish(user_id="U0ALICE", view=payload)
    elif kind == "modal":
        await slack.act("shortcut", user="U0ALICE", callback_id="x")
        await client.views_open(trigger_id=app.last.body["trigger_id"], view=payload)
    else:
        await client.chat_postMessage(channel="C0CREDIT", **payload)
