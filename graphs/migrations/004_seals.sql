-- The seal of the record: every entry gets a gapless position and a hash over the one before it.
-- The chain holds a salted digest of an entry's detail and not the detail, which may be encrypted
-- or erased later while the chain still verifies.

alter table sayso.audit_details add column salt uuid not null default gen_random_uuid();

-- The entries that have no seal yet. A row is written with its entry and goes with the sealing.
create table sayso.audit_unsealed (
  audit_id bigint primary key references sayso.audit (id)
);

insert into sayso.audit_unsealed (audit_id)
select id
from sayso.audit;

create table sayso.audit_seals (
  position bigint primary key,
  audit_id bigint not null references sayso.audit (id),
  -- Of the entry itself, with the salted digest of its detail; and of the line before with it.
  leaf bytea not null,
  hash bytea not null,
  sealed_at timestamptz not null default now(),
  constraint audit_seals_entry unique (audit_id),
  constraint audit_seals_position check (position > 0),
  constraint audit_seals_size check (length(leaf) = 32 and length(hash) = 32)
);

-- Where the chain ends; its row lock makes one sealer of many.
create table sayso.audit_head (
  single boolean primary key default true,
  position bigint not null,
  hash bytea not null,
  -- The last head that people were told, and when.
  told_position bigint not null default 0,
  told_at timestamptz,
  constraint audit_head_single check (single)
);

insert into sayso.audit_head (position, hash)
values (0, decode(repeat('00', 32), 'hex'));

create trigger audit_seals_append_only
  before update or delete or truncate on sayso.audit_seals
  for each statement execute function sayso.audit_is_append_only();
