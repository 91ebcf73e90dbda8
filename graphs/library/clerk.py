"""A chat model that follows a script: it handles refunds offline, without a model or a key.

It keeps nothing. What it says next depends on the messages so far and on nothing else, so that it
goes on in another process as if nothing had happened. It reads a request such as

    "Refund 4,000 for order A-2231, arrived broken"
    "Order A-2231 came without its lid. Please pay back 500."

looks the order up, asks for the refund and an email in one turn, and at the end says what was done.
What it does not understand it asks, and never guesses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from checkpoints.text import clean
from graphs.library.amounts import Amount, amounts

EXAMPLE = "For example: Refund 4,000 for order A-2231, arrived broken"
REASON_CHARACTERS = 120


class Clerk(BaseChatModel):
    """The script as a chat model; it knows the refund agent's three tools."""

    @property
    def _llm_type(self) -> str:
        return "clerk"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Clerk:
        """Take note of the tools; the script names them."""
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=next_message(messages))])


def next_message(messages: Sequence[BaseMessage]) -> AIMessage:
    """What the clerk says or does after these messages."""
    results = _results(messages)
    asked = _words_since_the_last_actions(messages)
    order = next(filter(None, map(_order, reversed(asked))), None)
    if not results:
        if order is None:
            return AIMessage(f"Which order is it about? {EXAMPLE}")
        return _calling(messages, ("look_up_order", {"order": order}))
    found = next((one.artifact for one in results if one.name == "look_up_order"), None)
    if found is None:
        calls = messages[-len(results) - 1]
        return AIMessage(
            " ".join(_told(call, results) for call in getattr(calls, "tool_calls", ()))
        )
    if not found:
        return AIMessage(f"There is no order {order}. Which one is it? {EXAMPLE}")
    amount, trouble = _amount(asked, found["paid"])
    if amount is None:
        return AIMessage(f"{trouble} {EXAMPLE}")
    email = {
        "to": found["email"],
        "subject": f"Your refund for order {found['id']}",
        "text": f"Dear {found['customer']}, we are sorry about the {found['article']}. "
        "Your refund is on its way and shows in 3 to 5 days. You need not send anything back.",
    }
    refund = {"order": found["id"], "amount": amount, "reason": _reason(asked)}
    return _calling(messages, ("issue_refund", refund), ("send_email", email))


def _calling(messages: Sequence[BaseMessage], *calls: tuple[str, dict[str, Any]]) -> AIMessage:
    # The ids come from the place in the conversation: the same at every attempt, never used twice.
    return AIMessage(
        "",
        tool_calls=[
            ToolCall(name=name, args=args, id=f"call_{len(messages)}_{number}")
            for number, (name, args) in enumerate(calls, 1)
        ],
    )


def _results(messages: Sequence[BaseMessage]) -> list[ToolMessage]:
    """What came of the calls of the last turn, nothing where the last word is another's."""
    found: list[ToolMessage] = []
    for message in reversed(messages):
        if not isinstance(message, ToolMessage):
            break
        found.append(message)
    return found[::-1]


def _words_since_the_last_actions(messages: Sequence[BaseMessage]) -> list[str]:
    """What the requester wrote on this refund: each one begins after the last was finished."""
    words: list[str] = []
    for place, message in enumerate(messages):
        if isinstance(message, HumanMessage):
            words.append(clean(message.text))
        elif isinstance(message, AIMessage) and not message.tool_calls and _acted(messages, place):
            words.clear()
    return words


def _acted(messages: Sequence[BaseMessage], place: int) -> bool:
    before = messages[place - 1] if place else None
    return isinstance(before, ToolMessage) and before.name != "look_up_order"


def _told(call: ToolCall, results: Sequence[ToolMessage]) -> str:
    """One sentence on one action: done, changed, rejected, or answered in its place."""
    thing, not_done = _ACTIONS.get(call["name"], (call["name"], "was not done"))
    result = next((one for one in results if one.tool_call_id == call["id"]), None)
    if result is None:
        return f"The {thing} {not_done}."
    said = result.text
    if result.artifact is not None:  # the tool ran; above its words may stand what was edited
        asked, paid = call["args"].get("amount"), result.artifact.get("amount")
        changed = f" It was changed from {asked:,}." if paid and asked != paid else ""
        return said.splitlines()[-1] + changed
    if result.status == "error":
        _, because, reason = said.partition(" with reason: ")
        return f"The {thing} {not_done}: “{reason}”" if because else f"The {thing} {not_done}."
    return f"The {thing} {not_done}. The answer was: “{said}”"


def _order(text: str) -> str | None:
    money = amounts(text)  # Rs4000 looks like an order and is none
    found = [
        one
        for one in _ORDER.finditer(text)
        if not any(each.start < one.end() and one.start() < each.end for each in money)
    ]
    return f"{found[-1][1]}-{found[-1][2]}".upper() if found else None


def _amount(asked: Sequence[str], paid: int) -> tuple[int | None, str]:
    """How much is asked for, all that was paid where nothing is said; or what is wrong with it."""
    found: list[Amount] = []
    for text in reversed(asked):
        given = amounts(text)
        if found := [one for one in given if one.is_plain] or given:
            break
    values = {one.value for one in found} or {Decimal(paid)}
    value = next(iter(values))
    if len(values) > 1:
        return None, f"Is it {' or '.join(one.text for one in found[:3])}?"
    if value is None or value != value.to_integral_value():
        return None, "How much should be paid back, in whole numbers?"
    if not 0 < value <= paid:
        return None, f"{paid:,} was paid for this order. How much of it should be paid back?"
    return int(value), ""


def _reason(asked: Sequence[str]) -> str:
    """The part of the request that says why, else all of it in its own words."""
    clauses = [part.strip() for text in asked for part in _CLAUSE.split(text)]
    plain = [one for one in clauses if one and not _ASKING.search(one) and not amounts(one)]
    why = next((one for one in plain if not _ORDER.search(one)), None) or " ".join(asked)
    return " ".join(why.split())[:REASON_CHARACTERS].strip(" .,;:")


_ACTIONS = {"issue_refund": ("refund", "was not paid"), "send_email": ("email", "was not sent")}
_ORDER = re.compile(r"\b([A-Za-z]{1,3})-?(\d{3,6})\b")
_CLAUSE = re.compile(r"[,;\n]|[.!?](?=\s|$)|\b(?:because|since)\b", re.IGNORECASE)
_ASKING = re.compile(
    r"\b(?:refund|pay\s+back|money\s+back|please|sorry|hi|hello|thanks?|thank\s+you)\b",
    re.IGNORECASE,
)
