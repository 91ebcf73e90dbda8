"""What a monitor reads: how much waits and for how long, on a database in a known state."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot import posts
from bot.gauges import Gauges
from bot.present import Present
from bot.settings import load
from checkpoints import leases
from checkpoints.database import Connection, Database
from graphs import audit, mailbox, sealing, threads

ROOT = Path(__file__).parent.parent.parent
HOUR = 3600


@pytest.fixture
def present(database_url: str) -> Present:
    return Present(
        load(
            {"SAYSO_DATABASE_URL": database_url, "SAYSO_CONFIG": str(ROOT / "sayso.toml")},
        )
    )


async def read(database: Database, present: Present) -> dict[str, float]:
    """The figures without a label, counted now."""
    text = (await Gauges(database, present).text()).decode()
    return {name: float(value) for name, value in re.findall(r"^(sayso_\w+) (\S+)$", text, re.M)}


def hours(seconds: float) -> int:
    return int(seconds // HOUR)


async def started(connection: Connection, graph: str = "loan") -> str:
    found = await threads.start(
        connection, team="T0SAYSO", graph=graph, requester="U0BOB", input={}
    )
    return found.thread_id


async def test_an_idle_service_reports_that_nothing_waits(
    database: Database, present: Present
) -> None:
    found = await read(database, present)
    assert found.pop("sayso_counted") == 1
    assert len(found) > 15
    assert set(found.values()) == {0}


async def test_threads_that_nobody_takes_and_workers_that_were_lost_are_counted_with_their_age(
    database: Database, present: Present
) -> None:
    async with database.transaction() as connection:
        for _ in range(4):
            await started(connection)
        claimed = await leases.claim(
            connection, owner="w1", scopes=["T0SAYSO/loan"], limit=3, lease_seconds=600
        )
        runs, lost, again = (lease.thread_id for lease in claimed)
    await database.execute(
        "update sayso.leases set lease_until = now() - interval '1 minute' where thread_id = $1",
        lost,
    )
    await database.execute("update sayso.leases set crashes = 2 where thread_id = $1", again)
    await database.execute(
        "update sayso.leases set ready_at = now() - interval '2 hours' where owner is null"
    )
    await database.execute(
        """update sayso.mailbox
        set created_at = now() - interval '3 hours', due_at = now() - interval '3 hours'
        where thread_id <> all($1)""",
        [runs, lost, again],
    )
    found = await read(database, present)
    assert (found["sayso_threads_ready"], hours(found["sayso_threads_ready_oldest_seconds"])) == (
        1, 2,
    )  # fmt: skip
    assert (found["sayso_leases_held"], found["sayso_leases_run_out"]) == (2, 1)
    assert (found["sayso_leases_taken_over"], found["sayso_crashes"]) == (1, 2)
    assert (found["sayso_mailbox_waiting"], hours(found["sayso_mailbox_oldest_seconds"])) == (1, 3)


async def test_a_retry_that_waits_for_its_time_is_no_backlog(
    database: Database, present: Present
) -> None:
    async with database.transaction() as connection:
        thread_id = await started(connection)
        await mailbox.consume_all(connection, thread_id)
        await mailbox.put(connection, thread_id, "retry", due_in_seconds=600)
        await connection.execute("update sayso.leases set ready_at = now() + interval '600 s'")
    found = await read(database, present)
    assert (found["sayso_threads_ready"], found["sayso_mailbox_waiting"]) == (0, 0)
    assert found["sayso_threads_ready_oldest_seconds"] == 0
    assert found["sayso_mailbox_oldest_seconds"] == 0


async def test_messages_that_wait_are_told_from_those_that_slack_refused(
    database: Database, present: Present
) -> None:
    async with database.transaction() as connection:
        for subject in ("waits", "failed", "parked", "shown"):
            await posts.want(connection, posts.NOTICE, subject, "C0OPS")
    for subject, change in (
        ("waits", "due_at = now() - interval '2 hours'"),
        # Its first send failed and comes again in a while: it waits since it was wanted.
        ("failed", "created_at = now() - interval '4 hours', attempts = 3,"
                   " due_at = now() + interval '1 minute'"),
        ("parked", "parked_at = now(), due_at = now() - interval '9 hours'"),
        ("shown", "shown = wanted, due_at = now() - interval '9 hours'"),
    ):  # fmt: skip
        await database.execute(
            f"update sayso.posts set {change} where subject = $1",
            subject,
        )
    found = await read(database, present)
    assert (found["sayso_posts_waiting"], found["sayso_posts_parked"]) == (3, 1)
    assert hours(found["sayso_posts_oldest_seconds"]) == 4
    await database.execute("update sayso.posts set shown = wanted where subject = 'failed'")
    assert hours((await read(database, present))["sayso_posts_oldest_seconds"]) == 2


async def test_a_sealer_and_a_clock_that_stand_still_are_seen(
    database: Database, present: Present
) -> None:
    async with database.transaction() as connection:
        await audit.record(connection, "look.taken", actor="cli:oscar")
        for graph in ("loan", "gone"):
            thread_id = await started(connection, graph)
            await connection.execute(
                """with asked as (
                  insert into sayso.reviews
                    (thread_id, graph, node, interrupt_id, checkpoint_id, audience, hash)
                  values ($1, $2, 'human_review', 'i', 'c', 'reviewers', 'h')
                  returning id
                ),
                item as (insert into sayso.items (review_id) select id from asked)
                insert into sayso.timers (review_id, item, kind, due_at)
                select id, 0, 'deadline', now() - interval '5 hours' from asked""",
                thread_id, graph,
            )  # fmt: skip
    found = await read(database, present)
    assert found["sayso_audit_unsealed"] == 3
    assert 0 < found["sayso_audit_unsealed_oldest_seconds"] < HOUR
    # Nobody serves the other graph any more.
    assert (found["sayso_timers_overdue"], hours(found["sayso_timers_overdue_oldest_seconds"])) == (
        1, 5,
    )  # fmt: skip
    await sealing.seal_all(database)
    await database.execute("update sayso.threads set mark = 'held'")
    found = await read(database, present)
    assert (found["sayso_audit_unsealed"], found["sayso_audit_unsealed_oldest_seconds"]) == (0, 0)
    assert (found["sayso_timers_overdue"], found["sayso_timers_overdue_oldest_seconds"]) == (0, 0)


async def test_while_the_database_is_away_no_old_figure_is_passed_off_as_one_of_now(
    database_url: str, present: Present, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.gauges.FRESH_SECONDS", 0.0)
    async with Database.open(database_url) as leaving:
        gauges = Gauges(leaving, present)
        assert b'sayso_threads{status="held"} 0.0' in await gauges.text()
    text = await gauges.text()
    assert b"sayso_counted 0.0" in text
    assert b"sayso_mailbox_waiting NaN" in text
    assert b"sayso_threads{" not in text
    assert b"sayso_configuration_broken 0.0" in text


async def test_whoever_asks_often_costs_the_database_one_count_in_a_few_seconds(
    database: Database, present: Present
) -> None:
    gauges = Gauges(database, present)
    before = await gauges.text()
    async with database.transaction() as connection:
        await posts.want(connection, posts.NOTICE, "one", "C0OPS")
    assert await gauges.text() == before
    assert b"sayso_posts_waiting 1.0" in await Gauges(database, present).text()
