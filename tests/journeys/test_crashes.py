"""kill -9 at every row of the crash table: the journey ends right, and the bank pays once.

Each test starts the product with a failpoint armed, so that a process ends itself with SIGKILL at
exactly that instruction; then the product is started again without it.
"""

from __future__ import annotations

import signal

import psutil
import pytest

from tests.journeys.conftest import Process, Product, everything, until
from tests.journeys.test_loan_journey import REQUEST, TITLE

pytestmark = [
    pytest.mark.crash,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("journeys"),  # they wait more than they work: beside other tests
]


async def finish(product: Product) -> None:
    """Approve what waits and see it end: one thread, one card, one transfer."""
    card = await product.message("C0CREDIT", TITLE)
    card = await until("the card to be open or decided", lambda: _settled(product, card))
    if "Needs a decision" in everything(card):
        await product.click("U0ALICE", "Approve", card)
    await product.shows(card, "Done.", "TX-")
    transfers = await product.transfers()
    assert [(each["amount"], each["to"]) for each in transfers] == [(60000, "Asha Traders")]
    (thread,) = await product.json("threads", "list")
    assert thread["status"] == "done"

    async def told() -> bool:
        outcomes = [
            message
            for message in await product.messages("C0LOANS", thread_ts=await _root(product))
            if "<@U0BOB>" in everything(message) and "TX-" in everything(message)
        ]
        assert len(outcomes) <= 1
        return len(outcomes) == 1

    await until("Bob to be told", told)
    cards = [m for m in await product.messages("C0CREDIT") if TITLE in everything(m)]
    assert len(cards) == 1


async def _settled(product: Product, card: dict) -> dict | None:
    for message in await product.messages("C0CREDIT"):
        if message["ts"] == card["ts"]:
            return message
    return None


async def _root(product: Product) -> str:
    return str((await product.messages("C0LOANS"))[0]["ts"])


async def gone(product: Product, started: Process) -> None:
    """Wait until the process that reached its failpoint is gone, then end the rest like it."""
    await until("the failpoint", lambda: _worker_or_self_died(started))
    await product.power_cut()


async def _worker_or_self_died(started: Process) -> bool:
    if started.process.returncode is not None:
        return True
    return "ended by itself" in started.output.read_text()


async def with_card(product: Product) -> dict:
    """Bob's request waits for a decision, and nothing runs."""
    await product.say("U0BOB", "C0LOANS", REQUEST)
    card = await product.message("C0CREDIT", "Needs a decision")
    await product.power_cut()
    return card


WORKER_ROWS = [
    "run.before",
    "flush.sent",
    "run.after",
    "settle.written",
    "settle.after",
    "post.before_send",
    "post.sent",
]


@pytest.mark.parametrize("failpoint", WORKER_ROWS)
async def test_a_worker_killed_on_the_way_to_the_card_loses_nothing(
    running: Product, failpoint: str
) -> None:
    await running.power_cut()
    started = await running.serve(SAYSO_FAILPOINTS=failpoint)
    await running.say("U0BOB", "C0LOANS", REQUEST, "bank-statement-oct.pdf")
    await gone(running, started)
    await running.serve()
    await finish(running)


@pytest.mark.parametrize("failpoint", WORKER_ROWS)
async def test_a_worker_killed_on_the_way_from_the_click_to_the_end_pays_once(
    running: Product, failpoint: str
) -> None:
    card = await with_card(running)
    started = await running.serve(SAYSO_FAILPOINTS=failpoint)
    await running.click("U0ALICE", "Approve", card)
    await gone(running, started)
    await running.serve()
    await finish(running)


@pytest.mark.parametrize("failpoint", ["delivery.before_commit", "delivery.committed"])
async def test_a_delivery_cut_off_around_its_commit_becomes_one_thread(
    running: Product, failpoint: str
) -> None:
    await running.power_cut()
    started = await running.serve(SAYSO_FAILPOINTS=failpoint)
    await running.say("U0BOB", "C0LOANS", REQUEST)
    await gone(running, started)
    await running.serve()
    await finish(running)


@pytest.mark.parametrize("failpoint", ["decision.before_commit", "decision.committed"])
async def test_a_click_cut_off_around_its_commit_is_answered_by_clicking_again(
    running: Product, failpoint: str
) -> None:
    card = await with_card(running)
    started = await running.serve(SAYSO_FAILPOINTS=failpoint)
    await running.click("U0ALICE", "Approve", card)
    await gone(running, started)
    await running.serve()
    now = await _settled(running, card)
    assert now is not None
    if "Needs a decision" in everything(now) and failpoint == "decision.before_commit":
        await running.click("U0ALICE", "Approve", card)
    await running.shows(card, "Done.", "TX-")
    assert len(await running.transfers()) == 1


async def test_everything_killed_while_the_card_waits_runs_nothing_before_the_pause_again(
    running: Product,
) -> None:
    await running.say("U0BOB", "C0LOANS", REQUEST, "bank-statement-oct.pdf")
    card = await running.message("C0CREDIT", "Needs a decision")
    steps = await running.database.fetch("select node, task_id from sayso.steps order by number")
    await running.power_cut()
    await running.serve()
    await running.click("U0ALICE", "Approve", card)
    await running.shows(card, "Done.")
    again = await running.database.fetch("select node, task_id from sayso.steps order by number")
    assert again[: len(steps)] == steps
    assert [row["node"] for row in again].count("read_documents") == 1


async def test_a_worker_that_stalls_past_its_lease_writes_nothing_when_it_wakes_up(
    running: Product,
) -> None:
    """One worker stops right after the payment, another takes over, then the first goes on."""
    card = await with_card(running)
    second = await running.serve(SAYSO_FAILPOINTS="run.after=stop")
    await running.click("U0ALICE", "Approve", card)

    async def stalled() -> psutil.Process | None:
        return next((one for one in second.children if one.status() == psutil.STATUS_STOPPED), None)

    worker = await until("the worker to stall", stalled)
    await running.start("worker")
    await running.shows(card, "Done.", "TX-")
    epochs = await running.database.fetch("select thread_id, epoch from sayso.leases")
    worker.send_signal(signal.SIGCONT)

    async def refused() -> bool:
        return "thread.lost" in second.output.read_text()

    await until("the stalled worker to be refused", refused)
    assert await running.database.fetch("select thread_id, epoch from sayso.leases") == epochs
    assert len(await running.transfers()) == 1
    (thread,) = await running.json("threads", "list")
    assert thread["status"] == "done"
    assert len([m for m in await running.messages("C0CREDIT") if TITLE in everything(m)]) == 1
