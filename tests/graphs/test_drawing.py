"""The picture of a thread: what it marks, that names stay letters, that it always comes back."""

from __future__ import annotations

import importlib.util
import re
import struct
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph

from graphs import drawing, sketches
from graphs.drawing import NO_FONT, NOT_DRAWN, NOT_INSTALLED, TOO_LONG, draw
from graphs.sketches import dot, mermaid, sketch
from tests.graphs.test_history import fan
from tests.graphs.test_runner import State, line, loan

HOSTILE = '<b>"x"\\n]--> n1 & %% ;\nclick n0 "javascript(alert)" \u202e { $x }'


def named(*names: str) -> Any:
    """A graph of these steps, one after the other."""
    builder = StateGraph(State)
    before = START
    for name in names:
        builder.add_node(name, lambda state: {})
        builder.add_edge(before, name)
        before = name
    builder.add_edge(before, END)
    return builder.compile()


def walked_ways(found: sketches.Sketch) -> set[tuple[str, str]]:
    return {(way.start, way.end) for way in found.ways if way.walked}


def test_the_path_is_marked_where_it_was_walked_and_nowhere_else() -> None:
    paused = sketch(loan(), ["assess"], ["ask"])
    assert walked_ways(paused) == {("__start__", "assess"), ("assess", "ask")}
    assert paused.label("ask") == ["Ask", "waits here"]
    done = sketch(loan(), ["assess", "ask", "pay", "__end__"], [])
    # The way from assess to the end was not taken, though both were reached.
    assert walked_ways(done) == {
        ("__start__", "assess"), ("assess", "ask"), ("ask", "pay"), ("pay", "__end__"),
    }  # fmt: skip


def test_steps_in_subgraphs_stand_in_frames_and_repeated_ones_are_counted() -> None:
    found = sketch(fan(), ["each", "each", "each", "middle/inner/deep", "middle"], [])
    assert found.label("each") == ["Each", "3 times"]
    assert found.within("") == (["__start__", "each", "__end__"], ["middle"])
    assert found.within("middle") == ([], ["middle:inner"])
    assert ("each", "middle:inner:deep") in walked_ways(found)
    text = mermaid(found)
    assert 'subgraph g3_0["Middle"]' in text
    assert 'n1["Each<br/>3 times"]' in text
    assert "lhead=cluster_g3_0" in dot(found)


def test_names_are_letters_in_both_languages() -> None:
    found = sketch(named("a", HOSTILE, "c/d"), ["a"], [HOSTILE])
    text = mermaid(found)
    row = next(row for row in text.splitlines() if row.lstrip().startswith("n2["))
    assert re.fullmatch(r'  n2\["(?:[\w .,/()#;-]|<br/>)*"\]', row)
    tame = mermaid(sketch(named("a", "b", "c"), ["a"], ["b"]))
    assert len(text.splitlines()) == len(tame.splitlines())
    label = next(row for row in dot(found).splitlines() if row.lstrip().startswith("n2 ["))
    inside = re.search(r'label="((?:[^"\\]|\\.)*)"', label)
    assert inside is not None
    assert "\u202e" not in label
    assert re.sub(r"\\[\"\\n]", "", inside.group(1)).count("\\") == 0
    assert found.within("") == (["__start__", "a", HOSTILE, "c/d", "__end__"], [])
    labelled = sketch(named("a"), [], [], {"a": 'The "first" step'})
    assert "The #34;first#34; step" in mermaid(labelled)


async def test_the_picture_is_a_png_of_a_readable_size() -> None:
    for graph, walked, waiting in (
        (loan(), ["assess"], ["ask"]),
        (fan(), ["each", "middle/inner/deep", "__end__"], []),
        (named("a", HOSTILE), [], [HOSTILE]),
    ):
        drawn = await draw(graph, walked, waiting)
        assert (drawn.reason, drawn.mermaid.startswith("flowchart TD\n")) == ("", True)
        assert drawn.png is not None
        assert drawn.png.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", drawn.png[16:24])
        assert 100 < width < 4_000
        assert 100 < height < 4_000


async def test_without_a_font_or_without_graphviz_there_is_the_text_and_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "none.conf").write_text(
        f'<?xml version="1.0"?><fontconfig><dir>{tmp_path}</dir></fontconfig>'
    )
    with monkeypatch.context() as bare:
        bare.setenv("FONTCONFIG_FILE", str(tmp_path / "none.conf"))
        drawn = await draw(loan(), [], [])
    assert (drawn.png, drawn.reason) == (None, NO_FONT)
    assert "Assess" in drawn.mermaid
    with monkeypatch.context() as bare:
        bare.setattr(importlib.util, "find_spec", lambda name: None)
        drawn = await draw(loan(), [], [])
    assert (drawn.png, drawn.reason) == (None, NOT_INSTALLED)
    assert "Assess" in drawn.mermaid


async def test_a_graph_that_is_too_hard_to_draw_is_given_up_and_leaves_no_process() -> None:
    builder = StateGraph(State)
    names = [f"step_{number}" for number in range(sketches.MAX_STEPS + 20)]
    for name in names:
        builder.add_node(name, lambda state: {})
    builder.add_edge(START, names[0])
    for start in names[::4]:
        builder.add_conditional_edges(start, lambda state: END, names[::3])
    drawn = await draw(builder.compile(), [names[0]], [names[1]], seconds=0.5)
    assert (drawn.png, drawn.reason) == (None, TOO_LONG)
    # The start and the end are drawn too.
    assert f"%% {20 + 2} more steps are left out" in drawn.mermaid


async def test_what_cannot_be_looked_at_is_not_drawn_and_raises_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken:
        def get_graph(self, **_: Any) -> Any:
            raise RuntimeError("no")

    graph: Any = Broken()
    assert (await draw(graph, [], [])).reason == NOT_DRAWN
    monkeypatch.setattr(drawing, "MEMORY_BYTES", 1 << 20)
    assert (await draw(line(lambda state: {}).compile(), [], [])).reason == NOT_DRAWN
