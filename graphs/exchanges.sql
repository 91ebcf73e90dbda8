-- name: stands
-- Whether people can talk about a review: read after its lock, in a statement of its own.
select r.status, r.audience, r.thread_id, t.mark
from sayso.reviews as r
join sayso.threads as t on t.id = r.thread_id
where r.id = $1;

-- name: say
-- Keep a question or a comment.
insert into sayso.exchanges (review_id, thread_id, kind, author, author_name, said, said_at)
values ($1, $2, $3, $4, $5, $6, coalesce($7, now()))
returning id;

-- name: answer
-- Keep the answer to a question; no row where it has one.
update sayso.exchanges
set answer = $2,
    files = $3,
    answered_by = $4,
    answered_by_name = $5,
    key = $6,
    answered_at = coalesce($7, now())
where id = $1
  and kind = 'question'
  and answered_at is null
returning id;

-- name: has_key
-- Whether a message with this key has answered a question before.
select exists (
  select
  from sayso.exchanges
  where thread_id = $1
    and key = $2
);

-- name: read
-- Questions and comments: of a review, or by their ids; oldest first.
select
  id, review_id, thread_id, kind, author, author_name, said, said_at, answer, files, answered_by,
  answered_by_name, answered_at
from sayso.exchanges
where ($1::bigint is null or review_id = $1)
  and ($2::bigint is null or id = $2)
order by id;

-- name: unanswered
-- The questions of a thread's open reviews that wait for an answer, oldest first.
select
  e.id, e.review_id, e.thread_id, e.kind, e.author, e.author_name, e.said, e.said_at, e.answer,
  e.files, e.answered_by, e.answered_by_name, e.answered_at
from sayso.exchanges as e
join sayso.reviews as r on r.id = e.review_id
where e.thread_id = $1
  and e.kind = 'question'
  and e.answered_at is null
  and r.status = 'open'
order by e.id;

-- name: beside
-- The questions without an answer that are shown in the thread of a review, this one's first.
select id
from sayso.exchanges
where thread_id = (select thread_id from sayso.reviews where id = $1)
  and kind = 'question'
  and answered_at is null
order by review_id <> $1, id;
