"""What happens to an open question by the clock: reminders, escalation, and the end of its time.

Each is a row, made when the review is opened, in the rule's working hours where it has some. A
tick looks for what is due without a lock, then takes one row at a time in the order lease, review,
timer; claim and effect commit together, so that of any number of tickers each row is acted on once,
and one that was away for an hour catches up.

- A reminder goes to those who may decide and have not voted, one a day and review: a later one of
  the same day is dropped, and the record says so. One for a time of day fires when its time has
  begun to run; whoever sends it lets each reader have it at that hour of their own day, and drops
  it for whoever had one that day.
- An escalation lets the people of `escalate.to` decide too.
- A deadline does the rule's `then`: one of the question's choices by its verb, a value, or "hold",
  which leaves it open and tells the operators. A `then` that the question cannot take is shown as
  hold from the beginning. The graph gets the answer, and reads in `graphs.decisions` that it
  "expired": no person denied anything.

While the thread is on hold its clock stands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

import structlog

from checkpoints import leases
from checkpoints.database import Connection, Database, queries
from checkpoints.errors import LockTimeout
from graphs import actions, answers, audit, mailbox, ports, reviews
from graphs.plain import written
from graphs.ports import Wish
from graphs.reviews import Item, Review
from graphs.specs import GraphSpec
from graphs.timers import Timer, planned

log = structlog.get_logger(__name__)

SQL = queries(__file__)
JSON: TypeAlias = Any

AT_ONCE: Final = 100
# Less than a day: a tick comes a moment late, and one that is due a day later is not too many.
REMINDER_EVERY_SECONDS: Final = 23 * 3600.0
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
    if asked.actions and item.edited and actions.verb_of(wanted) == "approve":
        # As a vote's: an approval of what stands on the card, not of what was asked first.
        action = asked.actions[item.item]
        wanted = actions.reply(asked.form, action, "approve", arguments=item.arguments)
    named = [one.label for one in shown.choices if one.needs is None and one.reply == wanted]
    return Then("answer", wanted, named[0] if named else "")


async def begin(
    connection: Connection,
    review: Review,
    *,
    items: Collection[int] | None = None,
    at: datetime | None = None,
) -> None:
    """Set the timers of a review that was opened just now, or of some items whose rule is new."""
    for item in review.items:
        if items is not None and item.item not in items:
            continue
        for timer in planned(item.rule, at or review.opened_at):
            await connection.execute(
                SQL.begin, review.id, item.item, timer.kind, timer.turn, timer.due_at, timer.wall,
            )  # fmt: skip


async def begin_anew(
    connection: Connection, review: Review, items: Collection[int], at: datetime
) -> None:
    """Let the clock of some items begin at that time, under the rules that they have now.

    Reminders that went out stay: there is one a day at most, whatever the rules are.
    """
    await connection.execute(SQL.stop, review.id, list(items))
    await begin(connection, review, items=items, at=at)


async def remind_anew(
    connection: Connection, review: Review, item: Item, now: datetime | None
) -> None:
    """Let the reminders of an item begin now, for the people of the stage that is open by now.

    Escalation and deadline are of the whole question and stay.
    """
    at = now or await connection.fetchval("select now()")
    await connection.execute(SQL.stop_reminders, review.id, item.item)
    for timer in planned(item.rule, at):
        if timer.kind == "remind":
            await connection.execute(
                SQL.begin, review.id, item.item, timer.kind, timer.turn, timer.due_at, timer.wall,
            )  # fmt: skip


async def all_of_review(
    connection: Connection | Database, review_id: int
) -> Mapping[int, Sequence[Timer]]:
    """Everything that happens to a review by the clock, and what became of it, by item."""
    found: dict[int, list[Timer]] = {}
    for row in await connection.fetch(SQL.all_of_review, review_id):
        timer = Timer(**{name: row[name] for name in Timer.__dataclass_fields__})
        found.setdefault(row["item"], []).append(timer)
    return found


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
    """Act on what is due; how many timers. Only graphs in `specs` are looked at.

    Args:
        now: the time; None takes the database's.
    """
    acted = 0
    for row in await database.fetch(SQL.due, list(specs), now, limit):
        try:
            async with database.transaction() as connection:
                spec = specs[row["graph"]]
                timer = _Key(row["review_id"], row["item"], row["kind"], row["turn"])
                acted += await _act(connection, timer, spec, wish, now)
        except LockTimeout:  # somebody holds it; the next tick looks again
            log.info("deadline.locked", review=row["review_id"])
    return acted


@dataclass(frozen=True)
class _Key:
    """The key of one row."""

    review_id: int
    item: int
    kind: str
    turn: int

    @property
    def key(self) -> tuple[int, int, str, int]:
        return self.review_id, self.item, self.kind, self.turn


def has_timers(rule: Mapping[str, Any] | None) -> bool:
    """Whether a rule, as it is stored, has anything to do with the clock."""
    return rule is not None and any(rule.get(name) for name in ("remind", "escalate", "deadline"))


async def _act(
    connection: Connection, timer: _Key, spec: GraphSpec, wish: Wish, now: datetime | None
) -> bool:
    """Claim one timer and act on it, in the caller's transaction; False where it was taken."""
    thread_id = await connection.fetchval(reviews.SQL.thread_of, timer.review_id)
    woken = await leases.lock(connection, thread_id)
    await connection.execute(reviews.SQL.lock_review, timer.review_id)
    claimed = await connection.fetchrow(SQL.claim, *timer.key, now)
    if claimed is None or claimed["mark"] in ("held", "parked"):
        return False
    await connection.execute(SQL.fire, *timer.key, now)
    review = await reviews.get(connection, timer.review_id)
    mine = next(each for each in review.items if each.item == timer.item)
    if review.status != "open" or mine.status != "open" or claimed["mark"] == "cancelled":
        return True
    if timer.kind == "remind":
        await _remind(connection, review, timer, claimed["wall"], wish, now)
        return True
    if timer.kind == "escalate":
        await _escalate(connection, review, mine, timer, wish, now)
    else:
        await _run_out(connection, review, mine, spec, wish, woken=woken, now=now)
    await wish(connection, ports.CARD, str(review.id))
    await wish(connection, ports.PROGRESS, thread_id)
    return True


async def _remind(
    connection: Connection,
    review: Review,
    timer: _Key,
    wall: str | None,
    wish: Wish,
    now: datetime | None,
) -> None:
    dropped = wall is None and await connection.fetchval(
        SQL.reminded_lately, review.id, timer.item, timer.turn, now, REMINDER_EVERY_SECONDS
    )
    at = {"at": wall} if wall is not None else {}
    await audit.record(
        connection, "review.reminded", thread_id=review.thread_id, review_id=review.id,
        detail={"item": timer.item, "turn": timer.turn, "dropped": bool(dropped), **at},
    )  # fmt: skip
    if dropped:
        await connection.execute(SQL.drop_reminder, review.id, timer.item, timer.turn)
    else:
        await wish(connection, ports.REMINDER, f"{review.id}.{timer.item}.{timer.turn}")


async def _escalate(
    connection: Connection,
    review: Review,
    mine: Item,
    timer: _Key,
    wish: Wish,
    now: datetime | None,
) -> None:
    await connection.execute(SQL.escalate, review.id, mine.item, now)
    await reviews.renew_asks(connection, review.id)
    to = mine.rule.escalate.to if mine.rule is not None and mine.rule.escalate else None
    await audit.record(
        connection, "review.escalated", thread_id=review.thread_id, review_id=review.id,
        detail={"item": mine.item, "to": to.model_dump(mode="json") if to else None},
    )  # fmt: skip
    await wish(connection, ports.ESCALATION, f"{review.id}.{timer.item}")


async def _run_out(
    connection: Connection,
    review: Review,
    mine: Item,
    spec: GraphSpec,
    wish: Wish,
    *,
    woken: bool,
    now: datetime | None,
) -> None:
    done = then(review, mine, spec)
    await audit.record(
        connection, "review.held_open" if done.holds else "review.expired",
        thread_id=review.thread_id, review_id=review.id,
        detail={
            "item": mine.item, "then": done.verb, "answer": done.answer,
            "votes": [vote.voter for vote in mine.standing_votes()],
        },
    )  # fmt: skip
    if done.holds:
        await wish(connection, ports.NOTICE, f"overdue:{review.id}")
    else:
        await _expire(connection, review, mine, done, woken=woken, now=now)


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
