"""The refund agent: a worker, the database and a bank, and the clerk's script by itself."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from graphs import reviews
from graphs.library import clerk, refund
from graphs.registry import load
from graphs.specs import GraphSpec, Rule
from tests.graphs.banking import Bank, an_open_bank
from tests.graphs.conftest import House

ROOT = Path(__file__).parents[2]
CONFIGURED = tomllib.loads((ROOT / "sayso.toml").read_text(encoding="utf-8"))
RULES = tuple(Rule.model_validate(rule) for rule in CONFIGURED["reviews"])
REQUEST = "Refund 4,000 for order A-2231, arrived broken"
APPROVE = {"type": "approve"}


@pytest.fixture
async def bank() -> AsyncIterator[Bank]:
    async with an_open_bank() as opened:
        yield opened


@pytest.fixture
def here(house: Callable[..., House], bank: Bank) -> House:
    spec = GraphSpec.model_validate(
        {**CONFIGURED["graphs"]["refund_agent"], "config": {"bank_url": bank.url}, "retry": ["0s"]}
    )
    return house(load("refund_agent", spec, ROOT), rules=RULES)


async def asked(here: House, text: str = REQUEST) -> tuple[str, reviews.Review]:
    thread_id = await here.start("refund_agent", {"messages": [{"role": "user", "content": text}]})
    await here.until(thread_id, "paused")
    (review,) = await here.open_reviews(thread_id)
    return thread_id, review


async def last_words(here: House, thread_id: str) -> str:
    message = (await here.values(thread_id))["messages"][-1]
    assert isinstance(message, AIMessage)
    return message.text


def edited(review: reviews.Review, item: int = 0, **changed: Any) -> Any:
    action = review.asking.actions[item]
    arguments = {**action.arguments, **changed}
    return {"type": "edit", "edited_action": {"name": action.tool, "args": arguments}}


async def test_both_actions_are_asked_in_one_turn_each_under_its_own_rule(here: House) -> None:
    async with here.working():
        _, review = await asked(here)
    assert [(action.tool, action.allowed) for action in review.asking.actions] == [
        ("issue_refund", ("approve", "edit", "reject")),
        ("send_email", ("approve", "edit", "reject", "respond")),
    ]
    assert review.asking.actions[0].arguments == {
        "order": "A-2231",
        "amount": 4000,
        "reason": "arrived broken",
    }
    because = [item.rule.because if item.rule else None for item in review.items]
    assert because == ["money leaves the house", "a customer reads it"]
    assert review.shown(here.registry.specs["refund_agent"]).title == (
        "Refund agent wants to: issue refund, send email"
    )


async def test_an_edited_refund_is_paid_as_edited_and_a_rejected_email_is_not_sent(
    here: House, bank: Bank
) -> None:
    async with here.working():
        thread_id, review = await asked(here)
        await here.vote(review.id, {"type": "reject", "message": "I call her."}, item=1)
        await here.vote(review.id, edited(review, amount=3500), item=0)
        await here.until(thread_id, "done")
    assert list(bank.transfers.values()) == [
        {"amount": 3500, "to": "Meera Nair", "memo": "Refund for A-2231: arrived broken"}
    ]
    assert await last_words(here, thread_id) == (
        "3,500 was refunded to Meera Nair, reference TX-20931. It was changed from 4,000. "
        "The email was not sent: “I call her.”"
    )


async def test_an_answer_instead_and_a_rejection_without_words_are_told_too(
    here: House, bank: Bank
) -> None:
    async with here.working():
        thread_id, review = await asked(here)
        await here.vote(review.id, {"type": "reject"}, item=0)
        await here.vote(review.id, {"type": "respond", "message": "She knows."}, item=1)
        await here.until(thread_id, "done")
    assert bank.asked == []
    assert await last_words(here, thread_id) == (
        "The refund was not paid. The email was not sent. The answer was: “She knows.”"
    )


async def test_a_bank_that_loses_its_answer_pays_once_and_the_email_goes_out_once(
    here: House, bank: Bank
) -> None:
    bank.loses_answers = 1
    async with here.working():
        thread_id, review = await asked(here)
        await here.vote(review.id, APPROVE, item=0)
        await here.vote(review.id, APPROVE, item=1)
        await here.until(thread_id, "done")
    assert len(bank.asked) == 2
    assert len(set(bank.asked)) == 1
    assert len(bank.transfers) == 1
    assert await last_words(here, thread_id) == (
        "4,000 was refunded to Meera Nair, reference TX-20931. "
        "The email to meera.nair@example.com is in the outbox."
    )
    messages = (await here.values(thread_id))["messages"]
    (sent,) = [one for one in messages if isinstance(one, ToolMessage) and one.name == "send_email"]
    assert sent.artifact["subject"] == "Your refund for order A-2231"


async def test_a_second_refund_in_the_conversation_is_asked_anew_and_paid_by_itself(
    here: House, bank: Bank
) -> None:
    async with here.working():
        thread_id, review = await asked(here)
        for item in (0, 1):
            await here.vote(review.id, APPROVE, item=item)
        await here.until(thread_id, "done")
        await here.say(thread_id, "Also order A-2240, the kettle leaks", turns=True)
        await here.until(thread_id, "paused")
        (second,) = await here.open_reviews(thread_id)
        assert second.asking.actions[0].arguments["amount"] == 1900
        for item in (0, 1):
            await here.vote(second.id, APPROVE, item=item)
        await here.until(thread_id, "done")
    assert [paid["amount"] for paid in bank.transfers.values()] == [4000, 1900]


async def test_more_than_was_paid_is_refunded_by_no_edit(here: House, bank: Bank) -> None:
    async with here.working():
        thread_id, review = await asked(here)
        await here.vote(review.id, edited(review, amount=400_000), item=0)
        await here.vote(review.id, APPROVE, item=1)
        await here.until(thread_id, "done")
    assert bank.asked == []
    assert (await last_words(here, thread_id)).startswith(
        "Nothing was refunded: 4,000 was paid for A-2231, not more."
    )


async def test_a_bank_that_refuses_fails_the_step_in_its_own_words(here: House, bank: Bank) -> None:
    bank.answers.append(web.Response(status=422, text='{"error": "Account is closed"}'))
    async with here.working():
        thread_id, review = await asked(here)
        for item in (0, 1):
            await here.vote(review.id, APPROVE, item=item)
        thread = await here.until(thread_id, "failed")
    assert thread.error is not None
    assert "Account is closed" in thread.error.message


@pytest.mark.parametrize(
    ("text", "amount", "reason"),
    [
        (REQUEST, 4000, "arrived broken"),
        ("Please refund order a-2231. It arrived broken.", 4000, "It arrived broken"),
        ("Order A2231 came without its lid. Please pay back 500.", 500, "all"),
        ("Hi, Meera wants 1k back for A-2231 because the lid is missing", 1000, "the lid is"),
        ("A-2231: refund Rs 4000", 4000, "all"),
        ("Money back for A-2231, bought on 12 Nov 2026, 3 days late", 4000, "bought on"),
    ],
)
def test_requests_are_understood_as_people_write_them(text: str, amount: int, reason: str) -> None:
    (call, _) = planned(text).tool_calls
    assert (call["args"]["order"], call["args"]["amount"]) == ("A-2231", amount)
    assert call["args"]["reason"].startswith(text[:20] if reason == "all" else reason)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("I would like my money back", "Which order is it about?"),
        ("Refund Rs4000", "Which order is it about?"),
        ("Refund 300 or 400 for A-2231", "Is it 300 or 400?"),
        ("Refund 9,000 for A-2231", "4,000 was paid for this order."),
        ("Refund -20 for A-2231", "4,000 was paid for this order."),
        ("Refund 10.50 for A-2231", "How much should be paid back, in whole numbers?"),
        ("Refund A-9999", "There is no order A-9999."),
    ],
)
def test_what_is_not_clear_is_asked_and_not_guessed(text: str, question: str) -> None:
    said = planned(text)
    assert not said.tool_calls
    assert said.text.startswith(question)
    assert said.text.endswith(clerk.EXAMPLE)


def test_the_reply_to_a_question_completes_the_request() -> None:
    said = planned("Money back, it leaks. 300 or 400", "A-2240", "400 then")
    assert said.tool_calls[0]["args"] == {"order": "A-2240", "amount": 400, "reason": "it leaks"}


def test_the_clerk_says_the_same_at_every_attempt() -> None:
    asked_for = [HumanMessage(REQUEST)]
    first, again = clerk.next_message(asked_for), clerk.next_message(asked_for)
    assert (first.content, first.tool_calls) == (again.content, again.tool_calls)
    assert first.tool_calls[0]["id"] == "call_1_1"


def test_a_model_that_the_configuration_names_takes_the_place_of_the_clerk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    named: list[str] = []

    def init(name: str) -> BaseChatModel:
        named.append(name)
        return FakeListChatModel(responses=["Good morning."])

    monkeypatch.setattr(refund, "init_chat_model", init)
    refund.agent({"configurable": {"model": "some:model"}})
    refund.agent({"configurable": {}})
    assert named == ["some:model"]


def planned(*words: str) -> AIMessage:
    """What the clerk says or asks for once it has looked the order up."""
    messages: list[Any] = []
    for text in words:
        messages.append(HumanMessage(text))
        said = clerk.next_message(messages)
        messages.append(said)
        if said.tool_calls and said.tool_calls[0]["name"] == "look_up_order":
            messages.append(refund.look_up_order.invoke(said.tool_calls[0] | {"type": "tool_call"}))
            said = clerk.next_message(messages)
            messages.append(said)
    return said
