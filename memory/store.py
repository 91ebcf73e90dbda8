"""The customer's memory as a LangGraph store: what a graph and our own code read and write.

Who may name which namespace is decided here, before anything reaches the database:

- `CustomerStore` is for our own code. It is bound to one customer; a namespace begins with
  ``("customers", that id)`` or with a shared one that was declared. Any other raises
  `ForeignCustomer`, also where it does not exist. Bound to nobody, it reaches shared ones only.
- `CustomerStore.rooted` gives the view that a graph gets. Whatever namespace a graph names lies
  inside the root, ``("customers", id)`` or ``("graphs", name)``, and comes back without it: a graph
  written for any other store runs unchanged, and one that was tricked has no name for anything
  outside. Only a shared namespace that was declared, ``("shared", label, …)``, leaves the root.

A rooted view may carry its run's fence: then each write first proves that the run still owns its
thread, so that a worker which woke up late cannot write over the new owner's memory.

Where it differs from `InMemoryStore`, on purpose: a text and a number never compare as equal or
ordered; a search gives the newest first; a query without vectors is a search for words and not
everything; an overwritten item keeps its created_at; an emptied namespace is not listed; values
are JSON, without NUL, at most one megabyte; limits are 0 to 10,000.

The database's pool belongs to one event loop, the one on which the store is made. Calls from
other threads and loops are carried over to it; a synchronous call on the loop's own thread would
wait for itself for ever and raises `WrongLoop`.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from checkpoints import leases
from checkpoints.database import Connection, Database
from checkpoints.errors import DatabaseAway, LockTimeout, WrongLoop
from checkpoints.leases import Fence
from memory import memories
from memory.errors import BadNamespace, BadSearch, ForeignCustomer, ReadOnlyShared, StoreUnreachable
from memory.filters import conditions
from memory.memories import Listing, Memory, Namespace, Search, Write
from memory.values import encoded

__all__ = ["Access", "CustomerStore", "ForeignCustomer", "RootedStore"]

Access = Literal["read", "write"]

SYNC_WAIT_SECONDS: Final = 60.0
RETRY_AFTER_SECONDS: Final = (0.05, 0.5)  # every operation may run twice: writes overwrite


@dataclass(frozen=True)
class _Asked:
    """One operation with its namespace made absolute; ``root`` is taken off what comes back."""

    root: Namespace
    what: tuple[Namespace, str] | Search | Listing | Write


class _Store(BaseStore):
    """What both stores do alike: check everything, then run one batch on the database's loop."""

    supports_ttl = False

    def __init__(
        self,
        database: Database,
        loop: asyncio.AbstractEventLoop,
        shared: Mapping[str, Access],
        fence: Fence | None,
    ) -> None:
        self._database = database
        self._loop = loop
        self._shared = dict(shared)
        self._fence = fence

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations from a thread that has no event loop, such as a synchronous node's.

        Raises:
            WrongLoop: called on the event loop's own thread.
            StoreUnreachable: the loop has ended, or gave no answer within a minute.
        """
        given = list(ops)
        if _running_loop() is self._loop:
            raise WrongLoop(_verb(given))
        carried = self._carry(self._resolved(given))
        try:
            return carried.result(SYNC_WAIT_SECONDS)
        except concurrent.futures.TimeoutError as error:
            carried.cancel()
            raise StoreUnreachable(f"no answer in {SYNC_WAIT_SECONDS:.0f} seconds") from error

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations: reads see what was there before, of two writes the last counts.

        Everything is checked before anything is read or written. The writes of one batch are
        stored together or not at all.

        Raises:
            ForeignCustomer, ReadOnlyShared, BadNamespace, BadMemory, BadSearch, UnknownCustomer
            StaleOwner: the run lost its thread.
            DatabaseAway, LockTimeout: also after trying again.
        """
        asked = self._resolved(list(ops))
        if _running_loop() is self._loop:
            return await self._run(asked)
        return await asyncio.wrap_future(self._carry(asked))

    def _place(self, namespace: Namespace, *, writes: bool) -> Namespace:
        """Return the root under which the namespace lies, or refuse it."""
        raise NotImplementedError

    def _is_shared(self, namespace: Sequence[str]) -> bool:
        return len(namespace) > 1 and namespace[0] == "shared" and namespace[1] in self._shared

    def _check_shared(self, namespace: Namespace, *, writes: bool) -> None:
        if writes and self._shared[namespace[1]] != "write":
            raise ReadOnlyShared(namespace)

    def _resolved(self, ops: Sequence[Op]) -> list[_Asked]:
        return [self._resolve(op) for op in ops]

    def _resolve(self, op: Op) -> _Asked:
        if isinstance(op, GetOp):
            root, namespace = self._absolute(op.namespace)
            return _Asked(root, (namespace, memories.checked_key(op.key)))
        if isinstance(op, SearchOp):
            root, namespace = self._absolute(op.namespace_prefix)
            memories.check_page(op.limit, op.offset)
            found = conditions(op.filter)
            return _Asked(root, Search(namespace, found, op.query or None, op.limit, op.offset))
        if isinstance(op, ListNamespacesOp):
            return self._resolve_listing(op)
        if isinstance(op, PutOp):
            if op.ttl is not None:
                raise NotImplementedError(
                    "A time to live is not supported by this store. Put it without one."
                )
            if not op.namespace:
                raise BadNamespace("it has no label")
            root, namespace = self._absolute(op.namespace, writes=True)
            text = None if op.value is None else encoded(op.value)
            return _Asked(root, Write(namespace, memories.checked_key(op.key), text))
        raise BadSearch(f"the operation {type(op).__name__} is not known")

    def _resolve_listing(self, op: ListNamespacesOp) -> _Asked:
        """Start from the longest prefix without a wildcard; the other conditions only narrow it."""
        asked = op.match_conditions or ()
        prefix: Namespace = ()
        for condition in asked:
            if condition.match_type not in ("prefix", "suffix"):
                raise BadSearch(f"a namespace cannot match by {condition.match_type!r:.40}")
            memories.joined(condition.path)
            if condition.match_type == "prefix":
                prefix = max(prefix, _without_wildcards(condition.path), key=len)
        root, within = self._absolute(prefix)
        memories.check_page(op.limit, op.offset)
        return _Asked(
            root,
            Listing(
                root=root,
                within=within,
                conditions=[
                    {"kind": condition.match_type, "path": list(condition.path)}
                    for condition in asked
                ],
                max_depth=op.max_depth,
                limit=op.limit,
                offset=op.offset,
            ),
        )

    def _absolute(
        self, namespace: Namespace, *, writes: bool = False
    ) -> tuple[Namespace, Namespace]:
        memories.joined(namespace)
        root = self._place(tuple(namespace), writes=writes)
        absolute = (*root, *namespace)
        memories.joined(absolute)
        return root, absolute

    async def _run(self, asked: list[_Asked]) -> list[Result]:
        for wait in RETRY_AFTER_SECONDS:
            try:
                return await self._run_once(asked)
            except (DatabaseAway, LockTimeout):
                await asyncio.sleep(wait)
        return await self._run_once(asked)

    async def _run_once(self, asked: list[_Asked]) -> list[Result]:
        if not any(isinstance(one.what, Write) for one in asked):
            async with self._database.connection() as connection:
                return await self._answer(connection, asked)
        async with self._database.transaction() as connection:
            if self._fence is not None:
                await leases.hold(connection, self._fence)
            return await self._answer(connection, asked)

    async def _answer(self, connection: Connection, asked: list[_Asked]) -> list[Result]:
        wanted = [one.what for one in asked if isinstance(one.what, tuple)]
        found = await memories.get(connection, wanted) if wanted else {}
        results: list[Result] = []
        for one in asked:
            if isinstance(one.what, tuple):
                results.append(_item(found.get(one.what), one.root))
            elif isinstance(one.what, Search):
                rows = await memories.search(connection, one.what)
                results.append([_search_item(row, one.root) for row in rows])
            elif isinstance(one.what, Listing):
                results.append(await memories.namespaces(connection, one.what))
            else:
                results.append(None)
        await memories.write(connection, [one.what for one in asked if isinstance(one.what, Write)])
        return results

    def _carry(self, asked: list[_Asked]) -> concurrent.futures.Future[list[Result]]:
        """Run the operations on the database's loop, seen from another thread."""
        if not self._loop.is_running():
            raise StoreUnreachable("its event loop has ended")
        return asyncio.run_coroutine_threadsafe(self._run(asked), self._loop)


class CustomerStore(_Store):
    """The memory of one customer, for our own code; see the module for the rule of namespaces."""

    def __init__(
        self,
        database: Database,
        *,
        customer: str | None = None,
        shared: Mapping[str, Access] | None = None,
    ) -> None:
        """Bind the store; must be called on the event loop that opened the database.

        Args:
            customer: the id of the customer whose memory it is.
            shared: the declared labels under ``("shared", label)``, each for reading or writing.
        """
        super().__init__(database, asyncio.get_running_loop(), shared or {}, fence=None)
        self._root: Namespace | None = None if customer is None else ("customers", customer)

    def rooted(self, root: Namespace, *, fence: Fence | None = None) -> RootedStore:
        """Return the view a graph gets: every namespace it names lies inside ``root``.

        Args:
            root: ``("customers", id)`` or ``("graphs", name)``.
            fence: the run's; a write of a run that lost its thread then raises `StaleOwner`.

        Raises:
            ForeignCustomer: this store is bound to another customer, or it is no such root.
        """
        if len(root) != 2 or root[0] not in ("customers", "graphs"):
            raise ForeignCustomer(root, self._root)
        if root[0] == "customers" and self._root not in (None, tuple(root)):
            raise ForeignCustomer(root, self._root)
        memories.joined(root)
        return RootedStore(self._database, self._loop, tuple(root), self._shared, fence)

    def _place(self, namespace: Namespace, *, writes: bool) -> Namespace:
        if self._is_shared(namespace):
            self._check_shared(namespace, writes=writes)
        elif self._root is None or namespace[:2] != self._root:
            raise ForeignCustomer(namespace, self._root)
        return ()


class RootedStore(_Store):
    """The view of the memory that one run of a graph gets; made by `CustomerStore.rooted`."""

    def __init__(
        self,
        database: Database,
        loop: asyncio.AbstractEventLoop,
        root: Namespace,
        shared: Mapping[str, Access],
        fence: Fence | None,
    ) -> None:
        super().__init__(database, loop, shared, fence)
        self._root = root

    def _place(self, namespace: Namespace, *, writes: bool) -> Namespace:
        if self._is_shared(namespace):
            self._check_shared(namespace, writes=writes)
            return ()
        return self._root


def _without_wildcards(path: Sequence[str]) -> Namespace:
    labels = tuple(path)
    return labels[: labels.index("*")] if "*" in labels else labels


def _item(found: Memory | None, root: Namespace) -> Item | None:
    if found is None:
        return None
    return Item(
        value=found.value,
        key=found.key,
        namespace=found.namespace[len(root) :],
        created_at=found.created_at,
        updated_at=found.updated_at,
    )


def _search_item(found: Memory, root: Namespace) -> SearchItem:
    return SearchItem(
        namespace=found.namespace[len(root) :],
        key=found.key,
        value=found.value,
        created_at=found.created_at,
        updated_at=found.updated_at,
        score=found.score,
    )


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _verb(ops: Sequence[Op]) -> str:
    """Return the method that a caller of ``batch`` most likely wrote."""
    if len(ops) != 1:
        return "batch"
    op = ops[0]
    if isinstance(op, PutOp):
        return "delete" if op.value is None else "put"
    if isinstance(op, GetOp):
        return "get"
    return "search" if isinstance(op, SearchOp) else "list_namespaces"
