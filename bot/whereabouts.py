"""Whether Slack knows whom and what sayso.toml names: people, user groups and channels.

Only `sayso check` asks, for it may take its time. What Slack does not know is a mistake; what it
could not be asked about is a warning, and nothing is said of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from bot import roster
from bot.configuration import NO_USER, Configuration
from bot.errors import SlackFailed
from bot.slack import Slack
from checkpoints.text import clean

MOST: Final = 200  # people or channels: Slack takes some fifty calls a minute
AT_ONCE: Final = 4

_UNKNOWN: Final = frozenset({"user_not_found", "user_not_visible", "channel_not_found"})


@dataclass
class Found:
    """What came of asking: each with the place where it is named."""

    mistakes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


async def look(configuration: Configuration, slack: Slack) -> Found:
    """Ask Slack about everything that is named, each once."""
    found = Found()
    people, groups = dict[str, str](), dict[str, str]()
    for where, named in roster.lists(configuration):
        people |= {user: f"{where}.users" for user in named.users if user not in people}
        people.pop(NO_USER, None)
        groups |= {group: f"{where}.groups" for group in named.groups if group not in groups}
    for one in (*configuration.managers.people, *configuration.managers.people.values()):
        if "@" not in one:
            people.setdefault(one, "managers")
    channels: dict[str, str] = {}
    for where, channel in _channels(configuration):
        channels.setdefault(channel, where)
    await _groups(groups, slack, found)
    await _each(people, found, lambda user, where: _person(user, where, slack, found))
    await _each(channels, found, lambda channel, where: _channel(channel, where, slack, found))
    return found


async def _groups(groups: dict[str, str], slack: Slack, found: Found) -> None:
    if not groups:
        return
    try:
        answer = await slack.call("usergroups.list", include_disabled=True)
    except SlackFailed as error:
        found.warnings.append(f"user groups were not looked up: {error}")
        return
    known = {str(group.get("id")): group for group in answer.get("usergroups") or []}
    for group, where in groups.items():
        if group not in known:
            found.mistakes.append(f"{where}: Slack knows no user group {clean(group)}.")
        elif known[group].get("date_delete"):
            found.warnings.append(f"{where}: the user group {clean(group)} is switched off.")


async def _person(user: str, where: str, slack: Slack, found: Found) -> None:
    answer = await slack.call("users.info", user=user)
    if (answer.get("user") or {}).get("deleted"):
        found.warnings.append(f"{where}: {clean(user)} is deactivated and decides nothing.")


async def _channel(channel: str, where: str, slack: Slack, found: Found) -> None:
    answer = await slack.call("conversations.info", channel=channel)
    if (answer.get("channel") or {}).get("is_archived"):
        found.warnings.append(f"{where}: the channel {clean(channel)} is archived.")


async def _each(
    named: dict[str, str], found: Found, ask: Callable[[str, str], Awaitable[None]]
) -> None:
    """Ask about each, a few at once, until Slack cannot be asked."""
    places, away = asyncio.Semaphore(AT_ONCE), list[str]()

    async def one(id_: str, where: str) -> None:
        async with places:
            if away:
                return
            try:
                await ask(id_, where)
            except SlackFailed as error:
                if error.error in _UNKNOWN:
                    invite = ", or the app is not in it" if error.error[0] == "c" else ""
                    found.mistakes.append(f"{where}: Slack knows no {clean(id_)}{invite}.")
                else:
                    away.append(str(error))

    await asyncio.gather(*(one(*each) for each in list(named.items())[:MOST]))
    if away:
        found.warnings.append(f"not everything was looked up in Slack: {away[0]}")
    if len(named) > MOST:
        found.warnings.append(f"only the first {MOST} of {len(named):,} were looked up in Slack.")


def _channels(configuration: Configuration) -> Iterator[tuple[str, str]]:
    if configuration.operators.channel is not None:
        yield "operators.channel", configuration.operators.channel
    for name, graph in configuration.graphs.items():
        yield from ((f"graphs.{name}.channels", channel) for channel in graph.channels)
    for number, rule in enumerate(configuration.reviews, 1):
        if rule.channel is not None:
            yield f"reviews[{number}].channel", rule.channel
