"""One click, one transaction: who may, who was first, what is counted, what is written down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from checkpoints import leases
from checkpoints.database import Database
from graphs import absences, audit, interventions, mailbox, reviews, votes
from graphs.directory import Directory
from graphs.policy import Reason
from graphs.specs import GraphSpec, People, Rule, Stage
from tests.graphs.conftest import House, person, until, voter

APPROVE = {"decision": "approve", "note": None}
REJECT = {"decision": "reject", "note": "too much"}


async def test_the_vote_that_reaches_the_quorum_decides_and_puts_the_answer_into_the_mailbox(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await here.asked()
    got = await here.vote(review.id, APPROVE, revision=1, verb="approve")
    assert got == votes.Decided("approved", "approve", APPROVE, review.thread_id)
    now = await reviews.get(here.database, review.id)
    assert (now.status, now.outcome, now.items[0].decided_by) == ("decided", "approved", "U0ALICE")
    rows = await mailbox.waiting(here.database, review.thread_id)
    assert [row.kind for row in rows] == ["start", "answer"]
    assert rows[1].interrupt_id == review.interrupt_id
    assert [("card", str(review.id)), ("progress", review.thread_id)] == here.wished[-2:]
    said = [entry.what for entry in await audit.of_review(here.database, review.id)]
    assert said == ["vote.counted", "review.decided"]


async def test_a_quorum_is_that_many_people_for_the_very_same_answer(
    house: Callable[..., House],
) -> None:
    here = house()
    rule = Rule(approvers=People(users=("U0ALICE", "U0DANA", "U0ERIN")), quorum=2)
    review = await here.asked(rule=rule)
    assert await here.vote(review.id, APPROVE) == votes.Counted(1, 2, "approve")
    again = await here.vote(review.id, APPROVE)
    assert isinstance(again, votes.AlreadyVoted)
    other = {"decision": "approve", "amount": 1}
    assert await here.vote(review.id, other, by="U0DANA") == votes.Counted(1, 2, "approve")
    # The order of keys makes no other answer.
    reordered = {"note": None, "decision": "approve"}
    got = await here.vote(review.id, reordered, by="U0ERIN")
    assert isinstance(got, votes.Decided)


async def test_conditions_of_several_reach_the_node_and_one_rejection_is_enough(
    house: Callable[..., House],
) -> None:
    here = house()
    rule = Rule(approvers=People(users=("U0ALICE", "U0DANA")), quorum=2)
    review = await here.asked(rule=rule)
    with_note = {"decision": "approve", "note": "insured"}
    await here.vote(review.id, with_note, verb="approve_with_conditions", note="insured")
    got = await here.vote(review.id, APPROVE, by="U0DANA")
    assert isinstance(got, votes.Decided)
    assert (got.verb, got.answer) == ("approve_with_conditions", with_note)
    decided = await here.database.fetch(reviews.SQL.decided, review.thread_id)
    assert [one["id"] for one in decided[0]["voters"]] == ["U0ALICE", "U0DANA"]
    other = await here.asked(rule=rule)
    got = await here.vote(other.id, REJECT, note="too much")
    assert isinstance(got, votes.Decided)
    assert got.outcome == "rejected"


async def test_of_two_who_click_at_once_one_decides_and_the_other_learns_who(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await here.asked()
    got = await asyncio.gather(
        here.vote(review.id, APPROVE, by="U0ALICE"), here.vote(review.id, REJECT, by="U0DANA")
    )
    (first,) = [each for each in got if isinstance(each, votes.Decided)]
    (late,) = [each for each in got if isinstance(each, votes.AlreadyDecided)]
    assert late.outcome == first.outcome
    assert {late.by, late.by_name} in ({"U0ALICE", "Alice"}, {"U0DANA", "Dana"})
    answers = await mailbox.waiting(here.database, review.thread_id)
    assert [row.kind for row in answers] == ["start", "answer"]


async def test_two_of_two_at_once_are_both_counted(house: Callable[..., House]) -> None:
    here = house()
    for turn in range(8):
        rule = Rule(approvers=People(users=("U0ALICE", "U0DANA")), quorum=2)
        review = await here.asked(rule=rule, interrupt_id=f"{turn:032x}")
        got = await asyncio.gather(
            here.vote(review.id, APPROVE, by="U0ALICE"), here.vote(review.id, APPROVE, by="U0DANA")
        )
        assert {type(each) for each in got} == {votes.Counted, votes.Decided}


@pytest.mark.parametrize(
    ("rule", "by", "facts", "reason"),
    [
        (Rule(approvers=People(users=("U0ALICE",))), "U0CHARLIE", {}, Reason.NOT_ALLOWED),
        (Rule(approvers=People(users=("U0BOB",))), "U0BOB", {}, Reason.REQUESTER),
        (None, "U0ALICE", {}, Reason.NOBODY_MAY),
        (Rule(), "U0ALICE", {}, Reason.NOBODY_MAY),
        (Rule(approvers=People(users=("U0GUEST",))), "U0GUEST", {"is_guest": True}, Reason.GUEST),
        (
            Rule(approvers=People(users=("U0STRANGER",)), guests_may_decide=True),
            "U0STRANGER",
            {"is_stranger": True},
            Reason.OTHER_ORGANISATION,
        ),
        (
            Rule(approvers=People(users=("U0GONE",))),
            "U0GONE",
            {"deleted": True},
            Reason.DEACTIVATED,
        ),
        (Rule(approvers=People(users=("U0ALICE",))), "U0ALICE", {"is_bot": True}, Reason.BOT),
        (
            Rule(approvers=People(users=("U0ALICE",))),
            "U0ALICE",
            {"known": False},
            Reason.CANNOT_CHECK,
        ),
        (
            Rule(approvers=People(groups=("S0CREDIT",))),
            "U0ALICE",
            {"groups": None},
            Reason.CANNOT_CHECK,
        ),
    ],
)
async def test_who_may_not_decide_is_refused_with_the_reason_and_it_stands_in_the_record(
    house: Callable[..., House],
    rule: Rule | None,
    by: str,
    facts: dict[str, Any],
    reason: Reason,
) -> None:
    here = house()
    review = await here.asked(rule=rule)
    async with here.database.transaction() as connection:
        got = await votes.vote(
            connection, review_id=review.id, answer=APPROVE, voter=voter(by, **facts)
        )
    assert isinstance(got, votes.Refused)
    assert got.reason is reason
    (entry,) = await audit.of_review(here.database, review.id)
    assert (entry.what, entry.actor, entry.detail["reason"]) == ("vote.refused", by, reason)
    assert (await reviews.get(here.database, review.id)).votes == ()


async def test_a_member_of_the_group_decides_and_the_requester_where_the_rule_lets_him(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await here.asked(rule=Rule(approvers=People(groups=("S0CREDIT",))))
    async with here.database.transaction() as connection:
        alice = voter("U0ALICE", groups=frozenset({"S0CREDIT"}))
        got = await votes.vote(connection, review_id=review.id, answer=APPROVE, voter=alice)
    assert isinstance(got, votes.Decided)
    own = Rule(approvers=People(users=("U0BOB",)), requester_may_decide=True)
    mine = await here.asked(rule=own, interrupt_id="b" * 32)
    assert isinstance(await here.vote(mine.id, APPROVE, by="U0BOB"), votes.Decided)


async def test_a_click_on_an_older_card_decides_nothing(house: Callable[..., House]) -> None:
    here = house()
    rule = Rule(approvers=People(users=("U0ALICE", "U0DANA")), quorum=2)
    review = await here.asked(rule=rule)
    await here.vote(review.id, APPROVE, revision=1)
    changed = await here.asked(rule=rule, question="Go on with more?", thread_id=review.thread_id)
    assert (changed.id, changed.revision) == (review.id, 2)
    assert changed.votes[0].lapsed_at is not None
    assert await here.vote(review.id, APPROVE, by="U0DANA", revision=1) == votes.Superseded(2)
    # Alice's first vote lapsed with what it was for: she may vote anew.
    assert await here.vote(review.id, APPROVE, revision=2) == votes.Counted(1, 2, "approve")


async def test_every_answer_counts_also_the_empty_ones_and_reaches_the_node_exactly(
    house: Callable[..., House],
) -> None:
    here = house()
    for number, answer in enumerate([None, False, 0, "", {}, [], 2**70, {"b": 1, "a": 1.0}]):
        review = await here.asked(interrupt_id=f"{number:032x}", question=number)
        got = await here.vote(review.id, answer)
        assert isinstance(got, votes.Decided)
        stored = (await reviews.get(here.database, review.id)).items[0].answer
        assert stored == answer
        assert type(stored) is type(answer)


async def test_an_answer_that_does_not_fit_is_told_and_not_stored(
    house: Callable[..., House],
) -> None:
    here = house()
    schema = {
        "type": "object",
        "required": ["decision"],
        "properties": {"decision": {"enum": ["approve", "reject"]}},
    }
    review = await here.asked(schema=schema)
    got = await here.vote(review.id, {"decision": "maybe"})
    assert isinstance(got, votes.BadAnswer)
    assert "approve" in got.message
    assert isinstance(await here.vote(review.id, float("nan")), votes.BadAnswer)
    assert isinstance(await here.vote(review.id, object()), votes.BadAnswer)
    assert isinstance(await here.vote(review.id, {"decision": "approve"}), votes.Decided)


async def test_nul_and_lone_surrogates_in_an_answer_and_a_note_do_no_harm(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await here.asked()
    got = await here.vote(
        review.id, {"text": "a\x00b\ud800c"}, note="n\x00\udfff", verb="an\x00swer"
    )
    assert isinstance(got, votes.Decided)
    assert got.answer == {"text": "abc"}
    assert (await reviews.get(here.database, review.id)).items[0].note == "n"


async def test_a_question_to_the_requester_is_answered_by_the_requester_alone(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await here.asked(rule=None, audience="requester")
    refused = await here.vote(review.id, {"text": "x", "documents": []}, by="U0ALICE")
    assert isinstance(refused, votes.Refused)
    got = await here.vote(review.id, {"text": "x", "documents": []}, by="U0BOB")
    assert isinstance(got, votes.Decided)
    assert got.outcome == "answered"


async def test_withdrawn_cancelled_held_and_unknown_reviews_each_say_so(
    house: Callable[..., House],
) -> None:
    here = house()
    assert await here.vote(4711, APPROVE) == votes.Unknown(4711)
    review = await here.asked()
    assert await here.vote(review.id, APPROVE, item=3) == votes.Unknown(review.id)
    await here.database.execute(
        "update sayso.threads set mark = 'held', mark_reason = 'x' where id = $1", review.thread_id
    )
    assert await here.vote(review.id, APPROVE) == votes.Held("held")
    async with here.database.transaction() as connection:
        await interventions.cancel(
            connection, review.thread_id, by="U0OSCAR", reason="no longer needed"
        )
    assert await here.vote(review.id, APPROVE) == votes.Withdrawn("no longer needed")


async def test_a_decision_does_not_wait_for_a_worker_frozen_in_its_settle(
    house: Callable[..., House], database: Database
) -> None:
    here = house()
    review = await here.asked()
    started = asyncio.get_running_loop().time()
    async with database.transaction() as frozen:
        assert await leases.lock(frozen, review.thread_id)
        got = await here.vote(review.id, APPROVE)
        assert isinstance(got, votes.Decided)
        async with database.transaction() as connection:
            assert await mailbox.wake_unwoken(connection) == 0  # a claim does not wait either
    assert asyncio.get_running_loop().time() - started < 2
    seq = await database.fetchval(
        "select seq from sayso.leases where thread_id = $1", review.thread_id
    )
    async with database.transaction() as connection:
        assert await mailbox.wake_unwoken(connection) == 1
        assert await mailbox.wake_unwoken(connection) == 0
    woken = await database.fetchval(
        "select seq from sayso.leases where thread_id = $1", review.thread_id
    )
    assert woken == seq + 1


async def test_the_verb_is_never_guessed_from_words(house: Callable[..., House]) -> None:
    here = house()
    review = await here.asked()
    got = await here.vote(review.id, "I approve of nothing, reject")
    assert isinstance(got, votes.Decided)
    assert (got.verb, got.outcome) == ("answer", "answered")


async def test_a_vote_can_be_given_its_time(house: Callable[..., House]) -> None:
    here = house()
    review = await here.asked()
    moment = datetime(2026, 11, 2, 10, 4, tzinfo=UTC)
    await here.vote(review.id, APPROVE, now=moment)
    late = await here.vote(review.id, REJECT, by="U0DANA")
    assert isinstance(late, votes.AlreadyDecided)
    assert late.at == moment


async def test_the_record_can_only_grow(house: Callable[..., House], database: Database) -> None:
    here = house()
    review = await here.asked()
    await here.vote(review.id, APPROVE)
    for statement in (
        "update sayso.audit set actor = 'x'",
        "delete from sayso.audit",
        "update sayso.audit_details set detail = '{}'",
        "delete from sayso.audit_details",
    ):
        with pytest.raises(Exception, match=r"append-only|refused"):
            await database.execute(statement)
    assert await until(lambda: audit.recent(database))


async def test_stages_are_asked_one_after_another_and_each_person_once(
    house: Callable[..., House],
) -> None:
    here = house()
    rule = Rule(
        stages=(
            Stage(approvers=People(users=("U0ERIN",), manager=True)),
            Stage(approvers=People(roles=("risk",)), quorum=2),
        )
    )
    risk = People(users=("U0ALICE", "U0DANA", "U0ERIN"))
    directory = Directory({"risk": risk}, {"U0BOB": "U0CHARLIE"})
    review = await here.asked(rule=rule)

    async def vote(by: str, answer: dict[str, Any] = APPROVE) -> votes.VoteResult:
        async with here.database.transaction() as connection:
            return await votes.vote(
                connection, review_id=review.id, answer=answer, wish=here.wish,
                voter=replace(voter(by), directory=directory),
            )  # fmt: skip

    async def asks() -> list[str]:
        return list(await here.database.fetchval("select asks from sayso.items"))

    assert await asks() == ["user:U0ERIN", "manager:U0BOB"]
    early = await vote("U0ALICE")
    assert isinstance(early, votes.Refused)
    assert early.reason is Reason.NOT_YET
    stranger = await vote("U0OSCAR")  # of no stage
    assert isinstance(stranger, votes.Refused)
    assert stranger.reason is Reason.NOT_ALLOWED
    assert await vote("U0ERIN") == votes.Counted(1, 1, "approve", passed=True)
    assert await asks() == ["role:risk"]
    now = await reviews.get(here.database, review.id)
    assert (now.items[0].stage, now.items[0].rule.quorum) == (1, 2)  # type: ignore[union-attr]
    assert isinstance(await vote("U0ERIN"), votes.AlreadyVoted)  # in the stage before
    late = await vote("U0CHARLIE")  # the manager, whose stage is over
    assert isinstance(late, votes.Refused)
    assert late.reason is Reason.THEIR_PART_IS_DONE
    other = await vote("U0ALICE", {"decision": "approve", "amount": 1})
    assert isinstance(other, votes.BadAnswer)
    assert await vote("U0ALICE") == votes.Counted(1, 2, "approve")
    assert isinstance(await vote("U0DANA"), votes.Decided)


async def test_who_covers_for_somebody_counts_for_them_and_each_seat_counts_once(
    house: Callable[..., House],
) -> None:
    here = house()
    rule = Rule(approvers=People(users=("U0ALICE", "U0DANA")), quorum=2)
    review = await here.asked(rule=rule)

    async def vote(by: str, *covers: str) -> votes.VoteResult:
        async with here.database.transaction() as connection:
            for one in covers:
                until = datetime.now(UTC) + timedelta(days=1)
                await absences.set_(
                    connection, person=person(one), cover=person(by), until=until
                )  # fmt: skip
            return await votes.vote(
                connection, review_id=review.id, answer=APPROVE, wish=here.wish,
                voter=replace(voter(by), covers=tuple(person(one) for one in covers)),
            )  # fmt: skip

    assert isinstance(await vote("U0CHARLIE", "U0ERIN"), votes.Refused)
    assert isinstance(await vote("U0BOB", "U0ALICE"), votes.Refused)  # his own request
    assert await vote("U0CHARLIE", "U0ALICE") == votes.Counted(1, 2, "approve")
    back = await vote("U0ALICE")
    assert isinstance(back, votes.AlreadyVoted)
    assert (back.by, back.by_name) == ("U0CHARLIE", "Charlie")
    assert isinstance(await vote("U0CHARLIE", "U0DANA"), votes.AlreadyVoted)  # one person, once
    assert isinstance(await vote("U0DANA"), votes.Decided)
    standing = (await reviews.get(here.database, review.id)).items[0].standing_votes()
    assert [(one.voter, one.seat) for one in standing] == [
        ("U0CHARLIE", "U0ALICE"),
        ("U0DANA", "U0DANA"),
    ]


async def test_where_nobody_is_left_to_decide_it_is_rejected_in_nobodys_name(
    house: Callable[..., House],
) -> None:
    here = house()
    once = Stage(approvers=People(users=("U0ALICE",)))
    buttons = [{"verb": "reject", "label": "Reject", "answer": {"decision": "reject"}}]
    spec = GraphSpec.model_validate(
        {"path": "a:b", "questions": [{"node": "ask", "title": "Pay?", "buttons": buttons}]}
    )

    async def vote(review: reviews.Review, spec: GraphSpec | None) -> votes.VoteResult:
        async with here.database.transaction() as connection:
            return await votes.vote(
                connection, review_id=review.id, answer=APPROVE, wish=here.wish, spec=spec,
                voter=voter("U0ALICE"),
            )  # fmt: skip

    review = await here.asked(rule=Rule(stages=(once, once)))
    assert isinstance(await vote(review, None), votes.Counted)
    assert ("notice", f"unreachable:{review.id}") in here.wished
    review = await here.asked(rule=Rule(stages=(once, once)))
    got = await vote(review, spec)
    assert isinstance(got, votes.Decided)
    assert (got.outcome, got.answer) == ("rejected", {"decision": "reject"})
    item = (await reviews.get(here.database, review.id)).items[0]
    assert (item.decided_by, item.note) == (None, votes.OUT_OF_REACH)
    last = (await audit.of_review(here.database, review.id))[-1]
    assert (last.actor, last.detail["out_of_reach"]) == (audit.SYSTEM, True)
