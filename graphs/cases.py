"""A case: one question as the rules see it, and which of them it comes under.

Settle asks for what was asked just now, `sayso policy apply` for what waits already, and simulate
for what nobody has asked; all by the same five facts, so that the same file gives the same question
the same rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from graphs.actions import Action, named
from graphs.policy import LookedAt, Policy, RuleFailed, Verdict, fingerprint
from graphs.reviews import Item, Review
from graphs.specs import Rule
from graphs.threads import Thread

JSON: TypeAlias = Any

TOO_MANY: Final = (
    "it asks about tool calls that cannot be decided one by one, and a rule in [[reviews]] is for "
    "one of these tools"
)


@dataclass(frozen=True)
class Found:
    """The rule of an action and its place in the file; without one, `why` it could not be told."""

    rule: Rule | None = None
    place: int | None = None
    why: str = ""
    looked_at: tuple[LookedAt, ...] = ()

    @property
    def shadows(self) -> tuple[LookedAt, ...]:
        """The rules in shadow that would have been taken before it."""
        return tuple(one for one in self.looked_at if one.verdict is Verdict.SHADOWED)


@dataclass(frozen=True)
class Case:
    """What the conditions of rules are asked of, as safe JSON."""

    graph: str
    node: str
    question: JSON
    state: JSON = None
    thread: JSON = None
    requester: str | None = None
    customer: JSON = None

    @classmethod
    def of(cls, thread: Thread, node: str, question: JSON, state: JSON) -> Case:
        """A question of a thread."""
        about = {"id": thread.id, "number": thread.number, "graph": thread.graph}
        customer = (
            {"id": thread.customer_id, "name": thread.customer_name} if thread.customer_id else None
        )
        return cls(thread.graph, node, question, state, about, thread.requester, customer)

    def found(self, policy: Policy, action: Action | None = None) -> Found:
        """Which rule one action of the question comes under; None stands for the question."""
        if action is None and policy.has_rule_for_one_of(
            named(self.question), self.graph, self.node
        ):
            return Found(why=TOO_MANY)
        tool = action.tool if action is not None else None
        looked_at = tuple(policy.search(self.graph, self.node, tool, self.facts(action)))
        last = looked_at[-1] if looked_at else None
        if last is not None and last.verdict is Verdict.MATCHES:
            return Found(last.rule, last.place, looked_at=looked_at)
        if last is not None and last.verdict is Verdict.FAILED:
            why = str(RuleFailed(last.place, last.rule, last.why))
            return Found(why=why, looked_at=looked_at)
        return Found(looked_at=looked_at)

    def facts(self, action: Action | None = None) -> dict[str, JSON]:
        """The five, by the names that conditions know them by (`graphs.conditions`)."""
        return {
            "question": action.arguments if action is not None else self.question,
            "state": self.state,
            "thread": self.thread,
            "requester": self.requester,
            "customer": self.customer,
        }


def action_of(review: Review, item: Item) -> Action | None:
    """The action of an item as it stands on the card now: what an edit made of it is what runs."""
    if not review.asking.actions:
        return None
    return replace(review.asking.actions[item.item], arguments=item.arguments)


def shadowed(item: int, action: Action | None, shadow: LookedAt, found: Found) -> Mapping[str, Any]:
    """What the record keeps of a rule in shadow: whom it would have asked, and who is asked."""
    rule, real = shadow.rule, found.rule
    return {
        "item": item,
        "tool": action.tool if action is not None else None,
        "place": shadow.place,
        "hash": fingerprint(rule),
        "why": shadow.why,
        **rule.model_dump(mode="json", include={"approvers", "quorum", "stages", "channel"}),
        "matched": {"place": found.place, "hash": fingerprint(real)} if real is not None else None,
        "matched_why": found.why,
    }
