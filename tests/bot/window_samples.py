"""Windows, private messages, conversation and home, as the golden files show them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bot import details, digests, history, home, known, modals, notices
from bot.blocks import Payload
from bot.inline import Moment
from bot.views import (
    Asked,
    AskView,
    Change,
    Decided,
    DetailsView,
    DigestView,
    DocumentLine,
    Happened,
    HistoryView,
    HomeRow,
    HomeView,
    KeptView,
    KnownFact,
    KnownView,
    NoticeView,
    OutcomeView,
    Person,
    ProgressView,
    Ref,
    Refusal,
    Refused,
    StepLine,
    Waiting,
)
from tests.bot.card_samples import (
    ALICE,
    ALSO_CONDITION,
    ASKED,
    BOB,
    BY_ALICE,
    BY_DANA,
    CHANGES,
    DANA,
    DEADLINE,
    FAILURE,
    HOSTILE,
    LINK,
    LOAN,
    LOAN_SHOWN,
    LOAN_WORDS,
    OSCAR,
    QUESTION,
    REJECTED,
    TWO,
    WITH_CONDITION,
    ZONE,
    at,
)

REF = Ref(412, 1)
TITLE = LOAN_SHOWN.title
CHANGE = Change(BOB, at(30, "10:09"), "amount", "60,000", "45,000", "", LINK, Ref(413))
WROTE = "Repay by standing order, as last time."
DONE_STEPS = (
    StepLine("Read 2 documents", "done", at(30, "09:12"), 4, raw="read_documents"),
    StepLine(
        "Worked out the risk: 71 of 100, high",
        "done",
        at(30, "09:12"),
        2,
        "Went to a person, because the amount is above 50,000",
        "Risk: 71, reasons: 2 entries",
        "assess_risk",
    ),
)
DETAILS = DetailsView(
    card=replace(LOAN, votes=(WITH_CONDITION,)),
    written="Loan for Asha Traders, 60000 for a delivery van",
    steps=(
        *DONE_STEPS,
        StepLine("Waiting for a decision", "now", at(30, "09:13")),
        StepLine("Pay out", "next"),
    ),
    documents=(
        DocumentLine("bank-statement-oct.pdf", 6, 48_213, "Average income 31,400 a month."),
        DocumentLine("van-quote.pdf", 1, 9_100, "58,900 on the road.", link=LINK),
        DocumentLine("photo.pdf", problem="It has a password."),
    ),
    question={
        "amount": 60000,
        "purpose": "a delivery van",
        "risk": {"score": 71, "reasons": ["Instalments", "Late payments"]},
    },
    values={"risk": {"score": 71, "new": True}, "note": None, "memo": ""},
    asked=(
        Asked(ALICE, "approved_with_conditions", at(30, "10:04")),
        Asked(DANA, "not_yet"),
        Asked(BOB, "may_not"),
    ),
    graph="loan",
    node="human_review",
    thread="0198c7f2",
)
CHARLIE = Person("U0CHARLIE", "Charlie")
PATH = ("Read 2 documents", "Worked out the risk", "● Waiting for a decision")
EARLIER = (
    Decided(
        "Refund of 40 to Asha Traders",
        "edited",
        facts=(("Amount", "30"), ("Reason", "Late")),
        before=(("Amount", "40"), ("Reason", "")),
        edited_by=DANA,
        edited_at=at(30, "09:40"),
        said=(
            Asked(DANA, "approved", at(30, "09:40")),
            Asked(ALICE, "answered", at(30, "09:41"), "Yes, as agreed\non the phone."),
        ),
    ),
    Decided("Which branch?"),
)
HISTORY = HistoryView(
    REF,
    412,
    (
        Happened(ASKED, "thread.started", BOB),
        Happened(at(30, "09:13"), "review.opened", says="human review"),
        Happened(at(30, "09:31"), "vote.refused", CHARLIE, "not allowed"),
        Happened(at(30, "10:04"), "vote.counted", ALICE, "approve with conditions"),
        Happened(at(30, "10:05"), "look.taken", DANA, "details"),
        Happened(at(30, "10:06"), "thread.something_new", OSCAR, "a reason"),
        Happened(at(30, "10:07"), "thread.something_new"),
    ),
    zone=ZONE,
)
KNOWN = KnownView(
    REF,
    "Asha Traders",
    decisions=(
        KnownFact(
            "Oct 2026: loan of 90,000 for stock, rejected by Alice.",
            at=ASKED,
            note="Two instalments are late.",
            note_is="reason",
        ),
        KnownFact(
            "Mar 2026: loan of 40,000, approved with conditions by Dana, reference TX-20932.",
            note="Repay by standing order.",
        ),
    ),
    facts=(KnownFact("Trades in kitchen goods, 3 shops.", "From the bank statement", ASKED),),
    disagree=(KnownFact("Average income 31,400 a month."), KnownFact("Average income 38,000.")),
    zone=ZONE,
)

VIEWS: dict[str, Callable[[], dict[str, Any]]] = {
    "modal-loading": lambda: modals.loading(REF),
    "modal-reject": lambda: modals.reject(LOAN),
    "modal-approve-with-conditions": lambda: modals.approve_with_conditions(
        replace(LOAN, votes=(WITH_CONDITION,))
    ),
    "modal-approve-with-conditions-first": lambda: modals.approve_with_conditions(
        replace(LOAN, customer=""), typed="half a sentence"
    ),
    "modal-ask-for-changes": lambda: modals.ask_for_changes(LOAN),
    "modal-answer": lambda: modals.answer(QUESTION),
    "modal-other": lambda: modals.note(LOAN, "postpone"),
    "modal-details": lambda: details.details(DETAILS),
    "modal-details-picture": lambda: details.details(
        replace(DETAILS, path=PATH, picture="F0PATH", enclosed=True)
    ),
    "modal-details-earlier": lambda: details.details(
        DetailsView(QUESTION, path=PATH, earlier=EARLIER, question={"text": "long " * 200})
    ),
    "modal-history": lambda: history.history(HISTORY),
    "modal-history-page": lambda: history.history(replace(HISTORY, page=1, pages=3)),
    "modal-history-nothing": lambda: history.history(replace(HISTORY, lines=())),
    "modal-sent": lambda: modals.sent(REF),
    "modal-details-little": lambda: details.details(DetailsView(QUESTION)),
    "modal-known": lambda: known.known(KNOWN),
    "modal-known-nothing": lambda: known.known(KnownView(REF, "Asha Traders")),
    "modal-too-late": lambda: notices.refused_view(REFUSALS["private-expired"], wrote=WROTE),
    "modal-changed": lambda: notices.refused_view(REFUSALS["private-changed"], wrote=WROTE),
    "modal-not-counted": lambda: notices.refused_view(
        REFUSALS["private-already-decided"], wrote=WROTE
    ),
    "modal-too-late-bare": lambda: modals.too_late(
        REF, deadline=Moment(DEADLINE, ZONE, "on"), requester=BOB
    ),
    "home-empty": lambda: home.home(
        HomeView(start_channel="loans", example="Loan for Asha Traders, 60000 for a delivery van")
    ),
    "home-waiting": lambda: home.home(HOME),
    "home-linked": lambda: home.home(
        HomeView(waiting=(ROW, replace(ROW, link="")), start_channel="C0LOANS", zone=ZONE)
    ),
}

BASE = Refusal(
    Refused.NOT_ALLOWED, REF, TITLE, LOAN_WORDS, ZONE, TWO, BOB, keeper=OSCAR, asked_at=ASKED
)
REFUSALS: dict[str, Refusal] = {
    "private-already-decided": replace(
        BASE, kind=Refused.ALREADY_DECIDED, by=ALICE, at=at(30, "10:04"), outcome="reject"
    ),
    "private-already-voted": replace(
        BASE, kind=Refused.ALREADY_VOTED, at=at(30, "10:04"), missing=1
    ),
    "private-expired": replace(
        BASE,
        kind=Refused.EXPIRED,
        deadline=DEADLINE,
        expired_as="The loan was declined automatically.",
    ),
    "private-withdrawn": replace(BASE, kind=Refused.WITHDRAWN, by=BOB),
    "private-changed": replace(BASE, kind=Refused.CHANGED, change=CHANGE),
    "private-changed-plain": replace(BASE, kind=Refused.CHANGED),
    "private-held": replace(BASE, kind=Refused.HELD),
    "private-not-allowed": BASE,
    "private-requester": replace(
        BASE, kind=Refused.REQUESTER, offers=frozenset({"add_information", "withdraw"})
    ),
    "private-nobody-may": replace(BASE, kind=Refused.NOBODY_MAY),
    "private-guest": replace(BASE, kind=Refused.GUEST),
    "private-other-organisation": replace(BASE, kind=Refused.OTHER_ORGANISATION),
    "private-not-a-member": replace(BASE, kind=Refused.NOT_A_MEMBER),
    "private-cannot-check": replace(BASE, kind=Refused.CANNOT_CHECK),
    "private-busy": replace(BASE, kind=Refused.BUSY),
    "private-bad-answer": replace(
        BASE, kind=Refused.BAD_ANSWER, problem="Write a number from 1,000 to 100,000."
    ),
    "private-unknown": Refusal(Refused.UNKNOWN),
    "private-cannot-open": replace(BASE, kind=Refused.CANNOT_OPEN),
    "private-may-not-look": replace(BASE, kind=Refused.MAY_NOT_LOOK),
    "private-may-not-start": replace(BASE, kind=Refused.MAY_NOT_START),
    "private-may-not-withdraw": replace(BASE, kind=Refused.MAY_NOT_WITHDRAW),
    "private-may-not-retry": replace(BASE, kind=Refused.MAY_NOT_RETRY),
    "private-unknown-command": Refusal(
        Refused.UNKNOWN_COMMAND, help="/loan Asha Traders, 60000 for a delivery van"
    ),
    "private-unknown-button": Refusal(Refused.UNKNOWN_BUTTON),
}

PROGRESS = ProgressView(
    TITLE,
    DONE_STEPS,
    REF,
    ZONE,
    row=5,
    asked_at=ASKED,
    deadline=DEADLINE,
    if_nobody="the loan is declined",
    offers=frozenset({"withdraw"}),
)
WAITING = Waiting(at(30, "09:13"), TWO)
APPROVED_STEP = StepLine("Decision", "done", votes=(BY_ALICE, BY_DANA), outcome="approve")
OUTCOME = OutcomeView("done", BOB, TITLE, REF, ZONE, words=LOAN_WORDS, shown=LOAN_SHOWN)
ROW = HomeRow(
    REF,
    TITLE,
    LINK,
    ASKED,
    quorum=2,
    approvals=1,
    fact="risk 71, high",
    requester=BOB,
    at=at(30, "12:01"),
)
HOME = HomeView(
    waiting=(replace(ROW, overdue=True), replace(ROW, ref=Ref(413), approvals=0, link="")),
    total=27,
    mine=(replace(ROW, ref=Ref(420), where="Waiting for two people from credit."),),
    done=(replace(ROW, ref=Ref(400), where="Approved by Alice, paid"),),
    zone=ZONE,
    offers=frozenset({"review"}),
)

MESSAGES: dict[str, Callable[[], Payload]] = {
    "digest": lambda: digests.digest(
        DigestView(
            (*HOME.waiting, replace(ROW, ref=Ref(414), quorum=1, approvals=0, link="", fact="")),
            total=15,
            late=1,
            zone=ZONE,
        )
    ),
    "progress-start": lambda: notices.progress(ProgressView(TITLE)),
    "progress-reading": lambda: notices.progress(
        replace(
            PROGRESS,
            steps=(
                StepLine("Reading 2 documents", "now"),
                StepLine("", "next"),
                StepLine("Pay out", "next"),
            ),
            offers=frozenset(),
        )
    ),
    "progress-waiting": lambda: notices.progress(
        replace(PROGRESS, waiting=WAITING, steps=(*DONE_STEPS, StepLine("Pay out", "next")))
    ),
    "progress-waiting-1-of-2": lambda: notices.progress(
        replace(
            PROGRESS,
            waiting=replace(WAITING, votes=(BY_ALICE,)),
            steps=(*DONE_STEPS, StepLine("Decision", "now"), StepLine("Pay out", "next")),
        )
    ),
    "progress-waiting-for-requester": lambda: notices.progress(
        replace(
            PROGRESS,
            number=7,
            asking="One document cannot be read. Send it again here.",
            steps=(*DONE_STEPS[:1], StepLine("Ask back", "now")),
        )
    ),
    "progress-paying": lambda: notices.progress(
        replace(
            PROGRESS,
            offers=frozenset(),
            steps=(*DONE_STEPS, APPROVED_STEP, StepLine("Paying out", "now")),
        )
    ),
    "progress-failed": lambda: notices.progress(
        replace(
            PROGRESS,
            steps=(*DONE_STEPS, APPROVED_STEP, StepLine("Paying out", "now")),
            failure=FAILURE,
            failing="Approved, but not paid yet.",
            offers=frozenset(),
        )
    ),
    "progress-done": lambda: notices.progress(
        replace(
            PROGRESS,
            steps=(*DONE_STEPS, APPROVED_STEP),
            ended="done",
            ended_at=at(30, "10:16"),
            result="60,000 paid to Asha Traders, reference TX-20931.",
        )
    ),
    "progress-rejected": lambda: notices.progress(
        replace(
            PROGRESS,
            steps=(*DONE_STEPS, StepLine("", "done", votes=(REJECTED,), outcome="reject")),
            ended="rejected",
            ended_at=at(30, "10:16"),
            result="Nothing was paid.",
        )
    ),
    "ask-needs-file": lambda: notices.ask(
        AskView(
            Ref(414),
            BOB,
            "One document cannot be read. Please send one without a password.",
            TITLE,
            problem="statement.pdf has a password.",
            offers=frozenset({"go_on_without", "withdraw"}),
        )
    ),
    "ask-needs-files": lambda: notices.ask(
        AskView(
            Ref(414),
            BOB,
            "2 documents cannot be read. Send them again here, or write: go on without them.",
            TITLE,
            problem="statement.pdf has a password. van.pdf is empty.",
            problems=(
                ("statement.pdf", "has a password. Send it without."),
                ("van.pdf", "is empty. Send it again."),
            ),
            number=7,
            offers=frozenset({"go_on_without", "withdraw"}),
        )
    ),
    "ask-unclear": lambda: notices.ask(
        AskView(Ref(414), BOB, "How much should the loan be?", example="Loan for Asha, 60000")
    ),
    "ask-changes": lambda: notices.ask(
        AskView(Ref(414), BOB, "", TITLE, note=CHANGES.note or "", asked_by=ALICE)
    ),
    "ask-answered": lambda: notices.ask(
        AskView(Ref(414), BOB, "How much?", TITLE, open=False, answered_at=at(30, "09:20"))
    ),
    "request-unclear": lambda: notices.unclear(
        "How much should the loan be?", "Loan for Asha Traders, 60000 for a delivery van"
    ),
    "told": lambda: notices.told("big.pdf is larger than 10 MB, so it was not taken."),
    "reply-kept": lambda: notices.kept(KeptView(LOAN_WORDS, WAITING)),
    "reply-kept-running": lambda: notices.kept(KeptView()),
    "outcome-paid": lambda: notices.outcome(
        replace(
            OUTCOME,
            votes=(WITH_CONDITION, ALSO_CONDITION),
            result="60,000 went to Asha Traders, reference TX-20931.",
        )
    ),
    "outcome-rejected": lambda: notices.outcome(
        replace(OUTCOME, kind="rejected", votes=(REJECTED,), offers=frozenset({"ask_again"}))
    ),
    "outcome-changes": lambda: notices.outcome(
        replace(OUTCOME, kind="sent_back", by=ALICE, note=CHANGES.note or "")
    ),
    "outcome-expired": lambda: notices.outcome(replace(OUTCOME, kind="expired", deadline=DEADLINE)),
    "outcome-failed": lambda: notices.outcome(
        replace(
            OUTCOME,
            kind="stopped",
            votes=(BY_ALICE, BY_DANA),
            told=(OSCAR,),
            failure=replace(
                FAILURE,
                attempts=4,
                said="Account number is not known (422)",
                who_said="The bank said",
            ),
        )
    ),
    "outcome-held": lambda: notices.outcome(replace(OUTCOME, kind="held", told=(OSCAR,))),
    "outcome-withdrawn": lambda: notices.outcome(replace(OUTCOME, kind="withdrawn", by=BOB)),
    "outcome-declined": lambda: notices.outcome(replace(OUTCOME, kind="declined")),
    "outcome-cancelled": lambda: notices.outcome(replace(OUTCOME, kind="cancelled", by=OSCAR)),
    "operator-held": lambda: notices.operator(
        NoticeView(
            "held",
            ((412, TITLE), (418, "Loan of 8,000 for Lakshmi Tailors")),
            LOAN_WORDS,
            command="sayso check",
        )
    ),
    "operator-failed": lambda: notices.operator(
        NoticeView(
            "failed",
            ((412, TITLE),),
            LOAN_WORDS,
            "Account number is not known (422)",
            "sayso threads show 0198c7f2",
        )
    ),
    "operator-nobody-may": lambda: notices.operator(
        NoticeView("nobody_may", ((412, HOSTILE),), LOAN_WORDS, command="sayso check")
    ),
}
