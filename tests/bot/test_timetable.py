"""When a person is reminded: at their hour, once a day, in one list where much waits for them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from bot import app, posts, schedules
from bot.afterwards import Afterwards
from bot.present import Present
from bot.wishes import Wishes
from graphs import deadlines, reviews, timers, votes
from graphs.reviews import Asked, Review
from graphs.specs import People, Rule, Stage, TimeOfDay, WorkingHours
from tests.bot.conftest import QUESTION, Desk
from tests.bot.test_timing import directly
from tests.graphs.conftest import voter

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
INDIA, NEW_YORK = ZoneInfo("Asia/Kolkata"), ZoneInfo("America/New_York")
BOTH = People(users=("U0ALICE", "U0DANA"))
APPROVE = {"decision": "approve"}
MORNING = TimeOfDay(time(9, 30))


async def opened(desk: Desk, rule: Rule, count: int = 1, question: Any = None) -> list[Review]:
    """Reviews of one thread, their time running; nothing of them is shown anywhere."""
    thread_id = await desk.thread()
    made = []
    async with desk.database.transaction() as connection:
        for number in range(count):
            put = await reviews.put(
                connection, thread_id=thread_id, graph="loan", audience="reviewers",
                asked=Asked(f"{number:032x}", "human_review", "1", question or QUESTION, "4f" * 32),
                rule_for=lambda _: rule,
            )  # fmt: skip
            assert put is not None
            made.append(await reviews.get(connection, put.review_id))
            await deadlines.begin(connection, made[-1])
    return made


async def tick(desk: Desk, review: Review, after: timedelta) -> int:
    specs = desk.settings.configuration.graphs
    now = review.opened_at + after
    return await deadlines.tick(desk.database, specs, Wishes(desk.present), now=now)


async def send(desk: Desk, at: datetime, *users: str) -> None:
    """Send what can be sent at that time of the clock, to these people."""
    desk.clock.at = at
    await desk.database.execute(
        "update sayso.posts set due_at = case when place = any ($1::text[]) then now() "
        "else 'infinity' end where shown < wanted",
        list(users),
    )
    await desk.post_all()


def told(desk: Desk, user: str) -> list[str]:
    return [
        json.dumps([message["text"], message["blocks"]], ensure_ascii=False)
        for message in directly(desk, user)
    ]


async def of_clock(desk: Desk, review: Review, item: int = 0) -> list[str]:
    now = await reviews.get(desk.database, review.id)
    done = deadlines.Then()
    rows = await schedules.of_item(desk.database, now, now.items[item], done)
    return [schedules.in_line(row) for row in rows]


async def test_each_reader_is_reminded_at_that_hour_of_their_own_day(desk: Desk) -> None:
    await desk.slack.act("person", user="U0DANA", tz="America/New_York")
    working = WorkingHours(days="mon-fri", zone="Europe/Berlin", holidays="DE")
    (review,) = await opened(desk, Rule(approvers=BOTH, quorum=2, remind=(MORNING,), hours=working))
    assert await tick(desk, review, timedelta()) == 1
    alice, dana = (
        timers.own_time(time(9, 30), review.opened_at, zone, "mon-fri", "DE")
        for zone in (INDIA, NEW_YORK)
    )
    assert alice.astimezone(INDIA).weekday() < 5
    for at, seen in sorted(
        [
            (alice - timedelta(minutes=1), 0),
            (alice, 1),
            (dana - timedelta(minutes=1), 0),
            (dana, 1),
        ]
    ):
        user = "U0ALICE" if abs(at - alice) < 2 * timedelta(minutes=1) else "U0DANA"
        await send(desk, at, user)
        assert len(told(desk, user)) == seen
    assert "still needs you" in told(desk, "U0ALICE")[0]
    (line,) = await of_clock(desk, review)
    assert line.startswith("09:30 in each reader's own time, from ")
    assert line.endswith("begun, U0ALICE got it, U0DANA got it")


async def test_whose_stage_it_became_meanwhile_is_reminded_at_their_next_such_hour(
    desk: Desk,
) -> None:
    stages = tuple(Stage(approvers=People(users=(one,))) for one in ("U0ERIN", "U0ALICE"))
    (review,) = await opened(desk, Rule(stages=stages, channel="C0CREDIT", remind=(MORNING,)))
    wishes, card = Wishes(desk.present), str(review.id)
    async with desk.database.transaction() as connection:
        await wishes(connection, "card", card)
    assert await tick(desk, review, timedelta()) == 1
    hour = timers.own_time(time(9, 30), review.opened_at, INDIA)
    async with desk.database.transaction() as connection:
        said = await votes.vote(
            connection, review_id=review.id, answer=APPROVE, voter=voter("U0ERIN"), wish=wishes
        )
        assert isinstance(said, votes.Counted)
        await wishes(connection, "card", card)
    await send(desk, hour - timedelta(minutes=1), "U0ERIN", "U0ALICE")
    assert not any("still needs you" in one for one in told(desk, "U0ALICE"))
    await send(desk, hour, "U0ERIN", "U0ALICE")
    assert sum("still needs you" in one for one in told(desk, "U0ALICE")) == 1
    assert not any("still needs you" in one for one in told(desk, "U0ERIN"))


async def test_a_reader_has_one_reminder_a_day_and_review_whichever_item_it_is_about(
    desk: Desk,
) -> None:
    calls = [{"name": name, "args": {}} for name in ("refund", "mail")]
    allowed = [{"action_name": one["name"], "allowed_decisions": ["approve"]} for one in calls]
    rule = Rule(approvers=BOTH, quorum=2, remind=(MORNING, 3600, TimeOfDay(time(9, 30), 86400)))
    question = {"action_requests": calls, "review_configs": allowed}
    (review,) = await opened(desk, rule, question=question)
    first = timers.own_time(time(9, 30), review.opened_at, INDIA)
    async with desk.database.transaction() as connection:
        # Alice has said something on the first action: what is left for her is the second.
        said = await votes.vote(
            connection, review_id=review.id, answer={"type": "approve"}, voter=voter("U0ALICE")
        )
        assert isinstance(said, votes.Counted)
    assert await tick(desk, review, HOUR) == 4
    await send(desk, first, "U0ALICE", "U0DANA")
    assert [len(told(desk, user)) for user in ("U0ALICE", "U0DANA")] == [1, 1]
    morning, later, tomorrow = await of_clock(desk, review)
    assert morning.endswith("begun, U0ALICE did not need it, U0DANA got it")
    assert later.endswith("U0ALICE did not need it, U0DANA: dropped, had one that day")
    assert tomorrow.endswith("still to come")
    assert "U0ALICE got it" in (await of_clock(desk, review, 1))[0]
    assert await tick(desk, review, DAY) == 2
    await send(desk, first + DAY, "U0ALICE", "U0DANA")
    assert [len(told(desk, user)) for user in ("U0ALICE", "U0DANA")] == [2, 2]


async def test_two_tickers_that_were_away_send_one_list_or_one_reminder_for_each_request(
    desk: Desk,
) -> None:
    """200 reminders are due at once: 20 requests wait for Alice, and 4 of them for Dana still."""
    rule = Rule(approvers=BOTH, quorum=2, remind=tuple(float(1800 * n) for n in range(1, 11)))
    made = await opened(desk, rule, 20)
    async with desk.database.transaction() as connection:
        for review in made[4:]:
            await votes.vote(connection, review_id=review.id, answer=APPROVE, voter=voter("U0DANA"))

    async def tick_all() -> int:
        acted = 0
        while count := await tick(desk, made[0], 9 * HOUR):
            acted += count
        return acted

    assert sum(await asyncio.gather(tick_all(), tick_all())) == 200
    noon = made[0].opened_at.astimezone(INDIA).replace(hour=12) + DAY
    desk.clock.at = noon

    async def post_all(poster: Any) -> None:
        while await poster.run_once():
            pass

    # The second one is made as a worker makes it, and goes by the clock of the page.
    environment = desk.settings.environment.model_copy(
        update={"clock_url": f"{desk.slack.url}/_control/clock"}
    )
    await desk.slack.act("clock", advance_seconds=int((noon - datetime.now(UTC)).total_seconds()))
    other = app.poster_of(
        Present(replace(desk.settings, environment=environment)),
        desk.database, desk.client, "T0SAYSO", Afterwards(), desk.drawings,
    )  # fmt: skip
    await asyncio.gather(post_all(desk.poster), post_all(other))
    await desk.database.execute("update sayso.lanes set next_post_at = now()")
    await asyncio.gather(post_all(desk.poster), post_all(other))
    while await desk.database.fetchval("select count(*) from sayso.posts where shown < wanted"):
        await desk.database.execute("update sayso.lanes set next_post_at = now()")
        await desk.post_all()
    (alice,) = told(desk, "U0ALICE")
    assert "20 requests wait for you" in alice
    assert "and 10 more" in alice
    assert alice.count('"action_id": "review"') == 10
    assert "once a day" in alice
    assert len(told(desk, "U0DANA")) == 4
    assert all("still needs you" in one for one in told(desk, "U0DANA"))
    lines = await of_clock(desk, made[0])
    assert "U0ALICE: dropped, in the digest of that day, U0DANA got it" in lines[0]
    assert all(line.endswith(schedules.ONE_TOO_MANY) for line in lines[1:])


async def test_a_list_says_what_is_left_when_it_is_sent_and_comes_in_the_morning(
    desk: Desk,
) -> None:
    made = await opened(desk, Rule(approvers=BOTH, remind=(3600,)), 7)
    while await tick(desk, made[0], HOUR):
        pass
    noon = made[0].opened_at.astimezone(INDIA).replace(hour=12) + DAY
    day = noon.date().isoformat()
    async with desk.database.transaction() as connection:
        await posts.want(connection, posts.DIGEST, day, "U0ALICE")
    await send(desk, noon.replace(hour=2), "U0ALICE", "U0DANA")
    assert told(desk, "U0ALICE") == told(desk, "U0DANA") == []
    await decide(desk, made[:3])
    await send(desk, noon, "U0ALICE")
    (list_,) = told(desk, "U0ALICE")
    assert "4 requests wait for you" in list_
    await decide(desk, made[3:])
    await send(desk, noon, "U0DANA")
    assert told(desk, "U0DANA") == []
    async with desk.database.transaction() as connection:
        await posts.want(connection, posts.DIGEST, day, "U0DANA")
    await send(desk, noon, "U0DANA")
    assert told(desk, "U0DANA") == []


async def decide(desk: Desk, some: Collection[Review]) -> None:
    async with desk.database.transaction() as connection:
        for review in some:
            got = await votes.vote(
                connection, review_id=review.id, answer=APPROVE, voter=voter("U0ALICE")
            )
            assert isinstance(got, votes.Decided)
