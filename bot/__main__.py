"""The command line: `sayso serve`, `sayso threads …`, and the rest.

Each command imports what it needs when it runs, so that `sayso --help` is quick and a command
about threads never loads a web server.

Exit status: 0 done; 1 refused or failed, with the reason on standard error; 2 wrong usage.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

from bot import (
    commands_audit,
    commands_policy,
    commands_posts,
    commands_reviews,
    commands_threads,
    commands_try,
)

app = typer.Typer(
    name="sayso",
    help="A person's say-so for agent graphs, in Slack.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
db = typer.Typer(help="The embedded database.", no_args_is_help=True)
app.add_typer(commands_threads.app, name="threads")
app.add_typer(commands_reviews.app, name="reviews")
app.add_typer(commands_posts.app, name="posts")
app.add_typer(commands_policy.app, name="policy")
app.add_typer(commands_policy.cards, name="cards")
app.add_typer(commands_audit.app, name="audit")
app.add_typer(db, name="db")
app.command("try")(commands_try.try_)

Tied = Annotated[bool, typer.Option("--tied", hidden=True, help="End when standard input ends.")]
Alive = Annotated[
    int | None, typer.Option("--alive", hidden=True, help="Show life on this descriptor.")
]


@app.command()
def serve(tied: Tied = False) -> None:
    """Take what Slack sends, and run a worker beside it."""
    from bot.app import serve as work

    _run(work(tied=tied))


@app.command()
def worker(tied: Tied = False, alive: Alive = None) -> None:
    """Run threads and post to Slack; start as many as you like, on any machine."""
    from bot.app import work

    _run(work(tied=tied, alive=alive))


@app.command()
def migrate() -> None:
    """Bring the database's tables up to this program."""
    from bot.app import migrate as work

    _run(work())


@app.command()
def check(
    names: Annotated[
        bool, typer.Option("--names", hidden=True, help="Only the steps in rules, as JSON.")
    ] = False,
) -> None:
    """Look at all settings, graphs and rules, and say what is wrong."""
    from bot.check import check as work
    from bot.check import names as work_on_names

    _run(work_on_names() if names else work())


@app.command()
def simulator(
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8090,
    home: Annotated[Path | None, typer.Option(help="Where its state is kept.")] = None,
    events_url: Annotated[
        str, typer.Option(help="Where the bot takes events.")
    ] = "http://127.0.0.1:3000/slack/events",
    tied: Tied = False,
) -> None:
    """Run the local Slack, with its page, on this machine only."""
    from bot.demo import simulate

    _run(simulate(port, home=home, events_url=events_url, tied=tied))


@app.command()
def demo() -> None:
    """Start everything on this machine, without a workspace, and print one address."""
    from bot.demo import demo as work

    _run(work())


@db.command("stop")
def db_stop() -> None:
    """Stop the embedded database; its data stays."""
    from bot.app import stop_database

    _run(stop_database())


def main() -> None:
    """Run the command line; an expected error is one message and status 1."""
    # First of all: it makes langgraph strict, which langgraph looks at when it is imported.
    import bot.settings  # noqa: F401
    from checkpoints.errors import SaysoError

    try:
        app()
    except SaysoError as error:
        from bot.values import visible

        typer.echo(visible(str(error)), err=True)  # it may name what stands in somebody's file
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _run(work: Coroutine[Any, Any, int | None]) -> None:
    code = asyncio.run(work)
    if code:
        raise typer.Exit(code)


if __name__ == "__main__":
    main()
