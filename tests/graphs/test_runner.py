"""Threads from start to end on a real worker: pause, decide, resume, fail, take over, drain."""

from __future__ import annotations

import asyncio
import operator
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, TypedDict

import asyncpg
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel

from checkpoints import leases
from checkpoints.database import Database
from checkpoints.errors import DatabaseAway
from graphs import audit, documents, interventions, reviews, routings, steps, threads
from graphs.errors import FileRefused
from graphs.runner import Limits
from graphs.templates import Template
from graphs.threads import FileRef, Message
from graphs.votes import Decided
from memory import customers
from tests.graphs.conftest import TEAM, House, loaded, until


class State(TypedDict, total=False):
    text: str
    risk: int
    answer: Any
    by: str
    log: Annotated[list[str], operator.add]


def assess(state: State) -> State:
    return {"risk": 71, "log": ["assess"]}


def by_risk(state: State) -> str:
    return "ask" if state["risk"] > 50 else END


def ask(state: State, config: RunnableConfig) -> State:
    answer = interrupt({"question": "Go on?", "risk": state["risk"]})
    decisions = config["configurable"]["sayso"]["decisions"]
    return {"answer": answer, "by": decisions[0]["by"][0]["name"], "log": ["ask"]}


def pay(state: State) -> State:
    return {"log": ["pay"]}


def line(*nodes: Any) -> StateGraph[Any, Any, Any, Any]:
    """A graph of these nodes, one after the other."""
    builder = StateGraph(State)
    before = START
    for node in nodes:
        builder.add_node(node.__name__, node)
        builder.add_edge(before, node.__name__)
        before = node.__name__
    return builder


def loan() -> Any:
    builder = StateGraph(State)
    builder.add_node("assess", assess)
    builder.add_node("ask", ask)
    builder.add_node("pay", pay)
    builder.add_edge(START, "assess")
    builder.add_conditional_edges("assess", by_risk, ["ask", END])
    builder.add_edge("ask", "pay")
    return builder.compile()


def parallel() -> Any:
    def left(state: State) -> State:
        return {"log": [f"left {interrupt('Left?')}"]}

    def right(state: State) -> State:
        return {"log": [f"right {interrupt('Right?')}"]}

    def join(state: State) -> State:
        return {"log": ["join"]}

    builder = StateGraph(State)
    for node in (left, right, join):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "left")
    builder.add_edge(START, "right")
    builder.add_edge(["left", "right"], "join")
    return builder.compile()


async def log_of(here: House, thread_id: str) -> list[str]:
    """What the thread's nodes wrote, from its newest checkpoint."""
    found = await here.values(thread_id)
    return list(found.get("log", []))


async def test_a_graph_without_words_for_its_outcome_tells_what_changed_after_the_answer(
    house: Callable[..., House],
) -> None:
    here = house(loaded("loan", loan()))
    async with here.working():
        thread_id = await here.start("loan")
        await here.until(thread_id, "paused")
        (review,) = await here.open_reviews(thread_id)
        await here.vote(review.id, {"decision": "approve", "note": None}, revision=1)
        done = await here.until(thread_id, "done")
    told = done.outcome or ""
    assert "By: Alice" in told
    assert "Risk" not in told
    assert told.endswith(".")


async def test_a_thread_pauses_for_a_person_and_resumes_with_exactly_the_answer(
    house: Callable[..., House],
) -> None:
    here = house(loaded("loan", loan(), outcome="Answered {answer.decision} by {by}."))
    async with here.working():
        thread_id = await here.start("loan")
        paused = await here.until(thread_id, "paused")
        assert paused.next == ("ask",)
        (review,) = await here.open_reviews(thread_id)
        assert review.question == {"question": "Go on?", "risk": 71}
        assert review.audience == "reviewers"
        decided = await here.vote(review.id, {"decision": "approve", "note": None}, revision=1)
        assert isinstance(decided, Decided)
        done = await here.until(thread_id, "done")
    assert done.outcome == "Answered approve by Alice."
    assert ("card", str(review.id)) in here.wished
    assert ("outcome", thread_id) in here.wished
    kept = await steps.of_thread(here.database, thread_id)
    assert [(step.node, step.status) for step in kept] == [
        ("assess", "done"),
        ("ask", "done"),
        ("pay", "done"),
    ]
    (routing,) = await routings.of_thread(here.database, thread_id)
    assert (routing.node, routing.branch, routing.choice) == ("assess", "by_risk", "ask")
    assert routing.checkpoint_id == review.checkpoint_id
    assert (await reviews.get(here.database, review.id)).outcome == "approved"
    assert (await threads.list_(here.database, status="done"))[0].id == thread_id


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_two_questions_at_once_are_answered_in_any_order_and_the_join_runs_once(
    house: Callable[..., House], order: tuple[int, int]
) -> None:
    here = house(loaded("both", parallel()))
    async with here.working():
        thread_id = await here.start("both")
        await here.until(thread_id, "paused")
        asked = await here.open_reviews(thread_id)
        assert {review.node for review in asked} == {"left", "right"}
        first, second = asked[order[0]], asked[order[1]]
        await here.vote(first.id, "yes")

        async def one_is_left() -> bool:
            thread = await threads.get(here.database, thread_id)
            return thread.status == "paused" and thread.open_reviews == (second.id,)

        await until(one_is_left)
        await here.vote(second.id, "no")
        await here.until(thread_id, "done")
    log = await log_of(here, thread_id)
    assert sorted(log) == sorted([f"{first.node} yes", f"{second.node} no", "join"])
    assert log[-1] == "join"


async def test_all_answers_that_wait_are_fed_at_once(house: Callable[..., House]) -> None:
    here = house(loaded("both", parallel()))
    async with here.working():
        thread_id = await here.start("both")
        await here.until(thread_id, "paused")
    for review in await here.open_reviews(thread_id):
        await here.vote(review.id, review.node)
    async with here.working():
        await here.until(thread_id, "done")
    assert await log_of(here, thread_id) == ["left left", "right right", "join"]
    fed = [
        entry.detail["fed"]
        for entry in await audit.of_thread(here.database, thread_id)
        if entry.what == "thread.done"
    ]
    assert [len(rows) for rows in fed] == [2]


async def test_an_answer_that_comes_while_another_is_being_fed_is_not_lost(
    house: Callable[..., House],
) -> None:
    """The wake-up that falls between a claim and its release, again and again."""
    here = house(loaded("both", parallel()))
    async with here.working(limits=Limits(lease_seconds=5, poll_seconds=30)) as runner:
        ids = [await here.start("both") for _ in range(10)]
        runner.look()
        for thread_id in ids:
            await here.until(thread_id, "paused")
        for thread_id in ids:
            first, second = await here.open_reviews(thread_id)
            await asyncio.gather(here.vote(first.id, "a"), here.vote(second.id, "b", by="U0DANA"))
        for thread_id in ids:
            await here.until(thread_id, "done")
            assert (await log_of(here, thread_id)).count("join") == 1


async def test_the_schedule_of_retries_then_failed_then_try_again(
    house: Callable[..., House],
) -> None:
    broken = threading.Event()
    broken.set()
    calls: list[str] = []

    def disburse(state: State) -> State:
        calls.append("call")
        if broken.is_set():
            raise RuntimeError("the bank did not answer\x00")
        return {"log": ["paid"]}

    graph = line(ask, disburse).compile()
    here = house(loaded("loan", graph, retry=("50ms", "100ms")))
    async with here.working():
        thread_id = await here.start("loan", {"risk": 1})
        await here.until(thread_id, "paused")
        (review,) = await here.open_reviews(thread_id)
        await here.vote(review.id, "yes")
        failed = await here.until(thread_id, "failed")
        assert failed.error is not None
        assert (failed.error.node, failed.error.type) == ("disburse", "RuntimeError")
        assert failed.error.message == "the bank did not answer"
        assert (failed.error.attempt, failed.error.attempts) == (3, 3)
        assert failed.error.retry_at is None
        assert len(calls) == 3
        assert ("notice", f"thread:{thread_id}") in here.wished
        broken.clear()
        async with here.database.transaction() as connection:
            await interventions.retry(
                connection, thread_id, by="U0OSCAR", may_unpark=True, wish=here.wish
            )
        done = await here.until(thread_id, "done")
    assert done.error is None
    assert len(calls) == 4
    # Nobody was asked again: the approval stood.
    assert len(await reviews.list_(here.database, thread_id=thread_id)) == 1
    whats = [entry.what for entry in await audit.of_thread(here.database, thread_id)]
    assert whats.count("thread.failing") == 2
    assert whats.count("thread.failed") == 1


async def test_while_the_next_attempt_waits_the_thread_says_when(
    house: Callable[..., House],
) -> None:
    def disburse(state: State) -> State:
        raise RuntimeError("no")

    here = house(loaded("loan", line(disburse).compile(), retry=("10m",)))
    async with here.working():
        thread_id = await here.start("loan")

        async def waits() -> threads.Thread | None:
            thread = await threads.get(here.database, thread_id)
            return thread if thread.error is not None and thread.status == "queued" else None

        thread = await until(waits)
    assert thread.error.retry_at is not None
    assert (thread.error.attempt, thread.error.attempts) == (1, 2)


async def test_an_error_that_is_for_good_is_not_tried_again(house: Callable[..., House]) -> None:
    class AccountUnknown(Exception):
        permanent = True

    def disburse(state: State) -> State:
        raise AccountUnknown("Account number is not known (422)")

    here = house(loaded("loan", line(disburse).compile(), retry=("10m",)))
    async with here.working():
        failed = await here.until(await here.start("loan"), "failed")
    assert failed.error is not None
    assert failed.error.attempt == 1


async def test_a_stale_owner_is_cut_off_and_writes_nothing_more(
    house: Callable[..., House],
) -> None:
    begun, ended = threading.Event(), threading.Event()

    async def slow(state: State) -> State:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return {"log": ["slow"]}

    here = house(loaded("loan", line(assess, slow).compile()))
    async with here.working() as runner:
        thread_id = await here.start("loan")
        await until(lambda: asyncio.to_thread(begun.wait, 0.1))

        async def known() -> bool:  # the record of steps follows the run a moment later
            walked = await steps.of_thread(here.database, thread_id)
            return [(step.node, step.status) for step in walked][-1:] == [("slow", "running")]

        await until(known)
        async with here.database.transaction() as connection:
            got = await interventions.cancel(connection, thread_id, by="U0OSCAR", reason="stop")
        assert got == interventions.Cancelled("slow", ())
        assert await asyncio.to_thread(ended.wait, 10)

        async def let_go() -> bool:
            return not runner.running

        await until(let_go)
    thread = await threads.get(here.database, thread_id)
    assert thread.status == "cancelled"
    assert await log_of(here, thread_id) == ["assess"]


async def test_a_node_that_blocks_its_loop_loses_no_lease_and_holds_up_no_settle(
    house: Callable[..., House],
) -> None:
    blocked = threading.Event()

    async def blocks(state: State) -> State:
        blocked.set()
        time.sleep(3)  # noqa: ASYNC251  what a careless node does
        return {"log": ["blocks"]}

    here = house(loaded("blocks", line(blocks).compile()), loaded("loan", loan()))
    async with here.working(limits=Limits(lease_seconds=1.0, poll_seconds=0.2)):
        thread_id = await here.start("blocks")
        await until(lambda: asyncio.to_thread(blocked.wait, 0.1))
        done = await here.until(thread_id, "done")
    assert done.status == "done"
    epoch = await here.database.fetchval(
        "select epoch from sayso.leases where thread_id = $1", thread_id
    )
    assert epoch == 1


async def test_a_drained_thread_goes_on_with_the_next_worker_and_counts_no_crash(
    house: Callable[..., House],
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    calls: list[str] = []

    def first(state: State) -> State:
        calls.append("first")
        begun.set()
        go_on.wait(10)
        return {"log": ["first"]}

    def second(state: State) -> State:
        calls.append("second")
        return {"log": ["second"]}

    here = house(loaded("loan", line(first, second).compile()))
    runner = here.runner(limits=Limits(lease_seconds=30, poll_seconds=0.1, drain_seconds=10))
    task = asyncio.create_task(runner.run())
    thread_id = await here.start("loan")
    await until(lambda: asyncio.to_thread(begun.wait, 0.1))
    runner.stop()
    await until(lambda: asyncio.sleep(0.05, result=True))
    go_on.set()
    await task
    assert calls == ["first"]
    assert (await threads.get(here.database, thread_id)).status == "queued"
    async with here.working():
        await here.until(thread_id, "done")
    assert calls == ["first", "second"]
    assert await log_of(here, thread_id) == ["first", "second"]
    assert await here.database.fetchval("select crashes from sayso.leases") == 0


async def test_what_cannot_be_drained_in_time_is_cut_and_handed_back(
    house: Callable[..., House],
) -> None:
    begun = threading.Event()
    patient = threading.Event()

    async def slow(state: State) -> State:
        begun.set()
        if not patient.is_set():
            await asyncio.sleep(60)
        return {"log": ["slow"]}

    here = house(loaded("loan", line(slow).compile()))
    limits = Limits(lease_seconds=30, poll_seconds=0.1, drain_seconds=0.2, cut_seconds=5)
    async with here.working(limits=limits):
        thread_id = await here.start("loan")
        await until(lambda: asyncio.to_thread(begun.wait, 0.1))
    async with here.database.transaction() as connection:
        standing = (await leases.standings(connection, [thread_id]))[thread_id]
    assert standing.owner is None
    assert standing.ready_at is not None
    assert standing.crashes == 0
    patient.set()
    async with here.working():
        await here.until(thread_id, "done")
    assert await log_of(here, thread_id) == ["slow"]


async def test_a_lease_that_ran_out_is_taken_over_and_the_thread_goes_on_where_it_was(
    house: Callable[..., House], database: Database
) -> None:
    here = house(loaded("loan", loan()))
    thread_id = await here.start("loan")
    async with database.transaction() as connection:
        await leases.claim(
            connection, owner="dead", scopes=[f"{TEAM}/loan"], limit=1, lease_seconds=0.2
        )
    async with here.working():
        await here.until(thread_id, "paused")
    assert await database.fetchval("select epoch from sayso.leases") == 2


async def test_a_thread_that_ends_its_workers_five_times_is_parked_and_can_be_let_go(
    house: Callable[..., House], database: Database
) -> None:
    here = house(loaded("loan", loan()))
    thread_id = await here.start("loan")
    await database.execute(
        "update sayso.leases set owner = 'dead', lease_until = now() - interval '1 s', crashes = 4"
    )
    async with here.working():
        parked = await here.until(thread_id, "parked")
        assert "5 times" in (parked.mark_reason or "")
        assert ("notice", f"thread:{thread_id}") in here.wished
        async with database.transaction() as connection:
            await interventions.retry(connection, thread_id, by="U0OSCAR", may_unpark=True)
        await here.until(thread_id, "paused")


async def test_a_thread_that_crashed_twice_runs_alone_also_on_a_busy_worker(
    house: Callable[..., House], database: Database
) -> None:
    release = threading.Event()

    async def waits(state: State) -> State:
        while not release.is_set():  # noqa: ASYNC110  set by another thread
            await asyncio.sleep(0.05)
        return {"log": ["waits"]}

    here = house(loaded("waits", line(waits).compile()), loaded("loan", loan()))
    patient = Limits(lease_seconds=10, poll_seconds=0.2, drain_seconds=60)
    async with here.working(limits=patient) as runner:
        busy = await here.start("waits")
        await here.until(busy, "running")
        suspect = await here.start("loan")
        await database.execute(
            "update sayso.leases set owner = 'dead', lease_until = now() - interval '1 s', "
            "crashes = 2, ready_at = null where thread_id = $1",
            suspect,
        )
        later = await here.start("loan")
        runner.look()
        await until(lambda: asyncio.sleep(0.6, result=True))
        # It waits for the worker to be empty, and nothing new is taken before it.
        assert runner.running == (busy,)
        release.set()
        await here.until(suspect, "paused")
        await here.until(later, "paused")


async def test_the_requesters_answer_reaches_the_node_with_its_documents(
    house: Callable[..., House],
) -> None:
    class Statement(BaseModel):
        text: str
        documents: list[str]

    async def ask_requester(state: State, config: RunnableConfig) -> State:
        said = interrupt({"question": "How much?"}, response_schema=Statement)
        held = config["configurable"][documents.KEY]
        read = [await held.read(each) for each in said.documents]
        told = [f"{each.name}: {each.body!r} {each.problem}" for each in read]
        return {"answer": said.text, "log": told}

    async def fetch(file: FileRef) -> bytes:
        if file.name == "gone.pdf":
            raise FileRefused("Slack has no such file")
        return b"income 31,400"

    asks = Template(node="ask_requester", audience="requester", title="How much?")
    graph = line(ask_requester).compile()
    here = house(loaded("loan", graph, questions=(asks,)))
    async with here.working(fetch=fetch):
        thread_id = await here.start("loan")
        await here.until(thread_id, "paused")
        (review,) = await here.open_reviews(thread_id)
        assert (review.audience, review.rule) == ("requester", None)
        assert ("ask", str(review.id)) in here.wished
        files = (
            FileRef("F1", "statement.csv", 13, "http://files/1", "text/csv"),
            FileRef("F2", "gone.pdf", 5, "http://files/2"),
            FileRef("F3", "film.mp4", 50_000_000, "http://files/3"),
        )
        said = await here.say(thread_id, "60000", files=files)
        assert said.kind == "answer"
        await here.until(thread_id, "done")
    assert await log_of(here, thread_id) == [
        "statement.csv: b'income 31,400' None",
        "gone.pdf: b'' Slack has no such file",
        "film.mp4: b'' it is larger than 10 MB",
    ]
    stored = await documents.of_thread(here.database, thread_id)
    assert [document.name for document in stored] == ["statement.csv", "gone.pdf", "film.mp4"]
    assert len(stored[0].sha256 or "") == 64
    answer = (await reviews.get(here.database, review.id)).items[0].answer
    assert answer["text"] == "60000"
    assert len(answer["documents"]) == 3


async def test_files_are_stored_one_by_one_and_a_message_may_bring_only_so_many(
    house: Callable[..., House], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MAX_FILES", 5)
    monkeypatch.setattr(documents, "MAX_MESSAGE_BYTES", 10)
    stored_before: list[int] = []
    refuses = {"F3"}

    async def fetch(file: FileRef) -> bytes:
        stored = await documents.of_thread(here.database, thread_id)
        stored_before.append(len(stored))
        if file.id in refuses:  # as a worker that ends half way
            raise DatabaseAway("test")
        return b"body"

    given = loaded("loan", line(ask, pay).compile())
    intake: Any = lambda message: ({"text": "", "log": message.document_ids()}, None)  # noqa: E731
    here = house(replace(given, intake=intake))
    sizes = {"F1": 4, "F2": 11, "F3": 4, "F4": 1, "F5": 1, "F6": 1}
    files = tuple(FileRef(one, f"{one}.pdf", size, "http://x") for one, size in sizes.items())
    thread_id = await here.start("loan", message=Message("Loan", "U0BOB", files))
    async with here.working(fetch=fetch):
        await until(lambda: asyncio.sleep(0.01, result=len(stored_before) >= 2))
        refuses.clear()
        await here.until(thread_id, "failed")
    # What was stored before the worker was cut off is not fetched again.
    assert stored_before[0] == 0
    assert set(stored_before[1:-2]) == {2}
    assert stored_before[-2:] == [3, 4]
    stored = await documents.of_thread(here.database, thread_id)
    together = "the files of one message may have 0 MB together"
    assert [(one.name, one.problem) for one in stored] == [
        ("F1.pdf", None),
        ("F2.pdf", together),
        ("F3.pdf", None),
        ("F4.pdf", together),  # Slack said 1 byte, and 4 came
        ("F5.pdf", together),
        ("F6.pdf", "it is one file too many"),
    ]


async def test_a_message_is_taken_in_once_and_its_customer_never_changes(
    house: Callable[..., House],
) -> None:
    calls: list[Message] = []

    def intake(message: Message) -> tuple[Any, str | None]:
        calls.append(message)
        return {"text": message.text, "log": message.document_ids()}, "Asha Traders"

    async def fetch(file: FileRef) -> bytes:
        return b"body"

    given = loaded("loan", line(ask, pay).compile())
    here = house(replace(given, intake=intake))
    async with here.working(fetch=fetch):
        message = Message("Loan", "U0BOB", (FileRef("F1", "a.pdf", 4, "http://x"),))
        thread_id = await here.start("loan", message=message)
        # The graph asks with a risk it has not been given: it fails, and is tried again later.
        failed = await here.until(thread_id, "failed")
        assert failed.customer_name == "Asha Traders"
        async with here.database.transaction() as connection:
            await interventions.retry(connection, thread_id, by="U0BOB", may_unpark=True)
        await here.until(thread_id, "running", "queued")
        await here.until(thread_id, "failed")
    assert len(calls) == 1
    assert calls[0].files[0].document_id is not None
    assert len(await documents.of_thread(here.database, thread_id)) == 1


async def test_an_unclear_customer_is_not_guessed_but_noted(
    house: Callable[..., House], database: Database
) -> None:
    async with database.transaction() as connection:
        await customers.create(connection, "Asha Traders")
        await customers.create(connection, "Asha Traders")
    given = loaded("loan", line(assess).compile())

    def intake(message: Message) -> tuple[Any, str | None]:
        return {"text": message.text}, "Asha Traders"

    here = house(replace(given, intake=intake))
    async with here.working():
        thread_id = await here.start("loan", message=Message("x", "U0BOB"))
        done = await here.until(thread_id, "done")
    assert done.customer_id is None
    assert "Asha Traders" in (done.customer_note or "")


async def test_an_intake_that_raises_fails_the_thread_in_words(
    house: Callable[..., House],
) -> None:
    def intake(message: Message) -> tuple[Any, str | None]:
        raise ValueError("no amount\x00 in it")

    given = loaded("loan", loan(), retry=("50ms",))
    here = house(replace(given, intake=intake))
    async with here.working():
        thread_id = await here.start("loan", message=Message("x", "U0BOB"))
        failed = await here.until(thread_id, "failed")
    assert failed.error is not None
    assert (failed.error.node, failed.error.message) == ("intake", "no amount in it")
    assert failed.error.attempt == 2


class Chat(TypedDict, total=False):
    messages: Annotated[list[Any], operator.add]
    asked: bool


async def test_a_turn_that_comes_while_a_question_is_open_is_fed_after_it(
    house: Callable[..., House],
) -> None:
    def answer(state: Chat) -> Chat:
        last = state["messages"][-1]["content"]
        said = interrupt("Sure?") if last == "ask" else "straight"
        return {"messages": [{"role": "assistant", "content": f"{last}: {said}"}]}

    builder = StateGraph(Chat)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    here = house(loaded("chat", builder.compile()))
    assert here.registry.get("chat").turns
    async with here.working():
        thread_id = await here.start("chat", message=Message("ask", "U0BOB"))
        await here.until(thread_id, "paused")
        assert (await here.say(thread_id, "next", turns=True)).kind == "kept"
        (review,) = await here.open_reviews(thread_id)
        await here.vote(review.id, "yes")

        async def both() -> bool:
            return len((await here.values(thread_id)).get("messages", [])) == 4

        await until(both)
        await here.until(thread_id, "done")
        assert (await here.say(thread_id, "again", turns=True)).kind == "queued"

        async def three() -> bool:
            return len((await here.values(thread_id)).get("messages", [])) == 6

        await until(three)
        await here.until(thread_id, "done")
    said = [message["content"] for message in (await here.values(thread_id))["messages"]]
    assert said == ["ask", "ask: yes", "next", "next: straight", "again", "again: straight"]


async def test_a_static_breakpoint_waits_for_a_person_and_goes_on_once(
    house: Callable[..., House],
) -> None:
    here = house(loaded("stops", line(assess, pay).compile(interrupt_before=["pay"])))
    async with here.working():
        thread_id = await here.start("stops")
        await here.until(thread_id, "paused")
        (review,) = await here.open_reviews(thread_id)
        assert (review.kind, review.node) == ("breakpoint", "pay")
    # A worker that comes new to it does not run past it.
    async with here.database.transaction() as connection:
        await leases.wake(connection, thread_id)
    async with here.working():

        async def looked() -> bool:
            epoch = await here.database.fetchval("select epoch from sayso.leases")
            return bool(epoch >= 2)

        await until(looked)
        assert (await here.until(thread_id, "paused")).open_reviews == (review.id,)
        assert await log_of(here, thread_id) == ["assess"]
        await here.vote(review.id, {"do": "continue"})
        await here.until(thread_id, "done")
    assert await log_of(here, thread_id) == ["assess", "pay"]


HOSTILE = [
    None,
    "",
    "a\x00b\ud800c<!channel>",
    {"a\x00": "\x00", "b": b"\x00\xff", "c": {1, 2}, "d": 2**63, "e": float("nan")},
    [1, [2, [3]], None],
    {str(number): "x" * 500 for number in range(300)},
]


@pytest.mark.parametrize("payload", HOSTILE, ids=range(len(HOSTILE)))
async def test_a_payload_however_strange_becomes_a_review(
    house: Callable[..., House], payload: Any
) -> None:
    def strange(state: State) -> State:
        interrupt(payload)
        return {"log": ["strange"]}

    here = house(loaded("strange", line(strange).compile()))
    async with here.working():
        thread_id = await here.start("strange")
        await here.until(thread_id, "paused")
        (review,) = await here.open_reviews(thread_id)
        await here.vote(review.id, "ok")
        await here.until(thread_id, "done")
    exact = await here.database.fetchrow(
        "select question_type, question_bytes from sayso.reviews where id = $1", review.id
    )
    assert exact is not None
    assert exact["question_type"]


async def test_a_state_that_cannot_be_written_fails_the_thread_with_the_nodes_name(
    house: Callable[..., House],
) -> None:
    def strange(state: State) -> Any:
        return {"answer": threading.Lock()}

    here = house(loaded("strange", line(strange).compile()))
    async with here.working():
        failed = await here.until(await here.start("strange"), "failed")
    assert failed.error is not None
    assert failed.error.node == "strange"
    assert "answer" in failed.error.message
    assert "lock" in failed.error.message


async def test_a_node_that_tries_to_end_the_process_fails_alone(
    house: Callable[..., House],
) -> None:
    def leaves(state: State) -> State:
        raise SystemExit(3)

    here = house(loaded("leaves", line(leaves).compile()), loaded("loan", loan()))
    async with here.working():
        failed = await here.until(await here.start("leaves"), "failed")
        assert failed.error is not None
        assert (failed.error.node, failed.error.type) == ("leaves", "SystemExit")
        await here.until(await here.start("loan"), "paused")


async def test_a_node_that_cancels_itself_fails_and_is_not_run_for_ever(
    house: Callable[..., House],
) -> None:
    calls: list[str] = []

    async def gives_up(state: State) -> State:
        calls.append("call")
        raise asyncio.CancelledError

    here = house(loaded("gives_up", line(gives_up).compile()))
    async with here.working():
        failed = await here.until(await here.start("gives_up"), "failed")
    assert failed.error is not None
    assert "Cancelled" in failed.error.type
    assert calls == ["call"]


async def test_a_database_that_cuts_all_connections_loses_nothing(
    house: Callable[..., House], database_url: str
) -> None:
    here = house(loaded("loan", loan()))
    driver = await asyncpg.connect(database_url)
    cut = (
        "select pg_terminate_backend(pid) from pg_stat_activity "
        "where datname = current_database() and pid <> pg_backend_pid()"
    )

    async def again_and_again(step: Callable[[], Any]) -> Any:
        """What a caller does whose connection broke: the same again, under the same key."""
        while True:
            try:
                return await step()
            except DatabaseAway:
                continue

    async with here.working(limits=Limits(lease_seconds=1.5, poll_seconds=0.2)):
        ids = []
        for number in range(10):
            ids.append(await again_and_again(lambda key=f"k{number}": here.start("loan", key=key)))
            if number % 2:
                await driver.execute(cut)
        for thread_id in ids:
            await again_and_again(lambda each=thread_id: here.until(each, "paused"))
        for thread_id in ids:
            (review,) = await again_and_again(lambda each=thread_id: here.open_reviews(each))
            await again_and_again(lambda each=review.id: here.vote(each, "yes"))
            await driver.execute(cut)
        for thread_id in ids:
            await again_and_again(lambda each=thread_id: here.until(each, "done"))
            values = await again_and_again(lambda each=thread_id: here.values(each))
            assert values["log"] == ["assess", "ask", "pay"]
    await driver.close()


async def test_nobody_may_decide_without_a_rule_and_the_operators_are_told(
    house: Callable[..., House],
) -> None:
    here = house(loaded("loan", loan()), rules=())
    async with here.working():
        thread_id = await here.start("loan")
        await here.until(thread_id, "paused")
    (review,) = await here.open_reviews(thread_id)
    assert review.rule is None
    assert ("notice", f"review:{review.id}") in here.wished


async def test_many_threads_run_at_once_on_one_worker(house: Callable[..., House]) -> None:
    here = house(loaded("loan", loan()))
    async with here.working():
        ids = [await here.start("loan") for _ in range(40)]
        for thread_id in ids:
            await here.until(thread_id, "paused")
        for thread_id in ids:
            (review,) = await here.open_reviews(thread_id)
            await here.vote(review.id, "yes")
        for thread_id in ids:
            await here.until(thread_id, "done")
    left = "select (select count(owner) from sayso.leases), (select count(*) from sayso.mailbox "
    row = await here.database.fetchrow(left + "where consumed_at is null)")
    assert row is not None
    assert tuple(row.values()) == (0, 0)
