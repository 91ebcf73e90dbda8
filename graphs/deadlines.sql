-- name: begin
-- Set a timer of an item; a reminder comes after those that went out under an earlier rule.
insert into sayso.timers (review_id, item, kind, turn, due_at, wall)
values (
  $1, $2, $3,
  $4 + (
    select coalesce(max(o.turn) + 1, 0)
    from sayso.timers as o
    where o.review_id = $1
      and o.item = $2
      and o.kind = $3
      and o.fired_at is not null
  ),
  $5, $6
)
on conflict do nothing;

-- name: stop
-- Take away the timers of some items; reminders that went out stay.
delete from sayso.timers
where review_id = $1
  and item = any ($2::integer[])
  and (kind <> 'remind' or fired_at is null);

-- name: stop_reminders
-- Take away the reminders of an item that did not go out yet.
delete from sayso.timers
where review_id = $1
  and item = $2
  and kind = 'remind'
  and fired_at is null;

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

-- name: all_of_review
-- Everything that happens to a review by the clock, in its order.
select item, kind, turn, due_at, fired_at, dropped, wall
from sayso.timers
where review_id = $1
order by item, due_at, kind desc, turn;

-- name: due
-- What is due, without a lock.
select t.review_id, t.item, t.kind, t.turn, r.graph
from sayso.timers as t
join sayso.reviews as r on r.id = t.review_id
join sayso.threads as h on h.id = r.thread_id
where t.fired_at is null
  and t.due_at <= coalesce($2, now())
  and r.graph = any ($1::text[])
  and h.mark is distinct from 'held'
  and h.mark is distinct from 'parked'
order by t.due_at, t.review_id, t.item
limit $3;

-- name: claim
-- Look again under the locks of lease and review; no row where another one was first.
select t.due_at, t.wall, h.mark
from sayso.timers as t
join sayso.reviews as r on r.id = t.review_id
join sayso.threads as h on h.id = r.thread_id
where t.review_id = $1
  and t.item = $2
  and t.kind = $3
  and t.turn = $4
  and t.fired_at is null
  and t.due_at <= coalesce($5, now())
for no key update of t skip locked;

-- name: fire
-- Say that it was acted on.
update sayso.timers
set fired_at = coalesce($5, now())
where review_id = $1
  and item = $2
  and kind = $3
  and turn = $4;

-- name: reminded_lately
-- Whether a reminder of this item went out so short a time ago that another one is too many. Other
-- items may ask other people, and a time of day is looked at when each of them is sent it.
select true
from sayso.timers
where review_id = $1
  and item = $2
  and kind = 'remind'
  and turn <> $3
  and wall is null
  and not dropped
  and fired_at > coalesce($4, now()) - make_interval(secs => $5)
limit 1;

-- name: drop_reminder
-- Say that it was one too many.
update sayso.timers
set dropped = true
where review_id = $1
  and item = $2
  and kind = 'remind'
  and turn = $3;

-- name: escalate
-- Let the people of the escalation decide too.
update sayso.items
set escalated_at = coalesce($3, now())
where review_id = $1
  and item = $2
  and escalated_at is null;

-- name: resume
-- The clock of a thread stood since then; it goes on with as much time as was left.
update sayso.timers as t
set due_at = t.due_at + greatest(now() - $2, interval '0')
from sayso.reviews as r
where r.id = t.review_id
  and r.thread_id = $1
  and t.fired_at is null;
