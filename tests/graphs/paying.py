"""A graph with an effect outside, and a worker process that dies where it is told to.

`python -m tests.graphs.paying URL EFFECTS FAILPOINTS` runs a worker until it is ended.
"""

from __future__ import annotations

import asyncio
import operator
import os
import sys
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from checkpoints import failpoints
from checkpoints.database import Database
from graphs.decisions import effect_key
from graphs.policy import Policy
from graphs.registry import LoadedGraph, Registry, default_intake
from graphs.runner import Limits, Runner
from graphs.specs import GraphSpec, People, Rule

TEAM = "T0SAYSO"
LIMITS = Limits(lease_seconds=1.0, poll_seconds=0.1, drain_seconds=1.0)
RULE = Rule(approvers=People(users=("U0ALICE", "U0DANA")))


class State(TypedDict, total=False):
    text: str
    log: Annotated[list[str], operator.add]


def paying(effects: Path) -> LoadedGraph:
    """Two questions at once, then a payment that appends its key to the file."""

    def left(state: State) -> State:
        return {"log": [f"left {interrupt('Left?')}"]}

    def right(state: State) -> State:
        return {"log": [f"right {interrupt('Right?')}"]}

    def pay(state: State, config: RunnableConfig) -> State:
        while effects.with_suffix(".hold").exists():
            time.sleep(0.02)
        with effects.open("a") as file:
            file.write(effect_key(config, "left") + "\n")
        failpoints.reached("paid")
        return {"log": ["paid"]}

    builder = StateGraph(State)
    for node in (left, right, pay):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "left")
    builder.add_edge(START, "right")
    builder.add_edge(["left", "right"], "pay")
    graph: Any = builder.compile()
    return LoadedGraph("paying", graph, GraphSpec(path="t:g"), default_intake(graph))


async def work(url: str, effects: Path) -> None:
    """Run a worker until the process is ended."""
    loaded = paying(effects)
    registry = Registry({"paying": loaded.spec}, {"paying": loaded})
    async with Database.open(url) as database:
        await Runner(database, registry, team=TEAM, policy=Policy((RULE,)), limits=LIMITS).run()


if __name__ == "__main__":
    failpoints.arm(sys.argv[3])
    asyncio.run(work(sys.argv[1], Path(sys.argv[2])))
