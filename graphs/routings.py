"""Routings: what every router chose, with the checkpoint that holds the state behind the choice.

A router is the function of a conditional edge. The engine runs it as a traced runnable after its
node and before the step's checkpoint, so a callback sees node, branch and choice as they are, and
the row is written before the checkpoint can be: a crash in between runs the task again, under the
same id, onto the same row. The checkpoint's id is known a moment later and added then.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler
from langgraph.pregel import Pregel

from checkpoints.database import Connection, Database, queries
from graphs.plain import plain

SQL = queries(__file__)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Routing:
    """One choice: after `node`, the router `branch` chose; `step` is the engine's own number."""

    task_id: str
    node: str
    branch: str
    choice: Any
    step: int
    checkpoint_id: str | None
    at: datetime


class Recorder(AsyncCallbackHandler):
    """Hears every router of one run and writes its choice at once."""

    run_inline = True

    def __init__(
        self, database: Database, thread_id: str, graph: Pregel[Any, Any, Any, Any]
    ) -> None:
        self._database = database
        self._thread_id = thread_id
        self._branches = branches(graph)
        self._heard: dict[UUID, tuple[str, str, str, int]] = {}

    async def on_chain_start(
        self,
        serialized: dict[str, Any] | None,
        inputs: Any,
        *,
        run_id: UUID,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Remember a router that begins; everything else that begins is none of ours."""
        found = metadata or {}
        node = str(found.get("langgraph_node", ""))
        names = self._branches.get(node)
        if not names or not any(tag.startswith("seq:step") for tag in tags or ()):
            return
        name = str(kwargs.get("name") or "")
        branch = name if name in names else next(iter(names)) if len(names) == 1 else None
        if branch is None or (name not in names and name not in _NAMELESS):
            return
        namespace = str(found.get("langgraph_checkpoint_ns", ""))
        path, _, task_id = namespace.rpartition(":")
        where = "/".join(part.split(":")[0] for part in path.split("|"))
        step = int(found.get("langgraph_step", 0))
        self._heard[run_id] = (task_id, where or node, branch, step)

    async def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Write what the router chose."""
        heard = self._heard.pop(run_id, None)
        if heard is None:
            return
        task_id, node, branch, step = heard
        try:
            await self._database.execute(
                SQL.record, self._thread_id, task_id, branch, node, _choice(outputs), step
            )
        except Exception:  # a run must not fail because its record could not be written
            log.warning("A routing of thread %s was not recorded.", self._thread_id, exc_info=True)

    async def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a router that failed; its node's step says so."""
        self._heard.pop(run_id, None)


def branches(graph: Pregel[Any, Any, Any, Any]) -> Mapping[str, tuple[str, ...]]:
    """The routers of a graph and of its subgraphs: node name to the names of its branches."""
    found: dict[str, tuple[str, ...]] = {}
    for _, each in [("", graph), *_subgraphs(graph)]:
        builder = getattr(each, "builder", None)
        for node, named in getattr(builder, "branches", {}).items():
            found[node] = (*found.get(node, ()), *named)
    return found


async def stamp(connection: Connection, thread_id: str, checkpoints: Mapping[int, str]) -> None:
    """Add the ids of the checkpoints that the steps ended in."""
    if checkpoints:
        await connection.execute(
            SQL.stamp, thread_id, list(checkpoints), list(checkpoints.values())
        )


async def of_thread(connection: Connection | Database, thread_id: str) -> list[Routing]:
    """Every choice on a thread, oldest first."""
    return [Routing(**dict(row)) for row in await connection.fetch(SQL.of_thread, thread_id)]


_NAMELESS = ("", "<lambda>", "RunnableLambda", "condition")


def _subgraphs(graph: Pregel[Any, Any, Any, Any]) -> list[tuple[str, Any]]:
    try:
        return list(graph.get_subgraphs(recurse=True))
    except Exception:  # a graph of a foreign kind; its own routers are still heard
        return []


def _choice(outputs: Any) -> Any:
    """The choice as JSON: node names, and of a Send the node it goes to."""
    if isinstance(outputs, list | tuple):
        return [_choice(each) for each in outputs]
    target = getattr(outputs, "node", None)
    return {"send": str(target)} if target is not None else plain(outputs)
