"""Values of views that are made of rows alone: names, votes, where a request stands."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from bot import views
from bot.wording import first_of, phrase
from graphs import audit, reviews, saying
from graphs.actions import same
from graphs.questions import asker
from graphs.reviews import Item, Review
from graphs.specs import GraphSpec
from graphs.steps import Step
from graphs.tallies import Ballot, stages_of
from graphs.templates import MISSING, in_words, name_in_words
from graphs.threads import Failure, Status, Thread


def words(spec: GraphSpec | None, graph: str) -> views.Words:
    """What the graph calls itself and its requests."""
    noun, who = graph.replace("_", " ").strip() or "request", asker(graph).lower()
    noun = (
        "request" if who == noun else noun
    )  # "You cannot decide this refund agent" is no sentence
    return views.Words(noun=noun, process=(spec.title if spec else None) or f"the {who}")


def label(spec: GraphSpec | None, node: str) -> str:
    """A node's name in words."""
    return (spec or GraphSpec(path="none:none")).label(node)


def person(user: str | None, names: Mapping[str, str]) -> views.Person:
    """Somebody by their id; who came by the command line or a program has no id in Slack."""
    user = user or ""
    return views.Person(user, names.get(user, user.rpartition(":")[2] if ":" in user else ""))


def asked_in(step: Step, decided: Sequence[Review]) -> Review | None:
    """The decided question that this step asked; another pass of its node asks another."""
    if step.status != "done" or step.finished_at is None:
        return None
    began, ended = step.started_at, step.finished_at
    return next((one for one in decided if began <= one.opened_at <= ended), None)


def votes(review: Review | None, names: Mapping[str, str], shown: Any) -> tuple[views.Vote, ...]:
    """The votes that count, of all items, oldest first."""
    found = review.items if review is not None else ()
    return tuple(vote for item in found for vote in votes_on(item, names, shown))


def votes_on(item: Item, names: Mapping[str, str], shown: Any = None) -> tuple[views.Vote, ...]:
    """The votes that count for one item."""
    standing = item.standing_votes()
    stages = stages_of([vote.answer_hash for vote in standing], item.whole)
    return tuple(
        views.Vote(
            by=person(vote.voter, names),
            verb=vote.verb,
            at=vote.cast_at,
            note=vote.note,
            label=choice.label if shown and (choice := shown.choice(vote.verb)) else "",
            seat=person(vote.seat, names) if vote.seat not in ("", vote.voter) else None,
            stage=stage,
            thing=vote.answer_hash,
        )
        for vote, stage in zip(standing, stages, strict=True)
    )


def out_of_reach(item: Item) -> bool:
    """Whether it was rejected although too few said so: nobody is left who could decide it."""
    if item.outcome != "rejected" or item.whole is None:
        return False
    against = [vote for vote in item.standing_votes() if vote.answer_hash == _REJECTED]
    return len(against) < item.whole.rejections


def open_since(review: Review) -> datetime:
    """Since when it waits for those whom it asks now: a stage begins where the last one ended."""
    item = review.items[0] if len(review.items) == 1 else None
    if item is None or not item.stage:
        return review.opened_at
    standing = item.standing_votes()
    stages = stages_of([vote.answer_hash for vote in standing], item.whole)
    before = [vote for vote, at in zip(standing, stages, strict=True) if at < item.stage]
    return before[-1].cast_at if before else review.opened_at


def verb(review: Review) -> str:
    """The verb that was decided; of several actions, that of what they came to together."""
    if not review.items or not review.asking.actions:
        return (review.items[0].verb or "") if review.items else ""
    return _VERBS.get(review.outcome or "", "")


def decided_at(review: Review) -> datetime | None:
    """When the last item was decided; None while one is open."""
    found = [item.decided_at for item in review.items]
    return max(at for at in found if at) if found and all(found) else None


def asked_again(review: Review, names: Mapping[str, str]) -> views.AskedAgain | None:
    """The answer that the node could not use, where the question is asked again."""
    again = review.again
    if not isinstance(again, dict):
        return None
    by = str(again.get("by") or "")
    named = {by: str(again.get("by_name") or "")} | dict(names)
    answer = again.get("answer")
    said = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return views.AskedAgain(person(by, named), said, str(again.get("problem") or ""))


def change(edits: Sequence[audit.Entry], item: int | None, review: Review) -> views.Change | None:
    """What these edits changed, first of all in the item that somebody looked at."""
    found = [entry for entry in edits if entry.detail.get("item") == item] or list(edits)
    if not found:
        return None
    last = found[-1]
    place = last.detail.get("item")
    found = [entry for entry in found if entry.detail.get("item") == place]
    values = changed(found[0].detail.get("before"), last.detail.get("after"))
    action = next((one for one in review.items if one.item == place), None)
    by = views.Person(last.actor, str(last.detail.get("name") or ""))
    name, old, new = values[0] if values else ("", "", "")
    return views.Change(
        by,
        last.at,
        name,
        old,
        new,
        more=max(len(values) - 1, 0),
        action=name_in_words(action.tool or "") if action and len(review.items) > 1 else "",
        own=place == item,
    )


def changed(before: Any, after: Any) -> list[tuple[str, str, str]]:
    """The values that differ: their name in a sentence, what they were, what they are."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return []
    return [
        (_field(key), in_words(before.get(key, MISSING)), in_words(after.get(key, MISSING)))
        for key in {**before, **after}
        if key not in before or key not in after or not same(before[key], after[key])
    ]


def status(review: Review, thread: Thread) -> views.Status:
    """Where a request stands on the card of this review."""
    held = thread.status in {Status.HELD, Status.PARKED}
    if review.status == "open":
        return views.Status.HELD if held else views.Status.OPEN
    if review.status == "expired":
        return views.Status.EXPIRED
    if review.rewound_at is not None:
        return views.Status.WITHDRAWN
    if review.status == "withdrawn":
        anew = review.closed_because in _ANEW and thread.status is not Status.CANCELLED
        return views.Status.REPLACED if anew else views.Status.WITHDRAWN
    # A rejected action ends nothing: what comes after it may still fail.
    goes_on = bool(review.asking.actions) and thread.status is Status.FAILED
    if review.outcome == "rejected" and not goes_on:
        return views.Status.REJECTED
    if review.outcome == "stopped":
        return views.Status.DONE
    if review.outcome == "changes":
        return views.Status.SENT_BACK
    if thread.status is Status.DONE:
        return views.Status.DONE
    if thread.status is Status.CANCELLED:
        return views.Status.WITHDRAWN
    if held:
        return views.Status.HELD
    if thread.status is Status.FAILED:
        return views.Status.STOPPED
    if thread.error is not None and thread.error.retry_at is not None:
        return views.Status.RETRYING
    return views.Status.RUNNING


def because(review: Review, thread: Thread, *, new: bool) -> str:
    """Why a review was closed without a decision, in a sentence; "" where somebody withdrew it."""
    reason = (review.closed_because or "").strip()
    if review.rewound_at is not None:
        told = thread.rewound if isinstance(thread.rewound, dict) else {}
        slots = {"step": told.get("step", ""), "who": told.get("by_name") or phrase("someone")}
        return phrase("closed.rewound", **slots)
    if review.status != "withdrawn" or thread.status is Status.CANCELLED or not reason:
        return ""
    if key := _BECAUSE.get(reason):
        return phrase(first_of(*[f"{key}.new"] * new, key))
    return f"{reason[:1].upper()}{reason[1:]}{'' if reason.endswith('.') else '.'}"


def warning(review: Review, thread: Thread) -> str:
    """What was done already before the thread was taken back and asked this again, else ""."""
    told = thread.rewound if isinstance(thread.rewound, dict) else {}
    past = [str(one.get("outcome") or "").strip() for one in told.get("past") or ()]
    if review.status != "open" or not past or not _is_since(review.opened_at, told.get("at")):
        return ""
    said = "; ".join(dict.fromkeys(one.rstrip(".") for one in past if one))
    return phrase("warning.rewound", done=said) if said else phrase("warning.rewound.plain")


def why_held(reason: str) -> tuple[str, str]:
    """Why a thread is held in words for everybody, and what changed in its code.

    The reason as it is kept is for those who run this: it names commands, types, checkpoints. Both
    are "" where the code changed and nothing more can be said.
    """
    told = reason.partition("`sayso ")[0]
    changed = [one for one in _SENTENCES.split(told) if one.startswith("The step ")]
    if changed:
        return "", " ".join(changed).strip()
    technical = "`" in told or _TECHNICAL.search(told) is not None
    return (phrase("held.mend") if technical else told.strip()), ""


def was_decided(review: Review, by: datetime) -> bool:
    """Whether it was decided by that time."""
    return review.status == "decided" and any(
        item.decided_at is not None and item.decided_at <= by for item in review.items
    )


def let_go_on(review: Review) -> bool:
    """Whether steps that act outside may have followed: it was decided, and not against it."""
    outcomes = {item.outcome for item in review.items if item.status == "decided"}
    return review.audience == "reviewers" and bool(outcomes - _NOTHING_DONE)


def offers(
    stands: views.Status, review: Review, thread: Thread, *, taken: bool = False
) -> frozenset[str]:
    """The verbs of the card beyond its choices; `taken` where somebody says they look at it."""
    found = {"details", "history"}
    if stands is views.Status.OPEN and review.audience == "reviewers":
        found |= {"comment", "take", "hand_over"} | ({"give_back"} if taken else set())
        if can_be_asked(thread.requester):
            found.add("question")
    if thread.customer_id is not None:
        found.add("known")
    if stands in {views.Status.STOPPED, views.Status.RETRYING}:
        found.add("try_again")
    if stands is views.Status.STOPPED and thread.error is not None and _asks(review, thread.error):
        found.add("ask_again")
    return frozenset(found)


def can_be_asked(requester: str) -> bool:
    """Whether whoever asked is somebody in Slack, so that a question reaches them."""
    return requester.startswith(("U", "W"))


def _asks(review: Review, error: Failure) -> bool:
    """Whether the step that failed is the one that asked, so that its answer can be dropped."""
    return error.node in (review.node, review.node.rsplit("/", 1)[-1])


def reason(thread: Thread) -> str:
    """Why somebody withdrew the request, in their words."""
    given = thread.mark_reason or "" if thread.status is Status.CANCELLED else ""
    return "" if given in {"cancelled", "withdrawn"} else given


def ended(thread: Thread, decided: Review | None) -> str:
    """How the thread ended, in the words of the progress message; "" while it goes on."""
    if thread.status is Status.DONE:
        if decided is not None and decided.status == "expired":
            return "expired"
        return "rejected" if decided and decided.outcome == "rejected" else "done"
    return {
        Status.CANCELLED: "cancelled" if thread.mark_reason != "withdrawn" else "withdrawn",
        Status.FAILED: "failed",
        Status.HELD: "held",
        Status.PARKED: "held",
    }.get(thread.status, "")


def outcome_kind(thread: Thread, decided: Review | None) -> str | None:
    """Which outcome its requester is told; None while there is none."""
    if thread.status is Status.DONE:
        if decided is not None and decided.status == "expired":
            return "expired"
        if decided is not None and decided.outcome == "rejected":
            return "rejected"
        return "done"
    return {
        Status.FAILED: "stopped",
        Status.HELD: "held",
        Status.PARKED: "held",
        Status.CANCELLED: "withdrawn" if thread.mark_reason == "withdrawn" else "cancelled",
    }.get(thread.status)


def asking(review: Review | None) -> str:
    """What the requester is asked, where it waits for them."""
    if review is None or review.audience != "requester":
        return ""
    question = review.question if isinstance(review.question, dict) else {}
    return text(question.get("question"), review)


def problems(value: Any) -> tuple[tuple[str, str], ...]:
    """What is wrong file by file, as a graph may say it: a list of name and says."""
    found = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    return tuple((str(one.get("name") or ""), str(one.get("says") or "")) for one in found)


def text(value: Any, review: Review) -> str:
    """The words of a question to the requester."""
    if isinstance(value, str) and value:
        return value
    return review.question if isinstance(review.question, str) else "Please write more about it."


def _is_since(at: datetime, then: Any) -> bool:
    try:
        return at >= datetime.fromisoformat(str(then))
    except (TypeError, ValueError):
        return True  # better a warning too many


def _field(key: str) -> str:
    words = name_in_words(key) or "value"
    return words[:1].lower() + words[1:]


_SENTENCES = re.compile(r"(?<=\.)\s+")
_TECHNICAL = re.compile(r"\b(threads?|checkpoints?|nodes?|types?|stored|states?)\b", re.IGNORECASE)
_REJECTED = Ballot("", "", "reject", "rejected", None).hash
_VERBS = {
    "approved": "approve",
    "edited": "edit",
    "rejected": "reject",
    "answered": "respond",
    "skipped": "ignore",
}
_NOTHING_DONE = {"rejected", "changes", "skipped", "stopped"}
_ANEW = (reviews.CHANGED, "the answer did not fit")  # closed, and asked once more
_BECAUSE = {
    reviews.CHANGED: "closed.changed",
    "the answer did not fit": "closed.answer",
    "the request moved on": "closed.moved_on",
    saying.NEW_MESSAGE: "closed.message",
}
