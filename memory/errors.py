"""What can go wrong with customers and their memory, and what to do about it.

    SaysoError
    ├── UnknownCustomer        no customer has this id
    ├── AmbiguousCustomer      several customers have this name; ``ids`` names them
    ├── BadCustomerName        a name that names nobody
    ├── StoreUnreachable       a call from another thread whose event loop is gone or too slow
    └── MemoryRefused          the store would not do it; nothing was read or written
        ├── ForeignCustomer    the namespace is not the bound customer's
        ├── ReadOnlyShared     a shared namespace that was declared for reading only
        ├── BadNamespace       a namespace or key that cannot be stored
        ├── BadMemory          a value that is not JSON, or is too large
        └── BadSearch          a filter, limit or offset that makes no sense

`MemoryRefused` is a ValueError too, since LangGraph's own stores raise that for the same mistakes.
"""

from __future__ import annotations

from collections.abc import Sequence

from checkpoints.errors import SaysoError


class UnknownCustomer(SaysoError):
    """No customer has this id; create one by its name first."""

    def __init__(self, customer_id: str) -> None:
        self.customer_id = customer_id
        super().__init__(f"No customer has the id {customer_id}. Check the id, or give the name.")


class AmbiguousCustomer(SaysoError):
    """Several customers have this name; say which one by its id."""

    def __init__(self, name: str, ids: Sequence[str]) -> None:
        self.name = name
        self.ids = tuple(ids)
        super().__init__(
            f"{len(self.ids)} customers have the name {name}: {', '.join(self.ids)}. "
            "Give the id of the one you mean."
        )


class BadCustomerName(SaysoError):
    """A name that names nobody: empty, too long, or shaped like an id."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"This cannot be a customer's name: {detail}.")


class StoreUnreachable(SaysoError):
    """A call from another thread whose event loop has ended or does not answer in time."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"The memory cannot be reached: {detail}. Try again.")


class MemoryRefused(SaysoError, ValueError):
    """The store would not do it; nothing was read or written."""


class ForeignCustomer(MemoryRefused):
    """The namespace lies outside what this store is bound to."""

    def __init__(self, namespace: Sequence[str], allowed: Sequence[str] | None) -> None:
        self.namespace = tuple(namespace)
        bound = f"bound to {_path(allowed)}" if allowed else "bound to no customer"
        super().__init__(
            f"The namespace {_path(namespace)} was refused: this store is {bound}. "
            "Nothing was read or written."
        )


class ReadOnlyShared(MemoryRefused):
    """A shared namespace that was declared for reading only."""

    def __init__(self, namespace: Sequence[str]) -> None:
        self.namespace = tuple(namespace)
        super().__init__(
            f"The namespace {_path(namespace)} is shared for reading only. Nothing was written."
        )


class BadNamespace(MemoryRefused):
    """A namespace or a key that cannot be stored."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"This cannot name a memory: {detail}. Nothing was read or written.")


class BadMemory(MemoryRefused):
    """A value that is not JSON, or is larger than a memory may be."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"This cannot be remembered: {detail}. Nothing was written.")


class BadSearch(MemoryRefused):
    """A filter, a limit or an offset that makes no sense."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"This cannot be searched for: {detail}. Nothing was read.")


def _path(labels: Sequence[str]) -> str:
    """Write a namespace for a person, each label short."""
    return "/".join(str(label)[:80] for label in labels) or "(empty)"
