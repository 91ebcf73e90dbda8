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
    ended_at = case when $6 = 'done' then now() end,
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
