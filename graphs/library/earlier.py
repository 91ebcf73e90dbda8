"""What became of a customer's loans: kept when one ends, recalled when the next one begins.

Kept under the thread's id, so that a second run of the same loan overwrites the first. The store
that a graph is given lies inside the thread's customer; a loan of nobody known is kept by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore

from graphs import decisions

RECALLED = 20


async def recall(
    store: BaseStore | None, config: RunnableConfig, customer: str
) -> list[dict[str, Any]]:
    """The customer's other loans, newest first; none where the graph runs without a store."""
    if store is None:
        return []
    own = _thread(config)
    found = await store.asearch(_namespace(config, customer), limit=100)
    others = [item.value for item in found if item.key != own and "text" in item.value]
    return sorted(others, key=lambda value: str(value.get("at")), reverse=True)[:RECALLED]


async def keep(store: BaseStore | None, config: RunnableConfig, loan: Mapping[str, Any]) -> None:
    """Keep what became of this loan, with its conditions and who decided."""
    if store is not None:
        where = _namespace(config, loan["customer"])
        await store.aput(where, _thread(config), _entry(loan, config))


def lines(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """What to show of them: a line for each, and one more for its condition or its reason."""
    shown: list[str] = []
    for entry in entries:
        shown.append(str(entry["text"]))
        if entry["note"]:
            kind = "reason" if entry["outcome"] == "rejected" else "condition"
            shown.append(f"The {kind}: “{' '.join(str(entry['note']).split())}”")
    return shown


def _namespace(config: RunnableConfig, customer: str) -> tuple[str, ...]:
    if decisions.customer(config):
        return ("loans",)
    return ("loans", " ".join(customer.casefold().replace(".", " ").split()) or "nobody")


def _thread(config: RunnableConfig) -> str:
    return str(config.get("configurable", {}).get("thread_id"))


def _entry(loan: Mapping[str, Any], config: RunnableConfig) -> dict[str, Any]:
    decided = decisions.decision(config, "human_review")
    at = (decided.at if decided else None) or datetime.now(UTC)
    outcome, note = _outcome(loan.get("decision"))
    reference = loan.get("payment", {}).get("reference")
    entry = {
        "at": at.isoformat(),
        "when": f"{at:%b %Y}",
        "amount": loan["amount"],
        "sum": loan["sum"],
        "purpose": loan["purpose"],
        "outcome": outcome,
        "note": note,
        "by": [{"id": one.id, "name": one.name} for one in decided.by] if decided else [],
        "reference": reference,
        "risk": loan["risk"]["score"],
    }
    return {**entry, "text": _sentence(entry, decided.names if decided else "")}


def _outcome(decision: Mapping[str, Any] | None) -> tuple[str, str | None]:
    if not decision:
        return "approved automatically", None
    note = decision.get("note") or None
    if decision["decision"] == "reject":
        return "rejected", note
    return ("approved with conditions" if note else "approved"), note


def _sentence(entry: Mapping[str, Any], names: str) -> str:
    """ "Mar 2026: loan of 40,000 for stock, approved by Dana, paid, reference TX-20931."."""
    said = f"{entry['when']}: loan of {entry['sum']}"
    if entry["purpose"]:
        said += f" for {entry['purpose']}"
    said += f", {entry['outcome']}"
    if names:
        said += f" by {names}"
    if entry["reference"]:
        said += f", paid, reference {entry['reference']}"
    return f"{said}."
