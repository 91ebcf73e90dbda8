"""What stands inside a line: people, groups, times, lists and texts, for each of the three media.

A sentence of the catalogue is written once and goes to rich text (where texts of people stay
letters), to mrkdwn (our own sentences, slots defused) or to plain text (notifications, titles,
button labels: display names instead of mentions, the rule's zone instead of the reader's).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias
from zoneinfo import ZoneInfo

from slackblocks import (
    RichText,
    RichTextChannel,
    RichTextElement,
    RichTextLink,
    RichTextUser,
    RichTextUserGroup,
)

from bot.values import defused, escape, excerpt, letters, number, passage, shorten, size, visible
from bot.views import Manager, Person, UserGroup
from bot.wording import Sentence, Slot, phrase, say

Form: TypeAlias = Literal["on", "at", "time", "comma", "by", "since", "until"]

SLOT_LIMIT = 300  # characters of one outside text inside a sentence
NAME = 80
LISTED = 10  # people in one list; the others are counted
RUN = 2_000  # characters of one run of rich text
ROOM = 2_900  # characters of the sentences of one section
LONGEST = 10_000  # beyond it a clause is cut anyway


@dataclass(frozen=True)
class Moment:
    """A point in time; on the day `near` only its time of day is written, where the form can."""

    at: datetime
    zone: str
    form: Form = "on"
    near: datetime | None = None

    def key(self) -> str:
        """The catalogue's entry for it."""
        if self.form in ("on", "by", "until"):
            return f"when.{self.form}"
        day = "" if self.near and self._local().date() == self._of(self.near).date() else "_day"
        return f"when.{self.form}{day}"

    def slack_format(self) -> str:
        """What Slack writes in the reader's zone, with the word before the time inside."""
        return phrase(self.key(), day="{date_short_pretty}", time="{time}")

    def fallback(self) -> str:
        """The same in the rule's zone, and it says so."""
        local = self._local()
        day = phrase(
            "day",
            weekday=phrase("weekdays").split()[local.weekday()],
            day=local.day,
            month=phrase("months").split()[local.month - 1],
        )
        zone = local.tzname() or "UTC"
        return phrase(
            f"{self.key()}.fallback",
            day=day,
            time=f"{local:%H:%M}",
            zone=zone if zone[0].isalpha() else f"UTC{zone}",
        )

    def timestamp(self) -> int:
        """Whole seconds since 1970."""
        return int(_aware(self.at).timestamp())

    def _local(self) -> datetime:
        return self._of(self.at)

    def _of(self, at: datetime) -> datetime:
        return _aware(at).astimezone(_zone(self.zone))


@dataclass(frozen=True)
class Many:
    """Several values as one list of words: "Alice and Dana", "Alice, Bob or Dana"."""

    items: tuple[Inline, ...]
    word: Literal["and", "or"] = "and"

    def joined(self) -> Inline:
        """The same as nested sentences, so that the catalogue joins them."""
        if not self.items:
            return say("nobody")
        items = self.items
        if len(items) > LISTED:
            others = say("others", count=len(items) - LISTED + 1)
            items = (*items[: LISTED - 1], others)
        *first, last = items
        if not first:
            return last
        left: Inline = first[0]
        for item in first[1:]:
            left = say("comma", first=left, last=item)
        return say(self.word, first=left, last=last)


@dataclass(frozen=True)
class Link:
    """A link of ours to somewhere in Slack, with an outside text as its label."""

    url: str
    text: str


@dataclass(frozen=True)
class Channel:
    """A channel as Slack names it; what is no id of one stands as it is."""

    id: str


@dataclass(frozen=True)
class Styled:
    """A text in bold, in italics, struck through or as it is, already cut by whoever made it."""

    text: str
    style: Literal["bold", "italic", "strike", "plain"] = "plain"


@dataclass(frozen=True)
class Aside:
    """A sentence beside a heading: its own words in italics, what fills its slots as it is."""

    sentence: Sentence


Inline: TypeAlias = (
    str | int | Person | UserGroup | Moment | Many | Link | Channel | Styled | Aside | Sentence
)


class DateElement(RichText):
    """Rich text's `date`, which slackblocks does not have yet."""

    def __init__(self, timestamp: int, format_: str, fallback: str) -> None:
        super().__init__(fallback)
        self._date = {
            "type": "date",
            "timestamp": timestamp,
            "format": format_,
            "fallback": fallback,
        }

    def _resolve(self) -> dict[str, Any]:
        return dict(self._date)


def said(text: str, *, bold: bool = False) -> Sentence:
    """A whole sentence that comes from outside the catalogue: from a template, or from a person."""
    return Sentence("*{it}*" if bold and text.strip() else "{it}", {"it": text.strip()})


def clause(text: str) -> str:
    """A text that ends inside a sentence of ours: without its own full stop."""
    return text.strip()[:LONGEST].rstrip(".")


def rich(*values: Inline, limit: int = SLOT_LIMIT) -> list[RichTextElement]:
    """The values one after another as rich text; texts from outside stay letters."""
    made: list[RichTextElement] = []
    for run in (run for value in values for run in _rich(value, False, limit)):
        last = made[-1] if made else None
        if type(run) is RichText and type(last) is RichText and _joins(last, run):
            made[-1] = RichText(last.text + run.text, run.bold, run.italic, run.strike)
        else:
            made.append(run)
    return made


def mrkdwn(*sentences: Sentence, between: str = "  ") -> str:
    """Our sentences as mrkdwn; what fills their slots is defused.

    Where they would be too long for a section, the slots get less room.
    """
    made = ""
    for limit in (SLOT_LIMIT, 100, 40, 10):
        made = between.join(filter(None, (_mrkdwn(sentence, limit) for sentence in sentences)))
        if size(made) <= ROOM:
            break
    return made


def plain(*values: Inline) -> str:
    """The values as one line of letters, for titles, labels and hints; not escaped."""
    return " ".join(filter(None, (_plain(value) for value in values)))


def names(people: Iterable[Inline]) -> str:
    """People as a list in words, by their display names."""
    return _plain(Many(tuple(people)))


def notification(
    needed: Sequence[Sentence], extra: Sequence[Sentence] = (), limit: int = 150
) -> str:
    """Top-level text: the needed sentences, the first few of the others that still fit, escaped.

    `extra` stands between the first and the last of the needed ones, as the reader wants it:
    subject, reason to care, until when.
    """
    must = [text for text in map(plain, needed) if text]
    may = [text for text in map(plain, extra) if text]
    for kept in range(len(may), -1, -1):
        parts = [*must[:1], *may[:kept], *must[1:]]
        text = escape(" ".join(parts))
        if len(text) <= limit:
            return text
    tail = " ".join(must[1:])
    room = limit - (len(escape(tail)) + 1 if tail else 0)
    if room < limit // 3:  # no tail of ours is that long: one slot took it all
        tail, room = "", limit
    head = must[0] if must else ""
    while head and len(escape(head + "…")) > room:
        head = head[:-1]
    return f"{escape(head.rstrip())}… {escape(tail)}".strip()


def _rich(value: Any, bold: bool, limit: int) -> Iterator[RichTextElement]:
    match value:
        case Sentence():
            for piece, strong in value.pieces():
                inner = piece.value if isinstance(piece, Slot) else piece
                own = limit if isinstance(piece, Slot) else len(inner)
                yield from _rich(inner, bold or strong, own)
        case Many():
            yield from _rich(value.joined(), bold, limit)
        case Moment():
            yield DateElement(value.timestamp(), value.slack_format(), value.fallback())
        case Manager():
            yield from _rich(_as_manager(value), bold, limit)
        case Person() if _mentionable(value):
            yield RichTextUser(value.id)
        case UserGroup() if value.ping and _GROUP.fullmatch(value.id):
            yield RichTextUserGroup(value.id)
        case Channel() if _CHANNEL.fullmatch(value.id):
            yield RichTextChannel(value.id)
        case Link() if _URL.fullmatch(value.url):
            yield RichTextLink(value.url, text=excerpt(value.text, limit) or value.url)
        case Link():
            yield from _rich(value.text, bold, limit)
        case Styled():
            text = visible(value.text)
            if text:
                strong = bold or value.style == "bold"
                italic, struck = value.style == "italic", value.style == "strike"
                yield RichText(text, strong or None, italic or None, struck or None)
        case Aside():
            for run in _rich(value.sentence, bold, limit):
                if isinstance(run, RichText) and not isinstance(run, DateElement):
                    yield RichText(run.text, run.bold, italic=True)
                else:
                    yield run
        case Person() | UserGroup() | Channel() | int():
            yield RichText(_plain(value), bold=bold or None)
        case _:
            text = passage(str(value), limit)
            if text:
                yield RichText(text, bold=bold or None)


def _joins(last: RichText, run: RichText) -> bool:
    same = (last.bold, last.italic, last.strike) == (run.bold, run.italic, run.strike)
    return same and size(last.text) + size(run.text) <= RUN


def _mrkdwn(value: Any, limit: int) -> str:
    match value:
        case Sentence():
            made = []
            was_bold = False
            for piece, bold in value.pieces():
                made.append("*" if bold != was_bold else "")
                made.append(_mrkdwn(piece.value, limit) if isinstance(piece, Slot) else piece)
                was_bold = bold
            return "".join(made) + ("*" if was_bold else "")
        case Many():
            return _mrkdwn(value.joined(), limit)
        case Moment():
            return f"<!date^{value.timestamp()}^{value.slack_format()}|{value.fallback()}>"
        case Manager():
            return _mrkdwn(_as_manager(value), limit)
        case Person() if _mentionable(value):
            return f"<@{value.id}>"
        case UserGroup() if value.ping and _GROUP.fullmatch(value.id):
            return f"<!subteam^{value.id}>"
        case Channel() if _CHANNEL.fullmatch(value.id):
            return f"<#{value.id}>"
        case Link() if _URL.fullmatch(value.url):
            label = _mrkdwn(value.text, limit).replace("|", "\u00a6") or "link"
            return f"<{escape(value.url)}|{label}>"
        case Aside():
            return _mrkdwn(value.sentence, limit)
        case Link() | Styled():
            return _mrkdwn(value.text, limit)
        case str():
            return defused(excerpt(value, limit))
        case _:
            return escape(shorten(_plain(value), limit))


def _plain(value: Any) -> str:
    match value:
        case Sentence():
            made = "".join(
                _plain(piece.value) if isinstance(piece, Slot) else piece
                for piece, _ in value.pieces()
            )
            return _STOPS.sub(r"\1", " ".join(made.split()))
        case Many():
            return _plain(value.joined())
        case Moment():
            return value.fallback()
        case Manager():
            return _plain(_as_manager(value))
        case Person():
            return shorten(letters(value.name), NAME) or phrase("someone")
        case UserGroup():
            return shorten(letters(value.name) or letters(value.id), NAME)
        case Channel():
            return "#" + shorten(letters(value.id).lstrip("#"), NAME)
        case Aside():
            return _plain(value.sentence)
        case Link() | Styled():
            return letters(value.text)
        case bool():
            return phrase("yes") if value else phrase("no")
        case int():
            return number(value)
        case _:
            return letters(excerpt(str(value), SLOT_LIMIT))


def _as_manager(manager: Manager) -> Sentence:
    of = names([manager.of])
    if not (manager.id or manager.name):
        return say("manager.unknown", of=of)
    return say("manager", who=Person(manager.id, manager.name), of=of)


def _mentionable(person: Person) -> bool:
    return _USER.fullmatch(person.id) is not None


def _aware(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return ZoneInfo("UTC")


_STOPS = re.compile(r"([?.…])[.:](?=\s|$)")  # a title that is a question ends itself
_USER = re.compile(r"[UW][A-Z0-9]{1,30}")
_CHANNEL = re.compile(r"[CG][A-Z0-9]{1,30}")
_GROUP = re.compile(r"S[A-Z0-9]{1,30}")
_URL = re.compile(r"https?://[^\s<>|\"]{1,2900}")
