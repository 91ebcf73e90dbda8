"""Requests that begin with a press: a command, the shortcut of a message, a button, a form.

Words start a request at once. Where something has to be chosen or filled in, the press is
acknowledged, a loading window opens (its trigger lives three seconds), and then it is looked up who
it is and whether they may; the draft is kept before the form is shown. What is sent is checked
again: who, whether the form fits, and that the draft was not sent before.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot import arrivals, deliveries, drafts, limits, modals, notices, offers, views
from bot.clicks import OPEN_SECONDS
from bot.drafts import Draft
from bot.errors import SlackFailed
from bot.house import House
from bot.mishaps import refusal_of
from bot.rows import words
from bot.starting import BAD_INPUT, Beginning, Starting
from bot.whispers import place_of, whisper
from bot.wording import phrase
from bot.writing import message_of
from checkpoints.errors import SaysoError
from graphs.forms import Wrong, read
from graphs.messages import Message
from graphs.policy import Person, Refusal
from graphs.specs import GraphSpec

log = structlog.get_logger("sayso.requests")

SHORTCUT: Final = "ask_sayso"  # in the app's manifest
PLACE_SECONDS: Final = 1.5

Fill = Callable[[], Awaitable[dict[str, Any]]]


class Requests:
    """Takes commands, shortcuts, and the buttons and windows that start something."""

    def __init__(self, house: House, starting: Starting) -> None:
        self._house = house
        self._starting = starting

    def register(self, app: AsyncApp) -> None:
        """Tell Bolt who takes what; before whoever takes every button."""
        app.command(re.compile(".*"))(self.command)
        app.shortcut(re.compile(".*"))(self.shortcut)
        app.action(re.compile(f"{offers.START}.*"))(self.pressed)
        app.view(re.compile(f"{offers.START}.*"))(self.submitted)
        app.view(offers.CHOOSE)(self.chosen)

    # Commands

    async def command(self, body: dict[str, Any], ack: AsyncAck) -> None:
        """Take a slash command: words as a message has them, a JSON object, or the form."""
        house, user = self._house, str(body.get("user_id") or "")
        channel, name = str(body.get("channel_id") or ""), str(body.get("command") or "")
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
                fill = self._form(body, user, graph, message, channel=place, root=None)
                self._window(body, user, fill)
            await ack()
            return
        person = await self._who(body, user, graph)
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
        return views.Refusal(
            views.Refused.UNKNOWN_COMMAND, help=f"{command} what you need, in your own words"
            if command else "",
        )  # fmt: skip

    # The shortcut of a message

    async def shortcut(self, body: dict[str, Any], ack: AsyncAck) -> None:
        """Ask for something with somebody's message, its text, author and files."""
        user, channel = _user(body), str((body.get("channel") or {}).get("id") or "")
        shown = body.get("message") or {}
        message = message_of(shown, self._house.workspace.bot_user)
        graphs = self._of_shortcut(str(body.get("callback_id") or ""))
        if not graphs or body.get("type") != "message_action":
            await self._turn_away(body, user, "no_graph")
            whisper(self._house, notices.refused(self.help(None)), user=user, channel=channel)
        elif not message.text and not message.files:
            await self._turn_away(body, user, "empty_message")
            self._tell(body, "private.start.empty")
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
            if not await self._first(key, "shortcut"):
                return
            fill = self._chooser(body, user, graphs, message, channel=channel, root=root)
            self._window(body, user, fill)
            return
        graph = graphs[0]
        person, place = await asyncio.gather(
            self._who(body, user, graph), self._place(channel, root, user)
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

    async def _place(self, channel: str, root: str, user: str) -> tuple[str, str | None]:
        """Under the message where we can write there, else in the person's direct messages."""
        inside: frozenset[str] | None = None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PLACE_SECONDS):
                inside = await self._house.people.in_channel(channel)
        if inside is not None and self._house.workspace.bot_user in inside and root:
            return channel, root
        return user, None

    # Buttons of an offer

    async def pressed(self, body: dict[str, Any], action: dict[str, Any], ack: AsyncAck) -> None:
        """Go on with what an offer was made for: start it, or open its form."""
        graph = offers.graph_of(str(action.get("action_id") or ""))
        draft = await self._draft(action.get("value"))
        why = self._cannot(body, draft, graph)
        if why is not None or draft is None:
            await self._turn_away(body, _user(body), why or "gone", graph)
            self._tell(body, f"private.start.{why or 'gone'}")
            await ack()
            return
        entrance = self._house.entrance(graph)
        begun = draft.message.text or draft.message.files
        if entrance.form is not None or not begun:
            await ack()
            self._window(body, draft.person, lambda: self._fill(body, draft, graph))
            return
        refusal, _ = await self._send(
            body, draft, graph, draft.message, None, key=deliveries.action_key(body, action)
        )
        if refusal is not None:
            channel, root = place_of(body)
            self._starting.tell_refused(graph, draft.person, channel, refusal, root)
        await ack()

    # Windows

    async def chosen(self, body: dict[str, Any], view: dict[str, Any], ack: AsyncAck) -> None:
        """Take the choice of what to ask for: start it, or show its form in the same window."""
        draft = await self._draft(view.get("private_metadata"))
        graph = str(importlib.import_module("bot.forms").typed(view).get(offers.GRAPH) or "")
        why = self._cannot(body, draft, graph)
        if why is not None or draft is None:
            await self._turn_away(body, _user(body), why or "gone", graph)
            told = offers.told_view(phrase(f"private.start.{why or 'gone'}"))
            await ack(response_action="update", view=told)
            return
        if self._house.entrance(graph).form is not None:
            await ack(response_action="update", view=await self._fill(body, draft, graph))
            return
        key = deliveries.view_key(body)
        refusal, again = await self._send(body, draft, graph, draft.message, None, key=key)
        await self._answer(ack, graph, refusal, again=again)

    async def submitted(self, body: dict[str, Any], view: dict[str, Any], ack: AsyncAck) -> None:
        """Take a filled-in form: a field that does not fit is told in its place."""
        graph = offers.graph_of(str(view.get("callback_id") or ""))
        draft = await self._draft(view.get("private_metadata"))
        why = self._cannot(body, draft, graph, sent=False)
        if why is not None or draft is None:
            await self._turn_away(body, _user(body), why or "gone", graph)
            told = offers.told_view(phrase(f"private.start.{why or 'gone'}"))
            await ack(response_action="update", view=told)
            return
        entrance = self._house.entrance(graph)
        made, schema = offers.fields(entrance, draft), offers.schema(entrance)
        got = read(made, schema, importlib.import_module("bot.forms").typed(view))
        errors = got.errors if isinstance(got, Wrong) else {}
        if not isinstance(got, Wrong) and entrance.form is not None:
            problem = entrance.problem(entrance.whole(got.value))
            if problem is not None:
                named = [each.key for each in made.fields if str(each.path[-1:]) in problem]
                errors = {(named or [made.fields[0].key])[0]: problem}
        if errors:
            await self._turn_away(body, draft.person, BAD_INPUT, graph)
            await ack(response_action="errors", errors=dict(errors))
            return
        value = got.value if not isinstance(got, Wrong) else {}
        message, whole = draft.message, entrance.whole(value)
        if entrance.form is None:
            message, whole = Message(str(value["text"]), draft.person, message.files), None
        key = deliveries.view_key(body)
        refusal, again = await self._send(body, draft, graph, message, whole, key=key)
        await self._answer(ack, graph, refusal, again=again)

    async def _answer(
        self, ack: AsyncAck, graph: str, refusal: Refusal | None, *, again: bool
    ) -> None:
        if refusal is not None:
            told = refusal_of(refusal, spec=self._house.specs.get(graph), graph=graph)
            await ack(response_action="update", view=notices.refused_view(told))
        elif again:
            told_view = offers.told_view(phrase("private.start.sent"))
            await ack(response_action="update", view=told_view)
        else:
            await ack()

    async def _send(
        self,
        body: Mapping[str, Any],
        draft: Draft,
        graph: str,
        message: Message,
        value: Any,
        *,
        key: str,
    ) -> tuple[Refusal | None, bool]:
        """Start what a draft became. A refusal, or whether another window had sent it before."""
        person = await self._who(body, draft.person, graph)
        _, refusal = self._starting.allowed([graph], person)
        kept = message if message.text or message.files or value is None else None
        beginning = Beginning(
            graph, draft.person, draft.channel, draft.root, draft.key, kept, value
        )
        async with self._house.database.transaction() as connection:
            if refusal is not None:
                await self._starting.refused(
                    connection, draft.person, refusal.reason, graphs=[graph]
                )
                return refusal, False
            if not await deliveries.accept(connection, key, "form"):
                return None, False
            started = await self._starting.open_draft(connection, draft, beginning, key)
        return None, not started.created

    def _window(self, body: Mapping[str, Any], user: str, fill: Fill) -> None:
        """Open a window after the acknowledgement; a private word says so if it does not open."""
        self._house.afterwards.start(self._open(body, user, fill), f"start of {user}")

    async def _open(self, body: Mapping[str, Any], user: str, fill: Fill) -> None:
        slack = self._house.slack
        try:
            opened = await slack.call(
                "views.open",
                timeout=OPEN_SECONDS,
                trigger_id=str(body.get("trigger_id") or ""),
                view=modals.loading(views.Ref(0, 0)),
            )
        except SlackFailed as error:
            log.warning("a window did not open", user=user, error=error.error)
            refused = notices.refused(views.Refusal(views.Refused.CANNOT_OPEN))
            channel, root = place_of(body)
            whisper(self._house, refused, user=user, channel=channel, root=root)
            return
        try:
            view = await fill()
            limits.check_view(view)
        except SaysoError as error:
            log.warning("a window was not filled", user=user, error=str(error))
            view = notices.refused_view(views.Refusal(views.Refused.BUSY))
        await slack.call("views.update", view_id=opened["view"]["id"], view=view)

    def _form(
        self,
        body: Mapping[str, Any],
        user: str,
        graph: str,
        message: Message,
        *,
        channel: str,
        root: str | None,
    ) -> Fill:
        async def fill() -> dict[str, Any]:
            draft = await self._begin(user, message, channel=channel, root=root)
            return await self._fill(body, draft, graph)

        return fill

    def _chooser(
        self,
        body: Mapping[str, Any],
        user: str,
        graphs: tuple[str, ...],
        message: Message,
        *,
        channel: str,
        root: str,
    ) -> Fill:
        async def fill() -> dict[str, Any]:
            person = await self._who(body, user, *graphs)
            may, refusal = self._starting.allowed(graphs, person)
            if refusal is not None:
                return await self._refused_view(user, graphs[0], refusal)
            at, under = await self._place(channel, root, user)
            draft = await self._begin(user, message, channel=at, root=under)
            if len(graphs) == 1:
                return await self._fill(body, draft, graphs[0])
            return offers.chooser(draft.id, {graph: self._label(graph) for graph in may})

        return fill

    async def _fill(self, body: Mapping[str, Any], draft: Draft, graph: str) -> dict[str, Any]:
        """The form of a draft; whoever may not start it is told so before they write."""
        person = await self._who(body, draft.person, graph)
        _, refusal = self._starting.allowed([graph], person)
        if refusal is not None:
            return await self._refused_view(draft.person, graph, refusal)
        spec = self._house.specs[graph]
        return offers.window(draft, graph, words(spec, graph), self._house.entrance(graph))

    async def _refused_view(self, user: str, graph: str, refusal: Refusal) -> dict[str, Any]:
        async with self._house.database.transaction() as connection:
            await self._starting.refused(connection, user, refusal.reason, graphs=[graph])
        told = refusal_of(refusal, spec=self._house.specs.get(graph), graph=graph)
        return notices.refused_view(told)

    def _label(self, graph: str) -> str:
        spec = self._house.specs[graph]
        return offers.label(spec, words(spec, graph))

    # Drafts

    async def _begin(self, user: str, message: Message, *, channel: str, root: str | None) -> Draft:
        team = self._house.workspace.team
        async with self._house.database.transaction() as connection:
            draft_id = await drafts.begin(
                connection, team=team, person=user, channel=channel, root=root, message=message
            )
        return Draft(draft_id, team, user, channel, root, message, None)

    async def _draft(self, ref: Any) -> Draft | None:
        found = re.fullmatch(r"([0-9]{1,18})\.[0-9]{1,9}", ref) if isinstance(ref, str) else None
        return await drafts.find(self._house.database, int(found[1])) if found else None

    def _cannot(
        self, body: Mapping[str, Any], draft: Draft | None, graph: str, *, sent: bool = True
    ) -> str | None:
        """Why this person cannot go on with the draft.

        Args:
            sent: look also whether it was sent; a form that is submitted twice is told apart later.
        """
        if draft is None or draft.team != self._house.workspace.team:
            return "gone"
        if graph not in self._house.specs:
            return "gone"
        if draft.person != _user(body):
            return "not_theirs"
        return "sent" if sent and draft.thread_id is not None else None

    # Small things

    async def _who(self, body: Mapping[str, Any], user: str, *graphs: str) -> Person:
        """Who it is; of another organisation already by what the request says of itself."""
        if arrivals.is_foreign(self._house.workspace, body):
            return Person(user, self._house.workspace.team, is_stranger=True)
        return await self._starting.person(user, graphs)

    async def _first(self, key: str, kind: str) -> bool:
        """Keep the key of a press that only opens a window; False where it came before."""
        async with self._house.database.transaction() as connection:
            return await deliveries.accept(connection, key, kind)

    async def _turn_away(
        self, body: Mapping[str, Any], user: str, why: str, graph: str = ""
    ) -> None:
        channel, _ = place_of(body)
        async with self._house.database.transaction() as connection:
            await self._starting.refused(
                connection, user, why, graphs=[graph[:80]] if graph else [], channel=channel or ""
            )

    def _tell(self, body: Mapping[str, Any], key: str) -> None:
        channel, root = place_of(body)
        said = notices.told(phrase(key))
        whisper(self._house, said, user=_user(body), channel=channel, root=root)


def _user(body: Mapping[str, Any]) -> str:
    return str((body.get("user") or {}).get("id") or body.get("user_id") or "")


def _said(payload: Any) -> dict[str, Any]:
    return {"response_type": "ephemeral", "text": payload.text, "blocks": payload.blocks}
