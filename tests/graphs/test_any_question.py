"""Whatever a graph asks, and however its schema looks: an answer that fits resumes, exactly."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypedDict

import ormsgpack
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from checkpoints.text import clean_json
from graphs import actions, votes
from graphs.forms import form, read
from tests.graphs.conftest import House, loaded
from tests.graphs.schema_samples import fitting

# What JSON can hold in Postgres; what it cannot is cleaned, and that has its own tests.
PAYLOADS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=12,
)
MANY = 3


def can_be_kept(case: tuple[Any, Any]) -> bool:
    """Numbers that JSON and msgpack have; a question with others fails, and says so."""
    try:
        json.dumps(case, allow_nan=False)
        ormsgpack.packb(case)
    except (ValueError, TypeError):
        return False
    return True


FITTING = fitting().filter(can_be_kept)


class Asked(TypedDict, total=False):
    payload: Any
    wanted: Any
    answer: Any


def ask(state: Asked) -> Asked:
    # As JSON text: a dictionary of the state that looks like a message of the engine's would be
    # read as one.
    payload, schema = json.loads(state["payload"]), json.loads(state["wanted"])
    return {"answer": json.dumps(interrupt(payload, response_schema=schema))}


def asking() -> Any:
    builder = StateGraph(Asked)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    return builder.compile()


@settings(
    max_examples=12,
    phases=[Phase.generate],  # each case waits for workers: none is tried again to be made smaller
    deadline=None,
    suppress_health_check=list(HealthCheck),  # a case is large, and many have to be left out
)
@given(cases=st.lists(st.tuples(PAYLOADS, FITTING), min_size=MANY, max_size=MANY))
async def test_an_answer_that_fits_resumes_any_question_with_just_that_answer(
    house: Callable[..., House], cases: list[Any]
) -> None:
    here = house(loaded("work", asking()))
    async with here.working(), here.working():
        threads = []
        for payload, (schema, _) in cases:
            asks = {"payload": json.dumps(payload), "wanted": json.dumps(schema)}
            threads.append(await here.start("work", asks))
        for thread, (_, (schema, value)) in zip(threads, cases, strict=True):
            now = await here.until(thread, "paused", "failed")
            assert now.error is None, (now.error, schema)
            (review,) = await here.open_reviews(thread)
            seen = review.shown(None)
            assert seen.title.strip()
            assert seen.choices or seen.actions
            read(form(schema, value), schema, {})
            got = await here.vote(review.id, value)
            assert isinstance(got, votes.Decided), (got, schema, value)
        for thread, (_, (_, value)) in zip(threads, cases, strict=True):
            await here.until(thread, "done")
            answer = json.loads((await here.values(thread))["answer"])
            assert actions.same(answer, clean_json(value))
