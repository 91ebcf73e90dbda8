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
