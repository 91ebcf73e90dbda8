"""How questions are put into words, with a template and without one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from graphs.questions import Choice, Group, Line, asker, shown
from graphs.templates import Template, fill, in_words, name_in_words

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)
SCHEMAS = JSON | st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", "string", "boolean", "array", 5]),
        "title": JSON,
        "enum": JSON,
        "properties": JSON,
        "required": JSON,
    },
)
TEMPLATE = Template.model_validate(
    {
        "node": "ask",
        "title": "Loan of {amount} for {customer.name}",
        "facts": {"Purpose": "{purpose|capital}", "Changed?": "{changed}"},
        "evidence": [
            {"heading": "Risk {risk.score}", "each": ["risk.reasons", "advice"], "line": "{text}"},
            {
                "heading": "Read from {files|count document documents}",
                "each": "files",
                "lead": "{name}",
                "line": "{finding}",
                "none": "Nothing was attached",
            },
        ],
        "approved": "{amount} is paid.",
        "notification": "Risk {risk.score}.",
        "buttons": [
            {"verb": "approve", "label": "Approve", "answer": {"decision": "approve"}},
            {
                "verb": "reject",
                "label": "Reject",
                "needs": "note",
                "answer": {"decision": "reject", "note": "{note}"},
            },
            {"verb": "skip", "label": "Skip", "answer": None, "given": "files"},
        ],
    }
)
QUESTION = {
    "amount": 60000,
    "customer": {"name": "Asha Traders"},
    "purpose": "a delivery van",
    "risk": {"score": 71, "reasons": [{"text": "Two payments were late."}]},
    "advice": [{"text": "Look at the rent."}],
    "files": [{"name": "a.pdf", "finding": "income 31,400"}],
}


def see(question: Any, schema: Any = None, graph: str = "release_agent") -> Any:
    return shown(question, graph=graph, node="ask", schema=schema)


def test_a_template_gives_title_facts_evidence_and_buttons() -> None:
    seen = shown(QUESTION, graph="loan", node="ask", template=TEMPLATE)
    assert seen.title == "Loan of 60,000 for Asha Traders"
    assert seen.facts == (("Purpose", "A delivery van"),)
    assert seen.groups == (
        Group("Risk 71", (Line("Two payments were late."), Line("Look at the rent."))),
        Group("Read from 1 document", (Line("income 31,400", lead="a.pdf"),)),
    )
    assert seen.if_approved == "60,000 is paid."
    assert seen.plain == "Risk 71."
    assert [choice.verb for choice in seen.choices] == ["approve", "reject", "skip"]


def test_a_list_without_entries_says_so_or_is_left_out() -> None:
    empty = {**QUESTION, "files": [], "risk": {"score": 1}, "advice": []}
    seen = shown(empty, graph="loan", node="ask", template=TEMPLATE)
    assert seen.groups == (Group("Nothing was attached"),)
    assert seen.choice("skip") is None


def test_a_template_over_a_question_of_another_shape_says_not_given() -> None:
    seen = shown("only words", graph="loan", node="ask", template=TEMPLATE)
    assert seen.title == "Loan of not given for not given"


def test_a_note_stands_where_the_answer_has_its_place_and_nowhere_else() -> None:
    reject = shown(QUESTION, graph="loan", node="ask", template=TEMPLATE).choice("reject")
    assert reject is not None
    assert reject.answer("Too much.") == {"decision": "reject", "note": "Too much."}
    assert reject.answer(None) == {"decision": "reject", "note": None}
    assert Choice("option_1", "{note}", reply="{note}").answer("words") == "{note}"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("{", "a brace stands alone"),
        ("a } b", "a brace stands alone"),
        ("{}", "does not name a value"),
        ("{a b}", "does not name a value"),
        ("{a|shout}", "after the bar comes"),
    ],
)
def test_a_malformed_slot_is_refused_when_the_configuration_is_read(words: str, says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Template(node="ask", title=words)


def test_braces_written_twice_stay_braces() -> None:
    assert fill("{{{amount}}} {{x}}", {"amount": 5}) == "{5} {x}"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (60000, "60,000"),
        (Decimal("1234.50"), "1,234.50"),
        (True, "Yes"),
        (False, "No"),
        (None, "not given"),
        ("", "empty"),
        ("two\nlines", "two lines"),
        ([], "empty"),
        (["a", 2000], "a, 2,000"),
        ([{}], "1 entry"),
        ({"a": 1, "b": 2}, "2 values"),
    ],
)
def test_values_are_written_as_people_read_them(value: Any, words: str) -> None:
    assert in_words(value) == words


def test_a_number_too_long_to_write_out_is_described() -> None:
    assert in_words(10**5000) == "a number of thousands of digits"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("issue_refund", "Issue refund"),
        ("issueRefund", "Issue refund"),
        ("EMI", "EMI"),
        ("planned-for", "Planned for"),
        ("", ""),
    ],
)
def test_names_from_code_become_words(name: str, words: str) -> None:
    assert name_in_words(name) == words


def test_a_graph_is_called_what_it_is() -> None:
    assert asker("release_agent") == "Release agent"
    assert asker("loan") == "Loan process"


def test_a_short_text_is_the_title_and_is_answered_in_words() -> None:
    seen = see("Deploy version 2.14 to production now?")
    assert seen.title == "Deploy version 2.14 to production now?"
    assert seen.asks == "answer"
    assert seen.consequence == "Your words go to the release agent exactly as you write them."
    assert seen.choices[0].label == "Answer"
    assert seen.choices[0].needs == "note"
    assert seen.choices[0].answer("not yet") == "not yet"


def test_a_long_text_is_quoted_under_a_title_of_ours() -> None:
    seen = see("x" * 5000)
    assert seen.title == "Release agent needs an answer"
    assert seen.groups[0].heading == "It asks, first 280 of 5,000 characters"
    assert seen.groups[0].kind == "quote"


@pytest.mark.parametrize(
    ("value", "says"),
    [(42, "42"), (None, "nothing"), (True, "Yes"), (["a", "b"], "a, b"), ([], "empty")],
)
def test_a_bare_value_says_only_itself(value: Any, says: str) -> None:
    seen = see(value)
    assert seen.title == "Release agent needs an answer"
    assert seen.facts == (("It says only", says),)


def test_a_dictionary_shows_its_question_short_values_prose_and_options() -> None:
    seen = see(
        {
            "question": "Publish this post?",
            "title": "What small shops would do",
            "planned_for": "2026-12-02",
            "word_count": 1204,
            "sponsored": False,
            "recommendation": "publish",
            "draft": "y" * 7312,
            "sources": list(range(12)),
            "scores": {"a": {"b": {"c": 1}}, "d": 2},
            "options": ["publish", "rewrite", "drop"],
        },
        graph="content_agent",
    )
    assert seen.title == "Publish this post?"
    assert seen.facts == (
        ("Title", "What small shops would do"),
        ("Planned for", "2026-12-02"),
        ("Word count", "1,204"),
        ("Sponsored", "No"),
        ("Recommendation", "publish"),
    )
    assert seen.groups[0].heading == "Draft, first 280 of 7,312 characters"
    assert seen.groups[1] == Group(
        "Under Details", (Line("sources (12), scores (2 values, 3 levels deep)"),), "plain"
    )
    assert [(one.verb, one.label, one.style) for one in seen.choices] == [
        ("option_1", "Publish", ""),
        ("option_2", "Rewrite", ""),
        ("option_3", "Drop", ""),
        ("answer", "Something else", ""),
    ]
    assert seen.choices[2].answer(None) == "drop"
    assert seen.consequence == "Your choice goes to the content agent."


def test_options_may_be_numbers_false_and_tables_with_labels() -> None:
    seen = see({"options": [0, False, {"label": "Wait", "value": {"wait": 1}}]})
    assert [one.answer(None) for one in seen.choices[:3]] == [0, False, {"wait": 1}]


def test_many_fields_are_counted_and_not_all_shown() -> None:
    seen = see({f"field_{number}": number for number in range(60)})
    assert len(seen.facts) == 8
    assert seen.groups[-1].lines[0].text.endswith("and 40 more")


def test_a_schema_that_lists_its_values_becomes_buttons() -> None:
    assert [one.answer(None) for one in see("Sure?", {"type": "boolean"}).choices] == [True, False]
    schema = {
        "type": "object",
        "properties": {"decision": {"enum": ["approve", "reject"]}, "note": {"type": "string"}},
        "required": ["decision"],
    }
    seen = see({"question": "Publish?"}, schema)
    assert [(one.label, one.answer(None)) for one in seen.choices[:2]] == [
        ("Approve", {"decision": "approve"}),
        ("Reject", {"decision": "reject"}),
    ]
    assert [(one.label, one.needs) for one in seen.choices[2:]] == [("Fill in", "form")]


def test_an_answer_to_a_schema_may_be_written_as_json() -> None:
    choice = see("How many?", {"type": "integer"}).choices[0]
    assert choice.answer("12") == 12
    assert choice.answer("twelve") == "twelve"


def test_unstorable_characters_do_not_reach_the_card() -> None:
    assert see("a\x00b\ud800c").title == "abc"


@given(question=JSON, schema=SCHEMAS)
def test_any_question_can_be_shown_and_pressed(question: Any, schema: Any) -> None:
    for template in (None, TEMPLATE):
        seen = shown(question, graph="g", node="n", template=template, schema=schema)
        assert seen.title.strip()
        assert "\n" not in seen.title
        assert seen.choices
        assert len({choice.verb for choice in seen.choices}) == len(seen.choices)
        for choice in seen.choices:
            choice.answer("words")


@given(words=st.text(), question=JSON)
def test_any_words_are_refused_or_can_be_filled(words: str, question: Any) -> None:
    try:
        template = Template(node="n", title=words)
    except ValidationError:
        return
    fill(template.title, question)
