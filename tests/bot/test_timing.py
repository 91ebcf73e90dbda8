"""What people see of a deadline: before it, after it, and where it leaves the question open."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from bot.wishes import Wishes
from graphs import deadlines, reviews
from graphs.specs import Deadline, People, Rule
from tests.bot.conftest import Desk

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


async def card(desk: Desk) -> str:
    await desk.post_all()
    (message,) = desk.slack.messages("C0CREDIT")
    return json.dumps([message["text"], message["blocks"]], ensure_ascii=False)


async def run_out(desk: Desk, review_id: int) -> None:
    now = (await reviews.get(desk.database, review_id)).opened_at + DAY
    wishes = Wishes(desk.settings.configuration.operators)
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
