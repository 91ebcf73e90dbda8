"""What the cards, modals and notices are rendered from: frozen values, filled from rows.

Texts that people or programs wrote stand here as they came, unescaped and uncut; whoever renders
them does that. Times are aware; `zone` is the rule's zone, for texts that Slack does not localise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from graphs.questions import Shown, ShownAction

NO_OFFERS: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Person:
    """Somebody as Slack knows them; `name` is used only where a mention cannot stand."""

    id: str
    name: str = ""


@dataclass(frozen=True)
class Manager(Person):
    """Somebody as the manager of who asked; without an id and a name, whoever that is."""

    of: Person = Person("")


@dataclass(frozen=True)
class UserGroup:
    """A user group: a mention, or its name in plain text where `ping` is off (at night)."""

    id: str
    name: str = ""
    ping: bool = True


@dataclass(frozen=True)
class Ref:
    """The review and revision that a button or a modal stands for: "412.1", and nothing else."""

    review_id: int
    revision: int = 1

    def __str__(self) -> str:
        return f"{self.review_id}.{self.revision}"


class Status(StrEnum):
    """Where a request stands, as its card says it; an overdue one is open with `overdue` set."""

    OPEN = "open"
    RUNNING = "running"  # decided, and the next step runs
    REJECTED = "rejected"  # by a person; `ended_at` once it is closed
    DONE = "done"
    RETRYING = "retrying"  # decided, the step failed, it is tried again by itself
    STOPPED = "stopped"  # decided, the step failed, a person has to look
    EXPIRED = "expired"
    REPLACED = "replaced"
    WITHDRAWN = "withdrawn"
    SENT_BACK = "sent_back"
    HELD = "held"


@dataclass(frozen=True)
class Vote:
    """What one person said and when; `note` is their condition, reason or answer."""

    by: Person
    verb: str  # approve, approve_with_conditions, reject, ask_for_changes, answer, ...
    at: datetime
    note: str | None = None
    label: str = ""  # of the choice, where an option was chosen: "Publish"
    seat: Person | None = None  # for whom it counts, where that is somebody else
    stage: int = 0  # in which it was cast, counted from 0
    thing: str = ""  # the same for votes that count together


@dataclass(frozen=True)
class Decides:
    """Who decides now: so many of these groups and people, and why (the rule's `because`).

    Where several decide one after another, `stages` are all of them in their order, each with a
    reason of its own or none, and `stage` is the open one, counted from 0.
    """

    quorum: int = 1
    groups: tuple[UserGroup, ...] = ()
    people: tuple[Person, ...] = ()
    because: str = ""
    rejections: int = 1  # so many decide against it
    stages: tuple[Decides, ...] = ()
    stage: int = 0


@dataclass(frozen=True)
class Overdue:
    """Since when the request waits, and who was told beyond its approvers."""

    since: datetime
    also_sent_to: tuple[UserGroup, ...] = ()


@dataclass(frozen=True)
class Failure:
    """A step that failed after the decision; `why` is short, `said` is the outside's own words."""

    attempt: int
    attempts: int
    at: datetime
    why: str = ""  # "the bank did not answer"
    next_at: datetime | None = None
    said: str = ""  # "Account number is not known (422)"
    who_said: str = ""  # "The bank"
    told: tuple[Person, ...] = ()


@dataclass(frozen=True)
class Change:
    """What made a request change: a field with its old and new value, or `what` in words.

    `by` is None where it was no person: the question itself changed.
    """

    by: Person | None
    at: datetime
    field: str = ""  # "amount"
    old: str = ""
    new: str = ""
    what: str = ""  # a clause instead of field, old and new: "wrote more"
    link: str = ""  # to the new card
    new_ref: Ref | None = None
    more: int = 0  # other values that changed with it
    action: str = ""  # the action whose value it is: "Issue refund"
    own: bool = True  # what was clicked is what changed
    rules: bool = False  # an operator applied other rules to it; nothing else changed


@dataclass(frozen=True)
class Cut:
    """A request that was stopped when it may have acted already; `step` is the one that ran."""

    step: str = ""


@dataclass(frozen=True)
class Hold:
    """Why nobody can decide now and who was told."""

    told: tuple[Person, ...]
    at: datetime
    reason: str = ""  # a whole sentence; without it: the process was changed while this was waiting
    changed: str = ""  # what changed in it, in whole sentences


@dataclass(frozen=True)
class Exchange:
    """A question that a reviewer asked the requester, and the answer when it came."""

    asked_by: Person
    asked_at: datetime
    question: str
    answered_by: Person | None = None
    answered_at: datetime | None = None
    answer: str = ""
    files: tuple[str, ...] = ()  # the names of what came with the answer
    id: int = 0


@dataclass(frozen=True)
class Comment:
    """What somebody said on the card, for everybody who decides."""

    by: Person
    at: datetime
    text: str


@dataclass(frozen=True)
class Taken:
    """Who says that they are looking at it, and since when."""

    by: Person
    at: datetime


@dataclass(frozen=True)
class StandIn:
    """Who decides in whose place: somebody is away until then, or without it handed it over."""

    by: Person
    of: Person
    until: datetime | None = None  # the last moment of it


@dataclass(frozen=True)
class AskedAgain:
    """The first answer that could not be used, and what was said of it."""

    by: Person
    answer: str
    problem: str = ""


@dataclass(frozen=True)
class Words:
    """What a graph calls itself and its requests; the defaults fit every graph."""

    noun: str = "request"  # "You cannot decide this loan."
    process: str = "the process"  # "The loan process was changed while this was waiting."


@dataclass(frozen=True)
class ActionView:
    """One action of a request as it stands; `outcome` is what it came to, empty while it is open.

    `votes` are those that count for what goes into it now.
    """

    shown: ShownAction
    decides: Decides = Decides()
    votes: tuple[Vote, ...] = ()
    outcome: str = ""  # approved, edited, rejected, answered, skipped
    by: Person | None = None
    at: datetime | None = None
    note: str = ""
    edited_by: Person | None = None
    edited_at: datetime | None = None
    confirm: bool = False
    editor_may_decide: bool = True
    out_of_reach: bool = False  # rejected because nobody is left who could decide it


@dataclass(frozen=True)
class CardView:
    """One review and all that its card says, in every status."""

    review_id: int
    revision: int
    version: str  # the hash of what was shown; its first 6 characters are in the footer
    status: Status
    shown: Shown
    requester: Person
    asked_at: datetime
    number: int = 0  # of the whole request, as people say it; without it the review's
    zone: str = "UTC"
    row: int = 1  # the version of the post's row: goes into every block_id
    agent: str = ""  # "Release agent": who asks on behalf of the requester
    decides: Decides = Decides()
    votes: tuple[Vote, ...] = ()
    outcome: str = ""  # the verb that was decided: approve, reject, answer, ...
    decided_at: datetime | None = None
    deadline: datetime | None = None
    overdue: Overdue | None = None
    result: str = ""  # what the action did: "60,000 paid to Asha Traders, reference TX-20931."
    ended_at: datetime | None = None
    failure: Failure | None = None
    change: Change | None = None
    hold: Hold | None = None
    withdrawn_by: Person | None = None
    cut: Cut | None = None
    reason: str = ""  # of a withdrawal, in the words of whoever withdrew it
    because: str = ""  # why it was closed without a decision, a whole sentence
    warning: str = ""  # what to know before approving, a whole sentence
    written: str = ""  # the request as its requester wrote it, where the card quotes it
    actions: tuple[ActionView, ...] = ()
    expired_as: str = ""  # what was done instead: "The loan was declined automatically."
    not_heard_from: tuple[Person | UserGroup, ...] = ()
    out_of_reach: bool = False  # rejected because nobody is left who could decide it
    talk: tuple[Exchange | Comment, ...] = ()
    taken: Taken | None = None
    stand_ins: tuple[StandIn, ...] = ()
    again: AskedAgain | None = None
    customer: str = ""
    remembered: bool = False  # the outcome is in the customer's memory
    more_open: int = 0  # other open questions of the same thread
    confirm: bool = False  # Approve asks once more
    offers: frozenset[str] = frozenset({"details"})  # verbs that exist, beyond the choices
    words: Words = Words()

    @property
    def ref(self) -> Ref:
        """What its buttons carry."""
        return Ref(self.review_id, self.revision)


# Modals


@dataclass(frozen=True)
class StepLine:
    """One step of the path; `note` says why a branch was taken.

    A next step without a label is "Decision by a person, if needed".
    """

    label: str
    state: str  # done, now, next
    at: datetime | None = None
    seconds: float | None = None
    note: str = ""
    changed: str = ""  # what it changed, in a few words
    raw: str = ""  # the name in the code, shown under Details only
    votes: tuple[Vote, ...] = ()  # a decision among the steps: "Approved by Alice and Dana"
    outcome: str = ""  # of these votes: approve, reject, ...
    out_of_reach: bool = False


@dataclass(frozen=True)
class DocumentLine:
    """One document of the request and what was read from it."""

    name: str
    pages: int | None = None
    size: int | None = None  # bytes
    finding: str = ""
    problem: str = ""  # why it could not be read
    link: str = ""


@dataclass(frozen=True)
class Asked:
    """One person who was asked, and what became of it."""

    who: Person | UserGroup
    what: str  # approved, approved_with_conditions, rejected, sent_back, answered, not_yet, may_not
    at: datetime | None = None
    note: str = ""
    seat: Person | None = None  # for whom they said it
    stage: int = 0


@dataclass(frozen=True)
class RuleText:
    """The rule that a request keeps, as it is written in the file."""

    text: str
    hash: str
    differs: bool = False  # the file says otherwise now


@dataclass(frozen=True)
class Decided:
    """One action of an earlier question, or the question: what it came to and what was said."""

    title: str
    what: str = ""  # approved, edited, rejected, answered, skipped, ...; "" where nobody decided
    facts: tuple[tuple[str, str], ...] = ()  # of what an edit changed: label and new value
    before: tuple[tuple[str, str], ...] = ()  # label and old value of what an edit changed
    edited_by: Person | None = None
    edited_at: datetime | None = None
    said: tuple[Asked, ...] = ()


@dataclass(frozen=True)
class DetailsView:
    """Everything about a request; `question` and `values` are what is asked and the state.

    `arguments` are what goes into each action now, in the order of the items.
    """

    card: CardView
    written: str = ""
    steps: tuple[StepLine, ...] = ()
    path: tuple[str, ...] = ()  # the steps as one line, for where there is no picture
    picture: str = ""  # the id of the picture's file in Slack
    documents: tuple[DocumentLine, ...] = ()
    question: Any = None
    arguments: tuple[Any, ...] = ()
    values: Any = None
    enclosed: bool = False  # the whole question is a file under the card
    asked: tuple[Asked, ...] = ()
    rules: tuple[RuleText, ...] = ()
    earlier: tuple[Decided, ...] = ()
    graph: str = ""
    node: str = ""
    thread: str = ""


@dataclass(frozen=True)
class Happened:
    """One line of the record: when, who, and what, as the catalogue's entry of that name."""

    at: datetime
    what: str
    who: Person | None = None
    says: str = ""  # a clause of our own or of somebody's, where the entry has room for one
    seat: Person | None = None  # for whom it counts, where that is somebody else


@dataclass(frozen=True)
class HistoryView:
    """The record of a request, page by page, oldest first."""

    ref: Ref
    number: int
    lines: tuple[Happened, ...] = ()
    page: int = 0
    pages: int = 1
    zone: str = "UTC"


@dataclass(frozen=True)
class KnownFact:
    """One thing remembered of a customer, where it is from and how old it is."""

    text: str
    source: str = ""
    at: datetime | None = None
    note: str = ""  # the condition or the reason of a decision, in its author's words
    note_is: str = "condition"  # or reason


@dataclass(frozen=True)
class KnownView:
    """What is remembered of a customer."""

    ref: Ref
    customer: str
    decisions: tuple[KnownFact, ...] = ()
    facts: tuple[KnownFact, ...] = ()
    disagree: tuple[KnownFact, ...] = ()
    zone: str = "UTC"


# Private messages


class Refused(StrEnum):
    """Why something was not done; each has its own sentence."""

    ALREADY_DECIDED = "already_decided"  # by, at, outcome
    ALREADY_VOTED = "already_voted"  # at, missing
    EXPIRED = "expired"  # deadline
    WITHDRAWN = "withdrawn"  # by
    CHANGED = "changed"  # change
    HELD = "held"
    NOT_ALLOWED = "not_allowed"
    HANDED_OVER = "handed_over"  # by: to whom they handed it
    MAY_NOT_HAND_OVER = "may_not_hand_over"
    NOT_HANDED_OVER = "not_handed_over"
    EDITOR = "editor"  # who changed an action may not approve it
    NOT_YET = "not_yet"  # others decide first
    THEIR_PART_IS_DONE = "their_part_is_done"  # others decide now
    REQUESTER = "requester"
    NOBODY_MAY = "nobody_may"
    GUEST = "guest"
    OTHER_ORGANISATION = "other_organisation"
    NOT_A_MEMBER = "not_a_member"  # deactivated, or a bot
    CANNOT_CHECK = "cannot_check"
    BUSY = "busy"
    BAD_ANSWER = "bad_answer"  # problem: a whole sentence that says what to write
    UNKNOWN = "unknown"  # no such request
    CANNOT_OPEN = "cannot_open"  # the window did not open: press again
    MAY_NOT_LOOK = "may_not_look"
    MAY_NOT_START = "may_not_start"
    MAY_NOT_WITHDRAW = "may_not_withdraw"
    MAY_NOT_RETRY = "may_not_retry"
    MAY_NOT_ASK_AGAIN = "may_not_ask_again"
    MAY_NOT_ASK = "may_not_ask"
    MAY_NOT_COMMENT = "may_not_comment"
    MAY_NOT_TAKE = "may_not_take"
    NOT_THEIRS = "not_theirs"  # to give back
    MAY_NOT_ANSWER = "may_not_answer"
    ANSWERED = "answered"
    NOT_NEEDED = "not_needed"  # the question, for its request is closed
    UNKNOWN_COMMAND = "unknown_command"  # help
    UNKNOWN_BUTTON = "unknown_button"


@dataclass(frozen=True)
class Refusal:
    """One refusal, for one person; only what its kind needs is filled."""

    kind: Refused
    ref: Ref | None = None
    title: str = ""
    words: Words = Words()
    zone: str = "UTC"
    decides: Decides = Decides()
    requester: Person | None = None
    keeper: Person | None = None  # who keeps the rules: an operator
    by: Person | None = None
    at: datetime | None = None
    outcome: str = ""  # the verb that was decided
    missing: int = 0  # approvals that are still needed
    cast_by: Person | None = None  # who voted for them, where that was somebody else
    for_you: bool = False  # and in the place of the very person who is told
    deadline: datetime | None = None
    expired_as: str = ""
    change: Change | None = None
    problem: str = ""
    number: int = 0  # of the request
    help: str = ""  # "/loan Asha Traders, 60000 for a van"
    asked_at: datetime | None = None
    offers: frozenset[str] = NO_OFFERS


# The conversation of the requester


@dataclass(frozen=True)
class Waiting:
    """For how many people the request waits, since when, and who already voted."""

    since: datetime
    decides: Decides = Decides()
    votes: tuple[Vote, ...] = ()
    asks: str = "decision"  # or answer


@dataclass(frozen=True)
class ProgressView:
    """The one progress message of a request, in its requester's conversation."""

    title: str
    steps: tuple[StepLine, ...] = ()  # the waiting step is among them, as "now"
    ref: Ref | None = None
    zone: str = "UTC"
    row: int = 1
    number: int = 0
    asked_at: datetime | None = None
    waiting: Waiting | None = None
    asking: str = ""  # what the requester is asked, while that is what it waits for
    askers: tuple[Person, ...] = ()  # reviewers whose questions wait for the requester's answer
    failure: Failure | None = None
    failing: str = ""  # "Approved, but not paid yet."
    deadline: datetime | None = None
    if_nobody: str = ""  # "the loan is declined"
    ended: str = ""  # done, rejected, expired, withdrawn, failed, held, cancelled
    ended_at: datetime | None = None
    result: str = ""
    decision_ahead: bool = False  # a person may still have to decide, the path is not certain
    offers: frozenset[str] = NO_OFFERS


@dataclass(frozen=True)
class AskView:
    """A question to the requester, answered by their next message (text and files)."""

    ref: Ref
    requester: Person
    question: str
    title: str = ""
    example: str = ""
    problem: str = ""  # what is wrong: "statement.pdf has a password."
    note: str = ""  # a reviewer's own words, quoted
    asked_by: Person | None = None  # the reviewer who asked for changes
    zone: str = "UTC"
    row: int = 1
    number: int = 0
    open: bool = True
    answered_at: datetime | None = None
    offers: frozenset[str] = NO_OFFERS
    problems: tuple[tuple[str, str], ...] = ()  # the problem of each file: its name, what to do


@dataclass(frozen=True)
class QuestionView:
    """What a reviewer asks the requester; `first` where a message answers this one.

    `here` is off where it stands in direct messages, in which nothing that is written is read.
    """

    ref: Ref
    exchange: Exchange
    requester: Person
    title: str
    zone: str = "UTC"
    row: int = 1
    number: int = 0
    open: bool = True
    here: bool = True
    first: bool = True


@dataclass(frozen=True)
class AnswerView:
    """The answer to what a reviewer asked, told to them."""

    ref: Ref
    exchange: Exchange
    title: str
    link: str = ""
    row: int = 1


@dataclass(frozen=True)
class TakenView:
    """That another one looks now at what one person had taken on."""

    ref: Ref
    by: Person
    title: str
    link: str = ""
    row: int = 1


@dataclass(frozen=True)
class Waits:
    """One open request, as a list of a few names it."""

    ref: Ref
    title: str
    number: int = 0


@dataclass(frozen=True)
class CoverView:
    """That somebody is away and this person decides in their place, told to this person."""

    of: Person
    until: datetime  # the last moment of it
    waiting: tuple[Waits, ...] = ()
    total: int = 0
    over: bool = False
    zone: str = "UTC"
    row: int = 1


@dataclass(frozen=True)
class HandedView:
    """That a request was handed to this person, told to them."""

    ref: Ref
    by: Person
    title: str
    note: str = ""
    link: str = ""
    taken_back: bool = False
    row: int = 1


@dataclass(frozen=True)
class AwayView:
    """That this person is away, who decides meanwhile, and what that concerns."""

    cover: Person
    until: datetime
    absence: int
    waiting: tuple[Waits, ...] = ()
    total: int = 0
    zone: str = "UTC"


@dataclass(frozen=True)
class OutcomeView:
    """What became of a request, told to its requester."""

    kind: str  # done, rejected, declined, sent_back, expired, stopped, held, withdrawn, cancelled
    requester: Person
    title: str
    ref: Ref | None = None
    zone: str = "UTC"
    row: int = 1
    words: Words = Words()
    shown: Shown | None = None
    result: str = ""
    votes: tuple[Vote, ...] = ()
    by: Person | None = None
    out_of_reach: bool = False  # nobody rejected it: nobody is left who could decide it
    cut: Cut | None = None
    note: str = ""
    deadline: datetime | None = None
    expired_as: str = ""
    failure: Failure | None = None
    told: tuple[Person, ...] = ()
    offers: frozenset[str] = NO_OFFERS


@dataclass(frozen=True)
class KeptView:
    """A message that came while the request waits: it is kept, and says so."""

    words: Words = Words()
    waiting: Waiting | None = None
    on_card: bool = False
    ref: Ref | None = None
    offers: frozenset[str] = NO_OFFERS


@dataclass(frozen=True)
class LapseView:
    """A vote that does not count any more: what it was for changed, or the rules for it did."""

    ref: Ref
    title: str
    change: Change
    row: int = 1


@dataclass(frozen=True)
class NoticeView:
    """What an operator must do, told once, with the command to run."""

    what: str  # held, failed, nobody_may, parked, slack, other
    requests: tuple[tuple[int, str], ...] = ()  # number and title; 0 where there is no number
    words: Words = Words()
    detail: str = ""
    command: str = ""
    row: int = 1
    threads: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class ReminderView:
    """A request that waits for one person, since when, and where its card is."""

    card: CardView
    since: datetime
    escalated: bool = False
    link: str = ""
    row: int = 1
    covers: tuple[Person, ...] = ()  # in whose place this person gets it


@dataclass(frozen=True)
class HomeRow:
    """One request on the home tab."""

    ref: Ref
    title: str
    link: str = ""
    since: datetime | None = None
    overdue: bool = False
    quorum: int = 1
    approvals: int = 0
    stage: int = 0
    stages: int = 1
    asks: str = "decision"
    fact: str = ""  # one telling fact: "risk 71, high"
    requester: Person | None = None
    agent: str = ""
    where: str = ""  # in words, for the lower sections: "Approved by Alice, paid."
    at: datetime | None = None


@dataclass(frozen=True)
class DigestView:
    """The first of all that waits for one person, sent once a day in the place of reminders."""

    rows: tuple[HomeRow, ...]
    total: int
    late: int = 0  # how many of all are overdue
    zone: str = "UTC"
    row: int = 1


@dataclass(frozen=True)
class HomeView:
    """The home tab of one person, page by page."""

    waiting: tuple[HomeRow, ...] = ()
    total: int = 0
    page: int = 1
    mine: tuple[HomeRow, ...] = ()
    done: tuple[HomeRow, ...] = ()
    start_channel: str = ""
    example: str = ""
    zone: str = "UTC"
    offers: frozenset[str] = NO_OFFERS
