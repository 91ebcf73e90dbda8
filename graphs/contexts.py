"""The context of a thread's runs: what LangGraph hands to nodes as `runtime.context`.

LangGraph does not keep it, so it is stored with the thread and given again at every run, over what
the graph's entry in sayso.toml says. LangGraph itself makes the graph's own type of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeAlias, get_type_hints

from pydantic import TypeAdapter, ValidationError
from typing_extensions import is_typeddict

from checkpoints.text import clean
from graphs.registry import Graph, LoadedGraph

JSON: TypeAlias = Any
SAID_CHARACTERS = 200
QUOTE_CHARACTERS = 4


def merged(loaded: LoadedGraph, own: Mapping[str, JSON] | None) -> dict[str, JSON] | None:
    """The context of a run: the entry's, and over it the thread's own; None without any."""
    return {**loaded.spec.context, **(own or {})} or None


def problem(graph: Graph, context: Mapping[str, JSON] | None) -> str | None:
    """None where the context fits the graph, else one sentence that says what to write."""
    schema = graph.context_schema
    if context is None:
        return None
    if schema is None:
        return "The graph takes no context. Leave it out."
    try:
        if is_typeddict(schema):
            return _of_keys(schema, context)
        TypeAdapter(schema).validate_python(dict(context))
        if dataclasses.is_dataclass(schema):
            schema(**context)  # refuses names that it does not know
    except ValidationError as error:
        return _words(error, "", context)
    except TypeError as error:
        said = _unquoted(clean(str(error)), context)[:SAID_CHARACTERS]
        return f"The context does not fit: {said}."
    except Exception:  # a type that cannot be looked at refuses nothing; LangGraph will
        return None
    return None


def _of_keys(schema: Any, context: Mapping[str, JSON]) -> str | None:
    if missing := sorted(schema.__required_keys__ - context.keys()):
        return f"The context lacks {', '.join(missing)}."
    for key, hint in get_type_hints(schema, include_extras=True).items():
        try:
            if key in context:
                TypeAdapter(hint).validate_python(context[key])
        except ValidationError as error:
            return _words(error, key, context)
    return None


def _unquoted(said: str, context: Mapping[str, JSON]) -> str:
    """The words, unless they quote a value: a context holds keys and passwords."""
    values, texts = list(context.values()), []
    for value in values:
        if isinstance(value, dict | list):
            values += value.values() if isinstance(value, dict) else value
        else:
            texts.append(str(value).casefold())
    quotes = any(len(text) >= QUOTE_CHARACTERS and text in said.casefold() for text in texts)
    return "it is refused, in words that quote a value" if quotes else said


def _words(error: ValidationError, key: str, context: Mapping[str, JSON]) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    said = _unquoted(clean(str(first["msg"])), context)[:SAID_CHARACTERS].rstrip(".").lower()
    where = ", ".join(str(part) for part in (*((key,) if key else ()), *first["loc"]))
    return f"The context's {where} does not fit: {said}." if where else f"The context: {said}."
