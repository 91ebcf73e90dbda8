"""Who somebody is, and which groups they are in, as Slack says within the last minute.

What Slack said is kept in rows, so that the worker that posts a card warms the cache for the web
process that takes the click. A look-up has `LOOK_SECONDS` in all; what is not there by then is
"could not find out", which is an answer of its own and refuses, and goes on being fetched, so
that the next click finds it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import Any, Final

import structlog

from bot.afterwards import Afterwards
from bot.errors import Outcome, SlackFailed, SlackUnknown
from bot.profiles import NAME_LENGTH, profile
from bot.slack import Slack
from checkpoints.database import Connection, Database, queries
from checkpoints.text import clean
from graphs.policy import Person

SQL = queries(__file__)
log = structlog.get_logger("sayso.people")

FRESH_SECONDS: Final = 60.0
LOOK_SECONDS: Final = 1.5
_LINK_SECONDS = 2.0
_LINKS_KEPT = 2_000
_ASK_AGAIN_SECONDS: Final = 20.0
_MEMBER_PAGE: Final = 1_000
_MEMBER_PAGES: Final = 20


class People:
    """Looks people and groups up: in the rows if they are fresh, else in Slack."""

    def __init__(
        self, database: Database, slack: Slack | None, team: str, afterwards: Afterwards
    ) -> None:
        self._database = database
        self._slack = slack
        self.team = team
        self._afterwards = afterwards
        self._channels: dict[str, tuple[float, frozenset[str] | None]] = {}
        self._fetches: dict[str, asyncio.Task[None]] = {}
        self._links: dict[tuple[str, str], str] = {}

    async def person(
        self, user: str, groups: Iterable[str] = (), *, seconds: float = LOOK_SECONDS
    ) -> Person:
        """Who it is now, and which of these groups they are in.

        ``known`` is False, and a group ``unread``, where it could not be found out in time. Without
        a bot token nobody can be asked: then an id is taken at its word, in no group.
        """
        wanted = tuple(dict.fromkeys(groups))
        if self._slack is None:
            return Person(user, self.team, name=await self._known_name(user))
        failed: list[BaseException] = []
        try:
            async with asyncio.timeout(seconds):
                # A group that cannot be read says nothing about who it is: all are waited for.
                found = await asyncio.gather(
                    self._fresh_person(user),
                    *(self._fresh_group(group) for group in wanted),
                    return_exceptions=True,
                )
            failed = [error for error in found if error is not None]
        except TimeoutError as late:
            failed = [late]
        for error in failed:
            if not isinstance(error, TimeoutError | SlackFailed):
                raise error
            log.warning("could not find out who it is in time", user=user, why=type(error).__name__)
        return await self._from_rows(user, wanted)

    async def members(self, group: str) -> frozenset[str] | None:
        """Who is in the group now; None where that cannot be found out."""
        if self._slack is None:
            return None
        try:
            await self._fresh_group(group)
        except SlackFailed as error:
            log.warning("could not read a group", group=group, error=error.error)
        row = await self._group_rows([group])
        if not row or row[0]["age"] > FRESH_SECONDS:
            return None
        return frozenset(row[0]["members"])

    async def by_email(self, email: str) -> str:
        """The id of whom the address belongs to now: somebody of ours, who is here.

        Raises:
            SlackFailed: nobody has it ("users_not_found"), or it could not be found out.
        """
        found = await self.holders(self._database, [email], seconds=FRESH_SECONDS)
        if not found and self._slack is not None:
            await self._fetch(f"address {email}", lambda: self._fetch_address(email))
            found = await self.holders(self._database, [email], seconds=FRESH_SECONDS)
        if not found:
            raise SlackFailed("users.lookupByEmail", "users_not_found")
        return found[email]

    @property
    def database(self) -> Database:
        """Where what Slack said is kept."""
        return self._database

    async def groups_with(self, connection: Connection | Database, user: str) -> list[str]:
        """The user groups that this person was in when they were last looked at."""
        return [row["id"] for row in await connection.fetch(SQL.groups_with, self.team, user)]

    async def members_known(
        self, connection: Connection | Database, groups: Iterable[str]
    ) -> frozenset[str]:
        """Who was in one of these groups when they were last looked at."""
        rows = await connection.fetch(SQL.groups, self.team, list(set(groups)))
        return frozenset(str(member) for row in rows for member in row["members"])

    async def called(self, connection: Connection | Database, name: str) -> list[str]:
        """The full members of this very name, as far as they are known."""
        return [row["id"] for row in await connection.fetch(SQL.called, self.team, name)]

    async def zone(self, user: str) -> str | None:
        """The time zone that the person chose in Slack; None where that cannot be found out."""
        await self.person(user)
        return await self.zone_known(user)

    async def zone_known(self, user: str) -> str | None:
        """The same as it was when they were last looked at, without asking Slack."""
        found: str | None = await self._database.fetchval(SQL.zone, self.team, user)
        return found

    async def in_channel(self, channel: str) -> frozenset[str] | None:
        """Who reads the channel now; None where that cannot be found out."""
        if self._slack is None:
            return None
        at, inside = self._channels.get(channel, (-FRESH_SECONDS, None))
        if time.monotonic() - at < (FRESH_SECONDS if inside is not None else _ASK_AGAIN_SECONDS):
            return inside
        try:
            inside = await self._read_channel(self._slack, channel)
        except SlackFailed as error:
            log.warning("could not read who is in a channel", channel=channel, error=error.error)
            inside = None
        self._channels[channel] = (time.monotonic(), inside)
        return inside

    async def names(
        self, connection: Connection | Database, users: Iterable[str]
    ) -> dict[str, str]:
        """The display names that are known of these people."""
        rows = await connection.fetch(SQL.names, self.team, list(set(users)))
        return {row["id"]: row["name"] for row in rows if row["name"]}

    async def handles(
        self, connection: Connection | Database, groups: Iterable[str]
    ) -> dict[str, str]:
        """The names that are known of these groups."""
        rows = await connection.fetch(SQL.groups, self.team, list(set(groups)))
        return {row["id"]: row["handle"] for row in rows if row["handle"]}

    async def emails(
        self, connection: Connection | Database, users: Iterable[str]
    ) -> dict[str, str | None]:
        """The addresses that are known of these people, however old that is."""
        rows = await connection.fetch(SQL.emails, self.team, list(set(users)))
        return {row["id"]: row["email"] for row in rows}

    async def holders(
        self,
        connection: Connection | Database,
        emails: Iterable[str],
        *,
        seconds: float | None = None,
    ) -> dict[str, str]:
        """Whose these addresses are, as far as it was found out within so many seconds, or ever."""
        rows = await connection.fetch(SQL.holders, self.team, list(set(emails)), seconds)
        return {row["email"]: row["id"] for row in rows}

    def warm(self, users: Iterable[str], groups: Iterable[str], emails: Iterable[str] = ()) -> None:
        """Fetch these people and groups beside everything else, if they are not fresh."""
        for email in set(emails):
            self._afterwards.start(self.by_email(email), f"warm {email}")
        for user in set(users):
            self._afterwards.start(self._fresh_person(user), f"warm {user}")
        for group in set(groups):
            self._afterwards.start(self._warm_group(group), f"warm {group}")

    async def learn_handles(self) -> None:
        """Fetch what the user groups are called."""
        if self._slack is None:
            return
        answer = await self._slack.call("usergroups.list")
        for group in answer.get("usergroups") or []:
            handle = clean(str(group.get("handle") or group.get("name") or ""))
            await self._database.execute(
                SQL.keep_handle, self.team, str(group["id"]), handle[:NAME_LENGTH]
            )

    async def forget_person(self, connection: Connection, user: str) -> None:
        """Ask again before the next use: something about the person changed."""
        await connection.execute(SQL.drop_person, self.team, user)

    async def forget_group(self, connection: Connection, group: str) -> None:
        """Ask again before the next use: somebody joined or left."""
        await connection.execute(SQL.drop_group, self.team, group)

    async def permalink(self, channel: str, ts: str) -> str:
        """Slack's address of a message, which never changes; "" where it cannot be had now."""
        if self._slack is None:
            return ""
        if (channel, ts) not in self._links:
            try:
                answer = await self._slack.call(
                    "chat.getPermalink", timeout=_LINK_SECONDS, channel=channel, message_ts=ts
                )
            except SlackFailed as error:
                log.info("no address of a message", channel=channel, error=error.error)
                return ""
            if len(self._links) >= _LINKS_KEPT:
                self._links.clear()
            self._links[channel, ts] = str(answer.get("permalink") or "")
        return self._links[channel, ts]

    # Fetching

    async def _fresh_person(self, user: str) -> None:
        row = await self._database.fetchrow(SQL.person, self.team, user)
        if row is None or row["age"] > FRESH_SECONDS:
            await self._fetch(f"person {user}", lambda: self._fetch_person(user))

    async def _fresh_group(self, group: str) -> None:
        rows = await self._group_rows([group])
        if not rows or rows[0]["age"] > FRESH_SECONDS:
            await self._fetch(f"group {group}", lambda: self._fetch_group(group))

    async def _warm_group(self, group: str) -> None:
        for member in await self.members(group) or ():
            await self._fresh_person(member)

    async def _fetch(self, name: str, start: Any) -> None:
        """Join the fetch that runs already; it outlives a caller whose time ran out."""
        task = self._fetches.get(name)
        if task is None:
            task = asyncio.create_task(start(), name=f"fetch {name}")
            self._fetches[name] = task
            task.add_done_callback(lambda done: self._fetched(name, done))
        await asyncio.shield(task)

    def _fetched(self, name: str, task: asyncio.Task[None]) -> None:
        self._fetches.pop(name, None)
        if not task.cancelled():
            task.exception()  # it was seen: a caller that timed out does not look any more

    async def _fetch_person(self, user: str) -> None:
        assert self._slack is not None  # noqa: S101
        try:
            answer = await self._slack.call("users.info", user=user)
        except SlackFailed as error:
            if error.outcome is not Outcome.RECIPIENT:
                raise
            # Slack does not show this person to us: as good as not there.
            await self._keep(user, {"id": user, "deleted": True})
            return
        said = answer.get("user")
        if not isinstance(said, dict) or said.get("id") != user:
            # Kept as it is, an answer that says nothing would be a full member.
            raise SlackUnknown("users.info", "no_such_answer")
        await self._keep(user, said)

    async def _fetch_address(self, email: str) -> None:
        assert self._slack is not None  # noqa: S101
        answer = await self._slack.call("users.lookupByEmail", email=email)
        said = answer.get("user")
        if not isinstance(said, dict) or not isinstance(said.get("id"), str):
            raise SlackUnknown("users.lookupByEmail", "no_such_answer")
        await self._keep(said["id"], said)

    async def _keep(self, user: str, said: dict[str, Any]) -> None:
        assert self._slack is not None  # noqa: S101
        is_ = profile(said, self.team, self._slack.scopes)
        await self._database.execute(
            SQL.keep_person,
            self.team,
            user,
            is_.name,
            is_.home,
            is_.is_guest,
            is_.is_stranger,
            is_.is_bot,
            is_.deleted,
            is_.zone,
            is_.email,
        )

    async def _fetch_group(self, group: str) -> None:
        assert self._slack is not None  # noqa: S101
        answer = await self._slack.call("usergroups.users.list", usergroup=group)
        users = answer.get("users")
        if not isinstance(users, list):
            raise SlackUnknown("usergroups.users.list", "no_such_answer")
        members = [str(member) for member in users]
        await self._database.execute(SQL.keep_group, self.team, group, members)

    async def _read_channel(self, slack: Slack, channel: str) -> frozenset[str] | None:
        inside: set[str] = set()
        more: dict[str, Any] = {}
        for _ in range(_MEMBER_PAGES):
            answer = await slack.call(
                "conversations.members", channel=channel, limit=_MEMBER_PAGE, **more
            )
            members = answer.get("members")
            if not isinstance(members, list):
                raise SlackUnknown("conversations.members", "no_such_answer")
            inside |= {str(member) for member in members}
            cursor = (answer.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return frozenset(inside)
            more = {"cursor": str(cursor)}
        log.warning("a channel has too many members to tell who is in it", channel=channel)
        return None

    # Rows

    async def _from_rows(self, user: str, groups: tuple[str, ...]) -> Person:
        row = await self._database.fetchrow(SQL.person, self.team, user)
        if row is None or row["age"] > FRESH_SECONDS:
            name = row["name"] if row else ""
            return Person(user, self.team, name=name, known=False, email=None, groups=None)
        fresh = {
            found["id"]: user in found["members"]
            for found in await self._group_rows(groups)
            if found["age"] <= FRESH_SECONDS
        }
        return Person(
            user,
            row["home_team"] if row["is_stranger"] else self.team,
            name=row["name"],
            is_guest=row["is_guest"],
            is_stranger=row["is_stranger"],
            is_bot=row["is_bot"],
            deleted=row["deleted"],
            email=row["email"],
            groups=frozenset(group for group, member in fresh.items() if member),
            unread=frozenset(groups) - fresh.keys(),
        )

    async def _group_rows(self, groups: Iterable[str]) -> list[Any]:
        return list(await self._database.fetch(SQL.groups, self.team, list(groups)))

    async def _known_name(self, user: str) -> str:
        return (await self.names(self._database, [user])).get(user, "")
