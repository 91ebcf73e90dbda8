-- name: put
-- Put a row into a thread's mailbox.
insert into sayso.mailbox
  (thread_id, kind, body, key, review_id, answer, due_at, unwoken, consumed_at)
values
  ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7), $8, case when $9 then now() end)
returning id;

-- name: has_key
-- Whether the same delivery put a row in before.
select true
from sayso.mailbox
where thread_id = $1
  and key = $2;

-- name: waiting
-- The rows that wait and are due, oldest first.
select
  m.id, m.kind, m.body, m.review_id, r.interrupt_id, r.hash as question_hash, m.answer, m.due_at,
  coalesce(r.node, '') as node, coalesce(r.ordinal, 0) as ordinal, r.fingerprint
from sayso.mailbox as m
left join sayso.reviews as r on r.id = m.review_id
where m.thread_id = $1
  and m.consumed_at is null
  and m.due_at <= now()
order by m.id;

-- name: consume
-- Say that these rows were fed.
update sayso.mailbox
set consumed_at = now(),
    unwoken = false
where id = any ($1::bigint[])
  and consumed_at is null;

-- name: consume_all
-- Say that nothing of what waits will be fed any more.
update sayso.mailbox
set consumed_at = now(),
    unwoken = false
where thread_id = $1
  and consumed_at is null;

-- name: consume_answer
-- Say that an answer will not be fed.
update sayso.mailbox
set consumed_at = now(),
    unwoken = false
where review_id = $1
  and consumed_at is null;

-- name: consume_retries
-- Drop the retries that wait.
update sayso.mailbox
set consumed_at = now(),
    unwoken = false
where thread_id = $1
  and kind = 'retry'
  and consumed_at is null;

-- name: hurry
-- Make a retry that waits due now.
update sayso.mailbox
set due_at = now()
where thread_id = $1
  and kind = 'retry'
  and consumed_at is null
returning true;

-- name: taken_back
-- The interrupts that a say which waits goes over.
select jsonb_array_elements_text(body -> 'over') as interrupt_id
from sayso.mailbox
where thread_id = $1
  and kind = 'say'
  and consumed_at is null
  and body ? 'over';

-- name: next_due
-- When the next row can be fed, for a thread that rests so.
select min(due_at)
from sayso.mailbox
where thread_id = $1
  and consumed_at is null
  and (
    kind = 'retry'
    or (kind = 'answer' and $2 <> 'failed')
    or $2 = 'free'
  );

-- name: unwoken
-- The rows whose thread was not woken. No lock: waking twice is harmless, locking rows before
-- leases is not.
select id, thread_id
from sayso.mailbox
where unwoken
order by id
limit $1;

-- name: woken
-- Say that their threads were woken.
update sayso.mailbox
set unwoken = false
where id = any ($1::bigint[])
  and unwoken;
