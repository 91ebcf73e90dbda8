"""Small graphs, each named by what it asks and compiled as its author would: without a saver.

What a graph does outside is a line in the file that `config["configurable"]["effects"]` names, so
that it can be counted over processes; while a file of the same name with `.broken` behind it
exists, what is outside does not work. Chat models follow a script by the number of replies that
they see, so that another process goes on where one was killed.
"""

from __future__ import annotations

import json
import operator
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.config import get_config
from langgraph.errors import NodeError
from langgraph.func import entrypoint
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, RetryPolicy, Send, interrupt
from pydantic import BaseModel, Field, field_validator
from typing_extensions import TypedDict as PydanticsTypedDict

from graphs.decisions import decision
from graphs.messages import Message


class State(TypedDict, total=False):
    text: str
    amount: int
    answer: Any
    answers: Annotated[list[Any], operator.add]
    outcome: str


def intake(message: Message) -> tuple[Any, None]:
    """The message is the input, as JSON."""
    return json.loads(message.text), None


# What happens outside


def outside() -> Path:
    return Path(get_config()["configurable"]["effects"])


def did(what: str) -> None:
    with outside().open("a", encoding="utf-8") as file:
        file.write(what + "\n")


def reach_outside() -> None:
    if outside().with_suffix(".broken").exists():
        raise ConnectionError("the bank does not answer")


# Building


def line(*nodes: Callable[..., Any], state: Any = State, **options: Any) -> Any:
    builder = StateGraph(state)
    builder.add_sequence(nodes)
    builder.add_edge(START, nodes[0].__name__)
    builder.add_edge(nodes[-1].__name__, END)
    return builder.compile(**options)


def act(state: State) -> State:
    did(f"act {json.dumps(state['answer'])}")
    return {"outcome": "done"}


def asks(question: Any, response_schema: Any = None) -> Any:
    """A graph that asks this, and then acts on the answer."""

    def ask(state: State) -> State:
        answer = interrupt(question, response_schema=response_schema)
        if isinstance(answer, BaseModel):
            answer = answer.model_dump(mode="json")
        elif hasattr(answer, "__dataclass_fields__"):
            answer = vars(answer)
        return {"answer": answer}

    return line(ask, act)


# Tool calls


class Scripted(FakeMessagesListChatModel):
    """Says its replies one after the other, and at the end what the tools said."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: Any, *rest: Any, **options: Any) -> ChatResult:
        count = sum(message.type == "ai" for message in messages)
        if count < len(self.responses):
            reply = self.responses[count].model_copy(deep=True)
        else:
            reply = AIMessage(" | ".join(str(m.content) for m in messages if m.type == "tool"))
        reply.id = f"reply-{count}"
        return ChatResult(generations=[ChatGeneration(message=reply)])


@tool
def issue_refund(order: str, amount: Annotated[int, Field(ge=1, le=500)]) -> str:
    """Pay money back."""
    did(f"refund {order} {amount}")
    return f"refunded {amount}"


@tool
def send_email(to: str, text: str) -> str:
    """Write to a customer."""
    did(f"email {to} {text}")
    return f"wrote to {to}"


@tool
def confirm_email(to: str) -> str:
    """Write to a customer once somebody said yes."""
    if interrupt({"question": f"Write to {to}?", "options": ["yes", "no"]}) != "yes":
        return f"did not write to {to}"
    did(f"email {to}")
    return f"wrote to {to}"


REFUND = {"name": "issue_refund", "args": {"order": "A-1", "amount": 40}, "id": "c1"}
EMAIL = {"name": "send_email", "args": {"to": "asha@x.io", "text": "It is paid."}, "id": "c2"}
CONFIRMED = [
    {"name": "confirm_email", "args": {"to": f"{who}@x.io"}, "id": f"c-{who}"}
    for who in ("asha", "bina")
]


def agent(*calls: dict[str, Any], **asked: Any) -> Any:
    model = Scripted(responses=[AIMessage("I act.", tool_calls=list(calls))])
    middleware = [HumanInTheLoopMiddleware(**asked)] if asked else []
    return create_agent(model, [issue_refund, send_email, confirm_email], middleware=middleware)


EVERY_CALL = {"issue_refund": True, "send_email": True}
one_call = agent(REFUND, interrupt_on=EVERY_CALL)
two_calls = agent(REFUND, EMAIL, interrupt_on=EVERY_CALL)
each_call = agent(
    REFUND,
    EMAIL,
    interrupt_on={"issue_refund": True, "send_email": {"allowed_decisions": ["approve", "reject"]}},
    interrupt_mode="per_call",
)
tools_that_ask = agent(*CONFIRMED)

INBOX = {
    "action_request": {"action": "publish_post", "args": {"text": "Hello", "place": "blog"}},
    "config": {f"allow_{verb}": True for verb in ("ignore", "respond", "edit", "accept")},
    "description": "It goes out at once.",
}


def human_interrupt(question: Any) -> Any:
    def ask(state: State) -> State:
        given = interrupt(question)
        return {"answer": given[0] if isinstance(question, list) else given}

    def publish(state: State) -> State:
        kind, args = state["answer"]["type"], state["answer"]["args"]
        if kind in ("accept", "edit"):
            did(f"publish {args['args']['text'] if kind == 'edit' else 'Hello'}")
        return {"outcome": kind}

    return line(ask, publish)


inbox = human_interrupt(INBOX)
inbox_list = human_interrupt([INBOX])


# Forms


class Limit(BaseModel):
    amount: int = Field(ge=1, le=100)
    reason: str
    urgent: bool = False


class LimitDict(PydanticsTypedDict):
    amount: int
    reason: str


@dataclass
class LimitData:
    amount: int
    reason: str


class EvenLimit(BaseModel):
    amount: int

    @field_validator("amount")
    @classmethod
    def is_even(cls, amount: int) -> int:
        if amount % 2:
            raise ValueError("only even amounts can be paid")
        return amount


LIMIT_SCHEMA = {
    "title": "A limit",
    "type": "object",
    "properties": {
        "amount": {"type": "integer", "minimum": 1, "maximum": 100},
        "reason": {"type": "string"},
    },
    "required": ["amount", "reason"],
    "additionalProperties": False,
}
model_form = asks({"question": "Which limit?"}, Limit)
typed_dict_form = asks({"question": "Which limit?"}, LimitDict)
dataclass_form = asks({"question": "Which limit?"}, LimitData)
dict_form = asks({"question": "Which limit?"}, LIMIT_SCHEMA)
# Its schema cannot say what its validator wants, so only the node itself finds out.
even_form = asks({"question": "Which even amount?"}, EvenLimit)


# Values


class Ticket(BaseModel):
    id: int
    title: str
    due: date | None = None


@dataclass
class Point:
    x: int
    y: int


text = asks("Deploy to production now?")
number = asks(42)
nothing = asks(None)
listed = asks(["first", "second"])
options = asks({"question": "Where to?", "options": ["staging", "production"], "load": 0.5})
dictionary = asks({"task": "Look at the draft", "score": 7, "deep": {"a": [1, {"b": None}]}})
model = asks(Ticket(id=7, title="Mend it", due=date(2026, 1, 2)))
data = asks(Point(1, 2))
long = asks({"question": "Is this fine?", "draft": "words " * 1_000})
many = asks({"question": "Are these fine?"} | {f"key_{n}": "v" * 200 for n in range(120)})
huge = asks({"question": "Is all of this fine?", "report": "0123456789abcde\n" * 327_680})

FALSY: dict[str, Any] = {
    "Nothing": None,
    "False": False,
    "Zero": 0,
    "Empty text": "",
    "Empty group": {},
    "Empty list": [],
}


def ask_falsy(state: State) -> State:
    choices = [{"label": label, "value": value} for label, value in FALSY.items()]
    answer = interrupt({"question": f"What of {state['text']}?", "options": choices})
    return {"answers": [[state["text"], answer]]}


def act_on_all(state: State) -> State:
    did(f"act {json.dumps(sorted(state['answers'], key=str))}")
    return {"outcome": "done"}


def fan_out(nodes: dict[str, Callable[..., Any]], each: list[str]) -> Any:
    builder = StateGraph(State)
    names = list(nodes)
    for name, node in nodes.items():
        builder.add_node(name, node)
        builder.add_edge(name, "act_on_all")
    builder.add_node("act_on_all", act_on_all)
    builder.add_conditional_edges(
        START,
        lambda _: [Send(names[at % len(names)], {"text": one}) for at, one in enumerate(each)],
        names,
    )
    builder.add_edge("act_on_all", END)
    return builder.compile()


falsy = fan_out({"ask_falsy": ask_falsy}, list(FALSY))


def unserialisable_ask(state: State) -> State:
    return {"answer": interrupt({"lock": threading.Lock()})}


unserialisable = line(unserialisable_ask, act)


# Several at once, and one after the other


def ask_one(state: State) -> State:
    answer = interrupt({"question": f"Is {state['text']} fine?", "options": ["yes", "no"]})
    return {"answers": [f"{state['text']} {answer}"]}


thirty = fan_out({f"ask_{at}": ask_one for at in range(6)}, [f"part {at}" for at in range(30)])


def legal(state: State) -> State:
    answer = interrupt({"question": "Does the law allow it?", "options": ["yes", "no"]})
    did(f"legal {answer}")
    return {"answers": [f"legal {answer}"]}


def finance(state: State) -> State:
    answer = interrupt({"question": "Is there money for it?", "options": ["yes", "no"]})
    did(f"finance {answer}")
    return {"answers": [f"finance {answer}"]}


def beside_each_other() -> Any:
    builder = StateGraph(State)
    for node in (legal, finance, act_on_all):
        builder.add_node(node)
    builder.add_edge(START, "legal")
    builder.add_edge(START, "finance")
    builder.add_edge(["legal", "finance"], "act_on_all")
    builder.add_edge("act_on_all", END)
    return builder.compile()


parallel = beside_each_other()


def prepare(state: State) -> State:
    did("prepare")
    return {"text": "prepared"}


def ask_inside(state: State) -> State:
    return {"answer": interrupt({"question": "Pay from two levels down?", "was": state["text"]})}


def wrapped(name: str, inner: Any, **compiled: Any) -> Any:
    builder = StateGraph(State)
    builder.add_node(name, inner)
    builder.add_edge(START, name)
    builder.add_edge(name, END)
    return builder.compile(**compiled)


def around(inner: Any) -> Any:
    builder = StateGraph(State)
    builder.add_node("prepare", prepare)
    builder.add_node("outer", wrapped("inner", inner))
    builder.add_node("act", act)
    builder.add_edge(START, "prepare")
    builder.add_edge("prepare", "outer")
    builder.add_edge("outer", "act")
    builder.add_edge("act", END)
    return builder.compile()


two_deep = around(line(ask_inside))


def ask_twice(state: State) -> State:
    first = interrupt("What is it called?")
    return {"answer": [first, interrupt(f"What does {first} cost?")]}


twice = line(ask_twice, act)


def ask_until_positive(state: State) -> State:
    question = "How many?"
    while not (answer := interrupt(question)).isdigit():
        question = f"{answer} is no number. How many?"
    return {"answer": int(answer)}


validating = line(ask_until_positive, act)


def manager(state: State) -> Command[Literal["manager", "head", "act"]]:
    options = ["approve", "halve"]
    answer = interrupt({"question": f"Pay {state['amount']}?", "options": options})
    if answer == "halve":
        return Command(goto="manager", update={"amount": state["amount"] // 2})
    return Command(goto="head" if state["amount"] > 1_000 else "act", update={"answer": answer})


def head(state: State) -> Command[Literal["act", "__end__"]]:
    answer = interrupt(
        {"question": f"Above 1,000: pay {state['amount']}?", "options": ["yes", "no"]}
    )
    return Command(goto="act" if answer == "yes" else END, update={"answer": answer})


def two_steps() -> Any:
    builder = StateGraph(State)
    for node in (manager, head, act):
        builder.add_node(node)
    builder.add_edge(START, "manager")
    builder.add_edge("act", END)
    return builder.compile()


goto = two_steps()


# Stops before and after a step


def write(state: State) -> State:
    did("write")
    return {"text": "Dear customer"}


def send(state: State) -> State:
    did(f"send {state['text']}")
    return {"outcome": state["text"]}


stops_before = line(write, send, interrupt_before=["send"])
stops_after = line(write, send, interrupt_after=["write"])
stops_inside = wrapped("letter", line(write, send, interrupt_before=["send"]))


# What goes wrong


def ask(state: State) -> State:
    return {"answer": interrupt({"question": "Pay it?", "options": ["yes", "no"]})}


def pay(state: State) -> State:
    reach_outside()
    did(f"pay {state['answer']}")
    return {"outcome": "paid"}


def ask_and_pay(state: State) -> State:
    answer = interrupt({"question": "Pay it?", "options": ["yes", "no"]})
    reach_outside()
    did(f"pay {answer}")
    return {"answer": answer, "outcome": "paid"}


def pay_at_the_third_attempt(state: State) -> State:
    did("attempt")
    if outside().read_text(encoding="utf-8").count("attempt") < 3:
        raise ConnectionError("the bank does not answer")
    did(f"pay {state['answer']}")
    return {"outcome": "paid"}


def never_pay(state: State) -> State:
    raise ConnectionError("the bank does not answer")


def note_failure(state: State, error: NodeError) -> State:
    did(f"noted {type(error.error).__name__}")
    return {"outcome": "noted"}


def with_policies(node: Callable[..., Any], **policy: Any) -> Any:
    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_node("pay", node, **policy)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", "pay")
    builder.add_edge("pay", END)
    return builder.compile()


failing_later = line(ask, pay)
failing_asker = line(ask_and_pay)
retried = with_policies(
    pay_at_the_third_attempt,
    retry_policy=RetryPolicy(max_attempts=3, initial_interval=0.01, retry_on=ConnectionError),
)
handled = with_policies(never_pay, error_handler=note_failure)


# What is given from outside


@dataclass
class House:
    name: str


def ask_in_house(state: State, runtime: Runtime[House]) -> State:
    return {"answer": interrupt(f"May {runtime.context.name} know it?")}


def act_in_house(state: State, runtime: Runtime[House]) -> State:
    did(f"act in {runtime.context.name}")
    return {"outcome": runtime.context.name}


def in_context() -> Any:
    builder = StateGraph(State, context_schema=House)
    builder.add_sequence([ask_in_house, act_in_house])
    builder.add_edge(START, "ask_in_house")
    builder.add_edge("act_in_house", END)
    return builder.compile()


in_house = in_context()


def record_who(state: State) -> State:
    answer = interrupt("Who says so?")
    decided = decision(get_config(), "record_who")
    assert decided is not None
    did(f"{decided.names} said {answer}")
    return {"answer": answer, "outcome": decided.names}


told_who = line(record_who)


@entrypoint()
def function(given: dict[str, Any]) -> dict[str, Any]:
    answer = interrupt({"question": f"Go on with {given['text']}?", "options": ["yes", "no"]})
    did(f"act {answer}")
    return {"outcome": answer}


# A chat


def reply(state: MessagesState) -> Any:
    said = str(state["messages"][-1].content)
    if "refund" not in said:
        return {"messages": [AIMessage(f"You said: {said}")]}
    answer = interrupt({"question": f"Do it: {said}?", "options": ["yes", "no"]})
    did(f"asked for {said}: {answer}")
    return {"messages": [AIMessage(f"The answer is {answer}.")]}


chat = line(reply, state=MessagesState)
