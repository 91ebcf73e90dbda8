"""What a deploy changed under a thread that waits: what blocks, is asked anew, or only listed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphs import fingerprints
from graphs.fingerprints import Changes
from graphs.registry import LoadedGraph, load
from graphs.specs import GraphSpec

CODE = '''"""A graph that asks twice, with a step of its own subgraph before."""
import operator
from typing import Annotated, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

PROMPT = "Pay {}?"
COUNTER = 0


class State(TypedDict, total=False):
    amount: int
    note: str
    log: Annotated[list[str], operator.add]


class Seen(TypedDict, total=False):
    amount: int


def words(amount):
    return PROMPT.format(amount)


def read(state: State):
    return {"log": ["read"]}


def ask(state: Seen):
    """Ask twice."""
    # The first is about the amount.
    first = interrupt(words(state["amount"]))
    second = interrupt({"question": "Really?", "amount": state["amount"]})
    return {"log": [first, second]}


def pay(state: State):
    return {"log": ["paid"]}


def way(state: State):
    return "pay"


inner = StateGraph(State)
inner.add_node("read", read)
inner.add_edge(START, "read")

builder = StateGraph(State)
builder.add_node("prepare", inner.compile())
builder.add_node("ask", ask, input_schema=Seen)
builder.add_node("pay", pay)
builder.add_edge(START, "prepare")
builder.add_edge("prepare", "ask")
builder.add_conditional_edges("ask", way, ["pay"])
graph = builder.compile()
'''
FIRST = 'first = interrupt(words(state["amount"]))'
NEW_FIRST = 'interrupt("Who are you?")\n    ' + FIRST
RENAMED = (
    ('builder.add_node("ask", ask', 'builder.add_node("ask_a_person", ask'),
    ('"prepare", "ask"', '"prepare", "ask_a_person"'),
    ('edges("ask"', 'edges("ask_a_person"'),
)
ADDED = (
    ("inner = StateGraph", "def audit(state: State):\n    return {}\n\n\ninner = StateGraph"),
    (
        'builder.add_node("pay", pay)',
        'builder.add_node("pay", pay)\nbuilder.add_node("audit", audit)',
    ),
    ("graph = builder", 'builder.add_edge("pay", "audit")\ngraph = builder'),
)


@pytest.fixture
def version(tmp_path: Path) -> Callable[..., LoadedGraph]:
    """Load the graph with some pieces of its code replaced, each version from a file of its own."""
    made = iter(range(100))

    def of(*replaced: tuple[str, str]) -> LoadedGraph:
        code = CODE
        for old, new in replaced:
            assert old in code, old
            code = code.replace(old, new)
        return loaded(tmp_path, f"version_{next(made)}.py", code)

    return of


def loaded(folder: Path, name: str, code: str) -> LoadedGraph:
    (folder / name).write_text(code)
    return load("loan", GraphSpec(path=f"./{name}:graph"), folder)


def compared(old: LoadedGraph, new: LoadedGraph, ordinal: int = 0, node: str = "ask") -> Changes:
    kept = json.loads(json.dumps(fingerprints.of_pause(old, node, ordinal)))
    return fingerprints.changes(kept, new, node, ordinal)


Version = Callable[..., LoadedGraph]


@pytest.mark.parametrize(
    ("replaced", "ordinal", "blocking", "other", "anew"),
    [
        pytest.param((), 0, "", "", False, id="the same code"),
        pytest.param(
            (("# The first is about the amount.", ""), ('"""Ask twice."""', '"""Ask."""')),
            0, "", "", False, id="comments and docstrings",
        ),
        pytest.param(
            (("first = interrupt(", "first = interrupt(  \n        "),),
            0, "", "", False, id="layout",
        ),
        pytest.param(RENAMED, 0, "has another name, ask_a_person", "", False, id="renamed"),
        pytest.param(
            ((FIRST, NEW_FIRST),), 0, "asks something else before", "ask changed", False,
            id="a question in front",
        ),
        pytest.param(
            ((FIRST, NEW_FIRST),), 1, "asks something else before", "", False,
            id="a question in front of the second",
        ),
        pytest.param(
            ((f"{FIRST}\n", "first = 'yes'\n"),), 1, "does not ask any more", "", False,
            id="the first is not asked any more",
        ),
        pytest.param(
            (("second = interrupt(", 'interrupt("Between?")\n    second = interrupt('),),
            0, "", "ask changed", True, id="a question behind the one that asks",
        ),
        pytest.param(
            (("second = interrupt(", 'interrupt("Between?")\n    second = interrupt('),),
            1, "asks something else before", "", False, id="a question between the two",
        ),
        pytest.param(
            (('"Really?"', '"Really, now?"'),), 1, "", "ask changed", True, id="other words",
        ),
        pytest.param(
            (("Pay {}?", "Shall we pay {}?"),), 0, "", "ask changed", True,
            id="other words in a constant",
        ),
        pytest.param(
            (("return PROMPT.format(amount)", "return PROMPT.format(amount + 0)"),),
            0, "", "ask changed", True, id="a function that it calls",
        ),
        pytest.param(
            (("COUNTER = 0", "COUNTER = 1"),), 0, "", "", False, id="a constant of nobody",
        ),
        pytest.param(
            (("amount: int", "amount: str"),), 0, "reads amount, which was int and is str", "",
            False, id="the type of a key that it reads",
        ),
        pytest.param(
            (("note: str", "note: int"),), 0, "", "The key note was str and is int", False,
            id="the type of a key that it does not read",
        ),
        pytest.param(
            (("note: str", "note: 'str | None'"),), 0, "", "note was str and is None | str", False,
            id="an optional one",
        ),
        pytest.param(
            (("note: str", "note: str\n    more: str"),), 0, "", "new key, more", False,
            id="another key",
        ),
        pytest.param(ADDED, 0, "", "The step audit is new", False, id="a step elsewhere"),
        pytest.param(
            (('["paid"]', '["paid twice"]'),), 0, "", "The code of the step pay", False,
            id="the code of another step",
        ),
        pytest.param(
            (('["read"]', '["read it"]'),), 0, "", "The code of the step prepare/read", False,
            id="the code of a step within",
        ),
        pytest.param(
            (('return "pay"', 'return "pay" if state else "pay"'),), 0, "",
            "The choice after ask: way changed", False, id="a router",
        ),
    ],
)  # fmt: skip
def test_what_blocks_is_told_from_what_is_only_listed(
    version: Version,
    replaced: tuple[tuple[str, str], ...],
    ordinal: int,
    blocking: str,
    other: str,
    anew: bool,
) -> None:
    found = compared(version(), version(*replaced), ordinal)
    assert blocking in " ".join(found.blocking)
    assert bool(found.blocking) == bool(blocking), found
    assert other in " ".join(found.other)
    assert found.asks_anew is anew, found
    if not replaced:
        assert found == Changes()


def test_a_step_within_a_subgraph_is_found_by_its_path(version: Version) -> None:
    asks = ('return {"log": ["read"]}', 'return {"log": [interrupt("Is it readable?")]}')
    other = ('inner.add_node("read", read)', 'inner.add_node("reads", read)')
    edge = ('inner.add_edge(START, "read")', 'inner.add_edge(START, "reads")')
    old = version(asks)
    assert compared(old, version(asks), node="prepare/read") == Changes()
    found = compared(old, version(asks, other, edge), node="prepare/read")
    assert "prepare/read, which asks, has another name, prepare/reads" in found.blocking[0]


def test_another_process_and_another_release_of_python_see_the_same(
    version: Version, tmp_path: Path
) -> None:
    here = fingerprints.of_pause(version(), "ask", 1)
    asked = (
        "import json, sys, pathlib\n"
        "from tests.graphs.test_fingerprints import fingerprints, loaded, CODE\n"
        "graph = loaded(pathlib.Path(sys.argv[1]), 'there.py', CODE)\n"
        "print(json.dumps(fingerprints.of_pause(graph, 'ask', 1)))"
    )
    there = subprocess.run(
        [sys.executable, "-c", asked, str(tmp_path)],
        capture_output=True, check=True, env={"PYTHONHASHSEED": "7", "PYTHONPATH": "."},
    )  # fmt: skip
    assert json.loads(there.stdout) == here
    assert all(code.startswith("source-") for code in here["nodes"].values() if code)


def test_without_source_the_bytecode_stands_for_it_within_one_release(version: Version) -> None:
    def built(code: str) -> LoadedGraph:
        space: dict[str, Any] = {"__name__": "nowhere"}
        exec(compile(code, "<nowhere>", "exec", dont_inherit=True), space)  # noqa: S102
        from graphs.registry import default_intake

        graph = space["graph"]
        return LoadedGraph("loan", graph, GraphSpec(path="t:g"), default_intake(graph))

    assert compared(built(CODE), built(CODE)) == Changes()
    found = compared(built(CODE), built(CODE.replace(FIRST, NEW_FIRST)))
    assert "asks something else before" in found.blocking[0]
    kept = fingerprints.of_pause(built(CODE), "ask", 0)
    older = json.loads(json.dumps(kept).replace("bytecode3.", "bytecode2."))
    found = fingerprints.changes(older, built(CODE), "ask", 0)
    assert (found.blocking, found.other, found.asks_anew) == ((), (), True)


def test_a_deploy_over_the_files_of_a_running_worker_changes_nothing_in_it(
    tmp_path: Path,
) -> None:
    running = loaded(tmp_path, "live.py", CODE)
    (tmp_path / "live.py").write_text("# shifted\n" * 9 + CODE.replace("Really?", "Now?"))
    fresh = loaded(tmp_path, "fresh.py", CODE)
    assert compared(running, fresh, 1) == Changes()


@pytest.mark.parametrize("kept", [None, {}, {"asks": None}, {"nodes": 3}, [], "x", {"asks": 5}])
def test_what_was_kept_by_nobody_or_is_damaged_asks_anew_and_raises_nothing(
    version: Version, kept: Any
) -> None:
    graph = version()
    found = fingerprints.changes(kept, graph, "ask", 0)
    assert (found.blocking, found.asks_anew) == ((), True)
    assert fingerprints.of_pause(graph, "nowhere", 0)["asks"] is None


def test_a_step_that_is_gone_blocks_also_where_nothing_was_kept(version: Version) -> None:
    found = fingerprints.changes(None, version(), "ask_once", 0)
    assert "ask_once, which asks, is gone" in found.blocking[0]


def test_agents_tools_and_functional_graphs_have_a_fingerprint_too() -> None:
    from langchain.agents import create_agent
    from langchain.agents.middleware import HumanInTheLoopMiddleware
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langgraph.func import entrypoint
    from langgraph.types import interrupt

    from graphs.registry import default_intake

    def refund(amount: int) -> str:
        """Pay back."""
        return str(interrupt("Sure?"))

    @entrypoint()
    def functional(value: int) -> int:
        return int(interrupt("How many?"))

    agent = create_agent(
        GenericFakeChatModel(messages=iter([AIMessage("x")])),
        [refund],
        middleware=[HumanInTheLoopMiddleware({"refund": True})],
    )
    for graph, node, known in (
        (agent, "HumanInTheLoopMiddleware.after_model", True),
        (agent, "tools", False),
        (functional, "functional", True),
    ):
        one: Any = graph
        made = LoadedGraph("agent", one, GraphSpec(path="t:g"), default_intake(one))
        kept = fingerprints.of_pause(made, node, 0)
        assert kept["asks"]["code"].startswith("source-")
        assert (kept["asks"]["questions"] is not None) is known
        assert not known or len(kept["asks"]["questions"]) == 1
        assert fingerprints.changes(kept, made, node, 0) == Changes()
