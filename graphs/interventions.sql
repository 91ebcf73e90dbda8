-- name: clear_mark
-- Let a thread that failed, was held or parked go on.
update sayso.threads
set mark = null,
    mark_reason = null,
    ended_at = null,
    changed_at = now()
where id = $1
  and mark in ('failed', 'held', 'parked');

-- name: mark
-- Give a thread its mark, unless it has ended before.
update sayso.threads
set mark = $2,
    mark_reason = $3,
    changed_at = now(),
    ended_at = case when $2 = 'cancelled' then now() else ended_at end
where id = $1
  and (mark is null or mark not in ('done', 'cancelled'))
returning id;

-- name: asked_by
-- The newest decided question of the node that failed; the last name of its path will do.
select id, interrupt_id
from sayso.reviews
where thread_id = $1
  and status in ('decided', 'expired')
  and kind = 'interrupt'
  and rewound_at is null
  and (node = $2 or split_part(node, '/', -1) = split_part($2, '/', -1))
order by closed_at desc, id desc
limit 1;
