"""The views of cards, windows and messages where several decide one after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bot import details, history, home, modals, notices, reminders, windows
from bot.blocks import Payload
from bot.views import (
    Asked,
    CardView,
    Decides,
    DetailsView,
    Happened,
    Hold,
    HomeView,
    NoticeView,
    Overdue,
    Person,
    Refusal,
    Refused,
    ReminderView,
    RuleText,
    Status,
    StepLine,
    UserGroup,
    Vote,
)
from tests.bot import action_samples
from tests.bot.card_samples import (
    ALICE,
    ASKED,
    BOB,
    DANA,
    DEADLINE,
    DICTIONARY,
    ERIN,
    HEADS,
    LINK,
    LOAN,
    OSCAR,
    QUESTION,
    at,
)
from tests.bot.window_samples import (
    BASE,
    DETAILS,
    DONE_STEPS,
    HISTORY,
    OUTCOME,
    PROGRESS,
    ROW,
    WAITING,
)

CHARLIE = Person("U0CHARLIE", "Charlie")
RISK = UserGroup("S0RISK", "risk", ping=True)
FINANCE = Decides(1, people=(ERIN,))
TWO_OF_RISK = Decides(2, (RISK,), because="nobody alone signs for a risk of 71")
BOARD = Decides(1, (HEADS,))
QUIET_RISK = replace(TWO_OF_RISK, groups=(replace(RISK, ping=False),))


def staged(stage: int, *stages: Decides) -> Decides:
    """Who decides now, of these one after another."""
    return replace(stages[stage], because="it is above 50,000", stages=stages, stage=stage)


FIRST = staged(0, FINANCE, QUIET_RISK)
SECOND = staged(1, FINANCE, TWO_OF_RISK)
BY_ERIN = Vote(ERIN, "approve", at(30, "10:04"))
BY_ALICE = Vote(ALICE, "approve", at(30, "11:10"), stage=1)
WITH_CONDITION = Vote(
    ALICE, "approve_with_conditions", at(30, "11:10"), "Insure the van first.", stage=1
)
FOR_ALICE = Vote(CHARLIE, "approve", at(30, "11:10"), seat=ALICE, stage=1)
BY_DANA = Vote(DANA, "approve", at(30, "11:12"), stage=1)
DANA_SAYS_NO = Vote(DANA, "reject", at(30, "11:12"), "46% is too much.", stage=1)

OPEN = replace(LOAN, decides=FIRST)
NEXT = replace(LOAN, decides=SECOND, votes=(BY_ERIN,))
HALF = replace(NEXT, votes=(BY_ERIN, BY_ALICE))
APPROVED = replace(
    NEXT,
    status=Status.RUNNING,
    outcome="approve",
    votes=(BY_ERIN, FOR_ALICE, BY_DANA),
    decided_at=at(30, "11:12"),
)
UNREACHABLE = replace(
    LOAN,
    status=Status.REJECTED,
    outcome="reject",
    out_of_reach=True,
    votes=(Vote(ALICE, "approve", at(30, "10:04")),),
    decided_at=at(30, "10:15"),
)
MANY = staged(6, *(Decides(1, people=(ERIN,)) for _ in range(9)))
TWO_HEADS = Decides(2, (HEADS,))
NORTH = Vote(ALICE, "answer", at(30, "16:31"), "Yes, tonight.", thing="north")
PUBLISH = Vote(ALICE, "option_1", at(30, "11:40"), label="Publish")
SIX = tuple(
    Vote(Person(f"U0HEAD{number}", f"Head {number}"), "approve", at(30, f"1{number}:04"))
    for number in range(6)
)
RULE = """\
[[reviews]]
graph = "loan"
when = "question.amount > 50000"
because = "it is above 50,000"

[[reviews.stages]]

[reviews.stages.approvers]
users = ["U0ERIN"]

[[reviews.stages]]
quorum = 2

[reviews.stages.approvers]
groups = ["S0RISK"]
"""
TOLD = RuleText(RULE, "3f9c21aa0b1c" + "0" * 52, differs=True)

CARDS: dict[str, CardView] = {
    "loan-open-stage-1-of-2": OPEN,
    "loan-open-stage-1-confirmed": replace(OPEN, confirm=True),
    "loan-open-stage-2-of-2": NEXT,
    "loan-open-stage-2-half": replace(HALF, votes=(BY_ERIN, WITH_CONDITION)),
    "loan-open-stage-2-covered": replace(HALF, votes=(BY_ERIN, FOR_ALICE)),
    "loan-open-stage-7-of-9": replace(
        LOAN, decides=MANY, votes=tuple(replace(vote, stage=at) for at, vote in enumerate(SIX))
    ),
    "loan-open-covered": replace(LOAN, votes=(replace(FOR_ALICE, stage=0),)),
    "loan-open-otherwise": replace(
        LOAN,
        votes=(
            Vote(ALICE, "approve", at(30, "10:04"), thing="a"),
            Vote(DANA, "approve", at(30, "10:15"), thing="b"),
        ),
    ),
    "loan-overdue-stage-2": replace(HALF, overdue=Overdue(ASKED, (HEADS,))),
    "loan-approved-stages-running": APPROVED,
    "loan-rejected-stage-2": replace(
        NEXT,
        status=Status.REJECTED,
        outcome="reject",
        votes=(BY_ERIN, DANA_SAYS_NO),
        ended_at=at(30, "11:13"),
    ),
    "loan-expired-stage-2": replace(
        HALF,
        status=Status.EXPIRED,
        not_heard_from=(DANA,),
        expired_as="The loan was declined automatically.",
    ),
    "loan-held-stage-2": replace(HALF, status=Status.HELD, hold=Hold((OSCAR,), at(30, "11:30"))),
    "loan-unreachable": UNREACHABLE,
    "loan-unreachable-done": replace(
        UNREACHABLE,
        votes=(*UNREACHABLE.votes, replace(DANA_SAYS_NO, stage=0)),
        ended_at=at(30, "10:16"),
    ),
    "question-open-stage-1-of-2": replace(QUESTION, decides=staged(0, FINANCE, BOARD)),
    "question-open-1-of-2": replace(QUESTION, decides=TWO_HEADS, votes=(NORTH,)),
    "question-open-answers-differ": replace(
        QUESTION,
        decides=TWO_HEADS,
        votes=(NORTH, replace(NORTH, by=DANA, note="No.", thing="south")),
    ),
    "question-overdue-1-of-2": replace(
        QUESTION, decides=TWO_HEADS, votes=(NORTH,), overdue=Overdue(at(30, "16:20"))
    ),
    "question-expired-1-of-2": replace(
        QUESTION, decides=TWO_HEADS, votes=(NORTH,), status=Status.EXPIRED
    ),
    "dictionary-open-0-of-2": replace(DICTIONARY, decides=TWO_HEADS),
    "dictionary-open-1-of-2": replace(
        DICTIONARY,
        decides=TWO_HEADS,
        votes=(Vote(ALICE, "option_1", at(30, "11:40"), label="Publish"),),
    ),
    "refund-open-answers": action_samples.of(
        action_samples.BOTH,
        {"decides": TWO_HEADS, "votes": (Vote(ALICE, "respond", at(30, "14:01"), "Ask first."),)},
        {"decides": TWO_HEADS},
    ),
    "refund-open-stages": action_samples.of(
        action_samples.BOTH,
        {"decides": SECOND, "votes": (BY_ERIN, BY_ALICE)},
        {"decides": FIRST},
    ),
    "refund-unreachable-running": replace(
        action_samples.of(
            action_samples.BOTH,
            action_samples.APPROVED,
            {"outcome": "rejected", "at": at(30, "14:03"), "out_of_reach": True},
        ),
        status=Status.RUNNING,
        out_of_reach=True,
    ),
}

REFUSALS: dict[str, Refusal] = {
    "private-not-yet": replace(BASE, kind=Refused.NOT_YET, decides=FIRST),
    "private-not-yet-group": replace(
        BASE, kind=Refused.NOT_YET, decides=staged(0, QUIET_RISK, BOARD)
    ),
    "private-their-part-is-done": replace(
        BASE, kind=Refused.THEIR_PART_IS_DONE, decides=staged(1, FINANCE, QUIET_RISK)
    ),
    "private-already-voted-stage": replace(
        BASE,
        kind=Refused.ALREADY_VOTED,
        at=at(30, "10:04"),
        missing=2,
        decides=staged(1, FINANCE, QUIET_RISK),
    ),
    "private-already-voted-covered": replace(
        BASE, kind=Refused.ALREADY_VOTED, at=at(30, "10:04"), missing=1, cast_by=CHARLIE
    ),
}

MESSAGES: dict[str, Callable[[], Payload]] = {
    "progress-waiting-stage-1": lambda: notices.progress(
        replace(PROGRESS, waiting=replace(WAITING, decides=FIRST), steps=DONE_STEPS)
    ),
    "progress-waiting-answers": lambda: notices.progress(
        replace(
            PROGRESS,
            waiting=replace(WAITING, decides=TWO_HEADS, votes=(NORTH,), asks="answer"),
            steps=DONE_STEPS,
        )
    ),
    "progress-waiting-stage-2": lambda: notices.progress(
        replace(
            PROGRESS,
            waiting=replace(WAITING, decides=SECOND, votes=(BY_ERIN, FOR_ALICE)),
            steps=DONE_STEPS,
        )
    ),
    "progress-unreachable": lambda: notices.progress(
        replace(
            PROGRESS,
            steps=(
                *DONE_STEPS,
                StepLine("", "done", votes=UNREACHABLE.votes, outcome="reject", out_of_reach=True),
            ),
            ended="rejected",
            ended_at=at(30, "10:16"),
        )
    ),
    "outcome-unreachable": lambda: notices.outcome(
        replace(OUTCOME, kind="rejected", votes=UNREACHABLE.votes, out_of_reach=True)
    ),
    "outcome-paid-covered": lambda: notices.outcome(
        replace(OUTCOME, votes=APPROVED.votes, result="60,000 went to Asha Traders.")
    ),
    "reminder-stage-2": lambda: reminders.reminder(ReminderView(NEXT, ASKED, link=LINK)),
    "operator-unreachable": lambda: notices.operator(
        NoticeView(
            "unreachable", ((412, LOAN.shown.title),), command="sayso policy apply --review 412"
        )
    ),
}

VIEWS: dict[str, Callable[[], dict[str, Any]]] = {
    "modal-conditions-stage-1": lambda: modals.approve_with_conditions(OPEN),
    "modal-conditions-stage-2": lambda: modals.approve_with_conditions(NEXT),
    "modal-conditions-stage-2-last": lambda: modals.approve_with_conditions(
        replace(HALF, votes=(BY_ERIN, replace(FOR_ALICE, note="Insure the van first.")))
    ),
    "modal-answer-two": lambda: modals.answer(replace(QUESTION, decides=TWO_HEADS, votes=(NORTH,))),
    "modal-action-edit-stage-2": lambda: windows.of_choice(CARDS["refund-open-stages"], "edit", 0),
    "modal-details-stages": lambda: details.details(
        replace(
            DETAILS,
            card=HALF,
            asked=(
                Asked(ERIN, "approved", at(30, "10:04")),
                Asked(CHARLIE, "approved", at(30, "11:10"), seat=ALICE, stage=1),
                Asked(RISK, "not_yet", stage=1),
            ),
            rules=(TOLD,),
        )
    ),
    "modal-details-rules": lambda: details.details(
        DetailsView(
            replace(QUESTION, requester=BOB, deadline=DEADLINE),
            rules=(
                replace(TOLD, text=RULE + "# long\n" * 900, differs=False),
                *(replace(TOLD, hash=f"{number}" * 64) for number in range(6)),
            ),
        )
    ),
    "modal-history-stages": lambda: history.history(
        replace(
            HISTORY,
            lines=(
                Happened(at(30, "10:04"), "vote.counted", ERIN, "approve, stage 1 of 2"),
                Happened(at(30, "10:05"), "vote.refused", DANA, "not yet"),
                Happened(at(30, "11:10"), "vote.counted", CHARLIE, "approve", seat=ALICE),
            ),
        )
    ),
    "home-stages": lambda: home.home(HomeView(waiting=(replace(ROW, stage=1, stages=2),), total=1)),
}
