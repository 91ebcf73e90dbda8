"""The windows of a card: what is asked for before a decision, and what is shown on request.

Each is a whole view as Slack takes it, within every limit. `private_metadata` is the review and its
revision ("412.1") and nothing else; an input's block id never changes, so that an update of the
view keeps what was typed. Whoever submits finds the text at `values[block_id]["value"]`.
"""

from __future__ import annotations

from typing import Any

from slackblocks import RichTextObject

from bot import limits
from bot.blocks import Blocks, line, lines, quote
from bot.closures import new_card
from bot.facts import still_needed
from bot.inline import Inline, Moment, Styled, clause, names, said
from bot.judgements import CONDITIONS, answers, by_whom, conditions
from bot.values import excerpt, letters, shorten
from bot.views import CardView, Change, Person, Ref, Refusal
from bot.wording import Sentence, phrase, say

View = dict[str, Any]

# The block id of each window's one input, which is also where its text is found
INPUTS = {
    "reject": "reason",
    "approve_with_conditions": "conditions",
    "ask_for_changes": "changes",
    "answer": "answer",
}
NOTE = "note"  # of any other choice that needs words


def loading(ref: Ref) -> View:
    """What opens at once, without a submit button, while the request is fetched."""
    blocks = Blocks()
    blocks.section("wait", say("modal.loading"))
    return view("loading", phrase("modal.loading.title"), blocks, ref)


def sent(ref: Ref) -> View:
    """The record was asked for and is on its way."""
    blocks = Blocks()
    blocks.section("sent", say("modal.sent"))
    return view("sent", phrase("modal.sent.title"), blocks, ref)


def note(card: CardView, verb: str, *, typed: str = "") -> View:
    """The window of a choice that needs words, whichever it is."""
    match verb:
        case "reject":
            return reject(card, typed=typed)
        case "approve_with_conditions":
            return approve_with_conditions(card, typed=typed)
        case "ask_for_changes":
            return ask_for_changes(card, typed=typed)
        case "answer":
            return answer(card, typed=typed)
    return other(card, verb, typed=typed)


def reject(card: CardView, *, typed: str = "") -> View:
    """Reject, with a reason that the requester reads."""
    blocks = top(card)
    blocks.input(
        INPUTS["reject"],
        phrase("modal.reject.label"),
        placeholder=phrase("modal.reject.placeholder"),
        hint=phrase("modal.reject.hint", name=names([card.requester])),
        min_length=3,
        initial=typed,
    )
    name = names([card.requester])
    count = card.decides.rejections
    effect = say("modal.reject.effect", noun=card.words.noun, name=name)
    if count > 1:
        effect = say("modal.reject.effect.several", count=count, noun=card.words.noun)
    blocks.context("effect", effect)
    title, submit = phrase("modal.reject.title"), phrase("modal.reject.submit")
    return view("reject", title, blocks, card.ref, submit=submit)


def approve_with_conditions(card: CardView, *, typed: str = "") -> View:
    """Approve with conditions, which the requester, the process and the memory get."""
    blocks = top(card)
    hint = "modal.conditions.hint.customer" if card.customer else "modal.conditions.hint"
    blocks.input(
        INPUTS[CONDITIONS],
        phrase("modal.conditions.label"),
        placeholder=phrase("modal.conditions.placeholder"),
        hint=phrase(
            hint,
            name=names([card.requester]),
            process=letters(card.words.process),
            customer=letters(card.customer),
        ),
        min_length=3,
        initial=typed,
    )
    others = []
    for vote in conditions(card)[:5]:
        who = by_whom(vote.by, vote.seat)
        others += [line(say("modal.conditions.so_far", who=who)), quote(vote.note or "", 300)]
    blocks.rich("others", *others)
    blocks.context("effect", *_if_approved(card), between=" ")
    title, submit = phrase("modal.conditions.title"), phrase("modal.conditions.submit")
    return view("approve_with_conditions", title, blocks, card.ref, submit=submit)


def ask_for_changes(card: CardView, *, typed: str = "") -> View:
    """Send the request back with what should change."""
    name = names([card.requester])
    blocks = top(card)
    blocks.input(
        INPUTS["ask_for_changes"],
        phrase("modal.changes.label"),
        placeholder=phrase("modal.changes.placeholder"),
        hint=phrase("modal.changes.hint", name=name),
        min_length=3,
        initial=typed,
    )
    blocks.context("effect", say("modal.changes.effect", name=name))
    submit = phrase("modal.changes.submit", name=name)
    if len(submit) > limits.VIEW_TITLE:
        submit = phrase("modal.changes.submit.plain")
    return view("ask_for_changes", phrase("modal.changes.title"), blocks, card.ref, submit=submit)


def answer(card: CardView, *, typed: str = "") -> View:
    """Answer in own words."""
    blocks = top(card)
    blocks.input(
        INPUTS["answer"],
        phrase("modal.answer.label"),
        hint=phrase("modal.answer.hint", process=letters(card.words.process)),
        max_length=limits.INPUT,
        initial=typed,
    )
    others: list[RichTextObject | None] = []
    for vote in answers(card)[:5]:
        who = by_whom(vote.by, vote.seat)
        others += [line(say("talk.answer", who=who, at="")), quote(vote.note or "", 300)]
    blocks.rich("others", *others)
    blocks.context("effect", *_same_answer(card))
    title, submit = phrase("modal.answer.title"), phrase("modal.answer.submit")
    return view("answer", title, blocks, card.ref, submit=submit)


def _same_answer(card: CardView) -> list[Sentence]:
    count = card.decides.quorum
    return [say("modal.effect.same", count=count)] if count > 1 else []


def other(card: CardView, verb: str, *, typed: str = "") -> View:
    """The window of a choice of the graph's own that needs words."""
    choice = card.shown.choice(verb)
    label = letters(choice.label) if choice else ""
    blocks = top(card)
    blocks.input(
        NOTE,
        letters(choice.note_label if choice else "") or phrase("modal.choice.label"),
        max_length=limits.INPUT,
        initial=typed,
    )
    title = shorten(label or phrase("modal.answer.title"), limits.VIEW_TITLE)
    return view(verb, title, blocks, card.ref, submit=title)


def too_late(
    ref: Ref,
    *,
    wrote: str = "",
    deadline: Moment | None = None,
    outcome: str = "",
    requester: Person | None = None,
    number: int = 0,
) -> View:
    """Time ran out while somebody was writing; their words are given back."""
    blocks = Blocks()
    sentences = [said(outcome)] if outcome else []
    if deadline:
        sentences.insert(0, say("modal.too_late.deadline", deadline=deadline))
    blocks.section(
        "what",
        *sentences,
        say("modal.too_late.not_counted"),
        mark="black_square_for_stop",
        first=say("modal.too_late"),
    )
    _given_back(blocks, wrote)
    if requester:
        again = say("modal.ask_again", who=requester)
        request = say("footer.request", id=str(number or ref.review_id))
        blocks.context("footer", again, request, between=" ")
    return view("too_late", phrase("modal.not_counted.title"), blocks, ref)


def changed(ref: Ref, change: Change | None, *, wrote: str = "", title: str = "") -> View:
    """The request changed while somebody was writing; their words are given back."""
    blocks = Blocks()
    what: list[Sentence] = []
    if change and change.field and change.by:
        slots = {"field": change.field, "old": change.old, "new": change.new}
        what.append(Sentence(say("modal.changed.value").template, {"who": change.by, **slots}))
        what += [say("modal.changed.more", count=change.more)] if change.more else []
    elif change and change.what and change.by:
        what.append(say("modal.changed.what", who=change.by, what=clause(change.what)))
    blocks.section(
        "what",
        *what,
        say("modal.changed.not_counted"),
        mark="leftwards_arrow_with_hook",
        first=say("modal.changed"),
        accessory=new_card(change, title),
    )
    _given_back(blocks, wrote)
    return view("changed", phrase("modal.not_counted.title"), blocks, ref)


def not_counted(refusal: Refusal, sentences: list[Sentence], *, wrote: str = "") -> View:
    """Any other refusal, in the place of the open window; what was written is given back."""
    blocks = Blocks()
    blocks.section("what", *sentences, accessory=new_card(refusal.change, refusal.title))
    _given_back(blocks, wrote)
    ref = refusal.ref or Ref(0, 0)
    return view("not_counted", phrase("modal.not_counted.title"), blocks, ref)


def view(name: str, title: str, blocks: Blocks, ref: Ref, *, submit: str = "") -> View:
    """The whole window, checked against every limit."""
    made = window(name, title, blocks, ref, submit=submit)
    limits.check_view(made)
    return made


def window(name: str, title: str, blocks: Blocks, ref: Ref, *, submit: str = "") -> View:
    """The whole window, not checked yet."""
    made: View = {
        "type": "modal",
        "callback_id": name[: limits.ID],
        "title": _plain(title),
        "close": _plain(phrase("modal.cancel" if submit else "modal.close")),
        "private_metadata": str(ref),
        "blocks": blocks.done(),
    }
    if submit:
        made["submit"] = _plain(submit)
    return made


def top(card: CardView) -> Blocks:
    """The request in bold, then one line: who asked, and the reason to care."""
    blocks = Blocks()
    asked = say("modal.summary", who=card.requester)
    if card.agent:
        asked = say("modal.summary.agent", agent=card.agent, who=card.requester)
    second: list[Inline] = [asked]
    if card.shown.plain:
        second += [" ", said(card.shown.plain)]
    title = Styled(excerpt(card.shown.title, 300), "bold")
    blocks.rich("summary", lines([[title], second]))
    return blocks


def _if_approved(card: CardView) -> list[Sentence]:
    """What pressing submit does, true for the person who is about to press it now."""
    if needed := still_needed(card):
        return needed
    effect = [say("modal.effect.last", count=card.decides.quorum)]
    if card.shown.if_approved:
        what = clause(card.shown.if_approved)
        effect.append(Sentence("{what}.", {"what": what[:1].upper() + what[1:]}))
    return effect


def _given_back(blocks: Blocks, wrote: str) -> None:
    if wrote.strip():
        heading = line(Styled(phrase("modal.yours"), "bold"))
        blocks.rich("yours", heading, quote(wrote, 2_800))


def _plain(text: str) -> View:
    return {"type": "plain_text", "text": shorten(text, limits.VIEW_TITLE), "emoji": False}
