"""What somebody writes in a thread's conversation: an answer, a further turn, or words to keep.

Whatever the thread is doing, the message is accepted in one transaction that locks in the usual
order: lease, thread, reviews. Where messages cancel, that very transaction withdraws the open
reviews: a decision is either committed before, and stands, or comes later and finds them withdrawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from checkpoints import leases
from checkpoints.database import Connection
from checkpoints.errors import Conflict
from checkpoints.text import clean
from graphs import audit, exchanges, mailbox, ports, reviews
from graphs.errors import UnknownThread
from graphs.messages import Message
from graphs.policy import Person
from graphs.ports import Wish, no_wish
from graphs.threads import SQL
from graphs.votes import Voter

NEW_MESSAGE: Final = "a new message came"


@dataclass(frozen=True)
class Said:
    """What became of a message in a thread's conversation.

    `answer`: it answered the requester's open question `review_id`. `told`: it answered what a
    reviewer asked, the exchange `exchange_id`, and goes no further. `kept`: a question is open
    for others, or the graph takes no more turns, so it stays with the record. `queued`: it is the
    next turn. `instead`: so it is, and the questions in `withdrawn` were taken back for it.
    `finished`: the thread has ended and takes no more. `again`: the same delivery came before;
    nothing was done.
    """

    kind: Literal["answer", "told", "kept", "queued", "instead", "finished", "again"]
    review_id: int | None = None
    message_id: int | None = None  # the mailbox row; None where nothing was stored
    withdrawn: tuple[int, ...] = ()
    exchange_id: int | None = None


async def say(
    connection: Connection,
    thread_id: str,
    message: Message,
    *,
    key: str | None = None,
    turns: bool = False,
    cancels: bool = False,
    wish: Wish = no_wish,
) -> Said:
    """Take what somebody wrote in the thread's conversation.

    1. The requester's message answers the oldest question that is open for the requester: the
       graph's own, or what a reviewer asks about theirs.
    2. Where messages cancel (`cancels`), it takes the other open questions back and goes in their
       stead, unless something was decided that it would undo: then it waits like any other.
    3. While another question is open it is kept; the question stays.
    4. Where the graph takes further turns (`turns`, see `LoadedGraph.turns`) it is the next one.
    5. Otherwise it is kept with the record, or the thread has ended.

    Raises:
        UnknownThread
    """
    woken = await leases.lock(connection, thread_id)
    row = await connection.fetchrow(SQL.lock, thread_id)
    if row is None:
        raise UnknownThread(thread_id)
    key = clean(key) if key is not None else None
    if key is not None and await mailbox.has_key(connection, thread_id, key):
        return Said("again")
    if key is not None and await exchanges.has_key(connection, thread_id, key):
        return Said("again")
    open_ = await reviews.open_of_thread(connection, thread_id)
    mine = [each for each in open_ if each.audience == "requester"]
    body: dict[str, Any] = {"message": message.to_json()}
    if (message.text.strip() or message.files) and message.sender == row["requester"]:
        asked = next(iter(await exchanges.unanswered(connection, thread_id)), None)
        if asked is not None and not (mine and mine[0].opened_at <= asked.said_at):
            return await _tell(connection, asked, message, key, wish)
    if mine and message.sender == row["requester"] and row["mark"] is None:
        return await _answer(connection, mine[0], message, body, key, woken=woken, wish=wish)
    if row["mark"] == "cancelled" or (row["mark"] == "done" and not turns):
        return Said("finished")
    withdrawn: tuple[int, ...] = ()
    if turns and cancels and row["mark"] is None:
        withdrawn = await _take_back(connection, thread_id, open_)
    if withdrawn:
        body[mailbox.OVER] = [each.interrupt_id for each in open_]
    feeds = turns and (bool(withdrawn) or not open_)
    stored = await mailbox.put(
        connection,
        thread_id,
        "say",
        body=body,
        key=key,
        unwoken=feeds and not woken,
        consumed=not turns,
    )
    if feeds and woken and row["mark"] in (None, "done"):
        await leases.wake(connection, thread_id)
    await audit.record(
        connection, "thread.said", actor=message.sender or "", thread_id=thread_id,
        detail={
            "message": stored,
            "files": len(message.files),
            **({"withdrew": list(withdrawn)} if withdrawn else {}),
        },
    )  # fmt: skip
    for each in open_:
        await wish(
            connection, ports.CARD if each.audience == "reviewers" else ports.ASK, str(each.id)
        )
    if withdrawn:
        await wish(connection, ports.PROGRESS, thread_id)
        return Said("instead", message_id=stored, withdrawn=withdrawn)
    return Said("queued" if feeds else "kept", message_id=stored)


async def _tell(
    connection: Connection,
    asked: exchanges.Exchange,
    message: Message,
    key: str | None,
    wish: Wish,
) -> Said:
    """Let the requester's message answer what a reviewer asked; the graph is not told of it."""
    sender = Person(message.sender or "", team="")
    await exchanges.answer(
        connection,
        asked.id,
        message.text,
        voter=Voter(sender, via="message"),
        requester=sender.id,
        files=[file.name for file in message.files],
        key=key,
        wish=wish,
    )
    return Said("told", asked.review_id, exchange_id=asked.id)


async def _take_back(
    connection: Connection, thread_id: str, open_: Sequence[reviews.Review]
) -> tuple[int, ...]:
    """Withdraw the open reviews for a message; none where a decision would be lost by it.

    They are locked, so a vote is either committed, and seen by the look below, or comes later and
    finds them withdrawn. An answer that waits is fed first. New input also drops what the other
    tasks of the same step came to, so a decision in that step holds the message up as well.
    """
    if not open_ or await connection.fetchval(SQL.decided_beside, thread_id):
        return ()
    return tuple(await reviews.withdraw_all(connection, thread_id, because=NEW_MESSAGE))


async def _answer(
    connection: Connection,
    review: reviews.Review,
    message: Message,
    body: Mapping[str, Any],
    key: str | None,
    *,
    woken: bool,
    wish: Wish,
) -> Said:
    """Let the requester's message answer a question; what the node gets of it the worker makes."""
    if not await reviews.close_by_message(connection, review.id, message):
        return Said("again")  # another message was first; the caller's lock makes this rare
    try:
        stored = await mailbox.put(
            connection,
            review.thread_id,
            "answer",
            body=body,
            key=key,
            review_id=review.id,
            unwoken=not woken,
        )
    except Conflict:
        return Said("again")
    if woken:
        await leases.wake(connection, review.thread_id)
    await audit.record(
        connection, "review.answered", actor=message.sender or "", thread_id=review.thread_id,
        review_id=review.id, detail={"message": stored, "files": len(message.files)},
    )  # fmt: skip
    await wish(connection, ports.ASK, str(review.id))
    await wish(connection, ports.PROGRESS, review.thread_id)
    return Said("answer", review.id, stored)
