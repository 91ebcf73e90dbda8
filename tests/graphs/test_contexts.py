"""The context of a thread's runs, and LangGraph's own policies, as they are."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.errors import NodeError
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, RetryPolicy, TimeoutPolicy, interrupt
from pydantic import BaseModel, field_validator

from graphs import contexts, interventions
from tests.graphs.conftest import House, loaded


class State(TypedDict, total=False):
    text: str
    log: Annotated[list[str], operator.add]


@dataclass
class Tenant:
    tenant: str
    limit: int = 5


class Model(BaseModel):
    tenant: str
    limit: int = 5


class Keys(TypedDict, total=False):
    tenant: str
    limit: int


def tenancy(schema: Any, read: Callable[[Any], str]) -> Any:
    def before(state: State, runtime: Runtime[Any]) -> State:
        return {"log": [f"before {read(runtime.context)}"]}

    def asks(state: State, runtime: Runtime[Any]) -> State:
        answer = interrupt("Go on?")
        return {"log": [f"{answer} {read(runtime.context)}"]}

    builder = StateGraph(State, context_schema=schema)
    for node in (before, asks):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "before")
    builder.add_edge("before", "asks")
    return builder.compile()


def by_name(context: Any) -> str:
    return f"{type(context).__name__} {context.tenant} {context.limit}"


def by_key(context: Any) -> str:
    return f"{type(context).__name__} {context['tenant']} {context['limit']}"


async def test_the_context_is_given_again_at_every_run_over_that_of_the_graphs_entry(
    house: Callable[..., House],
) -> None:
    kinds = {"Tenant": (Tenant, by_name), "Model": (Model, by_name), "dict": (Keys, by_key)}
    here = house(
        *(
            loaded(name, tenancy(*kind), context={"tenant": "house", "limit": 7})
            for name, kind in kinds.items()
        )
    )
    ids = {}
    async with here.working():
        for name in kinds:
            ids[name] = await here.start(name, context={"tenant": "asha"})
            await here.until(ids[name], "paused")
    async with here.working():
        for thread_id in ids.values():
            (review,) = await here.open_reviews(thread_id)
            await here.vote(review.id, "yes")
        for name, thread_id in ids.items():
            await here.until(thread_id, "done")
            log = (await here.values(thread_id))["log"]
            assert log == [f"before {name} asha 7", f"yes {name} asha 7"]


async def test_a_context_that_does_not_fit_fails_for_good_and_goes_on_once_it_is_mended(
    house: Callable[..., House],
) -> None:
    graph = tenancy(Tenant, by_name)
    here = house(loaded("tenancy", graph, context={"nonsense": 1}, retry=("10ms",)))
    async with here.working():
        thread_id = await here.start("tenancy", context={"tenant": "asha"})
        failed = await here.until(thread_id, "failed")
        assert failed.error is not None
        assert failed.error.attempt == 1
        assert "nonsense" in failed.error.message
    mended = house(loaded("tenancy", graph))
    async with mended.working():
        async with mended.database.transaction() as connection:
            await interventions.retry(connection, thread_id, by="U0OSCAR", may_unpark=True)
        await mended.until(thread_id, "paused")


def test_what_does_not_fit_a_context_is_said_in_a_sentence() -> None:
    for schema in (Tenant, Model, Keys):
        graph = tenancy(schema, by_name)
        assert contexts.problem(graph, {"tenant": "a", "limit": 1}) is None
        assert contexts.problem(graph, None) is None
        said = contexts.problem(graph, {"tenant": "a", "limit": "many"})
        assert said is not None
        assert said.startswith("The context's limit does not fit: ")
    assert contexts.problem(tenancy(Tenant, by_name), {"other": 1}) is not None
    without = StateGraph(State).add_node("a", lambda state: {}).add_edge(START, "a").compile()
    assert contexts.problem(without, {"a": 1}) == "The graph takes no context. Leave it out."


class Checked(BaseModel):
    key: str

    @field_validator("key")
    @classmethod
    def known(cls, key: str) -> str:
        raise ValueError(f"{key} is no key")


@dataclass
class Made:
    key: str

    def __post_init__(self) -> None:
        raise TypeError(f"nothing is called {self.key}")


@pytest.mark.parametrize("schema", [Checked, Made])
def test_a_value_of_a_context_is_never_repeated(schema: type) -> None:
    said = contexts.problem(tenancy(schema, str), {"key": "sk-SECRET-1"})
    assert said is not None
    assert "secret" not in said.lower()
    assert "it is refused, in words that quote a value" in said


async def test_retry_timeout_and_error_handler_of_langgraph_work_behind_an_answer(
    house: Callable[..., House],
) -> None:
    calls: list[str] = []

    def asks(state: State) -> State:
        return {"log": [interrupt("Go on?")]}

    def flaky(state: State) -> State:
        calls.append("flaky")
        if calls.count("flaky") < 3:
            raise ConnectionError("away")
        return {"log": ["flaky"]}

    async def slow(state: State) -> State:
        calls.append("slow")
        if calls.count("slow") < 2:
            await asyncio.sleep(60)
        return {"log": ["slow"]}

    def breaks(state: State) -> State:
        raise RuntimeError("no")

    def handles(state: State, error: NodeError) -> Command[Any]:
        return Command(update={"log": [f"handled {error.node} {error.error}"]}, goto="last")

    def last(state: State) -> State:
        return {"log": ["last"]}

    again = RetryPolicy(initial_interval=0.01, max_attempts=3)
    builder = StateGraph(State)
    builder.add_node("asks", asks)
    builder.add_node("flaky", flaky, retry_policy=again)
    builder.add_node(
        "slow", slow, retry_policy=again, timeout=TimeoutPolicy(run_timeout=timedelta(seconds=0.2))
    )
    builder.add_node("breaks", breaks, error_handler=handles)
    builder.add_node("last", last)
    builder.add_edge(START, "asks")
    builder.add_edge("asks", "flaky")
    builder.add_edge("flaky", "slow")
    builder.add_edge("slow", "breaks")
    here = house(loaded("policies", builder.compile()))
    async with here.working():
        thread_id = await here.start("policies")
        await here.until(thread_id, "paused")
        (review,) = await here.open_reviews(thread_id)
        await here.vote(review.id, "yes")
        done = await here.until(thread_id, "done", "failed")
    assert done.error is None
    log = (await here.values(thread_id))["log"]
    assert log == ["yes", "flaky", "slow", "handled breaks no", "last"]
