"""Whether an answer fits its question, told in words that help."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from graphs.answers import ANSWER_CHARACTERS, check

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


class Address(BaseModel):
    city: str


class Form(BaseModel):
    decision: Literal["approve", "reject"]
    months: int = Field(default=12, ge=1, le=120)
    note: str | None = Field(default=None, max_length=10)
    address: Address | None = None
    tags: list[str] = Field(default=[], min_length=0, max_length=2)


SCHEMA = Form.model_json_schema()


@pytest.mark.parametrize("answer", [None, False, 0, "", {}, [], "yes", {"a": [1]}])
def test_every_value_is_an_answer_where_no_schema_asks_for_another(answer: Any) -> None:
    assert check(answer, "Sure?", None) is None


@pytest.mark.parametrize(
    ("answer", "schema"),
    [
        (None, {"type": "null"}),
        (False, {"type": "boolean"}),
        (0, {"type": "integer"}),
        ("", {"type": "string"}),
        ({}, {"type": "object"}),
        ([], {"type": "array"}),
    ],
)
def test_empty_values_fit_a_schema_that_allows_them(answer: Any, schema: Any) -> None:
    assert check(answer, None, schema) is None
    assert check("x", None, {"type": "integer"}) is not None


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"decision": "approve"}, None),
        ({"decision": "approve", "note": None}, None),
        ({}, "Please fill in: decision."),
        ("approve", "Write a group of named values."),
        ({"decision": "disapprove"}, "Decision: choose approve or reject."),
        ({"decision": "approve", "months": 0}, "Months: write a number from 1 to 120."),
        ({"decision": "approve", "months": "six"}, "Months: write a whole number."),
        ({"decision": "approve", "note": 5}, "Note: write text or nothing."),
        ({"decision": "approve", "note": "much too long"}, "Note: write at most 10 characters."),
        ({"decision": "approve", "tags": ["a", "b", "c"]}, "Tags: write at most 2 entries."),
        ({"decision": "approve", "address": {"city": 5}}, "Address, City: write text."),
    ],
)
def test_what_does_not_fit_names_the_field_and_says_what_to_write(
    answer: Any, says: str | None
) -> None:
    assert check(answer, {}, SCHEMA) == says


def test_true_is_not_one() -> None:
    assert check(True, None, {"enum": [1]}) == "Choose 1."
    assert check(True, None, {"type": "integer"}) == "Write a whole number."


def test_an_answer_that_is_too_long_or_too_deep_is_refused() -> None:
    assert check("x" * (ANSWER_CHARACTERS + 1), None, None) is not None
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    problem = check(deep, None, None)
    assert problem is not None
    assert "levels" in problem


@pytest.mark.parametrize(
    "schema",
    [
        {"type": 5},
        {"$ref": "http://127.0.0.1:1/schema.json"},
        {"$ref": "#/nowhere"},
        {"pattern": "("},
        {"anyOf": 7},
    ],
)
def test_a_schema_that_cannot_be_used_refuses_nothing_and_fetches_nothing(schema: Any) -> None:
    assert check("x", None, schema) is None


@given(answer=JSON, schema=st.dictionaries(st.text(), JSON) | JSON)
def test_checking_never_raises(answer: Any, schema: Any) -> None:
    said = check(answer, None, schema)
    assert said is None or said.strip()


@given(answer=JSON)
def test_checking_against_every_kind_of_rule_never_raises(answer: Any) -> None:
    for schema in (
        SCHEMA,
        {"oneOf": [True, {"type": "null"}]},
        {"not": {}},
        {"const": None},
        False,
    ):
        said = check(answer, None, schema)
        assert said is None or said.strip()
