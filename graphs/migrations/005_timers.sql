-- What happens to an open review by the clock.

create table sayso.timers (
  review_id bigint not null,
  item integer not null,
  kind text not null,
  due_at timestamptz not null,
  -- Set when it was acted on, or when there was nothing left to act on.
  fired_at timestamptz,
  primary key (review_id, item, kind),
  foreign key (review_id, item) references sayso.items (review_id, item),
  constraint timers_kind check (kind in ('deadline'))
);

-- What is due costs the same however many wait.
create index timers_due on sayso.timers (due_at) where fired_at is null;
