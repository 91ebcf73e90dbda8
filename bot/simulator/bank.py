"""The bank that the loan's last step pays through: one transfer for one Idempotency-Key.

The same key with the same body is answered with the first transfer, `asked` counting up; the
same key with another body is refused with 422. The troubles are the ones that make people pay
twice: the bank is down, or it pays and its answer is lost.
"""

import hashlib
import json
from datetime import UTC, datetime

from aiohttp import web

from bot.simulator.cast import JSON
from bot.simulator.slack import Slack

OPENING_BALANCE = 1_000_000
FIRST_REFERENCE = 20_931
_KEY_CHARACTERS = 255


async def transfer(request: web.Request, slack: Slack) -> web.Response:
    """POST /transfers: pay, once."""
    knobs = slack.misbehaviour
    if knobs["bank_down"]:
        return _refusal(503, "The bank does not answer at the moment.")
    key = request.headers.get("Idempotency-Key", "").strip()
    if not key or len(key) > _KEY_CHARACTERS:
        return _refusal(400, "An Idempotency-Key header is needed.")
    try:
        asked = json.loads(await request.read())
    except ValueError:
        asked = None
    problem = _problem(asked)
    if problem:
        return _refusal(400, problem)
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    row = slack.workspace.get("transfers", key)
    if row is not None and row["digest"] != digest:
        return _refusal(422, "This Idempotency-Key was used for another transfer.")
    if row is None:
        if knobs["bank_refuses"]:
            return _refusal(422, knobs["bank_refuses"])
        row = _pay(slack, key, asked, digest)
        status = 201
    else:
        row = {**row, "asked": row["asked"] + 1}
        status = 200
    slack.workspace.put("transfers", key, row)
    if knobs.take("bank_loses_answer"):
        if request.transport:
            request.transport.abort()
        return _refusal(500, "Lost.")
    return web.json_response(_shown(row), status=status)


async def transfers(request: web.Request, slack: Slack) -> web.Response:
    """GET /transfers: what was paid, oldest first."""
    return web.json_response([_shown(row) for row in slack.workspace.table("transfers").values()])


def summary(slack: Slack) -> JSON:
    """The Bank page: balance, paid today, transfers (oldest first), troubles."""
    rows = list(slack.workspace.table("transfers").values())
    today = slack.workspace.shown_now().date().isoformat()
    knobs = slack.misbehaviour
    return {
        "balance": OPENING_BALANCE - sum(row["amount"] for row in rows),
        "paid_today": sum(row["amount"] for row in rows if row["at"].startswith(today)),
        "transfers": [_shown(row) for row in rows],
        "trouble": {
            "down": knobs["bank_down"],
            "loses_answer": bool(knobs["bank_loses_answer"]),
            "refuses": knobs["bank_refuses"],
            "slack_twice": bool(knobs["redeliver"]),
            "slack_slow": bool(knobs["delay_ms"] or knobs["api_delay_ms"]),
        },
    }


def _pay(slack: Slack, key: str, asked: JSON, digest: str) -> JSON:
    number = FIRST_REFERENCE + len(slack.workspace.table("transfers"))
    return {
        "reference": f"TX-{number}",
        "amount": asked["amount"],
        "to": asked["to"],
        "memo": asked.get("memo", ""),
        "key": key,
        "digest": digest,
        "asked": 1,
        "at": datetime.now(UTC).isoformat(),
    }


def _shown(row: JSON) -> JSON:
    return {name: row[name] for name in ("reference", "amount", "to", "memo", "key", "asked", "at")}


def _problem(asked: object) -> str | None:
    if not isinstance(asked, dict):
        return "The body must be a JSON object."
    amount, to = asked.get("amount"), asked.get("to")
    if not isinstance(amount, int | float) or isinstance(amount, bool) or not amount > 0:
        return "amount must be a number above 0."
    if amount > OPENING_BALANCE:
        return f"amount must be at most {OPENING_BALANCE}."
    if not isinstance(to, str) or not to.strip():
        return "to must say who is paid."
    return None


def _refusal(status: int, sentence: str) -> web.Response:
    return web.json_response({"error": sentence}, status=status)
