"""Deadlines: what happens to a question that nobody decides in time.

A deadline is a row, made when the review is opened, in the rule's working hours where it has some.
A tick looks for what is due without a lock, then takes one row at a time in the order lease,
review, timer; claim and effect commit together, so that of any number of tickers each deadline is
acted on once, and one that was away for an hour catches up.

What is done then is the rule's `then`: one of the question's choices by its verb, a value, or
"hold", which leaves it open and tells the operators. A `then` that the question cannot take is
shown as hold from the beginning. The graph gets the answer, and reads in `graphs.decisions` that
it "expired": no person denied anything. While the thread is on hold its clock stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

import structlog

from checkpoints import leases
from checkpoints.database import Connection, Database, queries
from checkpoints.errors import LockTimeout
from graphs import actions, answers, audit, mailbox, ports, reviews
from graphs.plain import written
from graphs.ports import Wish
from graphs.reviews import Item, Review
from graphs.specs import GraphSpec, Rule

log = structlog.get_logger(__name__)

SQL = queries(__file__)
JSON: TypeAlias = Any

AT_ONCE: Final = 100
HOLD: Final = "hold"
EXPIRED: Final = "expired"
NOTE: Final = "Nobody decided in time."


@dataclass(frozen=True)
class Then:
    """What is done when time runs out: the verb and the answer; without one it stays open."""

    verb: str = HOLD
    answer: JSON = None
    label: str = ""

    @property
    def holds(self) -> bool:
        """Whether the question stays open."""
        return self.verb == HOLD


def then(review: Review, item: Item, spec: GraphSpec | None) -> Then:
    """What is done with an item whose deadline passes; `Then()` where it cannot be done."""
    rule = item.rule
    if rule is None or rule.deadline is None or rule.deadline.then == HOLD:
        return Then()
    wanted = rule.deadline.then
    asked = review.asking
    shown = review.shown(spec)
    if isinstance(wanted, str):
        choice = shown.choice(wanted, item.item if asked.actions else None)
        if choice is not None and choice.needs != "form":
            return Then(wanted, choice.answer(NOTE if choice.needs else None), choice.label)
    problem = actions.problem(asked, item.item, wanted, item.schema)
    if problem is None and asked.form == "free":
        problem = answers.check(wanted, review.question, review.schema)
    if problem is not None:
        return Then()
    named = [one.label for one in shown.choices if one.needs is None and one.reply == wanted]
    return Then("answer", wanted, named[0] if named else "")


async def begin(connection: Connection, review: Review) -> None:
    """Set the deadlines of a review that was opened just now."""
    for item in review.items:
        if item.rule is not None and item.rule.deadline is not None:
            due = due_at(item.rule, review.opened_at, item.rule.deadline.after)
            await connection.execute(SQL.begin, review.id, item.item, "deadline", due)


def due_at(rule: Rule, begin_at: datetime, seconds: float) -> datetime:
    """When that much time has passed: working time where the rule has hours."""
    if rule.hours is None:
        return begin_at + timedelta(seconds=seconds)
    return rule.hours.hours().after(begin_at, seconds)


async def resume(connection: Connection, thread_id: str, since: datetime) -> None:
    """Let the clock of a thread go on that stood since then."""
    await connection.execute(SQL.resume, thread_id, since)


async def of_review(connection: Connection | Database, review_id: int) -> Mapping[int, datetime]:
    """The deadlines of a review's items, by item."""
    rows = await connection.fetch(SQL.of_review, review_id)
    return {row["item"]: row["due_at"] for row in rows}


async def passed(connection: Connection | Database, review_id: int) -> frozenset[int]:
    """The items of a review whose deadline was acted on."""
    rows = await connection.fetch(SQL.passed, review_id)
    return frozenset(row["item"] for row in rows)


async def tick(
    database: Database,
    specs: Mapping[str, GraphSpec],
    wish: Wish,
    *,
    now: datetime | None = None,
    limit: int = AT_ONCE,
) -> int:
    """Act on what is due; how many deadlines. Only graphs in `specs` are looked at.

    Args:
        now: the time; None takes the database's.
    """
    acted = 0
    for row in await database.fetch(SQL.due, list(specs), now, limit):
        try:
            async with database.transaction() as connection:
                spec = specs[row["graph"]]
                acted += await _act(connection, row["review_id"], row["item"], spec, wish, now)
        except LockTimeout:  # somebody holds it; the next tick looks again
            log.info("deadline.locked", review=row["review_id"])
    return acted


async def _act(
    connection: Connection,
    review_id: int,
    item: int,
    spec: GraphSpec,
    wish: Wish,
    now: datetime | None,
) -> bool:
    """Claim one deadline and act on it, in the caller's transaction; False where it was taken."""
    thread_id = await connection.fetchval(reviews.SQL.thread_of, review_id)
    woken = await leases.lock(connection, thread_id)
    await connection.execute(reviews.SQL.lock_review, review_id)
    claimed = await connection.fetchrow(SQL.claim, review_id, item, "deadline", now)
    if claimed is None or claimed["mark"] in ("held", "parked"):
        return False
    await connection.execute(SQL.fire, review_id, item, "deadline", now)
    review = await reviews.get(connection, review_id)
    mine = next(each for each in review.items if each.item == item)
    if review.status != "open" or mine.status != "open" or claimed["mark"] == "cancelled":
        return True
    done = then(review, mine, spec)
    await audit.record(
        connection, "review.held_open" if done.holds else "review.expired", thread_id=thread_id,
        review_id=review_id,
        detail={
            "item": item, "then": done.verb, "answer": done.answer,
            "votes": [vote.voter for vote in mine.standing_votes()],
        },
    )  # fmt: skip
    if done.holds:
        await wish(connection, ports.NOTICE, f"review:{review_id}")
    else:
        await _expire(connection, review, mine, done, woken=woken, now=now)
    await wish(connection, ports.CARD, str(review_id))
    await wish(connection, ports.PROGRESS, thread_id)
    return True


async def _expire(
    connection: Connection,
    review: Review,
    mine: Item,
    done: Then,
    *,
    woken: bool,
    now: datetime | None,
) -> None:
    await connection.execute(
        reviews.SQL.decide_item, review.id, mine.item, done.verb, EXPIRED, written(done.answer),
        None, None, None, now,
    )  # fmt: skip
    if await connection.fetchval(reviews.SQL.open_items, review.id):
        return
    decided = await reviews.get(connection, review.id)
    by_people = any(item.outcome != EXPIRED for item in decided.items)
    await connection.execute(reviews.SQL.close, review.id, "decided" if by_people else EXPIRED, now)
    whole = actions.assemble(decided.asking, [item.answer for item in decided.items])
    await mailbox.put(
        connection, review.thread_id, "answer", review_id=review.id, answer=written(whole),
        unwoken=not woken,
    )  # fmt: skip
    if woken:
        await leases.wake(connection, review.thread_id)
