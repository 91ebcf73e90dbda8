"""What people write and what Slack tells: each becomes one verb, committed before the answer.

A listener translates, calls its verb inside one transaction that also holds the request's key,
and returns; the acknowledgement goes out when it has returned, and nothing after that can raise.
There are no rules in here: who may start is `graphs.policy`, what a message means for a thread
is `graphs.threads`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.request.async_request import AsyncBoltRequest

from bot import arrivals, conversations, deliveries, notices, posts, views
from bot.clicks import Clicks
from bot.errors import NotYet
from bot.house import House
from bot.mishaps import refusal_of
from bot.surroundings import Surroundings
from bot.whispers import whisper
from bot.wording import phrase
from bot.writing import message_of
from checkpoints.database import Connection
from checkpoints.failpoints import reached
from graphs import audit, threads
from graphs.policy import Person, Reason, Refusal, may_start
from graphs.ports import PROGRESS
from graphs.specs import GraphSpec
from graphs.threads import Message

log = structlog.get_logger("sayso.listeners")

LAST_RETRY: Final = 3
_WRITTEN: Final = frozenset({None, "file_share", "thread_broadcast"})


class Listeners:
    """Takes events and commands; `Clicks` takes what is pressed."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._clicks = Clicks(house)
        self._surroundings = Surroundings(house)

    def register(self, app: AsyncApp) -> None:
        """Tell Bolt who takes what."""
        app.use(arrivals.storable)
        app.event("message")(self.message)
        app.event("app_mention")(self.message)
        self._surroundings.register(app)
        app.command(re.compile(".*"))(self.command)
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
        direct = event.get("channel_type") == "im" or channel.startswith("D")
        named = self._graph_for(channel, anywhere=mentioned or direct)
        keys = [
            deliveries.event_key(body),
            deliveries.message_key(house.workspace.team, channel, str(event["ts"])),
        ]
        if named is None:
            if mentioned or direct:
                await self._not_understood(keys, user, channel, str(event["ts"]))
            return
        graph, spec = named
        person = await house.people.person(user, spec.starters.groups if spec.starters else ())
        refusal = may_start(spec, person)
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
                    message = message_of(event, keeps.bot_user)
                    await self._open(
                        connection, graph, person, message, keys, channel=channel, root=root
                    )
                else:
                    await self._refused(connection, graph, person, refusal, channel)
                reached("delivery.before_commit")
        except _TakenError as taken:
            await self._say(body, event, taken.thread_id)
            return
        reached("delivery.committed")
        if refusal is not None:
            self._tell_refused(spec, graph, user, channel, refusal)

    async def _open(
        self,
        connection: Connection,
        graph: str,
        person: Person,
        message: Message,
        keys: list[str],
        *,
        channel: str,
        root: str | None,
    ) -> None:
        house = self._house
        started = await threads.start(
            connection,
            team=house.workspace.team,
            graph=graph,
            requester=person.id,
            message=message,
            key=keys[-1],
            wish=house.wishes,
        )
        talked_about = await conversations.open_(
            connection,
            started.thread_id,
            team=house.workspace.team,
            channel=channel,
            root=root,
        )
        if talked_about != started.thread_id:
            raise _TakenError(talked_about)
        await house.wishes(connection, PROGRESS, started.thread_id)
        await deliveries.belongs(connection, keys, started.thread_id)
        log.info("started", thread=started.thread_id, graph=graph, user=person.id)

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
            said = await threads.say(
                connection,
                thread_id,
                message_of(event, house.workspace.bot_user),
                key=keys[-1],
                turns=house.turns(thread.graph),
                wish=house.wishes,
            )
            await deliveries.belongs(connection, keys, thread_id)
            if said.kind in {"kept", "finished"}:
                await posts.want(
                    connection,
                    posts.KEPT,
                    keys[-1],
                    str(event["channel"]),
                    thread_id=thread_id,
                    body={"kind": said.kind},
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

    # Commands

    async def command(self, body: dict[str, Any], ack: AsyncAck) -> None:
        """Take a slash command: the same as a message with its text."""
        house, user = self._house, str(body.get("user_id") or "")
        channel, name = str(body.get("channel_id") or ""), str(body.get("command") or "")
        found = next(
            ((graph, spec) for graph, spec in house.specs.items() if spec.command == name), None
        )
        text = str(body.get("text") or "")
        if found is None or not text.strip() or text.strip().lower() == "help":
            await ack(**_said(notices.refused(self._help(found))))
            return
        graph, spec = found
        if arrivals.is_foreign(house.workspace, body):
            person = Person(user, house.workspace.team, is_stranger=True)
        else:
            person = await house.people.person(user, spec.starters.groups if spec.starters else ())
        refusal = may_start(spec, person)
        keys = [deliveries.trigger_key(body)]
        async with house.database.transaction() as connection:
            if not await _accept_all(connection, keys, "command"):
                await ack()
                return
            if refusal is None:
                message = message_of({"text": text, "user": user}, house.workspace.bot_user)
                # The conversation stands where the graph's requests are; from anywhere else it
                # is between the person and us.
                place = channel if channel in spec.channels else user
                await self._open(connection, graph, person, message, keys, channel=place, root=None)
            else:
                await self._refused(connection, graph, person, refusal, channel)
        if refusal is None:
            await ack()
        else:
            await ack(**_said(notices.refused(refusal_of(refusal, spec=spec, graph=graph))))

    def _help(self, found: tuple[str, GraphSpec] | None) -> views.Refusal:
        commands = [spec.command for spec in self._house.specs.values() if spec.command]
        command = found[1].command if found else next(iter(commands), None)
        return views.Refusal(
            views.Refused.UNKNOWN_COMMAND, help=f"{command} what you need, in your own words"
            if command else "",
        )  # fmt: skip

    async def _not_understood(self, keys: list[str], user: str, channel: str, ts: str) -> None:
        async with self._house.database.transaction() as connection:
            if not await _accept_all(connection, keys, "message"):
                return
            await audit.record(
                connection,
                "start.refused",
                actor=user,
                detail={"why": "no_graph", "channel": channel},
            )
        whisper(self._house, notices.refused(self._help(None)), user=user, channel=channel)

    # Small things

    def _graph_for(self, channel: str, *, anywhere: bool) -> tuple[str, GraphSpec] | None:
        for graph, spec in self._house.specs.items():
            if channel in spec.channels:
                return graph, spec
        if anywhere and len(self._house.specs) == 1:
            return next(iter(self._house.specs.items()))
        return None

    async def _refused(
        self,
        connection: Connection,
        graph: str,
        person: Person,
        refusal: Refusal,
        channel: str,
    ) -> None:
        await audit.record(
            connection,
            "start.refused",
            actor=person.id,
            detail={"why": refusal.reason, "graph": graph, "channel": channel},
        )

    def _tell_refused(
        self, spec: GraphSpec, graph: str, user: str, channel: str, refusal: Refusal
    ) -> None:
        said = notices.refused(refusal_of(refusal, spec=spec, graph=graph))
        whisper(self._house, said, user=user, channel=channel)


class _TakenError(Exception):
    """Undoes a start: another thread got the conversation first."""

    def __init__(self, thread_id: str) -> None:
        self.thread_id = thread_id


async def _accept_all(connection: Connection, keys: list[str], kind: str) -> bool:
    """Keep every key; False when one of them was there: the same thing came another way."""
    fresh = [await deliveries.accept(connection, key, kind) for key in keys]
    return all(fresh)


def _retry_number(request: AsyncBoltRequest) -> int:
    given = request.headers.get("x-slack-retry-num") or ["0"]
    return int(given[0]) if given[0].isascii() and given[0].isdigit() else 0


def _said(payload: Any) -> dict[str, Any]:
    return {"response_type": "ephemeral", "text": payload.text, "blocks": payload.blocks}
