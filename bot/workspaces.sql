-- name: keep_workspace
-- Remember which workspace a token belongs to.
insert into sayso.workspaces (team, name, enterprise, bot_user, bot_id, token_digest)
values ($1, $2, $3, $4, $5, $6)
on conflict (team) do update
set name = excluded.name,
    enterprise = excluded.enterprise,
    bot_user = excluded.bot_user,
    bot_id = excluded.bot_id,
    token_digest = excluded.token_digest,
    seen_at = now();

-- name: workspace
-- The workspace of a token; without one, the workspace that was seen last.
select team, name, enterprise, bot_user, bot_id
from sayso.workspaces
where $1::text is null or token_digest = $1
order by seen_at desc
limit 1;
