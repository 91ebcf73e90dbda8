"""What `sayso policy` says: which rule a question gets and why, whom it asks, when time runs out.

`simulate` asks the present file about a question that nobody has asked; `explain` tells of a review
under which rule it was opened, what was said so far, and whether the present file says otherwise.
Both only look.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeAlias

from bot import app, logs, rules, schedules
from bot.afterwards import Afterwards
from bot.people import People
from bot.present import policy_of
from bot.settings import load
from bot.stories import people_in_words, shadow_in_words
from bot.workspaces import team_of
from checkpoints.errors import SaysoError
from graphs import audit, deadlines, reviews, threads, timers
from graphs.actions import Action, asking
from graphs.cases import Case, action_of
from graphs.directory import Directory
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
    policy = policy_of(settings.configuration)
    question = plain(case["question"])
    asked = asking(question, plain(case.get("schema")))
    at = now or datetime.now(UTC)
    about = Case(
        case["graph"], case["node"], question,
        state=plain(case.get("state")),
        thread=plain(case.get("thread") or {"graph": case["graph"]}),
        requester=case.get("requester"),
        customer=plain(case.get("customer")),
    )  # fmt: skip
    spec = settings.configuration.graphs[about.graph]

    def clock(rule: Rule, number: int) -> list[dict[str, JSON]]:
        done = schedules.supposed(
            spec, asked, rule, number, graph=about.graph, node=about.node, question=question,
            schema=plain(case.get("schema")), at=at,
        )  # fmt: skip
        return schedules.planned(rule, done, at)

    found = []
    for number, action in enumerate(asked.actions or (None,)):
        rule = about.found(policy, action).rule
        told = clock(rule, number) if rule is not None else []
        quiet = {"quiet": schedules.QUIET} if told else {}
        found.append({**_found(policy, about, action, at), "clock": told, **quiet})
    return found


async def explain(review_id: int) -> dict[str, Any]:
    """A review with the rule of each item, why it got it, and what the present file says.

    Raises:
        UnknownReview
    """
    settings = load()
    logs.set_up(settings.environment.log, "command")
    policy = policy_of(settings.configuration)
    async with app.opened(settings, "command") as database:
        review = await reviews.get(database, review_id)
        thread = await threads.get(database, review.thread_id)
        state = await app.states_of(database)(thread.id)
        dues = await deadlines.of_review(database, review_id)
        told = await audit.of_review(database, review_id)
        spec = settings.configuration.graphs.get(review.graph)
        clocks = {
            item.item: await schedules.of_item(
                database, review, item, deadlines.then(review, item, spec)
            )
            for item in review.items
        }
        known = People(database, None, await team_of(database), Afterwards())
        email = (await known.emails(database, [review.requester])).get(review.requester)
    case = Case.of(thread, review.node, review.question, plain(state))
    items = []
    for item in review.items:
        now = _found(policy, case, action_of(review, item), review.opened_at)
        done = deadlines.then(review, item, spec)
        items.append(
            {
                "item": item.item,
                "tool": item.tool,
                "status": item.status,
                **_rule(item.rule, policy.directory, review.requester, email),
                "stage": item.stage + 1,
                "stages": rules.stages(item),
                "votes": [rules.said(vote) for vote in item.standing_votes()],
                "hash": fingerprint(item.opened_under),
                "deadline": dues[item.item].isoformat() if item.item in dues else None,
                "then": done.verb if item.item in dues else None,
                "clock": clocks[item.item],
                "quiet": schedules.QUIET if clocks[item.item] else None,
                "present_rule": now["number"],
                "present_differs": fingerprint(item.opened_under) != now["hash"],
                "shadows": [
                    shadow_in_words(one.detail)
                    for one in told
                    if one.what == "rule.shadowed" and one.detail.get("item") == item.item
                ],
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


def _found(policy: Policy, case: Case, action: Action | None, at: datetime) -> dict[str, Any]:
    found = case.found(policy, action)
    rule = found.rule
    due = None
    if rule is not None and rule.deadline is not None:
        due = timers.due_at(rule, at, rule.deadline.after).isoformat()
    return {
        "tool": action.tool if action is not None else None,
        "number": found.place,
        "hash": fingerprint(rule),
        **_rule(rule, policy.directory, case.requester or ""),
        "deadline": due,
        "then": plain(rule.deadline.then) if rule is not None and rule.deadline else None,
        "looked_at": [
            *(_looked_at(one) for one in found.looked_at),
            *([found.why] if found.why and not found.looked_at else []),
        ],
    }


def _rule(
    rule: Rule | None, directory: Directory, requester: str, email: str | None = None
) -> dict[str, Any]:
    if rule is None or rule.names_nobody():
        return {
            "who": [],
            "are": [],
            "then_ask": [],
            "quorum": None,
            "channel": rule.channel if rule else None,
            "because": "",
        }
    who = _who(rule.stage(0))
    are = _who(directory.rule(rule.stage(0), requester, email)) or ["nobody"]
    return {
        "who": who,
        "are": are if are != who else [],
        "quorum": rule.stage(0).quorum,
        "then_ask": [
            people_in_words(rule.stage(later).model_dump(mode="json"))
            for later in range(1, rule.length)
        ],
        "channel": rule.channel,
        "because": rule.because,
    }


def _who(rule: Rule) -> list[str]:
    """Whom a stage asks, by what the file calls them."""
    asked = rule.approvers
    roles = [f"role {role}" for role in asked.roles]
    manager = ["the requester's manager"] if asked.manager else []
    return [*asked.users, *asked.groups, *asked.emails, *roles, *manager]


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
        Verdict.SHADOWED: _shadowed(one),
        Verdict.MATCHES: "matches" + (f": {one.rule.when}" if one.rule.when else ""),
    }
    return f"rule {one.place} {said[one.verdict]}"


def _shadowed(one: LookedAt) -> str:
    asked = people_in_words(one.rule.model_dump(mode="json"))
    where = f" in {one.rule.channel}" if one.rule.channel is not None else ""
    if one.why:
        return f"is in shadow, and could not be told ({one.why}): {one.rule.when}"
    return f"is in shadow and decides nothing; it would have asked {asked}{where}"
