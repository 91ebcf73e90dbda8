"""Names in the rules that lead nowhere: nodes, fields and tools that a graph has not.

Only whoever has loaded the graphs can tell: `sayso check`, and a worker, before it takes anything.
"""

from __future__ import annotations

import difflib
import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import structlog

from bot.configuration import Configuration
from bot.supervision import command
from checkpoints.text import clean
from graphs.conditions import FIELDS, fields_of
from graphs.registry import Registry
from graphs.specs import Rule
from graphs.structures import Structure, structure_of

log = structlog.get_logger("sayso.naming")

PROCESS_SECONDS: Final = 60.0


def structures_of(registry: Registry) -> dict[str, Structure]:
    """What can be seen of each loaded graph."""
    return {name: structure_of(loaded.graph) for name, loaded in registry.loaded.items()}


def mistakes(configuration: Configuration, known: Mapping[str, Structure]) -> Iterator[str]:
    """Rules for a node, or with a field of the state, that none of their graphs has; with places.

    Of a graph that is not loaded nothing is said: that it is not, is told already.
    """
    for where, rule in _numbered(configuration):
        yield from _of_every_graph(where, rule)
        meant = _meant(rule, configuration, known)
        if meant is None:
            continue
        if rule.when is not None and all(structure.fields for structure in meant):
            fields = [field for structure in meant for field in structure.fields]
            for field in fields_of("state", rule.when):
                if field not in fields:
                    of = f"the state of {clean(rule.graph)} has" if rule.graph else "no state has"
                    yield (
                        f"{where}.when: {of} {'no' if rule.graph else 'a'} field called {field}."
                        f"{_near(field, fields)}"
                    )
        if rule.node is not None and not any(each.may_have(rule.node) for each in meant):
            nodes = [node for structure in meant for node in structure.nodes]
            of = f"{clean(rule.graph)} has" if rule.graph else "no graph has"
            step = "no step" if rule.graph else "a step"
            yield f"{where}.node: {of} {step} called {clean(rule.node)}.{_near(rule.node, nodes)}"


def warnings(configuration: Configuration, known: Mapping[str, Structure]) -> Iterator[str]:
    """Rules that are for a tool which none of their graphs offers, as far as that can be seen."""
    for where, rule in _numbered(configuration):
        meant = _meant(rule, configuration, known)
        if rule.tool is None or meant is None:
            continue
        tools = [tool for structure in meant for tool in structure.tools]
        # Without a tool that can be seen, a graph may ask about calls that it makes by hand.
        if rule.tool not in tools and all(structure.tools for structure in meant):
            near = _near(rule.tool, tools)
            yield f"{where}.tool: no tool called {clean(rule.tool)} is found.{near}"


def _of_every_graph(where: str, rule: Rule) -> Iterator[str]:
    """Fields that neither a thread nor a customer nor a requester has, whatever the graph."""
    for name, fields in FIELDS.items() if rule.when is not None else ():
        for field in fields_of(name, rule.when or ""):
            if field not in fields:
                has = f"It has {' and '.join(fields)}." if fields else "It is the id of a person."
                yield f"{where}.when: {name} has no field called {field}. {has}"


def asked_of_a_process(before: Configuration, after: Configuration) -> list[str]:
    """The same mistakes for whoever has loaded no graph, and only where a name is new in a rule.

    Another process loads the graphs for it; a web process must not run the code of users.
    """
    named = {(rule.graph, rule.node, rule.when) for rule in before.reviews}
    if all(
        (rule.node is None and rule.when is None) or (rule.graph, rule.node, rule.when) in named
        for rule in after.reviews
    ):
        return []
    try:
        asked = subprocess.run(
            command("check", "--names"), capture_output=True, text=True, check=True,
            timeout=PROCESS_SECONDS,
        )  # fmt: skip
        found = json.loads(asked.stdout.splitlines()[-1])  # a graph may print at its import
    except (OSError, ValueError, IndexError, subprocess.SubprocessError) as error:
        # A worker has the graphs, and does not take up what they do not fit.
        log.warning("configuration.names_not_looked_up", why=type(error).__name__)
        return []
    return [str(each) for each in found]


def _numbered(configuration: Configuration) -> Iterator[tuple[str, Rule]]:
    for number, rule in enumerate(configuration.reviews, 1):
        yield f"reviews[{number}]", rule


def _meant(
    rule: Rule, configuration: Configuration, known: Mapping[str, Structure]
) -> list[Structure] | None:
    """What is seen of the graphs that the rule is for; None where not all of them are loaded."""
    names = [rule.graph] if rule.graph is not None else list(configuration.graphs)
    if not names or any(name not in known for name in names):
        return None
    return [known[name] for name in names]


def _near(name: str, names: Iterable[str]) -> str:
    there = list(dict.fromkeys(clean(each) for each in names))
    near = difflib.get_close_matches(name, there, 1)
    if near:
        return f" Did you mean {near[0]}?"
    return f" There are: {', '.join(there[:12])}." if there else ""
