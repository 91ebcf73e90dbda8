"""What people write and what Slack tells: each becomes one verb, committed before the answer.

A listener translates, calls its verb inside one transaction that also holds the request's key,
and returns; the acknowledgement goes out when it has returned, and nothing after that can raise.
There are no rules in here: who may start is `graphs.policy`, what a message means for a thread
is `graphs.threads`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest

from bot import arrivals, conversations, deliveries, notices, posts
from bot.clicks import Clicks
from bot.errors import NotYet
from bot.house import House
from bot.requests import Requests
from bot.starting import BAD_INPUT, Beginning, ConversationTaken, Starting
from bot.surroundings import Surroundings
from bot.whispers import whisper
from bot.wording import phrase
from bot.writing import message_of
from checkpoints.database import Connection
from checkpoints.failpoints import reached
from graphs import audit, saying, threads
from graphs.policy import Person, Reason
from graphs.threads import Message

log = structlog.get_logger("sayso.listeners")

LAST_RETRY: Final = 3
_WRITTEN: Final = frozenset({None, "file_share", "thread_broadcast"})


class Listeners:
    """Takes what is written; `Requests` and `Clicks` take what is pressed."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._starting = Starting(house)
        self._requests = Requests(house, self._starting)
        self._clicks = Clicks(house)
        self._surroundings = Surroundings(house)

    def register(self, app: AsyncApp) -> None:
        """Tell Bolt who takes what."""
        app.use(arrivals.storable)
        app.event("message")(self.message)
        app.event("app_mention")(self.message)
        self._surroundings.register(app)
        self._requests.register(app)
        self._clicks.register(app)

    # Messages

    async def message(
        self, body: dict[str, Any], event: dict[str, Any], request: AsyncBoltRequest
    ) -> None:
        """Take what somebody wrote: a start, or words in a conversation that there is."""
        if not arrivals.is_for_us(self._house.workspace, body):
            return
        subtype = event.get("subtype")
        if subtype in {"message_changed", "message_deleted"}:
            await self._changed(body, event)
            return
        user, channel, ts = event.get("user"), event.get("channel"), event.get("ts")
        if subtype not in _WRITTEN or not user or not channel or not ts or event.get("bot_id"):
            return
        if user == self._house.workspace.bot_user:
            return
        root = str(event.get("thread_ts") or ts)
        mentioned, retry = event.get("type") == "app_mention", _retry_number(request)
        team = self._house.workspace.team
        async with self._house.database.connection() as connection:
            known = await conversations.at(connection, team=team, channel=channel, root=root)
            early = (
                known is None
                and root != ts
                and await conversations.awaits_start(
                    connection, team=team, channel=channel, root=root, ts=str(ts)
                )
            )
        if known is not None:
            if root != ts:
                await self._say(body, event, known.thread_id)
            return
        if early and retry < LAST_RETRY:
            raise NotYet  # the message above comes again; this one must not be taken before it
        if root != ts and not mentioned:
            return  # people talking under a message that is not ours
        await self._start(body, event, root, retry, mentioned=mentioned)

    async def _start(
        self,
        body: dict[str, Any],
        event: dict[str, Any],
        root: str,
        retry: int,
        *,
        mentioned: bool,
    ) -> None:
        house, user, channel = self._house, str(event["user"]), str(event["channel"])
        keeps = house.workspace
        to_us = mentioned or event.get("channel_type") == "im" or channel.startswith("D")
        message = message_of(event, keeps.bot_user)
        # Who says nothing but our name is shown everything there is.
        says = bool(message.text or message.files)
        named = self._starting.graph_for(channel, anywhere=to_us and says)
        if named is None and not to_us:
            return
        graphs = (named,) if named is not None else self._starting.all_graphs()
        keys = [
            deliveries.event_key(body),
            deliveries.message_key(house.workspace.team, channel, str(event["ts"])),
        ]
        if not graphs:
            await self._not_understood(keys, user, channel)
            return
        person = await self._starting.person(user, graphs)
        may, refusal = self._starting.allowed(graphs, person)
        if refusal is not None and refusal.reason is Reason.CANNOT_CHECK and retry < LAST_RETRY:
            # Slack sends it again, and by then the look-up has been made. What is written under
            # it meanwhile waits for it.
            async with house.database.transaction() as connection:
                await conversations.put_off(
                    connection, team=keeps.team, channel=channel, root=root, ts=str(event["ts"])
                )
            raise NotYet
        try:
            async with house.database.transaction() as connection:
                if not await _accept_all(connection, keys, "message"):
                    return
                await conversations.start_came(
                    connection, team=keeps.team, channel=channel, root=root
                )
                if refusal is None:
                    chosen = may if named is None else (named,)
                    await self._begin(connection, person, message, chosen, keys, channel, root)
                else:
                    await self._starting.refused(
                        connection, user, refusal.reason, graphs=graphs, channel=channel
                    )
                reached("delivery.before_commit")
        except ConversationTaken as taken:
            await self._say(body, event, taken.thread_id)
            return
        reached("delivery.committed")
        if refusal is not None:
            self._starting.tell_refused(graphs[0], user, channel, refusal)

    async def _begin(
        self,
        connection: Connection,
        person: Person,
        message: Message,
        graphs: tuple[str, ...],
        keys: list[str],
        channel: str,
        root: str,
    ) -> None:
        """Start it with what was written, or offer what can be asked for or has to be filled in."""
        graph = graphs[0]
        entrance = self._house.entrance(graph)
        chosen = len(graphs) == 1 and bool(message.text or message.files)
        written = entrance.written(message.text) if chosen else None
        problem = (written[1] or "") if written else ""
        if chosen and (entrance.form is None or (written and not problem)):
            value = written[0] if written else None
            beginning = Beginning(graph, person.id, channel, root, keys[-1], message, value)
            await self._starting.open(connection, beginning, keys)
            return
        if problem:
            await self._starting.refused(
                connection, person.id, BAD_INPUT, graphs=graphs, more={"problem": problem}
            )
        await self._starting.offer(
            connection, person.id, message, graphs, channel=channel, root=root, problem=problem
        )

    async def _say(self, body: dict[str, Any], event: dict[str, Any], thread_id: str) -> None:
        house = self._house
        keys = [
            deliveries.event_key(body),
            deliveries.message_key(house.workspace.team, str(event["channel"]), str(event["ts"])),
        ]
        async with house.database.transaction() as connection:
            thread = await threads.get(connection, thread_id)
            theirs = event["user"] == thread.requester
            if not theirs and event.get("type") != "app_mention":
                return  # others may talk there; only the requester talks to the graph
            if not await _accept_all(connection, keys, "message"):
                return
            if not theirs:
                await self._not_theirs(connection, event, thread_id)
                return
            entrance = house.entrance(thread.graph)
            said = await saying.say(
                connection,
                thread_id,
                message_of(event, house.workspace.bot_user),
                key=keys[-1],
                turns=entrance.turns,
                cancels=entrance.cancels,
                wish=house.wishes,
            )
            await deliveries.belongs(connection, keys, thread_id)
            if said.kind in {"told", "kept", "finished", "instead"}:
                await posts.want(
                    connection,
                    posts.KEPT,
                    keys[-1],
                    str(event["channel"]),
                    thread_id=thread_id,
                    body={"kind": said.kind, "exchange": said.exchange_id},
                )
            reached("delivery.before_commit")
        reached("delivery.committed")
        log.info("said", thread=thread_id, kind=said.kind)

    async def _not_theirs(
        self, connection: Connection, event: Mapping[str, Any], thread_id: str
    ) -> None:
        """Whoever speaks to us in the conversation of somebody else's request is told so."""
        user, channel = str(event["user"]), str(event["channel"])
        await audit.record(
            connection,
            "start.refused",
            actor=user,
            thread_id=thread_id,
            detail={"why": "not_their_conversation", "channel": channel},
        )
        said = notices.told(phrase("private.not_their_conversation"))
        root = str(event.get("thread_ts") or event["ts"])
        whisper(self._house, said, user=user, channel=channel, root=root)

    async def _changed(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        """An edit or a deletion changes nothing that was taken; the record keeps that it was."""
        before = event.get("previous_message") or {}
        after = event.get("message") or {}
        channel, ts = str(event.get("channel")), str(before.get("ts") or after.get("ts") or "")
        if before.get("bot_id") or before.get("text") == after.get("text") or not ts:
            return
        root = str(before.get("thread_ts") or ts)
        async with self._house.database.transaction() as connection:
            known = await conversations.at(
                connection, team=self._house.workspace.team, channel=channel, root=root
            )
            if known is None:
                return
            if not await deliveries.accept(connection, deliveries.event_key(body), "change"):
                return
            deleted = event.get("subtype") == "message_deleted"
            await audit.record(
                connection,
                "message.deleted" if deleted else "message.edited",
                actor=str(before.get("user") or after.get("user") or ""),
                thread_id=known.thread_id,
                detail={"channel": channel, "ts": ts},
            )
            if not deleted:
                await posts.want(
                    connection,
                    posts.KEPT,
                    deliveries.event_key(body),
                    channel,
                    thread_id=known.thread_id,
                    body={"kind": "edited"},
                )

    async def _not_understood(self, keys: list[str], user: str, channel: str) -> None:
        async with self._house.database.transaction() as connection:
            if not await _accept_all(connection, keys, "message"):
                return
            await self._starting.refused(connection, user, "no_graph", channel=channel)
        said = notices.refused(self._requests.help(None))
        whisper(self._house, said, user=user, channel=channel)


async def _accept_all(connection: Connection, keys: list[str], kind: str) -> bool:
    """Keep every key; False when one of them was there: the same thing came another way."""
    fresh = [await deliveries.accept(connection, key, kind) for key in keys]
    return all(fresh)


def _retry_number(request: AsyncBoltRequest) -> int:
    given = request.headers.get("x-slack-retry-num") or ["0"]
    return int(given[0]) if given[0].isascii() and given[0].isdigit() else 0
