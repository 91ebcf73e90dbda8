"""The history of a thread: every checkpoint with its state, and what the routers chose from it.

For people, so the state is safe JSON. It reads the saver and needs no loaded graph: a thread whose
graph cannot be imported any more can still be looked at.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from checkpoints.database import Database
from graphs import routings, steps
from graphs.plain import plain
from graphs.routings import Routing
from graphs.steps import Step

BRANCH: Final = "branch:to:"


@dataclass(frozen=True)
class Moment:
    """One checkpoint: the state then, what came next, and the routings that were made of it.

    `source` is the engine's word: input, loop, update, fork. `wrote` are the nodes that ran next
    and what each of them wrote.
    """

    checkpoint_id: str
    parent_id: str | None
    step: int
    source: str
    at: str
    state: Mapping[str, Any]
    next: tuple[str, ...]
    routings: tuple[Routing, ...]


async def moments(
    database: Database, saver: BaseCheckpointSaver[Any], thread_id: str, *, limit: int = 1000
) -> list[Moment]:
    """The thread's checkpoints, oldest first, of the graph itself and not of its subgraphs."""
    made: dict[str, list[Routing]] = {}
    unplaced: dict[int, list[Routing]] = {}
    for routing in await routings.of_thread(database, thread_id):
        if routing.checkpoint_id is not None:
            made.setdefault(routing.checkpoint_id, []).append(routing)
        else:  # its step was written and nobody has settled yet
            unplaced.setdefault(routing.step, []).append(routing)
    config = RunnableConfig(configurable={"thread_id": thread_id, "checkpoint_ns": ""})
    found = [_moment(each) async for each in _list(saver, config, limit)]
    return [
        Moment(
            **{
                **each,
                "routings": (
                    *made.get(each["checkpoint_id"], ()),
                    *unplaced.get(each["step"], ()),
                ),
            }
        )
        for each in reversed(found)
    ]


async def state(saver: BaseCheckpointSaver[Any], thread_id: str) -> Mapping[str, Any]:
    """The newest state of the thread as safe JSON; empty before its first checkpoint."""
    config = RunnableConfig(configurable={"thread_id": thread_id, "checkpoint_ns": ""})
    found = await saver.aget_tuple(config)
    return _values(found) if found is not None else {}


async def walked(database: Database, thread_id: str) -> list[Step]:
    """The steps of the thread with their times, in the order in which they began."""
    return await steps.of_thread(database, thread_id)


async def _list(
    saver: BaseCheckpointSaver[Any], config: RunnableConfig, limit: int
) -> AsyncIterator[CheckpointTuple]:
    async for each in saver.alist(config, limit=limit):
        yield each


def _moment(found: CheckpointTuple) -> dict[str, Any]:
    parent = (found.parent_config or {}).get("configurable", {})
    metadata: Mapping[str, Any] = found.metadata or {}
    return {
        "checkpoint_id": str(found.config["configurable"]["checkpoint_id"]),
        "parent_id": parent.get("checkpoint_id"),
        "step": int(metadata.get("step", -1)),
        "source": str(metadata.get("source", "")),
        "at": str(found.checkpoint["ts"]),
        "state": _values(found),
        "next": _next(found),
    }


def _values(found: CheckpointTuple) -> dict[str, Any]:
    """The graph's own channels; the engine's, with a colon or underscores, are left out."""
    values = found.checkpoint["channel_values"]
    return {
        str(name): plain(value)
        for name, value in values.items()
        if not str(name).startswith("__") and not str(name).startswith(BRANCH) and name != "start"
    }


def _next(found: CheckpointTuple) -> tuple[str, ...]:
    """The nodes that were to run: those an edge leads to, and those something was sent to."""
    values = found.checkpoint["channel_values"]
    led = [str(name)[len(BRANCH) :] for name in values if str(name).startswith(BRANCH)]
    sent = [str(getattr(each, "node", "")) for each in values.get("__pregel_tasks") or ()]
    start = ["__start__"] if "__start__" in values else []
    return (*start, *sorted(led), *(node for node in sent if node))
