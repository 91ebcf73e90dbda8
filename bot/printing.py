"""Threads and reviews in a terminal: tables for people, where `--json` is for programs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from graphs.plain import plain

WIDTH: Final = 1_000


def print_threads(found: Sequence[Mapping[str, Any]]) -> None:
    """One line a thread."""
    table = Table(box=None, pad_edge=False)
    for name in ("id", "number", "graph", "status", "customer", "requester", "created"):
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
    """What happened, oldest first, with the state behind each choice."""
    events = [
        (step["started_at"], "step", f"{step['node']}, {step['status']}") for step in found["steps"]
    ]
    for routing in found["routings"]:
        chose = f"{routing['node']}: {routing['branch']} chose {plain(routing['choice'])}"
        at = f", at {routing['checkpoint']}" if routing["state"] is not None else ""
        events.append((routing["at"], "choice", chose + at))
        events += [(routing["at"], "with", line) for line in _lines(routing["state"])]
    events += [
        (entry["at"], "record", f"{entry['what']} by {entry['actor']}") for entry in found["audit"]
    ]
    table = Table(box=None, pad_edge=False, show_header=False)
    for at, kind, what in sorted(events, key=lambda event: event[0]):
        table.add_row(*_cells(at[:19], kind, what))
    _print(table)


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
        lines.append((f"vote of {vote['voter']}", f"{vote['verb']}, {vote['at'][:16]}{note}"))
    _print_pairs(lines)


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


def _print(what: Any) -> None:
    # What is no terminal has no width: a script gets every line whole.
    width = None if sys.stdout.isatty() else WIDTH
    Console(soft_wrap=False, width=width).print(what)
