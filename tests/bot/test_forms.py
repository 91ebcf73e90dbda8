"""The window of any form: its golden files, Slack's limits, and the way back to the value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bot import forms, limits
from bot.simulator import modals, strictness, views
from bot.values import visible
from bot.views import Ref
from graphs.entries import shown
from graphs.forms import Value, Wrong, form, read
from graphs.plain import plain
from graphs.templates import MISSING
from tests.bot.form_samples import DELIVERY, FORMS, LETTER, REFUND, window
from tests.graphs.schema_samples import HOSTILE, JSON, RANDOM, fitting, leaf

GOLDEN = Path(__file__).parent / "golden" / "forms"


def walk(value: Any) -> Iterator[dict[str, Any]]:
    """Every dictionary in a view, outermost first."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from walk(inner)


def inputs(view: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {block["block_id"]: block for block in view["blocks"] if block["type"] == "input"}


def submitted(view: dict[str, Any], **values: Any) -> dict[str, Any]:
    """What `forms.typed` finds when these values were put in, as the local Slack puts them."""
    state = views.initial_values(view["blocks"])
    for key, value in values.items():
        element = inputs(view)[key]["element"]
        state[key][element["action_id"]] = modals.state_of(element, value)
    return forms.typed({**view, "state": {"values": state}})


def passes(view: dict[str, Any]) -> None:
    limits.check_view(view)
    strictness.check_view(view, "modal")


@pytest.mark.parametrize("name", FORMS)
def test_the_window_is_what_the_golden_file_says(name: str, request: pytest.FixtureRequest) -> None:
    file = GOLDEN / f"{name}.json"
    text = json.dumps(FORMS[name](), indent=2, ensure_ascii=False) + "\n"
    if request.config.getoption("--update-golden", default=False):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert file.exists(), f"{file.name} is missing: run pytest tests/bot --update-golden"
    assert text.encode() == file.read_bytes(), f"{file.name} differs: look, then update it"


def test_every_golden_file_of_a_form_is_still_made_by_something() -> None:
    assert {file.stem for file in GOLDEN.glob("*.json")} == set(FORMS)


@pytest.mark.parametrize("name", FORMS)
def test_every_window_passes_the_gate_and_the_local_slack(name: str) -> None:
    passes(FORMS[name]())


@pytest.mark.parametrize("name", FORMS)
def test_an_input_has_its_fields_key_and_no_emoji(name: str) -> None:
    view = FORMS[name]()
    assert all(block["element"]["action_id"] == "value" for block in inputs(view).values())
    assert all(part["emoji"] is False for part in walk(view) if part.get("type") == "plain_text")
    assert sum(bool(part.get("focus_on_load")) for part in walk(view)) <= 1
    assert view["private_metadata"] == "412.2"


def test_each_kind_of_field_has_its_input() -> None:
    elements = {key: block["element"] for key, block in inputs(FORMS["delivery"]()).items()}
    assert {key: element["type"] for key, element in elements.items()} == {
        "amount": "number_input",
        "purpose": "plain_text_input",
        "memo": "plain_text_input",
        "months": "static_select",
        "insured": "radio_buttons",
        "first_payment": "datepicker",
        "pick_up": "plain_text_input",
        "carrier": "radio_buttons",
        "extras": "checkboxes",
        "count": "number_input",
        "fee": "number_input",
        "address.city": "plain_text_input",
        "address.street": "plain_text_input",
        "other_address.city": "plain_text_input",
        "other_address.street": "plain_text_input",
        "tags": "plain_text_input",
    }
    assert [elements[key]["multiline"] for key in ("purpose", "memo", "tags")] == [
        False,
        True,
        True,
    ]
    assert elements["months"]["initial_option"]["value"] == "24"
    assert elements["count"] == {
        "type": "number_input",
        "is_decimal_allowed": False,
        "min_value": "1",
        "initial_value": "1",
        "action_id": "value",
    }
    assert "initial_option" not in elements["insured"], "not answered is not No"


@pytest.mark.parametrize(
    ("count", "one", "several"),
    [
        (3, "radio_buttons", "checkboxes"),
        (4, "static_select", "checkboxes"),
        (10, "static_select", "checkboxes"),
        (11, "static_select", "multi_static_select"),
        (99, "static_select", "multi_static_select"),
        (100, "plain_text_input", "plain_text_input"),
    ],
)
def test_the_number_of_options_decides_how_they_are_offered(
    count: int, one: str, several: str
) -> None:
    options = {"enum": [f"v{number}" for number in range(count)]}
    schema = {
        "type": "object",
        "properties": {"one": options, "several": {"type": "array", "items": options}},
    }
    view = window(form(schema))
    passes(view)
    found = {key: block["element"]["type"] for key, block in inputs(view).items()}
    assert found == {"one": one, "several": several}


def test_a_choice_that_may_be_empty_can_be_emptied_again() -> None:
    schema = {"type": "object", "properties": {"sure": {"type": ["boolean", "null"]}}}
    made = form(schema, {"sure": True})
    view = window(made)
    labels = [option["text"]["text"] for option in inputs(view)["sure"]["element"]["options"]]
    assert labels == ["Yes", "No", "No answer"]
    assert read(made, schema, submitted(view, sure="No answer")) == Value({"sure": None})
    assert read(made, schema, submitted(view, sure="No")) == Value({"sure": False})


def test_limits_stand_in_the_hint_and_in_the_input() -> None:
    hints = {
        key: block["hint"]["text"]
        for key, block in inputs(FORMS["delivery"]()).items()
        if "hint" in block
    }
    assert hints["amount"] == "In rupees. From 1,000 to 100,000."
    assert hints["purpose"] == "At most 120 characters."
    assert hints["count"] == "At least 1."
    assert hints["pick_up"] == "A day and a time, such as 2026-12-04T18:00:00Z."
    assert hints["tags"] == "Keep the punctuation: quotes, commas and brackets."
    assert inputs(FORMS["delivery"]())["amount"]["element"]["max_value"] == "100000"


def test_a_number_that_slack_would_round_is_typed_as_text() -> None:
    made = form(None, {"id": 9_007_199_254_740_993, "tiny": 1e-300, "plain": 0.25})
    found = {key: block["element"] for key, block in inputs(window(made)).items()}
    assert [found[key]["type"] for key in ("id", "tiny", "plain")] == [
        "plain_text_input",
        "plain_text_input",
        "number_input",
    ]
    assert found["id"]["initial_value"] == "9007199254740993"


def test_what_is_too_long_for_an_input_is_named_and_kept() -> None:
    made = form(None, LETTER)
    view = window(made)
    draft = inputs(view)["draft"]
    assert "initial_value" not in draft["element"]
    assert draft["optional"]
    assert draft["hint"]["text"].startswith("Its 7,312 characters are too many to change here")
    assert read(made, None, submitted(view, to="a@b.in")) == Value(LETTER | {"to": "a@b.in"})


def test_what_was_typed_stands_in_the_window_again() -> None:
    found = {key: block["element"] for key, block in inputs(FORMS["delivery-typed"]()).items()}
    assert found["amount"]["initial_value"] == "5"
    assert "min_value" not in found["amount"], "Slack refuses a number out of its own bounds"
    assert found["insured"]["initial_option"]["value"] == "true"
    assert [option["value"] for option in found["extras"]["initial_options"]] == ['"night"']


def test_a_block_of_the_window_gives_way_to_a_field_of_its_name() -> None:
    ids = [block["block_id"] for block in FORMS["hostile"]()["blocks"]]
    assert ids == ["-summary", "summary", "pick", "effect"]


def test_hostile_labels_and_options_stay_letters() -> None:
    view = FORMS["hostile"]()
    texts = [part["text"] for part in walk(view) if part.get("type") == "plain_text"]
    assert "<@U1|me> :tada: ⟨U+202E⟩evil" in texts
    assert not any("\u202e" in text or "\x00" in text for text in texts)


def test_errors_find_their_fields() -> None:
    made = form(DELIVERY)
    view = window(made)
    got = read(made, DELIVERY, submitted(view, amount="5", purpose="A van"))
    assert isinstance(got, Wrong)
    assert got.errors.keys() <= inputs(view).keys()
    assert got.errors["amount"] == "Write a number from 1,000 to 100,000."


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"state": None},
        {"state": {"values": []}},
        {"state": {"values": {"a": None, "b": {"value": 5}, "c": {"other": {}}}}},
        {"state": {"values": {"a": {"value": {"selected_options": "x"}}}}},
        {"state": {"values": {"a": {"value": {"selected_option": 5}}}}},
        {"state": {"values": {"a": {"value": {"selected_options": [None, {"value": {}}]}}}}},
        {"state": {"values": {"a": {"value": {"value": {"deep": [1]}}}}}},
    ],
)
def test_a_window_of_another_shape_is_read_as_nothing_typed(payload: dict[str, Any]) -> None:
    typed = forms.typed(payload)
    made = form(None, {"a": "x", "b": 5})
    assert isinstance(read(made, None, typed), Value | Wrong)


@pytest.mark.parametrize("name", HOSTILE)
def test_the_window_of_a_hostile_schema_passes_the_gate(name: str) -> None:
    for initial in (MISSING, {"a": "x" * 4_000, "summary": "\u202e" * 400}):
        made = form(HOSTILE[name], initial)
        view = window(made)
        passes(view)
        assert isinstance(read(made, HOSTILE[name], submitted(view)), Value | Wrong)


@given(RANDOM, JSON | st.just(MISSING), st.text(), st.text())
def test_random_schemas_and_values_give_a_window_that_passes_the_gate(
    schema: Any, initial: Any, name: str, title: str
) -> None:
    made = form(schema, initial)
    view = forms.view(name, title, made, Ref(1), submit="Approve as changed")
    passes(view)
    assert list(inputs(view)) == [field.key for field in made.fields]
    got = read(made, schema, submitted(view))
    assert isinstance(got, Value) or got.errors.keys() <= inputs(view).keys() or not made.fields


@given(fitting())
def test_a_value_that_fits_comes_back_exactly_through_the_window(
    pair: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    schema, value = pair
    made = form(schema, value)
    view = window(made)
    passes(view)
    assert read(made, schema, submitted(view)) == Value(value)
    assert not modals._client_errors(
        {**view, "state": {"values": views.initial_values(view["blocks"])}}
    ), "an untouched window can be submitted"


@given(leaf())
def test_a_value_typed_into_an_empty_window_is_that_value(pair: tuple[Any, Any]) -> None:
    asked, value = pair
    schema = {"type": "object", "properties": {"a": asked}, "required": ["a"]}
    there, empty = form(schema, {"a": value}), form(schema)
    assume(there.fields[0].kind == empty.fields[0].kind)  # without a kind the value gives it
    typed = submitted(window(there))["a"]
    assume(isinstance(typed, list) or (isinstance(typed, str) and typed.strip()))
    assume(plain(value) == value and "\\r" not in json.dumps(value))
    # Digits mean themselves: from here on a float has fewer of them than are written
    assume(not isinstance(value, float) or not 2**53 <= abs(value) < 2**63)
    got = read(empty, schema, submitted(window(empty)) | {"a": typed})
    if there.fields[0].kind == "choices":
        value = [one for _, one in there.fields[0].options if one in value]
    assert got == Value({"a": value})


def test_the_letters_of_an_input_are_those_that_people_see() -> None:
    made = form(None, REFUND | {"reason": "broken \u202elamp"})
    assert inputs(window(made))["reason"]["element"]["initial_value"] == visible(
        str(shown(made.fields[2]))
    )
