"""Deleting, pruning and copying: nothing comes back, nothing that can be resumed is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.serde.types import INTERRUPT
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict

from checkpoints import leases, prune
from checkpoints.database import Database
from checkpoints.errors import BadValue, LockTimeout, StaleOwner
from checkpoints.postgres import PostgresSaver
from checkpoints.prune import Outline, kept
from tests.checkpoints.savers import checkpoint, claimed, config, put

TABLES = ("checkpoints", "checkpoint_values", "checkpoint_writes")


@pytest.fixture
async def saver(database: Database) -> AsyncIterator[PostgresSaver]:
    made = PostgresSaver(database)
    yield made
    await made.drain()


async def rows(database: Database, thread_id: str) -> dict[str, int]:
    return {
        table: await database.fetchval(
            f"select count(*) from sayso.{table} where thread_id = $1", thread_id
        )
        for table in TABLES
    }


NOTHING = dict.fromkeys(TABLES, 0)


# --- a deleted thread stays deleted ---------------------------------------------------------


async def test_late_writes_never_bring_a_deleted_thread_back(
    saver: PostgresSaver, database: Database
) -> None:
    stored = await put(saver, "a", {"x": ["1"]})
    elder = checkpoint({"x": ["made before the delete"]})
    await saver.adelete_thread("a")
    await saver.aput_writes(stored, [("c", 1)], "task")
    await put(saver, "a", {"x": ["2"]}, parent=stored, version=2)
    await saver.aput(config("a"), elder, {"source": "input"}, {"x": 1})
    await saver.aput_writes(config("a", elder["id"]), [("c", 1)], "task")
    assert await rows(database, "a") == NOTHING
    assert await saver.aget_tuple(config("a")) is None


async def test_what_builds_on_a_dropped_checkpoint_is_dropped_too(
    saver: PostgresSaver, database: Database
) -> None:
    stored = await put(saver, "a", {"x": ["1"]})
    await saver.adelete_thread("a")
    child = await put(saver, "a", {"x": ["2"]}, parent=stored)
    await put(saver, "a", {"x": ["3"]}, parent=child)
    # And all at once, in one statement.
    line = [checkpoint({"x": [n]}) for n in range(4)]
    parents = [stored["configurable"]["checkpoint_id"], *(one["id"] for one in line)]
    await asyncio.gather(
        *(
            saver.aput(config("a", parent), one, {"source": "loop"}, {"x": 1})
            for parent, one in zip(parents, line, strict=False)
        )
    )
    assert (await rows(database, "a"))["checkpoints"] == 0


async def test_the_checkpoints_of_a_subgraph_do_not_outlive_those_above(
    saver: PostgresSaver, database: Database
) -> None:
    root = await put(saver, "a", {"x": ["1"]})
    await saver.adelete_thread("a")
    above = {"": root["configurable"]["checkpoint_id"]}
    await put(saver, "a", {"y": ["late"]}, namespace="child:1", parents=above)
    assert await rows(database, "a") == NOTHING


async def test_a_new_life_under_the_same_id_is_accepted(
    saver: PostgresSaver, database: Database
) -> None:
    old = await put(saver, "a", {"x": ["old"]})
    await saver.adelete_thread("a")
    fresh = await put(saver, "a", {"x": ["new"]})
    above = {"": fresh["configurable"]["checkpoint_id"]}
    await put(saver, "a", {"y": ["below"]}, namespace="child:1", parents=above)
    await saver.aput_writes(fresh, [("c", 1)], "task")
    await put(saver, "a", {"x": ["late"]}, parent=old, version=9)
    await put(saver, "a", {"x": ["newer"]}, parent=fresh, version=2)
    found = await saver.aget_tuple(config("a"))
    assert found is not None
    assert found.checkpoint["channel_values"] == {"x": ["newer"]}
    assert await rows(database, "a") == {
        "checkpoints": 3,
        "checkpoint_values": 3,
        "checkpoint_writes": 1,
    }


async def test_a_new_life_that_comes_in_one_statement_is_accepted_whole(
    saver: PostgresSaver, database: Database
) -> None:
    await put(saver, "a", {"x": ["old"]})
    await saver.adelete_thread("a")
    line = [checkpoint({"x": [n]}) for n in range(4)]
    parents = [None, *(one["id"] for one in line)]
    await asyncio.gather(
        *(
            saver.aput(config("a", parent), one, {"source": "loop"}, {"x": 1})
            for parent, one in zip(parents, line, strict=False)
        )
    )
    assert (await rows(database, "a"))["checkpoints"] == 4


async def test_a_run_that_goes_on_after_its_thread_was_deleted_leaves_nothing(
    saver: PostgresSaver, database: Database
) -> None:
    class State(TypedDict, total=False):
        ran: Annotated[list[str], lambda old, new: [*(old or []), *new]]

    async def first(state: State) -> State:
        await saver.adelete_thread("a")
        return {"ran": ["first"]}

    async def second(state: State) -> State:
        return {"ran": ["second"]}

    builder = StateGraph(State)
    builder.add_sequence([first, second])
    builder.add_edge(START, "first")
    graph = builder.compile(checkpointer=saver)
    await graph.ainvoke({"ran": []}, config("a"), durability="sync")
    assert (await rows(database, "a"))["checkpoints"] == 0
    await graph.copy({"checkpointer": saver}).ainvoke({"ran": []}, config("b"))


async def test_a_delete_waits_for_a_writer_that_cannot_have_seen_its_tombstone(
    saver: PostgresSaver, database: Database
) -> None:
    await put(saver, "a", {"x": ["1"]})
    newer = str(uuid6(clock_seq=1))
    async with database.transaction() as elsewhere:
        await elsewhere.execute(
            "insert into sayso.checkpoints values ('a', '', $1, null, '', '{}', '{}', null)", newer
        )
        deleting = asyncio.create_task(saver.adelete_thread("a"))
        while not await database.fetchval("select count(*) from sayso.checkpoint_tombstones"):
            pass
        await asyncio.wait([deleting], timeout=0.3)
        assert not deleting.done()
    await deleting
    assert await rows(database, "a") == NOTHING


async def test_a_delete_says_so_when_a_writer_does_not_end(
    saver: PostgresSaver, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prune, "WRITERS_SECONDS", 0.02)
    saver._core.queue.retry_seconds = 0.1
    async with database.transaction() as elsewhere:
        await elsewhere.execute("delete from sayso.checkpoints")
        with pytest.raises(LockTimeout):
            await saver.adelete_thread("a")


async def test_an_owned_thread_is_erased_with_its_lease_seized(
    saver: PostgresSaver, database: Database
) -> None:
    fence = await claimed(database, "a")
    stored = await put(saver, "a", {"x": ["1"]}, fence=fence)
    async with database.transaction() as connection:
        await leases.seize(connection, "a")
        await prune.erase(connection, ["a"])
        writing = asyncio.create_task(put(saver, "a", {"x": ["2"]}, parent=stored, fence=fence))
        await asyncio.sleep(0)
    with pytest.raises(StaleOwner):
        await writing
    assert await rows(database, "a") == NOTHING


async def test_deleting_runs_keeps_the_values_that_others_hold(saver: PostgresSaver) -> None:
    first = await put(saver, "a", {"x": ["shared"], "y": ["mine"]}, run_id="run-1")
    second = checkpoint({"x": ["shared"], "z": ["new"]}, {"x": 1, "z": 2})
    await saver.aput(first, second, {"source": "loop", "run_id": "run-2"}, {"z": 2})
    await put(saver, "b", {"x": ["elsewhere"]}, run_id="run-1")
    await saver.adelete_for_runs(["run-1"])
    found = await saver.aget_tuple(config("a"))
    assert found is not None
    assert found.checkpoint["channel_values"] == {"x": ["shared"], "z": ["new"]}
    assert await saver.aget_tuple(first) is None
    assert await saver.aget_tuple(config("b")) is None


# --- pruning --------------------------------------------------------------------------------


async def test_pruning_keeps_no_value_that_nobody_holds(
    saver: PostgresSaver, database: Database
) -> None:
    parent: Any = None
    for n in range(5):
        parent = await put(saver, "a", {"x": [n], "y": [n]}, parent=parent, version=n + 1)
        await saver.aput_writes(parent, [("c", n)], "task")
    await saver.aprune(["a"])
    assert await rows(database, "a") == {
        "checkpoints": 1,
        "checkpoint_values": 2,
        "checkpoint_writes": 1,
    }
    with pytest.raises(BadValue, match="keep_some"):
        await saver.aprune(["a"], strategy="keep_some")


async def test_a_fork_that_still_asks_survives_pruning(saver: PostgresSaver) -> None:
    root = await put(saver, "a", {"x": ["root"]}, version=1)
    asks = await put(saver, "a", {"x": ["asks"]}, parent=root, version=2)
    await saver.aput_writes(asks, [(INTERRUPT, ["?"])], "task")
    answered = await put(saver, "a", {"x": ["answered"]}, parent=root, version=3)
    await saver.aput_writes(answered, [(INTERRUPT, ["?"])], "task")
    last = await put(saver, "a", {"x": ["last"]}, parent=answered, version=4)
    await saver.aprune(["a"])
    left = [one.checkpoint["channel_values"]["x"][0] async for one in saver.alist(config("a"))]
    assert left == ["last", "asks"]
    found = await saver.aget_tuple(asks)
    assert found is not None
    assert len(found.pending_writes or []) == 1
    assert last["configurable"]["checkpoint_id"]


def outline(name: str, parent: str | None = None, **facts: Any) -> Outline:
    namespace, _, checkpoint_id = name.rpartition("/")
    for key in ("has", "deltas"):
        facts[key] = frozenset(facts.get(key, ()))
    return Outline(namespace, checkpoint_id, parent, **facts)


@pytest.mark.parametrize(
    ("outlines", "expected"),
    [
        ([], set()),
        ([outline("1"), outline("2", "1"), outline("3", "2")], {"3"}),
        # A question deep below a checkpoint that is not the newest any more.
        (
            [
                outline("1", asks=True),
                outline("2"),
                outline("child/1", above={"": "1"}),
                outline("child/2", "1", above={"": "1"}, asks=True),
                outline("child/3", above={"": "2"}),
                outline("child|grand/1", above={"": "1", "child": "2"}),
                outline("child|grand/2", "1", above={"": "1", "child": "2"}, asks=True),
                outline("child|grand/3", above={"": "2", "child": "3"}),
            ],
            {"1", "2", "child/2", "child/3", "child|grand/2", "child|grand/3"},
        ),
        # What was half done below a question that still waits, though nothing asks there.
        (
            [
                outline("1", asks=True),
                outline("2"),
                outline("child/1", above={"": "1"}),
                outline("child/2", "1", above={"": "1"}),
                outline("child/3", "2", above={"": "2"}),
            ],
            {"1", "2", "child/2", "child/3"},
        ),
        # A delta channel is rebuilt from the nearest ancestor that has it.
        (
            [
                outline("1", has=["d"], deltas=[]),
                outline("2", "1", has=["d"], deltas=["d"]),
                outline("3", "2", deltas=["d"]),
                outline("4", "3", deltas=["d"]),
            ],
            {"2", "3", "4"},
        ),
        ([outline("1", deltas=["d"]), outline("2", "1", deltas=["d"])], {"1", "2"}),
        # A parent that is gone already, and one that is its own.
        ([outline("2", "1", deltas=["d"]), outline("3", "2")], {"3"}),
    ],
)
def test_what_pruning_keeps(outlines: list[Outline], expected: set[str]) -> None:
    names = {"/".join(filter(None, place)) for place in kept(outlines)}
    assert names == expected


class Tools(TypedDict, total=False):
    calls: list[str]
    done: Annotated[list[str], lambda old, new: [*(old or []), *new]]


def tool_graph(saver: Any, ran: list[str], *, depth: int) -> Any:
    """Tools in parallel, each asks first; wrapped in as many graphs as ``depth`` says."""

    def tool(call: str) -> Tools:
        interrupt({"call": call})
        ran.append(call)
        return {"done": [call]}

    inner = StateGraph(Tools)
    inner.add_node("tool", tool)  # type: ignore[type-var]
    inner.add_node("plan", lambda state: {})
    inner.add_edge(START, "plan")
    inner.add_conditional_edges(
        "plan", lambda state: [Send("tool", call) for call in state["calls"]], ["tool"]
    )
    inner.add_edge("tool", END)
    graph: Any = inner.compile(checkpointer=saver if depth == 0 else None)
    for level in range(depth):
        outer = StateGraph(Tools)
        outer.add_node("before", lambda state: ran.append("before") or {})
        outer.add_node(f"level{level}", graph)
        outer.add_edge(START, "before")
        outer.add_edge("before", f"level{level}")
        outer.add_edge(f"level{level}", END)
        graph = outer.compile(checkpointer=saver if level == depth - 1 else None)
    return graph


@pytest.mark.parametrize("depth", [0, 1, 2])
async def test_pruning_between_two_answers_runs_no_finished_tool_again(
    saver: PostgresSaver, depth: int
) -> None:
    ran: list[str] = []
    graph = tool_graph(saver, ran, depth=depth)
    place = config("a")
    result = await graph.ainvoke({"calls": ["one", "two", "three"]}, place, durability="sync")
    befores = ran.count("before")
    for answered in range(3):
        await saver.aprune(["a"])
        pending = {one.value["call"]: one.id for one in result["__interrupt__"]}
        call = ("two", "one", "three")[answered]
        result = await graph.ainvoke(
            Command(resume={pending[call]: "yes"}), place, durability="sync"
        )
        if answered < 2:
            state = await graph.aget_state(place)
            result = {"__interrupt__": state.interrupts}
            assert {one.value["call"] for one in state.interrupts} == set(
                ("two", "one", "three")[answered + 1 :]
            )
    assert [name for name in ran if name != "before"] == ["two", "one", "three"]
    assert ran.count("before") == befores
    assert sorted((await graph.aget_state(place)).values["done"]) == ["one", "three", "two"]


class Log(TypedDict, total=False):
    entries: Annotated[
        list[str],
        DeltaChannel(
            lambda old, new: [*(old or []), *(x for w in new for x in w)], snapshot_frequency=4
        ),
    ]


async def test_pruning_and_copying_keep_a_delta_channel_whole(
    saver: PostgresSaver, database: Database
) -> None:
    builder = StateGraph(Log)
    names = [f"n{number}" for number in range(7)]
    builder.add_sequence([(name, lambda state, name=name: {"entries": [name]}) for name in names])
    builder.add_edge(START, names[0])
    graph = builder.compile(checkpointer=saver)
    place = config("a")
    for turn in range(3):
        await graph.ainvoke({"entries": [f"input {turn}"]}, place, durability="sync")
        expected = (await graph.aget_state(place)).values["entries"]
        assert len(expected) == 8 * (turn + 1)
        await saver.aprune(["a"])
        assert (await graph.aget_state(place)).values["entries"] == expected
        await saver.acopy_thread("a", f"copy {turn}")
        copied = await graph.aget_state(config(f"copy {turn}"))
        assert copied.values["entries"] == expected
    assert (await rows(database, "a"))["checkpoints"] < 8


# --- copying --------------------------------------------------------------------------------


async def test_a_copy_goes_on_by_itself(saver: PostgresSaver) -> None:
    ran: list[str] = []
    graph = tool_graph(saver, ran, depth=1)
    paused = await graph.ainvoke({"calls": ["one", "two"]}, config("a"), durability="sync")
    await saver.acopy_thread("a", "b")
    await saver.acopy_thread("a", "b")
    for thread_id in ("b", "a"):
        answers = {one.id: "yes" for one in paused["__interrupt__"]}
        done = await graph.ainvoke(Command(resume=answers), config(thread_id), durability="sync")
        assert sorted(done["done"]) == ["one", "two"]


async def test_a_copy_into_a_deleted_thread_is_a_life_of_its_own(saver: PostgresSaver) -> None:
    stored = await put(saver, "a", {"x": ["1"]})
    await put(saver, "b", {"x": ["old"]})
    await saver.adelete_thread("b")
    await saver.acopy_thread("a", "b")
    there = config("b", stored["configurable"]["checkpoint_id"])
    await saver.aput_writes(there, [("c", 1)], "task")
    await put(saver, "b", {"x": ["2"]}, parent=there, version=2)
    found = await saver.aget_tuple(config("b"))
    assert found is not None
    assert found.checkpoint["channel_values"] == {"x": ["2"]}
