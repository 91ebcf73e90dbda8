"""That somebody is away: set, changed, ended by them, or over by the clock.

It is set by the person themselves, for at most a year, and names one person who decides in their
place meanwhile: a full member of the workspace, and never somebody who could not be looked up. What
that person may decide is worked out at each click (`graphs/covers.py`); here nothing is decided.

Whoever covers is told, and so are the operators; the cards that it concerns are shown anew. Every
attempt is in the record, refused ones too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from checkpoints.database import Connection, Database, Row, queries
from checkpoints.text import clean
from graphs import audit, ports
from graphs.covers import Absence
from graphs.policy import Person, may_be_away, may_stand_in
from graphs.ports import Wish, no_wish

SQL = queries(__file__)

LONGEST_DAYS: Final = 366
SHOWN_ANEW: Final = 200  # cards
AT_ONCE: Final = 100


@dataclass(frozen=True)
class Away:
    """It is set; `before` is what it takes the place of."""

    absence: Absence
    before: Absence | None = None


@dataclass(frozen=True)
class Back:
    """It is ended."""

    absence: Absence


@dataclass(frozen=True)
class NotAway:
    """There was nothing to end."""


@dataclass(frozen=True)
class Refused:
    """It is not set: a reason of `graphs.policy`, or "oneself", "over", "too_long".

    `of_cover` where it is about the person who should cover.
    """

    why: str
    of_cover: bool = False


async def set_(
    connection: Connection,
    *,
    person: Person,
    cover: Person,
    until: datetime,
    keys: Sequence[str] = (),
    via: str = "",
    now: datetime | None = None,
    wish: Wish = no_wish,
) -> Away | Refused:
    """Say that a person is away until then and who covers; in the place of what was set before.

    Args:
        keys: what the person is found by (`graphs.directory.keys_of`).
    """
    at: datetime = await connection.fetchval(SQL.now, now)
    refused = _refused(person, cover, until, at)
    if refused is not None:
        return await refuse(connection, refused, person.id, via=via, name=person.name)
    await connection.execute(SQL.one_at_a_time, person.team, person.id)
    before = await standing(connection, person.team, person.id)
    if before is not None:
        await connection.execute(SQL.finish, before.id, now, person.id)
    absence_id: int = await connection.fetchval(
        SQL.begin, person.team, person.id, clean(person.name), cover.id, clean(cover.name), now,
        until, person.id, list(keys),
    )  # fmt: skip
    absence = await get(connection, absence_id)
    in_force = before is not None and before.until_at > at
    await audit.record(
        connection, "absence.changed" if in_force else "absence.set", actor=person.id,
        detail={
            **_said(absence, via), "before": _told(before) if before and in_force else None,
        },
    )  # fmt: skip
    await _show(connection, absence, wish)
    if before is not None:
        await wish(connection, ports.COVER, str(before.id))
    return Away(absence, before if in_force else None)


async def end(
    connection: Connection,
    *,
    team: str,
    person: str,
    absence_id: int | None = None,
    via: str = "",
    now: datetime | None = None,
    wish: Wish = no_wish,
) -> Back | NotAway:
    """Say that a person is back.

    Args:
        absence_id: the one that they mean; another one than it stays.
    """
    await connection.execute(SQL.one_at_a_time, team, person)
    absence = await standing(connection, team, person)
    at: datetime = await connection.fetchval(SQL.now, now)
    meant = absence is not None and absence_id in (None, absence.id)
    if absence is None or not meant or not absence.holds(at):
        await audit.record(
            connection, "absence.refused", actor=person, detail={"why": "not_away", "via": via}
        )
        return NotAway()
    await connection.execute(SQL.finish, absence.id, now, person)
    await audit.record(connection, "absence.ended", actor=person, detail=_said(absence, via))
    ended = await get(connection, absence.id)
    await _show(connection, ended, wish)
    return Back(ended)


async def tick(database: Database, wish: Wish, *, now: datetime | None = None) -> int:
    """End what is over by the clock; how many absences. Any number of tickers end each once."""
    acted = 0
    for row in await database.fetch(SQL.over, now, AT_ONCE):
        async with database.transaction() as connection:
            if await connection.fetchval(SQL.finish, row["id"], now, audit.SYSTEM) is None:
                continue
            absence = await get(connection, row["id"])
            await audit.record(connection, "absence.over", detail=_said(absence, "clock"))
            await _show(connection, absence, wish)
            acted += 1
    return acted


async def standing(connection: Connection | Database, team: str, person: str) -> Absence | None:
    """The absence of a person that nobody ended; its time may be over."""
    return _absence(await connection.fetchrow(SQL.standing, team, person))


async def find(connection: Connection | Database, absence_id: int) -> Absence | None:
    """One of them, also when it is over."""
    return _absence(await connection.fetchrow(SQL.find, absence_id))


async def get(connection: Connection | Database, absence_id: int) -> Absence:
    """One of them that is there."""
    found = await find(connection, absence_id)
    assert found is not None  # noqa: S101 - none is ever deleted
    return found


async def list_(
    connection: Connection | Database, *, now: datetime | None = None, limit: int = 1_000
) -> list[Absence]:
    """Everybody who is away, whoever is back first first."""
    rows = await connection.fetch(SQL.all_, now, limit)
    return [found for row in rows if (found := _absence(row)) is not None]


async def concerned(
    connection: Connection | Database, keys: Sequence[str], limit: int = SHOWN_ANEW
) -> list[int]:
    """The open reviews that ask whoever is found by these keys, the newest first."""
    rows = await connection.fetch(SQL.concerned, list(keys), limit) if keys else []
    return [row["review_id"] for row in rows]


async def refuse(
    connection: Connection, refused: Refused, person: str, *, via: str = "", name: str = "",
    detail: dict[str, Any] | None = None,
) -> Refused:  # fmt: skip
    """Write the attempt into the record and hand the reason back."""
    told = {"why": refused.why, "of_cover": refused.of_cover, "via": via, "name": name}
    await audit.record(connection, "absence.refused", actor=person, detail=told | (detail or {}))
    return refused


def _refused(person: Person, cover: Person, until: datetime, at: datetime) -> Refused | None:
    if refusal := may_be_away(person):
        return Refused(refusal.reason.value)
    if cover.id == person.id:
        return Refused("oneself", of_cover=True)
    if refusal := may_stand_in(cover):
        return Refused(refusal.reason.value, of_cover=True)
    if until <= at:
        return Refused("over")
    return Refused("too_long") if until > at + timedelta(days=LONGEST_DAYS + 1) else None


async def _show(connection: Connection, absence: Absence, wish: Wish) -> None:
    """Tell whoever covers and whoever runs this, and show the cards that name the person anew."""
    await wish(connection, ports.COVER, str(absence.id))
    for review_id in await concerned(connection, absence.keys):
        await wish(connection, ports.CARD, str(review_id))
    await wish(connection, ports.NOTICE, f"absence:{absence.id}")


def _told(absence: Absence) -> dict[str, Any]:
    return {
        "absence": absence.id,
        "person": absence.person,
        "covered_by": absence.covered_by,
        "covered_by_name": absence.covered_by_name,
        "until": absence.until_at.isoformat(),
    }


def _said(absence: Absence, via: str) -> dict[str, Any]:
    return {**_told(absence), "name": absence.person_name, "via": via}


def _absence(row: Row | None) -> Absence | None:
    if row is None:
        return None
    return Absence(**{**row, "keys": tuple(row["keys"])})


Result: TypeAlias = Away | Back | NotAway | Refused
