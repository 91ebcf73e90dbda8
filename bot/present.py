"""The configuration in force: what everything reads at use, so that a change is seen at once.

Whoever needs a rule, the operators or the words of a question holds the `Present` and asks it each
time; nobody keeps what it said. A review keeps the rule it was opened under, and that stands in its
row.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.configuration import Configuration
from bot.roster import directory
from bot.settings import Settings
from graphs.policy import Policy
from graphs.specs import GraphSpec, Operators


class Present:
    """What holds now; `take` puts another configuration in its place."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._policy = policy_of(settings.configuration)

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
        self._settings, self._policy = settings, policy


def policy_of(configuration: Configuration) -> Policy:
    """The rules of a configuration, with its operators."""
    return Policy(configuration.reviews, configuration.operators, directory(configuration))
