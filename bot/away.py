"""What people see of absences: the answers of /sayso, its window, and the word to who covers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from bot import limits, modals
from bot.blocks import Blocks, Payload, bullets, button, line, lines
from bot.inline import Inline, Moment, Styled, names, notification
from bot.values import excerpt, letters, shorten
from bot.views import AwayView, CoverView, Person, Ref, Waits
from bot.wording import Sentence, phrase, say

WINDOW: Final = "sayso_away"
BACK: Final = "sayso_back"
CHANGE: Final = "sayso_change"
DAY, COVER = "day", "cover"  # the blocks of the window's inputs
NAME: Final = 60


def is_set(view: AwayView) -> Payload:
    """The private answer once it is set, and whenever somebody asks."""
    blocks = Blocks()
    told = _is_set(blocks, view)
    return Payload(notification([_note(view)], [told]), blocks.done())


def set_window(view: AwayView) -> dict[str, Any]:
    """The same in the place of the window."""
    blocks = Blocks()
    _is_set(blocks, view)
    return modals.view("sayso_set", phrase("modal.away.title"), blocks, Ref(view.absence))


def is_back(cover: Person) -> Payload:
    """The private answer once somebody is back."""
    return _told(say("away.back", who=cover))


def not_away() -> Payload:
    """There was nothing to end."""
    return _told(say("away.not"))


def refused(why: str) -> Payload:
    """Nothing was set, and why; a whole sentence that may quote what was written."""
    blocks = Blocks()
    sentence = say("away.refused", why=excerpt(why, 250))
    blocks.rich("what", line(sentence))
    return Payload(notification([sentence]), blocks.done())


def told_window(payload: Payload) -> dict[str, Any]:
    """An answer in the place of the window."""
    made = modals.window("sayso_told", phrase("modal.away.title"), Blocks(), Ref(0, 0))
    made["blocks"] = payload.blocks
    limits.check_view(made)
    return made


def help_() -> Payload:
    """What there is."""
    blocks = Blocks()
    blocks.section("what", say("sayso.help"))
    rows: list[list[Inline]] = [
        [Styled(phrase(f"sayso.help.{one}"), "bold"), "  ", phrase(f"sayso.help.{one}.what")]
        for one in ("away", "alone", "back")
    ]
    blocks.rich("commands", bullets(rows))
    return Payload(notification([say("sayso.help.note")]), blocks.done())


def window(
    *,
    today: date,
    day: date | None = None,
    cover: str = "",
    standing: AwayView | None = None,
    name: str = "",
) -> dict[str, Any]:
    """The window to choose until when and who.

    Args:
        day, cover: what is chosen in it already.
        standing: what is set now.
        name: what was written in the place of a person.
    """
    top = Blocks()
    if standing is not None:
        until = Moment(standing.until, standing.zone, "until")
        top.section("now", say("modal.away.now", until=until, who=standing.cover))
        label = phrase("away.button.back")
        top.actions("back", [button(BACK, label, Ref(standing.absence), of=label)])
    if name and not cover:
        top.rich("name", line(say("modal.away.nobody_by_name", name=excerpt(name, NAME))))
    below = Blocks()
    below.context("effect", say("modal.away.effect", process="Sayso"))
    made = modals.window(
        WINDOW, phrase("modal.away.title"), Blocks(), Ref(0, 0), submit=phrase("modal.away.submit")
    )
    made["blocks"] = [
        *top.done(),
        _input(
            DAY,
            "modal.away.day",
            {
                "type": "datepicker",
                "placeholder": _plain(phrase("form.choose_day")),
                **({"initial_date": max(day, today).isoformat()} if day else {}),
            },
        ),
        _input(
            COVER,
            "modal.away.cover",
            {
                "type": "users_select",
                "placeholder": _plain(phrase("modal.away.cover.placeholder")),
                **({"initial_user": cover} if cover else {}),
            },
        ),
        *below.done(),
    ]
    limits.check_view(made)
    return made


def chosen(view: Mapping[str, Any]) -> tuple[str, str]:
    """The day and the person that stand in a submitted window; "" for what does not."""
    values = (view.get("state") or {}).get("values") or {}
    found = [
        str(((values.get(block) or {}).get("value") or {}).get(key) or "")
        for block, key in ((DAY, "selected_date"), (COVER, "selected_user"))
    ]
    return found[0], found[1]


def covers(view: CoverView) -> Payload:
    """The message to whoever covers."""
    blocks = Blocks(view.row)
    name = names([view.of])
    if view.over:
        blocks.section("what", say("cover.over", who=view.of))
        return Payload(notification([say("cover.over.note", name=name)]), blocks.done())
    until = Moment(view.until, view.zone, "until")
    blocks.section(
        "what",
        say("cover.told.how"),
        say("cover.told.waits", count=view.total),
        first=say("cover.told", who=view.of, until=until),
    )
    for place, one in enumerate(view.waiting, 1):
        label, title = phrase("button.review"), letters(one.title)
        of = phrase("label.of", label=label, title=title)
        blocks.section(
            f"waits_{place}",
            first=say("notice.request", id=str(one.number), title=excerpt(title, 150)),
            accessory=button("review", label, one.ref, of=of),
        )
    if left := view.total - len(view.waiting):
        blocks.context("more", say("notice.more", count=left))
    note = say("cover.note", name=name, until=until)
    return Payload(notification([note]), blocks.done())


def _is_set(blocks: Blocks, view: AwayView) -> Sentence:
    until = Moment(view.until, view.zone, "until")
    concerns = say("away.concerns", count=view.total)
    blocks.section(
        "what",
        say("away.still"),
        concerns,
        first=say("away.set", until=until, who=view.cover),
    )
    blocks.rich("which", bullets([[_request(one)] for one in view.waiting]))
    if left := view.total - len(view.waiting):
        blocks.rich("more", lines([[say("notice.more", count=left)]]))
    back, change = phrase("away.button.back"), phrase("away.button.change")
    ref = Ref(view.absence)
    blocks.actions(
        "act", [button(BACK, back, ref, of=back), button(CHANGE, change, ref, of=change)]
    )
    return concerns


def _request(one: Waits) -> Sentence:
    return say("notice.request", id=str(one.number), title=excerpt(one.title, 150))


def _note(view: AwayView) -> Sentence:
    until = Moment(view.until, view.zone, "until")
    return say("away.note", until=until, name=names([view.cover]))


def _told(first: Sentence) -> Payload:
    blocks = Blocks()
    blocks.section("what", first)
    return Payload(notification([first]), blocks.done())


def _input(block: str, key: str, element: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "input",
        "block_id": block,
        "label": _plain(phrase(key)),
        "hint": _plain(phrase(f"{key}.hint")),
        "element": {**element, "action_id": "value"},
    }


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": shorten(text, 150), "emoji": False}
