"""Drafts as people go on with them: the buttons of an offer, the chooser, the form.

The press is acknowledged, a loading window opens (its trigger lives three seconds), and then it is
looked up who it is and whether they may; the draft is kept before the form is shown. What is sent
is checked again: who, whether the form fits, and that the draft was not sent before.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot import deliveries, drafts, forms, limits, modals, notices, offers, views
from bot.clicks import OPEN_SECONDS
from bot.drafts import Draft
from bot.errors import SlackFailed
from bot.house import House
from bot.mishaps import refusal_of
from bot.rows import words
from bot.starting import BAD_INPUT, Beginning, Starting, user_of
from bot.whispers import place_of, whisper
from bot.wording import phrase
from checkpoints.errors import SaysoError
from graphs.forms import Form, Wrong, read
from graphs.messages import Message
from graphs.policy import Reason, Refusal

log = structlog.get_logger("sayso.drafting")

Fill = Callable[[], Awaitable[dict[str, Any]]]


class Drafting:
    """Takes the buttons and windows that start something."""

    def __init__(self, house: House, starting: Starting) -> None:
        self._house = house
        self._starting = starting

    def register(self, app: AsyncApp) -> None:
        """Tell Bolt who takes what; before whoever takes every button."""
        app.action(re.compile(f"{offers.START}.*"))(self.pressed)
        app.view(re.compile(f"{offers.START}.*"))(self.submitted)
        app.view(offers.CHOOSE)(self.chosen)

    # Buttons of an offer

    async def pressed(self, body: dict[str, Any], action: dict[str, Any], ack: AsyncAck) -> None:
        """Go on with what an offer was made for: start it, or open its form."""
        graph = offers.graph_of(str(action.get("action_id") or ""))
        draft = await self._draft(action.get("value"))
        why = self._cannot(body, draft, graph)
        if why is not None or draft is None:
            await self._starting.turn_away(body, user_of(body), why or "gone", graph)
            self._starting.tell(body, f"private.start.{why or 'gone'}")
            await ack()
            return
        entrance = self._house.entrance(graph)
        begun = draft.message.text or draft.message.files
        if entrance.form is not None or not begun:
            await ack()
            self._window(body, draft.person, lambda: self._fill(body, draft, graph))
            return
        refusal, again = await self._send(
            body, draft, graph, draft.message, None, key=deliveries.action_key(body, action)
        )
        if refusal is not None:
            channel, root = place_of(body)
            self._starting.tell_refused(graph, draft.person, channel, refusal, root)
        elif again:
            self._starting.tell(body, "private.start.sent")
        await ack()

    # Windows

    async def chosen(self, body: dict[str, Any], view: dict[str, Any], ack: AsyncAck) -> None:
        """Take the choice of what to ask for: start it, or show its form in the same window."""
        draft = await self._draft(view.get("private_metadata"))
        graph = str(forms.typed(view).get(offers.GRAPH) or "")
        why = self._cannot(body, draft, graph)
        if why is not None or draft is None:
            await self._starting.turn_away(body, user_of(body), why or "gone", graph)
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
            await self._starting.turn_away(body, user_of(body), why or "gone", graph)
            told = offers.told_view(phrase(f"private.start.{why or 'gone'}"))
            await ack(response_action="update", view=told)
            return
        entrance = self._house.entrance(graph)
        made, schema = offers.fields(entrance, draft), offers.schema(entrance)
        got = read(made, schema, forms.typed(view))
        if isinstance(got, Wrong):
            await self._mend(body, ack, draft, graph, got.errors)
            return
        message, value = draft.message, entrance.whole(got.value)
        if entrance.form is None:
            message, value = Message(str(got.value["text"]), draft.person, message.files), None
        elif (problem := entrance.problem(value)) is not None:
            await self._mend(body, ack, draft, graph, _placed(made, problem))
            return
        key = deliveries.view_key(body)
        refusal, again = await self._send(body, draft, graph, message, value, key=key)
        if refusal is not None and refusal.reason is Reason.CANNOT_CHECK and made.fields:
            # What was filled in stays, to be sent again.
            wait = {made.fields[-1].key: phrase("private.start.cannot_check")}
            await ack(response_action="errors", errors=wait)
            return
        await self._answer(ack, graph, refusal, again=again)

    async def _mend(
        self,
        body: Mapping[str, Any],
        ack: AsyncAck,
        draft: Draft,
        graph: str,
        errors: Mapping[str, str],
    ) -> None:
        """Say at each field what to write there; the window stays."""
        await self._starting.turn_away(body, draft.person, BAD_INPUT, graph)
        await ack(response_action="errors", errors=dict(errors))

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
        person = await self._starting.who(body, draft.person, graph)
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

    def open_form(
        self,
        body: Mapping[str, Any],
        graph: str,
        message: Message,
        *,
        channel: str,
        root: str | None,
    ) -> None:
        """Open the form of a graph, begun with this message."""
        user = user_of(body)

        async def fill() -> dict[str, Any]:
            draft = await self._begin(user, message, channel=channel, root=root)
            return await self._fill(body, draft, graph)

        self._window(body, user, fill)

    def open_chooser(
        self,
        body: Mapping[str, Any],
        graphs: tuple[str, ...],
        message: Message,
        *,
        channel: str,
        root: str,
    ) -> None:
        """Let a person choose what to ask for with this message; where it is one, its form."""
        user = user_of(body)

        async def fill() -> dict[str, Any]:
            person = await self._starting.who(body, user, *graphs)
            may, refusal = self._starting.allowed(graphs, person)
            if refusal is not None:
                return await self._refused_view(user, graphs[0], refusal)
            at, under = await self._starting.place(channel, root, user)
            draft = await self._begin(user, message, channel=at, root=under)
            if len(graphs) == 1:
                return await self._fill(body, draft, graphs[0])
            return offers.chooser(draft.id, {graph: self._label(graph) for graph in may})

        self._window(body, user, fill)

    async def _fill(self, body: Mapping[str, Any], draft: Draft, graph: str) -> dict[str, Any]:
        """The form of a draft; whoever may not start it is told so before they write."""
        person = await self._starting.who(body, draft.person, graph)
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
        if draft.person != user_of(body):
            return "not_theirs"
        return "sent" if sent and draft.thread_id is not None else None


def _placed(made: Form, problem: str) -> dict[str, str]:
    """What the graph says of the whole input, at the field that it names, else at the first."""
    said = set(problem.partition(":")[0].replace(".", "").split())
    named = next((each for each in made.fields if said & set(each.path[:1])), made.fields[0])
    return {named.key: problem[:500]}
