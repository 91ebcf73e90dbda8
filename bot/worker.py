"""A worker: one runner for threads and, where Slack is configured, one poster.

If any of its duties dies, the worker ends: whoever watches it starts another, and what it owned is
taken over when its leases run out. A stop lets the runner hand back first, then ends the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import structlog

from bot import app, naming, workspaces
from bot.afterwards import Afterwards
from bot.errors import SettingsWrong
from bot.files import SlackFiles
from bot.pictures import drawer
from bot.present import Present
from bot.settings import Settings
from bot.slack import Slack
from bot.supervision import show_life
from bot.ticking import Tick, shown_time, tick_for_ever
from bot.watching import Watch, watched
from bot.wishes import Wishes
from bot.workspaces import LOCAL_TEAM
from checkpoints.database import Database
from checkpoints.errors import SaysoError
from graphs import absences, deadlines, deploys, holding, sealing
from graphs.ports import Fetch, no_fetch
from graphs.registry import LoadedGraph, Registry
from graphs.runner import Limits, Runner
from graphs.specs import GraphSpec
from graphs.structures import Structure

log = structlog.get_logger("sayso.worker")

LOOK_FOR_TEAM_SECONDS: Final = 5.0
MAX_LINES: Final = 50  # of what a deploy means for threads, in the log
SEAL_SECONDS: Final = 1.0
TICK_SECONDS: Final = 1.0
TICK_HEAD_SECONDS: Final = 600.0
TELL_HEAD_SECONDS: Final = 24 * 3600.0


@dataclass(frozen=True)
class Serving(Registry):
    """The loaded graphs, for the workspace we serve and for what was started without any."""

    loaded: dict[str, LoadedGraph] = field(default_factory=dict)
    teams: list[str] = field(default_factory=list)

    def follow(self, specs: Mapping[str, GraphSpec]) -> None:
        """Say of every graph what the configuration in force says of it; a run keeps its own."""
        for name, loaded in list(self.loaded.items()):
            if (spec := specs.get(name)) is not None:
                self.loaded[name] = replace(loaded, spec=spec)

    def scopes(self, team: str) -> list[str]:
        """The scopes of every team that is served."""
        return [
            f"{one}/{name}" for one in dict.fromkeys([team, *self.teams]) for name in self.loaded
        ]


class Worker:
    """Runs until told to stop."""

    def __init__(
        self,
        present: Present,
        database: Database,
        slack: Slack | None,
        *,
        alive: int | None = None,
    ) -> None:
        self._present = present
        self._settings = present.settings
        self._alive = alive
        self._database = database
        self._slack = slack

    async def run(self, stop: asyncio.Event) -> None:
        """Run threads and post until `stop` is set or a duty dies.

        Raises:
            SettingsWrong: rules name what no graph has.
            Whatever ended one of the duties.
        """
        slack, database = self._slack, self._database
        team = LOCAL_TEAM
        if slack is not None:
            asking = asyncio.create_task(app.workspace_of(database, slack), name="who are we")
            if not await _before(stop, asking):
                return
            team = asking.result().team
        loaded = app.registry_of(self._settings)
        known = naming.structures_of(loaded)
        if wrong := _named_wrong(self._settings, known):
            raise SettingsWrong(wrong)
        serving = Serving(loaded.specs, dict(loaded.loaded), loaded.problems, [LOCAL_TEAM])
        await self._release(serving)
        runner = self._runner(serving, team)
        watch = Watch(
            self._present,
            database,
            by=f"cli:{app.os_user()}",
            check=lambda read: _named_wrong(read, known),
            taken=lambda: serving.follow(self._present.specs),
        )
        async with watched(watch), self._duties(serving, team) as duties:
            running = asyncio.create_task(runner.run(), name="runner")
            stopping = asyncio.create_task(stop.wait(), name="stop")
            log.info("working", team=team, graphs=list(serving.loaded), slack=slack is not None)
            await asyncio.wait([running, stopping, *duties], return_when=asyncio.FIRST_COMPLETED)
            # Posting goes on while the runner hands back, so that its last wishes are shown.
            runner.stop()
            stopping.cancel()
            await running
            for duty in duties:
                if duty.done():
                    duty.result()
        log.info("stopped")

    async def _release(self, serving: Serving) -> None:
        wish = Wishes(self._present)
        try:
            for thread_id in await holding.release_allowed(self._database, serving, wish=wish):
                log.info("released: its types may be loaded now", thread=thread_id)
            deployed = await deploys.changed(self._database, serving)
            await deploys.wake(self._database, deployed)
            mended = deployed.mended
            for thread_id in await holding.release_mended(self._database, mended, wish=wish):
                log.info("released: its code fits again", thread=thread_id)
            for line in deployed.stuck[:MAX_LINES]:
                log.warning("stuck", why=line)
            for note in deployed.notes[:MAX_LINES]:
                log.info("changed", what=note)
        except SaysoError as error:  # the database may be away; a person can still let them go on
            log.warning("threads that wait were not looked at", why=str(error))

    def _runner(self, serving: Serving, team: str) -> Runner:
        environment = self._settings.environment
        fetch: Fetch = SlackFiles(self._slack) if self._slack is not None else no_fetch
        return Runner(
            self._database,
            serving,
            team=team,
            policy=lambda: self._present.policy,
            limits=Limits(
                lease_seconds=environment.lease_seconds,
                poll_seconds=environment.poll_seconds,
                at_once=environment.at_once,
                drain_seconds=environment.drain_seconds,
                pool_size=environment.database_pool,
            ),
            wish=Wishes(self._present),
            fetch=fetch,
            clock=partial(shown_time, environment.clock_url),
        )

    @asynccontextmanager
    async def _duties(self, serving: Serving, team: str) -> AsyncIterator[list[asyncio.Task[None]]]:
        afterwards = Afterwards()
        duties = [
            asyncio.create_task(app.keep_house(self._database), name="housekeeping"),
            asyncio.create_task(tick_for_ever(self._ticks(serving)), name="ticks"),
        ]
        if self._slack is None:
            duties.append(asyncio.create_task(self._follow_team(serving), name="team"))
        else:
            draw = drawer(self._database, serving)
            poster = app.poster_of(
                self._present, self._database, self._slack, team, afterwards, draw
            )
            duties.append(asyncio.create_task(poster.run(), name="poster"))
        if self._alive is not None:
            # Not before: loading the graphs may take longer than a silence is allowed to.
            silence = self._settings.environment.silence_seconds
            duties.append(asyncio.create_task(show_life(self._alive, silence), name="life"))
        try:
            yield duties
        finally:
            for duty in duties:
                duty.cancel()
            await asyncio.gather(*duties, return_exceptions=True)
            await afterwards.finish()

    def _ticks(self, serving: Serving) -> dict[str, tuple[float, Tick]]:
        """What this worker does by the clock, each with its seconds."""
        wish = Wishes(self._present)

        async def act_in_time() -> None:
            now = await shown_time(self._settings.environment.clock_url)
            specs = {name: loaded.spec for name, loaded in serving.loaded.items()}
            await deadlines.tick(self._database, specs, wish, now=now)
            await absences.tick(self._database, wish, now=now)

        async def tell_head() -> None:
            async with self._database.transaction() as connection:
                head = await sealing.claim_telling(connection, TELL_HEAD_SECONDS)
                if head is not None:
                    await wish.tell_operators(connection, f"head:{head}")

        return {
            "head": (TICK_HEAD_SECONDS, tell_head),
            "seal": (SEAL_SECONDS, lambda: sealing.seal_all(self._database)),
            "deadlines": (TICK_SECONDS, act_in_time),
        }

    async def _follow_team(self, serving: Serving) -> None:
        """Without Slack settings, serve the workspace that another process has found."""
        while True:
            team = await workspaces.team_of(self._database)
            if team not in serving.teams:
                serving.teams.append(team)
            await asyncio.sleep(LOOK_FOR_TEAM_SECONDS)


def _named_wrong(settings: Settings, known: Mapping[str, Structure]) -> list[str]:
    """Names in the rules that lead to nothing in the graphs that this worker has loaded."""
    return settings.reading.placed(naming.mistakes(settings.configuration, known))


async def _before(stop: asyncio.Event, task: asyncio.Task[object]) -> bool:
    """Whether the task ended before the stop; cancelled otherwise."""
    stopping = asyncio.create_task(stop.wait(), name="stop")
    await asyncio.wait([task, stopping], return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if task.done():
        return True
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return False
