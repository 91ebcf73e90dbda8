"""The composition root: builds a web process, a worker, or what a command needs, and runs it.

Nothing else in Sayso creates its own collaborators. A web process takes what Slack sends and
starts a worker as its child; a worker runs threads and posts to Slack. Both find everything they
have to know in the database, so either can be killed at any instruction and started again.
"""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final

import structlog
import typer
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.response import BoltResponse

from bot import deliveries, drafts, logs, naming, pending, workspaces
from bot.afterwards import Afterwards
from bot.approvers import Approvers
from bot.errors import NotYet, SettingsWrong, SlackFailed
from bot.gauges import Gauges
from bot.house import House
from bot.listeners import Listeners
from bot.people import People
from bot.pictures import Draw
from bot.posting import Poster
from bot.posts import CARD, Post
from bot.present import Present
from bot.records import Enclosing, Records
from bot.renderings import Renderings, lead_to
from bot.sending import Pace, Sender
from bot.settings import Settings, load, take_up
from bot.slack import Slack
from bot.supervision import Child, command, supervised, until_told_to_stop
from bot.timetable import Timetable, clock_of
from bot.values import visible
from bot.watching import Watch, watched
from bot.web import Door, listening, site
from bot.wishes import Wishes
from bot.workspaces import Workspace
from checkpoints import embedded, failpoints
from checkpoints import migrate as migrations
from checkpoints.database import Database
from checkpoints.errors import DatabaseAway, LockTimeout, SaysoError
from checkpoints.postgres import PostgresSaver
from graphs import audit, history, reviews
from graphs.entrances import Entrance, entrance_of, told_by
from graphs.registry import Registry
from graphs.specs import GraphSpec

log = structlog.get_logger("sayso")

IDENTIFY_AGAIN_SECONDS: Final = 5.0
HOUSEKEEPING_SECONDS: Final = 3600.0
# A process that is stopped inside a transaction holds locks that others wait for. A worker's limit
# is what a click waits; the others may rest a little longer on a busy machine.
IDLE_IN_TRANSACTION_SECONDS: Final = 1.0
WORKER_IDLE_IN_TRANSACTION_SECONDS: Final = 0.5


CONFIGURATION_WRONG: Final = 78  # the status of a worker that cannot begin by this file


# The database


async def database_url(settings: Settings) -> str:
    """The address of the database; the embedded one is started and migrated if need be."""
    if settings.database_url is not None:
        return settings.database_url
    url = await embedded.start(settings.home)
    await migrations.migrate(url)
    return url


@asynccontextmanager
async def opened(
    settings: Settings,
    name: str,
    *,
    idle_in_transaction_seconds: float = IDLE_IN_TRANSACTION_SECONDS,
) -> AsyncIterator[Database]:
    """The door to the database, with its tables as this program needs them.

    Whoever opens it has a limit for transactions that rest: a stopped process holds up nobody.

    Raises:
        NotMigrated, DatabaseAway, DatabaseRefused, EmbeddedFailed
    """
    async with Database.open(
        await database_url(settings),
        size=settings.environment.database_pool,
        name=f"sayso {name}",
        idle_in_transaction_seconds=idle_in_transaction_seconds,
        statement_cache=settings.environment.statement_cache,
    ) as database:
        await migrations.require(database)
        yield database


async def migrate() -> None:
    """Bring the tables up to this program and say what was done."""
    settings = load()
    url = settings.database_url or await embedded.start(settings.home)
    applied = await migrations.migrate(url)
    for name in applied:
        print(f"applied {name}")
    if not applied:
        print("Nothing to do, the database is up to date.")


async def stop_database() -> None:
    """Stop the embedded database."""
    stopped = await embedded.stop(load().home)
    print("The embedded database is stopped." if stopped else "No embedded database is running.")


# What everything is built of


def registry_of(settings: Settings, specs: Mapping[str, GraphSpec] | None = None) -> Registry:
    """The loaded graphs, all or these; those that cannot be loaded are logged and left out."""
    registry = loaded_of(settings, specs)
    for mistake in settings.project.problems:
        log.error("project not usable as a whole", why=mistake)
    for problem in registry.problems.values():
        log.error("graph not loaded", graph=problem.name, why=str(problem))
    return registry


def loaded_of(settings: Settings, specs: Mapping[str, GraphSpec] | None = None) -> Registry:
    """The same, without a word about those that cannot be loaded."""
    # `graphs.library.loan:graph` beside sayso.toml: the console script has no such path.
    if str(settings.directory) not in sys.path:
        sys.path.insert(0, str(settings.directory))
    take_up(settings.project)
    chosen = settings.configuration.graphs if specs is None else specs
    return Registry.load(chosen, settings.directory)


@asynccontextmanager
async def slack_of(settings: Settings) -> AsyncIterator[Slack | None]:
    """The door to Slack, None where its settings are not there."""
    if not settings.has_slack:
        yield None
        return
    token, _ = settings.need_slack("")
    async with Slack.open(token, api_url=settings.environment.slack_api_url) as slack:
        yield slack


async def workspace_of(database: Database, slack: Slack) -> Workspace:
    """Which workspace the token belongs to; waits until that can be found out once."""
    while True:
        try:
            return await workspaces.identify(database, slack)
        except SlackFailed as error:
            log.error("Slack does not say who we are; asking again", error=error.error)
            await asyncio.sleep(IDENTIFY_AGAIN_SECONDS)


def states_of(database: Database) -> Callable[..., Awaitable[Any]]:
    """Reads a thread's state, now or at a checkpoint, as plain data, without its graph."""
    return partial(history.state, PostgresSaver(database))


# The web process


@asynccontextmanager
async def house_of(
    present: Present, database: Database, slack: Slack, workspace: Workspace
) -> AsyncIterator[House]:
    """Everything that the listeners of a web process need."""
    afterwards = Afterwards()
    known = People(database, slack, workspace.team, afterwards)
    entrances = _entrances(present.settings)
    try:
        yield House(
            database=database,
            slack=slack,
            workspace=workspace,
            people=known,
            present=present,
            wishes=Wishes(present),
            renderings=Renderings(present, known),
            afterwards=afterwards,
            entrance=lambda graph: entrances.get(graph, Entrance()),
            state=states_of(database),
        )
    finally:
        await afterwards.finish()


def _entrances(settings: Settings) -> dict[str, Entrance]:
    """How each graph is begun; one is loaded only if only it can tell."""
    specs = settings.configuration.graphs
    told = {name: one for name, spec in specs.items() if (one := told_by(spec)) is not None}
    unknown = {name: spec for name, spec in specs.items() if name not in told}
    loaded = registry_of(settings, unknown).loaded if unknown else {}
    return told | {name: entrance_of(one) for name, one in loaded.items()}


def bolt_of(house: House) -> AsyncApp:
    """Bolt with our listeners; the door has proved the signature before it is asked."""

    async def authorize(**_: Any) -> AuthorizeResult:
        workspace = house.workspace
        return AuthorizeResult(
            enterprise_id=workspace.enterprise,
            team_id=workspace.team,
            bot_user_id=workspace.bot_user,
            bot_id=workspace.bot_id,
            bot_token=house.slack.token,
        )

    # Bolt repeats whole request bodies in its warnings; what matters is logged by us.
    quiet = logging.getLogger("sayso.bolt")
    quiet.setLevel(logging.CRITICAL)
    app = AsyncApp(
        logger=quiet,
        name="sayso",
        client=house.slack.client,
        authorize=authorize,
        process_before_response=True,
        request_verification_enabled=False,
    )
    Listeners(house).register(app)
    app.error(_answer_to_failure)
    return app


async def _answer_to_failure(error: Exception) -> BoltResponse:
    if isinstance(error, NotYet | DatabaseAway | LockTimeout):
        log.warning("not taken, Slack sends it again", why=type(error).__name__)
        return BoltResponse(status=503, body="")
    log.error("a request failed", why=type(error).__name__, exc_info=error)
    return BoltResponse(status=500, body="")


@asynccontextmanager
async def web_of(present: Present, database: Database) -> AsyncIterator[tuple[str, int]]:
    """The web process's door; yields where it listens, once Slack has said who we are.

    It listens before that, so that whoever watches it sees that it lives and is not ready.
    """
    settings = present.settings
    host, port = settings.environment.host, settings.environment.port
    token, signing_secret = settings.need_slack("The web process takes what Slack sends.")
    doors: list[Door] = []
    routes = site(database, lambda: doors[0] if doors else None, Gauges(database, present))
    async with (
        Slack.open(token, api_url=settings.environment.slack_api_url) as slack,
        listening(routes, host=host, port=port) as at,
    ):
        workspace = await workspace_of(database, slack)
        async with house_of(present, database, slack, workspace) as house:
            door = Door(bolt_of(house), signing_secret, record_unproved=_recorder(database))
            counting = asyncio.create_task(door.record_for_ever(), name="count unproved")
            doors.append(door)
            try:
                yield at
            finally:
                await _end(counting)
                await door.record_now()


def _recorder(database: Database) -> Callable[[dict[str, int]], Any]:
    async def record(counted: dict[str, int]) -> None:
        async with database.transaction() as connection:
            await audit.record(
                connection,
                "request.refused",
                detail={"count": sum(counted.values()), "why": counted},
            )

    return record


async def serve(*, tied: bool = False) -> int:
    """Take what Slack sends until told to stop, with a worker as supervised child.

    Returns the exit status: 1 where the worker cannot begin, because of what only it can find.
    """
    settings = load()
    failpoints.arm(settings.environment.failpoints)
    logs.set_up(settings.environment.log, "web")
    settings.need_slack("`sayso serve` takes what Slack sends; `sayso worker` runs without it.")
    stop = until_told_to_stop(tied=tied)
    drain = settings.environment.drain_seconds
    ended: list[int] = []

    def worker_ended(code: int) -> None:
        # A later worker that is refused found another file: it is tried again until that is mended.
        ended.append(code)
        if ended == [CONFIGURATION_WRONG]:
            stop.set()

    worker = Child(
        command("worker", "--tied"),
        name="worker",
        silence_seconds=settings.environment.silence_seconds,
        ended=worker_ended,
    )
    async with (
        opened(settings, "web") as database,
        supervised(worker, stop_seconds=drain + 5),
    ):
        web = asyncio.create_task(_serve_web(Present(settings), database, stop), name="web")
        await _first(web, asyncio.create_task(stop.wait(), name="stop"))
    if ended[:1] == [CONFIGURATION_WRONG]:
        log.error("not started: the worker found mistakes in the configuration")
        return 1
    return 0


async def _serve_web(present: Present, database: Database, stop: asyncio.Event) -> None:
    watch = Watch(
        present,
        database,
        by=f"cli:{os_user()}",
        check=lambda read: naming.asked_of_a_process(present.configuration, read.configuration),
    )
    async with web_of(present, database) as (host, port), watched(watch):
        log.info("listening", host=host, port=port)
        await stop.wait()
    log.info("stopped")


# The worker


async def work(*, tied: bool = False, alive: int | None = None) -> int:
    """Run threads and post to Slack until told to stop; then hand back what runs.

    Returns the exit status: one of its own where rules name what no graph has.

    Args:
        tied: stop when standard input ends.
        alive: the descriptor on which a supervisor wants signs of life.
    """
    settings = load()
    failpoints.arm(settings.environment.failpoints)
    logs.set_up(settings.environment.log, "worker")
    stop = until_told_to_stop(tied=tied)
    async with opened(
        settings, "worker", idle_in_transaction_seconds=WORKER_IDLE_IN_TRANSACTION_SECONDS
    ) as database:
        from bot.worker import Worker

        async with slack_of(settings) as slack:
            try:
                await Worker(Present(settings), database, slack, alive=alive).run(stop)
            except SettingsWrong as wrong:
                typer.echo(visible(str(wrong)), err=True)
                return CONFIGURATION_WRONG
    return 0


def poster_of(
    present: Present,
    database: Database,
    slack: Slack,
    team: str,
    afterwards: Afterwards,
    draw: Draw,
) -> Poster:
    """The poster of a worker; `draw` makes the picture of a thread."""
    known = People(database, slack, team, afterwards)
    afterwards.start(known.learn_handles(), "names of groups")

    def approvers() -> Approvers:
        return Approvers(known, present.policy.directory)

    async def prepare(post: Post) -> None:
        if post.kind == CARD:
            await approvers().meet(await reviews.get(database, int(post.subject)))

    async def posted(post: Post) -> None:
        """Who may decide is looked up when the card appears, so that a click finds it."""
        if post.kind == CARD:
            review = await reviews.get(database, int(post.subject))
            await approvers().warm(review)
            async with database.transaction() as connection:
                await lead_to(connection, review)

    sender = Sender(
        database,
        slack,
        Enclosing(Renderings(present, known)),
        write=Records(states_of(database)),
        draw=draw,
        members=lambda place: approvers().places(place),
        in_channel=known.in_channel,
        timetable=Timetable(
            database,
            zone=known.zone,
            waits=lambda user: pending.how_many(approvers(), user),
            clock=clock_of(present.settings.environment.clock_url),
        ),
        stands_in=lambda user, review_id: approvers().stands_in(user, review_id),
        tell_operators=Wishes(present).tell_operators,
        prepare=prepare,
        posted=posted,
        pace=Pace(hold_off_seconds=present.settings.environment.hold_off_seconds),
    )
    return Poster(database, sender)


async def keep_house(database: Database) -> None:
    """Now and then: drop what no redelivery can need any more."""
    while True:
        try:
            async with database.connection() as connection:
                await deliveries.forget_old(connection)
                await drafts.forget_old(connection)
        except SaysoError as error:
            log.warning("housekeeping failed", why=str(error))
        await asyncio.sleep(HOUSEKEEPING_SECONDS)


def os_user() -> str:
    """Who runs this command on this machine, for the record."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


async def _first(*tasks: asyncio.Task[Any]) -> None:
    """Wait for the first to end; raise what it raised; cancel the rest."""
    done, rest = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    # A stop lets the web process close its door by itself.
    for task in rest:
        if task.get_name() != "web":
            task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    for task in done:
        task.result()


async def _end(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
