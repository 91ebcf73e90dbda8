-- name: reminded
-- Whether another one of these reminders was for that day of a person's.
select true
from sayso.posts
where kind = 'reminder'
  and subject = any ($1::text[])
  and place = $2
  and id <> $3
  and body ->> 'day' = $4
limit 1;

-- name: has_digest
-- Whether a person gets a digest on that day of theirs.
select true
from sayso.posts
where kind = 'digest'
  and subject = $1
  and place = $2;

-- name: on_day
-- Keep on which day of the reader's a reminder is sent.
update sayso.posts
set body = coalesce(body, '{}') || jsonb_build_object('day', $2::text)
where id = $1;

-- name: drop
-- Nothing is sent, and why.
update sayso.posts
set shown = wanted,
    body = coalesce(body, '{}') || jsonb_build_object('dropped', $2::text),
    attempts = 0,
    error = null
where id = $1;

-- name: became
-- What became of some reminders, each with every person.
select
  subject, place, body ->> 'dropped' as dropped, ts is not null as sent, shown_at,
  shown < wanted as waits
from sayso.posts
where kind = any ($1::text[])
  and subject = any ($2::text[])
  and place similar to '[UW]%'
order by subject, place;
