"""Static breakpoints: where a thread stopped before or after a node, at every depth.

A graph compiled with `interrupt_before` or `interrupt_after` stops without asking anything: there
is no interrupt, only steps that have not begun. Whoever runs such a thread on passes the stop, so a
new owner has to see it in the checkpoints alone. A level (the graph, or one of its subgraphs)
stands at a stop where

    it names one of its next steps in `interrupt_before`, or one that ran last in
    `interrupt_after`, and
    no step of it has begun: no task has written anything, no subgraph of one has a checkpoint.

The second is what is left of having passed it: once a step has failed, asked or been answered
behind the stop, it runs on without asking anew.

**A change** of the values is written as LangGraph writes the update of a `Command`: as writes that
belong to no task, on the checkpoint of the level that stopped. They are applied whenever that
checkpoint is loaded and keep what runs next as it is: a worker that dies between the change and the
step leaves nothing half done.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias, get_type_hints

from langchain_core.runnables import RunnableConfig
from langgraph.channels import LastValue, UntrackedValue
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import StateSnapshot
from pydantic import BaseModel, TypeAdapter, ValidationError

from checkpoints.leases import Fence
from checkpoints.postgres import NO_TASK, PostgresSaver
from checkpoints.text import clean
from graphs import answers
from graphs.actions import same
from graphs.plain import digest, plain
from graphs.registry import Graph
from graphs.reviews import Asked
from graphs.templates import name_in_words

JSON: TypeAlias = Any
Writes: TypeAlias = Sequence[tuple[str, Any]]

HIDDEN: Final = "langsmith:hidden"
PROBLEM_CHARACTERS: Final = 200


@dataclass(frozen=True)
class Stop:
    """A level that stands before its next steps, or after its last, until somebody says go on.

    `update` is what was changed on it before; it stands in `values` already.
    """

    id: str
    node: str
    head: str
    level: Graph
    config: RunnableConfig
    values: Any
    update: Writes = ()

    @cached_property
    def asked(self) -> Asked:
        """The stop as a question: what stands in the state of its level."""
        question = plain(self.values)
        return Asked(
            interrupt_id=self.id,
            node=self.node,
            checkpoint_id=self.head,
            question=question,
            hash=digest(question),
            kind="breakpoint",
        )


def breakpoint_id(checkpoint_id: str) -> str:
    """The id of the stop at a checkpoint; those of all levels differ."""
    return f"breakpoint:{checkpoint_id}"


async def stops_of(graph: Graph, seen: StateSnapshot) -> list[Stop]:
    """Every stop at which the thread stands.

    Args:
        graph: with the saver that the snapshot was read with.
        seen: its newest state, with its subgraphs.
    """
    if seen.created_at is None:
        return []
    head = _checkpoint_id(seen)
    return [stop async for stop in _stops(graph, graph, seen, (), head)]


def unseen(graph: Graph, seen: StateSnapshot) -> Stop:
    """A stop that cannot be seen from outside: in a graph that a node calls by hand."""
    head = _checkpoint_id(seen)
    node = seen.next[0] if seen.next else ""
    return Stop(breakpoint_id(head), node, head, graph, _own(seen.config), seen.values)


async def _stops(
    root: Graph, level: Graph, seen: StateSnapshot, path: tuple[str, ...], head: str
) -> AsyncIterator[Stop]:
    below = [
        (task, task.state)
        for task in seen.tasks
        if isinstance(task.state, StateSnapshot) and _has_begun(task.state, seen)
    ]
    begun = bool(below) or any(
        task.result is not None or task.error or task.interrupts for task in seen.tasks
    )
    if not begun and (node := await _stops_at(root, level, seen, path)) is not None:
        saved = await _saver(root).aget_tuple(_own(seen.config))
        wrote = (saved.pending_writes or []) if saved is not None else []
        if not {task_id for task_id, _, _ in wrote} & {task.id for task in seen.tasks}:
            yield Stop(
                id=breakpoint_id(_checkpoint_id(seen)),
                node="/".join((*path, node)),
                head=head,
                level=level,
                config=_own(seen.config),
                values=seen.values,
                update=[
                    (channel, value)
                    for task_id, channel, value in wrote
                    if task_id == NO_TASK and not channel.startswith("__")
                ],
            )
        return
    inner: dict[str, Any] = dict(level.get_subgraphs()) if below else {}
    for task, state in below:
        if task.result is None and task.name in inner:
            async for stop in _stops(root, inner[task.name], state, (*path, task.name), head):
                yield stop


def _has_begun(state: StateSnapshot, seen: StateSnapshot) -> bool:
    """Whether a subgraph has a checkpoint of this step of the level above.

    One that keeps its state from call to call has those of earlier steps too.
    """
    if state.created_at is None:
        return False
    parents: Mapping[str, str] = (state.metadata or {}).get("parents") or {}
    namespace = seen.config["configurable"].get("checkpoint_ns", "")
    return parents.get(namespace, _checkpoint_id(seen)) == _checkpoint_id(seen)


async def _stops_at(
    root: Graph, level: Graph, seen: StateSnapshot, path: tuple[str, ...]
) -> str | None:
    """The node that the level stands before, or after where nothing follows in it."""
    following = [task.name for task in seen.tasks]
    if before := _hit(level, level.interrupt_before_nodes, following):
        return before
    if not level.interrupt_after_nodes or seen.parent_config is None:
        return None
    if (seen.metadata or {}).get("source") not in ("loop", "fork") or not (following or path):
        return None
    earlier = await root.aget_state(seen.parent_config)
    ran = [task.name for task in earlier.tasks]
    after = _hit(level, level.interrupt_after_nodes, ran)
    return None if after is None else (following or [after])[0]


def _hit(level: Graph, nodes: Any, names: Sequence[str]) -> str | None:
    for name in names:
        spec = level.nodes.get(name)
        hidden = name.startswith("__") or HIDDEN in (getattr(spec, "tags", None) or ())
        if name in nodes if nodes != "*" else not hidden:
            return name
    return None


def _checkpoint_id(seen: StateSnapshot) -> str:
    return str(seen.config.get("configurable", {}).get("checkpoint_id", ""))


def _own(config: RunnableConfig) -> RunnableConfig:
    """The place of a level's checkpoint, without what LangGraph adds for its own walk."""
    known = config["configurable"]
    names = ("thread_id", "checkpoint_ns", "checkpoint_id")
    return RunnableConfig(configurable={name: known[name] for name in names if name in known})


def _saver(graph: Graph) -> BaseCheckpointSaver[Any]:
    saver = graph.checkpointer
    assert isinstance(saver, BaseCheckpointSaver)  # noqa: S101  it was lent one
    return saver


# Changing values


@dataclass(frozen=True)
class Misfit:
    """The values cannot be written; `problem` says what to write."""

    problem: str


def changes(stop: Stop, values: Mapping[str, JSON]) -> Writes | Misfit:
    """What has to be written for these values; what is not other than before is left out."""
    keys = _keys(stop.level)
    if not keys or not isinstance(stop.values, Mapping):
        return Misfit("The values of this step cannot be changed.")
    if unknown := [key for key in values if key not in keys]:
        return Misfit(f"There is no value called {unknown[0][:60]}. There are {', '.join(keys)}.")
    new = {
        key: value
        for key, value in values.items()
        if key not in stop.values or not same(plain(stop.values[key]), value)
    }
    writes: list[tuple[str, Any]] = []
    for key, value in new.items():
        fitted = _fitted(stop, key, value)
        if isinstance(fitted, Misfit):
            return fitted
        writes.append((key, fitted[0]))
    problem = _of_model(stop, dict(writes))
    return Misfit(problem) if problem is not None else writes


async def write(graph: Graph, stop: Stop, writes: Writes, fence: Fence) -> None:
    """Write a change to the level's checkpoint, over what was changed there before.

    Raises:
        StaleOwner, DatabaseAway, LockTimeout
    """
    plain_keys = {key for key, _ in writes if isinstance(stop.level.channels.get(key), LastValue)}
    kept = [(key, value) for key, value in stop.update if key not in plain_keys]
    saver, place = _saver(graph), stop.config["configurable"]
    if isinstance(saver, PostgresSaver):
        await saver.put_update(
            fence, [*kept, *writes], place["checkpoint_id"],
            namespace=place.get("checkpoint_ns", ""),
        )  # fmt: skip
    else:
        await saver.aput_writes(stop.config, [*kept, *writes], NO_TASK)


def _keys(level: Graph) -> list[str]:
    """The values that a person is shown and that are stored."""
    shown = level.stream_channels_asis
    names = [] if isinstance(shown, str) else list(shown)
    return [name for name in names if not isinstance(level.channels.get(name), UntrackedValue)]


def _fitted(stop: Stop, key: str, value: JSON) -> tuple[Any] | Misfit:
    """The value as the key's type wants it, tried on the channel itself."""
    channel: Any = stop.level.channels.get(key)
    if isinstance(channel, LastValue) and (hint := _hint(stop.level, key)) is not None:
        fitted = _coerced(key, hint, value)
        if isinstance(fitted, Misfit):
            return fitted
        value = fitted[0]
    try:
        probe = channel.from_checkpoint(stop.values[key]) if key in stop.values else channel.copy()
        if isinstance(channel, LastValue) or hasattr(channel, "operator"):
            probe.update([value])
    except Exception as error:
        said = clean(str(error))[:PROBLEM_CHARACTERS].rstrip(".") or type(error).__name__
        return Misfit(f"{name_in_words(key)} cannot be this: {said}.")
    return (value,)


def _coerced(key: str, hint: Any, value: JSON) -> tuple[Any] | Misfit:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint)
    except Exception:  # a type that cannot be looked at refuses nothing
        return (value,)
    try:
        return (adapter.validate_python(value),)
    except ValidationError as error:
        said = _in_words(adapter, value) or _words(error)
        return Misfit(f"{name_in_words(key)}: {said[:1].lower()}{said[1:]}")
    except Exception:
        return (value,)


def _in_words(adapter: TypeAdapter[Any], value: JSON) -> str | None:
    try:
        return answers.check(value, None, adapter.json_schema())
    except Exception:
        return None


def _hint(level: Graph, key: str) -> Any:
    builder = getattr(level, "builder", None)
    for schema in (getattr(builder, "state_schema", None), *getattr(builder, "schemas", {})):
        if (found := _hints(schema).get(key)) is not None:
            return found
    return None


def _hints(schema: Any) -> Mapping[str, Any]:
    try:
        return get_type_hints(schema, include_extras=True)
    except Exception:  # names that only its own module can resolve
        return {}


def _of_model(stop: Stop, writes: Mapping[str, Any]) -> str | None:
    """A model of the whole state is made before the next step, and refuses then."""
    schema = getattr(getattr(stop.level, "builder", None), "state_schema", None)
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)) or not writes:
        return None
    try:
        schema.model_validate({**stop.values, **writes})
    except ValidationError as error:
        return _words(error)
    except Exception:
        return None
    return None


def _words(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    said = clean(str(first["msg"]))[:PROBLEM_CHARACTERS].rstrip(".")
    where = ", ".join(name_in_words(str(part)) for part in first["loc"])
    return f"{where}: {said[:1].lower()}{said[1:]}." if where else f"{said}."
