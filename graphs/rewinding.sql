-- name: decided
-- The reviews of a thread that were decided and count, with how, and whether the answer was fed.
select
  r.id, r.node, r.checkpoint_id, r.audience, r.closed_at,
  array_agg(i.outcome order by i.item) as outcomes,
  (array_agg(coalesce(nullif(i.decided_by_name, ''), i.decided_by) order by i.item))[1]
    as decided_by,
  bool_or(m.consumed_at is not null) as fed
from sayso.reviews as r
join sayso.items as i on i.review_id = r.id
left join sayso.mailbox as m on m.review_id = r.id
where r.thread_id = $1
  and r.status in ('decided', 'expired')
  and r.rewound_at is null
group by r.id
order by r.closed_at, r.id;

-- name: uncount
-- Say that these decisions do not count any more.
update sayso.reviews
set rewound_at = now()
where id = any ($1::bigint[]);

-- name: drop
-- Say that nothing of what was to be fed will be, except what people wrote.
update sayso.mailbox
set consumed_at = now(),
    unwoken = false
where thread_id = $1
  and kind <> 'say'
  and consumed_at is null;

-- name: clear
-- Let the thread go on, whatever it had come to, and keep who took it back.
update sayso.threads
set mark = null,
    mark_reason = null,
    error = null,
    outcome = null,
    ended_at = null,
    rewound = $2,
    changed_at = now()
where id = $1;

-- name: rewound
-- Who took the thread back last, and what had been done then.
select rewound
from sayso.threads
where id = $1;

-- name: forget_open_steps
-- Forget the steps that were not finished: they belong to what is not run any more.
delete from sayso.steps
where thread_id = $1
  and status in ('running', 'waiting');
