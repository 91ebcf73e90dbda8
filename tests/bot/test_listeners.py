"""What people write becomes threads and words, once, and only by those who may."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from bot.wishes import Wishes
from graphs import mailbox, reviews, threads
from graphs.reviews import Asked
from tests.bot.conftest import Desk, until
from tests.bot.test_web import FORM, post, signed

REQUEST = "Loan for Asha Traders, 60000 for a van"


async def delivered(desk: Desk, number: int) -> list[dict[str, Any]]:
    """The deliveries, once so many have been answered."""

    def look() -> list[dict[str, Any]]:
        answered = [one for one in desk.slack.deliveries if one.get("status") is not None]
        return answered if len(answered) >= number else []

    return list(await until(f"{number} deliveries", look))


async def test_a_message_in_the_graphs_channel_starts_a_thread_with_its_conversation(
    desk: Desk,
) -> None:
    sent = await desk.slack.message("U0BOB", "C0LOANS", "Loan for Asha & Co, 60000 for a <van>")

    found = await until("a thread", lambda: threads.list_(desk.database))
    assert [thread.requester for thread in found] == ["U0BOB"]
    rows = await mailbox.waiting(desk.database, found[0].id)
    assert rows[0].body["message"]["text"] == "Loan for Asha & Co, 60000 for a <van>"
    await desk.post_all()
    progress = [one for one in desk.slack.messages("C0LOANS") if one["user"] == "U0SAYSO"]
    assert [one["thread_ts"] for one in progress] == [sent["ts"]]


async def test_a_mention_that_comes_as_two_events_and_again_is_one_thread(desk: Desk) -> None:
    await desk.slack.misbehave(redeliver=2)
    await desk.slack.message("U0BOB", "C0LOANS", f"<@U0SAYSO> {REQUEST}")

    answered = await delivered(desk, 6)
    assert {one["status"] for one in answered} == {200}
    (thread,) = await threads.list_(desk.database)
    rows = await mailbox.waiting(desk.database, thread.id)
    assert [row.body["message"]["text"] for row in rows] == [REQUEST]


async def test_files_are_named_and_not_fetched_by_the_web_process(desk: Desk) -> None:
    files = [{"name": "note.txt", "text": "Average income 31,400 a month."}]
    await desk.slack.message("U0BOB", "C0LOANS", REQUEST, files=files)

    (thread,) = await until("a thread", lambda: threads.list_(desk.database))
    (row,) = await mailbox.waiting(desk.database, thread.id)
    (file,) = row.body["message"]["files"]
    assert (file["name"], file["size"]) == ("note.txt", 30)
    assert file["url"].startswith(f"{desk.slack.url}/files/")


async def test_talk_in_another_channel_starts_nothing(desk: Desk) -> None:
    await desk.slack.message("U0BOB", "C0CREDIT", REQUEST)
    await delivered(desk, 1)
    assert await threads.list_(desk.database) == []


async def test_people_talking_under_a_message_that_is_not_ours_start_nothing(desk: Desk) -> None:
    sent = await desk.slack.message("U0BOB", "C0CREDIT", "Lunch?")
    await desk.slack.message("U0ALICE", "C0CREDIT", REQUEST, thread_ts=sent["ts"])
    await delivered(desk, 2)
    assert await threads.list_(desk.database) == []


async def test_a_stranger_is_refused_privately_once_and_recorded(desk: Desk) -> None:
    await desk.slack.message("U0STRANGER", "C0LOANS", f"<@U0SAYSO> {REQUEST}")

    (told,) = await until("a word", lambda: desk.slack.private_messages("U0STRANGER"))
    assert "Nothing was started" in str(told["blocks"])
    await delivered(desk, 2)
    (entry,) = await desk.audit("start.refused")
    assert (entry["actor"], entry["why"]) == ("U0STRANGER", "other_organisation")
    assert await threads.list_(desk.database) == []


async def test_a_guest_may_not_start_where_no_starters_are_named(desk: Desk) -> None:
    await desk.slack.message("U0GUEST", "C0LOANS", REQUEST)
    await until("a word", lambda: desk.slack.private_messages("U0GUEST"))
    assert await threads.list_(desk.database) == []


async def test_a_message_whose_sender_slack_cannot_name_in_time_is_taken_at_the_redelivery(
    desk: Desk,
) -> None:
    await desk.slack.misbehave(users_info_ms=2_000)
    await desk.slack.message("U0BOB", "C0LOANS", REQUEST)

    await until("a thread", lambda: threads.list_(desk.database))
    assert desk.slack.deliveries[0]["status"] == 503
    assert desk.slack.private_messages("U0BOB") == []


async def test_a_reply_of_the_requester_answers_the_question_that_is_open_for_them(
    desk: Desk,
) -> None:
    thread_id = await desk.thread()
    (first,) = [one for one in desk.slack.messages("C0LOANS") if one["user"] == "U0BOB"]
    asked = Asked(
        interrupt_id="a" * 32,
        node="ask_requester",
        checkpoint_id="1",
        question={"question": "How much should the loan be?"},
        hash="0" * 64,
    )
    async with desk.database.transaction() as connection:
        put = await reviews.put(
            connection,
            thread_id=thread_id,
            graph="loan",
            asked=asked,
            audience="requester",
            rule_for=lambda _: None,
        )
    assert put is not None

    await desk.slack.message("U0ALICE", "C0LOANS", "60000?", thread_ts=first["ts"])
    await desk.slack.message("U0BOB", "C0LOANS", "60000", thread_ts=first["ts"])

    async def answered() -> bool:
        return (await reviews.get(desk.database, put.review_id)).status == "decided"

    await until("the answer", answered)
    waiting = await mailbox.waiting(desk.database, thread_id)
    assert [row.body["message"]["text"] for row in waiting if row.kind == "answer"] == ["60000"]


async def test_a_reply_while_others_decide_is_kept_and_says_so(desk: Desk) -> None:
    thread_id = await desk.thread()
    await desk.review(thread_id)
    (first,) = [one for one in desk.slack.messages("C0LOANS") if one["user"] == "U0BOB"]
    await desk.slack.message("U0BOB", "C0LOANS", "It is a good van", thread_ts=first["ts"])

    async def said() -> bool:
        await desk.post_all()
        return "message is kept" in str(desk.slack.messages("C0LOANS"))

    await until("the word that it is kept", said)
    assert [one.text for one in await threads.messages(desk.database, thread_id)][-1] == (
        "It is a good van"
    )


async def test_an_edit_changes_nothing_and_says_so(desk: Desk) -> None:
    thread_id = await desk.thread()
    (first,) = [one for one in desk.slack.messages("C0LOANS") if one["user"] == "U0BOB"]
    await desk.slack.act(
        "edit", user="U0BOB", channel="C0LOANS", ts=first["ts"], text="Loan of 40000"
    )

    async def said() -> bool:
        await desk.post_all()
        return "as you first sent it" in str(desk.slack.messages("C0LOANS"))

    await until("the word on the edit", said)
    assert len(await threads.messages(desk.database, thread_id)) == 1
    assert [entry["actor"] for entry in await desk.audit("message.edited")] == ["U0BOB"]


async def test_the_command_starts_a_thread_whose_conversation_is_its_progress_message(
    desk: Desk,
) -> None:
    await desk.slack.act(
        "command", user="U0BOB", channel="C0LOANS", command="/loan", text="Asha, 60000 for a van"
    )
    (thread,) = await threads.list_(desk.database)
    await desk.post_all()
    (progress,) = desk.slack.messages("C0LOANS")
    assert progress["thread_ts"] in {None, progress["ts"]}

    await desk.slack.message("U0BOB", "C0LOANS", "And soon", thread_ts=progress["ts"])

    async def heard() -> bool:
        said = await threads.messages(desk.database, thread.id)
        return [one.text for one in said] == ["Asha, 60000 for a van", "And soon"]

    await until("the reply", heard)


async def test_a_command_from_elsewhere_talks_in_direct_messages_and_keeps_to_one_message(
    desk: Desk,
) -> None:
    await desk.slack.act(
        "command", user="U0BOB", channel="C0OPS", command="/loan", text="Asha, 60000 for a van"
    )
    (thread,) = await threads.list_(desk.database)
    await desk.post_all()
    (progress,) = desk.slack.messages("D0BOB")
    wishes = Wishes(desk.present)
    async with desk.database.transaction() as connection:
        await wishes(connection, "progress", thread.id)
    await desk.database.execute("update sayso.posts set due_at = now()")
    await desk.post_all()
    assert [one["ts"] for one in desk.slack.messages("D0BOB")] == [progress["ts"]]


async def test_an_empty_command_is_answered_with_how_to_write_it(desk: Desk) -> None:
    await desk.slack.act("command", user="U0BOB", channel="C0LOANS", command="/loan", text=" ")
    (told,) = await until("the help", lambda: desk.slack.private_messages("U0BOB"))
    assert "/loan" in str(told["blocks"])
    assert await threads.list_(desk.database) == []


async def test_our_own_messages_start_nothing(desk: Desk) -> None:
    await desk.client.call("chat.postMessage", channel="C0LOANS", text=REQUEST)
    await delivered(desk, 1)
    assert await threads.list_(desk.database) == []


async def test_ten_messages_at_once_are_ten_threads(desk: Desk) -> None:
    await asyncio.gather(
        *(desk.slack.message("U0BOB", "C0LOANS", f"{REQUEST} {number}") for number in range(10))
    )

    async def started() -> bool:
        return len(await threads.list_(desk.database)) == 10

    await until("ten threads", started)


async def event(desk: Desk, number: int = 0, **said: Any) -> int:
    """Deliver a message of #loans by hand, the number-th time; the status it was answered with."""
    body = json.dumps(
        {"type": "event_callback", "team_id": "T0SAYSO", "api_app_id": "A0SAYSO",
         "event_id": f"Ev{said['ts']}",
         "event": {"type": "message", "user": "U0ERIN", "channel": "C0LOANS", **said}}
    ).encode()  # fmt: skip
    retried = {"X-Slack-Retry-Num": str(number)} if number else {}
    return (await post(desk, body, signed(body) | retried))[0]


async def test_a_reply_that_overtakes_its_start_waits_for_it(desk: Desk) -> None:
    start = {"ts": "1800000000.000001", "text": REQUEST}
    file = {"id": "F1", "name": "a.txt", "size": 3, "url_private": f"{desk.slack.url}/files/a"}
    reply = {
        "ts": "1800000001.000001",
        "thread_ts": start["ts"],
        "text": "Here is the statement",
        "subtype": "file_share",
        "files": [file],
    }
    await desk.slack.misbehave(users_info_ms=2_000)
    assert await event(desk, **start) == 503
    assert await event(desk, **reply) == 503
    mention = {**reply, "type": "app_mention", "ts": "1800000002.000001"}
    assert await event(desk, **mention) == 503
    await desk.slack.misbehave(reset=True)

    async def started() -> bool:
        return await event(desk, 1, **start) == 200

    await until("the start", started)
    assert await event(desk, 1, **reply) == 200
    (thread,) = await threads.list_(desk.database)
    said = await threads.messages(desk.database, thread.id)
    assert [one.text for one in said] == [REQUEST, "Here is the statement"]
    assert [one.id for one in said[1].files] == ["F1"]
    assert await desk.database.fetchval("select count(*) from sayso.put_off_starts") == 0


async def test_a_reply_does_not_wait_for_ever_for_a_start_that_never_comes(desk: Desk) -> None:
    await desk.slack.misbehave(users_info_ms=2_000)
    assert await event(desk, ts="1800000000.000001", text=REQUEST) == 503
    reply = {"ts": "1800000001.000001", "thread_ts": "1800000000.000001", "text": "And?"}
    assert await event(desk, 3, **reply) == 200
    await desk.database.execute("update sayso.put_off_starts set put_off_at = '2020-01-01'")
    assert await event(desk, **reply) == 200
    assert await threads.list_(desk.database) == []


async def test_of_two_who_mention_us_at_once_in_one_conversation_one_asks_and_one_is_told(
    desk: Desk,
) -> None:
    for number in range(4):
        root = await desk.slack.message("U0ALICE", "C0CREDIT", f"Lunch {number}?")
        await asyncio.gather(
            *(
                desk.slack.message(user, "C0CREDIT", f"<@U0SAYSO> {REQUEST}", thread_ts=root["ts"])
                for user in ("U0BOB", "U0CHARLIE")
            )
        )

        async def told(number: int = number) -> bool:
            return len(await desk.audit("start.refused")) == number + 1

        await until("the word to the second", told)
        found = await threads.list_(desk.database)
        assert len(found) == number + 1
        conversations = await desk.database.fetch("select thread_id from sayso.conversations")
        assert {row["thread_id"] for row in conversations} == {one.id for one in found}
        entry = (await desk.audit("start.refused"))[0]
        assert entry["why"] == "not_their_conversation"
        assert {entry["actor"], found[0].requester} == {"U0BOB", "U0CHARLIE"}

    async def heard() -> int:
        words = [*desk.slack.private_messages("U0BOB"), *desk.slack.private_messages("U0CHARLIE")]
        return len([one for one in words if "somebody else's request" in str(one["blocks"])]) == 4

    await until("four private words", heard)


async def test_two_mentions_of_one_person_at_once_are_a_request_and_its_reply(desk: Desk) -> None:
    root = await desk.slack.message("U0ALICE", "C0CREDIT", "Lunch?")
    await asyncio.gather(
        *(
            desk.slack.message(
                "U0BOB", "C0CREDIT", f"<@U0SAYSO> {REQUEST} {number}", thread_ts=root["ts"]
            )
            for number in range(2)
        )
    )

    async def both() -> bool:
        found = await threads.list_(desk.database)
        return bool(found) and len(await threads.messages(desk.database, found[0].id)) == 2

    await until("both messages", both)
    assert len(await threads.list_(desk.database)) == 1


async def test_a_command_of_another_organisation_is_refused_privately(desk: Desk) -> None:
    await desk.slack.misbehave(users_info_ms=2_000)  # no look-up is needed to know
    await desk.slack.act(
        "command", user="U0STRANGER", channel="C0LOANS", command="/loan", text="Asha, 60000"
    )
    (told,) = await until("a word", lambda: desk.slack.private_messages("U0STRANGER"))
    assert "Nothing was started" in str(told["blocks"])
    (entry,) = await desk.audit("start.refused")
    assert (entry["actor"], entry["why"]) == ("U0STRANGER", "other_organisation")


async def test_a_command_with_a_nul_in_its_text_starts_a_thread(desk: Desk) -> None:
    body = (
        b"command=%2Floan&text=Asha%2C+60000+for+a+van%00&user_id=U0BOB&channel_id=C0LOANS"
        b"&team_id=T0SAYSO&trigger_id=1.2%00"
    )
    assert (await post(desk, body, signed(body) | {"Content-Type": FORM}))[0] == 200
    (thread,) = await threads.list_(desk.database)
    (said,) = await threads.messages(desk.database, thread.id)
    assert said.text == "Asha, 60000 for a van"


async def test_an_empty_mention_offers_everything_that_can_be_asked_for(desk: Desk) -> None:
    await desk.slack.message("U0BOB", "C0CREDIT", "<@U0SAYSO> ")

    async def offered() -> str:
        await desk.post_all()
        ours = [one for one in desk.slack.messages("C0CREDIT") if one["user"] == "U0SAYSO"]
        return str(ours[0]["blocks"]) if ours else ""

    shown = await until("the offer", offered)
    for spec in desk.settings.configuration.graphs.values():
        assert str(spec.shortcut) in shown
    assert await threads.list_(desk.database) == []
