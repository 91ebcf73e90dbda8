"""The worker's part of a rewind: a copy of an earlier checkpoint, from which the thread runs on.

The copy has no writes of its own, so whatever ran from the old one runs again, and whoever was
asked is asked again, under new ids. It is made once: all checkpoints of a run carry the id of the
row that it was fed with, and where one carries the rewind's, the copy is there. Whoever dies
between the copy and the settle leaves that behind for the next owner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias, get_type_hints

from langchain_core.runnables import RunnableConfig
from langgraph.channels import BinaryOperatorAggregate, LastValue
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    Checkpoint,
    CheckpointTuple,
    copy_checkpoint,
)
from langgraph.checkpoint.base.id import uuid6
from pydantic import TypeAdapter, ValidationError

from checkpoints.errors import SaysoError
from checkpoints.failpoints import reached
from graphs.factories import Graph
from graphs.history import REWOUND_FROM
from graphs.mailbox import Row

JSON: TypeAlias = Any
KIND: Final = "rewind"
_COUNTERS: Final = "counters_since_delta_snapshot"


class NotForked(SaysoError):
    """There is nothing to go back to any more; nothing was run."""

    def __init__(self, checkpoint_id: str) -> None:
        super().__init__(
            f"The checkpoint {checkpoint_id} that it was to be rewound to is not stored any more. "
            "Rewind it to a step that `sayso threads history` shows."
        )


class EditRefused(SaysoError):
    """A value does not fit the state; nothing was changed."""


async def fork(graph: Graph, config: RunnableConfig, rows: Sequence[Row]) -> frozenset[int]:
    """Make the copy that a waiting rewind wants, once; returns the rows that went with the old run.

    Those are messages which the run that was cut off had taken in already.

    Raises:
        NotForked, EditRefused, StaleOwner
    """
    row = next((row for row in reversed(rows) if row.kind == KIND), None)
    if row is None:
        return frozenset()
    saver: Any = graph.checkpointer
    thread = RunnableConfig(
        configurable={"thread_id": config["configurable"]["thread_id"], "checkpoint_ns": ""}
    )
    if not await _has(saver, thread, row.run_id):
        await _copy(saver, graph, config, row)
        reached("rewind.forked")
    said = [each for each in rows if each.kind in ("start", "say")]
    return frozenset([each.id for each in said if await _has(saver, thread, each.run_id)])


def applied(graph: Graph, edit: Mapping[str, JSON]) -> dict[str, Any]:
    """The edit's values as the state holds them, from their JSON.

    Raises:
        EditRefused: a key that the state has not, that cannot be set, or a value of another type.
    """
    builder = getattr(graph, "builder", None)
    schema = getattr(builder, "state_schema", None)
    keys = [
        key for key in getattr(builder, "schemas", {}).get(schema, ()) if _can_be_set(graph, key)
    ]
    if unknown := [str(key) for key in edit if key not in keys]:
        known = f"It has {', '.join(keys)}." if keys else "Nothing of it can be changed."
        raise EditRefused(f"The state has no value {', '.join(unknown)} to change. {known}")
    hints = _hints(schema)
    return {key: _fitting(key, hints.get(key, Any), value) for key, value in edit.items()}


async def _has(saver: BaseCheckpointSaver[Any], thread: RunnableConfig, run_id: str) -> bool:
    """Whether this run left a checkpoint; one that cannot be read is one too."""
    try:
        async for _ in saver.alist(thread, filter={"run_id": run_id}, limit=1):
            return True
    except SaysoError:
        return True
    return False


async def _copy(
    saver: BaseCheckpointSaver[Any], graph: Graph, config: RunnableConfig, row: Row
) -> None:
    where = config["configurable"]
    at = {
        "thread_id": where["thread_id"],
        "checkpoint_ns": "",
        "checkpoint_id": row.body["checkpoint"],
    }
    found = await saver.aget_tuple(RunnableConfig(configurable=at))
    if found is None:
        raise NotForked(str(row.body["checkpoint"]))
    edit = applied(graph, row.body.get("edit") or {})
    checkpoint, versions = _edited(saver, found, edit)
    metadata: dict[str, Any] = dict(found.metadata or {})
    parent = (found.parent_config or {}).get("configurable", {}).get("checkpoint_id")
    under = {**where, "checkpoint_ns": "", "checkpoint_id": parent}
    await saver.aput(
        RunnableConfig(
            configurable={key: value for key, value in under.items() if value is not None},
            metadata={"run_id": row.run_id},
        ),
        checkpoint,
        {  # type: ignore[typeddict-unknown-key]
            "source": "fork",
            "step": int(metadata.get("step", -1)) + 1,
            "parents": metadata.get("parents", {}),
            REWOUND_FROM: row.body["checkpoint"],
            **({_COUNTERS: metadata[_COUNTERS]} if _COUNTERS in metadata else {}),
        },
        versions,
    )


def _edited(
    saver: BaseCheckpointSaver[Any], found: CheckpointTuple, edit: Mapping[str, Any]
) -> tuple[Checkpoint, dict[str, Any]]:
    """The checkpoint under a new id, with the values of the edit in it; what is to run stays."""
    made = copy_checkpoint(found.checkpoint)
    made["id"] = str(uuid6(clock_seq=int((found.metadata or {}).get("step", -1)) + 1))
    made["ts"] = datetime.now(UTC).isoformat()
    made["updated_channels"] = None
    versions: dict[str, Any] = {}
    newest = max(made["channel_versions"].values(), default=None)
    for key, value in edit.items():
        made["channel_values"][key] = value
        made["channel_versions"][key] = versions[key] = saver.get_next_version(newest, None)
    return made, versions


def _can_be_set(graph: Graph, key: str) -> bool:
    return type(graph.channels.get(key)) in (LastValue, BinaryOperatorAggregate)


def _hints(schema: Any) -> dict[str, Any]:
    try:
        return get_type_hints(schema)
    except Exception:  # names that only a type checker knows
        return {}


def _fitting(key: str, kind: Any, value: JSON) -> Any:
    try:
        adapter = TypeAdapter(kind)
    except Exception:  # a type that cannot be looked at refuses nothing
        return value
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        raise EditRefused(f"{key} does not fit: {error.errors()[0]['msg'].lower()}.") from None
