"""From a form, a shortcut and a conversation to the end, in one running product."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.simulator import LocalSlack
from graphs import threads
from tests.journeys.conftest import JSON, Product, a_product, until

GRAPHS = Path(__file__).parent / "starting.py"
FILE = {"name": "quote.txt", "text": "30 for a lamp"}


def configured(slack: LocalSlack) -> JSON:
    return {
        "operators": {"users": ["U0OSCAR"], "channel": "C0OPS"},
        "graphs": {
            "claim": {
                "path": f"{GRAPHS}:claim",
                "channels": ["C0REFUNDS"],
                "command": "/refund",
                "shortcut": "Make a claim",
                "outcome": "{answer}: {amount} for {order}",
            },
            "talk": {
                "path": f"{GRAPHS}:talk",
                "channels": ["C0CONTENT"],
                "shortcut": "Talk about it",
                "replies": "cancel",
            },
        },
        "reviews": [{"channel": "C0CREDIT", "approvers": {"users": ["U0ALICE"]}}],
    }


@pytest.fixture
async def begun(database_url: str, tmp_path: Path) -> AsyncIterator[Product]:
    async with a_product(database_url, tmp_path, configured) as product:
        await product.serve()
        yield product


def fields(view: JSON) -> dict[str, str]:
    """The block id of each input by its label."""
    return {
        block["label"]["text"]: block["block_id"]
        for block in view["blocks"]
        if block["type"] == "input"
    }


async def fill_in(product: Product, user: str, amount: str) -> Any:
    ids = fields(await product.view(user, "Order", "Amount"))
    values = {ids["Order"]: "A-2231", ids["Amount"]: amount, ids["Why"]: "late"}
    return await product.control("submit", user=user, values=values)


async def ended(product: Product, number: int, status: str = "done") -> list[threads.Thread]:
    async def look() -> list[threads.Thread]:
        found = await threads.list_(product.database, status=status)
        return found if len(found) >= number else []

    return await until(f"{number} threads that are {status}", look)


async def test_a_form_a_shortcut_and_a_reply_that_cancels(begun: Product) -> None:
    product = begun
    # A message to the form's channel, with a file: the form, the file among the documents.
    await product.control(
        "message", user="U0BOB", channel="C0REFUNDS", text="It came late", files=[FILE]
    )
    await product.message("C0REFUNDS", "Fill in the request")
    await product.control("click", user="U0BOB", channel="C0REFUNDS", label="Fill in the request")
    await fill_in(product, "U0BOB", "30")
    card = await product.message("C0CREDIT", "Pay 30 for A-2231, 1 documents?")
    await product.click("U0ALICE", "Pay", card)
    (thread,) = await ended(product, 1)
    assert thread.outcome == "Pay: 30 for A-2231"
    await product.message("C0REFUNDS", "Sent as request")

    # Somebody's message, by its shortcut: what to ask for, then the form, under that message.
    sent = await product.control("message", user="U0ERIN", channel="C0LOANS", text="Broken lamp")
    await product.control(
        "shortcut", user="U0BOB", callback_id="ask_sayso", channel="C0LOANS", ts=sent["ts"]
    )
    await product.view("U0BOB", "Make a claim", "Talk about it")
    await product.control("submit", user="U0BOB", values={"graph": "claim"})
    await fill_in(product, "U0BOB", "40")
    card = await product.message("C0CREDIT", "Pay 40 for A-2231, 0 documents?")
    progress = await product.message("C0LOANS", "Broken lamp")
    assert progress["thread_ts"] == sent["ts"]

    # A conversation: a reply takes the question back, its card says so, a click on it is refused.
    sent = await product.control("message", user="U0BOB", channel="C0CONTENT", text="Sing")
    first = await product.message("C0CREDIT", "Do this: Sing?")
    await product.control(
        "message", user="U0BOB", channel="C0CONTENT", text="Dance", thread_ts=sent["ts"]
    )
    second = await product.message("C0CREDIT", "Do this: Dance?")
    await product.shows(first, "Withdrawn")
    await product.click("U0ALICE", "Yes", first)  # her window had not caught up
    await product.private("U0ALICE", "This request was withdrawn")
    await product.message("C0CONTENT", "withdrawn for it")
    await product.click("U0ALICE", "Yes", second)
    found = await ended(product, 2)
    (talked,) = [one for one in found if one.graph == "talk"]
    # After its end a message is a further turn of the same request.
    await product.control(
        "message", user="U0BOB", channel="C0CONTENT", text="Rest", thread_ts=sent["ts"]
    )
    third = await product.message("C0CREDIT", "Do this: Rest?")
    await product.click("U0ALICE", "No", third)
    await until("the end", lambda: _done(product, talked.id))
    shown = await product.json("threads", "show", talked.id)
    assert shown["state"]["done"] == ["Dance: Yes", "Rest: No"]


async def _done(product: Product, thread_id: str) -> bool:
    thread = await threads.get(product.database, thread_id)
    return thread.status is threads.Status.DONE
