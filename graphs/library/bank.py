"""Transfers through the bank's HTTP interface, each under a key, so that asking twice pays once.

    POST <url>  Idempotency-Key: <key>
    {"amount": 60000, "to": "Asha Traders", "memo": "a delivery van"}
    -> 201 {"reference": "TX-20931"}

The same key with the same body must give the same reference. That is the bank's promise; ours is
to send the same body under the same key at every attempt.
"""

from __future__ import annotations

import json
from typing import Any

import aiohttp

TIMEOUT_SECONDS = 15.0
ANSWER_BYTES = 64 * 1024
WORDS_CHARACTERS = 200


class BankError(Exception):
    """The transfer was not confirmed; the sentence has the bank's own words where it gave any.

    `permanent` tells whether asking again can help. A lost answer is not permanent: the bank may
    have paid, and the same key finds out.
    """

    def __init__(self, sentence: str, *, permanent: bool, status: int | None = None) -> None:
        self.permanent = permanent
        self.status = status
        super().__init__(sentence)


async def transfer(url: str, *, key: str, amount: int, to: str, memo: str, currency: str) -> str:
    """Pay, and return the bank's reference.

    Raises:
        BankError: it refused, or gave no answer that we understand.
    """
    if not url:
        raise BankError(
            "No bank is set up. Set bank_url in the config of this graph's entry.", permanent=True
        )
    body: dict[str, Any] = {"amount": amount, "to": to, "memo": memo}
    if currency:
        body["currency"] = currency
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)) as session,
            session.post(
                url, json=body, headers={"Idempotency-Key": key}, allow_redirects=False
            ) as answer,
        ):
            status, said = answer.status, await answer.content.read(ANSWER_BYTES)
    except aiohttp.InvalidURL as error:
        raise BankError("The address of the bank is not one.", permanent=True) from error
    except TimeoutError as error:
        raise BankError("The bank did not answer in time.", permanent=False) from error
    except aiohttp.ClientError as error:
        raise BankError("The bank did not answer.", permanent=False) from error
    return _reference(status, said)


def _reference(status: int, said: bytes) -> str:
    answer = _json(said)
    if 200 <= status < 300:
        reference = answer.get("reference")
        if isinstance(reference, str) and reference.strip():
            return _one_line(reference)
        raise BankError("The bank answered without a reference.", permanent=False, status=status)
    words = _words(answer, said)
    if status >= 500 or status in (408, 409, 425, 429):
        why = f": {words}" if words else "."
        raise BankError(f"The bank has trouble ({status}){why}", permanent=False, status=status)
    raise BankError(
        f"The bank refused: {words or 'it gave no reason'} ({status}).",
        permanent=True,
        status=status,
    )


def _json(said: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(said)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _words(answer: dict[str, Any], said: bytes) -> str:
    given = answer.get("error") or answer.get("message")
    if isinstance(given, dict):
        given = given.get("message")
    if isinstance(given, str):
        return _one_line(given)
    text = said.decode("utf-8", errors="replace")
    return "" if answer or "<" in text else _one_line(text)


def _one_line(text: str) -> str:
    words = " ".join("".join(one for one in text if one.isprintable() or one == " ").split())
    return words[:WORDS_CHARACTERS].rstrip(" .")
