-- name: store
-- Store a file; one that came before keeps its row.
with stored as (
  insert into sayso.documents
    (id, thread_id, file_id, name, media_type, size, sha256, body, problem)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict on constraint documents_file do nothing
  returning id
)
select id
from stored
union all
select id
from sayso.documents
where thread_id = $2
  and file_id = $3
limit 1;

-- name: stored
-- Which of these files a thread has, and how much of each.
select file_id, id, coalesce(length(body), 0) as bytes
from sayso.documents
where thread_id = $1
  and file_id = any ($2::text[]);

-- name: read
-- One document of a thread.
select id, name, media_type, size, sha256, body, problem
from sayso.documents
where thread_id = $1
  and id = $2;

-- name: of_thread
-- The documents of a thread, without their bodies.
select id, name, media_type, size, sha256, problem
from sayso.documents
where thread_id = $1
order by number;
