-- name: get
-- The items asked for by namespace and key, those that exist.
select
    memories.namespace,
    memories.key,
    memories.value,
    memories.created_at,
    memories.updated_at
from unnest($1::text[], $2::text[]) as asked (namespace, key)
join sayso.memories
    on memories.namespace = asked.namespace
    and memories.key = asked.key;

-- name: search
-- The items at and under a namespace that meet every condition, the newest first; with words given,
-- only those in which one of them occurs, the best match first. The range is exact: '/' is the byte
-- after '.', and the column compares byte by byte. Beyond 100,000 characters only the beginning of
-- a value is searched for words, since a text vector has a limit that raises.
select
    memories.namespace,
    memories.key,
    memories.value,
    memories.created_at,
    memories.updated_at,
    ts_rank(vector.words, asked_words.words)::float8 as score
from sayso.memories
cross join (
    select replace(plainto_tsquery('simple', $5::text)::text, '&', '|')::tsquery as words
) as asked_words
cross join lateral (
    select case
        when $5::text is null then null
        when length(memories.value::text) <= 100000
            then jsonb_to_tsvector('simple', memories.value, '["string", "numeric"]')
        else to_tsvector('simple', left(memories.value::text, 100000))
    end as words
) as vector
where (
        memories.namespace = $1
        or (memories.namespace >= $1 || '.' and memories.namespace < $1 || '/')
    )
    and not exists (
        select 1
        from jsonb_to_recordset($2::jsonb) as asked (path text[], test text, value jsonb)
        cross join lateral (
            select
                coalesce(memories.value #> asked.path, 'null') as found,
                coalesce(asked.value, 'null') as wanted
        ) as pair
        where not case asked.test
            when '$eq' then pair.found = pair.wanted
            when '$ne' then pair.found <> pair.wanted
            when 'is_object' then jsonb_typeof(pair.found) = 'object'
            when 'has_length' then case
                when jsonb_typeof(pair.found) = 'array'
                    then to_jsonb(jsonb_array_length(pair.found)) = pair.wanted
                else false
            end
            else jsonb_typeof(pair.found) = jsonb_typeof(pair.wanted) and case
                when jsonb_typeof(pair.wanted) = 'number' then case asked.test
                    when '$gt' then pair.found > pair.wanted
                    when '$gte' then pair.found >= pair.wanted
                    when '$lt' then pair.found < pair.wanted
                    when '$lte' then pair.found <= pair.wanted
                end
                else case asked.test
                    when '$gt' then (pair.found #>> '{}') collate "C" > pair.wanted #>> '{}'
                    when '$gte' then (pair.found #>> '{}') collate "C" >= pair.wanted #>> '{}'
                    when '$lt' then (pair.found #>> '{}') collate "C" < pair.wanted #>> '{}'
                    when '$lte' then (pair.found #>> '{}') collate "C" <= pair.wanted #>> '{}'
                end
            end
        end
    )
    and ($5::text is null or vector.words @@ asked_words.words)
order by
    score desc nulls last,
    memories.updated_at desc,
    memories.namespace,
    memories.key
limit $3
offset $4;

-- name: namespaces
-- The namespaces under a root, as labels without the root, that match every condition.
with named as (
    select distinct memories.namespace
    from sayso.memories
    where memories.namespace = $1
        or (memories.namespace >= $1 || '.' and memories.namespace < $1 || '/')
),
relative as (
    select (string_to_array(named.namespace, '.'))[$2::int + 1:] as labels
    from named
)
select distinct relative.labels[:coalesce($4::int, cardinality(relative.labels))] as labels
from relative
where not exists (
    select 1
    from jsonb_to_recordset($3::jsonb) as asked (kind text, path text[])
    cross join lateral (
        select case asked.kind
            when 'suffix' then cardinality(relative.labels) - cardinality(asked.path)
            else 0
        end as skipped
    ) as start
    where cardinality(relative.labels) < cardinality(asked.path)
        or exists (
            select 1
            from generate_subscripts(asked.path, 1) as position
            where asked.path[position] <> '*'
                and asked.path[position] <> relative.labels[start.skipped + position]
        )
)
order by labels
limit $5
offset $6;

-- name: put
-- Writes items over what was there. Every statement here takes its rows in one order, so that
-- batches cannot deadlock; a batch that also removes items puts those too, since an insert locks a
-- place even where there is no row yet, which a select for update does not.
insert into sayso.memories (namespace, key, value, created_at, updated_at)
select
    given.namespace,
    given.key,
    given.value::jsonb,
    coalesce($4::timestamptz, now()),
    coalesce($4::timestamptz, now())
from unnest($1::text[], $2::text[], $3::text[]) as given (namespace, key, value)
order by
    given.namespace collate "C",
    given.key collate "C"
on conflict (namespace, key) do update
set value = excluded.value,
    updated_at = excluded.updated_at;

-- name: delete
-- Removes items; one that is not there is no error.
delete from sayso.memories
where (memories.namespace, memories.key) in (
    select
        present.namespace,
        present.key
    from unnest($1::text[], $2::text[]) as given (namespace, key)
    join sayso.memories as present
        on present.namespace = given.namespace
        and present.key = given.key
    order by
        present.namespace,
        present.key
    for update of present
);
