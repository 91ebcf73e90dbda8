"""What people write becomes threads and words, once, and only by those who may."""

from __future__ import annotations

from graphs import mailbox, threads
from tests.bot.conftest import Desk, until


async def test_a_message_in_the_graphs_channel_starts_a_thread_with_its_conversation(
    desk: Desk,
) -> None:
    sent = await desk.slack.message("U0BOB", "C0LOANS", "Loan for Asha & Co, 60000 for a van")

    found = await until("a thread", lambda: threads.list_(desk.database))
    assert [thread.requester for thread in found] == ["U0BOB"]
    rows = await mailbox.waiting(desk.database, found[0].id)
    assert rows[0].body["message"]["text"] == "Loan for Asha & Co, 60000 for a van"
    await desk.post_all()
    progress = [one for one in desk.slack.messages("C0LOANS") if one["user"] == "U0SAYSO"]
    assert [one["thread_ts"] for one in progress] == [sent["ts"]]
