"""What the web process is built of, handed as one value to everything that takes a request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.afterwards import Afterwards
from bot.approvers import Approvers
from bot.people import People
from bot.present import Present
from bot.renderings import Renderings
from bot.slack import Slack
from bot.wishes import Wishes
from bot.workspaces import Workspace
from checkpoints.database import Database
from graphs.entrances import Entrance
from graphs.policy import Policy
from graphs.specs import GraphSpec


@dataclass(frozen=True)
class House:
    """The collaborators of the listeners; built once, by the composition root."""

    database: Database
    slack: Slack
    workspace: Workspace
    people: People
    present: Present
    wishes: Wishes
    renderings: Renderings
    afterwards: Afterwards
    entrance: Callable[[str], Entrance]  # how a graph is begun and talked to
    state: Callable[[str], Awaitable[Any]]  # of a thread, as plain data

    @property
    def approvers(self) -> Approvers:
        """Who the rules in force name now."""
        return Approvers(self.people, self.policy.directory)

    @property
    def policy(self) -> Policy:
        """The rules in force."""
        return self.present.policy

    @property
    def specs(self) -> Mapping[str, GraphSpec]:
        """What the configuration in force says of each graph."""
        return self.present.specs
