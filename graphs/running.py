"""One run of a graph: our configuration and saver in, what it comes to out.

It is the only place that hands a graph to LangGraph. What comes out is plain: an error is already
words, so nothing of the graph's own crosses over to the engine's loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl
from langgraph.types import Command

from checkpoints import leases
from checkpoints.database import Database
from checkpoints.errors import (
    BlockedType,
    DatabaseAway,
    LockTimeout,
    LostCheckpoint,
    SaysoError,
    StaleOwner,
    UnkeptQuestion,
)
from checkpoints.postgres import PostgresSaver
from checkpoints.text import clean
from graphs import contexts, documents, repairs, routings
from graphs.deploys import Pause
from graphs.feeding import Plan, resume_map
from graphs.mailbox import Row
from graphs.messages import Message
from graphs.registry import Graph, LoadedGraph
from graphs.states import MAX_ERROR_CHARACTERS, Broke, causes, lend
from graphs.steps import Told
from graphs.threads import Thread
from memory.store import CustomerStore

STRICT_RESUME: Final = "__pregel_strict_resume"
DECISIONS: Final = "sayso"

MakeSaver: TypeAlias = Callable[[Database], BaseCheckpointSaver[Any]]
Refused: TypeAlias = Callable[[leases.Fence, SaysoError | None], None]
"""A write under this fence failed, and why; called on the graphs' loop."""


@dataclass(frozen=True)
class Side:
    """What lives on the graphs' loop, and is opened there."""

    database: Database
    saver: BaseCheckpointSaver[Any]
    store: CustomerStore


@asynccontextmanager
async def open_side(
    url: str, make_saver: MakeSaver, refused: Refused, *, size: int, statement_cache: int
) -> AsyncIterator[Side]:
    """Open the pool, saver and store that graphs use; the last writes land before it closes."""
    # A node that blocks the loop must not hold a lock for as long: the server ends it.
    async with Database.open(
        url,
        size=size,
        name="sayso graphs",
        idle_in_transaction_seconds=0.5,
        statement_cache=statement_cache,
    ) as database:
        saver = make_saver(database)
        if isinstance(saver, PostgresSaver):
            saver.refused = lambda fence: refused(fence, saver.failure(fence))
        try:
            yield Side(database, saver, CustomerStore(database))
        finally:
            if isinstance(saver, PostgresSaver):
                await saver.drain()


@dataclass(frozen=True)
class Order:
    """What the engine wants played.

    `values` are the answers by row id, `turns` the messages of say rows with their documents,
    `stopped` the static breakpoints that people are being asked about. `asks_of_state` where a
    rule's condition may look at the state behind a question. `pauses` are the questions at which
    the thread may rest, with the graph as it asked them.
    """

    thread: Thread
    loaded: LoadedGraph
    fence: leases.Fence
    rows: tuple[Row, ...]
    input: tuple[str, bytes] | None
    values: Mapping[int, Any]
    turns: Mapping[int, Message]
    decisions: Mapping[str, Any]
    control: RunControl
    tell: Callable[[Told], None]
    stopped: frozenset[str] = frozenset()
    pauses: tuple[Pause, ...] = ()
    asks_of_state: bool = False


async def run(
    graph: Graph, side: Side, order: Order, planned: Plan, checkpoints: dict[int, str]
) -> Broke | None:
    """Run until the graph rests; why not, where it does not.

    Args:
        checkpoints: is told the id of the checkpoint that each step ended in.

    Raises:
        GraphDrained: it was asked to stop, and did so between two steps.
        StaleOwner, BlockedType, LostCheckpoint, DatabaseAway, LockTimeout
    """
    heard = _Heard(checkpoints)
    config = configured(side, order)
    try:
        if planned.do == "answers":
            config["configurable"][STRICT_RESUME] = True
        if planned.run_id is not None:
            config["metadata"] = {"run_id": planned.run_id}
        stream = graph.astream(
            _input(side, order, planned),
            config,
            context=contexts.merged(order.loaded, order.thread.context),
            stream_mode=["tasks", "checkpoints"],
            version="v2",
            subgraphs=True,
            durability="sync",
            control=order.control,
        )
        async with contextlib.aclosing(cast(Any, stream)) as parts:
            async for part in parts:
                heard.listen(cast(Mapping[str, Any], part), order.tell)
    except GraphDrained:
        raise
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise  # we asked for it
        return Broke(heard.culprit(), "CancelledError", "the step was cancelled from within")
    except (SystemExit, KeyboardInterrupt) as ended:
        return Broke(heard.culprit(), type(ended).__name__, "the step tried to end the process")
    except Exception as error:
        return _broke(error, heard)
    return None


def _broke(error: Exception, heard: _Heard) -> Broke:
    """What the error says of the graph; the house's own errors go on."""
    known = list(causes(error))
    for cause in known:
        if isinstance(cause, StaleOwner | BlockedType | LostCheckpoint):
            raise cause from error
        if isinstance(cause, UnkeptQuestion):
            node = heard.asking.get(cause.interrupt_id) or heard.culprit()
            why = f"{node} asks with a value of type {cause.kind}, which cannot be kept"
            return Broke(node, type(cause).__name__, why, permanent=True)
    if isinstance(error, DatabaseAway | LockTimeout):
        raise error
    refused = repairs.refusal(known)
    said = repairs.problem(known) if refused is not None else clean(str(error))
    return Broke(
        node=heard.culprit(),
        type=type(error).__name__,
        message=said[:MAX_ERROR_CHARACTERS] or type(error).__name__,
        permanent=getattr(error, "permanent", False) is True,
        rejected=refused,
    )


def _input(side: Side, order: Order, planned: Plan) -> Any:
    if planned.do == "answers":
        return Command(resume=resume_map(planned, order.values))
    if planned.do == "go_on" or planned.row is None:
        return None
    if planned.row.kind == "start":
        assert order.input is not None  # noqa: S101  the engine took it in before
        return side.saver.serde.loads_typed(order.input)
    value, _ = order.loaded.intake(order.turns[planned.row.id])
    return value


def bound(side: Side, order: Order) -> Graph:
    """The graph with our saver and the thread's own store in it."""
    saver = side.saver
    if isinstance(saver, PostgresSaver):
        saver = saver.with_types(order.loaded.spec.types).refusing_blocked()
    return lend(order.loaded.graph, saver, _store(side, order))


def configured(side: Side, order: Order) -> RunnableConfig:
    """The run's configuration; what is ours comes last, so that nothing given can stand for it."""
    given = {**order.loaded.spec.config, **order.thread.configurable}
    return RunnableConfig(
        configurable={
            **{key: value for key, value in given.items() if not key.startswith("__")},
            "thread_id": order.thread.id,
            leases.FENCE: order.fence,
            DECISIONS: dict(order.decisions),
            documents.KEY: documents.Documents(side.database, order.thread.id),
        },
        callbacks=[routings.Recorder(side.database, order.thread.id, order.loaded.graph)],
    )


def reading(config: RunnableConfig) -> RunnableConfig:
    """The configuration of a read: the run's without its listeners."""
    return RunnableConfig(configurable=config["configurable"])


def _store(side: Side, order: Order) -> Any:
    thread = order.thread
    if thread.customer_id is not None:
        return side.store.rooted(("customers", thread.customer_id), fence=order.fence)
    return side.store.rooted(("graphs", thread.graph), fence=order.fence)


@dataclass
class _Heard:
    """What the stream said so far; `step` are the nodes of the step that runs.

    `asking` is the path of the node for each interrupt, by its id.
    """

    checkpoints: dict[int, str]
    step: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    asking: dict[str, str] = field(default_factory=dict)

    def listen(self, part: Mapping[str, Any], tell: Callable[[Told], None]) -> None:
        """Take one part of the stream and tell what it says of a step."""
        data = part["data"]
        if part["type"] == "checkpoints":
            if not part["ns"]:
                self._checkpoint(data)
            return
        name = str(data["name"])
        if name.startswith("__"):
            return
        path = "/".join((*(str(each).split(":")[0] for each in part["ns"]), name))
        if "triggers" in data:
            self.step.append(path)
            tell(Told(data["id"], path, "running"))
        elif data.get("error") is not None:
            self.failed.append(path)
            why = clean(str(data["error"]))[:MAX_ERROR_CHARACTERS]
            tell(Told(data["id"], path, "failed", why))
        else:
            for asked in data.get("interrupts") or ():
                self._asks(asked, path)
            tell(Told(data["id"], path, "waiting" if data.get("interrupts") else "done"))

    def _asks(self, asked: Any, path: str) -> None:
        found = asked.get("id") if isinstance(asked, Mapping) else getattr(asked, "id", None)
        if found is not None and len(path) > len(self.asking.get(str(found), "")):
            self.asking[str(found)] = path

    def culprit(self) -> str:
        """The node that failed; what fails outside of one is told of the step that ran."""
        if self.failed:
            return max(self.failed, key=lambda path: path.count("/"))
        return ", ".join(self.step)[:200]

    def _checkpoint(self, data: Mapping[str, Any]) -> None:
        self.step.clear()
        found = (data.get("config") or {}).get("configurable", {}).get("checkpoint_id")
        step = (data.get("metadata") or {}).get("step")
        if found is not None and step is not None:
            self.checkpoints[int(step)] = str(found)
