"""Entrances: what a surface has to know of a graph to begin one, without running it.

Three kinds, told from the graph itself. A *chat* has a `messages` channel: a message is a turn and
so are the later ones. A graph of *words* takes one text, or has an intake of its own. A *form* has
an input of several values that no sentence can be taken apart into: people are shown its fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from graphs import inputs
from graphs.registry import LoadedGraph
from graphs.specs import GraphSpec

JSON: TypeAlias = Any


@dataclass(frozen=True)
class Entrance:
    """How a graph is begun and talked to; the defaults are for one that could not be loaded.

    `known` says that it could be, or need not. `form` is the JSON Schema of the fields that people
    fill in, None where words are enough.
    """

    known: bool = False
    turns: bool = False
    cancels: bool = False
    form: JSON = None
    documents: bool = False
    problem: Callable[[JSON], str | None] = lambda _: None

    def initial(self, text: str) -> JSON:
        """What the form starts with: a JSON object is its values, words go into its `text`."""
        fields = inputs.fields_of(self.form)
        if (value := _object(text)) is not None:
            return {name: one for name, one in value.items() if name in fields}
        takes = fields.get("text") or {}
        return {"text": text} if text.strip() and takes.get("type") == "string" else {}

    def whole(self, value: JSON) -> JSON:
        """The input made of what was filled in; its documents are added by the worker."""
        if not self.documents or not isinstance(value, Mapping):
            return value
        return {**value, inputs.DOCUMENTS: []}

    def written(self, text: str) -> tuple[JSON, str | None] | None:
        """The input that somebody wrote as a JSON object instead of filling in the form.

        With it one sentence where it does not fit; None where the text is no JSON object.
        """
        value = _object(text)
        if self.form is None or value is None:
            return None
        missing = [name for name in self.form.get("required") or () if name not in value]
        if missing:
            return value, f"The input lacks {missing[0]}."
        return self.whole(value), self.problem(self.whole(value))


def entrance_of(loaded: LoadedGraph) -> Entrance:
    """How this graph is begun."""
    schema = _form_of(loaded)
    return Entrance(
        known=True,
        turns=loaded.turns,
        cancels=loaded.spec.replies == "cancel",
        form=schema,
        documents=schema is not None and inputs.takes_documents(inputs.schema_of(loaded.graph)),
        problem=lambda value: inputs.problem(loaded.graph, value),
    )


def told_by(spec: GraphSpec) -> Entrance | None:
    """How a graph is begun by its configuration alone; None where only the graph itself tells."""
    if spec.replies is None or spec.intake is None:
        return None
    return Entrance(True, turns=spec.replies != "kept", cancels=spec.replies == "cancel")


def _object(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _form_of(loaded: LoadedGraph) -> JSON:
    graph = loaded.graph
    if loaded.spec.intake is not None or "messages" in graph.channels:
        return None
    schema = inputs.schema_of(graph)
    fields = dict(inputs.fields_of(schema))
    if inputs.takes_documents(schema):
        fields.pop(inputs.DOCUMENTS)
    text = inputs.text_field(graph)
    if not fields or (text is not None and (len(fields) == 1 or _is_state(loaded))):
        return None
    required = [name for name in schema.get("required") or () if name in fields]
    return {**schema, "properties": fields, "required": required}


def _is_state(loaded: LoadedGraph) -> bool:
    """Whether the input was not declared: then the state holds much that nobody should fill in."""
    builder = getattr(loaded.graph, "builder", None)
    return builder is not None and builder.input_schema is builder.state_schema
