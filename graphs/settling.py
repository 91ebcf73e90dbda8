"""Settle: where a play came to rest becomes rows, in one transaction that starts with the fence.

What a crash leaves behind decides the order. Before this commits, the checkpoint is ahead of the
reviews: the next owner reads the state, sees what was taken, and settles again. After it,
everything that follows from the rest is there at once: the questions put, the gone ones withdrawn,
the fed rows consumed, the error with its next attempt, the wishes, the audit, the lease let go.
There is no moment in which one of them is true without the others.

Nothing in here waits for anything but the database, and a payload, however strange, cannot make it
fail: questions arrive as bytes and safe JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

from checkpoints import leases
from checkpoints.database import Connection, queries
from checkpoints.leases import Lease
from graphs import audit, deadlines, mailbox, ports, reviews, routings, steps
from graphs.actions import Action, named
from graphs.cases import Case, shadowed
from graphs.plays import Played
from graphs.policy import Policy
from graphs.ports import Wish
from graphs.registry import LoadedGraph
from graphs.reviews import Asked
from graphs.specs import Rule
from graphs.states import Broke
from graphs.threads import Thread

SQL = queries(__file__)
NOT_FITTING = "the answer did not fit"


@dataclass(frozen=True)
class Rest:
    """Where the thread rests, and whether it is ready again at once."""

    mark: str | None
    opened: tuple[int, ...]
    withdrawn: tuple[int, ...]
    ready_at: datetime | None


async def settle(
    connection: Connection,
    lease: Lease,
    *,
    thread: Thread,
    loaded: LoadedGraph,
    played: Played,
    policy: Policy,
    wish: Wish,
    at: datetime | None = None,
) -> Rest:
    """Write where the play came to rest and let go of the thread.

    1. Hold the lease; whoever lost it writes nothing.
    2. Consume what was fed or had been taken.
    3. Where a person stopped it, end it, and no more.
    4. Set aside answers that a node could not use, put the pending questions, withdraw the gone.
    5. The head, the error with its next attempt, the outcome.
    6. Audit, wishes.
    7. Release, ready again when the next row can be fed.

    Args:
        at: the time from which the clocks of new questions run; None is the database's.

    Raises:
        StaleOwner: nothing was written.
    """
    await leases.hold(connection, lease.fence)
    row = await connection.fetchrow(SQL.lock, thread.id)
    assert row is not None  # noqa: S101  its lease was held
    if row["mark"] == "cancelled":  # an intervention cut in; it has written everything
        await leases.release(connection, lease.fence, seq=lease.seq)
        return Rest("cancelled", (), (), None)
    if played.plan.do == "stop":
        await _stop(connection, thread, loaded, played, wish)
        await leases.release(connection, lease.fence, seq=lease.seq)
        return Rest("cancelled", (), (), None)
    kept, again = await _not_taken(connection, thread, played)
    fed = [row_id for row_id in played.plan.fed if row_id not in kept]
    await mailbox.consume(connection, [*fed, *played.plan.taken])
    if played.ran:
        await mailbox.consume_retries(connection, thread.id)
    opened, revised = await _put(connection, thread, loaded, played, policy, again, at)
    pending = [asked.interrupt_id for asked in played.asked]
    gone = await reviews.withdraw_gone(
        connection, thread.id, pending, because="the request moved on"
    )
    await steps.close(connection, thread.id)
    await routings.stamp(connection, thread.id, played.checkpoints)
    mark, error = await _mark(connection, row, loaded, played)
    await connection.execute(
        SQL.rest, thread.id, played.head, list(played.next), error, played.outcome, mark,
        error["message"][:300] if mark == "failed" and error else None,
    )  # fmt: skip
    await _record(connection, thread, played, mark, opened, revised, gone)
    await _wishes(connection, thread, mark, opened, wish)
    resting = await _resting(connection, thread.id, mark, error)
    ready_at = await mailbox.next_due(connection, thread.id, resting=resting)
    await leases.release(connection, lease.fence, seq=lease.seq, ready_at=ready_at)
    return Rest(mark, tuple(opened), tuple(gone), ready_at)


async def put_aside(
    connection: Connection,
    lease: Lease,
    thread_id: str,
    mark: Literal["held", "parked"],
    reason: str,
    wish: Wish,
) -> None:
    """Hold or park a thread that cannot be run, and let go of it; operators are told.

    A parked one's open reviews are withdrawn; a held one's stay, nobody can decide them until the
    thread is let go.

    Raises:
        StaleOwner: nothing was written.
    """
    await leases.hold(connection, lease.fence)
    await connection.execute(SQL.lock, thread_id)
    await connection.execute(SQL.mark, thread_id, mark, reason)
    withdrawn = (
        await reviews.withdraw_all(connection, thread_id, because=reason)
        if mark == "parked"
        else []
    )
    await steps.close(connection, thread_id)
    await audit.record(
        connection, f"thread.{mark}", thread_id=thread_id,
        detail={"reason": reason, "withdrew": withdrawn, "crashes": lease.crashes},
    )  # fmt: skip
    for review_id, audience in await reviews.shown_of_thread(connection, thread_id):
        await wish(connection, _kind(audience), str(review_id))
    await wish(connection, ports.PROGRESS, thread_id)
    await wish(connection, ports.OUTCOME, thread_id)
    await wish(connection, ports.NOTICE, f"thread:{thread_id}")
    await leases.release(connection, lease.fence, seq=lease.seq, progress=False)


async def hand_back(
    connection: Connection, lease: Lease, *, later_seconds: float = 0.0, crashed: bool = False
) -> None:
    """Let go of a thread half way, for the next owner: neither a failure nor a crash.

    Args:
        crashed: it is as good as a crash: nothing came of the run, and it is counted.

    Raises:
        StaleOwner: somebody else has it already.
    """
    await leases.hold(connection, lease.fence)
    at = await connection.fetchval("select now() + make_interval(secs => $1)", later_seconds)
    await leases.release(
        connection, lease.fence, seq=lease.seq, ready_at=at, progress=False, crashed=crashed
    )


async def _stop(
    connection: Connection, thread: Thread, loaded: LoadedGraph, played: Played, wish: Wish
) -> None:
    """End the thread before a step, by whoever decided that at its breakpoint; nothing runs."""
    row = played.plan.row
    assert row is not None  # noqa: S101  the plan says so
    assert row.review_id is not None  # noqa: S101  the table says so
    stopped = await reviews.get(connection, row.review_id)
    by = stopped.items[0].decided_by
    reason = f"stopped before {loaded.spec.label(stopped.node)}"
    await connection.execute(
        SQL.rest, thread.id, played.head, list(played.next), None, None, "cancelled", reason
    )
    await mailbox.consume_all(connection, thread.id)
    withdrawn = await reviews.withdraw_all(connection, thread.id, because=reason)
    await steps.close(connection, thread.id)
    await audit.record(
        connection, "thread.stopped", actor=by or audit.SYSTEM, thread_id=thread.id,
        review_id=row.review_id,
        detail={
            "reason": reason, "node": stopped.node, "head": played.head, "withdrew": withdrawn,
        },
    )  # fmt: skip
    await _wishes(connection, thread, "cancelled", [], wish)


async def _not_taken(
    connection: Connection, thread: Thread, played: Played
) -> tuple[set[int], dict[str, Any]]:
    """The fed answers that have to be fed again, and those that have to be given anew.

    A node takes its answer when it comes to its `interrupt()`. If the run broke before, the answer
    waits for the next attempt. If the node could not use it, its review is set aside and the
    question is put again, with the answer and what was wrong with it.
    """
    pending = {asked.interrupt_id for asked in played.asked}
    wrong = {each: why for each, why in played.again.items() if each in pending}
    kept: set[int] = set()
    if played.plan.do == "answers":
        left = await connection.fetch(SQL.reviews_of, list(played.plan.fed))
        waiting = [row for row in left if row["interrupt_id"] in pending - wrong.keys()]
        if played.broke is not None or wrong:
            kept = {row["id"] for row in waiting}
        else:
            wrong |= {row["interrupt_id"]: NOT_FITTING for row in waiting}
    again: dict[str, Any] = {}
    for interrupt_id, why in wrong.items():
        row = await connection.fetchrow(SQL.decided_of, thread.id, interrupt_id)
        if row is None:
            continue
        await reviews.set_aside(connection, row["id"], because=NOT_FITTING)
        await mailbox.consume_answer(connection, row["id"])
        await audit.record(
            connection, "review.set_aside", thread_id=thread.id, review_id=row["id"],
            detail={"why": why},
        )  # fmt: skip
        again[interrupt_id] = {
            "by": row["decided_by"],
            "by_name": row["decided_by_name"],
            "answer": json.loads(row["answer"]) if row["answer"] is not None else None,
            "problem": why,
        }
    return kept, again


async def _put(
    connection: Connection,
    thread: Thread,
    loaded: LoadedGraph,
    played: Played,
    policy: Policy,
    again: Mapping[str, Any],
    at: datetime | None,
) -> tuple[list[int], list[int]]:
    opened: list[int] = []
    revised: list[int] = []
    # What was taken back for a message is not put again while that waits to be fed.
    taken_back = await mailbox.taken_back(connection, thread.id)
    for asked in sorted(played.asked, key=lambda each: each.interrupt_id):
        if asked.interrupt_id in taken_back:
            continue
        # Words of the requester are never read as a verdict on an action or a stop.
        untold: list[str] = []
        case = Case.of(thread, asked.node, asked.question, played.state)
        free = asked.asking.form == "free" and not named(asked.question)
        audience = loaded.audience(asked.node) if free else "reviewers"
        put = await reviews.put(
            connection, thread_id=thread.id, graph=thread.graph, asked=asked, audience=audience,
            rule_for=partial(_rule_for, policy, case, untold),
            again=again.get(asked.interrupt_id),
        )  # fmt: skip
        if put is None:
            continue
        if put.replaced is not None:
            await mailbox.consume_answer(connection, put.replaced)
        if put.created:
            opened.append(put.review_id)
            items = await connection.fetch(SQL.rules_of, put.review_id)
            await audit.record(
                connection, "review.opened", thread_id=thread.id, review_id=put.review_id,
                detail={
                    "node": asked.node, "audience": audience, "hash": asked.hash,
                    "checkpoint": asked.checkpoint_id,
                    "rules": [item["rule"] for item in items],
                    "rule_hashes": [item["rule_hash"] for item in items],
                    "tools": [item["tool"] for item in items if item["tool"] is not None],
                    "replaced": put.replaced, "again": asked.interrupt_id in again,
                },
            )  # fmt: skip
            if any(deadlines.has_timers(item["rule"]) for item in items):
                review = await reviews.get(connection, put.review_id)
                await deadlines.begin(connection, review, at=at)
            if untold:
                await audit.record(
                    connection, "rule.failed", thread_id=thread.id, review_id=put.review_id,
                    detail={"why": list(dict.fromkeys(untold))},
                )  # fmt: skip
            if audience == "reviewers":
                await _shadows(connection, policy, case, thread.id, put.review_id, asked)
        elif put.revised:
            revised.append(put.review_id)
            await audit.record(
                connection, "review.revised", thread_id=thread.id, review_id=put.review_id,
                detail={"node": asked.node, "hash": asked.hash},
            )  # fmt: skip
    return opened, revised


def _rule_for(policy: Policy, case: Case, untold: list[str], action: Action | None) -> Rule | None:
    """The rule for one action; None, and why in `untold`, where a condition could not be told."""
    found = case.found(policy, action)
    if found.why:
        untold.append(found.why)
    return found.rule


async def _shadows(
    connection: Connection,
    policy: Policy,
    case: Case,
    thread_id: str,
    review_id: int,
    asked: Asked,
) -> None:
    """Write down whom the rules in shadow would have asked, once for each item."""
    for item, action in enumerate(asked.asking.actions or (None,)):
        found = case.found(policy, action)
        for shadow in found.shadows:
            await audit.record(
                connection, "rule.shadowed", thread_id=thread_id, review_id=review_id,
                detail=shadowed(item, action, shadow, found),
            )  # fmt: skip


async def _mark(
    connection: Connection, row: Mapping[str, Any], loaded: LoadedGraph, played: Played
) -> tuple[str | None, dict[str, Any] | None]:
    """The mark and the stored error; a failure that may be tried again gets its next attempt."""
    broke = played.broke
    if broke is None:
        return ("done" if played.finished else None), None
    if not played.ran and row["error"] is not None and row["head"] == played.head:
        return row["mark"], row["error"]  # the same failure, settled before
    attempt = int(row["error"]["attempt"]) + 1 if row["error"] is not None else 1
    schedule = loaded.spec.retry
    error = _error(broke, attempt, max(len(schedule) + 1, attempt))
    if broke.permanent or attempt > len(schedule):
        return "failed", error
    await mailbox.put(
        connection, row["id"], "retry", due_in_seconds=schedule[attempt - 1],
        body={"attempt": attempt + 1},
    )  # fmt: skip
    return None, error


def _error(broke: Broke, attempt: int, attempts: int) -> dict[str, Any]:
    said = {name: value for name, value in asdict(broke).items() if name in _SAID}
    at = datetime.now(UTC).isoformat()
    return {**said, "attempt": attempt, "attempts": attempts, "at": at}


_SAID = ("node", "type", "message")


async def _record(
    connection: Connection,
    thread: Thread,
    played: Played,
    mark: str | None,
    opened: list[int],
    revised: list[int],
    gone: list[int],
) -> None:
    if not (played.ran or opened or revised or gone):
        return
    broke = played.broke
    await audit.record(
        connection, f"thread.{mark or ('failing' if broke else 'rested')}", thread_id=thread.id,
        detail={
            "fed": list(played.plan.fed), "taken": list(played.plan.taken), "head": played.head,
            "next": list(played.next), "opened": opened, "revised": revised, "withdrew": gone,
            "error": asdict(broke) if broke else None, "outcome": played.outcome,
        },
    )  # fmt: skip


async def _wishes(
    connection: Connection, thread: Thread, mark: str | None, opened: list[int], wish: Wish
) -> None:
    """Everything that shows the thread, and what has to be told; always in this order."""
    for review_id, audience in await reviews.shown_of_thread(connection, thread.id):
        await wish(connection, _kind(audience), str(review_id))
    await wish(connection, ports.PROGRESS, thread.id)
    if mark in ("done", "failed", "cancelled"):
        await wish(connection, ports.OUTCOME, thread.id)
    if mark == "failed":
        await wish(connection, ports.NOTICE, f"thread:{thread.id}")
    for review_id in opened:
        items = await connection.fetch(SQL.rules_of, review_id)
        rules = [Rule.model_validate(item["rule"]) if item["rule"] else None for item in items]
        nobody = any(rule is None or rule.names_nobody() for rule in rules)
        if items[0]["audience"] == "reviewers" and nobody:
            await wish(connection, ports.NOTICE, f"review:{review_id}")


async def _resting(
    connection: Connection, thread_id: str, mark: str | None, error: Mapping[str, Any] | None
) -> str:
    if mark == "failed" or error is not None:
        return "failed"
    # Nothing runs past a stop that nobody has answered, whatever else was answered: a vote wakes.
    if await connection.fetchval(SQL.open_stops_count, thread_id):
        return "failed"
    return "open" if await connection.fetchval(SQL.open_reviews, thread_id) else "free"


def _kind(audience: str) -> str:
    return ports.CARD if audience == "reviewers" else ports.ASK
