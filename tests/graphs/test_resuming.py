"""Questions of every kind at once, answered in any order by workers that come and go."""

from __future__ import annotations

import asyncio
import operator
import random
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.tools import tool
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, Send, interrupt

from graphs import reviews, threads
from tests.graphs.conftest import House, loaded, until
from tests.graphs.test_runner import State, line


class Work(TypedDict, total=False):
    text: str
    number: int
    log: Annotated[list[str], operator.add]


def join(state: Work) -> Work:
    return {"log": ["join"]}


def fan_out() -> Any:
    """Thirty branches at once, each with a question of its own."""

    def asks(state: Work) -> Work:
        return {"log": [f"{state['number']} {interrupt(state['number'])}"]}

    builder = StateGraph(Work)
    builder.add_node("asks", asks)
    builder.add_node("join", join)
    builder.add_conditional_edges(
        START, lambda state: [Send("asks", {"number": number}) for number in range(30)], ["asks"]
    )
    builder.add_edge("asks", "join")
    return builder.compile()


def deep() -> Any:
    """Two subgraphs side by side, each two deep, and a node that asks beside them."""

    def middle(name: str) -> Any:
        def asks(state: Work) -> Work:
            return {"log": [f"{name} {interrupt(name)}"]}

        class Log(TypedDict, total=False):
            log: Annotated[list[str], operator.add]

        inner = StateGraph(Log)
        inner.add_node("asks", asks)
        inner.add_edge(START, "asks")
        around = StateGraph(Log)
        around.add_node("inner", inner.compile())
        around.add_edge(START, "inner")
        return around.compile()

    def beside(state: Work) -> Work:
        return {"log": [f"beside {interrupt('beside')}"]}

    builder = StateGraph(Work)
    builder.add_node("left", middle("left"))
    builder.add_node("right", middle("right"))
    builder.add_node("beside", beside)
    builder.add_node("join", join)
    for name in ("left", "right", "beside"):
        builder.add_edge(START, name)
    builder.add_edge(["left", "right", "beside"], "join")
    return builder.compile()


class Chat(TypedDict, total=False):
    text: str
    messages: Annotated[list[AnyMessage], add_messages]


def tools() -> Any:
    """Tool calls of one turn that each ask inside the tool."""

    @tool
    def refund(order: str) -> str:
        """Refund an order."""
        return f"{order} {interrupt(order)}"

    def model(state: Chat) -> Chat:
        calls = [
            {"name": "refund", "args": {"order": f"o{number}"}, "id": f"c{number}"}
            for number in range(3)
        ]
        return {"messages": [AIMessage("", tool_calls=calls)]}

    builder = StateGraph(Chat)
    builder.add_node("model", model)
    builder.add_node("tools", ToolNode([refund]))
    builder.add_edge(START, "model")
    builder.add_edge("model", "tools")
    return builder.compile()


def again_and_again() -> Any:
    """A second question in the same node, beside a loop that asks until it likes the answer."""

    def twice(state: Work) -> Work:
        first = interrupt("first")
        return {"log": [f"twice {first} {interrupt('second')}"]}

    def loops(state: Work) -> Work:
        tries = 0
        while (answer := interrupt(f"try {tries}")) != "try 2":
            tries += 1
        return {"log": [f"loops {answer}"]}

    builder = StateGraph(Work)
    for node in (twice, loops, join):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "twice")
    builder.add_edge(START, "loops")
    builder.add_edge(["twice", "loops"], "join")
    return builder.compile()


CALLS: list[str] = []


def functional() -> Any:
    """An entrypoint whose tasks are remembered, and of which two ask."""

    @task
    async def costly(name: str) -> str:
        CALLS.append(name)
        return name

    @task
    async def asks(name: str) -> str:
        return f"{name} {interrupt(name)}"

    @entrypoint()
    async def graph(given: dict[str, Any]) -> list[str]:
        done = await costly("costly")
        both = await asyncio.gather(asks("left"), asks("right"))
        return [done, *both, f"last {interrupt('last')}"]

    return graph


def by_hand() -> Any:
    """A node that calls another graph by hand, which asks."""

    def asks(state: State) -> State:
        return {"answer": interrupt("by hand")}

    inner = line(asks).compile()

    def calls(state: Work) -> Work:
        return {"log": [f"calls {inner.invoke({'text': 'x'})['answer']}"]}

    builder = StateGraph(Work)
    builder.add_node("calls", calls)
    builder.add_node("join", join)
    builder.add_edge(START, "calls")
    builder.add_edge("calls", "join")
    return builder.compile()


def goes_to() -> Any:
    """Two people one after the other by `Command(goto=…)`, with a way back."""

    def manager(state: Work) -> Command[Any]:
        answer = interrupt("manager")
        return Command(update={"log": [f"manager {answer}"]}, goto="finance")

    def finance(state: Work) -> Command[Any]:
        answer = interrupt("finance")
        seen = [each for each in state["log"] if each.startswith("finance")]
        return Command(update={"log": [f"finance {answer}"]}, goto=END if seen else "manager")

    builder = StateGraph(Work)
    builder.add_node("manager", manager, destinations=("finance",))
    builder.add_node("finance", finance, destinations=("manager", END))
    builder.add_edge(START, "manager")
    return builder.compile()


GRAPHS: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "thirty at once": (fan_out, [*sorted(f"{number} {number}" for number in range(30)), "join"]),
    "two deep": (deep, ["beside beside", "left left", "right right", "join"]),
    "tools in parallel": (tools, ["o0 o0", "o1 o1", "o2 o2"]),
    "a second question and a loop": (
        again_and_again,
        ["loops try 2", "twice first second", "join"],
    ),
    "entrypoint": (functional, ["costly", "left left", "right right", "last last"]),
    "by hand": (by_hand, ["calls by hand", "join"]),
    "goto": (
        goes_to,
        ["manager manager", "finance finance", "manager manager", "finance finance"],
    ),
}


def said(values: dict[str, Any]) -> list[str]:
    if "messages" in values:
        return [str(message.content) for message in values["messages"] if message.type == "tool"]
    log = values.get("log") or values.get("__end__") or []
    return sorted(log[:-1]) + log[-1:] if log[-1:] == ["join"] else log


@pytest.mark.parametrize("name", GRAPHS)
async def test_any_order_of_answers_by_two_workers_asks_nothing_twice_and_joins_once(
    house: Callable[..., House], name: str
) -> None:
    make, expected = GRAPHS[name]
    CALLS.clear()
    graph = make()
    here = house(loaded("work", graph))
    order = random.Random(name)
    async with here.working():
        thread_id = await here.start("work", {"text": "x"})
        await here.until(thread_id, "paused")
    # Whoever asked is gone; two others share what comes, and each answer is its question.
    answered: set[int] = set()
    async with here.working(), here.working():
        while True:

            async def more() -> list[reviews.Review] | bool:
                found = await here.open_reviews(thread_id)
                thread = await threads.get(here.database, thread_id)
                return [each for each in found if each.id not in answered] or (
                    thread.status in ("done", "failed")
                )

            found = await until(more)
            if not isinstance(found, list):
                break
            order.shuffle(found)
            for review in found:
                answered.add(review.id)
                by = order.choice(["U0ALICE", "U0DANA"])
                await here.vote(review.id, review.question, by=by)
    ended = await here.until(thread_id, "done")
    assert ended.error is None
    assert said(await here.values(thread_id)) == expected
    asked = await reviews.list_(here.database, thread_id=thread_id)
    assert {each.status for each in asked} == {"decided"}
    assert len({each.interrupt_id for each in asked}) == len(asked)
    assert (["costly"] if name == "entrypoint" else []) == CALLS


FALSY: tuple[Any, ...] = (None, False, 0, "", {}, [])


async def test_none_false_zero_and_empty_answers_reach_the_node_as_they_are(
    house: Callable[..., House],
) -> None:
    def asks(state: Work) -> Work:
        return {"log": [repr([interrupt("a"), interrupt("b")])]}

    here = house(loaded("asks", line(asks).compile()))
    async with here.working():
        ids = [await here.start("asks") for _ in FALSY]
        for _ in range(2):
            for thread_id, answer in zip(ids, FALSY, strict=True):

                async def asked(thread_id: str = thread_id) -> list[reviews.Review]:
                    return await here.open_reviews(thread_id)

                (review,) = await until(asked)
                await here.vote(review.id, answer)

                async def taken(review: reviews.Review = review) -> bool:
                    open_ = await here.open_reviews(review.thread_id)
                    return review.id not in {each.id for each in open_}

                await until(taken)
            for thread_id in ids:
                await here.until(thread_id, "paused", "done")
        for thread_id, answer in zip(ids, FALSY, strict=True):
            await here.until(thread_id, "done")
            assert (await here.values(thread_id))["log"] == [repr([answer, answer])]


async def test_a_node_that_swallows_its_own_question_just_goes_on(
    house: Callable[..., House],
) -> None:
    def careless(state: Work) -> Work:
        try:
            return {"log": [interrupt("Sure?")]}
        except Exception as error:
            return {"log": [type(error).__name__]}

    here = house(loaded("careless", line(careless).compile()))
    async with here.working():
        thread_id = await here.start("careless")
        await here.until(thread_id, "done")
    assert (await here.values(thread_id))["log"] == ["GraphInterrupt"]
    assert await reviews.list_(here.database, thread_id=thread_id) == []
