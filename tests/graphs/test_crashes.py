"""Worker processes that are killed at every place that leaves something behind."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from checkpoints.postgres import PostgresSaver
from graphs import audit, history, reviews, rewinding, steps, threads
from tests import zygote
from tests.graphs.conftest import House, until
from tests.graphs.paying import LIMITS, RULE, paying

pytestmark = pytest.mark.crash

SIGKILL = -9


async def dies(url: str, effects: Path, failpoint: str) -> None:
    """Run a worker process until it has died at the failpoint."""
    process = await zygote.start("-m", "tests.graphs.paying", url, str(effects), failpoint)
    try:
        async with asyncio.timeout(60):
            assert await process.wait() == SIGKILL
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.parametrize(
    "failpoint",
    ["run.before", "run.after", "settle.before", "settle.written", "settle.after"],
)
async def test_a_worker_killed_on_the_way_to_the_pause_leaves_two_questions_each_put_once(
    house: Callable[..., House], database_url: str, tmp_path: Path, failpoint: str
) -> None:
    effects = tmp_path / "effects"
    here = house(paying(effects), rules=(RULE,))
    thread_id = await here.start("paying")
    await dies(database_url, effects, failpoint)
    async with here.working(limits=LIMITS):
        await here.until(thread_id, "paused")
    found = await reviews.list_(here.database, thread_id=thread_id)
    assert sorted(review.node for review in found) == ["left", "right"]
    assert {review.status for review in found} == {"open"}


@pytest.mark.parametrize(
    "failpoint",
    ["run.before", "paid", "run.after", "settle.before", "settle.written", "settle.after"],
)
async def test_a_worker_killed_after_the_decision_loses_no_answer_and_pays_under_one_key(
    house: Callable[..., House], database_url: str, tmp_path: Path, failpoint: str
) -> None:
    effects = tmp_path / "effects"
    here = house(paying(effects), rules=(RULE,))
    async with here.working(limits=LIMITS):
        thread_id = await here.start("paying")
        await here.until(thread_id, "paused")
    for review in await here.open_reviews(thread_id):
        await here.vote(review.id, "yes")
    await dies(database_url, effects, failpoint)
    async with here.working(limits=LIMITS):
        await here.until(thread_id, "done")
    assert (await here.values(thread_id))["log"] == ["left yes", "right yes", "paid"]
    keys = effects.read_text().split()
    assert len(set(keys)) == 1
    assert len(keys) == (2 if failpoint == "paid" else 1)
    crashes = await here.database.fetchval("select crashes from sayso.leases")
    assert crashes == 0


@pytest.mark.parametrize("turn", range(1, 6))
@pytest.mark.parametrize("place", ["flush.before", "flush.sent"])
async def test_a_worker_killed_at_any_write_of_a_checkpoint_swallows_no_answer(
    house: Callable[..., House], database_url: str, tmp_path: Path, place: str, turn: int
) -> None:
    effects = tmp_path / "effects"
    here = house(paying(effects), rules=(RULE,))
    async with here.working(limits=LIMITS):
        thread_id = await here.start("paying")
        await here.until(thread_id, "paused")
    for review in await here.open_reviews(thread_id):
        await here.vote(review.id, "yes")
    process = await zygote.start(
        "-m", "tests.graphs.paying", database_url, str(effects), f"{place}:{turn}"
    )

    async def over() -> bool:
        ended = (await threads.get(here.database, thread_id)).status == "done"
        return ended or process.returncode is not None

    try:
        await until(over)
    finally:
        if process.returncode is None:
            process.kill()
        died = await process.wait()
    # Writes that queue up go together, so how many there are is not the same every time.
    assert died == SIGKILL
    async with here.working(limits=LIMITS):
        await here.until(thread_id, "done")
    assert (await here.values(thread_id))["log"] == ["left yes", "right yes", "paid"]
    assert len(set(effects.read_text().split())) == 1


async def test_a_worker_killed_between_two_answers_asks_the_other_question_still(
    house: Callable[..., House], database_url: str, tmp_path: Path
) -> None:
    effects = tmp_path / "effects"
    here = house(paying(effects), rules=(RULE,))
    async with here.working(limits=LIMITS):
        thread_id = await here.start("paying")
        await here.until(thread_id, "paused")
    first, second = await here.open_reviews(thread_id)
    await here.vote(first.id, "one")
    await dies(database_url, effects, "settle.before")
    async with here.working(limits=LIMITS):

        async def taken() -> bool:
            thread = await threads.get(here.database, thread_id)
            return thread.status == "paused"

        await until(taken)
        assert [review.id for review in await here.open_reviews(thread_id)] == [second.id]
        await here.vote(second.id, "two")
        await here.until(thread_id, "done")
    assert effects.read_text().count("\n") == 1


async def test_an_owner_that_was_frozen_past_its_lease_wakes_up_and_writes_nothing(
    house: Callable[..., House], database_url: str, tmp_path: Path
) -> None:
    effects = tmp_path / "effects"
    hold = effects.with_suffix(".hold")
    hold.touch()
    here = house(paying(effects), rules=(RULE,))
    thread_id = await here.start("paying")
    process = await zygote.start(
        "-m", "tests.graphs.paying", database_url, str(effects), "",
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        await here.until(thread_id, "paused")
        for review in await here.open_reviews(thread_id):
            await here.vote(review.id, "yes")

        async def pays() -> bool:
            walked = await steps.of_thread(here.database, thread_id)
            return any((step.node, step.status) == ("pay", "running") for step in walked)

        await until(pays)
        process.send_signal(signal.SIGSTOP)
        hold.unlink()
        async with here.working(limits=LIMITS):
            await here.until(thread_id, "done")
            checkpoints = "select count(*) from sayso.checkpoints"
            before = await here.database.fetchval(checkpoints)
            entries = len(await audit.of_thread(here.database, thread_id))
            process.send_signal(signal.SIGCONT)

            async def both() -> bool:
                return effects.read_text().count("\n") == 2

            await until(both)
            assert process.stdout is not None
            async with asyncio.timeout(20):
                while b"thread.lost" not in await process.stdout.readline():
                    pass
            process.kill()
            await process.wait()
            assert await here.database.fetchval(checkpoints) == before
            assert len(await audit.of_thread(here.database, thread_id)) == entries
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert len(set(effects.read_text().split())) == 1
    assert (await here.values(thread_id))["log"] == ["left yes", "right yes", "paid"]


@pytest.mark.parametrize("failpoint", ["rewind.forked", "run.after", "settle.before"])
async def test_a_worker_killed_while_it_goes_back_makes_one_copy_and_asks_each_question_once(
    house: Callable[..., House], database_url: str, tmp_path: Path, failpoint: str
) -> None:
    effects = tmp_path / "effects"
    here = house(paying(effects), rules=(RULE,))
    async with here.working(limits=LIMITS):
        thread_id = await here.start("paying")
        await here.until(thread_id, "paused")
        for review in await here.open_reviews(thread_id):
            await here.vote(review.id, "yes")
        await here.until(thread_id, "done")
    saver = PostgresSaver(here.database)
    taken = await history.steps_of(here.database, saver, thread_id)
    async with here.database.transaction() as connection:
        await rewinding.rewind(
            connection, thread_id, "1", taken=taken, by="U0OSCAR", confirmed=True, wish=here.wish
        )
    await dies(database_url, effects, failpoint)
    async with here.working(limits=LIMITS):
        await here.until(thread_id, "paused")
        again = await here.open_reviews(thread_id)
        assert sorted(review.node for review in again) == ["left", "right"]
        assert len(await reviews.list_(here.database, thread_id=thread_id)) == 4
        for review in again:
            await here.vote(review.id, "no")
        await here.until(thread_id, "done")
    found = await history.steps_of(here.database, saver, thread_id)
    assert [step.kind for step in found].count("rewind") == 1
    assert (await here.values(thread_id))["log"] == ["left no", "right no", "paid"]
    assert len(set(effects.read_text().split())) == 2
