"""Who may start, look, operate and withdraw; which rule stands for which question."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from graphs.policy import (
    Person,
    Policy,
    Reason,
    Refusal,
    Verdict,
    fingerprint,
    may_operate,
    may_start,
    may_view,
    may_withdraw,
)
from graphs.specs import GraphSpec, Operators, People, Rule, seconds

SPEC = GraphSpec(path="a:b")


def someone(user: str = "U0BOB", **facts: Any) -> Person:
    return Person(user, "T0SAYSO", **facts)


def test_the_first_rule_that_matches_by_graph_and_node_stands() -> None:
    rules = (
        Rule(graph="refund"),
        Rule(graph="loan", node="human_review", because="first"),
        Rule(graph="loan", because="any node of the loan"),
    )
    policy = Policy(rules)
    assert policy.rule_for("loan", "human_review") == rules[1]
    assert policy.rule_for("loan", "payments/human_review") == rules[1]
    assert policy.rule_for("loan", "human_review/other") == rules[2]
    assert policy.rule_for("chat", "ask") is None


def test_a_rule_with_the_whole_path_is_for_that_path_alone() -> None:
    policy = Policy((Rule(node="payments/human_review"),))
    assert policy.rule_for("loan", "payments/human_review") is not None
    assert policy.rule_for("loan", "human_review") is None


def test_every_full_member_may_start_and_nobody_from_outside() -> None:
    assert may_start(SPEC, someone()) is None
    for facts, reason in (
        ({"is_guest": True}, Reason.GUEST),
        ({"is_stranger": True}, Reason.OTHER_ORGANISATION),
        ({"deleted": True}, Reason.DEACTIVATED),
        ({"is_bot": True}, Reason.BOT),
        ({"known": False}, Reason.CANNOT_CHECK),
    ):
        refusal = may_start(SPEC, someone(**facts))
        assert refusal is not None
        assert refusal.reason is reason


def test_starters_are_the_named_ones_and_an_empty_list_is_nobody() -> None:
    staff = GraphSpec(path="a:b", starters=People(groups=("S0STAFF",)))
    assert may_start(staff, someone(groups=frozenset({"S0STAFF"}))) is None
    assert may_start(staff, someone()) is not None
    unread = may_start(staff, someone(groups=None))
    assert unread is not None
    assert unread.reason is Reason.CANNOT_CHECK
    assert may_start(GraphSpec(path="a:b", starters=People()), someone()) is not None


def test_requester_approvers_operators_and_viewers_may_look_and_others_not() -> None:
    policy = Policy(operators=Operators(users=("U0OSCAR",)))
    spec = GraphSpec(path="a:b", viewers=People(users=("U0ERIN",)))
    rules = (Rule(approvers=People(users=("U0ALICE",))),)
    for user in ("U0BOB", "U0ALICE", "U0OSCAR", "U0ERIN"):
        assert may_view(spec, policy, someone(user), requester="U0BOB", rules=rules) is None
    refusal = may_view(spec, policy, someone("U0CHARLIE"), requester="U0BOB", rules=rules)
    assert refusal is not None
    gone = may_view(spec, policy, someone("U0BOB", deleted=True), requester="U0BOB")
    assert gone is not None


def test_operators_operate_and_the_requester_withdraws() -> None:
    operators = Operators(users=("U0OSCAR",))
    assert may_operate(operators, someone("U0OSCAR")) is None
    assert may_operate(operators, someone("U0BOB")) is not None
    assert may_operate(Operators(), someone("U0OSCAR")) is not None
    assert may_withdraw(operators, someone("U0BOB"), "U0BOB") is None
    assert may_withdraw(operators, someone("U0OSCAR"), "U0BOB") is None
    assert may_withdraw(operators, someone("U0ALICE"), "U0BOB") is not None
    assert may_withdraw(operators, someone("U0BOB", is_guest=True), "U0BOB") is None
    for facts, reason in (
        ({"known": False}, Reason.CANNOT_CHECK),
        ({"deleted": True}, Reason.DEACTIVATED),
        ({"is_stranger": True}, Reason.OTHER_ORGANISATION),
    ):
        assert may_withdraw(operators, someone("U0BOB", **facts), "U0BOB") == Refusal(reason)


def test_a_rules_fingerprint_is_the_same_for_the_same_rule() -> None:
    assert fingerprint(Rule(quorum=1)) == fingerprint(Rule())
    assert fingerprint(Rule(quorum=2)) != fingerprint(Rule())
    assert fingerprint(None) == ""


def test_a_rule_in_shadow_ends_no_search_and_keeps_no_general_rule_away() -> None:
    shadow, real = Rule(tool="pay", shadow=True), Rule(approvers=People(users=("U0ALICE",)))
    policy = Policy((shadow, real))
    assert policy.rule_for("loan", "ask", "pay") == real
    assert [one.verdict for one in policy.search("loan", "ask", "pay")] == [
        Verdict.SHADOWED,
        Verdict.MATCHES,
    ]
    assert not policy.has_rule_for_one_of({"pay"}, "loan", "ask")
    assert Policy((shadow,)).rule_for("loan", "ask", "pay") is None


def test_a_mistyped_key_of_a_rule_is_a_mistake_and_not_ignored() -> None:
    with pytest.raises(ValidationError, match="aprovers"):
        Rule.model_validate({"aprovers": {"users": ["U0ALICE"]}})


@pytest.mark.parametrize(
    ("text", "value"), [("10s", 10), ("1m", 60), ("1.5h", 5400), ("3d", 259200), ("50ms", 0.05)]
)
def test_durations_are_read(text: str, value: float) -> None:
    assert seconds(text) == value
    for wrong in ("10", "s", "-1s", "1 week", None):
        with pytest.raises(ValueError, match="no duration"):
            seconds(wrong)


def test_a_node_in_words_is_its_label_or_made_from_its_name() -> None:
    spec = GraphSpec(path="a:b", labels={"read_documents": "Read the documents"})
    assert spec.label("payments/read_documents") == "Read the documents"
    assert spec.label("assess_risk") == "Assess risk"
