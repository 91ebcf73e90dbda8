"""Before a play: read what waits, take in the start, fetch files, and say what was decided.

Runs on the engine's loop. Each file is fetched before the transaction that stores it, which holds
the lease; doing all of it again after a crash stores nothing twice.
"""

from __future__ import annotations

import itertools
import json
import operator
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from checkpoints import leases
from checkpoints.database import Connection, Database
from checkpoints.database import Row as DatabaseRow
from checkpoints.errors import SaysoError
from checkpoints.leases import Lease
from checkpoints.text import clean
from graphs import audit, deploys, documents, inputs, mailbox, reviews, settling, threads
from graphs.deploys import Pause
from graphs.inputs import InputRefused
from graphs.mailbox import Row
from graphs.messages import Message
from graphs.plays import Side
from graphs.ports import Fetch
from graphs.registry import LoadedGraph
from graphs.threads import Thread
from memory import customers

Taken: TypeAlias = tuple[str, bytes, str | None]
TakeIn: TypeAlias = Callable[[Row | Message], Awaitable[Taken]]


class IntakeFailed(SaysoError):
    """The graph's intake raised; what it said."""

    def __init__(self, error: Exception) -> None:
        self.type = type(error).__name__
        self.message = clean(str(error))[:1000] or self.type
        self.permanent = getattr(error, "permanent", False) is True
        super().__init__(f"The start could not be taken in ({self.type}: {self.message}).")


@dataclass(frozen=True)
class Prepared:
    """What a play needs of the rows; `stopped` are the breakpoints whose review is open, `pauses`
    the questions at which the thread may rest."""

    thread: Thread
    rows: tuple[Row, ...]
    input: tuple[str, bytes] | None
    values: Mapping[int, Any]
    turns: Mapping[int, Message]
    decisions: Mapping[str, Any]
    stopped: frozenset[str]
    pauses: tuple[Pause, ...]


async def prepare(
    database: Database,
    lease: Lease,
    thread: Thread,
    loaded: LoadedGraph,
    *,
    fetch: Fetch,
    take_in: TakeIn,
) -> Prepared:
    """Read what waits and make it ready to be fed.

    1. Take in the start, once: input and customer are stored and never change.
    2. Make the answers of messages; store the files that came with them.
    3. Say what was decided, from the review rows, at every run.

    Raises:
        IntakeFailed, StaleOwner
    """
    rows = tuple(await mailbox.waiting(database, thread.id))
    stored = await _stored_input(database, thread.id)
    if stored is None and (first := next((row for row in rows if row.kind == "start"), None)):
        stored, thread = await _take_in(database, lease, thread, first, fetch, take_in)
    values: dict[int, Any] = {}
    turns: dict[int, Message] = {}
    for row in rows:
        if row.kind == "answer":
            values[row.id] = await _value(database, lease, thread.id, row, fetch)
        elif row.kind == "say":
            turns[row.id] = await _with_documents(database, lease, thread.id, row, fetch)
    async with database.connection() as connection:
        decisions = await _decisions(connection, thread)
        open_stops = await connection.fetch(settling.SQL.open_stops, thread.id)
    stopped = frozenset(row["interrupt_id"] for row in open_stops)
    pauses = await deploys.pauses(database, thread.id)
    return Prepared(thread, rows, stored, values, turns, decisions, stopped, pauses)


async def take_in(side: Side, loaded: LoadedGraph, given: Row | Message) -> Taken:
    """Make input and customer of a start, on the graphs' loop: the intake is the graph's own code.

    A start that brings its own input goes in as it is; where it has a text and names no customer,
    the intake is asked for the customer alone.
    """
    serde = side.saver.serde
    if isinstance(given, Message):
        value, customer = loaded.intake(given)
        _refuse(loaded, value)
        return *serde.dumps_typed(value), customer
    value = json.loads(given.body["input"])
    _refuse(loaded, value)
    customer = None
    text = value.get("text") if isinstance(value, dict) else None
    if isinstance(text, str) and loaded.spec.intake is not None:
        _, customer = loaded.intake(Message(text=text))
    return *serde.dumps_typed(value), customer


def _refuse(loaded: LoadedGraph, value: Any) -> None:
    """LangGraph would fail at it the same at every attempt."""
    if (said := inputs.problem(loaded.graph, value, types=False)) is not None:
        raise InputRefused(said)


def effect_key(thread_id: str, interrupt_id: str) -> str:
    """The key under which an approved action happens once: the same at every attempt."""
    return str(uuid.uuid5(uuid.UUID(thread_id), interrupt_id))


async def _take_in(
    database: Database,
    lease: Lease,
    thread: Thread,
    row: Row,
    fetch: Fetch,
    take_in_there: TakeIn,
) -> tuple[tuple[str, bytes], Thread]:
    given: Row | Message = row
    if "message" in row.body:
        message = await _with_documents(database, lease, thread.id, row, fetch)
        given = _naming_documents(row, message) if "input" in row.body else message
    try:
        kind, body, named = await take_in_there(given)
    except InputRefused as error:
        raise IntakeFailed(error) from error
    except SaysoError:
        raise
    except Exception as error:
        raise IntakeFailed(error) from error
    async with database.transaction() as connection:
        await leases.hold(connection, lease.fence)
        found, note = await _customer(connection, thread, named)
        await connection.execute(
            settling.SQL.take_in,
            thread.id,
            kind,
            body,
            found.id if found else None,
            found.name if found else None,
            note,
        )
        await audit.record(
            connection,
            "thread.taken_in",
            thread_id=thread.id,
            detail={
                "customer": found.id if found else thread.customer_id,
                "named": named,
                "note": note,
            },
        )
    return (kind, body), await threads.get(database, thread.id)


async def _customer(
    connection: Connection, thread: Thread, named: str | None
) -> tuple[customers.Customer | None, str | None]:
    """The customer that the intake named; where it is not clear who is meant, nobody is guessed."""
    if thread.customer_id is not None or not named:
        return None, None
    try:
        async with connection.savepoint():
            return await customers.find_or_create(connection, named), None
    except SaysoError as unclear:
        return None, str(unclear)


async def _value(database: Database, lease: Lease, thread_id: str, row: Row, fetch: Fetch) -> Any:
    """What the node's `interrupt()` returns."""
    if row.answer is not None:
        return json.loads(row.answer)
    message = await _with_documents(database, lease, thread_id, row, fetch)
    value = {"text": message.text, "documents": message.document_ids()}
    assert row.review_id is not None  # noqa: S101  the table says so
    async with database.transaction() as connection:
        await leases.hold(connection, lease.fence)
        await reviews.store_answer(connection, row.review_id, value)
    return value


async def _with_documents(
    database: Database, lease: Lease, thread_id: str, row: Row, fetch: Fetch
) -> Message:
    message = Message.from_json(row.body["message"])
    if not message.files:
        return message
    return await documents.take(database, lease.fence, thread_id, message, fetch)


def _naming_documents(row: Row, message: Message) -> Row:
    """The row with an input that names the documents of the message that it was made of."""
    value = json.loads(row.body["input"])
    if isinstance(value, dict) and isinstance(value.get(inputs.DOCUMENTS), list):
        value[inputs.DOCUMENTS] += message.document_ids()
    return replace(row, body={**row.body, "input": json.dumps(value)})


async def _stored_input(database: Database, thread_id: str) -> tuple[str, bytes] | None:
    row = await database.fetchrow(settling.SQL.input, thread_id)
    return (row["input_type"], row["input"]) if row and row["input"] is not None else None


async def _decisions(connection: Connection, thread: Thread) -> dict[str, Any]:
    """What nodes are told, oldest decision first."""
    decided = await connection.fetch(reviews.SQL.decided, thread.id)
    customer = (
        {"id": thread.customer_id, "name": thread.customer_name} if thread.customer_id else None
    )
    return {
        "thread_id": thread.id,
        "requester": thread.requester,
        "customer": customer,
        "decisions": [
            _decision(thread.id, list(items))
            for _, items in itertools.groupby(decided, key=operator.itemgetter("review_id"))
        ],
    }


def _decision(thread_id: str, items: Sequence[DatabaseRow]) -> dict[str, Any]:
    """One decision; with several actions in it, each of them as an item of its own."""
    told = [_item(row) for row in items]
    first, whole = items[0], items[0]["whole"]
    return {
        "interrupt_id": first["interrupt_id"],
        "node": first["node"],
        "audience": first["audience"],
        "verb": told[0]["verb"] if len({each["verb"] for each in told}) == 1 else "mixed",
        "outcome": reviews.overall({each["outcome"] for each in told}),
        "answer": json.loads(whole) if whole is not None else told[0]["answer"],
        "note": "\n".join(dict.fromkeys(each["note"] for each in told if each["note"])) or None,
        "decided_at": first["closed_at"].isoformat(),
        "by": list({each["id"]: each for one in told for each in one["by"]}.values()),
        "effect_key": effect_key(thread_id, first["interrupt_id"]),
        "items": told if len(told) > 1 or first["tool"] is not None else [],
    }


def _item(row: DatabaseRow) -> dict[str, Any]:
    one = {"id": row["decided_by"], "name": row["decided_by_name"] or ""}
    return {
        "tool": row["tool"],
        "arguments": row["arguments"],
        "verb": row["verb"],
        "outcome": row["outcome"],
        "answer": json.loads(row["answer"]) if row["answer"] is not None else None,
        "note": row["note"],
        "decided_at": row["decided_at"].isoformat(),
        "by": list(row["voters"]) or ([one] if one["id"] else []),  # nobody, where time ran out
    }
