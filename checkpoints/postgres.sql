-- name: answers_of
-- The answers that a task has been given on one checkpoint, and whether it failed.
select channel, value
from sayso.checkpoint_writes
where
  thread_id = $1
  and namespace = $2
  and checkpoint_id = $3
  and task_id = $4
  and channel in ('__resume__', '__error__')
for no key update;

-- name: forget_writes
-- Take back what a task wrote on some special channels of one checkpoint.
delete from sayso.checkpoint_writes
where
  thread_id = $1
  and namespace = $2
  and checkpoint_id = $3
  and task_id = $4
  and channel = any($5::text[]);

-- name: keep_answers
-- Put the answers that stay in the place of those that were there.
update sayso.checkpoint_writes
set value = $5
where
  thread_id = $1
  and namespace = $2
  and checkpoint_id = $3
  and task_id = $4
  and channel = '__resume__';

-- name: failures
-- The tasks that failed at the newest checkpoints of a thread, and of the graphs below some tasks
-- of it. A graph that keeps its state from call to call has no task ids in its namespace.
select w.namespace, w.checkpoint_id, w.task_id, w.task_path
from sayso.checkpoint_writes as w
where
  w.thread_id = $1
  and w.channel = '__error__'
  and (
    w.namespace = ''
    or exists (
      select
      from unnest($2::text[], $3::text[]) as t (name, task_id)
      where
        w.namespace = t.name
        or starts_with(w.namespace, t.name || '|')
        or starts_with(w.namespace, t.name || ':' || t.task_id)
    )
  )
  and w.checkpoint_id = (
    select max(c.checkpoint_id)
    from sayso.checkpoints as c
    where
      c.thread_id = w.thread_id
      and c.namespace = w.namespace
  )
order by w.namespace, w.checkpoint_id, w.task_id;

-- name: forget_update
-- Take back what a person changed on one checkpoint.
delete from sayso.checkpoint_writes
where
  thread_id = $1
  and namespace = $2
  and checkpoint_id = $3
  and task_id = $4;

-- name: put_update
-- Put what a person changed on one checkpoint.
insert into sayso.checkpoint_writes
  (thread_id, namespace, checkpoint_id, task_id, idx, task_path, channel, value)
select $1, $2, $3, $4, w.idx, '', w.channel, w.value
from unnest($5::integer[], $6::text[], $7::bytea[]) as w (idx, channel, value);
