"""Documents: the files that came with a message, fetched by the worker and stored by their hash.

A node never sees an address or a token: it reads a document by its id. A file that could not be
had is a document too, without a body and with the `problem`, so that the graph can ask for another.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass, replace
from typing import Final

from checkpoints import leases
from checkpoints.database import Connection, Database, queries
from checkpoints.leases import Fence
from checkpoints.text import clean
from graphs.errors import FileRefused
from graphs.messages import FileRef, Message
from graphs.ports import Fetch

SQL = queries(__file__)

_MB: Final = 1024 * 1024
MAX_BYTES: Final = 10 * _MB
MAX_MESSAGE_BYTES: Final = 50 * _MB
MAX_FILES: Final = 20  # of one message
KEY: Final = "__sayso_documents"  # in config["configurable"]; keys like this stay out of metadata


@dataclass(frozen=True)
class Document:
    """A stored file; one without a body has a `problem`: "it is larger than 10 MB"."""

    id: str
    name: str
    media_type: str
    size: int
    sha256: str | None
    body: bytes
    problem: str | None = None


@dataclass(frozen=True)
class Fetched:
    """A file that was fetched, not stored yet."""

    file: FileRef
    body: bytes | None
    problem: str | None


class UnknownDocument(FileRefused):
    """The thread has no document of that id."""

    def __init__(self, document_id: str) -> None:
        super().__init__(f"this request has no document {document_id}")


class Documents:
    """What a node gets: the documents of its own thread, and no other's."""

    def __init__(self, database: Database, thread_id: str) -> None:
        self._database = database
        self._thread_id = thread_id

    async def read(self, document_id: str) -> Document:
        """The document with its body.

        Raises:
            UnknownDocument: it is none of this thread's.
        """
        row = await self._database.fetchrow(SQL.read, self._thread_id, document_id)
        if row is None:
            raise UnknownDocument(document_id)
        return Document(**{**dict(row), "body": row["body"] or b""})


async def take(
    database: Database, fence: Fence, thread_id: str, message: Message, fetch: Fetch
) -> Message:
    """Fetch and store the message's files, and return it with the documents' ids.

    One file at a time, fetched before its transaction: a worker holds one body, however many came.
    A file that is stored is not fetched again: a take-over goes on where its owner ended. Files
    beyond what one message may bring are stored with the problem and never fetched.

    Raises:
        StaleOwner
    """
    rows = await database.fetch(SQL.stored, thread_id, [file.id for file in message.files])
    stored = {row["file_id"]: row["id"] for row in rows}
    room = MAX_MESSAGE_BYTES - sum(row["bytes"] for row in rows)
    files = []
    for number, file in enumerate(message.files):
        if file.id not in stored:
            problem = "it is one file too many" if number >= MAX_FILES else None
            fetched = await _fetch(file, fetch, room, problem)
            room -= len(fetched.body or b"")
            async with database.transaction() as connection:
                await leases.hold(connection, fence)
                stored[file.id] = await _store(connection, thread_id, fetched)
        files.append(replace(file, document_id=stored[file.id]))
    return replace(message, files=tuple(files))


async def of_thread(connection: Connection | Database, thread_id: str) -> list[Document]:
    """The thread's documents without their bodies, oldest first."""
    rows = await connection.fetch(SQL.of_thread, thread_id)
    return [Document(**dict(row), body=b"") for row in rows]


async def _fetch(file: FileRef, fetch: Fetch, room: int, problem: str | None) -> Fetched:
    problem = problem or _too_large(file.size, room)
    if problem is not None:
        return Fetched(file, None, problem)
    try:
        body = await fetch(file)
    except FileRefused as refused:
        return Fetched(file, None, clean(refused.reason)[:300])
    problem = _too_large(len(body), room)  # the chat's word for its size may have been wrong
    return Fetched(file, body if problem is None else None, problem)


def _too_large(size: int, room: int) -> str | None:
    if size > MAX_BYTES:
        return f"it is larger than {MAX_BYTES // _MB} MB"
    if size > room:
        return f"the files of one message may have {MAX_MESSAGE_BYTES // _MB} MB together"
    return None


async def _store(connection: Connection, thread_id: str, fetched: Fetched) -> str:
    file, body = fetched.file, fetched.body
    document_id: str = await connection.fetchval(
        SQL.store, str(uuid.uuid4()), thread_id, file.id, clean(file.name)[:200],
        clean(file.media_type)[:200], file.size if body is None else len(body),
        None if body is None else hashlib.sha256(body).hexdigest(), body, fetched.problem,
    )  # fmt: skip
    return document_id
