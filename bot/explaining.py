"""What `sayso policy` says: which rule a question gets and why, whom it asks, when time runs out.

`simulate` asks the present file about a question that nobody has asked; `explain` tells of a review
under which rule it was opened, what was said so far, and whether the present file says otherwise.
Both only look.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from bot import app, logs
from bot.settings import load
from checkpoints.errors import SaysoError
from graphs import audit, deadlines, reviews, threads
from graphs.actions import Action, asking
from graphs.plain import plain
from graphs.policy import LookedAt, Policy, Verdict, fingerprint
from graphs.specs import Rule

JSON: TypeAlias = Any

KEYS = ("graph", "node", "question", "schema", "state", "requester", "customer", "thread")


class NoCase(SaysoError):
    """The case to simulate is not one; its text says what to write."""


def simulate(case: JSON, now: datetime | None = None) -> list[dict[str, Any]]:
    """Which rule each action of a question would get; with one entry where it has no actions.

    Args:
        case: an object with `graph`, `node` and `question`, and where the rules look at them
            `state`, `requester`, `customer`, `thread`, and the question's `schema`.

    Raises:
        NoCase
    """
    settings = load()
    if not isinstance(case, dict) or not {"graph", "node", "question"} <= case.keys():
        raise NoCase('Give an object like {"graph": "loan", "node": "review", "question": {}}.')
    if unknown := sorted(set(case) - set(KEYS)):
        raise NoCase(f"There is no {', '.join(unknown)} in a case. It may hold {', '.join(KEYS)}.")
    if case["graph"] not in settings.configuration.graphs:
        known = ", ".join(settings.configuration.graphs)
        raise NoCase(f"There is no graph called {case['graph']}. There are: {known}.")
    policy = app.policy_of(settings)
    question = plain(case["question"])
    asked = asking(question, plain(case.get("schema")))
    at = now or datetime.now(UTC)
    return [_found(policy, case, question, action, at) for action in asked.actions or (None,)]


async def explain(review_id: int) -> dict[str, Any]:
    """A review with the rule of each item, why it got it, and what the present file says.

    Raises:
        UnknownReview
    """
    settings = load()
    logs.set_up(settings.environment.log, "command")
    policy = app.policy_of(settings)
    async with app.opened(settings, "command") as database:
        review = await reviews.get(database, review_id)
        thread = await threads.get(database, review.thread_id)
        state = await app.states_of(database)(thread.id)
        dues = await deadlines.of_review(database, review_id)
        told = await audit.of_review(database, review_id)
    customer = (
        {"id": thread.customer_id, "name": thread.customer_name} if thread.customer_id else None
    )
    case = {
        "graph": review.graph,
        "node": review.node,
        "state": state,
        "requester": thread.requester,
        "customer": customer,
        "thread": {"id": thread.id, "number": thread.number, "graph": thread.graph},
    }
    spec = settings.configuration.graphs.get(review.graph)
    items = []
    for item in review.items:
        action = review.asking.actions[item.item] if review.asking.actions else None
        now = _found(policy, case, review.question, action, review.opened_at)
        done = deadlines.then(review, item, spec)
        items.append(
            {
                "item": item.item,
                "tool": item.tool,
                "status": item.status,
                **_rule(item.rule),
                "votes": [f"{vote.voter}: {vote.verb}" for vote in item.standing_votes()],
                "deadline": dues[item.item].isoformat() if item.item in dues else None,
                "then": done.verb if item.item in dues else None,
                "present_rule": now["number"],
                "present_differs": fingerprint(item.opened_under) != now["hash"],
            }
        )
    return {
        "review": review.id,
        "thread": review.thread_id,
        "node": review.node,
        "status": review.status,
        "opened_at": review.opened_at.isoformat(),
        "failed": [why for one in told for why in one.detail.get("why", ())
                   if one.what == "rule.failed"],
        "items": items,
    }  # fmt: skip


def _found(
    policy: Policy,
    case: Mapping[str, Any],
    question: JSON,
    action: Action | None,
    at: datetime,
) -> dict[str, Any]:
    facts = {
        "question": action.arguments if action is not None else question,
        "state": plain(case.get("state")),
        "thread": plain(case.get("thread") or {"graph": case["graph"]}),
        "requester": case.get("requester"),
        "customer": plain(case.get("customer")),
    }
    tool = action.tool if action is not None else None
    looked_at = list(policy.search(case["graph"], case["node"], tool, facts))
    last = looked_at[-1] if looked_at else None
    rule = last.rule if last is not None and last.verdict is Verdict.MATCHES else None
    due = None
    if rule is not None and rule.deadline is not None:
        due = deadlines.due_at(rule, at, rule.deadline.after).isoformat()
    return {
        "tool": tool,
        "number": last.place if rule is not None and last is not None else None,
        "hash": fingerprint(rule),
        **_rule(rule),
        "deadline": due,
        "then": plain(rule.deadline.then) if rule is not None and rule.deadline else None,
        "looked_at": [_looked_at(one) for one in looked_at],
    }


def _rule(rule: Rule | None) -> dict[str, Any]:
    if rule is None or rule.approvers.is_empty():
        return {"who": [], "quorum": None, "channel": rule.channel if rule else None, "because": ""}
    return {
        "who": [*rule.approvers.users, *rule.approvers.groups],
        "quorum": rule.quorum,
        "channel": rule.channel,
        "because": rule.because,
    }


def _looked_at(one: LookedAt) -> str:
    where = ", ".join(
        f"{name} {value}"
        for name, value in (
            ("graph", one.rule.graph),
            ("node", one.rule.node),
            ("tool", one.rule.tool),
        )
        if value is not None
    )
    said = {
        Verdict.ELSEWHERE: f"is for {where}",
        Verdict.DOES_NOT_HOLD: f"does not hold: {one.rule.when}",
        Verdict.FAILED: f"could not be told ({one.why}): {one.rule.when}. Nobody may decide",
        Verdict.MATCHES: "matches" + (f": {one.rule.when}" if one.rule.when else ""),
    }
    return f"rule {one.place} {said[one.verdict]}"
