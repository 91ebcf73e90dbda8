"""Who may do what: pure rules over plain values, no database and no chat.

Everything here answers "may this person" with None for yes or with a `Refusal` whose reason is
one of a few codes; the words for people are the surface's. An empty list is nobody, somebody we
could not look up is refused, and a rule that is missing lets nobody decide.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import rfc8785

from graphs.conditions import ConditionFailed, compiled
from graphs.directory import Directory
from graphs.specs import GraphSpec, Operators, People, Rule


class Reason(StrEnum):
    """Why somebody was refused."""

    CANNOT_CHECK = "cannot_check"  # could not find out who it is, or their groups
    NOT_ALLOWED = "not_allowed"
    REQUESTER = "requester"  # the requester may not decide the own request
    GUEST = "guest"
    OTHER_ORGANISATION = "other_organisation"
    DEACTIVATED = "deactivated"
    BOT = "bot"
    NOBODY_MAY = "nobody_may"  # no rule, or one that names nobody
    HANDED_OVER = "handed_over"  # they handed it to somebody else
    EDITOR = "editor"  # who changed the action may not decide on it
    NOT_YET = "not_yet"  # they decide in a later stage
    THEIR_PART_IS_DONE = "their_part_is_done"  # they were asked in an earlier one


@dataclass(frozen=True)
class Refusal:
    """Why not; `reason` is a code, `rule` the one that was asked, if any."""

    reason: Reason
    rule: Rule | None = None


@dataclass(frozen=True)
class Person:
    """Somebody as the chat knows them now.

    `known` is False where nobody could be asked. `groups` are the user groups they belong to, as
    far as the caller looked; None where that could not be found out.
    """

    id: str
    team: str
    name: str = ""
    is_guest: bool = False
    is_stranger: bool = False
    is_bot: bool = False
    deleted: bool = False
    known: bool = True
    email: str | None = ""  # confirmed; None where it could not be found out
    groups: frozenset[str] | None = frozenset()
    unread: frozenset[str] = frozenset()  # groups of which that could not be found out


class RuleFailed(Exception):
    """The condition of a rule could not be told; `place` is the rule's, counted from 1."""

    def __init__(self, place: int, rule: Rule, why: str) -> None:
        self.place = place
        self.rule = rule
        super().__init__(f"the condition of [[reviews]] number {place} could not be told: {why}")


class Verdict(StrEnum):
    """What came of looking at a rule."""

    ELSEWHERE = "elsewhere"  # it is for another graph, node or tool
    DOES_NOT_HOLD = "does_not_hold"
    FAILED = "failed"  # its condition could not be told: nobody may decide
    SHADOWED = "shadowed"  # it would have ended the search, and decides nothing
    MATCHES = "matches"


@dataclass(frozen=True)
class LookedAt:
    """One rule of a search; `place` is its number in the file, `why` says why it failed."""

    place: int
    rule: Rule
    verdict: Verdict
    why: str = ""


@dataclass(frozen=True)
class Policy:
    """The `[[reviews]]` rules in their order, the operators, and who roles and managers are."""

    rules: tuple[Rule, ...] = ()
    operators: Operators = field(default_factory=Operators)
    directory: Directory = field(default_factory=Directory)

    def rule_for(
        self,
        graph: str,
        node: str,
        tool: str | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> Rule | None:
        """The first rule that matches, or None: then nobody may decide.

        Args:
            facts: what the conditions are asked of, by their five names (`graphs.conditions`).

        Raises:
            RuleFailed: a condition said neither true nor false. The search ends there: what comes
                after it was written for questions of which that condition does not hold.
        """
        for looked_at in self.search(graph, node, tool, facts):
            if looked_at.verdict is Verdict.FAILED:
                raise RuleFailed(looked_at.place, looked_at.rule, looked_at.why)
            if looked_at.verdict is Verdict.MATCHES:
                return looked_at.rule
        return None

    def has_rule_for_one_of(self, tools: Collection[str], graph: str, node: str) -> bool:
        """Whether a rule is for one of these tools alone: a general one must not take its place."""
        return any(
            rule.tool in tools and rule.matches(graph, node, rule.tool)
            for rule in self.rules
            if rule.tool is not None and not rule.shadow
        )

    def search(
        self,
        graph: str,
        node: str,
        tool: str | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> Iterator[LookedAt]:
        """Every rule that was looked at, to the one that ends the search.

        A rule in shadow ends none, also where its condition could not be told.
        """
        for place, rule in enumerate(self.rules, 1):
            if not rule.matches(graph, node, tool):
                yield LookedAt(place, rule, Verdict.ELSEWHERE)
                continue
            verdict, why = _held_against(rule, facts or {})
            if rule.shadow and verdict is not Verdict.DOES_NOT_HOLD:
                verdict = Verdict.SHADOWED
            yield LookedAt(place, rule, verdict, why)
            if verdict in (Verdict.MATCHES, Verdict.FAILED):
                return

    def asks_of_state(self, graph: str) -> bool:
        """Whether a condition of that graph's rules may look at its state."""
        return any(
            rule.when is not None and "state" in rule.when and rule.graph in (None, graph)
            for rule in self.rules
        )


def _held_against(rule: Rule, facts: Mapping[str, Any]) -> tuple[Verdict, str]:
    """What a rule's condition says of the facts, and why it could not be told."""
    try:
        holds = rule.when is None or compiled(rule.when).holds(facts)
    except ConditionFailed as failed:
        return Verdict.FAILED, str(failed)
    return (Verdict.MATCHES if holds else Verdict.DOES_NOT_HOLD), ""


def may_decide(rule: Rule | None, person: Person, requester: str) -> Refusal | None:
    """Whether the person may decide what stands under the rule, in its present stage.

    Args:
        rule: with the roles and managers in it replaced by who they are now.
    """
    if rule is None or rule.names_nobody():
        return Refusal(Reason.NOBODY_MAY, rule)
    # Guests and people of other organisations are let in by name: no group lets them in.
    by_name = person.id in rule.approvers.users
    if refusal := _as_a_person(
        person,
        guests=rule.guests_may_decide and by_name,
        strangers=rule.strangers_may_decide and by_name,
    ):
        return Refusal(refusal, rule)
    named = _named(rule.approvers, person)
    if named is None:
        return Refusal(Reason.CANNOT_CHECK, rule)
    if person.id == requester and not rule.requester_may_decide:
        return Refusal(Reason.REQUESTER, rule)
    return None if named else Refusal(Reason.NOT_ALLOWED, rule)


def may_decide_for(
    rule: Rule | None, person: Person, delegator: Person, requester: str
) -> Refusal | None:
    """Whether the person may decide in the place of somebody who may, and is away.

    What the rule says of requesters holds for both of them: nobody decides on the own request
    through another.
    """
    if refusal := may_decide(rule, delegator, requester):
        return refusal
    if rule is None or not rule.delegates_may_decide:
        return Refusal(Reason.NOT_ALLOWED, rule)
    if refused := _as_a_person(person, guests=False):
        return Refusal(refused, rule)
    if person.id == requester and not rule.requester_may_decide:
        return Refusal(Reason.REQUESTER, rule)
    return None


def may_stand_in(person: Person) -> Refusal | None:
    """Whether somebody may be named to decide for others at all: full members may."""
    refused = _as_a_person(person, guests=False)
    return Refusal(refused) if refused is not None else None


def may_be_away(person: Person) -> Refusal | None:
    """Whether somebody may say who covers for them: whoever is here, a guest too."""
    refused = _as_a_person(person, guests=True)
    return Refusal(refused) if refused is not None else None


def out_of_turn(
    refusal: Refusal, rule: Rule | None, stage: int, may: Callable[[Rule], bool]
) -> Refusal:
    """The refusal of somebody who decides in another stage than the open one, where they do.

    Args:
        rule: the whole rule, with everybody in it as they are now.
        may: whether the person may decide under the rule as it is in one of its stages.
    """
    if rule is None or refusal.reason is not Reason.NOT_ALLOWED:
        return refusal
    if any(may(rule.stage(later)) for later in range(stage + 1, rule.length)):
        return Refusal(Reason.NOT_YET, refusal.rule)
    if any(may(rule.stage(earlier)) for earlier in range(stage)):
        return Refusal(Reason.THEIR_PART_IS_DONE, refusal.rule)
    return refusal


def may_start(spec: GraphSpec, person: Person) -> Refusal | None:
    """Whether the person may start the graph; without `starters`, every full member may."""
    if refusal := _as_a_person(person, guests=spec.starters is not None):
        return Refusal(refusal)
    if spec.starters is None:
        return None
    return _among(spec.starters, person)


def may_view(
    spec: GraphSpec | None,
    policy: Policy,
    person: Person,
    *,
    requester: str,
    rules: tuple[Rule, ...] = (),
) -> Refusal | None:
    """Whether the person may see the details: requester, approvers, operators and viewers may.

    Args:
        rules: those of the thread's reviews, whose approvers may look.
    """
    if refusal := _as_a_person(person, guests=True):
        return Refusal(refusal)
    if person.id == requester:
        return None
    lists: list[People] = [policy.operators, *(rule.approvers for rule in rules)]
    if spec is not None:
        lists.append(spec.viewers)
    return _among_any(lists, person)


def may_operate(operators: Operators, person: Person) -> Refusal | None:
    """Whether the person may cancel, retry and unpark."""
    if refusal := _as_a_person(person, guests=False):
        return Refusal(refusal)
    return _among(operators, person)


def may_withdraw(operators: Operators, person: Person, requester: str) -> Refusal | None:
    """Whether the person may withdraw a request: who asked for it, a guest too, and operators."""
    if refusal := _as_a_person(person, guests=True):
        return Refusal(refusal)
    return None if person.id == requester else may_operate(operators, person)


def fingerprint(rule: Rule | None) -> str:
    """A hash of the rule, the same for the same rule everywhere; "" for none.

    It is over what the rule says and not over what it leaves out, so that a later version, which
    has more to say, gives the same for the same rule.
    """
    if rule is None:
        return ""
    said = rule.model_dump(mode="json", exclude_defaults=True)
    return hashlib.sha256(rfc8785.dumps(said)).hexdigest()


def _as_a_person(person: Person, *, guests: bool, strangers: bool = False) -> Reason | None:
    if not person.known:
        return Reason.CANNOT_CHECK
    if person.deleted:
        return Reason.DEACTIVATED
    if person.is_bot:
        return Reason.BOT
    if person.is_stranger and not strangers:
        return Reason.OTHER_ORGANISATION
    if person.is_guest and not guests and not person.is_stranger:
        return Reason.GUEST
    return None


def _among(people: People, person: Person) -> Refusal | None:
    return _among_any([people], person)


def _among_any(lists: list[People], person: Person) -> Refusal | None:
    answers = [_named(people, person) for people in lists]
    if True in answers:
        return None
    return Refusal(Reason.CANNOT_CHECK if None in answers else Reason.NOT_ALLOWED)


def _named(people: People, person: Person) -> bool | None:
    """Whether the list names the person; None where it depends on what nobody could read."""
    if person.id in people.users:
        return True
    answers: list[bool | None] = []
    if people.groups:
        inside = person.groups is not None and not person.groups.isdisjoint(people.groups)
        unread = person.groups is None or not person.unread.isdisjoint(people.groups)
        answers.append(True if inside else None if unread else False)
    if people.emails:
        email = person.email
        answers.append(None if email is None else bool(email) and email in people.emails)
    if people.manager:  # whose that is could not be found out
        answers.append(None)
    if True in answers:
        return True
    return None if None in answers else False
