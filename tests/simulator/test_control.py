"""The control routes and their guard: who may drive the people here, and what they are told."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from bot.simulator import LocalSlack, cast
from tests.simulator.conftest import App, actions, button

JSON = dict[str, Any]
Control = Callable[..., Any]
Call = Callable[..., Any]


async def messages(slack: LocalSlack, http: aiohttp.ClientSession, **query: str) -> list[JSON]:
    url = f"{slack.url}/_control/messages"
    async with http.get(url, params=query) as response:
        return list((await response.json())["messages"])


async def state(slack: LocalSlack, http: aiohttp.ClientSession) -> JSON:
    async with http.get(f"{slack.url}/_control/state") as response:
        return dict(await response.json())


async def test_the_whole_story_is_driven_by_control_routes_alone(
    slack: LocalSlack, http: aiohttp.ClientSession, control: Control, call: Call, app: App
) -> None:
    content = base64.b64encode(b"%PDF").decode()
    status, sent = await control(
        "message",
        user="U0BOB",
        channel="#loans",
        text="Loan for Asha Traders, 60000",
        files=[{"name": "a.pdf", "content_base64": content}, {"sample": "van-quote.pdf"}],
    )
    assert (status, sent["channel"], [one["name"] for one in sent["files"]]) == (
        200,
        "C0LOANS",
        ["a.pdf", "van-quote.pdf"],
    )
    await call("chat.postMessage", channel="C0LOANS", text="Working", thread_ts=sent["ts"])
    blocks = [actions(button(value="412.1"))]
    metadata = {"event_type": "sayso", "event_payload": {"id": "1"}}
    await call(
        "chat.postMessage", channel="C0CREDIT", text="A card", blocks=blocks, metadata=metadata
    )
    await call("chat.postEphemeral", channel="C0CREDIT", user="U0CHARLIE", text="Not you")
    status, clicked = await control("click", **{"as": "U0ALICE"}, label="Approve")
    assert (status, clicked["ok"], clicked["status"]) == (200, True, 200)
    under = await messages(slack, http, channel="C0LOANS", thread_ts=sent["ts"])
    assert [one["text"] for one in under] == ["Loan for Asha Traders, 60000", "Working"]
    card, private = await messages(slack, http, channel="C0CREDIT")
    assert card["metadata"] == metadata
    assert private["ephemeral_to"] == "U0CHARLIE"
    assert len(await messages(slack, http, channel="C0CREDIT", user="U0ALICE")) == 1
    everything = await state(slack, http)
    assert everything["messages"]["C0CREDIT"] == [card]
    assert everything["ephemerals"] == [private]
    assert [one["method"] for one in everything["calls"]] == [
        "chat.postMessage",
        "chat.postMessage",
        "chat.postEphemeral",
    ]
    assert everything["deliveries"][-1]["type"] == "block_actions"
    assert everything["team"]["id"] == "T0SAYSO"


@pytest.mark.parametrize(
    ("act", "body", "status", "sentence"),
    [
        ("fly", {}, 404, "There is no fly"),
        ("message", {"channel": "C0LOANS", "text": "x"}, 400, "user must be an id"),
        ("message", {"user": "bob", "channel": "C0LOANS", "text": "x"}, 400, "user must be an id"),
        ("message", {"user": "U0BOB", "text": "x"}, 400, "channel is missing"),
        ("message", {"user": "U0BOB", "channel": "C0NONE", "text": "x"}, 404, "no channel C0NONE"),
        ("message", {"user": "U0BOB", "channel": "C0LOANS"}, 400, "a text or a file"),
        ("message", {"user": "U0BOB", "channel": "C0LOANS", "text": 4}, 400, "must be a text"),
        (
            "message",
            {"user": "U0BOB", "channel": "C0LOANS", "text": "x" * 40_001},
            400,
            "at most 40000",
        ),
        (
            "message",
            {"user": "U0BOB", "channel": "C0LOANS", "text": "x", "thread_ts": "1.1"},
            404,
            "no such message",
        ),
        (
            "message",
            {
                "user": "U0BOB",
                "channel": "C0LOANS",
                "files": [{"name": "a", "content_base64": "!"}],
            },
            400,
            "not base64",
        ),
        (
            "message",
            {"user": "U0BOB", "channel": "C0LOANS", "files": [{"sample": "../cast.py"}]},
            404,
            "There is no sample",
        ),
        ("edit", {"user": "U0BOB", "channel": "C0LOANS", "ts": "1.1", "text": "x"}, 404, "message"),
        ("click", {"user": "U0ALICE"}, 400, "Name what to press"),
        ("click", {"user": "U0ALICE", "label": "Approve"}, 404, "There is: nothing"),
        ("click", {"user": "U0ALICE", "label": "x", "ts": "1.1"}, 404, "no such message"),
        ("submit", {"user": "U0ALICE", "values": {}}, 404, "No modal is open"),
        ("close", {"user": "U0ALICE", "view_id": "V0X"}, 404, "not open"),
        ("command", {"user": "U0BOB", "channel": "C0LOANS", "command": "loan"}, 400, "slash"),
        (
            "command",
            {"user": "U0BOB", "channel": "C0LOANS", "command": "/loan", "thread_ts": "1.1"},
            400,
            "cannot be used in replies",
        ),
        ("misbehave", {"fly": 1}, 400, "There is no knob 'fly'"),
        ("misbehave", {"delay_ms": "long"}, 400, "delay_ms cannot be"),
        ("misbehave", {"archive": "C0NONE"}, 404, "no channel"),
        ("clock", {}, 400, "advance_seconds"),
        ("point", {"events_url": "http://example.com/"}, 400, "must be on this machine"),
        ("dismiss", {"user": "U0BOB", "ts": "1.1"}, 404, "no such private message"),
    ],
)
async def test_what_cannot_be_done_is_one_sentence(
    control: Control, act: str, body: JSON, status: int, sentence: str
) -> None:
    got, answer = await control(act, **body)
    assert (got, sentence in answer["error"]) == (status, True), answer


async def test_a_click_on_nothing_says_what_is_there(control: Control, call: Call) -> None:
    blocks = [actions(button(), button("Reject", "reject"))]
    await call("chat.postMessage", channel="C0OPS", text="A", blocks=blocks)
    _, answer = await control("click", user="U0ALICE", label="Aprove")
    assert "Approve (approve), Reject (reject)" in answer["error"]


async def test_somebody_elses_message_is_not_edited(slack: LocalSlack, control: Control) -> None:
    ts = (await slack.message("U0BOB", "C0LOANS", "Mine"))["ts"]
    status, _ = await control("edit", user="U0ALICE", channel="C0LOANS", ts=ts, text="Yours")
    assert status == 403
    status, _ = await control("delete", user="U0BOB", channel="C0LOANS", ts=ts)
    assert (status, slack.messages("C0LOANS")) == (200, [])


async def test_direct_messages_are_their_persons_own(slack: LocalSlack, control: Control) -> None:
    status, sent = await control("message", user="U0BOB", channel="dm", text="Hello")
    assert (status, sent["channel"]) == (200, "D0BOB")
    status, _ = await control("message", user="U0ALICE", channel="D0BOB", text="Hello")
    assert status == 404


async def test_a_wrong_knob_turns_none(slack: LocalSlack, control: Control) -> None:
    await control("misbehave", delay_ms=5, redeliver=-1)
    assert slack.slack.misbehaviour["delay_ms"] == 0


async def test_a_reset_empties_everything(
    slack: LocalSlack, http: aiohttp.ClientSession, control: Control
) -> None:
    await slack.message("U0BOB", "C0LOANS", "Hello", files=[{"sample": "van-quote.pdf"}])
    await slack.misbehave(remove_bot="C0OPS", delay_ms=5)
    await control("reset")
    after = await state(slack, http)
    assert after["messages"] == {one["id"]: [] for one in cast.CHANNELS}
    assert (after["files"], after["deliveries"], after["outbox"]) == ([], [], [])
    assert after["misbehave"]["delay_ms"] == 0
    assert all("U0SAYSO" in one["members"] for one in after["channels"])


async def test_the_shown_clock_is_moved_and_put_back(control: Control) -> None:
    _, moved = await control("clock", advance_seconds=3600)
    assert moved["clock"]["moved"]
    _, back = await control("clock", reset=True)
    assert not back["clock"]["moved"]


# ---- the guard


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://attacker.example"}, {"Sec-Fetch-Site": "cross-site"}]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_another_page_cannot_use_the_token_that_is_no_secret(
    slack: LocalSlack, http: aiohttp.ClientSession, headers: dict[str, str], method: str
) -> None:
    said = {"token": "xoxb-local-sayso", "channel": "C0LOANS", "text": "x"}
    url = f"{slack.url}/api/chat.postMessage"
    async with http.request(method, url, params=said, headers=headers) as response:
        assert response.status == 403
    assert slack.messages("C0LOANS") == []


async def test_a_link_from_elsewhere_opens_the_page(
    slack: LocalSlack, http: aiohttp.ClientSession
) -> None:
    async with http.get(slack.url, headers={"Sec-Fetch-Site": "cross-site"}) as response:
        assert response.status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "attacker.example"},
        {"Host": "127.0.0.1.attacker.example:80"},
        {"Host": ""},
        {"Origin": "https://attacker.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize("path", ["/_control/message", "/_page/read"])
async def test_another_page_or_name_cannot_drive_the_people(
    slack: LocalSlack, http: aiohttp.ClientSession, headers: dict[str, str], path: str
) -> None:
    said = {"user": "U0BOB", "channel": "C0LOANS", "text": "x"}
    async with http.post(slack.url + path, json=said, headers=headers) as response:
        assert response.status == 403
    assert slack.messages("C0LOANS") == []


@pytest.mark.parametrize("path", ["/_control/state", "/_page/state", "/", "/api/auth.test"])
async def test_a_rebound_name_reads_nothing(
    slack: LocalSlack, http: aiohttp.ClientSession, path: str
) -> None:
    headers = {"Host": "attacker.example"}
    async with http.get(slack.url + path, headers=headers) as response:
        assert response.status == 403


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded"])
async def test_a_form_cannot_drive_the_people(
    slack: LocalSlack, http: aiohttp.ClientSession, media_type: str
) -> None:
    headers = {"Content-Type": media_type}
    url = f"{slack.url}/_control/message"
    async with http.post(url, data=b'{"user": "U0BOB"}', headers=headers) as response:
        assert response.status == 415


async def test_our_own_page_and_a_program_may_drive_the_people(
    slack: LocalSlack, http: aiohttp.ClientSession
) -> None:
    said = {"user": "U0BOB", "channel": "C0LOANS", "text": "x"}
    url = f"{slack.url}/_control/message"
    for headers in ({}, {"Origin": slack.url, "Sec-Fetch-Site": "same-origin"}):
        async with http.post(url, json=said, headers=headers) as response:
            assert response.status == 200


@pytest.mark.parametrize("body", [b"{", b"[]", b'"x"'])
async def test_a_body_that_is_no_object_is_refused(
    slack: LocalSlack, http: aiohttp.ClientSession, body: bytes
) -> None:
    headers = {"Content-Type": "application/json"}
    url = f"{slack.url}/_control/message"
    async with http.post(url, data=body, headers=headers) as response:
        assert response.status == 400
        assert "error" in await response.json()
