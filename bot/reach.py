"""Whether the people whom a rule names can fulfil it: what `sayso check` can count by itself. Pure.

Votes of one person count once in a rule, also over its stages, so a rule needs as many different
people as its quorums add up to. Whether there are is Hall's condition: for every choice of stages,
those who are named in one of them are at least as many as these stages want. A group may have
anybody in it, so a stage that names one always has enough. An address is taken for somebody who is
named in no other way: where even that is not enough, nothing is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphs.directory import Directory
from graphs.specs import People, Rule


@dataclass(frozen=True)
class Shortage:
    """Stages, counted from 0, that together want more people than they name."""

    stages: tuple[int, ...]
    wanted: int
    named: int


def out_of_reach(rules: Sequence[Rule], roles: Mapping[str, People]) -> Iterator[str]:
    """Rules that the people they name can never fulfil, each with its place."""
    directory = Directory(roles)
    for number, rule in enumerate(rules, 1):
        whole = rule.escalated()
        seats = {
            stage: seated
            for stage in range(whole.length)
            if (seated := _seats(whole.stage(stage).approvers, directory))
        }
        wanted = {stage: whole.stage(stage).quorum for stage in seats}
        missing = shortage(seats, wanted)
        where = f"reviews[{number}]"
        if missing is not None:
            yield f"{where}.{_too_few(rule, missing)}"
        elif not rule.editor_may_decide:
            yield from _without_an_editor(where, rule, seats, wanted)


def shortage(seats: Mapping[int, frozenset[str]], wanted: Mapping[int, int]) -> Shortage | None:
    """Stages that cannot be fulfilled together by different people; None where all can."""
    taken: dict[str, int] = {}  # who sits for which stage
    for stage in sorted(seats):
        for _ in range(wanted[stage]):
            asked = {stage}
            if not _seat(stage, seats, taken, asked):
                # Everybody named in one of these sits for one of these already.
                named = frozenset[str]().union(*(seats[each] for each in asked))
                return Shortage(
                    tuple(sorted(asked)), sum(wanted[each] for each in asked), len(named)
                )
    return None


def _seat(
    stage: int, seats: Mapping[int, frozenset[str]], taken: dict[str, int], asked: set[int]
) -> bool:
    """Find somebody for one seat of the stage; another stage that gives theirs up finds one too."""
    for one in seats[stage]:
        if one not in taken:
            taken[one] = stage
            return True
    for one in seats[stage]:
        other = taken[one]
        if other not in asked:
            asked.add(other)
            if _seat(other, seats, taken, asked):
                taken[one] = stage
                return True
    return False


def _seats(people: People, directory: Directory) -> frozenset[str] | None:
    """Everybody who is named, None where a group may hold anybody."""
    named = directory.named(people, "")
    if named.groups:
        return None
    manager = ["the requester's manager"] if people.manager else []
    return frozenset([*named.users, *named.emails, *manager])


def _too_few(rule: Rule, missing: Shortage) -> str:
    if not rule.stages:
        return f"quorum: it wants {missing.wanted} people and names {missing.named}."
    if len(missing.stages) == 1:
        place = f"stages[{missing.stages[0] + 1}].quorum"
        return f"{place}: it wants {missing.wanted} people and names {missing.named}."
    stages = [str(stage + 1) for stage in missing.stages]
    return (
        f"stages: stages {', '.join(stages[:-1])} and {stages[-1]} want {missing.wanted} different "
        f"people and name {missing.named}; whoever decides in one does not count in another."
    )


def _without_an_editor(
    where: str, rule: Rule, seats: Mapping[int, frozenset[str]], wanted: Mapping[int, int]
) -> Iterator[str]:
    """What a rule lacks once the one who changed an action may not decide."""
    people = frozenset[str]().union(*seats.values())
    # Whoever sits in the same stages as somebody else makes the same difference.
    alike = {tuple(stage for stage in seats if one in seats[stage]): one for one in people}
    for editor in alike.values():
        left = {stage: people - {editor} for stage, people in seats.items()}
        missing = shortage(left, wanted)
        if missing is not None:
            in_stage = _in_stages(missing.stages) if rule.stages else ""
            yield (
                f"{where}.editor_may_decide: when one of them changes an action, {missing.named} "
                f"are left and {missing.wanted} have to decide{in_stage}; name more people."
            )
            return


def _in_stages(stages: Iterable[int]) -> str:
    numbers = [str(stage + 1) for stage in stages]
    return f" in stage {' and '.join(numbers)}"
