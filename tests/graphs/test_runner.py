"""Threads from start to end on a real worker: pause, decide, resume, fail, take over, drain."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from graphs import reviews, routings, steps, threads
from graphs.votes import Decided
from tests.graphs.conftest import House, loaded


class State(TypedDict, total=False):
    text: str
    risk: int
    answer: Any
    by: str
    log: Annotated[list[str], operator.add]


def assess(state: State) -> State:
    return {"risk": 71, "log": ["assess"]}


def by_risk(state: State) -> str:
    return "ask" if state["risk"] > 50 else END


def ask(state: State, config: RunnableConfig) -> State:
    answer = interrupt({"question": "Go on?", "risk": state["risk"]})
    decisions = config["configurable"]["sayso"]["decisions"]
    return {"answer": answer, "by": decisions[0]["by"][0]["name"], "log": ["ask"]}


def pay(state: State) -> State:
    return {"log": ["pay"]}


def loan() -> Any:
    builder = StateGraph(State)
    builder.add_node("assess", assess)
    builder.add_node("ask", ask)
    builder.add_node("pay", pay)
    builder.add_edge(START, "assess")
    builder.add_conditional_edges("assess", by_risk, ["ask", END])
    builder.add_edge("ask", "pay")
    return builder.compile()


async def test_a_thread_pauses_for_a_person_and_resumes_with_exactly_the_answer(
    house: Callable[..., House],
) -> None:
    here = house(loaded("loan", loan(), outcome="Answered {answer.decision} by {by}."))
    async with here.working():
        thread_id = await here.start("loan")
        paused = await here.until(thread_id, "paused")
        assert paused.next == ("ask",)
        (review,) = await here.open_reviews(thread_id)
        assert review.question == {"question": "Go on?", "risk": 71}
        assert review.audience == "reviewers"
        decided = await here.vote(review.id, {"decision": "approve", "note": None}, revision=1)
        assert isinstance(decided, Decided)
        done = await here.until(thread_id, "done")
    assert done.outcome == "Answered approve by Alice."
    assert ("card", str(review.id)) in here.wished
    assert ("outcome", thread_id) in here.wished
    kept = await steps.of_thread(here.database, thread_id)
    assert [(step.node, step.status) for step in kept] == [
        ("assess", "done"),
        ("ask", "done"),
        ("pay", "done"),
    ]
    (routing,) = await routings.of_thread(here.database, thread_id)
    assert (routing.node, routing.branch, routing.choice) == ("assess", "by_risk", "ask")
    assert routing.checkpoint_id == review.checkpoint_id
    assert (await reviews.get(here.database, review.id)).outcome == "approved"
    assert (await threads.list_(here.database, status="done"))[0].id == thread_id
