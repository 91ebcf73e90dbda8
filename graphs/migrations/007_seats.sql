-- A vote may be cast by one person for another, and what waits for somebody is found by an index.

alter table sayso.votes
  -- For whom it counts: who is away or handed it over, else the voter.
  add column seat text;

update sayso.votes
set seat = voter;

alter table sayso.votes
  alter column seat set not null;

create unique index votes_one_a_seat on sayso.votes (review_id, item, seat)
  where lapsed_at is null;

alter table sayso.items
  -- Whom it asks now, by the keys of graphs/directory.py: those of its present stage.
  add column asks text[] not null default '{}';

update sayso.items
set asks = array(
  select 'user:' || value from jsonb_array_elements_text(rule -> 'approvers' -> 'users') as value
  union all
  select 'group:' || value from jsonb_array_elements_text(rule -> 'approvers' -> 'groups') as value
)
where rule is not null;

create index items_asking on sayso.items using gin (asks)
  where status = 'open';
