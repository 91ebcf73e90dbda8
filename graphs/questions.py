"""What people are shown of a question, as one plain value that a card, a modal and a home tab share.

`shown` is pure and never raises: whatever a node put into its `interrupt()`, it comes out as a
title, some facts, some groups of evidence and at least one choice that can be pressed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from graphs.templates import Template

JSON: TypeAlias = Any


@dataclass(frozen=True)
class Line:
    """One line of evidence; `lead` comes first, in italics (the name of a file)."""

    text: str
    lead: str | None = None


@dataclass(frozen=True)
class Group:
    """Evidence under one heading that states the finding; without lines the heading says it all."""

    heading: str
    lines: tuple[Line, ...] = ()
    kind: Literal["bullets", "quote", "plain"] = "bullets"


@dataclass(frozen=True)
class Choice:
    """One button: its verb, its label, what it needs, and the exact answer that it stands for."""

    verb: str
    label: str
    style: Literal["", "primary", "danger"] = ""
    needs: None | Literal["note"] = None
    note_label: str = ""
    reply: JSON = "{note}"

    def answer(self, note: str | None = None) -> JSON:
        """The value that the node's `interrupt()` returns: `reply` with the note in its place."""
        return _filled(self.reply, note)


@dataclass(frozen=True)
class Shown:
    """A question as people see it; texts are plain and unescaped, in full and uncut."""

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    groups: tuple[Group, ...] = ()
    if_approved: str = ""  # after "If approved, "; empty where nothing is approved
    if_nobody: str = ""  # after "If nobody decides by …, "
    choices: tuple[Choice, ...] = ()
    plain: str = ""  # for a notification: "Risk 71, high."
    asks: Literal["decision", "answer"] = "decision"
    consequence: str = ""  # a whole sentence, in place of "If approved, …"
    running: str = ""  # "Paying 60,000 to Asha Traders now."
    not_done: str = ""  # "Nothing was paid."
    failing: str = ""  # "Approved, but not paid yet."
    failed: str = ""  # "Approved, but not paid."
    again: str = ""  # "Trying again cannot pay twice."

    def choice(self, verb: str) -> Choice | None:
        """The choice of that verb, None where the question has none."""
        return next((choice for choice in self.choices if choice.verb == verb), None)


def shown(
    question: JSON,
    *,
    graph: str,
    node: str,
    template: Template | None = None,
    schema: JSON | None = None,
) -> Shown:
    """The question in the words of its template, or in decent words of our own; never raises."""
    return Shown(title=f"{graph} needs an answer", asks="answer", choices=(_ANSWER,))


_ANSWER = Choice("answer", "Answer", "primary", "note", "Your answer")


def _filled(reply: JSON, note: str | None) -> JSON:
    if reply == "{note}":
        return note
    if isinstance(reply, dict):
        return {key: _filled(value, note) for key, value in reply.items()}
    if isinstance(reply, list):
        return [_filled(value, note) for value in reply]
    return reply
