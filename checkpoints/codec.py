"""Checkpoints as bytes: what is stored of a checkpoint, and how it comes back.

A checkpoint is split in three. Small plain values (None, booleans, numbers, short strings) and
the version maps go into one `body`. Every other value is a row of its own, stored once for each
version and only named by the checkpoints that still hold it (`held`). Metadata is JSON, so that
it can be searched; where JSON cannot say it exactly, the exact bytes lie beside it.

All bytes pass through the serializer of the saver, so an encrypting one covers body and values.
NUL and lone surrogates inside values are bytes like any others (a lone surrogate is replaced, as
LangGraph's serializer does); in the names that become columns they are refused by `named`.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener
from langgraph.checkpoint.serde.types import INTERRUPT
from langgraph.types import Interrupt

from checkpoints.errors import BadValue, UnkeptQuestion
from checkpoints.text import clean, clean_json

SMALL_CHARACTERS: Final = 64
# Three names and two ids must fit into one key of an index, 2,704 bytes.
NAME_BYTES: Final = 800
QUESTION_LEVELS: Final = 20
_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1
_EXACT_FLOAT: Final = 1e15

_KINDS: Final = {
    "null": b"n",
    "bytes": b"b",
    "bytearray": b"a",
    "msgpack": b"m",
    "json": b"j",
    "pickle": b"p",
}
_NAMES: Final = {tag[0]: kind for kind, tag in _KINDS.items()}
_OTHER: Final = b"?"

Held = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class EncodedCheckpoint:
    """One checkpoint as it goes into the tables."""

    namespace: str
    checkpoint_id: str
    parent_id: str | None
    above_id: str | None
    body: bytes
    held: Held
    values: Sequence[tuple[str, int, bytes]]
    metadata: dict[str, Any]
    exact_metadata: bytes | None

    @property
    def size(self) -> int:
        """About how many bytes go to the server."""
        return len(self.body) + sum(len(value) for _, _, value in self.values) + 256


@dataclass(frozen=True, slots=True)
class EncodedWrites:
    """What one task wrote, as it goes into the tables.

    Attributes:
        rows: (idx, channel, value) each.
        replace: only special channels: the newer value wins; else what stands there already.
    """

    namespace: str
    checkpoint_id: str
    task_id: str
    task_path: str
    rows: Sequence[tuple[int, str, bytes]]
    replace: bool

    @property
    def size(self) -> int:
        """About how many bytes go to the server."""
        return sum(len(value) for _, _, value in self.rows) + 256


def encode_checkpoint(
    serde: SerializerProtocol,
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    new_versions: ChannelVersions,
) -> EncodedCheckpoint:
    """Split and serialize a checkpoint as LangGraph puts it.

    Raises:
        BadValue: a value cannot be serialized, or a name cannot be a column.
    """
    configurable = config["configurable"]
    parent_id = configurable.get("checkpoint_id")
    versions = checkpoint["channel_versions"]
    small: dict[str, Any] = {}
    held: dict[str, int] = {}
    values: list[tuple[str, int, bytes]] = []
    for channel, value in checkpoint["channel_values"].items():
        if _is_small(value):
            small[channel] = value
            continue
        version = new_versions.get(channel)
        if version is None:
            version = versions.get(channel)
            if version is None:
                continue
            # A root has no ancestor that could have brought the value before.
            brought = not parent_id
        else:
            brought = True
        number = version_number(version)
        held[named("channel", channel)] = number
        if brought:
            values.append((channel, number, pack(serde, value, f"channel {channel}")))
    rest = {key: value for key, value in checkpoint.items() if key not in ("id", "channel_values")}
    plain = cast("dict[str, Any]", get_serializable_checkpoint_metadata(config, metadata))
    if isinstance(plain.get("run_id"), str):
        named("run_id", clean(plain["run_id"]))
    exact = is_exact_json(plain)
    above_id = (plain.get("parents") or {}).get("")
    return EncodedCheckpoint(
        namespace=named("checkpoint_ns", configurable.get("checkpoint_ns", "")),
        checkpoint_id=named("checkpoint_id", checkpoint["id"]),
        parent_id=named("checkpoint_id", parent_id) if parent_id else None,
        above_id=above_id if isinstance(above_id, str) else None,
        body=pack(serde, {"checkpoint": rest, "small": small}, "checkpoint"),
        held=held,
        values=values,
        metadata=plain if exact else _searchable(plain),
        exact_metadata=None if exact else pack(serde, plain, "metadata"),
    )


def decode_checkpoint(
    serde: SerializerProtocol, checkpoint_id: str, body: bytes, values: Mapping[str, Any]
) -> Checkpoint:
    """Put a checkpoint together again from its body and the values it held."""
    rest, small = open_body(serde, body)
    return cast("Checkpoint", {**rest, "id": checkpoint_id, "channel_values": {**small, **values}})


def open_body(serde: SerializerProtocol, body: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the maps of a checkpoint and its small values."""
    opened = unpack(serde, body)
    return opened["checkpoint"], opened["small"]


def encode_writes(
    serde: SerializerProtocol,
    config: RunnableConfig,
    writes: Sequence[tuple[str, Any]],
    task_id: str,
    task_path: str,
) -> EncodedWrites:
    """Serialize what a task wrote.

    Raises:
        BadValue: a value cannot be serialized, or a name cannot be a column.
    """
    configurable = config["configurable"]
    return EncodedWrites(
        namespace=named("checkpoint_ns", configurable.get("checkpoint_ns", "")),
        checkpoint_id=named("checkpoint_id", configurable["checkpoint_id"]),
        task_id=named("task_id", task_id),
        task_path=named("task_path", task_path),
        rows=[
            (
                WRITES_IDX_MAP.get(channel, position),
                named("channel", channel),
                _packed_questions(serde, value)
                if channel == INTERRUPT
                else pack(serde, value, f"channel {channel}"),
            )
            for position, (channel, value) in enumerate(writes)
        ],
        replace=all(channel in WRITES_IDX_MAP for channel, _ in writes),
    )


def _packed_questions(serde: SerializerProtocol, asked: Sequence[Interrupt]) -> bytes:
    """Serialize what `interrupt()` was given.

    The node makes its question again when it goes on, so what cannot be stored in it but can be
    said in words (an object with a text of its own, an integer beyond 64 bits) is stored as its
    text. What has no words either (a lock, a connection) would be asked of nobody.

    Raises:
        UnkeptQuestion
    """
    try:
        return pack(serde, asked, "the question")
    except BadValue:
        said = [replace(one, value=_in_words(serde, one)) for one in asked]
        return pack(serde, said, "the question")


def _in_words(serde: SerializerProtocol, asked: Interrupt) -> Any:
    try:
        return _storable(serde, asked.value, ())
    except _Wordless as wordless:
        raise UnkeptQuestion(wordless.kind, asked.id) from None


class _Wordless(Exception):
    """A value that can be neither stored nor said."""

    def __init__(self, value: Any) -> None:
        self.kind = type(value).__name__


def _storable(serde: SerializerProtocol, value: Any, inside: tuple[int, ...]) -> Any:
    try:
        serde.dumps_typed(value)
        return value
    except Exception:
        if id(value) in inside or len(inside) > QUESTION_LEVELS:
            return f"({type(value).__name__})"
    within = (*inside, id(value))
    if isinstance(value, Mapping):
        return {
            key if isinstance(key, str) else _words(key): _storable(serde, item, within)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [_storable(serde, item, within) for item in value]
    words = _words(value)
    if words.startswith("<") and words.endswith(">"):  # Python's way to show what has no text
        raise _Wordless(value)
    return words


def _words(value: Any) -> str:
    try:
        return clean(str(value))
    except Exception:
        return f"({type(value).__name__})"


def decode_metadata(
    serde: SerializerProtocol, metadata: dict[str, Any], exact: bytes | None
) -> CheckpointMetadata:
    """Return the metadata as it was put."""
    return cast("CheckpointMetadata", metadata if exact is None else unpack(serde, exact))


def version_number(version: str | int | float) -> int:
    """Return the 64 bits by which a version is found; its order is kept elsewhere.

    Our own versions are such numbers. Versions of other savers (text, fractions) are hashed, so
    that a thread copied from there can go on here.
    """
    if type(version) is int and _LOWEST <= version <= _HIGHEST:
        return version
    digest = hashlib.blake2b(repr(version).encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def named(what: str, name: Any) -> str:
    """Return the name if it can be in a key: short text without NUL and without lone surrogates.

    Raises:
        BadValue: it cannot; silently changed, it would name something else.
    """
    if type(name) is not str:
        if not isinstance(name, str | int) and not hasattr(name, "hex"):
            raise BadValue(f"{what} must be text, not {type(name).__name__}")
        name = str(name)
    if clean(name) != name:
        raise BadValue(f"{what} {name!r} has a NUL or half a surrogate pair in it")
    if len(name) > NAME_BYTES // 4 and what != "task_path" and len(name.encode()) > NAME_BYTES:
        raise BadValue(f"{what} {name[:40]!r} is longer than {NAME_BYTES} bytes")
    return cast("str", name)


def pack(serde: SerializerProtocol, value: Any, what: str) -> bytes:
    """Serialize one value: a tag for its kind, then its bytes.

    Raises:
        BadValue: the serializer cannot; ``what`` says whose value it was.
    """
    try:
        kind, data = serde.dumps_typed(value)
    except Exception as error:
        raise BadValue(f"{clean(what)}: {clean(str(error)) or type(error).__name__}") from error
    tag = _KINDS.get(kind)
    if tag is None:
        name = kind.encode()
        tag = _OTHER + bytes([len(name)]) + name
    return tag + data


def unpack(serde: SerializerProtocol, packed: bytes) -> Any:
    """Return the value that was packed."""
    kind = _NAMES.get(packed[0])
    if kind is not None:
        return serde.loads_typed((kind, packed[1:]))
    end = 2 + packed[1]
    return serde.loads_typed((packed[2:end].decode(), packed[end:]))


def _is_small(value: Any) -> bool:
    kind = type(value)
    if kind is str:
        return len(value) <= SMALL_CHARACTERS
    if kind is int:
        return bool(_LOWEST <= value <= _HIGHEST)
    return value is None or kind is bool or kind is float


def is_exact_json(value: Any) -> bool:
    """Tell whether jsonb gives back exactly this."""
    kind = type(value)
    if kind is str:
        return bool(clean(value) == value)
    if value is None or kind is bool:
        return True
    if kind is int:
        return bool(_LOWEST <= value <= _HIGHEST)
    if kind is float:
        return math.isfinite(value) and abs(value) < _EXACT_FLOAT
    if kind is list or kind is tuple:
        return all(is_exact_json(item) for item in value)
    if kind is dict:
        return all(
            type(key) is str and clean(key) == key and is_exact_json(item)
            for key, item in value.items()
        )
    return False


def _searchable(metadata: dict[str, Any]) -> dict[str, Any]:
    cleaned = clean_json(metadata)
    return {key: value for key, value in cleaned.items() if is_exact_json(value)}


# --- types that may not be loaded -------------------------------------------------------------

_blocked = threading.local()


@contextmanager
def noticing_blocked() -> Iterator[set[str]]:
    """Collect the names of the types that the strict loader blocks inside, "module:Class" each.

    LangGraph tells only listeners of the whole process; decoding is synchronous, so what this
    thread hears inside belongs to this read.
    """
    before = getattr(_blocked, "names", None)
    names: set[str] = set()
    _blocked.names = names
    try:
        yield names
    finally:
        _blocked.names = before


def _heard(event: SerdeEvent) -> None:
    names = getattr(_blocked, "names", None)
    if names is not None and event["kind"] in ("msgpack_blocked", "msgpack_method_blocked"):
        names.add(f"{event['module']}:{event['name']}")


register_serde_event_listener(_heard)
