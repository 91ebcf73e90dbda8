-- What people say of a review besides deciding it, and who says that they are looking at it.

create table sayso.exchanges (
  id bigint generated always as identity primary key,
  review_id bigint not null references sayso.reviews (id),
  thread_id text not null references sayso.threads (id),
  kind text not null,
  author text not null,
  author_name text not null default '',
  said text not null,
  said_at timestamptz not null default now(),
  -- Of a question: what the requester wrote, and the names of the files that came with it.
  answer text,
  files text[] not null default '{}',
  answered_by text,
  answered_by_name text not null default '',
  answered_at timestamptz,
  -- Of the message that answered: the same delivery counts once.
  key text,
  constraint exchanges_kind check (kind in ('question', 'comment')),
  constraint exchanges_said check (length(said) between 1 and 3000),
  constraint exchanges_answer check (length(answer) <= 3000),
  constraint exchanges_answered check ((answer is null) = (answered_at is null)),
  constraint exchanges_answered_by check ((answered_by is null) = (answered_at is null)),
  constraint exchanges_comments check (kind = 'question' or answered_at is null),
  constraint exchanges_key unique (thread_id, key)
);

create index exchanges_of_a_review on sayso.exchanges (review_id, id);
create index exchanges_unanswered on sayso.exchanges (thread_id, id)
  where kind = 'question' and answered_at is null;

create table sayso.takings (
  id bigint generated always as identity primary key,
  review_id bigint not null references sayso.reviews (id),
  taker text not null,
  taker_name text not null default '',
  -- The rule and the stage of each item then: under another one, nobody has taken it.
  under jsonb not null,
  taken_at timestamptz not null default now(),
  ended_at timestamptz
);

create unique index takings_one_a_review on sayso.takings (review_id)
  where ended_at is null;
