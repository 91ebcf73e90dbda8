-- name: want
-- Say that something should be shown, or shown anew; a progress message keeps its pace.
insert into sayso.posts (kind, subject, place, thread_id, body)
values ($1, $2, $3, $4, $5)
on conflict (kind, subject, place) do update
set wanted = sayso.posts.wanted + 1,
    body = coalesce(excluded.body, sayso.posts.body) - 'left',
    due_at = greatest(
      sayso.posts.due_at,
      now(),
      sayso.posts.shown_at + make_interval(secs => $6)
    );

-- name: want_once
-- Say that something should be shown at a place where it never was; else nothing changes.
insert into sayso.posts (kind, subject, place, body)
values ($1, $2, $3, $4)
on conflict (kind, subject, place) do nothing;

-- name: enclose
-- Want a file under a message; one that was wanted already stays as it is.
insert into sayso.posts (kind, subject, place, body)
values ('file', $1, $2, $3)
on conflict (kind, subject, place) do nothing;

-- name: again
-- Say that whatever is shown of a subject should be shown anew; nothing new is posted.
update sayso.posts
set wanted = wanted + 1,
    due_at = greatest(due_at, now(), shown_at + make_interval(secs => $3))
where kind = $1 and subject = $2
returning place;

-- name: leave
-- A subject is to stand at other places: what is shown of it says so, each once.
update sayso.posts
set wanted = wanted + 1,
    due_at = greatest(due_at, now()),
    body = coalesce(body, '{}') || jsonb_build_object('left', now())
where kind = $1
  and subject = $2
  and not coalesce(body, '{}') ? 'left';

-- name: left_again
-- Where a subject left, a message can lead to where it stands now.
update sayso.posts
set wanted = wanted + 1,
    due_at = greatest(due_at, now())
where kind = $1
  and subject = $2
  and body ? 'left';

-- name: overtake
-- Outcomes that told of a failure and are behind their thread lose their buttons, each once.
update sayso.posts
set wanted = wanted + 1,
    due_at = greatest(due_at, now()),
    body = body || '{"overtaken": true}'
where kind = 'outcome'
  and thread_id = $1
  and subject <> $2
  and body ? 'failed'
  and not body ? 'overtaken'
returning place;

-- name: stands_again
-- An outcome that was thought overtaken is its thread's own after all.
update sayso.posts
set body = body - 'overtaken'
where kind = 'outcome'
  and subject = $1
  and body ? 'overtaken';

-- name: lane
-- Make sure that a place has its lane.
insert into sayso.lanes (place)
values ($1)
on conflict do nothing;

-- name: hint
-- Wake the posters; they poll as well.
select pg_notify('sayso_posts', $1);

-- name: claim
-- Take the lane of the most urgent post that can be sent now. The lane's row is what is locked:
-- a second poster skips it, and one that waited for it looks at the claim again.
with candidate as (
  select p.id, l.place
  from sayso.posts as p
  join sayso.lanes as l on l.place = p.place
  where (p.shown < p.wanted or p.unsure)
    and p.due_at <= now()
    and (l.claimed_until is null or l.claimed_until <= now())
    and (p.ts is not null or l.next_post_at <= now())
  order by
    case
      when p.kind = 'card' and p.ts is not null then 0
      when p.kind = 'card' then 1
      when p.kind <> 'progress' then 2
      else 3
    end,
    p.due_at,
    p.created_at
  limit 1
  for no key update of l skip locked
)
update sayso.lanes as l
set claimed_by = $1,
    claimed_until = now() + make_interval(secs => $2)
from candidate as c
where l.place = c.place
returning c.id;

-- name: look
-- Read a claimed post again: another poster may have shown it between snapshot and claim.
select id, kind, subject, place, thread_id, body, wanted, shown, digest, channel, ts, tried_at,
       unsure, attempts, parked_at, created_at
from sayso.posts
where id = $1
  and (shown < wanted or unsure);

-- name: place_of
-- Where a post is to stand.
select place
from sayso.posts
where id = $1;

-- name: release
-- Give a lane back; after a new message the next one waits its second.
update sayso.lanes
set claimed_by = null,
    claimed_until = null,
    next_post_at = greatest(next_post_at, now() + make_interval(secs => $3))
where place = $1 and claimed_by = $2;

-- name: trying
-- Commit that a first send begins, so that a crash after it is noticed. Where one began before,
-- its message may still come: then surplus copies are looked for.
update sayso.posts
set tried_at = now(),
    reconcile_at = case
      when tried_at is not null then now() + make_interval(secs => $2)
      else reconcile_at
    end
where id = $1
returning id;

-- name: showed
-- Slack shows the post as it was wanted when it was rendered. A poster that stalled may say so of
-- a copy after another found or posted the message: that one stays, the copy is surplus.
update sayso.posts
set shown = greatest(shown, $2),
    digest = $3,
    channel = coalesce($4, channel),
    ts = coalesce($5, ts),
    tried_at = null,
    unsure = false,
    attempts = 0,
    parked_at = null,
    error = null,
    shown_at = now()
where id = $1
  and (ts is null or ts = coalesce($5, ts));

-- name: found
-- A message that we posted without learning of it: it is ours now, and is brought up to date; unless
-- another poster was first.
update sayso.posts
set channel = $2,
    ts = $3,
    tried_at = null,
    unsure = true,
    reconcile_at = now() + make_interval(secs => $4)
where id = $1
  and ts is null;

-- name: uploaded
-- Keep what was uploaded for a file; the first one stays, and is shared at once.
update sayso.posts
set body = coalesce(body, '{}') || $2::jsonb,
    due_at = now()
where id = $1
  and not coalesce(body, '{}') ? $3;

-- name: upload_again
-- The bytes are gone from Slack: they are sent anew.
update sayso.posts
set body = body - $2::text[],
    tried_at = null,
    due_at = now()
where id = $1 and ts is null;

-- name: picture
-- A picture that was wanted: the file it is in Slack, or why there is none; null: not yet drawn.
select ts, shown, wanted, error
from sayso.posts
where kind = 'picture' and subject = $1;

-- name: forget_picture
-- Slack does not show a picture any more: the next look draws it anew.
delete from sayso.posts
where kind = 'picture' and subject = $1;

-- name: unknown
-- The outcome of a send is not known: hold off, then look before sending again.
update sayso.posts
set unsure = ts is not null,
    attempts = attempts + 1,
    error = $2,
    due_at = now() + make_interval(secs => $3),
    reconcile_at = case
      when ts is null then now() + make_interval(secs => $4)
      else reconcile_at
    end
where id = $1;

-- name: later
-- Nothing was sent by this poster; try again then. It is no attempt. Where a second one announced a
-- send (`trying` left `reconcile_at`), the announcement is not ours alone to take back.
update sayso.posts
set tried_at = case when $4 or reconcile_at is not null then tried_at end,
    error = $2,
    due_at = now() + make_interval(secs => $3)
where id = $1;

-- name: park
-- Slack said no for good: somebody has to act; it is tried again now and then. A send that began
-- is still looked for first: an earlier one may have been done.
update sayso.posts
set tried_at = case when ts is null then tried_at end,
    attempts = attempts + 1,
    parked_at = coalesce(parked_at, now()),
    error = $2,
    due_at = now() + make_interval(secs => $3)
where id = $1;

-- name: lost
-- The message is not there any more: post it anew.
update sayso.posts
set ts = null,
    tried_at = null,
    unsure = false,
    shown = 0,
    digest = null,
    due_at = now()
where id = $1;

-- name: unpark
-- What stood in the way at a place is gone: try again now.
update sayso.posts
set due_at = now()
where parked_at is not null
  and (place = $1 or channel = $1);

-- name: pause
-- Nothing may be posted to a place before then.
update sayso.lanes
set next_post_at = greatest(next_post_at, now() + make_interval(secs => $2))
where place = $1;

-- name: next_due
-- In how many seconds the next post can be sent; null when nothing waits.
select extract(epoch from min(
  greatest(p.due_at, case when p.ts is null then l.next_post_at end, l.claimed_until)
) - now())::float8
from sayso.posts as p
join sayso.lanes as l on l.place = p.place
where p.shown < p.wanted or p.unsure;

-- name: spend
-- Take one update out of this minute's budget; no row when it is used up.
insert into sayso.budgets (name, minute, used)
values ($1, date_trunc('minute', now()), 1)
on conflict (name) do update
set used = case
      when sayso.budgets.minute = excluded.minute then sayso.budgets.used + 1
      else 1
    end,
    minute = excluded.minute
where sayso.budgets.minute <> excluded.minute
   or sayso.budgets.used < $2
returning used;

-- name: to_reconcile
-- Posts whose surplus copies have to be looked for; each comes again, later every time, until it
-- was looked for with success.
update sayso.posts
set reconcile_at = now() + make_interval(secs => $1 * power(2, least(reconcile_attempts, 10))),
    reconcile_attempts = reconcile_attempts + 1
where id in (
  select id
  from sayso.posts
  where reconcile_at <= now() and ts is not null and kind <> 'file'
  order by reconcile_at
  limit 10
  for no key update skip locked
)
returning id, kind, place, thread_id, body ->> 'under' as under, channel, ts, created_at,
  reconcile_at, reconcile_attempts;

-- name: reconciled
-- No surplus copy is there any more, or nobody looks again; an unknown outcome meanwhile stays.
update sayso.posts
set reconcile_at = null,
    reconcile_attempts = 0
where id = $1 and reconcile_at = $2;

-- name: of_subject
-- Where something is shown, but for places that it left.
select place, channel, ts, shown, wanted, parked_at, error
from sayso.posts
where kind = $1
  and subject = $2
  and not coalesce(body, '{}') ? 'left'
order by created_at;

-- name: not_shown
-- What Slack does not show as it should, or only what is parked, oldest first; and how much it is.
select id, kind, subject, place, thread_id, created_at, due_at, parked_at, attempts, error,
       count(*) over () as altogether
from sayso.posts
where (shown < wanted or unsure)
  and (parked_at is not null or not $1::boolean)
order by created_at, id
limit $2;

-- name: begins
-- What Slack does not show as it should and whose id begins so.
select id, parked_at
from sayso.posts
where (shown < wanted or unsure)
  and starts_with(id::text, $1)
order by id
limit 2;

-- name: try_again
-- Try what is parked again now: one post, or for null all. The locks are taken in one order.
with parked as materialized (
  select id
  from sayso.posts
  where parked_at is not null
    and (shown < wanted or unsure)
    and ($1::uuid is null or id = $1)
  order by id
  for no key update
)
update sayso.posts as p
set due_at = least(p.due_at, now())
from parked
where p.id = parked.id
returning p.id, p.kind, p.subject, p.place, p.thread_id, p.created_at, p.due_at, p.parked_at,
          p.attempts, p.error;

-- name: move
-- A channel got another id: what stands there is found under the new one.
update sayso.posts
set channel = case when channel = $1 then $2 else channel end,
    place = case when place = $1 then $2 else place end
where channel = $1 or place = $1;
