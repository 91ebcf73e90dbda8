"""Where a thread stands: its state, the static breakpoints it stands at, and all that it asks."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.types import StateSnapshot

from checkpoints.errors import SaysoError
from checkpoints.text import clean
from graphs import stops
from graphs.feeding import State
from graphs.registry import Graph
from graphs.reviews import Asked
from graphs.states import MAX_ERROR_CHARACTERS, asked_of, state_of
from graphs.stops import Stop


class StateRefused(Exception):
    """The graph's own model of its state does not take what stands in it, now or ever."""

    def __init__(self, error: Exception) -> None:
        self.type = type(error).__name__
        self.message = clean(str(error))[:MAX_ERROR_CHARACTERS] or self.type
        super().__init__(self.message)


@dataclass(frozen=True)
class Standing:
    """The newest state of a thread, and everything that it asks."""

    seen: StateSnapshot
    stops: tuple[Stop, ...]
    asked: tuple[Asked, ...]

    @property
    def state(self) -> State:
        """What it says of what may be fed."""
        return state_of(self.seen, self.stops)

    @property
    def head(self) -> str | None:
        """The id of its checkpoint, None before the first."""
        if not self.seen.created_at:
            return None
        found: str | None = self.seen.config.get("configurable", {}).get("checkpoint_id")
        return found


async def look(
    graph: Graph, config: RunnableConfig, serde: SerializerProtocol, known: Collection[str]
) -> Standing:
    """Read where the thread stands now.

    Args:
        known: interrupts that people were asked about; a stop that cannot be seen from outside is
            known by them alone.

    Raises:
        StateRefused, BlockedType, LostCheckpoint, DatabaseAway
    """
    seen = await _state(graph, config)
    here = await stops.stops_of(graph, seen)
    if not here and not seen.interrupts and seen.next and seen.created_at:
        hidden = stops.unseen(graph, seen)
        here = [hidden] if hidden.id in known else []
    asked = (*asked_of(seen, serde), *(stop.asked for stop in here))
    return Standing(seen, tuple(here), asked)


async def _state(graph: Graph, config: RunnableConfig) -> StateSnapshot:
    """The state; LangGraph makes the next nodes' models of it even to show it."""
    try:
        return await graph.aget_state(config, subgraphs=True)
    except SaysoError:
        raise
    except Exception as error:
        raise StateRefused(error) from error
