-- name: flush
-- Everything that waited goes in one statement: fence, checkpoints, values and writes. Leases are
-- locked in id order; one that somebody else holds is skipped and its writes go again alone. A
-- ticket is one thread under one fence, or a thread without: that needs a thread without a lease.
-- A put is late when what it builds on was deleted with its thread and is not here any more.
-- The arrays pass through `given` to hide their lengths from the planner: it would otherwise plan
-- anew every time, for twice the price of running the plan (1.2 ms against 0.5 without the disk).
with given as materialized (
  select
    $1::integer[] as a1, $2::text[] as a2, $3::bigint[] as a3, $4::text[] as a4,
    $5::integer[] as a5, $6::text[] as a6, $7::text[] as a7, $8::text[] as a8, $9::bytea[] as a9,
    $10::jsonb[] as a10, $11::jsonb[] as a11, $12::bytea[] as a12, $13::text[] as a13,
    $14::text[] as a14, $15::text[] as a15, $16::bigint[] as a16, $17::text[] as a17,
    $18::bigint[] as a18, $19::bytea[] as a19, $20::integer[] as a20, $21::text[] as a21,
    $22::text[] as a22, $23::text[] as a23, $24::integer[] as a24, $25::text[] as a25,
    $26::text[] as a26, $27::bytea[] as a27, $28::boolean[] as a28
),
ticket as materialized (
  select t.ticket, t.thread_id, t.epoch, t.owner
  from given
  cross join unnest(given.a1, given.a2, given.a3, given.a4) as t (ticket, thread_id, epoch, owner)
),
fenced as materialized (
  select ticket.ticket
  from sayso.leases as lease
  join ticket
    on
      lease.thread_id = ticket.thread_id
      and lease.epoch = ticket.epoch
      and lease.owner = ticket.owner
  order by lease.thread_id
  for no key update of lease skip locked
),
granted as materialized (
  select ticket.ticket, ticket.thread_id, tombstone.checkpoint_id as deleted_id
  from ticket
  left join fenced on fenced.ticket = ticket.ticket
  left join sayso.leases as lease on lease.thread_id = ticket.thread_id
  left join sayso.checkpoint_tombstones as tombstone on tombstone.thread_id = ticket.thread_id
  where
    fenced.ticket is not null
    or (ticket.epoch is null and lease.thread_id is null)
),
put as materialized (
  select
    p.number, granted.thread_id, p.namespace, p.checkpoint_id, p.parent_id,
    p.body, p.held, p.metadata, p.exact_metadata
  from given
  cross join unnest(
    given.a5, given.a6, given.a7, given.a8, given.a9, given.a10, given.a11, given.a12, given.a13,
    given.a14, given.a15
  ) with ordinality as p (
    ticket, namespace, checkpoint_id, parent_id, body, held, metadata,
    exact_metadata, first_id, first_parent_id, above_id, number
  )
  join granted using (ticket)
  where
    granted.deleted_id is null
    or not (
      case
        when p.first_parent_id is not null then not exists (
          select
          from sayso.checkpoints as parent
          where
            parent.thread_id = granted.thread_id
            and parent.namespace = p.namespace
            and parent.checkpoint_id = p.first_parent_id
        )
        else substr(p.first_id, 15, 1) = '6' and p.first_id collate "C" <= granted.deleted_id
      end
      or (
        p.above_id is not null
        and substr(p.above_id, 15, 1) = '6'
        and p.above_id collate "C" <= granted.deleted_id
        and not exists (
          select
          from sayso.checkpoints as above
          where
            above.thread_id = granted.thread_id
            and above.namespace = ''
            and above.checkpoint_id = p.above_id
        )
      )
    )
),
put_checkpoints as (
  insert into sayso.checkpoints as checkpoint (
    thread_id, namespace, checkpoint_id, parent_id, body, held, metadata, exact_metadata
  )
  select thread_id, namespace, checkpoint_id, parent_id, body, held, metadata, exact_metadata
  from put
  order by thread_id collate "C", namespace collate "C", checkpoint_id collate "C"
  on conflict (thread_id, namespace, checkpoint_id) do update
    set
      parent_id = excluded.parent_id,
      body = excluded.body,
      held = excluded.held,
      metadata = excluded.metadata,
      exact_metadata = excluded.exact_metadata
),
put_values as (
  insert into sayso.checkpoint_values as held (
    thread_id, namespace, channel, version, checkpoint_id, value
  )
  select put.thread_id, put.namespace, v.channel, v.version, put.checkpoint_id, v.value
  from given
  cross join unnest(given.a16, given.a17, given.a18, given.a19)
    as v (number, channel, version, value)
  join put using (number)
  order by put.thread_id collate "C", put.namespace collate "C", v.channel collate "C", v.version
  on conflict (thread_id, namespace, channel, version, checkpoint_id) do update
    set value = excluded.value
),
write as materialized (
  select
    granted.thread_id, w.namespace, w.checkpoint_id, w.task_id, w.idx, w.task_path, w.channel,
    w.value, w.replace
  from given
  cross join unnest(
    given.a20, given.a21, given.a22, given.a23, given.a24, given.a25, given.a26, given.a27,
    given.a28
  ) as w (
    ticket, namespace, checkpoint_id, task_id, idx, task_path, channel, value, replace
  )
  join granted using (ticket)
  where
    granted.deleted_id is null
    or substr(w.checkpoint_id, 15, 1) <> '6'
    or w.checkpoint_id collate "C" > granted.deleted_id
    or exists (
      select
      from sayso.checkpoints as checkpoint
      where
        checkpoint.thread_id = granted.thread_id
        and checkpoint.namespace = w.namespace
        and checkpoint.checkpoint_id = w.checkpoint_id
    )
),
put_replacing as (
  insert into sayso.checkpoint_writes as written (
    thread_id, namespace, checkpoint_id, task_id, idx, task_path, channel, value
  )
  select thread_id, namespace, checkpoint_id, task_id, idx, task_path, channel, value
  from write
  where replace
  order by
    thread_id collate "C", namespace collate "C", checkpoint_id collate "C",
    task_id collate "C", idx
  on conflict (thread_id, namespace, checkpoint_id, task_id, idx) do update
    set
      task_path = excluded.task_path,
      channel = excluded.channel,
      value = excluded.value
),
put_keeping as (
  insert into sayso.checkpoint_writes (
    thread_id, namespace, checkpoint_id, task_id, idx, task_path, channel, value
  )
  select thread_id, namespace, checkpoint_id, task_id, idx, task_path, channel, value
  from write
  where not replace
  order by
    thread_id collate "C", namespace collate "C", checkpoint_id collate "C",
    task_id collate "C", idx
  on conflict (thread_id, namespace, checkpoint_id, task_id, idx) do nothing
)
select
  granted.ticket,
  granted.deleted_id,
  case
    when granted.deleted_id is null then null
    else array(select put.checkpoint_id from put where put.thread_id = granted.thread_id)
  end as put_ids
from granted;

-- name: lock_fence
-- Wait for one lease, then `flush` under it: the way of a thread that was skipped.
select true as held
from sayso.leases
where thread_id = $1 and epoch = $2 and owner = $3
for no key update;
