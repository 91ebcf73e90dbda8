"""Rewinding: a thread is taken back to an earlier step and runs on from there, by a person's will.

It is an intervention: one transaction puts the owner out, withdraws what is open, drops what was to
be fed, takes every mark away (a thread that is done, failed, held or was ended can be taken back)
and leaves one row for the worker, who makes a copy of that checkpoint (`graphs/forks.py`). Messages
that wait stay.

**What was decided.** A decision counts on if its question was asked before the step, on the way
that led there. Every other one does not count any more, fed or not: its question is asked again,
under a new id, and the nodes are not told of it.

**What was done.** What a step did outside cannot be called back. An effect is taken to be passed
where a reviewers' decision that does not count any more had let something through (it was not
rejected, sent back, skipped or stopped) and was fed: its answer is consumed, or its run was under
way or had failed. Then the person must confirm, and the thread remembers what was done with its
reference, for the cards that ask again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from checkpoints import leases
from checkpoints.database import Connection, Row, queries
from checkpoints.errors import LockTimeout, SaysoError
from checkpoints.text import clean
from graphs import audit, mailbox, ports, reviews, steps, threads
from graphs.errors import UnknownThread
from graphs.forks import KIND
from graphs.history import StepTaken
from graphs.ports import Wish, no_wish
from graphs.templates import in_words, name_in_words
from graphs.threads import Status, Thread

SQL = queries(__file__)
JSON: TypeAlias = Any
MAX_PAST: Final = 20
OUTCOME_CHARACTERS: Final = 300
_NOTHING_DONE: Final = frozenset({"rejected", "changes", "skipped", "stopped"})


class UnknownStep(SaysoError):
    """The thread has no such step to go back to."""

    def __init__(self, said: str, steps: int) -> None:
        have = f"It has the steps 1 to {steps}" if steps else "It has not run yet"
        super().__init__(
            f"There is no step {said} to rewind to. {have}; `sayso threads history` shows them."
        )


@dataclass(frozen=True)
class Past:
    """Something that was let through and done; `outcome` is what came of it, with its reference."""

    node: str
    decided_by: str
    at: str
    outcome: str


@dataclass(frozen=True)
class Rewound:
    """The thread goes on from the step; these reviews were withdrawn, or do not count any more."""

    step: StepTaken
    was: Status
    withdrawn: tuple[int, ...]
    uncounted: tuple[int, ...]
    past: tuple[Past, ...]
    running: str | None


@dataclass(frozen=True)
class NeedsConfirmation:
    """Something was done since that step; nothing was changed."""

    past: tuple[Past, ...]


Result: TypeAlias = Rewound | NeedsConfirmation


def step_of(taken: Sequence[StepTaken], said: str) -> StepTaken:
    """The step that a person means, by its number or by the id of its checkpoint.

    Raises:
        UnknownStep
    """
    own = [step for step in taken if not step.nested]
    for step in own:
        if said in (str(step.number), step.checkpoint_id):
            return step
    raise UnknownStep(clean(said)[:60], max((step.number or 0 for step in own), default=0))


async def rewind(
    connection: Connection,
    thread_id: str,
    checkpoint_id: str,
    *,
    taken: Sequence[StepTaken],
    edit: Mapping[str, JSON] | None = None,
    by: str,
    by_name: str = "",
    confirmed: bool = False,
    wish: Wish = no_wish,
) -> Result:
    """Take the thread back to a checkpoint of its own and let it run on from there.

    1. Lock lease and thread, so that no settle and no decision is half way.
    2. Find the decisions that do not count any more, and what was done because of them; without
       `confirmed` that ends it.
    3. Put the owner out, withdraw what is open, drop what was to be fed, take the marks away.
    4. Leave the row for the worker, wake it, record, show.

    Args:
        taken: the thread's history, read before.
        edit: values of the state to start from, checked before (`forks.applied`).

    Raises:
        UnknownThread, UnknownStep
        LockTimeout: somebody holds the thread; nothing was changed.
    """
    step = step_of(taken, checkpoint_id)
    if not await leases.lock(connection, thread_id):
        raise LockTimeout()
    if await connection.fetchrow(threads.SQL.lock, thread_id) is None:
        raise UnknownThread(thread_id)
    before = await threads.get(connection, thread_id)
    way = _way_to(taken, step)
    gone = [row for row in await connection.fetch(SQL.decided, thread_id)
            if row["checkpoint_id"] not in way]  # fmt: skip
    past = tuple(_past(row, before, taken) for row in gone if _did_something(row, before))
    if past and not confirmed:
        return NeedsConfirmation(past)
    await leases.seize(connection, thread_id)
    running = await connection.fetchval(steps.SQL.running, thread_id)
    who = by_name or by
    withdrawn = await reviews.withdraw_all(
        connection, thread_id, because=f"rewound to step {step.number} by {who}"
    )
    await connection.execute(SQL.uncount, [row["id"] for row in gone])
    await connection.execute(SQL.drop, thread_id)
    await connection.execute(SQL.forget_open_steps, thread_id)
    told = await _told(connection, thread_id, step, past, by, who)
    await connection.execute(SQL.clear, thread_id, told)
    body = {"checkpoint": step.checkpoint_id, "step": step.number, "edit": dict(edit or {})}
    await mailbox.put(connection, thread_id, KIND, body=body)
    await leases.forgive(connection, thread_id)
    await leases.wake(connection, thread_id)
    uncounted = [row["id"] for row in gone]
    await audit.record(
        connection, "thread.rewound", actor=by, thread_id=thread_id,
        detail={
            "was": before.status, "from": before.head, "to": step.checkpoint_id,
            "step": step.number, "edit": dict(edit or {}), "withdrew": withdrawn,
            "uncounted": uncounted, "past": [asdict(each) for each in past],
            "confirmed": confirmed, "running": running,
        },
    )  # fmt: skip
    for review_id, audience in await reviews.shown_of_thread(connection, thread_id):
        await wish(connection, ports.CARD if audience == "reviewers" else ports.ASK, str(review_id))
    await wish(connection, ports.PROGRESS, thread_id)
    return Rewound(step, before.status, tuple(withdrawn), tuple(uncounted), past, running)


def _way_to(taken: Sequence[StepTaken], step: StepTaken) -> set[str]:
    """The checkpoints on the way to the step; not its own, what was asked there is asked anew."""
    parents = {each.checkpoint_id: each.parent_id for each in taken}
    way: set[str] = set()
    at = step.parent_id
    while at is not None and at not in way:
        way.add(at)
        at = parents.get(at)
    return way


def _did_something(row: Row, before: Thread) -> bool:
    fed = row["fed"] or before.status is Status.RUNNING or before.error is not None
    let_through = any(outcome not in _NOTHING_DONE for outcome in row["outcomes"])
    return fed and let_through and row["audience"] == "reviewers"


def _past(row: Row, before: Thread, taken: Sequence[StepTaken]) -> Past:
    """What came of a decision: the thread's outcome, else what changed in the state since."""
    changed: dict[str, Any] = {}
    for step in taken:
        if step.checkpoint_id > row["checkpoint_id"] and not step.nested:
            changed |= step.changed
    said = "; ".join(f"{name_in_words(key)}: {in_words(value)}" for key, value in changed.items())
    return Past(
        node=row["node"],
        decided_by=row["decided_by"] or audit.SYSTEM,
        at=row["closed_at"].isoformat(),
        outcome=clean(before.outcome or said)[:OUTCOME_CHARACTERS],
    )


async def _told(
    connection: Connection,
    thread_id: str,
    step: StepTaken,
    past: Sequence[Past],
    by: str,
    who: str,
) -> dict[str, Any]:
    """What the thread remembers; what was done before an earlier rewind was done all the same."""
    earlier = await connection.fetchval(SQL.rewound, thread_id) or {}
    return {
        "by": by,
        "by_name": who,
        "at": datetime.now(UTC).isoformat(),
        "step": step.number,
        "past": [*earlier.get("past", ()), *(asdict(each) for each in past)][-MAX_PAST:],
    }
