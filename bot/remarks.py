"""What people say of a request besides deciding it: on the card, in windows and in messages."""

from __future__ import annotations

from typing import Final

from slackblocks import RichTextObject

from bot import limits
from bot.blocks import Blocks, Payload, button, line, quote
from bot.evidence import PASSAGE
from bot.evidence import Room as Share
from bot.facts import Room
from bot.inline import Inline, Link, Moment, Styled, names, notification
from bot.judgements import moment
from bot.modals import View, top, view
from bot.values import excerpt, letters
from bot.views import (
    AnswerView,
    CardView,
    Comment,
    Exchange,
    QuestionView,
    Ref,
    Status,
    TakenView,
)
from bot.wording import Sentence, phrase, say

ANSWER: Final = "answer_question"
INPUT: Final = "words"  # the block of each window's one input
IN_DETAILS: Final = 20
_QUOTED: Final = 2_000


# On the card


def on_card(blocks: Blocks, card: CardView, room: Room) -> None:
    """The newest questions with their answers and the newest comments, in the order they came."""
    questions = [one for one in card.talk if isinstance(one, Exchange)][-room.notes :]
    comments = [one for one in card.talk if isinstance(one, Comment)][-room.notes :]
    shown = [one for one in card.talk if one in questions or one in comments]
    for place, one in enumerate(shown, 1):
        blocks.rich(f"talk_{place}", *_said(one, card, room.quote))
    if left := len(card.talk) - len(shown):
        blocks.rich("talk_more", line(say("talk.more", count=left)))


def in_details(blocks: Blocks, card: CardView, room: Share) -> None:
    """All of it, in the window of Details."""
    if not card.talk:
        return
    blocks.header("h_talk", phrase("modal.details.talk"))
    shown = card.talk[-IN_DETAILS:]
    for place, one in enumerate(shown, 1):
        blocks.rich(f"talk_{place}", *_said(one, card, room.of(PASSAGE)))
    if left := len(card.talk) - len(shown):
        blocks.rich("talk_more", line(say("notice.more", count=left)))


def _said(one: Exchange | Comment, card: CardView, most: int) -> list[RichTextObject | None]:
    if isinstance(one, Comment):
        heading = say("talk.comment", who=one.by, at=moment(card, one.at, "comma"))
        return [line(heading), quote(one.text, most)]
    asked = moment(card, one.asked_at, "comma")
    parts: list[RichTextObject | None] = [
        line(say("talk.question", who=one.asked_by, at=asked)),
        quote(one.question, most),
    ]
    if one.answered_by and one.answered_at:
        at = moment(card, one.answered_at, "comma")
        parts += [line(say("talk.answer", who=one.answered_by, at=at)), quote(one.answer, most)]
        parts.append(_files(one))
    elif card.status is Status.OPEN:
        parts.append(line(Styled(phrase("talk.waiting"), "italic")))
    return parts


def _files(one: Exchange) -> RichTextObject | None:
    if not one.files:
        return None
    named = ", ".join(excerpt(name, 80) for name in one.files)
    return line(say("talk.files", count=len(one.files), names=named))


# Windows


def question(card: CardView, *, typed: str = "") -> View:
    """Ask the requester something."""
    name = names([card.requester])
    blocks = top(card)
    blocks.input(
        INPUT,
        phrase("modal.question.label"),
        hint=phrase("modal.question.hint", name=name),
        max_length=limits.INPUT,
        initial=typed,
    )
    blocks.context("effect", say("modal.question.effect"))
    title = phrase("modal.question.title", name=name)
    if len(title) > limits.VIEW_TITLE:
        title = phrase("modal.question.title.plain")
    return view("question", title, blocks, card.ref, submit=phrase("modal.question.submit"))


def comment(card: CardView, *, typed: str = "") -> View:
    """Say something on the card."""
    blocks = top(card)
    blocks.input(
        INPUT,
        phrase("modal.comment.label"),
        hint=phrase("modal.comment.hint"),
        max_length=limits.INPUT,
        initial=typed,
    )
    blocks.context("effect", say("modal.comment.effect"))
    submit = phrase("modal.comment.submit")
    return view("comment", phrase("modal.comment.title"), blocks, card.ref, submit=submit)


def answer(card: CardView, exchange: Exchange, *, typed: str = "") -> View:
    """Answer one question of a reviewer, which stands above the input."""
    blocks = Blocks()
    title = line(Styled(excerpt(card.shown.title, 300), "bold"))
    asks = line(say("modal.answer_question.asks", who=exchange.asked_by))
    blocks.rich("summary", title)
    blocks.rich("question", asks, quote(exchange.question, _QUOTED))
    blocks.input(
        INPUT,
        phrase("modal.answer_question.label"),
        max_length=limits.INPUT,
        initial=typed,
    )
    blocks.context("effect", say("modal.answer_question.effect"))
    return view(
        f"{ANSWER}:{exchange.id}",
        phrase("modal.answer_question.title"),
        blocks,
        card.ref,
        submit=phrase("modal.answer_question.submit"),
    )


# Messages


def asked(shows: QuestionView) -> Payload:
    """A reviewer's question, in the requester's conversation."""
    exchange = shows.exchange
    blocks = Blocks(shows.row)
    blocks.section("what", say("question.asks", to=shows.requester, who=exchange.asked_by))
    blocks.rich("by", quote(exchange.question, _QUOTED))
    if exchange.answered_at:
        at = Moment(exchange.answered_at, shows.zone, "at", near=exchange.asked_at)
        blocks.context("foot", say("ask.answered.at", at=at))
    elif not shows.open:
        blocks.context("foot", say("question.not_needed"))
    else:
        label = phrase("button.answer_question")
        of = phrase("label.of", label=label, title=letters(exchange.question))
        verb = f"{ANSWER}:{exchange.id}"
        blocks.actions("act", [button(verb, label, shows.ref, of=of, style="primary")])
        how = "by_button" if not shows.here else "where" if shows.first else "later"
        number = say("footer.request", id=str(shows.number or shows.ref.review_id))
        blocks.context("foot", say(f"question.{how}"), number)
    note = say(
        "question.note",
        name=names([exchange.asked_by]),
        title=excerpt(shows.title, 60),
        question=excerpt(exchange.question, 150),
    )
    return Payload(notification([note]), blocks.done())


def answered(shows: AnswerView) -> Payload:
    """The answer, told to whoever asked."""
    exchange = shows.exchange
    who = exchange.answered_by or ""
    blocks = Blocks(shows.row)
    blocks.section("what", say("answered.told", who=who, title=_named(shows.title, shows.link)))
    blocks.rich(
        "by",
        quote(exchange.question, 500),
        line(say("talk.answer", who=who, at="")),
        quote(exchange.answer, _QUOTED),
        _files(exchange),
    )
    _ways(blocks, shows.ref, shows.title, shows.link)
    by = names([exchange.answered_by]) if exchange.answered_by else phrase("someone")
    note = say("answered.note", name=by, title=excerpt(shows.title, 80))
    return Payload(notification([note], [Sentence("{it}", {"it": exchange.answer})]), blocks.done())


def taken(shows: TakenView) -> Payload:
    """That another one looks at it now, told to whom it was with."""
    blocks = Blocks(shows.row)
    first = say("taken.told", who=shows.by, title=_named(shows.title, shows.link))
    blocks.section("what", first, say("taken.was_theirs", who=shows.by))
    _ways(blocks, shows.ref, shows.title, shows.link)
    note = say("taken.note", name=names([shows.by]), title=excerpt(shows.title, 80))
    return Payload(notification([note]), blocks.done())


def _named(title: str, link: str) -> Inline:
    return Link(link, letters(title)) if link else Styled(letters(title))


def _ways(blocks: Blocks, ref: Ref, title: str, link: str) -> None:
    ways = []
    for verb, label in (("review", "button.review"), ("open", "button.open_card")):
        if verb == "open" and not link:
            continue
        of = phrase("label.of", label=phrase(label), title=letters(title))
        url = link if verb == "open" else ""
        ways.append(button(verb, phrase(label), ref, of=of, url=url))
    blocks.actions("act", ways)
