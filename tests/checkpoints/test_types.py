"""What may be loaded: LangGraph's switch, the graph's schema, and what a configuration adds."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import INTERRUPT
from pydantic import BaseModel

from checkpoints.codec import noticing_blocked
from checkpoints.database import Database
from checkpoints.errors import BadValue, BlockedType
from checkpoints.postgres import PostgresSaver
from tests.checkpoints.savers import config, process, put


class Offer(BaseModel):
    amount: int


class Terms(BaseModel):
    months: int


@pytest.fixture
async def saver(database: Database) -> AsyncIterator[PostgresSaver]:
    made = PostgresSaver(database)
    yield made
    await made.drain()


async def test_a_blocked_type_is_refused_by_name_before_anybody_sees_a_dict(
    saver: PostgresSaver,
) -> None:
    stored = await put(saver, "a", {"x": {"offer": Offer(amount=1)}, "y": [Terms(months=2)]})
    strict = saver.refusing_blocked()
    name, other = f"{__name__}:Offer", f"{__name__}:Terms"
    with pytest.raises(BlockedType) as refused:
        await strict.aget_tuple(stored)
    assert refused.value.names == (name, other)
    assert f'types = ["{name}", "{other}"]' in str(refused.value)
    with pytest.raises(BlockedType):
        [one async for one in strict.alist(config("a"))]
    # The switch by itself does what LangGraph does.
    found = await saver.aget_tuple(stored)
    assert found is not None
    assert found.checkpoint["channel_values"] == {
        "x": {"offer": {"amount": 1}},
        "y": [{"months": 2}],
    }
    allowed = strict.with_types([name, other])
    found = await allowed.aget_tuple(stored)
    assert found is not None
    assert found.checkpoint["channel_values"]["x"] == {"offer": Offer(amount=1)}


async def test_a_blocked_type_in_a_write_is_refused_and_one_in_a_question_is_not(
    saver: PostgresSaver,
) -> None:
    strict = saver.refusing_blocked()
    stored = await put(saver, "a", {"x": 1})
    await saver.aput_writes(stored, [(INTERRUPT, {"offer": Offer(amount=1)})], "asks")
    found = await strict.aget_tuple(stored)
    assert found is not None
    assert found.pending_writes == [("asks", INTERRUPT, {"offer": {"amount": 1}})]
    await saver.aput_writes(stored, [("x", Offer(amount=1))], "writes")
    with pytest.raises(BlockedType):
        await strict.aget_tuple(stored)
    with pytest.raises(BlockedType):
        child = await put(saver, "a", {}, parent=stored)
        await strict.aget_delta_channel_history(config=child, channels=["x"])


async def test_all_copies_of_a_saver_share_what_changes(saver: PostgresSaver) -> None:
    copied = saver.with_types(["some.module:Type"])
    assert copied is not saver
    assert copied._core is saver._core
    assert saver.with_types([]) is saver
    heard: list[Any] = []
    copied.refused = heard.append
    assert saver.refused is not None
    with pytest.raises(BadValue, match="is not of the form"):
        saver.with_types(["some.module.Type"])


def test_reads_beside_each_other_hear_only_their_own() -> None:
    serde = JsonPlusSerializer(allowed_msgpack_modules=None)
    packed = serde.dumps_typed({"x": Offer(amount=1)})
    with noticing_blocked() as outer:
        with noticing_blocked() as inner:
            serde.loads_typed(packed)
        assert inner == {f"{__name__}:Offer"}
        assert outer == set()


async def test_an_encrypting_serializer_covers_every_value(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Shift:
        def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
            return "shift", bytes((byte + 1) % 256 for byte in plaintext)

        def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
            assert ciphername == "shift"
            return bytes((byte - 1) % 256 for byte in ciphertext)

    saver = PostgresSaver(database, EncryptedSerializer(Shift()))
    values = {"small": "secret words", "large": ["secret words"] * 3, "none": None}
    stored = await put(saver, "a", values)
    await saver.aput_writes(stored, [("c", "secret words")], "task")
    found = await saver.aget_tuple(stored)
    assert found is not None
    assert found.checkpoint["channel_values"] == values
    assert found.pending_writes == [("task", "c", "secret words")]
    for table, column in (
        ("checkpoints", "body"),
        ("checkpoint_values", "value"),
        ("checkpoint_writes", "value"),
    ):
        rows = await database.fetch(f"select {column} as stored from sayso.{table}")
        assert rows
        assert all(b"secret" not in row["stored"] for row in rows)
    await saver.drain()


SWITCH = """
import asyncio, sys
from pydantic import BaseModel
from langgraph.graph import StateGraph, START
from langgraph.types import interrupt, Command
from typing_extensions import TypedDict
from checkpoints.postgres import PostgresSaver

class Model(BaseModel):
    n: int

class Loose(BaseModel):
    n: int

class State(TypedDict, total=False):
    typed: Model
    loose: dict
    seen: list

def make(state): return {"typed": Model(n=1), "loose": {"m": Loose(n=2)}}
def ask(state):
    interrupt("?")
    return {"seen": [type(state["typed"]).__name__, type(state["loose"]["m"]).__name__]}

async def main():
    async with PostgresSaver.from_url(sys.argv[1]) as saver:
        await saver.setup()
        builder = StateGraph(State)
        builder.add_sequence([make, ask])
        builder.add_edge(START, "make")
        graph = builder.compile(checkpointer=saver)
        place = {"configurable": {"thread_id": "a"}}
        paused = await graph.ainvoke({}, place)
        [asked] = paused["__interrupt__"]
        print((await graph.ainvoke(Command(resume={asked.id: 1}), place))["seen"])
asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("strict", "seen"), [("true", "['Model', 'dict']"), ("false", "['Model', 'Loose']")]
)
async def test_used_by_itself_it_follows_the_switch_of_langgraph(
    empty_url: str, strict: str, seen: str
) -> None:
    async with process(
        sys.executable, "-c", SWITCH, empty_url, LANGGRAPH_STRICT_MSGPACK=strict
    ) as started:
        output, _ = await started.communicate()
    assert output.decode().splitlines()[-1] == seen
