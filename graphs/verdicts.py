"""What came of a vote: it counts, it decides, or one of the reasons why it did not count."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from graphs.policy import Reason
from graphs.specs import Rule

JSON: TypeAlias = Any


@dataclass(frozen=True)
class Counted:
    """The vote counts, and more are needed: `have` of `need` for this answer.

    `passed` where it was the last of its stage, so that the next people are asked now.
    """

    have: int
    need: int
    verb: str
    passed: bool = False


@dataclass(frozen=True)
class Decided:
    """This vote decided; `answer` is what the node gets."""

    outcome: str
    verb: str
    answer: JSON
    thread_id: str


@dataclass(frozen=True)
class Edited:
    """The action was changed and is not decided by that: `have` of `need` votes for it as it is."""

    revision: int
    item: int
    have: int
    need: int


@dataclass(frozen=True)
class AlreadyDecided:
    """Somebody was first: who, when, and what it came to."""

    by: str
    by_name: str
    at: datetime
    outcome: str
    verb: str
    note: str | None = None


@dataclass(frozen=True)
class Superseded:
    """The card was older than the question; `revision` is what stands now."""

    revision: int


@dataclass(frozen=True)
class AlreadyVoted:
    """The own earlier vote stands; `by` is who cast it, where that was somebody else.

    `for_you` where they did it in the place of the very person who votes now.
    """

    verb: str
    at: datetime
    by: str = ""
    by_name: str = ""
    for_you: bool = False


@dataclass(frozen=True)
class Refused:
    """The policy says no: `reason` is its code, `rule` the rule that was asked."""

    reason: Reason
    rule: Rule | None = None


@dataclass(frozen=True)
class HandedOver:
    """They handed it to somebody else, and have no say until they take it back."""

    to: str
    to_name: str
    at: datetime


@dataclass(frozen=True)
class Expired:
    """The deadline was first."""

    at: datetime | None = None


@dataclass(frozen=True)
class Withdrawn:
    """The question is not asked any more; `because` is why."""

    because: str | None = None


@dataclass(frozen=True)
class Held:
    """The thread is held or parked: nobody can decide until that is mended."""

    mark: str


@dataclass(frozen=True)
class BadAnswer:
    """The answer does not fit its question; `message` says what to write."""

    message: str


@dataclass(frozen=True)
class Unknown:
    """There is no such review, or no such item in it."""

    review_id: int


VoteResult: TypeAlias = (
    Counted | Decided | Edited | AlreadyDecided | Superseded | AlreadyVoted | Refused
    | HandedOver | Expired | Withdrawn | Held | BadAnswer | Unknown
)  # fmt: skip


def is_refusal(result: VoteResult) -> bool:
    """Whether the vote did not count."""
    return not isinstance(result, Counted | Decided | Edited)
