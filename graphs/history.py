"""The history of a thread: every step with what it changed, what came next and what routers chose.

For people, so the values are safe JSON. It reads the saver and needs no loaded graph: a thread
whose graph cannot be imported any more can still be looked at.

A step is what lies between two checkpoints; of nodes that ran side by side each is one, with what
it wrote itself. The checkpoints of the graph itself are numbered from 1, oldest first, and that is
the number by which a person rewinds; a step within a subgraph has the number of the step around it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from checkpoints.database import Database
from graphs import routings, steps
from graphs.plain import plain
from graphs.routings import Routing

BRANCH: Final = "branch:to:"
REWOUND_FROM: Final = "rewound_from"  # in the metadata of a copy: what it is a copy of
LIMIT: Final = 1_000
_START: Final = "__start__"
Kind: TypeAlias = Literal["start", "step", "change", "rewind"]
_KINDS: Final[Mapping[str, Kind]] = {"fork": "rewind", "update": "change"}


@dataclass(frozen=True)
class StepTaken:
    """One step: what it changed, and what was to come after it.

    `node` is the path of node names (payments/human_review); empty for the start, for a change by
    hand and for a rewind. `parent_id` is the checkpoint before it that has a number. `number` is
    None while the step around it is not finished. `state` is the whole state after it, `routings`
    are the choices of its routers, made of that state. One that is `nested` belongs to a subgraph,
    and nobody can rewind to it.
    """

    number: int | None
    checkpoint_id: str
    parent_id: str | None
    kind: Kind
    node: str
    changed: Mapping[str, Any]
    next: tuple[str, ...]
    at: str
    nested: bool = False
    state: Mapping[str, Any] = field(default_factory=dict, repr=False)
    routings: tuple[Routing, ...] = ()


async def steps_of(
    database: Database,
    saver: BaseCheckpointSaver[Any],
    thread_id: str,
    *,
    limit: int | None = LIMIT,
) -> list[StepTaken]:
    """Every step of the thread, oldest first; of a very long one the newest `limit` checkpoints."""
    found = [_Point.of(each) async for each in _list(saver, thread_id, limit)]
    found.sort(key=lambda point: point.checkpoint_id)
    nodes = {step.task_id: step.node for step in await steps.of_thread(database, thread_id)}
    chosen: dict[str, list[Routing]] = {}
    for routing in await routings.of_thread(database, thread_id):
        chosen.setdefault(routing.task_id, []).append(routing)
    known = {(point.namespace, point.checkpoint_id): point for point in found}
    roots = [point for point in found if not point.namespace and not point.before_start]
    numbers = {point.checkpoint_id: number for number, point in enumerate(roots, 1)}
    around = {point.parent_id: numbers[point.checkpoint_id] for point in roots}
    taken: list[StepTaken] = []
    for point in found:
        if point.before_start:
            continue
        parent = known.get((point.namespace, point.parent_id or ""))
        number = numbers.get(point.checkpoint_id) or around.get(point.root_id)
        base = known.get((point.namespace, point.rewound_from or "")) or parent
        shown = parent.parent_id if parent is not None and parent.before_start else point.parent_id
        taken += _steps(replace(point, parent_id=shown), base, number, nodes, chosen)
    return taken


async def state(
    saver: BaseCheckpointSaver[Any], thread_id: str, checkpoint_id: str | None = None
) -> Mapping[str, Any] | None:
    """The state of the thread as safe JSON, now or at a checkpoint; None where there is none."""
    where = {"thread_id": thread_id, "checkpoint_ns": ""}
    if checkpoint_id is not None:
        where["checkpoint_id"] = checkpoint_id
    found = await saver.aget_tuple(RunnableConfig(configurable=where))
    return _values(found.checkpoint["channel_values"]) if found is not None else None


@dataclass(frozen=True)
class _Point:
    """One checkpoint, and what the tasks that began at it wrote."""

    namespace: str
    checkpoint_id: str
    parent_id: str | None
    root_id: str | None
    rewound_from: str | None
    source: str
    at: str
    state: Mapping[str, Any]
    next: tuple[str, ...]
    writes: Mapping[str, Mapping[str, Any]]

    @property
    def before_start(self) -> bool:
        """The input is there and not taken in: a moment of the engine's, and of nobody else."""
        return self.next == (_START,)

    @classmethod
    def of(cls, found: CheckpointTuple) -> _Point:
        where = found.config["configurable"]
        metadata: Mapping[str, Any] = found.metadata or {}
        values = found.checkpoint["channel_values"]
        parent = (found.parent_config or {}).get("configurable", {})
        return cls(
            namespace=str(where.get("checkpoint_ns", "")),
            checkpoint_id=str(where["checkpoint_id"]),
            parent_id=parent.get("checkpoint_id"),
            root_id=(metadata.get("parents") or {}).get(""),
            rewound_from=metadata.get(REWOUND_FROM),
            source=str(metadata.get("source", "")),
            at=str(found.checkpoint["ts"]),
            state=_values(values),
            next=_next(values),
            writes=_writes(found),
        )

    @property
    def path(self) -> tuple[str, ...]:
        """The nodes around this subgraph."""
        return tuple(part.split(":")[0] for part in self.namespace.split("|") if part)


async def _list(
    saver: BaseCheckpointSaver[Any], thread_id: str, limit: int | None
) -> AsyncIterator[CheckpointTuple]:
    config = RunnableConfig(configurable={"thread_id": thread_id})
    async for each in saver.alist(config, limit=limit):
        yield each


def _steps(
    point: _Point,
    parent: _Point | None,
    number: int | None,
    nodes: Mapping[str, str],
    chosen: Mapping[str, Sequence[Routing]],
) -> list[StepTaken]:
    def step(
        kind: Kind, node: str, changed: Mapping[str, Any], made: Sequence[Routing] = ()
    ) -> StepTaken:
        return StepTaken(
            number=number,
            checkpoint_id=point.checkpoint_id,
            parent_id=point.parent_id,
            kind=kind,
            node=node,
            changed=changed,
            next=point.next,
            at=point.at,
            nested=bool(point.namespace),
            state=point.state,
            routings=tuple(made),
        )

    before = parent.state if parent is not None else {}
    different = {
        key: value
        for key, value in point.state.items()
        if key not in before or before[key] != value
    }
    if kind := _KINDS.get(point.source):
        return [step(kind, "/".join(point.path), different)]
    if parent is None or parent.before_start:
        return [] if point.namespace else [step("start", "", different)]
    tasks = {task_id: wrote for task_id, wrote in parent.writes.items() if task_id in nodes}
    if not tasks:  # the writes are pruned, or nobody heard of the tasks
        return [step("step", "/".join((*point.path, ", ".join(parent.next))), different)]
    return [
        step("step", nodes[task_id], wrote, chosen.get(task_id, ()))
        for task_id, wrote in tasks.items()
    ]


def _writes(found: CheckpointTuple) -> dict[str, dict[str, Any]]:
    """What each finished task wrote into the graph's own channels."""
    wrote: dict[str, dict[str, Any]] = {}
    for task_id, channel, value in found.pending_writes or ():
        if channel in _UNFINISHED:
            continue
        task = wrote.setdefault(str(task_id), {})
        if not _is_internal(channel):
            task[str(channel)] = plain(value)
    return wrote


def _values(values: Mapping[str, Any]) -> dict[str, Any]:
    return {str(name): plain(value) for name, value in values.items() if not _is_internal(name)}


_UNFINISHED: Final = ("__error__", "__interrupt__", "__resume__", "__scheduled__")


def _is_internal(channel: str) -> bool:
    """The engine's own channels, with a colon or underscores."""
    return channel.startswith(("__", "branch:", "start:", "join:"))


def _next(values: Mapping[str, Any]) -> tuple[str, ...]:
    """The nodes that were to run: those an edge leads to, and those something was sent to."""
    led = [str(name)[len(BRANCH) :] for name in values if str(name).startswith(BRANCH)]
    sent = [str(getattr(each, "node", "")) for each in values.get("__pregel_tasks") or ()]
    start = [_START] if _START in values else []
    return (*start, *sorted(led), *(node for node in sent if node))
