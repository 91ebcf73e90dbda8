"""How a graph's question is put into words: the `[[graphs.NAME.questions]]` of `sayso.toml`.

A text may have slots. `{risk.score}` is the value at that path of the question, in words people
read: numbers grouped, true and false as Yes and No, missing as "not given". After a bar comes what
to do with it: `{documents|count}` is how many there are, `{documents|count document documents}`
says "1 document" or "2 documents", `{purpose|capital}` begins with a capital letter. A brace of
one's own is written twice. A malformed slot is refused when the configuration is read, so that
filling one in never fails.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

MISSING = object()  # what a path leads to when nothing is there

_SLOT = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_PATH = re.compile(r"[^\s.|{}]+(\.[^\s.|{}]+)*")
_FILTER = re.compile(r"count|capital|count \S+ \S+")


def _well_formed(text: str) -> str:
    for match in _SLOT.finditer(text):
        if match[0] in ("{{", "}}"):
            continue
        if match[1] is None:
            raise ValueError(f"a brace stands alone in “{text}”: write it twice to show one")
        path, bar, wanted = (part.strip() for part in match[1].partition("|"))
        if not _PATH.fullmatch(path):
            raise ValueError(f"“{match[0]}” does not name a value: write it like {{risk.score}}")
        if bar and not _FILTER.fullmatch(wanted):
            raise ValueError(f"“{match[0]}”: after the bar comes count, count ONE MANY, or capital")
    return text


def _well_formed_path(path: str) -> str:
    if not _PATH.fullmatch(path):
        raise ValueError(f"“{path}” does not name a value: write it like risk.reasons")
    return path


Words = Annotated[str, AfterValidator(_well_formed)]
Path = Annotated[str, AfterValidator(_well_formed_path)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Button(_Part):
    """One choice of a template: its verb, its label and the node's own value for it.

    In `answer` the string "{note}" stands for what the person wrote, where `needs = "note"`.
    `given` names a value of the question: while it is missing or empty, there is no such button.
    """

    verb: str
    label: str
    answer: Any
    style: Literal["", "primary", "danger"] = ""
    needs: Literal["note"] | None = None
    note_label: str = ""
    given: Path | None = None


class Evidence(_Part):
    """One group of evidence: a heading, and a line for each entry of the lists at `each`.

    In `line` and `lead` a slot looks into the entry first, then into the question; `{item}` is an
    entry that is no table. Without entries `none` is the heading; without `none` there is no group.
    """

    heading: Words
    each: Path | list[Path] = []
    line: Words = "{item}"
    lead: Words = ""
    none: Words = ""
    kind: Literal["bullets", "quote", "plain"] = "bullets"


class Template(_Part):
    """The words of one node's question; every text may have slots.

    `facts` maps a label to its text; a label that ends in "?" is left out while its text is empty.
    """

    node: str
    audience: Literal["reviewers", "requester"] = "reviewers"
    title: Words
    facts: dict[str, Words] = {}
    evidence: list[Evidence] = []
    approved: Words = ""  # after "If approved, "
    declined: Words = ""  # after "If nobody decides by …, "
    consequence: Words = ""  # a whole sentence, in place of "If approved, …"
    notification: Words = ""
    running: Words = ""
    not_done: Words = ""
    failing: Words = ""
    failed: Words = ""
    again: Words = ""
    buttons: list[Button] = []


def fill(words: str, question: Any, entry: Any = MISSING) -> str:
    """The words with every slot filled in; what is missing reads "not given"."""

    def slot(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        path, _, wanted = (part.strip() for part in (match[1] or "").partition("|"))
        value = MISSING if entry is MISSING else at(path, _scope(entry))
        if value is MISSING:
            value = at(path, question)
        return _wanted(value, wanted)

    return _SLOT.sub(slot, words)


def at(path: str, value: Any) -> Any:
    """The value that the path leads to, MISSING where it leads nowhere."""
    for name in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(name, MISSING)
        elif isinstance(value, list | tuple) and name.isascii() and name.isdigit():
            value = value[int(name)] if len(name) < 9 and int(name) < len(value) else MISSING
        else:
            return MISSING
    return value


def in_words(value: Any) -> str:
    """A value as people read it: 60000 is "60,000", True is "Yes", None is "not given"."""
    if value is None or value is MISSING:
        return "not given"
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, str):
        return " ".join(value.split()) or "empty"
    if isinstance(value, int | float | Decimal):
        return _grouped(value)
    if isinstance(value, Mapping):
        return f"{len(value):,} {'value' if len(value) == 1 else 'values'}" if value else "empty"
    if isinstance(value, list | tuple):
        if not value:
            return "empty"
        if len(value) <= _LISTED and not any(isinstance(one, dict | list) for one in value):
            return ", ".join(in_words(one) for one in value)
        return f"{len(value):,} {'entry' if len(value) == 1 else 'entries'}"
    return str(value)


def name_in_words(name: str) -> str:
    """A name out of code as words: `issue_refund` is "Issue refund"."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    words = " ".join(re.sub(r"[_\-./]+", " ", words).split())
    if not words.isupper():
        words = " ".join(word if word.isupper() else word.lower() for word in words.split())
    return words[:1].upper() + words[1:]


_LISTED = 8  # a longer list is counted, not written out


def _scope(entry: Any) -> Any:
    return entry if isinstance(entry, Mapping) else {"item": entry}


def _wanted(value: Any, wanted: str) -> str:
    if wanted.startswith("count"):
        count = len(value) if isinstance(value, Mapping | list | tuple) else 0
        one, many = [*wanted.split()[1:], "", ""][:2]
        return f"{count:,} {one if count == 1 else many}".rstrip()
    words = in_words(value)
    return words[:1].upper() + words[1:] if wanted == "capital" else words


def _grouped(number: int | float | Decimal) -> str:
    try:
        return f"{number:,}"
    except ValueError:  # Python refuses to write out an integer of more than 4,300 digits
        return "a number of thousands of digits"
