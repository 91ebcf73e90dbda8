"""Every way in where something has to be chosen or filled in: each starts once, or says why not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from graphs import mailbox, threads
from tests.bot.conftest import Desk, until
from tests.bot.test_web import FORM, post, signed

CONFIG = """
[operators]
channel = "C0OPS"

[graphs.refund]
path = "tests.bot.start_graphs:refund"
title = "the refund desk"
channels = ["C0REFUNDS"]
command = "/refund"
shortcut = "Ask for a refund"

[graphs.note]
path = "tests.bot.start_graphs:note"
title = "the note taker"
channels = ["C0LOANS"]
command = "/note"
shortcut = "Take a note"

[graphs.talk]
path = "tests.bot.start_graphs:talk"
channels = ["C0CONTENT"]
replies = "cancel"

[graphs.secret]
path = "tests.bot.start_graphs:note"
starters = { users = ["U0ERIN"] }

[graphs.gone]
path = "tests.bot.start_graphs:nothing"

[[reviews]]
channel = "C0CREDIT"
approvers = { users = ["U0ALICE"] }
"""
FILLED = {"order": "A-2231", "amount": "30", "why": "late"}
FILE = {"name": "quote.txt", "text": "30 for a lamp"}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Five graphs; one is for Erin alone, one cannot be loaded."""
    file = tmp_path / "sayso.toml"
    file.write_text(CONFIG)
    return file


async def started(desk: Desk, number: int = 1, **which: str) -> list[Any]:
    """So many threads, newest first."""

    async def there() -> list[Any]:
        found = await threads.list_(desk.database, **which)  # type: ignore[arg-type]
        return found if len(found) >= number else []

    return list(await until(f"{number} threads", there))


async def start_row(desk: Desk, thread_id: str) -> Any:
    rows = await mailbox.waiting(desk.database, thread_id)
    return next(row.body for row in rows if row.kind == "start")


async def offer(desk: Desk, channel: str) -> dict[str, Any]:
    """The newest message of ours there that has buttons."""

    async def there() -> list[dict[str, Any]]:
        await desk.post_all()
        ours = [one for one in desk.slack.messages(channel) if one["user"] == "U0SAYSO"]
        return [one for one in ours if "start:" in json.dumps(one["blocks"])]

    return dict((await until("an offer", there))[-1])


def labels(message: dict[str, Any]) -> list[str]:
    rows = [block["elements"] for block in message["blocks"] if block["type"] == "actions"]
    return [button["text"]["text"] for row in rows for button in row]


async def window(desk: Desk, user: str, *texts: str) -> dict[str, Any]:
    """The person's open window once it shows these texts."""

    def there() -> dict[str, Any] | None:
        for view in desk.slack.views(user):
            if all(text in json.dumps(view, ensure_ascii=False) for text in texts):
                return dict(view)
        return None

    return dict(await until(f"a window with {texts}", there))


def field(view: dict[str, Any], label: str) -> str:
    """The block id of the input with this label."""
    return next(
        block["block_id"]
        for block in view["blocks"]
        if block["type"] == "input" and block["label"]["text"] == label
    )


async def filled(desk: Desk, user: str, **values: str) -> Any:
    view = await window(desk, user, "Order", "Amount")
    given = {field(view, name.capitalize()): value for name, value in {**FILLED, **values}.items()}
    return await desk.slack.submit(user, given)


async def told(desk: Desk, user: str, *texts: str) -> None:
    """Wait until only this person is told so, where it happened or in their direct messages."""

    def there() -> bool:
        said = list(desk.slack.private_messages(user))
        if (direct := f"D{user[1:]}") in desk.slack.workspace.channels():
            said += desk.slack.messages(direct)
        return any(all(text in str(one["blocks"]) for text in texts) for one in said)

    await until(f"{user} to be told {texts}", there)


def typed(view: dict[str, Any], values: dict[str, str]) -> dict[str, Any]:
    """The state of a view with these values in its inputs, by block id."""
    made: dict[str, Any] = {}
    for block in view["blocks"]:
        if block["type"] == "input" and (given := values.get(block["block_id"])) is not None:
            element = block["element"]
            state: dict[str, Any] = {"type": element["type"], "value": given}
            if options := element.get("options"):
                state = {"type": element["type"], "selected_option": options[0]}
            made[block["block_id"]] = {"value": state}
    return made


async def submission(desk: Desk, user: str, view: dict[str, Any]) -> tuple[int, str]:
    """Submit a window that the local Slack does not know; what it was answered."""
    payload = {
        "type": "view_submission",
        "team": {"id": "T0SAYSO"},
        "user": {"id": user, "team_id": "T0SAYSO"},
        "view": view,
    }
    body = urlencode({"payload": json.dumps(payload)}).encode()
    return await post(desk, body, signed(body) | {"Content-Type": FORM})


async def refused(desk: Desk) -> list[tuple[str, str]]:
    return [(one["actor"], one["why"]) for one in await desk.audit("start.refused")]


async def test_a_message_to_a_form_graph_is_answered_with_its_form(desk: Desk) -> None:
    sent = await desk.slack.message("U0BOB", "C0REFUNDS", "The lamp came late", files=[FILE])
    shown = await offer(desk, "C0REFUNDS")
    assert shown["thread_ts"] == sent["ts"]
    assert labels(shown) == ["Fill in the request"]
    assert await threads.list_(desk.database) == []

    await desk.slack.click("U0BOB", channel="C0REFUNDS", label="Fill in the request")
    view = await window(desk, "U0BOB", "The refund desk begins when you send it")
    words = field(view, "In your words")
    assert view["state"]["values"][words]["value"]["value"] == "The lamp came late"
    assert "The file of the message goes with it" in json.dumps(view)
    wrong = await filled(desk, "U0BOB", amount="900")
    assert wrong["response_action"] == "errors" or wrong["errors"]
    assert await threads.list_(desk.database) == []
    done = await filled(desk, "U0BOB")
    assert (done["ok"], done["response_action"]) == (True, None)

    (thread,) = await started(desk)
    body = await start_row(desk, thread.id)
    assert json.loads(body["input"]) == {
        "order": "A-2231", "amount": 30, "why": "late", "text": "The lamp came late",
        "documents": [],
    }  # fmt: skip
    assert [file["name"] for file in body["message"]["files"]] == ["quote.txt"]
    await desk.post_all()
    assert f"Sent as request {thread.number}" in str(desk.slack.messages("C0REFUNDS"))
    assert "start:" not in json.dumps(desk.slack.messages("C0REFUNDS")[1]["blocks"])
    # The conversation is the one under the message.
    await desk.slack.message("U0BOB", "C0REFUNDS", "And soon", thread_ts=sent["ts"])

    async def heard() -> bool:
        return len(await threads.messages(desk.database, thread.id)) == 2

    await until("the reply", heard)


async def test_what_the_form_cannot_see_is_told_at_its_field_and_the_window_stays(
    desk: Desk,
) -> None:
    await desk.slack.act("command", user="U0BOB", channel="C0REFUNDS", command="/refund", text=" ")
    view = await window(desk, "U0BOB", "Order", "Amount")
    values = {field(view, "Order"): "A-2231", field(view, "Why"): "late"}
    values[field(view, "Amount")] = "900"
    answer = await desk.slack.submit("U0BOB", values, force=True)
    assert answer["response_action"] == "errors"
    assert list(answer["errors"]) == [field(view, "Amount")]
    assert desk.slack.views("U0BOB")
    assert await refused(desk) == [("U0BOB", "bad_input")]
    values[field(view, "Amount")] = "90"
    assert (await desk.slack.submit("U0BOB", values))["response_action"] is None
    (thread,) = await started(desk)
    assert json.loads((await start_row(desk, thread.id))["input"])["amount"] == 90


async def test_two_submissions_of_one_window_and_two_windows_of_one_draft_start_one_thread(
    desk: Desk,
) -> None:
    await desk.slack.message("U0BOB", "C0REFUNDS", "The lamp came late")
    await offer(desk, "C0REFUNDS")
    await desk.slack.click("U0BOB", channel="C0REFUNDS", label="Fill in the request")
    first = await window(desk, "U0BOB", "Order", "Amount")
    values = {field(first, name.capitalize()): value for name, value in FILLED.items()}
    answers = await asyncio.gather(
        *(desk.slack.submit("U0BOB", values, view_id=first["id"]) for _ in range(3)),
        return_exceptions=True,
    )
    assert {one["response_action"] for one in answers if isinstance(one, dict)} == {None}
    assert len(await started(desk)) == 1
    # Another window of the same draft, as on a second device: it is told, nothing more starts.
    other = {**first, "id": "V0OTHER", "state": {"values": typed(first, values)}}
    status, body = await submission(desk, "U0BOB", other)
    assert (status, "sent already" in body) == (200, True)
    # The button was pressed before the message was brought up to date.
    ours = [one for one in desk.slack.messages("C0REFUNDS") if one["user"] == "U0SAYSO"]
    await desk.slack.click("U0BOB", channel="C0REFUNDS", ts=ours[0]["ts"], action_id="start:refund")
    await told(desk, "U0BOB", "sent already")
    assert len(await threads.list_(desk.database)) == 1


async def test_only_who_was_offered_it_goes_on_with_it(desk: Desk) -> None:
    await desk.slack.message("U0BOB", "C0REFUNDS", "The lamp came late")
    await offer(desk, "C0REFUNDS")
    for user in ("U0ALICE", "U0STRANGER"):
        await desk.slack.click(user, channel="C0REFUNDS", label="Fill in the request")
        await told(desk, user, "offered to somebody else")
    assert await refused(desk) == [("U0STRANGER", "not_theirs"), ("U0ALICE", "not_theirs")]

    # Bob has left by the time he sends it.
    await desk.slack.click("U0BOB", channel="C0REFUNDS", label="Fill in the request")
    await window(desk, "U0BOB", "Order", "Amount")
    await desk.slack.act("person", user="U0BOB", deleted=True)

    async def known() -> bool:
        return await desk.database.fetchval(
            "select fetched_at < '2000-01-01' from sayso.people where id = 'U0BOB'"
        )

    await until("the change", known)
    answer = await filled(desk, "U0BOB")
    assert answer["response_action"] == "update"
    assert "You cannot start the refund desk here" in str(desk.slack.views("U0BOB"))
    assert (await refused(desk))[0] == ("U0BOB", "deactivated")
    assert await threads.list_(desk.database) == []


async def test_a_mention_with_several_graphs_offers_what_this_person_can_ask_for(
    desk: Desk,
) -> None:
    sent = await desk.slack.message("U0BOB", "C0CREDIT", "<@U0SAYSO> The lamp came late")
    shown = await offer(desk, "C0CREDIT")
    assert shown["thread_ts"] == sent["ts"]
    assert labels(shown) == ["Ask for a refund", "Take a note", "Talk process"]
    # Words are enough for a note: it starts at once, with what was written.
    await desk.slack.click("U0BOB", channel="C0CREDIT", label="Take a note")
    (thread,) = await started(desk, graph="note")
    body = await start_row(desk, thread.id)
    assert body["message"]["text"] == "The lamp came late"
    await desk.post_all()
    replies = [one for one in desk.slack.messages("C0CREDIT") if one["user"] == "U0SAYSO"]
    assert {one["thread_ts"] for one in replies} == {sent["ts"]}


async def test_an_empty_direct_message_offers_them_too_and_asks_for_words(desk: Desk) -> None:
    await desk.slack.message("U0ERIN", "D0ERIN", "<@U0SAYSO>")
    shown = await offer(desk, "D0ERIN")
    assert "Secret process" in labels(shown)
    await desk.slack.click("U0ERIN", channel="D0ERIN", label="Take a note")
    view = await window(desk, "U0ERIN", "What do you need?")
    await desk.slack.submit("U0ERIN", {field(view, "What do you need?"): "Buy a lamp"})
    (thread,) = await started(desk)
    assert (await start_row(desk, thread.id))["message"]["text"] == "Buy a lamp"
    assert thread.requester == "U0ERIN"


async def test_the_command_of_a_form_takes_a_json_object_that_fits_and_says_what_does_not(
    desk: Desk,
) -> None:
    async def command(text: str) -> None:
        await desk.slack.act(
            "command", user="U0BOB", channel="C0REFUNDS", command="/refund", text=text
        )

    await command('{"order": "A-1", "amount": "much", "why": "late"}')
    await told(desk, "U0BOB", "nothing was started")
    assert await refused(desk) == [("U0BOB", "bad_input")]
    await command('{"order": "A-1", "amount": 3, "why": "late"}')
    (thread,) = await started(desk)
    body = await start_row(desk, thread.id)
    assert json.loads(body["input"]) == {
        "order": "A-1", "amount": 3, "why": "late", "documents": []
    }  # fmt: skip
    await command("The lamp came late")
    view = await window(desk, "U0BOB", "Order")
    words = field(view, "In your words")
    assert view["state"]["values"][words]["value"]["value"] == "The lamp came late"


async def test_the_shortcut_of_a_message_lets_choose_and_starts_under_that_message(
    desk: Desk,
) -> None:
    sent = await desk.slack.message("U0ALICE", "C0CREDIT", "A lamp is broken", files=[FILE])
    pressed = await desk.slack.act(
        "shortcut", user="U0BOB", callback_id="ask_sayso", channel="C0CREDIT", ts=sent["ts"]
    )
    assert pressed["status"] == 200
    view = await window(desk, "U0BOB", "What do you want to ask for?")
    options = view["blocks"][0]["element"]["options"]
    assert [one["text"]["text"] for one in options] == ["Ask for a refund", "Take a note"]
    await desk.slack.submit("U0BOB", {"graph": "note"})
    (thread,) = await started(desk)
    body = await start_row(desk, thread.id)
    assert (thread.requester, body["message"]["sender"]) == ("U0BOB", "U0ALICE")
    assert body["message"]["text"] == "A lamp is broken"
    assert [file["name"] for file in body["message"]["files"]] == ["quote.txt"]
    await desk.post_all()
    (progress,) = [one for one in desk.slack.messages("C0CREDIT") if one["user"] == "U0SAYSO"]
    assert progress["thread_ts"] == sent["ts"]

    # A second request about the same message is talked about in private.
    await desk.slack.act(
        "shortcut", user="U0BOB", callback_id="ask_sayso", channel="C0CREDIT", ts=sent["ts"]
    )
    await window(desk, "U0BOB", "What do you want to ask for?")
    await desk.slack.submit("U0BOB", {"graph": "refund"})
    await filled(desk, "U0BOB")
    await started(desk, 2)
    await desk.post_all()
    assert desk.slack.messages("D0BOB")


async def test_a_shortcut_of_one_graph_starts_at_once_where_we_can_write_or_in_private(
    desk: Desk,
) -> None:
    await desk.slack.act("channel", channel="C0PRIVATE", is_private=True, members=["U0BOB"])
    sent = await desk.slack.message("U0BOB", "C0PRIVATE", "A lamp is broken")
    await desk.slack.act(
        "shortcut", user="U0BOB", callback_id="ask_sayso:note", channel="C0PRIVATE", ts=sent["ts"]
    )
    (thread,) = await started(desk)
    await desk.post_all()
    (progress,) = desk.slack.messages("D0BOB")
    assert progress["thread_ts"] in {None, progress["ts"]}
    assert len(desk.slack.messages("C0PRIVATE")) == 1
    assert thread.graph == "note"


async def test_who_may_not_start_is_told_at_the_shortcut_and_recorded(desk: Desk) -> None:
    sent = await desk.slack.message("U0ALICE", "C0CREDIT", "A lamp is broken")
    for user, callback, why in (
        ("U0STRANGER", "ask_sayso:note", "other_organisation"),
        ("U0GUEST", "ask_sayso:note", "guest"),
        ("U0GONE", "ask_sayso:note", "deactivated"),
        ("U0BOB", "ask_sayso:secret", "not_allowed"),
        ("U0BOB", "ask_sayso:nobody", "no_graph"),
    ):
        await desk.slack.act(
            "shortcut", user=user, callback_id=callback, channel="C0CREDIT", ts=sent["ts"]
        )
        assert (await refused(desk))[0] == (user, why)
    for user in ("U0STRANGER", "U0GUEST", "U0BOB"):
        await told(desk, user, "Nothing was started")
    await desk.slack.act(
        "shortcut", user="U0GUEST", callback_id="ask_sayso", channel="C0CREDIT", ts=sent["ts"]
    )
    await window(desk, "U0GUEST", "You cannot start")
    assert await threads.list_(desk.database) == []


async def test_a_message_of_a_form_graph_that_is_a_json_object_starts_it(desk: Desk) -> None:
    await desk.slack.message(
        "U0BOB", "C0REFUNDS", '{"order": "A-1", "amount": 3, "why": "late"}', files=[FILE]
    )
    (thread,) = await started(desk)
    body = await start_row(desk, thread.id)
    assert json.loads(body["input"])["order"] == "A-1"
    assert body["message"]["files"]
    await desk.slack.message("U0BOB", "C0REFUNDS", '{"order": "A-1"}')
    shown = await offer(desk, "C0REFUNDS")
    assert "lacks amount" in str(shown["blocks"])
    assert await refused(desk) == [("U0BOB", "bad_input")]


async def test_a_graph_that_cannot_be_loaded_stops_no_other_and_takes_words(desk: Desk) -> None:
    await desk.slack.message("U0BOB", "C0LOANS", "Buy a lamp")
    (thread,) = await started(desk)
    assert thread.graph == "note"


async def test_a_reply_that_cancels_is_told_so_and_the_click_too(desk: Desk) -> None:
    sent = await desk.slack.message("U0BOB", "C0CONTENT", "Write about lamps")
    (thread,) = await started(desk)
    review_id = await desk.review(thread.id)
    await desk.slack.message("U0BOB", "C0CONTENT", "About chairs", thread_ts=sent["ts"])

    async def said() -> bool:
        await desk.post_all()
        return "withdrawn for it" in str(desk.slack.messages("C0CONTENT"))

    await until("the word", said)
    (entry,) = await desk.audit("thread.said")
    assert entry["withdrew"] == [review_id]
    card = await desk.card()
    assert "Withdrawn" in str(card["blocks"])


async def test_a_kept_message_says_for_how_many_it_waits(desk: Desk) -> None:
    sent = await desk.slack.message("U0BOB", "C0LOANS", "Buy a lamp")
    (thread,) = await started(desk)
    await desk.review(thread.id)
    await desk.review(thread.id)
    reply = await desk.slack.message(
        "U0BOB", "C0LOANS", "A red one", thread_ts=sent["ts"], files=[FILE]
    )
    assert reply["ok"]

    async def said() -> bool:
        await desk.post_all()
        return "still waiting for 2 answers" in str(desk.slack.messages("C0LOANS"))

    await until("the word", said)
    (_, kept) = await threads.messages(desk.database, thread.id)
    assert [file.name for file in kept.files] == ["quote.txt"]
