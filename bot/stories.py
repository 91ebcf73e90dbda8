"""A thread's whole story on one page: who asked, what was shown, who said what, what came of it.

It is made from the record alone, one line an entry, oldest first, with the time in UTC and the
entry's number in the record, so that each line can be looked up in an export.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from bot.values import excerpt, one_line
from graphs.audit import SYSTEM, Entry
from graphs.reviews import Review
from graphs.specs import GraphSpec
from graphs.threads import Thread

JSON: TypeAlias = Any

SAID_CHARACTERS: Final = 300


def told(
    thread: Thread, asked: Sequence[Review], entries: Sequence[Entry], spec: GraphSpec | None
) -> str:
    """The page, as plain text."""
    titles = {review.id: one_line(review.shown(spec).title) for review in asked}
    about = [
        f"Request {thread.number} to {one_line((spec and spec.title) or thread.graph)}",
        "",
        f"Asked by    {one_line(thread.requester)}, {_at(thread.created_at)}",
        f"Customer    {one_line(thread.customer_name or 'none')}",
        f"Stands      {thread.status}" + (f", {_said(thread.mark_reason)}" if thread.mark_reason
                                          else ""),
        f"Outcome     {_said(thread.outcome) if thread.outcome else 'none yet'}",
        f"Thread      {thread.id}",
        "",
    ]  # fmt: skip
    return "\n".join([*about, *(_line(entry, titles) for entry in entries), ""])


def _line(entry: Entry, titles: Mapping[int, str]) -> str:
    words = _WORDS.get(entry.what)
    said = (
        words({**entry.detail, "actor": entry.actor})
        if words is not None
        else f"{entry.what.replace('.', ' ')}"
    )
    title = titles.get(entry.review_id) if entry.review_id is not None else None
    of = f" [{title}]" if title else ""
    who = "" if entry.actor == SYSTEM else f"{one_line(_name(entry))}: "
    return f"{_at(entry.at)}  #{entry.id:<6} {who}{said}{of}"


def _name(entry: Entry) -> str:
    name = entry.detail.get("name")
    return f"{name} ({entry.actor})" if isinstance(name, str) and name else entry.actor


def _at(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def _said(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return excerpt(one_line(text), SAID_CHARACTERS)


def _noted(words: str, note: JSON) -> str:
    return f"{words}, “{_said(note)}”" if note else words


def _counted(detail: Mapping[str, Any]) -> str:
    words = f"said {detail.get('verb')}"
    if detail.get("seat") not in (None, "", detail.get("actor")):
        words += f" for {_said(detail['seat'])}"
    stages = detail.get("stages") or 1
    if (detail.get("need") or 1) > 1 or stages > 1:
        words += f", {detail.get('have')} of {detail.get('need')}"
    if stages > 1:
        words += f" in stage {detail.get('stage')} of {stages}"
        words += ", which opens the next" if detail.get("passed") else ""
    return _noted(f"{words}, on what has the hash {_short(detail.get('question_hash'))}",
                  detail.get("note"))  # fmt: skip


def _decided(detail: Mapping[str, Any]) -> str:
    why = ", because not enough people are left to approve it" if detail.get("out_of_reach") else ""
    return f"that decided it: {detail.get('outcome')}{why}, {_said(detail.get('answer'))}"


def _refused(detail: Mapping[str, Any]) -> str:
    why = detail.get("reason") or detail.get("why") or "not possible"
    return f"tried to say {detail.get('verb') or 'something'} and was refused: {_said(why)}"


def _opened(detail: Mapping[str, Any]) -> str:
    rules = [rule for rule in detail.get("rules") or () if isinstance(rule, Mapping)]
    who = "; ".join(dict.fromkeys(people_in_words(rule) for rule in rules))
    asked = f"asks {who}" if who else "asks, and no rule says whom"
    if detail.get("audience") == "requester":
        asked = "asks the requester"
    hashes = dict.fromkeys(_short(one) for one in detail.get("rule_hashes") or () if one)
    under = f"; under the rule {', '.join(hashes)}" if hashes else ""
    return f"{detail.get('node')} {asked}; hash {_short(detail.get('hash'))}{under}"


def people_in_words(rule: Mapping[str, Any]) -> str:
    """Whom a rule asks, as the record keeps it: "2 of U0ALICE, role risk, then U0ERIN"."""
    stages = rule.get("stages") or [rule]
    return ", then ".join(_stage(stage) for stage in stages if isinstance(stage, Mapping))


def _stage(stage: Mapping[str, Any]) -> str:
    people = stage.get("approvers")
    if not isinstance(people, Mapping):
        return "nobody"
    named = [*(people.get("users") or ()), *(people.get("groups") or ())]
    named += people.get("emails") or ()
    named += [f"role {role}" for role in people.get("roles") or ()]
    if people.get("manager"):
        named.append("the requester's manager")
    quorum = stage.get("quorum")
    count = f"{quorum} of " if isinstance(quorum, int) and quorum > 1 else ""
    return count + ", ".join(str(one) for one in named) if named else "nobody"


def shadow_in_words(detail: Mapping[str, Any]) -> str:
    """What a rule in shadow would have done, as the record keeps it."""
    place, why = detail.get("place"), detail.get("why")
    if why:
        return f"rule {place}, in shadow, could not be told: {_said(why)}"
    where = f" in {_said(detail.get('channel'))}" if detail.get("channel") else ""
    matched = detail.get("matched")
    real = f"rule {matched.get('place')}" if isinstance(matched, Mapping) else "no rule"
    return (
        f"rule {place}, in shadow, would have asked {_said(people_in_words(detail))}{where}; "
        f"{real} was taken"
    )


def _moved(detail: Mapping[str, Any]) -> str:
    before, after = (_side(detail.get(name)) for name in ("before", "after"))
    lapsed = ", ".join(str(one) for one in detail.get("lapsed") or ())
    words = f"applied the present rules: it asked {before} and asks {after}"
    return f"{words}; what {lapsed} said does not count any more" if lapsed else words


def _side(side: JSON) -> str:
    rule = side.get("rule") if isinstance(side, Mapping) else None
    told = _said(people_in_words(rule)) if isinstance(rule, Mapping) else "nobody"
    hashed = side.get("hash") if isinstance(side, Mapping) else ""
    return f"{told} (rule {_short(hashed)})" if hashed else told


def _away(detail: Mapping[str, Any]) -> str:
    cover, until = _said(detail.get("covered_by") or ""), _said(detail.get("until") or "")
    return f"is away until {until}, and {cover} decides meanwhile"


def _edited(detail: Mapping[str, Any]) -> str:
    return (
        f"changed {detail.get('tool')} from {_said(detail.get('before'))} to "
        f"{_said(detail.get('after'))}"
    )


def _answered(detail: Mapping[str, Any]) -> str:
    named = ", ".join(str(one) for one in detail.get("files") or ())
    files = f", with {_said(named)}" if named else ""
    return (
        f"answered “{_said(detail.get('text') or '')}”{files} "
        f"to “{_said(detail.get('question') or '')}”"
    )


def _rested(detail: Mapping[str, Any]) -> str:
    following = ", ".join(str(one) for one in detail.get("next") or ())
    return f"came to rest before {following}" if following else "came to rest"


def _failing(detail: Mapping[str, Any]) -> str:
    error = detail.get("error")
    node = error.get("node") if isinstance(error, Mapping) else ""
    why = error.get("message") if isinstance(error, Mapping) else ""
    return f"the step {node} failed: {_said(why or '')}"


def _because(words: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda detail: _noted(words, detail.get("reason") or detail.get("why"))


def _short(value: JSON) -> str:
    return value[:12] if isinstance(value, str) else "unknown"


_WORDS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "thread.started": lambda _: "asked for it",
    "thread.said": lambda _: "wrote more",
    "thread.taken_in": lambda detail: (
        f"taken in, about {_said(detail.get('named') or detail.get('customer') or 'nobody')}"
    ),
    "thread.rested": _rested,
    "thread.done": lambda detail: f"done: {_said(detail.get('outcome') or 'without a word')}",
    "thread.failing": _failing,
    "thread.failed": _failing,
    "thread.held": _because("put on hold"),
    "thread.parked": _because("parked"),
    "thread.cancelled": _because("stopped it"),
    "thread.withdrawn": _because("took it back"),
    "thread.retried": lambda detail: f"let it go on, it was {detail.get('was')}",
    "review.opened": _opened,
    "review.revised": lambda detail: f"asked otherwise; hash {_short(detail.get('hash'))}",
    "review.edited": _edited,
    "review.decided": _decided,
    "review.answered": lambda _: "answered by a message",
    "review.set_aside": _because("the answer could not be used"),
    "review.expired": lambda detail: f"time ran out: {_said(detail.get('then') or '')}",
    "review.held_open": lambda _: "time ran out, and it stays open",
    "review.reminded": lambda detail: (
        "one reminder too many of its day was dropped"
        if detail.get("dropped")
        else f"who has not decided by {_said(detail['at'])} of their own day is reminded"
        if detail.get("at")
        else "who had not decided was reminded"
    ),
    "review.escalated": lambda detail: f"may be decided by {_said(detail.get('to') or '')} too",
    "rule.failed": _because("nobody may decide, its rule could not be told"),
    "rule.shadowed": shadow_in_words,
    "review.moved": _moved,
    "review.led": lambda detail: (
        f"by that change it comes under another rule: it asked {_side(detail.get('before'))} and "
        f"asks {_side(detail.get('after'))}"
    ),
    "apply.refused": _because("wanted to apply the present rules and was refused"),
    "thread.stopped": _because("stopped it"),
    "thread.asked_again": lambda _: "had the question asked again",
    "thread.rewound": lambda detail: f"took it back to step {detail.get('step')}",
    "review.asked_requester": lambda detail: f"asked “{_said(detail.get('text') or '')}”",
    "review.requester_answered": _answered,
    "review.commented": lambda detail: f"commented “{_said(detail.get('text') or '')}”",
    "review.taken": lambda detail: (
        f"took it from {_said(detail['from'])} to look at it"
        if detail.get("from")
        else "said that they look at it"
    ),
    "absence.set": _away,
    "absence.changed": _away,
    "absence.ended": lambda _: "is back",
    "absence.over": lambda detail: f"{_said(detail.get('person') or '')} is back, by the clock",
    "absence.refused": _because("wanted to be away and was refused"),
    "review.handed_over": lambda detail: _noted(
        f"handed it from {_said(detail.get('from') or '')} to {_said(detail.get('to') or '')}",
        detail.get("note"),
    ),
    "review.taken_back": lambda detail: (
        f"took it back for {_said(detail.get('from') or '')} from {_said(detail.get('to') or '')}"
    ),
    "hand_over.refused": _because("wanted to hand it over and was refused"),
    "take_back.refused": _because("wanted to take it back and was refused"),
    "review.given_back": lambda _: "gave it back",
    "question.refused": _because("wanted to ask a question and was refused"),
    "answer.refused": _because("wanted to answer a question and was refused"),
    "comment.refused": _because("wanted to comment and was refused"),
    "take.refused": _because("wanted to take it on and was refused"),
    "give_back.refused": _because("wanted to give it back and was refused"),
    "vote.counted": _counted,
    "vote.refused": _refused,
    "look.taken": lambda _: "looked at it",
    "look.refused": _because("wanted to look and was refused"),
    "record.sent": lambda _: "was sent the whole record",
}
