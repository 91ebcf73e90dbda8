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
import time
import uuid

import structlog

from bot import posts
from bot.copies import Copies
from bot.posts import Post
from bot.sending import Sender
from checkpoints.database import Database
from checkpoints.errors import DatabaseAway, LockTimeout, SaysoError

log = structlog.get_logger("sayso.posting")


class Poster:
    """Sends what is wanted until it is stopped; any number of posters share the work by rows."""

    def __init__(self, database: Database, sender: Sender) -> None:
        self._database = database
        self.sender = sender
        self._copies = Copies(database, sender.slack)
        self._pace = sender.pace
        self._name = f"poster-{uuid.uuid4().hex[:12]}"
        self._awake = asyncio.Event()

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
        """Delete surplus copies of posts whose first send had an unknown outcome."""
        return await self._copies.delete_surplus(self._pace.reconcile_seconds)

    # Claiming

    async def _claim(self) -> tuple[Post, float] | None:
        if time.monotonic() < self.sender.stopped_until:
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
        if self.sender.stopped_until > time.monotonic():  # what is due cannot be sent yet
            seconds = self._pace.poll_seconds
        try:
            async with asyncio.timeout(max(0.01, seconds)):
                await self._awake.wait()
        except TimeoutError:
            pass

    async def _send_claimed(self, post: Post, begun: float) -> None:
        posted = False
        try:
            posted = await self.sender.send(post, begun)
        except (DatabaseAway, LockTimeout) as error:
            log.warning("a post was not sent", post=str(post.id), kind=post.kind, error=str(error))
        except Exception:
            log.exception("a post could not be rendered or sent", post=str(post.id), kind=post.kind)
            await self.sender.park(post, "our_mistake")
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

    async def _reconcile_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self._pace.reconcile_seconds / 4)
            try:
                await self.reconcile()
            except SaysoError as error:
                log.warning("cannot reconcile", error=str(error))
