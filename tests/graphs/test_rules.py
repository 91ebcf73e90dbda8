"""Which rule a question gets: by its values, its state and its customer, before anybody decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from graphs import audit, reviews
from graphs.policy import fingerprint
from graphs.registry import LoadedGraph, default_intake
from graphs.specs import GraphSpec, People, Rule
from tests.graphs.conftest import House

HEADS = People(users=("U0ERIN",))
DESK = People(users=("U0ALICE",))


class Paying(TypedDict, total=False):
    text: str
    sums: list[int]
    vip: bool
    answers: Any


def ask(state: Paying) -> Paying:
    calls = [{"name": "pay", "args": {"sum": each}} for each in state["sums"]]
    configs = [{"action_name": "pay", "allowed_decisions": ["approve", "reject"]}]
    return {"answers": interrupt({"action_requests": calls, "review_configs": configs})}


def paying() -> LoadedGraph:
    builder = StateGraph(Paying)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    graph = builder.compile()
    return LoadedGraph("paying", graph, GraphSpec(path="a:b"), default_intake(graph))


async def asked(
    house: Callable[..., House], *rules: Rule, sums: tuple[int, ...] = (10, 90), **given: Any
) -> tuple[House, reviews.Review]:
    here = house(paying(), rules=rules)
    async with here.working():
        thread = await here.start("paying", {"sums": list(sums), **given})
        await here.until(thread, "paused")
        (review,) = await here.open_reviews(thread)
    return here, review


async def test_each_call_gets_the_rule_whose_condition_holds_of_its_own_values(
    house: Callable[..., House],
) -> None:
    large = Rule(when="question.sum > 50", approvers=HEADS)
    _, review = await asked(house, large, Rule(tool="pay", approvers=DESK))
    assert [item.rule.approvers for item in review.items if item.rule] == [DESK, HEADS]


async def test_so_many_calls_that_they_are_one_answer_do_not_escape_the_rule_of_their_tool(
    house: Callable[..., House],
) -> None:
    rules = (Rule(tool="pay", approvers=HEADS), Rule(approvers=DESK))
    here, review = await asked(house, *rules, sums=tuple(range(101)))
    assert (review.asking.form, review.audience, review.rule) == ("free", "reviewers", None)
    assert ("notice", f"review:{review.id}") in here.wished
    (said,) = [
        entry
        for entry in await audit.of_review(here.database, review.id)
        if entry.what == "rule.failed"
    ]
    assert "cannot be decided one by one" in str(said.detail["why"])


async def test_a_rule_in_shadow_decides_nothing_and_writes_down_whom_it_would_have_asked(
    house: Callable[..., House],
) -> None:
    shadow = Rule(
        shadow=True, when="question.sum > 50", approvers=HEADS, quorum=1, channel="C0HEADS"
    )
    untold = Rule(shadow=True, when="question.amount > 50", approvers=HEADS)
    real = Rule(tool="pay", approvers=DESK)
    after = Rule(shadow=True, approvers=HEADS)
    here, review = await asked(house, shadow, untold, real, after)
    assert [item.opened_under for item in review.items] == [real, real]
    assert ("notice", f"review:{review.id}") not in here.wished
    told = await audit.of_review(here.database, review.id)
    said = [entry.detail for entry in told if entry.what == "rule.shadowed"]
    assert [(one["item"], one["place"]) for one in said] == [(0, 2), (1, 1), (1, 2)]
    assert [one["why"] for one in said] == ["there is no amount", "", "there is no amount"]
    assert (said[1]["approvers"]["users"], said[1]["channel"]) == (["U0ERIN"], "C0HEADS")
    assert said[1]["hash"] == fingerprint(shadow)
    assert all(one["matched"] == {"place": 3, "hash": fingerprint(real)} for one in said)
    assert [entry.what for entry in told].count("rule.failed") == 0


@pytest.mark.parametrize(("vip", "approvers"), [(True, HEADS), (False, DESK)])
async def test_a_condition_may_look_at_the_state_behind_the_question(
    house: Callable[..., House], vip: bool, approvers: People
) -> None:
    rule = Rule(when="has(state.vip) && state.vip", approvers=HEADS)
    _, review = await asked(house, rule, Rule(approvers=DESK), vip=vip)
    assert review.rule is not None
    assert review.rule.approvers == approvers


async def test_who_asked_about_whom_and_where_can_be_asked_too(
    house: Callable[..., House],
) -> None:
    told = "requester == 'U0BOB' && customer == null && thread.graph == 'paying'"
    _, review = await asked(house, Rule(when=told, approvers=HEADS), Rule(approvers=DESK))
    assert review.rule is not None
    assert review.rule.approvers == HEADS


async def test_a_condition_that_cannot_be_told_lets_nobody_decide_and_says_so(
    house: Callable[..., House],
) -> None:
    rule = Rule(when="question.amount > 50", approvers=HEADS)
    here, review = await asked(house, rule, Rule(approvers=DESK), sums=(10,))
    assert review.rule is None
    assert ("notice", f"review:{review.id}") in here.wished
    (said,) = [
        entry
        for entry in await audit.of_review(here.database, review.id)
        if entry.what == "rule.failed"
    ]
    why = "the condition of [[reviews]] number 1 could not be told: there is no amount"
    assert said.detail["why"] == [why]
