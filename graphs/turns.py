"""Tool calls of one step that ask people do so one after another.

A plain `ToolNode` runs all calls of a turn at once, in one task. LangGraph tells the questions of a
task apart by their order alone: the first `interrupt()` that is called gets the first answer. Of
calls that run at once any may be first, and another one after the resume, so that the answer to
"refund A?" reaches the call that refunds B (tried: 3 calls, 7 of 10 runs). So where one of a node's
tools may ask, its calls take turns in the order of the turn, and after a call that asks no other
one runs until that is answered.

Calls that are sent one by one (`create_agent` does) are tasks of their own and know nothing of
this; neither do nodes whose tools never ask.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final
from weakref import WeakValueDictionary

from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt import ToolNode

from graphs import sources
from graphs.factories import Graph, subgraphs

_TAKES_TURNS: Final = "_sayso_takes_turns"
_RUN_ONE: Final = "_arun_one"

RunOne = Callable[..., Awaitable[Any]]


def take(graph: Graph) -> None:
    """Let the calls of every node in the graph that may ask take turns; safe to repeat."""
    for each in (graph, *(inner for _, inner in subgraphs(graph))):
        for node in each.nodes.values():
            tools = node.bound
            if not isinstance(tools, ToolNode) or getattr(tools, _TAKES_TURNS, False):
                continue
            if any(map(_may_ask, tools.tools_by_name.values())):
                setattr(tools, _RUN_ONE, _Turns(getattr(tools, _RUN_ONE)))
                setattr(tools, _TAKES_TURNS, True)


class _Turn:
    """The calls of one task: whose turn it is, and who asked."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.asked: GraphBubbleUp | None = None


class _Turns:
    """Runs one call of a node, when its turn has come."""

    def __init__(self, run_one: RunOne) -> None:
        self._run_one = run_one
        self._turns: WeakValueDictionary[str, _Turn] = WeakValueDictionary()

    async def __call__(self, call: Any, input_type: Any, tool_runtime: Any) -> Any:
        metadata = (getattr(tool_runtime, "config", None) or {}).get("metadata") or {}
        # Each task has a namespace of its own, and keeps it when it runs again.
        task = f"{metadata.get('thread_id')}/{metadata.get('langgraph_checkpoint_ns')}"
        turn = self._turns.get(task)
        if turn is None:
            turn = self._turns[task] = _Turn()
        async with turn.lock:
            if turn.asked is not None:
                raise turn.asked
            try:
                return await self._run_one(call, input_type, tool_runtime)
            except GraphBubbleUp as asked:
                turn.asked = asked
                raise


def _may_ask(tool: Any) -> bool:
    """Whether the tool may call `interrupt()`; what cannot be read may."""
    return sources.source(tool).questions != ()
