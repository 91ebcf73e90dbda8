-- name: waiting
-- The questions that wait for people, whose answer waits to be fed, or was fed to a step that
-- failed, with the graph of then.
select
  r.id, r.node, r.ordinal, r.fingerprint, r.thread_id, t.number, t.graph, t.mark, t.mark_reason
from sayso.reviews as r
join sayso.threads as t on t.id = r.thread_id
where r.id > $1
  and (
    r.status = 'open'
    or exists (
      select
      from sayso.mailbox as m
      where m.review_id = r.id
        and m.consumed_at is null
    )
    or (t.mark = 'failed' and r.status = 'decided' and r.checkpoint_id = t.head)
  )
  and r.rewound_at is null
  and (t.mark is null or t.mark in ('held', 'failed'))
order by r.id
limit $2;

-- name: of_thread
-- The questions of one thread that it may rest at, with the graph of then.
select r.node, r.ordinal, r.checkpoint_id, r.fingerprint
from sayso.reviews as r
join sayso.threads as t on t.id = r.thread_id
where r.thread_id = $1
  and r.status <> 'withdrawn'
  and r.rewound_at is null
  and (
    r.status = 'open'
    or r.checkpoint_id = t.head
    or exists (
      select
      from sayso.mailbox as m
      where m.review_id = r.id
        and m.consumed_at is null
    )
  )
order by r.id;
