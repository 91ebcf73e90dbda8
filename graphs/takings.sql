-- name: lock_standing
-- Who said last that they are looking at a review, locked.
select id, review_id, taker, taker_name, under, taken_at, ended_at
from sayso.takings
where review_id = $1
  and ended_at is null
for no key update;

-- name: standing
-- Who said last that they are looking at a review.
select id, review_id, taker, taker_name, under, taken_at, ended_at
from sayso.takings
where review_id = $1
  and ended_at is null;

-- name: find
-- One of them, also after it ended.
select id, review_id, taker, taker_name, under, taken_at, ended_at
from sayso.takings
where id = $1;

-- name: take
-- Say that somebody is looking at it.
insert into sayso.takings (review_id, taker, taker_name, under, taken_at)
values ($1, $2, $3, $4, coalesce($5, now()))
returning id;

-- name: finish
-- Say that they are not any more.
update sayso.takings
set ended_at = coalesce($2, now())
where id = $1
  and ended_at is null;
