"""Whatever stands in a view, what comes out passes the gate and mentions nobody it should not."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bot import details, home, known, lapses, limits, modals, notices, windows
from bot.cards import render
from bot.simulator import strictness
from bot.views import (
    ActionView,
    Asked,
    AskView,
    CardView,
    Change,
    Decides,
    LapseView,
    NoticeView,
    Person,
    Status,
    StepLine,
    UserGroup,
    Vote,
    Words,
)
from graphs.questions import Choice, Group, Line, Shown, shown
from tests.bot.card_samples import CARDS, LOAN
from tests.bot.test_cards import walk
from tests.bot.window_samples import (
    DETAILS,
    EARLIER,
    HOME,
    KNOWN,
    OUTCOME,
    PROGRESS,
    REF,
    REFUSALS,
    TITLE,
)

# A failing example may be long, and is still worth seeing
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

NASTY = (
    "<!channel>", "<!here>", "<@U0ALICE>", "<!subteam^S0HEADS>", "<https://evil.example|Approve>",
    "*bold*", ":tada:", "`code`", "\u202etxet\u202c", "\u200b", "\x00", "\ud800", "\udfff", "&lt;",
    "<!date^1^{date}|now>", "|", ">", "\n", "😀", "\\", '"', "}", "{who}", "%s", "", " ",
)  # fmt: skip
PIECES = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=20)), max_size=6).map("".join)
TEXTS = st.one_of(
    PIECES, st.tuples(PIECES, st.sampled_from([1, 40, 2_500])).map(lambda pair: pair[0] * pair[1])
).map(lambda text: text[:50_000])
PEOPLE = st.builds(
    Person, st.sampled_from(["U0BOB", "U0ALICE", "", "<!channel>", "u1", "U0BOB>"]), TEXTS
)
GROUPS = st.builds(UserGroup, st.sampled_from(["S0CREDIT", "", "S0> <!here"]), TEXTS, st.booleans())
VERBS = st.sampled_from(
    ["approve", "approve_with_conditions", "reject", "answer", "x", "", "a" * 300]
)
LINES = st.builds(Line, TEXTS, st.none() | TEXTS)
QUESTIONS = st.builds(
    Shown,
    title=TEXTS,
    facts=st.lists(st.tuples(TEXTS, TEXTS), max_size=12).map(tuple),
    groups=st.lists(
        st.builds(
            Group, TEXTS, st.lists(LINES, max_size=6).map(lambda few: tuple(few * 20)),
            st.sampled_from(["bullets", "quote", "plain"]),
        ),
        max_size=5,
    ).map(tuple),
    if_approved=TEXTS, if_nobody=TEXTS, plain=TEXTS, consequence=TEXTS, running=TEXTS,
    not_done=TEXTS, failing=TEXTS, failed=TEXTS, again=TEXTS,
    choices=st.lists(
        st.builds(Choice, VERBS, TEXTS, st.sampled_from(["", "primary", "danger"])), max_size=7
    ).map(tuple),
    asks=st.sampled_from(["decision", "answer"]),
)  # fmt: skip
VOTES = st.lists(
    st.builds(Vote, PEOPLE, VERBS, st.just(LOAN.asked_at), st.none() | TEXTS, TEXTS), max_size=8
).map(tuple)
DECIDES = st.builds(
    Decides, st.integers(1, 9), st.lists(GROUPS, max_size=3).map(tuple),
    st.lists(PEOPLE, max_size=3).map(tuple), TEXTS,
)  # fmt: skip
HARD = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
KNOWN_IDS = {"U0BOB", "U0ALICE", "U0DANA", "U0ERIN", "U0OSCAR", "S0CREDIT", "S0HEADS"}
TOKENS = re.compile(r"<[^>]*>")
OURS = re.compile(
    r"<@U0[A-Z]+>|<!subteam\^S0[A-Z]+>|<!date\^\d+\^[^|<>]+\|[^|<>]+>|<https://sayso\.example[^|<>]*\|"
    r"[^|<>]*>"
)


def assert_harmless(blocks: list[dict[str, Any]], text: str = "") -> None:
    """No token that is not ours, no element that acts, nothing invisible."""
    assert not TOKENS.search(text)
    for part in walk(blocks):
        if part.get("type") == "mrkdwn":
            for token in TOKENS.findall(part["text"]):
                assert OURS.fullmatch(token), token
        assert part.get("type") not in ("broadcast", "emoji", "channel", "color")
        for name in ("user_id", "usergroup_id"):
            assert part.get(name) is None or part[name] in KNOWN_IDS
    assert not re.search("[\x00\u202e\u200b]", json.dumps(blocks, ensure_ascii=False))


@HARD
@given(
    QUESTIONS, PEOPLE, VOTES, DECIDES, TEXTS, TEXTS, st.sampled_from(list(CARDS)),
    st.sampled_from(list(Status)), VERBS,
)  # fmt: skip
def test_a_card_of_anything_passes_the_gate_and_mentions_nobody(
    shown: Shown, person: Person, votes: tuple[Vote, ...], decides: Decides, text: str,
    other: str, name: str, status: Status, outcome: str,
) -> None:  # fmt: skip
    view = replace(
        CARDS[name], shown=shown, requester=person, votes=votes, decides=decides, agent=text,
        result=other, expired_as=text, customer=other, reason=text, status=status,
        words=Words(text, other), confirm=True, version=text, outcome=outcome,
    )  # fmt: skip
    payload = render(view)
    limits.check_message(payload.text, payload.blocks)
    assert len(payload.text) <= 150
    assert_harmless(payload.blocks, payload.text)
    for make in (
        modals.reject,
        modals.approve_with_conditions,
        modals.ask_for_changes,
        modals.answer,
    ):
        assert_harmless(make(view, typed=text)["blocks"])
    assert_harmless(modals.note(view, outcome or "x")["blocks"])


@HARD
@given(QUESTIONS, VOTES, TEXTS, TEXTS)
def test_details_of_anything_pass_the_gate(
    shown: Shown, votes: tuple[Vote, ...], text: str, other: str
) -> None:
    card: CardView = replace(LOAN, shown=shown, votes=votes, result=text)
    view = replace(
        DETAILS, card=card, written=text, graph=other, node=text, thread=other,
        steps=(StepLine(text, other, LOAN.asked_at, 3.2, other),) * 50,
        documents=tuple(replace(each, name=text, finding=other) for each in DETAILS.documents) * 9,
        values={text or "a": [other] * 400, "b": {"c": text}},
        question={text or "a": other, "long": text * 90, "deep": [{other or "b": [text]}] * 30},
        path=(text, other), picture="F0PATH",
        earlier=(replace(EARLIER[0], title=text, what=other, facts=((text, other),),
                         before=((text, other), (other, text)), edited_by=Person(other, text),
                         said=(Asked(Person(text, other), other, None, text),) * 3),) * 12,
        asked=tuple(replace(each, what=other) for each in DETAILS.asked) * 9,
    )  # fmt: skip
    made = details.details(view)
    limits.check_view(made)
    assert_harmless(made["blocks"])
    made = known.known(
        replace(KNOWN, customer=text, facts=tuple(replace(KNOWN.facts[0], text=other, source=text)
                                                  for _ in range(60)))
    )  # fmt: skip
    assert_harmless(made["blocks"])


ASK = AskView(REF, Person("U0BOB", "Bob"), "Which?", TITLE, offers=frozenset({"go_on_without"}))


@HARD
@given(TEXTS, TEXTS, PEOPLE, VOTES, st.sampled_from(list(REFUSALS)))
def test_messages_of_anything_pass_the_gate(
    text: str, other: str, person: Person, votes: tuple[Vote, ...], name: str
) -> None:
    words = Words(text, other)
    refusal = replace(
        REFUSALS[name], title=text, words=words, by=person, problem=other, help=text,
        expired_as=other, keeper=person, outcome=other,
    )  # fmt: skip
    assert_harmless(notices.refused_view(refusal, wrote=text)["blocks"])
    progress = replace(
        PROGRESS, title=text, result=other, failing=other, if_nobody=text,
        steps=(StepLine(text, "done", votes=votes), StepLine(other, "now"), StepLine(text, "next")),
    )  # fmt: skip
    outcome = replace(OUTCOME, title=text, result=other, votes=votes, by=person, note=text)
    shows = [
        notices.refused(refusal),
        notices.progress(progress),
        notices.ask(AskView(REF, person, text, other, text, other, text, person)),
        notices.ask(replace(ASK, problems=((text, other), (other, text)) * 15)),
        notices.progress(replace(progress, asking=text)),
        notices.unclear(text, other),
        notices.told(text),
        notices.operator(NoticeView(text, ((412, text), (0, other)) * 9, words, other, text)),
        *(notices.outcome(replace(outcome, kind=kind)) for kind in ("done", "rejected", "stopped")),
    ]
    for payload in shows:
        if payload.blocks:
            limits.check_message(payload.text or "x", payload.blocks)
        assert len(payload.text) <= 150
        assert_harmless(payload.blocks, payload.text)
    everything = replace(KNOWN.decisions[0], text=text, note=other)
    assert_harmless(known.known(replace(KNOWN, decisions=(everything,) * 30))["blocks"])
    row = replace(HOME.waiting[0], title=text, fact=other, agent=text, where=other)
    made = home.home(replace(HOME, waiting=(row,) * 3, start_channel=text, example=other))
    limits.check_view(made)
    assert_harmless(made["blocks"])


@pytest.mark.parametrize(
    "text", ["a" * 50_000, "<!channel>" * 5_000, "\u202e" * 50_000, "😀" * 9_000]
)
def test_fifty_thousand_characters_in_every_text_still_make_a_card(text: str) -> None:
    group = Group(text, (Line(text, text),) * 100)
    shown = replace(
        LOAN.shown, title=text, facts=((text, text),) * 20, groups=(group,) * 20,
        if_approved=text, plain=text,
    )  # fmt: skip
    payload = render(replace(LOAN, shown=shown))
    limits.check_message(payload.text, payload.blocks)
    assert_harmless(payload.blocks, payload.text)


NAMES = st.one_of(st.sampled_from(["issue_refund", "", "x" * 300, "\u202e"]), TEXTS)
PLAIN_VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS,
    st.lists(TEXTS, max_size=3), st.dictionaries(TEXTS, TEXTS, max_size=3),
)  # fmt: skip
VALUES = st.dictionaries(TEXTS, PLAIN_VALUES, max_size=9)
ALLOWED = st.lists(
    st.sampled_from(["approve", "edit", "reject", "respond"]), min_size=1, unique=True
)
CALLS = st.tuples(NAMES, VALUES, TEXTS, ALLOWED)
FEW_CALLS = st.tuples(st.lists(CALLS, min_size=1, max_size=3), st.integers(1, 40)).map(
    lambda pair: (pair[0] * pair[1])[: pair[1]]
)
OUTCOMES = st.sampled_from(["", "", "approved", "edited", "rejected", "answered", "skipped", "x"])


@settings(HARD, max_examples=30)
@given(
    FEW_CALLS, st.lists(OUTCOMES, min_size=1, max_size=4),
    st.lists(DECIDES, min_size=1, max_size=2), VOTES, TEXTS, PEOPLE,
    st.sampled_from(list(Status)), st.booleans(),
)  # fmt: skip
def test_actions_of_anything_pass_the_gate_on_the_card_and_in_every_window(
    calls: list[tuple[str, dict[str, Any], str, list[str]]], outcomes: list[str],
    decides: list[Decides], votes: tuple[Vote, ...], text: str, person: Person, status: Status,
    changed: bool,
) -> None:  # fmt: skip
    question = {
        "action_requests": [
            {"name": name, "args": args, "description": said} for name, args, said, _ in calls
        ],
        "review_configs": [
            {"action_name": name, "allowed_decisions": verbs} for name, _, _, verbs in calls
        ],
    }
    now = [dict.fromkeys(args, text) for _, args, _, _ in calls] if changed else None
    made = shown(question, graph=text, node=text, arguments=now)
    actions = tuple(
        ActionView(
            one, decides[number % len(decides)], votes, outcomes[number % len(outcomes)], person,
            LOAN.asked_at, text, person if changed else None, LOAN.asked_at, confirm=changed,
        )
        for number, one in enumerate(made.actions)
    )  # fmt: skip
    card = replace(
        LOAN, shown=made, actions=actions, status=status, votes=votes, warning=text, written=text,
        because=text, result=text, more_open=len(actions), confirm=changed,
    )  # fmt: skip
    payload = render(card)
    limits.check_message(payload.text, payload.blocks)
    strictness.check_message(payload.blocks)
    assert len(payload.text) <= 150
    assert_harmless(payload.blocks, payload.text)
    assert_windows_are_harmless(card)


def assert_windows_are_harmless(card: CardView) -> None:
    """The window of the first actions' choices, of one action and of all."""
    made = [windows.review(card), windows.all_actions(card)]
    for action in card.actions[:2]:
        made.append(windows.review(card, action.shown.item))
        made += [
            windows.of_choice(card, choice.verb, action.shown.item)
            for choice in action.shown.choices
            if choice.needs is not None
        ]
    for view in made:
        limits.check_view(view)
        strictness.check_view(view, "modal")
        assert_harmless([block for block in view["blocks"] if block["type"] != "input"])


@HARD
@given(TEXTS, TEXTS, PEOPLE, st.integers(0, 40))
def test_what_changed_in_any_words_passes_the_gate(
    text: str, other: str, person: Person, more: int
) -> None:
    change = Change(person, LOAN.asked_at, text, other, text, more=more, action=other, own=more > 3)
    base = REFUSALS["private-changed"]
    for one in (change, replace(change, by=None, new_ref=REF), replace(change, action="")):
        payload = notices.refused(replace(base, change=one))
        limits.check_message(payload.text, payload.blocks)
        assert_harmless(payload.blocks, payload.text)
        assert_harmless(notices.refused_view(replace(base, change=one), wrote=text)["blocks"])
    payload = lapses.lapsed(LapseView(REF, text, change))
    limits.check_message(payload.text, payload.blocks)
    assert_harmless(payload.blocks, payload.text)
