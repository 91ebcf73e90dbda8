"""A trial: one graph, one thread, one person, in one process, until it ends or the person leaves.

It is the runner's little brother for a first experiment (`sayso try`). The checkpoint alone says
where the thread is, so that it may be killed at any moment: whatever runs next reads the state
first and goes on from there. Answers are checked before LangGraph sees them and are fed by the id
of their interrupt, one at a time, so that each is kept as soon as it is given.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, Protocol, TypeAlias, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel
from langgraph.store.base import BaseStore
from langgraph.types import Command, PregelTask, StateSnapshot

from checkpoints.errors import SaysoError
from checkpoints.text import clean
from graphs import actions, answers, inputs, questions
from graphs.errors import NothingToAskAgain, NothingToStart
from graphs.feeding import State
from graphs.inputs import InputRefused
from graphs.plain import plain
from graphs.plays import STRICT_RESUME
from graphs.questions import Shown
from graphs.registry import LoadedGraph
from graphs.repairs import refusal
from graphs.reviews import Asked
from graphs.states import MAX_ERROR_CHARACTERS, Broke, asked_of, causes, lend, outcome_of, read

NOTHING: Final = object()

Graph: TypeAlias = Pregel[Any, Any, Any, Any]
Found: TypeAlias = Literal["new", "goes on", "another turn", "finished"]


@dataclass(frozen=True)
class Question:
    """One pending question, as a person is asked it; `count` are open in all."""

    asked: Asked
    shown: Shown
    count: int


@dataclass(frozen=True)
class Rest:
    """How the trial ended, with the outcome in words, else the last state as safe JSON."""

    kind: Literal["done", "left", "failed"]
    outcome: str | None = None
    values: Any = None
    broke: Broke | None = None


class Left(Exception):
    """The person went away while they were asked; nothing is lost."""


class Person(Protocol):
    """Whoever sits before the trial; both questions may raise `Left`."""

    def found(self, what: Found, nodes: tuple[str, ...]) -> None:
        """Hear where the thread stands before anything runs."""

    def step(self, node: str, what: Literal["running", "done", "failed"]) -> None:
        """See a step begin or end."""

    async def answer(self, question: Question, problem: str | None) -> Any:
        """Answer; `problem` says why the answer before could not be used."""

    async def goes_on(self, nodes: tuple[str, ...]) -> bool:
        """Say whether to go on before these nodes, where the graph has a breakpoint."""


class Saver(Protocol):
    """What the trial needs of a saver besides LangGraph's own interface."""

    async def take_back_answer(
        self, thread_id: str, task_id: str, checkpoint_id: str, *, namespace: str = ""
    ) -> bool:
        """Undo the last answer of a task that raised because of it."""

    async def forget_error_of(
        self, thread_id: str, task_id: str, checkpoint_id: str, *, namespace: str = ""
    ) -> None:
        """Undo the error of a task alone."""


class Trial:
    """One thread of one graph over one saver, played for one person."""

    def __init__(
        self,
        loaded: LoadedGraph,
        saver: BaseCheckpointSaver[Any],
        store: BaseStore,
        person: Person,
        *,
        thread: str,
        configurable: Mapping[str, Any],
    ) -> None:
        """Take the collaborators; `saver` has `take_back_answer` too."""
        self._loaded = loaded
        self._saver = saver
        self._graph = lend(loaded.graph, saver, loaded.graph.store or store)
        self._person = person
        self._thread = thread
        self._configurable = {
            **{key: value for key, value in configurable.items() if not key.startswith("__")},
            "thread_id": thread,
        }

    async def run(self, given: Any = NOTHING, *, ask_again: bool = False) -> Rest:
        """Start the thread or go on with it, until it ends, fails, or the person leaves.

        Args:
            given: the graph's input; looked at where the thread is new, or for a further turn.
            ask_again: drop the answer at which the thread failed, and ask for another.

        Raises:
            NothingToStart: the thread is new and there is no input.
            InputRefused: the input does not fit the graph.
            NothingToAskAgain: no answer made the thread fail.
        """
        seen, state = await self._look()
        run_id = self._run_id(given, state)
        if ask_again:
            # Not a retry instead: whoever takes an answer back does not want to see it done.
            if not (state.failed and await self._take_back(seen)):
                raise NothingToAskAgain
            seen, state = await self._look()
        feed = self._first(given, run_id, seen, state)
        problem: str | None = None
        try:
            while True:
                if feed is not NOTHING:
                    broke = await self._play(feed, run_id, seen)
                    seen, state = await self._look()
                    problem = None
                    if broke is not None:
                        if not broke.rejected:
                            return Rest("failed", broke=broke)
                        problem = broke.message
                        # A schema refuses before it is stored: then the earlier ones are good.
                        await self._take_back(seen, stored=broke.rejected != "schema")
                        seen, state = await self._look()
                        if not seen.interrupts:
                            return Rest("failed", broke=broke)
                asked = tuple(asked_of(seen, self._saver.serde))
                if asked:
                    feed = Command(resume=await self._answered(asked, problem))
                elif seen.next or state.breakpoint:
                    if not await self._person.goes_on(tuple(seen.next)):
                        return Rest("left")
                    feed = None
                else:
                    return self._done(seen)
        except Left:
            return Rest("left")

    def _first(self, given: Any, run_id: str | None, seen: StateSnapshot, state: State) -> Any:
        """What to feed first, NOTHING where only somebody has to be asked."""
        if state.fresh:
            if given is NOTHING:
                raise NothingToStart
            if (said := inputs.problem(self._loaded.graph, given)) is not None:
                raise InputRefused(said)
            self._person.found("new", ())
            return given
        if state.at_rest:
            if given is NOTHING or not self._loaded.turns or run_id == state.run_id:
                self._person.found("finished", ())
                return NOTHING
            self._person.found("another turn", ())
            return given
        self._person.found("goes on", tuple(one.name for one in seen.tasks if one.result is None))
        runs = state.failed or (state.unfinished and state.breakpoint is None)
        return None if runs else NOTHING

    def _run_id(self, given: Any, state: State) -> str | None:
        """The name of the run that takes this input: the same input again is not a new turn."""
        if not state.fresh and not state.at_rest:
            return state.run_id
        if given is NOTHING:
            return state.run_id
        text = json.dumps(given, sort_keys=True)
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self._thread}/{text}"))

    async def _look(self) -> tuple[StateSnapshot, State]:
        config = RunnableConfig(configurable=dict(self._configurable))
        seen = await self._graph.aget_state(config, subgraphs=True)
        return seen, await read(self._graph, config, seen)

    async def _play(self, feed: Any, run_id: str | None, before: StateSnapshot) -> Broke | None:
        """Run until the graph rests; why not, where it does not."""
        config = RunnableConfig(configurable=dict(self._configurable))
        if run_id is not None:
            config["metadata"] = {"run_id": run_id}
        again: set[str] = set()  # nodes that run only to ask once more what they ask already
        if isinstance(feed, Command):
            config["configurable"][STRICT_RESUME] = True
            given = cast(Mapping[str, Any], feed.resume)
            again = {
                task.id
                for task in before.tasks
                if task.interrupts and not any(one.id in given for one in task.interrupts)
            }
        running: list[str] = []
        failed: list[str] = []
        try:
            stream = self._graph.astream(
                feed,
                config,
                stream_mode=["tasks", "checkpoints"],
                version="v2",
                subgraphs=True,
                durability="sync",
            )
            async with contextlib.aclosing(cast(Any, stream)) as parts:
                async for part in parts:
                    if part["type"] == "checkpoints" and not part["ns"]:
                        running.clear()
                    elif part["type"] == "tasks" and part["data"]["id"] not in again:
                        self._tell(part, running, failed)
        except SaysoError:
            raise
        except (Exception, SystemExit) as error:
            for cause in causes(error):
                if isinstance(cause, SaysoError):
                    raise cause from error
            return Broke(
                node=(failed or running or [""])[0],
                type=type(error).__name__,
                message=clean(str(error))[:MAX_ERROR_CHARACTERS],
                rejected=refusal(causes(error)),
            )
        return None

    def _tell(self, part: Mapping[str, Any], running: list[str], failed: list[str]) -> None:
        data = part["data"]
        name = str(data["name"])
        if name.startswith("__"):
            return
        path = "/".join((*(str(each).split(":")[0] for each in part["ns"]), name))
        if "triggers" in data:
            running.append(path)
            self._person.step(path, "running")
        elif data.get("error") is not None:
            failed.append(path)
            self._person.step(path, "failed")
        elif not data.get("interrupts"):
            self._person.step(path, "done")

    async def _answered(self, asked: tuple[Asked, ...], problem: str | None) -> dict[str, Any]:
        """The answer to the first of the open questions, once it fits."""
        first = asked[0]
        shown = questions.shown(
            first.question, graph=self._loaded.name, node=first.node, schema=first.schema
        )
        if not shown.actions:
            question = Question(first, shown, len(asked))
            check = partial(answers.check, question=first.question, schema=first.schema)
            return {first.interrupt_id: await self._fitting(question, problem, check)}
        replies = []
        for action in shown.actions:
            of_many = f"{action.item + 1} of {len(shown.actions)}: " if shown.actions[1:] else ""
            alone = replace(
                shown, title=f"{of_many}{action.title}", facts=action.facts, groups=action.groups,
                choices=action.choices, actions=(), consequence="",
            )  # fmt: skip
            check = partial(_problem, first, action.item)
            question = Question(first, alone, len(asked))
            replies.append(await self._fitting(question, problem, check))
            problem = None
        return {first.interrupt_id: actions.assemble(first.asking, replies)}

    async def _fitting(
        self, question: Question, problem: str | None, check: Callable[[Any], str | None]
    ) -> Any:
        """What the person answers, asked again until it fits."""
        while True:
            answer = await self._person.answer(question, problem)
            if plain(answer) != answer:
                problem = "It holds a number that is too large. Write it as text."
                continue
            if (problem := check(answer)) is None:
                return answer

    async def _take_back(self, seen: StateSnapshot, *, stored: bool = True) -> bool:
        """Undo the answers at which tasks failed, at every depth; without `stored` the errors."""
        saver = cast(Saver, self._saver)
        taken = False
        for configurable, task in _failed(seen):
            namespace = str(configurable.get("checkpoint_ns") or "")
            place = (self._thread, task.id, str(configurable["checkpoint_id"]))
            if stored:
                taken |= await saver.take_back_answer(*place, namespace=namespace)
            else:
                await saver.forget_error_of(*place, namespace=namespace)
        return taken

    def _done(self, seen: StateSnapshot) -> Rest:
        return Rest("done", outcome_of(self._loaded, seen.values), plain(seen.values))


def _problem(asked: Asked, item: int, answer: Any) -> str | None:
    """Why the answer does not fit the action, None where it does."""
    schema = asked.schemas.get(asked.asking.actions[item].tool)
    return actions.problem(asked.asking, item, answer, schema)


def _failed(seen: StateSnapshot) -> Iterator[tuple[Mapping[str, Any], PregelTask]]:
    for task in seen.tasks:
        if task.error is not None:
            yield seen.config["configurable"], task
        if isinstance(task.state, StateSnapshot):
            yield from _failed(task.state)
