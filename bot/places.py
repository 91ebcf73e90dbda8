"""Where a post goes: the channel behind its place, the conversation, each member of a group."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from bot import conversations, posts
from bot.posts import Post
from bot.slack import Slack
from checkpoints.database import Database

Members = Callable[[str], Awaitable[frozenset[str] | None]]
StandsIn = Callable[[str, int], Awaitable[str | None]]
"""Who decides a review in somebody's place now, if anybody does."""

# No conversation to post into yet.
LATER: Final = "later"
_PASSED_ON: Final = frozenset({posts.CARD, posts.REMINDER, posts.ESCALATION})
_MEMBERS_AGAIN_SECONDS: Final = 30.0
_FOR_OTHERS: Final = ("S", "role:", "manager:")


def stands_for_others(place: str) -> bool:
    """Whether a place is none itself: a user group, an address, a role, somebody's manager."""
    return place.startswith(_FOR_OTHERS) or "@" in place


class Places:
    """Finds the place of a post in Slack."""

    def __init__(
        self,
        database: Database,
        slack: Slack,
        *,
        members: Members,
        in_channel: Members,
        stands_in: StandsIn | None = None,
        call_seconds: float,
        again_seconds: float,
    ) -> None:
        self._database = database
        self._slack = slack
        self._members = members
        self._in_channel = in_channel
        self._stands_in = stands_in
        self._call_seconds = call_seconds
        self._again_seconds = again_seconds

    async def channel(self, place: str) -> str:
        """The channel's id; of a person's direct messages it is asked for."""
        if not place.startswith(("U", "W")):
            return place
        answer = await self._slack.call(
            "conversations.open", timeout=self._call_seconds, users=place
        )
        return str(answer["channel"]["id"])

    async def root(self, post: Post) -> str | None:
        """The message under which the post stands; `LATER` where that is not there yet."""
        under = (post.body or {}).get(posts.UNDER)
        if under is not None:
            return str(under)
        if post.thread_id is None:
            return None
        async with self._database.connection() as connection:
            place = await conversations.of_thread(connection, post.thread_id)
        if place is None or (place.root is None and post.kind != posts.PROGRESS):
            return LATER
        # The message that is the root itself is not a reply to itself.
        return None if place.root == post.ts else place.root

    async def hang(self, post: Post, channel: str, ts: str) -> None:
        """A progress message may be what its conversation hangs under."""
        if post.kind == posts.PROGRESS and post.thread_id is not None:
            async with self._database.connection() as connection:
                await conversations.hang(connection, post.thread_id, channel=channel, root=ts)

    async def spread(self, post: Post) -> None:
        """Replace the post of a place that stands for others by one for each, as they are now."""
        if posts.LEFT in (post.body or {}):  # its members are asked no more
            await posts.showed(self._database, post, None, None, None)
            return
        members = await self._members(post.place)
        if members is None:
            await posts.later(self._database, post, "group not known", self._again_seconds)
            return
        async with self._database.transaction() as connection:
            for member in sorted(members - {(post.body or {}).get(posts.NOT_TO)}):
                await posts.want(
                    connection,
                    post.kind,
                    post.subject,
                    member,
                    thread_id=post.thread_id,
                    body=post.body,
                )
            await posts.showed(connection, post, None, None, None)

    async def pass_on(self, post: Post) -> None:
        """Want what a person is sent with whoever decides in their place, too."""
        if post.kind not in _PASSED_ON or post.ts is not None or post.tried_at is not None:
            return
        if self._stands_in is None or not post.place.startswith(("U", "W")):
            return
        other = await self._stands_in(post.place, int(post.subject.partition(".")[0]))
        if other is None or other == (post.body or {}).get(posts.NOT_TO):
            return
        async with self._database.transaction() as connection:
            body = post.body or {}
            await posts.want_once(connection, post.kind, post.subject, other, body=body)

    async def stands_elsewhere(self, post: Post) -> bool:
        """Whether the person reads the same in a channel, or it cannot be told yet."""
        channel = (post.body or {}).get(posts.UNLESS_IN)
        if channel is None or post.ts is not None or post.tried_at is not None:
            return False
        inside = await self._in_channel(str(channel))
        if inside is None:
            why = "members of the channel not known"
            await posts.later(self._database, post, why, _MEMBERS_AGAIN_SECONDS)
            return True
        if post.place in inside:
            await posts.showed(self._database, post, post.digest, None, None)
        return post.place in inside
