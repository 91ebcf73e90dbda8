-- name: open_after
-- The questions that wait for reviewers, by id: so many after one.
select id
from sayso.reviews
where status = 'open'
  and audience = 'reviewers'
  and id > $1
  and ($2::text is null or graph = $2)
order by id
limit $3;

-- name: set_rule
-- Let an open item be decided under another rule; whom the old one added does not count.
update sayso.items
set rule = $3,
    rule_hash = $4,
    escalated_at = null
where review_id = $1
  and item = $2
  and status = 'open';
