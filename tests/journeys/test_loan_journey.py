"""The newcomer's story, over real HTTP: message, card, click, payment, outcome, memory."""

from __future__ import annotations

import json

import pytest

from tests.journeys.conftest import Product, everything, until

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("journeys"),
]

REQUEST = "Loan for Asha Traders, 60000 for a delivery van"
TITLE = "Loan of 60,000 for Asha Traders"


async def ask(product: Product, text: str = REQUEST, *samples: str) -> tuple[str, dict]:
    """Bob asks for a loan; the card that follows is returned with the request's ts."""
    before = {message["ts"] for message in await product.messages("C0CREDIT")}
    ts = await product.say("U0BOB", "C0LOANS", text, *samples)

    async def look() -> dict | None:
        for message in await product.messages("C0CREDIT"):
            if message["ts"] not in before and "Needs a decision" in everything(message):
                return message
        return None

    return ts, await until("the card", look)


async def test_a_loan_goes_from_message_to_payment_and_everybody_is_told(running: Product) -> None:
    ts, card = await ask(running, REQUEST, "bank-statement-oct.pdf", "van-quote.pdf")
    shown = everything(card)
    for text in (TITLE, "U0BOB", "bank-statement-oct.pdf", "31,400", "van-quote.pdf", "Risk "):
        assert text in shown
    answer = await running.click("U0ALICE", "Approve", card)
    assert answer["status"] == 200
    await running.shows(card, "Done.", "U0ALICE", "60,000 paid to Asha Traders", "reference TX-")
    outcome = await running.message("C0LOANS", "<@U0BOB>", "TX-", thread_ts=ts)
    assert outcome["thread_ts"] == ts
    transfers = await running.transfers()
    assert [(each["amount"], each["to"]) for each in transfers] == [(60000, "Asha Traders")]
    assert len(await running.messages("C0CREDIT")) == 1


async def test_the_progress_message_shows_steps_and_is_one_message_also_past_a_question(
    running: Product,
) -> None:
    ts, card = await ask(running)
    progress = await running.message("C0LOANS", "Read the request", thread_ts=ts)
    await running.click("U0ALICE", "Ask Bob a question", card)
    await running.view("U0ALICE", "Question")
    await running.control("submit", user="U0ALICE", values={"words": "Is the van ordered?"})
    await running.message("C0LOANS", "<@U0BOB>", "Is the van ordered?", thread_ts=ts)
    await running.say("U0BOB", "C0LOANS", "Not yet, it is held for us.", thread_ts=ts)
    await running.shows(card, "Is the van ordered?", "Not yet, it is held for us.")
    await running.click("U0ALICE", "Approve", card)
    await running.shows(card, "Done.")
    done = await running.message("C0LOANS", "✓", "Pay out", thread_ts=ts)
    assert done["ts"] == progress["ts"]


async def test_conditions_reach_the_bank_the_requester_and_the_next_card(running: Product) -> None:
    ts, card = await ask(running)
    await running.click("U0ALICE", "Approve with conditions", card)
    await running.view("U0ALICE", "Approve with conditions", "Conditions")
    submitted = await running.control(
        "submit", user="U0ALICE", values={"conditions": "Insure the van first."}
    )
    assert submitted["status"] == 200
    await running.shows(card, "Done.", "Insure the van first.")
    await running.message("C0LOANS", "<@U0BOB>", "Insure the van first.", thread_ts=ts)
    _, second = await ask(running, "Loan for Asha Traders, 70000 for a second van")
    shown = everything(second)
    assert "What we know of Asha Traders" in shown
    assert "60,000" in shown
    assert "Insure the van first." in shown


async def test_a_rejection_asks_for_a_reason_and_pays_nothing(running: Product) -> None:
    ts, card = await ask(running)
    await running.click("U0ALICE", "Reject", card)
    await running.view("U0ALICE", "Reject this request", "Reason")
    await running.control("submit", user="U0ALICE", values={"reason": "The papers are too old."})
    await running.shows(card, "Rejected.", "The papers are too old.", "U0ALICE")
    await running.message("C0LOANS", "<@U0BOB>", "The papers are too old.", thread_ts=ts)
    assert await running.transfers() == []


async def test_asking_for_changes_asks_the_requester_and_comes_back_as_a_new_card(
    running: Product,
) -> None:
    ts, card = await ask(running)
    await running.click("U0ALICE", "Ask for changes", card)
    await running.view("U0ALICE", "Ask for changes")
    await running.control("submit", user="U0ALICE", values={"changes": "Ask for 45,000 instead."})
    await running.shows(card, "Sent back for changes.", "Ask for 45,000 instead.")
    await running.message("C0LOANS", "Ask for 45,000 instead.", thread_ts=ts)
    await running.say("U0BOB", "C0LOANS", "Make it 55,000", thread_ts=ts)
    fresh = await running.message("C0CREDIT", "Needs a decision", "55,000")
    assert fresh["ts"] != card["ts"]
    await running.click("U0DANA", "Approve", fresh)
    await running.shows(fresh, "Done.", "55,000")
    assert [each["amount"] for each in await running.transfers()] == [55000]


async def test_an_unreadable_document_is_asked_for_again_in_the_conversation(
    running: Product,
) -> None:
    ts = await running.say("U0BOB", "C0LOANS", REQUEST, "locked-statement.pdf")
    await running.message("C0LOANS", "locked-statement.pdf", thread_ts=ts)
    assert await running.messages("C0CREDIT") == []
    await running.say("U0BOB", "C0LOANS", "Here it is", "bank-statement-oct.pdf", thread_ts=ts)
    await running.message("C0CREDIT", "Needs a decision", "bank-statement-oct.pdf", "31,400")


async def test_a_request_without_a_document_says_on_the_card_that_nothing_was_attached(
    running: Product,
) -> None:
    _, card = await ask(running)
    assert "Nothing was attached" in everything(card)


async def test_an_unclear_request_is_asked_back_with_an_example(running: Product) -> None:
    ts = await running.say("U0BOB", "C0LOANS", "I would like some money please")
    await running.message("C0LOANS", "Loan for Asha Traders", thread_ts=ts)
    await running.say("U0BOB", "C0LOANS", REQUEST, thread_ts=ts)
    await running.message("C0CREDIT", TITLE, "Needs a decision")


async def test_a_refused_payment_is_tried_again_stands_on_the_card_and_pays_once_in_the_end(
    running: Product,
) -> None:
    await running.control("misbehave", bank_down=True)
    ts, card = await ask(running)
    await running.click("U0ALICE", "Approve", card)
    stopped = await running.shows(card, "Approved, but not paid.", "Try again")
    await running.message("C0LOANS", "<@U0BOB>", thread_ts=ts)
    await running.control("misbehave", reset=True)
    await running.click("U0ALICE", "Try again", stopped)
    await running.shows(card, "Done.", "TX-")
    assert len(await running.transfers()) == 1


async def test_a_bank_that_pays_and_loses_its_answer_pays_once(running: Product) -> None:
    await running.control("misbehave", bank_loses_answer=1)
    _, card = await ask(running)
    await running.click("U0ALICE", "Approve", card)
    await running.shows(card, "Done.", "TX-")
    transfers = await running.transfers()
    assert len(transfers) == 1
    assert transfers[0]["asked"] == 2


async def test_details_show_the_state_and_the_steps_so_far(running: Product) -> None:
    _, card = await ask(running, REQUEST, "bank-statement-oct.pdf")
    await running.click("U0ALICE", "Details", card)
    await running.view("U0ALICE", "Details", "bank-statement-oct.pdf", "Read the documents")


async def test_a_second_mention_of_the_same_message_is_one_thread(running: Product) -> None:
    await running.control("misbehave", redeliver=2)
    await running.say("U0BOB", "C0LOANS", f"<@U0SAYSO> {REQUEST}")
    await running.message("C0CREDIT", "Needs a decision")

    async def all_delivered() -> bool:
        sent = [each for each in (await running.state())["deliveries"] if each["kind"] == "event"]
        return len(sent) >= 6 and all(each["status"] == 200 for each in sent)

    await until("the repeated deliveries", all_delivered)
    assert len(await running.json("threads", "list")) == 1
    assert len(await running.messages("C0CREDIT")) == 1


async def test_the_command_starts_a_loan_too(running: Product) -> None:
    await running.control(
        "command", user="U0BOB", channel="C0LOANS", command="/loan",
        text="for Asha Traders, 60000 for a delivery van",
    )  # fmt: skip
    await running.message("C0CREDIT", TITLE, "Needs a decision")


async def test_history_shows_each_routing_with_the_state_behind_it(running: Product) -> None:
    await ask(running)
    (thread,) = await running.json("threads", "list")
    history = await running.json("threads", "history", thread["id"])
    routings = json.dumps(history)
    assert "human_review" in routings
    assert "checkpoint" in routings


@pytest.mark.asyncio(loop_scope="function")  # who reads a channel is remembered for a minute
async def test_an_approver_outside_the_channel_decides_in_direct_messages(product: Product) -> None:
    await product.serve()
    await product.control(
        "channel", channel="C0CREDIT", members=["U0ALICE", "U0ERIN", "U0CHARLIE", "U0SAYSO"]
    )
    _, card = await ask(product)

    async def sent() -> dict | None:
        if "D0DANA" not in str(await product.state()):
            return None
        return next(iter(await product.messages("D0DANA")), None)

    direct = await until("the direct message", sent)
    assert TITLE in everything(direct)
    await product.click("U0DANA", "Approve", direct)
    for message in (card, direct):
        await product.shows(message, "Done.", "U0DANA", "reference TX-")
    assert len(await product.transfers()) == 1
    assert "D0ALICE" not in str(await product.state())
    assert [len(await product.messages(place)) for place in ("C0CREDIT", "D0DANA")] == [1, 1]
