"""Answers that a node cannot use, errors that are none of theirs, and questions asked anew."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypedDict

import pytest
from langchain.agents.middleware.human_in_the_loop import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel

from graphs import audit, interventions, reviews, threads
from graphs.repairs import refusal
from graphs.threads import Message
from tests.graphs.conftest import House, loaded, until


class State(TypedDict, total=False):
    text: str
    log: Annotated[list[str], operator.add]


class Verdict(BaseModel):
    verdict: Literal["yes", "no"]
    amount: int


def schemed() -> Any:
    """A first question that is answered, then one with a schema, beside another that is open."""

    def asks(state: State) -> State:
        first = interrupt("First?")
        said = interrupt("Second?", response_schema=Verdict)
        return {"log": [f"asks {first} {said.verdict} {said.amount}"]}

    def beside(state: State) -> State:
        return {"log": [f"beside {interrupt('Beside?')}"]}

    builder = StateGraph(State)
    for node in (asks, beside):
        builder.add_node(node.__name__, node)
        builder.add_edge(START, node.__name__)
    return builder.compile()


def deciding() -> Any:
    """The middleware reads the decisions in a subgraph, behind a question of the node around it."""
    middleware: Any = HumanInTheLoopMiddleware(
        interrupt_on={"pay": {"allowed_decisions": ["approve", "reject"]}}
    )

    def gate(state: State) -> State:
        call = {"name": "pay", "args": {"amount": 5}, "id": "c1", "type": "tool_call"}
        made = middleware.after_model({"messages": [AIMessage("", tool_calls=[call])]}, None)
        return {"log": [f"gate {len(made['messages'])}"]}

    def beside(state: State) -> State:
        return {"log": [f"beside {interrupt('Beside?')}"]}

    inner = StateGraph(State)
    inner.add_node("gate", gate)
    inner.add_edge(START, "gate")
    compiled = inner.compile()

    def around(state: State) -> State:
        before = interrupt("Before?")
        done = compiled.invoke({"text": "", "log": []})
        return {"log": [f"around {before}", *done["log"]]}

    builder = StateGraph(State)
    for node in (around, beside):
        builder.add_node(node.__name__, node)
        builder.add_edge(START, node.__name__)
    return builder.compile()


async def one(here: House, thread_id: str, question: Any) -> reviews.Review:
    """The open review with this question, once it is there."""

    async def there() -> reviews.Review | None:
        for review in await here.open_reviews(thread_id):
            if review.question == question or question in (review.node, review.node.split("/")[-1]):
                return review
        return None

    return await until(there)


async def slip_in(here: House, review: reviews.Review, answer: str) -> None:
    """Put another answer in the place of the one that was checked, before it is fed."""
    await here.database.execute(
        "update sayso.mailbox set answer = $2 where review_id = $1", review.id, answer
    )


async def test_an_answer_that_its_schema_refuses_is_asked_again_and_the_others_stand(
    house: Callable[..., House],
) -> None:
    here = house(loaded("asks", schemed()))
    async with here.working():
        thread_id = await here.start("asks")
        await here.vote((await one(here, thread_id, "First?")).id, "first")
        second = await one(here, thread_id, "Second?")
        beside = await one(here, thread_id, "Beside?")
    assert second.ordinal == 1
    await here.vote(second.id, {"verdict": "yes", "amount": 1}, by="U0DANA")
    await slip_in(here, second, '{"verdict": "perhaps", "amount": 1}')
    async with here.working():

        async def anew() -> reviews.Review | None:
            found = await here.open_reviews(thread_id)
            return next((each for each in found if each.again is not None), None)

        again = await until(anew)
        assert again.interrupt_id == second.interrupt_id
        assert again.again == {
            "by": "U0DANA",
            "by_name": "Dana",
            "answer": {"verdict": "perhaps", "amount": 1},
            "problem": "verdict: Input should be 'yes' or 'no'",
        }
        thread = await here.until(thread_id, "paused")
        assert set(thread.open_reviews) == {again.id, beside.id}
        assert thread.error is None
        # Whoever comes by now finds a question and no failure.
        assert (await here.say(thread_id, "hello")).kind == "kept"
        await here.vote(beside.id, "beside")
        await here.vote(again.id, {"verdict": "no", "amount": 7})
        await here.until(thread_id, "done")
    assert (await here.values(thread_id))["log"] == ["asks first no 7", "beside beside"]
    assert (await reviews.get(here.database, second.id)).status == "withdrawn"
    whats = [entry.what for entry in await audit.of_thread(here.database, thread_id)]
    assert whats.count("review.set_aside") == 1
    assert "thread.failed" not in whats


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ('{"decisions": []}', "does not match"),
        ('{"decisions": [{"type": "edit"}]}', "not allowed"),
        ('{"decisions": [{}]}', "type"),
        ('"yes"', "string indices"),
        ('{"verdict": "yes"}', "decisions"),
    ],
)
async def test_decisions_that_the_middleware_refuses_are_asked_again_in_a_graph_called_by_hand(
    house: Callable[..., House], wrong: str, said: str
) -> None:
    here = house(loaded("deciding", deciding()))
    async with here.working():
        thread_id = await here.start("deciding")
        await here.vote((await one(here, thread_id, "Before?")).id, "before")

        async def gate() -> reviews.Review | None:
            found = await here.open_reviews(thread_id)
            return next((each for each in found if each.asking.actions), None)

        asked = await until(gate)
    await here.vote(asked.id, {"type": "approve"})
    await slip_in(here, asked, wrong)
    async with here.working():

        async def anew() -> reviews.Review | None:
            found = await gate()
            return found if found is not None and found.id != asked.id else None

        again = await until(anew)
        assert again.interrupt_id == asked.interrupt_id
        assert said in again.again["problem"]
        assert len(await here.open_reviews(thread_id)) == 2
        await here.vote(again.id, {"type": "reject"})
        await here.vote((await one(here, thread_id, "Beside?")).id, "beside")
        await here.until(thread_id, "done")
    log = (await here.values(thread_id))["log"]
    assert log == ["around before", "gate 2", "beside beside"]


async def test_any_other_error_in_the_asking_node_is_a_failure_until_it_is_asked_again(
    house: Callable[..., House],
) -> None:
    calls: list[str] = []

    def picky(state: State) -> State:
        answer = interrupt("How much?")
        calls.append(answer)
        if answer == "nothing":
            raise ValueError("Number of human decisions (0) does not match")
        return {"log": [answer]}

    def after(state: State) -> State:
        if len(calls) < 4:
            calls.append("after")
            raise RuntimeError("the bank did not answer")
        return {}

    builder = StateGraph(State)
    builder.add_node("picky", picky)
    builder.add_node("after", after)
    builder.add_edge(START, "picky")
    builder.add_edge("picky", "after")
    here = house(loaded("picky", builder.compile()))

    async def ask_again() -> Any:
        async with here.database.transaction() as connection:
            return await interventions.ask_again(
                connection, thread_id, by="U0ALICE", wish=here.wish
            )

    async with here.working():
        thread_id = await here.start("picky")
        review = await one(here, thread_id, "How much?")
        assert isinstance(await ask_again(), interventions.NotPossible)
        await here.vote(review.id, "nothing")
        failed = await here.until(thread_id, "failed")
        assert failed.error is not None
        assert failed.error.node == "picky"
        async with here.database.transaction() as connection:
            await interventions.retry(connection, thread_id, by="U0ALICE", may_unpark=False)

        async def tried() -> bool:
            return len(calls) == 2

        await until(tried)
        await here.until(thread_id, "failed")
        # Trying again replayed the answer; asking again drops it.
        assert await ask_again() == interventions.AskedAgain(review.id)
        await here.until(thread_id, "paused")
        (new,) = await here.open_reviews(thread_id)
        assert new.again["answer"] == "nothing"
        assert new.again["problem"] == "Number of human decisions (0) does not match"
        await here.vote(new.id, "five")
        failed = await here.until(thread_id, "failed")
        assert failed.error is not None
        assert failed.error.node == "after"
        assert isinstance(await ask_again(), interventions.NotPossible)
    assert calls == ["nothing", "nothing", "five", "after"]
    assert (await here.values(thread_id))["log"] == ["five"]


def test_only_what_the_middleware_raises_over_decisions_says_that_they_are_wrong() -> None:
    middleware: Any = HumanInTheLoopMiddleware(interrupt_on={"pay": True})
    call = {"name": "pay", "args": {}, "id": "c1", "type": "tool_call"}
    raised: list[BaseException] = []
    for make in (
        lambda: middleware._process_decision({"type": "no"}, call, {"allowed_decisions": []}),
        lambda: HumanInTheLoopMiddleware(interrupt_on={"pay": {"allowed_decisions": []}}),
        lambda: int("many"),
    ):
        try:
            make()
        except ValueError as error:
            raised.append(error)
    assert [refusal([each]) for each in raised] == ["decisions", None, None]


class Wordless:
    """A type that has no text of its own, as a lock or a connection."""


async def test_a_question_that_cannot_be_kept_fails_its_thread_with_the_node_and_the_type(
    house: Callable[..., House],
) -> None:
    calls: list[str] = []

    def issue_refund(state: State) -> State:
        calls.append("call")
        return {"log": [interrupt({"what": [Wordless()]})]}

    def beside(state: State) -> State:
        return {"log": [f"beside {interrupt('Beside?')}"]}

    builder = StateGraph(State)
    for node in (beside, issue_refund):
        builder.add_node(node.__name__, node)
        builder.add_edge(START, node.__name__)
    here = house(loaded("refund", builder.compile(), retry=("10ms", "10ms")))
    async with here.working():
        thread_id = await here.start("refund", message=Message("x", "U0BOB"))
        failed = await here.until(thread_id, "failed")
    assert failed.error is not None
    assert failed.error.node == "issue_refund"
    assert failed.error.message == (
        "issue_refund asks with a value of type Wordless, which cannot be kept"
    )
    assert failed.error.attempt == 1
    assert calls == ["call"]
    assert ("outcome", thread_id) in here.wished


async def test_a_question_of_five_megabytes_is_kept_whole_and_answered(
    house: Callable[..., House],
) -> None:
    body = "0123456789" * 500_000

    def asks(state: State) -> State:
        answer = interrupt({"question": "Publish?", "body": body})
        return {"log": [answer]}

    builder = StateGraph(State)
    builder.add_node("asks", asks)
    builder.add_edge(START, "asks")
    here = house(loaded("large", builder.compile()))
    async with here.working():
        thread_id = await here.start("large")
        review = await one(here, thread_id, "asks")
        assert len(review.question["body"]) == 5_000_000
        await here.vote(review.id, "yes")
        await here.until(thread_id, "done")
    assert (await here.values(thread_id))["log"] == ["yes"]
    assert (await threads.get(here.database, thread_id)).error is None
