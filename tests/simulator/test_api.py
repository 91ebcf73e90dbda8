"""The Web API over real HTTP: what each family of methods does, and how it refuses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from bot.simulator import LocalSlack, cast
from tests.simulator.conftest import App, actions, button, modal, section, until

Call = Callable[..., Any]


def auth(token: str = cast.BOT_TOKEN) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


# ---- how a call is sent


@pytest.mark.parametrize("how", ["query", "form", "json", "query of a post", "token as a field"])
async def test_arguments_are_taken_in_every_form_that_clients_send(
    slack: LocalSlack, http: aiohttp.ClientSession, how: str
) -> None:
    url, user = f"{slack.api_url}users.info", {"user": "U0BOB"}
    if how == "query":
        response = await http.get(url, params=user, headers=auth())
    elif how == "form":
        response = await http.post(url, data=user, headers=auth())
    elif how == "json":
        response = await http.post(url, json=user, headers=auth())
    elif how == "query of a post":
        response = await http.post(url, params=user, headers=auth())
    else:
        response = await http.post(url, data={**user, "token": cast.BOT_TOKEN})
    async with response:
        assert (await response.json())["user"]["id"] == "U0BOB"


@pytest.mark.parametrize(
    ("token", "method", "error"),
    [
        ("", "auth.test", "not_authed"),
        ("xoxb-other", "auth.test", "invalid_auth"),
        (cast.APP_TOKEN, "auth.test", "not_allowed_token_type"),
        (cast.BOT_TOKEN, "apps.connections.open", "not_allowed_token_type"),
        (cast.APP_TOKEN, "apps.connections.open", "socket_mode_not_enabled"),
        (cast.BOT_TOKEN, "chat.scheduleMessage", "unknown_method"),
        (cast.BOT_TOKEN, "reactions.add", "missing_scope"),
    ],
)
async def test_a_call_that_may_not_be_made_is_refused(
    slack: LocalSlack, http: aiohttp.ClientSession, token: str, method: str, error: str
) -> None:
    headers = auth(token) if token else {}
    async with http.post(slack.api_url + method, headers=headers) as response:
        assert response.status == 200
        assert (await response.json())["error"] == error


@pytest.mark.parametrize(
    ("body", "media_type", "error"),
    [
        (b"{", "application/json", "invalid_json"),
        (b"[]", "application/json", "json_not_object"),
        (b"x", "text/plain", "invalid_post_type"),
        (b'{"text": "\\ud800"}', "application/json", "invalid_charset"),
        (b'{"text": "a\\u0000b"}', "application/json", "invalid_charset"),
        (b"blocks=%5B%7B%22text%22%3A%22%5Cud800%22%7D%5D", "application/x-www-form-urlencoded",
         "invalid_charset"),
    ],
)  # fmt: skip
async def test_a_body_that_cannot_be_read_is_refused(
    slack: LocalSlack, http: aiohttp.ClientSession, body: bytes, media_type: str, error: str
) -> None:
    headers = {**auth(), "Content-Type": media_type}
    url = f"{slack.api_url}chat.postMessage"
    async with http.post(url, data=body, headers=headers) as response:
        assert (await response.json())["error"] == error


# ---- chat


async def test_a_posted_message_is_kept_with_ids_for_its_blocks(
    slack: LocalSlack, call: Call
) -> None:
    blocks = [actions({"type": "button", "text": {"type": "plain_text", "text": "Go"}})]
    posted = await call("chat.postMessage", channel="C0CREDIT", text="A card", blocks=blocks)
    kept = posted["message"]
    assert posted["channel"] == "C0CREDIT"
    assert kept["bot_id"] == cast.BOT_ID
    assert kept["blocks"][0]["block_id"]
    assert kept["blocks"][0]["elements"][0]["action_id"]
    assert [one["ts"] for one in slack.messages("#credit")] == [posted["ts"]]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"text": "x"}, "invalid_arguments"),
        ({"channel": "C0NOWHERE", "text": "x"}, "channel_not_found"),
        ({"channel": "U0NOBODY", "text": "x"}, "user_not_found"),
        ({"channel": "U0GONE", "text": "x"}, "user_disabled"),
        ({"channel": cast.BOT_USER, "text": "x"}, "cannot_dm_bot"),
        ({"channel": "C0CREDIT"}, "no_text"),
        ({"channel": "C0CREDIT", "text": " "}, "no_text"),
        ({"channel": "C0CREDIT", "blocks": []}, "no_text"),
        ({"channel": "C0CREDIT", "text": "x" * 40_001}, "msg_too_long"),
        ({"channel": "C0CREDIT", "text": "x", "blocks": "nonsense"}, "invalid_blocks_format"),
        ({"channel": "C0CREDIT", "text": "x", "blocks": [section("")]}, "invalid_blocks"),
        (
            {"channel": "C0CREDIT", "text": "x", "blocks": [section("s" * 2700)] * 5},
            "msg_blocks_too_long",
        ),
        ({"channel": "C0CREDIT", "text": "x", "metadata": {}}, None),
        ({"channel": "C0CREDIT", "text": "x", "metadata": {"a": 1}}, "invalid_metadata_format"),
        ({"channel": "C0CREDIT", "text": "x", "thread_ts": "1.000001"}, "cannot_reply_to_message"),
        ({"channel": "#credit", "text": "x"}, None),
        ({"channel": "#nowhere", "text": "x"}, "channel_not_found"),
    ],
)
async def test_a_post_is_refused_as_slack_refuses_it(
    call: Call, arguments: dict[str, Any], error: str | None
) -> None:
    assert (await call("chat.postMessage", **arguments)).get("error") == error


async def test_a_post_to_a_person_goes_to_their_direct_messages(call: Call) -> None:
    posted = await call("chat.postMessage", channel="U0BOB", text="Hello")
    assert posted["channel"] == "D0BOB"
    changed = await call("chat.update", channel="U0BOB", ts=posted["ts"], text="Bye")
    assert changed["error"] == "channel_not_found"
    assert (await call("chat.update", channel="D0BOB", ts=posted["ts"], text="Bye"))["ok"]


async def test_a_post_of_blocks_alone_is_warned_about(call: Call) -> None:
    posted = await call("chat.postMessage", channel="C0CREDIT", blocks=[section()])
    assert posted["warning"] == "missing_text_in_message"


async def test_an_update_without_blocks_removes_them_and_marks_the_message_edited(
    slack: LocalSlack, call: Call
) -> None:
    posted = await call("chat.postMessage", channel="C0CREDIT", text="A", blocks=[section()])
    where = {"channel": "C0CREDIT", "ts": posted["ts"]}
    await call("chat.update", **where, text="B", blocks=[section("Two")])
    (kept,) = slack.messages("C0CREDIT")
    assert kept["blocks"][0]["text"]["text"] == "Two"
    assert kept["edited"] is None
    await call("chat.update", **where, text="C")
    (kept,) = slack.messages("C0CREDIT")
    assert kept["blocks"] == []
    assert kept["edited"]


async def test_an_update_is_refused_as_slack_refuses_it(slack: LocalSlack, call: Call) -> None:
    theirs = (await slack.message("U0BOB", "C0CREDIT", "Mine"))["ts"]
    own = (await call("chat.postMessage", channel="C0CREDIT", text="A"))["ts"]
    for arguments, error in [
        ({"ts": theirs, "text": "x"}, "cant_update_message"),
        ({"ts": "1.000001", "text": "x"}, "message_not_found"),
        ({"ts": own, "text": "x" * 4_001}, "msg_too_long"),
        ({"ts": own}, "no_text"),
    ]:
        assert (await call("chat.update", channel="C0CREDIT", **arguments))["error"] == error
    gone = await call("chat.delete", channel="C0CREDIT", ts=theirs)
    assert gone["error"] == "cant_delete_message"
    assert (await call("chat.delete", channel="C0CREDIT", ts=own))["ok"]


async def test_a_message_with_replies_leaves_a_tombstone_when_it_is_deleted(
    slack: LocalSlack, call: Call
) -> None:
    root = (await call("chat.postMessage", channel="C0CREDIT", text="A"))["ts"]
    await call("chat.postMessage", channel="C0CREDIT", text="B", thread_ts=root)
    await call("chat.delete", channel="C0CREDIT", ts=root)
    assert [one["text"] for one in slack.messages("C0CREDIT")] == [
        "This message was deleted.",
        "B",
    ]


async def test_a_private_message_reaches_only_members_and_is_not_in_the_history(
    slack: LocalSlack, call: Call
) -> None:
    said = {"channel": "C0CREDIT", "text": "Only you"}
    assert (await call("chat.postEphemeral", user="U0GUEST", **said))["error"] == (
        "user_not_in_channel"
    )
    assert (await call("chat.postEphemeral", user="U0CHARLIE", **said))["message_ts"]
    assert [one["text"] for one in slack.private_messages("U0CHARLIE")] == ["Only you"]
    assert (await call("conversations.history", channel="C0CREDIT"))["messages"] == []


async def test_a_permalink_leads_to_the_page(
    slack: LocalSlack, call: Call, http: aiohttp.ClientSession
) -> None:
    ts = (await call("chat.postMessage", channel="C0CREDIT", text="A"))["ts"]
    link = (await call("chat.getPermalink", channel="C0CREDIT", message_ts=ts))["permalink"]
    async with http.get(link, allow_redirects=False) as response:
        assert response.headers["Location"] == f"/#in=C0CREDIT&ts={ts}"
    none = await call("chat.getPermalink", channel="C0CREDIT", message_ts="1.000001")
    assert none["error"] == "message_not_found"


async def test_a_reaction_is_added_once(slack: LocalSlack, call: Call) -> None:
    await slack.misbehave(extra_scopes=["reactions:write"])
    ts = (await slack.message("U0BOB", "C0LOANS", "Hi"))["ts"]
    item = {"channel": "C0LOANS", "timestamp": ts, "name": "eyes"}
    assert (await call("reactions.add", **item))["ok"]
    assert (await call("reactions.add", **item))["error"] == "already_reacted"
    assert slack.messages("C0LOANS")[0]["reactions"][0]["count"] == 1


# ---- conversations


async def test_history_is_newest_first_without_replies_and_pages_by_cursor(
    slack: LocalSlack, call: Call
) -> None:
    roots = [
        (await call("chat.postMessage", channel="C0OPS", text=f"Number {n}"))["ts"]
        for n in range(5)
    ]
    await call("chat.postMessage", channel="C0OPS", text="Below", thread_ts=roots[0])
    first = await call("conversations.history", channel="C0OPS", limit=3)
    cursor = first["response_metadata"]["next_cursor"]
    rest = await call("conversations.history", channel="C0OPS", limit=3, cursor=cursor)
    assert [one["ts"] for one in first["messages"] + rest["messages"]] == roots[::-1]
    assert rest["messages"][-1]["reply_count"] == 1
    assert not rest["has_more"]
    below = await call("conversations.replies", channel="C0OPS", ts=roots[0])
    assert [one["text"] for one in below["messages"]] == ["Number 0", "Below"]
    bad = await call("conversations.history", channel="C0OPS", cursor="nonsense")
    assert bad["error"] == "invalid_cursor"
    none = await call("conversations.replies", channel="C0OPS", ts="1.000001")
    assert none["error"] == "thread_not_found"


async def test_history_between_two_times(call: Call) -> None:
    stamps = [
        (await call("chat.postMessage", channel="C0OPS", text=str(n)))["ts"] for n in range(4)
    ]
    edges = {"channel": "C0OPS", "oldest": stamps[1], "latest": stamps[2]}
    assert (await call("conversations.history", **edges))["messages"] == []
    inside = await call("conversations.history", **edges, inclusive=True)
    assert [one["ts"] for one in inside["messages"]] == [stamps[2], stamps[1]]


async def test_metadata_comes_back_only_when_it_is_asked_for(call: Call) -> None:
    metadata = {"event_type": "sayso_post", "event_payload": {"post": "7"}}
    await call("chat.postMessage", channel="C0OPS", text="A", metadata=metadata)
    without = await call("conversations.history", channel="C0OPS")
    assert "metadata" not in without["messages"][0]
    within = await call("conversations.history", channel="C0OPS", include_all_metadata=True)
    assert within["messages"][0]["metadata"] == metadata


@pytest.mark.parametrize("knob", ["archive", "remove_bot"])
async def test_a_channel_that_was_closed_to_the_app_says_why(
    slack: LocalSlack, call: Call, knob: str
) -> None:
    await slack.misbehave(**{knob: "#credit"})
    error = {"archive": "is_archived", "remove_bot": "not_in_channel"}[knob]
    posted = await call("chat.postMessage", channel="C0CREDIT", text="x")
    assert posted["error"] == error
    info = await call("conversations.info", channel="C0CREDIT")
    assert info["channel"]["is_archived"] == (knob == "archive")
    assert info["channel"]["is_member"] == (knob == "archive")
    back = {"archive": "unarchive", "remove_bot": "add_bot"}[knob]
    await slack.misbehave(**{back: "C0CREDIT"})
    assert (await call("chat.postMessage", channel="C0CREDIT", text="x"))["ok"]


async def test_a_private_channel_without_the_app_does_not_exist_for_it(
    slack: LocalSlack, call: Call
) -> None:
    await slack.act("channel", channel="C0BOARD", name="board", is_private=True, members=["U0ERIN"])
    for method in ("conversations.info", "conversations.history", "chat.postMessage"):
        answer = await call(method, channel="C0BOARD", text="x")
        assert answer["error"] == "channel_not_found"
    listed = await call("conversations.list", types="public_channel,private_channel")
    assert [one["name"] for one in listed["channels"]] == [one["name"] for one in cast.CHANNELS]


async def test_direct_messages_are_opened_once(call: Call) -> None:
    first = await call("conversations.open", users="U0DANA")
    again = await call("conversations.open", users="U0DANA", return_im=True)
    assert first["channel"] == {"id": "D0DANA"}
    assert again["already_open"]
    assert again["channel"]["user"] == "U0DANA"
    assert (await call("conversations.open"))["error"] == "users_list_not_supplied"
    members = await call("conversations.members", channel="D0DANA")
    assert members["members"] == ["U0DANA", cast.BOT_USER]


# ---- people


async def test_people_look_like_slacks_own(call: Call) -> None:
    bob = (await call("users.info", user="U0BOB", include_locale=True))["user"]
    assert (bob["is_restricted"], bob["is_ultra_restricted"], bob["deleted"]) == (False,) * 3
    assert "is_stranger" not in bob
    assert (bob["profile"]["email"], bob["is_email_confirmed"]) == ("bob@example.com", True)
    assert (bob["team_id"], bob["tz"], bob["locale"]) == ("T0SAYSO", "Asia/Kolkata", "en-IN")
    assert "locale" not in (await call("users.info", user="U0BOB"))["user"]
    guest = (await call("users.info", user="U0GUEST"))["user"]
    assert guest["is_restricted"]
    stranger = (await call("users.info", user="U0STRANGER"))["user"]
    assert (stranger["is_stranger"], stranger["team_id"]) == (True, "T0OTHER")
    assert "is_restricted" not in stranger
    gone = (await call("users.info", user="U0GONE"))["user"]
    assert gone["deleted"]
    assert "tz" not in gone
    assert "is_restricted" not in gone
    assert (await call("users.info", user=cast.BOT_USER))["user"]["is_bot"]
    assert (await call("users.info", user="U0NOBODY"))["error"] == "user_not_found"


async def test_everybody_can_be_listed_page_by_page(call: Call) -> None:
    seen, cursor = [], ""
    while True:
        page = await call("users.list", limit=4, cursor=cursor)
        seen += [one["id"] for one in page["members"]]
        cursor = page["response_metadata"]["next_cursor"]
        if not cursor:
            break
    assert seen == [one["id"] for one in cast.PEOPLE]


async def test_a_person_is_found_by_mail_only_with_the_scope(slack: LocalSlack, call: Call) -> None:
    found = await call("users.lookupByEmail", email="Alice@example.com")
    assert found["user"]["id"] == "U0ALICE"
    for address in ("gone@example.com", "nobody@example.com", ""):
        assert (await call("users.lookupByEmail", email=address))["error"] == "users_not_found"
    await slack.act("person", user="U0ALICE", email="")
    await slack.act("person", user="U0DANA", email="alice@example.com")
    found = await call("users.lookupByEmail", email="alice@example.com")
    assert found["user"]["id"] == "U0DANA"
    await slack.misbehave(missing_scopes=["users:read.email"])
    refused = await call("users.lookupByEmail", email="alice@example.com")
    assert (refused["error"], refused["needed"]) == ("missing_scope", "users:read.email")
    told = await call("users.info", user="U0DANA")
    assert "email" not in told["user"]["profile"]


async def test_groups_and_their_members(slack: LocalSlack, call: Call, app: App) -> None:
    groups = (await call("usergroups.list", include_users=True))["usergroups"]
    assert {one["handle"]: one["users"] for one in groups}["credit"] == ["U0ALICE", "U0DANA"]
    await slack.act("group", group="S0CREDIT", users=["U0DANA"])
    users = (await call("usergroups.users.list", usergroup="S0CREDIT"))["users"]
    assert users == ["U0DANA"]
    (event,) = await until(lambda: app.events("subteam_members_changed"))
    assert event["removed_users"] == ["U0ALICE"]
    none = await call("usergroups.users.list", usergroup="S0NONE")
    assert none["error"] == "no_such_subteam"


# ---- files


async def test_a_file_goes_up_in_three_steps_and_comes_down_with_the_token(
    slack: LocalSlack, call: Call, http: aiohttp.ClientSession
) -> None:
    place = await call("files.getUploadURLExternal", filename="Record of 412.txt", length=5)
    early = await call("files.completeUploadExternal", files=[{"id": place["file_id"]}])
    assert early["error"] == "file_upload_not_complete"
    async with http.post(place["upload_url"], data=b"four") as response:
        assert response.status == 400
    async with http.post(place["upload_url"], data=b"hello") as response:
        assert (response.status, await response.text()) == (200, "OK - 5")
    done = await call(
        "files.completeUploadExternal",
        files=[{"id": place["file_id"], "title": "The record"}],
        channel_id="C0CREDIT",
        initial_comment="Here it is",
    )
    assert done["files"] == [{"id": place["file_id"], "title": "The record"}]
    shown = (await call("files.info", file=place["file_id"]))["file"]
    (message,) = slack.messages("C0CREDIT")
    assert message["text"] == "Here it is"
    assert shown["shares"] == {"public": {"C0CREDIT": [{"ts": message["ts"]}]}}
    assert message["files"][0]["title"] == "The record"
    assert (shown["filetype"], shown["mimetype"], shown["size"]) == ("text", "text/plain", 5)
    async with http.get(shown["url_private"], headers=auth()) as response:
        assert await response.read() == b"hello"
    assert (await call("files.info", file=shown["id"]))["file"]["name"] == "Record of 412.txt"
    assert (await call("files.info", file="F0NONE"))["error"] == "file_not_found"
    again = await call(
        "files.completeUploadExternal", files=[{"id": shown["id"]}], channel_id="C0CREDIT"
    )
    assert again["error"] == "file_update_failed"
    assert len(slack.messages("C0CREDIT")) == 1


async def test_a_block_shows_a_picture_of_slacks_once_slack_has_looked_at_it(
    slack: LocalSlack, call: Call, http: aiohttp.ClientSession
) -> None:
    async def kept(name: str) -> str:
        place = await call("files.getUploadURLExternal", filename=name, length=5)
        async with http.post(place["upload_url"], data=b"hello") as response:
            assert response.status == 200
        await call("files.completeUploadExternal", files=[{"id": place["file_id"]}])
        return str(place["file_id"])

    async def posted(**of: str) -> dict[str, Any]:
        block = {"type": "image", "alt_text": "The path", "slack_file": of}
        answer = await call("chat.postMessage", channel="C0OPS", text="A", blocks=[block])
        return {"error": None, **answer}

    picture, text = await kept("path.png"), await kept("path.txt")
    assert (await posted(id=picture))["error"] is None
    for wrong in (text, "F0NONE"):
        refused = await posted(id=wrong)
        assert refused["error"] == "invalid_blocks"
        assert "invalid slack file [json-pointer:/blocks/0/slack_file]" in refused["errors"]
    assert (await posted(id=picture, url="https://files.slack.com/a"))["error"] == "invalid_blocks"
    await slack.misbehave(file_ms=60_000)
    unseen = await kept("new.png")
    assert (await posted(id=unseen))["error"] == "invalid_blocks"
    assert (await call("files.info", file=unseen))["file"]["mimetype"] == ""


@pytest.mark.parametrize("token", ["", "xoxb-other"])
async def test_a_file_without_the_token_is_a_sign_in_page_with_status_200(
    slack: LocalSlack, http: aiohttp.ClientSession, token: str
) -> None:
    await slack.message("U0BOB", "C0LOANS", "", files=[{"name": "a b.csv", "text": "x,y"}])
    url = slack.messages("C0LOANS")[0]["files"][0]["url_private"]
    async with http.get(url, headers=auth(token) if token else {}) as response:
        assert (response.status, response.content_type) == (200, "text/html")
    async with http.get(url, headers=auth()) as response:
        assert await response.read() == b"x,y"


async def test_a_file_may_claim_one_size_and_serve_another(
    slack: LocalSlack, http: aiohttp.ClientSession
) -> None:
    files = [
        {"name": "huge.pdf", "text": "small", "claim_size": 50_000_000},
        {"name": "liar.pdf", "text": "small", "claim_size": 100, "serve_size": 20_000_000},
    ]
    await slack.message("U0BOB", "C0LOANS", "", files=files)
    huge, liar = slack.messages("C0LOANS")[0]["files"]
    assert (huge["size"], liar["size"]) == (50_000_000, 100)
    async with http.get(liar["url_private"], headers=auth()) as response:
        assert len(await response.read()) == 20_000_000


# ---- views


def trigger(app: App) -> str:
    return str(app.last.body["trigger_id"])


async def pressed(slack: LocalSlack, call: Call, user: str = "U0ALICE") -> None:
    """Have a card, and a fresh trigger_id from a press on it."""
    await call("chat.postMessage", channel="C0OPS", text="A", blocks=[actions(button())])
    assert (await slack.click(user, channel="C0OPS", action_id="approve"))["ok"]


async def test_a_trigger_opens_one_modal(slack: LocalSlack, app: App, call: Call) -> None:
    await pressed(slack, call)
    opened = await call("views.open", trigger_id=trigger(app), view=modal(section()))
    assert opened["view"]["root_view_id"] == opened["view"]["id"]
    assert [one["id"] for one in slack.views("U0ALICE")] == [opened["view"]["id"]]
    again = await call("views.open", trigger_id=trigger(app), view=modal(section()))
    assert again["error"] == "exchanged_trigger_id"
    none = await call("views.open", trigger_id="1.2", view=modal(section()))
    assert none["error"] == "invalid_trigger_id"


async def test_a_trigger_is_not_spent_by_a_view_that_is_refused(
    slack: LocalSlack, app: App, call: Call
) -> None:
    await pressed(slack, call)
    bad = await call("views.open", trigger_id=trigger(app), view=modal(section("")))
    assert bad["error"] == "invalid_arguments"
    assert bad["response_metadata"]["messages"]
    assert (await call("views.open", trigger_id=trigger(app), view=modal(section())))["ok"]


async def test_a_trigger_expires(app: App, http: aiohttp.ClientSession) -> None:
    async with LocalSlack.start(events_url=app.url, trigger_seconds=0.0) as slack:
        await slack.act("command", user="U0BOB", channel="C0LOANS", command="/loan")
        arguments = {"trigger_id": app.last.form["trigger_id"], "view": modal(section())}
        url = f"{slack.api_url}views.open"
        async with http.post(url, json=arguments, headers=auth()) as response:
            assert (await response.json())["error"] == "expired_trigger_id"


async def test_three_modals_lie_on_each_other_and_no_fourth(
    slack: LocalSlack, app: App, call: Call
) -> None:
    await pressed(slack, call)
    view = modal(actions(button("Next", "next")))
    await call("views.open", trigger_id=trigger(app), view=view)
    for _ in range(2):
        await slack.click("U0ALICE", action_id="next")
        assert (await call("views.push", trigger_id=trigger(app), view=view))["ok"]
    await slack.click("U0ALICE", action_id="next")
    fourth = await call("views.push", trigger_id=trigger(app), view=view)
    assert fourth["error"] == "push_limit_reached"
    stack = slack.views("U0ALICE")
    assert [one["previous_view_id"] for one in stack] == [None, stack[0]["id"], stack[1]["id"]]


async def test_a_push_needs_a_trigger_from_inside_a_modal(
    slack: LocalSlack, app: App, call: Call
) -> None:
    await pressed(slack, call)
    pushed = await call("views.push", trigger_id=trigger(app), view=modal(section()))
    assert pushed["error"] == "invalid_trigger_id"


async def test_an_update_of_a_view_takes_only_the_hash_it_has(
    slack: LocalSlack, app: App, call: Call
) -> None:
    await pressed(slack, call)
    view = modal(section(), external_id="mine")
    opened = (await call("views.open", trigger_id=trigger(app), view=view))["view"]
    told = {"view_id": opened["id"], "view": modal(section("Two"))}
    assert (await call("views.update", **told, hash="1.x"))["error"] == "hash_conflict"
    assert (await call("views.update", **told, hash=opened["hash"]))["ok"]
    assert (await call("views.update", **told, hash=opened["hash"]))["error"] == "hash_conflict"
    assert (await call("views.update", **told))["ok"]
    await slack.act("close", user="U0ALICE")
    assert (await call("views.update", **told))["error"] == "not_found"


async def test_a_home_is_published_and_opened(slack: LocalSlack, app: App, call: Call) -> None:
    home = {"type": "home", "blocks": [actions(button("Start", "start"))]}
    first = await call("views.publish", user_id="U0ALICE", view=home)
    assert (await call("views.publish", user_id="U0ALICE", view=home, hash="1.x"))["error"] == (
        "hash_conflict"
    )
    assert (await call("views.publish", user_id="U0NOBODY", view=home))["error"] == (
        "user_not_found"
    )
    assert (await call("views.publish", user_id="U0ALICE", view=modal()))["error"] == (
        "invalid_arguments"
    )
    await slack.act("home", user="U0ALICE")
    (event,) = await until(lambda: app.events("app_home_opened"))
    assert (event["tab"], event["view"]["id"]) == ("home", first["view"]["id"])
    assert (await slack.click("U0ALICE", view_id="home", label="Start"))["ok"]
    assert app.last.body["container"]["type"] == "view"


# ---- misbehaviour


async def test_a_rate_limit_is_429_with_the_seconds_to_wait(
    slack: LocalSlack, http: aiohttp.ClientSession, call: Call
) -> None:
    await slack.misbehave(ratelimit={"method": "chat.postMessage", "n": 1, "retry_after": 7})
    url = f"{slack.api_url}chat.postMessage"
    said = {"channel": "C0OPS", "text": "x"}
    async with http.post(url, json=said, headers=auth()) as response:
        assert (response.status, response.headers["Retry-After"]) == (429, "7")
    assert (await call("chat.postMessage", **said))["ok"]
    assert [one["error"] for one in slack.calls] == ["ratelimited", None]


async def test_posting_too_fast_in_one_channel_is_limited_when_rates_are_kept(
    slack: LocalSlack, call: Call
) -> None:
    await slack.misbehave(rates=True)
    errors = [
        (await call("chat.postMessage", channel="C0OPS", text="x")).get("error") for _ in range(7)
    ]
    assert errors == [None] * 5 + ["ratelimited"] * 2
    assert (await call("chat.postMessage", channel="C0LOANS", text="x"))["ok"]


@pytest.mark.parametrize("lose_by", ["500", "close"])
async def test_a_lost_answer_means_the_work_was_done(
    slack: LocalSlack, http: aiohttp.ClientSession, lose_by: str
) -> None:
    await slack.misbehave(lose_answer=["chat.postMessage"], lose_by=lose_by)
    url, said = f"{slack.api_url}chat.postMessage", {"channel": "C0OPS", "text": "x"}
    if lose_by == "500":
        async with http.post(url, json=said, headers=auth()) as response:
            assert response.status == 500
    else:
        with pytest.raises(aiohttp.ClientError):
            async with http.post(url, json=said, headers=auth()):
                pass
    assert len(slack.messages("C0OPS")) == 1
    assert slack.calls[-1]["lost"]


async def test_an_outage_is_500_without_any_work(
    slack: LocalSlack, http: aiohttp.ClientSession
) -> None:
    await slack.misbehave(server_error={"method": "*", "n": 1})
    url = f"{slack.api_url}chat.postMessage"
    async with http.post(url, json={"channel": "C0OPS", "text": "x"}, headers=auth()) as response:
        assert response.status == 500
    assert slack.messages("C0OPS") == []


async def test_errors_of_slacks_own_can_be_asked_for(slack: LocalSlack, call: Call) -> None:
    await slack.misbehave(api_error={"method": "chat.update", "error": "fatal_error"})
    told = await call("chat.update", channel="C0OPS", ts="1.0", text="x")
    assert told["error"] == "fatal_error"


async def test_a_revoked_token_is_refused_and_told(slack: LocalSlack, app: App, call: Call) -> None:
    await slack.misbehave(revoke=True)
    assert (await call("auth.test"))["error"] == "token_revoked"
    await until(lambda: app.events("tokens_revoked"))


async def test_an_app_that_was_removed_is_refused_and_told(
    slack: LocalSlack, app: App, call: Call
) -> None:
    await slack.misbehave(uninstall=True)
    assert (await call("auth.test"))["error"] == "account_inactive"
    await until(lambda: app.events("app_uninstalled") and app.events("tokens_revoked"))


async def test_a_channel_with_a_new_id_keeps_its_messages_and_is_told(
    slack: LocalSlack, app: App, call: Call
) -> None:
    ts = (await call("chat.postMessage", channel="C0CREDIT", text="A"))["ts"]
    await slack.act("move", channel="#credit", becomes="C1CREDIT")
    old = await call("chat.update", channel="C0CREDIT", ts=ts, text="B")
    assert old["error"] == "channel_not_found"
    assert (await call("chat.update", channel="C1CREDIT", ts=ts, text="B"))["ok"]
    (event,) = await until(lambda: app.events("channel_id_changed"))
    assert (event["old_channel_id"], event["new_channel_id"]) == ("C0CREDIT", "C1CREDIT")


async def test_a_missing_scope_is_named(slack: LocalSlack, call: Call) -> None:
    await slack.misbehave(missing_scopes=["usergroups:read"])
    told = await call("usergroups.list")
    assert (told["error"], told["needed"]) == ("missing_scope", "usergroups:read")


async def test_a_slow_answer_is_slow_for_that_method_only(slack: LocalSlack, call: Call) -> None:
    await slack.misbehave(users_info_ms=60_000)
    slow = asyncio.create_task(call("users.info", user="U0BOB"))
    assert (await call("auth.test"))["ok"]
    assert not slow.done()
    slow.cancel()
    await asyncio.gather(slow, return_exceptions=True)


async def test_every_call_is_remembered(slack: LocalSlack, call: Call) -> None:
    await call("chat.postMessage", channel="C0OPS", text="x")
    await call("chat.postMessage", channel="C0NONE", text="x")
    kept = [(one["method"], one["ok"], one["error"], one["channel"]) for one in slack.calls]
    assert kept == [
        ("chat.postMessage", True, None, "C0OPS"),
        ("chat.postMessage", False, "channel_not_found", "C0NONE"),
    ]
    assert json.dumps(slack.calls)
