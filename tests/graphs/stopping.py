"""Graphs that stop before a step and that refuse an answer, and a worker that dies on the way.

`python -m tests.graphs.stopping URL EFFECTS FAILPOINTS` runs a worker until it is ended.
"""

from __future__ import annotations

import asyncio
import operator
import os
import sys
from pathlib import Path
from typing import Annotated, Any, TypedDict

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")

from langchain.agents.middleware.human_in_the_loop import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from checkpoints import failpoints
from checkpoints.database import Database
from graphs.policy import Policy
from graphs.registry import LoadedGraph, Registry, default_intake
from graphs.runner import Runner
from graphs.specs import GraphSpec
from tests.graphs.paying import LIMITS, RULE, TEAM


class State(TypedDict, total=False):
    text: str
    amount: int
    log: Annotated[list[str], operator.add]


def stopping(effects: Path) -> LoadedGraph:
    """A subgraph that stops before it pays, which appends to the file what it paid."""

    def assess(state: State) -> State:
        return {"amount": 100, "log": ["assess"]}

    def pay(state: State) -> State:
        with effects.open("a") as file:
            file.write(f"{state['amount']}\n")
        failpoints.reached("paid")
        return {"log": ["pay"]}

    def told(state: State) -> State:
        return {"log": ["told"]}

    inner = StateGraph(State)
    inner.add_node("assess", assess)
    inner.add_node("pay", pay)
    inner.add_edge(START, "assess")
    inner.add_edge("assess", "pay")
    outer = StateGraph(State)
    outer.add_node("inner", inner.compile(interrupt_before=["pay"]))
    outer.add_node("told", told)
    outer.add_edge(START, "inner")
    outer.add_edge("inner", "told")
    return _loaded("stopping", outer.compile())


def deciding(effects: Path) -> LoadedGraph:
    """Two questions at once; one node reads the decisions as LangChain's middleware does."""
    middleware: Any = HumanInTheLoopMiddleware(interrupt_on={"pay": True})

    def gate(state: State) -> State:
        call = {"name": "pay", "args": {"amount": 5}, "id": "c1", "type": "tool_call"}
        made = middleware.after_model({"messages": [AIMessage("", tool_calls=[call])]}, None)
        return {"log": [f"gate {len(made['messages'])}"]}

    def beside(state: State) -> State:
        return {"log": [f"beside {interrupt('Beside?')}"]}

    def touchy(state: State) -> State:
        answer = interrupt("Touchy?")
        if answer == "bad":
            raise RuntimeError("not that")
        return {"log": [f"touchy {answer}"]}

    builder = StateGraph(State)
    for node in (gate, beside, touchy):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "gate")
    builder.add_edge(START, "beside")
    builder.add_edge(["gate", "beside"], "touchy")
    return _loaded("deciding", builder.compile())


def _loaded(name: str, graph: Any) -> LoadedGraph:
    return LoadedGraph(name, graph, GraphSpec(path="t:g"), default_intake(graph))


async def work(url: str, effects: Path) -> None:
    """Run a worker until the process is ended."""
    loaded = {each.name: each for each in (stopping(effects), deciding(effects))}
    registry = Registry({name: each.spec for name, each in loaded.items()}, loaded)
    async with Database.open(url) as database:
        await Runner(database, registry, team=TEAM, policy=Policy((RULE,)), limits=LIMITS).run()


if __name__ == "__main__":
    failpoints.arm(sys.argv[3])
    asyncio.run(work(sys.argv[1], Path(sys.argv[2])))
