-- A start that could not be judged yet: Slack sends it again, and what is written under the same
-- message in the meantime has to wait for it.
create table sayso.put_off_starts (
  team text not null,
  channel text not null,
  root text not null,
  ts text not null,
  put_off_at timestamptz not null default now(),
  primary key (team, channel, root)
);

-- How often surplus messages of a post were looked for without success.
alter table sayso.posts add column reconcile_attempts integer not null default 0;
