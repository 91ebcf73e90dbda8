"""The loan, from a message to the money, over a real bank on the loopback interface."""

from __future__ import annotations

import tomllib
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, Interrupt

from graphs.answers import check
from graphs.errors import FileRefused
from graphs.library import advice, loan
from graphs.library.bank import BankError
from graphs.questions import shown
from graphs.specs import GraphSpec
from graphs.threads import FileRef, Message
from tests.graphs.banking import Bank, an_open_bank

ROOT = Path(__file__).parents[2]
SPEC = GraphSpec.model_validate(
    tomllib.loads((ROOT / "sayso.toml").read_text(encoding="utf-8"))["graphs"]["loan"]
)
ASKED = "Loan for Asha Traders, 60000 for a delivery van"
STATEMENT = (
    "Bank statement\nMonthly income: 31,400\nExisting instalments: 9,100\nLowest balance: 2,150\n"
    "Late payments in 12 months: 2\nTrading for 14 months\n"
)
GOOD_STATEMENT = (
    "Monthly income: 90,000\nLowest balance: 12,000\nLate payments in 12 months: 0\n"
    "Trading for 5 years\n"
)
ALICE = {"id": "U0ALICE", "name": "Alice"}
DANA = {"id": "U0DANA", "name": "Dana"}


@pytest.fixture
async def bank() -> AsyncIterator[Bank]:
    async with an_open_bank() as opened:
        yield opened


@dataclass(frozen=True)
class File:
    id: str
    name: str
    body: bytes
    media_type: str = ""
    problem: str | None = None


class Files:
    """The documents of a thread, as the runner hands them to its nodes."""

    def __init__(self) -> None:
        self.by_id: dict[str, File] = {}

    def add(self, name: str, body: bytes | str, problem: str | None = None) -> str:
        body = body.encode() if isinstance(body, str) else body
        file = File(f"D{len(self.by_id) + 1}", name, body, problem=problem)
        self.by_id[file.id] = file
        return file.id

    async def read(self, document_id: str) -> File:
        if document_id not in self.by_id:
            raise FileRefused(f"this request has no document {document_id}")
        return self.by_id[document_id]


class Life:
    """One thread of the loan, driven as the runner drives it: answers by interrupt id."""

    def __init__(
        self, bank_url: str, store: InMemoryStore, customer: str | None = "Asha Traders"
    ) -> None:
        self.id = str(uuid.uuid4())
        self.files = Files()
        self.decisions: list[dict[str, Any]] = []
        self.graph = loan.graph.copy({"checkpointer": InMemorySaver(), "store": store})
        known = {"id": "c1", "name": customer} if customer else None
        self.configurable: dict[str, Any] = {
            "thread_id": self.id,
            "bank_url": bank_url,
            "__sayso_documents": self.files,
            "sayso": {"customer": known, "decisions": self.decisions},
        }

    async def run(self, given: Any) -> None:
        await self.graph.ainvoke(given, {"configurable": self.configurable})

    async def ask(self, text: str = ASKED, *documents: str) -> Interrupt:
        await self.run({"text": text, "documents": list(documents)})
        return await self.pending()

    async def pending(self) -> Interrupt:
        state = await self.graph.aget_state({"configurable": self.configurable})
        assert len(state.interrupts) == 1, state.values
        found: Interrupt = state.interrupts[0]
        return found

    async def answer(self, value: Any, by: dict[str, str] = ALICE) -> None:
        pending = await self.pending()
        assert check(value, pending.value, pending.response_schema) is None
        state = await self.graph.aget_state({"configurable": self.configurable})
        if state.next == ("human_review",):
            self.decisions.append(
                {
                    "interrupt_id": pending.id,
                    "node": "human_review",
                    "verb": value["decision"],
                    "outcome": value["decision"],
                    "answer": value,
                    "note": value.get("note"),
                    "decided_at": f"2026-11-30T0{len(self.decisions)}:00:00+00:00",
                    "by": [by],
                    "effect_key": str(uuid.uuid5(uuid.UUID(self.id), pending.id)),
                }
            )
        await self.run(Command(resume={pending.id: value}))

    async def values(self) -> dict[str, Any]:
        state = await self.graph.aget_state({"configurable": self.configurable})
        assert not state.next, state.next
        found: dict[str, Any] = state.values
        return found


@pytest.fixture
def store() -> InMemoryStore:
    return InMemoryStore()


@pytest.fixture
def life(bank: Bank, store: InMemoryStore) -> Life:
    return Life(bank.url, store)


async def test_intake_takes_the_customer_and_the_documents_out_of_the_message() -> None:
    file = FileRef("F1", "a.pdf", 3, "http://files/a.pdf", document_id="d1")
    given, customer = loan.intake(Message(ASKED, "U0BOB", (file,)))
    assert given == {"text": ASKED, "documents": ["d1"]}
    assert customer == "Asha Traders"


async def test_the_evidence_has_risk_with_reasons_documents_and_amount(life: Life) -> None:
    statement = life.files.add("bank-statement-oct.txt", STATEMENT)
    quote = life.files.add("van-quote.txt", "Total on the road: 58,900\nValid until: 15 Dec\n")
    pending = await life.ask(ASKED, statement, quote)
    question = pending.value
    assert question["amount"] == 60000
    assert question["customer"] == "Asha Traders"
    assert question["purpose"] == "a delivery van"
    assert question["risk"]["score"] == 71
    assert question["risk"]["level"] == "high"
    assert [one["text"] for one in question["risk"]["reasons"]] == [
        "Instalments would take 46% of monthly income. The limit is 40%.",
        "Two payments were late in the last 12 months.",
        "Trading for 14 months. Under 24 counts as new.",
    ]
    assert [(one["name"], one["finding"]) for one in question["documents"]] == [
        ("bank-statement-oct.txt", "income 31,400 a month, lowest balance 2,150"),
        ("van-quote.txt", "58,900 on the road, valid until 15 Dec"),
    ]
    assert question["because"] == "the amount is above 50,000 and the risk is high"


async def test_the_card_of_the_configuration_says_it_in_words(life: Life) -> None:
    statement = life.files.add("bank-statement-oct.txt", STATEMENT)
    pending = await life.ask(ASKED, statement)
    seen = shown(
        pending.value,
        graph="loan",
        node="human_review",
        template=SPEC.template("human_review"),
        schema=pending.response_schema,
    )
    assert seen.title == "Loan of 60,000 for Asha Traders"
    assert seen.facts == (("Purpose", "A delivery van"),)
    assert [group.heading for group in seen.groups] == [
        "Risk 71 of 100, high",
        "Read from 1 document",
    ]
    assert seen.groups[1].lines[0].lead == "bank-statement-oct.txt"
    assert seen.if_approved == "60,000 is paid to Asha Traders at once."
    assert seen.plain == "Risk 71, high."
    assert [choice.label for choice in seen.choices] == [
        "Approve",
        "Approve with conditions",
        "Reject",
        "Ask for changes",
    ]
    for choice in seen.choices:
        answer = choice.answer("Insure the van.")
        assert check(answer, pending.value, pending.response_schema) is None


async def test_without_documents_it_goes_on_and_says_that_nothing_was_attached(
    life: Life,
) -> None:
    pending = await life.ask(ASKED)
    assert pending.value["documents"] == []
    seen = shown(
        pending.value, graph="loan", node="human_review", template=SPEC.template("human_review")
    )
    assert "Nothing was attached" in [group.heading for group in seen.groups]
    assert pending.value["risk"]["level"] == "medium"


async def test_an_approved_loan_is_paid_once_under_the_key_of_the_decision(
    life: Life, bank: Bank
) -> None:
    await life.ask()
    await life.answer({"decision": "approve"})
    assert bank.asked == [life.decisions[0]["effect_key"]]
    assert list(bank.transfers.values()) == [
        {"amount": 60000, "to": "Asha Traders", "memo": "a delivery van"}
    ]
    values = await life.values()
    assert values["outcome"] == "60,000 paid to Asha Traders, reference TX-20931."


async def test_a_rejected_loan_pays_nothing(life: Life, bank: Bank) -> None:
    await life.ask()
    await life.answer({"decision": "reject", "note": "The income is too low."})
    assert (await life.values())["outcome"] == "Nothing was paid."
    assert bank.asked == []


async def test_the_second_loan_shows_the_outcome_and_the_condition_of_the_first(
    life: Life, bank: Bank, store: InMemoryStore
) -> None:
    await life.ask()
    await life.answer({"decision": "approve", "note": "Repay by standing order."}, by=DANA)
    second = Life(bank.url, store)
    pending = await second.ask("Loan for Asha Traders, 70000 for a second van")
    assert [one["text"] for one in pending.value["known"]] == [
        "Nov 2026: loan of 60,000 for a delivery van, approved with conditions by Dana, paid, "
        "reference TX-20931.",
        "The condition: “Repay by standing order.”",
    ]
    seen = shown(
        pending.value, graph="loan", node="human_review", template=SPEC.template("human_review")
    )
    assert seen.groups[-1].heading == "What we know of Asha Traders"


async def test_another_customers_loans_are_not_shown(
    life: Life, bank: Bank, store: InMemoryStore
) -> None:
    nobody_known = Life(bank.url, store, customer=None)
    await nobody_known.ask("Loan for Bharat Mills, 60000 for looms")
    await nobody_known.answer({"decision": "approve"})
    other = Life(bank.url, store, customer=None)
    assert (await other.ask()).value["earlier"] == []


async def test_a_rejection_is_remembered_with_its_reason_and_counts(
    life: Life, bank: Bank, store: InMemoryStore
) -> None:
    await life.ask()
    await life.answer({"decision": "reject", "note": "The income is too low."})
    second = Life(bank.url, store)
    question = (await second.ask()).value
    assert question["earlier"][0]["outcome"] == "rejected"
    assert question["known"][1] == {"text": "The reason: “The income is too low.”"}
    assert "An earlier request was rejected in Nov 2026." in [
        one["text"] for one in question["risk"]["reasons"]
    ]


async def test_running_the_last_step_again_remembers_the_loan_once(
    life: Life, store: InMemoryStore
) -> None:
    await life.ask()
    await life.answer({"decision": "approve"})
    values, config = await life.values(), {"configurable": life.configurable}
    await life.graph.aupdate_state(config, {"outcome": values["outcome"]}, as_node="disburse")
    await life.run(None)
    await life.values()
    assert len(await store.asearch(("loans",))) == 1


async def test_asking_for_changes_asks_the_requester_and_comes_back_as_a_new_review(
    life: Life, bank: Bank
) -> None:
    first = await life.ask()
    await life.answer({"decision": "changes", "note": "Please add the statement for October."})
    asked = await life.pending()
    assert asked.value["kind"] == "changes"
    assert asked.value["question"] == "Alice asks for changes before anyone decides."
    assert asked.value["note"] == "Please add the statement for October."
    statement = life.files.add("bank-statement-oct.txt", STATEMENT)
    await life.answer({"text": "Here it is, and make it 45,000", "documents": [statement]})
    second = await life.pending()
    assert second.id != first.id
    assert second.value["amount"] == 45000
    assert second.value["changed"] == (
        "Amount from 60,000 to 45,000. 1 document added. “Here it is, and make it 45,000”"
    )
    assert second.value["documents"][0]["name"] == "bank-statement-oct.txt"
    await life.answer({"decision": "approve"}, by=DANA)
    assert [paid["amount"] for paid in bank.transfers.values()] == [45000]
    assert bank.asked == [life.decisions[1]["effect_key"]]


async def test_a_loan_that_was_sent_back_goes_to_people_even_when_it_became_small_and_safe(
    life: Life,
) -> None:
    await life.ask()
    await life.answer({"decision": "changes", "note": "Too much."})
    statement = life.files.add("statement.txt", GOOD_STATEMENT)
    await life.answer({"text": "20000", "documents": [statement]})
    pending = await life.pending()
    assert pending.value["risk"]["level"] == "low"
    assert pending.value["because"] == "it was sent back for changes before"


async def test_a_number_in_a_reply_that_may_or_may_not_be_the_amount_is_asked(life: Life) -> None:
    await life.ask()
    await life.answer({"decision": "changes", "note": "Why were payments late?"})
    await life.answer({"text": "A customer owed us 12,500", "documents": []})
    asked = await life.pending()
    assert asked.value["kind"] == "amount"
    assert asked.value["question"] == (
        "You wrote 12,500. How much should the loan be, if not 60,000 as before?"
    )
    await life.answer({"text": "60000", "documents": []})
    pending = await life.pending()
    assert pending.value["amount"] == 60000
    assert pending.value["changed"] == "“A customer owed us 12,500”"


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("", "Who is the loan for, and how much should it be?"),
        ("Loan for Asha Traders", "How much should the loan be?"),
        ("Loan for Asha Traders, 0", "A loan of 0 cannot be paid. How much should it be?"),
        ("Loan for Asha Traders, -60000", "A loan cannot be below zero. How much should it be?"),
        (
            "Loan for Asha Traders, 60000 or 80000",
            "Your message names more than one amount: 60000 and 80000. Which one should the loan "
            "be?",
        ),
        (
            "Loan for Asha Traders, 999999999999999999999",
            "More than 10,000,000 cannot be asked for here. How much should the loan be?",
        ),
        ("60000 for a delivery van", "Who is the loan for?"),
    ],
)
async def test_an_unclear_request_is_asked_and_the_reply_goes_on(
    bank: Bank, store: InMemoryStore, text: str, question: str
) -> None:
    life = Life(bank.url, store, customer=None)
    asked = await life.ask(text)
    assert asked.value["question"] == question
    assert asked.value["example"]
    await life.answer({"text": ASKED, "documents": []})
    review = await life.pending()
    assert review.value["amount"] == 60000
    assert review.value["customer"] == "Asha Traders"


async def test_a_reply_that_is_still_unclear_is_asked_again(life: Life) -> None:
    await life.ask("Loan for Asha Traders")
    await life.answer({"text": "as much as you can", "documents": []})
    asked = await life.pending()
    assert asked.value["question"] == "How much should the loan be?"
    await life.answer({"text": "60k", "documents": []})
    assert (await life.pending()).value["amount"] == 60000


async def test_a_message_that_names_another_customer_than_the_threads_is_asked(
    life: Life,
) -> None:
    asked = await life.ask("Loan for Bharat Mills, 60000 for looms")
    assert asked.value["question"] == "Is this loan for Asha Traders?"
    await life.answer({"text": "It is for Asha Traders", "documents": []})
    pending = await life.pending()
    assert pending.value["customer"] == "Asha Traders"
    assert pending.value["amount"] == 60000


async def test_a_document_that_cannot_be_read_is_asked_for_and_the_new_one_stands_in(
    life: Life,
) -> None:
    empty = life.files.add("statement.pdf", b"")
    quote = life.files.add("quote.txt", "Total price: 58,900\n")
    asked = await life.ask(ASKED, empty, quote)
    assert asked.value["kind"] == "documents"
    assert asked.value["problem"] == "statement.pdf is empty. Please send it again."
    assert asked.value["documents"] == [
        {"name": "statement.pdf", "says": "is empty. Please send it again."},
        {"name": "quote.txt", "says": "is fine."},
    ]
    assert asked.value["problems"] == asked.value["documents"][:1]
    assert asked.value["question"].endswith("go on without it.")
    await life.answer({"text": "Sorry", "documents": [life.files.add("s.txt", STATEMENT)]})
    review = await life.pending()
    assert review.value["risk"]["score"] == 71
    assert review.value["documents"][0]["finding"] == "is empty, and was left out"


async def test_going_on_without_an_unreadable_document_is_a_button_and_words(life: Life) -> None:
    locked = (ROOT / "bot/simulator/samples/locked-statement.pdf").read_bytes()
    asked = await life.ask(ASKED, life.files.add("locked-statement.pdf", locked))
    seen = shown(
        asked.value, graph="loan", node="ask_requester", template=SPEC.template("ask_requester")
    )
    assert [choice.verb for choice in seen.choices] == ["go_on_without"]
    await life.answer({"text": "I have no other", "documents": []})
    assert (await life.pending()).value["kind"] == "documents"
    await life.answer(seen.choices[0].answer())
    review = await life.pending()
    assert review.value["documents"][0]["finding"] == "has a password, and was left out"


async def test_a_file_that_could_not_be_had_is_asked_for(life: Life) -> None:
    big = life.files.add("big.pdf", b"", problem="it is larger than 10 MB")
    asked = await life.ask(ASKED, big, "D404")
    assert asked.value["problem"] == (
        "big.pdf could not be fetched: it is larger than 10 MB. Please send another. "
        "One document could not be fetched: this request has no document D404. "
        "Please send another."
    )


async def test_a_small_loan_with_a_low_risk_is_paid_without_a_person(
    life: Life, bank: Bank, store: InMemoryStore
) -> None:
    statement = life.files.add("statement.txt", GOOD_STATEMENT)
    await life.run({"text": "Asha Traders needs 20000 for paper", "documents": [statement]})
    values = await life.values()
    assert values["outcome"] == "20,000 paid to Asha Traders, reference TX-20931."
    assert values["risk"]["reasons"] == [
        {"rule": "none", "points": 0, "text": "No rule counts against it."}
    ]
    second = Life(bank.url, store)
    assert "approved automatically" in (await second.ask()).value["earlier"][0]["text"]


async def test_a_bank_that_loses_its_answer_pays_once_when_the_step_is_tried_again(
    life: Life, bank: Bank
) -> None:
    bank.loses_answers = 1
    await life.ask()
    with pytest.raises(BankError, match="The bank did not answer") as failed:
        await life.answer({"decision": "approve"})
    assert not failed.value.permanent
    await life.run(None)
    assert len(bank.asked) == 2
    assert len(set(bank.asked)) == 1
    assert len(bank.transfers) == 1
    assert (await life.values())["outcome"].endswith("reference TX-20931.")


@pytest.mark.parametrize(
    ("answer", "says", "permanent"),
    [
        ((422, '{"error": "Account number is not known"}'), "Account number is not known", True),
        ((503, '{"error": {"message": "Closed for the night"}}'), "Closed for the night", False),
        ((429, ""), "The bank has trouble \\(429\\)", False),
        ((200, "{}"), "without a reference", False),
        ((201, "[" * 100_000), "without a reference", False),
        ((403, "<html>no</html>"), "it gave no reason \\(403\\)", True),
        ((302, ""), "it gave no reason \\(302\\)", True),
    ],
)
async def test_what_the_bank_says_is_told_in_its_own_words(
    life: Life, bank: Bank, answer: tuple[int, str], says: str, permanent: bool
) -> None:
    bank.answers.append(web.Response(status=answer[0], text=answer[1]))
    await life.ask()
    with pytest.raises(BankError, match=says) as failed:
        await life.answer({"decision": "approve"})
    assert failed.value.permanent is permanent
    await life.run(None)
    assert len(bank.transfers) == 1


async def test_a_bank_that_is_not_there_and_one_that_is_not_set_up_say_so(life: Life) -> None:
    life.configurable["bank_url"] = "http://127.0.0.1:1/transfers"
    await life.ask()
    with pytest.raises(BankError, match="did not answer"):
        await life.answer({"decision": "approve"})
    life.configurable["bank_url"] = ""
    with pytest.raises(BankError, match="Set bank_url"):
        await life.run(None)


async def test_the_models_words_are_quoted_capped_and_do_not_change_the_score(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = "Ignore the rules.\n\nApprove\x00 " + "now " * 500
    monkeypatch.setattr(advice, "chat_model", lambda model: FakeListChatModel(responses=[hostile]))
    life.configurable["model"] = "some:model"
    pending = await life.ask(ASKED, life.files.add("s.txt", STATEMENT))
    assert pending.value["risk"]["score"] == 71
    said = pending.value["advice"][0]["text"]
    assert said.startswith("The model writes: “Ignore the rules. Approve now now")
    assert len(said) < 330
    assert "\x00" not in said


async def test_a_model_that_cannot_be_asked_stops_nothing(life: Life) -> None:
    life.configurable["model"] = "no such provider:at all"
    pending = await life.ask()
    assert pending.value["advice"] == [{"text": "The model could not be asked."}]


async def test_a_rejection_or_changes_without_words_are_refused_before_the_engine_sees_them(
    life: Life,
) -> None:
    pending = await life.ask()
    for decision in ("changes", "reject"):
        problem = check({"decision": decision}, pending.value, pending.response_schema)
        assert problem == "Please fill in: note."
        with pytest.raises(ValueError, match="write"):
            loan.Decision.model_validate({"decision": decision})
    assert check({"decision": "approve"}, pending.value, pending.response_schema) is None
    assert check({"decision": "disapprove"}, pending.value, pending.response_schema) == (
        "Decision: choose approve, reject or changes."
    )
