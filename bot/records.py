"""What goes into the files: the whole of a long question, and the whole record of a request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final, Protocol

from bot import posts
from bot.blocks import Payload
from bot.evidence import LARGE
from bot.inline import mrkdwn
from bot.posts import Post
from bot.rules import as_toml
from bot.uploads import Upload
from bot.values import pretty
from bot.wording import phrase, say
from checkpoints.database import Connection
from graphs import audit, documents, exchanges, reviews, routings, steps, threads
from graphs.exchanges import Exchange
from graphs.policy import fingerprint
from graphs.reviews import Item, Review
from graphs.threads import Thread

RECORD: Final = "record"

State = Callable[[str], Awaitable[Any]]


class Render(Protocol):
    """Renders a post from the rows as they are; None when there is nothing to show (any more)."""

    def __call__(self, connection: Connection, post: Post) -> Awaitable[Payload | None]: ...


def record_subject(review_id: int, press: str) -> str:
    """Names the record that one press of a button asked for."""
    return f"{RECORD}:{review_id}:{press}"


class Enclosing:
    """Renders as it is told to, and names the file that belongs under a card: its long question."""

    def __init__(self, render: Render) -> None:
        self._render = render

    async def __call__(self, connection: Connection, post: Post) -> Payload | None:
        """Render a post; None when there is nothing to show."""
        payload = await self._render(connection, post)
        if payload is None or post.kind != posts.CARD:
            return payload
        revision, characters = await reviews.weight(connection, int(post.subject))
        if characters <= LARGE:
            return payload
        return replace(payload, encloses=f"{post.subject}.{revision}")


class Records:
    """Writes the files that are posts, from the rows as they are when one is sent."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def __call__(self, connection: Connection, post: Post) -> Upload | None:
        """Write the file of a post; None where its question is not asked like that any more."""
        if post.kind != posts.FILE:
            raise ValueError(f"nothing is known of a file that is a {post.kind}")
        if post.subject.startswith(f"{RECORD}:"):
            return await self._record(connection, int(post.subject.split(":")[1]))
        review_id, revision = map(int, post.subject.split("."))
        review = await reviews.get(connection, review_id)
        if review.revision != revision:
            return None
        return await self._evidence(connection, review)

    async def _evidence(self, connection: Connection, review: Review) -> Upload:
        thread = await threads.get(connection, review.thread_id)
        is_text = isinstance(review.question, str)
        body = review.question.encode() if is_text else pretty(review.question)
        number = str(thread.number)
        return Upload(
            name=f"request-{number}-asked.{'txt' if is_text else 'json'}",
            title=phrase("file.evidence.title", id=number),
            body=body,
            comment=mrkdwn(say("file.evidence", id=number, version=review.version)),
        )

    async def _record(self, connection: Connection, review_id: int) -> Upload:
        review = await reviews.get(connection, review_id)
        thread = await threads.get(connection, review.thread_id)
        number = str(thread.number)
        return Upload(
            name=f"request-{number}.json",
            title=phrase("file.record.title", id=number),
            body=pretty(await self._whole(connection, thread)),
            comment=mrkdwn(say("file.record", id=number)),
        )

    async def _whole(self, connection: Connection, thread: Thread) -> dict[str, Any]:
        written = await threads.messages(connection, thread.id)
        asked = await reviews.list_(connection, thread_id=thread.id)
        stored = await documents.of_thread(connection, thread.id)
        return {
            "request": {
                "number": thread.number,
                "id": thread.id,
                "graph": thread.graph,
                "status": thread.status,
                "asked by": thread.requester,
                "asked at": thread.created_at,
                "customer": thread.customer_name,
                "ended at": thread.ended_at,
                "outcome": thread.outcome,
            },
            "written": [message.text for message in written],
            "documents": [
                {"name": one.name, "size": one.size, "sha256": one.sha256, "problem": one.problem}
                for one in stored
            ],
            "steps": [
                {
                    "name": one.node,
                    "status": one.status,
                    "error": one.error,
                    "began": one.started_at,
                    "ended": one.finished_at,
                }
                for one in await steps.of_thread(connection, thread.id)
            ],
            "branches": [
                {"after": one.node, "router": one.branch, "chose": one.choice, "at": one.at}
                for one in await routings.of_thread(connection, thread.id)
            ],
            "reviews": [_review(review) for review in asked],
            "talk": [
                _talk(one)
                for review in asked
                for one in await exchanges.of_review(connection, review.id)
            ],
            "values": await self._state(thread.id),
            "history": [
                {"at": one.at, "what": one.what, "by": one.actor, "detail": one.detail}
                for one in await audit.of_thread(connection, thread.id)
            ],
        }


def _talk(one: Exchange) -> dict[str, Any]:
    told = {
        "review": one.review_id,
        "kind": one.kind,
        "by": one.author,
        "name": one.author_name,
        "at": one.said_at,
        "text": one.said,
    }
    if one.kind == "comment":
        return told
    return told | {
        "answer": one.answer,
        "files": list(one.files),
        "answered by": one.answered_by,
        "answered at": one.answered_at,
    }


def _review(review: Review) -> dict[str, Any]:
    return {
        "review": review.id,
        "step": review.node,
        "version": review.version,
        "status": review.status,
        "opened at": review.opened_at,
        "question": review.question,
        "items": [_item(item) for item in review.items],
    }


def _item(item: Item) -> dict[str, Any]:
    told = {
        "status": item.status,
        "rule": as_toml(item.opened_under) if item.opened_under is not None else None,
        "rule hash": fingerprint(item.opened_under),
        "stage": item.stage + 1,
        "stages": item.whole.length if item.whole is not None else 1,
        "outcome": item.outcome,
        "decided by": item.decided_by,
        "decided at": item.decided_at,
        "note": item.note,
        "votes": [
            {
                "by": vote.voter,
                "name": vote.voter_name,
                "for": vote.seat or vote.voter,
                "verb": vote.verb,
                "note": vote.note,
                "at": vote.cast_at,
                "lapsed at": vote.lapsed_at,
            }
            for vote in item.votes
        ],
    }
    if item.tool is None:
        return told
    changed = {"asked": item.asked} if item.edited else {}
    edited = {"edited by": item.edited_by, "edited at": item.edited_at} if item.edited else {}
    return {"tool": item.tool, "arguments": item.arguments, **changed, **edited, **told}
