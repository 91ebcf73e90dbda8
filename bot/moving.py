"""What `sayso policy apply` does: it moves open questions to the rules of the file as it is now.

First it only looks, in batches by id, and shows what would change; then an operator says yes, and
each question is moved in a transaction of its own, which looks again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from bot import app, operating, terminal
from bot.operating import Office
from bot.present import policy_of
from bot.retracing import operator_of
from bot.stories import people_in_words
from checkpoints.database import Database
from checkpoints.errors import LockTimeout
from graphs import applying, audit, reviews, threads
from graphs.applying import AT_ONCE, Left, Moved, Result
from graphs.errors import UnknownGraph
from graphs.plain import plain
from graphs.policy import Policy, fingerprint
from graphs.reviews import Review
from graphs.specs import Rule

JSON: TypeAlias = Any
Row: TypeAlias = Mapping[str, Any]
Confirm: TypeAlias = Callable[[Sequence[Row]], bool]
"""Shows what would be moved, and asks whoever sits there whether to do it."""
Progress: TypeAlias = Callable[[str, int], None]
"""Told now and then what was done to how many."""

BUSY: Final = "somebody is at it just now; apply again"


async def apply(
    *,
    review: int | None,
    graph: str | None,
    user: str | None,
    only_look: bool,
    confirm: Confirm,
    progress: Progress,
) -> tuple[list[Row], str | None]:
    """A row for each item that is moved, or stays because of its rule; and why it was refused.

    Args:
        review: only this one; without it every open question, of one graph or of all.
        user: the person who wants it, an operator; None is whoever runs this command, as one.

    Raises:
        UnknownReview, UnknownGraph
    """
    async with operating.opened() as office:
        specs = office.settings.configuration.graphs
        if graph is not None and graph not in specs:
            raise UnknownGraph(graph, tuple(specs))
        database, policy = office.database, policy_of(office.settings.configuration)
        refused = (await operator_of(office, user))[1]
        found = [] if refused else await _looked_at(database, policy, review, graph, progress)
        moving = [one for one in found if isinstance(one, Moved)]
        rows = _rows(found)
        if only_look or (not moving and refused is None):
            return rows, refused
        if refused is None and not confirm([row for row in rows if not row["why"]]):
            refused = terminal.NOTHING
        if refused is not None:
            await _record(office, "apply.refused", user, {"why": refused})
            return rows, refused
        done = await _moved(office, policy, [one.review_id for one in moving], user, progress)
        left = [one for one in found if isinstance(one, Left)]
        counts = {"moved": sum(isinstance(one, Moved) for one in done), "left": len(left)}
        await _record(office, "policy.applied", user, {"graph": graph, "review": review, **counts})
        return _rows([*done, *left]), None


async def _looked_at(
    database: Database,
    policy: Policy,
    review_id: int | None,
    graph: str | None,
    progress: Progress,
) -> list[Result]:
    """What the file makes of every open question that it would move, or cannot judge."""
    if review_id is not None:
        one = await reviews.get(database, review_id)
        return [result async for result in _compared(database, policy, [one])]
    found: list[Result] = []
    last = seen = 0
    while ids := await applying.open_after(database, last, graph):
        waiting = await reviews.of_ids(database, ids)
        compared = [result async for result in _compared(database, policy, waiting)]
        found += [result for result in compared if isinstance(result, Moved | Left)]
        last, seen = ids[-1], seen + len(ids)
        if len(ids) == AT_ONCE:
            progress("looked at", seen)
    return found


async def _compared(
    database: Database, policy: Policy, waiting: Sequence[Review]
) -> AsyncIterator[Result]:
    asking = await threads.of_ids(database, {review.thread_id for review in waiting})
    for review in waiting:
        state = await _state(database, policy, review.graph, review.thread_id)
        yield applying.compared(review, asking[review.thread_id], policy, state)


async def _moved(
    office: Office, policy: Policy, ids: Sequence[int], user: str | None, progress: Progress
) -> list[Result]:
    database, actor = office.database, user or f"cli:{app.os_user()}"
    done: list[Result] = []
    for number, review_id in enumerate(ids, 1):
        review = await reviews.get(database, review_id)
        state = await _state(database, policy, review.graph, review.thread_id)
        try:
            async with database.transaction() as connection:
                result = await applying.apply(
                    connection, review_id, policy=policy, state=state, by=actor,
                    os_user=app.os_user(), wish=office.wishes,
                )  # fmt: skip
        except LockTimeout:
            result = Left(review_id, BUSY)
        done.append(result)
        if number % AT_ONCE == 0:
            progress("moved", number)
    return done


async def _state(database: Database, policy: Policy, graph: str, thread_id: str) -> JSON:
    """The thread's state; not read where no condition of its graph looks at it."""
    return plain(await app.states_of(database)(thread_id)) if policy.asks_of_state(graph) else None


async def _record(office: Office, what: str, user: str | None, detail: Row) -> None:
    async with office.database.transaction() as connection:
        await audit.record(
            connection, what, actor=user or f"cli:{app.os_user()}",
            detail={**detail, "via": "cli", "os_user": app.os_user()},
        )  # fmt: skip


def _rows(results: Sequence[Result]) -> list[Row]:
    rows: list[Row] = []
    for result in results:
        if isinstance(result, Left):
            rows.append({"review": result.review_id, "why": result.why})
        elif isinstance(result, Moved):
            rows += [
                {
                    "review": result.review_id,
                    "thread": result.thread_id,
                    "item": change.item,
                    "action": change.tool,
                    "before": fingerprint(change.before),
                    "after": fingerprint(change.after),
                    "could": _who(change.before),
                    "can": _who(change.after),
                    "number": change.place,
                    "lapsed": list(change.lapsed),
                    "why": "",
                }
                for change in result.changes
            ]
    return rows


def _who(rule: Rule | None) -> str:
    return people_in_words(rule.model_dump(mode="json")) if rule is not None else "nobody"
