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
-- How many threads that nobody owns ($1 are owned) have something that can be fed to them now.
select count(distinct m.thread_id)
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
