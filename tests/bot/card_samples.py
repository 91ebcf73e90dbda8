"""The views that the golden files are made of: the cast, one request, every status."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.views import (
    AskedAgain,
    CardView,
    Change,
    Decides,
    Exchange,
    Failure,
    Hold,
    Overdue,
    Person,
    Ref,
    Status,
    UserGroup,
    Vote,
    Words,
)
from graphs.questions import Choice, Group, Line, Shown

ZONE = "Asia/Kolkata"
BOB, ALICE, DANA = Person("U0BOB", "Bob"), Person("U0ALICE", "Alice"), Person("U0DANA", "Dana")
ERIN, OSCAR = Person("U0ERIN", "Erin"), Person("U0OSCAR", "Oscar")
CREDIT, HEADS = UserGroup("S0CREDIT", "credit", ping=True), UserGroup("S0HEADS", "heads", ping=True)
LINK = "https://sayso.example/archives/C0CREDIT/p1796013600000100"


def at(day: int, clock: str, month: int = 11) -> datetime:
    """A time in 2026, where the request was made."""
    hour, minute = clock.split(":")
    return datetime(2026, month, day, int(hour), int(minute), tzinfo=ZoneInfo(ZONE))


ASKED = at(30, "09:12")
DEADLINE = at(3, "18:00", month=12)

LOAN_SHOWN = Shown(
    title="Loan of 60,000 for Asha Traders",
    facts=(("Purpose", "A delivery van"),),
    groups=(
        Group(
            "Risk 71 of 100, high",
            (
                Line("Instalments would take 46% of monthly income. The limit is 40%."),
                Line("Two payments were late in the last 12 months."),
                Line("Trading for 14 months. Under 24 counts as new."),
            ),
        ),
        Group(
            "Read from 2 documents",
            (
                Line("income 31,400 a month, lowest balance 2,150", lead="bank-statement-oct.pdf"),
                Line("58,900 on the road, valid until 15 Dec", lead="van-quote.pdf"),
            ),
        ),
        Group(
            "What we know of Asha Traders",
            (
                Line(
                    "Mar 2026: loan of 40,000 approved with conditions by Dana, repaid in full. "
                    "The condition: “Repay by standing order.”"
                ),
            ),
        ),
    ),
    if_approved="60,000 is paid to Asha Traders at once",
    if_nobody="the loan is declined",
    choices=(
        Choice("approve", "Approve", "primary", reply={"decision": "approve", "note": None}),
        Choice("approve_with_conditions", "Approve with conditions", "", "note", "Conditions"),
        Choice("reject", "Reject", "danger", "note", "Reason"),
        Choice("ask_for_changes", "Ask for changes", "", "note", "What should change"),
    ),
    plain="Risk 71, high.",
    running="Paying 60,000 to Asha Traders now.",
    not_done="Nothing was paid.",
    failing="Approved, but not paid yet.",
    failed="Approved, but not paid.",
    again="Trying again cannot pay twice.",
)
LOAN_WORDS = Words("loan", "the loan process")
TWO = Decides(2, (CREDIT,), because="it is above 50,000")
BY_ALICE = Vote(ALICE, "approve", at(30, "10:04"))
WITH_CONDITION = Vote(
    ALICE, "approve_with_conditions", at(30, "10:04"), "Insure the van before it is handed over."
)
BY_DANA = Vote(DANA, "approve", at(30, "10:15"))
ALSO_CONDITION = Vote(
    DANA, "approve_with_conditions", at(30, "10:15"), "Repay by standing order, as last time."
)
REJECTED = Vote(
    ALICE,
    "reject",
    at(30, "10:04"),
    "The instalments are too high for this income. 40,000 over 36 months would fit.",
)
CHANGES = Vote(
    ALICE, "ask_for_changes", at(30, "10:04"), "Please add the statements for August and September."
)

LOAN = CardView(
    412,
    1,
    "4f9c21aa00",
    Status.OPEN,
    LOAN_SHOWN,
    BOB,
    ASKED,
    zone=ZONE,
    row=3,
    decides=TWO,
    deadline=DEADLINE,
    customer="Asha Traders",
    words=LOAN_WORDS,
    offers=frozenset({"details", "known"}),
)
APPROVED = replace(
    LOAN,
    status=Status.RUNNING,
    outcome="approve",
    votes=(BY_ALICE, BY_DANA),
    decided_at=at(30, "10:15"),
)
FAILURE = Failure(2, 4, at(30, "10:18"), "the bank did not answer", next_at=at(30, "10:23"))

QUESTION_SHOWN = Shown(
    title="Deploy version 2.14 to production now?",
    if_nobody="the agent is told that time ran out and does not deploy",
    choices=(Choice("answer", "Answer", "primary", "note", "Your answer"),),
    asks="answer",
    consequence="Your words go to the release agent exactly as you write them.",
)
QUESTION = CardView(
    533,
    1,
    "91aa0c77",
    Status.OPEN,
    QUESTION_SHOWN,
    BOB,
    at(30, "16:20"),
    zone=ZONE,
    agent="Release agent",
    decides=Decides(1, (UserGroup("S0HEADS", "heads", ping=True),)),
    deadline=at(30, "18:00"),
    words=Words("request", "the release agent"),
)
ANSWER = Vote(ALICE, "answer", at(30, "16:31"), "Yes, but switch off the new search first.")
ANSWERED = replace(QUESTION, status=Status.RUNNING, outcome="answer", votes=(ANSWER,))

DICTIONARY_SHOWN = Shown(
    title="Publish this post?",
    facts=(
        ("Title", "What small shops would do with one more week"),
        ("Channel", "Blog"),
        ("Planned for", "2026-12-02"),
        ("Word count", "1,204"),
        ("Sponsored", "No"),
        ("Recommendation", "publish"),
        ("Sponsor", ""),
    ),
    groups=(
        Group(
            "Draft, first 280 of 7,312 characters",
            (Line("Small shops are the first to feel a slow month. " * 5 + "…"),),
            "quote",
        ),
        Group("Under Details: sources (12), history (31)", (), "plain"),
    ),
    if_nobody="the answer is “drop”",
    choices=(
        Choice("option_1", "Publish", reply="publish"),
        Choice("option_2", "Rewrite", reply="rewrite"),
        Choice("option_3", "Drop", reply="drop"),
        Choice("answer", "Something else", "", "note", "Your answer"),
    ),
    plain="The content agent recommends: publish.",
    consequence="Your choice goes to the content agent.",
)
DICTIONARY = CardView(
    547,
    2,
    "d3180a55",
    Status.OPEN,
    DICTIONARY_SHOWN,
    BOB,
    at(30, "11:05"),
    zone=ZONE,
    agent="Content agent",
    decides=Decides(1, people=(ALICE, DANA)),
    deadline=at(2, "17:00", month=12),
    words=Words("request", "the content agent"),
    offers=frozenset({"details", "question", "comment", "hand_over", "history"}),
)
CHOSEN = replace(
    DICTIONARY,
    status=Status.RUNNING,
    outcome="option_2",
    votes=(Vote(ALICE, "option_2", at(30, "11:40")),),
)

HOSTILE = "Hi <!channel> <@U0ALICE> *bold* :tada: <https://evil.example|our site> \u202etxet\u202c"
HOSTILE_SHOWN = Shown(
    title=HOSTILE,
    facts=(("Note", HOSTILE), ("Link", "https://evil.example/login"), ("Empty", "")),
    groups=(Group(HOSTILE, (Line(HOSTILE, HOSTILE),) * 7),) * 5,
    if_approved=HOSTILE,
    if_nobody=HOSTILE,
    choices=(Choice("approve", HOSTILE, "primary"), Choice("reject", HOSTILE, "danger", "note")),
    plain=HOSTILE,
    running=HOSTILE,
    not_done=HOSTILE,
    failing=HOSTILE,
    failed=HOSTILE,
    again=HOSTILE,
)

CARDS: dict[str, CardView] = {
    "loan-open-0-of-2": LOAN,
    "loan-open-one-decision": replace(LOAN, decides=Decides(1, (CREDIT,)), confirm=True),
    "loan-open-1-of-2": replace(LOAN, votes=(WITH_CONDITION,)),
    "loan-open-with-answer": replace(
        LOAN,
        talk=(
            Exchange(
                DANA,
                at(30, "09:40"),
                "Is the van already ordered?",
                BOB,
                at(30, "09:52"),
                "No. The dealer holds it until 15 Dec.",
            ),
        ),
    ),
    "loan-open-no-deadline": replace(LOAN, deadline=None, decides=Decides(1, people=(ALICE,))),
    "loan-open-nobody-may": replace(LOAN, decides=Decides(1)),
    "loan-overdue": replace(LOAN, votes=(BY_ALICE,), overdue=Overdue(ASKED, (HEADS,))),
    "loan-approved-running": APPROVED,
    "loan-approved-with-conditions-running": replace(
        APPROVED, votes=(WITH_CONDITION, ALSO_CONDITION)
    ),
    "loan-rejected-running": replace(
        LOAN, status=Status.REJECTED, outcome="reject", votes=(REJECTED,)
    ),
    "loan-rejected-done": replace(
        LOAN, status=Status.REJECTED, outcome="reject", votes=(REJECTED,), ended_at=at(30, "10:05")
    ),
    "loan-done": replace(
        APPROVED,
        status=Status.DONE,
        votes=(WITH_CONDITION, BY_DANA),
        ended_at=at(30, "10:16"),
        result="60,000 paid to Asha Traders, reference TX-20931.",
        remembered=True,
    ),
    "loan-failed-retrying": replace(
        APPROVED,
        status=Status.RETRYING,
        failure=FAILURE,
        offers=frozenset({"details", "try_again"}),
    ),
    "loan-failed-stopped": replace(
        APPROVED,
        status=Status.STOPPED,
        failure=Failure(
            4,
            4,
            at(30, "10:23"),
            said="Account number is not known (422)",
            who_said="The bank said",
            told=(BOB, OSCAR),
        ),
        offers=frozenset({"details", "try_again", "close_unpaid"}),
    ),
    "loan-expired": replace(
        LOAN,
        status=Status.EXPIRED,
        votes=(BY_ALICE,),
        not_heard_from=(DANA, ERIN),
        expired_as="The loan was declined automatically.",
    ),
    "loan-replaced": replace(
        LOAN,
        status=Status.REPLACED,
        votes=(BY_ALICE,),
        change=Change(BOB, at(30, "10:09"), "amount", "60,000", "45,000", "", LINK, Ref(413)),
    ),
    "loan-withdrawn": replace(
        LOAN,
        status=Status.WITHDRAWN,
        withdrawn_by=BOB,
        ended_at=at(30, "10:09"),
        reason="The customer found a cheaper van.",
    ),
    "loan-sent-back": replace(
        LOAN, status=Status.SENT_BACK, outcome="ask_for_changes", votes=(CHANGES,)
    ),
    "loan-held": replace(
        LOAN, status=Status.HELD, votes=(BY_ALICE,), hold=Hold((OSCAR,), at(30, "11:30"))
    ),
    "loan-hostile": replace(LOAN, shown=HOSTILE_SHOWN, customer=HOSTILE, confirm=True),
    "question-open": QUESTION,
    "question-open-bare-value": replace(
        QUESTION,
        shown=replace(
            QUESTION_SHOWN,
            title="Release agent needs an answer",
            facts=(("It says only", "42"),),
            plain="It says only: 42.",
        ),
    ),
    "question-asked-again": replace(
        QUESTION, again=AskedAgain(ALICE, "maybe", "Answer yes or no first, then the reason.")
    ),
    "question-overdue": replace(QUESTION, overdue=Overdue(at(30, "16:20"))),
    "question-answered-running": ANSWERED,
    "question-done": replace(
        ANSWERED,
        status=Status.DONE,
        ended_at=at(30, "16:33"),
        result="Version 2.14 is deployed, the new search is off.",
    ),
    "question-failed-retrying": replace(
        ANSWERED,
        status=Status.RETRYING,
        failure=replace(FAILURE, why="the build server did not answer"),
        offers=frozenset({"details", "try_again"}),
    ),
    "question-expired": replace(
        QUESTION,
        status=Status.EXPIRED,
        not_heard_from=(HEADS,),
        expired_as="The agent did not deploy.",
    ),
    "question-replaced": replace(
        QUESTION, status=Status.REPLACED, change=Change(BOB, at(30, "16:25"), what="wrote more")
    ),
    "question-held": replace(QUESTION, status=Status.HELD, hold=Hold((OSCAR,), at(30, "17:00"))),
    "dictionary-open": DICTIONARY,
    "dictionary-overdue": replace(DICTIONARY, overdue=Overdue(at(30, "11:05")), more_open=2),
    "dictionary-answered-running": CHOSEN,
    "dictionary-done": replace(CHOSEN, status=Status.DONE, result="Published on the blog."),
    "dictionary-failed-stopped": replace(
        CHOSEN, status=Status.STOPPED, failure=Failure(1, 1, at(30, "11:45"))
    ),
    "dictionary-expired": replace(
        DICTIONARY, status=Status.EXPIRED, expired_as="The answer is “drop”."
    ),
}
