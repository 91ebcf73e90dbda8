"""Where several decide one after another: what each of them sees, may do, and is told."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot import explaining, operating, posts, printing, rows, stories, wording
from bot.cards import render
from bot.judgements import counting
from bot.rules import as_toml
from bot.standing import standing
from bot.views import Decides
from bot.wishes import Wishes
from graphs import audit, ports, reviews, threads
from graphs.policy import fingerprint
from graphs.reviews import Item, Vote
from graphs.specs import Deadline, Escalation, People, Rule, Stage, WorkingHours
from graphs.tallies import Ballot, count, stage_of
from tests.bot.conftest import Desk, until
from tests.bot.stage_samples import LOAN, staged
from tests.bot.test_clicks import press, told, window

THEN_TWO = Rule(
    graph="loan",
    channel="C0CREDIT",
    because="it is above 50,000",
    stages=(
        Stage(approvers=People(users=("U0ERIN",))),
        Stage(approvers=People(users=("U0ALICE", "U0DANA")), quorum=2),
    ),
)
FREE = {"question": "Which branch?"}


def pair(**more: Any) -> Rule:
    """Alice and Dana, both of them."""
    people = People(users=("U0ALICE", "U0DANA"))
    return Rule(graph="loan", channel="C0CREDIT", approvers=people, quorum=2, **more)


async def card(desk: Desk) -> str:
    """What the card in the channel says now."""
    await desk.post_all()
    return str((await desk.card())["blocks"])


async def test_finance_decides_first_and_then_two_of_risk(desk: Desk) -> None:
    review_id = await desk.review(rule=THEN_TWO)
    first = await card(desk)
    assert "Needs 1 approval, stage 1 of 2." in first
    assert "Two stages, one after the other" in first

    await press(desk, "U0ALICE", "Approve")
    assert "not your turn yet" in await told(desk, "U0ALICE")
    assert "U0ERIN" in await told(desk, "U0ALICE")
    await press(desk, "U0ALICE", "Approve with conditions")  # before she writes anything
    await window(desk, "U0ALICE", "not your turn yet", "decides first")
    await press(desk, "U0CHARLIE", "Approve")
    assert "You cannot decide this loan" in await told(desk, "U0CHARLIE")
    early = await desk.audit("vote.refused")
    assert sorted((one["actor"], one.get("reason") or one["why"]) for one in early) == [
        ("U0ALICE", "not_yet"), ("U0ALICE", "not_yet"), ("U0CHARLIE", "not_allowed"),
    ]  # fmt: skip

    await press(desk, "U0ERIN", "Approve with conditions")
    await window(desk, "U0ERIN", "the last approval of stage 1", "Then the next stage decides")
    await desk.slack.submit("U0ERIN", {"conditions": "Insure the van."})
    second = await card(desk)
    assert "Needs 2 approvals, stage 2 of 2." in second
    assert "approved by" in second
    assert "Insure the van." in second
    await until("their own card", lambda: desk.slack.messages("D0ALICE"))

    async with desk.database.transaction() as connection:
        await Wishes(desk.present)(connection, ports.REMINDER, f"{review_id}.0.1")
        reminded = await connection.fetch("select place from sayso.posts where kind = 'reminder'")
    assert sorted(row["place"] for row in reminded) == ["U0ALICE", "U0DANA"]
    await press(desk, "U0ERIN", "Approve")
    assert "You approved this loan" in await told(desk, "U0ERIN")
    await press(desk, "U0ALICE", "Approve")
    half = await card(desk)
    assert "1 of 2 approvals, stage 2 of 2." in half
    await press(desk, "U0DANA", "Approve with conditions")
    await window(desk, "U0DANA", "Yours is the last of 2 approvals.", "at once")
    await desk.slack.submit("U0DANA", {"conditions": "Repay by standing order."})
    assert "Approved with conditions." in await card(desk)
    review = await reviews.get(desk.database, review_id)
    assert (review.status, review.outcome) == ("decided", "approved")
    cast = [(one["actor"], one["stage"], one["passed"]) for one in await desk.audit("vote.counted")]
    assert sorted(cast) == [("U0ALICE", 2, False), ("U0DANA", 2, False), ("U0ERIN", 1, True)]


def test_whom_each_stage_would_ask_is_told_before_anybody_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """
[graphs.loan]
path = "loan:graph"
[managers]
people = { U0BOB = "U0ERIN" }
[roles.risk]
users = ["U0ALICE", "U0DANA"]
"""
    stages = Rule(
        graph="loan",
        stages=(
            Stage(approvers=People(manager=True)),
            Stage(approvers=People(roles=("risk",)), quorum=2),
        ),
    )
    (tmp_path / "sayso.toml").write_text(text + as_toml(stages))
    monkeypatch.setenv("SAYSO_CONFIG", str(tmp_path / "sayso.toml"))
    (found,) = explaining.simulate({"graph": "loan", "node": "review", "question": {}})
    assert (found["who"], found["quorum"]) == (["the requester's manager"], 1)
    assert found["then_ask"] == ["2 of role risk"]
    printing.print_rules([found])
    assert "2 of role risk" in capsys.readouterr().out


async def test_whose_stage_is_over_is_told_with_whom_it_is_now(desk: Desk) -> None:
    either = THEN_TWO.model_copy(
        update={
            "stages": (
                Stage(approvers=People(users=("U0ERIN", "U0CHARLIE"))),
                *THEN_TWO.stages[1:],
            )
        }
    )
    await desk.review(rule=either)
    await desk.post_all()
    await press(desk, "U0ERIN", "Approve")
    await press(desk, "U0CHARLIE", "Approve")
    said = await told(desk, "U0CHARLIE")
    assert "Your part is done." in said
    assert "U0ALICE" in said


async def test_details_and_the_record_have_the_rule_and_its_stages(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    review_id = await desk.review(rule=THEN_TWO)
    await desk.post_all()
    await press(desk, "U0ERIN", "Approve")
    await press(desk, "U0ALICE", "Approve")
    hashed = fingerprint(THEN_TWO)
    await press(desk, "U0DANA", "Show the history")
    log = str(await window(desk, "U0DANA", "History"))
    assert "chose: approve, stage 1 of 2" in log
    await press(desk, "U0DANA", "Details")
    seen = str(await window(desk, "U0DANA", "The rule it was opened under", hashed[:12]))
    assert "The file says otherwise now" in seen
    assert "[[reviews.stages]]" in seen
    assert "Stage 2:" in seen

    review = await reviews.get(desk.database, review_id)
    shown = operating._review(review)
    (item,) = shown["items"]
    assert item["opened_under"]["hash"] == hashed
    assert (item["stage"], [stage["stands"] for stage in item["stages"]]) == (2, ["passed", "open"])
    assert item["stages"][1]["votes"] == ["U0ALICE: approve"]
    printing.print_review(shown)
    out = capsys.readouterr().out
    assert "1, U0ERIN: passed, U0ERIN: approve" in out
    thread = await threads.get(desk.database, review.thread_id)
    entries = await audit.of_thread(desk.database, thread.id)
    story = stories.told(thread, [review], entries, None)
    assert "said approve, 1 of 1 in stage 1 of 2, which opens the next" in story
    assert "said approve, 1 of 2 in stage 2 of 2" in story


async def test_what_nobody_is_left_to_approve_is_rejected_in_nobodys_name(desk: Desk) -> None:
    review_id = await desk.review(rule=pair(rejections=2))
    await desk.post_all()
    await press(desk, "U0ALICE", "Approve")
    await press(desk, "U0DANA", "Ask for changes")
    await window(desk, "U0DANA", "Ask for changes")
    await desk.slack.submit("U0DANA", {"changes": "Less, please."})
    shown = await card(desk)
    assert "Rejected." in shown
    assert "Not enough people are left to approve it." in shown
    assert "Rejected by" not in shown
    review = await reviews.get(desk.database, review_id)
    assert (review.outcome, review.items[0].decided_by) == ("rejected", None)
    thread = await threads.get(desk.database, review.thread_id)
    entries = await audit.of_thread(desk.database, thread.id)
    assert "not enough people are left" in stories.told(thread, [review], entries, None)


async def test_the_operators_hear_of_a_question_that_nobody_can_answer_any_more(
    desk: Desk,
) -> None:
    review_id = await desk.review(rule=pair(), asks=FREE)
    await desk.post_all()
    for user, answer in (("U0ALICE", "North"), ("U0DANA", "South")):
        await press(desk, user, "Answer")
        await window(desk, user, "Your answer")
        await desk.slack.submit(user, {"answer": answer})
        seen = await card(desk)
        assert "1 of 2 answers." in seen
    assert "Answered otherwise by" in seen
    found = await posts.shown_at(desk.database, posts.NOTICE, f"unreachable:{review_id}")
    (message,) = desk.slack.messages(found[0].channel)
    assert "Nobody is left who may decide" in str(message)
    assert f"sayso policy apply --review {review_id}" in str(message)


# What a card claims, against what counts

VOTERS = ("A", "B", "C", "D", "E", "F")
ANSWERS: tuple[Any, ...] = (
    {"decision": "approve"},
    {"decision": "approve", "amount": 1},
    {"decision": "reject"},
)
CAST = st.lists(
    st.tuples(st.sampled_from(VOTERS), st.integers(0, 2)), max_size=6, unique_by=lambda one: one[0]
)
RULES = st.builds(
    lambda quorums: Rule(
        stages=tuple(Stage(approvers=People(users=VOTERS), quorum=one) for one in quorums)
    ),
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
) | st.builds(lambda one: Rule(approvers=People(users=VOTERS), quorum=one), st.integers(1, 4))


def ballot(voter: str, which: int) -> Ballot:
    answer = ANSWERS[which]
    verb = answer["decision"]
    outcome = "rejected" if verb == "reject" else "approved"
    return Ballot(voter, voter, verb, outcome, answer)


def item_of(ballots: list[Ballot], rule: Rule) -> Item:
    """The row of an open item after these votes."""
    at = datetime(2026, 11, 30, 9, tzinfo=UTC)
    cast = tuple(_vote(one, at + timedelta(minutes=place)) for place, one in enumerate(ballots))
    stage = stage_of([one.hash for one in ballots], rule)
    empty = dict.fromkeys(Item.__dataclass_fields__)
    return Item(
        **{
            **empty, "item": 0, "opened_under": rule, "whole": rule, "rule": rule.stage(stage),
            "stage": stage, "status": "open", "votes": cast,
        }
    )  # fmt: skip


def _vote(one: Ballot, at: datetime) -> Vote:
    return Vote(
        one.voter, one.name, one.voter, one.verb, one.answer, one.hash, None, "slack", 1, at, None
    )  # fmt: skip


@given(CAST, RULES)
@settings(deadline=None)
def test_a_card_never_claims_more_approvals_than_count(
    cast: list[tuple[str, int]], rule: Rule
) -> None:
    ballots: list[Ballot] = []
    for voter, which in cast:
        ballots.append(ballot(voter, which))
        if count(ballots, rule, "R").decided is not None:
            ballots.pop()  # the card is closed then
            break
    item = item_of(ballots, rule)
    stages = tuple(Decides(one.quorum) for one in rule.stages)
    now = staged(item.stage, *stages) if stages else Decides(rule.quorum)
    view = replace(LOAN, decides=now, votes=rows.votes_on(item, {}))
    claimed = len(counting(view))
    # As if the same were said once more: it counts one more than the card claims, at least.
    more = [count([*ballots, ballot("Z", which)], rule, "R").have for which in (0, 1)]
    assert claimed + 1 <= max(more)
    assert claimed < max(now.quorum, 1)
    said = wording.phrase("status.open.tally.approvals", have=claimed, count=now.quorum).strip("*.")
    if claimed and now.quorum > 1:
        assert said in str(render(view).blocks)
        assert str(claimed) in standing(view).note


NAMES = st.lists(st.text("UABC0123]", min_size=1, max_size=6), max_size=3).map(tuple)
PEOPLE = st.builds(
    People, users=NAMES, groups=NAMES, roles=NAMES, manager=st.booleans(),
    emails=st.sampled_from([(), ("alice@example.com",)]),
)  # fmt: skip
WORDS = st.text(st.characters(codec="utf-8"), max_size=20)
SECONDS = st.sampled_from([0.5, 1.0, 90.0, 3600.0, 5400.0, 86400.0, 259200.0, 100.25])
MORE = st.fixed_dictionaries(
    {},
    optional={
        "graph": WORDS, "because": WORDS, "channel": WORDS, "rejections": st.integers(1, 5),
        "remind": st.lists(SECONDS, max_size=3).map(tuple),
        "escalate": st.builds(Escalation, after=SECONDS, to=PEOPLE),
        "deadline": st.builds(
            Deadline, after=SECONDS,
            then=WORDS | st.integers(0, 9) | st.dictionaries(WORDS, st.lists(WORDS), max_size=2),
        ),
        "hours": st.just(WorkingHours.model_validate({"from": "08:00", "zone": "Asia/Kolkata"})),
        "when": st.just('question.amount > 5 && "a\\n" != "]"'),
    },
)  # fmt: skip
WHO = st.fixed_dictionaries({"approvers": PEOPLE, "quorum": st.integers(1, 3)}) | (
    st.fixed_dictionaries(
        {"stages": st.lists(st.builds(Stage, approvers=PEOPLE), min_size=1, max_size=3).map(tuple)}
    )
)


@given(MORE, WHO)
@example({"because": "\x85\u2028"}, {"approvers": People(roles=("\x85", "\u2028,"))})
@settings(deadline=None, max_examples=60)
def test_a_rule_is_written_so_that_the_file_would_give_the_very_same(
    more: dict[str, Any], who: dict[str, Any]
) -> None:
    rule = Rule(**more, **who)
    (entry,) = tomllib.loads(as_toml(rule))["reviews"]
    assert Rule.model_validate(entry) == rule
    assert fingerprint(Rule.model_validate(entry)) == fingerprint(rule)


def test_a_rule_is_written_as_people_write_it() -> None:
    rule = Rule(graph="loan", approvers=People(groups=("S0CREDIT",)), remind=(3600.0, 5400.0))
    assert as_toml(rule).splitlines() == [
        "[[reviews]]",
        'graph = "loan"',
        'remind = ["1h", "90m"]',
        "",
        "[reviews.approvers]",
        'groups = ["S0CREDIT"]',
    ]
