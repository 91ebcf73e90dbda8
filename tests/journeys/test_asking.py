"""A journey for every way of asking: the card, who presses what, and what the graph got.

Between a card and the press everything is killed, so that the process that feeds an answer is
never the one that asked. What is done outside is counted: once each.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio

from tests.journeys.conftest import JSON
from tests.journeys.gathering import Journey, Plan, UnderWay, buttons, gathered

pytestmark = [
    pytest.mark.crash,
    pytest.mark.timeout(400),
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("asking"),
]

JOURNEYS: dict[str, Plan] = {}
NOW = {"text": "now"}
ACTION = ["Approve", "Edit", "Reject", "Answer instead"]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def under_way(
    server: Path,
    template: str,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> AsyncIterator[UnderWay]:
    async with gathered(server, template, tmp_path_factory, request, JOURNEYS) as journeys:
        yield journeys


@dataclass(frozen=True)
class Row:
    """One question and one answer to it.

    `fill` is what is written into the window behind the button; with `wrong` it is first filled
    in so, and `told` is what the field says then.
    """

    graph: str
    sees: tuple[str, ...]
    labels: list[str]
    press: str
    got: JSON
    fill: JSON = None
    wrong: JSON = None
    told: str = ""
    effects: tuple[str, ...] = ()
    state: Mapping[str, JSON] = field(default_factory=dict)

    async def play(self, journey: Journey) -> None:
        await journey.begin(NOW)
        card = await journey.card(*self.sees)
        assert buttons(card) == self.labels
        await journey.power_cut()
        fills = self.fill is not None or self.wrong is not None
        press = journey.open if fills else journey.press
        await press(journey.alice, card, self.press)
        if self.wrong is not None:
            answer = await journey.submit(journey.alice, self.wrong, force=True)
            assert answer["response_action"] == "errors", answer
            assert self.told in str(answer["errors"])
            assert journey.effects == []
        if self.fill is not None:
            answer = await journey.submit(journey.alice, self.fill)
            assert answer["response_action"] is None, answer
        did = self.effects or (f"act {json.dumps(self.got)}",)
        ended = await journey.ends(*did)
        assert ended["state"].items() >= {"answer": self.got, **self.state}.items()
        (review,) = ended["reviews"]
        assert review["status"] == "decided"
        assert [item["decided_by"] for item in review["items"]] == [journey.alice]
        (vote,) = await journey.audit("review.decided")
        assert vote["actor"] == journey.alice


FITS = {"Amount": "40", "Reason": "A van"}
LIMIT = {"amount": 40, "reason": "A van"}
TOO_MUCH = {"Amount": "400", "Reason": "A van"}
FORM = {"sees": ("Which limit?",), "labels": ["Fill in"], "press": "Fill in", "fill": FITS}
ANSWER = {"labels": ["Answer"], "press": "Answer", "fill": "As you like", "got": "As you like"}
INBOX = {"sees": ("wants to: publish post", "Hello", "It goes out at once.")}
INBOX_LABELS = ["Approve", "Edit", "Answer instead", "Skip"]

ROWS = {
    "a text": Row("text", ("Deploy to production now?",), **ANSWER),
    "a number": Row("number", ("needs an answer", "It says only", "42"), **ANSWER),
    "nothing": Row("nothing", ("needs an answer", "It says only", "nothing"), **ANSWER),
    "a list": Row("listed", ("needs an answer", "It says only", "first"), **ANSWER),
    "a dictionary": Row("dictionary", ("Look at the draft", "Score", "7", "deep"), **ANSWER),
    "a pydantic model": Row("model", ("Mend it", "2026-01-02"), **ANSWER),
    "a dataclass": Row("data", ("needs a decision", "X", "Y"), **ANSWER),
    "5,000 characters": Row("long", ("Is this fine?", "first 280 of 6,000"), **ANSWER),
    "120 keys": Row("many", ("Are these fine?", "Key 0", "Under Details"), **ANSWER),
    "an option": Row(
        "options", ("Where to?", "0.5"), ["Staging", "Production", "Something else"],
        "Production", "production",
    ),
    "other words than the options": Row(
        "options", ("Where to?",), ["Staging", "Production", "Something else"],
        "Something else", "yes, production", fill="yes, production",
    ),
    "a form of a pydantic model": Row(
        "model_form",
        **{**FORM, "fill": {**FITS, "Urgent": "Yes"}},
        wrong={**TOO_MUCH, "Urgent": "Yes"},
        told="from 1 to 100",
        got={**LIMIT, "urgent": True},
    ),
    "a form of a TypedDict": Row("typed_dict_form", **FORM, got=LIMIT),
    "a form of a dataclass": Row("dataclass_form", **FORM, got=LIMIT),
    "a form of a JSON Schema": Row(
        "dict_form", **FORM, wrong=TOO_MUCH, told="from 1 to 100", got=LIMIT
    ),
    "characters that no database takes": Row(
        "text", ("Deploy",), ["Answer"], "Answer", "before after", fill="before\x00 \ud800after"
    ),
    "an action in an inbox, approved": Row(
        "inbox", **INBOX, labels=INBOX_LABELS, press="Approve",
        got={"type": "accept", "args": None}, effects=("publish Hello",),
    ),
    "an action in a list, approved": Row(
        "inbox_list", **INBOX, labels=INBOX_LABELS, press="Approve",
        got={"type": "accept", "args": None}, effects=("publish Hello",),
    ),
}  # fmt: skip
JOURNEYS |= {name: Plan(row.play, row.graph) for name, row in ROWS.items()}


# Tool calls of one turn in one question, each call decided by itself

ASK = {"messages": [{"role": "user", "content": "The van never came."}]}
APPROVED = "refunded 40"


@dataclass(frozen=True)
class Call:
    """What people say of the one call of a turn, and what the agent hears of it."""

    label: str
    heard: str
    fill: JSON = None
    effects: tuple[str, ...] = ()

    async def play(self, journey: Journey) -> None:
        await journey.begin(ASK)
        card = await journey.card("wants to: issue refund", "A-1", "40")
        assert buttons(card)[:4] == ACTION
        await journey.power_cut()
        press = journey.open if self.fill is not None else journey.press
        await press(journey.alice, card, self.label)
        if self.fill is not None:
            answer = await journey.submit(journey.alice, self.fill)
            assert answer["response_action"] is None, answer
        ended = await journey.ends(*self.effects)
        assert self.heard in str(ended["state"]["messages"][-1])


CALLS = {
    "a call, approved": Call("Approve", APPROVED, effects=("refund A-1 40",)),
    "a call, edited": Call(
        "Edit", "refunded 30", {"Order": "A-1", "Amount": "30"}, ("refund A-1 30",)
    ),
    "a call, rejected with a reason": Call("Reject", "It is too old", "It is too old"),
    "a call, answered instead": Call("Answer instead", "It is on its way", "It is on its way"),
}
JOURNEYS |= {name: Plan(call.play, "one_call") for name, call in CALLS.items()}


async def rejected_in_the_terminal(journey: Journey) -> None:
    """A reason is asked for in Slack alone; the graph takes a rejection without one."""
    await journey.begin(ASK)
    await journey.card("wants to: issue refund")
    await journey.power_cut()
    status, said = await journey.decide({"decisions": []})
    assert status == 1, said
    status, said = await journey.decide({"decisions": [{"type": "reject"}]})
    assert status == 0, said
    ended = await journey.ends()
    assert "User rejected the tool call" in str(ended["state"]["messages"][-1])


async def decided_by_two(journey: Journey) -> None:
    """Each call has a rule of its own, and whoever has no say in one is told so."""
    await journey.begin(ASK)
    card = await journey.card("wants to: issue refund, send email", "It is paid.")
    await journey.power_cut()
    await journey.press(journey.dana, card, "", action="approve:0")
    (refused,) = await journey.audit("vote.refused")
    assert refused["actor"] == journey.dana
    await journey.press(journey.alice, card, "", action="approve:0")
    card = await journey.shows(card, journey.alice)
    assert journey.effects == []
    await journey.power_cut()
    written = {"To": "asha@x.io", "Text": "It is on its way."}
    await journey.write(journey.dana, card, "", written, action="edit:1")
    ended = await journey.ends("refund A-1 40", "email asha@x.io It is on its way.")
    (review,) = ended["reviews"]
    assert [item["decided_by"] for item in review["items"]] == [journey.alice, journey.dana]
    assert [item["outcome"] for item in review["items"]] == ["approved", "edited"]
    (edited,) = await journey.audit("review.edited")
    assert edited["actor"] == journey.dana
    assert "It is paid." in str(edited["detail"])


async def approved_at_once(journey: Journey) -> None:
    await journey.begin(ASK)
    card = await journey.card("wants to: issue refund, send email")
    await journey.power_cut()
    await journey.press(journey.dana, card, "Approve both")
    ended = await journey.ends("refund A-1 40", "email asha@x.io It is paid.")
    assert [item["outcome"] for item in ended["reviews"][0]["items"]] == ["approved"] * 2


async def one_for_each_call(journey: Journey) -> None:
    await journey.begin(ASK)
    refund = await journey.card("wants to: issue refund", "A-1")
    email = await journey.card("wants to: send email", "asha@x.io")
    assert buttons(email)[:2] == ["Approve", "Reject"]
    await journey.power_cut()
    edit = {"name": "send_email", "args": {"to": "eve@x.io", "text": "Hi"}}
    review = await journey.review_of(email)
    status, said = await journey.decide({"type": "edit", "edited_action": edit}, review=review)
    assert status == 1
    assert "Choose approve or reject" in said
    await journey.write(journey.dana, email, "Reject", "Not now, please")
    await journey.shows(email, journey.dana)
    await journey.power_cut()
    await journey.write(journey.alice, refund, "Edit", {"Order": "A-1", "Amount": "30"})
    ended = await journey.ends("refund A-1 30")
    assert "Not now, please" in str(ended["state"]["messages"][-1])


async def edited_in_an_inbox(journey: Journey) -> None:
    await journey.begin(NOW)
    card = await journey.card("wants to: publish post")
    await journey.power_cut()
    await journey.write(journey.alice, card, "Edit", {"Text": "Good day", "Place": "blog"})
    await journey.ends("publish Good day")


async def answered_in_an_inbox(journey: Journey) -> None:
    await journey.begin(NOW)
    card = await journey.card("wants to: publish post")
    await journey.power_cut()
    await journey.write(journey.alice, card, "Answer instead", "Make it shorter")
    ended = await journey.ends()
    assert ended["state"]["answer"] == {"type": "response", "args": "Make it shorter"}


async def skipped_in_an_inbox(journey: Journey) -> None:
    await journey.begin(NOW)
    card = await journey.card("wants to: publish post")
    await journey.power_cut()
    await journey.press(journey.dana, card, "Skip")
    ended = await journey.ends()
    assert ended["state"]["outcome"] == "ignore"


async def with_a_file(journey: Journey) -> None:
    """5 MB: the card has its head, and the whole is a file."""
    await journey.begin(NOW)
    card = await journey.card("Is all of this fine?", "first 280 of 5,242,880 characters")
    await journey.until("the file", lambda: any(one["files"] for one in journey.seen()))
    await journey.power_cut()
    await journey.write(journey.alice, card, "Answer", "As you like")
    await journey.ends('act "As you like"')


JOURNEYS |= {
    "a call, rejected without a reason": Plan(rejected_in_the_terminal, "one_call"),
    "two calls of a turn, two who decide": Plan(
        decided_by_two,
        "two_calls",
        rules=(
            {"tool": "issue_refund", "approvers": ("alice",)},
            {"tool": "send_email", "approvers": ("dana",)},
        ),
    ),
    "two calls of a turn, approved at once": Plan(approved_at_once, "two_calls"),
    "two calls of a turn, a question for each": Plan(one_for_each_call, "each_call"),
    "an action in an inbox, edited": Plan(edited_in_an_inbox, "inbox_list"),
    "an action in an inbox, edited alone": Plan(edited_in_an_inbox, "inbox"),
    "an action in an inbox, answered": Plan(answered_in_an_inbox, "inbox_list"),
    "an action in an inbox, skipped": Plan(skipped_in_an_inbox, "inbox_list"),
    "5 MB": Plan(with_a_file, "huge"),
}


@pytest.mark.parametrize("name", JOURNEYS)
async def test_what_is_asked_reaches_people_and_what_they_say_reaches_the_graph(
    under_way: UnderWay, name: str
) -> None:
    await under_way[name]
