-- A thread may be taken back to an earlier step.

alter table sayso.threads
  -- Who took it back last, and what was let through before and done since: {"by", "by_name", "at",
  -- "step", "past": [{"node", "decided_by", "at", "outcome"}]}.
  add column rewound jsonb;

alter table sayso.reviews
  -- Since when its decision does not count any more: the thread was taken back to before it.
  add column rewound_at timestamptz;
