-- name: alone
-- One writer at a time until the transaction ends: of two processes that start at once, the second
-- finds what the first wrote.
select pg_advisory_xact_lock(hashtextextended('sayso.policies', 7297602));

-- name: last
-- What was written last, taken or refused.
select number, at, actor, hash, text, mistakes, restart
from sayso.policies
order by number desc
limit 1;

-- name: in_force
-- What was taken up last.
select number, at, actor, hash, text, mistakes, restart
from sayso.policies
where mistakes = '{}'
order by number desc
limit 1;

-- name: add
-- Write one down.
insert into sayso.policies (actor, hash, text, mistakes, restart)
values ($1, $2, $3, $4, $5)
returning number;

-- name: newest
-- The newest, newest first, each with what was in force before it.
select
  p.number, p.at, p.actor, p.hash, p.text, p.mistakes, p.restart,
  (
    select b.text
    from sayso.policies as b
    where b.number < p.number
      and b.mistakes = '{}'
    order by b.number desc
    limit 1
  ) as before
from sayso.policies as p
order by p.number desc
limit $1;
