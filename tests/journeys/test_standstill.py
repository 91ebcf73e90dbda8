"""What would stop a whole worker: a call that never gives Python's lock back, a hostile table."""

from __future__ import annotations

import pytest

from graphs import threads
from graphs.threads import Status
from tests.journeys.conftest import Product, until
from tests.journeys.test_loan_journey import REQUEST, TITLE

pytestmark = pytest.mark.crash

STUCK = """
import re
from typing import TypedDict
from langgraph.graph import END, START, StateGraph

class State(TypedDict, total=False):
    text: str

def match(state: State) -> State:
    re.fullmatch("(a|a)*b", state["text"])
    return {}

builder = StateGraph(State)
builder.add_node("match", match)
builder.add_edge(START, "match")
builder.add_edge("match", END)
graph = builder.compile()
"""


async def test_a_worker_whose_loop_stands_still_is_killed_and_the_thread_that_does_it_is_parked(
    product: Product,
) -> None:
    """The lock is held, so neither a heartbeat nor a signal gets through to that worker."""
    (product.directory / "stuck.py").write_text(STUCK)
    with product.config.open("a") as config:
        config.write('\n[graphs.stuck]\npath = "stuck:graph"\n')
    product.environment["SAYSO_SILENCE_SECONDS"] = "2"
    started = await product.serve()
    text = '{"text": "' + "a" * 64 + '"}'
    await product.json("threads", "start", "stuck", "--input", text)

    async def killed() -> bool:
        return "no sign of life, killed" in started.output.read_text()

    await until("the worker to be killed", killed)
    await product.say("U0BOB", "C0LOANS", REQUEST)
    card = await product.message("C0CREDIT", TITLE)
    await product.click("U0ALICE", "Approve", card)
    await product.shows(card, "Done.", "TX-")

    async def parked() -> bool:
        found = await threads.list_(product.database, graph="stuck")
        return found[0].status is Status.PARKED

    await until("the thread to be parked", parked, seconds=80)
    assert started.process.returncode is None


@pytest.mark.asyncio(loop_scope="session")
async def test_a_table_of_quotes_holds_up_nobody(running: Product) -> None:
    """4 KB that csv.Sniffer would look at for days, with Python's lock in its hands."""
    body = b',"a",\n' + b'"' * 4_000 + b"a"
    await running.say("U0BOB", "C0LOANS", REQUEST, more={"s.csv": body})
    await running.message("C0CREDIT", TITLE, "s.csv")
