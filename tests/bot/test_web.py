"""The door: what is not Slack's gets a clean 4xx, and an open door does not fill the record."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import time
from urllib.parse import urlencode

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp

from tests.bot.conftest import Desk, until

SECRET = "local-signing-secret"
EVENT = json.dumps(
    {"type": "event_callback", "team_id": "T0SAYSO", "event_id": "Ev1", "api_app_id": "A0SAYSO",
     "event": {"type": "user_change", "user": {"id": "U0BOB"}}}
).encode()  # fmt: skip
FORM = "application/x-www-form-urlencoded"


def signed(body: bytes, *, secret: str = SECRET, at: float | None = None) -> dict[str, str]:
    timestamp = str(int(at or time.time()))
    base = f"v0:{timestamp}:".encode() + body
    digest = hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/json",
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": f"v0={digest}",
    }


async def post(desk: Desk, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{desk.url}/slack/events", data=io.BytesIO(body), headers=headers) as answer,
    ):
        return answer.status, await answer.text()


async def test_what_slack_signed_is_taken(desk: Desk) -> None:
    assert (await post(desk, EVENT, signed(EVENT)))[0] == 200


async def test_the_challenge_of_a_new_address_is_answered(desk: Desk) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "abc"}).encode()
    status, text = await post(desk, body, signed(body))
    assert (status, "abc" in text) == (200, True)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (signed(EVENT, secret="another"), 401),
        (signed(EVENT, at=time.time() - 3600), 401),
        (signed(EVENT) | {"X-Slack-Request-Timestamp": "soon"}, 400),
        (signed(EVENT) | {"X-Slack-Request-Timestamp": "1" * 40}, 400),
        (signed(EVENT) | {"X-Slack-Signature": ""}, 401),
        ({"Content-Type": "application/json"}, 400),
    ],
)
async def test_what_is_not_proved_is_refused(
    desk: Desk, headers: dict[str, str], status: int
) -> None:
    assert (await post(desk, EVENT, headers))[0] == status


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "application/json"),
        (b"[]", "application/json"),
        (b"{not json", "application/json"),
        (b"\xff\xfe", "application/json"),
        (b"[" * 100_000, "application/json"),
        (b"{}", "text/plain"),
        (b"payload=%7Bnot", FORM),
        (b"payload=%5B%5D", FORM),
        (b'payload={"view": {"state": {"values": {"words": []}}}}', FORM),
        (b'payload={"view": {"state": {"values": {"words": {"value": "x"}}}}}', FORM),
        (b"nothing=here", FORM),
    ],
)
async def test_a_malformed_body_with_a_good_signature_is_a_400(
    desk: Desk, body: bytes, kind: str
) -> None:
    status, text = await post(desk, body, signed(body) | {"Content-Type": kind})
    assert status == 400
    assert "Traceback" not in text


async def test_a_body_above_the_limit_is_a_413(desk: Desk) -> None:
    body = b"x" * 2_000_000
    assert (await post(desk, body, signed(body)))[0] == 413


async def test_refusals_before_the_proof_are_one_entry_with_their_number(desk: Desk) -> None:
    for _ in range(5):
        await post(desk, EVENT, signed(EVENT, secret="another"))
    (entry,) = await until("the entry", lambda: desk.audit("request.refused"))
    assert entry["count"] == 5


async def test_an_event_for_another_workspace_is_acknowledged_and_ignored(desk: Desk) -> None:
    body = json.dumps(
        {"type": "event_callback", "team_id": "T0OTHER", "event_id": "Ev2", "api_app_id": "A",
         "event": {"type": "message", "user": "U0BOB", "channel": "C0LOANS", "ts": "1.2",
                   "text": "Loan for Asha, 60000"}}
    ).encode()  # fmt: skip
    assert (await post(desk, body, signed(body)))[0] == 200
    assert await desk.database.fetchval("select count(*) from sayso.threads") == 0


async def test_an_unknown_interaction_is_a_clean_answer(desk: Desk) -> None:
    body = urlencode({"payload": json.dumps({"type": "nonsense"})}).encode()
    status, _ = await post(desk, body, signed(body) | {"Content-Type": FORM})
    assert 200 <= status < 500


async def test_it_says_that_it_lives_and_is_ready(desk: Desk) -> None:
    async with aiohttp.ClientSession() as session:
        for path in ("healthz", "readyz"):
            async with session.get(f"{desk.url}/{path}") as answer:
                assert answer.status == 200
                assert (await answer.json())["ok"] is True


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_body_that_cannot_be_unpacked_is_a_400_and_counted(
    desk: Desk, encoding: str
) -> None:
    body = b"not packed at all"
    status, text = await post(desk, body, signed(body) | {"Content-Encoding": encoding})
    assert status == 400
    assert "Traceback" not in text
    (entry,) = await until("the entry", lambda: desk.audit("request.refused"))
    assert entry["why"] == {"unreadable": 1}


def event(**parts: object) -> bytes:
    return json.dumps(
        {"type": "event_callback", "team_id": "T0SAYSO", "event_id": "EvX", "event": parts}
    ).encode()


def interaction(**parts: object) -> bytes:
    return urlencode({"payload": json.dumps({"type": "block_actions", **parts})}).encode()


USER = {"id": "U0BOB"}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"type":"event_callback","event":"x"}', "application/json"),
        (b'{"type":"event_callback","event":["x"]}', "application/json"),
        (b'{"type":5,"event":{}}', "application/json"),
        (b'{"type":"event_callback","team_id":{},"event":{}}', "application/json"),
        (b'{"type":"event_callback","authorizations":["x"],"event":{}}', "application/json"),
        (event(type="message", user=5, channel=["x"], text=None, ts={}), "application/json"),
        (event(type="message", user="U0BOB", channel=["x"]), "application/json"),
        (event(type="message", user="U0BOB", channel="C0LOANS", ts={}), "application/json"),
        (event(type="message", channel="C0LOANS", text=["x"]), "application/json"),
        (event(type="message", channel="C0LOANS", files=["x"]), "application/json"),
        (event(type={"a": 1}), "application/json"),
        (interaction(user="U0BOB", actions=[]), FORM),
        (interaction(user=USER, actions=["x"]), FORM),
        (interaction(user=USER, actions={}), FORM),
        (interaction(user=USER, team="T0SAYSO"), FORM),
        (interaction(user=USER, container="x", actions=[{"action_id": "approve"}]), FORM),
        (interaction(user=USER, view="x"), FORM),
    ],
)
async def test_members_of_a_wrong_kind_are_a_400_and_never_a_500(
    desk: Desk, body: bytes, kind: str
) -> None:
    status, text = await post(desk, body, signed(body) | {"Content-Type": kind})
    assert (status, "Traceback" in text) == (400, False)


@pytest.mark.parametrize("raised", [TypeError, KeyError, AttributeError, ValueError])
async def test_a_shape_that_breaks_the_routing_is_a_400(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, raised: type[Exception]
) -> None:
    async def breaks(*_: object) -> None:
        raise raised("a shape that nobody knows")

    monkeypatch.setattr(AsyncApp, "async_dispatch", breaks)
    assert (await post(desk, EVENT, signed(EVENT)))[0] == 400
