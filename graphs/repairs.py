"""Taking back an answer that its node could not use, so that the question can be put again.

LangGraph stores an answer before the node has liked it, and gives the same one again at every later
run. So the answer is taken out of the checkpoint, under the fence: the interrupt keeps its id, and
the tasks beside it keep what they have.

Only two kinds of error mean that the answer was at fault: LangGraph's own mark (the value does not
match the schema that `interrupt()` was given), and the complaint of LangChain's
HumanInTheLoopMiddleware about the decisions. Both are told by who raised what, never by the words
of an error. Everything else is a failure of the node, and a person says whether to ask again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType
from typing import Final, Literal, TypeAlias

from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME
from langgraph.errors import is_invalid_resume
from langgraph.types import StateSnapshot
from pydantic import ValidationError

from checkpoints.leases import Fence
from checkpoints.postgres import PostgresSaver
from checkpoints.text import clean

Refusal: TypeAlias = Literal["schema", "decisions"]
"""Refused before it was stored, by its schema; or after, by the middleware."""

MIDDLEWARE: Final = "langchain.agents.middleware.human_in_the_loop"
READS_DECISIONS: Final = ("after_model", "aafter_model", "_process_decision")
HANDLED: Final = "__error_source_node__"
PROBLEM_CHARACTERS: Final = 300


@dataclass(frozen=True)
class Failed:
    """A task that ended with an error, at any depth; `asked` are the ids of its interrupts."""

    namespace: str
    checkpoint_id: str
    task_id: str
    path: str
    answers: int
    asked: tuple[str, ...]

    @property
    def depth(self) -> tuple[int, int]:
        """A task that another one started lies deeper: in its namespace, or on its path."""
        return (self.namespace.count("|") + bool(self.namespace), len(self.path))


def refusal(errors: Iterable[BaseException]) -> Refusal | None:
    """Whether one of these errors, all of one failure, says that an answer could not be used."""
    for error in errors:
        if is_invalid_resume(error):
            return "schema"
        if isinstance(error, ValueError | KeyError | TypeError) and _by_middleware(error):
            return "decisions"
    return None


def problem(errors: Iterable[BaseException]) -> str:
    """What was wrong with the answer, in one sentence."""
    known = list(errors)
    for error in known:
        if isinstance(error, ValidationError) and is_invalid_resume(error):
            first = error.errors(include_url=False, include_input=False)[0]
            where = ", ".join(str(part) for part in first["loc"])
            said = clean(f"{where}: {first['msg']}" if where else str(first["msg"]))
            return said[:PROBLEM_CHARACTERS]
    return clean(str(known[0]))[:PROBLEM_CHARACTERS] or type(known[0]).__name__


async def failed_tasks(saver: PostgresSaver, thread_id: str, seen: StateSnapshot) -> list[Failed]:
    """The tasks that failed in the step at which the thread stands, deepest first."""
    below = [(task.name, task.id) for task in seen.tasks if task.error is not None]
    found: list[Failed] = []
    for place, tasks in (await saver.failures(thread_id, below)).items():
        namespace, checkpoint_id = place
        configurable = {"checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}
        saved = await saver.aget_tuple({"configurable": {"thread_id": thread_id, **configurable}})
        writes = (saved.pending_writes or []) if saved is not None else []
        for task, path in tasks.items():
            mine = [(channel, said) for owner, channel, said in writes if owner == task]
            if any(each == HANDLED or (each == ERROR and _cut(said)) for each, said in mine):
                continue
            found.append(
                Failed(
                    namespace=namespace,
                    checkpoint_id=checkpoint_id,
                    task_id=task,
                    path=path,
                    answers=sum(len(said) for each, said in mine if each == RESUME),
                    asked=tuple(one.id for each, said in mine if each == INTERRUPT for one in said),
                )
            )
    return sorted(found, key=lambda each: each.depth, reverse=True)


async def take_back(
    saver: PostgresSaver, fence: Fence, failed: list[Failed], *, stored: bool
) -> frozenset[str]:
    """Let the question that a task failed at be asked again; the interrupts it asked.

    Args:
        stored: the answer was stored and has to go; else only the error.

    Raises:
        StaleOwner
    """
    wanted = (each for each in failed if each.asked and (each.answers or not stored))
    asker = next(wanted, None)
    if asker is None:
        return frozenset()
    for each in failed:
        if each is not asker:
            await saver.forget_error(
                fence, each.task_id, each.checkpoint_id, namespace=each.namespace
            )
    # The asker last: until then whoever comes next finds it failed, and takes it back again.
    if stored:
        await saver.take_back_answer(
            fence, asker.task_id, asker.checkpoint_id, namespace=asker.namespace
        )
    else:
        await saver.forget_error(
            fence, asker.task_id, asker.checkpoint_id, namespace=asker.namespace
        )
    return frozenset(asker.asked)


def _by_middleware(error: BaseException) -> bool:
    """Whether it was raised where the middleware reads the decisions, and not below."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    frame: FrameType = trace.tb_frame
    code: CodeType = frame.f_code
    return frame.f_globals.get("__name__") == MIDDLEWARE and code.co_name in READS_DECISIONS


def _cut(error: object) -> bool:
    return str(error).startswith("CancelledError")
