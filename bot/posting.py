"""The poster: it makes what Slack shows equal to what is wanted, effectively once.

Slack has no idempotency key, and a process can die, stall or lose an answer at any instruction.
What keeps one card one card:

1. **One poster for each place.** The place's lane is claimed by a row; a send begins only while
   the claim is young on the *monotonic* clock, looked at right before the request (without that
   look a stalled poster wakes up after another took over and posts a second card: 13 of them in
   one run of the harness, none with it).
2. **A first send is announced.** `tried_at` is committed before the request. Whoever finds a post
   that was tried and has no message does not send: it holds off, looks for the post's id in the
   metadata of the channel's history, and posts only when it is not there.
3. **Unknown is not failed.** A timeout, a broken connection, a 5xx: the same as 2. After an
   update it means "send the update again": an older one may have landed on top.
4. **What slips through is removed.** A minute after an unknown outcome the history is read once
   more, and surplus copies are deleted. Until then the buttons of either reach the same review.

Nothing here holds a transaction over a request. The message is rendered whole from the rows at
the moment it is sent, so that states in between are never sent. A definite error parks the post,
tells the operators once and is tried again every ten minutes; a 429 is no attempt and pauses the
place for every poster, since it is written to the lane's row.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

import orjson
import structlog

from bot import conversations, limits, posts
from bot.cards import Payload
from bot.errors import Outcome, SlackFailed
from bot.posts import Post
from bot.slack import Slack
from checkpoints.database import Connection, Database, Row
from checkpoints.errors import DatabaseAway, LockTimeout, SaysoError
from checkpoints.failpoints import reached

log = structlog.get_logger("sayso.posting")

METADATA_EVENT: Final = "sayso_post"
UPDATES_A_MINUTE: Final = 50
# Of the minute's updates, what the less urgent may use: the rest is kept for the cards.
_PROGRESS_UPDATES: Final = 30
_NOTICE_UPDATES: Final = 42
# The last of them two hours after the unknown outcome.
_RECONCILE_ATTEMPTS: Final = 8
_MEMBERS_AGAIN_SECONDS: Final = 30.0
_HISTORY_PAGES: Final = 10
_HISTORY_PAGE: Final = 100


class Render(Protocol):
    """Renders a post from the rows as they are; None when there is nothing to show (any more)."""

    def __call__(self, connection: Connection, post: Post) -> Awaitable[Payload | None]: ...


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


class Poster:
    """Sends what is wanted until it is stopped; any number of posters share the work by rows."""

    def __init__(
        self,
        database: Database,
        slack: Slack,
        render: Render,
        *,
        members: Callable[[str], Awaitable[frozenset[str] | None]],
        in_channel: Callable[[str], Awaitable[frozenset[str] | None]],
        tell_operators: TellOperators,
        posted: Posted | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._database = database
        self._slack = slack
        self._render = render
        self._members = members
        self._in_channel = in_channel
        self._tell_operators = tell_operators
        self._posted = posted
        self._pace = pace or Pace()
        self._name = f"poster-{uuid.uuid4().hex[:12]}"
        self._awake = asyncio.Event()
        self._stopped_until = 0.0

    async def run(self) -> None:
        """Send until cancelled. A hint wakes it, and it looks every second all the same."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(
                self._database.listen(posts.CHANNEL, lambda _: self._awake.set()),
                name="posts: listen",
            )
            tasks.create_task(self._reconcile_for_ever(), name="posts: reconcile")
            room = asyncio.Semaphore(self._pace.at_once)
            while True:
                self._awake.clear()
                await room.acquire()
                claimed = None
                try:
                    claimed = await self._claim()
                except SaysoError as error:
                    log.warning("cannot look for posts", error=str(error))
                if claimed is None:
                    room.release()
                    await self._rest()
                    continue
                task = tasks.create_task(self._send_claimed(*claimed), name=f"post {claimed[0].id}")
                task.add_done_callback(lambda _: self._done(room))

    def _done(self, room: asyncio.Semaphore) -> None:
        room.release()
        self._awake.set()

    async def run_once(self) -> bool:
        """Send one post if one can be sent now; tests step through it."""
        claimed = await self._claim()
        if claimed is None:
            return False
        await self._send_claimed(*claimed)
        return True

    async def reconcile(self) -> int:
        """Delete surplus copies of posts whose first send had an unknown outcome.

        A post whose channel cannot be read comes again later, and holds up no other.
        """
        deleted = 0
        for row in await self._database.fetch(posts.SQL.to_reconcile, self._pace.reconcile_seconds):
            try:
                deleted += await self._delete_surplus(row)
            except SlackFailed as error:
                log.warning("cannot reconcile a post", post=str(row["id"]), error=str(error))
                if row["reconcile_attempts"] < _RECONCILE_ATTEMPTS:
                    continue
                log.error("surplus messages may stay", post=str(row["id"]), channel=row["channel"])
            await self._database.execute(posts.SQL.reconciled, row["id"], row["reconcile_at"])
        return deleted

    async def _delete_surplus(self, row: Row) -> int:
        deleted = 0
        copies = await self._copies(
            str(row["id"]), row["channel"], row["thread_id"], row["created_at"].timestamp()
        )
        for ts in copies:
            if ts == row["ts"]:
                continue
            try:
                await self._slack.call("chat.delete", channel=row["channel"], ts=ts)
            except SlackFailed as error:
                if error.outcome is not Outcome.GONE:
                    raise
                continue
            log.info("deleted a surplus message", post=str(row["id"]), ts=ts)
            deleted += 1
        return deleted

    # Claiming

    async def _claim(self) -> tuple[Post, float] | None:
        if time.monotonic() < self._stopped_until:
            return None
        begun = time.monotonic()
        found = await self._database.fetchval(posts.SQL.claim, self._name, self._pace.claim_seconds)
        if found is None:
            return None
        row = await self._database.fetchrow(posts.SQL.look, found)
        if row is None:
            await self._release_lane_of(found)
            return await self._claim()
        return posts.post(row), begun

    async def _release_lane_of(self, post_id: uuid.UUID) -> None:
        place = await self._database.fetchval(posts.SQL.place_of, post_id)
        await self._database.execute(posts.SQL.release, place, self._name, 0.0)

    async def _rest(self) -> None:
        try:
            due = await self._database.fetchval(posts.SQL.next_due)
        except SaysoError:
            due = None
        seconds = self._pace.poll_seconds if due is None else min(due, self._pace.poll_seconds)
        if self._stopped_until > time.monotonic():  # what is due cannot be sent yet
            seconds = self._pace.poll_seconds
        try:
            async with asyncio.timeout(max(0.01, seconds)):
                await self._awake.wait()
        except TimeoutError:
            pass

    # Sending one

    async def _send_claimed(self, post: Post, begun: float) -> None:
        posted = False
        try:
            posted = await self._send(post, begun)
        except (DatabaseAway, LockTimeout) as error:
            log.warning("a post was not sent", post=str(post.id), kind=post.kind, error=str(error))
        except Exception:
            log.exception("a post could not be rendered or sent", post=str(post.id), kind=post.kind)
            await self._park(post, "our_mistake")
        finally:
            try:
                await self._database.execute(
                    posts.SQL.release,
                    post.place,
                    self._name,
                    self._pace.post_seconds if posted else 0.0,
                )
            except SaysoError as error:  # the claim runs out, and the next poster goes on
                log.warning("a lane was not released", place=post.place, error=str(error))

    async def _send(self, post: Post, begun: float) -> bool:
        """Make one post equal to what is wanted; True when a new message was posted.

        1. A group's post becomes one for each of its members, and one for a person who reads the
           channel where the same stands is not sent.
        2. A post that was tried and has no message is looked for before anything is sent.
        3. Render from the rows; what is shown already needs no request.
        4. Look at the claim's age, then send.
        5. Write down what came of it.
        """
        if post.place.startswith("S"):
            await self._spread(post)
            return False
        if await self._stands_elsewhere(post):
            return False
        try:
            channel = post.channel or await self._channel(post.place)
            root = await self._root(post)
            if root is _LATER:
                await self._later(post, "no conversation yet", self._pace.post_seconds)
                return False
            if post.ts is None and post.tried_at is not None:
                found = await self._copies(
                    str(post.id), channel, post.thread_id, post.created_at.timestamp()
                )
                if found:
                    await self._database.execute(
                        posts.SQL.found, post.id, channel, found[0], self._pace.reconcile_seconds
                    )
                    await self._hang(post, channel, found[0])
                    return False
            async with self._database.connection() as connection:
                payload = await self._render(connection, post)
            if payload is None:
                await self._database.execute(
                    posts.SQL.showed, post.id, post.wanted, post.digest, None, None
                )
                return False
            text, blocks = payload.text, payload.blocks
            limits.check_message(text, blocks)
            digest = _digest(text, blocks)
            if post.ts is not None and digest == post.digest and not post.unsure:
                await self._showed(post, digest, channel, post.ts)
                return False
            if post.ts is None:
                return await self._post(post, channel, root, text, blocks, digest, begun)
            await self._update(post, channel, text, blocks, digest, begun)
        except SlackFailed as error:
            await self._failed(post, error)
        except limits.OverLimit as error:
            await self._park(post, str(error))
        return False

    async def _post(
        self,
        post: Post,
        channel: str,
        root: str | None,
        text: str,
        blocks: list[dict[str, Any]],
        digest: str,
        begun: float,
    ) -> bool:
        await self._database.execute(posts.SQL.trying, post.id, self._pace.reconcile_seconds)
        if time.monotonic() - begun > self._pace.youngest:
            # Too late to be sure that we are the only one. Nothing was sent by us.
            await self._later(post, "claim too old", 0.0, keep_tried=post.tried_at is not None)
            return False
        reached("post.before_send")
        answer = await self._slack.call(
            "chat.postMessage",
            timeout=self._pace.call_seconds,
            channel=channel,
            text=text,
            blocks=blocks,
            thread_ts=root,
            metadata={"event_type": METADATA_EVENT, "event_payload": {"id": str(post.id)}},
            unfurl_links=False,
            unfurl_media=False,
            parse="none",
        )
        reached("post.sent")
        ts, channel = str(answer["ts"]), str(answer.get("channel") or channel)
        await self._showed(post, digest, channel, ts)
        await self._hang(post, channel, ts)
        if self._posted is not None:
            await self._posted(post)
        log.info("posted", post=str(post.id), kind=post.kind, subject=post.subject, channel=channel)
        return True

    async def _update(
        self,
        post: Post,
        channel: str,
        text: str,
        blocks: list[dict[str, Any]],
        digest: str,
        begun: float,
    ) -> None:
        limit = {posts.PROGRESS: _PROGRESS_UPDATES, posts.CARD: UPDATES_A_MINUTE}.get(
            post.kind, _NOTICE_UPDATES
        )
        if await self._database.fetchval(posts.SQL.spend, "chat.update", limit) is None:
            await self._later(post, "update budget", 5.0)
            return
        if time.monotonic() - begun > self._pace.youngest:
            await self._later(post, "claim too old", 0.0)
            return
        reached("post.before_send")
        await self._slack.call(
            "chat.update",
            timeout=self._pace.call_seconds,
            channel=channel,
            ts=post.ts,
            text=text,
            blocks=blocks,
            parse="none",
        )
        reached("post.sent")
        await self._showed(post, digest, channel, str(post.ts))
        log.info("updated", post=str(post.id), kind=post.kind, subject=post.subject)

    async def _failed(self, post: Post, error: SlackFailed) -> None:
        log.info("slack said no", post=str(post.id), method=error.method, error=error.error)
        if error.outcome is Outcome.UNKNOWN:
            if error.method in {"chat.postMessage", "chat.update"}:
                await self._database.execute(
                    posts.SQL.unknown,
                    post.id,
                    error.error,
                    self._pace.hold_off_seconds,
                    self._pace.reconcile_seconds,
                )
            else:
                await self._later(
                    post,
                    error.error,
                    self._pace.hold_off_seconds,
                    keep_tried=post.tried_at is not None,
                )
        elif error.outcome is Outcome.LATER:
            wait = error.retry_after or self._pace.hold_off_seconds
            await self._database.execute(posts.SQL.pause, post.place, wait)
            await self._later(post, error.error, wait, keep_tried=post.tried_at is not None)
        elif error.outcome is Outcome.GONE and post.ts is not None:
            await self._database.execute(posts.SQL.lost, post.id)
        elif error.outcome in {Outcome.STOP, Outcome.REFRESH}:
            self._stopped_until = time.monotonic() + 60.0
            log.error("slack refuses the token; nothing is posted", error=error.error)
            await self._later(post, error.error, 60.0, keep_tried=post.tried_at is not None)
        else:
            await self._park(post, error.error)

    async def _park(self, post: Post, error: str) -> None:
        try:
            async with self._database.transaction() as connection:
                await connection.execute(posts.SQL.park, post.id, error, self._pace.parked_seconds)
                if post.kind != posts.NOTICE and post.parked_at is None:
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
        await self._database.execute(posts.SQL.later, post.id, why, seconds, keep_tried)

    async def _showed(self, post: Post, digest: str | None, channel: str, ts: str) -> None:
        await self._database.execute(posts.SQL.showed, post.id, post.wanted, digest, channel, ts)

    # Places

    async def _spread(self, post: Post) -> None:
        """Replace a group's post by one for each of its members, as the group is now."""
        members = await self._members(post.place)
        if members is None:
            await self._later(post, "group not known", self._pace.hold_off_seconds)
            return
        async with self._database.transaction() as connection:
            for member in sorted(members):
                await posts.want(
                    connection,
                    post.kind,
                    post.subject,
                    member,
                    thread_id=post.thread_id,
                    body=post.body,
                )
            await connection.execute(posts.SQL.showed, post.id, post.wanted, None, None, None)

    async def _stands_elsewhere(self, post: Post) -> bool:
        """Whether the person reads the same in a channel, or it cannot be told yet."""
        channel = (post.body or {}).get(posts.UNLESS_IN)
        if channel is None or post.ts is not None or post.tried_at is not None:
            return False
        inside = await self._in_channel(str(channel))
        if inside is None:
            await self._later(post, "members of the channel not known", _MEMBERS_AGAIN_SECONDS)
            return True
        if post.place in inside:
            await self._database.execute(
                posts.SQL.showed, post.id, post.wanted, post.digest, None, None
            )
        return post.place in inside

    async def _channel(self, place: str) -> str:
        if not place.startswith(("U", "W")):
            return place
        answer = await self._slack.call(
            "conversations.open", timeout=self._pace.call_seconds, users=place
        )
        return str(answer["channel"]["id"])

    async def _root(self, post: Post) -> str | None:
        if post.thread_id is None:
            return None
        async with self._database.connection() as connection:
            place = await conversations.of_thread(connection, post.thread_id)
        if place is None or (place.root is None and post.kind != posts.PROGRESS):
            return _LATER
        # The message that is the root itself is not a reply to itself.
        return None if place.root == post.ts else place.root

    async def _hang(self, post: Post, channel: str, ts: str) -> None:
        if post.kind == posts.PROGRESS and post.thread_id is not None:
            async with self._database.connection() as connection:
                await conversations.hang(connection, post.thread_id, channel=channel, root=ts)

    # Looking for what may be there

    async def _copies(
        self, post_id: str, channel: str, thread_id: str | None, since: float
    ) -> list[str]:
        """The timestamps of all messages that carry the post's id, oldest first."""
        root = None
        if thread_id is not None:
            async with self._database.connection() as connection:
                place = await conversations.of_thread(connection, thread_id)
            root = place.root if place else None
        found: list[str] = []
        cursor: str | None = None
        for _ in range(_HISTORY_PAGES):
            arguments: dict[str, Any] = {
                "channel": channel,
                "include_all_metadata": True,
                "limit": _HISTORY_PAGE,
                "oldest": f"{since - 60:.6f}",
            }
            if cursor:
                arguments["cursor"] = cursor
            if root:
                arguments["ts"] = root
            answer = await self._slack.call(
                "conversations.replies" if root else "conversations.history", **arguments
            )
            for message in answer.get("messages") or []:
                metadata = message.get("metadata") or {}
                if (
                    metadata.get("event_type") == METADATA_EVENT
                    and (metadata.get("event_payload") or {}).get("id") == post_id
                ):
                    found.append(str(message["ts"]))
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or None
            if cursor is None:
                break
        return sorted(found, key=float)

    async def _reconcile_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self._pace.reconcile_seconds / 4)
            try:
                await self.reconcile()
            except SaysoError as error:
                log.warning("cannot reconcile", error=str(error))


# No conversation to post into yet.
_LATER: Final = "later"


def _digest(text: str, blocks: list[dict[str, Any]]) -> str:
    """Names what is shown; block ids carry the row's version and do not count."""
    bare = [{key: value for key, value in block.items() if key != "block_id"} for block in blocks]
    return hashlib.sha256(orjson.dumps([text, bare], option=orjson.OPT_SORT_KEYS)).hexdigest()
