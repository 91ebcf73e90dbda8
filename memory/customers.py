"""Customers: found by id or by name, created once, never guessed.

A name is compared the way people mean it: case, width and spacing do not count
(``ASHA  traders`` is ``Asha Traders``). Two customers may have one name, so `find` returns a list
and `find_or_create` refuses to choose.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from checkpoints.database import Connection, queries
from checkpoints.text import clean
from memory.errors import AmbiguousCustomer, BadCustomerName, UnknownCustomer

SQL = queries(__file__)

MAX_NAME_CHARACTERS: Final = 200
_ID = re.compile(r"cus_[0-9a-f]{16}")
_JOINERS: Final = "\u200c\u200d"  # several scripts need them to be spelled right


@dataclass(frozen=True)
class Customer:
    """Somebody whom threads are about; the id never changes, the name is for people."""

    id: str
    name: str


async def find(connection: Connection, name_or_id: str) -> list[Customer]:
    """Return every customer with this id or this name, the oldest first; none is no error."""
    text = clean(name_or_id).strip()
    rows = await connection.fetch(SQL.find, text, folded(text))
    return [Customer(row["id"], row["name"]) for row in rows]


async def get(connection: Connection, customer_id: str) -> Customer | None:
    """Return the customer of this id, or None."""
    row = await connection.fetchrow(SQL.get, clean(customer_id))
    return None if row is None else Customer(row["id"], row["name"])


async def create(connection: Connection, name: str, *, now: datetime | None = None) -> Customer:
    """Create a customer, also where another one of this name exists.

    Raises:
        BadCustomerName: empty, longer than 200 characters, or shaped like an id.
    """
    customer = Customer(id=f"cus_{secrets.token_hex(8)}", name=tidied(name))
    await connection.execute(SQL.create, customer.id, customer.name, folded(name), now)
    return customer


async def find_or_create(
    connection: Connection, name_or_id: str, *, now: datetime | None = None
) -> Customer:
    """Return the one customer meant by the id or the name, created if the name is new.

    Two transactions that bring the same new name at once get the same customer.

    Raises:
        UnknownCustomer: it is an id, and nobody has it.
        AmbiguousCustomer: several have the name.
        BadCustomerName: it would be a new customer, and the name will not do.
    """
    found = await find(connection, name_or_id)
    if not found:
        if _ID.fullmatch(name_or_id.strip()):
            raise UnknownCustomer(name_or_id.strip())
        tidied(name_or_id)
        await connection.execute(SQL.wait_for_name, folded(name_or_id))
        found = await find(connection, name_or_id)
    if not found:
        return await create(connection, name_or_id, now=now)
    if len(found) > 1:
        raise AmbiguousCustomer(found[0].name, [customer.id for customer in found])
    return found[0]


def tidied(name: str) -> str:
    """Return the name as it is kept: one line, single spaces, nothing invisible.

    Raises:
        BadCustomerName
    """
    tidy = " ".join(unicodedata.normalize("NFC", _visible(name, keep=_JOINERS)).split())
    if not folded(tidy):
        raise BadCustomerName("it is empty")
    if len(tidy) > MAX_NAME_CHARACTERS:
        raise BadCustomerName(f"it is longer than {MAX_NAME_CHARACTERS} characters")
    if _ID.fullmatch(tidy):
        raise BadCustomerName("it looks like a customer's id")
    return tidy


def folded(name: str) -> str:
    """Return the name as it is compared: without case, width, spacing and invisible characters."""
    seen = unicodedata.normalize("NFKC", _visible(name))
    return " ".join(unicodedata.normalize("NFKC", seen.casefold()).split())


def _visible(name: str, keep: str = "") -> str:
    """Return the text with controls as spaces and without format characters (Cf) but ``keep``."""
    kept = []
    for character in clean(name):
        category = unicodedata.category(character)
        if category == "Cc":
            kept.append(" ")
        elif category != "Cf" or character in keep:
            kept.append(character)
    return "".join(kept)
