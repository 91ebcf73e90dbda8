"""Every sentence that people see, one entry a sentence, with named slots.

A sentence is never glued from fragments: a language may order its slots as it likes. `*…*` is bold.
An entry with several forms is chosen by its `count`: the exact number first ("1", "2"), then
"other". Words for a choice or an outcome (`Rejected by`) are entries too, so that a second language
is one more dictionary with the same keys and slots: `tests/bot/test_wording.py` compares them.

Slots hold plain values (text, numbers) or inline ones (a person, a group, a time, a list); what
they become depends on where the sentence goes, and `bot.inline` knows that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Entry: TypeAlias = str | dict[str, str]

LANGUAGE = "en"
_MARKUP = re.compile(r"(\*)|\{(\w+)\}")


@dataclass(frozen=True)
class Sentence:
    """One entry with its slots filled by values, not yet put into any medium."""

    template: str
    slots: Mapping[str, Any]

    def pieces(self) -> Iterator[tuple[Any, bool]]:
        """The text runs and slot values in order, each with whether it is bold."""
        bold = False
        at = 0
        for found in _MARKUP.finditer(self.template):
            if found.start() > at:
                yield self.template[at : found.start()], bold
            at = found.end()
            if found[1]:
                bold = not bold
            else:
                yield Slot(self.slots[found[2]]), bold
        if at < len(self.template):
            yield self.template[at:], bold


@dataclass(frozen=True)
class Slot:
    """A value that stood in a slot, as against text of ours."""

    value: Any


def say(key: str, /, language: str = LANGUAGE, **slots: Any) -> Sentence:
    """The entry of that key with its slots; a missing key is a mistake in the program."""
    entry = CATALOGUES[language][key]
    if isinstance(entry, dict):
        entry = entry.get(str(slots.get("count")), entry["other"])
    return Sentence(entry, slots)


def phrase(key: str, /, language: str = LANGUAGE, **slots: Any) -> str:
    """A short text of ours whose slots are already plain text: a label, a hint, a title."""
    sentence = say(key, language, **slots)
    return "".join(
        str(piece.value) if isinstance(piece, Slot) else piece for piece, _ in sentence.pieces()
    )


def has(key: str, language: str = LANGUAGE) -> bool:
    """Whether there is an entry of that key."""
    return key in CATALOGUES[language]


def first_of(*keys: str) -> str:
    """The first of these keys that has an entry; the last one always has."""
    return next((key for key in keys if has(key)), keys[-1])


ENGLISH: dict[str, Entry] = {
    # Values
    "yes": "Yes",
    "no": "No",
    "empty": "empty",
    "not_given": "not given",
    "entries": {"1": "1 entry", "other": "{count} entries"},
    "cut": "{kept} … and {count} more characters under Details",
    "and": "{first} and {last}",
    "or": "{first} or {last}",
    "comma": "{first}, {last}",
    "someone": "someone",
    "others": {"1": "1 other", "other": "{count} others"},
    "nobody": "nobody yet",
    # Times: what Slack writes in the reader's zone, and the text where it does not
    "months": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    "weekdays": "Mon Tue Wed Thu Fri Sat Sun",
    "day": "{weekday} {day} {month}",
    "month": "{month} {year}",
    "when.on": "{day} at {time}",
    "when.on.fallback": "{day}, {time} {zone}",
    "when.at": "at {time}",
    "when.at.fallback": "at {time} {zone}",
    "when.at_day": "{day} at {time}",
    "when.at_day.fallback": "{day}, {time} {zone}",
    "when.time": "{time}",
    "when.time.fallback": "{time} {zone}",
    "when.time_day": "{day} at {time}",
    "when.time_day.fallback": "{day}, {time} {zone}",
    "when.comma": ", {time}",
    "when.comma.fallback": ", {time} {zone}",
    "when.comma_day": ", {day} at {time}",
    "when.comma_day.fallback": ", {day}, {time} {zone}",
    "when.by": "by {day} at {time}",
    "when.by.fallback": "by {day}, {time} {zone}",
    "when.until": "until {day}",
    "when.until.fallback": "until {day}",
    "when.since": "since {time}",
    "when.since.fallback": "since {time} {zone}",
    "when.since_day": "since {day} at {time}",
    "when.since_day.fallback": "since {day}, {time} {zone}",
    # Status lines: the bold sentence and the plain one
    "status.open.decision": "*Needs a decision.*",
    "status.open.answer": "*Needs an answer.*",
    "status.open.again.decision": "*Needs a decision, asked again.*",
    "status.open.again.answer": "*Needs an answer, asked again.*",
    "status.open.approvals": {"1": "*Needs 1 approval.*", "other": "*Needs {count} approvals.*"},
    "status.open.none": "None yet.",
    "status.open.decisions": {"1": "*Needs 1 decision.*", "other": "*Needs {count} decisions.*"},
    "status.open.decided": "*{have} of {count} decided.*",
    "status.open.left": "{what} is still open.",
    "status.open.left.many": "{count} are still open.",
    "status.open.answers": {"1": "*Needs 1 answer.*", "other": "*Needs {count} answers.*"},
    "status.open.tally.approvals": "*{have} of {count} approvals.*",
    "status.open.tally.answers": "*{have} of {count} answers.*",
    # Where several decide one after another
    "status.open.approvals.stage": {
        "1": "*Needs 1 approval, stage {stage} of {stages}.*",
        "other": "*Needs {count} approvals, stage {stage} of {stages}.*",
    },
    "status.open.answers.stage": {
        "1": "*Needs 1 answer, stage {stage} of {stages}.*",
        "other": "*Needs {count} answers, stage {stage} of {stages}.*",
    },
    "status.open.tally.approvals.stage": (
        "*{have} of {count} approvals, stage {stage} of {stages}.*"
    ),
    "status.open.tally.answers.stage": "*{have} of {count} answers, stage {stage} of {stages}.*",
    "status.overdue.tally.approvals.stage": (
        "*Overdue, {have} of {count} approvals, stage {stage} of {stages}.*"
    ),
    "status.overdue.tally.answers.stage": (
        "*Overdue, {have} of {count} answers, stage {stage} of {stages}.*"
    ),
    "status.open.otherwise.approvals": "Approved with other values by {who}.",
    "status.open.otherwise.answers": "Answered otherwise by {who}.",
    "status.open.voted": "{who}.",
    "status.open.voted_with": {
        "1": "{who}, with a condition.",
        "other": "{who}, with conditions.",
    },
    "status.open.vote": "{who} {at}",
    "status.open.against": "{have} of {count} rejections, {who}.",
    "status.overdue.decision": "*Overdue, needs a decision.*",
    "status.overdue.answer": "*Overdue, needs an answer.*",
    "status.overdue.tally.approvals": "*Overdue, {have} of {count} approvals.*",
    "status.overdue.tally.answers": "*Overdue, {have} of {count} answers.*",
    "status.overdue.decisions": {
        "1": "*Overdue, 1 decision needed.*",
        "other": "*Overdue, {count} decisions needed.*",
    },
    "status.overdue.since": "Waiting {since}.",
    "status.overdue.sent": "Also sent to {groups}.",
    "status.running.approve": "*Approved.*",
    "status.running.approve_with_conditions": "*Approved with conditions.*",
    "status.running.answer": "*Answered.*",
    "status.running.choice": "*{choice}.*",
    "status.running.mixed": "*{counts}.*",
    "status.running.skip": "*Skipped.*",
    "status.running.continue": "*Let through.*",
    "status.running.edit": "*Values changed and let through.*",
    "status.running.stop": "*Stopped.*",
    "status.stopped_here": "This step and those after it are not run.",
    "status.count.approved": "{count} approved",
    "status.count.rejected": "{count} rejected",
    "status.count.answered": "{count} answered",
    "status.count.skipped": "{count} skipped",
    "status.count.expired": {"1": "1 ran out of time", "other": "{count} ran out of time"},
    "status.count.decided": "{count} decided",
    "status.running.goes_on": "The next step runs now.",
    "status.running.goes_on.answer": "The answer was passed on.",
    "status.rejected": "*Rejected.*",
    "status.rejected.closing": "Closing the request now.",
    "status.rejected.goes_on": "{not_done} {process} is told and goes on.",
    "status.rejected.done": "{not_done} {who} has been told.",
    "status.out_of_reach": "Not enough people are left to approve it.",
    "status.not_done": "Nothing was done.",
    "status.done": "*Done.*",
    "status.done.result": "The request is finished.",
    "status.retrying.approve": "*Approved, but not done yet.*",
    "status.retrying.reject": "*Rejected, but not closed yet.*",
    "status.retrying.answer": "*Answered, but the next step failed.*",
    "status.retrying.attempt": "Attempt {attempt} of {attempts}: {why}{at}.",
    "status.retrying.attempt_failed": "Attempt {attempt} of {attempts} failed {at}.",
    "status.retrying.next": "Trying again {next}.",
    "status.stopped.approve": "*Approved, but not done.*",
    "status.stopped.reject": "*Rejected, but not closed.*",
    "status.stopped.answer": "*Answered, but the next step failed.*",
    "status.stopped.attempts": {
        "1": "It failed {at}. Someone has to look.",
        "other": "All {count} attempts failed, the last {at}. Someone has to look.",
    },
    "status.stands.approve": "The approval stands, nobody needs to approve again. {again}",
    "status.stands.reject": "The rejection stands, nobody needs to decide again. {again}",
    "status.stands.answer": "The answer stands, nobody needs to answer again. {again}",
    "status.again": "Only the step that failed is tried again.",
    "status.expired": "*Time ran out.*",
    "status.expired.as": "The {noun} was declined automatically.",
    "status.expired.approved": "It was approved automatically.",
    "status.expired.chosen": "It was answered automatically: “{choice}”.",
    "status.replaced": "*Replaced.*",
    "status.replaced.next": "Decide on the new card.",
    "status.replaced.closed": "This card is closed.",
    "status.withdrawn": "*Withdrawn.*",
    "status.withdrawn.closed": "Nobody needs to decide it any more.",
    "status.cut": (
        "It was stopped in the step “{step}”. What that step did outside cannot be called back."
    ),
    "status.cut.plain": (
        "It was stopped after the decision. What was done by then cannot be called back."
    ),
    "status.sent_back": "*Sent back for changes.*",
    "status.sent_back.next": "Waiting for {who}.",
    "status.held": "*On hold.*",
    "status.held.next": "Nobody needs to do anything.",
    "held.changed": (
        "{process} was changed while this was waiting, so an answer might now reach the wrong step."
    ),
    "held.what": "This changed: {changed}",
    "held.mend": "Something has to be mended first before this can go on.",
    "held.told": "Nothing is lost. {who}, who runs this, was told {at}.",
    "held.lost_nothing": "Nothing is lost.",
    "held.back": "The card comes back here once that is settled.",
    "held.paused": "The deadline is paused.",
    # Why a card was closed without a decision
    "closed.changed": "The question changed while it was waiting.",
    "closed.changed.new": "The question changed while it was waiting. A new card was opened.",
    "closed.answer": "The answer could not be used, so the question is asked again.",
    "closed.answer.new": (
        "The answer could not be used, so the question is asked again. A new card was opened."
    ),
    "closed.message": "A new message came while it was waiting, so the question was taken back.",
    "closed.moved": "The rules for this request changed, so its card stands somewhere else now.",
    "closed.moved_on": "The request moved on, so this question is not asked any more.",
    "closed.rewound": (
        "Rewound to step {step} by {who}. What was decided here does not count any more."
    ),
    "warning.rewound": "This was done already, before it is asked here again: {done}.",
    "warning.rewound.plain": "Something was done already, before it is asked here again.",
    # Facts: labels and values
    "fact.asked_by": "Asked by",
    "fact.asked_by.agent": "{agent}, for {who}",
    "fact.who_decides": "Who decides",
    "fact.who_answers": "Who answers",
    "fact.approved_by": "Approved by",
    "fact.approved_with_conditions_by": "Approved with conditions by",
    "fact.answered_by": "Answered by",
    "fact.rejected_by": "Rejected by",
    "fact.sent_back_by": "Sent back by",
    "fact.withdrawn_by": "Withdrawn by",
    "fact.changed_by": "Changed by",
    "fact.finished": "Finished",
    "fact.deadline": "Deadline",
    "fact.came_in": "Came in",
    "fact.not_heard_from": "Not heard from",
    "fact.so_far": "Approvals so far",
    "fact.decided_so_far": "Decided so far",
    "fact.continued_by": "Let through by",
    "fact.stopped_by": "Stopped by",
    "fact.decided_by": "Decided by",
    "fact.message": "The message",
    "fact.result": "{agent} says",
    "fact.said": "It said",
    "fact.told": "Told",
    "voted": "{who}{at}",
    "voted_for": "{who} for {seat}",
    "voted.stage": "{who} (stage {stage}{at})",
    "by_chose": "{who}: {choice}",
    "told_runs": "{who}, who runs this",
    "told_both": "{requester} and {who}, who runs this",
    "came_in.approvals": "{have} of {count} approvals, {who}",
    "came_in.answers": "{have} of {count} answers, {who}",
    "came_in.decided": "{have} of {count} decided",
    "came_in.none": "Nothing",
    "so_far": "{have} of {count}, {who}. Kept if the question stays the same.",
    "so_far.stages": "{who}. Kept if the question stays the same.",
    "so_far.decided": "{have} of {count}, {who}. Kept if the question stays the same.",
    "lapsed": {
        "1": "1, {who}. It was for the old version and does not count for the new one.",
        "other": "{count}, {who}. They were for the old version and do not count for the new one.",
    },
    "lapsed.value": {
        "1": "1, {who}. It was for {old} and does not count for {new}.",
        "other": "{count}, {who}. They were for {old} and do not count for {new}.",
    },
    "changed.value": "{who}: {field} from {old} to {new}",
    "changed.what": "{who}, who {what}",
    "decides.group": {
        "1": "One person from {who}",
        "2": "Two people from {who}",
        "3": "Three people from {who}",
        "other": "{count} people from {who}",
    },
    "decides.one": "{who}",
    "manager": "{who} ({of}'s manager)",
    "manager.unknown": "{of}'s manager",
    "decides.people": {
        "1": "One of {who}",
        "2": "Two of {who}",
        "3": "Three of {who}",
        "other": "{count} of {who}",
    },
    "decides.nobody": "Nobody yet, because no rule says who may",
    "decides.because": "{who}, because {because}",
    "decides.stages": {
        "1": "One stage",
        "2": "Two stages, one after the other",
        "3": "Three stages, one after the other",
        "other": "{count} stages, one after the other",
    },
    "stage.approved": "✓  Stage {stage}: approved by {who}",
    "stage.answered": "✓  Stage {stage}: answered by {who}",
    "stage.open": "●  *Stage {stage}:* {who}",
    "stage.later": "○  Stage {stage}: {who}",
    "stage.more": {"1": "and 1 more stage", "other": "and {count} more stages"},
    # Evidence
    # The actions of one turn: what stands beside their names
    "action.approved": "approved by {who}{at}",
    "action.edited": "changed and approved by {who}{at}",
    "action.edited.other": "changed by {editor} and approved by {who}{at}",
    "action.rejected": "rejected by {who}{at}",
    "action.answered": "answered by {who}{at}",
    "action.skipped": "skipped by {who}{at}",
    "action.decided": "decided by {who}{at}",
    "action.expired": "time ran out{at}",
    "action.changed": "changed by {who}{at}",
    "action.needs": {"1": "needs 1 approval", "other": "needs {count} approvals"},
    "action.tally": "{have} of {count} approvals, {who}",
    "action.tally.answers": "{have} of {count} answers, {who}",
    "action.against": "{have} of {count} rejections, {who}",
    "action.stage": "stage {stage} of {stages}",
    "action.out_of_reach": "rejected, not enough people are left to approve it{at}",
    "action.who_decides": "Who decides: {who}",
    "action.also_changed": "Also changed: {what}",
    "action.row": "*{number}. {title}*",
    "evidence.more_lines": {
        "1": "and 1 more under Details",
        "other": "and {count} more under Details",
    },
    "evidence.more_groups": {
        "1": "1 more finding is under Details.",
        "other": "{count} more findings are under Details.",
    },
    "evidence.more_facts": {
        "1": "and 1 more value under Details",
        "other": "and {count} more values under Details",
    },
    "condition.from": "*Condition from* {who}",
    "conditions.more": {
        "1": "1 more condition is under Details.",
        "other": "{count} more conditions are under Details.",
    },
    "talk.question": "*Question from* {who}{at}",
    "talk.answer": "*Answer from* {who}{at}",
    "talk.comment": "*Comment from* {who}{at}",
    "talk.waiting": "Not answered yet.",
    "talk.files": {"1": "With the file {names}.", "other": "With the files {names}."},
    "talk.more": {"1": "and 1 more under Details", "other": "and {count} more under Details"},
    "stand_in.away": "{who} for {of}, who is away {until}",
    "stand_in.handed": "{who} instead of {of}",
    "fact.looking": "{who} is looking at it.",
    "again.answer": "The answer from {who} could not be used:",
    "again.problem": "It was said: “{problem}”",
    # What happens
    "then.approved": "*If approved*, {what}.",
    "then.approved.stages": "*If every stage approves*, {what}.",
    "then.nobody.decision": "*If nobody decides* {by}, {what}.",
    "then.nobody.answer": "*If nobody answers* {by}, {what}.",
    "reminder.what": "{title} *still needs you.*",
    "reminder.note": "{title} still needs you.",
    "reminder.why": "At most one reminder a day.",
    "reminder.covers": "You get this because you stand in for {who}.",
    "digest.title": {
        "1": "1 request waits for you",
        "other": "{count} requests wait for you",
    },
    "digest.more": {"1": "and 1 more", "other": "and {count} more"},
    "digest.why": (
        "You get this list once a day, in the place of reminders, while more than five wait for "
        "you."
    ),
    "digest.away": "Away? Write /sayso away until Friday, @Carol covers.",
    "digest.note": {"1": "1 request waits for you.", "other": "{count} requests wait for you."},
    "digest.note.late": {"1": "1 of them is overdue.", "other": "{count} of them are overdue."},
    "digest.note.oldest": "First: {title}.",
    "escalation.what": "{title} *has waited and now comes to you too.*",
    "escalation.note": "{title} has waited and now comes to you too.",
    "escalation.why": "You get this because the rule names you where nobody decided so long.",
    "then.nobody.default": "the request is closed",
    "then.nobody.declined": "the request is declined",
    "then.nobody.approved": "it is approved",
    "then.nobody.chosen": "the answer is “{choice}”",
    "then.nobody.hold": "it stays open, and those who run this are told",
    "then.waits.decision": "*If nobody decides*, it waits until somebody decides.",
    "then.waits.answer": "*If nobody answers*, it waits until somebody answers.",
    "then.answered": "Your words go to {process} exactly as you write them.",
    "then.continue": "*If you continue*, the next step runs at once.",
    # Footer
    "footer.request": "Request {id}",
    "footer.version": "version {version}",
    "footer.closed": "closed {at}",
    "footer.finished": "finished {at}",
    "footer.remembered": "remembered for {customer}",
    "footer.ask_again": "no person rejected it, {who} can ask again",
    "footer.new_card": "a new card comes with the changed request",
    "footer.more_open": {
        "1": "1 more question of this request is open",
        "other": "{count} more questions of this request are open",
    },
    # Buttons
    "button.approve": "Approve",
    "button.approve_with_conditions": "Approve with conditions",
    "button.reject": "Reject",
    "button.ask_for_changes": "Ask for changes",
    "button.details": "Details",
    "button.known": "What we know",
    "button.question": "Ask {name} a question",
    "button.comment": "Add a comment",
    "button.take": "I will look at it",
    "button.take.over": "Take it from {name}",
    "button.give_back": "Give it back",
    "button.answer_question": "Answer",
    "button.hand_over": "Hand to someone else",
    "button.history": "Show the history",
    "button.try_again": "Try again",
    "button.try_again_now": "Try again now",
    "button.close_unpaid": "Close unpaid",
    "button.open": "New card",
    "button.open_card": "Open the card",
    "button.add_information": "Add information",
    "button.withdraw": "Withdraw",
    "button.withdraw_mine": "Withdraw my request",
    "button.take_back": "Take my approval back",
    "button.go_on_without": "Go on without it",
    "button.go_on_without.several": "Go on without them",
    "button.ask_again": "Ask again",
    "button.restart": "Withdraw and start again",
    "button.review": "Review",
    "button.show_list": {"1": "Show the other one", "other": "Show the other {count}"},
    "button.approve_all": {"2": "Approve both", "other": "Approve all {count}"},
    "button.approve_all.left": "Approve the other {count}",
    "button.approve_all.some": "Approve {count} of them",
    "button.more_answers": "More answers",
    "button.open_row": "Open",
    "button.send_record": "Send me the whole record",
    "button.go_back": "Go back",
    "button.more": "More",
    "label.of": "{label}: {title}",
    "label.details": "Details: {title}",
    "label.known": "What we know of {customer}",
    "label.open_row": "Open the card: {title}",
    "label.open": "Open the new card of {title}",
    "label.close_unpaid": "Close unpaid: {title}",
    "confirm.stop.title": "Stop here?",
    "confirm.stop.text": "The request ends here. This step and those after it are not run.",
    "confirm.approve_all.title": {
        "2": "Approve both actions?",
        "other": "Approve {count} actions?",
    },
    "confirm.ask_again.title": "Ask again?",
    "confirm.ask_again.text": (
        "The answer that was given is dropped, and the question is put once more."
    ),
    "confirm.sure": "Are you sure?",
    "confirm.title": "{label} this {noun}?",
    "confirm.text": "{what}. This cannot be taken back.",
    "confirm.text.plain": "This cannot be taken back.",
    "confirm.close.title": "Close unpaid?",
    "confirm.close.text": "The decision stands, but it is not carried out. {name} is told.",
    "confirm.withdraw.title": "Withdraw this request?",
    "confirm.withdraw.text": "The card closes and nobody is asked any more. You can ask again.",
    # Notification texts: at most 150 characters, subject first
    "note.open.approvals": {
        "1": "{title}: 1 approval needed.",
        "other": "{title}: {count} approvals needed.",
    },
    "note.open.decision": "{title}: your decision is needed.",
    "note.open.answer": "{title}: an answer is needed.",
    "note.open.itself": "{title}.",
    "note.open.answers": {
        "1": "{title}: 1 answer needed.",
        "other": "{title}: {count} answers needed.",
    },
    "note.open.tally.approvals": "{title}: {have} of {count} approvals, {who}.",
    "note.open.tally.answers": "{title}: {have} of {count} answers, {who}.",
    "note.open.vote": "{name} {at}",
    "note.open.next.answers": {
        "1": "{title}: 1 more answer needed.",
        "other": "{title}: {count} more answers needed.",
    },
    "note.open.next.approvals": {
        "1": "{title}: 1 more approval needed.",
        "other": "{title}: {count} more approvals needed.",
    },
    "note.stage": "Stage {stage} of {stages}.",
    "note.open.decisions": {
        "1": "{title}. 1 decision needed.",
        "other": "{title}. {count} decisions needed.",
    },
    "note.open.decided": "{title}. {have} of {count} decided.",
    "note.again": "Asked again: {title}. The first answer could not be used.",
    "note.talk": "{title}: {name} answered a question.",
    "note.overdue.itself": "Overdue: {title}.",
    "note.overdue.decision": "Overdue: {title} needs a decision.",
    "note.overdue.answer": "Overdue: {title} needs an answer.",
    "note.overdue.decisions": {
        "1": "Overdue: {title}. 1 decision needed.",
        "other": "Overdue: {title}. {count} decisions needed.",
    },
    "note.overdue.approvals": {
        "1": "Overdue: {title} needs 1 more approval.",
        "other": "Overdue: {title} needs {count} more approvals.",
    },
    "note.overdue.answers": {
        "1": "Overdue: {title} needs 1 more answer.",
        "other": "Overdue: {title} needs {count} more answers.",
    },
    "note.asked_by": "Asked by {name}.",
    "note.decide": "Decide {by}.",
    "note.answer": "Answer {by}.",
    "note.running.approve": "Approved by {names}: {title}.",
    "note.running.approve_with_conditions": "Approved with conditions by {names}: {title}.",
    "note.running.answer": "Answered by {names}: {title}.",
    "note.running.choice": "{choice}, said {names}: {title}.",
    "note.running.mixed": "{counts} by {names}: {title}.",
    "note.running.mixed.nobody": "{counts}: {title}.",
    "note.running.skip": "Skipped by {names}: {title}.",
    "note.running.continue": "Let through by {names}: {title}.",
    "note.running.edit": "Changed and let through by {names}: {title}.",
    "note.running.stop": "Stopped by {names}: {title}.",
    "note.rejected": "Rejected by {names}: {title}.",
    "note.rejected.nobody": "Rejected: {title}.",
    "note.rejected.closing": "Telling {name} and closing.",
    "note.rejected.told": "{name} has been told.",
    "note.done": "Done: {title}.",
    "note.done.by": "Approved by {names}.",
    "note.done.by.conditions": "Approved with conditions by {names}.",
    "note.done.by.answer": "Answered by {names}.",
    "note.retrying": "Not done yet: {title}.",
    "note.retrying.attempt": "Attempt {attempt} of {attempts} failed.",
    "note.retrying.next": "Trying again {next}.",
    "note.stopped": "Not done: {title}.",
    "note.stopped.look": "Someone has to look.",
    "note.expired": "Time ran out: {title}.",
    "note.expired.approvals": "{have} of {count} approvals had come in.",
    "note.expired.approvals.stage": "{have} of {count} approvals of stage {stage} had come in.",
    "note.expired.answers": "{have} of {count} answers had come in.",
    "note.expired.answers.stage": "{have} of {count} answers of stage {stage} had come in.",
    "note.replaced.value": "Changed by {name}: {title}, {field} is now {new}.",
    "note.replaced": "Replaced: {title}.",
    "note.replaced.closed": "This card is closed.",
    "note.replaced.new": "This card is closed, the new one is below.",
    "note.withdrawn": "Withdrawn by {name}: {title}.",
    "note.withdrawn.closed": "Withdrawn: {title}.",
    "note.sent_back": "Sent back by {names} for changes: {title}.",
    "note.sent_back.next": "Waiting for {name}.",
    "note.held": "On hold: {title}.",
    # Modals
    "modal.close": "Close",
    "modal.cancel": "Cancel",
    "modal.loading.title": "One moment",
    "modal.loading": "Fetching the request.",
    "modal.summary": "Asked by {who}.",
    "modal.summary.agent": "Asked by {agent}, for {who}.",
    "modal.reject.title": "Reject this request",
    "modal.reject.submit": "Reject",
    "modal.reject.label": "Reason",
    "modal.reject.placeholder": "What speaks against it, and what would change your mind",
    "modal.reject.hint": "{name} reads this, and it stays with the record.",
    "modal.reject.effect.several": (
        "{count} rejections decide, and yours is one of them. Then the {noun} is declined."
    ),
    "modal.reject.effect": "One rejection decides. The {noun} is declined and {name} is told.",
    "modal.conditions.title": "Approve with conditions",
    "modal.conditions.submit": "Approve",
    "modal.conditions.label": "Conditions",
    "modal.conditions.placeholder": "What has to be done, and by when",
    "modal.conditions.hint": "{name} reads them, and {process} gets them.",
    "modal.conditions.hint.customer": (
        "{name} reads them, {process} gets them, and they are remembered for {customer}."
    ),
    "modal.conditions.so_far": "*Condition so far, from* {who}",
    "modal.effect.last": {
        "1": "Your approval decides.",
        "other": "Yours is the last of {count} approvals.",
    },
    "modal.effect.more": {
        "1": "After yours, 1 more approval is needed.",
        "other": "After yours, {count} more approvals are needed.",
    },
    "modal.effect.stage": "Yours is the last approval of stage {stage}.",
    "modal.effect.then": "Then the next stage decides: {who}.",
    "modal.effect.same": {
        "2": "Two people have to give the same answer.",
        "other": "{count} people have to give the same answer.",
    },
    "modal.effect.begins": "It begins again with the first stage.",
    "modal.changes.title": "Ask for changes",
    "modal.changes.submit": "Send to {name}",
    "modal.changes.submit.plain": "Send",
    "modal.changes.label": "What should change",
    "modal.changes.placeholder": "What is missing, or what should be different",
    "modal.changes.hint": "{name} gets this as a message and can change the request.",
    "modal.changes.effect": (
        "This card closes. A new one comes when {name} has changed the request."
    ),
    "modal.answer.title": "Answer",
    "modal.answer.submit": "Send answer",
    "modal.answer.label": "Your answer",
    "modal.answer.hint": "It goes to {process} exactly as you write it.",
    "modal.answer.effect": "Your answer goes to {process}.",
    "modal.action.other": "The action itself stays the same, you change what goes into it.",
    "modal.action.reject.title": "Reject this action",
    "modal.action.reject.hint": "{process} reads this, and it stays with the record.",
    "modal.action.reject.effect": "The action is not done, and {process} goes on without it.",
    "modal.action.reject.effect.several": (
        "{count} rejections decide, and yours is one of them. Then the action is not done."
    ),
    "modal.action.respond.title": "Answer instead",
    "modal.action.respond.hint": "It goes to {process} in place of what the action would give.",
    "modal.action.respond.effect": "The action itself is not done.",
    "modal.action.answer.hint": "It goes to {process} exactly as you write it.",
    "modal.edit.title": "Change this action",
    "modal.edit.submit": "Approve as changed",
    "modal.edit.submit.other": "Change it",
    "modal.edit.effect": "What you change is shown on the card, before and after.",
    "modal.edit.effect.lapse": (
        "What you change is shown on the card, before and after. "
        "Approvals so far were for the old values and do not count for the new ones."
    ),
    "modal.edit.effect.other": (
        "What you change is shown on the card, before and after. Somebody else has to approve it."
    ),
    "modal.values.title": "Change values",
    "modal.values.submit": "Continue as changed",
    "modal.values.effect": "The next step runs at once, with these values.",
    "modal.review.title": "Review",
    "modal.list.title": "All actions",
    "modal.choice.label": "Note",
    # Forms: what is said of a field, and what stands where nothing is chosen
    "form.label": "Your answer",
    "form.label.raw": "All values",
    "form.raw": (
        "This request has a shape no form can show. Change the values and keep the punctuation."
    ),
    "form.nothing": "There is nothing to fill in here.",
    "form.none": "No answer",
    "form.choose": "Choose one",
    "form.choose_several": "Choose",
    "form.choose_day": "Choose a day",
    "form.hint.range": "From {least} to {most}.",
    "form.hint.least": "At least {least}.",
    "form.hint.most": "At most {most}.",
    "form.hint.above": "More than {above}.",
    "form.hint.below": "Less than {below}.",
    "form.hint.step": "In steps of {step}.",
    "form.hint.shortest": {"1": "At least 1 character.", "other": "At least {count} characters."},
    "form.hint.longest": {"1": "At most 1 character.", "other": "At most {count} characters."},
    "form.hint.fewest": {"1": "Choose at least 1.", "other": "Choose at least {count}."},
    "form.hint.several": {"1": "Choose at most 1.", "other": "Choose at most {count}."},
    "form.hint.example": "For example {example}.",
    "form.hint.json": "Keep the punctuation: quotes, commas and brackets.",
    "form.hint.date-time": "A day and a time, such as 2026-12-04T18:00:00Z.",
    "form.hint.time": "A time, such as 18:00:00.",
    "form.hint.uuid": "An id of 32 letters and digits.",
    "form.hint.kept": (
        "Its {count} characters are too many to change here and stay as they are. "
        "What you write here takes their place."
    ),
    "modal.details.title": "Details",
    "modal.details.stands": "Where it stands",
    "modal.details.waiting": {
        "1": "Waiting for 1 more person.",
        "other": "Waiting for {count} more people.",
    },
    "modal.details.written": "*The request, as written by* {who}{at}",
    "modal.details.steps": "Steps so far",
    "modal.details.evidence": "What the card shows",
    "modal.details.documents": "Documents",
    "modal.details.no_documents": "No document was attached.",
    "modal.details.size.bytes": {"1": "1 byte", "other": "{count} bytes"},
    "modal.details.size.kb": "{count} kB",
    "modal.details.size.mb": "{count} MB",
    "modal.details.pages": {"1": "1 page", "other": "{count} pages"},
    "modal.details.values": "All values",
    "modal.details.more_values": {
        "1": "1 more value is in the whole record.",
        "other": "{count} more values are in the whole record.",
    },
    "modal.details.path": "The path so far",
    "modal.details.path.alt": "A drawing of the steps; those that were walked are marked: {path}",
    "modal.details.changed": "Changed: {what}",
    "modal.details.went": "Went on to: {where}",
    "modal.details.actions": "What is asked for, one by one",
    "modal.details.tool": "in the code: {name}",
    "modal.details.edited": "Changed by {who}{at}:",
    "modal.details.edited.to": "{label} was {old}, is {new}",
    "modal.details.came_to.approved": "*Approved*",
    "modal.details.came_to.edited": "*Approved as changed*",
    "modal.details.came_to.rejected": "*Rejected*",
    "modal.details.came_to.answered": "*Answered*",
    "modal.details.came_to.skipped": "*Skipped*",
    "modal.details.came_to.changes": "*Sent back for changes*",
    "modal.details.came_to.continued": "*Continued*",
    "modal.details.came_to.stopped": "*Stopped*",
    "modal.details.came_to.none": "*Not decided*",
    "modal.details.earlier": "Decided before",
    "modal.details.talk": "Questions and comments",
    "modal.details.question": "What is asked",
    "modal.details.long": "{name}, first {count} of {all} characters",
    "modal.details.enclosed": "The whole of it is a file under the card.",
    "modal.question.title": "Ask {name} a question",
    "modal.question.title.plain": "Ask a question",
    "modal.question.label": "Question",
    "modal.question.hint": (
        "{name} answers in their own conversation. The answer appears on the card, for everyone "
        "who decides."
    ),
    "modal.question.submit": "Ask",
    "modal.question.effect": "The card stays open. The votes and the deadline stay as they are.",
    "modal.comment.title": "Add a comment",
    "modal.comment.label": "Comment",
    "modal.comment.hint": "Everyone who sees the card reads it, and it stays with the record.",
    "modal.comment.submit": "Add",
    "modal.comment.effect": "A comment decides nothing.",
    "modal.answer_question.asks": "{who} asks:",
    "modal.answer_question.title": "Answer",
    "modal.answer_question.label": "Your answer",
    "modal.answer_question.submit": "Send answer",
    "modal.answer_question.effect": "Your answer appears on the card, for everyone who decides.",
    "modal.sent.title": "On its way",
    "modal.sent": (
        "*The whole record is on its way to you*, as a file in your direct messages with this app."
    ),
    "modal.history.title": "History",
    "modal.history.none": "Nothing is recorded yet.",
    "modal.history.zone": "times in your own zone",
    "modal.history.page": "page {page} of {pages}",
    "modal.history.older": "Earlier",
    "modal.history.newer": "Later",
    "history.thread.started": "{who} asked",
    "history.thread.taken_in": "the request was understood",
    "history.thread.said": "{who} wrote more",
    "history.thread.retried": "{who} had it tried again",
    "history.thread.cancelled": "{who} stopped it",
    "history.thread.withdrawn": "{who} withdrew it",
    "history.thread.held": "put on hold",
    "history.thread.released": "{who} let it go on",
    "history.thread.unparked": "{who} let it go on",
    "history.thread.parked": "set aside",
    "history.thread.rewound": "{who} took it back to an earlier step",
    "history.thread.done": "finished",
    "history.thread.failed": "a step failed: {says}",
    "history.review.opened": "card shown: {says}",
    "history.review.revised": "the question changed, a new version is shown",
    "history.review.edited": "{who} changed it: {says}",
    "history.review.decided": "decided: {says}",
    "history.out_of_reach": "rejected, not enough people are left to approve it",
    "history.review.answered": "{who} answered",
    "history.review.expired": "time ran out",
    "history.review.held_open": "time ran out, it stays open",
    "history.review.reminded": "who had not decided was reminded",
    "history.review.escalated": "more people may decide from here on",
    "history.review.led": "by that change it comes under another rule",
    "history.review.moved": "{who} applied the rules as they are now to it",
    "history.rule.shadowed": "a rule that is only tried out would have been for it",
    "history.rule.failed": "the rule for it could not be told, so nobody may decide",
    "history.thread.stopped": "{who} stopped it",
    "history.thread.asked_again": "{who} had the question asked again",
    "history.review.set_aside": "the question was closed: {says}",
    "history.review.asked_requester": "{who} asked: {says}",
    "history.review.requester_answered": "{who} answered: {says}",
    "history.review.commented": "{who} commented: {says}",
    "history.review.taken": "{who} said that they look at it",
    "history.review.handed_over": "{who} handed it to somebody else: {says}",
    "history.review.taken_back": "{who} took it back",
    "history.hand_over.refused": "{who} tried to hand it over, refused: {says}",
    "history.take_back.refused": "{who} tried to take it back, refused: {says}",
    "history.review.given_back": "{who} gave it back",
    "history.question.refused": "{who} tried to ask a question, refused: {says}",
    "history.answer.refused": "{who} tried to answer a question, refused: {says}",
    "history.comment.refused": "{who} tried to comment, refused: {says}",
    "history.take.refused": "{who} tried to take it on, refused: {says}",
    "history.give_back.refused": "{who} tried to give it back, refused: {says}",
    "history.vote.counted": "{who} chose: {says}",
    "history.vote.refused": "{who} tried to decide, refused: {says}",
    "history.look.taken": "{who} looked at the {says}",
    "history.look.refused": "{who} tried to look at the {says}, refused",
    "history.record.sent": "{who} got the whole record as a file",
    "history.try_again.taken": "{who} had it tried again",
    "history.try_again.refused": "{who} tried to have it tried again, refused: {says}",
    "history.withdraw.taken": "{who} withdrew it",
    "history.withdraw.refused": "{who} tried to withdraw it, refused: {says}",
    "history.message.edited": "{who} edited a message; it was taken as it was first sent",
    "history.message.deleted": "{who} deleted a message; it stays with the record",
    "history.other": "{who}: {says}",
    "history.other.nobody": "{says}",
    "modal.details.asked": "Who was asked",
    "modal.details.stage": "*Stage {stage}:* {who}",
    "modal.details.rule": {
        "1": "The rule it was opened under",
        "other": "The rules it was opened under",
    },
    "modal.details.rule.hash": "Fingerprint {hash}.",
    "modal.details.rule.differs": (
        "The file says otherwise now; this request keeps the rule it was opened under."
    ),
    "modal.details.rule.cut": (
        "These are the first {count} characters. The whole record has all of it."
    ),
    "modal.details.asked.approved": "{who}  approved{at}",
    "modal.details.asked.approved_with_conditions": "{who}  approved{at}, with a condition",
    "modal.details.asked.rejected": "{who}  rejected{at}",
    "modal.details.asked.sent_back": "{who}  asked for changes{at}",
    "modal.details.asked.answered": "{who}  answered{at}",
    "modal.details.asked.not_yet": "{who}  not yet",
    "modal.details.asked.may_not": "{who}  may not decide, because they asked",
    "modal.details.names": (
        "In the configuration: graph {graph}, step {node}, conversation {thread}."
    ),
    "modal.details.version": (
        "The version is a fingerprint of what the card shows. "
        "If the request changes, this card closes and a new one comes."
    ),
    "modal.details.seconds": {"1": "1 s", "other": "{count} s"},
    "modal.known.title": "What we know",
    "modal.known.decisions": "Decisions",
    "modal.known.condition": "The condition:",
    "modal.known.reason": "The reason:",
    "modal.known.facts": "Facts",
    "modal.known.disagree": "These two do not agree",
    "modal.known.none": "Nothing is remembered yet.",
    "modal.known.recorded": "Looking here is recorded.",
    "modal.not_counted.title": "Not counted",
    "modal.yours": "What you wrote",
    "modal.too_late": "*Time ran out while you were writing.*",
    "modal.too_late.deadline": "The deadline was {deadline}.",
    "modal.too_late.not_counted": "Your answer was not counted.",
    "modal.changed": "*The request changed while you were writing.*",
    "modal.changed.value": "{who} changed the {field} from {old} to {new}.",
    "modal.changed.more": {"1": "1 more value changed.", "other": "{count} more values changed."},
    "modal.changed.what": "{who} {what}.",
    "modal.changed.not_counted": "Your answer was for the old version and was not counted.",
    "modal.ask_again": "{who} can ask again.",
    # Private messages: the answer, the reason, what is true now, the next step
    "private.nothing_changed": "Nothing was changed.",
    "private.nothing_decided": "Nothing was decided.",
    "private.click_changed_nothing": "Your click changed nothing.",
    "private.click_again": "Please click again in a minute.",
    "private.keeper": "{who} keeps the rules.",
    "private.should_you": "Should you be asked? {who} keeps the rules.",
    "private.told_keeper": "{who}, who keeps the rules, has been told.",
    "private.can_ask_again": "{who} can ask again.",
    "private.decided.approve": "*{who} approved this {noun} {at}*, before your click arrived.",
    "private.decided.reject": "*{who} rejected this {noun} {at}*, before your click arrived.",
    "private.decided.ask_for_changes": (
        "*{who} sent this {noun} back for changes {at}*, before your click arrived."
    ),
    "private.decided.other": "*{who} decided this {noun} {at}*, before your click arrived.",
    "private.decided.someone": "*This {noun} is decided already.*",
    "private.voted": "*You approved this {noun} {at}.*",
    "private.voted.already": "*You have decided on this {noun} already.*",
    "private.voted.missing": {
        "1": "It still needs one other person from {who}.",
        "2": "It still needs two other people from {who}.",
        "other": "It still needs {count} other people from {who}.",
    },
    "private.voted.missing.plain": {
        "1": "It still needs one other person.",
        "other": "It still needs {count} other people.",
    },
    "private.voted.for_you": "*{who} decided for you {at}.*",
    "private.voted.by": "*{who} gave this vote {at}.*",
    "private.voted.once": "It counts once.",
    "private.not_yet": "*It is not your turn yet.*",
    "private.not_yet.one": "{who} decides first.",
    "private.not_yet.group": {
        "1": "One person from {who} decides first.",
        "2": "Two people from {who} decide first.",
        "3": "Three people from {who} decide first.",
        "other": "{count} people from {who} decide first.",
    },
    "private.not_yet.people": {
        "1": "One of {who} decides first.",
        "2": "Two of {who} decide first.",
        "3": "Three of {who} decide first.",
        "other": "{count} of {who} decide first.",
    },
    "private.not_yet.then": "You get a message when it is your turn.",
    "private.their_part_is_done": "*Your part is done.*",
    "private.is_with.now": "It is with {who} now.",
    "private.expired": "*Time ran out {deadline}.*",
    "private.expired.plain": "*Time ran out.*",
    "private.withdrawn": "*{who} withdrew this request.*",
    "private.withdrawn.plain": "*This request was withdrawn.*",
    "private.changed": "*{who} changed this request while you were reading.*",
    "private.changed.rules": "*The rules for this request changed while you were reading.*",
    "private.changed.plain": "*This request changed while you were reading.*",
    "private.changed.value": (
        "The {field} is now {new}. Your click was for {old} and was not counted."
    ),
    "private.changed.not_counted": "Your click was for the old version and was not counted.",
    "private.changed.now": "The {field} is now {new}, it was {old}.",
    "private.changed.action": "In “{action}”, the {field} is now {new}, it was {old}.",
    "private.changed.look": "Look at the card as it is now, and decide again.",
    "private.asked_anew": "*This question is asked anew.*",
    "private.asked_anew.next": "Decide on the new card.",
    "private.decided.edit": (
        "*{who} changed and approved this {noun} {at}*, before your click arrived."
    ),
    "private.decided.respond": "*{who} answered this {noun} {at}*, before your click arrived.",
    "private.decided.continue": "*{who} let this {noun} go on {at}*, before your click arrived.",
    "private.decided.stop": "*{who} stopped this {noun} {at}*, before your click arrived.",
    "private.handed_over": "*You handed this to {who}.*",
    "private.handed_over.back": (
        "To decide it yourself, choose “Hand to someone else” on the card and take it back."
    ),
    "private.editor": "*You changed this action, so someone else has to approve it.*",
    "private.lapsed": "*{who} changed “{action}” after you had decided on it.*",
    "private.lapsed.note": "{who} changed “{action}” in {title} after you had decided on it.",
    "private.lapsed.rules": "*The rules for “{title}” changed after you had decided on it.*",
    "private.lapsed.rules.note": "The rules for {title} changed after you had decided on it.",
    "private.lapsed.rules.vote": (
        "What you said was under the old rules and does not count any more."
    ),
    "private.lapsed.rules.look": "Its card says who decides now.",
    "private.lapsed.vote": "What you said was for the old values and does not count any more.",
    "private.all.approved": "*Approved:* {what}.",
    "private.all.counted": "*Your approval counts, and more are needed:* {what}.",
    "private.all.none": "*Nothing was approved.*",
    "private.all.not": "Not approved: {what}. {why}",
    "private.all.why.not_allowed": "It is for other people to decide.",
    "private.all.why.not_yet": "It is not your turn yet.",
    "private.all.why.their_part_is_done": "Your part in it is done.",
    "private.all.why.already_decided": "It is decided already.",
    "private.all.why.already_voted": "You have decided on it already.",
    "private.all.why.changed": "It was changed while you were reading. Your click was not counted.",
    "private.all.why.other": "It cannot be approved now. Nothing was changed there.",
    "private.may_not_ask_again": "*You cannot let this {noun} be asked again.*",
    "private.may_not_ask_again.why": "That is for the people who decided and those who run this.",
    "private.not_possible.ask_again": (
        "This request is not waiting to be asked again. Nothing was changed."
    ),
    "private.held": "*This request is on hold and cannot be decided now.*",
    "private.held.back": "The card comes back here once it can.",
    "private.not_allowed": "*You cannot decide this {noun}.*",
    "private.is_for.group": {
        "1": "It is for one person from {who}.",
        "2": "It is for two people from {who}.",
        "3": "It is for three people from {who}.",
        "other": "It is for {count} people from {who}.",
    },
    "private.is_for.people": {
        "1": "It is for {who}.",
        "2": "It is for two of {who}.",
        "other": "It is for {count} of {who}.",
    },
    "private.requester": "*You asked for this {noun}, so someone else decides.*",
    "private.is_with": "It is with {who}.",
    "private.nobody_may": "*No rule says who may decide this, so nobody can yet.*",
    "private.guest": "*Guests cannot decide this {noun}.*",
    "private.other_organisation": "*People from other organisations cannot decide this {noun}.*",
    "private.not_a_member": "*This account cannot decide this {noun}.*",
    "private.not_a_member.why": "It is deactivated, or it is an app.",
    "private.cannot_check": "*We could not check who you are*, because Slack did not answer.",
    "private.to_be_safe": "To be safe, nothing was decided.",
    "private.busy": "*We could not save your decision.*",
    "private.bad_answer": "*That answer cannot be used.*",
    "private.unknown": "*This request is not known here.*",
    "private.unknown.why": "The card may be from another installation.",
    "private.cannot_open": "*The window did not open.*",
    "private.cannot_open.next": "Please press the button again.",
    "private.may_not_look": "*You cannot see the details of this {noun}.*",
    "private.may_not_look.why": (
        "They are for the person who asked, the people who decide, and those who run this."
    ),
    "private.may_not_ask": "*You cannot ask a question about this {noun}.*",
    "private.may_not_ask.why": "That is for the people who decide and those who run this.",
    "private.may_not_comment": "*You cannot comment on this {noun}.*",
    "private.may_not_comment.why": (
        "That is for the person who asked, the people who decide, and those who run this."
    ),
    "private.may_not_take": "*You cannot take this {noun} on.*",
    "private.may_not_take.why": "That is for the people who decide it now.",
    "private.taken.already": "You are looking at this {noun} already. Nothing was changed.",
    "private.not_theirs": "*You have not taken this {noun} on, so you cannot give it back.*",
    "private.may_not_answer": "*This question was not put to you.*",
    "private.may_not_answer.why": "Only the person who asked for the {noun} can answer it.",
    "private.answered": "*This question is answered already.*",
    "private.not_needed": "*This question is not needed any more.*",
    "private.not_needed.why": "The {noun} is not waiting for it.",
    "private.nothing_shown": "Nothing was shown.",
    "private.may_not_start": "*You cannot start {process} here.*",
    "private.nothing_started": "Nothing was started.",
    "private.may_not_withdraw": "*Only the person who asked can withdraw this {noun}.*",
    "private.may_not_retry": "*You cannot try this {noun} again.*",
    "private.may_not_retry.why": "That is for the people who decided and those who run this.",
    "private.not_possible.try_again": (
        "This request is not waiting for another try. Nothing was changed."
    ),
    "private.not_their_conversation": (
        "This conversation is about somebody else's request, so nothing was started. "
        "Write a new message to ask for something of your own."
    ),
    "private.not_possible.try_again.held": (
        "This request is on hold, and only those who run this let it go on. Nothing was changed."
    ),
    "private.not_possible.withdraw.decided": (
        "Something was decided meanwhile, so this request was not withdrawn. Nothing was changed."
    ),
    "private.not_possible.withdraw": "This request has ended already. Nothing was changed.",
    "private.unknown_command": "*That is not a command we know.*",
    "private.unknown_command.try": "Try this:",
    "private.unknown_button": "*That button is not known here.*",
    "private.unknown_button.next": "Please look at the newest card of this request.",
    # The requester's conversation
    "progress.decided.approve": "Approved by {who}",
    "progress.decided.approve_with_conditions": "Approved with conditions by {who}",
    "progress.decided.reject": "Rejected by {who}",
    "progress.decided.ask_for_changes": "Sent back by {who}",
    "progress.decided.out_of_reach": "Rejected. Not enough people are left to approve it.",
    "progress.decided.answer": "Answered by {who}",
    "progress.decided.decide": "Decided by {who}",
    "progress.waiting.group": {
        "1": "*Waiting for 1 person* from {who} {since}.",
        "other": "*Waiting for {count} people* from {who} {since}.",
    },
    "progress.waiting.more": {
        "1": "*Waiting for 1 more person* from {who} {since}.",
        "other": "*Waiting for {count} more people* from {who} {since}.",
    },
    "progress.waiting.people": {
        "1": "*Waiting for {who}* {since}.",
        "other": "*Waiting for {count} of {who}* {since}.",
    },
    "progress.waiting.nobody": "*Waiting* {since}. No rule says yet who may decide.",
    "progress.waiting.you": "*Waiting for you:* {what}.",
    "progress.waiting.none": "None yet.",
    "progress.waiting.answered": "{who} answered {at}.",
    "progress.waiting.then": "Then the next stage decides: {who}.",
    "progress.waiting.voted": "{who} approved {at}.",
    "progress.waiting.voted_with": "{who} approved {at}, with a condition.",
    "progress.attempt": "*{label}, attempt {attempt} of {attempts}.*",
    "progress.attempt.why": "{why}.",
    "progress.attempt.next": "Trying again {next}.",
    "progress.attempt.look": "Someone has to look. {who} has been told.",
    "progress.attempt.look.plain": "Someone has to look.",
    "progress.next.decision": "Decision by a person, if needed",
    "progress.nothing_to_do": "you need to do nothing",
    "progress.if_nobody": "if nobody decides {by}, {what}",
    "progress.start": "Getting ready",
    "progress.asks": {"1": "*{who} asks you something.*", "other": "*{who} ask you something.*"},
    "progress.note.now": "{title}: {step}.",
    "progress.note.waiting": {
        "1": "{title}: waiting for 1 approval {since}.",
        "other": "{title}: waiting for {count} approvals {since}.",
    },
    "progress.note.waiting.you": "{title}: waiting for you. {what}.",
    "progress.note.waiting.answer": "{title}: waiting for an answer {since}.",
    "progress.note.done": "{title}: done.",
    "progress.note.rejected": "{title}: rejected.",
    "progress.note.sent_back": "{title}: sent back for changes.",
    "progress.note.expired": "{title}: time ran out.",
    "progress.note.withdrawn": "{title}: withdrawn.",
    "progress.note.cancelled": "{title}: stopped.",
    "progress.note.failed": "{title}: it could not be finished.",
    "progress.note.held": "{title}: on hold.",
    "progress.ended.rejected": "*Rejected.*",
    "progress.ended.expired": "*Time ran out.*",
    "progress.ended.withdrawn": "*Withdrawn.*",
    "progress.ended.cancelled": "*Stopped.*",
    "progress.ended.failed": "*It could not be finished.* Someone has to look.",
    "progress.ended.held": "*On hold.* Nothing is lost.",
    "progress.ended.sent_back": "*Sent back for changes.*",
    "ask.example": "For example:",
    "ask.where": "Answer here, in this conversation.",
    "ask.answered": "Answered",
    "ask.answered.at": "Answered {at}.",
    "ask.note": "*{who} asks for changes* before anyone decides.",
    "question.asks": "{to}, *{who} asks:*",
    "question.where": "Or just write here. Your answer appears on the card.",
    "question.later": (
        "Press Answer for this one. What you write here answers the question before it."
    ),
    "question.by_button": "Your answer appears on the card.",
    "question.not_needed": "This question is not needed any more.",
    "question.note": "{name} asks about {title}: {question}",
    "answered.told": "*{who} answered your question* about {title}.",
    "answered.note": "{name} answered your question about {title}.",
    # Who is away and who decides meanwhile
    "away.set": "*You are away {until}.* {who} decides in your place meanwhile.",
    "away.still": "You can still decide yourself, and “I am back” ends it at once.",
    "away.concerns": {
        "0": "No open request asks you now.",
        "1": "This concerns 1 open request:",
        "other": "This concerns {count} open requests:",
    },
    "away.note": "You are away {until}. {name} decides in your place meanwhile.",
    "away.back": "*You are back.* {who} does not decide in your place any more.",
    "away.not": "*You are not away*, so nothing was changed.",
    "away.unchanged": "Nothing was changed.",
    "away.button.back": "I am back",
    "away.button.change": "Change it",
    "away.no_day": (
        "“{day}” is no day that can be read here. Write for example Friday, tomorrow, 12 Dec or "
        "2026-12-05."
    ),
    "away.day.two_ways": (
        "“{day}” can be read as two days. Write the month in letters, for example 5 Dec."
    ),
    "away.day.past": "That day is over. Choose today or a later day.",
    "away.day.too_long": "Choose a day within a year from today.",
    "away.cover.oneself": "Choose somebody else: you cannot stand in for yourself.",
    "away.cover.guest": "Guests cannot stand in for others. Choose a full member.",
    "away.cover.other_organisation": (
        "People of other organisations cannot stand in for others. Choose a full member."
    ),
    "away.cover.deactivated": "This account is deactivated. Choose somebody who is here.",
    "away.cover.bot": "An app cannot stand in for others. Choose a person.",
    "away.cover.cannot_check": (
        "We could not check who that is, because Slack did not answer. Try again in a minute."
    ),
    "away.cover.none": "Choose who decides in your place.",
    "away.cannot_check": (
        "We could not check who you are, because Slack did not answer. Try again in a minute."
    ),
    "away.not_a_member": "This account cannot set an absence here.",
    "away.refused": "*Nothing was set.* {why}",
    "modal.away.title": "While you are away",
    "modal.away.submit": "Set it",
    "modal.away.day": "Away until",
    "modal.away.day.hint": "Until the end of that day, in your time zone.",
    "modal.away.cover": "Who decides in your place",
    "modal.away.cover.hint": (
        "A full member of this workspace. Their vote counts for you, and the record names both."
    ),
    "modal.away.cover.placeholder": "Choose a person",
    "modal.away.effect": "{process} tells them, and those who run it see it too.",
    "modal.away.now": "*You are away {until}*, and {who} decides in your place.",
    "modal.away.nobody_by_name": "“{name}” is nobody by the name alone. Choose the person.",
    "cover.told": "*{who} is away {until}, and you decide in their place.*",
    "cover.told.how": "Your vote counts for them. You get what they would get until then.",
    "cover.told.waits": {
        "0": "Nothing waits for them now.",
        "1": "This waits for them now:",
        "other": "These wait for them now:",
    },
    "cover.note": "{name} is away {until}, and you decide in their place.",
    "cover.over": "*You do not decide in the place of {who} any more.*",
    "cover.over.note": "You do not decide in the place of {name} any more.",
    "sayso.help": "*What /sayso does*",
    "sayso.help.away": "/sayso away until Friday, @Carol covers",
    "sayso.help.away.what": "Somebody else decides in your place until the end of that day.",
    "sayso.help.alone": "/sayso away",
    "sayso.help.alone.what": "Opens a window to choose the day and the person.",
    "sayso.help.back": "/sayso back",
    "sayso.help.back.what": "You decide yourself again.",
    "sayso.help.note": "What /sayso does: away, back, help.",
    "handed.told": "*{who} handed {title} to you.*",
    "handed.told.counts": "Your vote counts for {who}.",
    "handed.note": "{name} handed {title} to you.",
    "handed.over": "*{title} is not with you any more.*",
    "handed.over.why": "It is with {who} again.",
    "handed.over.note": "{title} is not with you any more.",
    "modal.hand_over.title": "Hand to someone else",
    "modal.hand_over.submit": "Hand over",
    "modal.hand_over.person": "Who decides in your place",
    "modal.hand_over.person.hint": (
        "Only people the rules allow can be chosen. Everyone sees on the card that you handed it "
        "over."
    ),
    "modal.hand_over.note": "Note",
    "modal.hand_over.effect": "You have no say on it until you take it back.",
    "modal.hand_over.given": "*You handed this to {who}{at}.*",
    "modal.hand_over.given.what": "They decide it in your place.",
    "modal.hand_over.given.effect": (
        "If you take it back, you decide it yourself again, and {who} is told."
    ),
    "modal.hand_over.back": "Take it back",
    "hand_over.taker.oneself": "Choose somebody else.",
    "hand_over.taker.requester": "They asked for this {noun}, so they cannot decide it.",
    "hand_over.taker.guest": "Guests cannot decide this {noun} for you.",
    "hand_over.taker.other_organisation": (
        "People from other organisations cannot decide this {noun} for you."
    ),
    "hand_over.taker.deactivated": "This account is deactivated. Choose somebody who is here.",
    "hand_over.taker.bot": "An app cannot decide this {noun}. Choose a person.",
    "hand_over.taker.cannot_check": (
        "We could not check who that is, because Slack did not answer. Try again in a minute."
    ),
    "hand_over.taker.not_allowed": "The rule lets nobody decide this {noun} for you.",
    "hand_over.taker.decided": "They have decided on this {noun} already.",
    "hand_over.taker.handed_on": "They handed this {noun} to somebody else themselves.",
    "hand_over.taker.twice": (
        "They decide this {noun} already, and it needs more people than them. Choose somebody else."
    ),
    "hand_over.taker.none": "Choose a person.",
    "private.may_not_hand_over": "*You cannot hand this {noun} to somebody else.*",
    "private.may_not_hand_over.why": "That is for the people who decide it now.",
    "private.not_handed_over": "*You have handed this {noun} to nobody.*",
    "taken.told": "*{who} is looking at {title} now.*",
    "taken.was_theirs": "It was with you. Reminders go to {who}, and you can still decide.",
    "taken.note": "{name} is looking at {title} now.",
    "outcome.to": "{who} {what}",
    "outcome.done.approve": "*Approved and done.*",
    "outcome.done.reject": "*Rejected by {who}.*",
    "outcome.done.answer": "*Done.*",
    "outcome.by": "Approved by {who}.",
    "outcome.by.conditions": "Approved with conditions by {who}.",
    "outcome.condition": "One condition, from {who}:",
    "outcome.rejected": "*Rejected by {who}.*",
    "outcome.out_of_reach": "*Rejected.*",
    "outcome.declined": "*Declined automatically.*",
    "outcome.sent_back": "*{who} asks for changes* before anyone decides.",
    "outcome.expired": "*Time ran out.*",
    "outcome.expired.by": "Not enough people decided {by}. No person rejected it.",
    "outcome.expired.plain": "No person rejected it.",
    "outcome.stopped": "*Approved, but not done.*",
    "outcome.stopped.answer": "*The next step failed.*",
    "outcome.stopped.failed": {
        "1": "It failed: {why}.",
        "other": "It failed {count} times: {why}.",
    },
    "outcome.stopped.plain": {"1": "It failed.", "other": "It failed {count} times."},
    "outcome.stopped.stands": "Nobody needs to approve again.",
    "outcome.told": "{who} has been told.",
    "outcome.held": "*On hold.*",
    "outcome.held.why": "{process} was changed while your request waited.",
    "outcome.held.nothing": "Nothing is lost and you need to do nothing.",
    "outcome.withdrawn": "*Withdrawn.*",
    "outcome.withdrawn.by": "*Withdrawn by {who}.*",
    "outcome.withdrawn.own": "*You withdrew this request.*",
    "outcome.cancelled": "*Stopped by {who}.*",
    "outcome.cancelled.plain": "*Stopped.*",
    "outcome.note.done": "{title}: approved and done.",
    "outcome.note.done.answer": "{title}: done.",
    "outcome.note.rejected": "{title}: rejected by {names}.",
    "outcome.note.out_of_reach": "{title}: rejected.",
    "outcome.note.declined": "{title}: declined automatically.",
    "outcome.note.sent_back": "{title}: {names} asks for changes.",
    "outcome.note.expired": "{title}: time ran out.",
    "outcome.note.stopped": "{title}: approved, but not done.",
    "outcome.note.stopped.answer": "{title}: the next step failed.",
    "outcome.note.held": "{title}: on hold. You need to do nothing.",
    "outcome.note.withdrawn": "{title}: withdrawn.",
    "outcome.note.cancelled": "{title}: stopped.",
    "kept": "*Your message is kept.*",
    "kept.on_card": "*Your message is kept* and shown on the card.",
    "kept.told": "Your answer is on the card of Request {number}. {name} has been told.",
    "kept.finished": (
        "This {noun} is finished, so your message was not added. "
        "Write a new message in the channel to ask again."
    ),
    "kept.several": (
        "Your message is kept. The {noun} is still waiting for {count} answers from other people."
    ),
    "kept.instead": (
        "Your message was taken, and the question that was open was withdrawn for it. "
        "The {noun} goes on with what you wrote."
    ),
    "kept.edited": (
        "Your message was taken as you first sent it, so the change is not known to the {noun}. "
        "Write it here as a new message."
    ),
    "kept.waiting.approvals": {
        "1": "The {noun} is still waiting for 1 approval.",
        "other": "The {noun} is still waiting for {count} approvals.",
    },
    "kept.waiting.answer": "The {noun} is still waiting for an answer.",
    "kept.waiting.plain": "The {noun} goes on as it was.",
    "unclear.write": "Please write it like this:",
    # What can be asked for, and the form of it
    "offer.choose": "*What do you want to ask for?*",
    "offer.form": "*{process} needs a few facts to begin.*",
    "offer.problem": "What you wrote does not fit. {problem}",
    "offer.sent": "Sent as request {number}.",
    "button.fill_in": "Fill in the request",
    "modal.start.title": "Your request",
    "modal.start.label": "What do you need?",
    "modal.start.hint": "In your own words.",
    "modal.start.submit": "Send",
    "modal.start.effect": "{process} begins when you send it.",
    "modal.start.files": {
        "1": "The file of the message goes with it.",
        "other": "The {count} files of the message go with it.",
    },
    "modal.choose.title": "Ask Sayso",
    "modal.choose.submit": "Next",
    "modal.not_started.title": "Nothing was started",
    "private.start.not_theirs": (
        "This was offered to somebody else, so nothing was started. "
        "Write a message of your own to ask for something."
    ),
    "private.start.cannot_check": (
        "We could not check who you are just now. Wait a minute and press Send again."
    ),
    "private.start.sent": "This request was sent already, so nothing more was started.",
    "private.start.gone": (
        "What you began with is not known any more, so nothing was started. Please ask again."
    ),
    "private.start.empty": (
        "There is no text and no file in that message, so nothing was started."
    ),
    "private.start.unfit": "What you wrote does not fit, so nothing was started. {problem}",
    # The operator
    "notice.held": {
        "1": "*1 request is on hold.*",
        "other": "*{count} requests are on hold.*",
    },
    "notice.held.why": (
        "{process} was changed, and these were waiting inside it. "
        "Their cards say so; nothing is lost."
    ),
    "notice.held.do": "It shows which step, and how to go on.",
    "notice.failed": {
        "1": "*1 request failed and stopped.*",
        "other": "*{count} requests failed and stopped.*",
    },
    "notice.failed.why": "All attempts are used up. Nothing runs again until somebody says so.",
    "notice.failed.do": "It shows what failed; Try again is on the card.",
    "notice.nobody_may": {
        "1": "*Nobody may decide 1 request.*",
        "other": "*Nobody may decide {count} requests.*",
    },
    "notice.nobody_may.why": "No rule matches, so the request waits and nobody can answer it.",
    "notice.nobody_may.do": "It shows which rule is missing.",
    "notice.unreachable": "*Nobody is left who may decide a request.*",
    "notice.unreachable.why": (
        "All whom its rule names have voted, and their votes do not agree. It waits."
    ),
    "notice.unreachable.do": ("Let the rule name more people and run this, or stop the request."),
    "notice.overdue": "*A request waited longer than its rule allows.*",
    "notice.overdue.why": "The rule leaves it open, so it waits until somebody decides.",
    "notice.overdue.do": "It shows who was asked and who has said something.",
    "notice.absence": "*Somebody is away, and another one decides in their place.*",
    "notice.absence.why": "Their rules stay as they are, and the record names both.",
    "notice.absence.do": "It lists who is away, who covers and until when.",
    "notice.absence_over": "*Somebody decides themselves again.*",
    "notice.absence_over.why": "They are back, or said otherwise.",
    "notice.absence_over.do": "It lists who is away, who covers and until when.",
    "notice.head": "*The record was sealed up to here.*",
    "notice.head.why": (
        "Keep this line where nobody who runs the database can change it. "
        "With it, anybody can check that no entry was changed."
    ),
    "notice.head.do": "",
    "notice.configuration.refused": "*The configuration was changed and has mistakes.*",
    "notice.configuration.refused.why": (
        "Nothing of the change was taken up. What was in force before stays in force."
    ),
    "notice.configuration.refused.do": "It lists every mistake.",
    "notice.configuration.mended": "*The configuration has no mistakes any more.*",
    "notice.configuration.mended.why": "What it says now is in force. Nobody needs to do anything.",
    "notice.configuration.restart": "*A part of the configuration waits for a restart.*",
    "notice.configuration.restart.why": (
        "Everything else in it is in force. These take effect when Sayso is started again."
    ),
    "notice.parked": {
        "1": "*1 request was set aside.*",
        "other": "*{count} requests were set aside.*",
    },
    "notice.parked.why": "A process that worked on it ended more than once without finishing.",
    "notice.parked.do": "It shows what was running.",
    "notice.slack": "*Slack refused something we need.*",
    "notice.slack.why": "What should be shown waits, and nothing is lost.",
    "notice.slack.do": "It tries every right that is needed.",
    "notice.other": "*Something needs a hand.*",
    "notice.other.why": "Nothing is lost.",
    "notice.other.do": "It shows what can be done.",
    "notice.command": "{command}",
    "notice.request": "Request {id}, {title}",
    "notice.more": {"1": "and 1 more", "other": "and {count} more"},
    # Files
    "file.evidence.title": "What request {id} asks, whole",
    "file.evidence": (
        "*The whole of what request {id} asks*, version {version}. The card shows the beginning."
    ),
    "file.record.title": "Request {id}, the whole record",
    "file.record": "*Request {id}, the whole record.* You asked for it, and that is recorded.",
    # Home
    "home.waiting": {
        "0": "Nothing waits for you",
        "1": "1 request waits for you",
        "other": "{count} requests wait for you",
    },
    "home.calm": (
        "When someone asks for something you can approve, it shows up here and you get a message."
    ),
    "home.ask": "Ask for something",
    "home.how": "Write in {channel} the way you would to a colleague, and attach what you have.",
    "home.how.example": (
        "Write in {channel} the way you would to a colleague, and attach what you have:"
    ),
    "home.overdue": "Overdue {since}.",
    "home.since": "Waiting {since}.",
    "home.tally": "{have} of {count} approvals.",
    "home.needs": "Needs {count} approvals.",
    "home.needs.answer": "Needs an answer.",
    "home.stage": "Stage {stage} of {stages}.",
    "home.asked_by": "Asked by {who}.",
    "home.mine": "My requests",
    "home.done": "Decided lately",
    "home.range": "{first} to {last} of {count}",
    "home.next": "Next 20",
    "home.previous": "Previous 20",
}

CATALOGUES: dict[str, dict[str, Entry]] = {"en": ENGLISH}
