"""What counts together, how many it takes, and when nothing can be reached any more."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs.specs import People, Rule, Stage
from graphs.tallies import AGAINST, Ballot, count, stage_of

THREE = People(users=("A", "B", "C"))
YES: dict[str, Any] = {"decision": "approve"}
NO: dict[str, Any] = {"decision": "reject"}


def yes(voter: str, note: str | None = None, **more: Any) -> Ballot:
    verb = "approve_with_conditions" if note else "approve"
    return Ballot(voter, voter.lower(), verb, "approved", {**YES, "note": note, **more}, note)


def no(voter: str, note: str | None = None) -> Ballot:
    return Ballot(voter, voter.lower(), "reject", "rejected", {**NO, "note": note}, note)


def test_conditions_do_not_make_it_another_thing_and_are_all_kept() -> None:
    rule = Rule(approvers=THREE, quorum=3)
    ballots = [yes("A", "insured"), yes("B"), yes("C", "by May")]
    assert count(ballots[:2], rule, "R").have == 2
    tally = count(ballots, rule, "R")
    assert (tally.have, tally.need) == (3, 3)
    assert tally.decided is not None
    assert tally.decided.answer == {**YES, "note": "a: insured\nc: by May"}
    assert (tally.decided.verb, tally.decided.voter) == ("approve_with_conditions", "C")


def test_the_only_condition_reaches_the_node_as_it_was_written() -> None:
    tally = count([yes("A", "insured"), yes("B")], Rule(approvers=THREE, quorum=2), "R")
    assert tally.decided is not None
    assert tally.decided.answer == {**YES, "note": "insured"}


def test_another_amount_is_another_thing() -> None:
    tally = count([yes("A", amount=1), yes("B", amount=2)], Rule(approvers=THREE, quorum=2), "R")
    assert (tally.have, tally.decided) == (1, None)


def test_a_condition_that_is_the_text_of_another_value_changes_only_itself() -> None:
    rule = Rule(approvers=THREE, quorum=2)
    tally = count([yes("A", "5000", amount="5000"), yes("B", "900", amount="900")], rule, "R")
    assert (tally.have, tally.decided) == (1, None)
    tally = count([yes("A", "ok", to="Asha"), yes("B", "Asha", to="Asha")], rule, "R")
    assert tally.decided is not None
    assert tally.decided.answer == {**YES, "to": "Asha", "note": "a: ok\nb: Asha"}
    tally = count([yes("A", "approve"), yes("B", "approve")], rule, "R")
    assert tally.decided is not None
    assert tally.decided.answer["decision"] == "approve"


def test_where_the_condition_stands_twice_all_of_the_answer_is_what_is_counted() -> None:
    def said(who: str, text: str) -> Ballot:
        answer = {**YES, "limit": text, "terms": {"limit": text}}
        return Ballot(who, who, "approve_with_conditions", "approved", answer, text)

    rule = Rule(approvers=THREE, quorum=2)
    assert count([said("A", "5"), said("B", "900")], rule, "R").decided is None
    tally = count([said("A", "5"), said("B", "5")], rule, "R")
    assert tally.decided is not None
    assert tally.decided.answer == said("B", "5").answer


def test_free_words_are_the_answer_itself() -> None:
    said = [Ballot(who, "", "answer", "answered", who, who) for who in ("A", "B")]
    assert count(said, Rule(approvers=THREE, quorum=2), "R").decided is None


@pytest.mark.parametrize(("rejections", "decided"), [(1, True), (2, False)])
def test_so_many_decide_against_it_whatever_their_reasons(rejections: int, decided: bool) -> None:
    rule = Rule(approvers=THREE, quorum=3, rejections=rejections)
    assert (count([no("A", "late")], rule, "R").decided is not None) is decided
    tally = count([no("A", "late"), no("B", "dear")], rule, "R")
    assert tally.decided is not None
    assert tally.decided.note == "dear"


def test_what_nobody_can_reach_any_more_is_rejected_and_says_so() -> None:
    rule = Rule(approvers=People(users=("A", "B", "R")), quorum=2, rejections=2)
    tally = count([no("A"), yes("B")], rule, "R")  # who asked has no vote
    assert (tally.out_of_reach, tally.decided) == (True, no("A"))
    assert count([no("A"), yes("B")], rule, "X").decided is None  # R may vote then
    anybody = Rule(approvers=People(users=("A", "B"), groups=("S",)), quorum=2, rejections=2)
    assert count([no("A"), yes("B")], anybody, "R").decided is None


@given(
    said=st.lists(st.booleans(), min_size=1, max_size=7),
    quorum=st.integers(1, 4),
    rejections=st.integers(1, 4),
)
def test_everybody_having_voted_something_is_decided_exactly_once(
    said: list[bool], quorum: int, rejections: int
) -> None:
    users = tuple(str(number) for number in range(len(said)))
    rule = Rule(approvers=People(users=users), quorum=quorum, rejections=rejections)
    ballots = [yes(who) if each else no(who) for who, each in zip(users, said, strict=True)]
    for number in range(1, len(ballots) + 1):
        tally = count(ballots[:number], rule, "R")
        for_it = sum(said[:number])
        if tally.decided is None:
            assert for_it < quorum
            assert number - for_it < rejections
            continue
        against = tally.decided.outcome in AGAINST
        assert (for_it >= quorum) is not against or number - for_it >= rejections
        return
    assert not any(ballot.outcome == "rejected" for ballot in ballots)  # nobody said a word against


# Stages

FINANCE_THEN_RISK = Rule(
    stages=(
        Stage(approvers=People(users=("F",))),
        Stage(approvers=People(users=("A", "B", "C")), quorum=2),
    )
)


def test_stages_are_passed_in_their_order_and_the_last_decides_with_everybodys_words() -> None:
    ballots = [yes("F", "insured"), yes("A"), yes("B", "by May")]
    first, second, third = (count(ballots[:n], FINANCE_THEN_RISK, "R") for n in (1, 2, 3))
    assert (first.have, first.need, first.stage, first.decided) == (1, 1, 1, None)
    assert (second.have, second.need, second.stage, second.decided) == (1, 2, 1, None)
    assert third.decided is not None
    assert third.decided.answer == {**YES, "note": "f: insured\nb: by May"}


def test_a_rejection_in_any_stage_decides_and_counts_over_all_of_them() -> None:
    assert count([yes("F"), no("A")], FINANCE_THEN_RISK, "R").decided is not None
    two = FINANCE_THEN_RISK.model_copy(update={"rejections": 2})
    assert count([no("F"), yes("F2")], two, "R").decided is None
    assert count([no("F"), yes("F2"), no("A")], two, "R").decided is not None


def test_a_stage_that_nobody_is_left_for_is_out_of_reach() -> None:
    again = Rule(stages=(Stage(approvers=People(users=("A",))),) * 2)
    tally = count([yes("A")], again, "R")
    assert (tally.out_of_reach, tally.decided, tally.stage) == (True, None, 1)


@given(st.lists(st.sampled_from(["yes", "other", "no"]), max_size=12), st.integers(1, 3))
def test_the_open_stage_only_rises_and_never_passes_the_last(said: list[str], quorum: int) -> None:
    people = People(groups=("S",))
    rule = Rule(stages=(Stage(approvers=people, quorum=quorum),) * 3, rejections=99)
    made = {"yes": yes, "other": lambda voter: yes(voter, amount=1), "no": no}
    ballots = [made[one](f"V{place}") for place, one in enumerate(said)]
    stages = [stage_of([one.hash for one in ballots[:n]], rule) for n in range(len(ballots) + 1)]
    assert stages == sorted(stages)
    assert not stages or stages[-1] <= 2
    assert stages[0] == 0
