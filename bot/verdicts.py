"""What people said of a request: of each action, of earlier questions, and who was asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from slackblocks import RichTextObject

from bot.blocks import Blocks, bullets, line, lines, quote
from bot.evidence import GROUP_LINES, GROUPS, LINE, Room, fact_row, long
from bot.facts import who_decides
from bot.inline import Inline, Many, Moment, Styled, said
from bot.judgements import by_whom
from bot.values import excerpt
from bot.views import Asked, CardView, DetailsView, Person, Vote
from bot.wording import has, phrase, say

ASKED: Final = 20
ACTIONS: Final = 10
EARLIER: Final = 10
NOTE: Final = 300
SAID: Final = {
    "approve": "approved",
    "approve_with_conditions": "approved_with_conditions",
    "reject": "rejected",
    "ask_for_changes": "sent_back",
}


def actions(blocks: Blocks, shows: DetailsView, room: Room) -> None:
    """What is asked for, one action after the other: its values, changes, and who said what."""
    card = shows.card
    if not card.actions:
        return
    blocks.header("h_actions", phrase("modal.details.actions"))
    for place, action in enumerate(card.actions[:ACTIONS], 1):
        rows: list[list[Inline]] = [
            [Styled(f"{place}. {excerpt(action.shown.title, 120)}", "bold")]
        ]
        if action.outcome:
            rows[0] += ["  ", _came_to(action.outcome)]
        if action.edited_by is not None:
            shown = action.shown
            rows += _edits(shown.before, shown.facts, action.edited_by, action.edited_at, card)
        rows += [fact_row(name, value) for name, value in action.shown.facts[:GROUP_LINES]]
        for group in action.shown.groups[:GROUPS]:
            heading = Styled(f"{excerpt(group.heading, 120)}  ", "bold")
            rows += [[heading, *long(one.text, room.of(800))] for one in group.lines[:5]]
        parts: list[RichTextObject | None] = [lines(rows)]
        told = [of_vote(vote) for vote in action.votes]
        parts += _said(told, card, room)
        blocks.rich(f"action_{place}", *parts)
    if left := len(card.actions) - min(len(card.actions), ACTIONS):
        blocks.rich("actions_more", line(say("notice.more", count=left)))


def earlier(blocks: Blocks, shows: DetailsView, room: Room) -> None:
    """What was decided before in the same request, and what became of it."""
    if not shows.earlier:
        return
    blocks.header("h_earlier", phrase("modal.details.earlier"))
    card = shows.card
    for place, one in enumerate(shows.earlier[-EARLIER:], 1):
        rows: list[list[Inline]] = [
            [Styled(excerpt(one.title, LINE), "bold"), "  ", _came_to(one.what)]
        ]
        rows += _edits(one.before, one.facts, one.edited_by, one.edited_at, card)
        blocks.rich(f"earlier_{place}", lines(rows), *_said(one.said, card, room))


def asked(blocks: Blocks, shows: DetailsView) -> None:
    """Who was asked, and what each of them said."""
    if not shows.asked or shows.card.actions:
        return
    blocks.header("h_asked", phrase("modal.details.asked"))
    if not shows.card.decides.stages:
        rows: list[list[Inline]] = [[_answered(one, shows.card)] for one in shows.asked[:ASKED]]
        if left := len(shows.asked) - len(rows):
            rows.append([say("notice.more", count=left)])
        blocks.rich("asked", bullets(rows))
        return
    parts: list[RichTextObject | None] = []
    for at, stage in list(enumerate(shows.card.decides.stages))[:ASKED]:
        found = [one for one in shows.asked if one.stage == at]
        said_ = [[_answered(one, shows.card)] for one in found[:ASKED]]
        if left := len(found) - len(said_):
            said_.append([say("notice.more", count=left)])
        parts += [line(say("modal.details.stage", stage=at + 1, who=who_decides(stage)))]
        parts += [bullets(said_)] if said_ else []
    blocks.rich("asked", *parts)


def of_vote(vote: Vote) -> Asked:
    """A vote as what somebody said."""
    what = SAID.get(vote.verb, "answered")
    return Asked(vote.by, what, vote.at, vote.note or vote.label, vote.seat, vote.stage)


def _edits(
    before: Sequence[tuple[str, str]],
    facts: Sequence[tuple[str, str]],
    by: Person | None,
    at: datetime | None,
    card: CardView,
) -> Iterator[list[Inline]]:
    """Who changed it and when, then the old and the new of each value."""
    if by is not None:
        when = Moment(at, card.zone, "comma", near=card.asked_at) if at else ""
        yield [say("modal.details.edited", who=by, at=when)]
    now = dict(facts)
    if hidden := [excerpt(label, 80) for label, _ in before if label not in now]:
        yield [say("action.also_changed", what=Many(tuple(hidden[:GROUP_LINES])))]
    for label, old in [one for one in before if one[0] in now][:GROUP_LINES]:
        slots = {
            "label": excerpt(label, 80),
            "old": excerpt(old, 200) or phrase("empty"),
            "new": excerpt(now[label], 200) or phrase("empty"),
        }
        yield [say("modal.details.edited.to", **slots)]


def _came_to(outcome: str) -> Inline:
    key = f"modal.details.came_to.{outcome or 'none'}"
    return say(key) if has(key) else said(outcome.replace("_", " "), bold=True)


def _said(asked: Iterable[Asked], card: CardView, room: Room) -> Iterator[RichTextObject | None]:
    """Bullets of who said what, each note quoted under its line."""
    rows: list[list[Inline]] = []
    for one in list(asked)[:ASKED]:
        rows.append([_answered(one, card)])
        if one.note.strip():
            yield bullets(rows)
            yield quote(one.note, room.of(NOTE))
            rows = []
    if rows:
        yield bullets(rows)


def _answered(one: Asked, card: CardView) -> Inline:
    at: Inline = Moment(one.at, card.zone, "comma", near=card.asked_at) if one.at else ""
    key = f"modal.details.asked.{one.what}"
    try:
        who = by_whom(one.who, one.seat) if isinstance(one.who, Person) else one.who
        return say(key, who=who, at=at)
    except KeyError:
        return said(one.what)
