"""The views of cards about actions, stops, options and questions that are asked anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bot import lapses, notices, windows
from bot.views import (
    ActionView,
    AskedAgain,
    CardView,
    Change,
    Decides,
    Failure,
    Hold,
    LapseView,
    Overdue,
    Person,
    Ref,
    Refusal,
    Refused,
    Status,
    UserGroup,
    Vote,
    Words,
)
from bot.wording import phrase
from graphs.actions import asking
from graphs.questions import Shown, shown
from tests.bot.card_samples import (
    ALICE,
    BOB,
    DICTIONARY,
    HEADS,
    HOSTILE,
    LINK,
    LOAN,
    OSCAR,
    QUESTION,
    ZONE,
    at,
)

PRIYA, RAVI = Person("U0PRIYA", "Priya"), Person("U0RAVI", "Ravi")
SUPPORT = UserGroup("S0SUPPORT", "support")
ONE, TWO = Decides(1, (SUPPORT,)), Decides(2, (SUPPORT,), because="it is above 1,000")
EVERY = ["approve", "edit", "reject", "respond"]
LETTER = (
    "Dear Meera, we are sorry the blender arrived broken. We have refunded 4,000 to your card; it "
    "shows in 3 to 5 days. You need not send anything back. Kind regards, Priya"
)
REFUND = {"order": "A-2231", "amount": 4000, "reason": "arrived broken"}
EMAIL = {"to": "meera.nair@example.com", "subject": "Your refund", "text": LETTER}


def turn(*calls: tuple[str, Any, Sequence[str]], description: str = "") -> dict[str, Any]:
    """A question about the calls of one turn."""
    return {
        "action_requests": [
            {"name": name, "args": args, "description": description} for name, args, _ in calls
        ],
        "review_configs": [
            {"action_name": name, "allowed_decisions": list(allowed)} for name, _, allowed in calls
        ],
    }


BOTH = turn(("issue_refund", REFUND, EVERY), ("send_email", EMAIL, EVERY[:3]))


def words(question: Any, graph: str = "refund_agent", now: Sequence[Any] | None = None) -> Shown:
    """The question as it is shown; `now` is what goes into its actions after an edit."""
    return shown(question, graph=graph, node="tools", arguments=now)


def of(question: Any, *changes: dict[str, Any], now: Sequence[Any] | None = None) -> CardView:
    """The open card of a question about actions; each of the changes is for one of them."""
    made = words(question, now=now)
    decided = [ActionView(action, ONE) for action in made.actions]
    actions = tuple(
        replace(one, **change)
        for one, change in zip(decided, [*changes, *({} for _ in decided)], strict=False)
    )
    return replace(OPEN, shown=made, actions=actions, votes=sum((a.votes for a in actions), ()))


OPEN = CardView(
    520,
    1,
    "b07e55aa",
    Status.OPEN,
    words(BOTH),
    PRIYA,
    at(30, "13:58"),
    zone=ZONE,
    decides=ONE,
    written="Meera's blender arrived broken, photo attached. Please refund her and let her know.",
    words=Words("request", "the refund agent"),
)
BY_RAVI = Vote(RAVI, "approve", at(30, "14:03"))
APPROVED = {"outcome": "approved", "by": RAVI, "at": at(30, "14:03"), "votes": (BY_RAVI,)}
ALSO = {"outcome": "approved", "by": RAVI, "at": at(30, "14:05"), "votes": (BY_RAVI,)}
CHANGED = {"edited_by": RAVI, "edited_at": at(30, "14:03")}
REFUSED = {
    "outcome": "rejected",
    "by": RAVI,
    "at": at(30, "14:05"),
    "votes": (Vote(RAVI, "reject", at(30, "14:05")),),
    "note": "We do not promise 3 to 5 days. Say “within 10 days”.",
}
LESS = [{**REFUND, "amount": 3500}, EMAIL]
RUNNING = replace(of(BOTH, APPROVED, ALSO), status=Status.RUNNING)
FAILURE = Failure(2, 3, at(30, "14:06"), "the payment service was busy", at(30, "14:11"))
MANY = of(
    turn(*(("issue_refund", {"order": f"A-{n}", "amount": n * 100}, EVERY) for n in range(1, 15))),
    {},
    APPROVED,
    *({} for _ in range(4)),
    APPROVED,
)
SINGLE = of(turn(("issue_refund", REFUND, EVERY)))
STOP = replace(
    QUESTION,
    shown=shown(
        {"version": "2.14", "tests": "812 passed, 0 failed", "servers_ready": "6 of 6"},
        graph="release_agent",
        node="switch_traffic",
        asked=asking(None, kind="breakpoint"),
    ),
    more_open=2,
)
OPTIONS = shown(
    {"question": "Deploy version 2.14 to production now?", "options": ["Deploy now", "Tonight"]},
    graph="release_agent",
    node="ask",
)
CITIES = shown(
    {"question": "Where does it go?", "options": [f"City {n}" for n in range(1, 31)]},
    graph="release_agent",
    node="ask",
)
FILL_IN = shown(
    {"supplier": "Asha Traders"},
    graph="release_agent",
    node="ask",
    schema={
        "title": "Delivery",
        "type": "object",
        "properties": {"day": {"type": "string", "format": "date"}, "boxes": {"type": "integer"}},
        "required": ["day"],
    },
)

REF = Ref(520, 1)
REFUSED_BASE = Refusal(
    Refused.CHANGED,
    REF,
    OPEN.shown.title,
    OPEN.words,
    ZONE,
    ONE,
    PRIYA,
    OSCAR,
    asked_at=at(30, "13:58"),
)
ONE_VALUE = Change(RAVI, at(30, "14:03"), "amount", "4,000", "3,500")
SEVERAL_VALUES = replace(ONE_VALUE, more=2, action="Issue refund")

REFUSALS: dict[str, Refusal] = {
    "private-changed-value": replace(REFUSED_BASE, change=ONE_VALUE),
    "private-changed-values": replace(REFUSED_BASE, change=SEVERAL_VALUES),
    "private-changed-elsewhere": replace(REFUSED_BASE, change=replace(SEVERAL_VALUES, own=False)),
    "private-asked-anew": replace(
        REFUSED_BASE, change=Change(None, at(30, "14:03"), new_ref=Ref(521))
    ),
    "private-changed-rules": replace(
        REFUSED_BASE, change=Change(None, at(30, "14:03"), rules=True)
    ),
    "private-editor": replace(REFUSED_BASE, kind=Refused.EDITOR),
    "private-may-not-ask-again": replace(REFUSED_BASE, kind=Refused.MAY_NOT_ASK_AGAIN),
    "private-already-changed": replace(
        REFUSED_BASE, kind=Refused.ALREADY_DECIDED, by=RAVI, at=at(30, "14:03"), outcome="edit"
    ),
}
MESSAGES = {
    "private-lapsed": lambda: lapses.lapsed(
        LapseView(REF, OPEN.shown.title, replace(ONE_VALUE, action="Issue refund"))
    ),
    "private-lapsed-rules": lambda: lapses.lapsed(
        LapseView(REF, OPEN.shown.title, Change(None, at(30, "14:03"), link=LINK, rules=True))
    ),
    "private-lapsed-link": lambda: lapses.lapsed(
        LapseView(REF, OPEN.shown.title, replace(SEVERAL_VALUES, link=LINK))
    ),
}

CARDS: dict[str, CardView] = {
    "refund-moved": replace(
        of(BOTH),
        status=Status.REPLACED,
        because=phrase("closed.moved"),
        change=Change(None, at(30, "14:03"), link=LINK, new_ref=REF, rules=True),
    ),
    "refund-open-0-of-2": of(BOTH),
    "refund-open-1-of-2": of(BOTH, APPROVED),
    "refund-open-1-edited": of(BOTH, {**APPROVED, **CHANGED, "outcome": "edited"}, now=LESS),
    "refund-open-edited-quorum": of(
        BOTH, {"decides": TWO, "votes": (BY_RAVI,), **CHANGED}, {"decides": TWO}, now=LESS
    ),
    "refund-open-two-rules": of(
        BOTH, {"decides": TWO, "votes": (BY_RAVI,)}, {"decides": Decides(1, (HEADS,))}
    ),
    "refund-open-two-rejections": of(
        BOTH,
        {
            "decides": replace(TWO, rejections=2),
            "votes": (BY_RAVI, replace(REFUSED["votes"][0], by=ALICE)),
        },
    ),
    "refund-open-14": MANY,
    "refund-open-single": SINGLE,
    "refund-open-single-1-of-2": replace(SINGLE, decides=TWO, votes=(BY_RAVI,)),
    "refund-open-answer-only": of(
        turn(("ask_customer", {"question": "Which colour?"}, ["respond"]))
    ),
    "refund-open-rewound": replace(
        of(BOTH),
        warning="4,000 was refunded before this was asked again, reference RF-7719.",
    ),
    "refund-overdue": replace(of(BOTH), overdue=Overdue(at(30, "13:58"))),
    "refund-approved-running": RUNNING,
    "refund-part-rejected-running": replace(of(BOTH, APPROVED, REFUSED), status=Status.RUNNING),
    "refund-rejected-running": replace(
        of(BOTH, {**REFUSED, "note": "No photo of the damage yet."}, REFUSED),
        status=Status.REJECTED,
        outcome="reject",
    ),
    "refund-done": replace(
        RUNNING,
        status=Status.DONE,
        ended_at=at(30, "14:06"),
        result="Refund RF-7719 is on its way. Meera has been told, and the case is closed.",
    ),
    "refund-failed-retrying": replace(
        RUNNING,
        status=Status.RETRYING,
        failure=FAILURE,
        offers=frozenset({"details", "try_again"}),
    ),
    "refund-failed-stopped": replace(
        RUNNING,
        status=Status.STOPPED,
        failure=replace(FAILURE, attempt=3, next_at=None, said="The account is closed"),
        offers=frozenset({"details", "try_again", "ask_again"}),
    ),
    "refund-held": replace(
        of(BOTH, APPROVED),
        status=Status.HELD,
        hold=Hold(
            (OSCAR,), at(30, "15:00"), changed="The step tools asks something else before this."
        ),
    ),
    "refund-replaced": replace(
        of(BOTH),
        status=Status.REPLACED,
        because="The question changed while it was waiting. A new card was opened.",
        change=Change(None, at(30, "14:02"), new_ref=Ref(521)),
    ),
    "refund-withdrawn": replace(
        of(BOTH), status=Status.WITHDRAWN, because="Rewound to step 3 by Oscar."
    ),
    "refund-open-hostile": of(
        turn((HOSTILE, {HOSTILE: HOSTILE, "deep": [[HOSTILE]]}, EVERY), description=HOSTILE)
    ),
    "breakpoint-open": STOP,
    "breakpoint-running": replace(
        STOP,
        status=Status.RUNNING,
        outcome="continue",
        votes=(Vote(ALICE, "continue", at(30, "16:31")),),
    ),
    "breakpoint-stopped": replace(
        STOP,
        status=Status.DONE,
        outcome="stop",
        votes=(Vote(ALICE, "stop", at(30, "16:31")),),
        ended_at=at(30, "16:31"),
    ),
    "question-open-with-options": replace(QUESTION, shown=OPTIONS),
    "question-open-many-options": replace(QUESTION, shown=CITIES),
    "question-open-form": replace(QUESTION, shown=FILL_IN),
    "dictionary-replaced": replace(
        DICTIONARY,
        status=Status.REPLACED,
        because="The question changed while it was waiting. A new card was opened.",
        change=Change(None, at(30, "11:20"), link=LINK, new_ref=Ref(548)),
    ),
    "dictionary-asked-again": replace(
        DICTIONARY, again=AskedAgain(BOB, "perhaps", "Choose publish, rewrite or drop.")
    ),
    "loan-failed-asking": replace(
        LOAN,
        status=Status.STOPPED,
        outcome="approve",
        votes=(Vote(ALICE, "approve", at(30, "10:04")),),
        failure=Failure(1, 1, at(30, "10:05"), said="The rate is missing", told=(OSCAR,)),
        offers=frozenset({"details", "try_again", "ask_again"}),
    ),
}

WROTE = "Refund half of it only."
VIEWS: dict[str, Callable[[], dict[str, Any]]] = {
    "modal-action-edit": lambda: windows.of_choice(of(BOTH), "edit", 0),
    "modal-action-edit-prose": lambda: windows.of_choice(of(BOTH), "edit", 1),
    "modal-action-edit-quorum": lambda: windows.of_choice(
        of(BOTH, {"decides": TWO, "votes": (BY_RAVI,)}), "edit", 0
    ),
    "modal-action-edit-other": lambda: windows.of_choice(
        of(BOTH, {"editor_may_decide": False}), "edit", 0
    ),
    "modal-action-reject": lambda: windows.of_choice(of(BOTH), "reject", 1),
    "modal-action-respond": lambda: windows.of_choice(of(BOTH), "respond", 0),
    "modal-action-answer": lambda: windows.of_choice(
        CARDS["refund-open-answer-only"], "respond", 0
    ),
    "modal-action-review": lambda: windows.review(MANY, 5),
    "modal-action-review-decided": lambda: windows.review(MANY, 1),
    "modal-action-list": lambda: windows.all_actions(MANY),
    "modal-review": lambda: windows.review(of(BOTH)),
    "modal-values": lambda: windows.of_choice(STOP, "edit"),
    "modal-fill-in": lambda: windows.of_choice(CARDS["question-open-form"], "answer"),
    "modal-action-changed": lambda: notices.refused_view(
        REFUSALS["private-changed-values"], wrote=WROTE
    ),
    "modal-asked-anew": lambda: notices.refused_view(REFUSALS["private-asked-anew"], wrote=WROTE),
}
