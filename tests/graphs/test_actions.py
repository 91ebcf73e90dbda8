"""How each way of asking about tool calls is read, and the exact answer that it wants."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs.actions import (
    Action,
    Asking,
    arguments_of,
    asking,
    assemble,
    named,
    note_of,
    problem,
    reply,
    same,
    split,
    verb_of,
)
from graphs.questions import shown

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)
ALL = ["approve", "edit", "reject", "respond"]
CALL = {"name": "pay", "args": {"sum": 4000, "to": "Asha"}, "description": "For the van"}
TURN = {
    "action_requests": [CALL, {"name": "mail", "args": {"text": "Hello"}}],
    "review_configs": [
        {"action_name": "mail", "allowed_decisions": ["respond", "approve"]},
        {"action_name": "pay", "allowed_decisions": ALL},
    ],
}
PER_CALL = {"type": "tool_approval", "tool_call_id": "c1", **CALL}
PER_CALL_SCHEMA = {
    "$defs": {
        "Approve": {"properties": {"type": {"const": "approve"}}, "required": ["type"]},
        "Edit": {
            "properties": {
                "type": {"const": "edit"},
                "edited_action": {"$ref": "#/$defs/Edited"},
            }
        },
        "Edited": {"properties": {"name": {"const": "pay"}, "args": {"$ref": "#/$defs/pay"}}},
        "pay": {"type": "object", "properties": {"sum": {"type": "integer", "maximum": 5000}}},
    },
    "oneOf": [{"$ref": "#/$defs/Edit"}, {"$ref": "#/$defs/Approve"}],
}
INBOX = {
    "action_request": {"action": "pay", "args": {"sum": 4000}},
    "config": {
        "allow_accept": True,
        "allow_edit": True,
        "allow_respond": True,
        "allow_ignore": True,
    },
    "description": "For the van",
}


def test_a_turn_of_the_middleware_is_one_action_for_each_call() -> None:
    found = asking(TURN)
    assert found == Asking(
        "batched",
        (
            Action("pay", CALL["args"], "For the van", tuple(ALL)),
            Action("mail", {"text": "Hello"}, "", ("approve", "respond")),
        ),
    )


def test_a_single_call_of_the_middleware_brings_its_decisions_and_its_schema() -> None:
    found = asking(PER_CALL, PER_CALL_SCHEMA)
    (action,) = found.actions
    assert (found.form, action.tool, action.allowed) == ("per_call", "pay", ("approve", "edit"))
    assert action.schema["properties"]["sum"]["maximum"] == 5000


@pytest.mark.parametrize(("question", "form"), [(INBOX, "inbox"), ([INBOX, INBOX], "inbox_list")])
def test_the_inbox_asks_with_one_or_with_a_list(question: Any, form: str) -> None:
    found = asking(question)
    assert found.form == form
    assert found.actions[0].allowed == ("approve", "edit", "respond", "ignore")


@pytest.mark.parametrize(
    "question",
    [
        {"action_requests": [CALL], "review_configs": []},  # nothing is allowed
        {"action_requests": [], "review_configs": []},
        {"action_requests": [{"args": {}}], "review_configs": TURN["review_configs"]},
        {"type": "tool_approval", "name": "pay"},
        [INBOX, "and this"],
        {**INBOX, "config": {"allow_accept": "yes"}},
        {"question": "Pay?"},
        "Pay?",
        [],
        None,
    ],
)
def test_what_is_not_wholly_one_of_these_is_answered_freely(question: Any) -> None:
    assert asking(question) == Asking("free")


@pytest.mark.parametrize(
    ("question", "verb", "given", "wanted"),
    [
        (TURN, "approve", {}, {"type": "approve"}),
        (TURN, "reject", {"note": "too much"}, {"type": "reject", "message": "too much"}),
        (TURN, "reject", {}, {"type": "reject"}),
        (TURN, "respond", {"note": "paid"}, {"type": "respond", "message": "paid"}),
        (
            TURN,
            "edit",
            {"arguments": {"sum": 1}},
            {"type": "edit", "edited_action": {"name": "pay", "args": {"sum": 1}}},
        ),
        (TURN, "edit", {"arguments": CALL["args"]}, {"type": "approve"}),
        (INBOX, "approve", {}, {"type": "accept", "args": None}),
        (INBOX, "ignore", {}, {"type": "ignore", "args": None}),
        (INBOX, "respond", {"note": "no"}, {"type": "response", "args": "no"}),
        (
            INBOX,
            "edit",
            {"arguments": {"sum": 1}},
            {"type": "edit", "args": {"action": "pay", "args": {"sum": 1}}},
        ),
    ],
)
def test_every_decision_has_the_words_of_its_way_of_asking(
    question: Any, verb: str, given: dict[str, Any], wanted: Any
) -> None:
    found = asking(question)
    made = reply(found.form, found.actions[0], verb, **given)
    assert made == wanted
    assert problem(found, 0, made) is None
    assert verb_of(made) == ("approve" if wanted["type"] == "accept" else verb_of(wanted))


def test_whole_answers_are_put_together_and_taken_apart() -> None:
    ok, no = {"type": "approve"}, {"type": "reject"}
    turn, inbox = asking(TURN), asking([INBOX, INBOX])
    assert assemble(turn, [ok, no]) == {"decisions": [ok, no]}
    assert split(turn, {"decisions": [ok, no]}) == (ok, no)
    assert assemble(inbox, [ok, no]) == [ok, no]
    assert split(inbox, [ok, no]) == (ok, no)
    assert assemble(asking(INBOX), [ok]) == ok
    for wrong in ({"decisions": [ok]}, {"decisions": "ok"}, [ok, no], None, ok):
        assert split(turn, wrong) is None


@pytest.mark.parametrize(
    ("question", "answer", "says"),
    [
        (TURN, {"type": "accept"}, "Choose approve, edit, reject or answer instead."),
        (INBOX, {"type": "approve"}, "Choose approve, edit, answer instead or skip."),
        (TURN, {"type": "yes"}, "Choose"),
        (TURN, "approve", "Choose"),
        (TURN, None, "Choose"),
        (TURN, {"type": "respond", "message": " "}, "Write the answer in words."),
        (TURN, {"type": "reject", "message": 5}, "Write the reason in words."),
        (
            TURN,
            {"type": "edit", "edited_action": {"name": "pay_all", "args": {}}},
            "The action itself cannot be changed",
        ),
        (TURN, {"type": "edit", "edited_action": {"name": "pay", "args": 5}}, "named values"),
        (TURN, {"type": "edit"}, "Write what goes into the action."),
    ],
)
def test_what_does_not_fit_is_told_in_a_sentence(question: Any, answer: Any, says: str) -> None:
    assert says in (problem(asking(question), 0, answer) or "")


@pytest.mark.parametrize(
    ("question", "answer", "what"),
    [
        # What is compared with the card must be what the node reads.
        (
            INBOX,
            {
                "type": "edit",
                "edited_action": {"name": "pay", "args": {"sum": 4000}},
                "args": {"action": "pay", "args": {"sum": 900_000}},
            },
            "edited_action",
        ),
        (INBOX, {"type": "accept", "args": {"action": "pay", "args": {"sum": 900_000}}}, "args"),
        (INBOX, {"type": "accept", "args": "900,000"}, "args"),
        (INBOX, {"type": "ignore", "args": {"sum": 1}}, "args"),
        (TURN, {"type": "approve", "edited_action": {"name": "pay", "args": {}}}, "edited_action"),
        (TURN, {"type": "approve", "args": {"sum": 1}}, "args"),
        (
            TURN,
            {"type": "edit", "edited_action": {"name": "pay", "args": {}, "id": "c2"}},
            "id",
        ),
    ],
)
def test_nothing_goes_along_with_an_answer_that_nobody_is_shown(
    question: Any, answer: Any, what: str
) -> None:
    said = problem(asking(question), 0, answer)
    assert said == f"Leave out {what}. It is no part of this answer."


@pytest.mark.parametrize(
    ("question", "tools"),
    [
        (TURN, {"pay", "mail"}),
        ({**TURN, "review_configs": "none"}, {"pay", "mail"}),
        (PER_CALL, {"pay"}),
        ([INBOX] * 101, {"pay"}),
        (INBOX, {"pay"}),
        ({"action_requests": [5, {"name": 5}], "action_request": []}, set()),
        ("pay", set()),
        (None, set()),
    ],
)
def test_the_tools_of_a_question_are_known_in_whatever_way_it_is_answered(
    question: Any, tools: set[str]
) -> None:
    assert named(question) == tools


def test_an_acceptance_may_bring_the_request_back_as_it_was() -> None:
    back = {"type": "accept", "args": {"action": "pay", "args": {"sum": 4000}}}
    assert problem(asking(INBOX), 0, back) is None


def test_an_edit_has_to_fit_the_schema_of_the_tool() -> None:
    found = asking(PER_CALL, PER_CALL_SCHEMA)
    wanted = {"type": "edit", "edited_action": {"name": "pay", "args": {"sum": 9000}}}
    assert problem(found, 0, wanted) == "Sum: write a number up to 5,000."
    own = {"properties": {"sum": {"maximum": 10}}}
    assert problem(asking(TURN), 0, wanted, own) == "Sum: write a number up to 10."


@pytest.mark.parametrize(
    ("answer", "fits"),
    [
        (None, True),
        ({"do": "continue"}, True),
        ({"do": "stop"}, True),
        ({"do": "change", "values": {"a": 1}}, True),
        ({"do": "change"}, False),
        ("continue", False),
        (False, False),
        ({}, False),
    ],
)
def test_a_stop_is_passed_only_by_its_own_answers(answer: Any, fits: bool) -> None:
    assert (problem(asking({"a": 1}, kind="breakpoint"), 0, answer) is None) is fits


def test_json_values_of_other_types_are_not_the_same() -> None:
    assert same({"a": [1, None]}, {"a": [1, None]})
    assert not same(1, True)
    assert not same(1, 1.0)
    assert not same({"a": 1}, {"a": 1, "b": 2})


def test_the_words_of_an_answer_are_its_note() -> None:
    assert note_of({"type": "reject", "message": "no"}) == "no"
    assert note_of({"type": "response", "args": "paid"}) == "paid"
    assert note_of({"type": "accept", "args": None}) is None


def test_actions_are_shown_with_what_goes_into_them_now() -> None:
    seen = shown(TURN, graph="refund_agent", node="n", arguments=[{"sum": 3500, "to": "Asha"}, {}])
    assert seen.title == "Refund agent wants to: pay, mail"
    pay, mail = seen.actions
    assert pay.facts == (("Sum", "3,500"), ("To", "Asha"))
    assert pay.before == (("Sum", "4,000"),)
    assert [choice.label for choice in pay.choices] == [
        "Approve",
        "Edit",
        "Reject",
        "Answer instead",
    ]
    edited = {"name": "pay", "args": {"sum": 3500, "to": "Asha"}}
    assert pay.choices[0].answer() == {"type": "edit", "edited_action": edited}
    assert mail.before == (("Text", "Hello"),)
    assert (seen.choices, seen.choice("approve", 1)) == ((), mail.choices[0])


def test_a_stop_offers_to_go_on_to_change_and_to_stop() -> None:
    values = {"version": "2.14", "tests": 812}
    seen = shown(
        values, graph="release_agent", node="switch_traffic",
        asked=asking(values, kind="breakpoint"),
    )  # fmt: skip
    assert seen.title == "Release agent waits before: switch traffic"
    go, change, stop = seen.choices
    assert (go.answer(), stop.answer()) == ({"do": "continue"}, {"do": "stop"})
    assert change.answer(values={"version": "2.15", "tests": 812}) == {
        "do": "change",
        "values": {"version": "2.15"},
    }


@given(question=JSON, answer=JSON)
def test_whatever_is_asked_and_answered_nothing_is_raised(question: Any, answer: Any) -> None:
    for one in (
        question,
        {"action_requests": [question], "review_configs": [question]},
        {"type": "tool_approval", "name": "pay", "args": question},
        {"action_request": {"action": "pay", "args": question}, "config": INBOX["config"]},
    ):
        found = asking(one, {"oneOf": [question], "$defs": question})
        shown(one, graph="g", node="n", asked=found)
        split(found, answer)
        problem(found, 0, answer)
        for action in found.actions:
            arguments_of(action, answer)
            for verb in action.allowed:
                json.dumps(reply(found.form, action, verb, note="n", arguments=answer))
