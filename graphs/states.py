"""Where a thread rests, read from its newest checkpoint: what is pending, failed, left to run.

Everything is read from the engine's snapshot, on the graphs' loop, and handed on as plain values:
questions as bytes and safe JSON, errors as words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.store.base import BaseStore
from langgraph.types import Interrupt, PregelTask, StateSnapshot

from checkpoints.text import clean
from graphs.feeding import State
from graphs.plain import digest, plain
from graphs.registry import Graph, LoadedGraph
from graphs.repairs import Refusal
from graphs.reviews import Asked
from graphs.stops import Stop, stops_of
from graphs.templates import fill, in_words, name_in_words

MAX_ERROR_CHARACTERS: Final = 1_000
MAX_OUTCOME_CHARACTERS: Final = 3_000
CHANGED_KEYS: Final = 5  # of the state, in an outcome that nobody worded
CHANGED_CHARACTERS: Final = 100
MOST_ANSWERS: Final = 200  # of one task, that its questions are told apart by


@dataclass(frozen=True)
class Broke:
    """Why the run ended badly; `rejected` where a node could not use its answer.

    "schema" is refused before it is stored, "decisions" after (`graphs/repairs.py`).
    """

    node: str
    type: str
    message: str
    permanent: bool = False
    rejected: Refusal | None = None


async def read(graph: Graph, config: RunnableConfig, seen: StateSnapshot) -> State:
    """What the head says; the graph has the saver that it was read with."""
    return state_of(seen, await stops_of(graph, seen))


def state_of(seen: StateSnapshot, stops: Sequence[Stop]) -> State:
    """What the head says, with the static breakpoints at which it stands."""
    head = seen.config.get("configurable", {}).get("checkpoint_id")
    if seen.created_at is None or head is None:
        return State(fresh=True)
    pending = frozenset(interrupt.id for interrupt in seen.interrupts)
    failed = any(_error_of(task) is not None for task in seen.tasks)
    # Tasks that all have their results are not the end: the owner died between their writes and
    # the checkpoint of their step. `next` is empty then, and the thread only looks finished.
    unfinished = any(
        _error_of(task) is None and not task.interrupts and task.result is None
        for task in seen.tasks
    ) or bool(seen.tasks and not pending and not failed)
    metadata = cast(Mapping[str, Any], seen.metadata or {})
    run_id = metadata.get("run_id")
    return State(
        fresh=False,
        pending=pending,
        failed=failed,
        unfinished=unfinished,
        breakpoints=frozenset(stop.id for stop in stops),
        run_id=str(run_id) if run_id is not None else None,
    )


def asked_of(seen: StateSnapshot, serde: SerializerProtocol) -> Iterator[Asked]:
    """The pending interrupts, each once, with the path of the node that asks."""
    pending = {interrupt.id for interrupt in seen.interrupts}
    head = str(seen.config.get("configurable", {}).get("checkpoint_id", ""))
    for path, place, interrupt in _walk(seen, (), ""):
        if interrupt.id not in pending:
            continue
        pending.discard(interrupt.id)
        question = plain(interrupt.value)
        schema = interrupt.response_schema
        yield Asked(
            interrupt_id=interrupt.id,
            node="/".join(path),
            checkpoint_id=head,
            question=question,
            hash=digest(question),
            schema=plain(schema) if isinstance(schema, Mapping) else None,
            exact=_exact(serde, interrupt.value),
            ordinal=_ordinal(place, interrupt.id),
        )


def _walk(
    seen: StateSnapshot, path: tuple[str, ...], above: str
) -> Iterator[tuple[tuple[str, ...], str, Interrupt]]:
    """Each interrupt with the path and the namespace of its task, the deepest first."""
    for task in seen.tasks:
        place = f"{above}|{task.name}:{task.id}" if above else f"{task.name}:{task.id}"
        if isinstance(task.state, StateSnapshot):  # the deepest path names the node that asks
            yield from _walk(task.state, (*path, task.name), place)
        for interrupt in task.interrupts:
            yield (*path, task.name), place, interrupt


def _ordinal(place: str, interrupt_id: str) -> int:
    """How many answers the task had before: LangGraph makes the id of the place and that number.

    What a node runs by hand has a place that cannot be seen; it counts as the first.
    """
    for answered in range(MOST_ANSWERS):
        text = f"{place}|{answered}" if answered else place
        if Interrupt.from_ns(None, text).id == interrupt_id:
            return answered
    return 0


def _exact(serde: SerializerProtocol, value: Any) -> tuple[str, bytes] | None:
    try:
        return serde.dumps_typed(value)
    except Exception:  # the safe JSON is there; a question is never a reason to fail
        return None


def _error_of(task: PregelTask) -> str | None:
    """The error that a task ended with. One that was cut has a CancelledError stored, which is
    none: it was a stop of ours, or a neighbour's failure, and the task has to run again."""
    text = str(task.error) if task.error is not None else None
    return None if text is not None and text.startswith("CancelledError") else text


def stored_error(seen: StateSnapshot) -> Broke | None:
    """The error of an earlier run that nobody has settled."""
    for path, error in _errors(seen, ()):
        text = clean(error)[:MAX_ERROR_CHARACTERS]
        kind, _, rest = text.partition("(")
        message = rest.removesuffix(")").strip("'\"") if rest else text
        return Broke("/".join(path), kind or "Error", message or kind)
    return None


def _errors(seen: StateSnapshot, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The errors of the step, the deepest path first: that names the node that failed."""
    for task in seen.tasks:
        if (error := _error_of(task)) is not None:
            if isinstance(task.state, StateSnapshot):
                yield from _errors(task.state, (*path, task.name))
            yield (*path, task.name), error


def outcome_of(loaded: LoadedGraph, values: Any, before: Any = None) -> str | None:
    """What came of it: the graph's template over the final state, else the last AI message.

    Without either: what changed in the state after the answer, where `before` is the state then.
    """
    if loaded.spec.outcome:
        try:
            return clean(fill(loaded.spec.outcome, plain(values)))[:MAX_OUTCOME_CHARACTERS] or None
        except Exception:
            return None
    messages = values.get("messages") if isinstance(values, Mapping) else None
    last = messages[-1] if isinstance(messages, list) and messages else None
    if getattr(last, "type", None) != "ai":
        return _changed(plain(before), plain(values))
    text = getattr(last, "text", "")
    # Text that can be called is text all the same: langchain warns where it is called.
    text = text if isinstance(text, str) else text()
    return clean(str(text))[:MAX_OUTCOME_CHARACTERS] or None


def _changed(before: Any, after: Any) -> str | None:
    if not (isinstance(before, Mapping) and isinstance(after, Mapping) and before):
        return None
    changed = [name for name, value in after.items() if before.get(name) != value]
    told = [
        f"{name_in_words(str(name))}: {in_words(after[name])[:CHANGED_CHARACTERS]}"
        for name in changed[:CHANGED_KEYS]
    ]
    if left := len(changed) - len(told):
        told.append(f"and {left:,} more")
    return clean("; ".join(told))[:MAX_OUTCOME_CHARACTERS].rstrip(".") + "." if told else None


def lend(graph: Graph, saver: BaseCheckpointSaver[Any], store: BaseStore) -> Graph:
    """The graph with this saver and this store in it, for one run.

    `copy` forgets which types the graph's schema allows to be loaded, so they are put back: without
    them every model in the state would come back as a dict, or be refused.
    """
    allowed = graph._serde_allowlist
    if allowed is not None:
        saver = saver.with_allowlist(allowed)
    lent = graph.copy({"checkpointer": saver, "store": store})
    lent._serde_allowlist = allowed
    return lent


def causes(error: BaseException) -> Iterator[BaseException]:
    """The error and all that it came of, each once, groups opened."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        if isinstance(each, BaseExceptionGroup):
            for inner in each.exceptions:
                yield from causes(inner)
        each = each.__cause__ or each.__context__
