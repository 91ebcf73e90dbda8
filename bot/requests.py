"""Requests that begin with a command or with the shortcut of a message.

Words start a request at once; where something has to be chosen or filled in, `Drafting` opens a
window for it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any, Final

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot import deliveries, notices, views
from bot.absences import Absences
from bot.configuration import OWN_COMMAND
from bot.drafting import Drafting
from bot.house import House
from bot.mishaps import refusal_of
from bot.starting import BAD_INPUT, Beginning, Starting, user_of
from bot.whispers import whisper
from bot.wording import phrase
from bot.writing import message_of
from graphs.messages import Message
from graphs.specs import GraphSpec

log = structlog.get_logger("sayso.requests")

SHORTCUT: Final = "ask_sayso"  # in the app's manifest


class Requests:
    """Takes commands and shortcuts."""

    def __init__(self, house: House, starting: Starting) -> None:
        self._house = house
        self._starting = starting
        self._drafting = Drafting(house, starting)
        self._absences = Absences(house)

    def register(self, app: AsyncApp) -> None:
        """Tell Bolt who takes what; before whoever takes every button."""
        app.command(re.compile(".*"))(self.command)
        app.shortcut(re.compile(".*"))(self.shortcut)
        self._drafting.register(app)
        self._absences.register(app)

    # Commands

    async def command(self, body: dict[str, Any], ack: AsyncAck) -> None:
        """Take a slash command: words as a message has them, a JSON object, or the form."""
        house, user = self._house, str(body.get("user_id") or "")
        channel, name = str(body.get("channel_id") or ""), str(body.get("command") or "")
        if name == OWN_COMMAND:
            await self._absences.command(body, ack)
            return
        found = next((each for each in house.specs.items() if each[1].command == name), None)
        text = str(body.get("text") or "").strip()
        entrance = house.entrance(found[0]) if found else None
        form = entrance is not None and entrance.form is not None
        if found is None or text.lower() == "help" or (not text and not form):
            await ack(**_said(notices.refused(self.help(found))))
            return
        graph, spec = found
        # The conversation stands where the graph's requests are; from anywhere else it is between
        # the person and us.
        place = channel if channel in spec.channels else user
        message = message_of({"text": text, "user": user}, house.workspace.bot_user)
        written = entrance.written(message.text) if entrance is not None else None
        key = deliveries.trigger_key(body)
        if form and written is None:
            if await self._first(key, "command"):
                self._drafting.open_form(body, graph, message, channel=place, root=None)
            await ack()
            return
        person = await self._starting.who(body, user, graph)
        _, refusal = self._starting.allowed([graph], person)
        problem = written[1] if written and refusal is None else None
        async with house.database.transaction() as connection:
            if not await deliveries.accept(connection, key, "command"):
                await ack()
                return
            if refusal is not None or problem is not None:
                why = refusal.reason if refusal else BAD_INPUT
                more = {"problem": problem} if problem else None
                await self._starting.refused(
                    connection, person.id, why, graphs=[graph], channel=channel, more=more
                )
            else:
                value = written[0] if written else None
                given = message if written is None else None
                beginning = Beginning(graph, person.id, place, None, key, given, value)
                await self._starting.open(connection, beginning, [key])
        if refusal is not None:
            await ack(**_said(notices.refused(refusal_of(refusal, spec=spec, graph=graph))))
        elif problem is not None:
            await ack(**_said(notices.told(phrase("private.start.unfit", problem=problem))))
        else:
            await ack()

    def help(self, found: tuple[str, GraphSpec] | None) -> views.Refusal:
        """How to write it."""
        commands = [spec.command for spec in self._house.specs.values() if spec.command]
        command = found[1].command if found else next(iter(commands), None)
        how = f"{command} what you need, in your own words"
        if found is not None and self._house.entrance(found[0]).form is not None:
            how = str(command)  # alone it opens the form
        return views.Refusal(views.Refused.UNKNOWN_COMMAND, help=how if command else "")

    # The shortcut of a message

    async def shortcut(self, body: dict[str, Any], ack: AsyncAck) -> None:
        """Ask for something with somebody's message, its text, author and files."""
        user, channel = user_of(body), str((body.get("channel") or {}).get("id") or "")
        shown = body.get("message") or {}
        message = message_of(shown, self._house.workspace.bot_user)
        graphs = self._of_shortcut(str(body.get("callback_id") or ""))
        if not graphs or body.get("type") != "message_action":
            await self._starting.turn_away(body, user, "no_graph")
            whisper(self._house, notices.refused(self.help(None)), user=user, channel=channel)
        elif not message.text and not message.files:
            await self._starting.turn_away(body, user, "empty_message")
            self._starting.tell(body, "private.start.empty")
        else:
            root = str(shown.get("thread_ts") or shown.get("ts") or body.get("message_ts") or "")
            await self._ask_about(body, user, graphs, message, channel=channel, root=root)
        await ack()

    def _of_shortcut(self, callback: str) -> tuple[str, ...]:
        """The graphs of a shortcut: of the one for all, or of a graph's own ("ask_sayso:NAME")."""
        name, _, graph = callback.partition(":")
        if name != SHORTCUT:
            return ()
        if graph:
            return (graph,) if graph in self._house.specs else ()
        return self._starting.of_shortcut()

    async def _ask_about(
        self,
        body: Mapping[str, Any],
        user: str,
        graphs: tuple[str, ...],
        message: Message,
        *,
        channel: str,
        root: str,
    ) -> None:
        key = deliveries.trigger_key(body)
        if len(graphs) > 1 or self._house.entrance(graphs[0]).form is not None:
            if await self._first(key, "shortcut"):
                self._drafting.open_chooser(body, graphs, message, channel=channel, root=root)
            return
        graph = graphs[0]
        person, place = await asyncio.gather(
            self._starting.who(body, user, graph), self._starting.place(channel, root, user)
        )
        _, refusal = self._starting.allowed([graph], person)
        async with self._house.database.transaction() as connection:
            if not await deliveries.accept(connection, key, "shortcut"):
                return
            if refusal is None:
                beginning = Beginning(graph, person.id, *place, key, message)
                await self._starting.open_somewhere(connection, beginning, [key])
            else:
                await self._starting.refused(
                    connection, person.id, refusal.reason, graphs=[graph], channel=channel
                )
        if refusal is not None:
            self._starting.tell_refused(graph, user, channel, refusal)

    async def _first(self, key: str, kind: str) -> bool:
        """Keep the key of a press that only opens a window; False where it came before."""
        async with self._house.database.transaction() as connection:
            return await deliveries.accept(connection, key, kind)


def _said(payload: Any) -> dict[str, Any]:
    return {"response_type": "ephemeral", "text": payload.text, "blocks": payload.blocks}
