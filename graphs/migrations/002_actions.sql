-- A question about several actions has one item for each, and what goes into an action may be
-- changed before it is approved.

alter table sayso.items
  -- The raw name of the tool; null where the question is not about an action.
  add column tool text,
  -- json and not jsonb: what goes into the action is shown in its own order. `asked` is what the
  -- graph asked with, `arguments` what stands now.
  add column asked json,
  add column arguments json,
  -- The JSON Schema of the arguments, as the tool has it.
  add column schema jsonb,
  add column edited_by text,
  add column edited_by_name text,
  add column edited_at timestamptz,
  add constraint items_edited check ((edited_by is null) = (edited_at is null));

alter table sayso.reviews
  -- The answer that the node could not use, where the same question was asked before.
  add column again json,
  -- The graph as it was when it paused, and which question of its node this is.
  add column fingerprint jsonb,
  add column ordinal integer not null default 0,
  add constraint reviews_ordinal check (ordinal >= 0);

-- The context of the thread's runs, given again at every one.
alter table sayso.threads add column context jsonb;

alter table sayso.mailbox drop constraint mailbox_kind;
alter table sayso.mailbox add constraint mailbox_kind
  check (kind in ('start', 'answer', 'say', 'retry', 'rewind'));
