"""The window of the history: who did what with a request and when, page by page."""

from __future__ import annotations

from typing import Any, Final

from bot import limits
from bot.blocks import Blocks, bullets, button
from bot.inline import Inline, Moment
from bot.judgements import by_whom
from bot.modals import window
from bot.values import excerpt
from bot.views import Happened, HistoryView
from bot.wording import has, phrase, say

LINES: Final = 30
_SAYS: Final = 300


def history(shows: HistoryView) -> dict[str, Any]:
    """One page of the record, oldest first."""
    blocks = Blocks()
    rows: list[list[Inline]] = [
        [Moment(one.at, shows.zone, "on"), "  ", _told(one)] for one in shows.lines
    ]
    blocks.rich("log", bullets(rows))
    if not rows:
        blocks.section("none", say("modal.history.none"))
    blocks.actions("pages", _pages(shows))
    made = [say("footer.request", id=str(shows.number)), say("modal.history.zone")]
    if shows.pages > 1:
        made.append(say("modal.history.page", page=shows.page + 1, pages=shows.pages))
    blocks.context("footer", *made)
    view = window("history", phrase("modal.history.title"), blocks, shows.ref)
    limits.check_view(view)
    return view


def _pages(shows: HistoryView) -> list[Any]:
    turns = []
    for name, page in (("older", shows.page - 1), ("newer", shows.page + 1)):
        if 0 <= page < shows.pages:
            label = phrase(f"modal.history.{name}")
            of = phrase("label.of", label=label, title=phrase("modal.history.title"))
            turns.append(button(f"history:{page}", label, shows.ref, of=of))
    return turns


def _told(one: Happened) -> Inline:
    key = f"history.{one.what}"
    slots: dict[str, Any] = {"says": excerpt(one.says, _SAYS)}
    if one.who is not None:
        slots["who"] = by_whom(one.who, one.seat)
    if has(key) and (one.who is not None or "{who}" not in phrase(key, who="{who}", says="")):
        return say(key, **slots)
    # The record's own names are for people too, but for the one that only we know.
    words = one.what.replace("thread.", "request.").replace(".", ", ").replace("_", " ")
    slots["says"] = f"{words}: {slots['says']}" if slots["says"] else words
    return say("history.other" if one.who is not None else "history.other.nobody", **slots)
