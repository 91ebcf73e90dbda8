"""Roles and managers of `sayso.toml`: who is named where, and what is wrong with it.

`[roles]` gives a list of people a name. `[managers]` says whose manager is who: in the file itself,
or in one beside it with two columns, `person,manager`, each a member's id or an e-mail address.
"""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict

from checkpoints.text import clean
from graphs.directory import Directory
from graphs.specs import GraphSpec, Operators, People, address

if TYPE_CHECKING:
    from bot.configuration import Configuration

MAX_LINES: Final = 20  # of what is wrong with a file
_USER: Final = re.compile(r"[UW][A-Z0-9]{2,}")
_HEADER: Final = ("person", "manager")


class Managers(BaseModel):
    """`[managers]`; `people` holds those of the file too, once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str | None = None
    people: dict[str, str] = {}


def directory(configuration: Configuration) -> Directory:
    """Who the roles and managers of a configuration are."""
    return Directory(configuration.roles, configuration.managers.people)


def read_managers(raw: Mapping[str, Any], path: Path, mistakes: list[str]) -> None:
    """Put what the file of `[managers]` says beside what is written there itself."""
    written = raw.get("managers")
    if not isinstance(written, dict):
        return
    own = written.get("people", {})
    people: dict[str, Any] = {}
    for person, manager in own.items() if isinstance(own, dict) else ():
        try:
            people[identity(person)] = _manager(person, manager)
        except ValueError as error:
            mistakes.append(f"managers.people.{clean(person)}: {error}.")
    if isinstance(written.get("file"), str):
        file = path.parent / Path(written["file"]).expanduser()
        found = list(_rows(file, people))
        wrong = [line for line in found if isinstance(line, str)]
        mistakes += [f"managers.file: {line}" for line in wrong[:MAX_LINES]]
        if len(wrong) > MAX_LINES:
            mistakes.append(f"managers.file: and {len(wrong) - MAX_LINES:,} more lines.")
    if isinstance(own, dict):
        written["people"] = people


def identity(value: str) -> str:
    """A member's id or an e-mail address, in the one form in which two are compared.

    Raises:
        ValueError: it is neither.
    """
    value = value.strip()
    if "@" in value:
        return address(value)
    if not _USER.fullmatch(value):
        raise ValueError(f"{clean(value)!r} is no member id, such as U0BOB, and no e-mail address")
    return value


def lists(configuration: Configuration) -> Iterator[tuple[str, People]]:
    """Every list of people in the configuration, with its place."""
    yield "operators", configuration.operators
    for name, people in configuration.roles.items():
        yield f"roles.{name}", people
    for name, graph in configuration.graphs.items():
        if graph.starters is not None:
            yield f"graphs.{name}.starters", graph.starters
        yield f"graphs.{name}.viewers", graph.viewers
    for number, rule in enumerate(configuration.reviews, 1):
        yield f"reviews[{number}].approvers", rule.approvers
        for place, stage in enumerate(rule.stages, 1):
            yield f"reviews[{number}].stages[{place}].approvers", stage.approvers
        if rule.escalate is not None:
            yield f"reviews[{number}].escalate.to", rule.escalate.to


def mistakes_in(configuration: Configuration) -> Iterator[str]:
    """Names that lead to nobody: roles that there are not, managers where nobody asks."""
    roles = configuration.roles
    for where, people in lists(configuration):
        if where.startswith("roles."):
            if people.roles or people.manager:
                yield f"{where}: a role names users, groups and addresses, and no further roles."
            continue
        for role in people.roles:
            if role not in roles:
                yield f"{where}.roles: there is no role called {clean(role)}.{_near(role, roles)}"
        if people.manager and not where.startswith("reviews["):
            yield f"{where}.manager: only rules have a requester; take it out."
        elif people.manager and configuration.managers == Managers():
            yield f"{where}.manager: [managers] says of nobody who that is; name a file or people."
    for number, rule in enumerate(configuration.reviews, 1):
        for place, stage in enumerate(rule.stages, 1):
            if stage.approvers.is_empty():
                where = f"reviews[{number}].stages[{place}]"
                yield f"{where}.approvers: it names nobody, so nothing could ever pass this stage."


def doubtful(configuration: Configuration) -> Iterator[str]:
    """Names that stand for nobody, and people who are let in by name where no name lets them in."""
    for name, people in configuration.roles.items():
        if people.is_empty():
            yield f"roles.{name}: it names nobody, so nobody may decide as that."
    found = directory(configuration)
    for number, rule in enumerate(configuration.reviews, 1):
        everyone = rule.escalated().everyone()
        if everyone.manager or found.named(everyone, "").users:
            continue
        for flag in ("guests_may_decide", "strangers_may_decide"):
            if getattr(rule, flag):
                yield f"reviews[{number}].{flag}: it lets in whom `users` names, and it names none."


def named(configuration: Configuration) -> Configuration:
    """The configuration with the roles of operators, starters and viewers as who they are.

    Those of rules stay: a rule is kept with its review, and its roles are looked up at the click.
    """
    found = directory(configuration)
    operators = found.named(configuration.operators, "").model_dump()
    graphs = {name: _graph(found, graph) for name, graph in configuration.graphs.items()}
    changes = {
        "operators": Operators(**operators, channel=configuration.operators.channel),
        "graphs": graphs,
    }
    return configuration.model_copy(update=changes)


def _graph(found: Directory, graph: GraphSpec) -> GraphSpec:
    changes = {"viewers": found.named(graph.viewers, "")}
    if graph.starters is not None:
        changes["starters"] = found.named(graph.starters, "")
    return graph.model_copy(update=changes)


def _near(role: str, roles: Mapping[str, People]) -> str:
    near = difflib.get_close_matches(role, roles, 1)
    if near:
        return f" Did you mean {near[0]}?"
    return f" Configured are: {', '.join(roles)}." if roles else " None is configured."


def _manager(person: str, manager: Any) -> Any:
    if not isinstance(manager, str):
        return manager  # the model says what has to stand there
    found = identity(manager)
    if found == identity(person):
        raise ValueError(f"{found} would be their own manager")
    return found


def _rows(file: Path, people: dict[str, Any]) -> Iterator[str | None]:
    """Add the lines of a file to the people; yields what is wrong with it."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        yield f"{file} cannot be read ({getattr(error, 'strerror', None) or 'it is not text'})."
        return
    header_may_come = True
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            cells = [cell.strip() for cell in next(csv.reader([line]), [])]
        except csv.Error:  # a value that is longer than any name
            cells = []
        is_header = tuple(cell.casefold() for cell in cells) == _HEADER
        if header_may_come and is_header:
            header_may_come = False
            continue
        header_may_come = False
        where = f"{file.name}, line {number}"
        if len(cells) != 2 or not all(cells):
            yield f"{where}: write two values, person,manager."
            continue
        try:
            person, manager = identity(cells[0]), _manager(*cells)
        except ValueError as error:
            yield f"{where}: {error}."
            continue
        if people.setdefault(person, manager) != manager:
            yield f"{where}: {person} has the manager {people[person]} already; leave one of them."
