-- name: of_person
-- The open reviews that wait for somebody, what is overdue first, then the oldest, and how many
-- there are in all. The index over what is open finds them by their keys alone: what waits for
-- others is never read, however much it is. Of more than $6 a part is counted.
with asking as materialized (
  select i.review_id, i.item, i.rule, i.escalated_at, i.asks && $1::text[] as own
  from sayso.items as i
  where i.status = 'open'
    and i.asks && ($1::text[] || $2::text[])
  limit $6
),
mine as (
  select
    a.review_id,
    bool_or(
      a.escalated_at is not null
      or exists (
        select
        from sayso.timers as d
        where d.review_id = a.review_id
          and d.item = a.item
          and d.kind = 'deadline'
          and d.fired_at is not null
      )
    ) as overdue
  from asking as a
  join sayso.reviews as r on r.id = a.review_id
  join sayso.threads as t on t.id = r.thread_id
  where r.status = 'open'
    and r.audience = 'reviewers'
    and t.mark is null
    and (t.requester <> $3 or a.rule -> 'requester_may_decide' = 'true')
    and (
      a.own
      or (
        a.rule -> 'delegates_may_decide' is distinct from 'false'
        and (
          not $4::text[] <@ array[t.requester]
          or a.rule -> 'requester_may_decide' = 'true'
        )
      )
    )
    and not exists (
      select
      from sayso.votes as v
      where v.review_id = a.review_id
        and v.item = a.item
        and v.lapsed_at is null
        and (v.voter = $3 or v.seat = any (case when a.own then array[$3] else $4::text[] end))
    )
    and not exists (
      select
      from sayso.handovers as h
      where h.review_id = a.review_id
        and h.taken_back_at is null
        and (h.giver = $3 or (not a.own and h.taker <> $3 and $4::text[] <@ array[h.giver]))
    )
  group by a.review_id
)
select
  review_id, overdue, count(*) over () as total,
  count(*) filter (where overdue) over () as late
from mine
order by overdue desc, review_id
limit $5;
