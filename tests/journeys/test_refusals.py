"""Bad input: everybody who is refused is told why, it is on the record, and nothing changed."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import secrets
import time
from urllib.parse import urlencode

import pytest

from bot.simulator import cast
from tests.journeys.conftest import Product, everything, until
from tests.journeys.test_loan_journey import REQUEST, ask

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("journeys"),
]


async def open_still(product: Product, card: dict) -> None:
    (now,) = [m for m in await product.messages("C0CREDIT") if m["ts"] == card["ts"]]
    assert "Needs a decision" in everything(now)
    assert await product.transfers() == []


async def refusals(product: Product) -> list[dict]:
    async def look() -> list[dict]:
        return await product.audit("vote.refused")

    return await until("an audit entry", look)


@pytest.mark.parametrize(
    ("user", "words"),
    [
        ("U0CHARLIE", "Nothing was changed"),
        ("U0BOB", "Nothing was changed"),
        ("U0GUEST", "Nothing was changed"),
        ("U0STRANGER", "Nothing was changed"),
        ("U0GONE", "Nothing was changed"),
    ],
)
async def test_somebody_who_may_not_decide_is_told_and_recorded(
    running: Product, user: str, words: str
) -> None:
    _, card = await ask(running)
    await running.click(user, "Approve", card)
    await running.private(user, words)
    (entry,) = await refusals(running)
    assert entry["actor"] == user
    await open_still(running, card)


async def test_a_click_is_refused_while_slack_cannot_say_who_it_is(running: Product) -> None:
    _, card = await ask(running)

    async def known() -> bool:
        return bool(
            await running.database.fetchval("select count(*) from sayso.people where id = 'U0DANA'")
        )

    # She was looked up when the card appeared; a minute later that is too old.
    await until("the look-up of who may decide", known)
    await running.database.execute("delete from sayso.people where id = 'U0DANA'")
    await running.control("misbehave", users_info_ms=3000)
    await running.click("U0DANA", "Approve", card)
    await running.private("U0DANA", "nothing was decided")
    await refusals(running)
    await open_still(running, card)
    await until("the look-up to go on beside", known)
    await running.click("U0DANA", "Approve", card)
    await running.shows(card, "Done.", "U0DANA")


async def test_the_second_click_is_told_who_decided(running: Product) -> None:
    _, card = await ask(running)
    await running.click("U0ALICE", "Approve", card)
    await late_click(running, "U0DANA", card, "approve")
    await running.private("U0DANA", "U0ALICE")
    await running.shows(card, "Done.")
    assert len(await running.transfers()) == 1


async def test_a_click_on_a_card_that_was_replaced_decides_nothing(running: Product) -> None:
    ts, card = await ask(running)
    await running.click("U0ALICE", "Ask for changes", card)
    await running.view("U0ALICE", "Ask for changes")
    await running.control("submit", user="U0ALICE", values={"changes": "Less, please."})
    await running.shows(card, "Sent back")
    await running.message("C0LOANS", "Less, please.", thread_ts=ts)
    await running.say("U0BOB", "C0LOANS", "Make it 55,000", thread_ts=ts)
    fresh = await running.message("C0CREDIT", "Needs a decision", "55,000")
    await late_click(running, "U0DANA", card, "approve")
    await running.private("U0DANA", "U0ALICE")
    (now,) = [m for m in await running.messages("C0CREDIT") if m["ts"] == fresh["ts"]]
    assert "Needs a decision" in everything(now)


async def test_a_stranger_cannot_start_and_is_told_why(running: Product) -> None:
    await running.say("U0STRANGER", "C0LOANS", REQUEST)
    await running.private("U0STRANGER", "Nothing was")
    assert await running.json("threads", "list") == []

    async def recorded() -> list[dict]:
        return await running.audit("start.refused")

    await until("an audit entry", recorded)


async def test_somebody_who_may_not_look_sees_no_details(running: Product) -> None:
    _, card = await ask(running, REQUEST, "bank-statement-oct.pdf")
    await running.click("U0CHARLIE", "Details", card)

    async def recorded() -> list[dict]:
        return await running.audit("look.refused")

    await until("an audit entry", recorded)
    views = (await running.state())["views"].get("U0CHARLIE", [])
    assert all("31,400" not in str(view) for view in views)


@pytest.mark.parametrize("amount", ["0", "-5", "99999999999999999", "60000 or 70000", "a lot"])
async def test_an_absurd_amount_is_asked_back(running: Product, amount: str) -> None:
    ts = await running.say("U0BOB", "C0LOANS", f"Loan for Asha Traders, {amount} for a van")

    async def asked() -> bool:
        (thread,) = await running.json("threads", "list") or [None]
        return bool(thread and thread["status"] == "paused")

    await until("the question", asked)
    assert await running.messages("C0CREDIT") == []
    await running.message("C0LOANS", thread_ts=ts)


async def test_a_file_of_50_megabytes_is_refused_with_the_limit(running: Product) -> None:
    posted = await running.control(
        "message", user="U0BOB", channel="C0LOANS", text=REQUEST,
        files=[{"name": "huge.pdf", "text": "x", "claim_size": 50 * 1024 * 1024}],
    )  # fmt: skip
    await running.message("C0LOANS", "huge.pdf", "10 MB", thread_ts=posted["ts"])


def _value(card: dict, action_id: str) -> str:
    for block in card["blocks"]:
        for element in block.get("elements", []):
            if element.get("action_id") == action_id:
                return str(element["value"])
    raise AssertionError(f"no {action_id} on {card}")


async def late_click(product: Product, user: str, card: dict, action_id: str) -> None:
    """Press a button as it was when the card was fetched; it may have changed since."""
    payload = {
        "type": "block_actions",
        "team": {"id": "T0SAYSO", "domain": "sayso-local"},
        "user": {"id": user, "username": user.lower(), "team_id": "T0SAYSO"},
        "api_app_id": "A0SAYSO",
        "trigger_id": f"1.2.{secrets.token_hex(8)}",
        "container": {
            "type": "message",
            "message_ts": card["ts"],
            "channel_id": "C0CREDIT",
            "is_ephemeral": False,
        },
        "channel": {"id": "C0CREDIT", "name": "credit"},
        "message": {"type": "message", "ts": card["ts"], "user": "U0SAYSO"},
        "actions": [
            {
                "type": "button",
                "action_id": action_id,
                "block_id": "decide.1",
                "value": _value(card, action_id),
                "action_ts": f"{time.time():.6f}",
            }
        ],
    }
    body = urlencode({"payload": json.dumps(payload)}).encode()
    headers = {**signed(body), "Content-Type": "application/x-www-form-urlencoded"}
    url = f"http://127.0.0.1:{product.port}/slack/events"
    async with product.http.post(url, data=body, headers=headers) as response:
        assert response.status == 200, await response.text()


def signed(body: bytes, *, secret: str = cast.SIGNING_SECRET, at: float | None = None) -> dict:
    stamp = str(int(at or time.time()))
    digest = hmac.new(secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256).hexdigest()
    return {
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": f"v0={digest}",
        "Content-Type": "application/json",
    }


BODY = b'{"type":"event_callback","event_id":"Ev1","event":{"type":"message"}}'


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (BODY, signed(BODY, secret="another")),
        (BODY, signed(BODY, at=time.time() - 3600)),
        (BODY, {**signed(BODY), "X-Slack-Request-Timestamp": "yesterday"}),
        (BODY, {"Content-Type": "application/json"}),
        (b"{not json", signed(b"{not json")),
        (b"\xff\xfe", signed(b"\xff\xfe")),
        (b"", signed(b"")),
        (b"[]", signed(b"[]")),
    ],
)
async def test_a_request_that_is_not_slacks_gets_a_clean_4xx(
    running: Product, body: bytes, headers: dict
) -> None:
    url = f"http://127.0.0.1:{running.port}/slack/events"
    async with running.http.post(url, data=body, headers=headers) as response:
        assert 400 <= response.status < 500
        assert "Traceback" not in await response.text()
    assert await running.ready()


async def test_requests_before_their_proof_are_counted_one_entry_a_minute(
    running: Product,
) -> None:
    await running.power_cut()  # a process whose minute has not begun
    await running.serve()
    url = f"http://127.0.0.1:{running.port}/slack/events"
    for _ in range(5):
        async with running.http.post(url, data=BODY, headers=signed(BODY, secret="x")) as response:
            assert response.status == 401

    async def recorded() -> list[dict]:
        return await running.audit("request.refused")

    await until("an audit entry", recorded)
    assert len(await running.audit("request.refused")) == 1


async def test_a_body_that_is_too_large_is_refused(running: Product) -> None:
    url = f"http://127.0.0.1:{running.port}/slack/events"
    body = b"x" * (5 * 1024 * 1024)
    async with running.http.post(url, data=io.BytesIO(body), headers=signed(body)) as response:
        assert response.status == 413
