"""A journey for every way to pause: several questions at once, stops, failures, deploys, turns.

Between a card and the press everything is killed, so that the process that feeds an answer is
never the one that asked. What is done outside is counted: once each.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from tests.journeys import asking
from tests.journeys.conftest import JSON
from tests.journeys.gathering import Journey, Plan, Play, UnderWay, buttons, gathered

pytestmark = [
    pytest.mark.crash,
    pytest.mark.timeout(400),
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("pausing"),
]

JOURNEYS: dict[str, Plan] = {}
NOW = {"text": "now"}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def under_way(
    server: Path,
    template: str,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> AsyncIterator[UnderWay]:
    async with gathered(server, template, tmp_path_factory, request, JOURNEYS) as journeys:
        yield journeys


def journey(graph: str, **plan: JSON) -> Callable[[Play], Play]:
    """This is a journey of that graph; its name says what is promised."""

    def add(play: Play) -> Play:
        JOURNEYS[play.__name__.replace("_", " ")] = Plan(play, graph, **plan)
        return play

    return add


# Several questions at once


SPREAD = tuple(f"C0THIRTY{at}" for at in range(6))


@journey(
    "thirty",
    places=SPREAD,
    rules=tuple({"node": f"ask_{at}", "channel": place} for at, place in enumerate(SPREAD)),
)
async def thirty_questions_at_once_are_answered_in_any_order(on: Journey) -> None:
    await on.begin(NOW)
    cards = [card for place in SPREAD for card in await on.cards(5, "fine?", place=place)]
    await on.power_cut()
    for number, card in enumerate(reversed(cards)):
        if number == 15:
            assert on.effects == []
            await on.power_cut()
        await on.press((on.alice, on.dana)[number % 2], card, "Yes")
    every = sorted(f"part {at} yes" for at in range(30))
    ended = await on.ends(f"act {json.dumps(every)}")
    assert sorted(ended["state"]["answers"]) == every
    assert len(await on.audit("review.decided")) == 30
    shown = {card["ts"] for place in SPREAD for card in on.seen(place)}
    assert shown == {card["ts"] for card in cards}  # no card twice


async def one_then_the_other(on: Journey, first: str, second: str) -> None:
    await on.begin(NOW)
    cards = {name: await on.card(name) for name in ("Does the law allow it?", "Is there money")}
    for card in cards.values():
        await on.shows(card, "1 more question of this request is open")
    await on.power_cut()
    await on.press(on.alice, cards[first], "Yes")
    await on.shows(cards[first], "Yes", on.alice)
    await on.power_cut()
    await on.press(on.dana, cards[second], "No")
    law, money = ("yes", "no") if first.startswith("Does") else ("no", "yes")
    joined = json.dumps([f"finance {money}", f"legal {law}"])
    await on.ends(f"legal {law}", f"finance {money}", f"act {joined}")


@journey("parallel")
async def two_parallel_questions_first_the_one(on: Journey) -> None:
    await one_then_the_other(on, "Does the law allow it?", "Is there money")


@journey("parallel")
async def two_parallel_questions_first_the_other(on: Journey) -> None:
    await one_then_the_other(on, "Is there money", "Does the law allow it?")


@journey("tools_that_ask")
async def two_tools_that_ask_at_the_same_time(on: Journey) -> None:
    await on.begin({"messages": [{"role": "user", "content": "write"}]})
    asha, bina = await on.card("Write to asha"), await on.card("Write to bina")
    await on.power_cut()
    await on.press(on.alice, bina, "Yes")
    await on.shows(bina, on.alice)
    await on.power_cut()
    await on.press(on.alice, asha, "No")
    ended = await on.ends("email bina@x.io")
    assert "did not write to asha@x.io | wrote to bina@x.io" in str(ended["state"]["messages"][-1])


@journey("two_deep")
async def a_question_two_subgraphs_down(on: Journey) -> None:
    await on.begin(NOW)
    card = await on.card("Pay from two levels down?", "prepared")
    await on.power_cut()
    await on.write(on.alice, card, "Answer", "as you like")
    await on.ends("prepare", 'act "as you like"')


@journey("twice")
async def a_second_question_in_the_same_step(on: Journey) -> None:
    await on.begin(NOW)
    first = await on.card("What is it called?")
    await on.power_cut()
    await on.write(on.alice, first, "Answer", "a van")
    second = await on.card("What does a van cost?", after=first)
    await on.power_cut()
    await on.write(on.dana, second, "Answer", "40")
    await on.ends('act ["a van", "40"]')
    await on.until("the outcome, after two cards and the progress", lambda: on.seen()[3:] or None)
    assert len(on.seen()) == 4


@journey("validating")
async def a_step_that_asks_again_until_the_answer_will_do(on: Journey) -> None:
    await on.begin(NOW)
    first = await on.card("How many?")
    await on.power_cut()
    await on.write(on.alice, first, "Answer", "three")
    second = await on.card("three is no number. How many?", after=first)
    await on.power_cut()
    await on.write(on.alice, second, "Answer", "3")
    await on.ends("act 3")


@journey("goto")
async def two_people_one_after_the_other_with_a_way_back(on: Journey) -> None:
    await on.begin({"amount": 4000})
    first = await on.card("Pay 4000?")
    await on.power_cut()
    await on.press(on.alice, first, "Halve")
    second = await on.card("Pay 2000?", after=first)
    await on.power_cut()
    await on.press(on.alice, second, "Approve")
    third = await on.card("Above 1,000: pay 2000?", after=second)
    await on.press(on.dana, third, "Yes")
    await on.ends('act "yes"')


@journey("falsy")
async def none_false_zero_and_what_is_empty_are_answers(on: Journey) -> None:
    await on.begin(NOW)
    cards = {label: await on.card(f"What of {label}?") for label in asking.FALSY}
    await on.power_cut()
    for label, card in cards.items():
        await on.press(on.alice, card, label)
    ended = await on.ends(f"act {json.dumps(sorted(map(list, asking.FALSY.items()), key=str))}")
    assert dict(ended["state"]["answers"]) == asking.FALSY


# Stops before and after a step


async def stopped_letter(on: Journey) -> JSON:
    await on.begin(NOW)
    card = await on.card("waits before: send", "Dear customer")
    assert buttons(card) == ["Continue", "Change values", "Stop"]
    assert on.effects == ["write"]
    await on.power_cut()
    return card


@journey("stops_before")
async def a_stop_before_a_step_goes_on(on: Journey) -> None:
    await on.press(on.alice, await stopped_letter(on), "Continue")
    await on.ends("write", "send Dear customer")


@journey("stops_before")
async def a_stop_before_a_step_goes_on_with_other_values(on: Journey) -> None:
    card = await stopped_letter(on)
    await on.write(on.alice, card, "Change values", {"Text": "Dear Asha"})
    ended = await on.ends("write", "send Dear Asha")
    assert ended["reviews"][0]["items"][0]["answer"] == {
        "do": "change",
        "values": {"text": "Dear Asha"},
    }


@journey("stops_before")
async def a_stop_before_a_step_ends_there(on: Journey) -> None:
    await on.press(on.alice, await stopped_letter(on), "Stop")
    await on.ends("write", status="cancelled")


@journey("stops_after")
async def a_stop_after_a_step_goes_on(on: Journey) -> None:
    await on.press(on.alice, await stopped_letter(on), "Continue")
    await on.ends("write", "send Dear customer")


@journey("stops_inside")
async def a_stop_inside_a_subgraph_goes_on_with_other_values(on: Journey) -> None:
    card = await stopped_letter(on)
    await on.write(on.alice, card, "Change values", {"Text": "Dear Asha"})
    await on.ends("write", "send Dear Asha")


# What goes wrong


@journey("unserialisable")
async def a_question_that_cannot_be_stored_fails_with_the_step_and_the_type(on: Journey) -> None:
    await on.begin(NOW)
    failed = await on.stands("failed")
    assert failed.error is not None
    assert failed.error.node == "unserialisable_ask"
    assert "lock" in failed.error.message
    await on.told("unserialisable_ask asks with a value of type lock")
    await on.power_cut()
    assert on.effects == []


@journey("even_form")
async def an_answer_that_the_step_rejects_is_asked_again_with_what_it_said(on: Journey) -> None:
    await on.begin(NOW)
    card = await on.card("Which even amount?")
    await on.power_cut()
    await on.write(on.alice, card, "Fill in", {"Amount": "3"})
    again = await on.card("only even amounts can be paid", "Fill in")
    await on.power_cut()
    await on.write(on.alice, again, "Fill in", {"Amount": "4"})
    ended = await on.ends('act {"amount": 4}')
    assert ended["state"]["answer"] == {"amount": 4}
    (set_aside,) = await on.audit("review.set_aside")
    assert "only even amounts can be paid" in str(set_aside["detail"])


async def failed_after_yes(on: Journey, *texts: str) -> JSON:
    on.broken.touch()
    await on.begin(NOW)
    card = await on.card("Pay it?")
    await on.power_cut()
    await on.press(on.alice, card, "Yes")
    card = await on.shows(card, "the bank does not answer", *texts)
    await on.stands("failed")
    on.broken.unlink()
    await on.power_cut()
    return card


@journey("failing_later")
async def a_failure_in_a_later_step_is_tried_again_by_a_button(on: Journey) -> None:
    card = await failed_after_yes(on, "2", "Try again")
    await on.press(on.alice, card, "Try again")
    await on.ends("pay yes")
    assert len(await on.audit("review.decided")) == 1


@journey("failing_asker")
async def a_failure_in_the_step_that_asked_is_tried_again_with_the_same_answer(
    on: Journey,
) -> None:
    card = await failed_after_yes(on, "Try again", "Ask again")
    await on.press(on.alice, card, "Try again")
    await on.ends("pay yes")


@journey("failing_asker")
async def a_failure_in_the_step_that_asked_is_asked_again(on: Journey) -> None:
    card = await failed_after_yes(on, "Try again", "Ask again")
    await on.press(on.alice, card, "Ask again")
    again = await on.card("Pay it?", "Needs", after=card)
    await on.press(on.dana, again, "No")
    await on.ends("pay no")


@journey("retried")
async def a_step_with_a_retry_policy_of_its_own_is_tried_again_by_it(on: Journey) -> None:
    await on.begin(NOW)
    card = await on.card("Pay it?")
    await on.power_cut()
    await on.press(on.alice, card, "Yes")
    await on.ends("attempt", "attempt", "attempt", "pay yes")


@journey("handled")
async def a_step_with_an_error_handler_goes_on_there(on: Journey) -> None:
    await on.begin(NOW)
    card = await on.card("Pay it?")
    await on.power_cut()
    await on.press(on.alice, card, "Yes")
    ended = await on.ends("noted ConnectionError")
    assert ended["state"]["outcome"] == "noted"


# What is given from outside


@journey("in_house", spec={"context": {"name": "Asha"}})
async def the_context_of_a_thread_is_given_again_after_the_answer(on: Journey) -> None:
    await on.begin(NOW)
    card = await on.card("May Asha know it?")
    await on.power_cut()
    await on.write(on.alice, card, "Answer", "yes")
    await on.ends("act in Asha")


@journey("told_who")
async def the_step_is_told_who_said_so(on: Journey) -> None:
    await on.begin(NOW)
    card = await on.card("Who says so?")
    await on.power_cut()
    await on.write(on.alice, card, "Answer", "me")
    await on.ends("Alice said me")


@journey("function")
async def a_function_with_entrypoint_asks_too(on: Journey) -> None:
    await on.begin(NOW)
    card = await on.card("Go on with now?")
    await on.power_cut()
    await on.press(on.alice, card, "Yes")
    await on.ends("act yes")


# Deploys: the code is another one when everything starts again

RELEASED = """
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from tests.journeys.asking import did


class State(TypedDict, total=False):
    text: str
    answer: Any


def prepare(state: State) -> State:
    did("prepare")
    return {"text": "prepared"}


def ask(state: State) -> State:
    return {"answer": interrupt("Pay it?")}


def act(state: State) -> State:
    did(f"act {state['answer']}")
    return {}


builder = StateGraph(State)
builder.add_sequence([prepare, ask, act])
builder.add_edge(START, "prepare")
builder.add_edge("act", END)
graph = builder.compile()
"""


def deployed(module: str) -> Callable[[Play], Play]:
    return journey(f"{module}:graph", files={f"{module}.py": RELEASED})


def release(on: Journey, module: str, *changes: tuple[str, str]) -> Callable[[], None]:
    """The release with these changes."""
    text = RELEASED
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return lambda: on.change_file(f"{module}.py", text)


async def waiting(on: Journey) -> JSON:
    await on.begin(NOW)
    card = await on.card("Pay it?")
    assert on.effects == ["prepare"]
    return card


async def held_for_its_code(on: Journey, card: JSON, module: str, why: str) -> None:
    """Held before anybody decides on it; with the old code back it goes on where it was."""
    held = await on.stands("held")
    assert why in str(held.mark_reason)
    await on.shows(card, "On hold", why)
    assert on.effects == ["prepare"]
    await on.power_cut(release(on, module))
    await on.shows(card, "Needs")
    await on.write(on.alice, card, "Answer", "yes")
    await on.ends("prepare", "act yes")


@deployed("renamed")
async def a_deploy_that_renames_the_step_holds_the_thread_until_it_is_mended(on: Journey) -> None:
    card = await waiting(on)
    await on.power_cut(release(on, "renamed", ("def ask", "def inquire"), (" ask,", " inquire,")))
    await held_for_its_code(on, card, "renamed", "ask")


@deployed("reworded")
async def a_deploy_that_changes_the_question_asks_it_anew(on: Journey) -> None:
    card = await waiting(on)
    await on.power_cut(release(on, "reworded", ("Pay it?", "Pay it today?")))
    await on.write(on.alice, card, "Answer", "yes")
    fresh = await on.card("Pay it today?", after=card)
    await on.shows(card, "Replaced.")
    assert on.effects == ["prepare"]
    await on.write(on.alice, fresh, "Answer", "no")
    await on.ends("prepare", "act no")


@deployed("preceded")
async def a_deploy_that_asks_something_before_gives_no_answer_to_the_wrong_question(
    on: Journey,
) -> None:
    card = await waiting(on)
    before = 'return {"answer": interrupt("Pay'
    asks = f'who = interrupt("Who pays?")\n    {before}'
    await on.power_cut(release(on, "preceded", (before, asks)))
    await held_for_its_code(on, card, "preceded", "asks something else before")


@deployed("elsewhere")
async def a_deploy_that_changes_another_step_runs_with_it(on: Journey) -> None:
    card = await waiting(on)
    await on.power_cut(release(on, "elsewhere", ('did(f"act ', 'did(f"act anew ')))
    await on.write(on.alice, card, "Answer", "yes")
    await on.ends("prepare", "act anew yes")


# Going back


@journey("two_deep")
async def a_thread_that_is_taken_back_asks_what_was_approved_again(on: Journey) -> None:
    await on.begin(NOW)
    first = await on.card("Pay from two levels down?")
    await on.write(on.alice, first, "Answer", "yes")
    await on.ends("prepare", 'act "yes"')
    await on.power_cut()
    steps = (await on.product.json("threads", "history", on.thread.id))["steps"]
    step = next(step for step in steps if step["next"] == ["outer"])
    await on.product.run("threads", "rewind", on.thread.id, str(step["number"]), "--yes")
    again = await on.card("Pay from two levels down?", "Needs", after=first)
    await on.power_cut()
    await on.write(on.dana, again, "Answer", "no")
    ended = await on.ends("prepare", 'act "yes"', 'act "no"')
    assert [review["status"] for review in ended["reviews"]][-1] == "decided"
    (rewound,) = await on.audit("thread.rewound")
    assert rewound["actor"].startswith("cli:")


# Turns


@journey("chat", spec={"intake": None, "replies": None})
async def a_chat_takes_turns_and_keeps_what_is_said_while_it_waits(on: Journey) -> None:
    root = await on.begin("hello")
    await on.told("You said: hello")
    await on.say("a refund of 40", root)
    card = await on.card("Do it: a refund of 40?")
    await on.say("and quickly", root)
    await on.power_cut()
    assert (await on.stands("paused")).open_reviews
    await on.press(on.alice, card, "Yes")
    await on.told("You said: and quickly")
    ended = await on.ends("asked for a refund of 40: yes")
    said = [str(message["content"]) for message in ended["state"]["messages"]]
    assert said == [
        "hello", "You said: hello", "a refund of 40", "The answer is yes.",
        "and quickly", "You said: and quickly",
    ]  # fmt: skip


@pytest.mark.parametrize("name", JOURNEYS)
async def test_a_thread_pauses_and_goes_on(under_way: UnderWay, name: str) -> None:
    await under_way[name]
