"""The bank: one key, one transfer, whatever goes wrong on the way."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from bot.simulator import LocalSlack

JSON = dict[str, Any]
LOAN: JSON = {"amount": 60000, "to": "Asha Traders", "memo": "Loan"}


@pytest.fixture
def pay(slack: LocalSlack, http: aiohttp.ClientSession) -> Callable[..., Any]:
    async def one(body: Any = LOAN, key: str | None = "k1") -> tuple[int, JSON]:
        headers = {"Idempotency-Key": key} if key else {}
        async with http.post(slack.bank_url, json=body, headers=headers) as response:
            return response.status, dict(await response.json())

    return one


async def test_the_same_key_pays_once_and_gets_the_same_reference(
    slack: LocalSlack, http: aiohttp.ClientSession, pay: Callable[..., Any]
) -> None:
    assert (await pay())[0] == 201
    status, again = await pay()
    assert (status, again["reference"], again["asked"]) == (200, "TX-20931", 2)
    assert (await pay(key="k2"))[1]["reference"] == "TX-20932"
    async with http.get(slack.bank_url) as response:
        listed = await response.json()
    assert [(one["reference"], one["key"], one["asked"]) for one in listed] == [
        ("TX-20931", "k1", 2),
        ("TX-20932", "k2", 1),
    ]


async def test_the_same_key_for_something_else_is_refused(pay: Callable[..., Any]) -> None:
    await pay()
    assert (await pay({**LOAN, "amount": 70000}))[0] == 422


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"amount": "60000", "to": "x"},
        {"amount": True, "to": "x"},
        {"amount": 0, "to": "x"},
        {"amount": -5, "to": "x"},
        {"amount": math.nan, "to": "x"},
        {"amount": math.inf, "to": "x"},
        {"amount": 2_000_000, "to": "x"},
        {"amount": 5, "to": " "},
        {"amount": 5},
    ],
)
async def test_a_transfer_that_makes_no_sense_is_refused(
    slack: LocalSlack, pay: Callable[..., Any], body: Any
) -> None:
    status, answer = await pay(body)
    assert status == 400
    assert answer["error"]
    assert slack.transfers() == []


async def test_a_transfer_without_a_key_is_refused(pay: Callable[..., Any]) -> None:
    assert (await pay(key=None))[0] == 400


async def test_a_bank_that_is_down_pays_nothing(slack: LocalSlack, pay: Callable[..., Any]) -> None:
    await slack.misbehave(bank_down=True)
    assert (await pay())[0] == 503
    await slack.misbehave(bank_down=False)
    assert (await pay())[0] == 201


async def test_a_bank_that_loses_its_answer_has_paid(
    slack: LocalSlack, pay: Callable[..., Any]
) -> None:
    await slack.misbehave(bank_loses_answer=1)
    with pytest.raises(aiohttp.ClientError):
        await pay()
    status, again = await pay()
    assert (status, again["asked"]) == (200, 2)
    assert len(slack.transfers()) == 1


async def test_a_bank_that_refuses_says_why_in_its_own_words(
    slack: LocalSlack, pay: Callable[..., Any]
) -> None:
    await slack.misbehave(bank_refuses="Account number is not known")
    assert await pay() == (422, {"error": "Account number is not known"})
    assert slack.transfers() == []
