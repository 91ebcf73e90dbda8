-- name: flush
-- Everything that waited goes in one statement: fence, checkpoints, values and writes. Leases are
-- locked in id order; one that somebody else holds is skipped and its writes go again alone. A
-- ticket is one thread under one fence, or a thread without: that needs a thread without a lease.
-- A put is late when what it builds on was deleted with its thread and is not here any more.
with ticket as materialized (
  select ticket, thread_id, epoch, owner
  from unnest($1::integer[], $2::text[], $3::bigint[], $4::text[])
    as t (ticket, thread_id, epoch, owner)
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
  left join sayso.checkpoint_tombstones as tombstone on tombstone.thread_id = ticket.thread_id
  where
    ticket.ticket in (select fenced.ticket from fenced)
    or (
      ticket.epoch is null
      and not exists (
        select from sayso.leases as lease where lease.thread_id = ticket.thread_id
      )
    )
),
put as materialized (
  select
    p.number, granted.thread_id, p.namespace, p.checkpoint_id, p.parent_id,
    p.body, p.held, p.metadata, p.exact_metadata
  from unnest(
    $5::integer[], $6::text[], $7::text[], $8::text[], $9::bytea[], $10::jsonb[], $11::jsonb[],
    $12::bytea[], $13::text[], $14::text[], $15::text[]
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
  from unnest($16::bigint[], $17::text[], $18::bigint[], $19::bytea[])
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
  from unnest(
    $20::integer[], $21::text[], $22::text[], $23::text[], $24::integer[], $25::text[],
    $26::text[], $27::bytea[], $28::boolean[]
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

-- name: has_lease
-- Whether a thread belongs to somebody: then only its owner may write.
select epoch
from sayso.leases
where thread_id = $1;
