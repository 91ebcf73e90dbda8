"""Safe JSON and its hash, of whatever a node may ask."""

from __future__ import annotations

import dataclasses
import enum
import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from pydantic import BaseModel

from checkpoints.database import Database
from graphs.plain import digest, plain, written


class Model(BaseModel):
    amount: Decimal = Decimal("1.10")
    at: datetime = datetime(2026, 11, 30, tzinfo=UTC)


@dataclasses.dataclass
class Data:
    colour: Any = None
    body: bytes = b"\x00\xff"


class Colour(enum.Enum):
    RED = "red\x00"


class Spiteful:
    def __str__(self) -> str:
        raise RuntimeError("no")


def test_models_dataclasses_enums_and_bytes_become_json() -> None:
    assert plain(Model()) == {"amount": "1.10", "at": "2026-11-30 00:00:00+00:00"}
    assert plain(Data(Colour.RED)) == {"colour": "red", "body": "AP8="}
    assert plain((1, {3, 1, 2})) == [1, [1, 2, 3]]
    assert plain({1: "a\ud800", None: float("inf")}) == {"1": "a", "None": "inf"}
    assert plain(Spiteful()) == "(Spiteful)"
    assert plain(2**70) == str(2**70)
    assert plain(True) is True


def test_a_value_that_holds_itself_ends_somewhere() -> None:
    loop: list[Any] = []
    loop.append(loop)
    json.dumps(plain(loop))


VALUES = some.recursive(
    some.none()
    | some.booleans()
    | some.integers()
    | some.floats()
    | some.text()
    | some.binary()
    | some.characters(categories=["Cs", "Cc"])
    | some.datetimes()
    | some.decimals(),
    lambda inner: some.lists(inner) | some.dictionaries(some.text() | some.integers(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_whatever_it_is_it_can_be_hashed_and_written(value: Any) -> None:
    safe = plain(value)
    assert plain(safe) == safe
    assert digest(value) == digest(safe)
    text = json.dumps(safe, allow_nan=False, ensure_ascii=False)
    assert "\x00" not in text.encode("utf-8").decode()


async def test_whatever_it_is_the_database_holds_it(database: Database) -> None:
    value = plain({"a\x00": ["\ud800x", 2**63, 2**64, float("nan"), b"\x00"], "e": 1e300})
    assert await database.fetchval("select $1::jsonb", value) == value


def test_the_hash_knows_no_order_of_keys_but_every_other_difference() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest([1, 2]) != digest([2, 1])
    assert digest("1") != digest(1)
    assert digest(2**60) != digest(2**60 + 1)
    assert digest(None) != digest("")
    assert digest(False) != digest(0)


def test_an_answer_is_written_exactly_or_refused() -> None:
    assert json.loads(written({"b": 2**70, "a": [1.0]})) == {"b": 2**70, "a": [1.0]}
    for wrong in (float("nan"), object(), b"x"):
        with pytest.raises((TypeError, ValueError)):
            written(wrong)
