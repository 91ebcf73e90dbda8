"""What people see of a deadline: before it, after it, and where it leaves the question open."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.wishes import Wishes
from graphs import deadlines, reviews, votes
from graphs.specs import Deadline, Escalation, People, Rule
from tests.bot.conftest import Desk
from tests.graphs.conftest import voter

DAY = timedelta(days=1)


async def opened(desk: Desk, then: Any) -> int:
    rule = Rule(
        channel="C0CREDIT",
        approvers=People(users=("U0ALICE", "U0DANA")),
        deadline=Deadline(after=DAY.total_seconds(), then=then),
    )
    review_id = await desk.review(rule=rule)
    async with desk.database.transaction() as connection:
        await deadlines.begin(connection, await reviews.get(connection, review_id))
    return review_id


def directly(desk: Desk, user: str) -> list[dict[str, Any]]:
    """A person's direct messages; there are none before the first."""
    channels = desk.slack.workspace.channels().values()
    found = [one["id"] for one in channels if one.get("user") == user]
    return desk.slack.messages(found[0]) if found else []


async def card(desk: Desk) -> str:
    await desk.post_all()
    (message,) = desk.slack.messages("C0CREDIT")
    return json.dumps([message["text"], message["blocks"]], ensure_ascii=False)


async def run_out(desk: Desk, review_id: int) -> None:
    now = (await reviews.get(desk.database, review_id)).opened_at + DAY
    wishes = Wishes(desk.present)
    specs = desk.settings.configuration.graphs
    assert await deadlines.tick(desk.database, specs, wishes, now=now) == 1


@pytest.mark.parametrize(
    ("then", "before", "after"),
    [
        ("reject", "the loan is declined.", "The loan was declined automatically."),
        ("approve", "it is approved.", "It was approved automatically."),
        ({"decision": "later"}, "the answer is “1 value”.", "It was answered automatically:"),
    ],
)
async def test_the_card_says_what_happens_and_then_what_happened(
    desk: Desk, then: Any, before: str, after: str
) -> None:
    review_id = await opened(desk, then)
    shown = await card(desk)
    assert "If nobody decides" in shown
    assert before in shown
    assert "Decide by " in shown
    await run_out(desk, review_id)
    shown = await card(desk)
    assert "Time ran out" in shown
    assert after in shown
    assert "no person rejected it" in shown
    assert "Approve" not in shown


async def test_where_it_stays_open_the_card_is_overdue_and_oscar_is_told(desk: Desk) -> None:
    review_id = await opened(desk, "hold")
    assert "it stays open, and those who run this are told." in await card(desk)
    await run_out(desk, review_id)
    shown = await card(desk)
    assert "Overdue" in shown
    assert "Approve" in shown
    assert desk.slack.messages("C0OPS")


def where_it_is(hour: int) -> str:
    """A zone in which the clock shows this hour now."""
    offset = (hour - datetime.now(UTC).hour + 11) % 24 - 11
    return f"Etc/GMT{-offset:+d}" if offset else "UTC"


async def test_who_has_not_voted_is_reminded_and_the_heads_get_it_too(desk: Desk) -> None:
    rule = Rule(
        channel="C0CREDIT",
        approvers=People(users=("U0ALICE", "U0DANA")),
        quorum=2,
        remind=(3600,),
        escalate=Escalation(after=2 * 3600, to=People(users=("U0ERIN",))),
        deadline=Deadline(after=DAY.total_seconds(), then="reject"),
    )
    review_id = await desk.review(rule=rule)
    async with desk.database.transaction() as connection:
        review = await reviews.get(connection, review_id)
        await deadlines.begin(connection, review)
    await desk.post_all()
    await desk.slack.act("person", user="U0DANA", tz=where_it_is(12))
    await desk.slack.act("person", user="U0ERIN", tz=where_it_is(2))
    async with desk.database.transaction() as connection:
        await votes.vote(
            connection, review_id=review_id, answer={"decision": "approve"},
            voter=voter("U0ALICE"),
        )  # fmt: skip
    wishes = Wishes(desk.present)
    specs = desk.settings.configuration.graphs
    for hours in (1, 2):
        now = review.opened_at + timedelta(hours=hours)
        assert await deadlines.tick(desk.database, specs, wishes, now=now) == 1
    await desk.post_all()

    def told(user: str) -> list[str]:
        return [
            json.dumps(message["blocks"], ensure_ascii=False)
            for message in directly(desk, user)
            if "Review" in json.dumps(message["blocks"])
        ]

    assert told("U0ALICE") == []
    (dana,) = told("U0DANA")
    # It is night where Erin is; she gets it in the morning.
    assert told("U0ERIN") == []
    await desk.slack.act("person", user="U0ERIN", tz=where_it_is(12))
    await desk.database.execute("update sayso.people set fetched_at = '1970-01-01'")
    await desk.database.execute("update sayso.posts set due_at = now() where due_at > now()")
    await desk.post_all()
    (erin,) = told("U0ERIN")
    assert "still needs you" in dana
    assert "1 of 2 approvals" in dana
    assert "the loan is declined." in dana
    assert "now comes to you too" in erin
    assert "Overdue" in await card(desk)


async def test_the_head_of_the_record_is_told_to_the_operators(desk: Desk) -> None:
    head = "12:" + "ab" * 32
    async with desk.database.transaction() as connection:
        wishes = Wishes(desk.present)
        await wishes.tell_operators(connection, f"head:{head}")
    await desk.post_all()
    (told,) = desk.slack.messages("C0OPS")
    shown = json.dumps(told["blocks"])
    assert head in shown
    assert "The record was sealed up to here." in shown
