-- name: find
-- The customers that have this id, or one of whose names compares equal; the oldest first.
select
    customers.id,
    customers.name
from sayso.customers
where customers.id in (
    select $1::text
    union
    select identities.customer_id
    from sayso.identities
    where identities.kind = 'name'
        and identities.value = $2
)
order by
    customers.created_at,
    customers.id;

-- name: get
-- The customer of this id.
select
    id,
    name
from sayso.customers
where id = $1;

-- name: create
-- A new customer, known by the name it was created with.
with customer as (
    insert into sayso.customers (id, name, created_at)
    values ($1, $2, coalesce($4, now()))
    returning id, name, created_at
)
insert into sayso.identities (kind, value, customer_id, spelling, created_at)
select
    'name',
    $3,
    customer.id,
    customer.name,
    customer.created_at
from customer;

-- name: wait_for_name
-- Lets one transaction at a time create a customer of this name; held until that transaction ends.
-- No unique index can do this, because two customers of one name are allowed.
select pg_advisory_xact_lock(hashtextextended($1, 7297602));
