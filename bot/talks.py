"""What people said of a review, and who looks at it, read from the rows for what shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot import posts, remarks, rows, views
from bot.blocks import Payload
from bot.people import People
from bot.posts import Post
from checkpoints.database import Connection, Database
from graphs import exchanges, reviews, takings, threads
from graphs.exchanges import Exchange
from graphs.reviews import Review
from graphs.threads import Thread

if TYPE_CHECKING:
    from bot.renderings import Renderings


async def of_review(
    connection: Connection | Database, people: People, review: Review
) -> tuple[views.Exchange | views.Comment, ...]:
    """Every question and comment, oldest first."""
    found = await exchanges.of_review(connection, review.id)
    return tuple(await _views(connection, people, found)) if found else ()


async def taken(
    connection: Connection | Database, people: People, review: Review
) -> views.Taken | None:
    """Who is looking at it, if anybody said so."""
    taking = await takings.of_review(connection, review)
    if taking is None:
        return None
    names = {taking.taker: taking.taker_name} | await people.names(connection, [taking.taker])
    return views.Taken(rows.person(taking.taker, names), taking.taken_at)


async def as_json(database: Database, review: Review) -> dict[str, Any]:
    """The same for a program."""
    taking = await takings.of_review(database, review)
    return {
        "taken_by": taking.taker if taking is not None else None,
        "talk": [
            {
                "id": each.id,
                "kind": each.kind,
                "by": each.author,
                "text": each.said,
                "at": each.said_at.isoformat(),
                "answer": each.answer,
                "files": list(each.files),
                "answered_by": each.answered_by,
                "answered_at": each.answered_at.isoformat() if each.answered_at else None,
            }
            for each in await exchanges.of_review(database, review.id)
        ],
    }


async def askers(
    connection: Connection | Database, people: People, thread_id: str
) -> tuple[views.Person, ...]:
    """Whose questions wait for the requester, each once."""
    waiting = await exchanges.unanswered(connection, thread_id)
    if not waiting:
        return ()
    names = {one.author: one.author_name for one in waiting}
    names |= await people.names(connection, list(names))
    return tuple(rows.person(author, names) for author in dict.fromkeys(names))


async def one(
    connection: Connection | Database, people: People, exchange: Exchange
) -> views.Exchange:
    """One question as it is shown."""
    (shown,) = await _views(connection, people, [exchange])
    assert isinstance(shown, views.Exchange)  # noqa: S101 - a question
    return shown


async def post(of: Renderings, connection: Connection, wanted: Post) -> Payload | None:
    """The message of a post: a question, its answer, or that another one looks at it."""
    about = int(wanted.subject.partition(".")[0])
    if wanted.kind == posts.TAKEN:
        return await _taken(of, connection, wanted, about)
    exchange = await exchanges.find(connection, about)
    if exchange is None:
        return None
    review = await reviews.get(connection, exchange.review_id)
    thread = await threads.get(connection, review.thread_id)
    title = await of.title(connection, thread, review)
    shown = await one(connection, of.people, exchange)
    ref = views.Ref(review.id, review.revision)
    if wanted.kind == posts.ANSWERED:
        link = await of.link(connection, review.id)
        return remarks.answered(views.AnswerView(ref, shown, title, link, wanted.wanted))
    names = await of.people.names(connection, [thread.requester])
    return remarks.asked(
        views.QuestionView(
            ref,
            shown,
            rows.person(thread.requester, names),
            title,
            row=wanted.wanted,
            number=thread.number,
            open=review.status == "open",
            here=wanted.thread_id is not None,
            first=await _is_first(connection, thread, exchange),
        )
    )


async def _taken(
    of: Renderings, connection: Connection, wanted: Post, taking_id: int
) -> Payload | None:
    taking = await takings.find(connection, taking_id)
    if taking is None:
        return None
    review = await reviews.get(connection, taking.review_id)
    if wanted.ts is None and review.status != "open":
        return None  # nobody needs to know any more
    thread = await threads.get(connection, review.thread_id)
    names = {taking.taker: taking.taker_name}
    names |= await of.people.names(connection, [taking.taker])
    return remarks.taken(
        views.TakenView(
            views.Ref(review.id, review.revision),
            rows.person(taking.taker, names),
            await of.title(connection, thread, review),
            await of.link(connection, review.id),
            wanted.wanted,
        )
    )


async def _is_first(connection: Connection, thread: Thread, exchange: Exchange) -> bool:
    """Whether the requester's next message answers this question, and no older one."""
    waiting = await exchanges.unanswered(connection, thread.id)
    if not waiting or waiting[0].id != exchange.id:
        return False
    asked = await reviews.list_(connection, thread_id=thread.id, status="open")
    own = [one.opened_at for one in asked if one.audience == "requester"]
    return all(exchange.said_at < at for at in own)


async def _views(
    connection: Connection | Database, people: People, found: list[Exchange]
) -> list[views.Exchange | views.Comment]:
    names = {each.author: each.author_name for each in found if each.author_name}
    names |= {
        each.answered_by: each.answered_by_name
        for each in found
        if each.answered_by and each.answered_by_name
    }
    users = {user for each in found for user in (each.author, each.answered_by) if user}
    names |= await people.names(connection, sorted(users))
    return [
        views.Comment(rows.person(each.author, names), each.said_at, each.said)
        if each.kind == "comment"
        else views.Exchange(
            rows.person(each.author, names),
            each.said_at,
            each.said,
            rows.person(each.answered_by, names) if each.answered_by else None,
            each.answered_at,
            each.answer or "",
            each.files,
            each.id,
        )
        for each in found
    ]
