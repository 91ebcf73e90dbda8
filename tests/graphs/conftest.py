"""A worker on the real database, small graphs, and the wishes that would be shown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from checkpoints.database import Connection, Database
from checkpoints.postgres import PostgresSaver
from graphs import reviews, saying, threads, votes
from graphs.plain import digest
from graphs.policy import Person, Policy
from graphs.registry import Graph, LoadedGraph, Registry, default_intake
from graphs.runner import Limits, Runner
from graphs.specs import GraphSpec, People, Rule

TEAM = "T0SAYSO"
QUICK = Limits(lease_seconds=2.0, poll_seconds=0.2, drain_seconds=1.0, cut_seconds=2.0)
RULE = Rule(approvers=People(users=("U0ALICE", "U0DANA")))
PATIENCE_SECONDS = 20.0


def person(user: str, **facts: Any) -> Person:
    return Person(id=user, team=TEAM, name=user.removeprefix("U0").title(), **facts)


def voter(user: str, **facts: Any) -> votes.Voter:
    return votes.Voter(person(user, **facts), via="test")


def loaded(name: str, graph: Graph, **spec: Any) -> LoadedGraph:
    given = GraphSpec(path="tests:graph", **spec)
    return LoadedGraph(name, graph, given, default_intake(graph))


@dataclass
class House:
    """The product without a surface: verbs, wishes, and workers when a test wants them."""

    database: Database
    registry: Registry
    policy: Policy
    wished: list[tuple[str, str]] = field(default_factory=list)

    async def wish(self, connection: Connection, kind: str, subject: str) -> None:
        self.wished.append((kind, subject))

    def runner(self, **given: Any) -> Runner:
        return Runner(
            self.database,
            self.registry,
            team=TEAM,
            policy=self.policy,
            wish=self.wish,
            **{"limits": QUICK, **given},
        )

    @asynccontextmanager
    async def working(self, **given: Any) -> AsyncIterator[Runner]:
        runner = self.runner(**given)
        task = asyncio.create_task(runner.run())
        try:
            yield runner
        finally:
            runner.stop()
            await task

    async def start(self, graph: str, value: Any = None, **given: Any) -> str:
        async with self.database.transaction() as connection:
            if "message" not in given:
                given["input"] = value if value is not None else {"text": "hello"}
            started = await threads.start(
                connection,
                team=TEAM,
                graph=graph,
                requester="U0BOB",
                wish=self.wish,
                **given,
            )
        return started.thread_id

    async def vote(self, review_id: int, answer: Any, by: str = "U0ALICE", **given: Any) -> Any:
        async with self.database.transaction() as connection:
            return await votes.vote(
                connection,
                review_id=review_id,
                answer=answer,
                voter=voter(by),
                wish=self.wish,
                **given,
            )

    async def say(self, thread_id: str, text: str, by: str = "U0BOB", **given: Any) -> saying.Said:
        async with self.database.transaction() as connection:
            message = threads.Message(text, by, given.pop("files", ()))
            return await saying.say(connection, thread_id, message, wish=self.wish, **given)

    async def asked(
        self,
        *,
        rule: Rule | None = RULE,
        audience: reviews.Audience = "reviewers",
        question: Any = "Go on?",
        schema: Any = None,
        interrupt_id: str = "a" * 32,
        thread_id: str | None = None,
    ) -> reviews.Review:
        """An open review, without a graph that asked."""
        thread_id = thread_id or await self.start("loan")
        async with self.database.transaction() as connection:
            opened = await reviews.put(
                connection,
                thread_id=thread_id,
                graph="loan",
                asked=reviews.Asked(
                    interrupt_id, "ask", "1", question, digest(question), schema=schema
                ),
                audience=audience,
                rule_for=lambda _: rule,
            )
            assert opened is not None
            return await reviews.get(connection, opened.review_id)

    async def until(self, thread_id: str, *status: str) -> threads.Thread:
        """Wait until the thread has one of these statuses."""

        async def there() -> threads.Thread | None:
            thread = await threads.get(self.database, thread_id)
            return thread if thread.status in status else None

        return await until(there)

    async def values(self, thread_id: str) -> dict[str, Any]:
        """The values of the thread's newest checkpoint."""
        found = await PostgresSaver(self.database).aget_tuple(
            {"configurable": {"thread_id": thread_id}}
        )
        return found.checkpoint["channel_values"] if found is not None else {}

    async def open_reviews(self, thread_id: str) -> list[reviews.Review]:
        return await reviews.list_(self.database, thread_id=thread_id, status="open")


async def until(there: Callable[[], Any]) -> Any:
    """Wait for a condition: ask until it gives something."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (found := await there()):  # noqa: ASYNC110  the condition is in the database
            await asyncio.sleep(0.02)
        return found


@pytest.fixture
def house(database: Database) -> Callable[..., House]:
    """Make a house with these graphs."""

    def make(*graphs: LoadedGraph, rules: tuple[Rule, ...] = (RULE,)) -> House:
        registry = Registry(
            {each.name: each.spec for each in graphs}, {each.name: each for each in graphs}
        )
        return House(database, registry, Policy(rules))

    return make
