"""A form of any JSON Schema, and the exact value that it is read back as."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.graph import START, StateGraph
from pydantic import BaseModel
from typing_extensions import TypedDict

from graphs.answers import check
from graphs.entries import shown
from graphs.fields import TEXT, key_of
from graphs.forms import FIELDS, Form, Value, Wrong, form, read
from graphs.templates import MISSING
from tests.graphs.schema_samples import (
    DELIVERY,
    HOSTILE,
    JSON,
    RANDOM,
    Delivery,
    Order,
    fitting,
)


class Words(TypedDict, total=False):
    text: str
    count: int


def one(asked: Any, *, needed: bool = True) -> dict[str, Any]:
    """A schema of an object with this one asked, called a."""
    return {
        "type": "object",
        "properties": {"a": asked},
        "required": ["a"] if needed else [],
    }


def untouched(made: Form) -> dict[str, Any]:
    """What comes back from a window that nobody wrote in."""
    return {
        each.key: list(start) if isinstance(start := shown(each), tuple) else start or None
        for each in made.fields
    }


def written(schema: Any, typed: dict[str, Any], initial: Any = MISSING) -> Value | Wrong:
    """What a form is read as after this was typed into it."""
    made = form(schema, initial)
    return read(made, schema, untouched(made) | typed)


@pytest.mark.parametrize(
    ("asked", "kind", "more"),
    [
        ({"type": "string"}, "text", {"multiline": False}),
        ({"type": "string", "maxLength": 120}, "text", {"longest": 120, "multiline": False}),
        ({"type": "string", "maxLength": 121}, "text", {"multiline": True}),
        ({"type": "string", "minLength": 2}, "text", {"shortest": 2}),
        ({"type": "string", "format": "multiline"}, "text", {"multiline": True}),
        ({"type": "string", "format": "date-time"}, "text", {"format": "date-time"}),
        ({"type": "string", "format": "date"}, "date", {}),
        ({"type": "number", "minimum": 1, "maximum": 2.5}, "number", {"least": 1, "most": 2.5}),
        ({"type": "number", "exclusiveMinimum": 0}, "number", {"above": 0, "least": None}),
        ({"type": "number", "multipleOf": 0.01}, "number", {"step": 0.01}),
        ({"type": "integer", "exclusiveMinimum": 0}, "integer", {"least": 1}),
        ({"type": "integer", "exclusiveMaximum": 9.5}, "integer", {"most": 9}),
        ({"type": "boolean"}, "boolean", {"options": (("Yes", True), ("No", False))}),
        ({"enum": [True, False]}, "boolean", {}),
        ({"enum": [1, 0]}, "choice", {"options": (("1", 1), ("0", 0))}),
        ({"enum": ["in_full", "b", 3]}, "choice",
         {"options": (("In full", "in_full"), ("b", "b"), ("3", 3))}),
        ({"oneOf": [{"const": 12, "title": "A year"}, {"const": 24}]}, "choice",
         {"options": (("A year", 12), ("24", 24))}),
        ({"const": "refund"}, "choice", {"options": (("refund", "refund"),)}),
        ({"type": "array", "items": {"enum": ["x", "y"]}}, "choices",
         {"options": (("x", "x"), ("y", "y"))}),
        ({"type": "array", "items": {"$ref": "#/$defs/E"}, "uniqueItems": True}, "json", {}),
        ({"allOf": [{"type": "integer"}], "default": 3}, "integer", {"initial": 3}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer", {"required": False}),
        ({"type": ["string", "null"]}, "text", {"required": False}),
        ({"enum": ["x", None]}, "choice", {"required": False, "options": (("x", "x"),)}),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, "number", {"exact": False}),
        ({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]}, "number",
         {"exact": True, "least": 0}),
        ({"anyOf": [{"type": "number"}, {"type": "string"}]}, "number", {"exact": True}),
        ({"anyOf": [{"type": "string"}, {"type": "number"}]}, "json", {}),
        ({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, "json", {}),
        ({"type": "object"}, "json", {}),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "json", {}),
        ({"type": "array", "items": {"type": "string"}}, "json", {"multiline": True}),
        ({"type": "array", "items": {"type": "object", "properties": {}}}, "json", {}),
        ({}, "json", {}),
        ({"enum": [f"v{number}" for number in range(100)]}, "text", {"options": ()}),
        ({"enum": list(range(100))}, "json", {}),
        ({"anyOf": [{"enum": [f"{at}{one}" for one in range(60)]} for at in "ab"]}, "text", {}),
        ({"enum": [True, "Yes"]}, "json", {}),
        ({"enum": ["x", "x"]}, "text", {}),
    ],
)  # fmt: skip
def test_a_property_gets_the_kind_of_field_that_can_show_it(
    asked: Any, kind: str, more: dict[str, Any]
) -> None:
    (field,) = form(one(asked)).fields
    assert field.kind == kind
    assert {name: getattr(field, name) for name in more} == more


@pytest.mark.parametrize(
    ("own", "name", "label", "hint"),
    [
        ({"title": "Order Id"}, "order_id", "Order id", ""),
        ({"title": "What for"}, "purpose", "What for", ""),
        ({"description": "One\n\n  line."}, "iban", "Iban", "One line."),
        ({"title": 5, "description": ["x"]}, "dueDate", "Due date", ""),
    ],
)
def test_a_field_is_called_by_its_title_or_by_its_name_in_words(
    own: Any, name: str, label: str, hint: str
) -> None:
    schema = {"type": "object", "properties": {name: {"type": "string", **own}}}
    (field,) = form(schema).fields
    assert (field.label, field.hint, field.key) == (label, hint, name)


def test_a_group_is_flattened_and_its_fields_say_where_they_belong() -> None:
    fields = {field.key: field for field in form(DELIVERY).fields}
    assert fields["address.city"].label == "Address, city"
    assert fields["address.city"].required
    assert not fields["other_address.city"].required
    assert form(DELIVERY).title == "Delivery"


def test_everything_that_pydantic_writes_becomes_a_form() -> None:
    kinds = {field.key: field.kind for field in form(DELIVERY).fields}
    assert kinds == {
        "amount": "number",
        "purpose": "text",
        "memo": "text",
        "months": "choice",
        "insured": "boolean",
        "first_payment": "date",
        "pick_up": "text",
        "carrier": "choice",
        "extras": "choices",
        "count": "integer",
        "fee": "number",
        "address.city": "text",
        "address.street": "text",
        "other_address.city": "text",
        "other_address.street": "text",
        "tags": "json",
    }


@pytest.mark.parametrize(
    ("state", "keys"),
    [(Words, ["text", "count"]), (Order, ["text", "count"]), (Delivery, ["amount", "purpose"])],
)
def test_the_input_of_any_graph_has_a_form(state: type[Any], keys: list[str]) -> None:
    graph = StateGraph(state)
    graph.add_node("one", lambda state: {})
    graph.add_edge(START, "one")
    made = form(graph.compile().get_input_jsonschema())
    assert not made.raw
    assert [field.key for field in made.fields][: len(keys)] == keys


@pytest.mark.parametrize(
    ("asked", "typed", "value"),
    [
        ({"type": "string"}, " as typed\r\n", " as typed\n"),
        ({"type": "integer"}, "45000", 45000),
        ({"type": "integer"}, "45,000", 45000),
        ({"type": "integer"}, "5.0", 5),
        ({"type": "number"}, "45000", 45000),
        ({"type": "number"}, "0.1", 0.1),
        ({"type": "number"}, "-1,00,000.5", -100000.5),
        ({"type": "number", "multipleOf": 0.01}, "0.07", 0.07),
        ({"type": "number", "exclusiveMinimum": 0}, "0.5", 0.5),
        ({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]}, "0.10", 0.1),
        ({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]},
         "12345678901234567.89", "12345678901234567.89"),
        ({"type": "boolean"}, "false", False),
        ({"enum": [1, "1"]}, "1", 1),
        ({"enum": [12, 24]}, "24", 24),
        ({"type": "array", "items": {"enum": ["x", "y", "z"]}}, ['"z"', '"x"'], ["x", "z"]),
        ({"type": "array", "items": {"enum": ["x"]}}, [], []),
        ({"type": "string", "format": "date"}, "2026-12-04", "2026-12-04"),
        ({"type": "string", "format": "date-time"}, " 2026-12-04T18:00Z",
         "2026-12-04T18:00Z"),
        ({"type": "array", "items": {"type": "string"}}, '["a", "b"]', ["a", "b"]),
        ({}, "null", None),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, None),
        ({"type": ["string", "null"]}, "", None),
    ],
)  # fmt: skip
def test_what_is_written_is_read_as_the_schema_wants_it(asked: Any, typed: Any, value: Any) -> None:
    got = written(one(asked), {"a": typed})
    assert got == Value({"a": value})
    assert isinstance(got, Value)
    assert type(got.value["a"]) is type(value)


def test_an_optional_field_left_empty_is_left_out() -> None:
    for asked in ({"type": "integer"}, {"type": "string"}, {"enum": [1, 2]},
                     {"type": ["number", "null"], "default": None},
                     {"type": "array", "items": {"enum": [1]}}):  # fmt: skip
        assert written(one(asked, needed=False), {"a": None}) == Value({})


@pytest.mark.parametrize(
    ("asked", "initial", "emptied"),
    [
        ({"type": "string"}, {"a": "x"}, {}),
        ({"type": "string", "default": "x"}, {"a": "y"}, {"a": ""}),
        ({"type": ["string", "null"], "default": "x"}, MISSING, {"a": None}),
        ({"type": "integer"}, {"a": 5}, {}),
        ({"type": ["integer", "null"]}, {"a": 5}, {"a": None}),
        ({"enum": [1, 2]}, {"a": 1}, {}),
        ({"type": "array", "items": {"enum": [1]}}, {"a": [1]}, {}),
        ({"type": "array", "items": {"enum": [1]}, "default": [1]}, MISSING, {"a": []}),
        ({"type": "array"}, {"a": [5]}, {}),
    ],
)
def test_an_optional_field_that_is_emptied_never_falls_back_to_what_stood_there(
    asked: Any, initial: Any, emptied: Any
) -> None:
    empty: Any = [] if "items" in asked else "none" if "enum" in asked else ""
    assert written(one(asked, needed=False), {"a": empty}, initial) == Value(emptied)


@pytest.mark.parametrize(
    ("asked", "typed", "sentence"),
    [
        ({"type": "number", "minimum": 1000, "maximum": 100000}, "5",
         "Write a number from 1,000 to 100,000."),
        ({"type": "number", "minimum": 1000, "maximum": 100000}, "lots",
         "Write a number from 1,000 to 100,000."),
        ({"type": "number", "exclusiveMinimum": 0}, "0", "Write a number above 0."),
        ({"type": "number", "multipleOf": 0.01}, "0.075", "Write a number in steps of 0.01."),
        ({"type": "number"}, "12345678901234567.89", "Write the number with at most 15 digits."),
        ({"type": "number"}, "1e999", "Write the number with at most 15 digits."),
        ({"type": "integer", "minimum": 1}, "2.5", "Write a whole number from 1 up."),
        ({"type": "integer"}, "9" * 30, "Write a whole number."),
        ({"type": "string"}, "", "Write something here."),
        ({"type": "string", "minLength": 3}, "ab", "Write at least 3 characters."),
        ({"type": "string", "maxLength": 3}, "abcd", "Write at most 3 characters."),
        ({"type": "string", "pattern": "^A-[0-9]+$"}, "B", "Write it in this form: ^A-[0-9]+$"),
        ({"enum": ["x", "y"]}, None, "Choose one of these."),
        ({"enum": ["x", "y"]}, '"z"', "Choose one of these."),
        ({"type": "boolean"}, None, "Choose one of these."),
        ({"enum": [f"v{number}" for number in range(100)]}, "w",
         "Choose one of the 100 values that are allowed, such as v0, v1 or v2."),
        ({"type": "array", "items": {"enum": [1, 2, 3]}, "maxItems": 1}, ["1", "2"],
         "Choose at most 1 of these."),
        ({"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 1, "maxItems": 2}, [],
         "Choose from 1 to 2 of these."),
        ({"type": "string", "format": "date"}, "yesterday", "Choose a day."),
        ({"type": "string", "format": "date-time"}, "2026-12-04",
         "Write a day and a time, such as 2026-12-04T18:00:00Z."),
        ({"type": "string", "format": "time"}, "noon", "Write a time, such as 18:00:00."),
        ({"type": "array"}, "[1,\n2", "This cannot be read. "
         "Look at the commas, quotes and brackets in line 2."),
        ({"type": "array"}, "[NaN]", "This cannot be read. "
         "Look at the commas, quotes and brackets in line 1."),
        ({"type": "array"}, "[" * 3000, "Write something here."),
        ({"type": "array"}, "[" * 30 + "]" * 30, "Write at most 20 levels."),
        ({"type": "object"}, '{"a": 1, "a": 2}', "“a” stands there twice. Keep one of them."),
        ({"type": "array"}, '["\\u0000"]',
         "Leave out letters that cannot be shown and numbers of more than 18 digits."),
        ({"type": "array"}, "5", "Write a list."),
        ({"type": "array", "items": {"type": "string"}}, '["a", 5]', "Entry 2: write text."),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_at_its_field_as_what_to_write(
    asked: Any, typed: Any, sentence: str
) -> None:
    assert written(one(asked), {"a": typed}) == Wrong({"a": sentence})


def test_what_belongs_to_no_field_is_told_at_the_first() -> None:
    schema = one({"type": "string"}) | {"not": {}}
    assert written(schema, {"a": "x"}) == Wrong(
        {"a": "This does not fit what was asked. Look at the question again."}
    )


def test_every_field_that_does_not_fit_is_told_at_once() -> None:
    got = written(DELIVERY, {"amount": "5", "insured": "true", "first_payment": "2026-12-04",
                             "purpose": "x" * 121, "address.city": "Pune"})  # fmt: skip
    assert isinstance(got, Wrong)
    assert got.errors.keys() == {"amount", "purpose"}


def test_a_group_that_may_be_left_out_comes_and_goes_with_its_fields() -> None:
    schema = {
        "type": "object",
        "properties": {"to": {"anyOf": [
            {"type": "object", "required": ["city"], "properties": {
                "city": {"type": "string"},
                "zip": {"type": "string"},
                "country": {"enum": ["India", "Nepal"], "default": "India"},
            }},
            {"type": "null"},
        ]}},
    }  # fmt: skip
    assert written(schema, {}) == Value({})
    assert written(schema, {}, {"to": None}) == Value({"to": None})
    assert written(schema, {"to.city": "Pune"}) == Value(
        {"to": {"city": "Pune", "country": "India"}}
    )
    assert written(schema, {"to.zip": "411001"}) == Wrong({"to.city": "Write something here."})
    there = {"to": {"city": "Pune", "country": "Nepal"}}
    assert written(schema, {"to.city": None, "to.country": "none"}, there) == Value({"to": None})


def test_a_value_without_a_schema_is_edited_by_its_own_kinds() -> None:
    value = {
        "to": "meera@example.com",
        "body": "x" * 121,
        "amount": 4000,
        "sure": True,
        "note": None,
        "tags": ["a"],
        "from": {"city": "Pune"},
        "free": {},
    }
    made = form(None, value)
    assert {field.key: (field.kind, field.multiline) for field in made.fields} == {
        "to": ("text", False),
        "body": ("text", True),
        "amount": ("number", False),
        "sure": ("boolean", False),
        "note": ("text", False),
        "tags": ("json", True),
        "from.city": ("text", False),
        "free": ("json", True),
    }
    got = read(made, None, untouched(made) | {"amount": "3999.5", "note": "soon", "sure": "false"})
    assert got == Value(value | {"amount": 3999.5, "note": "soon", "sure": False})


@pytest.mark.parametrize(
    ("schema", "initial", "kind", "typed", "value"),
    [
        ({"type": "string", "title": "Decision"}, MISSING, "text", "yes", "yes"),
        ({"enum": ["publish", "hold"]}, MISSING, "choice", '"hold"', "hold"),
        ({"type": ["integer", "null"]}, 5, "integer", "", None),
        ({"type": "array", "items": {"enum": [1, 2]}}, [2], "choices", ["1"], [1]),
        (None, 42, "number", "43", 43),
        (None, "x", "text", "y", "y"),
    ],
)
def test_a_value_that_is_no_object_is_one_field(
    schema: Any, initial: Any, kind: str, typed: Any, value: Any
) -> None:
    made = form(schema, initial)
    assert [(field.key, field.kind) for field in made.fields] == [("value", kind)]
    assert not made.raw
    assert read(made, schema, {"value": typed}) == Value(value)


@pytest.mark.parametrize(
    ("schema", "initial"),
    [
        ({"type": "array", "items": {"type": "object"}}, MISSING),
        ({"type": "object"}, MISSING),
        ({"anyOf": [{"type": "string"}, {"type": "object", "properties": {}}]}, "x"),
        ({"$ref": "#"}, {"a": 1}),
        (None, [1, 2]),
        (HOSTILE["10,000 properties"], MISSING),
        ({"type": "object", "properties": {f"p{n}": {} for n in range(FIELDS + 1)}}, MISSING),
    ],
)
def test_what_no_form_can_show_is_edited_as_it_is_written(schema: Any, initial: Any) -> None:
    made = form(schema, initial)
    assert made.raw
    assert [(field.key, field.kind, field.path) for field in made.fields] == [("json", "json", ())]
    assert read(made, None, {"json": '{"b": [1]}'}) == Value({"b": [1]})
    if initial is not MISSING:
        assert read(made, None, untouched(made)) == Value(initial)
    else:
        assert isinstance(read(made, schema, untouched(made)), Wrong)


def test_raw_editing_is_checked_against_the_schema() -> None:
    schema = {"type": "array", "items": {"type": "object", "required": ["id"]}}
    made = form(schema)
    assert read(made, schema, {"json": "[{}]"}) == Wrong(
        {"json": "Entry 1, Id: please fill in this field."}
    )
    assert read(made, schema, {"json": '[{"id": 1}]'}) == Value([{"id": 1}])


def test_too_many_fields_make_their_groups_into_values_before_all_is_raw() -> None:
    group = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(30)}}
    schema = {"type": "object", "properties": {"a": group, "b": group}}
    made = form(schema)
    assert [(field.key, field.kind) for field in made.fields] == [("a", "json"), ("b", "json")]


def test_a_text_that_is_too_long_for_an_input_stays_and_can_be_replaced() -> None:
    value = {"draft": "x" * (TEXT + 1), "rows": [["y" * TEXT]], "title": "T"}
    made = form(None, value)
    assert [field.kept for field in made.fields] == [True, True, False]
    assert [shown(field) for field in made.fields] == ["", "", "T"]
    assert read(made, None, untouched(made) | {"title": "U"}) == Value(value | {"title": "U"})
    assert read(made, None, untouched(made) | {"draft": "new"}) == Value(value | {"draft": "new"})


def test_what_an_input_makes_of_a_text_is_no_edit() -> None:
    value = {"a": "  Dear \u202eMeera,\r\n\u200byours\x07\ud800\n"}
    made = form(None, value)
    back = "Dear ⟨U+202E⟩Meera,\n⟨U+200B⟩yours⟨U+0007⟩"
    assert read(made, None, {"a": back}) == Value(value)
    literal = {"a": "written as ⟨U+202E⟩"}
    assert read(form(None, literal), None, literal) == Value(literal)
    assert read(made, None, {"a": back + " truly"}) == Value(
        {"a": "Dear \u202eMeera,\n\u200byours\x07 truly"}
    )


def test_what_the_value_has_beyond_the_schema_is_shown_and_stays() -> None:
    schema = one({"type": "string"})
    made = form(schema, {"a": "x", "extra": 5})
    assert [field.key for field in made.fields] == ["a", "extra"]
    assert read(made, schema, untouched(made)) == Value({"a": "x", "extra": 5})
    closed = schema | {"additionalProperties": False}
    assert written(closed, {}, {"a": "x", "extra": 5}) == Value({"a": "x"})


def test_a_value_of_another_kind_than_the_schema_wants_is_asked_for_anew() -> None:
    schema = one({"type": "number"})
    made = form(schema, {"a": "lots"})
    assert made.fields[0].initial is MISSING
    assert read(made, schema, untouched(made)) == Wrong({"a": "Write a number."})
    assert read(made, schema, {"a": "5"}) == Value({"a": 5})
    assert written(one({"type": "number"}, needed=False), {}, {"a": "lots"}) == Value({})


def test_a_schema_that_comes_back_to_itself_is_a_value_from_there_on() -> None:
    made = form(HOSTILE["a list of itself"])
    assert [(field.key, field.kind) for field in made.fields] == [
        ("name", "text"),
        ("next", "json"),
    ]


def test_a_form_without_fields_stands_for_its_empty_object() -> None:
    schema = {"type": "object", "properties": {}}
    made = form(schema)
    assert (made.fields, made.raw) == ((), False)
    assert read(made, schema, {}) == Value({})


def test_keys_are_plain_ids_and_never_the_same_for_two_paths() -> None:
    paths = [("a", "b"), ("a.b",), ("a_b",), ("a",), ("",), ("", ""), ("न",), ("म",), ("x" * 99,),
             ("x" * 98,), ("a-b",), ("a b",), ()]  # fmt: skip
    keys = [key_of(path) for path in paths]
    assert len(set(keys)) == len(keys)
    assert all(0 < len(key) <= 60 and key.isascii() and " " not in key for key in keys)
    assert keys[0] == "a.b"


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("initial", [MISSING, None, {"a": "a" * 40 + "!", "b": {"a": 1}}, [1], "x"])
def test_a_hostile_schema_gives_a_form_that_can_be_read(name: str, initial: Any) -> None:
    made = form(HOSTILE[name], initial)
    assert 1 <= len(made.fields) <= FIELDS
    for typed in ({}, untouched(made), {field.key: "x" for field in made.fields}):
        assert isinstance(read(made, HOSTILE[name], typed), Value | Wrong)


def _nested(levels: int) -> Any:
    made: Any = []
    for _ in range(levels):
        made = [made]
    return made


@pytest.mark.parametrize(
    "initial",
    [
        _nested(5_000),
        {"a": _nested(5_000)},
        {"a": 10**5_000},
        {"a": float("nan"), "b": float("inf"), "c": 2**70},
        {"a" * 100_000: "x" * 100_000},
        {f"p{number}": number for number in range(2_000)},
    ],
)
def test_a_hostile_value_gives_a_form_and_stays(initial: Any) -> None:
    for schema in (None, one({"type": "string"}), one({}), {"type": "array"}):
        made = form(schema, initial)
        assert 1 <= len(made.fields) <= FIELDS
        got = read(made, None, {})
        assert isinstance(got, Value)
        if made.raw:
            assert got.value is initial


def test_a_sentence_at_a_field_is_short_whatever_was_written() -> None:
    schema = one({"type": "object", "additionalProperties": {"type": "integer"}})
    got = written(schema, {"a": json.dumps({"x" * 2_000: "y"})})
    assert isinstance(got, Wrong)
    assert len(got.errors["a"]) <= 300


def test_a_pattern_that_would_take_for_ever_is_left_to_the_node() -> None:
    assert written(HOSTILE["a pattern that takes for ever"], {"a": "a" * 60 + "!"}) == Value(
        {"a": "a" * 60 + "!"}
    )


@given(RANDOM, JSON | st.just(MISSING), st.dictionaries(st.text(), JSON))
def test_random_schemas_give_a_form_and_never_raise(
    schema: Any, initial: Any, typed: dict[str, Any]
) -> None:
    made = form(schema, initial)
    keys = [field.key for field in made.fields]
    assert len(set(keys)) == len(keys) <= FIELDS
    assert isinstance(read(made, schema, typed), Value | Wrong)
    got = read(made, schema, untouched(made))
    assert isinstance(got, Wrong) or check(got.value, None, None) in (None, _TOO_MUCH)


@given(fitting())
def test_a_value_that_fits_comes_back_exactly_when_nobody_touches_it(
    pair: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    schema, value = pair
    made = form(schema, value)
    assert not made.raw
    assert read(made, schema, untouched(made)) == Value(value)
    assert read(made, schema, {}) == Value(value)
    assert json.dumps(made.start) == json.dumps(value)


@given(fitting(), st.data())
def test_one_change_changes_nothing_else(
    pair: tuple[dict[str, Any], dict[str, Any]], data: st.DataObject
) -> None:
    schema, value = pair
    schema["properties"]["changed"] = {"type": "string"}
    made = form(schema, value | {"changed": "before"})
    after = data.draw(st.text(min_size=1).filter(lambda text: "⟨" not in text and text.strip()))
    got = read(made, schema, untouched(made) | {"changed": after})
    assert isinstance(got, Value)
    assert {name: one for name, one in got.value.items() if name != "changed"} == value


class Nothing(BaseModel):
    """No fields at all."""


def test_a_model_without_fields_has_nothing_to_fill_in() -> None:
    assert form(Nothing.model_json_schema()).fields == ()


_TOO_MUCH = "The answer has too many levels. Write at most 20."
