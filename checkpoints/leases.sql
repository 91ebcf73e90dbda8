-- name: create_lease
-- A thread nobody owns and that has nothing to do; an existing one stays as it is.
insert into sayso.leases (thread_id, scope)
values ($1, $2)
on conflict (thread_id) do nothing;

-- name: wake
-- Something is new for the thread: `seq` moves, so that an owner who is just letting go sees it.
with woken as (
  update sayso.leases
  set
    seq = seq + 1,
    ready_at = least(ready_at, coalesce($2, now()))
  where thread_id = $1
  returning scope, ready_at
)
select
  case when ready_at <= now() then pg_notify('sayso_ready', scope) end as told
from woken;

-- name: wake_free
-- The same for many, where nobody else holds their rows now; the others are only named.
with free as materialized (
  select thread_id
  from sayso.leases
  where thread_id = any($1::text[])
  order by thread_id
  for no key update skip locked
),
woken as (
  update sayso.leases as lease
  set
    seq = lease.seq + 1,
    ready_at = least(lease.ready_at, now())
  from free
  where lease.thread_id = free.thread_id
  returning lease.thread_id, lease.scope
)
select
  lease.thread_id,
  woken.thread_id is null as locked,
  case when woken.thread_id is not null then pg_notify('sayso_ready', woken.scope) end as told
from sayso.leases as lease
left join woken on woken.thread_id = lease.thread_id
where lease.thread_id = any($1::text[]);

-- name: claim
-- Take what has run out first, then what is ready; `skip locked`, so nobody waits and no order
-- of locks matters. Only the count of crashes after this claim decides who runs alone.
with expired as materialized (
  select thread_id
  from sayso.leases
  where
    owner is not null
    and lease_until < now()
    and scope = any($2::text[])
    and (crashes + 1 >= $5) = $6
    and thread_id <> all($7::text[])
  order by lease_until
  limit $3
  for no key update skip locked
),
ready as materialized (
  select thread_id
  from sayso.leases
  where
    owner is null
    and ready_at <= now()
    and scope = any($2::text[])
    and (crashes >= $5) = $6
  order by ready_at
  limit greatest($3 - (select count(*) from expired), 0)
  for no key update skip locked
),
mine as (
  select thread_id, true as taken_over from expired
  union all
  select thread_id, false as taken_over from ready
)
update sayso.leases as lease
set
  epoch = lease.epoch + 1,
  owner = $1,
  lease_until = now() + make_interval(secs => $4),
  ready_at = null,
  crashes = lease.crashes + mine.taken_over::integer
from mine
where lease.thread_id = mine.thread_id
returning lease.thread_id, lease.epoch, lease.seq, lease.crashes, mine.taken_over;

-- name: extend
-- Push the end of the held leases on. `skip locked`: a row that somebody else holds for a moment
-- must not make the owner late for all its other threads. Whether such a row is still ours is
-- read without a lock, so a skipped row is told from a lost one.
with mine as materialized (
  select lease.thread_id
  from sayso.leases as lease
  join unnest($1::text[], $2::bigint[], $3::text[]) as held (thread_id, epoch, owner)
    on
      lease.thread_id = held.thread_id
      and lease.epoch = held.epoch
      and lease.owner = held.owner
),
free as materialized (
  select lease.thread_id
  from sayso.leases as lease
  join unnest($1::text[], $2::bigint[], $3::text[]) as held (thread_id, epoch, owner)
    on
      lease.thread_id = held.thread_id
      and lease.epoch = held.epoch
      and lease.owner = held.owner
  order by lease.thread_id
  for no key update of lease skip locked
),
extended as (
  update sayso.leases as lease
  set lease_until = now() + make_interval(secs => $4)
  from free
  where lease.thread_id = free.thread_id
  returning lease.thread_id
)
select mine.thread_id, extended.thread_id is not null as extended
from mine
left join extended on extended.thread_id = mine.thread_id;

-- name: extend_alone
-- Push the end of one held lease on, waiting for its row; the caller bounds how long.
update sayso.leases
set lease_until = now() + make_interval(secs => $4)
where thread_id = $1 and epoch = $2 and owner = $3
returning true as extended;

-- name: hold
-- The fence as a statement of its own: no row means that somebody else owns the thread.
select true as held
from sayso.leases
where thread_id = $1 and epoch = $2 and owner = $3
for no key update;

-- name: release
-- Let go by compare-and-set: where `seq` moved since the claim, what moved it stays due.
update sayso.leases
set
  owner = null,
  lease_until = null,
  ready_at = case when seq = $4 then $5 else least(ready_at, $5) end,
  crashes = case when $6 then 0 else crashes + $7::integer end
where thread_id = $1 and epoch = $2 and owner = $3
returning seq = $4 as rested;

-- name: lock
-- Wait for the row; the caller bounds how long.
select true as locked
from sayso.leases
where thread_id = $1
for no key update;

-- name: seize
-- Raise the epoch and put the owner out; what that owner was feeding becomes due again.
with seized as (
  select thread_id, owner is not null as was_owned
  from sayso.leases
  where thread_id = $1
  for no key update
)
update sayso.leases as lease
set
  epoch = lease.epoch + 1,
  owner = null,
  lease_until = null,
  ready_at = case when seized.was_owned then least(lease.ready_at, now()) else lease.ready_at end
from seized
where lease.thread_id = seized.thread_id
returning lease.epoch, pg_notify('sayso_seized', lease.thread_id);

-- name: forgive
-- Forget the crashes: from now on the thread is run beside others again.
update sayso.leases
set crashes = 0
where thread_id = $1;

-- name: owned
-- Which threads have an owner now, of these or, for null, of all.
select thread_id
from sayso.leases
where
  owner is not null
  and ($1::text[] is null or thread_id = any($1::text[]));

-- name: waits_alone
-- Whether a thread waits that has to be run alone.
select exists (
  select
  from sayso.leases
  where
    scope = any($1::text[])
    and (
      (owner is null and ready_at <= now() and crashes >= $2)
      or (owner is not null and lease_until < now() and crashes + 1 >= $2)
    )
);

-- name: standings
-- What the leases of some threads say now, without a lock: for status and for people.
select thread_id, scope, epoch, owner, lease_until, ready_at, crashes
from sayso.leases
where thread_id = any($1::text[]);

-- name: load
-- How much there is to do and how much is being done. Two halves, so that each reads one of the
-- partial indexes, however many threads rest.
with waiting as (
  select
    count(*) filter (where ready_at <= now()) as ready,
    min(ready_at) as since,
    coalesce(sum(crashes), 0) as crashes
  from sayso.leases
  where owner is null and ready_at is not null
),
owned as (
  select
    count(*) filter (where lease_until >= now()) as held,
    count(*) filter (where lease_until < now()) as run_out,
    count(*) filter (where crashes > 0) as taken_over,
    coalesce(sum(crashes), 0) as crashes
  from sayso.leases
  where owner is not null
)
select
  waiting.ready,
  coalesce(greatest(extract(epoch from now() - waiting.since), 0), 0)::float8 as ready_seconds,
  owned.held,
  owned.run_out,
  owned.taken_over,
  waiting.crashes + owned.crashes as crashes
from waiting, owned;
