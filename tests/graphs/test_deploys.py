"""Threads that wait while their code changes: held, asked by the new code, or run."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from graphs import deploys, holding, interventions, mailbox, reviews, votes
from tests.graphs.conftest import House, loaded, until


class State(TypedDict, total=False):
    text: str
    log: Annotated[list[str], operator.add]


def made(*nodes: Any, **stops: Any) -> Any:
    builder = StateGraph(State)
    before = START
    for node in nodes:
        builder.add_node(node.__name__, node)
        builder.add_edge(before, node.__name__)
        before = node.__name__
    return builder.compile(**stops)


def asks(state: State) -> State:
    return {"log": [f"old {interrupt('Go on?')}"]}


def renamed(state: State) -> State:
    return {"log": [f"old {interrupt('Go on?')}"]}


def with_one_before() -> Any:
    def asks(state: State) -> State:
        first = interrupt("Something else?")
        return {"log": [f"{first} {interrupt('Go on?')}"]}

    return asks


def recoded() -> Any:
    def asks(state: State) -> State:
        answer = interrupt("Go on?")
        return {"log": [f"new {answer}"]}

    return asks


def reworded() -> Any:
    def asks(state: State) -> State:
        return {"log": [f"new {interrupt('Go on with it?')}"]}

    return asks


def told(state: State) -> State:
    return {"log": ["told"]}


async def paused(house: Callable[..., House], graph: Any, **stops: Any) -> tuple[str, int]:
    here = house(loaded("deployed", graph))
    async with here.working():
        thread_id = await here.start("deployed")
        await here.until(thread_id, "paused")
        (review,) = await here.open_reviews(thread_id)
        assert review.fingerprint["asks"]["node"] == review.node
    return thread_id, review.id


async def test_an_answer_that_would_go_to_the_wrong_place_holds_the_thread_and_is_kept(
    house: Callable[..., House],
) -> None:
    for wrong in (made(renamed, told), made(with_one_before(), told)):
        thread_id, review_id = await paused(house, made(asks, told))
        deployed = house(loaded("deployed", wrong))
        await deployed.vote(review_id, "yes")
        async with deployed.working():
            held = await deployed.until(thread_id, "held")
            assert (held.mark_reason or "").startswith("The step asks")
            assert f"`sayso threads retry {thread_id}`" in (held.mark_reason or "")
            assert ("notice", f"thread:{thread_id}") in deployed.wished
            waiting = await mailbox.waiting(deployed.database, thread_id)
            assert [row.answer for row in waiting] == ['"yes"']
        mended = house(loaded("deployed", made(asks, told)))
        async with mended.working():
            async with mended.database.transaction() as connection:
                await interventions.retry(connection, thread_id, by="U0OSCAR", may_unpark=True)
            await mended.until(thread_id, "done")
        assert (await mended.values(thread_id))["log"] == ["old yes", "told"]


async def test_what_cannot_go_on_is_held_before_anybody_decides_on_it(
    house: Callable[..., House],
) -> None:
    stuck, review_id = await paused(house, made(asks, told))
    deployed = house(loaded("deployed", made(renamed, told)))
    found = await deploys.changed(deployed.database, deployed.registry)
    assert found.to_hold == (stuck,)
    await deploys.wake(deployed.database, found)
    async with deployed.working():
        held = await deployed.until(stuck, "held")
        assert (held.mark_reason or "").startswith("The step asks")
        assert ("card", str(review_id)) in deployed.wished
    refused = await deployed.vote(review_id, "yes")
    assert isinstance(refused, votes.Held)
    assert (await deploys.changed(deployed.database, deployed.registry)).to_hold == ()
    mended = house(loaded("deployed", made(asks, told)))
    fits = await deploys.changed(mended.database, mended.registry)
    assert await holding.release_mended(mended.database, fits.mended) == [stuck]
    async with mended.working():
        await mended.until(stuck, "paused")
        await mended.vote(review_id, "yes")
        await mended.until(stuck, "done")


async def test_new_code_that_asks_the_same_gets_the_answer_and_other_words_are_asked_anew(
    house: Callable[..., House],
) -> None:
    thread_id, review_id = await paused(house, made(asks))
    deployed = house(loaded("deployed", made(recoded(), told)))
    await deployed.vote(review_id, "yes")
    async with deployed.working():
        await deployed.until(thread_id, "done")
    assert (await deployed.values(thread_id))["log"] == ["new yes", "told"]

    thread_id, review_id = await paused(house, made(asks))
    deployed = house(loaded("deployed", made(reworded())))
    await deployed.vote(review_id, "yes")
    async with deployed.working():

        async def anew() -> reviews.Review | None:
            found = await deployed.open_reviews(thread_id)
            return found[0] if found else None

        again = await until(anew)
        assert again.question == "Go on with it?"
        old = await reviews.get(deployed.database, review_id)
        assert (old.status, old.closed_because) == ("withdrawn", "the question changed")
        await deployed.vote(again.id, "no")
        await deployed.until(thread_id, "done")
    assert (await deployed.values(thread_id))["log"] == ["new no"]


async def test_an_answer_at_which_the_old_code_failed_is_not_replayed_to_another_question(
    house: Callable[..., House],
) -> None:
    def fails() -> Any:
        def asks(state: State) -> State:
            answer = interrupt("Go on?")
            raise RuntimeError(answer)

        return asks

    for code, question in ((reworded, "Go on with it?"), (recoded, None)):
        thread_id, review_id = await paused(house, made(fails()))
        broken = house(loaded("deployed", made(fails())))
        async with broken.working():
            await broken.vote(review_id, "yes")
            await broken.until(thread_id, "failed")
        deployed = house(loaded("deployed", made(code())))
        async with deployed.working():
            async with deployed.database.transaction() as connection:
                await interventions.retry(connection, thread_id, by="U0BOB", may_unpark=False)
            if question is not None:

                async def anew(here: House = deployed, of: str = thread_id) -> Any:
                    found = await here.open_reviews(of)
                    return found[0] if found else None

                again = await until(anew)
                assert again.question == question
                await deployed.vote(again.id, "no")
            await deployed.until(thread_id, "done")
        log = (await deployed.values(thread_id))["log"]
        assert log == ["new no" if question is not None else "new yes"]


async def test_a_stop_before_a_step_that_is_gone_holds_the_thread(
    house: Callable[..., House],
) -> None:
    thread_id, review_id = await paused(house, made(told, asks, interrupt_before=["asks"]))
    deployed = house(loaded("deployed", made(told, renamed, interrupt_before=["renamed"])))
    await deployed.vote(review_id, {"do": "continue"})
    async with deployed.working():
        await deployed.until(thread_id, "held")
    mended = house(loaded("deployed", made(told, asks, interrupt_before=["asks"])))
    async with mended.working():
        async with mended.database.transaction() as connection:
            await interventions.retry(connection, thread_id, by="U0OSCAR", may_unpark=True)
        await mended.until(thread_id, "paused")
        (review,) = await mended.open_reviews(thread_id)
        assert review.question == {"text": "hello", "log": ["told"]} or review.kind == "interrupt"
