"""A program starts a thread by one call, and a worker that runs elsewhere takes it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.client import Client, connect
from checkpoints.database import Database
from graphs import threads
from graphs.errors import KeyTaken, UnknownGraph
from graphs.inputs import InputRefused
from memory import customers
from memory.errors import AmbiguousCustomer
from tests.bot.conftest import Desk, until
from tests.bot.test_commands import LOAN, Terminal, terminal

__all__ = ["terminal"]


async def test_a_program_starts_a_thread_that_a_running_worker_takes(
    terminal: Terminal, database: Database
) -> None:
    async with terminal.worker(), connect(terminal.environ()) as sayso:
        started = await sayso.start("loan", LOAN, customer="Asha Traders", key="order-1")
        assert started.created

        async def paused() -> threads.Thread | None:
            thread = await threads.get(database, started.id)
            return thread if thread.status is threads.Status.PAUSED else None

        thread = await until("the pause", paused, 30)
    assert (thread.number, thread.customer_name) == (started.number, "Asha Traders")
    assert thread.requester.startswith("python:")


async def test_the_same_key_starts_one_thread_and_refuses_another_input(
    terminal: Terminal, database: Database
) -> None:
    async with connect(terminal.environ()) as sayso:
        made = await asyncio.gather(*(sayso.start("loan", LOAN, key="order-1") for _ in range(4)))
        assert len({one.id for one in made}) == 1
        assert [one.created for one in made].count(True) == 1
        with pytest.raises(KeyTaken):
            await sayso.start("loan", {"text": "another"}, key="order-1")
        await sayso.start("loan", LOAN, key="order-2")
    assert len(await threads.list_(database)) == 2


async def test_what_cannot_start_is_one_clear_error_and_nothing_starts(
    terminal: Terminal, database: Database
) -> None:
    async with database.transaction() as connection:
        await customers.create(connection, "Asha Traders")
        await customers.create(connection, "Asha Traders")
    wrong: list[tuple[type[Exception], str, Any, dict[str, Any]]] = [
        (UnknownGraph, "lone", LOAN, {}),
        (InputRefused, "loan", {"txt": "hello"}, {}),
        (InputRefused, "loan", {"text": object()}, {}),
        (InputRefused, "loan", None, {}),
        (InputRefused, "loan", LOAN, {"context": {"tenant": "asha"}}),
        (AmbiguousCustomer, "loan", LOAN, {"customer": "Asha Traders"}),
    ]
    async with connect(terminal.environ()) as sayso:
        for error, graph, given, more in wrong:
            with pytest.raises(error):
                await sayso.start(graph, given, **more)
    assert await threads.list_(database) == []


async def test_a_requester_in_slack_is_told_how_it_goes(desk: Desk) -> None:
    from bot.wishes import Wishes

    wishes = Wishes(desk.present)
    client = Client(desk.settings, desk.database, "T0SAYSO", wishes)
    started = await client.start("loan", LOAN, requester="U0BOB")
    await desk.post_all()
    (progress,) = desk.slack.messages("D0BOB")
    await desk.slack.message("U0BOB", "D0BOB", "And soon", thread_ts=progress["ts"])

    async def heard() -> bool:
        said = await threads.messages(desk.database, started.id)
        return [one.text for one in said] == ["And soon"]

    await until("the reply", heard)
