"""The conditions of rules: what they may name, and that whatever goes wrong ends the search."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs.conditions import ConditionFailed, compiled

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("source", "facts", "holds"),
    [
        ("question.amount > 50000", {"question": {"amount": 60_000}}, True),
        ("question.amount > 50000", {"question": {"amount": 60_000.5}}, True),
        ("question.amount > 50000", {"question": {"amount": 10}}, False),
        ("requester == 'U0BOB' && thread.graph == 'loan'", {}, False),
        ("customer == null", {}, True),
        ("has(state.vip) && state.vip", {"state": {}}, False),
        ("question.items.exists(one, one.sum > 5)", {"question": {"items": [{"sum": 6}]}}, True),
        ("question.to.endsWith('@example.com')", {"question": {"to": "a@example.com"}}, True),
    ],
)
def test_a_condition_says_whether_it_holds(source: str, facts: Any, holds: bool) -> None:
    if "requester" in source:
        facts = {"requester": "U0ALICE", "thread": {"graph": "loan"}}
    assert compiled(source).holds(facts) is holds


@pytest.mark.parametrize(
    ("source", "facts", "says"),
    [
        ("question.amount > 5", {"question": {}}, "there is no amount"),
        ("question.amount > 5", {"question": {"amount": "6"}}, "different kinds"),
        ("question.amount", {"question": {"amount": 6}}, "neither true nor false"),
        ("question.amount > 5", {}, "different kinds"),
        ("1 / 0 > 1", {}, "division by zero"),
    ],
)
def test_what_is_neither_true_nor_false_fails(source: str, facts: Any, says: str) -> None:
    with pytest.raises(ConditionFailed, match=says):
        compiled(source).holds(facts)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("question.amount >", "cannot be read: mismatched input '<EOF>', at character 18"),
        ("", "cannot be read"),
        ("amount > 5", "names amount; there are only question, state"),
        ("question.all(x, y > 1)", "names y;"),
        ("now() > 1", "names now;"),
        ("true || __import__('os') == 1", "names __import__"),
        ("true " + "|| true " * 2000, "at most 4,000 characters"),
    ],
)
def test_what_cannot_be_read_or_names_something_else_is_refused(source: str, says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("(", r"\(")):
        compiled(source)


@given(question=JSON, state=JSON)
def test_any_facts_give_true_false_or_a_clause(question: Any, state: Any) -> None:
    condition = compiled("question.a > state.b || size(question.c) > 3 || state.d == question")
    said: bool | str
    try:
        said = condition.holds({"question": question, "state": state})
    except ConditionFailed as error:
        said = str(error)
    assert said in (True, False) or 0 < len(str(said)) < 300
