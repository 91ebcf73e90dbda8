"""Reviews as rows: what a question keeps of what the node said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphs import reviews
from graphs.plain import digest
from graphs.policy import Policy
from graphs.specs import People, Rule
from tests.graphs.conftest import House


async def test_a_question_that_changes_is_asked_anew_where_another_rule_is_for_it_now(
    house: Callable[..., House],
) -> None:
    here = house()
    thread_id = await here.start("loan")
    large = Rule(when="question.sum > 50", approvers=People(users=("U0ERIN",)))
    policy = Policy((large, Rule(approvers=People(users=("U0ALICE",)))))

    async def put(question: Any) -> reviews.Opened:
        async with here.database.transaction() as connection:
            made = await reviews.put(
                connection, thread_id=thread_id, graph="loan", audience="reviewers",
                asked=reviews.Asked("a" * 32, "ask", "1", question, digest(question)),
                rule_for=lambda _: policy.rule_for("loan", "ask", None, {"question": question}),
            )  # fmt: skip
        assert made is not None
        return made

    first = await put({"sum": 10})
    assert (await put({"sum": 20})).revised
    grown = await put({"sum": 9000})
    assert (grown.created, grown.replaced) == (True, first.review_id)
    review = await reviews.get(here.database, grown.review_id)
    assert review.rule is not None
    assert review.rule.approvers.users == ("U0ERIN",)


async def test_a_question_keeps_its_keys_in_their_own_order_also_when_it_is_revised(
    house: Callable[..., House],
) -> None:
    here = house()
    question = {"zone": "north", "amount": 60000, "by": "van", "a": {"deep": 1, "b": [{"z": 1}]}}
    review = await here.asked(question=question)
    assert list(review.question) == ["zone", "amount", "by", "a"]
    assert list(review.question["a"]) == ["deep", "b"]
    assert [name for name, _ in review.shown(None).facts] == ["Zone", "Amount", "By"]

    other = {"yes": "1", "no": "2", "b": "3"}
    async with here.database.transaction() as connection:
        put = await reviews.put(
            connection,
            thread_id=review.thread_id,
            graph="loan",
            asked=reviews.Asked(review.interrupt_id, "ask", "2", other, digest(other)),
            audience="reviewers",
            rule_for=lambda _: review.rule,
        )
    assert put is not None
    assert put.revised
    found = await reviews.get(here.database, review.id)
    assert (list(found.question), found.revision) == (["yes", "no", "b"], 2)
