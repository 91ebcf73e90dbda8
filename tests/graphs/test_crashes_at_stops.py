"""Worker processes that are killed around a breakpoint and around an answer that is taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphs import interventions, mailbox, reviews, threads
from tests import zygote
from tests.graphs.conftest import House, until
from tests.graphs.paying import LIMITS, RULE
from tests.graphs.stopping import deciding, stopping

pytestmark = pytest.mark.crash

SIGKILL = -9


async def dies(url: str, effects: Path, failpoint: str) -> None:
    """Run a worker process until it has died at the failpoint."""
    process = await zygote.start("-m", "tests.graphs.stopping", url, str(effects), failpoint)
    try:
        async with asyncio.timeout(60):
            assert await process.wait() == SIGKILL
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_a_worker_killed_again_and_again_on_the_way_to_a_stop_and_past_it_runs_it_once(
    house: Callable[..., House], database_url: str, tmp_path: Path
) -> None:
    effects = tmp_path / "effects"
    here = house(stopping(effects), rules=(RULE,))
    thread_id = await here.start("stopping")
    for failpoint in ("run.after", "settle.written"):
        await dies(database_url, effects, failpoint)
        assert not effects.exists()
    async with here.working(limits=LIMITS):
        await here.until(thread_id, "paused")
    (review,) = await here.open_reviews(thread_id)
    assert (review.kind, review.node) == ("breakpoint", "inner/pay")
    await here.vote(review.id, {"do": "change", "values": {"amount": 70, "log": ["changed"]}})
    for failpoint in ("change.before", "change.after", "run.before"):
        await dies(database_url, effects, failpoint)
        assert not effects.exists()
    await dies(database_url, effects, "settle.before")
    async with here.working(limits=LIMITS):
        await here.until(thread_id, "done")
    # Neither lost, nor applied twice: the list has what was added once.
    assert effects.read_text().split() == ["70"]
    assert (await here.values(thread_id))["log"] == ["assess", "changed", "pay", "told"]
    assert len(await reviews.list_(here.database, thread_id=thread_id)) == 1


async def test_a_worker_killed_before_the_stop_is_settled_ends_the_thread_all_the_same(
    house: Callable[..., House], database_url: str, tmp_path: Path
) -> None:
    effects = tmp_path / "effects"
    here = house(stopping(effects), rules=(RULE,))
    async with here.working(limits=LIMITS):
        thread_id = await here.start("stopping")
        await here.until(thread_id, "paused")
    (review,) = await here.open_reviews(thread_id)
    await here.vote(review.id, {"do": "stop"})
    for failpoint in ("settle.before", "settle.written"):
        await dies(database_url, effects, failpoint)
    async with here.working(limits=LIMITS):
        await here.until(thread_id, "cancelled")
    assert not effects.exists()


async def refuse(here: House, thread_id: str) -> dict[str, reviews.Review]:
    """Answer both questions, the first so that the middleware cannot use it."""
    asked = {review.node: review for review in await here.open_reviews(thread_id)}
    await here.vote(asked["gate"].id, {"type": "approve"})
    await here.vote(asked["beside"].id, "yes")
    wrong = '{"decisions": []}'
    await here.database.execute(
        "update sayso.mailbox set answer = $2 where review_id = $1", asked["gate"].id, wrong
    )
    return asked


@pytest.mark.parametrize("failpoint", ["repair.before", "repair.after", "settle.written"])
async def test_a_worker_killed_while_it_takes_an_answer_back_asks_that_question_once_more(
    house: Callable[..., House], database_url: str, tmp_path: Path, failpoint: str
) -> None:
    effects = tmp_path / "effects"
    here = house(deciding(effects), rules=(RULE,))
    async with here.working(limits=LIMITS):
        thread_id = await here.start("deciding")
        await here.until(thread_id, "paused")
    asked = await refuse(here, thread_id)
    await dies(database_url, effects, failpoint)
    async with here.working(limits=LIMITS):

        async def again() -> reviews.Review | None:
            thread = await threads.get(here.database, thread_id)
            if thread.status == "failed":  # it died between the failure and the repair
                async with here.database.transaction() as connection:
                    await interventions.retry(connection, thread_id, by="U0BOB", may_unpark=False)
            found = await here.open_reviews(thread_id)
            return found[0] if found and thread.status == "paused" else None

        review = await until(again)
        assert review.interrupt_id == asked["gate"].interrupt_id
        assert review.id != asked["gate"].id
        assert review.again["answer"] == {"decisions": []}
        assert "decisions" in review.again["problem"]
        await here.vote(review.id, {"type": "approve"})

        async def touchy() -> reviews.Review | None:
            found = await here.open_reviews(thread_id)
            return found[0] if found and found[0].node == "touchy" else None

        await here.vote((await until(touchy)).id, "fine")
        await here.until(thread_id, "done")
    log = (await here.values(thread_id))["log"]
    assert sorted(log[:2]) == ["beside yes", "gate 1"]
    assert log[2:] == ["touchy fine"]


@pytest.mark.parametrize("failpoint", ["repair.before", "repair.after", "settle.written"])
async def test_a_worker_killed_while_a_question_is_asked_again_never_feeds_the_dropped_answer(
    house: Callable[..., House], database_url: str, tmp_path: Path, failpoint: str
) -> None:
    effects = tmp_path / "effects"
    here = house(deciding(effects), rules=(RULE,))
    async with here.working(limits=LIMITS):
        thread_id = await here.start("deciding")
        await here.until(thread_id, "paused")
        asked = {review.node: review for review in await here.open_reviews(thread_id)}
        await here.vote(asked["gate"].id, {"type": "approve"})
        await here.vote(asked["beside"].id, "yes")

        async def touchy() -> reviews.Review | None:
            found = await here.open_reviews(thread_id)
            return found[0] if found and found[0].node == "touchy" else None

        review: Any = await until(touchy)
        await here.vote(review.id, "bad")
        failed = await here.until(thread_id, "failed")
        assert failed.error is not None
        assert (failed.error.node, failed.error.message) == ("touchy", "not that")
    async with here.database.transaction() as connection:
        got = await interventions.ask_again(connection, thread_id, by="U0ALICE", wish=here.wish)
    assert got == interventions.AskedAgain(review.id)
    await dies(database_url, effects, failpoint)
    async with here.working(limits=LIMITS):
        await here.until(thread_id, "paused")
        (new,) = await here.open_reviews(thread_id)
        assert (new.interrupt_id, new.id != review.id) == (review.interrupt_id, True)
        assert new.again["answer"] == "bad"
        assert (await reviews.get(here.database, review.id)).status == "withdrawn"
        assert await mailbox.waiting(here.database, thread_id) == []
        await here.vote(new.id, "good")
        await here.until(thread_id, "done")
    assert (await here.values(thread_id))["log"][-1] == "touchy good"
