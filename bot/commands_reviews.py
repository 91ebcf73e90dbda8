"""`sayso reviews …`: what waits for people, and deciding without Slack."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from bot.commands_threads import AsJson, parsed, show_json

app = typer.Typer(help="Look at reviews and decide them.", no_args_is_help=True)

Id = Annotated[int, typer.Argument(help="The review's number.", min=1, max=2**63 - 1)]


@app.command("list")
def list_(
    thread: Annotated[str | None, typer.Option(help="Only those of this thread.")] = None,
    as_json: AsJson = False,
) -> None:
    """List reviews, oldest first."""
    from bot import operating, printing

    found = asyncio.run(operating.list_reviews(thread))
    show_json(found) if as_json else printing.print_reviews(found)


@app.command()
def show(id: Id, as_json: AsJson = False) -> None:  # noqa: A002
    """Show a review: its question, who may decide, and the votes."""
    from bot import operating, printing

    found = asyncio.run(operating.show_review(id))
    show_json(found) if as_json else printing.print_review(found)


@app.command()
def decide(
    id: Id,  # noqa: A002
    voter: Annotated[str, typer.Option("--as", help="The person's Slack id.", metavar="USER")],
    answer: Annotated[str, typer.Option(help="What the node's interrupt() returns, as JSON.")],
    item: Annotated[
        int | None,
        typer.Option(help="The action that the answer is for, counted from 0.", min=0, max=999),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Vote as USER, under the same rules as in Slack; the record names you too."""
    from bot import operating, printing

    said = parsed("--answer", answer)
    found, refused = asyncio.run(operating.decide(id, voter, said, item))
    show_json(found) if as_json else printing.print_review(found)
    if refused is not None:
        typer.echo(refused, err=True)
        raise typer.Exit(1)
