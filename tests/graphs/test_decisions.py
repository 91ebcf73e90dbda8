"""What a node may know of who decided."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from langchain_core.runnables import RunnableConfig

from graphs.decisions import customer, decision, decisions, effect_key


def config(*entries: Any, **sayso: Any) -> RunnableConfig:
    known = {"decisions": list(entries), **sayso}
    return {"configurable": {"thread_id": "t1", "sayso": known}}


def entry(node: str, key: str, **more: Any) -> dict[str, Any]:
    return {"interrupt_id": "i", "node": node, "effect_key": key, **more}


def test_the_newest_decision_of_a_node_is_found_by_its_last_name() -> None:
    found = decision(
        config(
            entry("human_review", "k1", note="old"),
            entry("payments/human_review", "k2", note="new"),
            entry("other", "k3"),
        ),
        "human_review",
    )
    assert found is not None
    assert (found.note, found.effect_key) == ("new", "k2")


def test_who_and_when_are_told() -> None:
    alice, dana = {"id": "U0ALICE", "name": "Alice"}, {"id": "U0DANA", "name": "Dana"}
    made = entry("n", "k", by=[alice, dana], decided_at="2026-11-30T09:00:00+00:00", answer=False)
    found = decision(config(made), "n")
    assert found is not None
    assert found.names == "Alice and Dana"
    assert found.at == datetime(2026, 11, 30, 9, tzinfo=UTC)
    assert found.answer is False


def test_outside_sayso_there_are_no_decisions_and_the_key_is_the_threads_own() -> None:
    plain: RunnableConfig = {"configurable": {"thread_id": "t1"}}
    assert decisions(plain) == []
    assert decision(plain, "n") is None
    assert customer(plain) is None
    assert effect_key(plain, "n") == effect_key(plain, "n")
    assert effect_key(plain, "n") != effect_key({"configurable": {"thread_id": "t2"}}, "n")


def test_the_key_of_an_action_is_that_of_the_decision() -> None:
    assert effect_key(config(entry("n", "k")), "n") == "k"


def test_the_customer_is_told_by_name() -> None:
    assert customer(config(customer={"id": "c1", "name": "Asha Traders"})) == "Asha Traders"
    assert customer(config(customer=None)) is None


def test_malformed_entries_are_passed_over() -> None:
    assert decision(config(None, "x", {}), "n") is None
