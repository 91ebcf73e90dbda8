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
