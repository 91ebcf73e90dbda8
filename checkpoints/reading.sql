-- name: read
-- One checkpoint (the newest, or the one named) with what it holds and what was written on it, by
-- primary keys only: kind 0 is the checkpoint, 1 a value, 2 a write. Without `offset 0` the
-- planner, who cannot know how few channels there are, reads all values of the thread instead.
with head as materialized (
  select checkpoint_id, parent_id, body, held, metadata, exact_metadata
  from sayso.checkpoints
  where
    thread_id = $1
    and namespace = $2
    and checkpoint_id >= coalesce($3, '')
    and checkpoint_id <= coalesce($3, U&'\+10FFFF')
  order by checkpoint_id desc
  limit 1
)
select
  0 as kind, head.checkpoint_id as a, head.parent_id as b, null::text as c, null::integer as idx,
  head.body as value, head.held, head.metadata, head.exact_metadata
from head
union all
select 1, v.channel, v.checkpoint_id, null, null, v.value, null, null, null
from head
cross join lateral jsonb_each_text(head.held) as wanted (channel, version)
cross join lateral (
  select channel, checkpoint_id, value
  from sayso.checkpoint_values
  where
    thread_id = $1
    and namespace = $2
    and channel = wanted.channel
    and version = wanted.version::bigint
  offset 0
) as v
union all
select 2, w.task_id, w.task_path, w.channel, w.idx, w.value, null, null, null
from head
join sayso.checkpoint_writes as w
  on
    w.thread_id = $1
    and w.namespace = $2
    and w.checkpoint_id = head.checkpoint_id;

-- name: page
-- The next checkpoints, newest first, behind the one named last ($5 to $7).
select
  thread_id, namespace, checkpoint_id, parent_id, body, held, metadata, exact_metadata
from sayso.checkpoints
where
  ($1::text is null or thread_id = $1)
  and ($2::text is null or namespace = $2)
  and ($3::text is null or checkpoint_id = $3)
  and ($4::text is null or checkpoint_id < $4)
  and (
    $5::text is null
    or (checkpoint_id, thread_id, namespace) < ($5, $6::text, $7::text)
  )
  and ($8::jsonb is null or metadata @> $8)
order by checkpoint_id desc, thread_id desc, namespace desc
limit $9;

-- name: values_of
-- All values under the named versions; forks may have several for one version.
select wanted.number, v.channel, v.version, v.checkpoint_id, v.value
from unnest($1::integer[], $2::text[], $3::text[], $4::text[], $5::bigint[])
  as wanted (number, thread_id, namespace, channel, version)
cross join lateral (
  select channel, version, checkpoint_id, value
  from sayso.checkpoint_values
  where
    thread_id = wanted.thread_id
    and namespace = wanted.namespace
    and channel = wanted.channel
    and version = wanted.version
  offset 0
) as v;

-- name: writes_of
-- What was written on these checkpoints, in the order in which a run applies it.
select wanted.number, w.task_id, w.task_path, w.idx, w.channel, w.value
from unnest($1::integer[], $2::text[], $3::text[], $4::text[])
  as wanted (number, thread_id, namespace, checkpoint_id)
cross join lateral (
  select task_id, task_path, idx, channel, value
  from sayso.checkpoint_writes
  where
    thread_id = wanted.thread_id
    and namespace = wanted.namespace
    and checkpoint_id = wanted.checkpoint_id
    and ($5::text[] is null or channel = any($5))
  offset 0
) as w
order by wanted.number, w.task_path, w.task_id, w.idx;

-- name: line_of
-- The ids from a checkpoint back to its root, itself first.
with recursive line as (
  select checkpoint_id, parent_id, 0 as depth
  from sayso.checkpoints
  where thread_id = $1 and namespace = $2 and checkpoint_id = $3
  union all
  select parent.checkpoint_id, parent.parent_id, line.depth + 1
  from line
  join sayso.checkpoints as parent
    on
      parent.thread_id = $1
      and parent.namespace = $2
      and parent.checkpoint_id = line.parent_id
)
select checkpoint_id
from line
order by depth;

-- name: ancestors
-- Some checkpoints from this one back, itself first, with what they hold.
with recursive line as (
  select checkpoint_id, parent_id, body, held, 1 as depth
  from sayso.checkpoints
  where thread_id = $1 and namespace = $2 and checkpoint_id = $3
  union all
  select parent.checkpoint_id, parent.parent_id, parent.body, parent.held, line.depth + 1
  from line
  join sayso.checkpoints as parent
    on
      parent.thread_id = $1
      and parent.namespace = $2
      and parent.checkpoint_id = line.parent_id
  where line.depth < $4
)
select checkpoint_id, parent_id, body, held
from line
order by depth;
