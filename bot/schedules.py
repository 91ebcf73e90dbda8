"""What the clock does to a question, for `sayso policy explain` and `simulate`: when, and to whom.

Times are told in the rule's zone. What became of a reminder is told for each person, because each
has an hour, a night and a day of their own (`bot.timetable`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

from bot import posts, timetable
from checkpoints.database import Connection, Database
from graphs import deadlines, timers
from graphs.actions import Action, Asking
from graphs.calendars import zone_of
from graphs.deadlines import HOLD, Then
from graphs.plain import plain
from graphs.reviews import Item, Review
from graphs.specs import GraphSpec, Rule
from graphs.timers import Timer

JSON: TypeAlias = Any

QUIET: Final = (
    f"Reminders wait for the morning where it is not between {timetable.AWAKE[0]:%H:%M} and "
    f"{timetable.AWAKE[1]:%H:%M} for their reader. Whoever has more than {timetable.SINGLY} "
    "requests waiting gets one list that day in their place."
)
ONE_TOO_MANY: Final = "dropped, one had gone out that day"


def planned(rule: Rule, done: Then, at: datetime) -> list[dict[str, JSON]]:
    """What would happen to a question that is asked then."""
    return [_row(rule, timer, done) for timer in _in_order(timers.planned(rule, at))]


async def of_item(
    connection: Connection | Database, review: Review, item: Item, done: Then
) -> list[dict[str, JSON]]:
    """What happened and happens to one item of a review."""
    rule = item.whole
    if rule is None:
        return []
    its = (await deadlines.all_of_review(connection, review.id)).get(item.item, ())
    subjects = [f"{review.id}.{item.item}.{one.turn}" for one in its if one.kind == "remind"]
    subjects.append(f"{review.id}.{item.item}")
    kinds = [posts.REMINDER, posts.ESCALATION]
    became: dict[str, list[str]] = {}
    for row in await connection.fetch(timetable.SQL.became, kinds, subjects):
        became.setdefault(row["subject"], []).append(_person(row))
    open_ = review.status == "open" and item.status == "open"
    told = []
    for timer in _in_order(its):
        turn = f".{timer.turn}" if timer.kind == "remind" else ""
        sent = became.get(f"{review.id}.{item.item}{turn}", [])
        named = sent if timer.kind != "deadline" else []
        stands = _stands(timer, rule, open_=open_)
        told.append({**_row(rule, timer, done), "stands": stands, "people": named})
    return told


def supposed(
    spec: GraphSpec | None,
    asked: Asking,
    rule: Rule | None,
    number: int,
    *,
    graph: str,
    node: str,
    question: JSON,
    schema: JSON,
    at: datetime,
) -> Then:
    """What would be done with a question that nobody has asked, when its time runs out."""
    actions = asked.actions or (None,)
    items = tuple(_item(rule, place, action) for place, action in enumerate(actions))
    review = Review(
        id=0, thread_id="", graph=graph, node=node, interrupt_id="", checkpoint_id="",
        kind="interrupt", audience="reviewers", question=question, schema=schema, hash="",
        again=None, fingerprint=None, ordinal=0, revision=1, status="open", closed_because=None,
        opened_at=at, closed_at=None, requester="", items=items,
    )  # fmt: skip
    return deadlines.then(review, items[number], spec)


def in_line(row: Mapping[str, JSON]) -> str:
    """One of these on a line: "Tue 1 Dec 2026 13:00 UTC: whoever has not voted is reminded"."""
    more = [row["stands"]] if row.get("stands") else []
    return ", ".join([f"{row['when']}: {row['what']}", *more, *row.get("people", ())])


def _item(rule: Rule | None, place: int, action: Action | None) -> Item:
    arguments = action.arguments if action is not None else None
    return Item(
        item=place, tool=action.tool if action is not None else None, asked=arguments,
        arguments=arguments, schema=None, edited_by=None, edited_by_name=None, edited_at=None,
        opened_under=rule, whole=rule, rule=rule, stage=0, status="open", verb=None, outcome=None,
        answer=None, note=None, decided_by=None, decided_by_name=None, decided_at=None,
        escalated_at=None,
    )  # fmt: skip


def _in_order(found: Iterable[Timer]) -> Sequence[Timer]:
    return sorted(found, key=lambda one: one.due_at)


def _row(rule: Rule, timer: Timer, done: Then) -> dict[str, JSON]:
    when = _local(timer.due_at, rule)
    if timer.wall is not None:
        when = f"{timer.wall} in each reader's own time, from {when} on"
    return {
        "kind": timer.kind,
        "at": timer.due_at.isoformat(),
        "wall": timer.wall,
        "when": when,
        "what": _what(rule, timer, done),
    }


def _what(rule: Rule, timer: Timer, done: Then) -> str:
    if timer.kind == "remind":
        return "whoever has not voted is reminded"
    if timer.kind == "escalate":
        return f"{_escalated(rule)} may decide too"
    return _runs_out(rule, done)


def _runs_out(rule: Rule, done: Then) -> str:
    wanted = rule.deadline.then if rule.deadline is not None else HOLD
    if not done.holds:
        return f"nobody decided, so the answer is {_written(wanted)}"
    stays = "nobody decided, so it stays open and the operators are told"
    return stays if wanted == HOLD else f"{stays}: the question cannot take {_written(wanted)}"


def _stands(timer: Timer, rule: Rule, *, open_: bool) -> str:
    if timer.dropped:
        return ONE_TOO_MANY
    if timer.fired_at is not None:
        return f"done {_local(timer.fired_at, rule)}" if timer.wall is None else "begun"
    return "still to come" if open_ else "not any more"


def _person(row: Mapping[str, JSON]) -> str:
    if row["sent"]:
        return f"{row['place']} got it"
    if row["dropped"]:
        return f"{row['place']}: dropped, {row['dropped']}"
    return f"{row['place']} will get it" if row["waits"] else f"{row['place']} did not need it"


def _escalated(rule: Rule) -> str:
    to = rule.escalate.to if rule.escalate is not None else None
    if to is None:
        return "nobody"
    named = [*to.users, *to.groups, *to.emails, *(f"role {role}" for role in to.roles)]
    return ", ".join([*named, *(["the requester's manager"] if to.manager else [])]) or "nobody"


def _local(at: datetime, rule: Rule) -> str:
    zone = zone_of(rule.hours.zone if rule.hours is not None else "UTC")
    return f"{at.astimezone(zone):%a %d %b %Y %H:%M %Z}"


def _written(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)
