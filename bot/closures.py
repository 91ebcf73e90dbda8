"""The card of a request that is decided, set aside, on hold or over: short, without its evidence.

What it came to, by whom and why; what was done, or what has to be mended, and how. The evidence
stands under Details.
"""

from __future__ import annotations

from slackblocks import Button, Element, RichTextObject

from bot import actions
from bot.blocks import Blocks, button, confirm, line, lines, quote
from bot.endings import why_held
from bot.facts import Room, footer, outcome_facts
from bot.inline import Many, Styled, names, said
from bot.judgements import by_whom, conditions, deciding, is_short, kind, moment
from bot.standing import standing
from bot.values import excerpt, letters
from bot.views import CardView, Change, Status
from bot.wording import Sentence, phrase, say

ENDED = frozenset({Status.DONE, Status.REJECTED, Status.SENT_BACK, Status.RUNNING})
SET_ASIDE = (Status.WITHDRAWN, Status.REPLACED)


def closed(view: CardView, room: Room) -> list[dict[str, object]]:
    """The blocks of a card that nobody decides on now."""
    blocks = Blocks(view.row)
    stands = standing(view)
    mending = view.status in (Status.RETRYING, Status.STOPPED)
    blocks.header("title", view.shown.title)
    blocks.section(
        "status",
        *stands.plain,
        mark=stands.mark,
        first=stands.bold,
        accessory=None if mending else _beside(view),
    )
    if view.status is Status.HELD:
        blocks.section("why", *_why_held(view))
    elif view.because and view.status in SET_ASIDE:
        blocks.section("why", said(view.because))
    blocks.rich("facts", lines(outcome_facts(view, room)))
    if len(view.actions) > 1 and view.status in ENDED:
        told = actions.outcomes(view, room)
        blocks.rich("outcome", *told, *_result(view, room))
    else:
        _notes(blocks, view, room)
    if mending:
        again = said(view.shown.again) if view.shown.again else say("status.again")
        blocks.rich("consequences", line(say(f"status.stands.{kind(view)}", again=again)))
        blocks.actions("mend", _mending(view))
    blocks.context("footer", *footer(view), *_closing(view))
    return blocks.done()


def _beside(view: CardView) -> Button | None:
    if view.status in SET_ASIDE and (new := new_card(view.change, view.shown.title)):
        return new
    return actions.details(view) if "details" in view.offers else None


def new_card(change: Change | None, title: str) -> Button | None:
    """The way to the new card, where there is one: its link, else a window that shows it."""
    if change is None or not (change.link or change.new_ref):
        return None
    verb = "open" if change.link else actions.REVIEW
    of = phrase("label.open", title=letters(title))
    return button(verb, phrase("button.open"), change.new_ref, of=of, url=change.link)


def _why_held(view: CardView) -> list[Sentence]:
    made = [why_held(view)]
    if view.hold and view.hold.changed:
        made.append(say("held.what", changed=excerpt(view.hold.changed, 300)))
    if view.hold and view.hold.told:
        at = moment(view, view.hold.at, "at")
        made.append(say("held.told", who=Many(view.hold.told), at=at))
    else:
        made.append(say("held.lost_nothing"))
    made.append(say("held.back"))
    return [*made, say("held.paused")] if view.deadline else made


def _notes(blocks: Blocks, view: CardView, room: Room) -> None:
    """Conditions with their authors, or the reason or answer, quoted."""
    if view.status is Status.WITHDRAWN:
        blocks.rich("reason", quote(view.reason, room.quote))
        return
    if view.status not in ENDED:  # a failed one has no room: they stand under Details
        return
    if kind(view) == "approve":
        noted = conditions(view)
        parts = []
        for vote in noted[: room.notes]:
            who = by_whom(vote.by, vote.seat)
            parts += [line(say("condition.from", who=who)), quote(vote.note or "", room.quote)]
        if left := len(noted) - min(len(noted), room.notes):
            parts.append(line(say("conditions.more", count=left)))
        blocks.rich("conditions", *parts, *_result(view, room))
        return
    noted = tuple(vote for vote in deciding(view) if (vote.note or "").strip())
    name = "answer" if kind(view) == "answer" and view.status is not Status.SENT_BACK else "reason"
    quotes = [quote(vote.note or "", room.quote) for vote in noted[: room.notes]]
    blocks.rich(name, *quotes, *_result(view, room))


def _result(view: CardView, room: Room) -> list[RichTextObject | None]:
    """What it came to, quoted, where that is too long for the status line."""
    if view.status is not Status.DONE or not view.result.strip() or is_short(view.result):
        return []
    agent = view.agent or _capital(view.words.process)
    return [line(Styled(phrase("fact.result", agent=agent), "bold")), quote(view.result, 600)]


def _mending(view: CardView) -> list[Element]:
    title = view.shown.title
    made: list[Element] = []
    if "try_again" in view.offers:
        now = view.status is Status.RETRYING
        label = phrase("button.try_again_now" if now else "button.try_again")
        of = phrase("label.of", label=label, title=title)
        made.append(button("try_again", label, view.ref, of=of))
    if "ask_again" in view.offers:
        label = phrase("button.ask_again")
        of = phrase("label.of", label=label, title=title)
        ask = confirm(phrase("confirm.ask_again.title"), phrase("confirm.ask_again.text"), label)
        made.append(button("ask_again", label, view.ref, of=of, confirm=ask))
    if "details" in view.offers:
        made.append(actions.details(view))
    if "close_unpaid" in view.offers and view.status is Status.STOPPED:
        ask = confirm(
            phrase("confirm.close.title"),
            phrase("confirm.close.text", name=names([view.requester])),
            phrase("button.close_unpaid"),
            style="danger",
        )
        made.append(
            button(
                "close_unpaid",
                phrase("button.close_unpaid"),
                view.ref,
                of=phrase("label.close_unpaid", title=title),
                style="danger",
                confirm=ask,
            )
        )
    return made


def _closing(view: CardView) -> list[Sentence]:
    made = []
    if view.status is Status.DONE and view.remembered and view.customer:
        made.append(say("footer.remembered", customer=view.customer))
    if view.status is Status.REJECTED and view.ended_at:
        made.append(say("footer.closed", at=moment(view, view.ended_at, "at")))
    if view.status is Status.EXPIRED:
        made.append(say("footer.ask_again", who=view.requester))
    if view.status is Status.SENT_BACK:
        made.append(say("footer.new_card"))
    return made


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
