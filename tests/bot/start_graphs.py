"""Graphs of each kind, to be begun: a form, a text, a chat, one for few."""

from __future__ import annotations

from operator import add
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from pydantic import Field


class Refund(TypedDict):
    """What a refund needs."""

    order: Annotated[str, Field(title="Order", min_length=3)]
    amount: Annotated[int, Field(title="Amount", ge=1, le=500)]
    why: Annotated[Literal["late", "broken"], Field(title="Why")]
    text: NotRequired[Annotated[str, Field(title="In your words")]]
    documents: NotRequired[list[str]]


class Refunded(TypedDict, total=False):
    """A refund, and what came of it."""

    order: str
    amount: int
    why: str
    text: str
    documents: list[str]
    paid: bool


class Note(TypedDict, total=False):
    """One text."""

    text: str
    documents: list[str]


class Talk(TypedDict, total=False):
    """A conversation."""

    messages: Annotated[list[Any], add]


def _asking(state: Any) -> Any:
    interrupt({"question": "Shall I?"})
    return {}


def _of(state: Any, **schemas: Any) -> Any:
    builder = StateGraph(state, **schemas)
    builder.add_node("go", _asking)
    builder.add_edge(START, "go")
    builder.add_edge("go", END)
    return builder.compile()


refund = _of(Refunded, input_schema=Refund)
note = _of(Note)
talk = _of(Talk)
