"""What the commands about the record do: export it, and tell a thread's story."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import IO

from bot import app, exports, logs, stories
from bot.exports import Format
from bot.settings import load
from checkpoints.database import Database
from graphs import audit, reviews, sealing, threads
from graphs.sealing import Head, Wanted
from memory import customers
from memory.errors import AmbiguousCustomer, UnknownCustomer


async def export(
    out: IO[str],
    kind: Format,
    *,
    since: datetime | None,
    until: datetime | None,
    thread: str | None,
    graph: str | None,
    customer: str | None,
    approver: str | None,
) -> tuple[int, Head]:
    """Write the record, or a part of it, sealed to its last entry; how many, and the head.

    The export is an entry too, and the next export shows it.

    Raises:
        UnknownThread, AmbiguousThread, UnknownCustomer, AmbiguousCustomer
    """
    settings = load()
    logs.set_up(settings.environment.log, "command")
    async with app.opened(settings, "command") as database:
        wanted = Wanted(
            since=since,
            until=until,
            thread_id=await threads.resolve(database, thread) if thread else None,
            graph=graph,
            customer_id=await _customer(database, customer),
            actor=approver,
        )
        await sealing.seal_all(database)
        count = 0
        async with database.transaction() as connection:
            head = await sealing.head(connection)
            places = [one async for one in sealing.places(connection, wanted)]
            if places:
                anchor = await sealing.before(connection, places[0].position)
                exports.write(out, kind, anchor, places)
                head = Head(places[-1].position, places[-1].hash)
                count = sum(one.entry is not None for one in places)
            else:
                exports.write(out, kind, head, ())
            about = {name: str(value) for name, value in vars(wanted).items() if value is not None}
            await audit.record(
                connection, "audit.exported", actor=f"cli:{app.os_user()}",
                detail={"about": about, "entries": count, "head": str(head)},
            )  # fmt: skip
        return count, head


async def story(thread_id: str) -> str:
    """A thread's whole story, as one page of text.

    Raises:
        UnknownThread, AmbiguousThread
    """
    settings = load()
    logs.set_up(settings.environment.log, "command")
    async with app.opened(settings, "command") as database:
        found = await threads.resolve(database, thread_id)
        thread = await threads.get(database, found)
        asked = await reviews.list_(database, thread_id=found)
        told = await audit.of_thread(database, found)
        async with database.transaction() as connection:
            await audit.record(
                connection, "look.taken", actor=f"cli:{app.os_user()}", thread_id=found,
                detail={"what": "story", "via": "cli"},
            )  # fmt: skip
    spec = settings.configuration.graphs.get(thread.graph)
    return stories.told(thread, asked, told, spec)


async def _customer(database: Database, named: str | None) -> str | None:
    if named is None:
        return None
    async with database.connection() as connection:
        found = await customers.find(connection, named)
    if not found:
        raise UnknownCustomer(named)
    if len(found) > 1:
        raise AmbiguousCustomer(named, [one.id for one in found])
    return found[0].id


@contextlib.contextmanager
def output(file: Path | None) -> Iterator[IO[str]]:
    """The file to write, or standard output; a file that is there is left alone.

    Raises:
        FileExistsError, OSError
    """
    if file is None:
        yield sys.stdout
        return
    with file.open("x", encoding="utf-8", newline="") as out:
        yield out
