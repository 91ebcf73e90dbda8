"""Loading graphs: what works, and one clear line for what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphs.errors import GraphNotLoaded, UnknownGraph
from graphs.registry import Registry, module_name
from graphs.specs import GraphSpec
from graphs.templates import Template
from graphs.threads import FileRef, Message

GRAPH = """
from typing import TypedDict
from langgraph.graph import START, StateGraph
import neighbour

class State(TypedDict, total=False):
    text: str
    documents: list[str]

builder = StateGraph(State)
builder.add_node("a", lambda state: {})
builder.add_edge(START, "a")
graph = builder.compile()
number = 7

def intake(message):
    return {"text": neighbour.WORD + message.text}, "Asha Traders"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "neighbour.py").write_text('WORD = "got "')
    (tmp_path / "mine.py").write_text(GRAPH)
    (tmp_path / "broken.py").write_text("import no_such_module_anywhere")
    (tmp_path / "leaves.py").write_text("raise SystemExit(1)")
    return tmp_path


def test_files_relative_and_absolute_modules_and_builders_are_loaded(folder: Path) -> None:
    specs = {
        "relative": GraphSpec(path="./mine.py:graph", intake="./mine.py:intake"),
        "absolute": GraphSpec(path=f"{folder}/mine.py:builder"),
        "module": GraphSpec(path="graphs.library.loan:graph"),
    }
    registry = Registry.load(specs, folder)
    assert dict(registry.problems) == {}
    assert set(registry.loaded) == set(specs)
    assert registry.get("relative").intake(Message("x")) == ({"text": "got x"}, "Asha Traders")
    file = FileRef("F1", "a.pdf", 1, "http://x", document_id="d1")
    given = registry.get("absolute").intake(Message("x", files=(file,)))
    assert given == ({"text": "x", "documents": ["d1"]}, None)
    assert not registry.get("relative").turns
    assert registry.scopes("T0SAYSO") == [f"T0SAYSO/{name}" for name in specs]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("./missing.py:graph", "there is no file"),
        ("./broken.py:graph", "no_such_module_anywhere"),
        ("./leaves.py:graph", "SystemExit"),
        ("./mine.py:grpah", "has no grpah"),
        ("./mine.py:number", "is a int, not a LangGraph graph"),
        ("no.such.module:graph", "cannot be imported"),
    ],
)
def test_what_cannot_be_loaded_is_one_line_and_the_others_serve(
    folder: Path, path: str, says: str
) -> None:
    specs = {"bad": GraphSpec(path=path), "good": GraphSpec(path="./mine.py:graph")}
    registry = Registry.load(specs, folder)
    assert set(registry.loaded) == {"good"}
    with pytest.raises(GraphNotLoaded, match=says) as caught:
        registry.get("bad")
    assert "\n" not in str(caught.value)
    with pytest.raises(UnknownGraph, match="bad, good"):
        registry.get("other")


def test_a_path_that_names_no_attribute_is_a_mistake_of_the_configuration() -> None:
    with pytest.raises(ValueError, match="module:attribute"):
        GraphSpec(path="graphs.library.loan")


def test_the_template_of_a_node_says_who_is_asked(folder: Path) -> None:
    asks = Template(node="ask_requester", audience="requester", title="How much?")
    spec = GraphSpec(path="./mine.py:graph", questions=(asks,))
    loaded = Registry.load({"loan": spec}, folder).get("loan")
    assert loaded.audience("payments/ask_requester") == "requester"
    assert loaded.audience("human_review") == "reviewers"


TYPED = """
from typing import TypedDict
from langgraph.graph import START, StateGraph

class Own:
    pass

class State(TypedDict, total=False):
    text: str

builder = StateGraph(State)
builder.add_node("a", lambda state: {})
builder.add_edge(START, "a")
"""


def test_the_types_of_a_file_have_the_same_name_wherever_its_folder_lies(tmp_path: Path) -> None:
    names = []
    for place in (tmp_path / "laptop", tmp_path / "srv" / "sayso"):
        (place / "flows").mkdir(parents=True)
        (place / "flows" / "refund.py").write_text(TYPED)
        for where in ("./flows/refund.py", f"{place}/flows/refund.py"):
            registry = Registry.load({"refund": GraphSpec(path=f"{where}:builder")}, place)
            module = vars(registry.get("refund").graph.nodes["a"].bound)["func"].__globals__
            assert module["__file__"] == str(place / "flows" / "refund.py")
            names.append(module["Own"].__module__)
    assert set(names) == {"sayso_flows_refund"}
    assert module_name("../flows/a.py", tmp_path) == "sayso_flows_a"
    assert module_name("/opt/a.py", tmp_path) == "sayso_opt_a"


def test_two_files_of_one_module_name_are_refused(tmp_path: Path) -> None:
    for name in ("pay-out.py", "pay_out.py"):
        (tmp_path / name).write_text(TYPED)
    specs = {
        "first": GraphSpec(path="./pay-out.py:builder"),
        "again": GraphSpec(path="./pay-out.py:builder"),
        "other": GraphSpec(path="./pay_out.py:builder"),
    }
    registry = Registry.load(specs, tmp_path)
    assert set(registry.loaded) == {"first", "again"}
    assert "same module name, sayso_pay_out; rename one" in str(registry.problems["other"])
