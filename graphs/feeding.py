"""What to feed a thread next: a pure decision over its state and the rows that wait.

Every owner reads the state first, because the one before may have died anywhere. The checkpoint is
authoritative for what was taken:

    an answer        is taken when its interrupt is no longer pending
    a breakpoint's   when the head is another checkpoint than the one it stopped at
    a start or say   is fed again under its own run id, and LangGraph goes on instead of applying
                     it twice; it is taken when that run has come to rest

If every unfinished task holds an interrupt and no answer to one of them waits, nothing is run:
running would only make the nodes ask again. The exception is a say for which every question that
pends was taken back: new input drops them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from graphs.mailbox import Row


@dataclass(frozen=True)
class State:
    """What the head of a thread says; `pending` are the interrupts that wait for an answer.

    `unfinished` is whether a task of the next step has neither a result nor an error nor a pending
    interrupt, so that it has to run. `breakpoint` is the id of the static breakpoint it stopped at.
    """

    fresh: bool
    pending: frozenset[str] = frozenset()
    failed: bool = False
    unfinished: bool = False
    breakpoint: str | None = None
    run_id: str | None = None

    @property
    def at_rest(self) -> bool:
        """Whether nothing is left to do or to ask."""
        return not (self.pending or self.failed or self.unfinished or self.breakpoint)

    def asks_only(self, interrupts: frozenset[str]) -> bool:
        """Whether it asks something, and nothing but these."""
        asks = self.pending | ({self.breakpoint} if self.breakpoint else frozenset())
        return bool(asks) and asks <= interrupts


@dataclass(frozen=True)
class Plan:
    """What to do: run with the input of `row`, with answers, or without input; or only settle.

    `fed` are the rows that this run feeds, `taken` those that an earlier run took.
    """

    do: Literal["input", "answers", "go_on", "settle"]
    row: Row | None = None
    answers: tuple[Row, ...] = ()
    fed: tuple[int, ...] = ()
    taken: tuple[int, ...] = ()
    run_id: str | None = None


def plan(state: State, rows: Sequence[Row]) -> Plan:
    """Decide what the next run feeds."""
    inputs = [row for row in rows if row.kind in ("start", "say")]
    if state.fresh:
        if not inputs:
            return Plan("settle")
        first = inputs[0]
        return Plan("input", row=first, fed=(first.id,), run_id=first.run_id)
    retries = tuple(row.id for row in rows if row.kind == "retry")
    answers = [row for row in rows if row.kind == "answer"]
    ready = tuple(row for row in answers if row.interrupt_id in state.pending)
    passed = tuple(row.id for row in answers if row.interrupt_id == state.breakpoint)
    taken = tuple(
        row.id
        for row in answers
        if row.interrupt_id not in state.pending and row.interrupt_id != state.breakpoint
    )
    mine = next((row for row in inputs if row.run_id == state.run_id), None)
    if ready:
        fed = (*(row.id for row in ready), *retries)
        return Plan("answers", answers=ready, fed=fed, taken=taken, run_id=ready[0].run_id)
    if state.failed:
        if not retries:
            return Plan("settle", taken=_with(taken, mine))
        return Plan("go_on", fed=retries, taken=_with(taken, mine), run_id=state.run_id)
    over = not passed and any(state.asks_only(row.over) for row in inputs)
    at_breakpoint = state.breakpoint is not None
    if at_breakpoint and not over:
        if not passed:
            return Plan("settle", taken=_with(taken, mine))
        return Plan("go_on", fed=(*passed, *retries), taken=taken, run_id=state.run_id)
    if state.unfinished and not at_breakpoint:
        if mine is not None:
            return Plan("input", row=mine, fed=(mine.id, *retries), taken=taken, run_id=mine.run_id)
        return Plan("go_on", fed=retries, taken=taken, run_id=state.run_id)
    if state.pending and not over:
        return Plan("settle", fed=retries, taken=_with(taken, mine))
    taken = _with(taken, mine)
    following = next((row for row in inputs if row is not mine), None)
    if following is None:
        return Plan("settle", fed=retries, taken=taken)
    return Plan(
        "input",
        row=following,
        fed=(following.id, *retries),
        taken=taken,
        run_id=following.run_id,
    )


def resume_map(plan: Plan, values: Mapping[int, object]) -> dict[str, object]:
    """The answers by interrupt id, from their values by row id: the only form that is exact."""
    return {
        row.interrupt_id: values[row.id] for row in plan.answers if row.interrupt_id is not None
    }


def _with(taken: tuple[int, ...], row: Row | None) -> tuple[int, ...]:
    return (*taken, row.id) if row is not None else taken
