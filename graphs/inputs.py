"""Whether an input fits its graph, before a thread is started with it.

LangGraph looks at an input when it runs: one that does not fit fails there, the same at every
attempt. Only what is sure to fail is refused here; a channel with a reducer takes what its
reducer takes, and a type that cannot be looked at refuses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_type_hints

from langgraph.channels import LastValue
from langgraph.graph.state import CompiledStateGraph
from pydantic import BaseModel, TypeAdapter, ValidationError

from checkpoints.errors import SaysoError
from checkpoints.text import clean
from graphs.registry import Graph

SAID_CHARACTERS = 200


class InputRefused(SaysoError):
    """The input does not fit the graph; its text says what to write."""

    permanent = True


def problem(graph: Graph, value: Any, *, types: bool = True) -> str | None:
    """None when the input fits, else one sentence that says what to write.

    Args:
        types: look also at what LangGraph itself does not, the types of a TypedDict's values.
    """
    if not isinstance(graph, CompiledStateGraph):
        return None
    schema = graph.builder.input_schema
    keys = list(graph.builder.schemas[schema])
    if keys == ["__root__"]:
        return None
    known = ", ".join(keys)
    if not isinstance(value, Mapping):
        kind = {list: "a list", str: "text", bool: "true or false"}.get(type(value), "a number")
        return f"The input must be a JSON object with {known}, not {kind}."
    if value and not any(key in keys for key in value):
        return f"The input holds nothing that the graph knows. Write {known}."
    plain = [key for key in keys if type(graph.channels.get(key)) is LastValue]
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return _of_model(schema, value, plain)
    if not types:
        return None
    hints = _hints(schema)
    for key in plain:
        if value.get(key) is not None and (said := _mismatch(hints.get(key, Any), value[key])):
            return f"The input's {key} does not fit: {said}."
    return None


def _of_model(schema: type[BaseModel], value: Mapping[str, Any], plain: list[str]) -> str | None:
    """LangGraph makes the model only when a node runs, and then of every field."""
    try:
        schema.model_validate(value)
    except ValidationError as error:
        for wrong in error.errors(include_url=False, include_input=False):
            key = str(wrong["loc"][0]) if wrong["loc"] else ""
            if wrong["type"] == "missing" and key in plain:
                return f"The input lacks {key}."
            if key in plain:
                return f"The input's {key} does not fit: {_words(wrong)}."
    except Exception:
        return None
    return None


def _hints(schema: Any) -> Mapping[str, Any]:
    try:
        return get_type_hints(schema, include_extras=True)
    except Exception:  # names that only its own module can resolve
        return {}


def _mismatch(hint: Any, value: Any) -> str | None:
    try:
        TypeAdapter(hint).validate_python(value)
    except ValidationError as error:
        return _words(error.errors(include_url=False, include_input=False)[0])
    except Exception:
        return None
    return None


def _words(wrong: Mapping[str, Any]) -> str:
    return clean(str(wrong["msg"]))[:SAID_CHARACTERS].rstrip(".").lower()
