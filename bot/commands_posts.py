"""`sayso posts …`: what Slack does not show as it should, and trying what is parked again."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from bot.commands_threads import AsJson, end_refused, show_json

app = typer.Typer(help="Look at messages that wait, and retry them.", no_args_is_help=True)


@app.command("list")
def list_(
    parked: Annotated[
        bool, typer.Option("--parked", help="Only what Slack refused, until somebody acts.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List messages that Slack does not show as it should, oldest first, with why."""
    from bot import outbox, printing

    found, count = asyncio.run(outbox.waiting(parked=parked))
    show_json(found) if as_json else printing.print_posts(found)
    if count > len(found):
        typer.echo(f"{count - len(found):,} more are not listed.", err=True)


@app.command()
def retry(
    id: Annotated[  # noqa: A002
        str | None, typer.Argument(help="The message's id, or how it begins.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Everything that is parked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Have parked messages tried again at once. Mend first what `posts list` says."""
    from bot import outbox, printing

    if (id is None) != all_:
        raise typer.BadParameter("name one message, or use --all", param_hint="ID")
    found, refused = asyncio.run(outbox.retry(id))
    if as_json:
        show_json(found)
    elif refused is None:
        printing.print_posts(found)
    end_refused(refused)
