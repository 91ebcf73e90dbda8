"""Direct messages by the clock: to those who have not voted yet, and to those who may decide now.

Each is about one request and opens the same card; nothing is decided without the evidence in view.
"""

from __future__ import annotations

from slackblocks import Element

from bot.blocks import Blocks, Payload, button
from bot.inline import Inline, Link, Many, Moment, Styled, clause, notification
from bot.judgements import moment
from bot.standing import standing
from bot.values import letters
from bot.views import ReminderView
from bot.wording import Sentence, phrase, say


def reminder(view: ReminderView) -> Payload:
    """The message to one person; `escalated` where they may decide only from now on."""
    card = view.card
    title = letters(card.shown.title)
    kind = "escalation" if view.escalated else "reminder"
    named: Inline = Link(view.link, title) if view.link else Styled(title, "bold")
    stands = standing(card)
    tells = card.decides.quorum > 1 or bool(card.decides.stages)
    rest: list[Sentence] = [stands.bold, *stands.plain] if tells else []
    rest.append(say("status.overdue.since", since=Moment(view.since, card.zone, "since")))
    blocks = Blocks(view.row)
    blocks.section(
        "what",
        *rest,
        *_ends(view),
        mark="alarm_clock" if view.escalated else "hourglass_flowing_sand",
        first=say(f"{kind}.what", title=named),
    )
    ways: list[Element] = [_way("review", view, title)]
    if view.link:
        ways.append(_way("open", view, title))
    blocks.actions("act", ways)
    instead = [say("reminder.covers", who=Many(view.covers))] if view.covers else []
    blocks.context("footer", *instead, say(f"{kind}.why"), between=" ")
    note = say(f"{kind}.note", title=title)
    return Payload(notification([note], [rest[-1], *_ends(view)]), blocks.done())


def _ends(view: ReminderView) -> list[Sentence]:
    card = view.card
    if card.deadline is None:
        return []
    what = clause(card.shown.if_nobody) or phrase("then.nobody.default")
    by = moment(card, card.deadline, "by")
    return [say(f"then.nobody.{card.shown.asks}", by=by, what=what)]


def _way(verb: str, view: ReminderView, title: str) -> Element:
    label = phrase("button.review" if verb == "review" else "button.open_card")
    return button(
        verb,
        label,
        view.card.ref,
        of=phrase("label.of", label=label, title=title),
        style="primary" if verb == "review" else "",
        url=view.link if verb == "open" else "",
    )
