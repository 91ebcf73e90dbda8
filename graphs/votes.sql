-- name: cast
-- One person's vote; a second one of theirs breaks votes_one_a_person, and a second one for
-- somebody votes_one_a_seat.
insert into sayso.votes
  (review_id, item, revision, voter, voter_name, seat, verb, answer, answer_hash, note, via,
   cast_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12, now()));
