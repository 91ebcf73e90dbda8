-- The state of threads, as LangGraph hands it over. Written by `flush`, read by `postgres`.
-- Ids compare byte by byte ("C"), as they do in Python: uuid6 text sorts by time.

create table sayso.checkpoints (
  thread_id text collate "C" not null,
  namespace text collate "C" not null,
  checkpoint_id text collate "C" not null,
  parent_id text collate "C",
  body bytea not null,
  held jsonb not null,
  metadata jsonb not null,
  exact_metadata bytea,
  primary key (thread_id, namespace, checkpoint_id)
);

comment on column sayso.checkpoints.body is
'versions, what each node has seen, and the small values themselves';
comment on column sayso.checkpoints.held is
'the other values: channel to version, a row of checkpoint_values each';
comment on column sayso.checkpoints.exact_metadata is
'only where JSON cannot say it exactly; metadata then holds what can be searched';

create index checkpoints_run on sayso.checkpoints ((metadata ->> 'run_id'))
where metadata ? 'run_id';

-- One value of one channel. `checkpoint_id` is the checkpoint that brought it: two forks may give
-- one version number to two values, and each must find its own.
create table sayso.checkpoint_values (
  thread_id text collate "C" not null,
  namespace text collate "C" not null,
  channel text collate "C" not null,
  version bigint not null,
  checkpoint_id text collate "C" not null,
  value bytea not null,
  primary key (thread_id, namespace, channel, version, checkpoint_id)
);

-- What tasks wrote on top of a checkpoint; it may be here before the checkpoint is.
create table sayso.checkpoint_writes (
  thread_id text collate "C" not null,
  namespace text collate "C" not null,
  checkpoint_id text collate "C" not null,
  task_id text collate "C" not null,
  idx integer not null,
  task_path text collate "C" not null,
  channel text collate "C" not null,
  value bytea not null,
  primary key (thread_id, namespace, checkpoint_id, task_id, idx)
);

-- The newest checkpoint that was deleted with its thread: what builds on it or on an older one
-- comes too late.
create table sayso.checkpoint_tombstones (
  thread_id text collate "C" primary key,
  checkpoint_id text collate "C" not null,
  deleted_at timestamptz not null default now()
);
