"""What can go wrong below the domain, and what to do about it.

    SaysoError                 the root of every error that this product raises itself
    ├── DatabaseAway           no connection could be had, or it broke: try again
    ├── DatabaseRefused        the server said no (login, rights, no such database)
    ├── NotMigrated            the tables are missing or older than the program
    ├── MigrationChanged       an applied migration file is not what it was
    ├── LockTimeout            somebody else holds the row for too long: go on without it
    ├── Conflict               a constraint refused the row; ``constraint`` names it
    ├── BadValue               a value the database cannot hold
    │   └── UnkeptQuestion     what a node asks with can be neither stored nor said
    ├── StaleOwner             a worker that is no longer the owner tried to write
    │   └── NotTheOwner        a program that never was the owner tried to
    ├── LostCheckpoint         stored state names a value that is not there any more
    ├── BlockedType            stored state names a type that may not be loaded
    ├── ExtraMissing           an optional package that was asked for is not installed
    ├── FileNotUsable          the SQLite file of a first experiment cannot be used
    ├── WrongLoop              a synchronous call on the event loop's own thread
    └── EmbeddedFailed         the embedded Postgres did not start

``str(error)`` is one or two sentences for a person: what happened and what to do next. The
driver's error, where there is one, is kept as the cause.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path


class SaysoError(Exception):
    """The root of every error that this product raises itself."""


class DatabaseAway(SaysoError):
    """The database could not be reached, or the connection broke; the same call may work later."""

    def __init__(self, detail: str) -> None:
        super().__init__(
            f"The database does not answer ({detail}). Nothing was lost; start it and try again."
        )


class DatabaseRefused(SaysoError):
    """The database answered and said no; trying again does not help, the settings do."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"The database refused: {detail}. Check SAYSO_DATABASE_URL.")


class NotMigrated(SaysoError):
    """The tables are missing or older than this program; run ``sayso migrate``."""

    def __init__(self, missing: Sequence[str]) -> None:
        self.missing = tuple(missing)
        super().__init__(
            f"The database is not up to date ({', '.join(missing)}). "
            "Run `sayso migrate`, then try again."
        )


class MigrationChanged(SaysoError):
    """An applied migration is not the file of this program; restore the file."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"Migration {name} was applied with another text. Applied migrations never change: "
            "restore the file, and put the change into a new one."
        )


class LockTimeout(SaysoError):
    """Another transaction held the row for longer than this call waits."""

    def __init__(self) -> None:
        super().__init__("Somebody else is changing this right now. Try again in a moment.")


class Conflict(SaysoError):
    """A constraint refused the row; the verb that meant it turns the name into the domain's word.

    ``constraint`` is the name of the unique, check, not-null or foreign key constraint, or the
    column for a not-null one, or "" where the server names none.
    """

    def __init__(self, constraint: str, detail: str = "") -> None:
        self.constraint = constraint
        super().__init__(f"The database refused the row ({constraint or detail}).")


class BadValue(SaysoError):
    """A value that cannot be stored; says which and why."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"The value cannot be stored: {detail}.")


class UnkeptQuestion(BadValue):
    """A node asks with a value that can be neither stored nor said; ask with plain values.

    ``kind`` is the name of its type, ``interrupt_id`` the question's.
    """

    def __init__(self, kind: str, interrupt_id: str) -> None:
        self.kind = kind
        self.interrupt_id = interrupt_id
        super().__init__(f"a question of the type {kind}")


class StaleOwner(SaysoError):
    """A worker that no longer owns the thread tried to write; it must stop this run."""

    def __init__(self, thread_id: str, epoch: int) -> None:
        self.thread_id = thread_id
        self.epoch = epoch
        super().__init__(
            f"Thread {thread_id} has another owner now; epoch {epoch} may no longer write."
        )


class NotTheOwner(StaleOwner):
    """A thread with an owner was to be changed by a program that has no fence for it."""

    def __init__(self, thread_id: str) -> None:
        self.thread_id = thread_id
        self.epoch = -1
        SaysoError.__init__(
            self,
            f"Thread {thread_id} belongs to Sayso: only the worker that owns it may write to it. "
            "Use another thread id.",
        )


class LostCheckpoint(SaysoError):
    """A checkpoint names a value that is not stored any more; an earlier one may be whole."""

    def __init__(self, thread_id: str, checkpoint_id: str, channels: Sequence[str]) -> None:
        self.thread_id = thread_id
        self.checkpoint_id = checkpoint_id
        self.channels = tuple(channels)
        super().__init__(
            f"Checkpoint {checkpoint_id} of thread {thread_id} has lost the values of "
            f"{', '.join(channels)}. Go back to an earlier checkpoint, or restore a backup."
        )


class BlockedType(SaysoError):
    """Stored state names types that the strict loader does not know; add them and try again."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        lines = ", ".join(f'"{name}"' for name in names)
        super().__init__(
            f"The stored state holds types that may not be loaded. "
            f"If they are yours, add `types = [{lines}]` to the graph in sayso.toml and start the "
            "worker again."
        )

    @staticmethod
    def names_in(text: str) -> frozenset[str]:
        """The names in the words of such an error; none where they are another's."""
        found = re.search(r"`types = \[(.*?)\]`", text)
        return frozenset(re.findall(r'"([^"]+)"', found[1])) if found else frozenset()


class ExtraMissing(SaysoError):
    """An optional package is not installed; the sentence says how to install it."""

    def __init__(self, package: str) -> None:
        self.package = package
        super().__init__(f"This needs {package}. Install it with `pip install {package}`.")


class FileNotUsable(SaysoError):
    """The file that should hold the checkpoints of a first experiment cannot be used."""

    def __init__(self, file: Path, detail: str) -> None:
        self.file = file
        super().__init__(f"{file} cannot hold the checkpoints: {detail}. Name another file.")


class WrongLoop(SaysoError):
    """A synchronous call on the event loop's own thread would wait for itself for ever."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"`{name}` was called on the event loop's own thread. Await `a{name}` there instead."
        )


class EmbeddedFailed(SaysoError):
    """The embedded Postgres did not start or stop; ``log`` is the file that says why."""

    def __init__(self, detail: str, log: Path) -> None:
        self.log = log
        super().__init__(
            f"The embedded Postgres failed: {detail}. Its log is {log}. "
            "Set SAYSO_DATABASE_URL to use a Postgres of your own."
        )
