"""Reviews as rows: what a question keeps of what the node said."""

from __future__ import annotations

from collections.abc import Callable

from graphs import reviews
from graphs.plain import digest
from tests.graphs.conftest import House


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
