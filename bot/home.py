"""The home tab of one person: what waits for them, what they asked for, what was decided lately."""

from __future__ import annotations

from typing import Any

from bot import limits
from bot.blocks import Blocks, button, line, lines, quote
from bot.inline import Channel, Inline, Link, Moment, Styled, clause, said
from bot.values import excerpt, letters
from bot.views import HomeRow, HomeView
from bot.wording import Sentence, phrase, say

PAGE = 20
MINE = 10
DONE = 5


def home(view: HomeView) -> dict[str, Any]:
    """The whole tab, within every limit; the page lives in its private metadata."""
    blocks = Blocks()
    total = max(view.total, len(view.waiting))
    blocks.header("h_waiting", phrase("home.waiting", count=total))
    if not view.waiting:
        blocks.section("calm", say("home.calm"))
    for place, one in enumerate(view.waiting[:PAGE], 1):
        waiting_row(
            blocks, f"waiting_{place}", one, zone=view.zone, reviews="review" in view.offers
        )
    _pages(blocks, view, total)
    if view.mine:
        blocks.divider("d_mine")
        blocks.header("h_mine", phrase("home.mine"))
        for place, one in enumerate(view.mine[:MINE], 1):
            blocks.rich(f"mine_{place}", lines([[_title(one)], [said(one.where)]]))
    if view.done:
        blocks.divider("d_done")
        blocks.header("h_done", phrase("home.done"))
        for place, one in enumerate(view.done[:DONE], 1):
            at: Inline = Moment(one.at, view.zone, "comma") if one.at else ""
            blocks.rich(f"done_{place}", line(_title(one), "  ", said(one.where), at))
    if view.start_channel:
        blocks.divider("d_ask")
        blocks.header("h_ask", phrase("home.ask"))
        key = "home.how.example" if view.example.strip() else "home.how"
        how = say(key, channel=Channel(view.start_channel))
        blocks.rich("how", line(how), quote(view.example, 300))
    made = {
        "type": "home",
        "callback_id": "home",
        "private_metadata": f'{{"page":{view.page}}}',
        "blocks": blocks.done(),
    }
    limits.check_view(made)
    return made


def waiting_row(blocks: Blocks, name: str, row: HomeRow, *, zone: str, reviews: bool) -> None:
    """One request that waits; beside it the button that opens its card, or the way to it."""
    beside = None
    if reviews:
        label = phrase("button.review")
        of = phrase("label.of", label=label, title=letters(row.title))
        beside = button("review", label, row.ref, of=of)
    elif row.link:
        of = phrase("label.open_row", title=letters(row.title))
        beside = button("open", phrase("button.open_row"), row.ref, of=of, url=row.link)
    blocks.section(
        name,
        *_facts(row, zone),
        mark="alarm_clock" if row.overdue else "",
        first=Sentence("*{title}*", {"title": _title(row)}),
        joint="\n",
        accessory=beside,
    )


def _facts(row: HomeRow, zone: str) -> list[Sentence]:
    made = []
    if row.since:
        since = Moment(row.since, zone, "since")
        made.append(say("home.overdue" if row.overdue else "home.since", since=since))
    if row.asks == "answer":
        made.append(say("home.needs.answer"))
    elif row.quorum > 1 and row.approvals:
        made.append(say("home.tally", have=row.approvals, count=row.quorum))
    elif row.quorum > 1:
        made.append(say("home.needs", count=row.quorum))
    if row.stages > 1:
        made.append(say("home.stage", stage=row.stage + 1, stages=row.stages))
    if row.fact:
        fact = clause(excerpt(row.fact, 120))
        made.append(Sentence("{it}.", {"it": fact[:1].upper() + fact[1:]}))
    if row.agent:
        made.append(say("home.asked_by", who=row.agent))
    elif row.requester:
        made.append(say("home.asked_by", who=row.requester))
    return made


def _title(row: HomeRow) -> Inline:
    title = excerpt(row.title, 120)
    return Link(row.link, title) if row.link else Styled(title, "bold")


def _pages(blocks: Blocks, view: HomeView, total: int) -> None:
    if total <= PAGE:
        return
    first = (view.page - 1) * PAGE + 1
    last = min(first + len(view.waiting[:PAGE]) - 1, total)
    blocks.context("range", say("home.range", first=first, last=max(last, first), count=total))
