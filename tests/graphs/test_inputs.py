"""Inputs that do not fit their graph, and questions that cannot be stored as they are."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel

from graphs import inputs, threads
from tests.graphs.conftest import House, loaded
from tests.graphs.test_runner import State, line


class Order(TypedDict, total=False):
    text: str
    amount: int
    documents: list[str]
    log: Annotated[list[str], operator.add]


class Strict(BaseModel):
    amount: int
    note: str = ""


def graph_of(schema: Any) -> Any:
    builder = StateGraph(schema)
    builder.add_node("a", lambda state: {})
    builder.add_edge(START, "a")
    return builder.compile()


@pytest.mark.parametrize(
    ("schema", "value", "says"),
    [
        (Order, [1], "must be a JSON object with text, amount, documents, log, not a list"),
        (Order, "hello", "not text"),
        (Order, 7, "not a number"),
        (Order, {"txt": "hello"}, "nothing that the graph knows. Write text, amount"),
        (Order, {"amount": "many"}, "amount does not fit: input should be a valid integer"),
        (Order, {"documents": "one"}, "documents does not fit"),
        (Strict, {"note": "x"}, "lacks amount"),
    ],
)
def test_an_input_that_is_sure_to_fail_is_told_in_one_sentence(
    schema: Any, value: Any, says: str
) -> None:
    assert says in (inputs.problem(graph_of(schema), value) or "")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (Order, {}),
        (Order, {"text": "hello", "more": 1}),
        (Order, {"amount": None}),
        (Order, {"log": "what the reducer makes of it"}),
        (Strict, {"amount": 5}),
        (MessagesState, {"messages": [{"role": "user", "content": "hello"}]}),
        (MessagesState, {"messages": "hello"}),
        (Annotated[list[str], operator.add], ["one"]),
    ],
)
def test_what_langgraph_may_take_is_left_to_it(schema: Any, value: Any) -> None:
    assert inputs.problem(graph_of(schema), value) is None


@pytest.mark.parametrize(("schema", "value"), [(Order, [1]), (Strict, {"note": "x"})])
async def test_a_failure_at_the_input_is_permanent(
    house: Callable[..., House], schema: Any, value: Any
) -> None:
    here = house(loaded("order", graph_of(schema), retry=(0.05, 0.05)))
    async with here.working():
        async with here.database.transaction() as connection:
            started = await threads.start(
                connection, team="T0SAYSO", graph="order", requester="U0BOB", input=value
            )
        failed = await here.until(started.thread_id, "failed")
    assert failed.error is not None
    assert (failed.error.attempt, bool(failed.error.node)) == (1, True)


async def test_a_state_that_its_model_refuses_fails_the_thread_instead_of_spinning(
    house: Callable[..., House],
) -> None:
    def breaks(state: Strict) -> dict[str, Any]:
        return {"amount": "many"}

    builder = StateGraph(Strict)
    builder.add_node("breaks", breaks)
    builder.add_node("next", lambda state: {})
    builder.add_edge(START, "breaks")
    builder.add_edge("breaks", "next")
    here = house(loaded("breaks", builder.compile()))
    async with here.working():
        async with here.database.transaction() as connection:
            started = await threads.start(
                connection, team="T0SAYSO", graph="breaks", requester="U0BOB", input={"amount": 1}
            )
        failed = await here.until(started.thread_id, "failed")
    assert failed.error is not None
    assert "valid integer" in failed.error.message


class Strange:
    def __str__(self) -> str:
        return "something strange"


class Unspeakable:
    def __str__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Strange(), "something strange"),
        ({"what": Strange(), "sum": 5}, {"what": "something strange", "sum": 5}),
        ({"sum": 10**30}, {"sum": str(10**30)}),
        ({"risk": float("nan")}, None),
        ([Unspeakable()], ["(Unspeakable)"]),
    ],
)
async def test_a_question_that_cannot_be_stored_is_asked_in_words(
    house: Callable[..., House], value: Any, shown: Any
) -> None:
    def asks(state: State) -> State:
        return {"answer": interrupt(value)}

    here = house(loaded("asks", line(asks).compile()))
    async with here.working():
        thread_id = await here.start("asks")
        await here.until(thread_id, "paused")
        (review,) = await here.open_reviews(thread_id)
        assert review.node == "asks"
        assert shown is None or review.question == shown
        await here.vote(review.id, "yes")
        await here.until(thread_id, "done")
    assert (await here.values(thread_id))["answer"] == "yes"
