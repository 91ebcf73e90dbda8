-- name: accept
-- Keep the key of a request; no row comes back when it was accepted before.
insert into sayso.deliveries (key, kind)
values ($1, $2)
on conflict (key) do nothing
returning key;

-- name: belongs
-- Note which thread an accepted request led to.
update sayso.deliveries
set thread_id = $2
where key = any($1::text[]);

-- name: forget_old
-- Drop keys that no redelivery can carry any more.
delete from sayso.deliveries
where received_at < now() - make_interval(days => $1);
