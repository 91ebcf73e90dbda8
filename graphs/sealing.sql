-- name: claim_head
-- Be the one sealer; no row where another one is at it.
select position, hash
from sayso.audit_head
for no key update skip locked;

-- name: unsealed
-- Entries without a seal, in their order, as far as they are committed.
select a.id, a.at, a.what, a.actor, a.thread_id, a.review_id, d.detail, d.salt
from sayso.audit_unsealed as u
join sayso.audit as a on a.id = u.audit_id
join sayso.audit_details as d on d.audit_id = a.id
order by a.id
limit $1;

-- name: seal
-- Give entries their places.
with sealed as (
  insert into sayso.audit_seals (position, audit_id, leaf, hash)
  select *
  from unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[])
  returning audit_id
)
delete from sayso.audit_unsealed as u
using sealed
where u.audit_id = sealed.audit_id;

-- name: move_head
-- Say where the chain ends.
update sayso.audit_head
set position = $1,
    hash = $2;

-- name: head
-- Where the chain ends.
select position, hash
from sayso.audit_head;

-- name: claim_telling
-- Take the head to tell it, once in a while and only where it grew.
update sayso.audit_head
set told_position = position,
    told_at = now()
where position > told_position
  and (told_at is null or told_at <= now() - make_interval(secs => $1))
returning position, hash;

-- name: first_wanted
-- The place of the first entry that is wanted.
select min(s.position)
from sayso.audit_seals as s
join sayso.audit as a on a.id = s.audit_id
left join sayso.threads as t on t.id = a.thread_id
where ($1::timestamptz is null or a.at >= $1)
  and ($2::timestamptz is null or a.at < $2)
  and ($3::text is null or a.thread_id = $3)
  and ($4::text is null or t.graph = $4)
  and ($5::text is null or t.customer_id = $5)
  and ($6::text is null or a.actor = $6);

-- name: places
-- The chain from a place on; the entries that are wanted with all they have.
select
  s.position, s.leaf, s.hash, a.id, a.at, a.what, a.actor, a.thread_id, a.review_id, d.detail,
  d.salt,
  ($1::timestamptz is null or a.at >= $1)
    and ($2::timestamptz is null or a.at < $2)
    and ($3::text is null or a.thread_id is not distinct from $3)
    and ($4::text is null or t.graph is not distinct from $4)
    and ($5::text is null or t.customer_id is not distinct from $5)
    and ($6::text is null or a.actor = $6) as wanted
from sayso.audit_seals as s
join sayso.audit as a on a.id = s.audit_id
join sayso.audit_details as d on d.audit_id = a.id
left join sayso.threads as t on t.id = a.thread_id
where s.position >= $7
order by s.position
limit $8;

-- name: hash_at
-- The hash of a place.
select hash
from sayso.audit_seals
where position = $1;
