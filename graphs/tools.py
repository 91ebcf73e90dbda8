"""The tools of a graph and what goes into them, so that a form can show it and an edit is checked.

A tool is found where LangGraph runs it: in a `ToolNode` of the graph or of one of its subgraphs.
What nodes call by hand cannot be seen, and its arguments are taken as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from graphs.factories import Graph, subgraphs
from graphs.plain import plain

JSON: TypeAlias = Any


def schemas(graph: Graph) -> dict[str, JSON]:
    """The JSON Schema of each tool's arguments by its name; without what LangGraph puts in."""
    found: dict[str, JSON] = {}
    for name, tool in _tools(graph):
        schema = _schema(tool)
        if name not in found and schema is not None:
            found[name] = schema
    return found


def names(graph: Graph) -> list[str]:
    """The names of all tools that can be found."""
    return [name for name, _ in _tools(graph)]


def _tools(graph: Graph) -> Iterator[tuple[str, Any]]:
    for each in (graph, *(inner for _, inner in subgraphs(graph))):
        for node in each.nodes.values():
            known = getattr(node.bound, "tools_by_name", None)
            if isinstance(known, Mapping):
                yield from ((str(name), tool) for name, tool in known.items())


def _schema(tool: Any) -> JSON:
    try:
        taken = tool.tool_call_schema
        return plain(taken if isinstance(taken, Mapping) else taken.model_json_schema())
    except Exception:  # somebody else's tool; a form shows its arguments without it
        return None
