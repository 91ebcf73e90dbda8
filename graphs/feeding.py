"""What to feed a thread next: a pure decision over its state and the rows that wait.

Every owner reads the state first, because the one before may have died anywhere. The checkpoint is
authoritative for what was taken:

    an answer        is taken when its interrupt is no longer pending
    a breakpoint's   when the thread does not stand at that stop any more
    a start or say   is fed again under its own run id, and LangGraph goes on instead of applying
                     it twice; it is taken when that run has come to rest

If every unfinished task holds an interrupt and no answer to one of them waits, nothing is run:
running would only make the nodes ask again. The exception is a say for which every question that
pends was taken back: new input drops them.

LangGraph runs on past every static breakpoint at once, and past them too when it is given an answer
for something else. So while one of several stops has no answer, nothing is run at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from graphs.mailbox import Row

Do: TypeAlias = Literal["input", "answers", "go_on", "settle", "stop", "ask_again", "rewind"]

ASK_AGAIN: Final = "ask_again"  # in the body of a retry: drop the answer at which the thread failed
INTERRUPTS: Final = "interrupts"  # beside it: the questions that are meant


@dataclass(frozen=True)
class State:
    """What the head of a thread says; `pending` are the interrupts that wait for an answer.

    `unfinished` is whether a task of the next step has neither a result nor an error nor a pending
    interrupt, so that it has to run. `breakpoints` are the static ones at which it stands.
    """

    fresh: bool
    pending: frozenset[str] = frozenset()
    failed: bool = False
    unfinished: bool = False
    breakpoints: frozenset[str] = frozenset()
    run_id: str | None = None

    @property
    def breakpoint(self) -> str | None:
        """One of the static breakpoints at which it stands."""
        return min(self.breakpoints, default=None)

    @property
    def at_rest(self) -> bool:
        """Whether nothing is left to do or to ask."""
        return not (self.pending or self.failed or self.unfinished or self.breakpoints)

    def asks_only(self, interrupts: frozenset[str]) -> bool:
        """Whether it asks something, and nothing but these."""
        asks = self.pending | self.breakpoints
        return bool(asks) and asks <= interrupts


@dataclass(frozen=True)
class Plan:
    """What to do: run with the input of `row`, with answers, or without input; or only settle.

    `fed` are the rows that this run feeds, `taken` those that an earlier run took. `passes` are
    those that let it go on past a breakpoint, `refused` those that say nothing of the kind: their
    question is put again. "stop" ends the thread by the answer in `row`; "ask_again" takes back
    the answers that a person dropped, to the questions `again`.
    """

    do: Do
    row: Row | None = None
    answers: tuple[Row, ...] = ()
    passes: tuple[Row, ...] = ()
    refused: tuple[Row, ...] = ()
    again: frozenset[str] = frozenset()
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
    stops = [row for row in answers if row.interrupt_id in state.breakpoints]
    passes = tuple(row for row in stops if said(row) in ("continue", "change"))
    refused = tuple(row for row in stops if said(row) is None)
    known = state.pending | state.breakpoints
    taken = tuple(row.id for row in answers if row.interrupt_id not in known)
    fed_before = [row for row in rows if row.kind == "rewind" or row in inputs]
    mine = next((row for row in fed_before if row.run_id == state.run_id), None)
    dropped = [row for row in rows if row.kind == "retry" and row.body.get(ASK_AGAIN) is True]
    if dropped:
        again = frozenset(each for row in dropped for each in row.body.get(INTERRUPTS, ()))
        return Plan("ask_again", again=again, fed=retries, taken=_with(taken, mine))
    if (stop := next((row for row in stops if said(row) == "stop"), None)) is not None:
        return Plan("stop", row=stop, fed=(stop.id,), taken=_with(taken, mine))
    stands = state.breakpoints - {row.interrupt_id for row in passes}
    over = not stops and any(state.asks_only(row.over) for row in inputs)
    if stands and not over:
        return Plan("settle", refused=refused, fed=retries, taken=_with(taken, mine))
    if (ready or passes) and not stands:
        fed = (*(row.id for row in (*ready, *passes)), *retries)
        run_id = ready[0].run_id if ready else state.run_id
        do: Do = "answers" if ready else "go_on"
        return Plan(do, answers=ready, passes=passes, fed=fed, taken=taken, run_id=run_id)
    if state.failed and not stands:
        if not retries:
            return Plan("settle", taken=_with(taken, mine))
        return Plan("go_on", fed=retries, taken=_with(taken, mine), run_id=state.run_id)
    if state.unfinished and not stands:
        if mine is not None:
            how: Do = "go_on" if mine.kind == "rewind" else "input"
            return Plan(how, row=mine, fed=(mine.id, *retries), taken=taken, run_id=mine.run_id)
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


def said(row: Row) -> Literal["continue", "change", "stop"] | None:
    """What an answer to a breakpoint says; nothing but these three forms passes one."""
    try:
        answer = json.loads(row.answer) if row.answer is not None else {}
    except ValueError:
        return None
    if answer is None:
        return "continue"
    match answer:
        case {"do": "continue"}:
            return "continue"
        case {"do": "stop"}:
            return "stop"
        case {"do": "change", "values": dict()}:
            return "change"
    return None


def values(row: Row) -> dict[str, Any]:
    """The values that an answer to a breakpoint changes."""
    if said(row) != "change" or row.answer is None:
        return {}
    found: dict[str, Any] = json.loads(row.answer)["values"]
    return found


def resume_map(plan: Plan, values: Mapping[int, object]) -> dict[str, object]:
    """The answers by interrupt id, from their values by row id: the only form that is exact."""
    return {
        row.interrupt_id: values[row.id] for row in plan.answers if row.interrupt_id is not None
    }


def _with(taken: tuple[int, ...], row: Row | None) -> tuple[int, ...]:
    return (*taken, row.id) if row is not None else taken
