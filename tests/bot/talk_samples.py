"""Questions, answers, comments and takings, as the golden files show them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bot import details, remarks
from bot.blocks import Payload
from bot.views import (
    AnswerView,
    CardView,
    Comment,
    DetailsView,
    Exchange,
    Person,
    QuestionView,
    Ref,
    Refusal,
    Refused,
    Status,
    Taken,
    TakenView,
)
from tests.bot.card_samples import ALICE, BOB, DANA, HOSTILE, LINK, LOAN, LOAN_WORDS, ZONE, at

REF = Ref(412, 1)
TITLE = LOAN.shown.title
ASKED = Exchange(DANA, at(30, "09:40"), "Is the van already ordered?", id=17)
ANSWERED = replace(
    ASKED,
    answered_by=BOB,
    answered_at=at(30, "09:52"),
    answer="No. The dealer holds it until 15 Dec.",
    files=("van-quote.pdf", "dealer.pdf"),
)
COMMENT = Comment(ALICE, at(30, "09:45"), "I know the dealer.\nHe keeps his word.")
OPEN = Exchange(ALICE, at(30, "09:55"), "Who drives it?", id=18)
EVIL = "\u202e<!channel> *bold* <@U0ALICE> :fire: `x`\u200b" + "word " * 900
MENU = frozenset(
    {"details", "known", "question", "comment", "take", "give_back", "hand_over", "history"}
)
WORDS = {"ref": REF, "words": LOAN_WORDS, "zone": ZONE}

CARDS: dict[str, CardView] = {
    "loan-open-talk": replace(
        LOAN,
        talk=(ANSWERED, COMMENT, OPEN),
        taken=Taken(DANA, at(30, "10:00")),
        offers=MENU - {"hand_over"},
    ),
    "loan-open-menu": replace(LOAN, offers=MENU - {"hand_over", "give_back"}),
    "loan-open-much-talk": replace(
        LOAN,
        talk=(*(replace(COMMENT, at=at(30, f"1{n}:00")) for n in range(5)), *[ANSWERED] * 4),
        taken=Taken(DANA, at(30, "10:00")),
        offers=MENU,
    ),
    "loan-open-talk-hostile": replace(
        LOAN,
        talk=(
            Exchange(Person("", EVIL), at(30, "09:40"), EVIL, BOB, at(30, "09:52"), EVIL, (EVIL,)),
            *[Comment(ALICE, at(30, "09:45"), EVIL)] * 4,
        ),
        taken=Taken(Person("", EVIL), at(30, "10:00")),
        offers=MENU,
    ),
    "loan-withdrawn-talk": replace(
        LOAN, status=Status.WITHDRAWN, talk=(ANSWERED, OPEN), withdrawn_by=BOB,
        ended_at=at(30, "10:10"),
    ),
}  # fmt: skip

MESSAGES: dict[str, Callable[[], Payload]] = {
    "question-asked": lambda: remarks.asked(QuestionView(REF, ASKED, BOB, TITLE, ZONE, number=412)),
    "question-asked-later": lambda: remarks.asked(
        QuestionView(REF, OPEN, BOB, TITLE, ZONE, number=412, first=False)
    ),
    "question-asked-directly": lambda: remarks.asked(
        QuestionView(REF, ASKED, BOB, TITLE, ZONE, number=412, here=False)
    ),
    "question-answered": lambda: remarks.asked(QuestionView(REF, ANSWERED, BOB, TITLE, ZONE)),
    "question-not-needed": lambda: remarks.asked(
        QuestionView(REF, ASKED, BOB, TITLE, ZONE, open=False)
    ),
    "question-asked-hostile": lambda: remarks.asked(
        QuestionView(REF, replace(ASKED, question=EVIL), Person("", EVIL), HOSTILE, ZONE)
    ),
    "answer-told": lambda: remarks.answered(AnswerView(REF, ANSWERED, TITLE, LINK)),
    "answer-told-hostile": lambda: remarks.answered(
        AnswerView(REF, replace(ANSWERED, question=EVIL, answer=EVIL, files=(EVIL,) * 20), HOSTILE)
    ),
    "taken-over": lambda: remarks.taken(TakenView(REF, ALICE, TITLE, LINK)),
}

VIEWS: dict[str, Callable[[], dict[str, Any]]] = {
    "modal-question": lambda: remarks.question(LOAN),
    "modal-question-long-name": lambda: remarks.question(
        replace(LOAN, requester=Person("U0BOB", "Bartholomew the Third")), typed="Is it"
    ),
    "modal-comment": lambda: remarks.comment(LOAN),
    "modal-answer-question": lambda: remarks.answer(LOAN, ASKED),
    "modal-details-talk": lambda: details.details(
        DetailsView(replace(CARDS["loan-open-talk"], talk=(*[COMMENT] * 22, ANSWERED)))
    ),
}

REFUSALS: dict[str, Refusal] = {
    f"private-{kind.value.replace('_', '-')}": Refusal(kind, **WORDS)  # type: ignore[arg-type]
    for kind in (
        Refused.MAY_NOT_ASK,
        Refused.MAY_NOT_COMMENT,
        Refused.MAY_NOT_TAKE,
        Refused.NOT_THEIRS,
        Refused.MAY_NOT_ANSWER,
        Refused.ANSWERED,
        Refused.NOT_NEEDED,
    )
}
