"""Calls of one step that may ask take turns; calls that never ask run at once as before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt

from graphs.registry import LoadedGraph, default_intake
from graphs.specs import GraphSpec
from tests.graphs.conftest import House


def calling(tools: list[BaseTool], *names: str) -> LoadedGraph:
    """A graph that calls these tools in one turn, in one step."""

    def model(state: MessagesState) -> dict[str, Any]:
        calls = [{"name": name, "args": {}, "id": f"c{n}"} for n, name in enumerate(names)]
        return {"messages": [AIMessage("", tool_calls=calls)]}

    builder = StateGraph(MessagesState)
    builder.add_node("model", model)
    builder.add_node("tools", ToolNode(tools))
    builder.add_edge(START, "model")
    builder.add_edge("model", "tools")
    graph = builder.compile()
    return LoadedGraph("calling", graph, GraphSpec(path="a:b"), default_intake(graph))


def ask_a_person() -> Any:
    return interrupt("Go on?")


async def test_after_a_call_that_asks_no_other_one_acts_until_it_is_answered(
    house: Callable[..., House],
) -> None:
    done: list[str] = []

    @tool
    def ask() -> str:
        """Ask, by way of another function."""
        return str(ask_a_person())

    @tool
    def act() -> str:
        """Act."""
        done.append("acted")
        return "acted"

    here = house(calling([ask, act], "ask", "act"))
    async with here.working():
        thread = await here.start("calling", {"messages": []})
        await here.until(thread, "paused")
        assert done == []
        (review,) = await here.open_reviews(thread)
        await here.vote(review.id, "yes")
        await here.until(thread, "done")
    assert done == ["acted"]
    messages = (await here.values(thread))["messages"]
    assert [each.content for each in messages if each.type == "tool"] == ["yes", "acted"]


async def test_calls_that_never_ask_run_at_once(house: Callable[..., House]) -> None:
    both = asyncio.Barrier(2)

    @tool
    async def meet() -> str:
        """Wait for the other call."""
        await both.wait()
        return "met"

    here = house(calling([meet], "meet", "meet"))
    async with here.working():
        thread = await here.start("calling", {"messages": []})
        await here.until(thread, "done")
