"""The saver beyond the conformance suite: values, order, forks, delta history, both sides."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from checkpoints.database import Database
from checkpoints.errors import BadValue, LostCheckpoint, NotMigrated, StaleOwner, WrongLoop
from checkpoints.leases import seize
from checkpoints.postgres import PostgresSaver
from checkpoints.reading import SQL
from tests.checkpoints.savers import checkpoint, claimed, config, process, put

HOSTILE = ["nul \x00 inside", "half a pair \ud800 here", "\x00", "\udfff", "é\U0001f600"]


@pytest.fixture
async def saver(database: Database) -> AsyncIterator[PostgresSaver]:
    made = PostgresSaver(database)
    yield made
    await made.drain()


async def test_a_program_without_the_rest_of_sayso_can_use_it(empty_url: str) -> None:
    async with PostgresSaver.from_url(empty_url) as saver:
        with pytest.raises(NotMigrated):
            await saver.aget_tuple(config("a"))
        await saver.setup()
        await saver.setup()
        await put(saver, "a", {"x": [1]})
        found = await saver.aget_tuple(config("a"))
    assert found is not None
    assert found.checkpoint["channel_values"] == {"x": [1]}


async def test_what_was_queued_lands_before_the_saver_is_closed(database_url: str) -> None:
    async with PostgresSaver.from_url(database_url) as saver:
        tasks = [asyncio.create_task(put(saver, f"t{n}", {"x": n})) for n in range(20)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    async with PostgresSaver.from_url(database_url) as saver:
        found = [one async for one in saver.alist(None)]
    assert len(found) == 20


SETUP = """
import asyncio, sys
from checkpoints.postgres import PostgresSaver
async def main():
    async with PostgresSaver.from_url(sys.argv[1]) as saver:
        await saver.setup()
        print(await saver.aget_tuple({"configurable": {"thread_id": "a"}}))
asyncio.run(main())
"""


async def test_six_processes_may_set_it_up_at_once(empty_url: str) -> None:
    async def one() -> tuple[int | None, bytes]:
        async with process(sys.executable, "-c", SETUP, empty_url) as started:
            output, _ = await started.communicate()
            return started.returncode, output

    ended = await asyncio.gather(*(one() for _ in range(6)))
    assert ended == [(0, b"None\n")] * 6


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_text_in_any_value_is_stored(saver: PostgresSaver, text: str) -> None:
    readable = text.encode(errors="replace").decode()
    values = {"short": text, "long": text * 100, "deep": [{"key": [text]}]}
    stored = await put(saver, "a", values, score=text, nested={"in": [text]})
    await saver.aput_writes(
        stored, [("ch", text), (ERROR, text), (INTERRUPT, [text]), (RESUME, [text])], "task"
    )
    found = await saver.aget_tuple(stored)
    assert found is not None
    kept = found.checkpoint["channel_values"]
    assert kept["short"].encode(errors="replace") == readable.encode()
    assert kept["deep"][0]["key"][0] in (text, readable)
    assert len(found.pending_writes or []) == 4
    listed = [one async for one in saver.alist(config("a"), filter={"source": "loop"})]
    assert len(listed) == 1
    # It is no poison: the thread goes on.
    await put(saver, "a", {"x": 1}, parent=stored)
    found = await saver.aget_tuple(config("a"))
    assert found is not None
    assert found.checkpoint["channel_values"] == {"x": 1}


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b"])
async def test_hostile_text_in_a_name_is_refused_with_a_reason(
    saver: PostgresSaver, text: str
) -> None:
    stored = await put(saver, "a", {"x": 1})
    with pytest.raises(BadValue, match="thread_id"):
        await put(saver, text, {"x": 1})
    with pytest.raises(BadValue, match="checkpoint_ns"):
        await put(saver, "a", {"x": 1}, namespace=text)
    with pytest.raises(BadValue, match="channel"):
        await put(saver, "a", {text: ["x"]})
    with pytest.raises(BadValue, match="channel"):
        await saver.aput_writes(stored, [(text, 1)], "task")
    with pytest.raises(BadValue, match="task_id"):
        await saver.aput_writes(stored, [("ch", 1)], text)
    with pytest.raises(BadValue, match="task_path"):
        await saver.aput_writes(stored, [("ch", 1)], "task", text)
    with pytest.raises(BadValue, match="thread"):
        await saver.aput({"configurable": {"checkpoint_ns": ""}}, checkpoint({}), {}, {})
    assert await saver.aget_tuple(stored) is not None


async def test_a_name_too_long_for_a_key_is_refused_with_a_reason(saver: PostgresSaver) -> None:
    longest, longer = "é" * 400, "é" * 401
    stored = await put(saver, longest, {longest: ["x"]}, namespace=longest, run_id=longest)
    await saver.aput_writes(stored, [(longest, 1)], longest, longer * 10)
    found = await saver.aget_tuple(stored)
    assert found is not None
    assert len(found.pending_writes or []) == 1
    with pytest.raises(BadValue, match="thread_id"):
        await put(saver, longer, {"x": 1})
    with pytest.raises(BadValue, match="channel"):
        await put(saver, "a", {longer: ["x"]})
    with pytest.raises(BadValue, match="run_id"):
        await put(saver, "a", {}, run_id=longer)


async def test_half_a_surrogate_pair_as_a_key_is_refused_and_a_nul_is_kept(
    saver: PostgresSaver,
) -> None:
    await put(saver, "a", {"x": {"\x00": 1}})
    with pytest.raises(BadValue, match="channel x"):
        await put(saver, "a", {"x": {"\ud800": 1}})
    found = await saver.aget_tuple(config("a"))
    assert found is not None
    assert found.checkpoint["channel_values"] == {"x": {"\x00": 1}}


async def test_a_value_nobody_can_serialize_is_refused_and_named(saver: PostgresSaver) -> None:
    with pytest.raises(BadValue, match="channel x"):
        await put(saver, "a", {"x": object()})
    assert await saver.aget_tuple(config("a")) is None


async def test_odd_values_come_back_as_they_were(saver: PostgresSaver) -> None:
    values = {
        "none": None,
        "false": False,
        "zero": 0,
        "empty": "",
        "map": {},
        "bytes": b"\x00\xff",
        "big": 2**63,
        "fraction": 0.1,
        "tuple": {1: "one"},
        "long": "x" * 100_000,
    }
    await put(saver, "a", values)
    found = await saver.aget_tuple(config("a"))
    assert found is not None
    assert found.checkpoint["channel_values"] == values


async def test_metadata_that_json_cannot_say_comes_back_exactly(saver: PostgresSaver) -> None:
    odd = {"big": 10.0**300, "set": {1, 2}, "nul": {"in": "a\x00b"}, "keys": {1: 2}}
    await put(saver, "a", {}, plain="yes", **odd)
    [found] = [one async for one in saver.alist(config("a"), filter={"plain": "yes"})]
    metadata: Any = found.metadata
    assert {key: metadata[key] for key in odd} == odd
    exactly = [one async for one in saver.alist(config("a"), filter={"set": {1, 2}})]
    otherwise = [one async for one in saver.alist(config("a"), filter={"set": {1, 3}})]
    assert (len(exactly), len(otherwise)) == (1, 0)


async def test_writes_come_in_the_order_in_which_a_run_applies_them(
    saver: PostgresSaver,
) -> None:
    stored = await put(saver, "a", {"x": 1})
    await saver.aput_writes(stored, [("c", 1), ("c", 2)], "task-z", "~__pregel_pull, a")
    await saver.aput_writes(stored, [("c", 3)], "task-a", "~__pregel_pull, b")
    await saver.aput_writes(stored, [("c", 4)], "task-b", "")
    await saver.aput_writes(stored, [("c", 5), (ERROR, "no"), ("c", 6)], "task-y", "~0, a")
    found = await saver.aget_tuple(stored)
    [listed] = [one async for one in saver.alist(config("a"))]
    assert found is not None
    order = [value for _, _, value in found.pending_writes or []]
    assert order == [4, "no", 5, 6, 1, 2, 3]
    assert listed.pending_writes == found.pending_writes


async def test_special_writes_are_replaced_and_others_keep_the_first(
    saver: PostgresSaver,
) -> None:
    stored = await put(saver, "a", {"x": 1})
    for value in (1, 2):
        await saver.aput_writes(stored, [("c", value)], "task")
        await saver.aput_writes(stored, [(RESUME, [value]), (ERROR, f"no {value}")], "task")
    found = await saver.aget_tuple(stored)
    assert found is not None
    assert {(channel, str(value)) for _, channel, value in found.pending_writes or []} == {
        ("c", "1"),
        (RESUME, "[2]"),
        (ERROR, "no 2"),
    }


async def test_writes_of_one_moment_are_applied_in_their_turn(saver: PostgresSaver) -> None:
    stored = await put(saver, "a", {"x": 1})
    await asyncio.gather(
        *(saver.aput_writes(stored, [("c", n)], "task") for n in range(5)),
        *(saver.aput_writes(stored, [(RESUME, [n])], "task") for n in range(5)),
    )
    found = await saver.aget_tuple(stored)
    assert found is not None
    assert found.pending_writes == [("task", RESUME, [4]), ("task", "c", 0)]


async def test_writes_may_come_before_their_checkpoint(saver: PostgresSaver) -> None:
    coming = checkpoint({"x": 1})
    await saver.aput_writes(config("a", coming["id"]), [("c", 1)], "task")
    assert await saver.aget_tuple(config("a")) is None
    stored = await saver.aput(config("a"), coming, {"source": "loop"}, {"x": 1})
    found = await saver.aget_tuple(stored)
    assert found is not None
    assert found.pending_writes == [("task", "c", 1)]


async def test_forks_that_share_a_version_number_keep_their_own_values(
    saver: PostgresSaver,
) -> None:
    root = await put(saver, "a", {"x": ["root"]}, version=1)
    left = await put(saver, "a", {"x": ["left"]}, parent=root, version=2)
    right = await put(saver, "a", {"x": ["right"]}, parent=root, version=2)
    # Their children hold the value without bringing it again.
    children = []
    for parent, value in ((left, "left"), (right, "right")):
        unchanged = checkpoint({"x": [value]}, {"x": 2})
        children.append(await saver.aput(parent, unchanged, {"source": "loop"}, {}))
    expected = ["root", "left", "right", "left", "right"]
    for stored, value in zip([root, left, right, *children], expected, strict=True):
        found = await saver.aget_tuple(stored)
        assert found is not None
        assert found.checkpoint["channel_values"] == {"x": [value]}
    listed = [one async for one in saver.alist(config("a"))]
    assert [one.checkpoint["channel_values"]["x"][0] for one in listed] == [
        "right",
        "left",
        "right",
        "left",
        "root",
    ]


def test_versions_grow_differ_between_forks_and_continue_those_of_others() -> None:
    async def versions() -> None:
        saver = PostgresSaver(None)  # type: ignore[arg-type]
        first = saver.get_next_version(None, None)
        one, other = (saver.get_next_version(first, None) for _ in range(2))
        assert first < one
        assert first < other
        assert one != other
        assert saver.get_next_version(10**9, None) > 10**9
        text = saver.get_next_version("00000000000000000000000000000009.0.5", None)
        assert text > "00000000000000000000000000000009.0.5"
        for _ in range(100):
            first, before = saver.get_next_version(first, None), first
            assert before < first < 2**63

    asyncio.run(versions())


async def test_versions_of_other_savers_are_found_again(saver: PostgresSaver) -> None:
    version = "00000000000000000000000000000002.0.243"
    await put(saver, "a", {"x": ["text"]}, version=version)
    await put(saver, "b", {"x": ["fraction"]}, version=2.5)
    for thread, value in (("a", "text"), ("b", "fraction")):
        found = await saver.aget_tuple(config(thread))
        assert found is not None
        assert found.checkpoint["channel_values"] == {"x": [value]}


async def test_a_lost_value_is_an_error_and_never_an_empty_channel(
    saver: PostgresSaver, database: Database
) -> None:
    await put(saver, "a", {"x": ["gone"], "y": ["there"]})
    await database.execute("delete from sayso.checkpoint_values where channel = 'x'")
    with pytest.raises(LostCheckpoint, match="x"):
        await saver.aget_tuple(config("a"))


async def test_pages_cover_everything_once(saver: PostgresSaver) -> None:
    parent: Any = None
    for _ in range(60):
        parent = await put(saver, "a", {"x": 1}, parent=parent)
    for n in range(60):
        await put(saver, f"t{n}", {"x": 1}, namespace="child")
    mine = [one.config["configurable"]["checkpoint_id"] async for one in saver.alist(config("a"))]
    assert len(mine) == 60
    assert mine == sorted(mine, reverse=True)
    everything = [one.config["configurable"]["checkpoint_id"] async for one in saver.alist(None)]
    assert len(everything) == len(set(everything)) == 120
    assert len([one async for one in saver.alist(None, limit=70)]) == 70
    assert [one async for one in saver.alist(config("a"), limit=0)] == []
    without_namespace: Any = {"configurable": {"thread_id": "t7"}}
    assert len([one async for one in saver.alist(without_namespace)]) == 1


async def test_a_read_of_the_newest_touches_no_other_checkpoint(
    saver: PostgresSaver, database: Database
) -> None:
    parent: Any = None
    for n in range(300):
        parent = await put(saver, "a", {"x": ["value", n]}, parent=parent, version=n + 1)
    await database.execute("analyze sayso.checkpoints")
    await database.execute("analyze sayso.checkpoint_values")
    text = SQL.read.replace("$1", "'a'").replace("$2", "''").replace("$3", "null::text")
    plan = "\n".join(row[0] for row in await database.fetch(f"explain (analyze, costs off) {text}"))
    assert "Seq Scan on checkpoint" not in plan
    assert "rows=300" not in plan


# --- delta channels -------------------------------------------------------------------------


async def history_on(saver: BaseCheckpointSaver[Any], upto: int) -> list[Any]:
    """Write the same chain with forks on any saver and return all its histories."""
    parents: list[Any] = []
    stem = await put(saver, "a", {"log": ["seed"], "other": "plain"}, version=1)
    parents.append(stem)
    for n in range(upto):
        for task, path in (("task-b", "~a"), ("task-a", "~b"), ("task-c", "")):
            await saver.aput_writes(stem, [("log", (n, task)), ("other", n)], task, path)
        stem = await put(saver, "a", {"fresh": [n]}, parent=stem, version=n + 2)
        parents.append(stem)
    await saver.aput_writes(stem, [("log", "pending")], "task")
    fork = await put(saver, "a", {"fresh": ["fork"]}, parent=parents[1], version=99)
    results = []
    for place in (stem, fork, parents[0], config("a")):
        history = await saver.aget_delta_channel_history(
            config=place, channels=["log", "other", "never"]
        )
        results.append({name: dict(entry) for name, entry in history.items()})
    return results


async def test_delta_history_is_that_of_the_reference_saver(saver: PostgresSaver) -> None:
    mine = await history_on(saver, 120)
    assert mine == await history_on(InMemorySaver(), 120)
    first = [value[1] for _, _, value in mine[0]["log"]["writes"][:3]]
    assert first == ["task-c", "task-b", "task-a"]
    assert len(mine[0]["log"]["writes"]) == 360
    assert await saver.aget_delta_channel_history(config=config("a"), channels=[]) == {}


# --- both sides -----------------------------------------------------------------------------


async def test_the_synchronous_side_works_from_any_other_thread(saver: PostgresSaver) -> None:
    def elsewhere() -> list[Any]:
        stored = saver.put(config("a"), checkpoint({"x": ["1"]}), {"source": "loop"}, {"x": 1})
        saver.put_writes(stored, [("c", 1)], "task")
        found = saver.get_tuple(stored)
        assert found is not None
        listed = list(saver.list(config("a")))
        saver.copy_thread("a", "b")
        saver.prune(["b"])
        saver.delete_for_runs(["none"])
        saver.delete_thread("b")
        history = saver.get_delta_channel_history(config=stored, channels=["x"])
        return [found.pending_writes, len(listed), history]

    assert await asyncio.to_thread(elsewhere) == [[("task", "c", 1)], 1, {"x": {"writes": []}}]


async def test_a_graph_that_is_run_without_a_loop_can_use_it(saver: PostgresSaver) -> None:
    def elsewhere() -> Any:
        graph = asking_graph(saver)
        paused = graph.invoke({"ran": []}, config("a"), durability="sync")
        answers = {one.id: "yes" for one in paused["__interrupt__"]}
        return graph.invoke(Command(resume=answers), config("a"))

    done = await asyncio.to_thread(elsewhere)
    assert done["ran"] == ["before", "ask", "twin"]


async def test_the_synchronous_side_refuses_its_own_loop(saver: PostgresSaver) -> None:
    with pytest.raises(WrongLoop, match="aget_tuple"):
        saver.get_tuple(config("a"))
    with pytest.raises(WrongLoop, match="aput"):
        saver.put(config("a"), checkpoint({}), {}, {})
    with pytest.raises(WrongLoop, match="alist"):
        list(saver.list(config("a")))


async def test_it_may_be_awaited_on_another_loop(saver: PostgresSaver) -> None:
    async def there() -> int:
        stored = await put(saver, "a", {"x": ["1"]})
        await saver.aput_writes(stored, [("c", 1)], "task")
        assert await saver.aget_tuple(stored) is not None
        return len([one async for one in saver.alist(config("a"))])

    assert await asyncio.to_thread(lambda: asyncio.run(there())) == 1


# --- with real graphs -----------------------------------------------------------------------


class Asked(TypedDict, total=False):
    answers: Annotated[list[Any], lambda old, new: [*(old or []), *new]]
    ran: Annotated[list[str], lambda old, new: [*(old or []), *new]]


def asking_graph(saver: Any) -> Any:
    def before(state: Asked) -> Asked:
        return {"ran": ["before"]}

    def ask(state: Asked) -> Asked:
        answer = interrupt({"question": "may I?"})
        if answer == "poison":
            raise ValueError("not that")
        return {"answers": [answer], "ran": ["ask"]}

    def twin(state: Asked) -> Asked:
        return {"answers": [interrupt("twin?")], "ran": ["twin"]}

    builder = StateGraph(Asked)
    for node in (before, ask, twin):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "before")
    builder.add_edge("before", "ask")
    builder.add_edge("before", "twin")
    builder.add_edge("ask", END)
    builder.add_edge("twin", END)
    return builder.compile(checkpointer=saver)


async def test_a_graph_pauses_and_goes_on_with_another_process_and_answer(
    database_url: str,
) -> None:
    place: Any = {"configurable": {"thread_id": "a"}}
    async with PostgresSaver.from_url(database_url) as saver:
        paused = await asking_graph(saver).ainvoke({"ran": []}, place, durability="sync")
    ids = {
        one.value if isinstance(one.value, str) else "ask": one.id
        for one in paused["__interrupt__"]
    }
    async with PostgresSaver.from_url(database_url) as saver:
        graph = asking_graph(saver)
        await graph.ainvoke(Command(resume={ids["ask"]: False}), place, durability="sync")
        done = await graph.ainvoke(Command(resume={ids["twin?"]: None}), place, durability="sync")
    assert done["ran"] == ["before", "ask", "twin"]
    assert done["answers"] == [False, None]


async def test_a_poisoned_answer_can_be_taken_back(
    saver: PostgresSaver, database: Database
) -> None:
    fence = await claimed(database, "a")
    place = config("a", fence=fence)
    graph = asking_graph(saver)
    paused = await graph.ainvoke({"ran": []}, place, durability="sync")
    ask = next(one for one in paused["__interrupt__"] if one.value != "twin?")
    with pytest.raises(ValueError, match="not that"):
        await graph.ainvoke(Command(resume={ask.id: "poison"}), place, durability="sync")
    with pytest.raises(ValueError, match="not that"):
        await graph.ainvoke(Command(resume={ask.id: "fine"}), place, durability="sync")
    state = await graph.aget_state(place)
    [task] = [task for task in state.tasks if task.name == "ask"]
    head = state.config["configurable"]["checkpoint_id"]
    assert await saver.take_back_answer(fence, task.id, head) is True
    state = await graph.aget_state(place)
    assert {one.value if isinstance(one.value, str) else "ask" for one in state.interrupts} == {
        "ask",
        "twin?",
    }
    assert ask.id in {one.id for one in state.interrupts}
    result = await graph.ainvoke(Command(resume={ask.id: "fine"}), place, durability="sync")
    assert "twin?" in {one.value for one in result["__interrupt__"]}
    state = await graph.aget_state(place)
    [twin] = state.interrupts
    done = await graph.ainvoke(Command(resume={twin.id: "yes"}), place, durability="sync")
    assert done["answers"] == ["fine", "yes"]
    assert await saver.take_back_answer(fence, "nobody", head) is False
    async with database.transaction() as connection:
        await seize(connection, "a")
    with pytest.raises(StaleOwner):
        await saver.take_back_answer(fence, task.id, head)


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
async def test_every_durability_of_langgraph_works(saver: PostgresSaver, durability: Any) -> None:
    place = config(str(uuid6()))
    graph = asking_graph(saver)
    paused = await graph.ainvoke({"ran": []}, place, durability=durability)
    answers = {one.id: "yes" for one in paused["__interrupt__"]}
    done = await graph.ainvoke(Command(resume=answers), place, durability=durability)
    assert done["ran"] == ["before", "ask", "twin"]
