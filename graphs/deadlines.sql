-- name: begin
-- Set a timer of an item.
insert into sayso.timers (review_id, item, kind, due_at)
values ($1, $2, $3, $4)
on conflict do nothing;

-- name: passed
-- The items of a review whose deadline was acted on.
select item
from sayso.timers
where review_id = $1
  and kind = 'deadline'
  and fired_at is not null;

-- name: of_review
-- The deadlines of a review.
select item, due_at
from sayso.timers
where review_id = $1
  and kind = 'deadline'
order by item;

-- name: due
-- What is due, without a lock.
select t.review_id, t.item, r.graph
from sayso.timers as t
join sayso.reviews as r on r.id = t.review_id
join sayso.threads as h on h.id = r.thread_id
where t.fired_at is null
  and t.due_at <= coalesce($2, now())
  and r.graph = any ($1::text[])
  and h.mark is distinct from 'held'
  and h.mark is distinct from 'parked'
order by t.due_at
limit $3;

-- name: claim
-- Look again under the locks of lease and review; no row where another one was first.
select t.due_at, h.mark
from sayso.timers as t
join sayso.reviews as r on r.id = t.review_id
join sayso.threads as h on h.id = r.thread_id
where t.review_id = $1
  and t.item = $2
  and t.kind = $3
  and t.fired_at is null
  and t.due_at <= coalesce($4, now())
for no key update of t skip locked;

-- name: fire
-- Say that it was acted on.
update sayso.timers
set fired_at = coalesce($4, now())
where review_id = $1
  and item = $2
  and kind = $3;

-- name: resume
-- The clock of a thread stood since then; it goes on with as much time as was left.
update sayso.timers as t
set due_at = t.due_at + greatest(now() - $2, interval '0')
from sayso.reviews as r
where r.id = t.review_id
  and r.thread_id = $1
  and t.fired_at is null;
