-- name: lock_interrupt
-- The review of an interrupt, locked; one that was withdrawn does not count.
select
  r.id, r.status, r.hash, r.audience,
  (select i.rule_hash from sayso.items as i where i.review_id = r.id and i.item = 0) as rule_hash,
  exists (select from sayso.items as i where i.review_id = r.id and i.tool is not null) as acts
from sayso.reviews as r
where r.thread_id = $1
  and r.interrupt_id = $2
  and r.status <> 'withdrawn'
for no key update of r;

-- name: open
-- Open a review.
insert into sayso.reviews
  (thread_id, graph, node, interrupt_id, checkpoint_id, kind, audience, question, question_type,
   question_bytes, schema, hash, ordinal, fingerprint, again)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
returning id;

-- name: open_item
-- Open one of its items, under the rule of now.
insert into sayso.items (review_id, item, rule, rule_hash, tool, asked, arguments, schema)
values ($1, $2, $3, $4, $5, $6, $6, $7);

-- name: ask
-- Keep whom an open item asks, by the keys they are found by.
update sayso.items
set asks = $3
where review_id = $1
  and item = $2
  and status = 'open'
  and asks is distinct from $3;

-- name: edit_item
-- Let something else go into an open item's action; no row where it is decided.
update sayso.items
set arguments = $3,
    edited_by = $4,
    edited_by_name = $5,
    edited_at = coalesce($6, now())
where review_id = $1
  and item = $2
  and status = 'open'
returning item;

-- name: raise_revision
-- What is on the card changed.
update sayso.reviews
set revision = revision + 1
where id = $1
  and status = 'open'
returning revision;

-- name: lapse_item
-- Votes for what went into an action before do not count.
update sayso.votes
set lapsed_at = coalesce($3, now())
where review_id = $1
  and item = $2
  and lapsed_at is null
returning voter, voter_name;

-- name: revise
-- The node asks something else under the same interrupt: a new revision.
update sayso.reviews
set question = $2,
    question_type = $3,
    question_bytes = $4,
    schema = $5,
    hash = $6,
    checkpoint_id = $7,
    revision = revision + 1
where id = $1
  and status = 'open';

-- name: lapse
-- Votes for what is no longer on the card do not count.
update sayso.votes
set lapsed_at = now()
where review_id = $1
  and lapsed_at is null;

-- name: withdraw_gone
-- Withdraw the open reviews whose interrupt is gone; locked in id order.
with gone as (
  select id
  from sayso.reviews
  where thread_id = $1
    and status = 'open'
    and interrupt_id <> all ($2::text[])
  order by id
  for no key update
)
update sayso.reviews as r
set status = 'withdrawn',
    closed_because = $3,
    closed_at = now()
from gone
where r.id = gone.id
  and r.status = 'open'
returning r.id;

-- name: set_aside
-- Withdraw a review whose answer the node could not use, or whose question is asked otherwise.
update sayso.reviews
set status = 'withdrawn',
    closed_because = $2,
    closed_at = coalesce(closed_at, now())
where id = $1
  and status <> 'withdrawn';

-- name: close
-- Close an open review; no row where somebody was first.
update sayso.reviews
set status = $2,
    closed_at = coalesce($3, now())
where id = $1
  and status = 'open'
returning id;

-- name: decide_item
-- Decide an open item; no row where somebody was first.
update sayso.items
set status = 'decided',
    verb = $3,
    outcome = $4,
    answer = $5,
    note = $6,
    decided_by = $7,
    decided_by_name = $8,
    decided_at = coalesce($9, now())
where review_id = $1
  and item = $2
  and status = 'open'
returning item;

-- name: open_items
-- How many items of a review are open.
select count(*)
from sayso.items
where review_id = $1
  and status = 'open';

-- name: store_answer
-- Keep what was made of a message, once.
update sayso.items
set answer = $2
where review_id = $1
  and item = 0
  and answer is null;

-- name: lock_open
-- Lock the open reviews of a thread, in id order.
select id
from sayso.reviews
where thread_id = $1
  and status = 'open'
order by id
for no key update;

-- name: shown_of_thread
-- The reviews of a thread that may be shown somewhere.
select id, audience
from sayso.reviews
where thread_id = $1
order by id;

-- name: read
-- Reviews, oldest first.
select
  r.id, r.thread_id, r.graph, r.node, r.interrupt_id, r.checkpoint_id, r.kind, r.audience,
  r.question, r.schema, r.hash, r.again, r.fingerprint, r.ordinal, r.revision, r.status,
  r.closed_because, r.opened_at, r.closed_at, r.rewound_at, t.requester
from sayso.reviews as r
join sayso.threads as t on t.id = r.thread_id
where ($1::bigint[] is null or r.id = any ($1::bigint[]))
  and ($2::text is null or r.thread_id = $2)
  and ($3::text is null or r.status = $3)
order by r.id
limit $4;

-- name: items
-- The items of some reviews.
select
  review_id, item, tool, asked, arguments, schema, edited_by, edited_by_name, edited_at, rule,
  status, verb, outcome, answer, note, decided_by, decided_by_name, decided_at, escalated_at
from sayso.items
where review_id = any ($1::bigint[])
order by review_id, item;

-- name: votes
-- The votes on some reviews, oldest first.
select
  review_id, item, voter, voter_name, seat, verb, answer, answer_hash, note, via, revision,
  cast_at, lapsed_at
from sayso.votes
where review_id = any ($1::bigint[])
order by id;

-- name: lock_item
-- What a vote has to know, read again under the locks of review and item. In a later statement
-- than the lock of the review: a statement that waited still sees its old snapshot of the rest.
select
  r.status, r.audience, r.revision, r.question, r.schema, r.hash, r.closed_because, r.kind,
  r.interrupt_id, r.graph, r.node, i.rule, i.status as item_status, i.verb, i.outcome, i.note,
  i.decided_by, i.decided_by_name, i.decided_at, t.requester, t.mark
from sayso.reviews as r
join sayso.items as i on i.review_id = r.id and i.item = $2
join sayso.threads as t on t.id = r.thread_id
where r.id = $1;

-- name: lock_review
-- Lock a review's row and say which thread it is of.
select thread_id
from sayso.reviews
where id = $1
for no key update;

-- name: thread_of
-- Which thread a review is of, without a lock.
select thread_id
from sayso.reviews
where id = $1;

-- name: decided
-- What was decided on a thread, oldest first, for its nodes.
select
  r.id as review_id, r.interrupt_id, r.node, r.audience, i.item, i.tool, i.arguments, i.verb,
  i.outcome, i.answer, i.note, i.decided_at, i.decided_by, i.decided_by_name, r.closed_at,
  (select m.answer from sayso.mailbox as m where m.review_id = r.id) as whole,
  coalesce(
    (
      select jsonb_agg(jsonb_build_object('id', v.voter, 'name', v.voter_name) order by v.id)
      from sayso.votes as v
      join sayso.votes as won
        on won.review_id = v.review_id and won.item = v.item and won.voter = i.decided_by
          and won.lapsed_at is null
      where v.review_id = r.id
        and v.item = i.item
        and v.lapsed_at is null
        and v.answer_hash = won.answer_hash
    ),
    '[]'
  ) as voters
from sayso.reviews as r
join sayso.items as i on i.review_id = r.id
where r.thread_id = $1
  and i.status = 'decided'
  and r.status in ('decided', 'expired')
  and r.rewound_at is null
order by r.closed_at, r.id, i.item;

-- name: weight
-- How long the question of a review is, without reading it.
select revision, coalesce(octet_length(question::text), 0) as characters
from sayso.reviews
where id = $1;
