"""Starting: who may begin what, and the transaction that begins it.

Every way in ends here: a message, a mention, a command, a shortcut, a button, a filled-in form.
What is begun with words starts at once; where a person still has to choose or to fill in, what
they began with is kept as a draft, and an offer with buttons stands in its conversation.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog

from bot import arrivals, conversations, deliveries, drafts, notices, posts
from bot.house import House
from bot.mishaps import refusal_of
from bot.whispers import place_of, whisper
from bot.wording import phrase
from checkpoints.database import Connection
from checkpoints.errors import SaysoError
from graphs import audit, threads
from graphs.policy import Person, Refusal, may_start
from graphs.ports import PROGRESS
from graphs.threads import Message, Started

log = structlog.get_logger("sayso.starting")

BAD_INPUT: Final = "bad_input"
PLACE_SECONDS: Final = 1.5


class ConversationTaken(SaysoError):
    """Another thread is talked about there already; undoes the start."""

    def __init__(self, thread_id: str) -> None:
        self.thread_id = thread_id
        super().__init__(f"Thread {thread_id} is talked about there already.")


@dataclass(frozen=True)
class Beginning:
    """A start as it is wanted: by whom, with what, and where it will be talked about.

    `channel` may be a person's id, for their direct messages. The same `key` starts one thread.
    """

    graph: str
    person: str
    channel: str
    root: str | None
    key: str
    message: Message | None = None
    input: Any = None


class Starting:
    """Begins threads for people in Slack."""

    def __init__(self, house: House) -> None:
        self._house = house

    # What there is to ask for

    def graph_for(self, channel: str, *, anywhere: bool) -> str | None:
        """The graph that a message there is for; None where it is none's, or has to be chosen."""
        specs = self._house.specs
        found = next((name for name, spec in specs.items() if channel in spec.channels), None)
        if found is not None or not anywhere:
            return found
        if len(specs) == 1:
            return next(iter(specs))
        return next((name for name, spec in specs.items() if spec.direct), None)

    def all_graphs(self) -> tuple[str, ...]:
        """Everything that can be asked for; what could not be loaded is not offered."""
        return tuple(name for name in self._house.specs if self._house.entrance(name).known)

    def of_shortcut(self) -> tuple[str, ...]:
        """What the shortcut offers: the graphs that name theirs, else all."""
        graphs = self.all_graphs()
        return tuple(name for name in graphs if self._house.specs[name].shortcut) or graphs

    # Who may

    async def person(self, user: str, graphs: Sequence[str]) -> Person:
        """Who it is, with the groups that these graphs' starters name."""
        starters = [self._house.specs[graph].starters for graph in graphs]
        groups = {group for people in starters if people is not None for group in people.groups}
        return await self._house.people.person(user, sorted(groups))

    def allowed(
        self, graphs: Sequence[str], person: Person
    ) -> tuple[tuple[str, ...], Refusal | None]:
        """Which of the graphs the person may start; where it is none, why not."""
        refusals = [(graph, may_start(self._house.specs[graph], person)) for graph in graphs]
        may = tuple(graph for graph, refusal in refusals if refusal is None)
        return may, None if may or not refusals else refusals[0][1]

    # The start

    async def open(
        self, connection: Connection, beginning: Beginning, keys: Sequence[str]
    ) -> Started:
        """Start the thread with its conversation, and want its progress shown.

        Raises:
            ConversationTaken: roll back; nothing may be kept of it.
        """
        house, team = self._house, self._house.workspace.team
        started = await threads.start(
            connection,
            team=team,
            graph=beginning.graph,
            requester=beginning.person,
            message=beginning.message,
            input=beginning.input,
            key=beginning.key,
            wish=house.wishes,
        )
        talked_about = await conversations.open_(
            connection,
            started.thread_id,
            team=team,
            channel=beginning.channel,
            root=beginning.root,
        )
        if talked_about != started.thread_id:
            raise ConversationTaken(talked_about)
        await house.wishes(connection, PROGRESS, started.thread_id)
        await deliveries.belongs(connection, keys, started.thread_id)
        log.info("started", thread=started.thread_id, graph=beginning.graph, user=beginning.person)
        return started

    async def open_somewhere(
        self, connection: Connection, beginning: Beginning, keys: Sequence[str]
    ) -> Started:
        """Start it; where its place has a request already, it is talked about in private."""
        try:
            async with connection.savepoint():
                return await self.open(connection, beginning, keys)
        except ConversationTaken:
            private = Beginning(**{**vars(beginning), "channel": beginning.person, "root": None})
            return await self.open(connection, private, keys)

    async def open_draft(
        self, connection: Connection, draft: drafts.Draft, beginning: Beginning, key: str
    ) -> Started:
        """Start what a draft became; its offer then says so and has no buttons any more."""
        started = await self.open_somewhere(connection, beginning, [key])
        await drafts.sent(connection, draft.id, started.thread_id)
        await posts.again(connection, posts.OFFER, str(draft.id))
        return started

    async def offer(
        self,
        connection: Connection,
        person: str,
        message: Message,
        graphs: Sequence[str],
        *,
        channel: str,
        root: str,
        problem: str = "",
    ) -> None:
        """Keep what somebody began with, and offer under it what they can go on with."""
        draft_id = await drafts.begin(
            connection,
            team=self._house.workspace.team,
            person=person,
            channel=channel,
            root=root,
            message=message,
        )
        body = {"graphs": list(graphs), "problem": problem, posts.UNDER: root}
        await posts.want(connection, posts.OFFER, str(draft_id), channel, body=body)
        log.info("offered", draft=draft_id, user=person, graphs=list(graphs))

    # What is refused

    async def refused(
        self,
        connection: Connection,
        person: str,
        why: str,
        *,
        graphs: Sequence[str] = (),
        channel: str = "",
        more: Mapping[str, Any] | None = None,
    ) -> None:
        """Keep in the record that somebody was not let start something, and why."""
        detail = {"why": why, "graph": ", ".join(graphs), "channel": channel, **(more or {})}
        await audit.record(connection, "start.refused", actor=person, detail=detail)

    def tell_refused(
        self, graph: str, user: str, channel: str | None, refusal: Refusal, root: str | None = None
    ) -> None:
        """Say it to whoever was refused, and nobody else."""
        told = refusal_of(refusal, spec=self._house.specs.get(graph), graph=graph)
        whisper(self._house, notices.refused(told), user=user, channel=channel, root=root)

    # A press

    async def who(self, body: Mapping[str, Any], user: str, *graphs: str) -> Person:
        """Who it is; of another organisation already by what the request says of itself."""
        if arrivals.is_foreign(self._house.workspace, body):
            return Person(user, self._house.workspace.team, is_stranger=True)
        return await self.person(user, graphs)

    async def place(self, channel: str, root: str, user: str) -> tuple[str, str | None]:
        """Under the message where we can write there, else in the person's direct messages."""
        inside: frozenset[str] | None = None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PLACE_SECONDS):
                inside = await self._house.people.in_channel(channel)
        if inside is not None and self._house.workspace.bot_user in inside and root:
            return channel, root
        return user, None

    async def turn_away(
        self, body: Mapping[str, Any], user: str, why: str, graph: str = ""
    ) -> None:
        """Keep in the record that a press led nowhere, and why."""
        channel, _ = place_of(body)
        async with self._house.database.transaction() as connection:
            await self.refused(
                connection, user, why, graphs=[graph[:80]] if graph else [], channel=channel or ""
            )

    def tell(self, body: Mapping[str, Any], key: str) -> None:
        """Say one of the catalogue's sentences to whoever pressed, and nobody else."""
        channel, root = place_of(body)
        said = notices.told(phrase(key))
        whisper(self._house, said, user=user_of(body), channel=channel, root=root)


def user_of(body: Mapping[str, Any]) -> str:
    """Who sent an interaction or a command."""
    return str((body.get("user") or {}).get("id") or body.get("user_id") or "")
