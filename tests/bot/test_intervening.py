"""Withdraw and Try again, also on a button that was drawn before something happened."""

from __future__ import annotations

from typing import Any

from bot import posts
from bot.wishes import Wishes
from graphs import interventions, reviews, threads
from tests.bot.conftest import Desk, until

PAYING = """update sayso.threads set error = jsonb_build_object('node', 'disburse',
  'type', 'BankAway', 'message', 'The bank did not answer', 'attempt', 1, 'attempts', 4,
  'at', now())"""


async def shown(desk: Desk) -> reviews.Review:
    """An open review with its card and the progress message that offers Withdraw."""
    review_id = await desk.review()
    review = await reviews.get(desk.database, review_id)
    async with desk.database.transaction() as connection:
        await posts.again(connection, posts.PROGRESS, review.thread_id)
    await desk.post_all()
    assert "Withdraw" in str(desk.slack.messages("C0LOANS"))
    return review


async def press(desk: Desk, user: str, channel: str, label: str) -> None:
    answer = await desk.slack.click(user, channel=channel, label=label)
    assert answer["status"] == 200


async def told(desk: Desk, user: str) -> str:
    """The newest private message, once there is one."""
    return str((await until("a word", lambda: desk.slack.private_messages(user)))[-1]["blocks"])


async def status(desk: Desk, review: reviews.Review) -> str:
    return (await threads.get(desk.database, review.thread_id)).status.value


async def test_the_requester_withdraws_what_is_open_and_nothing_was_done(desk: Desk) -> None:
    review = await shown(desk)
    await press(desk, "U0BOB", "C0LOANS", "Withdraw")
    assert await status(desk, review) == "cancelled"
    await desk.post_all()
    (card,) = desk.slack.messages("C0CREDIT")
    assert "Withdrawn." in str(card["blocks"])
    assert "Nothing was paid." in str(card["blocks"])


async def test_a_withdraw_button_from_before_the_approval_does_nothing_and_says_so(
    desk: Desk,
) -> None:
    review = await shown(desk)
    await press(desk, "U0ALICE", "C0CREDIT", "Approve")
    await press(desk, "U0BOB", "C0LOANS", "Withdraw")
    assert "Something was decided meanwhile" in await told(desk, "U0BOB")
    assert await status(desk, review) == "queued"
    (entry,) = await desk.audit("withdraw.refused")
    assert (entry["actor"], entry["why"]) == ("U0BOB", "not_possible")
    await desk.post_all()
    assert "Nothing was paid." not in str(desk.slack.messages("C0CREDIT"))


async def test_an_operator_may_stop_it_then_and_everybody_reads_which_step_may_have_acted(
    desk: Desk,
) -> None:
    review = await shown(desk)
    await press(desk, "U0ALICE", "C0CREDIT", "Approve")
    await desk.database.execute(PAYING)
    async with desk.database.transaction() as connection:
        await interventions.cancel(
            connection,
            review.thread_id,
            by="U0OSCAR",
            wish=Wishes(desk.present),
        )
    await desk.post_all()
    (card,) = desk.slack.messages("C0CREDIT")
    outcome = desk.slack.messages("C0LOANS")[-1]
    for message in (card, outcome):
        said = f"{message['text']} {message['blocks']}"
        assert "Pay out" in said
        assert "cannot be called back" in said
        assert "Nothing was paid." not in said


async def test_an_approval_that_was_stopped_before_any_step_does_not_promise_that_nothing_was_done(
    desk: Desk,
) -> None:
    review = await shown(desk)
    await press(desk, "U0ALICE", "C0CREDIT", "Approve")
    await press(desk, "U0OSCAR", "C0LOANS", "Withdraw")
    assert await status(desk, review) == "cancelled"
    await desk.post_all()
    said = str([*desk.slack.messages("C0CREDIT"), *desk.slack.messages("C0LOANS")])
    assert "Nothing was paid." not in said
    assert "stopped after the decision" in said


async def test_an_old_try_again_button_lets_no_parked_thread_go_but_for_operators(
    desk: Desk,
) -> None:
    review = await shown(desk)
    await press(desk, "U0ALICE", "C0CREDIT", "Approve")
    await desk.database.execute(PAYING)
    await desk.database.execute("update sayso.threads set mark = 'failed'")
    await desk.database.execute("update sayso.mailbox set consumed_at = now()")
    async with desk.database.transaction() as connection:
        await posts.again(connection, posts.CARD, str(review.id))
    await desk.post_all()
    for mark in ("parked", "held"):
        await desk.database.execute("update sayso.threads set mark = $1", mark)
        for user in ("U0BOB", "U0ALICE"):
            await press(desk, user, "C0CREDIT", "Try again")
            assert "is on hold" in await told(desk, user)
            assert await status(desk, review) == mark
    refused: list[dict[str, Any]] = await desk.audit("try_again.refused")
    assert sorted((entry["actor"], entry["status"]) for entry in refused) == [
        ("U0ALICE", "held"),
        ("U0ALICE", "parked"),
        ("U0BOB", "held"),
        ("U0BOB", "parked"),
    ]
    await press(desk, "U0OSCAR", "C0CREDIT", "Try again")
    assert await status(desk, review) == "queued"
