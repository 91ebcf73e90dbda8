"""Bring your graph: what an attribute may hold, and one line for what cannot be run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import bot.settings  # noqa: F401  every process of ours imports bot before a graph
from checkpoints.database import Database
from graphs.factories import subgraphs
from graphs.policy import Policy
from graphs.registry import Registry
from graphs.specs import GraphSpec
from tests.graphs.conftest import RULE, House

KINDS = """
import functools
import os
from typing import TypedDict
from langchain_core.runnables import RunnableConfig
from langgraph.func import entrypoint
from langgraph.graph import START, StateGraph

class State(TypedDict, total=False):
    text: str
    said: str

def built(word="nothing"):
    builder = StateGraph(State)
    builder.add_node("a", lambda state: {"said": word})
    builder.add_edge(START, "a")
    return builder

builder = built()
compiled = builder.compile()
configured = compiled.with_config(recursion_limit=7)

class Recipe:
    def compile(self):
        return built("recipe").compile()

recipe = Recipe()

def plain():
    return built("plain")

def of_config(config: RunnableConfig):
    return built(config["configurable"]["word"]).compile()

def of_optional_config(word="default", config=None):
    return built(config["configurable"]["word"]).compile()

def of_one(anything, /):
    return built(anything["configurable"]["word"])

async def awaited(config):
    return built(config["configurable"]["word"])

partial = functools.partial(built, "partial")

class Callable_:
    def __call__(self):
        return built("called")

instance = Callable_()

@entrypoint()
def flow(value: dict) -> dict:
    return {"said": "flow"}

# What is no graph.
class Own:
    pass

number = 7
a_class = Own
def returns_text(): return "x"
def needs_two(config, database): ...
async def raises(): raise ValueError("first line\\nsecond line")
def leaves(): raise SystemExit(3)
def does_not_compile(): return StateGraph(State)

class Hostile:
    @property
    def compile(self):
        raise RuntimeError("do not touch")

hostile = Hostile()

def __getattr__(name):
    if name == "lazy":
        raise RuntimeError("not today")
    raise AttributeError(name)

import contextlib
@contextlib.asynccontextmanager
async def context(): yield compiled
"""


def load(folder: Path, **paths: str | GraphSpec) -> Registry:
    specs = {
        name: given if isinstance(given, GraphSpec) else GraphSpec(path=given)
        for name, given in paths.items()
    }
    return Registry.load(specs, folder)


@pytest.mark.parametrize(
    ("attribute", "says"),
    [
        ("builder", "nothing"),
        ("compiled", "nothing"),
        ("configured", "nothing"),
        ("recipe", "recipe"),
        ("plain", "plain"),
        ("of_config", "given"),
        ("of_optional_config", "given"),
        ("of_one", "given"),
        ("awaited", "given"),
        ("partial", "partial"),
        ("instance", "called"),
        ("flow", "flow"),
    ],
)
async def test_an_attribute_may_be_a_graph_a_builder_a_factory_or_an_entrypoint(
    tmp_path: Path, attribute: str, says: str
) -> None:
    (tmp_path / "kinds.py").write_text(KINDS)
    spec = GraphSpec(path=f"./kinds.py:{attribute}", config={"word": "given"})
    registry = load(tmp_path, one=spec)
    assert dict(registry.problems) == {}
    result: Any = await registry.get("one").graph.ainvoke({"text": "x"})
    assert result["said"] == says


@pytest.mark.parametrize(
    ("attribute", "says"),
    [
        ("number", "./kinds.py:number is a int, not a LangGraph graph"),
        ("a_class", "./kinds.py:a_class is the class Own, not a LangGraph graph"),
        ("returns_text", "what ./kinds.py:returns_text returned is a str, not a LangGraph graph"),
        ("needs_two", "needs config, database; a factory takes nothing, or a config"),
        ("raises", "./kinds.py:raises failed: ValueError: first line"),
        ("leaves", "./kinds.py:leaves failed: SystemExit: 3"),
        ("does_not_compile", "it does not compile: ValueError: "),
        ("hostile", "./kinds.py:hostile cannot be used: RuntimeError: do not touch"),
        ("lazy", "./kinds.py:lazy cannot be read: RuntimeError: not today"),
        ("missing", "./kinds.py has no missing"),
        ("context", "returned is a context manager (_AsyncGeneratorContextManager), not a"),
    ],
)
def test_what_is_no_graph_is_one_line_that_says_what_it_is(
    tmp_path: Path, attribute: str, says: str
) -> None:
    (tmp_path / "kinds.py").write_text(KINDS)
    registry = load(tmp_path, bad=f"./kinds.py:{attribute}", good="./kinds.py:builder")
    assert set(registry.loaded) == {"good"}
    line = str(registry.problems["bad"])
    assert says in line
    assert "\n" not in line


SAVERS = """
import sqlite3
from typing import TypedDict
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

class State(TypedDict, total=False):
    text: str
    said: str

class FileSaver(BaseCheckpointSaver):
    pass

def one(name, node, **compiling):
    builder = StateGraph(State)
    builder.add_node(name, node)
    builder.add_edge(START, name)
    return builder.compile(**compiling)

inner_saver, middle_saver, outer_saver = InMemorySaver(), InMemorySaver(), InMemorySaver()
inner = one("ask", lambda state: {"said": interrupt("Go on?")}, checkpointer=inner_saver)
middle = one("inner", inner, checkpointer=middle_saver)
graph = one("middle", middle, checkpointer=outer_saver)

called = one("ask", lambda state: {"said": interrupt("Go on?")}, checkpointer=InMemorySaver())
def calls(state):
    return called.invoke(state)
in_function = one("calls", calls)

its_own = one("middle", one("inner", one("ask", calls, checkpointer=FileSaver())))
keeps = one("child", one("ask", lambda state: {"said": interrupt("Go on?")}, checkpointer=True))
at_the_top = one("ask", lambda state: {}, checkpointer=FileSaver())
"""


@pytest.mark.parametrize("attribute", ["graph", "in_function", "keeps"])
async def test_a_graph_with_savers_in_memory_gets_ours_at_every_depth(
    tmp_path: Path, database: Database, attribute: str
) -> None:
    (tmp_path / "savers.py").write_text(SAVERS)
    registry = load(tmp_path, nested=f"./savers.py:{attribute}")
    house = House(database, registry, Policy((RULE,)))
    thread_id = await house.start("nested")
    async with house.working():
        await house.until(thread_id, "paused")
    # Another worker, which has nothing in memory.
    for name in [name for name in sys.modules if name.startswith("sayso_savers")]:
        savers = vars(sys.modules.pop(name))
        kept = [value for value in savers.values() if isinstance(value, InMemorySaver)]
        assert [dict(saver.storage) for saver in kept] == [{}, {}, {}]
    house.registry = load(tmp_path, nested=f"./savers.py:{attribute}")
    async with house.working():
        (review,) = await house.open_reviews(thread_id)
        await house.vote(review.id, "yes")
        await house.until(thread_id, "done")
    assert (await house.values(thread_id))["said"] == "yes"
    namespaces = await database.fetch(
        "select distinct namespace from sayso.checkpoints where thread_id = $1", thread_id
    )
    assert len(namespaces) == {"graph": 3}.get(attribute, 2)


def test_a_subgraph_with_a_saver_of_its_own_is_refused_and_one_at_the_top_is_replaced(
    tmp_path: Path,
) -> None:
    (tmp_path / "savers.py").write_text(SAVERS)
    registry = load(tmp_path, own="./savers.py:its_own", top="./savers.py:at_the_top")
    assert set(registry.loaded) == {"top"}
    assert (
        "its subgraph middle/inner keeps its checkpoints in a FileSaver of its own; "
        "compile the subgraph without a checkpointer"
    ) in str(registry.problems["own"])


TYPES = """
import enum
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypedDict
from langgraph.channels import UntrackedValue
from langgraph.graph import START, StateGraph
from pydantic import BaseModel

class Level(enum.Enum):
    HIGH = "high"

class Part(BaseModel):
    level: Level

class Claim(BaseModel):
    parts: Sequence[Part] = ()

class Point(NamedTuple):
    x: int

@dataclass
class Line:
    points: Sequence[Point]

class Session:
    def __init__(self):
        self.lock = threading.Lock()

def one(schema, name="a"):
    builder = StateGraph(schema)
    builder.add_node(name, lambda state: {})
    builder.add_edge(START, name)
    return builder

class Shown(TypedDict, total=False):
    claims: list[Claim]
    line: Line | None
    session: Annotated[Session, UntrackedValue]
    anything: Any

class Hidden(TypedDict, total=False):
    claims: Sequence[Claim]
    points: Mapping[str, Point]

class Unstorable(TypedDict, total=False):
    session: Session

hidden = one(Hidden)
shown = one(Shown)
inside = StateGraph(TypedDict("Outer", {"text": str}))
inside.add_node("child", one(Hidden).compile())
inside.add_edge(START, "child")
unstorable = one(Unstorable)
configured = one(TypedDict("Listed", {"claims": list[Claim]})).compile().with_config(tags=["x"])
"""
HIDDEN = '"sayso_types:Claim", "sayso_types:Level", "sayso_types:Point"'


@pytest.mark.parametrize("attribute", ["hidden", "inside"])
def test_types_that_would_not_be_read_back_are_told_with_the_line_that_mends_it(
    tmp_path: Path, attribute: str
) -> None:
    (tmp_path / "types.py").write_text(TYPES)
    registry = load(tmp_path, bad=f"./types.py:{attribute}")
    line = str(registry.problems["bad"])
    assert f"add to its entry: types = [{HIDDEN}]." in line
    named = GraphSpec(path=f"./types.py:{attribute}", types=tuple(json.loads(f"[{HIDDEN}]")))
    assert set(load(tmp_path, mended=named).loaded) == {"mended"}


def test_a_state_of_a_class_that_cannot_be_written_is_refused_with_its_key(tmp_path: Path) -> None:
    (tmp_path / "types.py").write_text(TYPES)
    line = str(load(tmp_path, bad="./types.py:unstorable").problems["bad"])
    assert "its state key session is of the class Session, which cannot be stored" in line


def test_what_a_schema_shows_or_does_not_store_is_well(tmp_path: Path) -> None:
    (tmp_path / "types.py").write_text(
        TYPES.replace("Sequence[P", "list[P").replace("Point]", "int]")
    )
    registry = load(tmp_path, shown="./types.py:shown", configured="./types.py:configured")
    assert dict(registry.problems) == {}
    # `with_config` makes a copy that forgets the types of the schema.
    assert ("sayso_types", "Claim") in (registry.get("configured").graph._serde_allowlist or ())


@pytest.mark.parametrize("ours", ["bot", "graphs", "memory", "checkpoints"])
def test_a_package_with_a_name_of_ours_is_refused_and_a_file_in_such_a_folder_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ours: str
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    package = tmp_path / ours
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "agent.py").write_text(KINDS)
    (tmp_path / "imports.py").write_text(f"from {ours}.agent import compiled")
    (tmp_path / "names.py").write_text(f"from {ours} import agent\ncompiled = agent.compiled")
    (tmp_path / "uses.py").write_text(f"import {ours}\ncompiled = {ours}.agent.compiled")
    registry = load(
        tmp_path,
        module=f"{ours}.agent:compiled",
        imports="./imports.py:compiled",
        names="./names.py:compiled",
        uses="./uses.py:compiled",
        file=f"./{ours}/agent.py:compiled",
    )
    assert set(registry.loaded) == {"file"}
    for problem in registry.problems.values():
        assert f"a package called {ours}, and that is a package of Sayso itself" in str(problem)


def test_the_subgraphs_of_a_graph_are_seen_at_every_depth(tmp_path: Path) -> None:
    (tmp_path / "savers.py").write_text(SAVERS)
    graph = load(tmp_path, nested="./savers.py:graph").get("nested").graph
    assert [path for path, _ in subgraphs(graph)] == ["middle", "middle/inner"]
