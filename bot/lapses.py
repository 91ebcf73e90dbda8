"""What people are told of a change: the values before and after, and a vote that it took away."""

from __future__ import annotations

from dataclasses import replace

from bot.blocks import Blocks, Payload, button
from bot.inline import notification
from bot.values import letters
from bot.views import Change, LapseView, Person
from bot.wording import Sentence, phrase, say


def values(change: Change) -> list[Sentence]:
    """The first value that changed, old and new, and how many others did."""
    if not change.field:
        return []
    slots = {"field": change.field, "old": change.old, "new": change.new}
    first = (
        say("private.changed.action", action=change.action, **slots)
        if change.action
        else say("private.changed.now", **slots)
    )
    return [first, say("modal.changed.more", count=change.more)] if change.more else [first]


def lapsed(view: LapseView) -> Payload:
    """The message to somebody whose vote does not count any more."""
    change, title = view.change, letters(view.title)
    who, action = change.by or Person(""), change.action
    if change.rules:
        first = say("private.lapsed.rules", title=title)
        note = say("private.lapsed.rules.note", title=title)
        rest = [say("private.lapsed.rules.vote"), say("private.lapsed.rules.look")]
    else:
        first = say("private.lapsed", who=who, action=action)
        note = say("private.lapsed.note", who=who, action=action, title=title)
        rest = [*values(replace(change, action="")), say("private.lapsed.vote")]
        rest.append(say("private.changed.look"))
    blocks = Blocks(view.row)
    label = phrase("button.open_card" if change.link else "button.review")
    of = phrase("label.of", label=label, title=title)
    verb = "open" if change.link else "review"
    way = button(verb, label, view.ref, of=of, url=change.link)
    blocks.section("what", first, *rest, accessory=way)
    return Payload(notification([note], rest[:-1]), blocks.done())
