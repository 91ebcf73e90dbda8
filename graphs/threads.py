"""Threads: one life of a graph, for one requester and usually one customer.

**Who is authoritative.** The state of a thread is in its checkpoints, who runs it is its lease,
what waits for it is its mailbox, what it asks are its reviews. The row in `sayso.threads` holds
who and what for, where the thread rested last, and a *mark* where settle or an intervention gave
one. The status is computed from all of these and stored nowhere, so it cannot disagree with them:

    cancelled, held, parked   by the mark, whatever else there is
    running                   somebody holds the lease
    queued                    a mailbox row can be fed, now or when it is due
    failed                    by the mark: a person must say "try again"
    paused                    a review is open
    done                      by the mark

The verbs here are accepted by whatever process the person reached. They lock in the order lease,
thread, review, and they wait for the lease at most half a second: a worker that is frozen inside
its settle must not hold up a click. Where that wait was in vain the row is committed `unwoken`, and
the workers' poll wakes the thread.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeAlias

from checkpoints import leases
from checkpoints.database import Connection, Database, Row, queries
from checkpoints.text import clean, clean_json
from graphs import audit, mailbox, ports
from graphs.errors import AmbiguousThread, UnknownThread
from graphs.messages import FileRef as FileRef
from graphs.messages import Message as Message
from graphs.plain import written
from graphs.ports import Wish, no_wish
from memory import customers

SQL = queries(__file__)
JSON: TypeAlias = Any


class Status(StrEnum):
    """Where a thread stands, in the order of a life."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    HELD = "held"
    FAILED = "failed"
    PARKED = "parked"
    DONE = "done"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Failure:
    """The step that failed last. `attempts` counts all that the schedule has, the first included.

    `retry_at` is None where a person has to say "try again"; `message` is the error's own text.
    """

    node: str
    type: str
    message: str
    attempt: int
    attempts: int
    at: datetime
    retry_at: datetime | None = None


@dataclass(frozen=True)
class Thread:
    """A thread as it stands now; `next` are the nodes it would go on with."""

    id: str
    number: int
    team: str
    graph: str
    requester: str
    customer_id: str | None
    customer_name: str | None
    customer_note: str | None
    status: Status
    mark_reason: str | None
    next: tuple[str, ...]
    error: Failure | None
    outcome: str | None
    head: str | None
    configurable: Mapping[str, Any]
    open_reviews: tuple[int, ...]
    created_at: datetime
    changed_at: datetime
    ended_at: datetime | None
    context: Mapping[str, JSON] | None = None
    rewound: JSON = None  # who took it back last, and what had been done (graphs/rewinding.py)


@dataclass(frozen=True)
class Started:
    """The thread of this start; `created` is False where the same key had started it before."""

    thread_id: str
    created: bool


async def start(
    connection: Connection,
    *,
    team: str,
    graph: str,
    requester: str,
    message: Message | None = None,
    input: JSON = None,  # noqa: A002  the graph's own word
    customer: str | None = None,
    configurable: Mapping[str, Any] | None = None,
    context: Mapping[str, JSON] | None = None,
    key: str | None = None,
    actor: str | None = None,
    wish: Wish = no_wish,
) -> Started:
    """Open a thread and put its start into the mailbox; the same `key` starts it only once.

    Args:
        message: goes through the graph's intake, which makes input and customer of it. With an
            input it is what that was made of: kept with the record, its files are taken in.
        input: the graph's own input, used as it is; where a message with files comes with it, its
            `documents` get their ids.
        customer: the id or the name of the customer; a new name is created.
        context: what LangGraph hands to nodes as `runtime.context`, given again at every run.
        actor: who did it, where that is not the requester (an operator at the command line).

    Raises:
        AmbiguousCustomer, UnknownCustomer, BadCustomerName: nothing was started.
        ValueError: neither message nor input, or an input that is not JSON.
    """
    if message is None and input is None:
        raise ValueError("a thread starts with a message or with an input")
    if key is not None and (known := await connection.fetchval(SQL.by_key, team, clean(key))):
        return Started(known, created=False)
    found = await customers.find_or_create(connection, customer) if customer is not None else None
    thread_id = str(uuid.uuid4())
    created = await connection.fetchval(
        SQL.create,
        thread_id,
        team,
        graph,
        clean(requester),
        clean(key) if key is not None else None,
        found.id if found else None,
        found.name if found else None,
        clean_json(dict(configurable or {})),
        clean_json(dict(context)) if context is not None else None,
    )
    if created is None:  # somebody else's start with this key committed in between
        return Started(await connection.fetchval(SQL.by_key, team, clean(key or "")), created=False)
    body: dict[str, Any] = {}
    if message is not None:
        body["message"] = message.to_json()
    if input is not None:
        body["input"] = written(input)
    await leases.create(connection, thread_id, f"{team}/{graph}")
    await mailbox.put(connection, thread_id, "start", body=body)
    await leases.wake(connection, thread_id)
    await audit.record(
        connection,
        "thread.started",
        actor=actor or requester,
        thread_id=thread_id,
        detail={"graph": graph, "requester": requester, "key": key, "customer": customer},
    )
    await wish(connection, ports.PROGRESS, thread_id)
    return Started(thread_id, created=True)


async def get(connection: Connection | Database, thread_id: str) -> Thread:
    """The thread as it stands now.

    Raises:
        UnknownThread
    """
    found = await find(connection, thread_id)
    if found is None:
        raise UnknownThread(thread_id)
    return found


async def find(connection: Connection | Database, thread_id: str) -> Thread | None:
    """The thread as it stands now, or None."""
    rows = await _read(connection, ids=[thread_id])
    return rows[0] if rows else None


async def of_ids(connection: Connection | Database, ids: Collection[str]) -> dict[str, Thread]:
    """These threads as they stand now, by their ids."""
    found = await _read(connection, ids=list(ids), limit=len(ids))
    return {thread.id: thread for thread in found}


async def resolve(connection: Connection | Database, said: str) -> str:
    """The id of the thread that a person means by its id, its number, or how its id begins.

    Raises:
        UnknownThread, AmbiguousThread
    """
    rows = await connection.fetch(SQL.resolve, clean(said))
    if not rows:
        raise UnknownThread(said)
    if len(rows) > 1 and rows[0]["id"] != said and not rows[0]["by_number"]:
        raise AmbiguousThread(said, tuple(row["id"] for row in rows))
    return str(rows[0]["id"])


async def was_given(connection: Connection | Database, thread_id: str, input: JSON) -> bool:  # noqa: A002
    """Whether the thread was started with this very input."""
    body = await connection.fetchval(SQL.given, thread_id)
    return body is not None and body.get("input") == written(input)


async def list_(
    connection: Connection | Database,
    *,
    status: Status | str | None = None,
    graph: str | None = None,
    requester: str | None = None,
    limit: int = 200,
) -> list[Thread]:
    """The newest threads, newest first."""
    return await _read(
        connection,
        status=str(status) if status is not None else None,
        graph=graph,
        requester=requester,
        limit=limit,
    )


async def messages(connection: Connection | Database, thread_id: str) -> list[Message]:
    """What was written to the thread, oldest first, whatever became of it."""
    rows = await connection.fetch(SQL.messages, thread_id)
    return [Message.from_json(row["message"]) for row in rows]


async def _read(
    connection: Connection | Database,
    *,
    ids: Sequence[str] | None = None,
    status: str | None = None,
    graph: str | None = None,
    requester: str | None = None,
    limit: int = 200,
) -> list[Thread]:
    owned = await leases.owned(connection, ids)
    rows = await connection.fetch(SQL.read, owned, ids, status, graph, requester, limit)
    return [_thread(row) for row in rows]


def _thread(row: Row) -> Thread:
    values = {name: row[name] for name in Thread.__dataclass_fields__}
    values["status"] = Status(row["status"])
    values["next"] = tuple(row["next"])
    values["open_reviews"] = tuple(row["open_reviews"])
    values["error"] = failure(row["error"], row["retry_at"])
    return Thread(**values)


def failure(value: Mapping[str, Any] | None, retry_at: datetime | None) -> Failure | None:
    """The stored error as a value."""
    if value is None:
        return None
    fields = {**value, "at": datetime.fromisoformat(value["at"]), "retry_at": retry_at}
    return Failure(**fields)


def loaded(body: Mapping[str, Any]) -> JSON:
    """The input that a start row carries."""
    return json.loads(body["input"])
