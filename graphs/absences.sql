-- name: one_at_a_time
-- Let nobody else change this person's absence until this transaction ends.
select pg_advisory_xact_lock(hashtextextended('sayso absence ' || $1 || ' ' || $2, 0));

-- name: standing
-- The absence of a person that nobody ended, also where its time is over.
select
  id, team, person, person_name, covered_by, covered_by_name, begins_at, until_at, set_by, set_at,
  ended_at, ended_by, keys
from sayso.absences
where team = $1
  and person = $2
  and ended_at is null;

-- name: find
-- One of them, also after it ended.
select
  id, team, person, person_name, covered_by, covered_by_name, begins_at, until_at, set_by, set_at,
  ended_at, ended_by, keys
from sayso.absences
where id = $1;

-- name: all_
-- Everybody who is away now, whoever is back first first.
select
  id, team, person, person_name, covered_by, covered_by_name, begins_at, until_at, set_by, set_at,
  ended_at, ended_by, keys
from sayso.absences
where ended_at is null
  and until_at > coalesce($1, now())
order by until_at, id
limit $2;

-- name: begin
-- Say that somebody is away.
insert into sayso.absences
  (team, person, person_name, covered_by, covered_by_name, begins_at, until_at, set_by, keys)
values ($1, $2, $3, $4, $5, coalesce($6, now()), $7, $8, $9)
returning id;

-- name: finish
-- Say that they are not any more; no row where somebody was first.
update sayso.absences
set ended_at = coalesce($2, now()),
    ended_by = $3
where id = $1
  and ended_at is null
returning id;

-- name: over
-- The absences whose time is over, without a lock.
select id
from sayso.absences
where ended_at is null
  and until_at <= coalesce($1, now())
order by until_at, id
limit $2;

-- name: concerned
-- The open reviews that ask somebody who is found by one of these keys, the newest first.
select distinct i.review_id
from sayso.items as i
join sayso.reviews as r on r.id = i.review_id
where i.status = 'open'
  and i.asks && $1::text[]
  and r.status = 'open'
order by i.review_id desc
limit $2;

-- name: now
-- What time it is.
select coalesce($1, now());
