"""Roles and managers are names in a rule; who they are is looked up when it is needed."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from graphs.directory import Directory, keys_of
from graphs.policy import Person, Reason, may_decide, may_decide_for
from graphs.specs import Escalation, People, Rule, Stage, address

RISK = People(users=("U0DANA",), groups=("S0RISK",))
HERE = Directory({"risk": RISK}, {"U0BOB": "U0ERIN", "carl@example.com": "erin@example.com"})


def person(user: str, **facts: object) -> Person:
    return Person(user, "T0SAYSO", **facts)  # type: ignore[arg-type]


def may(rule: Rule, user: str, requester: str = "U0BOB", **facts: object) -> Reason | None:
    refusal = may_decide(HERE.rule(rule, requester), person(user, **facts), requester)
    return refusal.reason if refusal is not None else None


def test_a_role_is_who_the_configuration_says_now() -> None:
    rule = Rule(approvers=People(users=("U0ALICE",), roles=("risk",)))
    assert may(rule, "U0ALICE") is None
    assert may(rule, "U0DANA") is None
    assert may(rule, "U0X", groups=frozenset({"S0RISK"})) is None
    assert may(rule, "U0X") is Reason.NOT_ALLOWED


def test_a_role_that_is_not_configured_and_a_manager_who_is_not_known_are_nobody() -> None:
    assert may(Rule(approvers=People(roles=("gone",))), "U0ALICE") is Reason.NOBODY_MAY
    nobody = may(Rule(approvers=People(manager=True)), "U0ALICE", requester="U0X")
    assert nobody is Reason.NOBODY_MAY


def test_the_manager_is_the_requesters_by_id_or_by_address() -> None:
    rule = Rule(approvers=People(manager=True))
    assert may(rule, "U0ERIN") is None
    assert may(rule, "U0ALICE") is Reason.NOT_ALLOWED
    by_address = HERE.rule(rule, "U0CARL", " Carl@Example.com ")
    erin = person("U0ERIN", email="erin@example.com")
    assert may_decide(by_address, erin, "U0CARL") is None
    assert HERE.rule(rule, "U0CARL").approvers.is_empty()


def test_who_has_an_address_decides_and_an_address_that_is_not_known_is_no_yes() -> None:
    rule = Rule(approvers=People(emails=("Alice@Example.com",)))
    assert may(rule, "U0ALICE", email="alice@example.com") is None
    assert may(rule, "U0ALICE", email="") is Reason.NOT_ALLOWED
    assert may(rule, "U0ALICE", email=None) is Reason.CANNOT_CHECK


def test_an_address_that_only_looks_alike_is_somebody_elses() -> None:
    rule = Rule(approvers=People(emails=("Kim@strasse.example",)))
    assert may(rule, "U0KIM", email=address("kim@Strasse.example")) is None
    for other in (
        "\u212aim@strasse.example",
        "kim@stra\u00dfe.example",
        "kim@\u017ftrasse.example",
    ):
        assert may(rule, "U0KIM", email=address(other)) is Reason.NOT_ALLOWED


def test_guests_and_strangers_are_let_in_by_name_and_by_no_group() -> None:
    rule = Rule(
        approvers=People(users=("U0GUEST",), groups=("S0CREDIT",)),
        guests_may_decide=True,
        strangers_may_decide=True,
    )
    inside = frozenset({"S0CREDIT"})
    assert may(rule, "U0GUEST", is_guest=True) is None
    assert may(rule, "U0GUEST", is_stranger=True) is None
    assert may(rule, "U0OTHER", is_guest=True, groups=inside) is Reason.GUEST
    assert may(rule, "U0OTHER", is_stranger=True, groups=inside) is Reason.OTHER_ORGANISATION
    assert may(rule, "U0GUEST", is_stranger=True, is_bot=True) is Reason.BOT
    closed = Rule(approvers=People(users=("U0GUEST",)))
    assert may(closed, "U0GUEST", is_guest=True) is Reason.GUEST
    assert may(closed, "U0GUEST", is_stranger=True) is Reason.OTHER_ORGANISATION


def test_nobody_decides_on_the_own_request_through_another() -> None:
    rule = Rule(approvers=People(users=("U0ALICE", "U0BOB")))
    alice, bob, carol = person("U0ALICE"), person("U0BOB"), person("U0CAROL")
    assert may_decide_for(rule, carol, alice, "U0BOB") is None
    refused = may_decide_for(rule, bob, alice, "U0BOB")
    assert refused is not None
    assert refused.reason is Reason.REQUESTER
    refused = may_decide_for(rule, carol, bob, "U0BOB")
    assert refused is not None
    assert refused.reason is Reason.REQUESTER
    strict = rule.model_copy(update={"delegates_may_decide": False})
    assert may_decide_for(strict, carol, alice, "U0X") is not None
    assert may_decide_for(rule, person("U0CAROL", is_guest=True), alice, "U0X") is not None
    assert may_decide_for(rule, carol, person("U0ALICE", deleted=True), "U0X") is not None


def test_every_place_of_a_rule_is_looked_up_and_people_are_found_by_their_keys() -> None:
    risk = People(roles=("risk",))
    rule = Rule(stages=(Stage(approvers=risk),), escalate=Escalation(after=1, to=risk))
    named = HERE.rule(rule, "U0BOB")
    assert named.stages[0].approvers == RISK
    assert named.escalate is not None
    assert named.escalate.to == RISK
    assert named.escalated().stage(0).approvers == RISK
    keys = keys_of(People(users=("U1", "U1"), roles=("risk",), manager=True), "U0BOB")
    assert keys == ["user:U1", "role:risk", "manager:U0BOB"]


def test_a_manager_whom_only_an_address_tells_that_nobody_could_read_is_no_yes_and_no_no() -> None:
    rule = Rule(approvers=People(users=("U0ALICE",), manager=True))
    unsure = HERE.rule(rule, "U0CARL", None)
    assert may_decide(unsure, person("U0ALICE"), "U0CARL") is None
    refused = may_decide(unsure, person("U0ERIN", email="erin@example.com"), "U0CARL")
    assert refused is not None
    assert refused.reason is Reason.CANNOT_CHECK
    by_id = HERE.rule(rule, "U0BOB", None)
    assert may_decide(by_id, person("U0ERIN"), "U0BOB") is None
    assert may_decide(by_id, person("U0DANA"), "U0BOB") is not None
    assert not by_id.approvers.manager


USERS = st.sampled_from(["U0A", "U0B", "U0C"])
GROUPS = st.sampled_from(["S0A", "S0B"])
EMAILS = st.sampled_from(["a@x.y", "b@x.y"])
ROLES = st.sampled_from(["one", "two", "gone"])


def some(of: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(of, max_size=2, unique=True).map(tuple)


LISTS = st.builds(People, users=some(USERS), groups=some(GROUPS), emails=some(EMAILS))
ASKED = st.builds(
    People,
    users=some(USERS),
    groups=some(GROUPS),
    emails=some(EMAILS),
    roles=some(ROLES),
    manager=st.booleans(),
)
DIRECTORIES = st.builds(
    Directory,
    st.dictionaries(st.sampled_from(["one", "two"]), LISTS),
    st.dictionaries(st.one_of(USERS, EMAILS), st.one_of(USERS, EMAILS)),
)
PEOPLE = st.builds(
    Person,
    id=USERS,
    team=st.just("T0SAYSO"),
    is_guest=st.booleans(),
    is_stranger=st.booleans(),
    is_bot=st.booleans(),
    deleted=st.booleans(),
    known=st.sampled_from([True, True, True, False]),
    email=st.one_of(st.none(), st.just(""), EMAILS),
    groups=st.one_of(st.none(), st.frozensets(GROUPS)),
    unread=st.frozensets(GROUPS, max_size=1),
)


def is_named(who: Person, asked: People, here: Directory, requester: str, email: str) -> bool:
    """Whether one of the names is this person's, told without the code that is tested."""
    lists = [asked, *(here.roles[role] for role in asked.roles if role in here.roles)]
    manager = here.managers.get(requester, here.managers.get(email)) if asked.manager else None
    return (
        who.id == manager
        or bool(who.email and who.email == manager)
        or any(who.id in one.users for one in lists)
        or any(who.groups and who.groups & set(one.groups) for one in lists)
        or any(who.email and who.email in one.emails for one in lists)
    )


@settings(max_examples=300, deadline=None)
@given(
    here=DIRECTORIES,
    asked=ASKED,
    who=PEOPLE,
    requester=USERS,
    email=st.one_of(st.none(), st.just(""), EMAILS),
    flags=st.fixed_dictionaries(
        dict.fromkeys(
            ("guests_may_decide", "strangers_may_decide", "requester_may_decide"), st.booleans()
        )
    ),
)
def test_nobody_decides_whom_no_name_stands_for(
    here: Directory,
    asked: People,
    who: Person,
    requester: str,
    email: str | None,
    flags: dict[str, Any],
) -> None:
    rule = here.rule(Rule(approvers=asked, **flags), requester, email)
    may = may_decide(rule, who, requester) is None
    assert not may or is_named(who, asked, here, requester, email or "")
    ordinary = who.known and not (who.deleted or who.is_bot or who.is_guest or who.is_stranger)
    assert not may or (who.known and not who.deleted and not who.is_bot)
    assert not may or who.id != requester or rule.requester_may_decide
    if may and not ordinary:
        assert who.id in rule.approvers.users
        lets_in = rule.strangers_may_decide if who.is_stranger else rule.guests_may_decide
        assert lets_in
    if ordinary and (who.id != requester or rule.requester_may_decide):
        known = email is not None or not here.asks_for_address(requester)
        assert may == is_named(who, asked, here, requester, email or "") or not known
