"""What waits for one person, by everything that they are: the list of their daily digest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot import views
from bot.approvers import Approvers
from bot.judgements import counting
from bot.posts import Post
from checkpoints.database import Connection, Database
from graphs import covers, waiting
from graphs.waiting import Waiting

if TYPE_CHECKING:
    from bot.renderings import Renderings

LISTED: Final = 10


async def of_person(
    connection: Connection | Database, approvers: Approvers, user: str, limit: int
) -> Waiting:
    """What waits for a person themselves, and for those in whose place they decide now."""
    covered = await covers.for_(connection, approvers.people.team, user)
    return await waiting.of_person(
        connection,
        await approvers.keys(connection, user),
        voter=user,
        limit=limit,
        covered=covered,
        covered_keys=[key for one in covered for key in await approvers.keys(connection, one)],
    )


async def how_many(approvers: Approvers, user: str) -> int:
    """How many requests wait for a person."""
    return (await of_person(approvers.people.database, approvers, user, 1)).total


async def digest(
    of: Renderings, connection: Connection, approvers: Approvers, post: Post
) -> views.DigestView | None:
    """A person's digest as of now; None where nothing waits for them any more."""
    found = await of_person(connection, approvers, post.place, LISTED)
    if not found.reviews:
        return None
    rows = []
    for review_id in found.reviews:
        card = await of.card(connection, review_id)
        rows.append(
            views.HomeRow(
                ref=card.ref,
                title=card.shown.title,
                link=await of.link(connection, review_id),
                since=card.asked_at,
                overdue=review_id in found.overdue,
                quorum=card.decides.quorum,
                approvals=len(counting(card)),
                stage=card.decides.stage,
                stages=len(card.decides.stages) or 1,
                asks=card.shown.asks,
                fact=card.shown.plain,
                requester=card.requester,
                agent=card.agent,
            )
        )
    return views.DigestView(tuple(rows), total=found.total, late=found.late, row=post.wanted)
