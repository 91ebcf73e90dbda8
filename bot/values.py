"""Text that people and programs wrote, made safe to show; nothing here trusts a character.

Three readings of one text: `visible` keeps every letter and shows what would be invisible, for rich
text runs and plain text; `letters` also takes markup away and makes one line, for titles and the
text of notifications; `defused` is `letters` escaped, the only way into a sentence of ours that
Slack reads as mrkdwn.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any

import orjson

from bot.wording import phrase
from checkpoints.text import clean, clean_json

LETTERS = 2_000  # characters that `letters` looks at: no title and no notification has more
LEVELS = 6  # of nested data that `flattened` goes down
MORE_RESERVE = 60  # what "… and 12,345 more characters under Details" may take


def visible(text: str) -> str:
    """The text with every invisible or direction-turning character shown as ⟨U+202E⟩."""
    text = clean(str(text)).replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii() and text.replace("\n", " ").replace("\t", " ").isprintable():
        return text
    shown: list[str] = []
    before = ""
    for character in text:
        shown.append(f"⟨U+{ord(character):04X}⟩" if _hides(character, before) else character)
        before = character
    return "".join(shown)


def one_line(text: str) -> str:
    """The visible text with line breaks and runs of spaces made one space."""
    return " ".join(visible(text).split())


def letters(text: str) -> str:
    """One line without markup: a link becomes its label, a mention its name, bold its letters.

    It is for short lines, and looks at the first 2,000 characters only.
    """
    text = one_line(text[:LETTERS])
    text = _TAG.sub(lambda found: found["label"] or found["target"], text)
    for pattern in (_CODE, _EMOJI, *_PAIRS):
        text = pattern.sub(r"\1", text)
    return " ".join(_UNDERLINE.sub("", text.translate(_LOOKALIKES)).split())


def escape(text: str) -> str:
    """`& < >` as Slack wants them in mrkdwn and top-level text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def defused(text: str) -> str:
    """The text for a slot of a sentence of ours that Slack reads as mrkdwn."""
    return escape(letters(text))


def unescape(text: str) -> str:
    """What somebody typed, from what Slack delivered; call it exactly once."""
    # In this order: "&amp;lt;" is a written "&lt;".
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def size(text: str) -> int:
    """How long Slack may count the text: in UTF-16 units, never less than in characters."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, the last of them "…" where something was cut."""
    return text if size(text) <= limit else prefix(text, limit - 1).rstrip() + "…"


def cut(text: str, limit: int) -> str:
    """The first `limit` characters, and how many more stand under Details."""
    if size(text) <= limit:
        return text
    kept = prefix(text, limit)
    return phrase("cut", kept=kept.rstrip(), count=number(len(text) - len(kept)))


def excerpt(text: str, limit: int) -> str:
    """The first `limit` characters on one line, visible, and how many more stand under Details.

    Only the beginning of a long text is looked at, so that a document costs no more than a line.
    """
    return _excerpt(text, limit, one_line)


def passage(text: str, limit: int) -> str:
    """Like `excerpt`, with its line breaks."""
    return _excerpt(text, limit, visible)


def _excerpt(text: str, limit: int, shows: Callable[[str], str]) -> str:
    head = text[: limit * 2]
    shown = shows(head)
    left = len(text) - len(head)
    if size(shown) <= limit and not left:
        return shown
    kept = prefix(shown, limit)
    left += len(shown) - len(kept)
    return phrase("cut", kept=kept.rstrip(), count=number(left)) if left else kept


def cut_within(text: str, limit: int) -> str:
    """Like `cut`, but the whole, with its count, is at most `limit` characters."""
    return text if size(text) <= limit else cut(text, max(limit - MORE_RESERVE, 0))


def number(value: int | float | Decimal) -> str:
    """The number with its thousands grouped: 60,000."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return f"{value:,}"


def worded(value: Any) -> str:
    """A scalar in words: numbers grouped, Yes and No; "" for nothing, lists as their length."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return phrase("yes") if value else phrase("no")
    if isinstance(value, int | float | Decimal):
        return number(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, dict | list | tuple):
        return phrase("entries", count=len(value))
    return str(value)


def flattened(value: Any, limit: int | None = None) -> list[tuple[str, str]]:
    """Dotted names and worded values of nested data, in its own order, at most so many."""
    return list(islice(_leaves(value, "", LEVELS), limit))


def counted(value: Any, depth: int = LEVELS) -> int:
    """How many pairs `flattened` would have of the value; 100,000 of them take 20 ms."""
    if depth and value and isinstance(value, dict | list | tuple):
        inside = value.values() if isinstance(value, dict) else value
        return sum(
            counted(one, depth - 1) if isinstance(one, dict | list | tuple) else 1 for one in inside
        )
    return 1


def exceeds(value: Any, characters: int) -> bool:
    """Whether the value has more characters than that as JSON; looks no further than it has to."""
    left = characters
    waiting = [value]
    while waiting and left >= 0:
        one = waiting.pop()
        if isinstance(one, str):
            left -= len(one) + 2
        elif isinstance(one, dict):
            left -= sum(len(str(key)) + 4 for key in islice(one, characters)) + 2
            waiting.extend(islice(one.values(), max(left, 0)))
        elif isinstance(one, list | tuple):
            left -= len(one) + 2
            waiting.extend(islice(one, max(left, 0)))
        else:
            left -= 4
    return left < 0


def beginning(value: Any, limit: int) -> tuple[str, int]:
    """The visible beginning of a text, or of data as JSON, and how long the whole is."""
    if isinstance(value, str):
        return prefix(visible(value[:limit]), limit), len(value)
    whole = pretty(value)
    head = whole[: limit * 4].decode(errors="ignore")
    return prefix(visible(head[:limit]), limit), len(whole)


def pretty(value: Any) -> bytes:
    """The value as JSON that people read: 5 MB of it take 20 ms in the C encoder."""
    try:
        return orjson.dumps(
            value, default=str, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
        )
    except TypeError:  # a lone surrogate, or more digits than it takes
        return json.dumps(clean_json(value), default=str, indent=2, ensure_ascii=False).encode()


def _leaves(value: Any, name: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value and depth:
        for key, inner in value.items():
            yield from _leaves(inner, f"{name}.{key}" if name else str(key), depth - 1)
    elif isinstance(value, list | tuple) and value and depth:
        for place, inner in enumerate(value, 1):
            yield from _leaves(inner, f"{name} {place}".strip(), depth - 1)
    elif value is None:
        yield name, phrase("not_given")
    else:
        yield name, worded(value) or phrase("empty")


def prefix(text: str, limit: int) -> str:
    """The longest beginning that Slack counts as at most `limit`."""
    kept = text[: max(limit, 0)]
    while size(kept) > max(limit, 0):
        kept = kept[: -max(1, (size(kept) - limit) // 2)]
    return kept


def _hides(character: str, before: str) -> bool:
    if character in "\n\t":
        return False
    if character in "\u200c\u200d":  # joiners are spelling after a virama (RFC 5892), else hidden
        return not (before and unicodedata.combining(before) == 9)
    return unicodedata.category(character) in _HIDDEN_CATEGORIES or character in _BLANKS


_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_BLANKS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u2800\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE0F)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
_TAG = re.compile(r"<(?=\S)[!@#]?(?P<target>[^<>|]*)(?:\|(?P<label>[^<>|]*))?>")
_CODE = re.compile(r"`{1,3}([^`]+)`{1,3}")
_EMOJI = re.compile(r":(?=[^:\s]*[a-z]|100:|1234:)([a-z0-9_+'-]+):", re.IGNORECASE)
_PAIRS = tuple(
    re.compile(rf"(?<!\w){mark}(?=\S)([^{mark}]+?)(?<=\S){mark}(?!\w)")
    for mark in (r"\*", "_", "~")
)
_UNDERLINE = re.compile(r"(?<!\w)_+|_+(?!\w)")
_LOOKALIKES = str.maketrans({"<": "\u2039", ">": "\u203a", "*": "\u2217", "~": "\u223c", "`": "'"})
