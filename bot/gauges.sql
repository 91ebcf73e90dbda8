-- name: waiting
-- How many messages Slack does not show yet as they should be, how many of them it refused, and for
-- how long the oldest of the others waits to be sent: since it was wanted where a first send
-- failed, else since it was due. An index holds only these.
select
  count(*) as messages,
  count(*) filter (where parked_at is not null) as parked,
  coalesce(
    greatest(
      extract(epoch from max(
        now() - case when attempts > 0 and shown_at is null then created_at else due_at end
      ) filter (where parked_at is null)),
      0
    ),
    0
  )::float8 as seconds
from sayso.posts
where shown < wanted
  or unsure;
