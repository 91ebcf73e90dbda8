"""The content graph: two reviews at the same time, and rounds until both agree."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphs import reviews, threads
from graphs.library import content
from graphs.registry import load
from graphs.specs import GraphSpec, Rule
from tests.graphs.conftest import House, until

ROOT = Path(__file__).parents[2]
CONFIGURED = tomllib.loads((ROOT / "sayso.toml").read_text(encoding="utf-8"))
SPEC = GraphSpec.model_validate(CONFIGURED["graphs"]["content_agent"])
RULE = Rule.model_validate({"approvers": {"users": ["U0ALICE"]}})
BRIEF = "Announce the new opening hours"
FITS = {"tone": "fits", "promises": False}


@pytest.fixture
def here(house: Callable[..., House]) -> House:
    return house(load("content_agent", SPEC, ROOT), rules=(RULE,))


async def asked(here: House, thread_id: str) -> tuple[reviews.Review, reviews.Review]:
    """The two open questions, facts first."""

    async def both() -> list[reviews.Review] | None:
        found = await here.open_reviews(thread_id)
        return found if len(found) == 2 else None

    found = {review.node: review for review in await until(both)}
    return found["check_facts"], found["check_words"]


async def written(here: House) -> str:
    return await here.start("content_agent", message=threads.Message(BRIEF, "U0BOB"))


async def test_both_are_asked_at_once_one_with_buttons_and_one_with_a_form(here: House) -> None:
    async with here.working():
        facts, words = await asked(here, await written(here))
    (true, otherwise) = facts.shown(SPEC).choices
    assert (true.label, true.answer()) == (content.ALL_TRUE, content.ALL_TRUE)
    assert otherwise.label == "Something else"
    shown = words.shown(SPEC)
    assert [(choice.label, choice.needs) for choice in shown.choices] == [("Fill in", "form")]
    assert list(words.schema["properties"]) == ["tone", "promises", "addition"]
    assert ("Draft", "We are glad to tell you about the new opening hours. "
            "Thank you for being with us.") in shown.facts  # fmt: skip
    assert "Changed" not in dict(shown.facts)


@pytest.mark.parametrize("first", ["check_facts", "check_words"])
async def test_agreement_in_either_order_publishes_the_first_draft(here: House, first: str) -> None:
    async with here.working():
        thread_id = await written(here)
        order = sorted(await asked(here, thread_id), key=lambda review: review.node != first)
        for review in order:
            await here.vote(review.id, content.ALL_TRUE if review.node == "check_facts" else FITS)
        thread = await here.until(thread_id, "done")
    assert thread.outcome == (
        "Published in round 1: “We are glad to tell you about the new opening hours. "
        "Thank you for being with us.”"
    )


async def test_what_either_wants_goes_into_the_next_draft_and_is_shown(here: House) -> None:
    async with here.working():
        thread_id = await written(here)
        facts, words = await asked(here, thread_id)
        await here.vote(facts.id, "on Sundays we are closed")
        wants = {"tone": "too loud", "promises": True, "addition": ""}
        await here.vote(words.id, wants)
        facts, words = await asked(here, thread_id)
        seen = dict(facts.shown(SPEC).facts)
        assert seen["Changed"] == (
            "Added: On Sundays we are closed. Added: Some of this may still change. "
            "It was too loud, so it begins in another way."
        )
        assert seen["Round"] == "2 of 3"
        await here.vote(words.id, {**FITS, "addition": "Come and see!"})
        await here.vote(facts.id, content.ALL_TRUE)
        facts, words = await asked(here, thread_id)
        await here.vote(words.id, FITS)
        await here.vote(facts.id, content.ALL_TRUE)
        thread = await here.until(thread_id, "done")
    assert thread.outcome == (
        "Published in round 3: “This is about the new opening hours. On Sundays we are closed. "
        "Some of this may still change. Come and see! Thank you for being with us.”"
    )


async def test_without_agreement_nothing_is_published_after_the_last_round(here: House) -> None:
    async with here.working():
        thread_id = await written(here)
        for _ in range(content.ROUNDS):
            facts, words = await asked(here, thread_id)
            await here.vote(facts.id, "It is not true")
            await here.vote(words.id, FITS)
        thread = await here.until(thread_id, "done")
    assert thread.outcome == "Nothing was published, because 3 rounds brought no agreement."


def test_a_hostile_brief_stays_one_short_line() -> None:
    given: Any = {"brief": "Announce\n\n*everything*\t" + "x" * 5000}
    text = content.draft(given)["draft"]
    assert "\n" not in text
    assert len(text) < content.BRIEF_CHARACTERS + 100
