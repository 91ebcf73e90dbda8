"""What nobody decides in time: done once, told to the graph as expired, and never to be undone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from pydantic import ValidationError

from graphs import audit, deadlines, interventions, mailbox, reviews, timers, votes
from graphs.policy import fingerprint
from graphs.specs import (
    Deadline,
    Escalation,
    GraphSpec,
    People,
    Rule,
    Stage,
    TimeOfDay,
    WorkingHours,
)
from graphs.templates import Button, Template
from tests.graphs.conftest import House, loaded, voter


class Text(TypedDict):
    text: str


PEOPLE = People(users=("U0ALICE", "U0DANA"))
APPROVE = {"decision": "approve"}
REJECT = {"decision": "reject", "note": "{note}"}
SPEC = GraphSpec(
    path="a:b",
    questions=(
        Template(
            node="ask",
            title="Pay?",
            buttons=[
                Button(verb="approve", label="Approve", answer=APPROVE),
                Button(verb="reject", label="Reject", needs="note", answer=REJECT),
            ],
        ),
    ),
)
DAY = timedelta(days=1)


def rule(then: Any, **more: Any) -> Rule:
    return Rule(approvers=PEOPLE, deadline=Deadline(after=DAY.total_seconds(), then=then), **more)


async def opened(here: House, then: Any, **given: Any) -> reviews.Review:
    review = await here.asked(rule=rule(then), **given)
    async with here.database.transaction() as connection:
        await deadlines.begin(connection, review)
    return review


async def tick(here: House, review: reviews.Review, after: timedelta) -> int:
    now = review.opened_at + after
    return await deadlines.tick(here.database, {"loan": SPEC}, here.wish, now=now)


async def test_time_runs_out_once_and_the_graph_gets_the_answer(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await opened(here, "reject")
    assert await tick(here, review, DAY - timedelta(seconds=1)) == 0
    acted = await asyncio.gather(*(tick(here, review, DAY) for _ in range(5)))
    assert sum(acted) == 1
    now = await reviews.get(here.database, review.id)
    assert (now.status, now.outcome, now.items[0].decided_by) == ("expired", "expired", None)
    rows = await mailbox.waiting(here.database, review.thread_id)
    assert [json.loads(row.answer or "") for row in rows if row.kind == "answer"] == [
        {"decision": "reject", "note": deadlines.NOTE}
    ]
    assert ("card", str(review.id)) in here.wished
    late = await here.vote(review.id, APPROVE)
    assert isinstance(late, votes.Expired)
    (said,) = [
        entry
        for entry in await audit.of_review(here.database, review.id)
        if entry.what == "review.expired"
    ]
    assert said.actor == audit.SYSTEM


async def test_whoever_was_first_is_first(house: Callable[..., House]) -> None:
    here = house()
    review = await opened(here, "reject")
    got, acted = await asyncio.gather(here.vote(review.id, APPROVE), tick(here, review, DAY))
    now = await reviews.get(here.database, review.id)
    if isinstance(got, votes.Decided):
        assert (now.status, now.outcome) == ("decided", "approved")
    else:
        assert (type(got), now.status, acted) == (votes.Expired, "expired", 1)
    rows = await mailbox.waiting(here.database, review.thread_id)
    assert [row.kind for row in rows].count("answer") == 1
    assert (await reviews.get(here.database, review.id)).status == now.status


async def test_hold_leaves_it_open_and_tells_the_operators(house: Callable[..., House]) -> None:
    here = house()
    review = await opened(here, "hold")
    assert await tick(here, review, DAY) == 1
    assert (await reviews.get(here.database, review.id)).status == "open"
    assert ("notice", f"overdue:{review.id}") in here.wished
    assert isinstance(await here.vote(review.id, APPROVE), votes.Decided)


@pytest.mark.parametrize(
    ("then", "question", "schema", "verb", "answer"),
    [
        ("reject", "Pay?", None, "reject", {"decision": "reject", "note": deadlines.NOTE}),
        ({"decision": "later"}, "Pay?", None, "answer", {"decision": "later"}),
        (False, "Pay?", {"type": "boolean"}, "answer", False),
        ("maybe", "Pay?", {"type": "boolean"}, "hold", None),  # the question cannot take it
        ("hold", "Pay?", None, "hold", None),
    ],
)
async def test_what_the_question_cannot_take_is_hold_from_the_beginning(
    house: Callable[..., House], then: Any, question: Any, schema: Any, verb: str, answer: Any
) -> None:
    here = house()
    review = await here.asked(rule=rule(then), question=question, schema=schema)
    spec = SPEC if schema is None else None
    done = deadlines.then(review, review.items[0], spec)
    assert (done.verb, done.answer) == (verb, answer)


async def test_a_thread_on_hold_has_as_much_time_left_when_it_goes_on(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await opened(here, "reject")
    await here.database.execute(
        "update sayso.threads set mark = 'held', mark_reason = 'x', "
        "changed_at = now() - interval '3 hours' where id = $1",
        review.thread_id,
    )
    assert await tick(here, review, 2 * DAY) == 0
    async with here.database.transaction() as connection:
        await interventions.retry(connection, review.thread_id, by="U0OSCAR", may_unpark=True)
    (due,) = (await deadlines.of_review(here.database, review.id)).values()
    late = due - (review.opened_at + DAY)
    assert timedelta(hours=3) <= late < timedelta(hours=3, minutes=1)


async def test_nothing_is_left_to_do_where_the_request_is_over(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await opened(here, "reject")
    async with here.database.transaction() as connection:
        await interventions.cancel(connection, review.thread_id, by="U0OSCAR")
    await tick(here, review, DAY)
    assert (await reviews.get(here.database, review.id)).status == "withdrawn"
    assert (
        await here.database.fetchval("select count(*) from sayso.timers where fired_at is null")
        == 0
    )


def test_working_hours_make_a_deadline_later() -> None:
    hours = WorkingHours.model_validate(
        {"from": "09:00", "to": "17:00", "zone": "Asia/Kolkata", "holidays": "IN"}
    )
    friday = datetime(2026, 1, 23, 10, 0, tzinfo=UTC)  # 15:30 in India, before a long weekend
    due = timers.due_at(rule("reject", hours=hours), friday, 8 * 3600)
    assert due == datetime(2026, 1, 27, 10, 0, tzinfo=UTC)
    assert Rule.model_validate(rule("hold", hours=hours).model_dump(mode="json")).hours == hours
    for wrong in ({"days": "never"}, {"zone": "Mars"}, {"from": "9"}, {"holidays": "XX"}):
        with pytest.raises(ValidationError):
            WorkingHours.model_validate(wrong)


def test_times_of_day_are_read_kept_in_their_words_and_counted_in_the_clock_of_the_rule() -> None:
    written = {
        "approvers": {"users": ["U0ALICE"]},
        "remind": ["4h", "09:30", "2d 09:30"],
        "escalate": {"after": "18:00", "to": {"users": ["U0ERIN"]}},
        "deadline": {"after": "1d 18:00", "then": "reject"},
        "hours": {"from": "09:00", "to": "17:00", "zone": "Asia/Kolkata", "holidays": "IN"},
    }
    read = Rule.model_validate(written)
    kept = read.model_dump(mode="json")
    assert kept["remind"] == [14400.0, "09:30", "2d 09:30"]
    assert (kept["escalate"]["after"], kept["deadline"]["after"]) == ("18:00", "1d 18:00")
    assert Rule.model_validate(kept) == read
    friday = datetime(2026, 1, 23, 13, 0, tzinfo=UTC)  # 18:30 in India, before a long weekend
    by_kind = {(one.kind, one.turn): one for one in timers.planned(read, friday)}
    tuesday = datetime(2026, 1, 27, 12, 30, tzinfo=UTC)
    assert by_kind["escalate", 0].due_at == tuesday
    assert by_kind["remind", 1] == timers.Timer("remind", 1, friday, wall="09:30")
    # A day of 24 working hours is three days of eight.
    assert by_kind["deadline", 0].due_at == tuesday + timedelta(days=2)
    for wrong in ("25:00", "soon 09:30", "2x 09:30", "09:30 2d", "9"):
        with pytest.raises(ValidationError):
            Rule.model_validate({**written, "remind": [wrong]})
    for name in ("escalate", "deadline"):
        with pytest.raises(ValidationError, match="write `hours` with the zone"):
            Rule.model_validate({name: written[name]})


def test_rules_that_were_kept_before_there_were_times_of_day_have_the_same_hash() -> None:
    old = {"remind": [14400.0], "deadline": {"after": 86400.0, "then": "hold"}}
    now = {"remind": ["4h"], "deadline": {"after": "1d", "then": "hold"}}
    assert fingerprint(Rule.model_validate(old)) == fingerprint(Rule.model_validate(now))
    assert Rule.model_validate(old).model_dump(mode="json")["remind"] == [14400.0]


HOUR = timedelta(hours=1)


async def with_timers(here: House, **given: Any) -> reviews.Review:
    review = await here.asked(rule=Rule(approvers=PEOPLE, **given))
    async with here.database.transaction() as connection:
        await deadlines.begin(connection, review)
    return review


async def test_one_reminder_a_day_goes_out_and_what_is_too_much_is_dropped(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await with_timers(here, remind=(3600, 4 * 3600, 26 * 3600))
    for hours in (1, 4, 26):
        assert await tick(here, review, hours * HOUR) == 1
        assert await tick(here, review, hours * HOUR) == 0
    told = [subject for kind, subject in here.wished if kind == "reminder"]
    assert told == [f"{review.id}.0.0", f"{review.id}.0.2"]
    said = [
        entry.detail["dropped"]
        for entry in await audit.of_review(here.database, review.id)
        if entry.what == "review.reminded"
    ]
    assert said == [False, True, False]
    await here.vote(review.id, APPROVE)
    assert await tick(here, review, 99 * HOUR) == 0


async def test_a_reminder_of_the_next_day_is_not_dropped_for_a_tick_that_came_a_moment_late(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await with_timers(here, remind=(DAY.total_seconds(), 2 * DAY.total_seconds()))
    late = timedelta(seconds=0.9)
    assert await tick(here, review, DAY + late) == 1
    assert await tick(here, review, 2 * DAY) == 1
    assert [kind for kind, _ in here.wished].count("reminder") == 2


async def test_items_and_times_of_day_leave_it_to_each_person_what_is_too_much(
    house: Callable[..., House],
) -> None:
    """Another item may ask other people, and another hour is another instant for each of them."""
    here = house()
    calls = [{"name": name, "args": {}} for name in ("refund", "mail")]
    allowed = [
        {"action_name": name, "allowed_decisions": ["approve"]} for name in ("refund", "mail")
    ]
    review = await here.asked(
        rule=Rule(approvers=PEOPLE, remind=(3600, TimeOfDay(time(9, 30)))),
        question={"action_requests": calls, "review_configs": allowed},
    )
    async with here.database.transaction() as connection:
        await deadlines.begin(connection, review)
    assert await tick(here, review, timedelta()) == 2
    assert await tick(here, review, HOUR) == 2
    told = [subject for kind, subject in here.wished if kind == "reminder"]
    turns = [f"{review.id}.{item}.{turn}" for turn in (1, 0) for item in (0, 1)]
    assert told == turns
    entries = await audit.of_review(here.database, review.id)
    at = [one.detail.get("at") for one in entries if one.what == "review.reminded"]
    assert at == ["09:30", "09:30", None, None]


async def test_a_ticker_that_was_away_sends_one_reminder_and_no_storm(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await with_timers(here, remind=(3600, 2 * 3600, 3 * 3600))
    assert sum(await asyncio.gather(*(tick(here, review, 9 * HOUR) for _ in range(3)))) == 3
    assert len([kind for kind, _ in here.wished if kind == "reminder"]) == 1


async def test_escalation_adds_people_and_takes_none_away(house: Callable[..., House]) -> None:
    here = house()
    heads = Escalation(after=8 * 3600, to=People(users=("U0ERIN",)))
    review = await with_timers(here, escalate=heads)
    early = await here.vote(review.id, APPROVE, by="U0ERIN")
    assert isinstance(early, votes.Refused)
    assert await tick(here, review, 8 * HOUR) == 1
    assert ("escalation", f"{review.id}.0") in here.wished
    (item,) = (await reviews.get(here.database, review.id)).items
    assert item.rule is not None
    assert item.rule.approvers.users == ("U0ALICE", "U0DANA", "U0ERIN")
    assert item.opened_under is not None
    assert item.opened_under.approvers == PEOPLE
    assert isinstance(await here.vote(review.id, APPROVE, by="U0ERIN"), votes.Decided)


async def test_the_clock_of_a_question_runs_from_the_time_that_its_worker_is_shown(
    house: Callable[..., House],
) -> None:
    graph = StateGraph(Text).add_node("ask", lambda _: {"text": interrupt("Go on?")})
    here = house(loaded("loan", graph.add_edge(START, "ask").compile()), rules=(rule("hold"),))
    shown = datetime(2031, 2, 3, 4, 5, tzinfo=UTC)

    async def moved() -> datetime:
        return shown

    async with here.working(clock=moved):
        thread_id = await here.start("loan", {"text": ""})
        await here.until(thread_id, "paused")
    (review,) = await here.open_reviews(thread_id)
    assert await deadlines.of_review(here.database, review.id) == {0: shown + DAY}


async def test_the_people_of_the_next_stage_are_reminded_from_its_beginning_on(
    house: Callable[..., House],
) -> None:
    here = house()
    stages = tuple(Stage(approvers=People(users=(one,))) for one in ("U0ERIN", "U0ALICE"))
    until = Deadline(after=DAY.total_seconds())
    review = await here.asked(rule=Rule(stages=stages, remind=(3600, 7200), deadline=until))
    async with here.database.transaction() as connection:
        await deadlines.begin(connection, review)
    hour = timedelta(hours=1)
    assert await tick(here, review, hour) == 1
    passed = review.opened_at + 90 * timedelta(minutes=1)
    async with here.database.transaction() as connection:
        await votes.vote(
            connection, review_id=review.id, answer=APPROVE, voter=voter("U0ERIN"), now=passed
        )
    set_ = (await deadlines.all_of_review(here.database, review.id))[0]
    due = [(one.kind, one.turn, one.due_at) for one in set_ if one.fired_at is None]
    assert due == [
        ("remind", 1, passed + hour),
        ("remind", 2, passed + 2 * hour),
        ("deadline", 0, review.opened_at + DAY),
    ]
