"""What the page gets: its files under a strict policy, one person's view, a stream of changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from bot.simulator import LocalSlack
from tests.simulator.conftest import App, actions, button, section, until

JSON = dict[str, Any]
Call = Callable[..., Any]


@pytest.fixture
def seen(slack: LocalSlack, http: aiohttp.ClientSession) -> Callable[..., Any]:
    async def one(user: str) -> JSON:
        async with http.get(f"{slack.url}/_page/state", params={"user": user}) as response:
            assert response.status == 200
            return dict(await response.json())

    return one


async def test_the_page_is_served_with_a_policy_that_runs_only_its_own_scripts(
    slack: LocalSlack, http: aiohttp.ClientSession
) -> None:
    for path in ("/", "/page/app.js", "/page/style.css"):
        async with http.get(slack.url + path) as response:
            policy = response.headers["Content-Security-Policy"]
            assert response.status == 200
            assert "default-src 'self'" in policy
            assert "unsafe-inline" not in policy
            assert "frame-ancestors 'none'" in policy
            assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/page/../cast.py",
        "/page/%2e%2e/cast.py",
        "/page/none.js",
        "/page/%2fetc%2fpasswd",
        "/page/%00",
        "/page/app.js%00",
    ],
)
async def test_nothing_but_the_page_is_served(
    slack: LocalSlack, http: aiohttp.ClientSession, path: str
) -> None:
    from yarl import URL

    async with http.get(URL(slack.url + path, encoded=True)) as response:
        assert response.status == 404


async def test_a_new_workspace_shows_the_cast_and_what_to_write_first(
    seen: Callable[..., Any],
) -> None:
    value = await seen("U0BOB")
    assert value["me"]["name"] == "Bob"
    assert [one["name"] for one in value["people"]] == [
        "Bob",
        "Alice",
        "Dana",
        "Erin",
        "Charlie",
        "Oscar",
    ]
    assert [one["name"] for one in value["channels"]] == [
        "loans",
        "credit",
        "refunds",
        "content",
        "ops",
    ]
    assert value["dms"] == [{"id": "D0BOB", "name": "Sayso", "unread": 0}]
    assert value["first"]["text"] == "Loan for Asha Traders, 60000 for a delivery van"
    assert {one["name"] for one in value["first"]["files"]} <= {
        one["name"] for one in value["samples"]
    }
    assert not any(value["guide"].values())
    assert (value["home"], value["views"]) == (None, [])


async def test_each_person_sees_their_own_private_messages_and_unread_counts(
    slack: LocalSlack, http: aiohttp.ClientSession, call: Call, seen: Callable[..., Any]
) -> None:
    ts = (await call("chat.postMessage", channel="C0CREDIT", text="A"))["ts"]
    await call("chat.postMessage", channel="C0CREDIT", text="B", thread_ts=ts)
    await call("chat.postEphemeral", channel="C0CREDIT", user="U0CHARLIE", text="Only you")
    charlie, alice = await seen("U0CHARLIE"), await seen("U0ALICE")
    assert [one["text"] for one in charlie["messages"]["C0CREDIT"]] == ["A", "B", "Only you"]
    assert [one["ephemeral"] for one in charlie["messages"]["C0CREDIT"]] == [False, False, True]
    assert [one["text"] for one in alice["messages"]["C0CREDIT"]] == ["A", "B"]
    assert alice["messages"]["C0CREDIT"][0]["reply_count"] == 1
    unread = {one["id"]: one["unread"] for one in alice["channels"]}
    assert {channel for channel, count in unread.items() if count} == {"C0CREDIT"}
    assert unread["C0CREDIT"] == 2
    read = {"user": "U0ALICE", "channel": "C0CREDIT"}
    async with http.post(f"{slack.url}/_page/read", json=read) as response:
        assert response.status == 200
    alice = await seen("U0ALICE")
    assert {one["id"]: one["unread"] for one in alice["channels"]}["C0CREDIT"] == 0


def who_decides(*elements: dict[str, Any]) -> dict[str, Any]:
    """The facts of a card: who asked, and on the last line who decides."""

    def bold(text: str) -> dict[str, Any]:
        return {"type": "text", "text": text, "style": {"bold": True}}

    asked = [
        bold("Asked by  "),
        {"type": "user", "user_id": "U0BOB"},
        {"type": "text", "text": "\n"},
    ]
    parts = [*asked, bold("Who decides  "), *elements]
    section_ = {"type": "rich_text_section", "elements": parts}
    return {"type": "rich_text", "elements": [section_]}


@pytest.mark.parametrize(
    ("elements", "waiting"),
    [
        (
            [
                {"type": "text", "text": "One of "},
                {"type": "user", "user_id": "U0ALICE"},
                {"type": "text", "text": " and "},
                {"type": "user", "user_id": "U0DANA"},
                {"type": "text", "text": "\nDecided before by heads "},
                {"type": "user", "user_id": "U0OSCAR"},
            ],
            [0, 1, 1, 0, 0, 0],
        ),
        ([{"type": "usergroup", "usergroup_id": "S0HEADS"}], [0, 0, 0, 1, 0, 0]),
        ([{"type": "text", "text": "Two people from credit, because"}], [0, 1, 1, 0, 0, 0]),
        ([{"type": "text", "text": "Nobody yet"}], [0, 0, 0, 0, 0, 0]),
        (
            [  # people who decide one after another: the open stage
                {"type": "text", "text": "Two stages, because of credit\n✓  Stage 1: approved by "},
                {"type": "user", "user_id": "U0OSCAR"},
                {"type": "text", "text": "\n●  "},
                {"type": "text", "text": "Stage 2: ", "style": {"bold": True}},
                {"type": "user", "user_id": "U0ERIN"},
                {"type": "text", "text": "\n○  Stage 3: Two of "},
                {"type": "user", "user_id": "U0DANA"},
            ],
            [0, 0, 0, 1, 0, 0],
        ),
        (
            [  # the action of a card has a rule of its own
                {"type": "text", "text": "Nobody yet\n"},
                {"type": "text", "text": "\nWho decides: One person from heads or "},
                {"type": "user", "user_id": "U0DANA"},
                {"type": "text", "text": ", because it is money\nOrder: credit"},
            ],
            [0, 0, 1, 1, 0, 0],
        ),
    ],
)
async def test_a_card_waits_for_those_whom_it_names_and_for_nobody_else(
    call: Call, seen: Callable[..., Any], elements: list[dict[str, Any]], waiting: list[int]
) -> None:
    blocks = [section(), who_decides(*elements), actions(button())]
    await call("chat.postMessage", channel="C0CREDIT", text="A", blocks=blocks)
    assert [one["waiting"] for one in (await seen("U0BOB"))["people"]] == waiting


@pytest.mark.parametrize(
    ("action", "waiting"), [("approve:1", 1), ("option_2", 1), ("answer", 1), ("details", 0)]
)
async def test_a_card_waits_as_long_as_something_on_it_can_be_decided(
    call: Call, seen: Callable[..., Any], action: str, waiting: int
) -> None:
    decides = who_decides({"type": "user", "user_id": "U0DANA"})
    blocks = [section(), decides, actions(button(action_id=action))]
    await call("chat.postMessage", channel="C0REFUNDS", text="A", blocks=blocks)
    assert [one["waiting"] for one in (await seen("U0BOB"))["people"]] == [0, 0, waiting, 0, 0, 0]


async def test_a_question_of_a_reviewer_waits_for_whom_it_is_put_to(
    call: Call, seen: Callable[..., Any]
) -> None:
    asked = section("<@U0BOB>, *<@U0DANA> asks:*")
    for action in ("answer_question:17", "details"):
        blocks = [asked, actions(button(action_id=action))]
        await call("chat.postMessage", channel="C0LOANS", text="A", blocks=blocks)
    assert [one["waiting"] for one in (await seen("U0BOB"))["people"]] == [1, 0, 0, 0, 0, 0]


async def test_the_story_of_the_loan_is_not_told_by_a_refund(
    slack: LocalSlack, http: aiohttp.ClientSession, call: Call, seen: Callable[..., Any]
) -> None:
    await slack.message("U0BOB", "C0REFUNDS", "Refund")
    blocks = [section(), actions(button(action_id="approve:0"))]
    await call("chat.postMessage", channel="C0REFUNDS", text="A", blocks=blocks)
    paid = {"amount": 4000, "to": "Meera Nair"}
    async with http.post(slack.bank_url, json=paid, headers={"Idempotency-Key": "k"}) as response:
        assert response.status == 201
    assert not any((await seen("U0BOB"))["guide"].values())


async def test_a_card_waits_no_more_for_who_voted(call: Call, seen: Callable[..., Any]) -> None:
    people = [{"type": "user", "user_id": id_} for id_ in ("U0ALICE", "U0DANA")]
    blocks = [section("1 of 2. <@U0ALICE> at 10:04."), who_decides(*people), actions(button())]
    await call("chat.postMessage", channel="C0CREDIT", text="A", blocks=blocks)
    assert [one["waiting"] for one in (await seen("U0BOB"))["people"]] == [0, 0, 1, 0, 0, 0]


async def test_nobody_sees_direct_messages_of_another(
    slack: LocalSlack, call: Call, seen: Callable[..., Any]
) -> None:
    await call("chat.postMessage", channel="U0BOB", text="Yours")
    assert "D0BOB" not in (await seen("U0ALICE"))["messages"]
    assert [one["text"] for one in (await seen("U0BOB"))["messages"]["D0BOB"]] == ["Yours"]


async def test_the_guide_ticks_by_what_happened(
    slack: LocalSlack,
    http: aiohttp.ClientSession,
    call: Call,
    app: App,
    seen: Callable[..., Any],
) -> None:
    async def ticks() -> list[str]:
        return [step for step, done in (await seen("U0BOB"))["guide"].items() if done]

    async def card() -> str:
        blocks = [section(), actions(button())]
        answer = await call("chat.postMessage", channel="C0CREDIT", text="A", blocks=blocks)
        return str(answer["ts"])

    assert await ticks() == []
    await slack.message("U0BOB", "C0LOANS", "Loan")
    assert await ticks() == ["asked"]
    ts = await card()
    assert await ticks() == ["asked", "card"]
    await call("chat.update", channel="C0CREDIT", ts=ts, text="Done", blocks=[section()])
    assert await ticks() == ["asked", "card", "decided"]
    paid = {"amount": 60000, "to": "Asha Traders"}
    async with http.post(slack.bank_url, json=paid, headers={"Idempotency-Key": "k"}) as response:
        assert response.status == 201
    assert await ticks() == ["asked", "card", "decided", "paid"]
    await card()
    assert await ticks() == ["asked", "card", "decided", "paid", "again"]
    await until(lambda: slack.slack.bot_running)
    app.ready = False
    await until(lambda: not slack.slack.bot_running)
    app.ready = True
    await until(lambda: slack.slack.bot_running)
    assert await ticks() == ["asked", "card", "decided", "paid", "again", "plug"]


async def test_a_change_is_told_on_the_stream(
    slack: LocalSlack, http: aiohttp.ClientSession
) -> None:
    async with http.get(f"{slack.url}/_page/events") as response:
        assert response.content_type == "text/event-stream"
        first = await told(response)
        await slack.message("U0BOB", "C0LOANS", "Hello")
        assert await told(response) > first


async def told(response: aiohttp.ClientResponse) -> int:
    while not (line := await response.content.readline()).startswith(b"data: "):
        pass
    return int(json.loads(line[6:])["seq"])


async def test_a_file_is_downloaded_and_never_run(
    slack: LocalSlack, http: aiohttp.ClientSession, seen: Callable[..., Any]
) -> None:
    files = [{"name": 'a"b\r\nc.html', "text": "<script>alert(1)</script>"}]
    await slack.message("U0BOB", "C0LOANS", "", files=files)
    url = (await seen("U0BOB"))["messages"]["C0LOANS"][0]["files"][0]["url"]
    async with http.get(slack.url + url) as response:
        assert response.content_type == "application/octet-stream"
        assert response.headers["Content-Disposition"].startswith("attachment;")
        assert "sandbox" in response.headers["Content-Security-Policy"]
        assert await response.read() == b"<script>alert(1)</script>"


async def test_a_sample_is_downloaded(slack: LocalSlack, http: aiohttp.ClientSession) -> None:
    async with http.get(f"{slack.url}/_page/samples/van-quote.pdf") as response:
        assert (await response.read()).startswith(b"%PDF-")
    async with http.get(f"{slack.url}/_page/samples/..%2fcast.py") as response:
        assert response.status == 404


async def test_a_modal_and_a_home_are_shown_to_their_person(
    slack: LocalSlack, app: App, call: Call, seen: Callable[..., Any]
) -> None:
    from tests.simulator.conftest import modal

    await slack.act("shortcut", user="U0ALICE", callback_id="x")
    trigger = app.last.body["trigger_id"]
    await call("views.open", trigger_id=trigger, view=modal(section()))
    home = {"type": "home", "blocks": [section("Mine")]}
    await call("views.publish", user_id="U0ALICE", view=home)
    alice, bob = await seen("U0ALICE"), await seen("U0BOB")
    assert [one["title"]["text"] for one in alice["views"]] == ["A window"]
    assert alice["home"]["blocks"][0]["text"]["text"] == "Mine"
    assert (bob["views"], bob["home"]) == ([], None)
