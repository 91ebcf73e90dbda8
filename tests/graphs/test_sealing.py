"""The chain over the record: gapless, one sealer of many, and whatever is changed in it shows."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkpoints.database import Database
from graphs import audit, sealing
from graphs.sealing import Broken, Head, Sealed, Wanted, verify

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


async def write(database: Database, count: int, **given: Any) -> None:
    for number in range(count):
        async with database.transaction() as connection:
            await audit.record(connection, "vote.counted", detail={"n": number}, **given)


async def chain(database: Database, wanted: Wanted | None = None) -> tuple[Head, list[Sealed]]:
    """A part of the chain as an export has it: through JSON, and its anchor."""
    async with database.transaction() as connection:
        found = [each async for each in sealing.places(connection, wanted or Wanted(), page=3)]
        anchor = await sealing.before(connection, found[0].position)
    return anchor, [
        replace(each, entry=json.loads(json.dumps(each.entry)) if each.entry else None)
        for each in found
    ]


async def test_every_entry_gets_one_place_whoever_seals(database: Database) -> None:
    await asyncio.gather(*(write(database, 5, actor=f"U{number}") for number in range(6)))
    await asyncio.gather(*(sealing.seal_all(database) for _ in range(4)))
    await write(database, 2)
    await sealing.seal_all(database)
    rows = await database.fetch("select position, audit_id from sayso.audit_seals order by 1")
    assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))
    ids = await database.fetch("select id from sayso.audit order by id")
    assert sorted(row["audit_id"] for row in rows) == [row["id"] for row in ids]
    assert await database.fetchval("select count(*) from sayso.audit_unsealed") == 0
    anchor, found = await chain(database)
    assert verify(anchor, found) == await sealing.head(database)


async def test_a_sealer_that_dies_leaves_the_chain_as_it_was(database: Database) -> None:
    await write(database, 3)
    with pytest.raises(RuntimeError):
        async with database.transaction() as connection:
            assert await sealing.seal(connection) == 3
            raise RuntimeError
    assert (await sealing.head(database)).position == 0
    assert await sealing.seal_all(database) == 3


async def test_what_is_changed_is_named_by_its_place(database: Database) -> None:
    await write(database, 6)
    await sealing.seal_all(database)
    kept = await sealing.head(database)
    anchor, good = await chain(database)
    assert verify(anchor, good, str(kept)) == kept

    def changed(place: int, **fields: Any) -> list[Sealed]:
        entry = {**(good[place - 1].entry or {}), **fields}
        return [*good[: place - 1], replace(good[place - 1], entry=entry), *good[place:]]

    for fields in (
        {"actor": "U0EVE"},
        {"detail": {"n": 99}},
        {"at": "2026-01-01T00:00:00.000000+00:00"},
        {"what": "vote.refused"},
        {"thread_id": "x"},
    ):
        assert verify(anchor, changed(3, **fields)) == Broken(3, "the entry was changed")
    assert verify(anchor, changed(4, salt="no")) == Broken(4, "it is no entry of a record")
    gone = verify(anchor, [*good[:2], *good[3:]])
    assert gone == Broken(3, "it is missing: place 4 stands there")
    cut = verify(anchor, good[1:])
    assert cut == Broken(1, "it is missing: place 2 stands there")
    swapped = replace(good[1], entry=good[2].entry, leaf=good[2].leaf)
    moved = verify(anchor, [good[0], swapped, *good[2:]])
    assert moved == Broken(2, "it does not follow on the place before")
    elsewhere = verify(Head(0, good[0].hash), good)
    assert elsewhere == Broken(1, "the chain does not begin with its first entry")
    # Cut off at its end it is of one piece: only a head that was kept shows it.
    assert isinstance(verify(anchor, good[:-1]), Head)
    short = verify(anchor, good[:-1], kept.hash)
    assert short == Broken(5, "the chain does not lead through the head that was kept")
    # A head that was not kept, or at another place, is no head.
    for wrong in ("", " ", f"99:{kept.hash}", "6:"):
        assert isinstance(verify(anchor, good, wrong), Broken)


async def test_written_anew_as_a_whole_it_differs_from_the_head_that_was_kept(
    database: Database,
) -> None:
    await write(database, 3)
    await sealing.seal_all(database)
    kept = await sealing.head(database)
    anchor, good = await chain(database)
    last, forged = bytes.fromhex(anchor.hash), []
    for one in good:
        entry = {**(one.entry or {}), "actor": "U0EVE"}
        leaf = sealing.leaf_of(entry)
        last = sealing.chained(last, one.position, leaf)
        forged.append(Sealed(one.position, leaf.hex(), last.hex(), entry))
    assert isinstance(verify(anchor, forged), Head)
    assert isinstance(verify(anchor, forged, str(kept)), Broken)


async def test_a_part_shows_only_what_was_asked_for_and_leads_to_the_head(
    database: Database,
) -> None:
    await write(database, 2)
    await write(database, 1, actor="U0ALICE")
    await write(database, 2, actor="U0DANA")
    await write(database, 1, actor="U0ALICE")
    await write(database, 1)
    await sealing.seal_all(database)
    anchor, found = await chain(database, Wanted(actor="U0ALICE"))
    assert [one.position for one in found] == [3, 4, 5, 6, 7]
    assert [one.entry["actor"] for one in found if one.entry] == ["U0ALICE", "U0ALICE"]
    assert verify(anchor, found, str(await sealing.head(database))) == await sealing.head(database)
    async with database.transaction() as connection:
        nothing = [one async for one in sealing.places(connection, Wanted(actor="U0EVE"))]
    assert nothing == []


async def test_an_erased_detail_leaves_the_chain_whole(database: Database) -> None:
    await write(database, 3)
    await sealing.seal_all(database)
    anchor, good = await chain(database)
    erased = [replace(one, entry=None) if one.position == 2 else one for one in good]
    assert verify(anchor, erased) == await sealing.head(database)


async def test_the_head_is_told_once_in_a_while_and_only_where_it_grew(
    database: Database,
) -> None:
    async with database.transaction() as connection:
        assert await sealing.claim_telling(connection, 60) is None
    await write(database, 1)
    await sealing.seal_all(database)
    async with database.transaction() as connection:
        assert await sealing.claim_telling(connection, 60) == await sealing.head(database)
    await write(database, 1)
    await sealing.seal_all(database)
    async with database.transaction() as connection:
        assert await sealing.claim_telling(connection, 60) is None
        assert await sealing.claim_telling(connection, 0) is not None


async def test_seals_are_never_changed(database: Database) -> None:
    await write(database, 1)
    await sealing.seal_all(database)
    for wrong in (
        "update sayso.audit_seals set leaf = hash",
        "delete from sayso.audit_seals",
        "truncate sayso.audit_seals",
    ):
        with pytest.raises(Exception, match=r"RestrictViolation|permission denied"):
            await database.execute(wrong)


@given(detail=st.dictionaries(st.text(max_size=5), JSON))
def test_an_entry_has_the_same_leaf_after_a_journey_through_json(detail: dict[str, Any]) -> None:
    entry = {
        "id": 2**62, "at": datetime(2026, 1, 1, tzinfo=UTC).isoformat(), "what": "x", "actor": "y",
        "thread_id": None, "review_id": 7, "detail": audit.plain(detail),
        "salt": "8b7c2f6e-6a6b-4a57-9c29-2f9d8a3f0c11",
    }  # fmt: skip
    assert sealing.leaf_of(json.loads(json.dumps(entry))) == sealing.leaf_of(entry)
