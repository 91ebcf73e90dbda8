"""Who may decide in whose place now: for somebody who is away, or who handed a review over.

Each person leads to one other at most: whoever they handed this review to, else whoever covers for
them while they are away. One follows the next: where Dana covers for Alice and is away herself,
whoever covers for Dana may decide for both. It is looked up when somebody clicks, and once more
under the locks of the vote, so that an absence that ended a moment ago does not count.

Chains are followed for three steps, and a circle of people who cover for each other leads nowhere
new, so what one person may decide stays small whatever everybody set. No chain goes on behind who
asked for a review, or who changed its action where they may not decide on that: otherwise they
would choose who does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from checkpoints.database import Connection, Database, queries

SQL = queries(__file__)

HOPS: Final = 3
MOST: Final = 20


@dataclass(frozen=True)
class Absence:
    """That somebody is away and who covers for them; `until_at` is when they are back."""

    id: int
    team: str
    person: str
    person_name: str
    covered_by: str
    covered_by_name: str
    begins_at: datetime
    until_at: datetime
    set_by: str
    set_at: datetime
    ended_at: datetime | None
    ended_by: str | None
    keys: tuple[str, ...] = ()

    def holds(self, now: datetime) -> bool:
        """Whether they are away then."""
        return self.ended_at is None and self.begins_at <= now < self.until_at


@dataclass(frozen=True)
class Handover:
    """That somebody let another one decide a review in their place, until it is taken back."""

    id: int
    review_id: int
    giver: str
    giver_name: str
    taker: str
    taker_name: str
    note: str | None
    made_by: str
    made_at: datetime
    taken_back_at: datetime | None
    taken_back_by: str | None


def covered(person: str, leads: Mapping[str, str], last: Collection[str] = ()) -> tuple[str, ...]:
    """Everybody for whom this person may decide, the nearest first.

    Args:
        leads: from each person to whoever decides in their place.
        last: behind whom no chain goes on; for themselves others may still decide.
    """
    found: dict[str, None] = {}
    level = [person]
    for _ in range(HOPS):
        ways = [at for at in level if at == person or at not in last]
        behind = {one: None for at in ways for one, to in leads.items() if to == at}
        level = [one for one in behind if one != person and one not in found]
        found |= dict.fromkeys(level)
    return tuple(found)[:MOST]


def end_of(person: str, leads: Mapping[str, str], last: Collection[str] = ()) -> str | None:
    """Who decides in this person's place at last; None where nobody does."""
    seen, at = {person}, person
    for _ in range(HOPS):
        after = leads.get(at)
        if after is None or after in seen or (at != person and at in last):
            break
        seen.add(after)
        at = after
    return at if at != person else None


async def for_(
    connection: Connection | Database,
    team: str,
    person: str,
    review_id: int | None = None,
    now: datetime | None = None,
    *,
    for_sure: bool = False,
    last: Collection[str] = (),
) -> tuple[str, ...]:
    """For whom this person may decide now, the nearest first; nobody, where they handed it over.

    Args:
        review_id: whose hand-overs count too.
        for_sure: let none of the absences end before this transaction does.
        last: behind whom else no chain goes on.
    """
    given = {one.giver: one.taker for one in await of_review(connection, review_id)}
    if person in given:
        return ()
    sql = SQL.covered_by_for_sure if for_sure else SQL.covered_by
    leads, level = dict(given), [person]
    for _ in range(HOPS):
        rows = await connection.fetch(sql, team, level, now, MOST)
        away = [row["person"] for row in rows if row["person"] not in leads]
        leads |= {row["person"]: row["covered_by"] for row in rows if row["person"] in away}
        level = [*away, *(giver for giver, taker in given.items() if taker in level)]
        if not level:
            break
    return covered(person, leads, {*last, *await _last(connection, review_id)})


async def away(
    connection: Connection | Database,
    team: str,
    people: Iterable[str],
    now: datetime | None = None,
) -> dict[str, Absence]:
    """Who of these people is away now."""
    asked = sorted(set(people))
    rows = await connection.fetch(SQL.away, team, asked, now) if asked else []
    return {row["person"]: Absence(**{**row, "keys": tuple(row["keys"])}) for row in rows}


async def ends(
    connection: Connection | Database,
    team: str,
    people: Iterable[str],
    review_id: int | None = None,
    now: datetime | None = None,
) -> dict[str, str]:
    """Who decides at last in the place of each of these people, where that is somebody else."""
    given = {one.giver: one.taker for one in await of_review(connection, review_id)}
    asked = list(dict.fromkeys(people))
    leads, level = dict(given), list(asked)
    for _ in range(HOPS):
        gone = await away(connection, team, [one for one in level if one not in given], now)
        leads |= {one: absence.covered_by for one, absence in gone.items()}
        level = [leads[one] for one in level if one in leads]
        if not level:
            break
    last = await _last(connection, review_id)
    found = {one: end_of(one, leads, last) for one in asked}
    return {one: end for one, end in found.items() if end is not None}


async def of_review(connection: Connection | Database, review_id: int | None) -> Sequence[Handover]:
    """The hand-overs of a review that stand, the first first."""
    if review_id is None:
        return []
    return [Handover(**dict(row)) for row in await connection.fetch(SQL.handed_over, review_id)]


async def _last(connection: Connection | Database, review_id: int | None) -> frozenset[str]:
    """Who may not choose who decides a review in the place of others: see the module."""
    if review_id is None:
        return frozenset()
    rows = await connection.fetch(SQL.interested, review_id)
    return frozenset(row["person"] for row in rows)


async def handed_over(
    connection: Connection | Database, review_id: int, person: str
) -> Handover | None:
    """To whom this person handed a review, if they did."""
    found = await of_review(connection, review_id)
    return next((one for one in found if one.giver == person), None)


async def team_of(connection: Connection | Database, review_id: int) -> str:
    """The workspace whose people decide a review."""
    return str(await connection.fetchval(SQL.team_of, review_id) or "")
