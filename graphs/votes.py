"""Votes and decisions: one click, one transaction, one answer.

Two voters who each count before the other commits leave "2 of 2" open for ever, and two who both
see "open" decide twice. So a vote locks first and reads after:

1. the lease, for at most half a second (without it the answer is committed `unwoken`);
2. the review's row; whoever waited here now sees what the other one did;
3. status, revision, rule and votes are read again, in a later statement than the lock;
4. policy, then the answer against its question;
5. the vote; what counts together, and how many it takes, is `graphs/tallies.py`;
6. if that decides the item: outcome, and with the last item the answer into the mailbox, the
   wake, the wishes.

An answer that changes what goes into an action is a vote too, for something that nobody else has
voted for: what is on the card changes, so the review gets a new revision, the item's earlier votes
lapse and their voters are told. From then on an approval of that item is a vote for the changed
action, by the same hash. Where another rule is for what it is now, it comes under that one, and the
editor's vote counts if they have a say there.

Every refusal is a typed result and an audit entry in the same transaction. The caller commits,
then acknowledges.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Final, TypeAlias

from checkpoints import leases
from checkpoints.database import Connection, queries
from checkpoints.text import clean, clean_json
from graphs import actions, applying, audit, covers, deadlines, mailbox, ports, reviews, threads
from graphs.answers import check
from graphs.covers import Handover
from graphs.directory import Directory
from graphs.plain import digest, written
from graphs.policy import Person, Policy, Reason, Refusal, may_decide, may_decide_for, out_of_turn
from graphs.ports import Wish, no_wish
from graphs.specs import GraphSpec, Rule
from graphs.tallies import AGAINST, Ballot, Tally, count, needed, settled_on
from graphs.verdicts import AlreadyDecided as AlreadyDecided
from graphs.verdicts import AlreadyVoted as AlreadyVoted
from graphs.verdicts import BadAnswer as BadAnswer
from graphs.verdicts import Counted as Counted
from graphs.verdicts import Decided as Decided
from graphs.verdicts import Edited as Edited
from graphs.verdicts import Expired as Expired
from graphs.verdicts import HandedOver as HandedOver
from graphs.verdicts import Held as Held
from graphs.verdicts import Refused as Refused
from graphs.verdicts import Superseded as Superseded
from graphs.verdicts import Unknown as Unknown
from graphs.verdicts import VoteResult as VoteResult
from graphs.verdicts import Withdrawn as Withdrawn
from graphs.verdicts import is_refusal as is_refusal

SQL = queries(__file__)
JSON: TypeAlias = Any
MAX_NOTE_CHARACTERS: Final = 3_000
NOBODY_DECIDES: Final = "No rule says who decides on these values. Write others."
OUT_OF_REACH: Final = "Nobody is left who could decide it."

_OUTCOMES: Final = {
    "approve": "approved",
    "approve_with_conditions": "approved",
    "accept": "approved",
    "reject": "rejected",
    "changes": "changes",
    "ask_for_changes": "changes",
    "edit": "edited",
    "ignore": "skipped",
    "respond": "answered",
    "continue": "continued",
    "stop": "stopped",
}


@dataclass(frozen=True)
class Voter:
    """Who votes, and by which way: "slack", "cli"; there `os_user` is who typed it.

    `directory` says who the roles and managers of a rule are, `requester_email` helps it. For each
    of `covers`, the nearest first, the person may decide in their place; own say comes first.
    By `policy`, with the thread's state, an edit leads an action to the rule for what it is then.
    """

    person: Person
    via: str = ""
    os_user: str | None = None
    directory: Directory = field(default_factory=Directory)
    requester_email: str | None = ""  # None where it could not be found out
    covers: tuple[Person, ...] = ()
    handed: Handover | None = None  # the review to somebody else: then they have no say on it
    policy: Policy | None = None
    state: JSON = None

    def seat(self, rule: Rule | None, requester: str) -> Person | Refusal:
        """For whom this person may vote under a rule: themselves, else somebody they cover."""
        if self.handed is not None:
            return Refusal(Reason.HANDED_OVER, rule)
        refusal = may_decide(rule, self.person, requester)
        if refusal is None:
            return self.person
        for one in self.covers:
            theirs = may_decide_for(rule, self.person, one, requester)
            if theirs is None:
                return one
            # Whoever may not themselves is told so only where nobody's say is in doubt.
            if theirs.reason is Reason.CANNOT_CHECK and refusal.reason is Reason.NOT_ALLOWED:
                refusal = theirs
        return refusal

    def seat_in(self, whole: Rule | None, stage: int, requester: str) -> Person | Refusal:
        """For whom in a stage of a rule, or why for nobody: it may not be their turn yet."""
        found = self.seat(whole.stage(stage) if whole is not None else None, requester)
        if isinstance(found, Person):
            return found
        return out_of_turn(
            found, whole, stage, lambda each: isinstance(self.seat(each, requester), Person)
        )

    def named(self, rule: Rule | None, requester: str) -> Rule | None:
        """The rule with everybody in it as they are now."""
        if rule is None:
            return None
        return self.directory.rule(rule, requester, self.requester_email)


def verb_of(answer: JSON) -> str:
    """The verb that an answer stands for where no button named it; never read from free words."""
    if isinstance(answer, Mapping):
        said = answer.get("decision", answer.get("type"))
        if isinstance(said, str) and said in _OUTCOMES:
            return said
    return "answer"


def _verb_of(asked: actions.Asking, answer: JSON) -> str:
    if asked.form == "breakpoint":
        said = answer.get("do") if isinstance(answer, Mapping) else "continue"
        return {"change": "edit", "stop": "stop"}.get(str(said), "continue")
    return actions.verb_of(answer) if asked.actions else verb_of(answer)


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
    spec: GraphSpec | None = None,
) -> VoteResult:
    """Count one person's say for one exact answer, and decide the item when that is enough.

    Args:
        revision: what the voter saw; None where they look at the present one (the command line).
        verb: the button's; None takes it from the answer.
        answer: the very value that the node's `interrupt()` returns; with actions, that of the
            item.
        spec: the graph's words, among them how its question is rejected where nobody can decide it
            any more.
    """
    answer = clean_json(answer)
    verb = clean(verb) if verb else ""
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
    answer = _as_it_stands(found, mine, answer)
    verb = verb or _verb_of(found.asking, answer)
    note = note or (actions.note_of(answer) if found.asking.actions else None)
    note = _capped(clean(note)) if note else None
    if found.audience == "reviewers":
        voter = await _as_it_is_now(connection, voter, mine, review_id, now)
    refusal = _refusal(row, found, mine, voter, revision, answer, verb, note)
    if refusal is not None:
        return await _refuse(connection, refusal, thread_id, review_id, voter, verb)
    standing: Sequence[reviews.Vote] = mine.standing_votes()
    edits = _edits(found, mine, answer)
    stands: int = row["revision"]
    if edits:
        try:
            led = await _led(connection, found, mine, answer, voter)
        except applying.NobodyDecides:
            refusal = BadAnswer(NOBODY_DECIDES)
            return await _refuse(connection, refusal, thread_id, review_id, voter, verb)
        stands = await _edit(connection, found, mine, answer, voter, now, wish)
        standing = ()
        if led is not None:
            mine = await _follow(connection, found, led, stands, voter, now, wish)
    whole = voter.named(mine.whole, found.requester)
    seat = _seat(row, whole, 0 if edits else mine.stage, voter)
    counts = not edits or mine.rule is None or mine.rule.editor_may_decide
    # Who changes something in a later stage begins anew with people among whom they may not be.
    counts = counts and isinstance(seat, Person)
    mine_now = Ballot(
        voter.person.id, clean(voter.person.name), verb, _outcome_of(found, verb, answer), answer,
        note, seat.id if isinstance(seat, Person) else "",
    )  # fmt: skip
    cast = [*(_ballot(found, each) for each in standing), *([mine_now] if counts else [])]
    tally = count(cast, whole, found.requester) if cast else Tally(0, needed(whole))
    if counts:
        await connection.execute(
            SQL.cast, review_id, item, stands, mine_now.voter, mine_now.name, mine_now.seat, verb,
            written(answer), mine_now.hash, note, voter.via, now,
        )  # fmt: skip
        await audit.record(
            connection, "vote.counted", actor=voter.person.id, thread_id=thread_id,
            review_id=review_id,
            detail={
                **_said(voter, verb), "item": item, "revision": stands, "answer": answer,
                "answer_hash": mine_now.hash, "question_hash": row["hash"], "note": note,
                "have": tally.have, "need": tally.need,
                "seat": mine_now.seat, "stage": 1 if edits else mine.stage + 1,
                "stages": whole.length if whole is not None else 1,
                "passed": tally.stage > (0 if edits else mine.stage),
            },
        )  # fmt: skip
    kind = ports.CARD if row["audience"] == "reviewers" else ports.ASK
    await wish(connection, kind, str(review_id))
    await wish(connection, ports.PROGRESS, thread_id)
    decided = tally.decided
    if decided is None and tally.out_of_reach:
        decided = _rejection(found, mine, spec)
    if decided is None:
        if tally.stage != mine.stage:
            stands_now = await reviews.renew_asks(connection, review_id)
            if tally.stage > mine.stage:
                await deadlines.remind_anew(connection, stands_now, stands_now.items[item], now)
        if tally.out_of_reach:
            await wish(connection, ports.NOTICE, f"unreachable:{review_id}")
        if edits:
            return Edited(stands, item, tally.have, tally.need)
        return Counted(tally.have, tally.need, verb, passed=tally.stage > mine.stage)
    await connection.execute(
        reviews.SQL.decide_item, review_id, item, decided.verb, decided.outcome,
        written(decided.answer), _capped(decided.note), decided.voter or None,
        decided.name or None, now,
    )  # fmt: skip
    await audit.record(
        connection, "review.decided", actor=decided.voter or audit.SYSTEM, thread_id=thread_id,
        review_id=review_id,
        detail={
            "item": item, "outcome": decided.outcome, "answer": decided.answer,
            "out_of_reach": tally.out_of_reach,
        },
    )  # fmt: skip
    if await connection.fetchval(reviews.SQL.open_items, review_id) == 0:
        await connection.execute(reviews.SQL.close, review_id, "decided", now)
        whole = _whole(await reviews.get(connection, review_id))
        await mailbox.put(
            connection, thread_id, "answer", review_id=review_id, answer=written(whole),
            unwoken=not woken,
        )  # fmt: skip
        if woken:
            await leases.wake(connection, thread_id)
        # The cards of the thread's other questions say how many are open.
        for other in await reviews.list_(connection, thread_id=thread_id, status="open"):
            if other.audience == "reviewers":
                await wish(connection, ports.CARD, str(other.id))
    return Decided(decided.outcome, decided.verb, decided.answer, thread_id)


async def vote_all(
    connection: Connection,
    *,
    review_id: int,
    voter: Voter,
    revision: int | None = None,
    items: Sequence[int] | None = None,
    now: datetime | None = None,
    wish: Wish = no_wish,
    spec: GraphSpec | None = None,
) -> list[VoteResult]:
    """Approve every open action of a review that can be approved, each as a vote of its own.

    What this person may not decide, or has voted on, is refused for that action alone.

    Args:
        items: those that the caller found `approvable`, so that it can tell the results apart.
    """
    found = await reviews.find(connection, review_id)
    asked = found.asking if found is not None else actions.Asking("free")
    items = items if items is not None else approvable(found)
    return [
        await vote(
            connection, review_id=review_id, item=item, revision=revision, verb="approve",
            answer=actions.reply(asked.form, asked.actions[item], "approve"),
            voter=voter, now=now, wish=wish, spec=spec,
        )
        for item in items
    ]  # fmt: skip


def approvable(review: reviews.Review | None) -> list[int]:
    """The open items whose action can be approved."""
    if review is None or not review.asking.actions:
        return []
    asked = review.asking.actions
    open_ = [item.item for item in review.items if item.status == "open"]
    return [item for item in open_ if "approve" in asked[item].allowed]


async def vote_whole(
    connection: Connection,
    *,
    review_id: int,
    answer: JSON,
    voter: Voter,
    now: datetime | None = None,
    wish: Wish = no_wish,
    spec: GraphSpec | None = None,
) -> list[VoteResult]:
    """Vote on every item by one whole answer, the very value that `interrupt()` returns.

    An item that is decided already for just this answer is passed over. Half an answer does not
    count: where one of the votes is refused, none is cast, and the refusals are returned.
    """
    found = await reviews.find(connection, review_id)
    parts = actions.split(found.asking, clean_json(answer)) if found is not None else (answer,)
    if parts is None:
        said = BadAnswer("Give one decision for each action, in the order of the question.")
        thread_id = await connection.fetchval(reviews.SQL.thread_of, review_id)
        return [await _refuse(connection, said, thread_id, review_id, voter, "")]
    known = found.items if found is not None else ()
    results: list[VoteResult] = []
    try:
        async with connection.savepoint():
            for item, part in enumerate(parts):
                if len(parts) > 1 and _is_decided_so(known[item], part):
                    continue
                result = await vote(
                    connection, review_id=review_id, item=item, answer=part, voter=voter, now=now,
                    wish=wish, spec=spec,
                )  # fmt: skip
                results.append(result)
            if len(results) > 1 and any(map(is_refusal, results)):
                raise _HalfAnAnswer
    except _HalfAnAnswer:
        results = [result for result in results if is_refusal(result)]
        thread_id = await connection.fetchval(reviews.SQL.thread_of, review_id)
        for result in results:
            await _refuse(connection, result, thread_id, review_id, voter, "")
    return results


class _HalfAnAnswer(Exception):
    """One of the votes of a whole answer was refused, so that the others are taken back."""


def _is_decided_so(item: reviews.Item, answer: JSON) -> bool:
    return item.status == "decided" and digest(item.answer) == digest(answer)


def _as_it_stands(review: reviews.Review, mine: reviews.Item, answer: JSON) -> JSON:
    """The answer itself; an approval of an action that was changed is one of what it is now."""
    if not review.asking.actions or not mine.edited or actions.verb_of(answer) != "approve":
        return answer
    action = review.asking.actions[mine.item]
    return actions.reply(review.asking.form, action, "approve", arguments=mine.arguments)


def _edits(review: reviews.Review, mine: reviews.Item, answer: JSON) -> bool:
    """Whether the answer lets something else go into the action than what stands on the card."""
    if not review.asking.actions or actions.verb_of(answer) not in ("approve", "edit"):
        return False
    wanted = actions.arguments_of(review.asking.actions[mine.item], answer)
    return not actions.same(wanted, mine.arguments)


async def _edit(
    connection: Connection,
    review: reviews.Review,
    mine: reviews.Item,
    answer: JSON,
    voter: Voter,
    now: datetime | None,
    wish: Wish,
) -> int:
    """Change the action, let its votes lapse, and return the new revision."""
    wanted = actions.arguments_of(review.asking.actions[mine.item], answer)
    name = clean(voter.person.name)
    await connection.execute(
        reviews.SQL.edit_item, review.id, mine.item, wanted, voter.person.id, name, now
    )
    revision: int = await connection.fetchval(reviews.SQL.raise_revision, review.id)
    lapsed = await connection.fetch(reviews.SQL.lapse_item, review.id, mine.item, now)
    await audit.record(
        connection, "review.edited", actor=voter.person.id, thread_id=review.thread_id,
        review_id=review.id,
        detail={
            **_said(voter, "edit"), "item": mine.item, "tool": mine.tool, "revision": revision,
            "before": mine.arguments, "after": wanted,
            "lapsed": [row["voter"] for row in lapsed],
        },
    )  # fmt: skip
    for row in lapsed:
        if row["voter"] != voter.person.id:
            who = f"{review.id}.{mine.item}.{revision}.{row['voter']}"
            await wish(connection, ports.LAPSED, who)
    return revision


async def _led(
    connection: Connection,
    review: reviews.Review,
    mine: reviews.Item,
    answer: JSON,
    voter: Voter,
) -> applying.Change | None:
    """The rule that an action comes under by an edit, where that is another one."""
    if voter.policy is None or not review.asking.actions:
        return None
    wanted = actions.arguments_of(review.asking.actions[mine.item], answer)
    thread = await threads.get(connection, review.thread_id)
    return applying.led_elsewhere(review, mine, wanted, thread, voter.policy, voter.state)


async def _follow(
    connection: Connection,
    review: reviews.Review,
    led: applying.Change,
    revision: int,
    voter: Voter,
    now: datetime | None,
    wish: Wish,
) -> reviews.Item:
    """Put an edited action under the rule for what it is now, and return it so."""
    thread = await threads.get(connection, review.thread_id)
    moved = applying.Moved(review.id, review.thread_id, (led,))
    await applying.move(
        connection, moved, thread, revision=revision, by=voter.person.id, os_user=voter.os_user,
        what="review.led", now=now, wish=wish,
    )  # fmt: skip
    now_is = await reviews.get(connection, review.id)
    return next(each for each in now_is.items if each.item == led.item)


async def _as_it_is_now(
    connection: Connection, voter: Voter, mine: reviews.Item, review_id: int, now: datetime | None
) -> Voter:
    """The voter with whom they cover for read again under the locks: an absence may have ended.

    Whose vote is missing comes first, so that one who covers for two votes for the other one.
    """
    handed = await covers.handed_over(connection, review_id, voter.person.id)
    if not voter.covers:
        return replace(voter, handed=handed)
    ids = await covers.for_(
        connection, voter.person.team, voter.person.id, review_id, now, for_sure=True
    )
    heard = {vote.seat for vote in mine.standing_votes()}
    if mine.edited_by is not None and _decides_on_own_edit(mine, {mine.edited_by}, edits=False):
        heard.add(mine.edited_by)
    still = [one for one in voter.covers if one.id in ids]
    still.sort(key=lambda one: one.id in heard)
    return replace(voter, handed=handed, covers=tuple(still))


def _rejection(review: reviews.Review, mine: reviews.Item, spec: GraphSpec | None) -> Ballot | None:
    """What stands for a rejection where nobody is left who could bring the item to an end.

    Nobody said it, so it has no name. None where the question cannot be rejected: it stays open.
    """
    item = mine.item if review.asking.actions else None
    choice = review.shown(spec).choice("reject", item)
    if choice is None or choice.needs == "form":
        return None
    answer = choice.answer(OUT_OF_REACH if choice.needs else None)
    return Ballot("", "", "reject", "rejected", answer, OUT_OF_REACH)


def _ballot(review: reviews.Review, vote: reviews.Vote) -> Ballot:
    outcome = _outcome_of(review, vote.verb, vote.answer)
    return Ballot(
        vote.voter, vote.voter_name, vote.verb, outcome, vote.answer, vote.note, vote.seat
    )  # fmt: skip


def _capped(note: str | None) -> str | None:
    return note[:MAX_NOTE_CHARACTERS] if note else None


def _outcome_of(review: reviews.Review, verb: str, answer: JSON) -> str:
    if review.asking.form == "breakpoint":
        return _OUTCOMES[verb]
    if review.asking.actions:
        return _OUTCOMES[actions.verb_of(answer)]
    return outcome_of(verb, answer)


def _whole(review: reviews.Review) -> JSON:
    """The value that `interrupt()` returns, once every item is decided."""
    return actions.assemble(review.asking, [item.answer for item in review.items])


def _refusal(
    row: Mapping[str, Any],
    review: reviews.Review,
    mine: reviews.Item,
    voter: Voter,
    revision: int | None,
    answer: JSON,
    verb: str,
    note: str | None,
) -> VoteResult | None:
    """Why the vote does not count, or None; in the order in which a person wants to know."""
    if row["status"] == "expired":
        return Expired(row["decided_at"])
    if row["status"] == "withdrawn":
        return Withdrawn(row["closed_because"])
    if row["outcome"] == "expired":
        return Expired(row["decided_at"])
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
    whole = voter.named(mine.whole, review.requester)
    seat = _seat(row, whole, mine.stage, voter)
    edits = _edits(review, mine, answer)
    standing = mine.standing_votes()
    own = next((vote for vote in standing if vote.voter == voter.person.id), None)
    if own is not None and not edits:  # in an earlier stage, too
        return AlreadyVoted(own.verb, own.cast_at)
    if voter.handed is not None:
        return _handed_over(voter.handed, standing)
    if isinstance(seat, Refusal):
        return Refused(seat.reason, seat.rule)
    taken = next((vote for vote in standing if vote.seat == seat.id), None)
    if taken is not None and not edits:
        for_you = taken.seat == voter.person.id
        return AlreadyVoted(taken.verb, taken.cast_at, taken.voter, taken.voter_name, for_you)
    # Nor does who covers for them, or to whom they handed it.
    if _decides_on_own_edit(mine, {voter.person.id, seat.id}, edits):
        return Refused(Reason.EDITOR, mine.rule)
    try:
        json.dumps(answer, allow_nan=False)
    except (TypeError, ValueError):
        return BadAnswer("The answer must be JSON.")
    message = actions.problem(review.asking, mine.item, answer, mine.schema)
    if message is None:
        alone = review.asking.form in ("free", "per_call")
        message = check(answer, row["question"], row["schema"] if alone else None)
    if message is None and not edits:
        message = _other_than_settled(review, mine, whole, voter, answer, verb, note)
    return BadAnswer(message) if message is not None else None


def _handed_over(handed: Handover, standing: Sequence[reviews.Vote]) -> VoteResult:
    """What is told to somebody who handed it over: who has it, or has decided it for them."""
    theirs = next((vote for vote in standing if vote.seat == handed.giver), None)
    if theirs is not None:
        return AlreadyVoted(theirs.verb, theirs.cast_at, theirs.voter, theirs.voter_name, True)
    return HandedOver(handed.taker, handed.taker_name, handed.made_at)


def _other_than_settled(
    review: reviews.Review,
    mine: reviews.Item,
    whole: Rule | None,
    voter: Voter,
    answer: JSON,
    verb: str,
    note: str | None,
) -> str | None:
    """What to say where a later stage answers otherwise than those before it agreed on."""
    hashes = [vote.answer_hash for vote in mine.standing_votes()]
    agreed = settled_on(hashes, whole)
    outcome = _outcome_of(review, verb, answer)
    if agreed is None or outcome in AGAINST:
        return None
    said = Ballot(voter.person.id, "", verb, outcome, answer, note)
    if said.hash == agreed:
        return None
    return (
        "The people before you agreed on another answer. Give the same one, or decide against it."
    )


def _decides_on_own_edit(mine: reviews.Item, people: Collection[str], edits: bool) -> bool:
    if edits or mine.rule is None or mine.rule.editor_may_decide:
        return False
    return mine.edited and mine.edited_by in people


def _seat(row: Mapping[str, Any], whole: Rule | None, stage: int, voter: Voter) -> Person | Refusal:
    """For whom it is that the vote counts in this stage, or why for nobody."""
    if row["audience"] == "reviewers":
        return voter.seat_in(whole, stage, row["requester"])
    if not voter.person.known:
        return Refusal(Reason.CANNOT_CHECK)
    if voter.person.id == row["requester"]:
        return voter.person
    return Refusal(Reason.NOT_ALLOWED)


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
