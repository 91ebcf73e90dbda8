"""A person at a terminal: shows what a trial says, and reads what is typed.

What comes from a graph is hostile until it is shown: control characters, escape sequences and
turned directions appear as ⟨U+001B⟩, and every line of it stands behind a bar, so that it cannot
pass for a line of ours. Typed words are never guessed at: a choice is its number or its label,
JSON is JSON, and anything else is asked again.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from typing import Any, Final, Literal, TextIO

from bot.values import flattened, one_line, visible
from checkpoints.text import clean
from graphs.questions import Choice, Group
from graphs.trial import Found, Left, Question

DEEP_LINES: Final = 40
STATE_CHARACTERS: Final = 20_000
READ_BYTES: Final = 65_536

_MARKS: Final = {"running": "●", "done": "✓", "failed": "✗"}
_YES, _NO = ("y", "yes"), ("n", "no")


class Terminal:
    """The person of a trial, over one stream that is read and one that is written."""

    def __init__(self, out: TextIO, typed: int) -> None:
        """Take where to write and the descriptor that is read."""
        self._out = out
        self._lines = Lines(typed)
        self._shown: str | None = None

    def found(self, what: Found, nodes: tuple[str, ...]) -> None:
        """Say where the thread stands."""
        if what == "goes on":
            where = f", at {one_line(', '.join(nodes))}" if nodes else ""
            self._say(f"This goes on where it was{where}. An input is not taken again.")
        elif what == "finished":
            self._say("This is done already. Give --thread another name to start afresh.")
        elif what == "another turn":
            self._say("This goes on with a further turn.")

    def step(self, node: str, what: Literal["running", "done", "failed"]) -> None:
        """Show that a step begins or ends."""
        self._say(f"{_MARKS[what]} {one_line(node)}")

    async def answer(self, question: Question, problem: str | None) -> Any:
        """Show the question once, then ask until the words can be an answer."""
        if problem is not None:
            self._say(f"This was not taken: {one_line(problem)}")
        if self._shown != question.asked.interrupt_id or problem is None:
            self._show(question)
            self._shown = question.asked.interrupt_id
        while True:
            try:
                return await self._answer(question)
            except _NotUnderstood as error:
                self._say(f"This was not taken: {error}")

    async def goes_on(self, nodes: tuple[str, ...]) -> bool:
        """Ask whether to go on before these nodes."""
        self._say("")
        self._say(f"It stops before: {one_line(', '.join(nodes)) or 'its next step'}")
        while True:
            said = (await self._ask("Continue? (yes or no)")).strip().casefold()
            if said in _YES:
                return True
            if said in _NO:
                return False
            self._say("This was not taken: write yes or no.")

    def show_end(self, outcome: str | None, values: Any) -> None:
        """Show what came of it: the outcome in words, else the last state."""
        self._say("")
        if outcome:
            self._say("Done. The outcome:")
            self._theirs(outcome)
            return
        self._say("Done. The last state:")
        self._theirs(_as_text(values, STATE_CHARACTERS))

    # One question

    def _show(self, question: Question) -> None:
        shown = question.shown
        self._say("")
        more = f" ({question.count} questions are open)" if question.count > 1 else ""
        self._say(f"Question from {one_line(question.asked.node)}{more}:")
        self._theirs(shown.title)
        for label, value in shown.facts:
            self._theirs(f"{one_line(label)}: {one_line(value)}")
        for group in shown.groups:
            self._show_group(group, question.asked.question)
        if shown.consequence and _is_free(question) and not _takes_json(question):
            self._say(one_line(shown.consequence))

    def _show_group(self, group: Group, question: Any) -> None:
        if group.heading == "Under Details" and isinstance(question, dict):
            # There are no Details here: what is deep is shown as it is.
            deep = {key: value for key, value in question.items() if isinstance(value, dict | list)}
            pairs = flattened(deep or question)
            for name, value in pairs[:DEEP_LINES]:
                self._theirs(f"{one_line(name)}: {one_line(value)}")
            if len(pairs) > DEEP_LINES:
                self._theirs(f"and {len(pairs) - DEEP_LINES:,} more")
            return
        self._theirs(group.heading)
        for line in group.lines:
            lead = f"{one_line(line.lead)}: " if line.lead else ""
            mark = "- " if group.kind == "bullets" else "  "
            self._theirs(f"{mark}{lead}{line.text}")

    async def _answer(self, question: Question) -> Any:
        choices, schema = question.shown.choices, question.asked.schema
        if _is_free(question):
            if _takes_json(question):
                return _json(await self._ask(f"Your answer, as JSON{_names(schema)}"))
            return await self._ask("Your answer")
        for number, choice in enumerate(choices, 1):
            self._theirs(f"{number}. {one_line(choice.label)}", bar="  ")
        other = ""
        if isinstance(schema, dict) and choices[0].needs is None:
            like = json.dumps(choices[0].answer(), ensure_ascii=False)
            other = f", or JSON like {one_line(like)}"
        said = await self._ask(f"Your choice (1 to {len(choices)}{other})")
        chosen = _chosen(said, choices)
        if chosen is None:
            if isinstance(schema, dict) and said.strip()[:1] in ("{", "[", '"'):
                return _json(said)
            raise _NotUnderstood(f"choose by the number, 1 to {len(choices)}, or by the label.")
        if chosen.needs is None:
            return chosen.answer()
        if chosen.needs == "form":
            names = _names(chosen.schema) or _names({"properties": chosen.initial})
            return chosen.answer(values=_json(await self._ask(f"The values, as JSON{names}")))
        return chosen.answer(await self._ask(one_line(chosen.note_label) or "Your words"))

    # The streams

    async def _ask(self, what: str) -> str:
        self._out.write(f"{what}: ")
        self._out.flush()
        line = await self._lines.next()
        if line is None:
            self._say("")
            raise Left
        if not self._lines.echoes:
            self._say("")  # what was typed into a pipe does not end the line of the prompt
        return clean(line)

    def _say(self, line: str) -> None:
        self._out.write(f"{line}\n")
        self._out.flush()

    def _theirs(self, text: str, bar: str = "  | ") -> None:
        for line in visible(text).split("\n"):
            self._say(f"{bar}{line}")


class Lines:
    """Lines out of a descriptor: a pipe or a terminal without holding up the loop, or a file."""

    def __init__(self, descriptor: int) -> None:
        """Take the descriptor; it is not closed."""
        self._descriptor = descriptor
        self._buffer = b""
        self._ended = False
        self.echoes = os.isatty(descriptor)

    async def next(self) -> str | None:
        """The next line without its end; None at the end of the input."""
        while b"\n" not in self._buffer and not self._ended:
            await self._more()
        line, newline, self._buffer = self._buffer.partition(b"\n")
        if not newline and not line:
            return None
        return line.removesuffix(b"\r").decode("utf-8", errors="replace")

    async def _more(self) -> None:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        try:
            loop.add_reader(self._descriptor, _set, ready)
        except (OSError, ValueError):
            pass  # a file, which is always ready, or nothing at all
        else:
            try:
                await ready
            finally:
                loop.remove_reader(self._descriptor)
        try:
            read = os.read(self._descriptor, READ_BYTES)
        except OSError:  # the terminal was hung up
            read = b""
        self._ended = not read
        self._buffer += read


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


class _NotUnderstood(Exception):
    """What was typed cannot be an answer; the text says what to write."""


def _is_free(question: Question) -> bool:
    """Whether there is nothing to choose, only something to write."""
    choices = question.shown.choices
    return len(choices) == 1 and choices[0].reply in ("{note}", "{values}")


def _takes_json(question: Question) -> bool:
    """Whether what is written is JSON, and not the text as it stands."""
    schema = question.asked.schema
    typed = isinstance(schema, dict) and schema.get("type") != "string"
    return typed or not isinstance(question.asked.question, str)


def _chosen(said: str, choices: Sequence[Choice]) -> Choice | None:
    """The one choice that was meant, by "2", by "#2", or by its label.

    Raises:
        _NotUnderstood: it could be more than one.
    """
    words = " ".join(said.split()).casefold()
    by_number = {f"#{number}": choice for number, choice in enumerate(choices, 1)}
    if words in by_number:
        return by_number[words]
    meant = {number: one for number, one in by_number.items() if number[1:] == words}
    if words:
        meant |= {number: one for number, one in by_number.items() if _label(one) == words}
    if len(meant) > 1:
        raise _NotUnderstood(f"it could be more than one; write {' or '.join(meant)}.")
    return next(iter(meant.values()), None)


def _label(choice: Choice) -> str:
    return " ".join(choice.label.split()).casefold()


def _json(said: str) -> Any:
    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    try:
        return json.loads(said, parse_constant=refuse)
    except (ValueError, RecursionError):
        raise _NotUnderstood('this is not JSON. Text stands in quotes: "yes".') from None


def _names(schema: Any) -> str:
    """The names that a schema of an object knows: " with text, documents"."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not properties:
        return ""
    return f" with {one_line(', '.join(str(name) for name in properties))}"


def _as_text(value: Any, most: int) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    if len(text) <= most:
        return text
    return f"{text[:most]}\n… and {len(text) - most:,} more characters"
