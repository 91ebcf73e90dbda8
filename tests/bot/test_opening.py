"""The doors to the database that the processes open."""

from __future__ import annotations

import pytest

from bot import app
from checkpoints import leases
from checkpoints.errors import DatabaseAway
from tests.bot.conftest import Desk, until


@pytest.mark.parametrize("name", ["web", "command"])
async def test_a_process_that_is_stopped_inside_a_transaction_holds_up_nobody(
    desk: Desk, name: str
) -> None:
    thread_id = await desk.thread()

    async def free() -> bool:
        async with desk.database.transaction() as connection:
            return await leases.lock(connection, thread_id)

    async with app.opened(desk.settings, name) as database:
        with pytest.raises(DatabaseAway):
            async with database.transaction() as stopped:
                assert await leases.lock(stopped, thread_id)
                await until("the lease to be free", free)  # and nothing more is heard of it
