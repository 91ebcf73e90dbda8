"""A question about several actions: each is decided by itself, under its own rule, and edited."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from graphs import audit, deadlines, mailbox, reviews, votes
from graphs.plain import digest
from graphs.policy import Policy, Reason
from graphs.specs import Deadline, People, Rule
from tests.graphs.conftest import House, voter

PAY = {"name": "pay", "args": {"sum": 4000, "to": "Asha"}}
MAIL = {"name": "mail", "args": {"text": "Hello"}}
EVERYTHING = ["approve", "edit", "reject", "respond"]
APPROVE, REJECT = {"type": "approve"}, {"type": "reject", "message": "too much"}
MONEY = Rule(tool="pay", approvers=People(users=("U0ALICE", "U0ERIN")), quorum=2)
WORDS = Rule(approvers=People(users=("U0ALICE", "U0DANA")))


def edit(**arguments: Any) -> dict[str, Any]:
    wanted = {"name": "pay", "args": {**PAY["args"], **arguments}}
    return {"type": "edit", "edited_action": wanted}


async def asked(here: House, *rules: Rule, calls: Sequence[Any] = (PAY, MAIL)) -> reviews.Review:
    """An open review about these calls."""
    question = {
        "action_requests": list(calls),
        "review_configs": [
            {"action_name": call["name"], "allowed_decisions": EVERYTHING} for call in calls
        ],
    }
    thread_id = await here.start("loan")
    policy = Policy(rules or (MONEY, WORDS))
    async with here.database.transaction() as connection:
        opened = await reviews.put(
            connection,
            thread_id=thread_id,
            graph="loan",
            asked=reviews.Asked("a" * 32, "model", "1", question, digest(question)),
            audience="reviewers",
            rule_for=lambda call: policy.rule_for("loan", "model", call.tool if call else None),
        )
        assert opened is not None
        return await reviews.get(connection, opened.review_id)


async def answers(here: House, review: reviews.Review) -> list[Any]:
    rows = await mailbox.waiting(here.database, review.thread_id)
    return [json.loads(row.answer or "") for row in rows if row.kind == "answer"]


async def test_each_action_has_the_first_rule_that_names_its_tool(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await asked(here)
    assert [(item.tool, item.rule) for item in review.items] == [("pay", MONEY), ("mail", WORDS)]
    assert review.rules == (MONEY, WORDS)
    refused = await here.vote(review.id, APPROVE, by="U0DANA", item=0)
    assert isinstance(refused, votes.Refused)
    assert refused.reason is Reason.NOT_ALLOWED
    assert isinstance(await here.vote(review.id, APPROVE, by="U0DANA", item=1), votes.Decided)


async def test_the_answer_goes_out_with_the_last_action_in_the_order_of_the_question(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await asked(here)
    assert isinstance(await here.vote(review.id, REJECT, by="U0DANA", item=1), votes.Decided)
    assert await here.vote(review.id, APPROVE, item=0) == votes.Counted(1, 2, "approve")
    assert (await reviews.get(here.database, review.id)).status == "open"
    assert await answers(here, review) == []
    assert isinstance(await here.vote(review.id, APPROVE, by="U0ERIN", item=0), votes.Decided)
    assert await answers(here, review) == [{"decisions": [APPROVE, REJECT]}]
    now = await reviews.get(here.database, review.id)
    assert (now.status, now.outcome) == ("decided", "mixed")
    assert [item.outcome for item in now.items] == ["approved", "rejected"]
    assert now.items[1].note == "too much"


async def test_an_edit_is_a_new_revision_and_takes_away_the_votes_of_its_action_alone(
    house: Callable[..., House],
) -> None:
    here = house()
    mail = Rule(tool="mail", approvers=People(users=("U0DANA", "U0ALICE")), quorum=2)
    review = await asked(here, MONEY, mail)
    assert isinstance(await here.vote(review.id, APPROVE, item=0), votes.Counted)
    assert isinstance(await here.vote(review.id, APPROVE, by="U0DANA", item=1), votes.Counted)
    got = await here.vote(review.id, edit(sum=3500), by="U0ERIN", item=0, revision=1)
    assert got == votes.Edited(revision=2, item=0, have=1, need=2)
    now = await reviews.get(here.database, review.id)
    pay, other = now.items
    assert (now.revision, pay.arguments["sum"], pay.asked["sum"]) == (2, 3500, 4000)
    assert (pay.edited, pay.edited_by) == (True, "U0ERIN")
    assert [vote.voter for vote in pay.standing_votes()] == ["U0ERIN"]
    assert [vote.voter for vote in other.standing_votes()] == ["U0DANA"]
    assert now.version != review.version
    assert now.hash == review.hash
    assert ("lapsed", f"{review.id}.0.2.U0ALICE") in here.wished
    (said,) = [
        entry
        for entry in await audit.of_review(here.database, review.id)
        if entry.what == "review.edited"
    ]
    assert (said.detail["before"]["sum"], said.detail["after"]["sum"]) == (4000, 3500)
    # Alice saw the old card, and then the new one: her approval is of what stands there now.
    late = await here.vote(review.id, APPROVE, item=0, revision=1)
    assert late == votes.Superseded(2)
    done = await here.vote(review.id, APPROVE, item=0, revision=2)
    assert isinstance(done, votes.Decided)
    assert done.answer == edit(sum=3500)


async def test_an_editor_who_may_not_decide_needs_somebody_else(
    house: Callable[..., House],
) -> None:
    here = house()
    rule = Rule(approvers=People(users=("U0ALICE", "U0DANA")), editor_may_decide=False)
    review = await asked(here, rule, calls=[PAY])
    got = await here.vote(review.id, edit(sum=1), item=0)
    assert got == votes.Edited(revision=2, item=0, have=0, need=1)
    own = await here.vote(review.id, APPROVE, item=0)
    assert isinstance(own, votes.Refused)
    assert own.reason is Reason.EDITOR
    assert isinstance(await here.vote(review.id, APPROVE, by="U0DANA", item=0), votes.Decided)


async def test_an_edit_back_to_what_was_asked_is_an_approval_of_that(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await asked(here, MONEY, calls=[PAY])
    await here.vote(review.id, edit(sum=1), item=0)
    back = await here.vote(review.id, APPROVE, by="U0ERIN", item=0)
    assert isinstance(back, votes.Decided)  # of what Alice made of it, not of 4,000
    assert back.answer == edit(sum=1)
    again = await asked(here, MONEY, calls=[PAY])
    await here.vote(again.id, edit(sum=1), item=0)
    got = await here.vote(again.id, edit(), by="U0ERIN", item=0)
    assert got == votes.Edited(revision=3, item=0, have=1, need=2)
    assert (await reviews.get(here.database, again.id)).version == again.version


@pytest.mark.parametrize("then", ["approve", APPROVE])
async def test_a_deadline_that_approves_approves_what_stands_on_the_card(
    house: Callable[..., House], then: Any
) -> None:
    here = house()
    late = MONEY.model_copy(update={"deadline": Deadline(after=60, then=then)})
    review = await asked(here, late, calls=[PAY])
    assert isinstance(await here.vote(review.id, edit(sum=1), item=0), votes.Edited)
    (item,) = (await reviews.get(here.database, review.id)).items
    done = deadlines.then(await reviews.get(here.database, review.id), item, None)
    assert done.answer == edit(sum=1)


@pytest.mark.parametrize(
    "answer",
    [
        {"type": "edit", "edited_action": {"name": "pay_all", "args": {"sum": 1}}},
        {"type": "edit", "edited_action": {"name": "pay", "args": [1]}},
        {"type": "ignore"},
        {"decisions": [APPROVE, APPROVE]},
        "approve",
    ],
)
async def test_what_does_not_fit_the_action_changes_nothing(
    house: Callable[..., House], answer: Any
) -> None:
    here = house()
    review = await asked(here)
    assert isinstance(await here.vote(review.id, answer, item=0), votes.BadAnswer)
    now = await reviews.get(here.database, review.id)
    assert (now.revision, now.votes, now.items[0].edited) == (1, (), False)
    assert isinstance(await here.vote(review.id, APPROVE, item=7), votes.Unknown)


async def test_of_two_who_edit_at_once_one_is_shown_what_the_other_made_of_it(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await asked(here, MONEY, calls=[PAY])
    got = await asyncio.gather(
        here.vote(review.id, edit(sum=1), item=0, revision=1),
        here.vote(review.id, edit(sum=2), by="U0ERIN", item=0, revision=1),
    )
    assert {type(each) for each in got} == {votes.Edited, votes.Superseded}


async def test_all_that_one_may_decide_is_approved_at_once(house: Callable[..., House]) -> None:
    here = house()
    review = await asked(here)
    async with here.database.transaction() as connection:
        got = await votes.vote_all(
            connection, review_id=review.id, voter=voter("U0ALICE"), revision=1, wish=here.wish
        )
    assert [type(each) for each in got] == [votes.Counted, votes.Decided]
    async with here.database.transaction() as connection:
        got = await votes.vote_all(connection, review_id=review.id, voter=voter("U0ERIN"))
    assert [type(each) for each in got] == [votes.Decided]
    assert await answers(here, review) == [{"decisions": [APPROVE, APPROVE]}]


async def test_a_whole_answer_counts_wholly_or_not_at_all(house: Callable[..., House]) -> None:
    here = house()
    rule = Rule(approvers=People(users=("U0ALICE",)))
    review = await asked(here, rule)

    async def whole(answer: Any) -> list[votes.VoteResult]:
        async with here.database.transaction() as connection:
            return await votes.vote_whole(
                connection, review_id=review.id, answer=answer, voter=voter("U0ALICE")
            )

    (short,) = await whole({"decisions": [APPROVE]})
    assert isinstance(short, votes.BadAnswer)
    (half,) = await whole({"decisions": [APPROVE, {"type": "perhaps"}]})
    assert isinstance(half, votes.BadAnswer)
    now = await reviews.get(here.database, review.id)
    assert (now.votes, [item.status for item in now.items]) == ((), ["open", "open"])
    refused = [
        entry.what
        for entry in await audit.of_review(here.database, review.id)
        if entry.what.startswith("vote.")
    ]
    assert refused == ["vote.refused", "vote.refused"]
    got = await whole({"decisions": [edit(sum=1), REJECT]})
    assert [type(each) for each in got] == [votes.Decided, votes.Decided]
    assert await answers(here, review) == [{"decisions": [edit(sum=1), REJECT]}]


async def test_other_actions_under_the_same_question_are_asked_anew(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await asked(here)
    await here.vote(review.id, REJECT, by="U0DANA", item=1)
    question = {**review.question, "action_requests": [{**PAY, "args": {"sum": 9}}, MAIL]}
    async with here.database.transaction() as connection:
        put = await reviews.put(
            connection,
            thread_id=review.thread_id,
            graph="loan",
            asked=reviews.Asked("a" * 32, "model", "2", question, digest(question)),
            audience="reviewers",
            rule_for=lambda _: WORDS,
        )
    assert put is not None
    assert (put.created, put.replaced) == (True, review.id)
    old = await reviews.get(here.database, review.id)
    assert (old.status, old.closed_because) == ("withdrawn", "the question changed")
    assert [item.status for item in (await reviews.get(here.database, put.review_id)).items] == [
        "open",
        "open",
    ]
