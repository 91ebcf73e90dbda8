-- A reminder may be for a time of day, which is another instant for each reader.

alter table sayso.timers
  -- "09:30": each reader gets it at their own, the first after `due_at`.
  add column wall text,
  add constraint timers_wall check (wall is null or kind = 'remind');
