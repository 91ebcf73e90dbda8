-- name: waiting
-- How many messages Slack does not show yet as they should be; an index holds only these.
select count(*)
from sayso.posts
where shown < wanted
  or unsure;
