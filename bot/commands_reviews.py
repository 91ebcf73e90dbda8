"""`sayso reviews …`: what waits for people, and deciding without Slack."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from bot.commands_threads import AsJson, end_refused, parsed, show_json

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


@app.command("hand-over")
def hand_over(
    id: Id,  # noqa: A002
    giver: Annotated[
        str, typer.Option("--from", help="Who decides it now, a Slack id.", metavar="USER")
    ],
    operator: Annotated[
        str, typer.Option("--as", help="An operator's Slack id.", metavar="OPERATOR")
    ],
    taker: Annotated[
        str | None,
        typer.Option("--to", help="Who decides it instead, a Slack id.", metavar="USER"),
    ] = None,
    back: Annotated[bool, typer.Option("--back", help="Let USER decide it again.")] = False,
    note: Annotated[str, typer.Option(help="What to tell them.")] = "",
    as_json: AsJson = False,
) -> None:
    """Let somebody else decide a review in the place of one person, as an operator."""
    from bot import printing, reassigning

    if (taker is None) != back:
        raise typer.BadParameter("name one with --to, or take it back with --back")
    found, refused = asyncio.run(reassigning.hand_over(id, giver, taker, operator, note))
    show_json(found) if as_json else printing.print_review(found)
    end_refused(refused)


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
    from bot import operating

    said = parsed("--answer", answer)
    _show(asyncio.run(operating.decide(id, voter, said, item)), as_json)


Text = Annotated[str, typer.Argument(help="At most 3,000 characters.", metavar="TEXT")]
Person = Annotated[str, typer.Option("--as", help="The person's Slack id.", metavar="USER")]


@app.command()
def ask(id: Id, text: Text, user: Person, as_json: AsJson = False) -> None:  # noqa: A002
    """Ask whoever asked for it something, as USER; the answer appears on the card."""
    from bot import speaking

    _show(asyncio.run(speaking.ask(id, user, _text(text))), as_json)


@app.command()
def comment(id: Id, text: Text, user: Person, as_json: AsJson = False) -> None:  # noqa: A002
    """Say something on the card, as USER, for everybody who decides."""
    from bot import speaking

    _show(asyncio.run(speaking.comment(id, user, _text(text))), as_json)


@app.command()
def take(
    id: Id,  # noqa: A002
    user: Person,
    back: Annotated[bool, typer.Option("--back", help="Give it back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say that USER looks at it: reminders go to them alone, and everybody may still decide."""
    from bot import speaking

    _show(asyncio.run(speaking.take(id, user, back=back)), as_json)


def _text(text: str) -> str:
    from checkpoints.text import clean
    from graphs.exchanges import MAX_CHARACTERS

    text = clean(text).strip()
    if not text or len(text) > MAX_CHARACTERS:
        said = f"Write from 1 to {MAX_CHARACTERS:,} characters."
        raise typer.BadParameter(said, param_hint="TEXT")
    return text


def _show(done: tuple[dict[str, Any], str | None], as_json: bool) -> None:
    from bot import printing

    found, refused = done
    show_json(found) if as_json else printing.print_review(found)
    end_refused(refused)
