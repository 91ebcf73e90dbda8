"""Questions to the requester, comments, and who looks at it, as people press and write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from bot import posts, speaking
from bot.wishes import Wishes
from graphs import exchanges, interventions, mailbox, reviews, threads
from tests.bot.conftest import Desk, until
from tests.bot.test_clicks import told, window
from tests.bot.test_commands import Terminal
from tests.bot.test_listeners import delivered


async def shown(desk: Desk) -> reviews.Review:
    """A review with its card, and the progress message in the conversation."""
    review = await reviews.get(desk.database, await desk.review())
    async with desk.database.transaction() as connection:
        await posts.again(connection, posts.PROGRESS, review.thread_id)
    await desk.post_all()
    return review


async def press(desk: Desk, user: str, label: str, channel: str = "C0CREDIT", **more: Any) -> None:
    answer = await desk.slack.click(user, channel=channel, label=label, **more)
    assert answer["status"] == 200


async def write(desk: Desk, user: str, label: str, text: str, submit: str) -> dict[str, Any]:
    """Choose something in the card's menu, and submit the window that it opens."""
    await press(desk, user, label)
    await window(desk, user, submit)
    return dict(await desk.slack.submit(user, {"words": text}))


async def ask(desk: Desk, user: str, text: str) -> None:
    answer = await write(desk, user, "Ask Bob a question", text, "Question")
    assert answer["status"] == 200
    assert desk.slack.views(user) == []
    await now(desk)


async def reply(desk: Desk, text: str, **more: Any) -> None:
    """Bob writes in his conversation, and is told what became of it."""
    count = "select count(*) from sayso.posts where kind = 'kept'"
    before = await desk.database.fetchval(count)
    root = desk.slack.messages("C0LOANS")[0]["ts"]
    await desk.slack.message("U0BOB", "C0LOANS", text, thread_ts=root, **more)

    async def told_of() -> bool:
        return bool(await desk.database.fetchval(count) > before)

    await until("a word on what became of it", told_of)
    await now(desk)


async def now(desk: Desk) -> None:
    """Send all that is wanted, the progress message before its pace as well."""
    await desk.database.execute("update sayso.posts set due_at = now() where kind = 'progress'")
    await desk.post_all()


def card(desk: Desk) -> str:
    return str(desk.slack.messages("C0CREDIT")[0]["blocks"])


def said_to_bob(desk: Desk) -> list[str]:
    """What the app says in Bob's conversation."""
    return [str(one) for one in desk.slack.messages("C0LOANS") if one["user"] == "U0SAYSO"]


def exchanged(desk: Desk) -> Any:
    return desk.database.fetch("select * from sayso.exchanges order by id")


async def test_alice_asks_bob_answers_in_his_conversation_and_the_card_shows_both(
    desk: Desk,
) -> None:
    review = await shown(desk)
    await ask(desk, "U0ALICE", "Is the van *ordered* already?")
    assert "Is the van *ordered* already?" in card(desk)
    assert "Not answered yet." in card(desk)
    progress, question = said_to_bob(desk)
    assert "asks you something" in progress
    assert "<@U0BOB>" in question
    assert "Or just write here." in question

    taken = len(await mailbox.waiting(desk.database, review.thread_id))
    files = [{"name": "van-quote.pdf", "text": "58,900 on the road"}]
    await reply(desk, "No. The dealer <holds> it & waits.", files=files)
    assert "No. The dealer <holds> it & waits." in card(desk)
    assert "van-quote.pdf" in card(desk)
    progress, question, kept = said_to_bob(desk)
    assert "asks you something" not in progress
    assert "Answered" in question
    assert "'Answer'" not in question
    number = (await threads.get(desk.database, review.thread_id)).number
    assert f"Your answer is on the card of Request {number}. Alice has been told." in kept
    (direct,) = desk.slack.messages("D0ALICE")
    assert "No. The dealer <holds> it & waits." in str(direct["blocks"])
    assert "Open the card" in str(direct["blocks"])
    # It is the graph's neither as a turn nor as something that is kept, and nothing was decided.
    assert len(await mailbox.waiting(desk.database, review.thread_id)) == taken
    assert "message is kept" not in kept
    await reply(desk, "By the way, it is blue.")
    assert "Your message is kept." in said_to_bob(desk)[-1]
    await press(desk, "U0ALICE", "Approve")
    assert (await reviews.get(desk.database, review.id)).outcome == "approved"


async def test_one_of_two_questions_is_answered_by_its_button_and_only_by_bob(desk: Desk) -> None:
    review = await shown(desk)
    await ask(desk, "U0ALICE", "Is it ordered?")
    await ask(desk, "U0DANA", "Who drives it?")
    first, second = desk.slack.messages("C0LOANS")[-2:]
    assert "Or just write here." in str(first)
    assert "answers the question before it" in str(second)

    await press(desk, "U0CHARLIE", "Answer", "C0LOANS", ts=second["ts"])
    await window(desk, "U0CHARLIE", "This question was not put to you.")
    await press(desk, "U0BOB", "Answer", "C0LOANS", ts=second["ts"])
    await window(desk, "U0BOB", "Who drives it?", "Your answer")
    await desk.slack.submit("U0BOB", {"words": "I do."})
    await desk.post_all()
    found = await exchanges.of_review(desk.database, review.id)
    assert [one.answer for one in found] == [None, "I do."]
    assert [one["user"] for one in desk.slack.messages("D0DANA")] == ["U0SAYSO"]
    assert await desk.audit("answer.refused") == [
        {
            "via": "slack", "os_user": None, "name": "Charlie", "why": "not_allowed",
            "actor": "U0CHARLIE",
        }
    ]  # fmt: skip
    # A button that a slow window still shows is told the truth.
    await press(desk, "U0BOB", "Answer", "C0LOANS", ts=second["ts"])
    await window(desk, "U0BOB", "This question is answered already.")


async def test_who_has_no_conversation_is_asked_in_direct_messages_and_answers_by_the_button(
    desk: Desk,
) -> None:
    review = await shown(desk)
    await desk.database.execute("delete from sayso.conversations")
    await desk.database.execute("delete from sayso.posts where kind = 'progress'")
    await ask(desk, "U0ALICE", "Is it ordered?")
    (question,) = desk.slack.messages("D0BOB")
    assert "just write here" not in str(question)
    await press(desk, "U0BOB", "Answer", "D0BOB")
    await window(desk, "U0BOB", "Your answer")
    await desk.slack.submit("U0BOB", {"words": "Not yet."})
    assert (await exchanges.of_review(desk.database, review.id))[0].answer == "Not yet."


async def test_a_question_is_not_needed_any_more_once_its_request_is_closed(desk: Desk) -> None:
    review = await shown(desk)
    await ask(desk, "U0ALICE", "Is it ordered?")
    question = desk.slack.messages("C0LOANS")[-1]
    await press(desk, "U0BOB", "Answer", "C0LOANS", ts=question["ts"])
    await window(desk, "U0BOB", "Your answer")
    await press(desk, "U0DANA", "Approve")
    await desk.post_all()
    assert "This question is not needed any more." in said_to_bob(desk)[1]
    await desk.slack.submit("U0BOB", {"words": "It is, since Monday."})
    told_ = await window(desk, "U0BOB", "Nothing was changed", "It is, since Monday.")
    assert "not needed any more" in str(told_)
    assert (await exchanges.of_review(desk.database, review.id))[0].answer is None
    assert "Is it ordered?" not in card(desk)  # it is under Details now
    await press(desk, "U0DANA", "Details")
    await window(desk, "U0DANA", "Questions and comments", "Is it ordered?")


async def test_who_has_no_say_may_not_ask_and_is_told_before_writing(desk: Desk) -> None:
    await shown(desk)
    for user, label, verb in (
        ("U0CHARLIE", "Ask Bob a question", "question"),
        ("U0CHARLIE", "Add a comment", "comment"),
        ("U0BOB", "Ask Bob a question", "question"),
    ):
        await press(desk, user, label)
        await window(desk, user, "Nothing was changed.", "You cannot")
        await desk.slack.act("close", user=user)
        assert (await desk.audit(f"{verb}.refused"))[0]["actor"] == user
    await press(desk, "U0CHARLIE", "I will look at it")
    assert "You cannot take this loan on." in await told(desk, "U0CHARLIE")
    assert [one["why"] for one in await desk.audit("take.refused")] == ["not_allowed"]
    await press(desk, "U0STRANGER", "Add a comment")
    assert "You cannot comment on this loan." in await told(desk, "U0STRANGER")
    assert await exchanged(desk) == []


async def test_a_comment_stands_on_the_card_and_the_newest_three_only(desk: Desk) -> None:
    await shown(desk)
    empty = await write(desk, "U0ALICE", "Add a comment", "  ", "Comment")
    assert empty["errors"] == {"words": "Write a few words here."}
    await desk.slack.act("close", user="U0ALICE")
    for number in range(4):
        answer = await write(
            desk, "U0BOB" if number else "U0DANA", "Add a comment", f"Note {number}", "Comment"
        )
        assert answer["status"] == 200
    await desk.post_all()
    assert "Note 0" not in card(desk)
    assert all(f"Note {number}" in card(desk) for number in (1, 2, 3))
    assert "and 1 more under Details" in card(desk)
    await press(desk, "U0ALICE", "Show the history")
    await window(desk, "U0ALICE", "commented: Note 0")


async def test_what_comes_again_is_said_once(desk: Desk) -> None:
    review = await shown(desk)
    await desk.slack.misbehave(redeliver_interactions=2, redeliver=2)
    await ask(desk, "U0ALICE", "Is it ordered?")
    await write(desk, "U0ALICE", "Add a comment", "Hm.", "Comment")
    await press(desk, "U0DANA", "I will look at it")
    await press(desk, "U0DANA", "Add a comment")  # and nothing was whispered to her before
    await window(desk, "U0DANA", "Comment")
    assert "looking at this loan already" not in str(desk.slack.private_messages("U0DANA"))
    before = len([one for one in desk.slack.deliveries if one.get("status")])
    await reply(desk, "No.")
    await delivered(desk, before + 3)
    found = [(one.said, one.answer) for one in await exchanges.of_review(desk.database, review.id)]
    assert found == [("Is it ordered?", "No."), ("Hm.", None)]
    assert await desk.database.fetchval("select count(*) from sayso.takings") == 1
    assert len(desk.slack.messages("D0ALICE")) == 1
    assert [len(await desk.audit(f"review.{what}")) for what in (
        "asked_requester", "requester_answered", "commented", "taken"
    )] == [1, 1, 1, 1]  # fmt: skip


async def test_what_was_said_its_delivery_and_its_wishes_are_kept_together_or_not_at_all(
    desk: Desk, database_url: str
) -> None:
    review = await shown(desk)
    owner = await asyncpg.connect(database_url)
    await press(desk, "U0ALICE", "Ask Bob a question")
    await window(desk, "U0ALICE", "Question")
    refuses = "alter table sayso.posts add constraint none check (kind <> $$%s$$) not valid"
    accepts = "alter table sayso.posts drop constraint none"
    await owner.execute(refuses % "question")
    failed = await desk.slack.submit("U0ALICE", {"words": "Is it ordered?"})
    assert failed["status"] != 200
    assert await exchanged(desk) == []
    assert await desk.audit("review.asked_requester") == []
    await owner.execute(accepts)
    again = await desk.slack.submit("U0ALICE", {"words": "Is it ordered?"})
    assert again["status"] == 200

    await desk.post_all()
    await press(desk, "U0BOB", "Answer", "C0LOANS")
    await window(desk, "U0BOB", "Your answer")
    await owner.execute(refuses % "answered")
    assert (await desk.slack.submit("U0BOB", {"words": "No."}))["status"] != 200
    assert (await exchanges.of_review(desk.database, review.id))[0].answer is None
    await owner.execute(accepts)
    assert (await desk.slack.submit("U0BOB", {"words": "No."}))["status"] == 200
    assert (await exchanges.of_review(desk.database, review.id))[0].answer == "No."
    assert len(await desk.audit("review.requester_answered")) == 1
    await owner.close()


async def test_dana_looks_at_it_alice_takes_it_and_dana_is_told(desk: Desk) -> None:
    review = await shown(desk)
    await press(desk, "U0DANA", "I will look at it")
    await desk.post_all()
    assert " is looking at it." in card(desk)
    await press(desk, "U0DANA", "Take it from Dana")
    assert "looking at this loan already" in await told(desk, "U0DANA")
    await press(desk, "U0ALICE", "Give it back")
    assert "cannot give it back" in await told(desk, "U0ALICE")
    await press(desk, "U0ALICE", "Take it from Dana")
    await desk.post_all()
    (direct,) = desk.slack.messages("D0DANA")
    assert "is looking at" in str(direct["blocks"])
    assert "Take it from Alice" in card(desk)
    await press(desk, "U0ALICE", "Give it back")
    await desk.post_all()
    assert "is looking at it." not in card(desk)
    # It held nobody up.
    await press(desk, "U0DANA", "Approve")
    assert (await reviews.get(desk.database, review.id)).status == "decided"


async def test_a_reminder_goes_to_whoever_looks_at_it_alone(desk: Desk) -> None:
    review = await shown(desk)
    await press(desk, "U0DANA", "I will look at it")
    wishes = Wishes(desk.present)
    async with desk.database.transaction() as connection:
        await wishes(connection, "reminder", f"{review.id}.0.0")
        await wishes(connection, "escalation", f"{review.id}.0")
    rows = await desk.database.fetch(
        "select kind, place from sayso.posts where kind in ('reminder', 'escalation')"
    )
    assert [row["place"] for row in rows if row["kind"] == "reminder"] == ["U0DANA"]


async def test_what_was_decided_or_stopped_meanwhile_is_not_talked_about(desk: Desk) -> None:
    review = await shown(desk)
    for user in ("U0ALICE", "U0DANA"):
        await press(desk, user, "Ask Bob a question")
        await window(desk, user, "Question")
    await desk.database.execute("update sayso.threads set mark = 'held'")
    await desk.slack.submit("U0ALICE", {"words": "Why?"})
    await window(desk, "U0ALICE", "on hold", "Why?")
    await desk.database.execute("update sayso.threads set mark = null")
    async with desk.database.transaction() as connection:
        await interventions.cancel(connection, review.thread_id, by="U0OSCAR")
    await desk.slack.submit("U0DANA", {"words": "How?"})
    await window(desk, "U0DANA", "withdrew this request", "How?")
    await press(desk, "U0DANA", "I will look at it")
    await told(desk, "U0DANA")
    assert {one["why"] for one in await desk.audit("question.refused")} == {"held", "withdrawn"}
    assert [one["why"] for one in await desk.audit("take.refused")] == ["withdrawn"]
    assert await exchanged(desk) == []


async def test_the_same_verbs_at_the_command_line_are_under_the_same_rules(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    review = await shown(desk)
    terminal = Terminal(tmp_path, desk.settings.database_url or "")
    slack = {
        "SAYSO_SLACK_BOT_TOKEN": "xoxb-local-sayso",
        "SAYSO_SLACK_SIGNING_SECRET": "local-signing-secret",
        "SAYSO_SLACK_API_URL": desk.slack.api_url,
    }
    words = ("reviews", "comment", str(review.id), "--as", "U0ALICE", "Seen by me.", "--json")
    code, out, err = await terminal.run(*words, **slack)
    assert code == 0, err
    assert json.loads(out)["talk"][0]["text"] == "Seen by me."

    for name, value in {**terminal.environ(**slack), "SAYSO_HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    found, refused = await speaking.ask(review.id, "U0CHARLIE", "Why?")
    assert refused is not None
    assert "U0CHARLIE may not do this." in refused
    assert len(found["talk"]) == 1
    found, refused = await speaking.ask(review.id, "U0ALICE", "Is it ordered?")
    assert (found["talk"][1]["text"], refused) == ("Is it ordered?", None)
    found, refused = await speaking.take(review.id, "U0DANA", back=False)
    assert (found["taken_by"], refused) == ("U0DANA", None)
    _, refused = await speaking.take(review.id, "U0ALICE", back=True)
    assert "cannot give it back" in str(refused)
    found, refused = await speaking.take(review.id, "U0DANA", back=True)
    assert (found["taken_by"], refused) == (None, None)
    await now(desk)
    assert "Is it ordered?" in card(desk)
    assert "Is it ordered?" in said_to_bob(desk)[-1]
    asked = await desk.audit("review.asked_requester")
    assert [(one["via"], bool(one["os_user"])) for one in asked] == [("cli", True)]
    await desk.database.execute("update sayso.threads set requester = 'cli:root'")
    _, refused = await speaking.ask(review.id, "U0ALICE", "And now?")
    assert "cannot be asked there" in str(refused)
