"""A long question and a whole record as files: shared once, and only where they may be seen."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from bot import posts
from bot.errors import SlackFailed
from bot.slack import Slack
from bot.uploads import Upload, Uploads
from graphs import reviews
from tests.bot.conftest import Desk, until
from tests.bot.test_clicks import interaction, pressed
from tests.bot.test_posting import due_now

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 100
LARGE = {"question": "Publish this text?", "text": "a" * 5_242_880, "amount": 5}
COMPLETE = "files.completeUploadExternal"


async def files_of(desk: Desk) -> list[dict[str, Any]]:
    """The rows of the posts that are files."""
    rows = await desk.database.fetch("select * from sayso.posts where kind = 'file'")
    return [dict(row) for row in rows]


def shared(desk: Desk, channel: str = "C0CREDIT") -> list[dict[str, Any]]:
    """The messages of a channel that bring a file of ours."""
    found = desk.slack.messages(channel)
    return [one for one in found if one.get("files") and one.get("bot_id")]


def direct(desk: Desk, user: str) -> list[dict[str, Any]]:
    """What came to a person's direct messages as a file."""
    places = desk.slack.workspace.table("channels").values()
    return [
        message
        for place in places
        if place.get("user") == user
        for message in shared(desk, place["id"])
    ]


def body_of(desk: Desk, message: dict[str, Any]) -> bytes:
    """The bytes of the one file of a message."""
    (file,) = message["files"]
    return desk.slack.workspace.read_bytes(file["id"])


def window(desk: Desk, user: str) -> dict[str, Any]:
    """The window on top, once it shows more than that it is loading."""
    views = desk.slack.views(user)
    return dict(views[-1]) if views and views[-1]["callback_id"] != "loading" else {}


async def press(desk: Desk, user: str, verb: str, value: str) -> None:
    """A press of anybody, in whatever channel they are."""
    body = pressed(verb, value, team="T0SAYSO")
    trigger = desk.slack.slack.new_trigger(user, None)
    more = {"user": {"id": user, "team_id": "T0SAYSO"}, "trigger_id": trigger}
    assert (await interaction(desk, **body | more))[0] == 200


async def look(desk: Desk, user: str, action: str = "details") -> dict[str, Any]:
    """What a person sees who presses a button of the card for a window."""
    await desk.slack.click(user, channel="C0CREDIT", action_id=action)
    return dict(await until("a window", lambda: window(desk, user)))


async def test_a_question_of_five_megabytes_is_a_card_with_its_head_and_one_file_under_it(
    desk: Desk,
) -> None:
    review_id = await desk.review(asks=LARGE)
    await desk.post_all()
    card, *_ = desk.slack.messages("C0CREDIT")
    assert "first 280 of 5,242,880 characters" in str(card["blocks"])
    (file,) = shared(desk)
    assert file["thread_ts"] == card["ts"]
    assert json.loads(body_of(desk, file)) == LARGE

    async with desk.database.transaction() as connection:
        await posts.again(connection, posts.CARD, str(review_id))
        await connection.execute("update sayso.reviews set status = 'withdrawn', closed_at = now()")
    await desk.post_all()
    assert "Withdrawn" in str(desk.slack.messages("C0CREDIT")[0]["blocks"])
    assert len(shared(desk)) == 1


@pytest.mark.parametrize(
    "asks",
    [
        {f"key {number}": number for number in range(100_000)},
        {"rows": [{"a": number, "b": "\u202e\u0007"} for number in range(100_000)]},
        "\u200b\u202e" * 100_000,
    ],
    ids=["keys", "rows", "marks"],
)
async def test_whatever_is_too_long_for_a_card_is_shown_in_part_and_sent_whole(
    desk: Desk, asks: Any
) -> None:
    await desk.review(asks=asks)
    await desk.post_all()
    (file,) = shared(desk)
    body = body_of(desk, file).decode()
    assert (body if isinstance(asks, str) else json.loads(body)) == asks
    made = await look(desk, "U0ALICE")
    assert "The whole of it is a file under the card" in json.dumps(made["blocks"])
    assert "\u202e" not in json.dumps(made["blocks"], ensure_ascii=False)


async def test_a_question_that_fits_into_details_is_shown_there_whole_and_is_no_file(
    desk: Desk,
) -> None:
    deep: Any = "the end"
    for level in range(60):
        deep = {f"level {level}": deep}
    await desk.review(asks={"question": "All right?", "text": "word " * 3_000, "deep": deep})
    await desk.post_all()
    assert not shared(desk)
    made = await look(desk, "U0ALICE")
    seen = "".join(
        run["text"]
        for block in made["blocks"]
        if str(block["block_id"]).startswith("long_")
        for part in block["elements"]
        if part["type"] == "rich_text_preformatted"
        for run in part["elements"]
    )
    assert seen.count("word") == 3_000
    assert "the end" in seen


async def test_a_file_whose_sharing_was_not_answered_is_not_shared_twice(desk: Desk) -> None:
    await desk.review(asks=LARGE)
    await desk.slack.misbehave(lose_answer=[COMPLETE])
    await desk.post_all()
    await desk.slack.misbehave(reset=True)

    async def shown() -> bool:
        await due_now(desk.database)
        await desk.post_all()
        return all(row["ts"] is not None for row in await files_of(desk))

    await until("the file to be known", shown)
    (file,) = shared(desk)
    (row,) = await files_of(desk)
    assert row["ts"] == file["ts"]


@pytest.mark.parametrize("knows", [True, False])
async def test_a_process_that_died_between_sharing_and_saving_leaves_one_file(
    desk: Desk, knows: bool
) -> None:
    await desk.review(asks=LARGE)
    await desk.post_all()
    await desk.database.execute(
        "update sayso.posts set ts = null, shown = 0, tried_at = now() where kind = 'file'"
    )
    if not knows:  # Slack says nothing of the message: it completes a file once all the same
        (file,) = shared(desk)
        row = desk.slack.workspace.get("files", file["files"][0]["id"])
        assert row is not None
        desk.slack.workspace.put("files", row["id"], {**row, "shares": {}})

    async def settled() -> bool:
        await due_now(desk.database)
        await desk.post_all()
        return all(row["ts"] is not None for row in await files_of(desk))

    await until("the file to be known", settled)
    assert len(shared(desk)) == 1
    (kept,) = await files_of(desk)
    assert kept["shown"] == kept["wanted"]


async def test_a_process_that_died_before_it_kept_the_id_of_its_bytes_shares_one_file(
    desk: Desk,
) -> None:
    await desk.review(asks=LARGE)
    while not await files_of(desk):
        assert await desk.poster.run_once()
    (row,) = await files_of(desk)
    first = await Uploads(desk.client).put(Upload("lost.json", "Lost", b"{}"))
    await desk.post_all()
    (file,) = shared(desk)
    assert file["files"][0]["id"] != first
    assert row["body"] == {"under": desk.slack.messages("C0CREDIT")[0]["ts"]}


async def test_bytes_that_slack_threw_away_are_sent_anew(desk: Desk) -> None:
    await desk.review(asks=LARGE)
    await desk.slack.misbehave(api_error=[{"method": COMPLETE, "error": "file_not_found"}])
    await desk.post_all()
    assert len(shared(desk)) == 1
    sent = [one["method"] for one in desk.slack.calls if one["method"].startswith("files.get")]
    assert len(sent) == 2


async def test_a_card_stands_where_slack_takes_no_files_and_the_operators_are_told(
    desk: Desk,
) -> None:
    await desk.slack.misbehave(missing_scopes=["files:write"])
    await desk.review(asks=LARGE)
    await desk.post_all()
    (card,) = desk.slack.messages("C0CREDIT")
    assert "first 280 of 5,242,880 characters" in str(card["blocks"])
    (row,) = await files_of(desk)
    assert row["error"] == "missing_scope"
    assert "missing_scope" in str(desk.slack.messages("C0OPS"))


@pytest.fixture
async def elsewhere() -> AsyncIterator[tuple[str, list[web.Request]]]:
    """An API that sends the bytes to another host, and what that host was sent."""
    asked: list[web.Request] = []
    runners: list[web.AppRunner] = []

    async def serve(handler: Any) -> str:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", handler)
        runner = web.AppRunner(application, shutdown_timeout=0.1)
        runners.append(runner)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}"

    async def other(request: web.Request) -> web.Response:
        asked.append(request)
        return web.Response(text="OK")

    there = await serve(other)

    async def api(_: web.Request) -> web.Response:
        return web.json_response({"ok": True, "upload_url": f"{there}/up", "file_id": "F1"})

    yield await serve(api), asked
    for runner in runners:
        await runner.cleanup()


async def test_bytes_go_to_no_host_that_is_not_slacks(
    elsewhere: tuple[str, list[web.Request]],
) -> None:
    url, asked = elsewhere
    async with Slack.open("xoxb-test", api_url=url) as slack:
        with pytest.raises(SlackFailed, match="upload_address_not_slacks"):
            await Uploads(slack).put(Upload("a.txt", "A", b"secret"))
    assert asked == []


async def test_the_address_for_the_bytes_gets_no_token(desk: Desk) -> None:
    (url,) = {desk.client.api_url}
    assert desk.client.keeps(url)
    file = await Uploads(desk.client).put(Upload("a.txt", "A", b"hello"))
    row = desk.slack.workspace.get("files", file)
    assert row is not None
    assert row["arrived"]
    assert not shared(desk)


async def test_the_whole_record_comes_as_a_file_to_whoever_may_look(desk: Desk) -> None:
    await desk.review()
    await desk.post_all()
    await look(desk, "U0ALICE")
    await desk.slack.misbehave(redeliver_interactions=1)
    await desk.slack.click("U0ALICE", action_id="send_record")
    await until("the window", lambda: window(desk, "U0ALICE").get("callback_id") == "sent")
    await desk.post_all()
    (message,) = direct(desk, "U0ALICE")
    record = json.loads(body_of(desk, message))
    assert record["request"]["asked by"] == "U0BOB"
    assert record["reviews"][0]["question"]["customer"] == "Asha Traders"
    assert [one["what"] for one in record["history"]][-1] == "record.sent"
    assert [one["actor"] for one in await desk.audit("record.sent")] == ["U0ALICE"]
    assert not shared(desk)


@pytest.mark.parametrize("user", ["U0CHARLIE", "U0GUEST", "U0STRANGER", "U0GONE"])
@pytest.mark.parametrize("verb", ["details", "history", "send_record"])
async def test_whoever_may_not_look_gets_neither_window_nor_picture_nor_file(
    desk: Desk, user: str, verb: str
) -> None:
    desk.drawings.picture = PNG
    await desk.review()
    await desk.post_all()
    ref = next(iter(await reviews.list_(desk.database)))
    await press(desk, user, verb, f"{ref.id}.{ref.revision}")
    (refused,) = await until("the refusal", lambda: desk.audit("look.refused"))
    assert (refused["actor"], refused["at"]) == (user, verb)
    await desk.post_all()
    assert not direct(desk, user)
    assert desk.drawings.drawn == []
    assert "Asha Traders" not in json.dumps(desk.slack.views(user))


@pytest.mark.parametrize("user", ["U0BOB", "U0ERIN", "U0OSCAR"])
async def test_requester_viewer_and_operator_get_the_record(desk: Desk, user: str) -> None:
    await desk.review()
    await desk.post_all()
    ref = next(iter(await reviews.list_(desk.database)))
    await press(desk, user, "send_record", f"{ref.id}.{ref.revision}")
    await until("the record to be wanted", lambda: desk.audit("record.sent"))
    await desk.post_all()
    assert len(direct(desk, user)) == 1
