"""From what an attribute holds to a graph that can be run with our saver.

An attribute may hold a compiled graph, an `@entrypoint`, something with a `compile()` (a builder),
or a function that makes one of these. A function is called once, when the graph is loaded, and not
for every run: a graph that changed between two runs could not be resumed.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph._internal._serde import build_serde_allowlist
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel

Graph: TypeAlias = Pregel[Any, Any, Any, Any]


class NotAGraph(Exception):
    """What the attribute holds cannot be run; the message is one clause that says why."""


def graph_of(found: Any, name: str, path: str, config: Mapping[str, Any]) -> Graph:
    """The graph behind an attribute.

    1. Call it, when it is a function; a coroutine is awaited on a loop of its own.
    2. Compile it, when it is a builder.
    3. Refuse subgraphs that keep their checkpoints elsewhere.
    4. Put back which types its schemas name.

    Args:
        config: the configurable values, for a factory that takes a config.

    Raises:
        NotAGraph
    """
    what = path
    if _is_factory(found):
        found = _made(found, path, config)
        what = f"what {path} returned"
    if not isinstance(found, Pregel) and not inspect.isclass(found) and _has_compile(found):
        named = {"name": name} if isinstance(found, StateGraph) else {}
        found = _tried(lambda: found.compile(**named), "it does not compile")
    if not isinstance(found, Pregel):
        raise NotAGraph(f"{what} is {_kind(found)}, not a LangGraph graph")
    graph: Graph = found
    for inner_path, inner in subgraphs(graph):
        _refuse_own_saver(inner_path, inner)
    for each in (graph, *(inner for _, inner in subgraphs(graph))):
        _keep_types(each)
    return graph


def subgraphs(graph: Graph, above: str = "") -> Iterator[tuple[str, Graph]]:
    """Every subgraph that can be seen in the graph, with the path of the node it stands in."""
    for name, node in graph.nodes.items():
        for inner in node.subgraphs or ():
            if isinstance(inner, Pregel):
                yield f"{above}{name}", inner
                yield from subgraphs(inner, f"{above}{name}/")


def line_of(error: BaseException) -> str:
    """An error in one line."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:200]}" if text else type(error).__name__


def _is_factory(found: Any) -> bool:
    if isinstance(found, Pregel) or inspect.isclass(found) or _has_compile(found):
        return False
    return callable(found)


def _has_compile(found: Any) -> bool:
    return not inspect.ismodule(found) and callable(getattr(found, "compile", None))


def _made(factory: Callable[..., Any], path: str, config: Mapping[str, Any]) -> Any:
    given = _arguments(factory, path, config)
    made = _tried(lambda: factory(*given[0], **given[1]), f"{path} failed")
    if inspect.iscoroutine(made):
        coroutine = made
        made = _tried(lambda: _awaited(coroutine), f"{path} failed")
    return made


def _arguments(
    factory: Callable[..., Any], path: str, config: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """A config for a parameter of that name, or for the only one that has no default."""
    try:
        parameters = list(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError):
        return [], {}
    passed = RunnableConfig(configurable=dict(config))
    needed = [
        each
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    by_name = next((each for each in parameters if each.name == "config"), None)
    if len(needed) > 1 or (needed and by_name is not None and needed != [by_name]):
        names = ", ".join(each.name for each in needed)
        raise NotAGraph(f"{path} needs {names}; a factory takes nothing, or a config")
    taking = by_name or (needed[0] if needed else None)
    if taking is None:
        return [], {}
    if taking.kind is taking.POSITIONAL_ONLY:
        return [passed], {}
    return [], {taking.name: passed}


def _awaited(coroutine: Any) -> Any:
    # A loop may be running here already (`sayso check`, a worker), so it is awaited beside it.
    with ThreadPoolExecutor(1, "sayso factory") as beside:
        return beside.submit(asyncio.run, coroutine).result()


def _tried(do: Callable[[], Any], failed: str) -> Any:
    try:
        return do()
    except (Exception, SystemExit) as error:
        raise NotAGraph(f"{failed}: {line_of(error)}") from error


def _kind(found: Any) -> str:
    if inspect.isclass(found):
        return f"the class {found.__name__}"
    if inspect.isasyncgen(found) or hasattr(found, "__aenter__") or hasattr(found, "__enter__"):
        return f"a context manager ({type(found).__name__})"
    return f"a {type(found).__name__}"


def _refuse_own_saver(path: str, inner: Graph) -> None:
    """Only our saver is fenced; a run lends it to every subgraph, whatever that was compiled with.

    One in memory was there for a try. Whoever gave a subgraph another one looks for its
    checkpoints there, and they would be in ours.
    """
    saver = inner.checkpointer
    if isinstance(saver, BaseCheckpointSaver) and not isinstance(saver, InMemorySaver):
        raise NotAGraph(
            f"its subgraph {path} keeps its checkpoints in a {type(saver).__name__} of its own; "
            "compile the subgraph without a checkpointer"
        )


def _keep_types(graph: Graph) -> None:
    """Put back which types the schema names: `with_config` makes a copy that forgets them."""
    if graph._serde_allowlist is None:
        builder = getattr(graph, "builder", None)
        if isinstance(builder, StateGraph):
            graph._serde_allowlist = builder.compile()._serde_allowlist
        else:
            graph._serde_allowlist = build_serde_allowlist(channels=dict(graph.channels))
