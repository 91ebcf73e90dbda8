"""`sayso policy …` and `sayso cards …`: what the rules and the templates make of a question."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.commands_threads import AsJson, end_refused, show_json

app = typer.Typer(help="See which rule a question gets, and why.", no_args_is_help=True)
cards = typer.Typer(help="See what a question looks like.", no_args_is_help=True)

FILE_BYTES = 20_000_000


@app.command()
def simulate(
    file: Annotated[Path, typer.Argument(help="The case, as JSON; - reads it from the input.")],
    as_json: AsJson = False,
) -> None:
    """Say who would be asked for a question, why, and until when. Nothing is asked."""
    from bot import explaining, printing

    found = explaining.simulate(_json(file))
    show_json(found) if as_json else printing.print_rules(found)


@app.command()
def explain(
    review: Annotated[int, typer.Option(help="The review's number.", min=1, max=2**63 - 1)],
    as_json: AsJson = False,
) -> None:
    """Say of a review who may decide it, why, and whether the present file says otherwise."""
    from bot import explaining, printing

    found = asyncio.run(explaining.explain(review))
    show_json(found) if as_json else printing.print_explained(found)


@app.command()
def apply(
    review: Annotated[
        int | None, typer.Option(help="Only this review.", min=1, max=2**63 - 1)
    ] = None,
    graph: Annotated[str | None, typer.Option(help="Only what this graph asked.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be moved, and change nothing.")
    ] = False,
    user: Annotated[
        str | None,
        typer.Option("--as", help="An operator's Slack id; without it, you are the operator."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Move open reviews to the rules of the present file. Votes on what is moved lapse.

    A review keeps the rule it was opened under until this is done. What is decided stays decided.
    """
    from bot import moving, printing

    rows, refused = asyncio.run(
        moving.apply(
            review=review,
            graph=graph,
            user=user,
            only_look=dry_run,
            confirm=lambda found: yes or printing.confirmed_moving(found),
            progress=lambda done, count: typer.echo(f"{done} {count:,}", err=True),
        )
    )
    show_json(rows) if as_json else printing.print_moved(rows, dry_run or refused is not None)
    end_refused(refused)


@app.command()
def history(
    diff: Annotated[bool, typer.Option("--diff", help="Show what was changed.")] = False,
    limit: Annotated[int, typer.Option(help="How many, the newest first.", min=1, max=1000)] = 20,
    as_json: AsJson = False,
) -> None:
    """Say which configurations were in force, since when, by whom, and which were refused."""
    from bot import printing, retelling

    rows = asyncio.run(retelling.history(limit, with_diff=diff))
    show_json(rows) if as_json else printing.print_policies(rows)


@app.command("absences")
def absences_(as_json: AsJson = False) -> None:
    """List who is away, who decides in their place, and until when."""
    from bot import printing, reassigning

    found = asyncio.run(reassigning.absences_now())
    show_json(found) if as_json else printing.print_absences(found)


@cards.command()
def preview(
    graph: Annotated[str, typer.Argument(help="The graph's name in sayso.toml.")],
    question: Annotated[Path, typer.Option(help="What its node asks, as JSON; - is the input.")],
    node: Annotated[str, typer.Option(help="The node that asks.")] = "ask",
    schema: Annotated[Path | None, typer.Option(help="The answer's JSON Schema.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the card of a question as text, or as Slack gets it with --json. Nothing is posted."""
    from bot import previewing

    asked = _json(question)
    found = previewing.card(graph, node, asked, _json(schema) if schema is not None else None)
    show_json({"text": found.text, "blocks": found.blocks}) if as_json else typer.echo(
        previewing.as_text(found)
    )


def _json(file: Path) -> Any:
    try:
        text = (
            typer.get_text_stream("stdin").read(FILE_BYTES)
            if str(file) == "-"
            else file.read_text(encoding="utf-8")
        )
        return json.loads(text)
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"{file} is not JSON: {error}") from None
