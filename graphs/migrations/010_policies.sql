-- The configurations that were in force, one row for each change, and those that were refused.

create table sayso.policies (
  number bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  actor text not null,
  -- Over the files' bytes, and so over more than the text, which leaves out what may be secret.
  hash text not null,
  text text not null,
  -- What was wrong with it, where it was refused.
  mistakes text[] not null default '{}',
  -- What of it takes effect at the next start of every process.
  restart text[] not null default '{}',
  constraint policies_hash check (length(hash) = 64)
);

create index policies_taken on sayso.policies (number)
  where mistakes = '{}';

-- What is set aside is counted without reading all that ever was done.
create index threads_set_aside on sayso.threads (mark)
  where mark in ('failed', 'held', 'parked');
