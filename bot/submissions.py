"""What somebody wrote in a window, read as the answer of the choice that the window was for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from bot import forms, views, windows
from graphs.forms import Wrong, read
from graphs.questions import Choice
from graphs.reviews import Review

ERROR: Final = 2_000  # characters of what Slack shows under a field
WRITE_SOMETHING: Final = "Write a few words here."


@dataclass(frozen=True)
class Written:
    """What was written: as typed, in words, and the answer that it makes.

    `errors` says what to mend, by block; `block` is where a complaint about the whole stands.
    """

    block: str
    typed: Any
    words: str
    errors: dict[str, str] = field(default_factory=dict)
    answer: Any = None
    note: str | None = None


def written(
    review: Review, ref: views.Ref, item: int | None, choice: Choice, view: Mapping[str, Any]
) -> Written:
    """The answer, or what to mend in which field."""
    if choice.needs != "form":
        block, note = one_input(view)
        errors = {} if note.strip() else {block: WRITE_SOMETHING}
        return Written(block, note, note, errors, choice.answer(note.strip()), note.strip())
    typed = forms.typed(view)
    made = windows.made(choice)
    block = made.fields[0].key if made.fields else ""
    words = "\n".join(f"{each.label}: {typed.get(each.key)}" for each in made.fields)
    if _is_past(review, ref, item):
        return Written(block, typed, words)  # its form is another by now, and it cannot count
    found = read(made, choice.schema, typed)
    if isinstance(found, Wrong):
        errors = {key: said[:ERROR] for key, said in found.errors.items()}
        return Written(block, typed, words, errors)
    return Written(block, typed, words, answer=choice.answer(values=found.value))


def one_input(view: Mapping[str, Any]) -> tuple[str, str]:
    """The first input of a window: its block and what was written."""
    values = (view.get("state") or {}).get("values") or {}
    for block, elements in values.items():
        for element in elements.values():
            return str(block), str(element.get("value") or "")
    return "", ""


def _is_past(review: Review, ref: views.Ref, item: int | None) -> bool:
    """Whether what the window was opened for is not there any more."""
    mine = next((one for one in review.items if one.item == (item or 0)), None)
    open_ = review.status == "open" and mine is not None and mine.status == "open"
    return not open_ or review.revision != ref.revision
