"""A crowd: a database in which so many reviews are pending, as the product would have made them.

It is filled by SQL, a hundred thousand at a time, and then vacuumed and analysed. Every review has
its thread and lease, a question of a few lines, one item, and three timers of which none is due.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Final

import asyncpg

from checkpoints.database import Database
from checkpoints.migrate import migrate
from graphs.policy import fingerprint
from graphs.specs import Deadline, Escalation, GraphSpec, People, Rule

BATCH: Final = 100_000
MINE: Final = 20  # reviews that ask Alice, however many there are
SPECS: Final = {"loan": GraphSpec(path="bench:graph")}
RULE: Final = Rule(
    graph="loan",
    approvers=People(users=("U0ALICE", "U0DANA"), groups=("S0CREDIT",)),
    remind=(4 * 3600.0,),
    escalate=Escalation(after=8 * 3600, to=People(users=("U0ERIN",))),
    deadline=Deadline(after=3 * 86400, then={"decision": "reject"}),
    because="it is above 50,000",
)
KINDS: Final = ("remind", "escalate", "deadline")

_FILL: Final = """
insert into sayso.leases (thread_id, scope)
select 'bench-' || n, 'T0BENCH/loan'
from generate_series($1::bigint, $2) as n;
insert into sayso.threads (id, team, graph, requester)
select 'bench-' || n, 'T0BENCH', 'loan', 'U' || n % 5000
from generate_series($1::bigint, $2) as n;
insert into sayso.reviews
  (id, thread_id, graph, node, interrupt_id, checkpoint_id, audience, question, hash, opened_at)
overriding system value
select
  n, 'bench-' || n, 'loan', 'human_review', md5(n::text), '1', 'reviewers',
  json_build_object('question', 'Pay this loan?', 'amount', n, 'customer', 'Customer ' || n,
    'purpose', repeat('a delivery van, ', 8)),
  md5(n::text) || md5(n::text), now() - make_interval(mins => (n % 3000)::int)
from generate_series($1::bigint, $2) as n;
insert into sayso.items (review_id, rule, rule_hash, asks)
select
  n, $3::text::jsonb, $4::text,
  case
    when n % ($5::bigint / 20) = 0 then array['user:U0ALICE', 'user:U0DANA', 'group:S0CREDIT']
    else array['user:U1' || n % 4000, 'user:U2' || n % 4000, 'group:S1' || n % 100]
  end
from generate_series($1::bigint, $2) as n;
insert into sayso.timers (review_id, item, kind, turn, due_at)
select n, 0, kind, 0, now() + make_interval(days => 1 + (n % 30)::int, secs => n % 86400)
from generate_series($1::bigint, $2) as n, unnest(array['remind', 'escalate', 'deadline']) as kind
"""

# So many are made due, all over the table; every second one is a reminder, the others deadlines.
_MAKE_DUE: Final = """
update sayso.timers as t
set due_at = now() - interval '1 minute'
from generate_series(1, $1::bigint) as n
where t.review_id = n * ($2::bigint / $1)
  and t.kind = case when n % 2 = 0 then 'remind' else 'deadline' end
"""

_UNDO: Final = """
delete from sayso.mailbox;
update sayso.items
set status = 'open', verb = null, outcome = null, answer = null, decided_at = null
where status = 'decided';
update sayso.reviews set status = 'open', closed_at = null where status <> 'open';
update sayso.leases set ready_at = null where ready_at is not null;
update sayso.timers
set due_at = now() + interval '40 days', fired_at = null, dropped = false
where fired_at is not null;
"""


@dataclass(frozen=True)
class Crowd:
    """So many pending reviews behind one door; `driver` is for what no verb does."""

    size: int
    database: Database
    driver: Any

    async def make_due(self, count: int) -> None:
        """Let so many timers be due."""
        await self.driver.execute(_MAKE_DUE, count, self.size)

    async def undo(self) -> None:
        """Make everything pending again, and take away what that leaves behind."""
        await self.driver.execute(_UNDO)
        for name in ("timers", "reviews", "items", "mailbox", "leases"):
            await self.driver.execute(f"vacuum (analyze) sayso.{name}")


async def fill(url: str, size: int) -> None:
    """Make a fresh database a crowd."""
    await migrate(url)
    driver = await asyncpg.connect(url)
    try:
        # What the statements name exists: nobody needs to look it up for each row.
        await driver.execute("set session_replication_role = replica")
        for first in range(1, size + 1, BATCH):
            last = min(first + BATCH - 1, size)
            for statement in _FILL.split(";\n"):
                given = [first, last, RULE.model_dump_json(), fingerprint(RULE), size]
                used = max(number for number in range(1, 6) if f"${number}" in statement)
                given = given[:2] if used == 2 else given
                await driver.execute(statement, *given)
            print(f"  {last:,} of {size:,}", file=sys.stderr)
        await driver.execute("vacuum (analyze)")
    finally:
        await driver.close()
