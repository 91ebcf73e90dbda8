"""What happened on a thread, step by step: nodes, what each changed, what routers chose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph.graph import START, StateGraph
from langgraph.types import Send

from checkpoints.postgres import PostgresSaver
from graphs import audit, history
from tests.graphs.conftest import House, loaded
from tests.graphs.test_runner import State, line, loan, parallel


async def test_each_step_says_what_it_changed_what_came_next_and_what_was_chosen(
    house: Callable[..., House],
) -> None:
    here = house(loaded("loan", loan()))
    async with here.working():
        thread_id = await here.start("loan")
        await here.until(thread_id, "paused")
        saver = PostgresSaver(here.database)
        found = await history.steps_of(here.database, saver, thread_id)
        assert [(one.number, one.kind, one.node, dict(one.changed), one.next) for one in found] == [
            (1, "start", "", {"text": "hello"}, ("assess",)),
            (2, "step", "assess", {"risk": 71, "log": ["assess"]}, ("ask",)),
        ]
        (routing,) = found[-1].routings
        assert (routing.node, routing.choice) == ("assess", "ask")
        assert found[-1].state == {"text": "hello", "risk": 71, "log": ["assess"]}
        assert await history.state(saver, thread_id) == found[-1].state
        assert await history.state(saver, thread_id, found[0].checkpoint_id) == found[0].state
        whats = [entry.what for entry in await audit.of_thread(here.database, thread_id)]
        assert whats == ["thread.started", "thread.taken_in", "review.opened", "thread.rested"]
        (review,) = await here.open_reviews(thread_id)
        assert review.checkpoint_id == found[-1].checkpoint_id
        await here.vote(review.id, "yes")
        await here.until(thread_id, "done")
        found = await history.steps_of(here.database, saver, thread_id)
    assert [(one.number, one.node, one.next) for one in found[2:]] == [
        (3, "ask", ("pay",)),
        (4, "pay", ()),
    ]
    assert found[2].changed == {"answer": "yes", "by": "Alice", "log": ["ask"]}
    assert await history.state(saver, "nothing") is None
    assert await history.steps_of(here.database, saver, "nothing") == []


def fan() -> Any:
    """Sends to one node three times, then goes on inside a subgraph two deep."""

    def each(state: State) -> State:
        return {"log": [f"each {state['text']}"]}

    def deep(state: State) -> State:
        return {"log": ["deep"], "risk": 1}

    def spread(state: State) -> list[Send]:
        return [Send("each", {"text": str(number)}) for number in range(3)]

    middle = StateGraph(State)
    middle.add_node("inner", line(deep).compile())
    middle.add_edge(START, "inner")
    builder = StateGraph(State)
    builder.add_node("each", each)
    builder.add_node("middle", middle.compile())
    builder.add_conditional_edges(START, spread, ["each"])
    builder.add_edge("each", "middle")
    return builder.compile()


async def test_nodes_side_by_side_and_steps_within_subgraphs_are_steps_of_their_own(
    house: Callable[..., House],
) -> None:
    here = house(loaded("fan", fan()), loaded("parallel", parallel()))
    saver = PostgresSaver(here.database)
    async with here.working():
        thread_id = await here.start("fan")
        await here.until(thread_id, "done")
        found = await history.steps_of(here.database, saver, thread_id)
        both = await here.start("parallel")
        await here.until(both, "paused")
        for review in await here.open_reviews(both):
            await here.vote(review.id, "yes")
        await here.until(both, "done")
    sent = [one for one in found if one.node == "each"]
    assert [(one.number, sorted(one.changed["log"])) for one in sent] == [
        (2, ["each 0"]), (2, ["each 1"]), (2, ["each 2"]),
    ]  # fmt: skip
    (deep,) = [one for one in found if one.node == "middle/inner/deep"]
    assert (deep.number, deep.nested, deep.changed) == (3, True, {"log": ["deep"], "risk": 1})
    (middle,) = [one for one in found if one.node == "middle"]
    assert (middle.number, middle.nested) == (3, False)
    assert found.index(deep) < found.index(middle)
    joined = await history.steps_of(here.database, saver, both)
    assert [(one.number, one.node, one.changed.get("log")) for one in joined[1:]] in (
        [(2, "left", ["left yes"]), (2, "right", ["right yes"]), (3, "join", ["join"])],
        [(2, "right", ["right yes"]), (2, "left", ["left yes"]), (3, "join", ["join"])],
    )
