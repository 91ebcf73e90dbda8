"""What a person asks for, out of the words they use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs.library.request import Request, goes_on_without, revised, same_name, understood


@pytest.mark.parametrize(
    ("text", "customer", "amount", "purpose"),
    [
        ("Loan for Asha Traders, 60000 for a new van", "Asha Traders", 60000, "a new van"),
        ("loan for asha traders, 60000 for a new van", "asha traders", 60000, "a new van"),
        ("Asha Traders needs 1.2 lakh for stock", "Asha Traders", 120000, "stock"),
        ("60000 for Asha Traders for a delivery van", "Asha Traders", 60000, "a delivery van"),
        ("Loan of 60000 for Asha Traders, delivery van", "Asha Traders", 60000, "delivery van"),
        ("Asha Traders, 60000, delivery van", "Asha Traders", 60000, "delivery van"),
        ("lend 60000 to Asha Traders to buy a van", "Asha Traders", 60000, "buy a van"),
        ("Loan for our customer Asha Traders 60000", "Asha Traders", 60000, ""),
        ("Loan for a van for Asha Traders, 60000", "Asha Traders", 60000, "a van"),
        ("Loan for Asha Traders of 60000 for a van.", "Asha Traders", 60000, "a van"),
        ("A loan of 5k for Müller GmbH for new tyres, thanks", "Müller GmbH", 5000, "new tyres"),
        ("Customer: Asha Traders\nAmount: 60,000\nPurpose: a van", "Asha Traders", 60000, "a van"),
        ("60000 for a delivery van", None, 60000, "a delivery van"),
        ("60000 for stock", None, 60000, "stock"),
        ("60000", None, 60000, ""),
        ("Loan for Asha Traders", "Asha Traders", None, ""),
        ("hello", None, None, ""),
        ("", None, None, ""),
    ],
)  # fmt: skip
def test_a_request_is_understood(
    text: str, customer: str | None, amount: int | None, purpose: str
) -> None:
    found = understood(text)
    assert (found.customer, found.amount, found.purpose) == (customer, amount, purpose)
    assert (found.question() is None) == (customer is not None and amount is not None)


def test_the_term_is_read_and_is_not_an_amount() -> None:
    found = understood("Loan for Asha Traders, 60000 for a van over 2 years")
    assert (found.amount, found.months) == (60000, 24)


def test_the_same_amount_said_twice_is_one_amount() -> None:
    assert understood("Loan for Asha Traders, 60,000 (60k) for a van").amount == 60000


@pytest.mark.parametrize(
    ("amount", "says"),
    [
        ("0", "cannot be paid"),
        ("-5000", "below zero"),
        ("10000001", "More than 10,000,000"),
        ("9" * 400, "More than 10,000,000"),
        ("60000.50", "no fractions"),
        ("60,0000", "in more than one way"),
        ("60000 or 80000", "more than one amount"),
        ("60k-80k", "more than one amount"),
        ("60000 EUR (60000 USD)", "EUR and USD"),
    ],
)
def test_an_absurd_or_doubtful_amount_is_asked_and_never_guessed(amount: str, says: str) -> None:
    found = understood(f"Loan for Asha Traders, {amount} for a van")
    assert found.amount is None
    question = found.question()
    assert question is not None
    assert says in question.question
    assert question.example == "Loan for Asha Traders, 60000 for a van"


@pytest.mark.parametrize(
    ("reply", "amount"),
    [
        ("45000", 45000),
        ("45,000 instead", 45000),
        ("Reduce it to 45k please", 45000),
        ("Here are the statements for August and September", 60000),
        ("60000 is right", 60000),
        ("late payments of 2,150 were due to the strike", None),
        ("make it 45k or 50k", None),
        ("-1", None),
    ],
)
def test_a_reply_to_a_reviewer_changes_the_amount_only_when_it_says_so(
    reply: str, amount: int | None
) -> None:
    before = understood("Loan for Asha Traders, 60000 for a delivery van")
    after = revised(before, reply, "changes")
    assert after.amount == amount
    assert after.customer == "Asha Traders"
    assert (after.question() is None) == (amount is not None)


def test_a_reply_with_a_document_may_name_figures() -> None:
    before = understood("Loan for Asha Traders, 60000 for a delivery van")
    assert revised(before, "Here it is, income 31,400", "documents").amount == 60000


def test_the_currency_stays_when_a_reply_names_none() -> None:
    before = understood("Loan for Asha Traders, €60.000 for a delivery van")
    assert before.sum == "60,000 EUR"
    assert revised(before, "45000", "changes").sum == "45,000 EUR"


def test_a_bare_name_answers_who_the_loan_is_for() -> None:
    before = understood("60000 for stock")
    for reply in ("asha traders", "It's for asha traders.", "for asha traders"):
        assert revised(before, reply, "customer").customer == "asha traders"


def test_names_are_the_same_in_their_longer_form() -> None:
    assert same_name("Asha Traders", "ASHA TRADERS Ltd.")
    assert not same_name("Asha Traders", "Bharat Mills")


def test_going_on_without_is_said_in_words() -> None:
    assert goes_on_without("Please go on without it")
    assert not goes_on_without("I have no other")


@given(st.text(), st.text(), st.sampled_from(["amount", "customer", "documents", "changes", ""]))
def test_any_message_and_any_reply_end_in_a_request_or_a_question(
    text: str, reply: str, kind: str
) -> None:
    for found in (understood(text), revised(understood(text), reply, kind)):
        assert Request(**found.to_json()) == found
        assert found.amount is None or 0 < found.amount <= 10_000_000
        assert found.question() is not None or found.customer
