-- Threads and what waits for them, reviews and votes, the record of steps and routings, documents
-- and the audit. Ownership is not here: it is the lease, in checkpoints/.

create table sayso.threads (
  id text primary key,
  number bigint generated always as identity,
  team text not null,
  graph text not null,
  requester text not null,
  start_key text,
  customer_id text references sayso.customers (id),
  customer_name text,
  -- The customer is settled once, by the caller at the start or by the intake, and never changes.
  customer_note text,
  configurable jsonb not null default '{}',
  -- What the graph was given, exactly, through the serializer; null until the intake has run.
  input_type text,
  input bytea,
  -- Where the thread rests, as the last settle saw it.
  head text,
  next text[] not null default '{}',
  error jsonb,
  outcome text,
  -- What settle or an intervention wrote; the status is computed from it and the other rows.
  mark text,
  mark_reason text,
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  ended_at timestamptz,
  constraint threads_number unique (number),
  constraint threads_start_key unique (team, start_key),
  constraint threads_mark check (mark in ('done', 'failed', 'held', 'parked', 'cancelled')),
  constraint threads_input check ((input_type is null) = (input is null)),
  constraint threads_customer check (customer_id is null or customer_name is not null)
);

create index threads_by_age on sayso.threads (team, created_at desc);
create index threads_of_a_requester on sayso.threads (team, requester, created_at desc);
create index threads_of_a_customer on sayso.threads (customer_id) where customer_id is not null;

create table sayso.reviews (
  id bigint generated always as identity primary key,
  thread_id text not null references sayso.threads (id),
  graph text not null,
  node text not null,
  interrupt_id text not null,
  checkpoint_id text not null,
  kind text not null default 'interrupt',
  audience text not null,
  -- For people, safe; and exactly as the node gave it, null where it could not be serialised.
  -- json and not jsonb: a dictionary's keys are shown in their own order.
  question json,
  question_type text,
  question_bytes bytea,
  schema jsonb,
  hash text not null,
  revision integer not null default 1,
  status text not null default 'open',
  closed_because text,
  opened_at timestamptz not null default now(),
  closed_at timestamptz,
  constraint reviews_kind check (kind in ('interrupt', 'breakpoint')),
  constraint reviews_audience check (audience in ('reviewers', 'requester')),
  constraint reviews_status check (status in ('open', 'decided', 'expired', 'withdrawn')),
  constraint reviews_closed check ((status = 'open') = (closed_at is null)),
  constraint reviews_revision check (revision > 0)
);

-- One review for each pending interrupt; one that was withdrawn may be put again.
create unique index reviews_interrupt on sayso.reviews (thread_id, interrupt_id)
  where status <> 'withdrawn';
create index reviews_of_a_thread on sayso.reviews (thread_id, id);
create index reviews_open on sayso.reviews (id) where status = 'open';

-- One item for each action in a review; rule, votes and outcome are the item's.
create table sayso.items (
  review_id bigint not null references sayso.reviews (id),
  item integer not null default 0,
  -- The rule it was opened under; null: nobody may decide.
  rule jsonb,
  rule_hash text not null default '',
  status text not null default 'open',
  verb text,
  outcome text,
  -- JSON text and not jsonb: the answer reaches the node exactly as it was given.
  answer text,
  note text,
  decided_by text,
  decided_by_name text,
  decided_at timestamptz,
  primary key (review_id, item),
  constraint items_status check (status in ('open', 'decided')),
  constraint items_decided check ((status = 'decided') = (decided_at is not null))
);

create table sayso.votes (
  id bigint generated always as identity primary key,
  review_id bigint not null,
  item integer not null,
  revision integer not null,
  voter text not null,
  voter_name text not null default '',
  verb text not null,
  answer text not null,
  answer_hash text not null,
  note text,
  via text not null default '',
  cast_at timestamptz not null default now(),
  -- Set when the question changed under it: a vote is for exactly what was shown.
  lapsed_at timestamptz,
  foreign key (review_id, item) references sayso.items (review_id, item)
);

create unique index votes_one_a_person on sayso.votes (review_id, item, voter)
  where lapsed_at is null;

create table sayso.mailbox (
  id bigint generated always as identity primary key,
  thread_id text not null references sayso.threads (id),
  kind text not null,
  key text,
  body jsonb not null default '{}',
  review_id bigint references sayso.reviews (id),
  -- JSON text of what interrupt() returns; null for one that the worker has to make of a message.
  answer text,
  due_at timestamptz not null default now(),
  -- Written without the lease's row lock; the poll has to wake the thread.
  unwoken boolean not null default false,
  created_at timestamptz not null default now(),
  consumed_at timestamptz,
  constraint mailbox_kind check (kind in ('start', 'answer', 'say', 'retry')),
  constraint mailbox_key unique (thread_id, key),
  constraint mailbox_answers check ((kind = 'answer') = (review_id is not null))
);

-- A decided review is answered once.
create unique index mailbox_one_answer on sayso.mailbox (review_id) where kind = 'answer';
create index mailbox_waiting on sayso.mailbox (thread_id, id) where consumed_at is null;
create index mailbox_of_a_thread on sayso.mailbox (thread_id, id);
create index mailbox_unwoken on sayso.mailbox (id) where unwoken;

create table sayso.documents (
  id text primary key,
  number bigint generated always as identity,
  thread_id text not null references sayso.threads (id),
  file_id text not null,
  name text not null,
  media_type text not null default '',
  size bigint not null,
  sha256 text,
  body bytea,
  problem text,
  stored_at timestamptz not null default now(),
  constraint documents_file unique (thread_id, file_id),
  constraint documents_body check ((body is null) = (sha256 is null)),
  constraint documents_whole check (body is null or length(body) = size),
  constraint documents_reason check (body is not null or problem is not null)
);

create table sayso.steps (
  thread_id text not null references sayso.threads (id),
  task_id text not null,
  number bigint generated always as identity,
  node text not null,
  status text not null,
  error text,
  started_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (thread_id, task_id),
  constraint steps_status check (status in ('running', 'waiting', 'done', 'failed'))
);

create table sayso.routings (
  thread_id text not null references sayso.threads (id),
  task_id text not null,
  branch text not null,
  node text not null,
  choice jsonb not null,
  step integer not null,
  -- The checkpoint that holds the state behind the choice; null until that is written.
  checkpoint_id text,
  at timestamptz not null default now(),
  primary key (thread_id, task_id, branch)
);

-- Every attempt, done or refused. No reference to the other tables: the record outlives them.
create table sayso.audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  what text not null,
  actor text not null,
  thread_id text,
  review_id bigint
);

create table sayso.audit_details (
  audit_id bigint primary key references sayso.audit (id),
  detail jsonb not null
);

create index audit_of_a_thread on sayso.audit (thread_id, id) where thread_id is not null;
create index audit_of_a_review on sayso.audit (review_id, id) where review_id is not null;

create function sayso.audit_is_append_only() returns trigger
language plpgsql as $$
begin
  raise exception 'the audit is append-only' using errcode = 'restrict_violation';
end
$$;

create trigger audit_append_only
  before update or delete or truncate on sayso.audit
  for each statement execute function sayso.audit_is_append_only();

create trigger audit_details_append_only
  before update or delete or truncate on sayso.audit_details
  for each statement execute function sayso.audit_is_append_only();
