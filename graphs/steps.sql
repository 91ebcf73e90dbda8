-- name: tell
-- Keep what was said of some tasks; a task that waits or failed may run again.
insert into sayso.steps (thread_id, task_id, node, status, error, finished_at)
select $1, told.task_id, told.node, told.status, told.error,
  case when told.status in ('done', 'failed') then now() end
from unnest($2::text[], $3::text[], $4::text[], $5::text[])
  with ordinality as told (task_id, node, status, error, position)
order by told.position
on conflict (thread_id, task_id) do update
set status = excluded.status,
    error = excluded.error,
    finished_at = excluded.finished_at;

-- name: of_thread
-- The steps of a thread, in the order in which they began.
select task_id, node, status, error, started_at, finished_at
from sayso.steps
where thread_id = $1
order by number;

-- name: close
-- What is left as running was cut off and will run again.
update sayso.steps
set status = 'waiting'
where thread_id = $1
  and status = 'running';

-- name: running
-- The step that runs now, or ran when its owner was lost.
select node
from sayso.steps
where thread_id = $1
  and status = 'running'
order by number desc
limit 1;
