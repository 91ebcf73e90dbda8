"""Where messages cancel: a reply takes the open question back, or comes after its decision."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from operator import add
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from checkpoints import leases
from graphs import audit, mailbox, reviews, saying, settling, threads, votes
from graphs.feeding import Plan
from graphs.plays import Played
from graphs.threads import Message
from tests.graphs.conftest import TEAM, House, loaded

REPLIES: dict[str, Any] = {"turns": True, "cancels": True}


class Talk(TypedDict):
    messages: Annotated[list[Any], add]
    log: Annotated[list[str], add]


def last(state: Talk) -> str:
    return str(state["messages"][-1]["content"])


def asking(state: Talk) -> dict[str, list[str]]:
    answer = interrupt({"question": f"Do {last(state)}?"})
    return {"log": [f"{last(state)}: {answer}"]}


def beside(state: Talk) -> dict[str, list[str]]:
    return {"log": [f"beside: {interrupt({'question': 'And this?'})}"]}


def talk(name: str = "talk", *, parallel: bool = False, **compiled: Any) -> Any:
    builder = StateGraph(Talk)
    builder.add_node("ask", asking)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    if parallel:
        builder.add_node("beside", beside)
        builder.add_edge(START, "beside")
        builder.add_edge("beside", END)
    return loaded(name, builder.compile(**compiled), replies="cancel")


async def test_a_reply_takes_the_open_question_back_and_goes_in_its_stead(
    house: Callable[..., House],
) -> None:
    here = house(talk())
    async with here.working():
        thread_id = await here.start("talk", message=Message("that", "U0BOB"))
        await here.until(thread_id, "paused")
        (first,) = await here.open_reviews(thread_id)
        here.wished.clear()
        said = await here.say(thread_id, "this instead", key="m1", **REPLIES)
        assert (said.kind, said.withdrawn) == ("instead", (first.id,))
        assert ("card", str(first.id)) in here.wished
        assert (await here.say(thread_id, "this instead", key="m1", **REPLIES)).kind == "again"
        late = await here.vote(first.id, {"ok": True}, revision=first.revision, verb="answer")
        assert isinstance(late, votes.Withdrawn)

        async def asked_anew() -> list[reviews.Review]:
            return await here.open_reviews(thread_id)

        await here.until(thread_id, "paused")
        (second,) = await asked_anew()
        assert second.question == {"question": "Do this instead?"}
        await here.vote(second.id, "yes", revision=second.revision, verb="answer")
        await here.until(thread_id, "done")
    assert (await here.values(thread_id))["log"] == ["this instead: yes"]
    gone = await reviews.get(here.database, first.id)
    assert (gone.status, gone.closed_because) == ("withdrawn", saying.NEW_MESSAGE)
    entries = await audit.of_thread(here.database, thread_id)
    assert [entry.detail["withdrew"] for entry in entries if entry.what == "thread.said"] == [
        [first.id]
    ]
    asked = await reviews.list_(here.database, thread_id=thread_id)
    assert [one.status for one in asked] == ["withdrawn", "decided"]


async def test_a_reply_after_a_decision_waits_like_any_other(house: Callable[..., House]) -> None:
    here = house(talk(parallel=True))
    async with here.working():
        thread_id = await here.start("talk", message=Message("that", "U0BOB"))
        await here.until(thread_id, "paused")
        one, other = await here.open_reviews(thread_id)
        await here.vote(one.id, "yes", revision=one.revision, verb="answer")
        await here.until(thread_id, "paused")
        # What the first came to is not in the state yet: new input would drop it.
        said = await here.say(thread_id, "this too", **REPLIES)
        assert (said.kind, said.withdrawn) == ("kept", ())
        assert (await reviews.get(here.database, other.id)).status == "open"
        await here.vote(other.id, "yes", revision=other.revision, verb="answer")

        async def second_turn() -> bool:
            values = await here.values(thread_id)
            return len(values["messages"]) == 2 and len(await here.open_reviews(thread_id)) == 2

        while not await second_turn():  # noqa: ASYNC110  the condition is in the database
            await asyncio.sleep(0.02)
    log = (await here.values(thread_id))["log"]
    assert sorted(log) == ["beside: yes", "that: yes"]


async def test_a_reply_goes_over_a_stop_before_a_step(house: Callable[..., House]) -> None:
    here = house(talk(interrupt_before=["ask"]))
    async with here.working():
        thread_id = await here.start("talk", message=Message("that", "U0BOB"))
        await here.until(thread_id, "paused")
        (stop,) = await here.open_reviews(thread_id)
        assert (await here.say(thread_id, "this", **REPLIES)).withdrawn == (stop.id,)
        await here.until(thread_id, "paused")
        (again,) = await here.open_reviews(thread_id)
    assert (again.kind, again.id != stop.id) == ("breakpoint", True)
    assert len((await here.values(thread_id))["messages"]) == 2


async def test_a_question_to_the_requester_is_answered_and_not_taken_back(
    house: Callable[..., House],
) -> None:
    here = house()
    mine = await here.asked(rule=None, audience="requester")
    other = await here.asked(interrupt_id="b" * 32, thread_id=mine.thread_id)
    said = await here.say(mine.thread_id, "60000", **REPLIES)
    assert (said.kind, said.review_id) == ("answer", mine.id)
    # The answer waits to be fed: what is said next must not undo it.
    assert (await here.say(mine.thread_id, "and more", **REPLIES)).kind == "kept"
    assert (await reviews.get(here.database, other.id)).status == "open"


async def test_of_a_decision_and_a_reply_at_the_same_moment_one_is_first_and_both_learn_it(
    house: Callable[..., House],
) -> None:
    here = house(talk())
    kinds = set()
    async with here.working():
        for number in range(20):
            thread_id = await here.start("talk", message=Message(f"n{number}", "U0BOB"))
            await here.until(thread_id, "paused")
            (asked,) = await here.open_reviews(thread_id)
            calls = [
                here.vote(asked.id, "yes", revision=asked.revision, verb="answer"),
                here.say(thread_id, f"m{number}", **REPLIES),
            ]
            if number % 2:
                calls.reverse()
            results = await asyncio.gather(*calls)
            said, voted = sorted(results, key=lambda each: not isinstance(each, saying.Said))
            kinds.add(said.kind)
            await here.until(thread_id, "paused")  # the message has become a turn that asks
            (now,) = await here.open_reviews(thread_id)
            assert now.question == {"question": f"Do m{number}?"}
            log = (await here.values(thread_id)).get("log", [])
            if said.kind == "instead":
                assert isinstance(voted, votes.Withdrawn)
                assert (await reviews.get(here.database, asked.id)).status == "withdrawn"
                assert log == []
            else:
                assert isinstance(voted, votes.Decided)
                assert (await reviews.get(here.database, asked.id)).status == "decided"
                assert log == [f"n{number}: yes"]
            assert await mailbox.waiting(here.database, thread_id) == []
    assert kinds <= {"instead", "kept", "queued"}


async def test_the_files_of_a_reply_are_kept_with_it_while_several_questions_are_open(
    house: Callable[..., House],
) -> None:
    here = house()
    one = await here.asked()
    two = await here.asked(interrupt_id="b" * 32, thread_id=one.thread_id)
    file = threads.FileRef("F1", "statement.pdf", 3, "http://files/F1")
    said = await here.say(one.thread_id, "The statement", files=(file,))
    assert said.kind == "kept"
    kept = (await threads.messages(here.database, one.thread_id))[-1]
    assert [each.id for each in kept.files] == ["F1"]
    for each in (one, two):
        assert ("card", str(each.id)) in here.wished
        assert (await reviews.get(here.database, each.id)).status == "open"


async def test_an_owner_that_settles_after_the_reply_does_not_put_the_question_again(
    house: Callable[..., House],
) -> None:
    here = house(talk())
    async with here.working():
        thread_id = await here.start("talk", message=Message("that", "U0BOB"))
        thread = await here.until(thread_id, "paused")
        (first,) = await here.open_reviews(thread_id)
    async with here.database.transaction() as connection:
        await leases.wake(connection, thread_id)
        (lease,) = await leases.claim(
            connection, owner="slow", scopes=[f"{TEAM}/talk"], limit=1, lease_seconds=30
        )
    assert (await here.say(thread_id, "this", **REPLIES)).withdrawn == (first.id,)
    read_before = reviews.Asked(
        first.interrupt_id, first.node, first.checkpoint_id, first.question, first.hash
    )
    async with here.database.transaction() as connection:
        rest = await settling.settle(
            connection,
            lease,
            thread=thread,
            loaded=here.registry.get("talk"),
            played=Played(Plan("settle"), asked=(read_before,), head=thread.head, next=("ask",)),
            policy=here.policy,
            wish=here.wish,
        )
    assert (rest.opened, await here.open_reviews(thread_id)) == ((), [])
    assert rest.ready_at is not None
    async with here.working():
        await here.until(thread_id, "paused")
        (second,) = await here.open_reviews(thread_id)
    assert second.question == {"question": "Do this?"}
