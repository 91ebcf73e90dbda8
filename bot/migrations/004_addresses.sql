-- The e-mail address that Slack shows of a person, for rules that name people by it.
alter table sayso.people
  -- Null while nobody knows; '' where Slack says that there is none that it has confirmed.
  add column email text;

create index people_by_email on sayso.people (team, email)
  where email <> '';
