-- name: person
-- What Slack said of one person, and how old that is.
select team, id, name, home_team, is_guest, is_stranger, is_bot, deleted, email,
       extract(epoch from now() - fetched_at)::float8 as age
from sayso.people
where team = $1 and id = $2;

-- name: zone
-- The time zone of one person.
select tz
from sayso.people
where team = $1 and id = $2;

-- name: names
-- The names of some people.
select id, name
from sayso.people
where team = $1 and id = any($2::text[]);

-- name: emails
-- What is known of the addresses of some people.
select id, email
from sayso.people
where team = $1 and id = any($2::text[]);

-- name: holders
-- Who had these addresses when they were last looked at, each address once.
select distinct on (email) email, id, name
from sayso.people
where team = $1
  and email = any($2::text[])
  and email <> ''
  and not (is_stranger or is_bot or deleted)
  and ($3::float8 is null or fetched_at > now() - make_interval(secs => $3))
order by email, fetched_at desc;

-- name: keep_person
-- Remember what Slack says of a person now.
insert into sayso.people
  (team, id, name, home_team, is_guest, is_stranger, is_bot, deleted, tz, email)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
on conflict (team, id) do update
set name = excluded.name,
    home_team = excluded.home_team,
    is_guest = excluded.is_guest,
    is_stranger = excluded.is_stranger,
    is_bot = excluded.is_bot,
    deleted = excluded.deleted,
    tz = excluded.tz,
    email = excluded.email,
    fetched_at = now();

-- name: drop_person
-- Something about a person changed: ask again before the next use.
update sayso.people
set fetched_at = '1970-01-01'
where team = $1 and id = $2;

-- name: groups
-- Who was in these user groups, and how old that is.
select id, handle, members, extract(epoch from now() - fetched_at)::float8 as age
from sayso.user_groups
where team = $1 and id = any($2::text[]);

-- name: groups_with
-- The user groups that somebody was in.
select id
from sayso.user_groups
where team = $1
  and $2 = any (members)
order by id;

-- name: called
-- The full members of a name, at most a few.
select id
from sayso.people
where team = $1
  and lower(name) = lower($2)
  and not (is_guest or is_stranger or is_bot or deleted)
order by id
limit 3;

-- name: keep_group
-- Remember who is in a user group now.
insert into sayso.user_groups (team, id, members)
values ($1, $2, $3)
on conflict (team, id) do update
set members = excluded.members,
    fetched_at = now();

-- name: keep_handle
-- Remember what a user group is called.
insert into sayso.user_groups (team, id, handle, fetched_at)
values ($1, $2, $3, '1970-01-01')
on conflict (team, id) do update
set handle = excluded.handle;

-- name: drop_group
-- Somebody joined or left a user group: ask again before the next use.
update sayso.user_groups
set fetched_at = '1970-01-01'
where team = $1 and id = $2;
