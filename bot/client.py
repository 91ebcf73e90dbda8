"""Starting threads from Python: what `sayso threads start` does, for another program.

    from bot.client import connect

    async with connect() as sayso:
        thread = await sayso.start("refund", {"order": "A-2231"}, key="order-A-2231")

It reads SAYSO_… and `sayso.toml` as every command does, and needs neither a worker nor Slack in the
program that calls it: the thread waits in the database until a worker takes it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from bot import app, conversations, workspaces
from bot.errors import SlackFailed
from bot.present import Present
from bot.settings import Settings, load
from bot.wishes import Wishes
from checkpoints.database import Database
from graphs import contexts, inputs, threads
from graphs.errors import KeyTaken, UnknownGraph
from graphs.inputs import InputRefused
from graphs.plain import written
from graphs.ports import PROGRESS
from graphs.registry import LoadedGraph

_IN_SLACK: Final = re.compile(r"[UW][A-Z0-9]{2,}")


@dataclass(frozen=True)
class StartedThread:
    """A thread by its id and by the number that people know it by; `created` is False where the
    same key had started it before."""

    id: str
    number: int
    created: bool


class Client:
    """Starts threads in one database; `via` names the way in, for the record and for keys."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        team: str,
        wishes: Wishes,
        *,
        via: str = "python",
    ) -> None:
        self._settings = settings
        self._database = database
        self._team = team
        self._wishes = wishes
        self._via = via
        self._loaded: dict[str, LoadedGraph | None] = {}

    async def start(
        self,
        graph: str,
        given: Any,
        *,
        customer: str | None = None,
        requester: str | None = None,
        configurable: Mapping[str, Any] | None = None,
        context: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> StartedThread:
        """Start a thread of the graph with its own input, once for each key.

        Args:
            given: the graph's input, as JSON has it.
            customer: the customer's name or id; a new name is created.
            requester: a person's Slack id: they are told how it goes, in their direct messages,
                and are asked what the graph asks of its requester. Without it, this program.

        Raises:
            UnknownGraph: none is configured under that name.
            InputRefused: the input or the context does not fit; where the graph cannot be
                loaded here, its worker looks.
            KeyTaken: the key has started something else.
            AmbiguousCustomer, BadCustomerName: the customer is not clear.
        """
        specs = self._settings.configuration.graphs
        if graph not in specs:
            raise UnknownGraph(graph, tuple(specs))
        self._check(graph, given, context)
        who = f"{self._via}:{app.os_user()}"
        async with self._database.transaction() as connection:
            started = await threads.start(
                connection,
                team=self._team,
                graph=graph,
                requester=requester or who,
                input=given,
                customer=customer,
                configurable=configurable,
                context=context,
                key=f"{self._via}:{key}" if key is not None else None,
                actor=who,
                wish=self._wishes,
            )
            thread = await threads.get(connection, started.thread_id)
            if key is not None and not started.created:
                same = await threads.was_given(connection, thread.id, given)
                if thread.graph != graph or not same:
                    raise KeyTaken(key, thread.id, thread.graph)
            if started.created and requester is not None and _IN_SLACK.fullmatch(requester):
                await conversations.open_(
                    connection, thread.id, team=self._team, channel=requester, root=None
                )
                await self._wishes(connection, PROGRESS, thread.id)
        return StartedThread(thread.id, thread.number, started.created)

    def _check(self, graph: str, given: Any, context: Mapping[str, Any] | None) -> None:
        try:
            written(given)
        except (TypeError, ValueError, RecursionError) as error:
            raise InputRefused(f"The input is not JSON: {error}.") from error
        if given is None:
            raise InputRefused("The input is missing.")
        if graph not in self._loaded:
            own = {graph: self._settings.configuration.graphs[graph]}
            self._loaded[graph] = app.loaded_of(self._settings, own).loaded.get(graph)
        loaded = self._loaded[graph]
        if loaded is None:
            return
        around = contexts.merged(loaded, context)
        said = inputs.problem(loaded.graph, given) or contexts.problem(loaded.graph, around)
        if said is not None:
            raise InputRefused(said)


@asynccontextmanager
async def connect(environ: Mapping[str, str] | None = None) -> AsyncIterator[Client]:
    """Open the database that SAYSO_… names; one client for as long as the program lives.

    Args:
        environ: what to read in place of the environment.

    Raises:
        SettingsWrong, NotMigrated, DatabaseAway
    """
    settings = load(environ)
    async with (
        app.opened(settings, "client") as database,
        app.slack_of(settings) as slack,
    ):
        team = await workspaces.team_of(database)
        if slack is not None:
            with contextlib.suppress(SlackFailed):
                team = (await workspaces.identify(database, slack)).team
        yield Client(settings, database, team, Wishes(Present(settings)))
