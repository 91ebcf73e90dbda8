"""Graphs for `sayso try`: what they did outside stands in the file named by `log`."""

from __future__ import annotations

import operator
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel, field_validator

from graphs.decisions import effect_key

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\r\nYour choice: "


class Talk(TypedDict, total=False):
    topic: str
    name: Any
    colour: Any
    age: Any
    votes: Annotated[list[Any], operator.add]


def note(config: RunnableConfig, what: str) -> None:
    log = config["configurable"].get("log")
    if log:
        with Path(log).open("a") as file:
            file.write(what + "\n")


def line(state: type[Any], *nodes: Any, **options: Any) -> Any:
    builder = StateGraph(state)
    builder.add_sequence(nodes)
    builder.add_edge(START, nodes[0].__name__)
    builder.add_edge(nodes[-1].__name__, END)
    return builder.compile(**options)


def prepare(state: Talk, config: RunnableConfig) -> Talk:
    note(config, "prepared")
    return {}


def ask_name(state: Talk) -> Talk:
    return {"name": interrupt("What is your name?")}


def ask_for_calls(state: Talk) -> Talk:
    calls = [{"name": "pay", "args": {"sum": 4000}}, {"name": "mail", "args": {"text": "Hello"}}]
    allowed = ["approve", "edit", "reject", "respond"]
    configs = [{"action_name": one["name"], "allowed_decisions": allowed} for one in calls]
    return {"votes": [interrupt({"action_requests": calls, "review_configs": configs})]}


def ask_colour(state: Talk, config: RunnableConfig) -> Talk:
    asked = {"question": "Which colour?", "size": 60_000, "options": ["red", "blue"]}
    colour = interrupt(asked)
    note(config, f"coloured {colour}")
    return {"colour": colour}


def ask_age(state: Talk) -> Talk:
    return {"age": interrupt(None, response_schema={"type": "integer", "minimum": 18})}


conversation = line(Talk, prepare, ask_name, ask_colour, ask_age)


def ask_number(state: Talk) -> Talk:
    return {"age": interrupt({"question": "How many?", "options": [3, 2, 1]})}


numbers = line(Talk, ask_number)


def ask_anything(state: Talk) -> Talk:
    return {"age": [interrupt(one) for one in ({"a": {"b": 1}}, 7, ["x"])]}


anything = line(Talk, ask_anything)


def left(state: Talk) -> Talk:
    return {"votes": [{"left": interrupt("Left?")}]}


def right(state: Talk) -> Talk:
    return {"votes": [{"right": interrupt("Right?")}]}


def join(state: Talk, config: RunnableConfig) -> Talk:
    note(config, "joined")
    return {"topic": "joined"}


both = StateGraph(Talk)
both.add_node("left", left)
both.add_node("right", right)
both.add_node("join", join)
both.add_edge(START, "left")
both.add_edge(START, "right")
both.add_edge(["left", "right"], "join")


def hostile_ask(state: Talk) -> Talk:
    interrupt({"question": ESCAPES, ESCAPES: ESCAPES, "deep": {ESCAPES: [ESCAPES]}})
    return {"topic": ESCAPES, "name": {ESCAPES: ESCAPES}}


hostile = line(Talk, hostile_ask)


def hostile_fail(state: Talk) -> Talk:
    raise ValueError(ESCAPES)


failing = line(Talk, hostile_fail)


def pay(state: Talk, config: RunnableConfig) -> Talk:
    note(config, "paid")
    return {}


stopping = line(Talk, prepare, pay, interrupt_before=["pay"])


def act(state: Talk, config: RunnableConfig) -> Talk:
    log = Path(config["configurable"]["log"])
    note(config, "began")
    if log.read_text() == "prepared\nbegan\n":
        time.sleep(600)
    return {"topic": "acted"}


slow = line(Talk, prepare, act)


def ask_with_key(state: Talk, config: RunnableConfig) -> Talk:
    note(config, effect_key(config, "pay"))
    return {"topic": interrupt("Pay?")}


keyed = line(Talk, ask_with_key)


class Even(BaseModel):
    value: int

    @field_validator("value")
    @classmethod
    def _is_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("write an even number")
        return value


class Picked(TypedDict, total=False):
    picked: Even
    said: Any


def pick(state: Picked) -> Picked:
    return {"picked": interrupt("An even one?", response_schema=Even)}


def look(state: Picked, config: RunnableConfig) -> Picked:
    note(config, type(state["picked"]).__name__)
    interrupt("Go on?")
    return {}


picky = line(Picked, pick, look)


def name_and_pick(state: Picked) -> Picked:
    said = interrupt("What is it called?")
    return {"picked": interrupt("An even one?", response_schema=Even), "said": said}


picky_second = line(Picked, name_and_pick)


def judge(state: Talk) -> Talk:
    said = interrupt("yes or no?")
    if said not in ("yes", "no"):
        raise ValueError(f"what is {said}")
    return {"topic": said}


judging = line(Talk, judge)


def judge_twice(state: Talk) -> Talk:
    first = interrupt("first?")
    return {**judge(state), "name": first}


twice = line(Talk, judge_twice)
nested = StateGraph(Talk)
nested.add_node("inner", line(Talk, judge_twice))
nested.add_edge(START, "inner")


@dataclass
class Secretive:
    words: str


def hide(state: Picked) -> Picked:
    return {"said": Secretive("x")}


def reveal(state: Picked) -> Picked:
    interrupt("Go on?")
    return {"said": state["said"].words}


hiding = line(Picked, hide, reveal)


def reply(state: MessagesState) -> dict[str, Any]:
    return {"messages": [AIMessage(f"You said {len(state['messages'])} things.")]}


chat = line(MessagesState, reply)
calling = line(Talk, ask_for_calls)
