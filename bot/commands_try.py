"""`sayso try`: one graph in the terminal, over a SQLite file. No Postgres, no Slack, no settings.

It may be killed at any moment: the file says where the thread is, and the same command goes on
from there.
"""

from __future__ import annotations

import asyncio
import io
import logging
import os
import re
import signal
import sys
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

import typer

from bot.commands_threads import parsed
from checkpoints.errors import BlockedType, SaysoError
from checkpoints.text import clean, clean_json

STDIN: Final = 0


def try_(
    path: Annotated[str, typer.Argument(help="module:attribute or ./file.py:attribute.")],
    checkpoints: Annotated[
        str, typer.Option(help="Where its state is kept.", metavar="sqlite:///FILE")
    ],
    input: Annotated[  # noqa: A002
        str | None, typer.Option(help="The graph's own input, as JSON.")
    ] = None,
    thread: Annotated[
        str | None, typer.Option(help="Several runs in one file; without it one a graph.")
    ] = None,
    configurable: Annotated[
        str | None, typer.Option(help="Configurable values of the run, as a JSON object.")
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", help="A type in its state that no schema shows.", metavar="M:CLASS"),
    ] = None,
    ask_again: Annotated[
        bool, typer.Option("--ask-again", help="Drop the answer at which it failed.")
    ] = False,
) -> None:
    """Try a graph here in the terminal; kill it, run it again, and it goes on where it was."""
    given = clean_json(parsed("--input", input)) if input is not None else None
    if input is not None and given is None:
        raise typer.BadParameter("null starts nothing", param_hint="--input")
    more = clean_json(parsed("--configurable", configurable)) if configurable is not None else {}
    if not isinstance(more, dict):
        raise typer.BadParameter("it must be a JSON object", param_hint="--configurable")
    if not re.fullmatch(r"[^\0]*[^\0:]:[^\0:]+", path):
        raise typer.BadParameter("write module:attribute or ./file.py:attribute", param_hint="PATH")
    for name in types or ():
        if not re.fullmatch(r"[\w.]+:[\w.]+", name):
            raise typer.BadParameter("write package.module:Class", param_hint="--type")
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)  # closed: the next file opened would stand in its place
    # It tells of types that may not be loaded in langgraph's words; ours follow.
    logging.getLogger("langgraph.checkpoint.serde.jsonplus").setLevel(logging.ERROR)
    signal.signal(signal.SIGINT, _interrupted)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = asyncio.run(
            _try(
                path, checkpoints, given, clean(thread or path), more, tuple(types or ()), ask_again
            )
        )
    except BlockedType as error:
        named = " ".join(f"--type {name}" for name in error.names)
        typer.echo(
            "Its state holds types that may not be loaded. If they are yours, run the same command "
            f"again with {named}",
            err=True,
        )
        code = 1
    except SaysoError as error:
        from bot.values import visible

        typer.echo(visible(str(error)), err=True)
        code = 1
    if code:
        raise typer.Exit(code)


async def _try(
    path: str,
    checkpoints: str,
    given: Any,
    thread: str,
    configurable: dict[str, Any],
    types: tuple[str, ...],
    ask_again: bool,
) -> int:
    from bot.prompt import Terminal
    from bot.values import one_line
    from checkpoints import sqlite
    from graphs.registry import load
    from graphs.specs import GraphSpec
    from graphs.trial import NOTHING, Trial

    file = sqlite.file_of(checkpoints)
    if file is None:
        raise typer.BadParameter("write sqlite:///FILE", param_hint="--checkpoints")
    here = Path.cwd()
    if str(here) not in sys.path:
        sys.path.insert(0, str(here))  # the console script does not have it
    loaded = load(_name(path), GraphSpec(path=path, config=configurable, types=types), here)
    terminal = Terminal(sys.stdout, STDIN)
    async with sqlite.opened(file, types) as kept:
        trial = Trial(
            loaded,
            kept.saver,
            kept.store,
            terminal,
            thread=await kept.thread_id(thread),
            configurable=configurable,
        )
        rest = await trial.run(NOTHING if given is None else given, ask_again=ask_again)
    if rest.broke is not None:
        broke = rest.broke
        where = f"{broke.node}: " if broke.node else ""
        typer.echo(one_line(f"{where}{broke.type}: {broke.message}"), err=True)
        typer.echo(
            "Run the same command again to try that step again, with --ask-again to give another "
            "answer, or with another --thread to start afresh.",
            err=True,
        )
        return 1
    if rest.kind == "left":
        typer.echo(_HOW_TO_GO_ON)
    else:
        terminal.show_end(rest.outcome, rest.values)
    return 0


def _name(path: str) -> str:
    """What to call the graph: the last name of its module or file."""
    where = path.rpartition(":")[0]
    return Path(where).stem if where.endswith(".py") else where.rpartition(".")[2]


def _interrupted(*_: Any) -> NoReturn:
    """End at once, as a kill would: what is kept is whole at any moment."""
    os.write(2, f"\n{_HOW_TO_GO_ON}\n".encode())
    os._exit(130)


_HOW_TO_GO_ON = "Nothing is lost: run the same command again to go on from here."
