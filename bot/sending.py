"""One post on its way: rendered from the rows, sent, and what came of it written down."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import orjson
import structlog

from bot import copies, limits, posts
from bot.blocks import Payload
from bot.copies import Copies
from bot.errors import NobodyNamed, Outcome, SlackFailed
from bot.filing import Filing, Write
from bot.pictures import Draw, Pictures
from bot.places import LATER, Members, Places, StandsIn, stands_for_others
from bot.posts import Post
from bot.records import Render
from bot.slack import Slack
from bot.timetable import Timetable
from bot.uploads import Uploads
from checkpoints.database import Connection, Database
from checkpoints.errors import SaysoError
from checkpoints.failpoints import reached

log = structlog.get_logger("sayso.sending")

UPDATES_A_MINUTE: Final = 50
# Of the minute's updates, what the less urgent may use: the rest is kept for the cards.
_PROGRESS_UPDATES: Final = 30
_NOTICE_UPDATES: Final = 42
# What may have been done although no answer came: it is looked for before it is done again.
_SENDS: Final = frozenset({"chat.postMessage", "chat.update", "files.completeUploadExternal"})


TellOperators = Callable[[Connection, str, dict[str, Any]], Awaitable[None]]
Posted = Callable[[Post], Awaitable[None]]


@dataclass(frozen=True)
class Pace:
    """How long the poster waits and holds on; tests shorten it."""

    claim_seconds: float = 20.0
    call_seconds: float = 8.0
    hold_off_seconds: float = 4.0
    post_seconds: float = 1.0  # between two new messages in one place
    poll_seconds: float = 1.0
    parked_seconds: float = 600.0
    reconcile_seconds: float = 60.0
    at_once: int = 6

    @property
    def youngest(self) -> float:
        """The age of a claim up to which a request may begin: it must end before the claim does."""
        return max(0.0, self.claim_seconds - self.call_seconds - 2.0)


class Sender:
    """Makes one claimed post equal to what is wanted."""

    def __init__(
        self,
        database: Database,
        slack: Slack,
        render: Render,
        *,
        write: Write,
        draw: Draw,
        members: Members,
        in_channel: Members,
        timetable: Timetable,
        stands_in: StandsIn | None = None,
        tell_operators: TellOperators,
        prepare: Posted | None = None,
        posted: Posted | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.slack = slack
        self.pace = pace or Pace()
        self.stopped_until = 0.0
        self._database = database
        self._render = render
        self._tell_operators = tell_operators
        self._prepare = prepare
        self._posted = posted
        self._timetable = timetable
        self._copies = Copies(database, slack)
        self._places = Places(
            database,
            slack,
            members=members,
            in_channel=in_channel,
            stands_in=stands_in,
            call_seconds=self.pace.call_seconds,
            again_seconds=self.pace.hold_off_seconds,
        )
        uploads = Uploads(slack)
        self._pictures = Pictures(database, uploads, draw)
        self._filing = Filing(
            database,
            uploads,
            self._places,
            write,
            call_seconds=self.pace.call_seconds,
            youngest=self.pace.youngest,
            look_seconds=self.pace.hold_off_seconds,
        )

    async def send(self, post: Post, begun: float) -> bool:
        """Make one post equal to what is wanted; True when a new message was posted."""
        try:
            if post.kind == posts.PICTURE:
                return await self._pictures.send(post)
            if stands_for_others(post.place):
                await self._places.spread(post)
                return False
            await self._places.pass_on(post)
            if await self._places.stands_elsewhere(post) or await self._timetable.lets_wait(post):
                return False
            if post.kind == posts.FILE:
                return await self._filing.send(post, begun)
            return await self._send(post, begun)
        except SlackFailed as error:
            await self._failed(post, error)
        except (limits.OverLimit, NobodyNamed) as error:
            await self.park(post, str(error))
        return False

    async def _send(self, post: Post, begun: float) -> bool:
        """Send a message.

        1. A post that was tried and has no message is looked for before anything is sent.
        2. Render from the rows; what is shown already needs no request.
        3. Look at the claim's age, then send.
        4. Write down what came of it.
        """
        channel = post.channel or await self._places.channel(post.place)
        root = await self._places.root(post)
        if root is LATER:
            await self._later(post, "no conversation yet", self.pace.post_seconds)
            return False
        if post.ts is None and post.tried_at is not None:
            found = await self._copies.of(
                str(post.id),
                channel,
                post.thread_id,
                post.created_at.timestamp(),
                under=(post.body or {}).get(posts.UNDER),
            )
            if found:
                await self._database.execute(
                    posts.SQL.found, post.id, channel, found[0], self.pace.reconcile_seconds
                )
                await self._places.hang(post, channel, found[0])
                return False
        if self._prepare is not None and post.ts is None:
            await self._prepare(post)
        async with self._database.connection() as connection:
            payload = await self._render(connection, post)
        if payload is None:
            await posts.showed(self._database, post, post.digest, None, None)
            return False
        if await self._timetable.drops(post):
            return False
        limits.check_message(payload.text, payload.blocks)
        digest = _digest(payload.text, payload.blocks)
        if post.ts is not None and digest == post.digest and not post.unsure:
            await self._showed(post, payload, digest, channel, post.ts)
            return False
        if post.ts is None:
            return await self._post(post, channel, root, payload, digest, begun)
        await self._update(post, channel, payload, digest, begun)
        return False

    async def _post(
        self,
        post: Post,
        channel: str,
        root: str | None,
        payload: Payload,
        digest: str,
        begun: float,
    ) -> bool:
        await self._database.execute(posts.SQL.trying, post.id, self.pace.reconcile_seconds)
        if time.monotonic() - begun > self.pace.youngest:
            # Too late to be sure that we are the only one. Nothing was sent by us.
            await self._later(post, "claim too old", 0.0, keep_tried=post.tried_at is not None)
            return False
        reached("post.before_send")
        answer = await self.slack.call(
            "chat.postMessage",
            timeout=self.pace.call_seconds,
            channel=channel,
            text=payload.text,
            blocks=payload.blocks,
            thread_ts=root,
            metadata=copies.metadata(str(post.id)),
            unfurl_links=False,
            unfurl_media=False,
            parse="none",
        )
        reached("post.sent")
        ts, channel = str(answer["ts"]), str(answer.get("channel") or channel)
        await self._showed(post, payload, digest, channel, ts)
        await self._places.hang(post, channel, ts)
        if self._posted is not None:
            await self._posted(post)
        log.info("posted", post=str(post.id), kind=post.kind, subject=post.subject, channel=channel)
        return True

    async def _update(
        self,
        post: Post,
        channel: str,
        payload: Payload,
        digest: str,
        begun: float,
    ) -> None:
        limit = {posts.PROGRESS: _PROGRESS_UPDATES, posts.CARD: UPDATES_A_MINUTE}.get(
            post.kind, _NOTICE_UPDATES
        )
        if await self._database.fetchval(posts.SQL.spend, "chat.update", limit) is None:
            await self._later(post, "update budget", 5.0)
            return
        if time.monotonic() - begun > self.pace.youngest:
            await self._later(post, "claim too old", 0.0)
            return
        reached("post.before_send")
        await self.slack.call(
            "chat.update",
            timeout=self.pace.call_seconds,
            channel=channel,
            ts=post.ts,
            text=payload.text,
            blocks=payload.blocks,
            parse="none",
        )
        reached("post.sent")
        await self._showed(post, payload, digest, channel, str(post.ts))
        log.info("updated", post=str(post.id), kind=post.kind, subject=post.subject)

    async def _failed(self, post: Post, error: SlackFailed) -> None:
        log.info("slack said no", post=str(post.id), method=error.method, error=error.error)
        if error.outcome is Outcome.UNKNOWN:
            if error.method in _SENDS:
                await self._database.execute(
                    posts.SQL.unknown,
                    post.id,
                    error.error,
                    self.pace.hold_off_seconds,
                    self.pace.reconcile_seconds,
                )
            else:
                await self._later(
                    post,
                    error.error,
                    self.pace.hold_off_seconds,
                    keep_tried=post.tried_at is not None,
                )
        elif error.outcome is Outcome.LATER:
            wait = error.retry_after or self.pace.hold_off_seconds
            await self._database.execute(posts.SQL.pause, post.place, wait)
            await self._later(post, error.error, wait, keep_tried=post.tried_at is not None)
        elif error.outcome is Outcome.GONE and post.ts is not None:
            await self._database.execute(posts.SQL.lost, post.id)
        elif error.outcome in {Outcome.STOP, Outcome.REFRESH}:
            self.stopped_until = time.monotonic() + 60.0
            log.error("slack refuses the token; nothing is posted", error=error.error)
            await self._later(post, error.error, 60.0, keep_tried=post.tried_at is not None)
        else:
            await self.park(post, error.error)

    async def park(self, post: Post, error: str) -> None:
        """Set a post aside that Slack does not take, and tell the operators once."""
        try:
            async with self._database.transaction() as connection:
                await connection.execute(posts.SQL.park, post.id, error, self.pace.parked_seconds)
                if post.kind not in _UNTOLD and post.parked_at is None:
                    detail = {
                        "kind": post.kind,
                        "subject": post.subject,
                        "place": post.place,
                        "error": error,
                        "thread": post.thread_id,
                    }
                    await self._tell_operators(connection, f"parked:{post.id}", detail)
        except SaysoError as failed:
            log.warning("a post was not parked", post=str(post.id), error=str(failed))
        log.error("parked", post=str(post.id), kind=post.kind, place=post.place, error=error)

    async def _later(
        self, post: Post, why: str, seconds: float, *, keep_tried: bool = False
    ) -> None:
        await posts.later(self._database, post, why, seconds, keep_tried=keep_tried)

    async def _showed(
        self, post: Post, payload: Payload, digest: str, channel: str, ts: str
    ) -> None:
        """The message stands; what is too long for it is wanted under it in the same commit."""
        async with self._database.transaction() as connection:
            await posts.showed(connection, post, digest, channel, ts)
            if payload.encloses:
                await posts.enclose(connection, payload.encloses, post.place, under=ts)


# A notice is what tells them, and nobody misses a picture.
_UNTOLD: Final = frozenset({posts.NOTICE, posts.PICTURE})


def _digest(text: str, blocks: list[dict[str, Any]]) -> str:
    """Names what is shown; block ids carry the row's version and do not count."""
    bare = [{key: value for key, value in block.items() if key != "block_id"} for block in blocks]
    return hashlib.sha256(orjson.dumps([text, bare], option=orjson.OPT_SORT_KEYS)).hexdigest()
