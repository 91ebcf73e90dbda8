"""What the app is sent: signed, in Slack's shapes, again when it was not taken, all on record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from slack_sdk.signature import SignatureVerifier

from bot.simulator import LocalSlack, cast
from bot.simulator.errors import Impossible
from tests.simulator.conftest import App, Delivery, actions, button, section, until

Call = Callable[..., Any]


def failing(times: int, status: int = 500) -> Callable[[Delivery], web.Response | None]:
    """Answer so often with this status, then take."""
    left = [times]

    def answer(delivery: Delivery) -> web.Response | None:
        left[0] -= 1
        return web.Response(status=status) if left[0] >= 0 else None

    return answer


async def test_every_delivery_carries_a_signature_that_slacks_own_verifier_takes(
    slack: LocalSlack, app: App, call: Call
) -> None:
    await slack.message("U0BOB", "C0LOANS", "Grüße")
    await slack.act("command", user="U0BOB", channel="C0LOANS", command="/loan", text="x")
    await call("chat.postMessage", channel="C0OPS", text="A", blocks=[actions(button())])
    await slack.click("U0ALICE", label="Approve")
    await slack.slack.deliveries.settled()
    verifier, other = SignatureVerifier(cast.SIGNING_SECRET), SignatureVerifier("other")
    assert len(app.got) == 4
    for delivery in app.got:
        assert verifier.is_valid_request(delivery.raw, delivery.headers)
        assert not other.is_valid_request(delivery.raw, delivery.headers)
        assert not verifier.is_valid_request(delivery.raw + b" ", delivery.headers)


async def test_a_message_arrives_escaped_in_an_envelope_of_its_own(
    slack: LocalSlack, app: App
) -> None:
    sent = await slack.message("U0BOB", "C0LOANS", "A <b> & <!channel> @Alice <@U0DANA> <@U0NONE>")
    await until(lambda: app.got)
    envelope = app.got[0].body
    event = envelope["event"]
    assert envelope["type"] == "event_callback"
    assert envelope["event_id"].startswith("Ev")
    assert (envelope["team_id"], envelope["api_app_id"]) == ("T0SAYSO", "A0SAYSO")
    assert (event["type"], event["channel"], event["channel_type"]) == (
        "message",
        "C0LOANS",
        "channel",
    )
    assert (event["user"], event["ts"], event["event_ts"]) == ("U0BOB", sent["ts"], sent["ts"])
    assert event["text"] == (
        "A &lt;b&gt; &amp; &lt;!channel&gt; <@U0ALICE> <@U0DANA> &lt;@U0NONE&gt;"
    )


async def test_a_mention_arrives_twice_in_a_channel_and_once_in_direct_messages(
    slack: LocalSlack, app: App
) -> None:
    await slack.message("U0BOB", "C0LOANS", "@Sayso hello")
    await slack.message("U0BOB", "D0BOB", "@Sayso hello")
    await slack.slack.deliveries.settled()
    mention, channel, direct = sorted(
        app.events(), key=lambda event: (event["type"], event.get("channel_type", ""))
    )
    assert (mention["type"], mention["ts"]) == ("app_mention", channel["ts"])
    assert direct["channel_type"] == "im"
    assert direct["channel"] == "D0BOB"
    assert len({one.body["event_id"] for one in app.got}) == 3


async def test_files_make_the_message_a_file_share(slack: LocalSlack, app: App) -> None:
    await slack.message("U0BOB", "C0LOANS", "", files=[{"sample": "van-quote.pdf"}])
    (event,) = await until(lambda: app.events("message"))
    (file,) = event["files"]
    assert event["subtype"] == "file_share"
    assert (file["name"], file["mimetype"], file["filetype"]) == (
        "van-quote.pdf",
        "application/pdf",
        "pdf",
    )
    assert file["url_private"].startswith(slack.url)


async def test_the_apps_own_messages_and_updates_come_back_to_it(
    slack: LocalSlack, app: App, call: Call
) -> None:
    ts = (await call("chat.postMessage", channel="C0OPS", text="A", blocks=[section()]))["ts"]
    await call("chat.update", channel="C0OPS", ts=ts, text="B", blocks=[section("Two")])
    await call("chat.delete", channel="C0OPS", ts=ts)
    await slack.slack.deliveries.settled()
    by = {event.get("subtype"): event for event in app.events("message")}
    assert by[None]["bot_id"] == cast.BOT_ID
    assert by["message_changed"]["message"]["text"] == "B"
    assert by["message_changed"]["previous_message"]["text"] == "A"
    assert by["message_deleted"]["deleted_ts"] == ts


async def test_an_edit_and_a_deletion_by_a_person_are_told(slack: LocalSlack, app: App) -> None:
    where = {"user": "U0BOB", "channel": "C0LOANS"}
    ts = (await slack.message("U0BOB", "C0LOANS", "60000"))["ts"]
    await slack.act("edit", **where, ts=ts, text="70000")
    await slack.act("delete", **where, ts=ts)
    await slack.slack.deliveries.settled()
    by = {event.get("subtype"): event for event in app.events("message")}
    assert by["message_changed"]["message"]["edited"]["user"] == "U0BOB"
    assert by["message_deleted"]["previous_message"]["text"] == "70000"


async def test_a_channel_the_app_is_not_in_is_not_told_of(slack: LocalSlack, app: App) -> None:
    await slack.misbehave(remove_bot="C0OPS")
    await slack.message("U0BOB", "C0OPS", "Nobody hears this")
    await slack.slack.deliveries.settled()
    assert app.events("message") == []
    assert [event["user"] for event in app.events("member_left_channel")] == [cast.BOT_USER]


async def test_an_event_that_was_not_taken_comes_again_with_number_and_reason(
    slack: LocalSlack, app: App
) -> None:
    app.answer = failing(2)
    await slack.message("U0BOB", "C0LOANS", "Hello")
    await slack.slack.deliveries.settled()
    assert [
        (one.headers.get("X-Slack-Retry-Num"), one.headers.get("X-Slack-Retry-Reason"))
        for one in app.got
    ] == [(None, None), ("1", "http_error"), ("2", "http_error")]
    assert len({one.body["event_id"] for one in app.got}) == 1
    assert [one["status"] for one in slack.deliveries] == [500, 500, 200]


async def test_after_three_retries_slack_gives_up(slack: LocalSlack, app: App) -> None:
    app.answer = failing(99)
    await slack.message("U0BOB", "C0LOANS", "Hello")
    await slack.slack.deliveries.settled()
    assert [one["retry"] for one in slack.deliveries] == [0, 1, 2, 3]
    assert slack.workspace.table("outbox") == {}


async def test_an_app_may_say_that_it_wants_no_retry(slack: LocalSlack, app: App) -> None:
    app.answer = lambda delivery: web.Response(status=500, headers={"X-Slack-No-Retry": "1"})
    await slack.message("U0BOB", "C0LOANS", "Hello")
    await slack.slack.deliveries.settled()
    assert len(app.got) == 1


async def test_a_late_answer_is_no_answer(app: App) -> None:
    app.hold = asyncio.Event()
    async with LocalSlack.start(events_url=app.url, retry_scale=0, ack_seconds=0.1) as slack:
        await slack.message("U0BOB", "C0LOANS", "Hello")
        await slack.slack.deliveries.settled()
        assert [one["error"] for one in slack.deliveries] == ["timeout"] * 4
    reasons = [one.headers.get("X-Slack-Retry-Reason") for one in app.got]
    assert reasons == [None] + ["http_timeout"] * 3


async def test_an_app_that_is_away_is_on_record_and_gets_its_events_when_it_is_back(
    app: App, tmp_path: Path
) -> None:
    app.ready = False
    app.answer = lambda delivery: web.Response(status=503)
    async with LocalSlack.start(events_url=app.url, retry_scale=1, health_seconds=0.05) as slack:
        await slack.message("U0BOB", "C0LOANS", "Hello")
        await until(lambda: len(slack.deliveries) == 2)
        assert not slack.slack.bot_running
        app.answer = lambda delivery: None
        app.ready = True
        await until(lambda: len(app.got) == 3)
        await slack.slack.deliveries.settled()
        assert slack.slack.bot_running
        assert [one["status"] for one in slack.deliveries] == [503, 503, 200]


async def test_events_without_an_app_to_send_them_to_are_on_record() -> None:
    async with LocalSlack.start() as slack:
        await slack.message("U0BOB", "C0LOANS", "Hello")
        await slack.slack.deliveries.settled()
        assert [one["error"] for one in slack.deliveries] == ["no events_url"]


async def test_a_port_nobody_listens_on_is_a_refused_connection() -> None:
    async with LocalSlack.start(
        events_url="http://127.0.0.1:1/slack/events", retry_scale=0
    ) as slack:
        await slack.message("U0BOB", "C0LOANS", "Hello")
        await slack.slack.deliveries.settled()
        assert {one["error"] for one in slack.deliveries} == {"connection refused"}
        clicked = await slack.act("command", user="U0BOB", channel="C0LOANS", command="/loan")
        assert clicked["error"] == "operation_timeout"


async def test_slack_told_to_repeat_itself_sends_the_same_event_again(
    slack: LocalSlack, app: App
) -> None:
    await slack.misbehave(redeliver=2)
    await slack.message("U0BOB", "C0LOANS", "Hello")
    await slack.slack.deliveries.settled()
    assert len(app.got) == 3
    assert len({one.body["event_id"] for one in app.got}) == 1
    await slack.misbehave(reset=True)
    await slack.message("U0BOB", "C0LOANS", "Hello")
    await slack.slack.deliveries.settled()
    assert len(app.got) == 4


async def test_the_first_delivery_may_be_the_one_that_never_arrives(
    slack: LocalSlack, app: App
) -> None:
    await slack.misbehave(drop_events=1)
    await slack.message("U0BOB", "C0LOANS", "Hello")
    await slack.slack.deliveries.settled()
    (only,) = app.got
    assert only.headers["X-Slack-Retry-Num"] == "1"


async def test_a_click_is_sent_once_even_when_it_fails(
    slack: LocalSlack, app: App, call: Call
) -> None:
    await call("chat.postMessage", channel="C0OPS", text="A", blocks=[actions(button())])
    await slack.slack.deliveries.settled()
    app.got.clear()
    app.answer = failing(1)
    clicked = await slack.click("U0ALICE", label="Approve")
    assert (clicked["ok"], clicked["status"], clicked["error"]) == (
        False,
        500,
        "operation_timeout",
    )
    assert len(app.got) == 1


async def test_a_person_may_press_twice(slack: LocalSlack, app: App, call: Call) -> None:
    await call("chat.postMessage", channel="C0OPS", text="A", blocks=[actions(button())])
    await slack.misbehave(redeliver_interactions=1)
    await slack.slack.deliveries.settled()
    app.got.clear()
    await slack.click("U0ALICE", label="Approve")
    assert len(app.got) == 2


async def test_a_delayed_delivery_leaves_later(slack: LocalSlack, app: App) -> None:
    await slack.misbehave(delay_ms=50)
    await slack.message("U0BOB", "C0LOANS", "Hello")
    assert app.got == []
    await slack.slack.deliveries.settled()
    assert len(app.got) == 1


# ---- clicks, commands, shortcuts


async def test_a_click_says_who_where_and_what(slack: LocalSlack, app: App, call: Call) -> None:
    blocks = [actions(button(value="412.1", style="primary"), block_id="decide.3")]
    ts = (await call("chat.postMessage", channel="C0OPS", text="A", blocks=blocks))["ts"]
    await slack.click("U0ALICE", channel="#ops", label="approve")
    payload = app.last.body
    (action,) = payload["actions"]
    assert payload["type"] == "block_actions"
    assert payload["user"] == {
        "id": "U0ALICE",
        "username": "alice",
        "name": "alice",
        "team_id": "T0SAYSO",
    }
    assert payload["channel"] == {"id": "C0OPS", "name": "ops"}
    assert payload["container"]["message_ts"] == ts
    assert payload["message"]["blocks"][0]["block_id"] == "decide.3"
    assert (action["action_id"], action["block_id"], action["value"]) == (
        "approve",
        "decide.3",
        "412.1",
    )
    assert payload["response_url"].startswith(f"{slack.url}/respond/")
    assert payload["trigger_id"]


async def test_a_stranger_keeps_their_own_team_in_a_click(
    slack: LocalSlack, app: App, call: Call
) -> None:
    await call("chat.postMessage", channel="C0OPS", text="A", blocks=[actions(button())])
    await slack.click("U0STRANGER", label="Approve")
    assert app.last.body["user"]["team_id"] == "T0OTHER"
    await slack.click("U0UNHEARDOF", label="Approve")
    assert app.last.body["user"]["id"] == "U0UNHEARDOF"
    told = await call("chat.postEphemeral", channel="C0OPS", user="U0STRANGER", text="No")
    assert told["ok"]


async def test_the_newest_message_that_has_it_is_the_one_pressed(
    slack: LocalSlack, app: App, call: Call
) -> None:
    for value in ("1.1", "2.1"):
        blocks = [actions(button(value=value))]
        await call("chat.postMessage", channel="C0OPS", text="A", blocks=blocks)
    await call("chat.postMessage", channel="C0OPS", text="Nothing to press")
    await slack.click("U0ALICE", channel="C0OPS", action_id="approve")
    assert app.last.body["actions"][0]["value"] == "2.1"
    await slack.click("U0ALICE", channel="C0OPS", value="1.1")
    assert app.last.body["actions"][0]["value"] == "1.1"


async def test_a_window_that_has_not_caught_up_presses_what_is_gone(
    slack: LocalSlack, app: App, call: Call
) -> None:
    blocks = [actions(button(value="412.1"), block_id="decide.1")]
    ts = (await call("chat.postMessage", channel="C0OPS", text="A", blocks=blocks))["ts"]
    after = [section("Done", block_id="done.2")]
    await call("chat.update", channel="C0OPS", ts=ts, text="B", blocks=after)
    with pytest.raises(Impossible, match="nothing like that"):
        await slack.click("U0ALICE", channel="C0OPS", action_id="approve")
    clicked = await slack.click("U0ALICE", channel="C0OPS", ts=ts, action_id="approve")
    assert clicked["stale"]
    payload = app.last.body
    assert (payload["actions"][0]["value"], payload["actions"][0]["block_id"]) == (
        "412.1",
        "decide.1",
    )
    assert payload["message"]["blocks"][0]["block_id"] == "done.2"


async def test_a_menu_is_chosen_from_by_label_or_value(
    slack: LocalSlack, app: App, call: Call
) -> None:
    options = [
        {"text": {"type": "plain_text", "text": text}, "value": value}
        for text, value in (
            ("Ask Bob a question", "question.412"),
            ("Add a comment", "comment.412"),
        )
    ]
    blocks = [actions({"type": "overflow", "action_id": "more", "options": options})]
    await call("chat.postMessage", channel="C0OPS", text="A", blocks=blocks)
    await slack.click("U0ALICE", label="Add a comment")
    assert app.last.body["actions"][0]["selected_option"]["value"] == "comment.412"
    await slack.click("U0ALICE", action_id="more", value="question.412")
    assert app.last.body["actions"][0]["selected_option"]["value"] == "question.412"


async def test_a_command_is_a_form_and_its_answer_is_shown_privately(
    slack: LocalSlack, app: App
) -> None:
    app.answer = lambda delivery: web.json_response({"text": "On its way"})
    told = await slack.act(
        "command", user="U0BOB", channel="C0LOANS", command="/loan", text="Asha & Co, 60000"
    )
    form = app.last.form
    assert told["ok"]
    assert (form["command"], form["text"]) == ("/loan", "Asha &amp; Co, 60000")
    assert (form["user_id"], form["channel_id"], form["team_id"]) == ("U0BOB", "C0LOANS", "T0SAYSO")
    assert [one["text"] for one in slack.private_messages("U0BOB")] == ["On its way"]


async def test_a_command_that_fails_is_told_by_slack_itself(slack: LocalSlack, app: App) -> None:
    app.answer = failing(1)
    await slack.act("command", user="U0BOB", channel="C0LOANS", command="/loan")
    (said,) = slack.private_messages("U0BOB")
    assert (said["user"], said["text"]) == (
        cast.SLACKBOT,
        "/loan failed with the error “operation_timeout”",
    )


async def test_a_shortcut_of_a_message_carries_the_message(slack: LocalSlack, app: App) -> None:
    ts = (await slack.message("U0BOB", "C0LOANS", "Hello"))["ts"]
    where = {"user": "U0ALICE", "callback_id": "start"}
    await slack.act("shortcut", **where, channel="C0LOANS", ts=ts)
    payload = app.last.body
    assert (payload["type"], payload["message"]["text"]) == ("message_action", "Hello")
    await slack.act("shortcut", **where)
    assert app.last.body["type"] == "shortcut"


# ---- response urls


async def respond(slack: LocalSlack, url: str, **said: Any) -> tuple[int, str]:
    import aiohttp

    async with aiohttp.ClientSession() as http, http.post(url, json=said) as response:
        return response.status, await response.text()


async def test_a_response_url_answers_five_times(slack: LocalSlack, app: App, call: Call) -> None:
    await call("chat.postMessage", channel="C0OPS", text="A", blocks=[actions(button())])
    await slack.click("U0ALICE", label="Approve")
    url = app.last.body["response_url"]
    for n in range(5):
        assert await respond(slack, url, text=f"Number {n}") == (200, "ok")
    status, body = await respond(slack, url, text="Number 5")
    assert status == 404
    assert "used_url" in body
    assert len(slack.private_messages("U0ALICE")) == 5
    assert (await respond(slack, f"{slack.url}/respond/none", text="x"))[0] == 404


async def test_a_response_url_changes_a_private_message_and_takes_it_away(
    slack: LocalSlack, app: App, call: Call
) -> None:
    said = {"channel": "C0OPS", "user": "U0ALICE", "text": "A", "blocks": [actions(button())]}
    await call("chat.postEphemeral", **said)
    await slack.click("U0ALICE", label="Approve")
    payload = app.last.body
    assert payload["container"]["is_ephemeral"]
    assert "message" not in payload
    url = payload["response_url"]
    await respond(slack, url, text="Changed", replace_original=True)
    assert [one["text"] for one in slack.private_messages("U0ALICE")] == ["Changed"]
    await respond(slack, url, delete_original=True)
    assert slack.private_messages("U0ALICE") == []


async def test_a_response_url_is_as_strict_as_a_post(
    slack: LocalSlack, app: App, call: Call
) -> None:
    await slack.act("command", user="U0BOB", channel="C0LOANS", command="/loan")
    url = app.last.form["response_url"]
    status, body = await respond(slack, url, text="x", blocks=[section("")])
    assert status == 400
    assert "invalid_blocks" in body
    await respond(slack, url, text="For all", response_type="in_channel")
    assert [one["text"] for one in slack.messages("C0LOANS")] == ["For all"]


@pytest.mark.parametrize("knob", ["archive", "unarchive"])
async def test_a_channel_that_is_archived_is_told(slack: LocalSlack, app: App, knob: str) -> None:
    await slack.misbehave(**{knob: "C0OPS"})
    (event,) = await until(lambda: app.events(f"channel_{knob}"))
    assert event["channel"] == "C0OPS"


async def test_a_person_who_changes_is_told(slack: LocalSlack, app: App) -> None:
    await slack.act("person", user="U0ALICE", deleted=True)
    (event,) = await until(lambda: app.events("user_change"))
    assert event["user"]["deleted"]


async def test_a_renamed_channel_is_told(slack: LocalSlack, app: App) -> None:
    await slack.act("channel", channel="C0OPS", name="hands")
    (event,) = await until(lambda: app.events("channel_rename"))
    assert event["channel"]["name"] == "hands"
