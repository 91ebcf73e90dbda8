-- name: lock
-- Lock the thread after its lease.
select id, mark, error, head
from sayso.threads
where id = $1
for no key update;

-- name: take_in
-- Keep what the intake made of the start, once.
update sayso.threads
set input_type = $2,
    input = $3,
    customer_id = coalesce(customer_id, $4),
    customer_name = coalesce(customer_name, $5),
    customer_note = $6,
    changed_at = now()
where id = $1
  and input is null;

-- name: input
-- What the graph was given.
select input_type, input
from sayso.threads
where id = $1;

-- name: rest
-- Say where the thread rests.
update sayso.threads
set head = $2,
    next = $3,
    error = $4,
    outcome = $5,
    mark = $6,
    mark_reason = $7,
    ended_at = case when $6 in ('done', 'cancelled') then now() end,
    changed_at = now()
where id = $1;

-- name: mark
-- Hold or park the thread.
update sayso.threads
set mark = $2,
    mark_reason = $3,
    changed_at = now()
where id = $1
  and (mark is null or mark <> 'cancelled');

-- name: open_reviews
-- How many questions of the thread are open.
select count(*)
from sayso.reviews
where thread_id = $1
  and status = 'open';

-- name: reviews_of
-- The reviews that some mailbox rows answer, by interrupt.
select m.id, m.review_id, r.interrupt_id
from sayso.mailbox as m
join sayso.reviews as r on r.id = m.review_id
where m.id = any ($1::bigint[]);

-- name: decided_of
-- The decided review of an interrupt, with the answer that came of it and who decided last.
select r.id, m.answer, i.decided_by, i.decided_by_name
from sayso.reviews as r
left join sayso.mailbox as m on m.review_id = r.id
left join lateral (
  select each.decided_by, each.decided_by_name
  from sayso.items as each
  where each.review_id = r.id
  order by each.decided_at desc nulls last, each.item desc
  limit 1
) as i on true
where r.thread_id = $1
  and r.interrupt_id = $2
  and r.status in ('decided', 'expired')
for no key update of r;

-- name: open_stops
-- The static breakpoints of a thread that people are being asked about.
select interrupt_id
from sayso.reviews
where thread_id = $1
  and kind = 'breakpoint'
  and status = 'open';

-- name: open_stops_count
-- How many of them there are.
select count(*)
from sayso.reviews
where thread_id = $1
  and kind = 'breakpoint'
  and status = 'open';

-- name: rules_of
-- The rules and tools of a review's items, without its question, which may be long.
select i.rule, i.rule_hash, i.tool, r.audience
from sayso.items as i
join sayso.reviews as r on r.id = i.review_id
where i.review_id = $1
order by i.item;
