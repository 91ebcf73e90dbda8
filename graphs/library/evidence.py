"""What people are shown of a loan, as plain data: the evidence, and why they are asked at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphs.library import earlier
from graphs.library.request import Question

AUTOMATIC_UP_TO = 50_000  # above it, or with more than a low risk, people decide
AS_WRITTEN_CHARACTERS = 1_000


def of(state: Mapping[str, Any]) -> dict[str, Any]:
    """Everything a reviewer needs, in the order of the card; `sayso.toml` puts it into words."""
    return {
        "customer": state["customer"],
        "amount": state["amount"],
        "sum": state["sum"],
        "purpose": state["purpose"],
        "months": state["request"]["months"],
        "as_written": state.get("text", "")[:AS_WRITTEN_CHARACTERS],
        "because": why_people(state),
        "risk": state["risk"],
        "advice": [{"text": state["advice"]}] if state.get("advice") else [],
        "documents": [
            {
                "name": one["name"],
                "finding": one["finding"] or f"{one['problem']}, and was left out",
                "pages": one["pages"],
            }
            for one in state["readings"]
        ],
        "figures": state["figures"],
        "earlier": state["earlier"],
        "known": [{"text": line} for line in earlier.lines(state["earlier"])],
        "changed": _changed(state),
        "changes": state.get("changes", []),
    }


def why_people(state: Mapping[str, Any]) -> str:
    """Why people have to decide, in words; empty where they do not."""
    reasons = []
    if state["amount"] > AUTOMATIC_UP_TO:
        reasons.append(f"the amount is above {AUTOMATIC_UP_TO:,}")
    if state["risk"]["level"] != "low":
        reasons.append(f"the risk is {state['risk']['level']}")
    if state.get("changes"):
        reasons.append("it was sent back for changes before")
    return " and ".join(reasons)


def question_on_documents(readings: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """What the requester is asked about the documents that cannot be read; None without any."""
    unread = [one for one in readings if one["problem"] and not one["left_out"]]
    if not unread:
        return None
    one = len(unread) == 1
    question = Question(
        "documents",
        f"{'One document' if one else f'{len(unread)} documents'} cannot be read. Send "
        f"{'it' if one else 'them'} again here, or write: go on without {'it' if one else 'them'}.",
        problem=" ".join(f"{entry['name']} {_trouble(entry)}" for entry in unread),
    )
    return {
        **question.to_json(),
        "documents": [
            {"name": entry["name"], "says": _trouble(entry) if entry["problem"] else "is fine."}
            for entry in readings
            if not entry["left_out"]
        ],
        "problems": [{"name": entry["name"], "says": _trouble(entry)} for entry in unread],
        "unread": [entry["name"] for entry in unread],
    }


def _changed(state: Mapping[str, Any]) -> str:
    """What came of the last time it was sent back; empty when it never was."""
    if not state.get("changes"):
        return ""
    last, parts = state["changes"][-1], []
    if last["sum_before"] != state["sum"]:
        parts.append(f"Amount from {last['sum_before']} to {state['sum']}.")
    if last["documents"]:
        few = "document" if last["documents"] == 1 else "documents"
        parts.append(f"{last['documents']} {few} added.")
    if last["replied"]:
        parts.append(f"“{last['replied']}”")
    return " ".join(parts) or "Nothing was changed."


def _trouble(entry: Mapping[str, Any]) -> str:
    return f"{entry['problem']}. {entry['remedy']}"
