-- name: bury
-- Leave a tombstone before anything goes, at the newest checkpoint there is or ever was.
insert into sayso.checkpoint_tombstones as tombstone (thread_id, checkpoint_id)
select
  thread_id,
  greatest(
    $2,
    (
      select max(checkpoint.checkpoint_id)
      from sayso.checkpoints as checkpoint
      where
        checkpoint.thread_id = gone.thread_id
        and substr(checkpoint.checkpoint_id, 15, 1) = '6'
    )
  )
from unnest($1::text[]) as gone (thread_id)
order by thread_id
on conflict (thread_id) do update
  set
    checkpoint_id = greatest(tombstone.checkpoint_id, excluded.checkpoint_id),
    deleted_at = now();

-- name: writers
-- Who is in the middle of a write now. A statement locks its table before it takes its snapshot,
-- so whoever is not in here sees what was committed before this was asked.
select distinct virtualtransaction
from pg_locks
where
  locktype = 'relation'
  and relation = 'sayso.checkpoints'::regclass
  and mode = 'RowExclusiveLock'
  and pid <> pg_backend_pid();

-- name: delete_checkpoints
-- The checkpoints of whole threads.
delete from sayso.checkpoints
where thread_id = any($1::text[]);

-- name: delete_values
-- The values of whole threads.
delete from sayso.checkpoint_values
where thread_id = any($1::text[]);

-- name: delete_writes
-- The writes of whole threads.
delete from sayso.checkpoint_writes
where thread_id = any($1::text[]);

-- name: owned_among
-- Those of the threads that have a lease: they belong to Sayso.
select thread_id
from sayso.leases
where thread_id = any($1::text[])
order by thread_id
limit 1;

-- name: threads_of_runs
-- The threads in which any of the runs left checkpoints.
select distinct thread_id
from sayso.checkpoints
where metadata ? 'run_id' and metadata ->> 'run_id' = any($1::text[]);

-- name: checkpoints_of_runs
-- What the runs left in one thread.
select namespace, checkpoint_id
from sayso.checkpoints
where
  thread_id = $1
  and metadata ? 'run_id'
  and metadata ->> 'run_id' = any($2::text[]);

-- name: outline
-- All checkpoints of a thread without their values, and the tasks on them that still ask.
select
  c.namespace, c.checkpoint_id, c.parent_id, c.body, c.held, c.metadata,
  exists (
    select
    from sayso.checkpoint_writes as w
    where
      w.thread_id = c.thread_id
      and w.namespace = c.namespace
      and w.checkpoint_id = c.checkpoint_id
      and w.channel = '__interrupt__'
  ) as asks
from sayso.checkpoints as c
where c.thread_id = $1
order by c.namespace, c.checkpoint_id;

-- name: delete_some_checkpoints
-- Named checkpoints of one thread.
delete from sayso.checkpoints as c
using unnest($2::text[], $3::text[]) as gone (namespace, checkpoint_id)
where
  c.thread_id = $1
  and c.namespace = gone.namespace
  and c.checkpoint_id = gone.checkpoint_id;

-- name: delete_some_writes
-- What was written on named checkpoints of one thread.
delete from sayso.checkpoint_writes as w
using unnest($2::text[], $3::text[]) as gone (namespace, checkpoint_id)
where
  w.thread_id = $1
  and w.namespace = gone.namespace
  and w.checkpoint_id = gone.checkpoint_id;

-- name: delete_unheld_values
-- The values of one thread that no checkpoint of it holds any more.
delete from sayso.checkpoint_values as v
where
  v.thread_id = $1
  and not exists (
    select
    from sayso.checkpoints as c
    where
      c.thread_id = v.thread_id
      and c.namespace = v.namespace
      and (c.held ->> v.channel)::bigint = v.version
  );

-- name: copy_checkpoints
-- Every checkpoint of a thread, under another thread's id.
insert into sayso.checkpoints (
  thread_id, namespace, checkpoint_id, parent_id, body, held, metadata, exact_metadata
)
select $2, namespace, checkpoint_id, parent_id, body, held, metadata, exact_metadata
from sayso.checkpoints
where thread_id = $1
on conflict (thread_id, namespace, checkpoint_id) do nothing;

-- name: copy_values
-- Every value of a thread, under another thread's id.
insert into sayso.checkpoint_values (
  thread_id, namespace, channel, version, checkpoint_id, value
)
select $2, namespace, channel, version, checkpoint_id, value
from sayso.checkpoint_values
where thread_id = $1
on conflict (thread_id, namespace, channel, version, checkpoint_id) do nothing;

-- name: copy_writes
-- Every write of a thread, under another thread's id.
insert into sayso.checkpoint_writes (
  thread_id, namespace, checkpoint_id, task_id, idx, task_path, channel, value
)
select $2, namespace, checkpoint_id, task_id, idx, task_path, channel, value
from sayso.checkpoint_writes
where thread_id = $1
on conflict (thread_id, namespace, checkpoint_id, task_id, idx) do nothing;
