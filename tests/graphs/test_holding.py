"""Questions that change under their answers, and state that cannot be read."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel

from checkpoints import leases
from graphs import interventions, mailbox, reviews, threads
from graphs.policy import LookedAt, Policy
from tests.graphs.conftest import RULE, House, loaded, until
from tests.graphs.test_runner import State, line, loan


def moody(words: Callable[[], str]) -> Any:
    """Two questions at once, of which the second has other words every time it is asked."""

    def steady(state: State) -> State:
        return {"log": [f"steady {interrupt('Steady?')}"]}

    def changing(state: State) -> State:
        return {"log": [f"changing {interrupt(words())}"]}

    builder = StateGraph(State)
    for node in (steady, changing):
        builder.add_node(node.__name__, node)
        builder.add_edge(START, node.__name__)
    return builder.compile()


async def test_a_question_that_comes_back_with_other_words_is_a_new_revision(
    house: Callable[..., House],
) -> None:
    number = itertools.count(1)
    here = house(loaded("moody", moody(lambda: f"Question {next(number)}")))
    async with here.working():
        thread_id = await here.start("moody")
        await here.until(thread_id, "paused")
        asked = {review.node: review for review in await here.open_reviews(thread_id)}
        assert asked["changing"].question == "Question 1"
        await here.vote(asked["steady"].id, "yes")

        async def revised() -> reviews.Review | None:
            found = await reviews.get(here.database, asked["changing"].id)
            return found if found.revision == 2 else None

        found = await until(revised)
    assert found.question == "Question 2"
    assert found.hash != asked["changing"].hash


async def test_an_answer_to_words_that_are_no_longer_asked_is_not_fed_but_asked_anew(
    house: Callable[..., House],
) -> None:
    number = itertools.count(1)
    here = house(loaded("moody", moody(lambda: f"Question {next(number)}")))
    async with here.working():
        thread_id = await here.start("moody")
        await here.until(thread_id, "paused")
    asked = {review.node: review for review in await here.open_reviews(thread_id)}
    await here.vote(asked["steady"].id, "yes")
    await here.vote(asked["changing"].id, "old answer")
    # The second was decided while the first one's answer was being fed and the node asked anew.
    await here.database.execute(
        "update sayso.mailbox set due_at = now() + interval '1 hour' where review_id = $1",
        asked["changing"].id,
    )
    async with here.working():
        paused = await here.until(thread_id, "paused")
        (again,) = await here.open_reviews(thread_id)
        assert again.id not in {asked["changing"].id, asked["steady"].id}
        assert again.interrupt_id == asked["changing"].interrupt_id
        assert again.question == "Question 2"
        assert paused.open_reviews == (again.id,)
        old = await reviews.get(here.database, asked["changing"].id)
        assert (old.status, old.closed_because) == ("withdrawn", "the question changed")
        assert await mailbox.waiting(here.database, thread_id) == []
        await here.vote(again.id, "new answer")
        await here.until(thread_id, "done")
    log = (await here.values(thread_id))["log"]
    assert sorted(log) == ["changing new answer", "steady yes"]


class Hidden(BaseModel):
    amount: int = 1


class Shows(TypedDict, total=False):
    text: str
    box: Any
    seen: Annotated[list[str], operator.add]


async def test_a_type_that_the_schema_does_not_show_holds_the_thread_until_it_is_named(
    house: Callable[..., House],
) -> None:
    def hides(state: Shows) -> Shows:
        return {"box": {"inside": Hidden()}}

    def looks(state: Shows) -> Shows:
        interrupt("Go on?")
        return {"seen": [type(state["box"]["inside"]).__name__]}

    builder = StateGraph(Shows)
    builder.add_node("hides", hides)
    builder.add_node("looks", looks)
    builder.add_edge(START, "hides")
    builder.add_edge("hides", "looks")
    graph: Any = builder.compile()
    here = house(loaded("shows", graph))
    async with here.working():
        thread_id = await here.start("shows")
        held = await here.until(thread_id, "held")
        assert "Hidden" in (held.mark_reason or "")
        assert ("notice", f"thread:{thread_id}") in here.wished
    named = f"{Hidden.__module__}:Hidden"
    mended = house(loaded("shows", graph, types=(named,)))
    async with mended.working():
        async with mended.database.transaction() as connection:
            await interventions.retry(connection, thread_id, by="U0OSCAR", may_unpark=True)
        await mended.until(thread_id, "paused")
        (review,) = await mended.open_reviews(thread_id)
        await mended.vote(review.id, "yes")
        await mended.until(thread_id, "done")
    assert (await mended.values(thread_id))["seen"] == ["Hidden"]


class Open(BaseModel):
    text: str = ""
    inner: Hidden | None = None
    log: Annotated[list[str], operator.add] = []


async def test_models_that_the_schema_shows_come_back_as_models(
    house: Callable[..., House],
) -> None:
    def makes(state: Open) -> dict[str, Any]:
        return {"inner": Hidden(amount=5)}

    def uses(state: Open) -> dict[str, Any]:
        interrupt("Go on?")
        assert state.inner is not None
        return {"log": [f"{type(state.inner).__name__} {state.inner.amount}"]}

    builder = StateGraph(Open)
    builder.add_node("makes", makes)
    builder.add_node("uses", uses)
    builder.add_edge(START, "makes")
    builder.add_edge("makes", "uses")
    graph: Any = builder.compile()
    here = house(loaded("open", graph))
    async with here.working():
        thread_id = await here.start("open")
        await here.until(thread_id, "paused")
        (review,) = await here.open_reviews(thread_id)
        await here.vote(review.id, "yes")
        await here.until(thread_id, "done")
    assert (await here.values(thread_id))["log"] == ["Hidden 5"]


async def test_an_interrupt_two_subgraphs_deep_is_named_by_its_path(
    house: Callable[..., House],
) -> None:
    def asks(state: State) -> State:
        return {"answer": interrupt("Deep?")}

    middle = StateGraph(State)
    middle.add_node("inner", line(asks).compile())
    middle.add_edge(START, "inner")
    outer = StateGraph(State)
    outer.add_node("middle", middle.compile())
    outer.add_edge(START, "middle")
    here = house(loaded("deep", outer.compile()))
    async with here.working():
        thread_id = await here.start("deep")
        await here.until(thread_id, "paused")
        (review,) = await here.open_reviews(thread_id)
        assert review.node == "middle/inner/asks"
        await here.vote(review.id, "yes")
        await here.until(thread_id, "done")
    assert (await here.values(thread_id))["answer"] == "yes"


@pytest.mark.parametrize("row_waits", [True, False])
async def test_a_crash_between_a_steps_writes_and_its_checkpoint_loses_no_step(
    house: Callable[..., House], row_waits: bool
) -> None:
    """The tasks have their results and `next` is empty: the thread only looks finished."""
    calls: list[str] = []

    def first(state: State) -> State:
        calls.append("first")
        return {"log": ["first"]}

    def second(state: State) -> State:
        calls.append("second")
        return {"log": ["second"]}

    here = house(loaded("two", line(first, second).compile()))
    async with here.working():
        thread_id = await here.start("two")
        await here.until(thread_id, "done")
    # As if the owner had died after the writes of `first` and before the checkpoint of its step.
    ids = await here.database.fetch(
        "select checkpoint_id from sayso.checkpoints where thread_id = $1 order by 1", thread_id
    )
    for table in ("checkpoints", "checkpoint_writes", "checkpoint_values"):
        await here.database.execute(
            f"delete from sayso.{table} where thread_id = $1 and checkpoint_id > $2",
            thread_id,
            ids[1]["checkpoint_id"],
        )
    await here.database.execute("update sayso.threads set mark = null, ended_at = null")
    if row_waits:
        await here.database.execute("update sayso.mailbox set consumed_at = null")
    async with here.database.transaction() as connection:
        await leases.wake(connection, thread_id)
    async with here.working():
        await here.until(thread_id, "done")
    assert (await here.values(thread_id))["log"] == ["first", "second"]
    assert calls == ["first", "second", "second"]


class Mistaken(Policy):
    """Rules with a mistake in them, which only shows when a question is put."""

    def search(self, *asked: Any, **facts: Any) -> Iterator[LookedAt]:
        raise ZeroDivisionError("words of a person")


async def test_a_thread_that_runs_into_a_mistake_of_ours_again_and_again_is_held_and_told(
    house: Callable[..., House],
) -> None:
    here = house(loaded("loan", loan()))
    here.policy = Mistaken()
    thread_id = await here.start("loan")
    await here.database.execute("update sayso.leases set crashes = 3")

    async def counted() -> bool:
        standing = await here.database.fetchrow("select owner, crashes from sayso.leases")
        return standing is not None and standing["owner"] is None and standing["crashes"] == 4

    async with here.working():
        await until(counted)
        assert (await threads.get(here.database, thread_id)).status == "queued"
        await here.database.execute("update sayso.leases set ready_at = now()")
        held = await here.until(thread_id, "held")
    assert held.mark_reason == "it could not be run 5 times in a row: ZeroDivisionError"
    assert ("notice", f"thread:{thread_id}") in here.wished
    here.policy = Policy((RULE,))
    async with here.working():
        async with here.database.transaction() as connection:
            await interventions.retry(connection, thread_id, by="U0OSCAR", may_unpark=True)
        await here.until(thread_id, "paused")
    assert await here.database.fetchval("select crashes from sayso.leases") == 0
