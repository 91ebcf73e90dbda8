-- Customers, the ways to recognise them, and what is remembered of them.

create table sayso.customers (
    id text primary key check (id ~ '^cus_[0-9a-f]{16}$'),
    name text not null check (name <> '' and length(name) <= 200),
    created_at timestamptz not null default now()
);

-- What a customer is known by. Today the kind is 'name'; a CRM number, an e-mail address or a chat
-- channel is one more kind and no new table. Two customers may share a value: then a person says
-- which one is meant. `value` is what is compared, `spelling` what was written.
create table sayso.identities (
    kind text not null check (kind ~ '^[a-z][a-z_]{0,39}$'),
    value text not null check (value <> ''),
    customer_id text not null references sayso.customers (id),
    spelling text not null,
    created_at timestamptz not null default now(),
    primary key (kind, value, customer_id)
);

create index identities_of_a_customer on sayso.identities (customer_id);

-- One row for each item of the store. `namespace` is the labels joined by '.', which no label may
-- contain. It is compared byte by byte ("C"), so that everything under a prefix is one range of the
-- primary key: from prefix || '.' up to, and without, prefix || '/', the next byte.
create table sayso.memories (
    namespace text collate "C" not null,
    key text collate "C" not null,
    value jsonb not null check (jsonb_typeof(value) = 'object'),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    customer_id text generated always as (
        case when split_part(namespace, '.', 1) = 'customers' then split_part(namespace, '.', 2) end
    ) stored references sayso.customers (id),
    primary key (namespace, key),
    check (namespace ~ '^(customers|graphs|shared)(\.[^.]+)+$')
);

create index memories_of_a_customer on sayso.memories (customer_id) where customer_id is not null;
