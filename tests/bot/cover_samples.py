"""Absences and hand-overs, as the golden files show them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

from bot import away, covering, handing, notices, reminders
from bot.blocks import Payload
from bot.views import (
    AwayView,
    CardView,
    CoverView,
    HandedView,
    Person,
    Ref,
    Refusal,
    Refused,
    ReminderView,
    StandIn,
    Waits,
)
from graphs.covers import Absence, Handover
from tests.bot.card_samples import ALICE, BOB, DANA, ERIN, HOSTILE, LINK, LOAN, LOAN_WORDS, ZONE, at

CHARLIE = Person("U0CHARLIE", "Charlie")
EVIL = Person("", "\u202e<!channel> *bold* <@U0ALICE> :fire: `x`\u200b" + "word " * 90)
UNTIL = at(4, "23:59", month=12)
REF = Ref(412, 1)
TITLE = LOAN.shown.title
FOR_ALICE = StandIn(CHARLIE, ALICE, UNTIL)
WAITS = (Waits(REF, TITLE, 412), Waits(Ref(415, 1), HOSTILE, 415))
AWAY = AwayView(CHARLIE, UNTIL, 7, WAITS, 2, ZONE)
COVER = CoverView(ALICE, UNTIL, WAITS, 7, zone=ZONE)
HANDED = HandedView(REF, ALICE, TITLE, "You know *the* owner.", LINK)
ABSENCE = Absence(
    7, "T0SAYSO", "U0ALICE", "Alice", "U0CHARLIE", "Charlie", at(30, "09:00"), UNTIL, "U0ALICE",
    at(30, "09:00"), None, None,
)  # fmt: skip
GIVEN = Handover(
    3, 412, "U0ALICE", "Alice", "U0ERIN", "Erin", None, "U0ALICE", at(30, "10:00"), None, None
)
NAMES = {"U0ALICE": "Alice", "U0CHARLIE": "Charlie"}
WORDS: dict[str, Any] = {"ref": REF, "words": LOAN_WORDS, "zone": ZONE}

CARDS: dict[str, CardView] = {
    "loan-open-stand-ins": replace(LOAN, stand_ins=(StandIn(DANA, ERIN), FOR_ALICE)),
    "loan-open-many-stand-ins": replace(LOAN, stand_ins=(FOR_ALICE,) * 9),
    "loan-open-stand-ins-hostile": replace(LOAN, stand_ins=(StandIn(EVIL, EVIL, UNTIL),)),
}

REFUSALS: dict[str, Refusal] = {
    "private-handed-over": Refusal(Refused.HANDED_OVER, by=ERIN, at=at(30, "10:00"), **WORDS),
    "private-may-not-hand-over": Refusal(Refused.MAY_NOT_HAND_OVER, keeper=BOB, **WORDS),
    "private-not-handed-over": Refusal(Refused.NOT_HANDED_OVER, **WORDS),
    "private-decided-for-you": Refusal(
        Refused.ALREADY_VOTED, cast_by=CHARLIE, for_you=True, at=at(30, "10:04"), **WORDS
    ),
}

MESSAGES: dict[str, Callable[[], Payload]] = {
    "away-set": lambda: away.is_set(AWAY),
    "away-set-nothing-waits": lambda: away.is_set(replace(AWAY, waiting=(), total=0)),
    "away-back": lambda: away.is_back(CHARLIE),
    "away-not": away.not_away,
    "away-refused": lambda: away.refused("“<!channel> \u202e” is no day that can be read here."),
    "away-help": away.help_,
    "cover-told": lambda: away.covers(COVER),
    "cover-told-hostile": lambda: away.covers(replace(COVER, of=EVIL)),
    "cover-over": lambda: away.covers(replace(COVER, over=True)),
    "handed-told": lambda: handing.handed(HANDED),
    "handed-told-hostile": lambda: handing.handed(
        replace(HANDED, by=EVIL, title=HOSTILE, note=HOSTILE, link="")
    ),
    "handed-taken-back": lambda: handing.handed(replace(HANDED, taken_back=True)),
    "reminder-covered": lambda: reminders.reminder(
        ReminderView(LOAN, LOAN.asked_at, link=LINK, covers=(ALICE,))
    ),
    "operator-absence": lambda: notices.operator(covering.notice(ABSENCE, NAMES, row=1)),
    "operator-absence-over": lambda: notices.operator(
        covering.notice(replace(ABSENCE, ended_at=UNTIL, ended_by="sayso"), NAMES, row=2)
    ),
}

VIEWS: dict[str, Callable[[], dict[str, Any]]] = {
    "modal-away": lambda: away.window(today=date(2026, 12, 1)),
    "modal-away-by-name": lambda: away.window(
        today=date(2026, 12, 1), day=date(2026, 12, 4), name="Zoe <!channel>"
    ),
    "modal-away-change": lambda: away.window(
        today=date(2026, 12, 1), day=date(2026, 12, 4), cover="U0CHARLIE", standing=AWAY
    ),
    "modal-away-set": lambda: away.set_window(AWAY),
    "modal-hand-over": lambda: handing.window(LOAN),
    "modal-hand-over-given": lambda: handing.given(LOAN, GIVEN, ERIN),
}
