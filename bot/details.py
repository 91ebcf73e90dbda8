"""The window of Details: everything about a request."""

from __future__ import annotations

from typing import Any, Final

from slackblocks import RichTextSection

from bot import limits, remarks, verdicts
from bot.blocks import Blocks, code, line, lines, quote
from bot.evidence import LINE, PASSAGE, ROOMS, Room, evidence, values
from bot.inline import SLOT_LIMIT, Inline, Link, Moment, Styled
from bot.judgements import by_whom, conditions, counting
from bot.modals import window
from bot.standing import standing
from bot.values import beginning, excerpt, passage
from bot.views import CardView, DetailsView, DocumentLine, Status
from bot.wording import phrase, say

MARKS: Final = {"done": "✓", "now": "●", "next": "○"}
DOCUMENTS: Final = 10
STEPS: Final = 40
PATH: Final = 30
ASKED: Final = 20
RULES: Final = 5
RULE: Final = 2_400  # characters of one, written as in the file


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
    remarks.in_details(blocks, card, room)
    _steps(blocks, shows)
    _path(blocks, shows)
    verdicts.actions(blocks, shows, room)
    evidence(blocks, card, room)
    _documents(blocks, shows, room)
    values(blocks, shows, room)
    verdicts.asked(blocks, shows)
    _rules(blocks, shows, room)
    verdicts.earlier(blocks, shows, room)
    _footer(blocks, shows)
    return window("details", phrase("modal.details.title"), blocks, card.ref)


def _stands(blocks: Blocks, card: CardView, room: Room) -> None:
    blocks.rich("title", line(Styled(excerpt(card.shown.title, LINE), "bold")))
    blocks.header("h_stands", phrase("modal.details.stands"))
    stands = standing(card)
    more = []
    missing = card.decides.quorum - len(counting(card))
    if card.status is Status.OPEN and card.decides.quorum > 1 and missing > 0:
        more.append(say("modal.details.waiting", count=missing))
    blocks.section("status", *stands.plain, *more, mark=stands.mark, first=stands.bold)
    parts = []
    for vote in conditions(card)[:ASKED]:
        parts += [
            line(say("condition.from", who=by_whom(vote.by, vote.seat))),
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
        if step.changed:
            rows.append(["      ", say("modal.details.changed", what=excerpt(step.changed, LINE))])
        if step.note:
            rows.append([f"      {excerpt(step.note, LINE)}"])
    if left := len(shows.steps) - min(len(shows.steps), STEPS):
        rows.insert(0, [say("notice.more", count=left)])
    blocks.rich("steps", lines(rows))


def _path(blocks: Blocks, shows: DetailsView) -> None:
    """The drawing with the path that was walked; without one the path as a line of words."""
    if not shows.path and not shows.picture:
        return
    walked = "  →  ".join(excerpt(step, 80) for step in shows.path[-PATH:])
    blocks.header("h_path", phrase("modal.details.path"))
    if shows.picture:
        description = phrase("modal.details.path.alt", path=walked)
        blocks.image("path", shows.picture, description)
    else:
        blocks.rich("path", line(Styled(walked)))


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


def _rules(blocks: Blocks, shows: DetailsView, room: Room) -> None:
    """The rule of the file under which it was opened, as it was written then."""
    if not shows.rules:
        return
    count = len(shows.rules)
    blocks.header("h_rules", phrase("modal.details.rule", count=count))
    for place, rule in enumerate(shows.rules[:RULES], 1):
        told = [say("modal.details.rule.hash", hash=rule.hash[:12])]
        told += [say("modal.details.rule.differs")] if rule.differs else []
        text, whole = beginning(rule.text, room.of(RULE))
        told += [say("modal.details.rule.cut", count=len(text))] if len(text) < whole else []
        blocks.rich(f"rule_{place}", code(text), lines([[one] for one in told]))
    if left := count - min(count, RULES):
        blocks.rich("rules_more", line(say("notice.more", count=left)))


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
