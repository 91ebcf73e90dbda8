"""Going back to an earlier step: asked again, done once, and nothing decided before is reused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from checkpoints.errors import SaysoError
from checkpoints.postgres import PostgresSaver
from graphs import audit, forks, history, interventions, reviews, rewinding, threads
from graphs.history import StepTaken
from graphs.rewinding import NeedsConfirmation, Rewound, UnknownStep
from graphs.votes import Withdrawn
from tests.graphs.conftest import House, loaded
from tests.graphs.test_runner import State, line, loan, parallel


async def taken(here: House, thread_id: str) -> list[StepTaken]:
    return await history.steps_of(here.database, PostgresSaver(here.database), thread_id)


async def back(here: House, thread_id: str, step: str, **given: Any) -> Any:
    found = await taken(here, thread_id)
    async with here.database.transaction() as connection:
        return await rewinding.rewind(
            connection, thread_id, step, taken=found, by="U0OSCAR", by_name="Oscar",
            wish=here.wish, **{"confirmed": True, **given},
        )  # fmt: skip


async def asked(here: House, thread_id: str, but: int = 0) -> reviews.Review:
    """The open review of a thread, once there is another than this one."""
    await here.until(thread_id, "paused")
    (review,) = await here.open_reviews(thread_id)
    assert review.id != but
    return review


async def test_a_paused_a_done_and_a_failed_thread_are_taken_back_and_asked_again(
    house: Callable[..., House],
) -> None:
    broken = [True]

    def pay(state: State) -> State:
        if broken[0]:
            raise RuntimeError("The bank did not answer")
        return {"log": ["pay"]}

    def ask(state: State) -> State:
        return {"answer": interrupt(f"Pay {state['text']}?"), "log": ["ask"]}

    def prepare(state: State) -> State:
        return {"log": ["prepare"]}

    here = house(loaded("pays", line(prepare, ask, pay).compile(), retry=()))
    async with here.working():
        thread_id = await here.start("pays")
        first = await asked(here, thread_id)

        # Paused: what is open is withdrawn, and an old click on its card is refused.
        done = await back(here, thread_id, "2")
        assert (done.was, done.withdrawn, done.past) == ("paused", (first.id,), ())
        second = await asked(here, thread_id, first.id)
        assert (await reviews.get(here.database, first.id)).closed_because == (
            "rewound to step 2 by Oscar"
        )
        assert second.interrupt_id != first.interrupt_id
        assert isinstance(await here.vote(first.id, "yes", revision=1), Withdrawn)

        # Failed, with an edit: the question is asked of the new state.
        await here.vote(second.id, "yes")
        await here.until(thread_id, "failed")
        done = await back(here, thread_id, "1", edit={"text": "less"})
        assert done.uncounted == (second.id,)
        third = await asked(here, thread_id, second.id)
        assert third.question == "Pay less?"
        assert (await here.values(thread_id))["text"] == "less"

        # Done: nothing is left of how it ended.
        broken[0] = False
        await here.vote(third.id, "yes")
        await here.until(thread_id, "done")
        done = await back(here, thread_id, "2")
        fourth = await asked(here, thread_id, third.id)
        thread = await threads.get(here.database, thread_id)
        assert (thread.outcome, thread.ended_at, thread.error) == (None, None, None)
        assert fourth.question == "Pay hello?"
        await here.vote(fourth.id, "yes")
        await here.until(thread_id, "done")
    assert (await here.values(thread_id))["log"] == ["prepare", "ask", "pay"]
    kinds = [(one.kind, dict(one.changed)) for one in await taken(here, thread_id)]
    assert [changed for kind, changed in kinds if kind == "rewind"] == [{}, {"text": "less"}, {}]


async def test_a_decision_made_before_is_told_to_no_node_and_the_record_says_which(
    house: Callable[..., House],
) -> None:
    here = house(loaded("loan", loan(), outcome="Paid, reference {by}-1."))
    async with here.working():
        thread_id = await here.start("loan")
        first = await asked(here, thread_id)
        await here.vote(first.id, {"decision": "approve"}, by="U0DANA")
        await here.until(thread_id, "done")
        done = await back(here, thread_id, "2")
        second = await asked(here, thread_id, first.id)
        await here.vote(second.id, {"decision": "approve"}, by="U0ALICE")
        await here.until(thread_id, "done")
    # `by` is the first decision that the node is told of.
    assert (await here.values(thread_id))["by"] == "Alice"
    assert (await reviews.get(here.database, first.id)).rewound_at is not None
    entries = await audit.of_thread(here.database, thread_id)
    (entry,) = [entry for entry in entries if entry.what == "thread.rewound"]
    assert entry.actor == "U0OSCAR"
    assert (entry.detail["step"], entry.detail["uncounted"]) == (2, [first.id])
    assert (entry.detail["was"], entry.detail["to"]) == ("done", done.step.checkpoint_id)


async def test_a_decision_on_the_way_to_the_step_counts_on(house: Callable[..., House]) -> None:
    told: list[list[str]] = []

    class Two(TypedDict, total=False):
        text: str

    def first(state: Two) -> Two:
        interrupt("First?")
        return {}

    def second(state: Two, config: Any) -> Two:
        told.append([each["node"] for each in config["configurable"]["sayso"]["decisions"]])
        interrupt("Second?")
        return {}

    second.__annotations__["config"] = __import__(
        "langchain_core.runnables", fromlist=["RunnableConfig"]
    ).RunnableConfig
    builder = StateGraph(Two)
    for node in (first, second):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    here = house(loaded("two", builder.compile()))
    async with here.working():
        thread_id = await here.start("two")
        one = await asked(here, thread_id)
        await here.vote(one.id, {"decision": "approve"})

        async def next_one() -> reviews.Review | None:
            found = [r for r in await here.open_reviews(thread_id) if r.node == "second"]
            return found[0] if found else None

        from tests.graphs.conftest import until

        two = await until(next_one)
        await here.vote(two.id, {"decision": "approve"})
        await here.until(thread_id, "done")
        done = await back(here, thread_id, "2")
        assert done.uncounted == (two.id,)
        again = await until(next_one)
        assert again.id != two.id
    assert told == [["first"], ["first", "second"], ["first"]]


async def test_what_was_done_since_needs_a_confirmation_and_stays_with_the_thread(
    house: Callable[..., House],
) -> None:
    here = house(loaded("loan", loan(), outcome="Paid, reference TX-1."))
    async with here.working():
        thread_id = await here.start("loan")
        first = await asked(here, thread_id)
        assert isinstance(await back(here, thread_id, "1", confirmed=False), Rewound)
        second = await asked(here, thread_id, first.id)
        await here.vote(second.id, {"decision": "approve"}, by="U0DANA")
        await here.until(thread_id, "done")
        needs = await back(here, thread_id, "1", confirmed=False)
        assert isinstance(needs, NeedsConfirmation)
        assert [(each.node, each.decided_by, each.outcome) for each in needs.past] == [
            ("ask", "Dana", "Paid, reference TX-1.")
        ]
        assert (await threads.get(here.database, thread_id)).status == "done"
        await back(here, thread_id, "1")
        third = await asked(here, thread_id, second.id)
        rewound = (await threads.get(here.database, thread_id)).rewound
        assert (rewound["by_name"], rewound["step"]) == ("Oscar", 1)
        assert [each["outcome"] for each in rewound["past"]] == ["Paid, reference TX-1."]
        # A second time: what was done before the first is not forgotten.
        await back(here, thread_id, "1")
        await asked(here, thread_id, third.id)
        rewound = (await threads.get(here.database, thread_id)).rewound
        assert len(rewound["past"]) == 1


async def test_a_rejection_did_nothing_and_needs_no_confirmation(
    house: Callable[..., House],
) -> None:
    here = house(loaded("loan", loan()))
    async with here.working():
        thread_id = await here.start("loan")
        first = await asked(here, thread_id)
        await here.vote(first.id, {"decision": "reject", "note": "Too old."})
        await here.until(thread_id, "done")
        done = await back(here, thread_id, "2", confirmed=False)
        assert (done.past, done.uncounted) == ((), (first.id,))
        await asked(here, thread_id, first.id)


async def test_an_ended_thread_is_taken_back_and_a_waiting_answer_is_dropped(
    house: Callable[..., House],
) -> None:
    here = house(loaded("parallel", parallel()))
    async with here.working():
        thread_id = await here.start("parallel")
        await here.until(thread_id, "paused")
        left, right = sorted(await here.open_reviews(thread_id), key=lambda each: each.node)
    await here.vote(left.id, "yes")  # nobody works: the answer waits
    await back(here, thread_id, "1")
    async with here.database.transaction() as connection:
        await interventions.cancel(connection, thread_id, by="U0OSCAR")
    done = await back(here, thread_id, "1")
    assert (done.was, done.uncounted) == ("cancelled", ())
    async with here.working():
        await here.until(thread_id, "paused")
        again = sorted(await here.open_reviews(thread_id), key=lambda each: each.node)
        assert [each.node for each in again] == ["left", "right"]
        assert not {left.id, right.id} & {each.id for each in again}
        for review in again:
            await here.vote(review.id, "no")
        await here.until(thread_id, "done")
    assert sorted((await here.values(thread_id))["log"]) == ["join", "left no", "right no"]


@pytest.mark.parametrize("step", ["0", "9", "x", "", "-1"])
async def test_a_step_that_is_not_there_is_refused(house: Callable[..., House], step: str) -> None:
    here = house(loaded("loan", loan()))
    thread_id = await here.start("loan")
    with pytest.raises(UnknownStep, match="It has not run yet"):
        await back(here, thread_id, step)


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ({"nothing": 1}, "The state has no value nothing to change. It has text, risk"),
        ({"risk": "high"}, "risk does not fit"),
        ({"log": "x"}, "log does not fit"),
        ({"__pregel_tasks": []}, "no value __pregel_tasks"),
        ({"branch:to:pay": None}, "no value branch:to:pay"),
    ],
)
def test_an_edit_is_of_values_of_the_state_that_fit(edit: dict[str, Any], told: str) -> None:
    with pytest.raises(SaysoError, match=told):
        forks.applied(loan(), edit)
    assert forks.applied(loan(), {"risk": "7", "log": ["a"]}) == {"risk": 7, "log": ["a"]}
