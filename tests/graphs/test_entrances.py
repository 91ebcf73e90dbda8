"""How a graph is begun is told from the graph: a chat, a text, or a form."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from operator import add
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from langgraph.func import entrypoint
from langgraph.graph import START, StateGraph
from pydantic import BaseModel, Field

from graphs import documents, inputs, threads
from graphs.entrances import Entrance, entrance_of, told_by
from graphs.registry import default_intake
from graphs.specs import GraphSpec
from graphs.threads import FileRef, Message
from tests.graphs.conftest import House, loaded

MESSAGE = Message("hello", "U0BOB", (FileRef("F1", "a.pdf", 3, "", document_id="7"),))


class Refund(TypedDict):
    order_id: str
    amount: Annotated[float, Field(ge=1)]
    why: Literal["late", "broken"]
    when: NotRequired[date]
    documents: NotRequired[list[str]]


class Words(TypedDict):
    text: str
    documents: list[str]


class Topic(TypedDict):
    topic: str


class State(TypedDict, total=False):
    text: str
    decision: str
    amount: float


class Open(TypedDict):
    order_id: str
    amount: float
    log: Annotated[list[str], add]


class Talk(TypedDict):
    messages: Annotated[list[Any], add]
    topic: str


class Model(BaseModel):
    text: str
    amount: int = Field(3, title="How many")


class Odd(TypedDict):
    thing: object
    amount: int


def graph(state: Any, **schemas: Any) -> Any:
    builder = StateGraph(state, **schemas)
    builder.add_node("go", lambda _: {})
    builder.add_edge(START, "go")
    return builder.compile()


def entrance(state: Any, *, spec: Any = None, **schemas: Any) -> Entrance:
    return entrance_of(loaded("g", graph(state, **schemas), **(spec or {})))


def test_an_input_of_several_values_is_a_form_without_its_documents() -> None:
    got = entrance(State, input_schema=Refund)
    assert list(got.form["properties"]) == ["order_id", "amount", "why", "when"]
    assert got.form["required"] == ["order_id", "amount", "why"]
    assert got.form["properties"]["amount"] == {"title": "Amount", "type": "number", "minimum": 1}
    assert got.documents
    assert got.whole({"order_id": "A"}) == {"order_id": "A", "documents": []}


@pytest.mark.parametrize(
    ("state", "schemas", "spec"),
    [
        (Talk, {}, {}),
        (State, {}, {}),  # no input is declared and it has a text: words will do
        (State, {"input_schema": Words}, {}),
        (State, {"input_schema": Topic}, {}),
        (State, {"input_schema": Refund}, {"intake": "own:intake"}),
    ],
    ids=["a chat", "a state with a text", "a text with files", "one text", "its own intake"],
)
def test_where_words_are_enough_there_is_no_form(state: Any, schemas: Any, spec: Any) -> None:
    assert entrance(state, spec=spec, **schemas).form is None


def test_of_a_state_without_declared_input_nothing_must_be_filled_in() -> None:
    form = entrance(Open).form
    assert (list(form["properties"]), form["required"]) == (["order_id", "amount"], [])


def test_a_model_is_a_form_with_its_own_words() -> None:
    got = entrance(State, input_schema=Model)
    assert got.form["properties"]["amount"]["title"] == "How many"
    assert got.form["required"] == ["text"]
    assert got.initial("60 of them") == {"text": "60 of them"}
    assert got.initial('{"amount": 4, "other": 1}') == {"amount": 4}
    assert entrance(State, input_schema=Refund).initial("60 of them") == {}


def test_a_type_that_cannot_be_looked_at_is_a_field_of_any_kind() -> None:
    form = entrance(Odd).form
    assert form["properties"]["thing"] == {"title": "Thing"}


def test_an_entrypoint_is_a_form_a_text_or_neither() -> None:
    @entrypoint()
    def refund(given: Refund) -> str:
        return given["order_id"]

    @entrypoint()
    def shout(given: str) -> str:
        return given.upper()

    @entrypoint()
    def anything(given: dict[str, Any]) -> str:
        return str(given)

    assert entrance_of(loaded("g", shout)).form is None
    assert default_intake(shout)(MESSAGE) == ("hello", None)
    assert entrance_of(loaded("g", anything)).form is None
    assert default_intake(anything)(MESSAGE)[0] == {"text": "hello", "documents": ["7"]}
    # On Python 3.11 pydantic does not look into a TypedDict of typing: then words must do.
    form = entrance_of(loaded("g", refund)).form
    assert form is None or "order_id" in form["properties"]


@pytest.mark.parametrize(
    ("state", "schemas", "expected"),
    [
        (Talk, {}, {"messages": [{"role": "user", "content": "hello"}]}),
        (State, {}, {"text": "hello"}),
        (State, {"input_schema": Words}, {"text": "hello", "documents": ["7"]}),
        (State, {"input_schema": Topic}, {"topic": "hello"}),
    ],
)
def test_words_go_where_the_graph_takes_them(state: Any, schemas: Any, expected: Any) -> None:
    assert default_intake(graph(state, **schemas))(MESSAGE) == (expected, None)


def test_a_json_object_that_fits_stands_for_the_filled_in_form() -> None:
    got = entrance(State, input_schema=Refund)
    fits = '{"order_id": "A-1", "amount": 30, "why": "late"}'
    assert got.written(fits) == (
        {"order_id": "A-1", "amount": 30, "why": "late", "documents": []},
        None,
    )
    _, wrong = got.written('{"order_id": "A-1", "amount": "much", "why": "late"}') or (None, None)
    assert wrong is not None
    assert "amount" in wrong
    assert got.written('{"order_id": "A-1"}') == ({"order_id": "A-1"}, "The input lacks amount.")
    for words in ("refund A-1", "{not json", "[1]", ""):
        assert got.written(words) is None
    assert Entrance().written(fits) is None


def test_what_the_configuration_says_needs_no_loading() -> None:
    assert told_by(GraphSpec(path="a:b", replies="kept")) is None
    told = told_by(GraphSpec(path="a:b", intake="a:i", replies="cancel"))
    assert told is not None
    assert (told.turns, told.cancels) == (True, True)
    assert inputs.text_field(graph(Open)) is None


async def test_the_files_of_a_message_become_the_documents_of_the_form_it_led_to(
    house: Callable[..., House],
) -> None:
    async def fetch(file: FileRef) -> bytes:
        return b"the quote"

    here = house(loaded("refund", graph(State, input_schema=Refund)))
    message = Message("for this", "U0BOB", (FileRef("F1", "quote.txt", 9, "http://files/F1"),))
    async with here.working(fetch=fetch):
        value = {"order_id": "A-1", "amount": 3, "why": "late", "documents": []}
        thread_id = await here.start("refund", input=value, message=message)
        await here.until(thread_id, "done")
    (document,) = await documents.of_thread(here.database, thread_id)
    kept = await here.values(thread_id)
    assert kept["order_id"] == "A-1"
    assert kept["documents"] == [document.id]
    assert [each.text for each in await threads.messages(here.database, thread_id)] == ["for this"]
