"""Threads and reviews in a terminal: tables for people, where `--json` is for programs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bot.schedules import in_line
from bot.values import one_line
from graphs.plain import plain
from graphs.rewinding import Past, Rewound

WIDTH: Final = 1_000
MAX_LINES: Final = 12  # of one step's state
MAX_CHARACTERS: Final = 120  # of one value
MOVES: Final = 20  # so many are shown before somebody is asked
_KINDS: Final = {"start": "start", "change": "changed by hand", "rewind": "rewound"}


def print_threads(found: Sequence[Mapping[str, Any]]) -> None:
    """One line a thread."""
    table = Table(box=None, pad_edge=False)
    for name in ("id", "number", "graph", "status", "customer", "requester", "created", "why"):
        _column(table, name)
    for thread in found:
        customer = thread["customer"]
        table.add_row(
            *_cells(
                thread["id"],
                thread["number"],
                thread["graph"],
                thread["status"],
                customer["name"] if customer else "",
                thread["requester"],
                thread["created_at"][:16],
                _short(thread["reason"] or _error(thread["error"])),
            )
        )
    _print(table if found else "No threads.")


def print_thread(thread: Mapping[str, Any]) -> None:
    """A thread, a line for each thing."""
    lines = [
        ("id", thread["id"]),
        ("number", thread["number"]),
        ("graph", thread["graph"]),
        ("status", thread["status"]),
        ("next", ", ".join(thread["next"])),
        ("customer", thread["customer"]["name"] if thread["customer"] else ""),
        ("reason", thread["reason"] or ""),
        ("error", _error(thread["error"])),
        ("outcome", thread["outcome"] or ""),
    ]
    for review in thread.get("reviews", ()):
        outcome = f", {review['outcome']}" if review["outcome"] else ""
        lines.append((f"review {review['id']}", f"{review['node']}, {review['status']}{outcome}"))
    _print_pairs(lines)


def print_history(found: Mapping[str, Any]) -> None:
    """What happened, oldest first: steps by their number, choices with the state behind them."""
    events: list[tuple[str, str, str, str]] = []
    for step in found["steps"]:
        number = "" if step["number"] is None or step["nested"] else str(step["number"])
        where = step["node"] or _KINDS.get(step["kind"], step["kind"])
        then = f"then {', '.join(step['next'])}" if step["next"] and not step["nested"] else ""
        events.append((step["at"], number, where, then))
        events += [(step["at"], "", "", line) for line in _capped(step["changed"])]
    for routing in found["routings"]:
        chose = f"{routing['branch']} chose {_short(plain(routing['choice']))}"
        events.append((routing["at"], "", routing["node"], chose))
        events += [(routing["at"], "", "", f"with {line}") for line in _capped(routing["state"])]
    for decided in found["decisions"]:
        who = decided["name"] or decided["by"] or "time"
        tool = f" {decided['tool']}" if decided["tool"] else ""
        gone = "" if decided["counts"] else ", does not count any more"
        note = f": {_short(decided['note'])}" if decided["note"] else ""
        said = f"{decided['outcome']}{tool} by {who}{note}{gone}"
        events.append((decided["at"] or "", "", decided["node"], said))
    for step in found["unfinished"]:
        why = f": {_short(step['error'])}" if step["error"] else ""
        events.append((step["started_at"], "", step["node"], f"{step['status']}{why}"))
    events += [
        (entry["at"], "", "record", f"{entry['what']} by {entry['actor']}")
        for entry in found["audit"]
    ]
    table = Table(box=None, pad_edge=False)
    for name in ("at", "step", "where", "what"):
        table.add_column(name, overflow="fold")
    for at, *cells in sorted(events, key=lambda event: event[0]):
        table.add_row(*_cells(at[:19].replace("T", " "), *cells))
    _print(table)


def confirmed_behind(past: Sequence[Past]) -> bool:
    """Say what was done since the step to go back to, and ask whether to go all the same.

    Where nobody sits there the answer is no.
    """
    done = "\n".join(
        f"  {' '.join(_cells(each.node))}, let through by {' '.join(_cells(each.decided_by))}"
        f" at {each.at[:16].replace('T', ' ')}: {' '.join(_cells(each.outcome or 'it ran'))}"
        for each in past
    )
    typer.echo(
        f"Since that step this was done, and going back does not undo it:\n{done}\n"
        "It is asked again, and may be done a second time.",
        err=True,
    )
    if not sys.stdin.isatty():
        typer.echo("Nobody can be asked here; --yes goes back all the same.", err=True)
        return False
    return typer.confirm("Go back all the same?", err=True)


def print_rewound(done: Rewound) -> None:
    """What going back did."""
    lines = [f"It goes on from step {done.step.number}; it was {done.was} before."]
    if done.withdrawn:
        lines.append(f"Withdrawn: {_reviews(done.withdrawn)}.")
    if done.uncounted:
        lines.append(f"Does not count any more: {_reviews(done.uncounted)}.")
    if done.running:
        lines.append(f"{done.running} was running; what it did outside is not undone.")
    for line in lines:
        _print(" ".join(_cells(line)))


def print_posts(found: Sequence[Mapping[str, Any]]) -> None:
    """One line a message, with why it is not shown."""
    table = Table(box=None, pad_edge=False)
    for name in ("id", "kind", "subject", "place", "wanted", "parked", "attempts", "why"):
        _column(table, name)
    for post in found:
        table.add_row(
            *_cells(
                post["id"],
                post["kind"],
                post["subject"],
                post["place"],
                post["created_at"][:16],
                (post["parked_at"] or "")[:16],
                post["attempts"],
                post["error"] or "",
            )
        )
    _print(table if found else "No messages.")


def print_reviews(found: Sequence[Mapping[str, Any]]) -> None:
    """One line a review."""
    table = Table(box=None, pad_edge=False)
    for name in ("id", "graph", "node", "status", "outcome", "votes", "thread"):
        _column(table, name)
    for review in found:
        table.add_row(
            *_cells(
                review["id"],
                review["graph"],
                review["node"],
                review["status"],
                review["outcome"] or "",
                len(review["votes"]),
                review["thread"],
            )
        )
    _print(table if found else "No reviews.")


def print_review(review: Mapping[str, Any]) -> None:
    """A review, a line for each thing."""
    lines = [
        ("id", review["id"]),
        ("thread", review["thread"]),
        ("asked by", f"{review['graph']}, {review['node']}"),
        ("status", review["status"]),
        ("outcome", review["outcome"] or ""),
    ]
    lines += [("question", line) for line in _lines(review["question"])]
    for vote in review["votes"]:
        note = f", {vote['note']}" if vote["note"] else ""
        seat = f", for {vote['for']}" if vote["for"] != vote["voter"] else ""
        told = f"{vote['verb']}{seat}, {vote['at'][:16]}{note}"
        lines.append((f"vote of {vote['voter']}", told))
    for said in review.get("talk", ()):
        lines.append((f"{said['kind']} of {said['by']}", f"{said['text']}, {said['at'][:16]}"))
        if said["answered_by"]:
            files = f" ({', '.join(said['files'])})" if said["files"] else ""
            lines.append((f"answer of {said['answered_by']}", f"{said['answer']}{files}"))
    if review.get("taken_by"):
        lines.append(("with", review["taken_by"]))
    for item in review["items"]:
        lines += [("stage", _stage(stage)) for stage in item["stages"]]
        lines.append(("rule", item["opened_under"]["hash"][:12]))
    _print_pairs(lines)


def print_rules(found: Sequence[Mapping[str, Any]]) -> None:
    """What a search for a rule came to, for each action."""
    for one in found:
        lines = [("action", one["tool"] or ""), *_rule(one), *_clock(one)]
        lines += [("looked at", line) for line in one["looked_at"]]
        _print_pairs(lines)


def print_explained(found: Mapping[str, Any]) -> None:
    """Who may decide a review, and why."""
    _print_pairs(
        [
            ("review", f"{found['review']}, {found['status']}, asked by {found['node']}"),
            ("thread", found["thread"]),
            *[("failed", why) for why in found["failed"]],
        ]
    )
    for one in found["items"]:
        lines = [("action", one["tool"] or ""), ("stands", one["status"]), *_rule(one)]
        lines += [("stage", _stage(stage)) for stage in one["stages"]]
        lines += [("said", vote) for vote in one["votes"] if not one["stages"]]
        lines.append(("rule", one["hash"][:12]))
        lines += _clock(one)
        lines += [("shadow", line) for line in one["shadows"]]
        if one["present_differs"]:
            now = f"rule {one['present_rule']}" if one["present_rule"] else "no rule"
            lines.append(("now", f"the present file says otherwise: {now}"))
        _print_pairs(lines)


def confirmed_moving(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Show what would be moved to other rules, and ask; where nobody sits there: no."""
    _print_moves(rows[:MOVES], err=True)
    if len(rows) > MOVES:
        typer.echo(f"and {len(rows) - MOVES:,} more; --dry-run shows all", err=True)
    if not sys.stdin.isatty():
        typer.echo("Nobody can be asked here; --yes moves them.", err=True)
        return False
    return typer.confirm("Move them? Votes on them do not count any more.", err=True)


def print_moved(rows: Sequence[Mapping[str, Any]], only_looked: bool) -> None:
    """What was moved to other rules, or would be, and what stays as it is because of its rule."""
    moves = [row for row in rows if not row["why"]]
    if moves:
        _print_moves(moves)
    for row in rows:
        if row["why"]:
            typer.echo(one_line(f"review {row['review']} stays as it is: {row['why']}"))
    count = len({row["review"] for row in moves})
    what = "1 review" if count == 1 else f"{count:,} reviews"
    typer.echo(f"{what} would be moved." if only_looked else f"{what} moved.")


def print_absences(rows: Sequence[Mapping[str, Any]]) -> None:
    """Who is away, one a line, whoever is back first first."""
    table = Table(box=None, pad_edge=False)
    for name in ("away", "name", "covered by", "name", "decides now", "until"):
        _column(table, name)
    for row in rows:
        table.add_row(
            *_cells(row["person"], row["name"], row["covered_by"], row["covered_by_name"],
                    row["decides"], row["until"])
        )  # fmt: skip
    _print(table if rows else "Nobody is away.")


def print_policies(rows: Sequence[Mapping[str, Any]]) -> None:
    """Which configurations were in force or refused, newest first, and what each changed."""
    for row in rows:
        what = "refused" if row["mistakes"] else "in force"
        typer.echo(f"{row['at']}  {row['hash'][:12]}  {what}, {one_line(row['by'])}")
        for line in row["mistakes"]:
            typer.echo(f"  mistake: {one_line(line)}")
        for line in row["restart"]:
            typer.echo(f"  waits for a restart: {one_line(line)}")
        for line in row.get("diff", "").splitlines():
            typer.echo(f"  {one_line(line)}")
    if not rows:
        typer.echo("Nothing was in force yet: no process was started.")


def _print_moves(rows: Sequence[Mapping[str, Any]], *, err: bool = False) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("review", "action", "from", "to", "could decide", "can now", "votes"):
        _column(table, name)
    for row in rows:
        before, after = row["before"][:12] or "none", row["after"][:12] or "none"
        lapsed = ", ".join(row["lapsed"])
        table.add_row(
            *_cells(row["review"], row["action"] or "", before, after, row["could"], row["can"],
                    lapsed)
        )  # fmt: skip
    _print(table, err=err)


def _rule(one: Mapping[str, Any]) -> list[tuple[str, Any]]:
    count = "" if one["quorum"] in (None, 1) else f"{one['quorum']} of "
    who = f"{count}{', '.join(one['who'])}" if one["who"] else "nobody may decide"
    return [
        ("decides", who),
        ("who is", ", ".join(one.get("are", ()))),
        *[("then asks", later) for later in one.get("then_ask", ())],
        ("because", one["because"]),
        ("channel", one["channel"] or ""),
    ]


def _clock(one: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """What happens by the clock, a line each, in its order."""
    told = [("by the clock", in_line(row)) for row in one["clock"]]
    return [*told, ("quiet", one["quiet"])] if told else []


def _stage(stage: Mapping[str, Any]) -> str:
    """A stage on one line: "1, U0ERIN: passed, U0ERIN: approve"."""
    told = ", ".join([stage["stands"], *stage["votes"]])
    return f"{stage['stage']}, {stage['who']}: {told}"


def _lines(value: Any, place: str = "") -> list[str]:
    """A value in lines, each with its place: "risk.score: 71"."""
    if isinstance(value, Mapping) and value:
        inner = [
            _lines(item, f"{place}.{key}" if place else str(key)) for key, item in value.items()
        ]
        return [line for lines in inner for line in lines]
    if isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
        inner = [_lines(item, f"{place}[{at}]") for at, item in enumerate(value, 1)]
        return [line for lines in inner for line in lines]
    if value is None or value in ({}, [], ""):
        return []
    if isinstance(value, bool):
        value = "yes" if value else "no"
    said = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return [f"{place}: {said}" if place else said]


def _capped(values: Any) -> list[str]:
    """A state in lines that a terminal can hold; `--json` has the whole."""
    lines = _lines(values)
    shown = [_short(line) for line in lines[:MAX_LINES]]
    return shown + ([f"and {len(lines) - MAX_LINES:,} more"] if len(lines) > MAX_LINES else [])


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"


def _reviews(ids: Sequence[int]) -> str:
    return ", ".join(f"review {each}" for each in ids)


def _column(table: Table, name: str) -> None:
    """An id is never cut, on no terminal: it is there to be copied."""
    table.add_column(name, no_wrap=name in ("id", "thread"), overflow="fold")


def _error(error: Mapping[str, Any] | None) -> str:
    if error is None:
        return ""
    return (
        f"{error['node']}: {error['message']} (attempt {error['attempt']} of {error['attempts']})"
    )


def _print_pairs(lines: Sequence[tuple[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in lines:
        if value != "":
            table.add_row(*_cells(name, value))
    _print(table)


def _cells(*values: Any) -> list[str]:
    """Plain text: what came from outside must not colour or move anything in the terminal."""
    return [
        escape("".join(sign if sign.isprintable() else " " for sign in str(value)))
        for value in values
    ]


def _print(what: Any, *, err: bool = False) -> None:
    # What is no terminal has no width: a script gets every line whole.
    width = None if (sys.stderr if err else sys.stdout).isatty() else WIDTH
    Console(soft_wrap=False, width=width, stderr=err).print(what)
