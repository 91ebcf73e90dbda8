"""Whether the state that a graph's schema names can be stored and read back as it was.

Only types that the schema shows are loaded again; LangGraph looks for them through lists, dicts and
unions, and not through every generic (a `Sequence[Claim]` hides `Claim`). Such a type is written
without a word and refused when it is read, so a thread would be held at its second step. It is told
before: the operator names the type in `types`.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
from collections.abc import Collection, Iterator
from enum import Enum
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from langgraph.channels import UntrackedValue
from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_TYPES
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel
from typing_extensions import is_typeddict

from graphs.factories import Graph, subgraphs


def unstorable(graph: Graph, types: Collection[str]) -> str | None:
    """The clause that says what in the state's schema cannot be stored or read; None is well."""
    blocked: dict[str, None] = {}
    for one in (graph, *(inner for _, inner in subgraphs(graph))):
        allowed = {*SAFE_MSGPACK_TYPES, *(one._serde_allowlist or ())}
        for key, annotation in _annotations(one):
            for found in _classes(annotation, set()):
                if _is_plain(found) and not _can_be_written(found):
                    return (
                        f"its state key {key} is of the class {found.__qualname__}, which cannot "
                        "be stored; keep it out of the state, or make it a dataclass"
                    )
                name = f"{found.__module__}:{found.__name__}"
                if _is_rebuilt(found) and (found.__module__, found.__name__) not in allowed:
                    blocked.update({name: None} if name not in types else {})
    if not blocked:
        return None
    listed = ", ".join(f'"{name}"' for name in (*types, *sorted(blocked)))
    return f"its state could not be read back; add to its entry: types = [{listed}]"


def _annotations(graph: Graph) -> Iterator[tuple[str, Any]]:
    """The state's keys that are stored, with what the schemas say of them."""
    builder = getattr(graph, "builder", None)
    for schema in getattr(builder, "schemas", {}):
        for key, annotation in _hints(schema).items():
            if not isinstance(graph.channels.get(key), UntrackedValue):
                yield key, annotation
    if builder is None:
        for key, channel in graph.channels.items():
            yield key, getattr(channel, "ValueType", None)


def _classes(annotation: Any, seen: set[int], *, in_model: bool = False) -> Iterator[type]:
    """Every class that a value of this annotation may bring into the state.

    A pydantic model is written as plain data, so of what lies in its fields only enums stand for
    themselves.
    """
    annotation = getattr(annotation, "__supertype__", annotation)  # NewType
    annotation = getattr(annotation, "__value__", annotation)  # type Name = …
    origin = get_origin(annotation)
    if origin in (Literal, collections.abc.Callable, type):
        return
    if origin is not None:
        arguments = get_args(annotation)
        for each in arguments[:1] if origin is Annotated else arguments:
            yield from _classes(each, seen, in_model=in_model)
        return
    if not inspect.isclass(annotation) or id(annotation) in seen:
        return
    seen.add(id(annotation))
    if is_typeddict(annotation):
        fields = _hints(annotation)
    else:
        if not in_model or issubclass(annotation, Enum):
            yield annotation
        if not _has_fields(annotation):
            return
        fields = _hints(annotation)
    below = in_model or issubclass(annotation, BaseModel)
    for each in fields.values():
        yield from _classes(each, seen, in_model=below)


def _hints(owner: Any) -> dict[str, Any]:
    try:
        return get_type_hints(owner, include_extras=True)
    except Exception:
        return {}  # names that only a type checker knows; LangGraph sees nothing there either


def _has_fields(found: type) -> bool:
    own = issubclass(found, BaseModel) and not found.__module__.startswith("langchain_core.")
    return own or dataclasses.is_dataclass(found) or hasattr(found, "_asdict")


def _is_rebuilt(found: type) -> bool:
    """Whether values of it are written with the name of their class."""
    return _has_fields(found) or (issubclass(found, Enum) and found is not Enum)


def _is_plain(found: type) -> bool:
    """A class of somebody's own that is none of the kinds that can be written."""
    return (
        "__dict__" in dir(found)
        and type(found) is type
        and found.__mro__[1:] == (object,)
        and not getattr(found, "_is_protocol", False)
        and not dataclasses.is_dataclass(found)
    )


def _can_be_written(found: type) -> bool:
    try:
        blank: object = object.__new__(found)
    except TypeError:
        return True  # nothing can be said of it
    try:
        JsonPlusSerializer().dumps_typed(blank)
    except Exception as error:
        return "serializable" not in str(error)
    return True
