"""`sayso threads …`: start threads, list them, look at one and at how it came where it is."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(help="Start threads and look at them.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for other programs.")]
Id = Annotated[str, typer.Argument(help="The thread's id, its number, or how its id begins.")]


@app.command()
def start(
    graph: Annotated[str, typer.Argument(help="The graph's name in sayso.toml.")],
    input: Annotated[str, typer.Option(help="The graph's own input, as JSON.")],  # noqa: A002
    customer: Annotated[
        str | None, typer.Option(help="The customer's name or id; a new name is created.")
    ] = None,
    configurable: Annotated[
        str | None, typer.Option(help="Configurable values of its runs, as a JSON object.")
    ] = None,
    context: Annotated[
        str | None, typer.Option(help="The context of its runs, as a JSON object.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="The same key starts one thread, however often.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start a thread of GRAPH."""
    from bot import operating, printing

    given = parsed("--input", input)
    more = parsed("--configurable", configurable) if configurable is not None else {}
    if not isinstance(more, dict):
        raise typer.BadParameter("it must be a JSON object", param_hint="--configurable")
    around = parsed("--context", context) if context is not None else None
    if not (around is None or isinstance(around, dict)):
        raise typer.BadParameter("it must be a JSON object", param_hint="--context")
    if given is None:
        raise typer.BadParameter("null starts nothing", param_hint="--input")
    found = asyncio.run(
        operating.start(graph, given, customer=customer, configurable=more, context=around, key=key)
    )
    show_json(found) if as_json else printing.print_thread(found)


@app.command("list")
def list_(
    status: Annotated[
        str | None,
        typer.Option(help="Only those that are queued, running, paused, held, failed, …"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the newest threads."""
    from bot import operating, printing

    if status is not None and status not in operating.STATUSES:
        raise typer.BadParameter(f"one of {', '.join(operating.STATUSES)}", param_hint="--status")
    found = asyncio.run(operating.list_threads(status))
    show_json(found) if as_json else printing.print_threads(found)


@app.command()
def show(
    id: Id,  # noqa: A002
    as_json: AsJson = False,
) -> None:
    """Show a thread: where it stands, its state and its reviews."""
    from bot import operating, printing

    found = asyncio.run(operating.show_thread(id))
    show_json(found) if as_json else printing.print_thread(found)


@app.command()
def history(
    id: Id,  # noqa: A002
    as_json: AsJson = False,
) -> None:
    """Show every step of a thread: what it changed, what came next, what routers chose."""
    from bot import printing, retracing

    found = asyncio.run(retracing.history_of(id))
    show_json(found) if as_json else printing.print_history(found)


@app.command()
def retry(
    id: Id,  # noqa: A002
    user: Annotated[
        str | None,
        typer.Option("--as", help="A person's Slack id; without it, you are the operator."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let a thread go on that failed, is held or parked, or waits for its next attempt."""
    from bot import operating, printing

    found, refused = asyncio.run(operating.retry(id, user))
    show_json(found) if as_json else printing.print_thread(found)
    end_refused(refused)


@app.command()
def unpark(
    id: Id,  # noqa: A002
    user: Annotated[
        str | None,
        typer.Option("--as", help="An operator's Slack id; without it, you are the operator."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let a parked thread go on, one that ended its worker again and again. Mend that first."""
    from bot import operating, printing
    from graphs.threads import Status

    found, refused = asyncio.run(operating.retry(id, user, only=Status.PARKED))
    show_json(found) if as_json else printing.print_thread(found)
    end_refused(refused)


@app.command()
def rewind(
    id: Id,  # noqa: A002
    step: Annotated[
        str, typer.Argument(help="The step's number as `threads history` shows it.", metavar="STEP")
    ],
    edit: Annotated[
        Path | None,
        typer.Option(
            help="A file with a JSON object: values of the state to go on with.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    user: Annotated[
        str | None,
        typer.Option("--as", help="An operator's Slack id; without it, you are the operator."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask, also where something was done since.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take a thread back to a step, whatever it came to, and run on from there.

    Who approved something after that step is asked again. What the steps did outside is not undone.
    """
    from bot import printing, retracing

    values = _edit(edit)
    found, done, refused = asyncio.run(
        retracing.rewind(
            id,
            step,
            edit=values,
            user=user,
            confirm=lambda past: yes or printing.confirmed_behind(past),
        )
    )
    if done is not None and not as_json:
        printing.print_rewound(done)
    show_json(found) if as_json else printing.print_thread(found)
    end_refused(refused)


@app.command()
def graph(
    id: Id,  # noqa: A002
    out: Annotated[Path, typer.Option(help="The folder to write to.", file_okay=False)] = Path("."),
) -> None:
    """Write a thread's graph as Mermaid and PNG: the path walked, and the place where it waits."""
    from bot import retracing

    written, reason = asyncio.run(retracing.picture(id, out))
    for file in written:
        typer.echo(str(file))
    if reason:
        typer.echo(reason, err=True)


def _edit(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        values = parsed("--edit", file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"it cannot be read: {error}", param_hint="--edit") from None
    if not isinstance(values, dict):
        raise typer.BadParameter("it must hold a JSON object", param_hint="--edit")
    return values


def parsed(option: str, text: str) -> Any:
    """The option's JSON; anything else is wrong usage."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"this is not JSON: {error}", param_hint=option) from None


def end_refused(refused: str | None) -> None:
    """Where something was refused, say why on standard error and end with 1."""
    if refused is not None:
        typer.echo(refused, err=True)
        raise typer.Exit(1)


def show_json(value: Any) -> None:
    """Print the value as JSON, with what would act on a terminal written as \\u009b."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    typer.echo(_ACTS.sub(lambda sign: f"\\u{ord(sign.group()):04x}", text))


# The later control signs, and those that turn or hide what stands beside them; the earlier ones
# are written so by JSON itself.
_ACTS = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
