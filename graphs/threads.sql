-- name: by_key
-- The thread that was started with this key.
select id
from sayso.threads
where team = $1
  and start_key = $2;

-- name: create
-- Open a thread; no row where the key has one already.
insert into sayso.threads
  (id, team, graph, requester, start_key, customer_id, customer_name, configurable, context)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
on conflict on constraint threads_start_key do nothing
returning id;

-- name: lock
-- Lock the thread's row, after its lease and before its reviews.
select id, requester, mark
from sayso.threads
where id = $1
for no key update;

-- name: read
-- Threads with their status, computed from their rows and from who is owned now ($1).
with seen as (
  select
    t.*,
    coalesce(r.open_reviews, '{}') as open_reviews,
    m.retry_at,
    case
      when t.mark in ('cancelled', 'held', 'parked') then t.mark
      when t.id = any ($1::text[]) then 'running'
      when coalesce(m.feedable, false) then 'queued'
      when t.mark = 'failed' then 'failed'
      when r.open_reviews is not null then 'paused'
      else coalesce(t.mark, 'queued')
    end as status
  from sayso.threads as t
  left join lateral (
    select array_agg(each.id order by each.id) as open_reviews
    from sayso.reviews as each
    where each.thread_id = t.id
      and each.status = 'open'
  ) as r on true
  left join lateral (
    select
      bool_or(
        each.kind = 'retry'
        or (
          t.mark is distinct from 'failed'
          and (each.kind = 'answer' or r.open_reviews is null)
        )
      ) as feedable,
      min(each.due_at) filter (where each.kind = 'retry') as retry_at
    from sayso.mailbox as each
    where each.thread_id = t.id
      and each.consumed_at is null
  ) as m on true
  where ($2::text[] is null or t.id = any ($2::text[]))
    and ($4::text is null or t.graph = $4)
    and ($5::text is null or t.requester = $5)
)
select
  id, number, team, graph, requester, customer_id, customer_name, customer_note, status,
  mark_reason, next, error, outcome, head, configurable, context, open_reviews, retry_at,
  created_at, changed_at, ended_at, rewound
from seen
where $3::text is null or status = $3
order by created_at desc, number desc
limit $6;

-- name: messages
-- What was written to a thread, oldest first.
select body -> 'message' as message
from sayso.mailbox
where thread_id = $1
  and body ? 'message'
order by id;

-- name: decided_beside
-- Whether something was decided that a new input would undo: its answer waits to be fed, or other
-- questions of the very step that asked are open.
select true
from sayso.reviews as r
where r.thread_id = $1
  and r.status in ('decided', 'expired')
  and (
    exists (
      select 1
      from sayso.mailbox as m
      where m.review_id = r.id
        and m.consumed_at is null
    )
    or exists (
      select 1
      from sayso.reviews as o
      where o.thread_id = r.thread_id
        and o.status = 'open'
        and o.checkpoint_id = r.checkpoint_id
    )
  )
limit 1;

-- name: resolve
-- The threads that a person may mean: by id, by number, or by how the id begins.
select id, number::text = $1 as by_number
from sayso.threads
where id = $1
  or number::text = $1
  or (length($1) >= 4 and starts_with(id, $1))
order by id = $1 desc, by_number desc, created_at desc
limit 5;

-- name: given
-- What a thread was started with.
select body
from sayso.mailbox
where thread_id = $1
  and kind = 'start'
order by id
limit 1;
