"""What waits for a person: by everything that they are, and nothing that is not theirs to do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from graphs import deadlines, interventions, reviews, waiting
from graphs.specs import Deadline, GraphSpec, People, Rule, Stage
from tests.graphs.conftest import House

APPROVE = {"decision": "approve"}
ALICE = People(users=("U0ALICE",))
BOTH = People(users=("U0ALICE", "U0DANA"))


async def asked(here: House, rule: Rule | None) -> int:
    return (await here.asked(rule=rule)).id


async def mine(here: House, *keys: str, voter: str = "U0ALICE", **given: Any) -> list[int]:
    found = await waiting.of_person(here.database, keys, voter=voter, limit=50, **given)
    assert found.total == len(found.reviews)
    return list(found.reviews)


async def test_a_request_waits_for_whoever_is_asked_until_they_have_said_something(
    house: Callable[..., House],
) -> None:
    here = house()
    by_name = await asked(here, Rule(approvers=ALICE))
    by_group = await asked(here, Rule(approvers=People(groups=("S0CREDIT",)), quorum=2))
    by_role = await asked(here, Rule(approvers=People(roles=("risk",))))
    by_mail = await asked(here, Rule(approvers=People(emails=("alice@example.com",))))
    boss = await asked(here, Rule(approvers=People(manager=True)))
    both = await asked(here, Rule(approvers=BOTH, quorum=2))
    await asked(here, Rule(approvers=People(users=("U0ERIN",))))
    await asked(here, None)
    keys = (
        "user:U0ALICE", "group:S0CREDIT", "role:risk", "email:alice@example.com",
        "manager:U0BOB",
    )  # fmt: skip
    assert await mine(here, *keys) == [by_name, by_group, by_role, by_mail, boss, both]
    assert await mine(here, "user:U0ALICE") == [by_name, both]
    assert await waiting.count(here.database, ["user:U0ALICE"], voter="U0ALICE") == 2
    assert await mine(here) == []
    await here.vote(both, APPROVE)
    assert await mine(here, "user:U0ALICE") == [by_name]
    assert await mine(here, "user:U0DANA", voter="U0DANA") == [both]
    # A vote that counts for somebody else was theirs all the same: they have no other.
    await here.database.execute("update sayso.votes set seat = 'U0ERIN' where review_id = $1", both)
    assert await mine(here, "user:U0ALICE") == [by_name]
    await here.vote(by_name, APPROVE)
    assert await mine(here, "user:U0ALICE") == []


async def test_what_nobody_can_decide_now_waits_for_nobody(house: Callable[..., House]) -> None:
    here = house()
    held, stopped, own, may = [await asked(here, Rule(approvers=BOTH)) for _ in range(4)]
    given = await asked(here, Rule(approvers=People(groups=("S0CREDIT",))))
    keys = ("user:U0ALICE", "group:S0CREDIT")
    assert await mine(here, *keys) == [held, stopped, own, may, given]
    thread = (await reviews.get(here.database, held)).thread_id
    await here.database.execute("update sayso.threads set mark = 'held' where id = $1", thread)
    async with here.database.transaction() as connection:
        thread = (await reviews.get(connection, stopped)).thread_id
        await interventions.cancel(connection, thread, by="U0OSCAR")
        await connection.execute(
            "insert into sayso.handovers (review_id, giver, taker, made_by) "
            "values ($1, 'U0ALICE', 'U0ERIN', 'U0ALICE')",
            given,
        )
    for review_id, may_too in ((own, "false"), (may, "true")):
        await here.database.execute(
            "update sayso.items set rule = rule || "
            "jsonb_build_object('requester_may_decide', $2::text::boolean) where review_id = $1",
            review_id,
            may_too,
        )
        await here.database.execute(
            "update sayso.threads set requester = 'U0ALICE' "
            "where id = (select thread_id from sayso.reviews where id = $1)",
            review_id,
        )
    assert await mine(here, *keys) == [may]


async def test_the_next_stage_and_whoever_is_covered_come_with_it(
    house: Callable[..., House],
) -> None:
    here = house()
    first, then = Stage(approvers=People(users=("U0ERIN",))), Stage(approvers=ALICE)
    staged = await asked(here, Rule(stages=(first, then)))
    hers = await asked(here, Rule(approvers=People(users=("U0DANA",)), quorum=1))
    not_for_her = Rule(approvers=People(users=("U0DANA",)), delegates_may_decide=False)
    await asked(here, not_for_her)
    assert await mine(here, "user:U0ALICE") == []
    await here.vote(staged, APPROVE, by="U0ERIN")
    assert await mine(here, "user:U0ALICE") == [staged]
    covering = {"covered": ["U0DANA"], "covered_keys": ["user:U0DANA"]}
    assert await mine(here, "user:U0ALICE", **covering) == [staged, hers]
    # Nor what the covered one asked for, or handed to somebody else.
    own, given = [await asked(here, Rule(approvers=People(users=("U0DANA",)))) for _ in range(2)]
    await here.database.execute(
        "update sayso.threads set requester = 'U0DANA' "
        "where id = (select thread_id from sayso.reviews where id = $1)",
        own,
    )
    await here.database.execute(
        "insert into sayso.handovers (review_id, giver, taker, made_by) "
        "values ($1, 'U0DANA', 'U0ERIN', 'U0DANA')",
        given,
    )
    assert await mine(here, "user:U0ALICE", **covering) == [staged, hers]
    two = await asked(here, Rule(approvers=People(users=("U0DANA", "U0ERIN")), quorum=2))
    await here.vote(two, APPROVE, by="U0DANA")
    assert await mine(here, "user:U0ALICE", **covering) == [staged, hers]


async def test_what_is_overdue_comes_first_and_few_are_read_of_many(
    house: Callable[..., House],
) -> None:
    here = house()
    late = Rule(approvers=ALICE, deadline=Deadline(after=3600, then="hold"))
    ids = [await asked(here, Rule(approvers=ALICE)) for _ in range(3)]
    review = await here.asked(rule=late)
    async with here.database.transaction() as connection:
        await deadlines.begin(connection, review)
    now = review.opened_at + timedelta(hours=1)
    await deadlines.tick(here.database, {"loan": GraphSpec(path="a:b")}, here.wish, now=now)
    found = await waiting.of_person(here.database, ["user:U0ALICE"], voter="U0ALICE", limit=2)
    assert found == waiting.Waiting((review.id, ids[0]), frozenset([review.id]), 4, 1)


async def test_what_waits_for_others_is_not_read(house: Callable[..., House]) -> None:
    here = house()
    review = await here.asked(rule=Rule(approvers=ALICE))
    async with here.database.transaction() as connection:
        await connection.execute(
            "insert into sayso.items (review_id, item, asks, status, decided_at) "
            "select $1, n, array['user:U1' || n, 'group:S1' || n % 20], "
            "case when n % 2 = 0 then 'open' else 'decided' end, "
            "case when n % 2 = 0 then null else now() end from generate_series(1, 6000) as n",
            review.id,
        )
        await connection.execute("analyze sayso.items")
        plan = await connection.fetch(
            f"explain {waiting.SQL.of_person}", ["user:U0ALICE"], [], "U0ALICE", [], 10, 100
        )
        # What the index puts off, every look reads, and soon all that is open is read instead.
        set_to = await connection.fetchval(
            "select reloptions from pg_class where oid = 'sayso.items_asking'::regclass"
        )
    assert set_to == ["fastupdate=off"]
    told = "\n".join(row[0] for row in plan)
    assert "Bitmap Index Scan on items_asking" in told
    assert "Seq Scan on items" not in told
    assert await mine(here, "user:U0ALICE") == [review.id]
