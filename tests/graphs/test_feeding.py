"""What is fed next, for every way in which an owner before may have left the thread."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from graphs.feeding import State, plan, resume_map
from graphs.mailbox import Row

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def row(
    number: int, kind: Any, interrupt: str | None = None, answer: str = "null", **body: Any
) -> Row:
    said = answer if interrupt else None
    return Row(number, kind, body, number if interrupt else None, interrupt, said, NOW)


def rest(**facts: Any) -> State:
    return State(fresh=False, **facts)


def test_a_new_thread_is_fed_its_start_under_the_rows_own_run_id() -> None:
    got = plan(State(fresh=True), [row(7, "start"), row(8, "say")])
    assert (got.do, got.fed, got.run_id) == ("input", (7,), "7")


def test_nothing_to_feed_is_only_settled() -> None:
    assert plan(State(fresh=True), []).do == "settle"
    assert plan(rest(), []).do == "settle"


def test_all_answers_that_wait_are_fed_together_and_a_say_waits() -> None:
    rows = [row(1, "say"), row(2, "answer", "a"), row(3, "answer", "b"), row(4, "retry")]
    got = plan(rest(pending=frozenset("abc")), rows)
    assert (got.do, got.fed, got.taken) == ("answers", (2, 3, 4), ())
    assert resume_map(got, {2: None, 3: {"x": 1}}) == {"a": None, "b": {"x": 1}}


def test_an_answer_whose_question_is_gone_was_taken_and_is_not_fed_again() -> None:
    got = plan(rest(unfinished=True), [row(2, "answer", "a")])
    assert (got.do, got.taken) == ("go_on", (2,))
    assert plan(rest(), [row(2, "answer", "a")]).taken == (2,)


def test_while_all_wait_for_people_nothing_is_run() -> None:
    got = plan(rest(pending=frozenset("a"), run_id="1"), [row(1, "start"), row(2, "say")])
    assert (got.do, got.taken) == ("settle", (1,))


def test_a_start_in_mid_run_is_fed_again_under_the_same_run_id() -> None:
    got = plan(rest(unfinished=True, run_id="1"), [row(1, "start")])
    assert (got.do, got.fed, got.run_id) == ("input", (1,), "1")


def test_a_run_in_mid_flight_without_its_row_goes_on_without_input() -> None:
    got = plan(rest(unfinished=True, run_id="1"), [row(5, "say")])
    assert (got.do, got.fed, got.run_id) == ("go_on", (), "1")


def test_an_error_waits_for_its_retry() -> None:
    assert plan(rest(failed=True, run_id="1"), [row(1, "start")]).do == "settle"
    got = plan(rest(failed=True), [row(9, "retry")])
    assert (got.do, got.fed) == ("go_on", (9,))


def test_a_breakpoint_is_passed_only_with_its_answer() -> None:
    stopped = rest(unfinished=True, breakpoints=frozenset({"breakpoint:1"}))
    assert plan(stopped, [row(3, "say")]).do == "settle"
    got = plan(stopped, [row(3, "answer", "breakpoint:1")])
    assert (got.do, got.fed) == ("go_on", (3,))
    passed = plan(rest(unfinished=True), [row(3, "answer", "breakpoint:1")])
    assert passed.taken == (3,)


def test_turns_are_fed_one_after_the_other() -> None:
    got = plan(rest(run_id="1"), [row(1, "start"), row(2, "say"), row(3, "say")])
    assert (got.do, got.fed, got.taken) == ("input", (2,), (1,))


def test_a_say_goes_over_the_questions_that_were_taken_back_for_it_and_no_others() -> None:
    say = replace(row(2, "say"), body={"over": ["a", "b"]})
    got = plan(rest(pending=frozenset("ab")), [row(1, "say"), say])
    assert (got.do, got.fed) == ("input", (1,))  # the oldest first; it drops them
    assert plan(rest(pending=frozenset("abc")), [say]).do == "settle"
    assert plan(rest(), [say]).fed == (2,)
    answered = plan(rest(pending=frozenset("ab")), [say, row(3, "answer", "a")])
    assert (answered.do, answered.fed) == ("answers", (3,))


def test_a_say_goes_over_a_stop_that_was_taken_back_for_it_and_over_no_answer_to_it() -> None:
    stop = rest(breakpoints=frozenset({"breakpoint:1"}), unfinished=True)
    say = replace(row(2, "say"), body={"over": ["breakpoint:1"]})
    assert plan(stop, [row(1, "say")]).do == "settle"
    assert (plan(stop, [say]).do, plan(stop, [say]).fed) == ("input", (2,))
    assert plan(stop, [say, row(3, "answer", "breakpoint:1")]).do == "go_on"
    half_way = rest(unfinished=True, run_id="2")
    assert (plan(half_way, [say]).do, plan(half_way, [say]).run_id) == ("input", "2")
