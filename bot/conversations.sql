-- name: open
-- Say where a thread is talked about; the first answer stays.
insert into sayso.conversations (thread_id, team, channel, root)
values ($1, $2, $3, $4)
on conflict do nothing
returning thread_id;

-- name: put_off
-- Note that a start was put off; the first one under a message stays.
insert into sayso.put_off_starts (team, channel, root, ts)
values ($1, $2, $3, $4)
on conflict (team, channel, root) do nothing;

-- name: awaits_start
-- Whether a start by another message was put off here a short while ago.
select ts
from sayso.put_off_starts
where team = $1 and channel = $2 and root = $3 and ts <> $4
  and put_off_at > now() - make_interval(secs => $5);

-- name: start_came
-- Forget a start that was put off, and those that never came again.
delete from sayso.put_off_starts
where (team = $1 and channel = $2 and root = $3)
   or put_off_at <= now() - make_interval(secs => $4);

-- name: root
-- Note the message that the conversation hangs under, once it is there.
update sayso.conversations
set channel = $2, root = $3
where thread_id = $1 and root is null;

-- name: of_thread
-- Where this thread is talked about.
select thread_id, team, channel, root
from sayso.conversations
where thread_id = $1;

-- name: at
-- Which thread is talked about under this message.
select thread_id, team, channel, root
from sayso.conversations
where team = $1 and channel = $2 and root = $3;

-- name: move
-- A channel got another id.
update sayso.conversations
set channel = $3
where team = $1 and channel = $2;
