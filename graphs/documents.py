"""Documents: the files that came with a message, fetched by the worker and stored by their hash.

A node never sees an address or a token: it reads a document by its id. A file that could not be
had is a document too, without a body and with the `problem`, so that the graph can ask for another.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from checkpoints.database import Connection, Database, queries
from checkpoints.text import clean
from graphs.errors import FileRefused
from graphs.messages import FileRef, Message
from graphs.ports import Fetch

SQL = queries(__file__)

MAX_BYTES: Final = 10 * 1024 * 1024
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


async def fetch_all(files: Sequence[FileRef], fetch: Fetch) -> list[Fetched]:
    """Fetch the files, before any transaction; what cannot be had says why."""
    return [await _fetch(file, fetch) for file in files]


async def store(
    connection: Connection, thread_id: str, message: Message, had: Sequence[Fetched]
) -> Message:
    """Store what was fetched, once, and return the message with the documents' ids.

    A file that came before keeps its document: a take-over stores nothing twice.
    """
    files = []
    for each in had:
        digest = hashlib.sha256(each.body).hexdigest() if each.body is not None else None
        size = len(each.body) if each.body is not None else each.file.size
        document_id = await connection.fetchval(
            SQL.store, str(uuid.uuid4()), thread_id, each.file.id, clean(each.file.name)[:200],
            clean(each.file.media_type)[:200], size, digest, each.body, each.problem,
        )  # fmt: skip
        files.append(replace(each.file, document_id=document_id))
    return replace(message, files=tuple(files))


async def of_thread(connection: Connection | Database, thread_id: str) -> list[Document]:
    """The thread's documents without their bodies, oldest first."""
    rows = await connection.fetch(SQL.of_thread, thread_id)
    return [Document(**dict(row), body=b"") for row in rows]


async def _fetch(file: FileRef, fetch: Fetch) -> Fetched:
    if file.size > MAX_BYTES:
        return Fetched(file, None, "it is larger than 10 MB")
    try:
        body = await fetch(file)
    except FileRefused as refused:
        return Fetched(file, None, clean(refused.reason)[:300])
    if len(body) > MAX_BYTES:
        return Fetched(file, None, "it is larger than 10 MB")
    return Fetched(file, body, None)
