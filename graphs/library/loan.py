"""A loan, from a message to the money: the example that Sayso is shown with.

    read_request ──► read_documents ──► assess_risk ──► human_review ──► disburse ──► remember
         ▲   │             │                 │               │  │                        ▲
         │   ▼             ▼                 └── small, safe ─┼──┼──► disburse            │
         └─ ask_requester ◄──────────── changes ──────────────┘  └── rejected ► decline ──┘

A plain LangGraph graph: typed state, nodes, routers. Two nodes pause it with `interrupt()`:
`human_review` puts the whole evidence before people, `ask_requester` asks the person who wrote.
What Sayso adds comes in by the configuration (who decided, the documents) and by the store.

Nodes ask first and act after, because a node that asked runs again from its top. The one node that
moves money, `disburse`, asks nothing and names its action by a key, so that it can run twice.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_store
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel, ConfigDict, Field, model_validator

from graphs import decisions
from graphs.errors import FileRefused
from graphs.library import advice, bank, earlier, evidence, reading, request, scorecard
from graphs.library.request import Question, Request

OWN_WORDS_CHARACTERS = 1_000


class Loan(TypedDict, total=False):
    """The state of one loan, as plain data; `text` and `documents` are the graph's input."""

    text: str
    documents: list[str]  # ids, to be read through the runner
    request: dict[str, Any]  # what has been understood so far
    customer: str
    amount: int  # whole units of money
    sum: str  # the same for people: "60,000 EUR"
    purpose: str
    earlier: list[dict[str, Any]]  # what became of this customer's other loans, newest first
    readings: list[dict[str, Any]]  # what each document says
    figures: dict[str, int]  # all documents together
    risk: dict[str, Any]
    advice: str
    question: dict[str, Any] | None  # what the requester has to be asked
    reply: dict[str, Any] | None  # what they answered
    changes: list[dict[str, Any]]  # each time the reviewers sent it back, and what came of it
    decision: dict[str, Any]
    payment: dict[str, Any]
    outcome: str


class Decision(BaseModel):
    """What the reviewers answer; a note on an approval is a condition, the others need one."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"decision": {"enum": ["reject", "changes"]}}},
            "then": {
                "properties": {"note": {"type": "string", "minLength": 1}},
                "required": ["note"],
            },
        }
    )

    decision: Literal["approve", "reject", "changes"]
    note: str | None = Field(default=None, max_length=3_000)

    @model_validator(mode="after")
    def _says_why(self) -> Decision:
        if self.decision == "changes" and not self.note:
            raise ValueError("to ask for changes, write what should change")
        if self.decision == "reject" and not self.note:
            raise ValueError("to reject, write the reason")
        return self


class Reply(BaseModel):
    """What the requester answers: their words, and the ids of the documents they sent."""

    text: str = ""
    documents: list[str] = []


class Message(Protocol):
    """What intake needs of a message."""

    @property
    def text(self) -> str: ...
    def document_ids(self) -> list[str]: ...


def intake(message: Message) -> tuple[Loan, str | None]:
    """The graph's input and the customer's name, out of the message that starts a loan."""
    asked = request.understood(message.text)
    return {"text": message.text, "documents": message.document_ids()}, asked.customer


# The nodes, in the order of a loan's life.


async def read_request(state: Loan, config: RunnableConfig) -> Loan:
    """Understand what is asked for, from the message or from a reply; recall the customer."""
    before = Request(**state["request"]) if state.get("request") else None
    reply, asked = state.get("reply"), state.get("question") or {}
    if before is None or reply is None:
        asked_for = request.understood(str(state.get("text") or ""))
    else:
        asked_for = request.revised(before, reply["text"], str(asked.get("kind")))
    known = decisions.customer(config)
    question = None
    if known and asked_for.customer and not request.same_name(known, asked_for.customer):
        question = request.other_customer(known)
        asked_for = asked_for.for_customer(None)
    elif known:
        asked_for = asked_for.for_customer(known)
    question = question or asked_for.question()

    found: Loan = {
        "request": asked_for.to_json(),
        "customer": asked_for.customer or "",
        "amount": asked_for.amount or 0,
        "sum": asked_for.sum,
        "purpose": asked_for.purpose,
        "question": question.to_json() if question else None,
        "reply": None,
    }
    if reply is not None:
        found["documents"] = list(dict.fromkeys([*state.get("documents", []), *reply["documents"]]))
        if asked.get("kind") == "changes" and before is not None:
            found["changes"] = [*state.get("changes", []), _change(asked, reply, before)]
        if asked.get("kind") == "documents":
            found["readings"] = _after_the_reply(state.get("readings", []), reply)
    if question is None:
        found["earlier"] = await earlier.recall(get_store(), config, found["customer"])
    return found


async def read_documents(state: Loan, config: RunnableConfig) -> Loan:
    """Read what has not been read yet; what cannot be read becomes a question."""
    readings = list(state.get("readings", []))
    read = {one["id"] for one in readings}
    new = [one for one in state.get("documents", []) if one not in read]
    readings += [await _read(config, document_id) for document_id in new]
    question = evidence.question_on_documents(readings)
    figures = reading.together(one["figures"] for one in readings if not one["problem"])
    return {"readings": readings, "figures": figures, "question": question}


async def assess_risk(state: Loan, config: RunnableConfig) -> Loan:
    """Work out the risk by the scorecard, and ask a chat model for its opinion if one is set."""
    asked_for = Request(**state["request"])
    applicant = scorecard.Applicant.of(
        state["amount"],
        asked_for.months,
        state["figures"],
        rejected=[one["when"] for one in state["earlier"] if one["outcome"] == "rejected"],
    )
    risk = scorecard.assess(applicant).to_json()
    model = str(config.get("configurable", {}).get("model") or "")
    said = ""
    if model:
        said = await advice.advice(
            model,
            {
                "amount": state["sum"],
                "purpose": state["purpose"],
                "months": asked_for.months,
                "figures": state["figures"],
                "score": risk["score"],
                "rules": [one["text"] for one in risk["rules"]],
                "earlier": earlier.lines(state["earlier"]),
            },
        )
    return {"risk": risk, "advice": said}


def human_review(state: Loan) -> Loan:
    """Put the whole evidence before people; their answer is a `Decision`."""
    decision: Decision = interrupt(evidence.of(state), response_schema=Decision)
    question = None
    if decision.decision == "changes":
        asks = "Changes are asked for before anyone decides."
        question = Question("changes", asks, note=decision.note or "").to_json()
    return {"decision": decision.model_dump(), "question": question}


def ask_requester(state: Loan, config: RunnableConfig) -> Loan:
    """Ask the person who wrote; their next message in the conversation is the `Reply`."""
    question = dict(state["question"] or {})
    sent_back = decisions.decision(config, "human_review")
    if question.get("kind") == "changes" and sent_back and sent_back.names:
        question["asked_by"] = sent_back.names
        question["question"] = f"{sent_back.names} asks for changes before anyone decides."
    reply: Reply = interrupt(question, response_schema=Reply)
    return {"reply": reply.model_dump(), "question": question}


async def disburse(state: Loan, config: RunnableConfig) -> Loan:
    """Pay, under the key of the decision: however often this runs, the bank pays once."""
    reference = await bank.transfer(
        str(config.get("configurable", {}).get("bank_url") or ""),
        key=decisions.effect_key(config, "human_review"),
        amount=state["amount"],
        to=state["customer"],
        memo=state["purpose"],
        currency=state["request"]["currency"],
    )
    return {
        "payment": {"reference": reference, "amount": state["amount"], "to": state["customer"]},
        "outcome": f"{state['sum']} paid to {state['customer']}, reference {reference}.",
    }


def decline(state: Loan) -> Loan:
    """Pay nothing, and say so."""
    return {"outcome": "Nothing was paid."}


async def remember(state: Loan, config: RunnableConfig) -> Loan:
    """Keep what became of this loan with the customer; a second run overwrites the first."""
    await earlier.keep(get_store(), config, state)
    return {"outcome": state["outcome"]}


# The routers: small, pure, and logged by the runner with the state they saw.


def after_request(state: Loan) -> Literal["ask_requester", "read_documents"]:
    """Ask while the request is unclear."""
    return "ask_requester" if state.get("question") else "read_documents"


def after_documents(state: Loan) -> Literal["ask_requester", "assess_risk"]:
    """Ask while a document cannot be read."""
    return "ask_requester" if state.get("question") else "assess_risk"


def who_decides(state: Loan) -> Literal["human_review", "disburse"]:
    """A small loan with a low risk is paid at once; everything else goes to people."""
    return "human_review" if evidence.why_people(state) else "disburse"


def after_review(state: Loan) -> Literal["disburse", "decline", "ask_requester"]:
    """Follow the decision."""
    decision = state["decision"]["decision"]
    if decision == "approve":
        return "disburse"
    return "decline" if decision == "reject" else "ask_requester"


# What the nodes above are made of.


def _change(asked: dict[str, Any], reply: dict[str, Any], before: Request) -> dict[str, Any]:
    return {
        "asked": asked.get("note", ""),
        "asked_by": asked.get("asked_by", ""),
        "replied": " ".join(reply["text"].split())[:OWN_WORDS_CHARACTERS],
        "documents": len(reply["documents"]),
        "sum_before": before.sum,
    }


def _after_the_reply(readings: list[dict[str, Any]], reply: dict[str, Any]) -> list[dict[str, Any]]:
    """New files stand in for those that could not be read; "go on without" leaves them out."""
    if not reply["documents"] and not request.goes_on_without(reply["text"]):
        return readings
    return [{**one, "left_out": True} if one["problem"] else one for one in readings]


async def _read(config: RunnableConfig, document_id: str) -> dict[str, Any]:
    documents = config.get("configurable", {}).get("__sayso_documents")
    try:
        if documents is None:
            raise FileRefused("there are no documents here")
        found = await reading.read(await documents.read(document_id))
    except FileRefused as refused:
        found = reading.refused(document_id, "One document", refused.reason)
    return {
        "id": document_id,
        "name": found.name,
        "pages": found.pages,
        "finding": found.finding,
        "figures": found.figures,
        "problem": found.problem,
        "remedy": found.remedy,
        "left_out": False,
    }


builder = StateGraph(Loan)
builder.add_node("read_request", read_request)
builder.add_node("read_documents", read_documents)
builder.add_node("assess_risk", assess_risk)
builder.add_node("human_review", human_review)
builder.add_node("ask_requester", ask_requester)
builder.add_node("disburse", disburse)
builder.add_node("decline", decline)
builder.add_node("remember", remember)
builder.add_edge(START, "read_request")
builder.add_conditional_edges("read_request", after_request)
builder.add_conditional_edges("read_documents", after_documents)
builder.add_conditional_edges("assess_risk", who_decides)
builder.add_conditional_edges("human_review", after_review)
builder.add_edge("ask_requester", "read_request")
builder.add_edge("disburse", "remember")
builder.add_edge("decline", "remember")
builder.add_edge("remember", END)

graph = builder.compile()
