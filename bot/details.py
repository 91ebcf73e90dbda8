"""Two windows that only show: Details of a request, and what we know of a customer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from slackblocks import RichTextObject, RichTextSection

from bot import limits
from bot.blocks import Blocks, bullets, button, code, line, lines, quote
from bot.inline import SLOT_LIMIT, Inline, Link, Moment, Styled, clause, said
from bot.modals import window
from bot.standing import approvals, conditions, standing
from bot.values import excerpt, flattened, letters, passage
from bot.views import Asked, CardView, DetailsView, DocumentLine, KnownFact, KnownView, Status
from bot.wording import phrase, say
from graphs.questions import Group

MARKS = {"done": "✓", "now": "●", "next": "○"}
GROUPS = 10
GROUP_LINES = 20
LINE = 500
DOCUMENTS = 10
VALUE = 300
VALUES_A_BLOCK = 25
PASSAGE = 2_500
STEPS = 40
ASKED = 20
NOTE = 400


@dataclass(frozen=True)
class Room:
    """How much is shown: so many lines of values, and this share of every long text."""

    values: int = 150
    share: float = 1.0

    def of(self, limit: int) -> int:
        """What is left of that many characters."""
        return int(limit * self.share)


ROOMS = (Room(), Room(50, 0.5), Room(15, 0.2), Room(5, 0.05))


def details(shows: DetailsView) -> dict[str, Any]:
    """Everything about a request: where it stands, what was asked, steps, documents, values."""
    for room in ROOMS:
        made = _details(shows, room)
        if limits.view_fits(made):
            break
    limits.check_view(made)
    return made


def _details(shows: DetailsView, room: Room) -> dict[str, Any]:
    card = shows.card
    blocks = Blocks()
    _stands(blocks, card, room)
    if shows.written.strip():
        asked = Moment(card.asked_at, card.zone, "comma")
        heading = line(say("modal.details.written", who=card.requester, at=asked))
        blocks.rich("written", heading, quote(shows.written, room.of(PASSAGE)))
    _steps(blocks, shows)
    _evidence(blocks, card, room)
    _documents(blocks, shows, room)
    _values(blocks, shows, room)
    _asked(blocks, shows)
    _footer(blocks, shows)
    return window("details", phrase("modal.details.title"), blocks, card.ref)


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


def _stands(blocks: Blocks, card: CardView, room: Room) -> None:
    blocks.rich("title", line(Styled(excerpt(card.shown.title, LINE), "bold")))
    blocks.header("h_stands", phrase("modal.details.stands"))
    stands = standing(card)
    more = []
    missing = card.decides.quorum - len(approvals(card))
    if card.status is Status.OPEN and card.decides.quorum > 1 and missing > 0:
        more.append(say("modal.details.waiting", count=missing))
    blocks.section("status", *stands.plain, *more, mark=stands.mark, first=stands.bold)
    parts = []
    for vote in conditions(card)[:ASKED]:
        parts += [
            line(say("condition.from", who=vote.by)),
            quote(vote.note or "", room.of(PASSAGE)),
        ]
    others = [vote for vote in card.votes if vote not in conditions(card) and vote.note]
    parts += [quote(vote.note or "", room.of(PASSAGE)) for vote in others[:ASKED]]
    blocks.rich("notes", *parts)
    if card.result and (card.status is not Status.DONE or len(card.result) > SLOT_LIMIT):
        blocks.rich("result", line(passage(card.result, room.of(PASSAGE))))


def _steps(blocks: Blocks, shows: DetailsView) -> None:
    if not shows.steps:
        return
    blocks.header("h_steps", phrase("modal.details.steps"))
    rows: list[list[Inline]] = []
    for step in shows.steps[-STEPS:]:
        mark = MARKS.get(step.state, MARKS["next"])
        label = f"{mark}  {excerpt(step.label, 120)}"
        row: list[Inline] = [Styled(label, "bold") if step.state == "now" else label]
        if step.at:
            row += ["  ", Moment(step.at, shows.card.zone, "time", near=shows.card.asked_at)]
        if step.seconds is not None:
            row += [", ", phrase("modal.details.seconds", count=f"{max(step.seconds, 0):.0f}")]
        rows.append(row)
        if step.note:
            rows.append([f"      {excerpt(step.note, LINE)}"])
    blocks.rich("steps", lines(rows))


def _evidence(blocks: Blocks, card: CardView, room: Room) -> None:
    shown = card.shown
    if not shown.facts and not shown.groups:
        return
    blocks.header("h_evidence", phrase("modal.details.evidence"))
    rows = [(Styled(f"{excerpt(name, 80)}  ", "bold"), passage(value, LINE) or
             Styled(phrase("empty"), "italic")) for name, value in shown.facts[:30]]  # fmt: skip
    blocks.rich("facts", lines(rows))
    for place, group in enumerate(shown.groups[:GROUPS], 1):
        _group(blocks, f"group_{place}", group, room)
    if left := len(shown.groups) - min(len(shown.groups), GROUPS):
        blocks.rich("groups_more", line(say("notice.more", count=left)))


def _group(blocks: Blocks, name: str, group: Group, room: Room) -> None:
    heading = line(Styled(passage(group.heading, LINE), "bold"))
    long = room.of(PASSAGE)
    if group.kind == "quote":
        blocks.rich(name, heading, *(quote(each.text, long) for each in group.lines[:5]))
        return
    rows: list[list[Inline]] = []
    for each in group.lines[:GROUP_LINES]:
        lead = excerpt(each.lead or "", 120)
        rows.append([Styled(lead, "italic"), ": " if lead else "", *_long(each.text, long)])
    if left := len(group.lines) - len(rows):
        rows.append([say("notice.more", count=left)])
    blocks.rich(name, heading, bullets(rows))


def _documents(blocks: Blocks, shows: DetailsView, room: Room) -> None:
    blocks.header("h_documents", phrase("modal.details.documents"))
    if not shows.documents:
        blocks.section("no_documents", say("modal.details.no_documents"))
    for place, document in enumerate(shows.documents[:DOCUMENTS], 1):
        found = document.problem or document.finding
        blocks.rich(f"document_{place}", _document(document), quote(found, room.of(PASSAGE)))
    if left := len(shows.documents) - min(len(shows.documents), DOCUMENTS):
        blocks.rich("documents_more", line(say("notice.more", count=left)))


def _document(document: DocumentLine) -> RichTextSection | None:
    name = excerpt(document.name, 200)
    row: list[Inline] = [Styled(name, "bold")]
    if document.link:
        row = [Link(document.link, name)]
    if document.pages:
        row += [", ", phrase("modal.details.pages", count=document.pages)]
    if document.size:
        row += [", ", _weight(document.size)]
    return line(*row)


def _weight(size: int) -> str:
    """In thousands, as Slack writes it beside a file."""
    if size < 1_000:
        return phrase("modal.details.size.bytes", count=size)
    if size < 1_000_000:
        return phrase("modal.details.size.kb", count=int(size / 1_000 + 0.5))
    return phrase("modal.details.size.mb", count=f"{size / 1_000_000:.1f}")


def _values(blocks: Blocks, shows: DetailsView, room: Room) -> None:
    pairs = flattened(shows.values) if shows.values else []
    if not pairs:
        return
    blocks.header("h_values", phrase("modal.details.values"))
    shown = pairs[: room.values]
    width = min(max(len(excerpt(name, 80)) for name, _ in shown), 40)
    rows = [f"{excerpt(name, 80):<{width}}  {excerpt(value, VALUE)}" for name, value in shown]
    for start in range(0, len(rows), VALUES_A_BLOCK):
        some = rows[start : start + VALUES_A_BLOCK]
        blocks.rich(f"values_{start // VALUES_A_BLOCK + 1}", *map(code, _fitting(some)))
    left = len(pairs) - len(shown)
    if left:
        blocks.rich("values_more", line(say("modal.details.more_values", count=left)))
    if "send_record" in shows.card.offers:
        label = phrase("button.send_record")
        of = phrase("label.of", label=label, title=letters(shows.card.shown.title))
        blocks.actions("record", [button("send_record", label, shows.card.ref, of=of)])


def _fitting(rows: list[str], room: int = 2_000) -> list[str]:
    """The rows as few texts of at most about that many characters."""
    texts = [""]
    for row in rows:
        if texts[-1] and len(texts[-1]) + len(row) > room:
            texts.append("")
        texts[-1] += ("\n" if texts[-1] else "") + row
    return texts


def _asked(blocks: Blocks, shows: DetailsView) -> None:
    if not shows.asked:
        return
    blocks.header("h_asked", phrase("modal.details.asked"))
    rows: list[list[Inline]] = [[_answered(asked, shows.card)] for asked in shows.asked[:ASKED]]
    if left := len(shows.asked) - len(rows):
        rows.append([say("notice.more", count=left)])
    blocks.rich("asked", bullets(rows))


def _answered(asked: Asked, card: CardView) -> Inline:
    at: Inline = Moment(asked.at, card.zone, "comma", near=card.asked_at) if asked.at else ""
    key = f"modal.details.asked.{asked.what}"
    try:
        return say(key, who=asked.who, at=at)
    except KeyError:
        return said(asked.what)


def _footer(blocks: Blocks, shows: DetailsView) -> None:
    card = shows.card
    if shows.graph or shows.node:
        blocks.rich(
            "names",
            line(
                say("modal.details.names", graph=shows.graph, node=shows.node, thread=shows.thread)
            ),
        )
    made = [say("footer.request", id=str(card.number or card.review_id))]
    if card.version:
        made.append(say("footer.version", version=card.version[:6]))
    blocks.context("footer", *made)
    blocks.context("footer_version", say("modal.details.version"))


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
    row: list[Inline] = [*_long(clause(text) if ends else text, room.of(1_000))]
    if fact.source:
        row += [", ", Styled(excerpt(fact.source[:1].lower() + fact.source[1:], 120), "italic")]
    if fact.at:
        row.append(Moment(fact.at, zone, "comma"))
    return [*row, "."] if ends else row


def _long(text: str, limit: int) -> list[Inline]:
    """A long text as runs that each fit, so that a sentence's own limit does not cut it."""
    shown = passage(text, limit)
    return [Styled(shown)] if shown else []
