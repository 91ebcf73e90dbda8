-- name: record
-- Keep a choice; a task that ran again chose again.
insert into sayso.routings (thread_id, task_id, branch, node, choice, step)
values ($1, $2, $3, $4, $5::jsonb, $6)
on conflict (thread_id, task_id, branch) do update
set choice = excluded.choice,
    step = excluded.step,
    checkpoint_id = null,
    at = now();

-- name: stamp
-- Add the checkpoints in which the steps ended.
update sayso.routings as r
set checkpoint_id = ended.checkpoint_id
from unnest($2::integer[], $3::text[]) as ended (step, checkpoint_id)
where r.thread_id = $1
  and r.step = ended.step
  and r.checkpoint_id is null;

-- name: of_thread
-- Every choice on a thread, oldest first.
select task_id, node, branch, choice, step, checkpoint_id, at
from sayso.routings
where thread_id = $1
order by at, step;
