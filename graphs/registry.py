"""The registry: which graphs are configured, and the loaded graph behind each name.

A graph that cannot be loaded is one clear line, and the others still serve. Loading imports the
user's module, so only a worker (and `sayso check`) does it.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeAlias

from langgraph.graph.state import CompiledStateGraph

from graphs import inputs, turns
from graphs.errors import GraphNotLoaded, UnknownGraph
from graphs.factories import Graph as Graph
from graphs.factories import NotAGraph, graph_of, line_of
from graphs.fingerprints import fingerprint
from graphs.messages import Message
from graphs.reviews import Audience
from graphs.specs import GraphSpec
from graphs.storable import unstorable

OURS: Final = ("bot", "graphs", "memory", "checkpoints")
_JAVASCRIPT: Final = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx")

Intake: TypeAlias = Callable[[Message], tuple[Any, str | None]]
"""A pure function: a message to (the graph's input, the customer's name or id, if any)."""


@dataclass(frozen=True)
class LoadedGraph:
    """A graph that can be run, and everything its configuration says of it."""

    name: str
    graph: Graph
    spec: GraphSpec
    intake: Intake

    def __post_init__(self) -> None:
        """Let tools that ask do so one after another, or they get each other's answers."""
        turns.take(self.graph)

    @property
    def turns(self) -> bool:
        """Whether later messages are further turns: as configured, else with a messages channel."""
        if self.spec.replies is not None:
            return self.spec.replies != "kept"
        return "messages" in self.graph.channels

    def audience(self, node: str) -> Audience:
        """Who is asked by the node: reviewers, unless its template says the requester."""
        template = self.spec.template(node)
        return template.audience if template is not None else "reviewers"


@dataclass(frozen=True)
class Registry:
    """The loaded graphs, and for each of the others the line that says why it is not."""

    specs: Mapping[str, GraphSpec]
    loaded: Mapping[str, LoadedGraph] = field(default_factory=dict)
    problems: Mapping[str, GraphNotLoaded] = field(default_factory=dict)

    @classmethod
    def load(cls, specs: Mapping[str, GraphSpec], base: Path | None = None) -> Registry:
        """Load every configured graph.

        Args:
            base: the folder of the configuration file; `./file.py` is relative to it.
        """
        loaded: dict[str, LoadedGraph] = {}
        problems: dict[str, GraphNotLoaded] = {}
        for name, spec in specs.items():
            try:
                loaded[name] = load(name, spec, base or Path.cwd())
            except GraphNotLoaded as problem:
                problems[name] = problem
        return cls(dict(specs), loaded, problems)

    def get(self, name: str) -> LoadedGraph:
        """The graph of that name.

        Raises:
            UnknownGraph: none is configured under it.
            GraphNotLoaded: it is configured and cannot be loaded.
        """
        if name in self.loaded:
            return self.loaded[name]
        if name in self.problems:
            raise self.problems[name]
        raise UnknownGraph(name, tuple(self.specs))

    def scopes(self, team: str) -> list[str]:
        """The scopes of leases that a worker of this team may claim."""
        return [f"{team}/{name}" for name in self.loaded]


def load(name: str, spec: GraphSpec, base: Path) -> LoadedGraph:
    """Load one graph and its intake.

    Raises:
        GraphNotLoaded: with one clause that says why.
    """
    held = _attribute(name, spec.path, base)
    try:
        found = graph_of(held, name, spec.path, spec.config)
        problem = unstorable(found, spec.types)
    except NotAGraph as reason:
        raise GraphNotLoaded(name, str(reason)) from reason
    except Exception as error:  # somebody else's object may do anything when it is looked at
        raise GraphNotLoaded(name, f"{spec.path} cannot be used: {line_of(error)}") from error
    if problem is not None:
        raise GraphNotLoaded(name, problem)
    intake = _attribute(name, spec.intake, base) if spec.intake else default_intake(found)
    if not callable(intake):
        raise GraphNotLoaded(name, f"its intake {spec.intake} is not a function")
    loaded = LoadedGraph(name, found, spec, intake)
    fingerprint(loaded)
    return loaded


def default_intake(graph: Graph) -> Intake:
    """The intake of a graph that names none: the next message of a chat, or text and documents.

    The text goes into the field `text`, or into the one field for text where there is one alone.
    """
    if "messages" in graph.channels:
        return lambda message: ({"messages": [{"role": "user", "content": message.text}]}, None)
    schema = inputs.schema_of(graph)
    if schema is not None and schema.get("type") == "string":
        return lambda message: (message.text, None)
    state = isinstance(graph, CompiledStateGraph)
    known = set(graph.channels if state else inputs.fields_of(schema))
    text = inputs.text_field(graph) or "text"

    def intake(message: Message) -> tuple[Any, str | None]:
        given = {text: message.text, inputs.DOCUMENTS: message.document_ids()}
        return {key: value for key, value in given.items() if key in known or not known}, None

    return intake


def _attribute(name: str, path: str, base: Path) -> Any:
    where, _, attribute = path.rpartition(":")
    if where.endswith(_JAVASCRIPT):
        raise GraphNotLoaded(name, f"{where} is JavaScript; only graphs in Python can be run")
    try:
        module = (
            _from_file(where, base) if where.endswith(".py") else importlib.import_module(where)
        )
    except (Exception, SystemExit) as error:
        taken = _taken(error)
        if taken is not None:
            why = (
                f"{where} needs a package called {taken}, and that is a package of Sayso itself; "
                f"rename yours, or name a file in it (./{taken}/file.py) that imports nothing of it"
            )
            raise GraphNotLoaded(name, why) from error
        raise GraphNotLoaded(name, f"{where} cannot be imported: {line_of(error)}") from error
    value: Any = module
    for part in attribute.split("."):
        try:
            value = getattr(value, part)
        except AttributeError as error:
            raise GraphNotLoaded(name, f"{where} has no {attribute}") from error
        except (Exception, SystemExit) as error:
            raise GraphNotLoaded(name, f"{path} cannot be read: {line_of(error)}") from error
    return value


def _from_file(where: str, base: Path) -> ModuleType:
    file = (base / where).resolve()  # an absolute `where` wins over the base
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    # One module for one file, however many graphs name it: its classes must be the same.
    name = module_name(where, base)
    known = sys.modules.get(name)
    if known is not None and known.__file__ == str(file):
        return known
    if known is not None and getattr(known, _FROM, base) == base:
        raise ImportError(f"{known.__file__} has the same module name, {name}; rename one of them")
    found = importlib.util.spec_from_file_location(name, file)
    if found is None or found.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(found)
    setattr(module, _FROM, base)
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))  # last: its neighbours, never in place of something else
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


_FROM: Final = "__sayso_from__"


def module_name(where: str, base: Path) -> str:
    """The name of the module of `./file.py`, under which its types stand in stored states.

    It is made from the path relative to the configuration file, never from where that lies: the
    same folder on another machine must read the same states.
    """
    path = os.path.normpath(base / where)
    if Path(path).is_relative_to(base) or not Path(where).is_absolute():
        path = os.path.relpath(path, base)
    return "sayso_" + re.sub(r"\W+", "_", path.removesuffix(".py")).strip("_")


def _taken(error: BaseException) -> str | None:
    """The package of ours that was found where a package of the user was looked for."""
    looked_for = ""
    if isinstance(error, ImportError):
        looked_for = error.name or ""
    elif isinstance(error, AttributeError) and isinstance(error.obj, ModuleType):
        looked_for = error.obj.__name__
    top = looked_for.partition(".")[0]
    return top if top in OURS else None
