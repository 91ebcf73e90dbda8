"""Customers are found the way people name them, and created once."""

from __future__ import annotations

import asyncio

import pytest

from checkpoints.database import Database
from memory import customers
from memory.errors import AmbiguousCustomer, BadCustomerName, UnknownCustomer

SPELLINGS = [
    "Asha Traders",
    "asha traders",
    "ASHA TRADERS",
    "  Asha   Traders ",
    "Asha\tTraders\n",
    "Asha\u00a0Traders",
    "\uff21\uff53\uff48\uff41 Traders",  # full width
    "As\u200bha Traders",  # a zero width space inside
    "Asha\x00 Traders",
    "\ud800Asha Traders",
]


async def test_a_customer_is_found_however_the_name_is_spelled(database: Database) -> None:
    async with database.transaction() as connection:
        asha = await customers.create(connection, "Asha Traders")
        await customers.create(connection, "Asha Trader")
        for spelling in SPELLINGS:
            assert await customers.find(connection, spelling) == [asha], spelling


async def test_a_customer_is_found_and_got_by_id(database: Database) -> None:
    async with database.transaction() as connection:
        asha = await customers.create(connection, "Asha Traders")
        assert await customers.find(connection, f" {asha.id} ") == [asha]
        assert await customers.get(connection, asha.id) == asha
        assert await customers.get(connection, "cus_0000000000000000") is None
        assert await customers.get(connection, "' or 1=1 --\x00") is None


async def test_two_customers_may_have_one_name_and_none_is_chosen(database: Database) -> None:
    async with database.transaction() as connection:
        first = await customers.create(connection, "Mehta & Sons")
        second = await customers.create(connection, "MEHTA & sons")
        assert {one.id for one in await customers.find(connection, "mehta & sons")} == {
            first.id,
            second.id,
        }
        with pytest.raises(AmbiguousCustomer) as refused:
            await customers.find_or_create(connection, "mehta & sons")
        assert first.id in str(refused.value)
        assert second.id in str(refused.value)
        assert await customers.find_or_create(connection, second.id) == second


async def test_the_kept_name_is_tidy_and_keeps_its_case_and_script(database: Database) -> None:
    async with database.transaction() as connection:
        straße = await customers.create(connection, " Straße\x00  Möbel\u202e ")
        assert straße.name == "Straße Möbel"
        assert await customers.find(connection, "STRASSE MÖBEL") == [straße]
        # A joiner belongs to the spelling of some scripts: kept, and not compared.
        hindi = await customers.create(connection, "क्\u200dष ट्रेडर्स")
        assert "\u200d" in hindi.name
        assert await customers.find(connection, "क्ष ट्रेडर्स") == [hindi]


async def test_a_name_that_names_nobody_is_refused(database: Database) -> None:
    async with database.transaction() as connection:
        for name in ("", "   ", "\x00\u200b", "x" * 201, "cus_0123456789abcdef"):
            with pytest.raises(BadCustomerName):
                await customers.create(connection, name)
            with pytest.raises((BadCustomerName, UnknownCustomer)):
                await customers.find_or_create(connection, name)
        assert await connection.fetchval("select count(*) from sayso.customers") == 0


async def test_an_unknown_id_creates_nobody(database: Database) -> None:
    async with database.transaction() as connection:
        with pytest.raises(UnknownCustomer, match="cus_0123456789abcdef"):
            await customers.find_or_create(connection, "cus_0123456789abcdef")


async def test_two_who_bring_a_new_name_at_once_get_the_same_customer(database: Database) -> None:
    async def bring(name: str) -> customers.Customer:
        async with database.transaction() as connection:
            return await customers.find_or_create(connection, name)

    brought = await asyncio.gather(*(bring(SPELLINGS[n % 4]) for n in range(8)))
    assert len({one.id for one in brought}) == 1
    assert await database.fetchval("select count(*) from sayso.customers") == 1


async def test_an_identity_of_another_kind_does_not_answer_to_a_name(database: Database) -> None:
    async with database.transaction() as connection:
        asha = await customers.create(connection, "Asha Traders")
        await connection.execute(
            "insert into sayso.identities (kind, value, customer_id, spelling)"
            " values ('email', 'accounts@asha.example', $1, 'accounts@asha.example')",
            asha.id,
        )
        assert await customers.find(connection, "accounts@asha.example") == []
