"""Threads and their mailbox, without a worker: start, say, cancel, retry, and the status."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from checkpoints import leases
from checkpoints.database import Database
from graphs import audit, interventions, mailbox, reviews, threads
from graphs.errors import UnknownThread
from graphs.threads import FileRef, Message, Status
from memory import customers
from memory.errors import AmbiguousCustomer
from tests.graphs.conftest import TEAM, House, until


async def test_the_same_key_starts_one_thread_also_when_both_come_at_once(
    house: Callable[..., House],
) -> None:
    here = house()
    ids = await asyncio.gather(*(here.start("loan", key="C1:1700.1") for _ in range(5)))
    assert len(set(ids)) == 1
    rows = await mailbox.waiting(here.database, ids[0])
    assert [row.kind for row in rows] == ["start"]
    assert (await threads.get(here.database, ids[0])).status is Status.QUEUED


async def test_a_start_needs_a_message_or_an_input(house: Callable[..., House]) -> None:
    here = house()
    async with here.database.transaction() as connection:
        with pytest.raises(ValueError, match="a message or with an input"):
            await threads.start(connection, team=TEAM, graph="g", requester="U")


async def test_a_customer_is_found_or_created_and_two_of_one_name_start_nothing(
    house: Callable[..., House], database: Database
) -> None:
    here = house()
    first = await threads.get(database, await here.start("loan", customer="Asha Traders"))
    second = await threads.get(database, await here.start("loan", customer="asha traders"))
    assert first.customer_id == second.customer_id
    assert first.customer_name == "Asha Traders"
    async with database.transaction() as connection:
        await customers.create(connection, "Asha Traders")
    with pytest.raises(AmbiguousCustomer):
        await here.start("loan", customer="Asha Traders", key="k")
    assert len(await threads.list_(database)) == 2


async def test_text_of_people_is_cleaned_and_kept(house: Callable[..., House]) -> None:
    here = house()
    message = Message("a\x00b\ud800", "U0BOB", (FileRef("F1", "x\x00.pdf", 3, "http://x/y"),))
    thread_id = await here.start("loan", message=message, configurable={"a\x00": "b\x00"})
    (kept,) = await threads.messages(here.database, thread_id)
    assert kept.text == "ab"
    assert kept.files[0].name == "x.pdf"
    assert (await threads.get(here.database, thread_id)).configurable == {"a": "b"}


async def test_the_requesters_next_message_answers_the_oldest_question_open_for_him(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await here.asked(rule=None, audience="requester")
    later = await here.asked(
        rule=None, audience="requester", interrupt_id="b" * 32, thread_id=review.thread_id
    )
    by_alice = await here.say(review.thread_id, "I know", by="U0ALICE", key="m1")
    assert by_alice.kind == "kept"
    said = await here.say(review.thread_id, "60000", key="m2")
    assert (said.kind, said.review_id) == ("answer", review.id)
    assert (await here.say(review.thread_id, "60000", key="m2")).kind == "again"
    assert (await reviews.get(here.database, review.id)).status == "decided"
    assert (await reviews.get(here.database, later.id)).status == "open"
    rows = await mailbox.waiting(here.database, review.thread_id)
    assert [row.kind for row in rows] == ["start", "answer"]
    thread = await threads.get(here.database, review.thread_id)
    assert thread.status is Status.QUEUED


async def test_a_message_while_a_review_is_open_is_kept_and_the_question_stays(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await here.asked()
    said = await here.say(review.thread_id, "It is urgent")
    assert said.kind == "kept"
    assert ("card", str(review.id)) in here.wished
    assert (await reviews.get(here.database, review.id)).status == "open"
    turn = await here.say(review.thread_id, "And more", turns=True)
    assert turn.kind == "kept"
    rows = await mailbox.waiting(here.database, review.thread_id)
    assert [row.kind for row in rows] == ["start", "say"]
    texts = [message.text for message in await threads.messages(here.database, review.thread_id)]
    assert texts == ["It is urgent", "And more"]


async def test_a_say_that_waits_for_a_question_does_not_make_the_thread_ready(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await here.asked()
    await here.database.execute("update sayso.mailbox set consumed_at = now()")
    await here.database.execute("update sayso.leases set ready_at = null")
    await here.say(review.thread_id, "more", turns=True)
    async with here.database.transaction() as connection:
        standing = (await leases.standings(connection, [review.thread_id]))[review.thread_id]
    assert standing.ready_at is None
    assert (await threads.get(here.database, review.thread_id)).status is Status.PAUSED


async def test_after_the_end_a_message_is_a_turn_or_too_late(house: Callable[..., House]) -> None:
    here = house()
    thread_id = await here.start("loan")
    await here.database.execute("update sayso.mailbox set consumed_at = now()")
    await here.database.execute("update sayso.threads set mark = 'done', ended_at = now()")
    assert (await here.say(thread_id, "thanks")).kind == "finished"
    assert (await here.say(thread_id, "one more thing", turns=True)).kind == "queued"
    assert (await threads.get(here.database, thread_id)).status is Status.QUEUED
    with pytest.raises(UnknownThread):
        await here.say("nobody", "hello")


async def test_cancelling_puts_the_owner_out_and_withdraws_what_is_open(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await here.asked()
    thread_id = review.thread_id
    async with here.database.transaction() as connection:
        (lease,) = await leases.claim(
            connection, owner="w1", scopes=[f"{TEAM}/loan"], limit=1, lease_seconds=60
        )
    assert (await threads.get(here.database, thread_id)).status is Status.RUNNING
    async with here.database.transaction() as connection:
        got = await interventions.cancel(
            connection, thread_id, by="U0OSCAR", reason="a mistake", wish=here.wish
        )
    assert got == interventions.Cancelled(None, (review.id,))
    thread = await threads.get(here.database, thread_id)
    assert (thread.status, thread.mark_reason) == (Status.CANCELLED, "a mistake")
    assert (await reviews.get(here.database, review.id)).status == "withdrawn"
    assert await mailbox.waiting(here.database, thread_id) == []
    async with here.database.transaction() as connection:
        assert not (await leases.extend(connection, [lease.fence], 60)).kept
        again = await interventions.withdraw(
            connection, thread_id, by="U0BOB", review_id=review.id, revision=1
        )
    assert again == interventions.NotPossible(Status.CANCELLED)
    whats = [entry.what for entry in await audit.of_thread(here.database, thread_id)]
    assert whats == ["thread.started", "thread.cancelled"]


async def test_retry_lets_go_what_failed_was_held_or_parked_and_nothing_else(
    house: Callable[..., House],
) -> None:
    here = house()
    thread_id = await here.start("loan")

    async def again() -> Any:
        async with here.database.transaction() as connection:
            return await interventions.retry(
                connection, thread_id, by="U0OSCAR", may_unpark=True, wish=here.wish
            )

    assert await again() == interventions.NotPossible(Status.QUEUED)
    await here.database.execute("update sayso.mailbox set consumed_at = now()")
    for mark in ("failed", "held", "parked"):
        await here.database.execute("update sayso.threads set mark = $1", mark)
        await here.database.execute("update sayso.leases set crashes = 5")
        assert (await threads.get(here.database, thread_id)).status == mark
        assert await again() == interventions.Retried(Status(mark))
        assert (await threads.get(here.database, thread_id)).status is Status.QUEUED
        assert [r.kind for r in await mailbox.waiting(here.database, thread_id)] == ["retry"]
        await here.database.execute("update sayso.mailbox set consumed_at = now()")
    assert await here.database.fetchval("select crashes from sayso.leases") == 0
    assert ("progress", thread_id) in here.wished


async def test_whoever_runs_nothing_lets_a_failed_thread_go_on_and_no_held_or_parked_one(
    house: Callable[..., House],
) -> None:
    here = house()
    thread_id = await here.start("loan")
    await here.database.execute("update sayso.mailbox set consumed_at = now()")

    async def again() -> Any:
        async with here.database.transaction() as connection:
            return await interventions.retry(connection, thread_id, by="U0ALICE", may_unpark=False)

    for mark in ("held", "parked"):
        await here.database.execute("update sayso.threads set mark = $1", mark)
        await here.database.execute("update sayso.leases set crashes = 5")
        assert await again() == interventions.NotPossible(Status(mark))
        assert (await threads.get(here.database, thread_id)).status == mark
        assert await here.database.fetchval("select crashes from sayso.leases") == 5
    await here.database.execute("update sayso.threads set mark = 'failed'")
    assert await again() == interventions.Retried(Status.FAILED)


async def test_the_requester_takes_a_request_back_until_something_was_decided(
    house: Callable[..., House],
) -> None:
    here = house()

    async def withdraw(review: reviews.Review, revision: int = 1) -> Any:
        async with here.database.transaction() as connection:
            return await interventions.withdraw(
                connection,
                review.thread_id,
                by="U0BOB",
                review_id=review.id,
                revision=revision,
                wish=here.wish,
            )

    decided = await here.asked()
    await here.vote(decided.id, {"decision": "approve", "note": None})
    epoch = await here.database.fetchval("select epoch from sayso.leases")
    assert await withdraw(decided) == interventions.NotPossible(Status.QUEUED)
    assert (await threads.get(here.database, decided.thread_id)).status is Status.QUEUED
    assert await here.database.fetchval("select epoch from sayso.leases") == epoch
    assert len(await mailbox.waiting(here.database, decided.thread_id)) == 2

    back = await here.asked()
    await here.vote(back.id, {"decision": "changes", "note": "How much?"})
    second = await here.asked(thread_id=back.thread_id, interrupt_id="b" * 32)
    assert isinstance(await withdraw(back), interventions.NotPossible)
    assert isinstance(await withdraw(second, 7), interventions.NotPossible)
    assert await withdraw(second) == interventions.Cancelled(None, (second.id,))

    revised = await here.asked()  # an old card, but nobody has decided anything
    await here.database.execute("update sayso.reviews set revision = 2 where id = $1", revised.id)
    assert await withdraw(revised) == interventions.Cancelled(None, (revised.id,))


async def test_a_withdrawal_waits_for_a_decision_that_is_half_way_and_then_is_too_late(
    house: Callable[..., House],
) -> None:
    here = house()
    review = await here.asked()
    async with contextlib.AsyncExitStack() as decision:
        deciding = await decision.enter_async_context(here.database.transaction())
        await deciding.execute(
            "update sayso.reviews set status = 'decided', closed_at = now() where id = $1",
            review.id,
        )
        async with here.database.transaction() as connection:
            withdrawing = asyncio.create_task(
                interventions.withdraw(
                    connection, review.thread_id, by="U0BOB", review_id=review.id, revision=1
                )
            )

            async def waits() -> Any:
                return await here.database.fetchval(
                    "select count(*) from pg_locks where not granted"
                )

            await until(waits)
            await decision.aclose()
            assert isinstance(await withdrawing, interventions.NotPossible)
    assert (await threads.get(here.database, review.thread_id)).status is not Status.CANCELLED


async def test_cancelling_names_the_step_whose_failure_may_be_no_more_than_a_lost_answer(
    house: Callable[..., House],
) -> None:
    here = house()
    thread_id = await here.start("loan")
    await here.database.execute(
        """update sayso.threads set error = jsonb_build_object('node', 'disburse', 'type', 'Away',
           'message', 'no answer', 'attempt', 1, 'attempts', 4, 'at', now())"""
    )
    async with here.database.transaction() as connection:
        got = await interventions.cancel(connection, thread_id, by="U0OSCAR")
    assert got == interventions.Cancelled("disburse", ())


async def test_try_again_now_makes_the_next_attempt_due(house: Callable[..., House]) -> None:
    here = house()
    thread_id = await here.start("loan")
    await here.database.execute("update sayso.mailbox set consumed_at = now()")
    async with here.database.transaction() as connection:
        await mailbox.put(connection, thread_id, "retry", due_in_seconds=600)
    assert await mailbox.waiting(here.database, thread_id) == []
    async with here.database.transaction() as connection:
        assert isinstance(
            await interventions.retry(connection, thread_id, by="U0BOB", may_unpark=False),
            interventions.Retried,
        )
    assert [r.kind for r in await mailbox.waiting(here.database, thread_id)] == ["retry"]


async def test_threads_are_listed_by_status_graph_and_requester(
    house: Callable[..., House],
) -> None:
    here = house()
    loan, other = await here.start("loan"), await here.start("refund")
    await here.database.execute("update sayso.threads set mark = 'parked' where id = $1", other)
    found = await threads.list_(here.database, status="parked")
    assert [thread.id for thread in found] == [other]
    assert [thread.id for thread in await threads.list_(here.database, graph="loan")] == [loan]
    assert await threads.list_(here.database, requester="U0ALICE") == []
    assert await threads.find(here.database, "nobody") is None
