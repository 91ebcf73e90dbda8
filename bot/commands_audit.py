"""`sayso audit …`: the record in a file, whether a file was changed, and a thread's story."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

app = typer.Typer(help="Export the record, check an export, tell a story.", no_args_is_help=True)

Day = Annotated[
    datetime | None,
    typer.Option(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="A day or a time, in UTC."),
]


@app.command()
def export(
    format: Annotated[  # noqa: A002
        Literal["jsonl", "csv"], typer.Option(help="Lines of JSON, or a table.")
    ] = "jsonl",
    since: Day = None,
    until: Day = None,
    thread: Annotated[str | None, typer.Option(help="Only about this thread.")] = None,
    graph: Annotated[str | None, typer.Option(help="Only about threads of this graph.")] = None,
    customer: Annotated[str | None, typer.Option(help="Only about this customer.")] = None,
    approver: Annotated[
        str | None, typer.Option(help="Only what this person did.", metavar="USER")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A new file; without it, standard output.")
    ] = None,
) -> None:
    """Write the record, or a part of it; the head of its chain is printed on standard error."""
    from bot import auditing

    try:
        with auditing.output(out) as target:
            count, head = asyncio.run(
                auditing.export(
                    target, format, since=_utc(since), until=_utc(until), thread=thread,
                    graph=graph, customer=customer, approver=approver,
                )
            )  # fmt: skip
    except FileExistsError:
        raise typer.BadParameter(
            f"{out} is there already; name a new file", param_hint="--out"
        ) from None
    except OSError as error:
        raise typer.BadParameter(f"{out}: {error.strerror}", param_hint="--out") from None
    noun = "entry" if count == 1 else "entries"
    typer.echo(f"{count} {noun}. The head of the chain is {head}. Keep it elsewhere.", err=True)


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="What `sayso audit export` wrote.", exists=True)],
    head: Annotated[
        str | None, typer.Option(help="A head that was kept, POSITION:HASH or the hash alone.")
    ] = None,
) -> None:
    """Check an export without the database; the first place that does not hold is named."""
    from bot import exports
    from graphs.sealing import Broken

    found = exports.verify(file, head)
    if isinstance(found, Broken):
        typer.echo(f"Broken at place {found.position}: {found.why}.", err=True)
        raise typer.Exit(1)
    typer.echo(f"Whole, up to the head {found.head}.")
    typer.echo(
        f"It shows {found.shown:,} of the {found.places:,} entries from place {found.first:,} on; "
        "of the others it has the hash alone."
    )
    if head is None:
        typer.echo(
            "Without a head that was kept this shows only that the file is of one piece: whoever "
            "owns the database could have written all of it anew. Use --head.",
            err=True,
        )


@app.command()
def story(
    thread: Annotated[str, typer.Argument(help="The thread's id, its number, or how it begins.")],
) -> None:
    """Tell a thread's whole story on one page, from the record."""
    from bot import auditing

    typer.echo(asyncio.run(auditing.story(thread)), nl=False)


def _utc(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment is not None else None
