"""How fast a rule is found: a file of many rules, of which the last one matches."""

from __future__ import annotations

import time
from typing import Final

from graphs.policy import Policy
from graphs.specs import People, Rule
from tests.bench import measures
from tests.bench.measures import Figure

RULES: Final = 200
SEARCHES: Final = 20  # measured together
FACTS: Final = {
    "question": {"amount": 60_000, "sum": "60,000", "risk": {"score": 71}, "to": ["Asha"] * 10},
    "state": {"text": "Loan for Asha Traders, 60000 for a van", "documents": [{"size": 1}] * 10},
    "thread": {"id": "1", "number": 1, "graph": "loan"},
    "requester": "U0BOB",
    "customer": {"id": "1", "name": "Asha Traders"},
}


def figure(rounds: int) -> Figure:
    """Conditions that were looked at in a second, on one core."""
    people = People(users=("U0ALICE",))
    rules = [
        Rule(graph="loan", when=f"question.amount > {10**6 + number} && requester != 'U0ERIN'",
             approvers=people)
        for number in range(RULES - 1)
    ]  # fmt: skip
    policy = Policy((*rules, Rule(graph="loan", approvers=people)))
    took = []
    for _ in range(rounds + 1):
        begun = time.perf_counter()
        for _ in range(SEARCHES):
            assert policy.rule_for("loan", "human_review", None, FACTS) == policy.rules[-1]
        took.append(time.perf_counter() - begun)
    what = f"search of a rule, {RULES} rules with a condition"
    return measures.rate(what, SEARCHES * RULES, took[1:], "rules/s")
