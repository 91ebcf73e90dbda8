"""Applying the policy: open questions are moved to the rules as they are in the file now.

A question keeps the rule under which it was opened, so that whoever was asked stays asked. Where
the file changed and that is not wanted, an operator applies it. For each question the rule is
searched anew, by the same facts as when it was opened, with an action as somebody's edit left it.
Where another one is for an item of it:

1. the item gets that rule and its hash, and asks the people of its first stage;
2. what the old rule's clock had done is over: nobody is escalated to, and the new rule's timers
   begin now; on hold they begin when the thread goes on;
3. votes were given under other rules: they lapse, and their voters are told;
4. the review gets a new revision, once: a click on the card as it was decides nothing.

One transaction a review, in the lock order lease, review, rest, which is a vote's too: of a vote
and this, one is first and the other finds what it left. What is decided stays decided. Where a
condition cannot be told now, the whole review stays under its old rules, and that is said. Applied
twice, the second time finds nothing to do.

An edit leads an action elsewhere in the same way: who may decide on 50 cannot make it 4,000 and
decide on that too, where another rule is for such sums (`led_elsewhere`, called by a vote).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, TypeAlias

from checkpoints import leases
from checkpoints.database import Connection, Database, queries
from graphs import audit, deadlines, ports, reviews, threads
from graphs.cases import Case, Found, action_of
from graphs.policy import Policy, fingerprint
from graphs.ports import Wish, no_wish
from graphs.reviews import Item, Review
from graphs.specs import Rule
from graphs.threads import Status, Thread

SQL = queries(__file__)
JSON: TypeAlias = Any

AT_ONCE: Final = 200


@dataclass(frozen=True)
class Change:
    """An item whose rule is another one by the present file; `place` is that one's number there."""

    item: int
    tool: str | None
    before: Rule | None
    after: Rule | None
    place: int | None
    lapsed: tuple[str, ...] = ()  # who had voted on it


@dataclass(frozen=True)
class Moved:
    """The review is under the present rules, or would be."""

    review_id: int
    thread_id: str
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Unchanged:
    """The review is under the present rules already, or nothing of it is open."""

    review_id: int


@dataclass(frozen=True)
class Left:
    """The review stays as it is: a condition could not be told; `why` says which."""

    review_id: int
    why: str


Result: TypeAlias = Moved | Unchanged | Left


class NobodyDecides(Exception):
    """No rule says who decides an action as it would be; its text is why one could not be told."""


async def open_after(
    database: Database, review_id: int, graph: str | None = None, *, limit: int = AT_ONCE
) -> list[int]:
    """The ids of the next reviews that wait for reviewers, in their order."""
    rows = await database.fetch(SQL.open_after, review_id, graph, limit)
    return [row["id"] for row in rows]


def compared(review: Review, thread: Thread, policy: Policy, state: JSON) -> Result:
    """What the present rules make of a review; it only looks.

    Args:
        state: the thread's, as safe JSON; None where no condition looks at it.
    """
    if review.status != "open" or review.audience != "reviewers":
        return Unchanged(review.id)
    case = Case.of(thread, review.node, review.question, state)
    found = [
        (item, case.found(policy, action_of(review, item)))
        for item in review.items
        if item.status == "open"
    ]
    changed = [(item, now) for item, now in found if _differs(item, now)]
    if why := "; ".join(dict.fromkeys(now.why for _, now in found if now.why)):
        return Left(review.id, why)
    if not changed:
        return Unchanged(review.id)
    return Moved(review.id, review.thread_id, tuple(_change(*one) for one in changed))


async def apply(
    connection: Connection,
    review_id: int,
    *,
    policy: Policy,
    state: JSON = None,
    by: str,
    os_user: str | None = None,
    now: datetime | None = None,
    wish: Wish = no_wish,
) -> Result:
    """Move one review to the present rules, in the caller's transaction.

    Args:
        state: the thread's, as safe JSON, read before.
        by: who wants it; `os_user` is who typed it.

    Raises:
        UnknownReview
        LockTimeout: somebody holds it; nothing was changed.
    """
    thread_id = await connection.fetchval(reviews.SQL.thread_of, review_id)
    if thread_id is not None:
        await leases.lock(connection, thread_id)
        await connection.execute(reviews.SQL.lock_review, review_id)
    review = await reviews.get(connection, review_id)
    thread = await threads.get(connection, review.thread_id)
    moved = compared(review, thread, policy, state)
    if not isinstance(moved, Moved):
        return moved
    for change in moved.changes:
        await connection.execute(reviews.SQL.lapse_item, review_id, change.item, now)
    revision = await connection.fetchval(reviews.SQL.raise_revision, review_id)
    await move(
        connection, moved, thread, revision=revision, by=by, os_user=os_user, now=now, wish=wish
    )
    return moved


def led_elsewhere(
    review: Review, item: Item, edited: JSON, thread: Thread, policy: Policy, state: JSON
) -> Change | None:
    """The rule to which an edit leads an action: None where it stays under its own.

    Where the file says otherwise of it since the question was opened, its own rule is no file's
    word on what it would be: the present one's is.

    Args:
        edited: the arguments that the action would get.

    Raises:
        NobodyDecides: no rule is for the action then, or it cannot be told which.
    """
    case = Case.of(thread, review.node, review.question, state)
    after = case.found(policy, action_of(review, replace(item, arguments=edited)))
    if not _differs(item, after):
        return None
    if after.rule is None:
        raise NobodyDecides(after.why)
    return Change(item.item, item.tool, item.opened_under, after.rule, after.place)


async def move(
    connection: Connection,
    moved: Moved,
    thread: Thread,
    *,
    revision: int,
    by: str,
    os_user: str | None = None,
    what: str = "review.moved",
    now: datetime | None = None,
    wish: Wish = no_wish,
) -> None:
    """Put items of a review, under its lock and with no votes, under other rules, and tell it.

    Args:
        what: the name of its entry in the record.
    """
    items = [change.item for change in moved.changes]
    for change in moved.changes:
        after = change.after.model_dump(mode="json") if change.after is not None else None
        await connection.execute(
            SQL.set_rule, moved.review_id, change.item, after, fingerprint(change.after)
        )
    review = await reviews.renew_asks(connection, moved.review_id)
    begins = thread.changed_at if thread.status is Status.HELD else now
    begins = begins or await connection.fetchval("select now()")
    await deadlines.begin_anew(connection, review, items, begins)
    for change in moved.changes:
        await audit.record(
            connection, what, actor=by, thread_id=moved.thread_id,
            review_id=moved.review_id,
            detail={
                "item": change.item, "tool": change.tool, "revision": revision,
                "before": _told(change.before), "after": _told(change.after),
                "place": change.place, "lapsed": list(change.lapsed), "os_user": os_user,
            },
        )  # fmt: skip
        for voter in change.lapsed:
            about = f"{moved.review_id}.{change.item}.{revision}.{voter}"
            await wish(connection, ports.LAPSED, about)
    await wish(connection, ports.MOVED, str(moved.review_id))
    await wish(connection, ports.PROGRESS, moved.thread_id)
    if any(change.after is None or change.after.names_nobody() for change in moved.changes):
        await wish(connection, ports.NOTICE, f"review:{moved.review_id}")


def _differs(item: Item, found: Found) -> bool:
    """Whether it would be under another rule."""
    return fingerprint(item.opened_under) != fingerprint(found.rule)


def _change(item: Item, found: Found) -> Change:
    lapsed = tuple(vote.voter for vote in item.standing_votes())
    return Change(item.item, item.tool, item.opened_under, found.rule, found.place, lapsed)


def _told(rule: Rule | None) -> dict[str, JSON]:
    return {
        "hash": fingerprint(rule),
        "rule": rule.model_dump(mode="json", exclude_defaults=True) if rule is not None else None,
    }
