"""`sayso check` says of every name in sayso.toml whether it leads anywhere, all in one report."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import check, logs, naming
from bot.configuration import Configuration
from bot.simulator import LocalSlack, cast
from graphs.structures import Structure

GRAPH = """
from typing import TypedDict

from langchain_core.tools import tool
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode


@tool
def pay(amount: int) -> str:
    "Pay."
    return "paid"


class State(TypedDict):
    messages: list


inner = StateGraph(State).add_node("ask", lambda _: {}).add_edge(START, "ask").compile()
outer = StateGraph(State).add_node("payments", inner).add_node("tools", ToolNode([pay]))
graph = outer.add_edge(START, "payments").compile()
"""

GOOD = """
[operators]
channel = "C0OPS"
[graphs.loan]
path = "./graph.py:graph"
channels = ["C0LOANS"]
[[reviews]]
node = "payments/ask"
approvers = { users = ["U0ALICE"], groups = ["S0CREDIT"] }
[[reviews]]
node = "ask"
tool = "pay"
channel = "C0CREDIT"
approvers = { users = ["U0DANA"] }
"""

WRONG = """
[operators]
channel = "C0NOWHERE"
[roles]
risk = { users = ["U0NOBODY"] }
[graphs.loan]
path = "./graph.py:graph"
chanels = ["C0LOANS"]
[[reviews]]
graph = "lone"
approvers = { users = ["U0ALICE"] }
[[reviews]]
node = "payment"
approvers = { groups = ["S0LOST"] }
[[reviews]]
tool = "pray"
approvers = { roles = ["risks"] }
[[reviews]]
when = "question.amount >"
approvers = { users = ["U0ALICE"] }
[[reviews]]
when = "amount > 5"
approvers = { users = ["U0GONE"] }
[[reviews]]
approvers = { users = ["U0ALICE"] }
quorum = 2
hours = { zone = "Asia/Kolkatta", to = "6 pm", holidays = "Narnia" }
[[reviews]]
approvers = { users = ["U0ALICE"] }
quorum = 2
[reviews.hours]
holidays = "XX"
[[reviews]]
graph = "loan"
when = "size(state.mesages) > 5"
approvers = { users = ["U0ALICE"] }
"""


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(logs, "set_up", lambda *_, **__: None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.py").write_text(GRAPH)
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "home"))
    return tmp_path / "sayso.toml"


async def test_one_report_tells_every_mistake_with_its_line_and_what_slack_does_not_know(
    configured: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with LocalSlack.start(home=None) as slack:
        monkeypatch.setenv("SAYSO_SLACK_BOT_TOKEN", cast.BOT_TOKEN)
        monkeypatch.setenv("SAYSO_SLACK_SIGNING_SECRET", cast.SIGNING_SECRET)
        monkeypatch.setenv("SAYSO_SLACK_API_URL", slack.api_url)
        configured.write_text(GOOD)
        assert await check.check() == 0
        assert "warning:" not in capsys.readouterr().out

        configured.write_text(WRONG)
        assert await check.check() == 1
        said = capsys.readouterr().out
        for told in (
            "mistake: sayso.toml:3: operators.channel: Slack knows no C0NOWHERE, or the app is not",
            "mistake: sayso.toml:5: roles.risk.users: Slack knows no U0NOBODY.",
            "mistake: sayso.toml:8: graphs.loan.chanels: this key is not known",
            "mistake: sayso.toml:10: reviews[1].graph: there is no graph called lone.",
            "mistake: sayso.toml:17: reviews[3].approvers.roles: there is no role called risks.",
            "mistake: sayso.toml:19: reviews[4].when: ",
            "mistake: sayso.toml:22: reviews[5].when: ",
            "mistake: sayso.toml:27: reviews[6].hours.zone: 'Asia/Kolkatta' is no time zone",
            "mistake: sayso.toml:27: reviews[6].hours.to: '6 pm' is no time of day",
            "mistake: sayso.toml:27: reviews[6].hours.holidays: no holidays are known of 'Narnia'",
            "mistake: sayso.toml:32: reviews[7].hours.holidays: no holidays are known of 'XX'",
            "mistake: sayso.toml:35: reviews[8].when: the state of loan has no field called "
            "mesages. Did you mean messages?",
            "mistake: sayso.toml:13: reviews[2].node: no graph has a step called payment. "
            "Did you mean payments?",
            "mistake: sayso.toml:14: reviews[2].approvers.groups: Slack knows no user group S0LOST",
            "warning: sayso.toml:16: reviews[3].tool: no tool called pray is found. "
            "Did you mean pay?",
        ):
            assert told in said

        await slack.misbehave(missing_scopes=["users:read"])
        configured.write_text(GOOD)
        assert await check.check() == 0
        assert "warning: not everything was looked up in Slack" in capsys.readouterr().out


def rule(**of: object) -> Configuration:
    graphs = {"loan": {"path": "a:b"}, "agent": {"path": "a:c"}}
    return Configuration.model_validate({"graphs": graphs, "reviews": [of]})


LOAN = Structure(("pay", "outer", "outer/ask"), whole=True, tools=("send",))
AGENT = Structure(("agent",), whole=False, tools=())


@pytest.mark.parametrize(
    ("node", "fits"),
    [("pay", True), ("ask", True), ("outer/ask", True), ("outer/hidden/ask", True),
     ("asks", False), ("other/ask", False)],
)  # fmt: skip
def test_a_node_is_found_by_its_path_its_last_name_or_below_a_node_that_is_there(
    node: str, fits: bool
) -> None:
    found = list(naming.mistakes(rule(graph="loan", node=node), {"loan": LOAN}))
    assert (found == []) is fits
    assert list(naming.mistakes(rule(node=node), {"loan": LOAN})) == []  # not all are loaded
    both = {"loan": LOAN, "agent": AGENT}
    assert list(naming.mistakes(rule(node=node), both)) == []  # a task cannot be seen


def test_a_tool_is_only_doubted_where_all_tools_can_be_seen() -> None:
    assert len(list(naming.warnings(rule(graph="loan", tool="pay"), {"loan": LOAN}))) == 1
    assert list(naming.warnings(rule(graph="loan", tool="send"), {"loan": LOAN})) == []
    assert list(naming.warnings(rule(graph="agent", tool="pay"), {"agent": AGENT})) == []


@pytest.mark.parametrize(
    ("when", "unknown"),
    [("state.sum > 5 && state.summ > 5 && state.who.name == 'x'", ["summ"]),
     ("has(state.late) && state.late", []), ("question.state.x == 'state.y'", []),
     ("state.sum.size() > 5 || state['late'] == 5", [])],
)  # fmt: skip
def test_a_condition_names_fields_that_the_state_has(when: str, unknown: list[str]) -> None:
    state = Structure(("pay",), whole=True, tools=(), fields=("sum", "who"))
    found = list(naming.mistakes(rule(graph="loan", when=when), {"loan": state}))
    assert [each.split("called ")[1].split(".")[0] for each in found] == unknown
    bare = Structure(("pay",), whole=True, tools=())
    assert list(naming.mistakes(rule(graph="loan", when=when), {"loan": bare})) == []


@pytest.mark.parametrize(
    ("when", "unknown"),
    [
        ("thread.number > 5 && customer.name == 'Asha'", []),
        ("thread.numbre > 5", ["numbre"]),
        ("has(customer.vip) && customer.vip", []),
        ("customer.vip || thread.day == 1", ["day", "vip"]),
        ("requester.id == 'U0BOB'", ["id"]),
        ("requester == 'customer.vip' && state.customer.vip", []),
    ],
)
def test_a_condition_names_fields_that_every_thread_and_customer_has(
    when: str, unknown: list[str]
) -> None:
    found = list(naming.mistakes(rule(when=when), {}))
    assert [each.split("called ")[1].split(".")[0] for each in found] == unknown
