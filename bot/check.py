"""`sayso check`: look at everything that can be wrong before it is needed, and say what to do.

A mistake ends with 1, a warning or a note with 0. Where everything else is well and threads wait
that this code cannot go on with, it ends with 3: a deploy can tell that from a mistake.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

import typer

from bot import app, naming, roster, whereabouts
from bot.errors import SlackFailed
from bot.profiles import EMAIL_SCOPE
from bot.settings import Settings, examined
from bot.slack import Slack
from bot.whereabouts import Found
from checkpoints import embedded, migrate
from checkpoints.database import Database
from checkpoints.errors import SaysoError
from graphs import deploys
from graphs.deploys import Deployed
from graphs.registry import Registry
from graphs.specs import Rule

STUCK: Final = 3
MAX_LINES: Final = 20


async def check() -> int:
    """Print what is wrong and what is doubtful; 1 if anything is wrong, 3 if threads are stuck."""
    settings, mistakes = examined()
    registry = app.loaded_of(settings)
    mistakes += settings.project.problems
    mistakes += [str(problem) for problem in registry.problems.values()]
    mistakes += await _database(settings)
    deployed = await _deployed(settings, registry)
    known = naming.structures_of(registry)
    found = await _slack(settings)
    doubtful = [
        *_unreviewed(settings, registry),
        *naming.warnings(settings.configuration, known),
        *found.warnings,
    ]
    wrong = [*naming.mistakes(settings.configuration, known), *found.mistakes]
    mistakes += settings.reading.placed(wrong)
    warnings = [*settings.warnings, *settings.reading.placed(doubtful)]
    for mistake in mistakes:
        typer.echo(f"mistake: {mistake}")
    for warning in warnings:
        typer.echo(f"warning: {warning}")
    for line in _first(deployed.stuck, "stuck threads"):
        typer.echo(f"stuck: {line}")
    for note in _first(deployed.notes, "notes"):
        typer.echo(f"note: {note}")
    graphs, rules = len(registry.loaded), len(settings.configuration.reviews)
    load = "graph loads" if graphs == 1 else "graphs load"
    counted = [_many(rules, "review rule"), _many(len(mistakes), "mistake")]
    typer.echo(f"{graphs} {load}, {', '.join(counted)}.")
    if mistakes:
        return 1
    return STUCK if deployed.stuck else 0


async def names() -> None:
    """Print the mistakes about the steps that rules name, as JSON, for another process of ours."""
    settings, _ = examined()
    known = naming.structures_of(app.loaded_of(settings))
    wrong = settings.reading.placed(naming.mistakes(settings.configuration, known))
    typer.echo(json.dumps(wrong))


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


async def _database(settings: Settings) -> list[str]:
    if settings.database_url is None:
        return []  # the embedded one is started and migrated when it is needed
    try:
        async with Database.open(settings.database_url, size=1) as database:
            await migrate.require(database)
    except SaysoError as error:
        return [str(error)]
    return []


async def _deployed(settings: Settings, registry: Registry) -> Deployed:
    """What this code means for the threads that wait; a check starts no database for it."""
    url = settings.database_url or embedded.address(settings.home)
    not_looked = "whether the threads that wait can go on was not looked at: "
    running = settings.home.expanduser() / "postgres" / "postmaster.pid"
    if settings.database_url is None and not running.exists():
        return Deployed(notes=(f"{not_looked}the embedded database does not run.",))
    try:
        async with Database.open(url, size=1) as database:
            await migrate.require(database)
            return await deploys.changed(database, registry)
    except SaysoError as error:
        return Deployed(notes=(f"{not_looked}{error}",))


def _first(lines: Sequence[str], what: str) -> list[str]:
    left = len(lines) - MAX_LINES
    return [*lines[:MAX_LINES], *([f"and {left:,} more {what}."] if left > 0 else [])]


async def _slack(settings: Settings) -> Found:
    """What Slack says of our settings, and of everything that they name."""
    async with app.slack_of(settings) as slack:
        if slack is None:
            without = "no Slack settings: threads run, and what should be shown in Slack waits."
            return Found(warnings=[without])
        try:
            await slack.call("auth.test")
        except SlackFailed as error:
            return Found(warnings=[str(error)])
        found = await whereabouts.look(settings.configuration, slack)
        found.warnings += await unreached(settings, slack)
        return found


async def unreached(settings: Settings, slack: Slack) -> list[str]:
    """People who are named by an address that Slack does not show, or that nobody has."""
    configuration = settings.configuration
    managers = [*configuration.managers.people, *configuration.managers.people.values()]
    named = {
        email: where for where, people in roster.lists(configuration) for email in people.emails
    }
    if not named and not any("@" in one for one in managers):
        return []
    if slack.scopes and EMAIL_SCOPE not in slack.scopes:
        return [
            f"the app lacks the scope {EMAIL_SCOPE}, so nobody decides by an address; add it under "
            "OAuth & Permissions and install the app again."
        ]
    told: list[str] = []
    for email, where in list(named.items())[:MAX_LINES]:
        try:
            await slack.call("users.lookupByEmail", email=email)
        except SlackFailed as error:
            if error.error != "users_not_found":
                return [*told, str(error)]
            told.append(f"{where}.emails: nobody in the workspace has {email}.")
    return told


def _unreviewed(settings: Settings, registry: Registry) -> Iterator[str]:
    """Templates of nodes that no rule is for: what they ask, nobody may decide."""
    every = settings.configuration.reviews
    rules = [rule for rule in every if not rule.shadow]
    for name, spec in settings.configuration.graphs.items():
        if not any(rule.graph in (None, name) for rule in rules):
            but = " but one in shadow" if any(rule.graph in (None, name) for rule in every) else ""
            yield (
                f"graphs.{name}: no [[reviews]] rule{but} is for it: what it asks, nobody may "
                "decide."
            )
            continue
        nodes = set(registry.loaded[name].graph.nodes) if name in registry.loaded else None
        for question in spec.questions:
            if nodes is not None and question.node.split("/")[0] not in nodes:
                yield f"graphs.{name}.questions: the graph has no step called {question.node}."
            if question.audience == "requester":
                continue
            if not any(rule.matches(name, question.node) for rule in rules):
                yield f"graphs.{name}: no [[reviews]] rule matches {question.node}: nobody may."
        yield from _only_in_shadow(name, every)


def _only_in_shadow(graph: str, rules: Sequence[Rule]) -> Iterator[str]:
    """Rules in shadow that stand alone: whom they would ask is written down, nobody is asked."""
    for number, rule in enumerate(rules, 1):
        if not rule.shadow or rule.node is None or rule.graph not in (None, graph):
            continue
        last = rule.node.rsplit("/", 1)[-1]
        if not any(
            one.matches(graph, one.node or rule.node, rule.tool)
            and (one.node is None or one.node.rsplit("/", 1)[-1] == last)
            for one in rules
            if not one.shadow
        ):
            yield (
                f"reviews[{number}]: it is in shadow, and no other rule is for {rule.node} of "
                f"{graph}: nobody may decide there."
            )
