-- Who may write to a thread. One row for each thread; it is queue, lease and fence at once.

create table sayso.leases (
  thread_id text collate "C" primary key check (thread_id <> ''),
  scope text not null,
  epoch bigint not null default 0 check (epoch >= 0),
  owner text check (owner <> ''),
  lease_until timestamptz,
  ready_at timestamptz,
  seq bigint not null default 0,
  crashes integer not null default 0 check (crashes >= 0),
  constraint leases_owned check ((owner is null) = (lease_until is null))
) with (fillfactor = 80);

create index leases_ready on sayso.leases (ready_at)
where owner is null and ready_at is not null;

create index leases_owned on sayso.leases (lease_until)
where owner is not null;
