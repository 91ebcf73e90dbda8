"""What can go wrong with graphs, threads and reviews.

SaysoError (checkpoints.errors)
├── GraphNotLoaded     the name in the configuration leads to no graph
├── UnknownGraph       no graph of that name is configured
├── UnknownThread      no thread has that id
├── AmbiguousThread    several threads begin like that
├── KeyTaken           the key has started another thread
├── UnknownReview      no review has that id
├── NothingToStart     a trial of a new thread without an input
├── NothingToAskAgain  a trial that did not fail at an answer
├── CodeChanged        the graph is not what it was when the thread paused
├── FileRefused        a file of the chat could not be had; ``reason`` is a clause
└── LoopStuck          a node blocks the loop that all graphs share
"""

from __future__ import annotations

from checkpoints.errors import SaysoError


class GraphNotLoaded(SaysoError):
    """A configured graph could not be loaded; the others still serve."""

    def __init__(self, name: str, detail: str) -> None:
        self.name = name
        self.detail = detail
        super().__init__(f"Graph {name} cannot be loaded: {detail}.")


class UnknownGraph(SaysoError):
    """No graph of that name is configured."""

    def __init__(self, name: str, known: tuple[str, ...] = ()) -> None:
        self.name = name
        have = f"Configured are: {', '.join(known)}." if known else "None is configured."
        super().__init__(f"There is no graph called {name}. {have}")


class UnknownThread(SaysoError):
    """No thread has that id."""

    def __init__(self, thread_id: str) -> None:
        self.thread_id = thread_id
        super().__init__(f"There is no thread {thread_id}. `sayso threads list` shows all.")


class AmbiguousThread(SaysoError):
    """Several threads begin like that; write more of the id."""

    def __init__(self, said: str, ids: tuple[str, ...]) -> None:
        self.ids = ids
        super().__init__(f"Several threads begin with {said}: {', '.join(ids)}. Write more of it.")


class KeyTaken(SaysoError):
    """The key has started a thread of another graph or with another input; nothing was started."""

    def __init__(self, key: str, thread_id: str, graph: str) -> None:
        self.thread_id = thread_id
        super().__init__(
            f"The key {key} has started thread {thread_id} of graph {graph} with another input "
            "or graph. Nothing was started; use another key."
        )


class UnknownReview(SaysoError):
    """No review has that id."""

    def __init__(self, review_id: object) -> None:
        self.review_id = review_id
        super().__init__(f"There is no review {review_id}. `sayso reviews list` shows all.")


class NothingToStart(SaysoError):
    """A new thread needs an input."""

    def __init__(self) -> None:
        super().__init__("Nothing of it is kept here yet. Start it with --input JSON.")


class NothingToAskAgain(SaysoError):
    """The thread did not fail at an answer, so that none can be taken back."""

    def __init__(self) -> None:
        super().__init__(
            "It did not fail at an answer. Nothing was changed; leave out --ask-again to go on."
        )


class CodeChanged(SaysoError):
    """The code changed so that a kept answer would go to the wrong place; it is not fed.

    ``changes`` are the sentences that say what changed.
    """

    def __init__(self, changes: tuple[str, ...]) -> None:
        self.changes = changes
        super().__init__(" ".join(changes))


class FileRefused(SaysoError):
    """A file could not be had; ``reason`` is a clause: "it is larger than 10 MB"."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The file was not read: {reason}.")


class LoopStuck(SaysoError):
    """A node has blocked the loop of the graphs for so long that the process must end."""

    def __init__(self, seconds: float, nodes: tuple[str, ...]) -> None:
        self.nodes = nodes
        super().__init__(
            f"The loop of the graphs has not moved for {seconds:.0f} s; running: "
            f"{', '.join(nodes) or 'nothing known'}. A node there blocks: make it async or a "
            "plain function. This worker ends so that others take over."
        )
