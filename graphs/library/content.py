"""A text that two people review at the same time, and again until both agree.

    draft ──┬──► check_facts ──┬──► weigh ──► publish
      ▲     └──► check_words ──┘      │
      └────────── changes ◄───────────┘ ──► give_up, after the last round

An example of how such a graph is written; nothing in it is Sayso's. Both reviewers are asked by
`interrupt()`, in two ways: a dictionary whose options become buttons, and a Pydantic model that
becomes a form. Either may answer first; `weigh` runs when both have.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel, Field

ROUNDS = 3
BRIEF_CHARACTERS = 500
ALL_TRUE = "It is all true"
CAVEAT = "Some of this may still change."
OPENINGS = {
    "fits": "We are glad to tell you about",
    "too stiff": "Good news about",
    "too loud": "This is about",
}


class Brief(TypedDict):
    """The graph's input; one text, so the words of a message are taken for it."""

    brief: str


class Content(TypedDict, total=False):
    """The state of one text, as plain data."""

    brief: str
    round: int
    opening: str
    sentences: list[str]  # what the reviewers had put in, in all rounds
    draft: str
    facts: str  # the answer of whoever checks the facts
    words: dict[str, Any]  # the answer of whoever checks the words, a `Wording`
    changes: list[str]  # what the last round changed; empty when both agree
    outcome: str


class Wording(BaseModel):
    """How a text reads; each field becomes one of the form."""

    tone: Literal["fits", "too stiff", "too loud"] = Field(title="How it sounds")
    promises: bool = Field(title="Promises what may not be kept")
    addition: str = Field("", title="A sentence to add", max_length=300)


def draft(state: Content) -> Content:
    """Write the text, with everything that was asked for so far."""
    subject = " ".join(state["brief"].split())[:BRIEF_CHARACTERS].rstrip(" .")
    subject = subject.removeprefix("Announce ").removeprefix("announce ")
    opening = f"{state.get('opening', OPENINGS['fits'])} {subject}."
    text = " ".join([opening, *state.get("sentences", []), "Thank you for being with us."])
    return {"draft": text, "round": state.get("round", 0) + 1}


def check_facts(state: Content) -> Content:
    """Ask whether it is true: the option becomes a button, other words are what is missing."""
    asked = {"question": "Is everything in this text true?", **_asked(state)}
    return {"facts": str(interrupt({**asked, "options": [ALL_TRUE]}))}


def check_words(state: Content) -> Content:
    """Ask how it reads: the model becomes a form, and the answer comes back as the model."""
    asked = {"question": "How does this text read?", **_asked(state)}
    answer: Wording = interrupt(asked, response_schema=Wording)
    return {"words": answer.model_dump()}


def weigh(state: Content) -> Content:
    """Put both answers together; what they ask for goes into the next draft."""
    words = Wording(**state["words"])
    facts = "" if state["facts"] == ALL_TRUE else state["facts"]
    caveat = CAVEAT if words.promises else ""
    wanted = [_sentence(one) for one in (facts, words.addition, caveat) if one.strip()]
    changes = [f"Added: {one}" for one in wanted]
    found: Content = {"sentences": list(dict.fromkeys([*state.get("sentences", []), *wanted]))}
    if words.tone != "fits":
        changes.append(f"It was {words.tone}, so it begins in another way.")
        found["opening"] = OPENINGS[words.tone]
    return {**found, "changes": changes}


def publish(state: Content) -> Content:
    """Publish it; here that is only said."""
    return {"outcome": f"Published in round {state['round']}: “{state['draft']}”"}


def give_up(state: Content) -> Content:
    """Publish nothing."""
    return {"outcome": f"Nothing was published, because {ROUNDS} rounds brought no agreement."}


def agreed(state: Content) -> Literal["publish", "draft", "give_up"]:
    """Another round while somebody wants a change, at most `ROUNDS` in all."""
    if not state["changes"]:
        return "publish"
    return "draft" if state["round"] < ROUNDS else "give_up"


def _asked(state: Content) -> dict[str, Any]:
    changed = {"changed": " ".join(state["changes"])} if state.get("changes") else {}
    return {"draft": state["draft"], **changed, "round": f"{state['round']} of {ROUNDS}"}


def _sentence(words: str) -> str:
    text = " ".join(words.split())
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


builder = StateGraph(Content, input_schema=Brief)
builder.add_node("draft", draft)
builder.add_node("check_facts", check_facts)
builder.add_node("check_words", check_words)
builder.add_node("weigh", weigh)
builder.add_node("publish", publish)
builder.add_node("give_up", give_up)
builder.add_edge(START, "draft")
builder.add_edge("draft", "check_facts")
builder.add_edge("draft", "check_words")
builder.add_edge(["check_facts", "check_words"], "weigh")  # once, when both have answered
builder.add_conditional_edges("weigh", agreed)
builder.add_edge("publish", END)
builder.add_edge("give_up", END)

graph = builder.compile()
