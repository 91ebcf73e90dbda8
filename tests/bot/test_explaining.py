"""Which rule a question gets and why, without asking anybody; and what its card would look like."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot import limits, previewing, stories
from bot.__main__ import main
from bot.check import check
from bot.explaining import NoCase, simulate
from bot.rules import as_toml
from bot.settings import load
from bot.wishes import Wishes
from checkpoints.database import Database
from graphs import audit, deadlines, reviews, threads
from graphs.cases import Found, shadowed
from graphs.errors import UnknownGraph
from graphs.policy import LookedAt, Verdict
from graphs.specs import Deadline, People, Rule, Stage
from tests.bot.conftest import Desk
from tests.bot.test_commands import Terminal

CONFIG = """
[operators]
users = ["U0OSCAR"]

[graphs.pay]
path = "pay:graph"

[[reviews]]
graph = "pay"
tool = "refund"
when = "question.amount > 500"
approvers = { users = ["U0ERIN"] }
quorum = 1
deadline = { after = "1d", then = "reject" }

[[reviews]]
graph = "pay"
when = "customer != null && customer.vip"
approvers = { groups = ["S0HEADS"] }

[[reviews]]
graph = "pay"
approvers = { users = ["U0ALICE", "U0DANA"] }
quorum = 2
"""
CALLS = [
    {"name": "refund", "args": {"amount": 4000}},
    {"name": "refund", "args": {"amount": 5}},
    {"name": "mail", "args": {"to": "\x1b[2Jx"}},
]
QUESTION = {
    "action_requests": CALLS,
    "review_configs": [
        {"action_name": name, "allowed_decisions": ["approve", "reject"]}
        for name in ("refund", "mail")
    ],
}
NOW = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sayso.toml").write_text(CONFIG)
    monkeypatch.setenv("SAYSO_CONFIG", str(tmp_path / "sayso.toml"))


def case(**more: Any) -> dict[str, Any]:
    return {"graph": "pay", "node": "model", "question": QUESTION, **more}


@pytest.mark.usefixtures("configured")
def test_each_action_is_told_its_rule_and_why() -> None:
    large, small, mail = simulate(case(customer={"vip": False}), NOW)
    assert (large["number"], large["who"], large["deadline"]) == (
        1,
        ["U0ERIN"],
        "2026-03-03T00:00:00+00:00",
    )
    assert (small["number"], small["who"], small["quorum"]) == (3, ["U0ALICE", "U0DANA"], 2)
    assert small["looked_at"] == [
        "rule 1 does not hold: question.amount > 500",
        "rule 2 does not hold: customer != null && customer.vip",
        "rule 3 matches",
    ]
    assert mail["looked_at"][0] == "rule 1 is for graph pay, tool refund"
    assert simulate(case(customer={"vip": True}), NOW)[1]["who"] == ["S0HEADS"]


TIMED = """
[[reviews]]
graph = "pay"
node = "late"
approvers = { users = ["U0ALICE"] }
remind = ["4h", "2d 09:30"]
escalate = { after = "18:00", to = { users = ["U0ERIN"], roles = ["risk"] } }
deadline = { after = "3d 18:00", then = "perhaps" }
hours = { from = "09:00", to = "17:00", zone = "Asia/Kolkata", holidays = "IN" }
[roles.risk]
users = ["U0DANA"]
"""


def test_the_clock_is_told_in_the_zone_of_the_rule_and_a_then_that_cannot_be_taken_as_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sayso.toml").write_text('[graphs.pay]\npath = "pay:graph"\n' + TIMED)
    monkeypatch.setenv("SAYSO_CONFIG", str(tmp_path / "sayso.toml"))
    friday = datetime(2026, 1, 23, 8, 30, tzinfo=UTC)  # 14:00 in India, before a long weekend
    late = case(node="late", question="Pay?", schema={"type": "boolean"})
    (found,) = simulate(late, friday)
    assert [(row["kind"], row["when"], row["what"]) for row in found["clock"]] == [
        ("escalate", "Fri 23 Jan 2026 18:00 IST", "U0ERIN, role risk may decide too"),
        ("remind", "Tue 27 Jan 2026 10:00 IST", "whoever has not voted is reminded"),
        (
            "remind",
            "09:30 in each reader's own time, from Tue 03 Feb 2026 14:00 IST on",
            "whoever has not voted is reminded",
        ),
        (
            "deadline",
            "Fri 06 Feb 2026 18:00 IST",
            "nobody decided, so it stays open and the operators are told: the question cannot "
            "take perhaps",
        ),
    ]
    (tmp_path / "case.json").write_text(json.dumps(late))
    monkeypatch.setattr("sys.argv", ["sayso", "policy", "simulate", str(tmp_path / "case.json")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    told = capsys.readouterr().out
    assert "09:30 in each reader's own time" in told
    assert "not between 08:00 and 20:00" in told
    kept = as_toml(load().configuration.reviews[0])
    assert 'remind = ["4h", "2d 09:30"]' in kept
    assert 'after = "18:00"' in kept


def test_roles_and_managers_are_told_by_name_and_by_who_they_are_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sayso.toml").write_text(
        """
        [roles.risk]
        users = ["U0DANA"]
        [managers]
        people = { U0BOB = "erin@example.com" }
        [graphs.pay]
        path = "pay:graph"
        [[reviews]]
        approvers = { roles = ["risk"], manager = true }
        """
    )
    monkeypatch.setenv("SAYSO_CONFIG", str(tmp_path / "sayso.toml"))
    (found,) = simulate(case(question="Pay?", requester="U0BOB"))
    assert found["who"] == ["role risk", "the requester's manager"]
    assert found["are"] == ["U0DANA", "erin@example.com"]
    (found,) = simulate(case(question="Pay?", requester="U0CHARLIE"))
    assert found["are"] == ["U0DANA"]
    made = previewing.card("pay", "ask", {"question": "Pay?"}, None, NOW)
    assert "@U0DANA and Whoever asks's manager" in previewing.as_text(made)


@pytest.mark.usefixtures("configured")
def test_a_condition_that_cannot_be_told_ends_the_search_there() -> None:
    (found,) = simulate(case(question="Pay?", customer={}))
    assert (found["who"], found["number"]) == ([], None)
    assert found["looked_at"][-1].startswith("rule 2 could not be told (there is no vip)")


SHADOWS = """
[[reviews]]
graph = "pay"
tool = "refund"
shadow = true
channel = "C0HEADS"
when = "question.amount > 500"
approvers = { users = ["U0ERIN"], groups = ["S0HEADS"] }
quorum = 2

[[reviews]]
graph = "pay"
node = "model"
shadow = true
when = "customer.limit > 1"
approvers = { users = ["U0ERIN"] }
"""


def test_a_rule_in_shadow_is_told_by_simulate_and_where_it_stands_alone_by_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    head, first, *_ = CONFIG.partition("[[reviews]]")
    real = f'{first}\ngraph = "pay"\nnode = "tools"\napprovers = {{ users = ["U0ALICE"] }}\n'
    (tmp_path / "sayso.toml").write_text(head + SHADOWS + real)
    monkeypatch.setenv("SAYSO_CONFIG", str(tmp_path / "sayso.toml"))
    large, *_ = simulate(case(node="tools", customer={}), NOW)
    assert (large["who"], large["number"]) == (["U0ALICE"], 3)
    assert large["looked_at"][0] == (
        "rule 1 is in shadow and decides nothing; it would have asked 2 of U0ERIN, "
        "S0HEADS in C0HEADS"
    )
    (untold,) = simulate(case(question="Pay?", customer={}), NOW)
    assert untold["looked_at"][1] == (
        "rule 2 is in shadow, and could not be told (there is no limit): customer.limit > 1"
    )
    asyncio.run(check())
    alone = "reviews[2]: it is in shadow, and no other rule is for model of pay: nobody may decide"
    assert alone in capsys.readouterr().out


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ([], "Give an object like"),
        ({"graph": "pay"}, "Give an object like"),
        (case(custommer={}), "There is no custommer in a case"),
        (case(graph="loan"), "There is no graph called loan. There are: pay."),
    ],
)
def test_what_is_no_case_is_refused_with_what_to_write(wrong: Any, says: str) -> None:
    with pytest.raises(NoCase, match=says):
        simulate(wrong)


@pytest.mark.usefixtures("configured")
def test_what_is_wrong_with_a_case_is_told_without_its_control_signs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "case.json").write_text(json.dumps(case(graph="\x1b[2J\x9b31m\u202e")))
    monkeypatch.setattr("sys.argv", ["sayso", "policy", "simulate", str(tmp_path / "case.json")])
    with pytest.raises(SystemExit):
        main()
    said = capsys.readouterr().err
    assert "There is no graph called" in said
    assert said.strip().isprintable()


@pytest.mark.usefixtures("configured")
def test_a_card_is_shown_before_anybody_asks() -> None:
    made = previewing.card("pay", "model", QUESTION, None, NOW)
    limits.check_message(made.text, made.blocks)
    shown = previewing.as_text(made)
    assert "1. Refund\n" in shown
    assert "Amount: 4,000" in shown
    assert "[Approve] [Reject]" in shown
    assert "\x1b" not in shown
    with pytest.raises(UnknownGraph):
        previewing.card("loan", "model", QUESTION, None)


@pytest.fixture
def terminal(database_url: str, tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, database_url)


async def test_a_review_tells_its_rule_and_that_the_file_says_otherwise_now(
    desk: Desk, terminal: Terminal, database: Database
) -> None:
    rule = Rule(
        approvers=People(users=("U0ALICE",)), because="we said so", remind=(600, 1200),
        deadline=Deadline(after=3600, then="approve"),
    )  # fmt: skip
    thread_id = await desk.thread()
    review_id = await desk.review(thread_id, rule=rule)
    async with database.transaction() as connection:
        review = await reviews.get(connection, review_id)
        await deadlines.begin(connection, review)
    specs, soon = desk.settings.configuration.graphs, review.opened_at + timedelta(minutes=20)
    assert await deadlines.tick(database, specs, Wishes(desk.present), now=soon) == 2
    async with database.transaction() as connection:
        people = People(groups=("S0HEADS",), roles=("risk",))
        stages = (Stage(approvers=people, quorum=2), Stage(approvers=People(manager=True)))
        quiet = Rule(shadow=True, stages=stages)
        shadow = LookedAt(1, quiet, Verdict.SHADOWED)
        await audit.record(
            connection, "rule.shadowed", thread_id=thread_id, review_id=review_id,
            detail=shadowed(0, None, shadow, Found(rule, 2)),
        )  # fmt: skip
    code, out, err = await terminal.run("policy", "explain", "--review", str(review_id), "--json")
    assert code == 0, err
    (item,) = json.loads(out)["items"]
    assert (item["who"], item["because"], item["then"]) == (["U0ALICE"], "we said so", "approve")
    assert (item["present_differs"], item["present_rule"] is not None) == (True, True)
    assert item["deadline"] is not None
    stand = [(row["kind"], row["stands"].split(" ")[0], row["people"]) for row in item["clock"]]
    assert stand == [
        ("remind", "done", ["U0ALICE will get it"]),
        ("remind", "dropped,", []),
        ("deadline", "still", []),
    ]
    assert item["clock"][2]["what"] == "nobody decided, so the answer is approve"
    shadow_said = (
        "rule 1, in shadow, would have asked 2 of S0HEADS, role risk, then the requester's "
        "manager; rule 2 was taken"
    )
    assert item["shadows"] == [shadow_said]
    thread = await threads.get(database, thread_id)
    story = stories.told(thread, [], await audit.of_thread(database, thread_id), None)
    assert story.rstrip().endswith(shadow_said)
    code, _, err = await terminal.run("policy", "explain", "--review", "999")
    assert (code, "999" in err) == (1, True)
