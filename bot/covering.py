"""Who decides in whose place, read from the rows for the card and the messages that show it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from bot import away, handing, posts, rows, views
from bot.approvers import Approvers
from bot.blocks import Payload
from bot.inline import Moment, plain
from bot.posts import Post
from bot.wording import say
from checkpoints.database import Connection
from graphs import absences, covers, handovers, reviews, threads, waiting
from graphs.covers import Absence
from graphs.reviews import Item, Review

if TYPE_CHECKING:
    from bot.renderings import Renderings

LISTED: Final = 5  # requests in one message


async def stand_ins(
    connection: Connection, approvers: Approvers, review: Review
) -> tuple[views.StandIn, ...]:
    """Who decides in the place of those who are asked now; hand-overs first."""
    rules = {item.rule for item in review.items if item.status == "open" and item.rule}
    if review.status != "open" or not rules:
        return ()
    asked: set[str] = set()
    for rule in rules:
        if rule.delegates_may_decide:
            asked |= await approvers.asked(connection, rule.approvers, review.requester)
    team = approvers.people.team
    given = [one.giver for one in await covers.of_review(connection, review.id)]
    gone = await covers.away(connection, team, asked - set(given))
    if not given and not gone:
        return ()
    ends = await covers.ends(connection, team, [*given, *gone], review.id)
    heard = _heard(review)
    own = any(rule.requester_may_decide for rule in rules)
    names = await approvers.people.names(connection, [*ends, *ends.values()])
    return tuple(
        views.StandIn(
            rows.person(by, names),
            rows.person(of, names),
            last_moment(gone[of]) if of in gone else None,
        )
        for of, by in ends.items()
        if of not in heard and (own or by != review.requester)
    )


async def reminded(
    connection: Connection,
    approvers: Approvers,
    review: Review,
    item: Item,
    person: str,
    heard: Collection[str],
) -> tuple[views.Person, ...] | None:
    """In whose place somebody is reminded, nobody's where it is their own; None where not at all.

    Args:
        heard: who has voted on the item, and in whose place.
    """
    if item.rule is None or person in heard:
        return None
    if await covers.handed_over(connection, review.id, person) is not None:
        return None
    asked = await approvers.asked(connection, item.rule.approvers, review.requester)
    if person in asked or not asked:
        return ()
    covered = await covers.for_(connection, approvers.people.team, person, review.id)
    left = [one for one in covered if one in asked and one not in heard]
    if not left or not item.rule.delegates_may_decide:
        return None
    names = await approvers.people.names(connection, left)
    return tuple(rows.person(one, names) for one in left)


async def post(
    of: Renderings, connection: Connection, approvers: Approvers, wanted: Post
) -> Payload | None:
    """The message of a post: that somebody covers, or that a review was handed to them."""
    if wanted.kind == posts.HANDED:
        return await _handed(of, connection, wanted)
    absence = await absences.get(connection, int(wanted.subject))
    over = absence.ended_at is not None
    if over and wanted.ts is None:
        return None  # it was never told, and need not be any more
    listed: tuple[views.Waits, ...] = ()
    total = 0
    if not over:
        listed, total = await _left_to_cover(of, connection, approvers, absence)
    names = {absence.person: absence.person_name}
    names |= await of.people.names(connection, [absence.person])
    return away.covers(
        views.CoverView(
            rows.person(absence.person, names),
            last_moment(absence),
            waiting=listed,
            total=total,
            over=over,
            row=wanted.wanted,
        )
    )


def notice(absence: Absence, names: Mapping[str, str], *, row: int) -> views.NoticeView:
    """The word to whoever runs this, once it is set and once it is over."""
    told = say(
        "stand_in.away",
        who=rows.person(absence.covered_by, {absence.covered_by: absence.covered_by_name, **names}),
        of=rows.person(absence.person, {absence.person: absence.person_name, **names}),
        until=Moment(last_moment(absence), "UTC", "until"),
    )
    what = "absence" if absence.ended_at is None else "absence_over"
    command = "sayso policy absences"
    return views.NoticeView(what=what, detail=plain(told), command=command, row=row)


async def _handed(of: Renderings, connection: Connection, wanted: Post) -> Payload | None:
    handover = await handovers.get(connection, int(wanted.subject))
    review = await reviews.get(connection, handover.review_id)
    if wanted.ts is None and (handover.taken_back_at or review.status != "open"):
        return None
    thread = await threads.get(connection, review.thread_id)
    names = {handover.giver: handover.giver_name}
    names |= await of.people.names(connection, [handover.giver])
    return handing.handed(
        views.HandedView(
            views.Ref(review.id, review.revision),
            rows.person(handover.giver, names),
            await of.title(connection, thread, review),
            handover.note or "",
            await of.link(connection, review.id),
            taken_back=handover.taken_back_at is not None,
            row=wanted.wanted,
        )
    )


async def waits_for(
    of: Renderings, connection: Connection, approvers: Approvers, person: str
) -> tuple[tuple[views.Waits, ...], int]:
    """The first requests that wait for somebody, and how many do in all."""
    keys = await approvers.keys(connection, person)
    found = await waiting.of_person(connection, keys, voter=person, limit=LISTED)
    return await _listed(of, connection, found)


async def _left_to_cover(
    of: Renderings, connection: Connection, approvers: Approvers, absence: Absence
) -> tuple[tuple[views.Waits, ...], int]:
    """The same of those that somebody who covers may decide; of others they hear nothing."""
    found = await waiting.of_person(
        connection,
        (),
        voter=absence.covered_by,
        limit=LISTED,
        covered=(absence.person,),
        covered_keys=await approvers.keys(connection, absence.person),
    )
    return await _listed(of, connection, found)


async def _listed(
    of: Renderings, connection: Connection, found: waiting.Waiting
) -> tuple[tuple[views.Waits, ...], int]:
    listed = []
    for review_id in found.reviews:
        review = await reviews.get(connection, review_id)
        thread = await threads.get(connection, review.thread_id)
        title = await of.title(connection, thread, review)
        listed.append(views.Waits(views.Ref(review.id, review.revision), title, thread.number))
    return tuple(listed), found.total


def last_moment(absence: Absence) -> datetime:
    """The last moment of an absence: what "until Friday" means."""
    return absence.until_at - timedelta(seconds=1)


def _heard(review: Review) -> set[str]:
    """In whose place everything that is open has a vote already."""
    open_ = [item for item in review.items if item.status == "open"]
    seats = [{vote.seat for vote in item.standing_votes()} for item in open_]
    return set.intersection(*seats) if seats else set()
