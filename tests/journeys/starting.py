"""Graphs that are begun by a form and by words, and that say what they got."""

from __future__ import annotations

from operator import add
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from pydantic import Field


class Claim(TypedDict):
    """What is filled in."""

    order: Annotated[str, Field(title="Order")]
    amount: Annotated[int, Field(title="Amount", ge=1, le=500)]
    why: Annotated[Literal["late", "broken"], Field(title="Why")]
    documents: NotRequired[list[str]]


class Claimed(TypedDict, total=False):
    """A claim and its answer."""

    order: str
    amount: int
    why: str
    documents: list[str]
    answer: str


class Talk(TypedDict, total=False):
    """A conversation in which everything is asked first."""

    messages: Annotated[list[Any], add]
    done: Annotated[list[str], add]


def decide(state: Claimed) -> Claimed:
    """Ask whether to pay."""
    count = len(state.get("documents", []))
    said = f"Pay {state['amount']} for {state['order']}, {count} documents?"
    return {"answer": str(interrupt({"question": said, "options": ["Pay", "Do not"]}))}


def act(state: Talk) -> Talk:
    """Ask whether to do what was said last."""
    wanted = state["messages"][-1]["content"]
    answer = interrupt({"question": f"Do this: {wanted}?", "options": ["Yes", "No"]})
    return {"done": [f"{wanted}: {answer}"]}


claim = (
    StateGraph(Claimed, input_schema=Claim)
    .add_node("decide", decide)
    .add_edge(START, "decide")
    .add_edge("decide", END)
    .compile()
)
talk = StateGraph(Talk).add_node("act", act).add_edge(START, "act").add_edge("act", END).compile()
