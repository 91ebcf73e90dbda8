"""`sayso check`: look at everything that can be wrong before it is needed, and say what to do.

A mistake ends with 1, a warning does not.
"""

from __future__ import annotations

from collections.abc import Iterator

import typer

from bot import app
from bot.errors import SlackFailed
from bot.settings import Settings, examined
from checkpoints import migrate
from checkpoints.database import Database
from checkpoints.errors import SaysoError
from graphs.registry import Registry
from graphs.specs import Rule


async def check() -> int:
    """Print what is wrong and what is doubtful; 1 if anything is wrong."""
    settings, mistakes = examined()
    registry = app.loaded_of(settings)
    mistakes += settings.project.problems
    mistakes += [str(problem) for problem in registry.problems.values()]
    mistakes += [mistake async for mistake in _database(settings)]
    warnings = [*settings.warnings, *_unreviewed(settings, registry)]
    warnings += [warning async for warning in _slack(settings)]
    for mistake in mistakes:
        typer.echo(f"mistake: {mistake}")
    for warning in warnings:
        typer.echo(f"warning: {warning}")
    graphs, rules = len(registry.loaded), len(settings.configuration.reviews)
    load = "graph loads" if graphs == 1 else "graphs load"
    counted = [_many(rules, "review rule"), _many(len(mistakes), "mistake")]
    typer.echo(f"{graphs} {load}, {', '.join(counted)}.")
    return 1 if mistakes else 0


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


async def _database(settings: Settings):  # type: ignore[no-untyped-def]
    if settings.database_url is None:
        return  # the embedded one is started and migrated when it is needed
    try:
        async with Database.open(settings.database_url, size=1) as database:
            await migrate.require(database)
    except SaysoError as error:
        yield str(error)


async def _slack(settings: Settings):  # type: ignore[no-untyped-def]
    async with app.slack_of(settings) as slack:
        if slack is None:
            yield "no Slack settings: threads run, and what should be shown in Slack waits."
            return
        try:
            await slack.call("auth.test")
        except SlackFailed as error:
            yield str(error)


def _unreviewed(settings: Settings, registry: Registry) -> Iterator[str]:
    """Templates of nodes that no rule is for: what they ask, nobody may decide."""
    rules: tuple[Rule, ...] = settings.configuration.reviews
    for name, spec in settings.configuration.graphs.items():
        if not any(rule.graph in (None, name) for rule in rules):
            yield f"graphs.{name}: no [[reviews]] rule is for it: what it asks, nobody may decide."
            continue
        nodes = set(registry.loaded[name].graph.nodes) if name in registry.loaded else None
        for question in spec.questions:
            if nodes is not None and question.node.split("/")[0] not in nodes:
                yield f"graphs.{name}.questions: the graph has no step called {question.node}."
            if question.audience == "requester":
                continue
            if not any(rule.matches(name, question.node) for rule in rules):
                yield f"graphs.{name}: no [[reviews]] rule matches {question.node}: nobody may."
