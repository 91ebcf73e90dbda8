"""The configuration in force: what everything reads at use, so that a change is seen at once.

Whoever needs a rule, the operators or the words of a question holds the `Present` and asks it each
time; nobody keeps what it said. A review keeps the rule it was opened under, and that stands in its
row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bot.configuration import Configuration
from bot.roster import directory
from bot.settings import Settings
from graphs.policy import Policy
from graphs.specs import GraphSpec, Operators

# What a process has made its graphs of, or its runs; the rest of an entry is read at use.
AT_START: Final = ("path", "intake", "config", "context", "types", "replies")


class Present:
    """What holds now; `take` puts another configuration in its place."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._policy = policy_of(settings.configuration)
        self.broken = False  # whether the file says something else by now that cannot be taken up

    @property
    def settings(self) -> Settings:
        """Everything that was set, with the configuration in force."""
        return self._settings

    @property
    def configuration(self) -> Configuration:
        """The configuration in force."""
        return self._settings.configuration

    @property
    def policy(self) -> Policy:
        """The rules, and who everybody in them is."""
        return self._policy

    @property
    def operators(self) -> Operators:
        """Who is told when something needs a hand."""
        return self._policy.operators

    @property
    def specs(self) -> Mapping[str, GraphSpec]:
        """What is said of each graph."""
        return self._settings.configuration.graphs

    def take(self, settings: Settings) -> None:
        """From now on this is in force; all of it at once, for whoever asks next."""
        policy = policy_of(settings.configuration)
        self._settings, self._policy, self.broken = settings, policy, False


def policy_of(configuration: Configuration) -> Policy:
    """The rules of a configuration, with its operators."""
    return Policy(configuration.reviews, configuration.operators, directory(configuration))


def beside(running: Settings, read: Settings) -> tuple[Settings, list[str]]:
    """What of a configuration can be in force in a process that runs already, and what cannot.

    A graph that the process does not know waits for its next start. One that is not configured any
    more goes on with what it has, and takes nothing new.
    """
    graphs: dict[str, GraphSpec] = {}
    waits: list[str] = []
    for name, spec in running.configuration.graphs.items():
        changed = read.configuration.graphs.get(name)
        if changed is None:
            nothing = {"channels": (), "command": None, "direct": False, "shortcut": None}
            graphs[name] = spec.model_copy(update=nothing)
            waits.append(f"graphs.{name}: it is configured no more.")
            continue
        kept = {part: getattr(spec, part) for part in AT_START}
        waits += [
            f"graphs.{name}.{part}: it was changed."
            for part, value in kept.items()
            if getattr(changed, part) != value
        ]
        graphs[name] = changed.model_copy(update=kept)
    waits += [
        f"graphs.{name}: it is new."
        for name in read.configuration.graphs
        if name not in running.configuration.graphs
    ]
    configuration = read.configuration.model_copy(update={"graphs": graphs})
    return replace(read, configuration=configuration), read.reading.placed(waits)
