"""One play of a thread: read its state, feed it, run it until it rests, and say where it rests.

All of this runs on the graphs' loop. What it hands back to the engine is plain: questions are
already bytes and safe JSON, an error is already words, so nothing of the graph's own crosses over.
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
from langgraph.errors import GraphDrained, is_invalid_resume
from langgraph.runtime import RunControl
from langgraph.types import Command, StateSnapshot

from checkpoints import leases
from checkpoints.database import Database
from checkpoints.errors import (
    BlockedType,
    DatabaseAway,
    LockTimeout,
    LostCheckpoint,
    SaysoError,
    StaleOwner,
)
from checkpoints.failpoints import reached
from checkpoints.postgres import PostgresSaver
from checkpoints.text import clean
from graphs import documents, routings
from graphs.feeding import Plan, plan, resume_map
from graphs.mailbox import Row
from graphs.messages import Message
from graphs.registry import Graph, LoadedGraph
from graphs.reviews import Asked
from graphs.states import (
    MAX_ERROR_CHARACTERS,
    Broke,
    asked_of,
    causes,
    lend,
    outcome_of,
    read,
    stopped,
    stored_error,
)
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

    `values` are the answers by row id, `turns` the messages of say rows with their documents.
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


@dataclass(frozen=True)
class Played:
    """Where the thread rests after the play.

    `drained` means that it stopped half way because it was asked to: nothing is settled then.
    """

    plan: Plan
    asked: tuple[Asked, ...] = ()
    head: str | None = None
    next: tuple[str, ...] = ()
    broke: Broke | None = None
    outcome: str | None = None
    checkpoints: Mapping[int, str] = field(default_factory=dict)
    drained: bool = False

    @property
    def ran(self) -> bool:
        """Whether anything was run at all."""
        return self.plan.do != "settle"

    @property
    def finished(self) -> bool:
        """Whether the graph came to its end."""
        return self.head is not None and not (self.asked or self.next or self.broke)


async def play(side: Side, order: Order) -> Played:
    """Play the thread once.

    1. Read the state; the owner before may have died anywhere.
    2. Decide what to feed.
    3. Run until the graph rests, fails, or is asked to stop.
    4. Read the state again and say where it rests.

    Raises:
        StaleOwner: somebody else owns the thread.
        BlockedType, LostCheckpoint: its state cannot be read as it was written; it has to be held.
        DatabaseAway, LockTimeout: the house failed and not the graph; hand the thread back.
    """
    try:
        return await _play(side, order)
    except _StateRefused as refused:
        thread = order.thread
        broke = Broke(", ".join(thread.next) or "input", refused.type, refused.message, True)
        return Played(Plan("input"), head=thread.head, next=thread.next, broke=broke)


async def _play(side: Side, order: Order) -> Played:
    config = _config(side, order)
    graph = _bound(side, order)
    seen = await _state(graph, config)
    broke = stored_error(seen)
    hashes = {asked.interrupt_id: asked.hash for asked in asked_of(seen, side.saver.serde)}
    rows = [row for row in order.rows if _is_for(row, hashes)]
    planned = plan(await read(graph, config, seen), rows)
    checkpoints: dict[int, str] = {}
    drained = False
    before = seen.values if planned.do == "answers" else None
    if planned.do != "settle":
        broke = None
        reached("run.before")
        try:
            broke = await _run(graph, config, side, order, planned, checkpoints)
        except GraphDrained:
            drained = True
        reached("run.after")
        seen = await _state(graph, _reading(config))
    asked = tuple(asked_of(seen, side.saver.serde))
    head = seen.config.get("configurable", {}).get("checkpoint_id") if seen.created_at else None
    if not (asked or broke or drained) and seen.next and head is not None:
        asked = (stopped(seen, head, graph),)
    return Played(
        plan=planned,
        asked=asked,
        head=head,
        next=tuple(seen.next),
        broke=broke,
        outcome=None
        if (asked or broke or seen.next)
        else outcome_of(order.loaded, seen.values, before),
        checkpoints=checkpoints,
        drained=drained,
    )


class _StateRefused(Exception):
    """The graph's own model of its state does not take what stands in it, now or ever."""

    def __init__(self, error: Exception) -> None:
        self.type = type(error).__name__
        self.message = clean(str(error))[:MAX_ERROR_CHARACTERS] or self.type
        super().__init__(self.message)


async def _state(graph: Graph, config: RunnableConfig) -> StateSnapshot:
    """The state; LangGraph makes the next nodes' models of it even to show it."""
    try:
        return await graph.aget_state(config, subgraphs=True)
    except SaysoError:
        raise
    except Exception as error:
        raise _StateRefused(error) from error


async def _run(
    graph: Graph,
    config: RunnableConfig,
    side: Side,
    order: Order,
    planned: Plan,
    checkpoints: dict[int, str],
) -> Broke | None:
    heard = _Heard(checkpoints)
    try:
        if planned.do == "answers":
            config["configurable"][STRICT_RESUME] = True
        if planned.run_id is not None:
            config["metadata"] = {"run_id": planned.run_id}
        stream = graph.astream(
            _input(side, order, planned),
            config,
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
        for cause in causes(error):
            if isinstance(cause, StaleOwner | BlockedType | LostCheckpoint):
                raise cause from error
        if isinstance(error, DatabaseAway | LockTimeout):
            raise
        return Broke(
            node=heard.culprit(),
            type=type(error).__name__,
            message=clean(str(error))[:MAX_ERROR_CHARACTERS] or type(error).__name__,
            permanent=getattr(error, "permanent", False) is True,
            rejected=any(is_invalid_resume(each) for each in causes(error)),
        )
    return None


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


def _bound(side: Side, order: Order) -> Graph:
    """The graph with our saver and the thread's own store in it."""
    saver = side.saver
    if isinstance(saver, PostgresSaver):
        saver = saver.with_types(order.loaded.spec.types).refusing_blocked()
    return lend(order.loaded.graph, saver, _store(side, order))


def _config(side: Side, order: Order) -> RunnableConfig:
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


def _reading(config: RunnableConfig) -> RunnableConfig:
    return RunnableConfig(configurable=config["configurable"])


def _store(side: Side, order: Order) -> Any:
    thread = order.thread
    if thread.customer_id is not None:
        return side.store.rooted(("customers", thread.customer_id), fence=order.fence)
    return side.store.rooted(("graphs", thread.graph), fence=order.fence)


@dataclass
class _Heard:
    """What the stream said so far; `step` are the nodes of the step that runs."""

    checkpoints: dict[int, str]
    step: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

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
            tell(Told(data["id"], path, "waiting" if data.get("interrupts") else "done"))

    def culprit(self) -> str:
        """The node that failed; what fails outside of one is told of the step that ran."""
        return self.failed[0] if self.failed else ", ".join(self.step)[:200]

    def _checkpoint(self, data: Mapping[str, Any]) -> None:
        self.step.clear()
        found = (data.get("config") or {}).get("configurable", {}).get("checkpoint_id")
        step = (data.get("metadata") or {}).get("step")
        if found is not None and step is not None:
            self.checkpoints[int(step)] = str(found)


def _is_for(row: Row, hashes: Mapping[str, str]) -> bool:
    """Whether an answer is for the very question that is pending under its interrupt.

    A node that runs again may ask something else under the same id; an answer to other words is
    not fed, settle sets it aside and asks anew.
    """
    if row.kind != "answer" or row.interrupt_id is None:
        return True
    return hashes.get(row.interrupt_id, row.question_hash) == row.question_hash
