-- What happens to an open review by the clock.

create table sayso.timers (
  review_id bigint not null,
  item integer not null,
  kind text not null,
  -- Which of several reminders it is; 0 for the others.
  turn integer not null default 0,
  due_at timestamptz not null,
  -- Set when it was acted on, or when there was nothing left to act on.
  fired_at timestamptz,
  -- A reminder that was one too many of its day.
  dropped boolean not null default false,
  primary key (review_id, item, kind, turn),
  foreign key (review_id, item) references sayso.items (review_id, item),
  constraint timers_kind check (kind in ('remind', 'escalate', 'deadline'))
);

-- What is due costs the same however many wait.
create index timers_due on sayso.timers (due_at) where fired_at is null;

-- Since when the people whom the rule's `escalate` adds may decide too.
alter table sayso.items add column escalated_at timestamptz;
