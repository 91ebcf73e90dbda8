-- name: open_reviews
-- How many questions are open, and of how many threads.
select count(*) as reviews, count(distinct thread_id) as threads
from sayso.reviews
where status = 'open';

-- name: set_aside
-- How many threads wait for an operator, by why; an index holds only these.
select mark, count(*) as threads
from sayso.threads
where mark in ('failed', 'held', 'parked')
group by mark;

-- name: queued
-- What can be fed now to threads that nobody owns ($1 are owned): how many threads, how much of it
-- is due, and for how long the oldest is. It also finds what nobody was woken for.
select
  count(distinct m.thread_id) as threads,
  count(*) filter (where m.due_at <= now()) as rows,
  coalesce(
    extract(epoch from max(now() - greatest(m.created_at, m.due_at))
      filter (where m.due_at <= now())),
    0
  )::float8 as seconds
from sayso.mailbox as m
join sayso.threads as t on t.id = m.thread_id
where m.consumed_at is null
  and m.thread_id <> all ($1::text[])
  and t.mark is distinct from 'cancelled'
  and t.mark is distinct from 'held'
  and t.mark is distinct from 'parked'
  and (
    m.kind = 'retry'
    or (
      t.mark is distinct from 'failed'
      and (
        m.kind = 'answer'
        or not exists (
          select
          from sayso.reviews as r
          where r.thread_id = m.thread_id
            and r.status = 'open'
        )
      )
    )
  );

-- name: unsealed
-- How many entries of the record have no seal, and for how long the first of them has none. Only
-- that one is looked up: the record is long.
select
  (select count(*) from sayso.audit_unsealed) as entries,
  coalesce(
    (
      select extract(epoch from now() - a.at)
      from sayso.audit as a
      where a.id = (select min(u.audit_id) from sayso.audit_unsealed as u)
    ),
    0
  )::float8 as seconds;

-- name: overdue
-- How many timers of these graphs are due and were not acted on, and how late the oldest is. The
-- clock of what is set aside stands.
select
  count(*) as timers,
  coalesce(extract(epoch from max(now() - t.due_at)), 0)::float8 as seconds
from sayso.timers as t
join sayso.reviews as r on r.id = t.review_id
join sayso.threads as h on h.id = r.thread_id
where t.fired_at is null
  and t.due_at <= now()
  and r.graph = any ($1::text[])
  and h.mark is distinct from 'held'
  and h.mark is distinct from 'parked';
