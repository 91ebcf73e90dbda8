"""Votes and decisions: one click, one transaction, one answer.

Two voters who each count before the other commits leave "2 of 2" open for ever, and two who both
see "open" decide twice. So a vote locks first and reads after:

1. the lease, for at most half a second (without it the answer is committed `unwoken`);
2. the review's row; whoever waited here now sees what the other one did;
3. status, revision, rule and votes are read again, in a later statement than the lock;
4. policy, then the answer against its question;
5. the vote; it is for one exact answer, by its hash. A quorum is that many votes for one hash;
6. if that decides the item: outcome, and with the last item the answer into the mailbox, the
   wake, the wishes.

Every refusal is a typed result and an audit entry in the same transaction. The caller commits,
then acknowledges.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

from checkpoints import leases
from checkpoints.database import Connection, queries
from checkpoints.text import clean, clean_json
from graphs import audit, mailbox, ports, reviews
from graphs.answers import check
from graphs.plain import digest, written
from graphs.policy import Person, Reason, Refusal, may_decide
from graphs.ports import Wish, no_wish
from graphs.specs import Rule

SQL = queries(__file__)
JSON: TypeAlias = Any
MAX_NOTE_CHARACTERS: Final = 3_000

_OUTCOMES: Final = {
    "approve": "approved",
    "approve_with_conditions": "approved",
    "accept": "approved",
    "reject": "rejected",
    "changes": "changes",
    "ask_for_changes": "changes",
    "edit": "edited",
    "ignore": "skipped",
    "continue": "continued",
    "stop": "stopped",
}


@dataclass(frozen=True)
class Voter:
    """Who votes, and by which way: "slack", "cli"; there `os_user` is who typed it."""

    person: Person
    via: str = ""
    os_user: str | None = None


@dataclass(frozen=True)
class Counted:
    """The vote counts, and more are needed: `have` of `need` for this answer."""

    have: int
    need: int
    verb: str


@dataclass(frozen=True)
class Decided:
    """This vote decided; `answer` is what the node gets."""

    outcome: str
    verb: str
    answer: JSON
    thread_id: str


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
    """The own earlier vote stands."""

    verb: str
    at: datetime


@dataclass(frozen=True)
class Refused:
    """The policy says no: `reason` is its code, `rule` the rule that was asked."""

    reason: Reason
    rule: Rule | None = None


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
    Counted | Decided | AlreadyDecided | Superseded | AlreadyVoted | Refused | Expired
    | Withdrawn | Held | BadAnswer | Unknown
)  # fmt: skip


def verb_of(answer: JSON) -> str:
    """The verb that an answer stands for where no button named it; never read from free words."""
    if isinstance(answer, Mapping):
        said = answer.get("decision", answer.get("type"))
        if isinstance(said, str) and said in _OUTCOMES:
            return said
    return "answer"


def outcome_of(verb: str, answer: JSON) -> str:
    """What a decision with this verb and answer comes to: approved, rejected, answered, …"""
    return _OUTCOMES.get(verb) or _OUTCOMES.get(verb_of(answer), "answered")


async def vote(
    connection: Connection,
    *,
    review_id: int,
    answer: JSON,
    voter: Voter,
    revision: int | None = None,
    verb: str | None = None,
    note: str | None = None,
    item: int = 0,
    now: datetime | None = None,
    wish: Wish = no_wish,
) -> VoteResult:
    """Count one person's say for one exact answer, and decide the item when that is enough.

    Args:
        revision: what the voter saw; None where they look at the present one (the command line).
        verb: the button's; None takes it from the answer.
        answer: the very value that the node's `interrupt()` returns.
    """
    answer = clean_json(answer)
    verb = clean(verb) if verb else verb_of(answer)
    note = clean(note)[:MAX_NOTE_CHARACTERS] if note else None
    thread_id = await connection.fetchval(reviews.SQL.thread_of, review_id)
    if thread_id is None:
        return await _refuse(connection, Unknown(review_id), None, None, voter, verb)
    woken = await leases.lock(connection, thread_id)
    await connection.execute(reviews.SQL.lock_review, review_id)
    row = await connection.fetchrow(reviews.SQL.lock_item, review_id, item)
    if row is None:
        return await _refuse(connection, Unknown(review_id), thread_id, review_id, voter, verb)
    found = await reviews.get(connection, review_id)
    mine = next(each for each in found.items if each.item == item)
    refusal = _refusal(row, mine, voter, revision, answer)
    if refusal is not None:
        return await _refuse(connection, refusal, thread_id, review_id, voter, verb)
    hashed = digest(answer)
    await connection.execute(
        SQL.cast, review_id, item, row["revision"], voter.person.id, clean(voter.person.name),
        verb, written(answer), hashed, note, voter.via, now,
    )  # fmt: skip
    have = 1 + sum(each.answer_hash == hashed for each in mine.standing_votes())
    need = mine.rule.quorum if mine.rule is not None else 1
    await audit.record(
        connection, "vote.counted", actor=voter.person.id, thread_id=thread_id,
        review_id=review_id,
        detail={
            **_said(voter, verb), "item": item, "revision": row["revision"], "answer": answer,
            "answer_hash": hashed, "question_hash": row["hash"], "note": note, "have": have,
            "need": need,
        },
    )  # fmt: skip
    kind = ports.CARD if row["audience"] == "reviewers" else ports.ASK
    await wish(connection, kind, str(review_id))
    await wish(connection, ports.PROGRESS, thread_id)
    if have < need:
        return Counted(have, need, verb)
    outcome = outcome_of(verb, answer)
    await connection.execute(
        reviews.SQL.decide_item, review_id, item, verb, outcome, written(answer), note,
        voter.person.id, clean(voter.person.name), now,
    )  # fmt: skip
    await audit.record(
        connection, "review.decided", actor=voter.person.id, thread_id=thread_id,
        review_id=review_id, detail={"item": item, "outcome": outcome, "answer": answer},
    )  # fmt: skip
    if await connection.fetchval(reviews.SQL.open_items, review_id) == 0:
        await connection.execute(reviews.SQL.close, review_id, "decided", now)
        await mailbox.put(
            connection, thread_id, "answer", review_id=review_id, answer=written(answer),
            unwoken=not woken,
        )  # fmt: skip
        if woken:
            await leases.wake(connection, thread_id)
    return Decided(outcome, verb, answer, thread_id)


def _refusal(
    row: Mapping[str, Any],
    mine: reviews.Item,
    voter: Voter,
    revision: int | None,
    answer: JSON,
) -> VoteResult | None:
    """Why the vote does not count, or None; in the order in which a person wants to know."""
    if row["status"] == "expired":
        return Expired(row["decided_at"])
    if row["status"] == "withdrawn":
        return Withdrawn(row["closed_because"])
    if row["item_status"] == "decided":
        return AlreadyDecided(
            row["decided_by"], row["decided_by_name"] or "", row["decided_at"], row["outcome"],
            row["verb"], row["note"],
        )  # fmt: skip
    if row["mark"] == "cancelled":
        return Withdrawn("the request was taken back")
    if row["mark"] in ("held", "parked"):
        return Held(row["mark"])
    if revision is not None and revision != row["revision"]:
        return Superseded(row["revision"])
    if refused := _not_allowed(row, mine.rule, voter.person):
        return Refused(refused.reason, refused.rule)
    own = next((v for v in mine.standing_votes() if v.voter == voter.person.id), None)
    if own is not None:
        return AlreadyVoted(own.verb, own.cast_at)
    try:
        json.dumps(answer, allow_nan=False)
    except (TypeError, ValueError):
        return BadAnswer("The answer must be JSON.")
    message = check(answer, row["question"], row["schema"])
    return BadAnswer(message) if message is not None else None


def _not_allowed(row: Mapping[str, Any], rule: Rule | None, person: Person) -> Refusal | None:
    if row["audience"] == "reviewers":
        return may_decide(rule, person, row["requester"])
    if not person.known:
        return Refusal(Reason.CANNOT_CHECK)
    return None if person.id == row["requester"] else Refusal(Reason.NOT_ALLOWED)


async def _refuse(
    connection: Connection,
    result: VoteResult,
    thread_id: str | None,
    review_id: int | None,
    voter: Voter,
    verb: str,
) -> VoteResult:
    """Write the attempt into the record, in the same transaction, and hand the result back."""
    detail = {name: value for name, value in asdict(result).items() if name != "rule"}
    await audit.record(
        connection, "vote.refused", actor=voter.person.id, thread_id=thread_id,
        review_id=review_id,
        detail={**_said(voter, verb), "why": type(result).__name__, **detail},
    )  # fmt: skip
    return result


def _said(voter: Voter, verb: str) -> dict[str, Any]:
    return {"verb": verb, "via": voter.via, "os_user": voter.os_user, "name": voter.person.name}
