-- name: begin
-- Keep what somebody began.
insert into sayso.drafts (team, person, channel, root, message)
values ($1, $2, $3, $4, $5)
returning id;

-- name: get
-- What was begun.
select id, team, person, channel, root, message, thread_id
from sayso.drafts
where id = $1;

-- name: sent
-- Note the request that a draft became; the first one stays.
update sayso.drafts
set thread_id = $2
where id = $1
  and thread_id is null
returning id;

-- name: forget_old
-- Drop what nobody went on with.
delete from sayso.drafts
where begun_at < now() - make_interval(days => $1);
