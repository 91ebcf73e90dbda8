-- name: make
-- Let another one decide in the giver's place.
insert into sayso.handovers
  (review_id, giver, giver_name, taker, taker_name, note, made_by, made_at)
values ($1, $2, $3, $4, $5, $6, $7, coalesce($8, now()))
returning id;

-- name: take_back
-- The giver decides it themselves again.
update sayso.handovers
set taken_back_at = coalesce($2, now()),
    taken_back_by = $3
where id = $1
  and taken_back_at is null
returning id;

-- name: find
-- One of them, also after it was taken back.
select
  id, review_id, giver, giver_name, taker, taker_name, note, made_by, made_at, taken_back_at,
  taken_back_by
from sayso.handovers
where id = $1;
