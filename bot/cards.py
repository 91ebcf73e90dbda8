"""The approval card: one frozen value, rendered whole by a pure function.

An open card is long: what is asked, where it stands, who decides, the evidence, what happens then,
the buttons. A closed one is short: the evidence moves to Details. A card that Slack would refuse
cannot come out: where the evidence is too much, less of it is shown and the rest is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from slackblocks import Element, RichTextObject

from bot import actions, limits, remarks
from bot.blocks import (
    ROW,
    Blocks,
    Payload,
    bullets,
    button,
    fact,
    line,
    lines,
    menu,
    quote,
    select,
)
from bot.closures import closed
from bot.facts import Room, asked_by, footer, stage_rows, stand_in_rows, template_fact, who_decides
from bot.inline import Inline, Styled, clause, names, said
from bot.judgements import answers, by_whom, conditions, is_a_stop, moment
from bot.standing import standing
from bot.values import excerpt, letters
from bot.views import CardView, Decides, Person, Ref, Status, UserGroup, Vote, Words
from bot.wording import phrase, say
from graphs.questions import GOES_ON, Group

__all__ = [
    "CardView",
    "Decides",
    "Payload",
    "Person",
    "Ref",
    "Status",
    "UserGroup",
    "Vote",
    "Words",
    "render",
    "who_decides",
]

FEW_FACTS = 2  # so many stand with "Asked by"; more get a block of their own
# What else can be done; of more than a menu holds, the last is left out: Details have it as well.
MENU = ("question", "comment", "take", "give_back", "hand_over", "history")
PLAIN_BUTTONS = 10  # choices that are all buttons; of more, some, and the others in a menu
FEW_BUTTONS = 8

ROOMS = (
    Room(),
    Room(groups=3, lines=3, characters=80, facts=5, fact=80, quote=150, notes=2, rows=4),
    Room(groups=2, lines=2, characters=60, facts=3, fact=60, quote=80, notes=1, rows=3),
    Room(groups=1, lines=1, characters=40, facts=2, fact=40, quote=60, notes=1, full=4, rows=3),
    Room(groups=0, lines=0, characters=40, facts=1, fact=40, quote=40, notes=1, full=2, rows=2),
)


def render(view: CardView) -> Payload:
    """The whole card of the view; always within every limit of Slack."""
    if not letters(view.shown.title):  # a card without a title could not be found again
        title = phrase("footer.request", id=view.number or view.review_id)
        view = replace(view, shown=replace(view.shown, title=title))
    stands = standing(view)
    blocks = []
    for room in ROOMS:
        blocks = _open(view, room) if view.status is Status.OPEN else closed(view, room)
        if limits.fits(stands.note, blocks):
            break
    limits.check_message(stands.note, blocks)
    return Payload(stands.note, blocks)


def _open(view: CardView, room: Room) -> list[dict[str, object]]:
    blocks = Blocks(view.row)
    stands = standing(view)
    blocks.header("title", view.shown.title)
    blocks.section("status", *stands.plain, mark=stands.mark, first=stands.bold)
    if view.warning:
        blocks.rich("warning", line(Styled(excerpt(view.warning, 400), "bold")))
    if view.again:
        blocks.rich(
            "again",
            line(say("again.answer", who=view.again.by)),
            quote(view.again.answer, room.quote),
            line(say("again.problem", problem=clause(view.again.problem)))
            if view.again.problem
            else None,
        )
    blocks.rich("votes", *_so_far(view, room))
    _facts(blocks, view, room)
    _evidence(blocks, view, room)
    if view.actions:
        blocks.divider("actions")
        actions.on_card(blocks, view, room)
    remarks.on_card(blocks, view, room)
    blocks.divider("below")
    blocks.rich("consequences", lines(consequences(view)))
    _buttons(blocks, view)
    more = [say("footer.more_open", count=view.more_open)] if view.more_open else []
    blocks.context("footer", *footer(view), *more)
    return blocks.done()


def _so_far(view: CardView, room: Room) -> Iterator[RichTextObject | None]:
    """The conditions of those who approved; the answers, where several have to give the same."""
    for vote in conditions(view)[: room.notes]:
        yield quote(vote.note or "", room.quote)
    for vote in answers(view)[: room.notes]:
        yield line(say("talk.answer", who=by_whom(vote.by, vote.seat), at=""))
        yield quote(vote.note or "", room.quote)


def _facts(blocks: Blocks, view: CardView, room: Room) -> None:
    label = "fact.who_answers" if view.shown.asks == "answer" else "fact.who_decides"
    rows = [asked_by(view)]
    if len(view.shown.facts) <= FEW_FACTS:
        rows += [template_fact(name, value, room) for name, value in view.shown.facts]
    if not actions.several_rules(view):
        rows.append(fact(phrase(label), who_decides(view.decides)))
        rows += stage_rows(view, view.decides, view.votes)
    rows += stand_in_rows(view)
    if view.taken:
        rows.append((say("fact.looking", who=view.taken.by),))
    if view.written.strip():
        rows.append((Styled(phrase("fact.message"), "bold"),))
    blocks.rich("facts", lines(rows), quote(view.written, room.quote))


def _evidence(blocks: Blocks, view: CardView, room: Room) -> None:
    facts, groups = view.shown.facts, view.shown.groups
    if len(facts) > FEW_FACTS or groups:
        blocks.divider("above")
    if len(facts) > FEW_FACTS:
        rows: list[tuple[Inline, ...]] = [
            template_fact(*pair, room) for pair in facts[: room.facts]
        ]
        if left := len(facts) - len(rows):
            rows.append((say("evidence.more_facts", count=left),))
        blocks.rich("values", lines(rows))
    for place, group in enumerate(groups[: room.groups], 1):
        _group(blocks, f"evidence_{place}", group, room)
    if left := len(groups) - min(len(groups), room.groups):
        blocks.rich("more", line(say("evidence.more_groups", count=left)))


def _group(blocks: Blocks, name: str, group: Group, room: Room) -> None:
    heading = Styled(excerpt(group.heading, room.characters), "bold")
    shown = group.lines[: room.lines]
    left = len(group.lines) - len(shown)
    more: tuple[Inline, ...] = (say("evidence.more_lines", count=left),) if left else ()
    if group.kind == "quote":
        quotes = [quote(each.text, room.quote) for each in shown]
        blocks.rich(name, line(heading), *quotes, line(*more))
        return
    rows: list[tuple[Inline, ...]] = []
    for each in shown:
        text = excerpt(each.text, room.characters)
        lead = excerpt(each.lead or "", room.characters)
        rows.append((Styled(lead, "italic"), ": " if lead and text else "", text))
    rows += [more] if more else []
    if group.kind == "plain":
        blocks.rich(name, lines([(heading,), *rows]))
    else:
        blocks.rich(name, line(heading), bullets(rows))


def consequences(view: CardView) -> list[tuple[Inline, ...]]:
    """What happens if it is approved, and what if nobody decides."""
    shown = view.shown
    rows: list[tuple[Inline, ...]] = []
    if is_a_stop(view) and shown.consequence == GOES_ON:
        rows.append((say("then.continue"),))
    elif shown.consequence:
        rows.append((said(shown.consequence),))
    elif view.actions and not any(one.shown.choice("approve") for one in view.actions):
        rows.append((say("then.answered", process=view.words.process),))
    elif shown.if_approved:
        key = "then.approved.stages" if view.decides.stages else "then.approved"
        rows.append((say(key, what=clause(shown.if_approved)),))
    if view.deadline:
        what = clause(shown.if_nobody) or phrase("then.nobody.default")
        by = moment(view, view.deadline, "by")
        rows.append((say(f"then.nobody.{shown.asks}", by=by, what=what),))
    else:
        rows.append((say(f"then.waits.{shown.asks}"),))
    return rows


def _buttons(blocks: Blocks, view: CardView) -> None:
    looks = _looks(view)
    if view.actions:
        blocks.actions("look", [*actions.approve_all(view), *looks])
        return
    decisions = _decisions(view)
    if view.shown.asks == "answer" and len(decisions) + len(looks) <= ROW:
        blocks.actions("decide", [*decisions, *looks])
        return
    blocks.actions("decide", decisions)
    blocks.actions("look", looks)


def _decisions(view: CardView) -> list[Element]:
    """A button for each choice; where there are very many, the later ones stand in a menu."""
    choices = [choice for choice in view.shown.choices if choice.verb]
    choices = list({choice.verb: choice for choice in reversed(choices)}.values())[::-1]
    menu_ = []
    if len(choices) > PLAIN_BUTTONS:
        plain = [choice for choice in choices if choice.needs is None]
        menu_ = plain[FEW_BUTTONS:]
        choices = [choice for choice in choices if choice not in menu_]
    made: list[Element] = []
    primary = True
    for choice in choices[:PLAIN_BUTTONS]:
        sure = view.confirm
        title = view.shown.title
        made.append(actions.decision(view, choice, of=title, sure=sure, primary=primary))
        primary = primary and choice.style != "primary"
    if menu_:
        options = [(choice.verb, choice.label) for choice in menu_]
        made.append(select("more_answers", phrase("button.more_answers"), options, view.ref))
    return made


def _looks(view: CardView) -> list[Element]:
    title = view.shown.title
    looks: list[Element] = []
    if "details" in view.offers:
        looks.append(actions.details(view))
    if "known" in view.offers:
        label = phrase("label.known", customer=view.customer) if view.customer else ""
        looks.append(button("known", phrase("button.known"), view.ref, of=label or title))
    options = [(verb, _in_menu(view, verb)) for verb in MENU if verb in view.offers][:ROW]
    if len(options) == 1:
        verb, label = options[0]
        said_aloud = phrase("label.of", label=label, title=title)
        looks.append(button(verb, label, view.ref, of=said_aloud))
    elif options:
        looks.append(menu(options, view.ref))
    return looks


def _in_menu(view: CardView, verb: str) -> str:
    if verb == "take" and view.taken:
        return phrase("button.take.over", name=names([view.taken.by]))
    return phrase(f"button.{verb}", name=names([view.requester]))
