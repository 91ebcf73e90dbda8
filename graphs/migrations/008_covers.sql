-- Who decides in whose place: while somebody is away, and where one review was handed over.

create table sayso.absences (
  id bigint generated always as identity primary key,
  team text not null,
  person text not null,
  person_name text not null default '',
  covered_by text not null,
  covered_by_name text not null default '',
  begins_at timestamptz not null default now(),
  -- Away until this instant, which is the first when they are back.
  until_at timestamptz not null,
  set_by text not null,
  set_at timestamptz not null default now(),
  ended_at timestamptz,
  ended_by text,
  -- What the person was found by when it was set, as in items.asks: whose cards name it.
  keys text[] not null default '{}',
  constraint absences_of_another check (person <> covered_by),
  constraint absences_take_time check (until_at > begins_at),
  constraint absences_ended check ((ended_at is null) = (ended_by is null))
);

create unique index absences_one_a_person on sayso.absences (team, person)
  where ended_at is null;
create index absences_covered on sayso.absences (team, covered_by)
  where ended_at is null;
create index absences_over on sayso.absences (until_at)
  where ended_at is null;

create table sayso.handovers (
  id bigint generated always as identity primary key,
  review_id bigint not null references sayso.reviews (id),
  giver text not null,
  giver_name text not null default '',
  taker text not null,
  taker_name text not null default '',
  note text,
  made_by text not null,
  made_at timestamptz not null default now(),
  taken_back_at timestamptz,
  taken_back_by text,
  constraint handovers_to_another check (giver <> taker),
  constraint handovers_note check (length(note) <= 500),
  constraint handovers_taken_back check ((taken_back_at is null) = (taken_back_by is null))
);

create unique index handovers_one_a_giver on sayso.handovers (review_id, giver)
  where taken_back_at is null;
