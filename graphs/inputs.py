"""What a graph takes as its input, and whether one fits, before a thread is started with it.

LangGraph looks at an input when it runs: one that does not fit fails there, the same at every
attempt. Only what is sure to fail is refused here; a channel with a reducer takes what its
reducer takes, and a type that cannot be looked at refuses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import (
    Any,
    Final,
    NotRequired,
    Required,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)

from langgraph.channels import LastValue
from langgraph.graph.state import CompiledStateGraph
from pydantic import BaseModel, TypeAdapter, ValidationError

from checkpoints.errors import SaysoError
from checkpoints.text import clean
from graphs.factories import Graph

JSON: TypeAlias = Any
SAID_CHARACTERS = 200
DOCUMENTS: Final = "documents"  # the field that gets the ids of what came with a message


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


def schema_of(graph: Graph) -> JSON:
    """The JSON Schema of the graph's input; None where it cannot be told.

    A state that is also the input says of every value what it may be and of none that it must be
    given; what only accumulates in it is left out.
    """
    if not isinstance(graph, CompiledStateGraph):
        return _resolved(_shown_by(graph.get_input_jsonschema))
    schema = graph.builder.input_schema
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return _shown_by(schema.model_json_schema)
    names = [name for name in graph.builder.schemas[schema] if name != "__root__"]
    hints = _hints(schema)
    properties: dict[str, Any] = {}
    shared: dict[str, Any] = {}
    whole = schema is graph.builder.state_schema
    for name in names:
        if whole and type(graph.channels.get(name)) is not LastValue:
            continue
        made = _shown_by(TypeAdapter(_bare(hints.get(name, Any))).json_schema) or {}
        shared |= made.pop("$defs", {})
        properties[name] = {"title": name.replace("_", " ").strip().capitalize(), **made}
    if not properties:
        return None
    needed = () if whole else _needed(schema, names, hints)
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name in needed],
        **({"$defs": shared} if shared else {}),
    }


def text_field(graph: Graph) -> str | None:
    """The field of the input for what a person wrote: `text`, or a text that is all of it."""
    schema = schema_of(graph)
    texts = list(_texts(schema))
    if "text" in texts:
        return "text"
    return texts[0] if fields_of(schema).keys() - {DOCUMENTS} == set(texts[:1]) and texts else None


def takes_documents(schema: JSON) -> bool:
    """Whether the input has a list of texts called `documents`."""
    field = fields_of(schema).get(DOCUMENTS) or {}
    return field.get("type") == "array" and (field.get("items") or {}).get("type") == "string"


def fields_of(schema: JSON) -> Mapping[str, Any]:
    """The fields of the input by their names, with what the schema says of each."""
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _texts(schema: JSON) -> Iterator[str]:
    for name, field in fields_of(schema).items():
        if field.get("type") == "string" and not field.keys() & {"enum", "const", "format"}:
            yield name


def _resolved(schema: JSON) -> JSON:
    """A schema whose top is only the name of one of its parts, with that part as its top."""
    name = str(schema.get("$ref", "")) if isinstance(schema, Mapping) else ""
    part = (schema or {}).get("$defs", {}).get(name.removeprefix("#/$defs/"))
    return {**part, "$defs": schema["$defs"]} if isinstance(part, Mapping) else schema


def _needed(schema: Any, names: list[str], hints: Mapping[str, Any]) -> set[str]:
    """The fields that must be given. `__required_keys__` alone is wrong of a class whose
    annotations are strings: there it counts every NotRequired in."""
    said = getattr(schema, "__required_keys__", names)
    marks = {name: get_origin(hints.get(name)) for name in names}
    return {
        name
        for name in names
        if marks[name] is Required or (name in said and marks[name] is not NotRequired)
    }


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) in (Required, NotRequired) else hint


def _shown_by(make: Any) -> Any:
    """A schema, or None: somebody else's types may do anything when they are looked at."""
    try:
        return make()
    except Exception:
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
