"""A sketch of a graph: its steps and ways, which were walked, and where it waits.

Names are hostile text: in both languages a step is called n0, n1, …, and what people read stands in
a label whose signs are written so that they mean nothing but themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from checkpoints.text import clean
from graphs.factories import Graph
from graphs.templates import name_in_words

MAX_STEPS: Final = 400  # more than that nobody could read
LABEL_CHARACTERS: Final = 60
START, END = "__start__", "__end__"

_INK, _LINE, _PALE = "#1f2d2b", "#0b6e5d", "#9aa6a3"
_WALKED, _WAITING, _AROUND = "#d8efe8", "#ffd98a", "#f6f8f7"
_AMBER = "#b36b00"


@dataclass(frozen=True)
class Way:
    """A way from one step to another; `may` is one that a router chooses."""

    start: str
    end: str
    may: bool
    label: str
    walked: bool


@dataclass(frozen=True)
class Sketch:
    """The steps by the engine's own names (payments:review), in its order, and the ways between.

    `visits` are how often each was run, `labels` the names for people by path (payments/review).
    `left_out` says how many steps are too many to draw.
    """

    steps: tuple[str, ...]
    ways: tuple[Way, ...]
    visits: Mapping[str, int]
    waiting: frozenset[str]
    labels: Mapping[str, str] = field(default_factory=dict)
    left_out: int = 0

    def label(self, step: str) -> list[str]:
        """What stands in the step: its name in words, how often it ran, whether it waits."""
        if step in (START, END):
            return ["Start" if step == START else "End"]
        name = self.labels.get(step.replace(":", "/")) or name_in_words(step.rpartition(":")[2])
        lines = [_short(name)]
        if (times := self.visits.get(step, 0)) > 1:
            lines.append(f"{times:,} times")
        if step in self.waiting:
            lines.append("waits here")
        return lines

    def within(self, group: str) -> tuple[list[str], list[str]]:
        """The steps that stand directly in a subgraph, and the subgraphs in it."""
        above = f"{group}:" if group else ""
        inside = [step for step in self.steps if step.startswith(above)]
        own = [step for step in inside if ":" not in step[len(above) :]]
        below = [step[len(above) :].split(":")[0] for step in inside if step not in own]
        return own, [f"{above}{name}" for name in dict.fromkeys(below)]


def sketch(
    graph: Graph,
    walked: Sequence[str],
    waiting: Sequence[str],
    labels: Mapping[str, str] | None = None,
) -> Sketch:
    """The graph with its subgraphs, and what a thread did on it.

    Args:
        walked: the paths of the steps that ran, in their order, each as often as it ran; with
            "__end__" where the thread came to its end.
        waiting: the paths of the steps at which it waits.
        labels: a step's path to its name for people.
    """
    drawn = _drawn(graph)
    steps = tuple(str(name) for name in drawn.nodes)
    kept = frozenset(steps[:MAX_STEPS])
    known = {_path(above): above for step in steps for above in _all_above(step)}
    ran = [known[path] for path in walked if path in known]
    rests = frozenset(known[path] for path in waiting if path in known)
    edges = [(edge.source, edge.target, bool(edge.conditional), edge.data) for edge in drawn.edges]
    seen = [START, *ran]
    ways = tuple(
        Way(start, end, may, "" if data is None else _short(str(data)),
            _was_walked(start, end, edges, seen, rests))
        for start, end, may, data in edges
        if start in kept and end in kept
    )  # fmt: skip
    return Sketch(
        steps=tuple(step for step in steps if step in kept),
        ways=ways,
        visits={step: ran.count(step) for step in dict.fromkeys(ran)},
        waiting=rests,
        labels=dict(labels or {}),
        left_out=len(steps) - len(kept),
    )


def mermaid(sketch: Sketch) -> str:
    """The sketch as a Mermaid flowchart."""
    ids = _ids(sketch)
    lines = ["flowchart TD", *_mermaid_group(sketch, "", ids)]
    for way in sketch.ways:
        arrow = "-.->" if way.may else "-->"
        said = f'|"{_mermaid_text([way.label])}"|' if way.label else ""
        lines.append(f"  {ids[way.start]} {arrow}{said} {ids[way.end]}")
    bold = [str(number) for number, way in enumerate(sketch.ways) if way.walked]
    if bold:
        lines.append(f"  linkStyle {','.join(bold)} stroke:{_LINE},stroke-width:3px")
    lines += [
        f"  classDef walked fill:{_WALKED},stroke:{_LINE},stroke-width:2px,color:{_INK}",
        f"  classDef waiting fill:{_WAITING},stroke:{_AMBER},stroke-width:3px,color:{_INK}",
        f"  classDef ahead fill:#ffffff,stroke:{_PALE},color:{_INK}",
    ]
    for kind in ("walked", "waiting", "ahead"):
        if found := [ids[step] for step in sketch.steps if _kind(sketch, step) == kind]:
            lines.append(f"  class {','.join(found)} {kind}")
    if sketch.left_out:
        lines.append(f"  %% {sketch.left_out} more steps are left out")
    return "\n".join(lines) + "\n"


def dot(sketch: Sketch) -> str:
    """The sketch in Graphviz' own language."""
    ids = _ids(sketch)
    lines = [
        "digraph thread {",
        '  graph [rankdir=TB, bgcolor="white", pad=0.3, nodesep=0.35, ranksep=0.45, dpi=110,'
        ' fontname="DejaVu Sans", fontsize=11, compound=true, size="30,30"];',
        '  node [shape=box, style="rounded,filled", fontname="DejaVu Sans", fontsize=12,'
        f' margin="0.18,0.09", fontcolor="{_INK}"];',
        f'  edge [fontname="DejaVu Sans", fontsize=10, fontcolor="{_INK}", arrowsize=0.8];',
        *_dot_group(sketch, "", ids, "  "),
    ]
    for way in sketch.ways:
        color, width = (_LINE, "2.6") if way.walked else (_PALE, "1.2")
        style = "dashed" if way.may and not way.walked else "solid"
        said = f", label={_dot_text([f' {way.label} '])}" if way.label else ""
        lines.append(
            f"  {ids[way.start]} -> {ids[way.end]}"
            f' [color="{color}", penwidth={width}, style={style}{said}{_edges(sketch, way)}];'
        )
    return "\n".join([*lines, "}"]) + "\n"


def _drawn(graph: Graph) -> Any:
    """The engine's own idea of how the graph looks, with its subgraphs where they can be seen."""
    try:
        return graph.get_graph(xray=True)
    except Exception:  # a subgraph of a foreign kind
        return graph.get_graph()


def _path(step: str) -> str:
    return step.replace(":", "/")


def _all_above(step: str) -> list[str]:
    """The step itself and the subgraphs around it."""
    parts = step.split(":")
    return [":".join(parts[:length]) for length in range(1, len(parts) + 1)]


def _was_walked(
    start: str,
    end: str,
    edges: Sequence[tuple[str, str, bool, Any]],
    seen: Sequence[str],
    waiting: Collection[str],
) -> bool:
    """Whether the thread went this way: its end ran after its start.

    Of several ways to a step that routers choose, it is the one from whatever ran last before.
    """
    may = next(edge[2] for edge in edges if edge[:2] == (start, end))
    sources = {edge[0] for edge in edges if edge[1] == end}
    arrivals = [at for at, step in enumerate(seen) if step == end]
    if end in waiting:
        arrivals.append(len(seen))
    for at in arrivals:
        before = [step for step in seen[:at] if step in sources]
        if start in before and (not may or before[-1] == start):
            return True
    return False


def _ids(sketch: Sketch) -> dict[str, str]:
    return {step: f"n{number}" for number, step in enumerate(sketch.steps)}


def _kind(sketch: Sketch, step: str) -> str:
    if step in sketch.waiting:
        return "waiting"
    return "walked" if step == START or sketch.visits.get(step) else "ahead"


def _mermaid_group(sketch: Sketch, group: str, ids: Mapping[str, str]) -> Iterator[str]:
    own, groups = sketch.within(group)
    for step in own:
        opening, closing = ('(["', '"])') if step in (START, END) else ('["', '"]')
        yield f"  {ids[step]}{opening}{_mermaid_text(sketch.label(step))}{closing}"
    for below in groups:
        yield f'  subgraph {_group_id(sketch, below)}["{_mermaid_text(sketch.label(below))}"]'
        yield from _mermaid_group(sketch, below, ids)
        yield "  end"


def _dot_group(sketch: Sketch, group: str, ids: Mapping[str, str], margin: str) -> Iterator[str]:
    own, groups = sketch.within(group)
    for step in own:
        fill, line, width = {
            "waiting": (_WAITING, _AMBER, "2.6"),
            "walked": (_WALKED, _LINE, "2"),
            "ahead": ("#ffffff", _PALE, "1.2"),
        }[_kind(sketch, step)]
        shape = ", shape=oval" if step in (START, END) else ""
        yield (
            f"{margin}{ids[step]} [label={_dot_text(sketch.label(step))},"
            f' fillcolor="{fill}", color="{line}", penwidth={width}{shape}];'
        )
    for below in groups:
        yield f"{margin}subgraph cluster_{_group_id(sketch, below)} {{"
        yield (
            f"{margin}  label={_dot_text(sketch.label(below))}; labeljust=l; margin=14;"
            f' style="rounded,filled";'
            f' fillcolor="{_AROUND}"; color="{_PALE}"; fontcolor="{_INK}";'
        )
        yield from _dot_group(sketch, below, ids, f"{margin}  ")
        yield f"{margin}}}"


def _edges(sketch: Sketch, way: Way) -> str:
    """Where a way goes into a subgraph or out of one it ends at the frame, clear of its name."""
    start, end = way.start.split(":"), way.end.split(":")
    same = 0
    while start[same : same + 1] == end[same : same + 1] and same < len(start):
        same += 1
    said = ""
    if len(end) > same + 1:
        said += f", lhead=cluster_{_group_id(sketch, ':'.join(end[: same + 1]))}"
    if len(start) > same + 1:
        said += f", ltail=cluster_{_group_id(sketch, ':'.join(start[: same + 1]))}"
    return f"{said}, minlen=2" if said else ""  # room for the arrow outside of the frame


def _group_id(sketch: Sketch, group: str) -> str:
    """A name that no step has: of the first step in it, and how deep it lies."""
    first = next(at for at, step in enumerate(sketch.steps) if step.startswith(f"{group}:"))
    return f"g{first}_{group.count(':')}"


def _mermaid_text(lines: Sequence[str]) -> str:
    return "<br/>".join(_signs(line, lambda sign: f"#{ord(sign)};") for line in lines)


def _dot_text(lines: Sequence[str]) -> str:
    """A label in quotes; what the language would read in it as an escape or a tag is a letter."""
    escaped = (
        line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines
    )
    return '"' + "\\n".join(escaped) + '"'


def _signs(text: str, written: Callable[[str], str]) -> str:
    return re.sub(r"[^\w .,/()-]", lambda found: written(found.group()), text)


def _short(text: str) -> str:
    """One line of printable text that fits into a box."""
    text = "".join(sign if sign.isprintable() else " " for sign in clean(text))
    text = " ".join(text.split())
    return text if len(text) <= LABEL_CHARACTERS else text[: LABEL_CHARACTERS - 1] + "…"
