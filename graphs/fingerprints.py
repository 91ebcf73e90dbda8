"""The fingerprint of a graph, kept with every pause, and what a new version of the code changed.

A thread may wait for days, and be answered by other code than asked. LangGraph takes such an answer
without a word: where the node has another name the graph just ends, where a question was put in
front of the old one the answer goes to the wrong question. So the graph as it was is kept with the
review, and compared before an answer is fed.

    blocks              the asking node is gone or renamed; a question was put in front of, or taken
                        from before, the one that asked; a state key that the node reads has another
                        type
    asks anew           the node's own code changed, or cannot be seen: the node is run without the
                        answer first, and gets it only if it asks the very same again
    listed, and run     everything else: other nodes, edges, routers, the schemas

A node that calls another graph by hand, so that nobody can see it from outside, is compared by the
deepest node that can be seen, and always asks anew.
"""

from __future__ import annotations

import logging
import types
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from graphs.factories import Graph, subgraphs
from graphs.sources import comparable, source

if TYPE_CHECKING:
    from graphs.registry import LoadedGraph

log = logging.getLogger(__name__)

JSON: TypeAlias = Any
UNKNOWN: Final = "?"  # a type that could not be found out; it is equal to every other
MAX_DEPTH: Final = 12


@dataclass(frozen=True)
class Changes:
    """What is different from when the thread paused, in sentences.

    With `blocking` the answer must not be fed. `asks_anew` says that nothing blocks, and that the
    code of the asking node is not known to be the same: run it without input, then compare the
    question's hash. A stop before a node asks nothing, so there it means nothing.
    """

    blocking: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    asks_anew: bool = False


def fingerprint(loaded: LoadedGraph) -> JSON:
    """The graph as it is now; the same code gives the same, in every process.

    It is taken once, when the graph is loaded: the files of a deploy are replaced under a worker
    that still runs the code of before.
    """
    graph = loaded.graph
    if graph not in _TAKEN:
        _TAKEN[graph] = _taken(graph)
    return _TAKEN[graph]


def of_pause(loaded: LoadedGraph, node: str, ordinal: int) -> JSON:
    """What is kept with a review: the graph, the node that asks and which of its questions."""
    try:
        asks = _asking(loaded.graph, node, ordinal)
    except Exception:  # nothing about a graph is a reason not to ask
        asks = None
    return {**fingerprint(loaded), "asks": asks}


def changes(kept: JSON, loaded: LoadedGraph, node: str, ordinal: int) -> Changes:
    """What changed since the fingerprint was kept; never raises.

    Args:
        kept: what `of_pause` gave; None where the thread paused before there were fingerprints,
            and then only whether the node is still there can be told.
    """
    try:
        return _changes(kept if isinstance(kept, Mapping) else {}, loaded, node, ordinal)
    except Exception:
        return Changes(other=("What changed could not be found out.",), asks_anew=True)


_TAKEN: weakref.WeakKeyDictionary[Graph, JSON] = weakref.WeakKeyDictionary()


# Taking


def _taken(graph: Graph) -> JSON:
    found: dict[str, Any] = {"nodes": {}, "routers": {}, "edges": [], "schemas": {}}
    try:
        places = _places(graph)
        found["nodes"] = {path: source(_held(*place)).digest for path, place in places.items()}
        for above, each in _graphs(graph):
            found["routers"] |= _routers(each, above)
            found["edges"] += _edges(each, above)
            found["schemas"] |= {f"{above}{kind}": types for kind, types in _schemas(each) if types}
    except Exception as error:  # a graph of a foreign kind; what was found so far is compared
        log.info("A graph could not be looked at as a whole (%s).", type(error).__name__)
    return {**found, "edges": sorted(found["edges"])}


def _graphs(graph: Graph) -> list[tuple[str, Graph]]:
    return [("", graph), *((f"{path}/", inner) for path, inner in subgraphs(graph))]


def _places(graph: Graph) -> dict[str, tuple[Graph, str]]:
    """Every node at every depth by its path, with the graph that it stands in."""
    return {
        f"{above}{name}": (each, name)
        for above, each in _graphs(graph)
        for name in each.nodes
        if not name.startswith("__")
    }


def _held(graph: Graph, name: str) -> Any:
    return graph.nodes[name].bound


def _routers(graph: Graph, above: str) -> dict[str, str | None]:
    branches = getattr(getattr(graph, "builder", None), "branches", {})
    return {
        f"{above}{node}: {name}": source(branch.path).digest
        for node, named in branches.items()
        for name, branch in named.items()
    }


def _edges(graph: Graph, above: str) -> list[str]:
    builder = getattr(graph, "builder", None)
    found = [(start, end) for start, end in getattr(builder, "edges", ())]
    for starts, end in getattr(builder, "waiting_edges", ()):
        found += [("+".join(sorted(starts)), end)]
    for node, named in getattr(builder, "branches", {}).items():
        for branch in named.values():
            found += [(node, f"({end})") for end in (branch.ends or {}).values()]
    return [f"{above}{start} -> {end}" for start, end in found]


def _schemas(graph: Graph) -> Iterator[tuple[str, dict[str, str]]]:
    builder = getattr(graph, "builder", None)
    for kind in ("input", "output", "state"):
        schema = getattr(builder, f"{kind}_schema", None)
        yield kind, _types(graph, schema) if schema is not None else {}


def _types(graph: Graph, schema: Any) -> dict[str, str]:
    """The schema's keys that are channels, with their types as text."""
    hints = _hints(schema)
    names = hints or getattr(getattr(graph, "builder", None), "schemas", {}).get(schema, {})
    return {
        name: _text(hints.get(name, getattr(graph.channels[name], "ValueType", None)))
        for name in sorted(names)
        if name in graph.channels
    }


def _hints(schema: Any) -> dict[str, Any]:
    try:
        return get_type_hints(schema)
    except Exception:  # names that only a type checker knows
        return {}


def _asking(graph: Graph, path: str, ordinal: int) -> JSON:
    places = _places(graph)
    at = _deepest(path, places)
    if at is None:
        return None
    found = source(_held(*places[at]))
    seen = at == path
    return {
        "node": path,
        "at": at,
        "ordinal": ordinal,
        "code": found.digest,
        "questions": list(found.questions) if seen and found.questions is not None else None,
        "reads": _reads(*places[at]),
    }


def _deepest(path: str, places: Mapping[str, Any]) -> str | None:
    """The longest beginning of the path that is a node."""
    parts = path.split("/")
    for length in range(len(parts), 0, -1):
        if (at := "/".join(parts[:length])) in places:
            return at
    return None


def _reads(graph: Graph, name: str) -> dict[str, str]:
    spec = getattr(getattr(graph, "builder", None), "nodes", {}).get(name)
    if spec is not None:
        return _types(graph, spec.input_schema)
    channels = graph.nodes[name].channels
    names = [channels] if isinstance(channels, str) else list(channels)
    return {
        each: _text(getattr(graph.channels[each], "ValueType", None))
        for each in names
        if each in graph.channels
    }


def _text(annotation: Any, depth: int = 0) -> str:
    """A type in words that no release of Python and no move between modules changes."""
    if annotation is None or annotation is types.NoneType:
        return "None"
    if annotation is Any or depth > MAX_DEPTH:
        return UNKNOWN
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated or getattr(origin, "__name__", "") in ("Required", "NotRequired"):
        return _text(arguments[0], depth + 1)
    if origin is Union or origin is types.UnionType:
        return " | ".join(sorted({_text(each, depth + 1) for each in arguments}))
    if origin is Literal:
        return f"one of {', '.join(sorted(map(repr, arguments)))}"
    if origin is not None:
        inner = ", ".join(_text(each, depth + 1) for each in arguments)
        return f"{_name(origin)}[{inner}]"
    if isinstance(annotation, list | tuple):  # the parameters of a Callable
        return ", ".join(_text(each, depth + 1) for each in annotation)
    return _name(annotation)


def _name(annotation: Any) -> str:
    found = getattr(annotation, "__qualname__", None) or getattr(annotation, "__name__", None)
    return str(found) if found else UNKNOWN


# Comparing


def _changes(kept: Mapping[str, Any], loaded: LoadedGraph, node: str, ordinal: int) -> Changes:
    asked = kept.get("asks") or {}
    now = fingerprint(loaded)
    at = str(asked.get("at") or node)
    places = _places(loaded.graph)
    other = tuple(_different(kept, now)) if kept else ()
    if at not in places and (asked or _deepest(node, places) is None):
        return Changes((f"The step {at}, which asks, {_gone(at, asked, kept, now)}.",), other)
    if not asked:
        return Changes((), other, asks_anew=True)
    found = source(_held(*places[at]))
    before = asked.get("questions")
    same = found.digest == asked.get("code") and found.digest is not None
    blocking = list(_read_otherwise(at, asked.get("reads") or {}, _reads(*places[at])))
    if not same and before is not None and found.questions is not None:
        blocking += _moved(at, before, found.questions, ordinal)
    return Changes(tuple(blocking), other, asks_anew=not blocking and (not same or at != node))


def _gone(at: str, asked: Mapping[str, Any], kept: Mapping[str, Any], now: JSON) -> str:
    code = asked.get("code")
    for path, digest in now["nodes"].items():
        if code is not None and digest == code and path not in kept.get("nodes", {}):
            return f"has another name, {path}"
    return "is gone or has another name"


def _read_otherwise(at: str, before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    for key, kind in before.items():
        if _other_type(kind, now.get(key)):
            yield f"The step {at} reads {key}, which was {kind} and is {now[key]}."


def _other_type(before: str | None, now: str | None) -> bool:
    """Whether both are known and differ; a key that is new or gone has no other type."""
    return before is not None and now is not None and UNKNOWN not in before + now and before != now


def _moved(at: str, before: Sequence[str], now: Sequence[str], ordinal: int) -> Iterator[str]:
    """Whether the question that asked, or one before it, is in another place now.

    In a loop the same place asks again and again, so `ordinal` may lie behind the last.
    """
    last = min(ordinal, len(before) - 1)
    compared = SequenceMatcher(None, before, now, autojunk=False).get_opcodes()
    for what, start, end, begin, stop in compared:
        if start > last or what == "equal":
            continue
        if what == "replace" and (end - start == stop - begin or ordinal == 0):
            continue  # other words in the same place; a first question is simply asked anew
        if stop - begin > end - start:
            yield f"The step {at} asks something else before this question now."
        else:
            yield f"The step {at} does not ask any more all that it asked up to this question."
        return


def _different(kept: Mapping[str, Any], now: JSON) -> Iterator[str]:
    before, after = kept.get("nodes", {}), now["nodes"]
    yield from (f"The step {path} is new." for path in after if path not in before)
    yield from (f"The step {path} is gone." for path in before if path not in after)
    yield from (f"The code of the step {path} changed." for path in _recoded(before, after))
    routers = _recoded(kept.get("routers", {}), now["routers"])
    yield from (f"The choice after {path} changed." for path in routers)
    if kept.get("edges", []) != now["edges"]:
        yield "The ways between the steps changed."
    yield from _differently_typed(kept.get("schemas", {}), now["schemas"])


def _recoded(before: Mapping[str, str | None], after: Mapping[str, str | None]) -> list[str]:
    return [
        path
        for path, code in before.items()
        if path in after and comparable(code, after[path]) and code != after[path]
    ]


def _differently_typed(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    told: set[str] = set()
    for kind in dict.fromkeys([*before, *after]):
        old, new = before.get(kind, {}), after.get(kind, {})
        above = kind.rpartition("/")[0]
        for key in dict.fromkeys([*old, *new]):
            name = f"{above}/{key}" if above else key
            said = None
            if key not in old:
                said = f"The state has a new key, {name}."
            elif key not in new:
                said = f"The state has no key {name} any more."
            elif _other_type(old[key], new[key]):
                said = f"The key {name} was {old[key]} and is {new[key]}."
            if said is not None and said not in told:
                told.add(said)
                yield said
