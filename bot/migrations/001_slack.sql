-- Every way in and out: what was delivered to us, what Slack should show, and whom we know.

-- The workspace behind the bot token, as auth.test names it.
create table sayso.workspaces (
  team text primary key,
  name text not null default '',
  enterprise text,
  bot_user text not null,
  bot_id text,
  token_digest text not null,
  seen_at timestamptz not null default now()
);

-- One row for each request that was accepted, by the key that is the same at every redelivery.
create table sayso.deliveries (
  key text primary key,
  kind text not null,
  thread_id text,
  received_at timestamptz not null default now()
);

create index deliveries_by_age on sayso.deliveries (received_at);

-- Where a thread is talked about: Slack's own thread under `root`.
create table sayso.conversations (
  thread_id text primary key,
  team text not null,
  channel text not null,
  root text,
  opened_at timestamptz not null default now(),
  unique (team, channel, root)
);

-- Something Slack should show. The row is the truth; the poster makes Slack equal to it.
create table sayso.posts (
  id uuid primary key default gen_random_uuid(),
  kind text not null,
  subject text not null,
  place text not null,
  -- The thread in whose conversation it stands; null for a message of its own.
  thread_id text,
  body jsonb,
  wanted bigint not null default 1,
  shown bigint not null default 0,
  digest text,
  channel text,
  ts text,
  -- Set and committed before the first send, so that a crash in between is noticed.
  tried_at timestamptz,
  -- The last update may or may not have landed, or an older one may have landed on top.
  unsure boolean not null default false,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  shown_at timestamptz,
  parked_at timestamptz,
  error text,
  -- After an unknown outcome: look once more for surplus messages and delete them.
  reconcile_at timestamptz,
  created_at timestamptz not null default now(),
  unique (kind, subject, place),
  check (wanted > 0 and shown >= 0)
);

create index posts_due on sayso.posts (due_at) where shown < wanted or unsure;
create index posts_to_reconcile on sayso.posts (reconcile_at) where reconcile_at is not null;
create index posts_of_subject on sayso.posts (subject);

-- One poster at a time for each place, and its one message a second.
create table sayso.lanes (
  place text primary key,
  claimed_by text,
  claimed_until timestamptz,
  next_post_at timestamptz not null default now()
);

-- How many updates a workspace has had in this minute.
create table sayso.budgets (
  name text primary key,
  minute timestamptz not null,
  used integer not null
);

-- What Slack said of a person, and when. An absent row means that we never asked.
create table sayso.people (
  team text not null,
  id text not null,
  name text not null default '',
  home_team text not null default '',
  is_guest boolean not null default false,
  is_stranger boolean not null default false,
  is_bot boolean not null default false,
  deleted boolean not null default false,
  tz text,
  fetched_at timestamptz not null default now(),
  primary key (team, id)
);

create table sayso.user_groups (
  team text not null,
  id text not null,
  handle text not null default '',
  members text[] not null default '{}',
  fetched_at timestamptz not null default now(),
  primary key (team, id)
);
