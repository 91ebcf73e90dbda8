"""One card stays one card, whatever Slack or the process does in between."""

from __future__ import annotations

import asyncio

import pytest

from bot import app, posts
from bot.looking import Looking
from bot.sending import Pace
from bot.wishes import Wishes
from bot.workspaces import identify
from checkpoints.database import Database
from graphs import interventions, reviews, threads
from graphs.specs import People, Rule
from tests.bot.conftest import Desk, until


async def rows(database: Database, kind: str = posts.CARD) -> list[dict[str, object]]:
    """The posts of a kind as they stand."""
    found = await database.fetch(
        """select * from sayso.posts where kind = $1 and not coalesce(body ? 'unless_in', false)
           order by place""",
        kind,
    )
    return [dict(row) for row in found]


async def due_now(database: Database) -> None:
    """Let every hold-off be over."""
    await database.execute("update sayso.posts set due_at = now()")
    await database.execute("update sayso.lanes set next_post_at = now(), claimed_until = null")


async def test_a_wish_becomes_one_message_and_a_second_wish_an_update_of_it(desk: Desk) -> None:
    review_id = await desk.review()
    await desk.post_all()
    (card,) = desk.slack.messages("C0CREDIT")

    async with desk.database.transaction() as connection:
        await connection.execute(
            "update sayso.reviews set status = 'withdrawn', closed_at = now() where id = $1",
            review_id,
        )
        assert await posts.again(connection, posts.CARD, str(review_id))
    await desk.post_all()
    (after,) = desk.slack.messages("C0CREDIT")
    assert after["ts"] == card["ts"]
    assert "Withdrawn" in str(after["blocks"])


async def test_what_is_shown_already_costs_no_call(desk: Desk) -> None:
    review_id = await desk.review()
    await desk.post_all()
    before = len(desk.slack.calls)
    async with desk.database.transaction() as connection:
        await posts.again(connection, posts.CARD, str(review_id))
    await desk.post_all()
    assert [call["method"] for call in desk.slack.calls[before:]] == []


async def test_a_post_whose_answer_was_lost_is_found_again_and_not_posted_twice(
    desk: Desk,
) -> None:
    review_id = await desk.review()
    await desk.slack.misbehave(lose_answer=["chat.postMessage"])
    while "chat.postMessage" not in {call["method"] for call in desk.slack.calls}:
        await desk.poster.run_once()
    assert len(desk.slack.messages("C0CREDIT")) <= 1
    await desk.slack.misbehave(reset=True)
    for _ in range(4):
        await due_now(desk.database)
        await desk.post_all()

    assert len(desk.slack.messages("C0CREDIT")) == 1
    (row,) = await rows(desk.database)
    assert (row["subject"], row["shown"]) == (str(review_id), row["wanted"])
    assert row["ts"] == desk.slack.messages("C0CREDIT")[0]["ts"]


async def test_a_process_that_died_between_send_and_save_leaves_one_card(desk: Desk) -> None:
    await desk.review()
    await desk.post_all()
    await desk.database.execute(
        "update sayso.posts set ts = null, shown = 0, tried_at = now() where kind = 'card'"
    )
    for _ in range(3):
        await due_now(desk.database)
        await desk.post_all()
    assert len(desk.slack.messages("C0CREDIT")) == 1


async def test_surplus_copies_are_deleted(desk: Desk) -> None:
    await desk.review()
    await desk.post_all()
    (row,) = await rows(desk.database)
    await desk.client.call(
        "chat.postMessage",
        channel="C0CREDIT",
        text="copy",
        metadata={"event_type": "sayso_post", "event_payload": {"id": str(row["id"])}},
    )
    await desk.database.execute("update sayso.posts set reconcile_at = now()")
    assert await desk.poster.reconcile() == 1
    assert [one["ts"] for one in desk.slack.messages("C0CREDIT")] == [row["ts"]]


async def test_a_channel_that_cannot_be_read_leaves_no_surplus_elsewhere(desk: Desk) -> None:
    review_id = await desk.review()
    await desk.post_all()
    (row,) = await rows(desk.database)
    async with desk.database.transaction() as connection:
        for number in range(12):
            await posts.want(connection, posts.NOTICE, f"lost {number}", "C0NOWHERE")
    await desk.database.execute(
        """update sayso.posts set channel = place, ts = '1.1', shown = wanted,
           reconcile_at = now() - interval '1 hour' where place = 'C0NOWHERE'"""
    )
    await desk.client.call(
        "chat.postMessage",
        channel="C0CREDIT",
        text="copy",
        metadata={"event_type": "sayso_post", "event_payload": {"id": str(row["id"])}},
    )
    await desk.database.execute(
        "update sayso.posts set reconcile_at = now() where subject = $1 and ts is not null",
        str(review_id),
    )
    assert sum([await desk.poster.reconcile(), await desk.poster.reconcile()]) == 1
    assert [one["ts"] for one in desk.slack.messages("C0CREDIT")] == [row["ts"]]
    left = "select count(*) from sayso.posts where reconcile_at is not null"
    assert await desk.database.fetchval(left) == 12
    for _ in range(20):
        await desk.database.execute(
            "update sayso.posts set reconcile_at = now() where reconcile_at is not null"
        )
        await desk.poster.reconcile()
    assert await desk.database.fetchval(left) == 0


async def test_a_post_that_was_refused_after_an_unknown_send_is_looked_for_first(
    desk: Desk,
) -> None:
    await desk.review()
    await desk.post_all()
    await desk.database.execute(
        "update sayso.posts set ts = null, shown = 0, tried_at = now() where kind = 'card'"
    )
    # As if the first send, whose outcome is not known, were not in the history yet.
    (claimed,) = await rows(desk.database)
    await desk.poster.sender.park(posts.post(claimed), "restricted_action")
    for _ in range(3):
        await due_now(desk.database)
        await desk.post_all()
    assert len(desk.slack.messages("C0CREDIT")) == 1


async def test_a_second_send_is_followed_by_a_look_for_surplus_messages(desk: Desk) -> None:
    await desk.review()
    await desk.post_all()
    (row,) = await rows(desk.database)
    assert row["reconcile_at"] is None
    await desk.client.call("chat.delete", channel="C0CREDIT", ts=row["ts"])
    await desk.database.execute(
        "update sayso.posts set ts = null, shown = 0, tried_at = now() where kind = 'card'"
    )
    await due_now(desk.database)
    await desk.post_all()
    (row,) = await rows(desk.database)
    assert row["ts"] is not None
    at = row["reconcile_at"]
    assert at is not None
    await desk.database.execute(posts.SQL.unknown, row["id"], "an update", 0.0, 60.0)
    (row,) = await rows(desk.database)
    assert row["reconcile_at"] == at


async def test_an_update_whose_answer_was_lost_is_sent_again(desk: Desk) -> None:
    review_id = await desk.review()
    await desk.post_all()
    await desk.slack.misbehave(server_error={"method": "chat.update", "n": 1})
    async with desk.database.transaction() as connection:
        await connection.execute(
            "update sayso.reviews set status = 'withdrawn', closed_at = now() where id = $1",
            review_id,
        )
        await posts.again(connection, posts.CARD, str(review_id))
    await desk.post_all()
    (row,) = await rows(desk.database)
    assert row["unsure"] is True
    await due_now(desk.database)
    await desk.post_all()
    assert "Withdrawn" in str(desk.slack.messages("C0CREDIT")[0]["blocks"])
    (row,) = await rows(desk.database)
    assert (row["unsure"], row["attempts"]) == (False, 0)


async def test_a_429_pauses_the_place_for_everybody_and_is_no_attempt(desk: Desk) -> None:
    await desk.review()
    await desk.slack.misbehave(ratelimit={"method": "chat.postMessage", "n": 1, "retry_after": 30})
    await desk.post_all()
    limited = [row for row in await rows(desk.database) if row["error"] == "ratelimited"]
    limited += [
        row for row in await rows(desk.database, posts.PROGRESS) if row["error"] == "ratelimited"
    ]
    (row,) = limited
    assert (row["attempts"], row["tried_at"]) == (0, None)
    paused = await desk.database.fetchval(
        "select extract(epoch from next_post_at - now())::int from sayso.lanes where place = $1",
        row["place"],
    )
    assert 25 <= paused <= 30
    await due_now(desk.database)
    await desk.post_all()
    assert len(desk.slack.messages("C0CREDIT")) == 1


async def test_an_archived_channel_parks_the_card_and_tells_the_operators_once(
    desk: Desk,
) -> None:
    await desk.slack.misbehave(archive="C0CREDIT")
    await desk.review()
    for _ in range(3):
        await desk.database.execute("update sayso.posts set due_at = now()")
        await desk.post_all()
    (row,) = await rows(desk.database)
    assert (row["error"], row["ts"]) == ("is_archived", None)
    assert len(desk.slack.messages("C0OPS")) == 1
    await desk.slack.misbehave(unarchive="C0CREDIT")

    async def shown() -> bool:
        # Slack's word that the channel is back makes the post due at once.
        await desk.post_all()
        return len(desk.slack.messages("C0CREDIT")) == 1

    await until("the card", shown)
    (row,) = await rows(desk.database)
    assert (row["parked_at"], row["error"]) == (None, None)
    assert len(desk.slack.messages("C0CREDIT")) == 1


async def test_a_claim_that_grew_old_sends_nothing(desk: Desk) -> None:
    await desk.review()
    await desk.post_all()
    await desk.review()
    claimed = await desk.poster._claim()
    assert claimed is not None
    post, begun = claimed
    before = len(desk.slack.messages("C0CREDIT"))
    await desk.poster._send_claimed(post, begun - Pace().claim_seconds)
    assert len(desk.slack.messages("C0CREDIT")) == before
    assert post.ts is None
    await desk.post_all()
    assert len(desk.slack.messages("C0CREDIT")) == before + 1


async def test_two_posters_share_the_work_and_post_each_card_once(desk: Desk) -> None:
    thread_id = await desk.thread()
    for _ in range(6):
        await desk.review(thread_id)

    async def work() -> None:
        while any(row["shown"] != row["wanted"] for row in await rows(desk.database)):
            await desk.poster.run_once()

    await asyncio.gather(work(), work(), work())
    assert len(desk.slack.messages("C0CREDIT")) == 6


async def test_progress_keeps_three_seconds_between_updates(desk: Desk) -> None:
    thread_id = await desk.thread()
    await desk.post_all()
    async with desk.database.transaction() as connection:
        await posts.want(connection, posts.PROGRESS, thread_id, "C0LOANS", thread_id=thread_id)
    (row,) = await rows(desk.database, posts.PROGRESS)
    wait = await desk.database.fetchval(
        "select extract(epoch from due_at - shown_at)::float8 from sayso.posts where id = $1",
        row["id"],
    )
    assert wait >= 3.0


async def test_the_update_budget_of_a_minute_is_kept_in_rows(desk: Desk) -> None:
    spent = [await desk.database.fetchval(posts.SQL.spend, "chat.update", 3) for _ in range(5)]
    assert [count is not None for count in spent] in (
        [True, True, True, False, False],
        [True, True, True, True, True],  # the minute changed in between
        [True, True, True, True, False],
        [True, True, True, False, True],
    )


async def test_a_rule_without_a_channel_sends_the_card_to_each_approver(desk: Desk) -> None:
    rule = Rule(graph="loan", approvers=People(users=("U0ERIN",), groups=("S0CREDIT",)))
    await desk.review(rule=rule)
    await desk.post_all()
    for name in ("ERIN", "ALICE", "DANA"):
        assert len(desk.slack.messages(f"D0{name}")) == 1, name
    assert desk.slack.messages("C0CREDIT") == []


async def moved_out(desk: Desk, *users: str) -> None:
    """Take these people out of #credit."""
    stay = ["U0ALICE", "U0DANA", "U0ERIN", "U0CHARLIE", "U0BOB", "U0OSCAR", "U0SAYSO"]
    await desk.slack.act(
        "channel", channel="C0CREDIT", members=[user for user in stay if user not in users]
    )


def posted(desk: Desk, place: str) -> int:
    """How many messages stand there; direct messages come into being with the first."""
    return len(desk.slack.messages(place)) if place in desk.slack.workspace.channels() else 0


RULE = Rule(
    graph="loan",
    channel="C0CREDIT",
    approvers=People(users=("U0ERIN", "U0BOB"), groups=("S0CREDIT",)),
)


async def test_an_approver_who_is_not_in_the_channel_gets_the_card_as_a_direct_message(
    desk: Desk,
) -> None:
    await moved_out(desk, "U0ERIN", "U0DANA", "U0BOB")
    review_id = await desk.review(rule=RULE)
    await desk.post_all()
    places = ("C0CREDIT", "D0ERIN", "D0DANA", "D0ALICE", "D0BOB")
    assert [posted(desk, place) for place in places] == [1, 1, 1, 0, 0]

    workspace = await identify(desk.database, desk.client)
    async with app.house_of(desk.present, desk.database, desk.client, workspace) as house:
        # The link to a card leads to one that the person can read.
        for user, where in (("U0ALICE", "C0CREDIT"), ("U0DANA", "D0DANA")):
            assert f"/{where}/" in await Looking(house)._link(review_id, user)

    (card,) = desk.slack.messages("D0DANA")
    await desk.slack.click("U0DANA", channel="D0DANA", ts=card["ts"], label="Approve")
    assert (await reviews.get(desk.database, review_id)).status == "decided"
    await due_now(desk.database)
    await desk.post_all()
    assert [posted(desk, place) for place in places] == [1, 1, 1, 0, 0]
    for place in places[:3]:
        assert "Approved." in str(desk.slack.messages(place)[0]["blocks"]), place


async def test_who_is_in_the_channel_is_asked_once_and_again_when_slack_did_not_say(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await moved_out(desk, "U0ERIN")
    await desk.slack.misbehave(server_error={"method": "conversations.members", "n": 1})
    await desk.review(rule=RULE)
    await desk.post_all()
    assert (posted(desk, "C0CREDIT"), posted(desk, "D0ERIN")) == (1, 0)
    monkeypatch.setattr("bot.people._ASK_AGAIN_SECONDS", 0.0)
    await due_now(desk.database)
    await desk.post_all()
    assert posted(desk, "D0ERIN") == 1
    calls = [one for one in desk.slack.calls if one["method"] == "conversations.members"]
    assert len(calls) == 2


async def test_what_was_decided_before_it_was_known_who_is_in_the_channel_disturbs_nobody(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await moved_out(desk, "U0ERIN")
    await desk.slack.misbehave(server_error={"method": "conversations.members", "n": 1})
    await desk.review(rule=RULE)
    await desk.post_all()
    (card,) = desk.slack.messages("C0CREDIT")
    await desk.slack.click("U0ALICE", channel="C0CREDIT", ts=card["ts"], label="Approve")
    monkeypatch.setattr("bot.people._ASK_AGAIN_SECONDS", 0.0)
    await due_now(desk.database)
    await desk.post_all()
    assert posted(desk, "D0ERIN") == 0


async def test_a_message_somebody_deleted_is_posted_anew(desk: Desk) -> None:
    review_id = await desk.review()
    await desk.post_all()
    (card,) = desk.slack.messages("C0CREDIT")
    await desk.client.call("chat.delete", channel="C0CREDIT", ts=card["ts"])
    async with desk.database.transaction() as connection:
        await connection.execute(
            "update sayso.reviews set status = 'withdrawn', closed_at = now() where id = $1",
            review_id,
        )
        await posts.again(connection, posts.CARD, str(review_id))
    await desk.post_all()
    assert ["Withdrawn" in str(one["blocks"]) for one in desk.slack.messages("C0CREDIT")] == [True]
    assert (await reviews.get(desk.database, review_id)).status == "withdrawn"


async def test_every_card_of_one_request_says_the_same_number(desk: Desk) -> None:
    await desk.thread("U0CHARLIE")  # so that the numbers of requests and of reviews differ
    thread_id = await desk.thread()
    number = (await threads.get(desk.database, thread_id)).number
    first, second = await desk.review(thread_id), await desk.review(thread_id, purpose="stock")
    await desk.post_all()
    cards = [str(card["blocks"]) for card in desk.slack.messages("C0CREDIT")]
    assert [f"Request {number} " in card for card in cards] == [True, True]
    assert [f"'{review}.1'" in card for review, card in zip((first, second), cards, strict=True)]
    conversation = str([one.get("blocks") for one in desk.slack.messages("C0LOANS")])
    assert f"Request {number}'" in conversation


async def fail(desk: Desk, thread_id: str, attempt: int) -> None:
    """The thread's step has failed for good, as settle leaves it, with its wishes."""
    await desk.database.execute(
        """update sayso.threads set mark = 'failed', error = jsonb_build_object(
           'node', 'disburse', 'type', 'BankAway', 'message', 'The bank did not answer.',
           'attempt', $2::int, 'attempts', 4, 'at', now()) where id = $1""",
        thread_id, attempt,
    )  # fmt: skip
    # Nothing runs here, so what was given to the worker is taken away again.
    await desk.database.execute("update sayso.mailbox set consumed_at = now()")
    async with desk.database.transaction() as connection:
        await wishes_of(desk)(connection, "progress", thread_id)
        await wishes_of(desk)(connection, "outcome", thread_id)
    await desk.post_all()


def wishes_of(desk: Desk) -> Wishes:
    return Wishes(desk.present)


def outcomes(desk: Desk) -> list[str]:
    """The blocks of the outcomes in #loans, oldest first."""
    found = [str(one.get("blocks")) for one in desk.slack.messages("C0LOANS")]
    return [one for one in found if "not paid.*" in one]


async def test_an_outcome_loses_its_button_and_keeps_its_words_once_the_thread_went_on(
    desk: Desk,
) -> None:
    review_id = await desk.review()
    thread_id = (await reviews.get(desk.database, review_id)).thread_id
    await desk.post_all()
    await desk.slack.click("U0ALICE", channel="C0CREDIT", label="Approve")
    await fail(desk, thread_id, 4)
    (first,) = outcomes(desk)
    assert "Try again" in first

    async with desk.database.transaction() as connection:
        await interventions.retry(
            connection, thread_id, by="U0BOB", may_unpark=False, wish=wishes_of(desk)
        )
    await desk.post_all()
    (after,) = outcomes(desk)
    assert "Try again" not in after
    assert "It failed 4 times" in after
    assert "The bank did not answer" in after

    await fail(desk, thread_id, 5)
    assert ["Try again" in one for one in outcomes(desk)] == [False, True]
