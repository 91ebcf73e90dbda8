-- A request that somebody began and did not send yet: they still choose what to ask for, or fill in
-- its form. What was begun with stays with it, so that a button carries no more than the id.
create table sayso.drafts (
  id bigint generated always as identity primary key,
  team text not null,
  person text not null,
  -- Where it will be talked about; a person's id for their direct messages.
  channel text not null,
  root text,
  message jsonb not null,
  thread_id text,
  begun_at timestamptz not null default now()
);
