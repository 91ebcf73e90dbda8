"""Open questions under the rules of a file that changed: moved once, by an operator, or left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphs import applying, audit, deadlines, reviews, votes
from graphs.applying import Left, Moved, Unchanged
from graphs.policy import Policy, fingerprint
from graphs.specs import Deadline, Escalation, People, Rule
from tests.graphs.conftest import House, until, voter
from tests.graphs.test_items import APPROVE as APPROVED
from tests.graphs.test_items import MONEY, WORDS, edit
from tests.graphs.test_items import asked as asked_about_actions

APPROVE = {"decision": "approve"}
DESK = People(users=("U0ALICE",))
BOTH = Rule(approvers=People(users=("U0ALICE", "U0DANA")), quorum=2)
HEAD = Rule(graph="loan", approvers=People(users=("U0ERIN",), groups=("S0HEADS",)))
HOUR = timedelta(hours=1)


async def apply(here: House, review: reviews.Review, *rules: Rule, **given: Any) -> applying.Result:
    async with here.database.transaction() as connection:
        return await applying.apply(
            connection, review.id, policy=Policy(rules), by="U0OSCAR", os_user="oscar",
            wish=here.wish, **given,
        )  # fmt: skip


async def entries(here: House, review: reviews.Review, what: str) -> list[audit.Entry]:
    return [one for one in await audit.of_review(here.database, review.id) if one.what == what]


async def test_a_question_gets_the_rule_of_the_file_and_begins_anew_under_it(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await here.asked(rule=BOTH)
    assert isinstance(await here.vote(review.id, APPROVE, revision=1), votes.Counted)
    here.wished.clear()
    done = await apply(here, review, HEAD)
    assert isinstance(done, Moved)
    (change,) = done.changes
    assert (change.before, change.after, change.place) == (BOTH, HEAD, 1)
    now = await reviews.get(here.database, review.id)
    (item,) = now.items
    assert (now.revision, item.opened_under, item.standing_votes()) == (2, HEAD, ())
    assert here.wished == [
        ("lapsed", f"{review.id}.0.2.U0ALICE"),
        ("moved", str(review.id)),
        ("progress", review.thread_id),
    ]
    (said,) = await entries(here, review, "review.moved")
    assert (said.actor, said.detail["os_user"], said.detail["lapsed"]) == (
        "U0OSCAR",
        "oscar",
        ["U0ALICE"],
    )
    assert said.detail["before"]["hash"] == fingerprint(BOTH)
    assert said.detail["after"]["rule"]["approvers"]["users"] == ["U0ERIN"]
    asks = await here.database.fetchval(
        "select asks from sayso.items where review_id = $1", review.id
    )
    assert asks == ["user:U0ERIN", "group:S0HEADS"]
    # A click on the card as it was decides nothing; who may decide now does, and Alice may not.
    assert isinstance(await here.vote(review.id, APPROVE, revision=1), votes.Superseded)
    assert isinstance(await here.vote(review.id, APPROVE, revision=2), votes.Refused)
    here.wished.clear()
    assert await apply(here, review, HEAD) == Unchanged(review.id)
    assert ((await reviews.get(here.database, review.id)).revision, here.wished) == (2, [])
    decided = await here.vote(review.id, APPROVE, by="U0ERIN", revision=2)
    assert isinstance(decided, votes.Decided)
    assert await apply(here, review, BOTH) == Unchanged(review.id)


async def test_of_several_actions_only_those_with_another_rule_begin_anew(
    house: Callable[..., House],
) -> None:
    here = house()
    mail = {"name": "mail", "args": {"text": "Bye"}}
    review = await asked_about_actions(
        here, calls=({"name": "pay", "args": {"sum": 1}}, mail, mail)
    )
    await here.vote(review.id, APPROVED, by="U0ALICE", item=0)
    await here.vote(review.id, APPROVED, by="U0ALICE", item=1)
    done = await apply(here, review, MONEY, HEAD.model_copy(update={"tool": "mail"}), WORDS)
    assert isinstance(done, Moved)
    assert [(one.item, one.tool, one.lapsed) for one in done.changes] == [(2, "mail", ())]
    now = await reviews.get(here.database, review.id)
    assert now.revision == 2
    assert [len(item.standing_votes()) for item in now.items] == [1, 1, 0]
    assert now.items[1].opened_under == WORDS  # it was decided


async def test_an_action_comes_under_the_rule_for_what_an_edit_made_of_it(
    house: Callable[..., House],
) -> None:
    here = house()
    large = HEAD.model_copy(update={"when": "question.sum > 50"})
    desk = MONEY.model_copy(update={"quorum": 2})
    pay = {"name": "pay", "args": {"sum": 5, "to": "Asha"}}
    review = await asked_about_actions(here, desk, calls=(pay,))
    edited = await here.vote(review.id, edit(sum=4000))
    assert isinstance(edited, votes.Edited)
    done = await apply(here, review, large, desk)
    assert isinstance(done, Moved)
    assert [(one.after, one.lapsed) for one in done.changes] == [(large, ("U0ALICE",))]
    now = await reviews.get(here.database, review.id)
    assert (now.revision, now.items[0].arguments["sum"]) == (3, 4000)
    assert await apply(here, review, large, desk) == Unchanged(review.id)


async def test_who_may_decide_on_little_cannot_make_it_much_and_decide_on_that_too(
    house: Callable[..., House],
) -> None:
    here = house()
    large = HEAD.model_copy(update={"when": "question.sum > 50"})
    never = Rule(tool="pay", when="question.sum < 0 || question.to == 'Asha'", approvers=DESK)
    alice = replace(voter("U0ALICE"), policy=Policy((large, never)))
    pay = {"name": "pay", "args": {"sum": 5, "to": "Asha"}}
    opened = Rule(tool="pay", approvers=DESK)  # the file changed since
    review = await asked_about_actions(here, opened, calls=(pay,))

    async def change(revision: int, who: votes.Voter = alice, **to: Any) -> votes.VoteResult:
        async with here.database.transaction() as connection:
            return await votes.vote(
                connection, review_id=review.id, answer=edit(**to), voter=who, revision=revision,
                wish=here.wish,
            )  # fmt: skip

    # What no rule is for is not taken.
    assert await change(1, sum=6, to="nobody") == votes.BadAnswer(votes.NOBODY_DECIDES)
    here.wished.clear()
    assert await change(1, sum=4000) == votes.Edited(2, 0, 0, 1)
    now = await reviews.get(here.database, review.id)
    assert (now.status, now.items[0].opened_under, now.votes) == ("open", large, ())
    assert ("moved", str(review.id)) in here.wished
    (said,) = await entries(here, review, "review.led")
    assert (said.actor, said.detail["place"]) == ("U0ALICE", 1)
    assert isinstance(await here.vote(review.id, APPROVED), votes.Refused)
    erin = replace(voter("U0ERIN"), policy=alice.policy)
    assert isinstance(await change(2, erin, sum=3000), votes.Decided)  # the same rule: hers counts


async def test_an_edit_leads_nowhere_where_its_rule_is_for_what_it_makes_of_it(
    house: Callable[..., House],
) -> None:
    here = house()
    opened = Rule(tool="pay", approvers=DESK)
    rules = (Rule(when="question.sum <= 5", approvers=HEAD.approvers), opened)
    pay = {"name": "pay", "args": {"sum": 5, "to": "Asha"}}
    review = await asked_about_actions(here, opened, calls=(pay,))
    async with here.database.transaction() as connection:
        done = await votes.vote(
            connection, review_id=review.id, answer=edit(sum=6),
            voter=replace(voter("U0ALICE"), policy=Policy(rules)),
        )  # fmt: skip
    assert isinstance(done, votes.Decided)
    assert await entries(here, review, "review.led") == []
    assert (await reviews.get(here.database, review.id)).items[0].opened_under == opened


async def test_an_edit_under_a_rule_that_the_file_has_no_more_comes_under_the_present_one(
    house: Callable[..., House],
) -> None:
    here = house()
    opened = Rule(tool="pay", approvers=DESK)  # for what is little; the file said so elsewhere
    pay = {"name": "pay", "args": {"sum": 5, "to": "Asha"}}
    review = await asked_about_actions(here, opened, calls=(pay,))
    alice = replace(voter("U0ALICE"), policy=Policy((HEAD,)))  # the head decides on all by now
    async with here.database.transaction() as connection:
        done = await votes.vote(connection, review_id=review.id, answer=edit(sum=4000), voter=alice)
    assert done == votes.Edited(2, 0, 0, 1)
    assert (await reviews.get(here.database, review.id)).items[0].opened_under == HEAD
    assert isinstance(await here.vote(review.id, APPROVED), votes.Refused)


async def test_what_cannot_be_told_stays_and_what_no_rule_is_for_is_decided_by_nobody(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await here.asked(rule=BOTH)
    untold = HEAD.model_copy(update={"when": "state.amount > 1"})
    left = await apply(here, review, untold, state={"sum": 1})
    assert isinstance(left, Left)
    assert "number 1 could not be told: there is no amount" in left.why
    assert (await reviews.get(here.database, review.id)).items[0].opened_under == BOTH
    assert isinstance(await apply(here, review, untold, state={"amount": 2}), Moved)
    here.wished.clear()
    assert isinstance(await apply(here, review, Rule(graph="refund")), Moved)
    assert ("notice", f"review:{review.id}") in here.wished
    assert (await reviews.get(here.database, review.id)).rule is None
    refused = await here.vote(review.id, APPROVE, by="U0ERIN")
    assert isinstance(refused, votes.Refused)
    # A question to the requester is under no rule, whatever the file says.
    own = await here.asked(audience="requester", interrupt_id="b" * 32)
    assert await apply(here, own, HEAD) == Unchanged(own.id)


async def test_the_clock_of_the_new_rule_begins_when_it_is_applied(
    house: Callable[..., House],
) -> None:
    here = house()
    old = BOTH.model_copy(
        update={
            "remind": (3600.0, 7200.0),
            "escalate": Escalation(after=3600, to=HEAD.approvers),
            "deadline": Deadline(after=10 * 3600),
        }
    )
    review = await here.asked(rule=old)
    async with here.database.transaction() as connection:
        await deadlines.begin(connection, review)

    async def tick(at: datetime) -> int:
        return await deadlines.tick(here.database, {"loan": None}, here.wish, now=at)  # type: ignore[dict-item]

    assert await tick(review.opened_at + HOUR) == 2
    assert (await reviews.get(here.database, review.id)).items[0].escalated_at is not None
    at = review.opened_at + 5 * HOUR
    new = old.model_copy(update={"remind": (3600.0,), "quorum": 1})
    assert isinstance(await apply(here, review, new, now=at), Moved)
    (item,) = (await reviews.get(here.database, review.id)).items
    assert (item.escalated_at, item.rule) == (None, new)
    rows = await here.database.fetch(
        "select kind, turn, due_at, fired_at is null as waits from sayso.timers order by kind, turn"
    )
    assert [(row["kind"], row["turn"], row["due_at"] - at, row["waits"]) for row in rows] == [
        ("deadline", 0, 10 * HOUR, True),
        ("escalate", 0, HOUR, True),
        ("remind", 0, -4 * HOUR, False),
        ("remind", 1, HOUR, True),
    ]
    # The reminder of an hour before the apply counts: one a day is the most.
    here.wished.clear()
    assert await tick(at + HOUR) == 2
    assert [kind for kind, _ in here.wished if kind in ("reminder", "escalation")] == ["escalation"]
    # On hold the clock stands, so that of the new rule begins when the thread goes on.
    since = datetime(2026, 3, 2, tzinfo=UTC)
    await here.database.execute(
        "update sayso.threads set mark = 'held', changed_at = $2 where id = $1",
        review.thread_id, since,
    )  # fmt: skip
    assert isinstance(await apply(here, review, old, now=at), Moved)
    due = await deadlines.of_review(here.database, review.id)
    assert due == {0: since + 10 * HOUR}


WAITING = """select count(distinct pid) from pg_locks
  where not granted
    and pid in (select pid from pg_stat_activity where datname = current_database())"""


@pytest.mark.parametrize("first", ["vote", "apply"])
async def test_of_a_vote_and_an_apply_one_is_first_and_neither_is_half(
    house: Callable[..., House], first: str
) -> None:
    here = house()
    rule = BOTH.model_copy(update={"quorum": 1})
    review = await here.asked(rule=rule)
    verbs: dict[str, Callable[[], Coroutine[Any, Any, Any]]] = {
        "vote": lambda: here.vote(review.id, APPROVE, revision=1),
        "apply": lambda: apply(here, review, HEAD),
    }

    async def wait(count: int) -> None:
        async def there() -> bool:
            return bool(await here.database.fetchval(WAITING) == count)

        await until(there)

    async with here.database.transaction() as connection:
        await connection.execute(reviews.SQL.lock_review, review.id)
        tasks = {first: asyncio.create_task(verbs.pop(first)())}
        await wait(1)
        ((second, verb),) = verbs.items()
        tasks[second] = asyncio.create_task(verb())
        await wait(2)
    got, done = await tasks["vote"], await tasks["apply"]
    now = await reviews.get(here.database, review.id)
    if first == "vote":
        assert isinstance(got, votes.Decided)
        assert (done, now.status, now.revision) == (Unchanged(review.id), "decided", 1)
        assert now.items[0].opened_under == rule
    else:
        assert isinstance(got, votes.Superseded)
        assert isinstance(done, Moved)
        assert (now.status, now.revision, now.votes) == ("open", 2, ())
        assert now.items[0].opened_under == HEAD
