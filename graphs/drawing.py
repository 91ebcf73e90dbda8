"""The picture of a thread: its graph with the path that was walked and the place where it waits.

The Mermaid text is always there. The PNG is made by Graphviz, in a process of its own that is ended
when it takes too long or too much memory: nobody can tell how hard a graph is to lay out, and it
must hold up neither a worker nor a web process. Nothing is sent anywhere.
"""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from checkpoints.database import Database
from graphs import sketches, steps
from graphs.factories import Graph, line_of
from graphs.registry import LoadedGraph
from graphs.threads import Status, Thread

log = structlog.get_logger(__name__)

DRAW_SECONDS: Final = 10.0
MEMORY_BYTES: Final = 1 << 30
MAX_PNG_BYTES: Final = 8 * 1024 * 1024
NOT_INSTALLED: Final = (
    "There is no picture: pygraphviz is not installed. "
    'Install it with pip install "sayso[pictures]".'
)
NO_FONT: Final = (
    "There is no picture: the machine has no font that it could be written in. "
    "Install one, such as fonts-dejavu-core."
)
TOO_LONG: Final = "There is no picture: the graph is too large to draw in 10 seconds."
NOT_DRAWN: Final = "There is no picture: the graph could not be drawn."

_FONTLESS: Final = 3  # the exit status of the child that sees no letters

# Without a font Graphviz draws boxes without a letter in them and says nothing.
_CHILD: Final = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
import pygraphviz
def drawn(text):
    return pygraphviz.AGraph(string=text).draw(format="png", prog="dot")
sample = 'digraph { n [label="%s", shape=box, width=2, fixedsize=true, fontname="DejaVu Sans"]; }'
if drawn(sample % "A") == drawn(sample % "B"):
    sys.exit(int(sys.argv[2]))
sys.stdout.buffer.write(drawn(sys.stdin.read()))
"""


@dataclass(frozen=True)
class Drawing:
    """The graph as Mermaid text and as a PNG; `reason` is one sentence where there is no PNG."""

    mermaid: str
    png: bytes | None
    reason: str = ""


async def draw(
    graph: Graph,
    walked: Sequence[str],
    waiting: Sequence[str],
    *,
    labels: Mapping[str, str] | None = None,
    seconds: float = DRAW_SECONDS,
) -> Drawing:
    """Draw a graph, and what a thread did on it; never raises.

    Args:
        walked: the paths of the steps that ran, in their order, each as often as it ran; with
            "__end__" where the thread came to its end.
        waiting: the paths of the steps at which it waits.
        labels: a step's path to its name for people.
        seconds: how long the layout may take.
    """
    try:
        sketch = await asyncio.to_thread(sketches.sketch, graph, walked, waiting, labels)
        text = sketches.mermaid(sketch)
    except Exception as error:  # somebody else's graph may do anything when it is looked at
        log.info("graph.not_drawn", why=line_of(error))
        return Drawing("flowchart TD\n", None, NOT_DRAWN)
    if importlib.util.find_spec("pygraphviz") is None:
        return Drawing(text, None, NOT_INSTALLED)
    png, reason = await _png(sketches.dot(sketch), seconds)
    return Drawing(text, png, reason)


async def of_thread(database: Database, thread: Thread, loaded: LoadedGraph) -> Drawing:
    """Draw a thread as it stands now."""
    taken = await steps.of_thread(database, thread.id)
    walked = [step.node for step in taken if step.status == "done"]
    waits = [step.node for step in taken if step.status != "done"]
    if thread.status is Status.DONE:
        walked.append(sketches.END)
    labels = {node: loaded.spec.label(node) for node in (*loaded.graph.nodes, *walked, *waits)}
    return await draw(loaded.graph, walked, waits or thread.next, labels=labels)


async def _png(dot: str, seconds: float) -> tuple[bytes | None, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-c", _CHILD, str(MEMORY_BYTES), str(_FONTLESS),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        async with asyncio.timeout(seconds):
            out, err = await process.communicate(dot.encode())
    except TimeoutError:
        return None, TOO_LONG
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode == _FONTLESS:
        return None, NO_FONT
    if process.returncode != 0 or not out.startswith(b"\x89PNG") or len(out) > MAX_PNG_BYTES:
        last = err.decode(errors="replace").strip().splitlines()[-1:]
        log.info("graph.not_drawn", status=process.returncode, why=last)
        return None, NOT_DRAWN
    return out, ""
