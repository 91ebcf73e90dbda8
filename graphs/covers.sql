-- name: covered_by
-- Who is away now and covered by one of these people, the longest first.
select person, covered_by
from sayso.absences
where team = $1
  and covered_by = any ($2::text[])
  and ended_at is null
  and begins_at <= coalesce($3, now())
  and until_at > coalesce($3, now())
order by id
limit $4;

-- name: covered_by_for_sure
-- The same, and none of it ends before this transaction does.
select person, covered_by
from sayso.absences
where team = $1
  and covered_by = any ($2::text[])
  and ended_at is null
  and begins_at <= coalesce($3, now())
  and until_at > coalesce($3, now())
order by id
limit $4
for share;

-- name: away
-- Which of these people are away now.
select
  id, team, person, person_name, covered_by, covered_by_name, begins_at, until_at, set_by, set_at,
  ended_at, ended_by, keys
from sayso.absences
where team = $1
  and person = any ($2::text[])
  and ended_at is null
  and begins_at <= coalesce($3, now())
  and until_at > coalesce($3, now())
order by id;

-- name: handed_over
-- Who handed a review over and has not taken it back, the first first.
select
  id, review_id, giver, giver_name, taker, taker_name, note, made_by, made_at, taken_back_at,
  taken_back_by
from sayso.handovers
where review_id = $1
  and taken_back_at is null
order by id;

-- name: team_of
-- The workspace that a review is of.
select t.team
from sayso.reviews as r
join sayso.threads as t on t.id = r.thread_id
where r.id = $1;

-- name: interested
-- Who asked for a review, and who changed an action of it on which they may not decide then.
select t.requester as person
from sayso.reviews as r
join sayso.threads as t on t.id = r.thread_id
where r.id = $1
union
select i.edited_by
from sayso.items as i
where i.review_id = $1
  and i.edited_by is not null
  and i.rule -> 'editor_may_decide' = 'false';
