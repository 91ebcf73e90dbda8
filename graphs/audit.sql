-- name: record
-- Append one entry and its detail.
with entry as (
  insert into sayso.audit (what, actor, thread_id, review_id)
  values ($1, $2, $3, $4)
  returning id
),
unsealed as (
  insert into sayso.audit_unsealed (audit_id)
  select id
  from entry
)
insert into sayso.audit_details (audit_id, detail)
select id, $5::jsonb
from entry;

-- name: of_thread
-- Everything about a thread, oldest first.
select a.id, a.at, a.what, a.actor, a.thread_id, a.review_id, coalesce(d.detail, '{}') as detail
from sayso.audit as a
left join sayso.audit_details as d on d.audit_id = a.id
where a.thread_id = $1
order by a.id;

-- name: of_review
-- Everything about a review, oldest first.
select a.id, a.at, a.what, a.actor, a.thread_id, a.review_id, coalesce(d.detail, '{}') as detail
from sayso.audit as a
left join sayso.audit_details as d on d.audit_id = a.id
where a.review_id = $1
order by a.id;

-- name: recent
-- The newest entries.
select a.id, a.at, a.what, a.actor, a.thread_id, a.review_id, coalesce(d.detail, '{}') as detail
from sayso.audit as a
left join sayso.audit_details as d on d.audit_id = a.id
order by a.id desc
limit $1;
