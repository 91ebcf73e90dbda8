"""Static breakpoints at every depth: nothing runs past one without its answer, whoever comes."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send, interrupt
from pydantic import BaseModel, Field

from checkpoints import leases
from graphs import audit, reviews
from graphs.plain import digest
from graphs.votes import BadAnswer
from tests.graphs.conftest import House, loaded, until
from tests.graphs.test_runner import State, assess, line, log_of, pay

CONTINUE = {"do": "continue"}


def wrapped(inner: Any, name: str, *after: Any, **stops: Any) -> Any:
    """The graph as the only step of another one, with more steps behind it."""
    builder = StateGraph(State)
    builder.add_node(name, inner)
    builder.add_edge(START, name)
    before = name
    for node in after:
        builder.add_node(node.__name__, node)
        builder.add_edge(before, node.__name__)
        before = node.__name__
    return builder.compile(**stops)


def end(state: State) -> State:
    return {"log": ["end"]}


INNER = line(assess, pay)

GRAPHS: dict[str, tuple[Any, list[str], list[str]]] = {
    "before a node": (
        line(assess, pay).compile(interrupt_before=["pay"]),
        ["pay"],
        ["assess", "pay"],
    ),
    "after a node": (
        line(assess, pay).compile(interrupt_after=["assess"]),
        ["pay"],
        ["assess", "pay"],
    ),
    "after one and before the next": (
        line(assess, pay).compile(interrupt_after=["assess"], interrupt_before=["pay"]),
        ["pay"],
        ["assess", "pay"],
    ),
    "before all": (
        line(assess, pay).compile(interrupt_before="*"),
        ["assess", "pay"],
        ["assess", "pay"],
    ),
    "after all": (
        line(assess, pay, end).compile(interrupt_after="*"),
        ["pay", "end"],
        ["assess", "pay", "end"],
    ),
    "in a subgraph": (
        wrapped(INNER.compile(interrupt_before=["pay"]), "inner", end),
        ["inner/pay"],
        ["assess", "pay", "end"],
    ),
    "two deep": (
        wrapped(wrapped(INNER.compile(interrupt_before=["pay"]), "inner"), "middle", end),
        ["middle/inner/pay"],
        ["assess", "pay", "end"],
    ),
    "after the last of a subgraph": (
        wrapped(INNER.compile(interrupt_after=["pay"]), "inner", end),
        ["inner/pay"],
        ["assess", "pay", "end"],
    ),
    "before a subgraph and inside it": (
        wrapped(
            INNER.compile(interrupt_before=["pay"]), "inner", end,
            interrupt_before=["inner", "end"],
        ),
        ["inner", "inner/pay", "end"],
        ["assess", "pay", "end"],
    ),
    "in a subgraph that keeps its state": (
        wrapped(INNER.compile(interrupt_before=["pay"], checkpointer=True), "inner", end),
        ["inner/pay"],
        ["assess", "pay", "end"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
async def test_a_thread_stops_where_its_graph_says_also_for_a_worker_that_comes_new_to_it(
    house: Callable[..., House], name: str
) -> None:
    graph, stops, log = GRAPHS[name]
    here = house(loaded("stops", graph))
    async with here.working():
        thread_id = await here.start("stops")
        await here.until(thread_id, "paused")
    met = []
    for stop in stops:
        (review,) = await here.open_reviews(thread_id)
        assert (review.kind, review.node) == ("breakpoint", stop)
        assert review.hash == digest(review.question)
        assert review.question["text"] == "hello"
        met.append(review.id)
        before = await here.database.fetchval("select epoch from sayso.leases")
        async with here.working():
            # Somebody wakes it without an answer: a worker looks, and leaves it as it is.
            async with here.database.transaction() as connection:
                await leases.wake(connection, thread_id)

            async def looked(before: int = before) -> bool:
                epoch = await here.database.fetchval("select epoch from sayso.leases")
                return bool(epoch > before)

            await until(looked)
            assert (await here.until(thread_id, "paused")).open_reviews == (review.id,)
            await here.vote(review.id, CONTINUE if stop != stops[0] else None)

            async def on(review: reviews.Review = review) -> bool:
                thread = await here.until(thread_id, "paused", "done")
                return thread.status == "done" or thread.open_reviews != (review.id,)

            await until(on)
    await here.until(thread_id, "done")
    assert len(set(met)) == len(stops)
    assert await log_of(here, thread_id) == log


async def test_an_answer_that_is_none_passes_no_breakpoint_and_is_asked_again(
    house: Callable[..., House],
) -> None:
    here = house(loaded("stops", line(assess, pay).compile(interrupt_before=["pay"])))
    async with here.working():
        thread_id = await here.start("stops")
        await here.until(thread_id, "paused")
        (review,) = await here.open_reviews(thread_id)
        for wrong in (True, "yes", {}, [], {"type": "continue"}, {"do": "change"}, {"do": "Stop"}):
            assert isinstance(await here.vote(review.id, wrong), BadAnswer)
    await here.vote(review.id, CONTINUE)
    await here.database.execute(
        """update sayso.mailbox set answer = '"go"' where kind = 'answer'"""
    )
    async with here.working():

        async def asked() -> reviews.Review | None:
            found = await here.open_reviews(thread_id)
            return found[0] if found else None

        again = await until(asked)
        assert (again.kind, again.interrupt_id) == ("breakpoint", review.interrupt_id)
        assert again.again["answer"] == "go"
        assert await log_of(here, thread_id) == ["assess"]
        await here.vote(again.id, CONTINUE)
        await here.until(thread_id, "done")


class Order(TypedDict, total=False):
    text: str
    amount: int
    note: str | None
    log: Annotated[list[str], operator.add]


def route(state: Order) -> str:
    return "small" if state["amount"] < 100 else END


def takes(state: Order) -> Order:
    return {"amount": 50, "note": None, "log": ["takes"]}


def small(state: Order) -> Order:
    return {"log": [f"small {state['amount']} {state['note']}"]}


def order(**stops: Any) -> Any:
    builder = StateGraph(Order)
    builder.add_node("takes", takes)
    builder.add_node("small", small)
    builder.add_edge(START, "takes")
    builder.add_conditional_edges("takes", route, ["small", END])
    return builder.compile(**stops)


async def test_changed_values_reach_the_step_that_was_shown_and_misfits_are_asked_again(
    house: Callable[..., House],
) -> None:
    graph = order(interrupt_before=["small"])
    here = house(loaded("order", graph), loaded("deep", wrapped(graph, "inner")))
    async with here.working():
        for name, node in (("order", "small"), ("deep", "inner/small")):
            thread_id = await here.start(name)
            await here.until(thread_id, "paused")
            for wrong, said in (
                ({"amount": "lots"}, "Amount: write a whole number."),
                ({"sum": 5}, "There is no value called sum. There are text, amount, note, log."),
                ({"log": 5}, "Log cannot be this: "),
            ):
                (review,) = await here.open_reviews(thread_id)
                await here.vote(review.id, {"do": "change", "values": wrong})

                async def anew(review: reviews.Review = review) -> Any:
                    found = await here.open_reviews(review.thread_id)
                    return found[0] if found and found[0].id != review.id else None

                again = await until(anew)
                assert again.node == node
                assert again.again["by"] == "U0ALICE"
                assert again.again["answer"] == {"do": "change", "values": wrong}
                assert again.again["problem"].startswith(said)
                assert again.question == review.question
            # Above the limit of the router, and yet the step that was shown is the one that runs.
            values = {"amount": 500, "note": "by hand", "log": ["takes"]}
            await here.vote(again.id, {"do": "change", "values": values})
            await here.until(thread_id, "done")
            found = await here.values(thread_id)
            assert found["log"] == ["takes", "small 500 by hand"]
            assert (await reviews.get(here.database, again.id)).outcome == "edited"


class Form(BaseModel):
    amount: int = Field(default=0, le=1000)
    log: Annotated[list[str], operator.add] = []


async def test_a_model_of_the_state_refuses_what_it_would_not_take(
    house: Callable[..., House],
) -> None:
    def ends(state: Form) -> dict[str, Any]:
        return {"log": [f"ends {state.amount}"]}

    builder = StateGraph(Form)
    builder.add_node("ends", ends)
    builder.add_edge(START, "ends")
    here = house(loaded("form", builder.compile(interrupt_before=["ends"])))
    async with here.working():
        thread_id = await here.start("form", {"amount": 5})
        await here.until(thread_id, "paused")
        (review,) = await here.open_reviews(thread_id)
        await here.vote(review.id, {"do": "change", "values": {"amount": 5000}})

        async def anew() -> Any:
            found = await here.open_reviews(thread_id)
            return found[0] if found and found[0].id != review.id else None

        again = await until(anew)
        assert "less than or equal to 1000" in again.again["problem"]
        await here.vote(again.id, {"do": "change", "values": {"amount": 900}})
        await here.until(thread_id, "done")
    assert (await here.values(thread_id))["log"] == ["ends 900"]


async def test_stop_ends_the_thread_by_who_said_so_and_nothing_runs(
    house: Callable[..., House],
) -> None:
    graph = line(assess, pay).compile(interrupt_before=["pay"])
    here = house(loaded("stops", graph, labels={"pay": "Switch traffic"}))
    async with here.working():
        thread_id = await here.start("stops")
        await here.until(thread_id, "paused")
        (review,) = await here.open_reviews(thread_id)
        await here.vote(review.id, {"do": "stop"}, by="U0DANA")
        stopped = await here.until(thread_id, "cancelled")
    assert stopped.mark_reason == "stopped before Switch traffic"
    assert stopped.ended_at is not None
    assert await log_of(here, thread_id) == ["assess"]
    assert ("outcome", thread_id) in here.wished
    (entry,) = [
        each
        for each in await audit.of_thread(here.database, thread_id)
        if each.what == "thread.stopped"
    ]
    assert (entry.actor, entry.review_id) == ("U0DANA", review.id)
    assert (await reviews.get(here.database, review.id)).outcome == "stopped"
    assert await here.database.fetchval("select owner from sayso.leases") is None


class Log(TypedDict):
    log: Annotated[list[str], operator.add]


def many() -> Any:
    """Two subgraphs at once that stop, beside a step that asks."""

    def fan(state: State) -> list[Send]:
        return [Send("inner", {"log": []}), Send("inner", {"log": []}), Send("asks", {})]

    def asks(state: State) -> State:
        return {"log": [f"asks {interrupt('Sure?')}"]}

    paying = StateGraph(Log)
    paying.add_node("pay", lambda state: {"log": ["pay"]})
    paying.add_edge(START, "pay")
    builder = StateGraph(State)
    builder.add_node("inner", paying.compile(interrupt_before=["pay"]))
    builder.add_node("asks", asks)
    builder.add_node("end", end)
    builder.add_conditional_edges(START, fan, ["inner", "asks"])
    builder.add_edge("inner", "end")
    builder.add_edge("asks", "end")
    return builder.compile()


async def test_of_several_stops_and_a_question_nothing_runs_until_all_stops_are_answered(
    house: Callable[..., House],
) -> None:
    here = house(loaded("many", many()))
    async with here.working():
        thread_id = await here.start("many")
        await here.until(thread_id, "paused")
        open_ = {review.kind: review for review in await here.open_reviews(thread_id)}
        stops = [r for r in await here.open_reviews(thread_id) if r.kind == "breakpoint"]
        assert [review.node for review in stops] == ["inner/pay", "inner/pay"]
        await here.vote(open_["interrupt"].id, "yes")
        await here.vote(stops[0].id, CONTINUE)

        async def looked() -> bool:
            row = await here.database.fetchrow("select ready_at, owner from sayso.leases")
            return row is not None and row["ready_at"] is None and row["owner"] is None

        await until(looked)
        assert [review.id for review in await here.open_reviews(thread_id)] == [stops[1].id]
        assert await log_of(here, thread_id) == []
        await here.vote(stops[1].id, CONTINUE)
        ended = await here.until(thread_id, "done", "failed")
        assert ended.error is None
    log = await log_of(here, thread_id)
    assert sorted(log) == ["asks yes", "end", "pay", "pay"]
    assert log[-1] == "end"


async def test_a_step_that_fails_or_asks_behind_its_stop_is_not_stopped_again(
    house: Callable[..., House],
) -> None:
    broken = asyncio.Event()

    def asks(state: State) -> State:
        answer = interrupt("Sure?")
        if not broken.is_set():
            broken.set()
            raise RuntimeError("not yet")
        return {"log": [f"asks {answer}"]}

    graph = line(assess, asks).compile(interrupt_before=["asks"])
    here = house(loaded("both", graph, retry=("20ms",)))
    async with here.working():
        thread_id = await here.start("both")
        await here.until(thread_id, "paused")
        (stop,) = await here.open_reviews(thread_id)
        await here.vote(stop.id, CONTINUE)

        async def asked() -> reviews.Review | None:
            found = await here.open_reviews(thread_id)
            return found[0] if found else None

        review = await until(asked)
        assert review.kind == "interrupt"
    async with here.working():
        await here.vote(review.id, "yes")
        await here.until(thread_id, "done")
    assert await log_of(here, thread_id) == ["assess", "asks yes"]
    assert len(await reviews.list_(here.database, thread_id=thread_id)) == 2
