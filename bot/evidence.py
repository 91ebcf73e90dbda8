"""What stands under Details of the evidence: facts and groups, what is asked, all values."""

from dataclasses import dataclass
from typing import Any, Final

from bot.blocks import Blocks, bullets, button, code, line, lines, quote
from bot.inline import Inline, Styled
from bot.values import beginning, counted, excerpt, flattened, letters, number, passage
from bot.views import CardView, DetailsView
from bot.wording import phrase, say
from graphs.passages import FACTS
from graphs.questions import Group

ACTIONS: Final = 10
GROUPS: Final = 10
GROUP_LINES: Final = 20
LINE: Final = 500
PASSAGE: Final = 2_500
LARGE: Final = 20_000  # characters of a question, as JSON; a longer one is a file under its card
PIECES: Final = 20  # long or deep values, which share as many characters
_VALUE: Final = 300
_VALUES_A_BLOCK: Final = 25
_ROW: Final = 1_000  # characters of one line in fixed width


@dataclass(frozen=True)
class Room:
    """How much is shown: so many lines of values, and this share of every long text."""

    values: int = 150
    share: float = 1.0

    def of(self, limit: int) -> int:
        """What is left of that many characters."""
        return int(limit * self.share)


ROOMS: Final = (Room(), Room(50, 0.5), Room(15, 0.2), Room(5, 0.05))


def evidence(blocks: Blocks, card: CardView, room: Room) -> None:
    shown = card.shown
    if not shown.facts and not shown.groups:
        return
    blocks.header("h_evidence", phrase("modal.details.evidence"))
    blocks.rich("facts", lines(fact_row(name, value) for name, value in shown.facts[:30]))
    for place, group in enumerate(shown.groups[:GROUPS], 1):
        _group(blocks, f"group_{place}", group, room)
    if left := len(shown.groups) - min(len(shown.groups), GROUPS):
        blocks.rich("groups_more", line(say("notice.more", count=left)))


def values(blocks: Blocks, shows: DetailsView, room: Room) -> None:
    """What is asked, long and deep values as they are, then everything that is known so far."""
    _question(blocks, shows, room)
    shown = flattened(shows.values, room.values) if shows.values else []
    if shown:
        blocks.header("h_values", phrase("modal.details.values"))
        _table(blocks, "values", shown)
        if left := counted(shows.values) - len(shown):
            blocks.rich("values_more", line(say("modal.details.more_values", count=left)))
    if "send_record" in shows.card.offers:
        label = phrase("button.send_record")
        of = phrase("label.of", label=label, title=letters(shows.card.shown.title))
        buttons = [button("send_record", label, shows.card.ref, of=of)]
        label = phrase("button.history")
        of = phrase("label.of", label=label, title=letters(shows.card.shown.title))
        blocks.actions("record", [*buttons, button("history", label, shows.card.ref, of=of)])


def fact_row(name: str, value: str) -> list[Inline]:
    shown = passage(value, LINE)
    return [Styled(f"{excerpt(name, 80)}  ", "bold"), shown or Styled(phrase("empty"), "italic")]


def long(text: str, limit: int) -> list[Inline]:
    """A long text as runs that each fit, so that a sentence's own limit does not cut it."""
    shown = passage(text, limit)
    return [Styled(shown)] if shown else []


def _group(blocks: Blocks, name: str, group: Group, room: Room) -> None:
    heading = line(Styled(passage(group.heading, LINE), "bold"))
    most = room.of(PASSAGE)
    if group.kind == "quote":
        blocks.rich(name, heading, *(quote(each.text, most) for each in group.lines[:5]))
        return
    rows: list[list[Inline]] = []
    for each in group.lines[:GROUP_LINES]:
        lead = excerpt(each.lead or "", 120)
        rows.append([Styled(lead, "italic"), ": " if lead else "", *long(each.text, most)])
    if left := len(group.lines) - len(rows):
        rows.append([say("notice.more", count=left)])
    blocks.rich(name, heading, bullets(rows))


def _question(blocks: Blocks, shows: DetailsView, room: Room) -> None:
    asked = shows.question
    if shows.card.actions:
        _arguments(blocks, shows, room)
    elif asked is not None:
        blocks.header("h_question", phrase("modal.details.question"))
        _pieces(blocks, "", asked, room, PIECES)
    if shows.enclosed:
        blocks.section("enclosed", say("modal.details.enclosed"))


def _arguments(blocks: Blocks, shows: DetailsView, room: Room) -> None:
    """All that goes into each action now, where its card has no room for all of it."""
    found = [
        (action.shown, shows.arguments[action.shown.item])
        for action in shows.card.actions[:ACTIONS]
        if action.shown.item < len(shows.arguments) and _is_more(shows.arguments[action.shown.item])
    ]
    if not found:
        return
    blocks.header("h_question", phrase("modal.details.question"))
    part = Room(max(room.values // len(found), 1), room.share / len(found))
    for shown, arguments in found:
        name = f"{shown.item + 1}_"
        title = f"{shown.item + 1}. {excerpt(shown.title, 120)}"
        blocks.rich(f"{name}asked", line(Styled(title, "bold")))
        _pieces(blocks, name, arguments, part, max(PIECES // len(found), 1))


def _is_more(arguments: Any) -> bool:
    if not isinstance(arguments, dict):
        return _is_long(arguments)
    return len(arguments) > FACTS or any(map(_is_long, arguments.values()))


def _pieces(blocks: Blocks, prefix: str, asked: Any, room: Room, most: int) -> None:
    """Short values in a table, each long or deep one as it is, and how many are left out."""
    pieces = asked if isinstance(asked, dict) else {"": asked}
    short = {key: one for key, one in pieces.items() if not _is_long(one)}
    deep = [(str(key), one) for key, one in pieces.items() if _is_long(one)]
    _table(blocks, f"{prefix}question", flattened(short, room.values) if short else [])
    if left := len(short) - min(len(short), room.values):
        blocks.rich(f"{prefix}question_more", line(say("modal.details.more_values", count=left)))
    left = room.of(LARGE)
    for place, (name, value) in enumerate(deep[:most], 1):
        head, whole = beginning(value, left)
        left -= len(head)
        name = excerpt(name, 80) or phrase("modal.details.question")
        if len(head) < whole:
            slots = {"count": number(len(head)), "all": number(whole)}
            name = phrase("modal.details.long", name=name, **slots)
        parts = map(code, _fitting(_rows(head)))
        blocks.rich(f"{prefix}long_{place}", line(Styled(name, "bold")), *parts)
    if left := len(deep) - min(len(deep), most):
        blocks.rich(f"{prefix}long_more", line(say("notice.more", count=left)))


def _is_long(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) > _VALUE or "\n" in value
    return isinstance(value, dict | list) and bool(value)


def _rows(text: str) -> list[str]:
    """The lines of a text, each short enough for a block of its own."""
    return [
        part[start : start + _ROW]
        for part in text.splitlines() or [""]
        for start in range(0, len(part) or 1, _ROW)
    ]


def _table(blocks: Blocks, name: str, pairs: list[tuple[str, str]]) -> None:
    """Names and values in two columns of fixed width."""
    if not pairs:
        return
    width = min(max(len(excerpt(key, 80)) for key, _ in pairs), 40)
    rows = [f"{excerpt(key, 80):<{width}}  {excerpt(value, _VALUE)}" for key, value in pairs]
    for start in range(0, len(rows), _VALUES_A_BLOCK):
        some = rows[start : start + _VALUES_A_BLOCK]
        blocks.rich(f"{name}_{start // _VALUES_A_BLOCK + 1}", *map(code, _fitting(some)))


def _fitting(rows: list[str], room: int = 2_000) -> list[str]:
    """The rows as few texts of at most about that many characters."""
    texts = [""]
    for row in rows:
        if texts[-1] and len(texts[-1]) + len(row) > room:
            texts.append("")
        texts[-1] += ("\n" if texts[-1] else "") + row
    return texts
