"""What changes around us in Slack: people, groups, channels, and what may leave us unheard."""

from __future__ import annotations

import re
from typing import Any, Final

from slack_bolt.async_app import AsyncApp

from bot import arrivals, conversations, deliveries, posts
from bot.house import House
from bot.looking import Looking
from graphs import audit

_NOTED: Final = (
    "app_uninstalled",
    "tokens_revoked",
    "channel_archive",
    "group_archive",
    "channel_rename",
    "member_left_channel",
)


class Surroundings:
    """Takes the events that are no words to us."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._looking = Looking(house)

    def register(self, app: AsyncApp) -> None:
        """Tell Bolt who takes what; it takes every event that nobody took before it."""
        app.event("app_home_opened")(self.home_opened)
        app.event("user_change")(self.person_changed)
        app.event("subteam_members_changed")(self.group_changed)
        app.event("channel_unarchive")(self.channel_back)
        app.event("channel_id_changed")(self.channel_moved)
        for name in _NOTED:
            app.event(name)(self.noted)
        app.event(re.compile(".*"))(self.not_ours)

    async def home_opened(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        """Show the home tab of whoever opened it."""
        if arrivals.is_for_us(self._house.workspace, body) and event.get("tab", "home") == "home":
            user = str(event["user"])
            self._house.afterwards.start(self._looking.home(user), f"home of {user}")

    async def person_changed(self, event: dict[str, Any]) -> None:
        """Look a person up again before the next use."""
        user = (event.get("user") or {}).get("id")
        async with self._house.database.connection() as connection:
            await self._house.people.forget_person(connection, str(user))

    async def group_changed(self, event: dict[str, Any]) -> None:
        """Read a group again before the next use."""
        async with self._house.database.connection() as connection:
            await self._house.people.forget_group(connection, str(event.get("subteam_id")))

    async def channel_back(self, event: dict[str, Any]) -> None:
        """Show what could not be shown in a channel while it was archived."""
        async with self._house.database.transaction() as connection:
            await posts.unpark(connection, str(event.get("channel")))

    async def channel_moved(self, event: dict[str, Any]) -> None:
        """Follow a channel to its new id."""
        old, new = str(event.get("old_channel_id")), str(event.get("new_channel_id"))
        async with self._house.database.transaction() as connection:
            team = self._house.workspace.team
            await conversations.move(connection, team=team, old=old, new=new)
            await posts.move(connection, old, new)

    async def noted(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        """Keep in the record what may stop us from being heard."""
        async with self._house.database.transaction() as connection:
            if await deliveries.accept(connection, deliveries.event_key(body), "notice"):
                await audit.record(
                    connection,
                    f"slack.{event.get('type')}",
                    detail={"channel": event.get("channel"), "user": event.get("user")},
                )

    async def not_ours(self) -> None:
        """Acknowledge what nobody here needs."""
