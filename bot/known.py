"""The window of what we know of a customer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from slackblocks import RichTextObject

from bot import limits
from bot.blocks import Blocks, bullets, line, quote
from bot.evidence import GROUP_LINES, ROOMS, Room, long
from bot.inline import Inline, Moment, Styled, clause
from bot.modals import window
from bot.values import excerpt
from bot.views import KnownFact, KnownView
from bot.wording import phrase, say

NOTE = 400


def known(shows: KnownView) -> dict[str, Any]:
    """What is remembered of a customer: decisions, facts with source and age, contradictions."""
    for room in ROOMS:
        made = _all(shows, room)
        if limits.view_fits(made):
            break
    limits.check_view(made)
    return made


def _all(shows: KnownView, room: Room) -> dict[str, Any]:
    blocks = Blocks()
    blocks.header("customer", shows.customer or phrase("someone"), limits.HEADER)
    for name, facts in (
        ("decisions", shows.decisions),
        ("facts", shows.facts),
        ("disagree", shows.disagree),
    ):
        if facts:
            heading = line(Styled(phrase(f"modal.known.{name}"), "bold"))
            blocks.rich(name, heading, *_all_known(facts, shows.zone, room))
    if not (shows.decisions or shows.facts or shows.disagree):
        blocks.section("none", say("modal.known.none"))
    blocks.context("footer", say("modal.known.recorded"))
    return window("known", phrase("modal.known.title"), blocks, shows.ref)


def _all_known(
    facts: tuple[KnownFact, ...], zone: str, room: Room
) -> Iterator[RichTextObject | None]:
    """Bullets; under a decision its condition or reason, quoted, and the bullets go on."""
    rows: list[list[Inline]] = []
    for fact in facts[:GROUP_LINES]:
        rows.append(_known(fact, zone, room))
        if fact.note.strip():
            yield bullets(rows)
            yield line(say(f"modal.known.{fact.note_is}"))
            yield quote(fact.note, room.of(NOTE))
            rows = []
    if left := len(facts) - GROUP_LINES:
        rows += [[say("notice.more", count=left)]] if left > 0 else []
    if rows:
        yield bullets(rows)


def _known(fact: KnownFact, zone: str, room: Room) -> list[Inline]:
    """The fact, its source and its age as one sentence; what is no sentence gets no full stop."""
    text = fact.text.rstrip()
    ends = text.endswith(".") and bool(fact.source or fact.at)
    row: list[Inline] = [*long(clause(text) if ends else text, room.of(1_000))]
    if fact.source:
        row += [", ", Styled(excerpt(fact.source[:1].lower() + fact.source[1:], 120), "italic")]
    if fact.at:
        row.append(Moment(fact.at, zone, "comma"))
    return [*row, "."] if ends else row
