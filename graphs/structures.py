"""What can be seen of a graph from outside: its nodes at every depth, and its tools.

The tasks of an `@entrypoint` and the graphs that a node builds while it runs cannot be seen; their
places lie below a node that can.
"""

from __future__ import annotations

from dataclasses import dataclass

from langgraph.graph.state import CompiledStateGraph

from graphs import tools
from graphs.factories import Graph, subgraphs


@dataclass(frozen=True)
class Structure:
    """The paths of nodes, `outer/inner`; `whole` where all are seen, and the names of tools.

    `fields` are those of the outermost state, which conditions see; none where it has no names.
    """

    nodes: tuple[str, ...]
    whole: bool
    tools: tuple[str, ...]
    fields: tuple[str, ...] = ()

    def may_have(self, node: str) -> bool:
        """Whether a rule for that node, by its path or its last name, can ever match."""
        if not self.whole or node in self.nodes:
            return True
        above = node.rpartition("/")[0]
        if above:  # below a node that is seen, a path may lead to one that is not
            return any(each in self.nodes for each in _ancestors(above))
        return any(each.rsplit("/", 1)[-1] == node for each in self.nodes)


def structure_of(graph: Graph) -> Structure:
    """Look at a loaded graph."""
    graphs = [("", graph), *((f"{path}/", inner) for path, inner in subgraphs(graph))]
    nodes = [f"{above}{name}" for above, each in graphs for name in each.nodes if name[:2] != "__"]
    whole = all(isinstance(each, CompiledStateGraph) for _, each in graphs)
    fields = graph.builder.channels if isinstance(graph, CompiledStateGraph) else ()
    named = tuple(name for name in fields if name != "__root__")
    return Structure(tuple(nodes), whole, tuple(dict.fromkeys(tools.names(graph))), named)


def _ancestors(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
