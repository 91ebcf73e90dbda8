"""Which rule a question gets and why, without asking anybody; and what its card would look like."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot import limits, previewing
from bot.__main__ import main
from bot.explaining import NoCase, simulate
from checkpoints.database import Database
from graphs import deadlines, reviews
from graphs.errors import UnknownGraph
from graphs.specs import Deadline, People, Rule
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


@pytest.mark.usefixtures("configured")
def test_a_condition_that_cannot_be_told_ends_the_search_there() -> None:
    (found,) = simulate(case(question="Pay?", customer={}))
    assert (found["who"], found["number"]) == ([], None)
    assert found["looked_at"][-1].startswith("rule 2 could not be told (there is no vip)")


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
        approvers=People(users=("U0ALICE",)), because="we said so",
        deadline=Deadline(after=3600, then="approve"),
    )  # fmt: skip
    review_id = await desk.review(rule=rule)
    async with database.transaction() as connection:
        await deadlines.begin(connection, await reviews.get(connection, review_id))
    code, out, err = await terminal.run("policy", "explain", "--review", str(review_id), "--json")
    assert code == 0, err
    (item,) = json.loads(out)["items"]
    assert (item["who"], item["because"], item["then"]) == (["U0ALICE"], "we said so", "approve")
    assert (item["present_differs"], item["present_rule"]) == (True, 1)
    assert item["deadline"] is not None
    code, _, err = await terminal.run("policy", "explain", "--review", "999")
    assert (code, "999" in err) == (1, True)
