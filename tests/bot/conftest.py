"""The web process and the poster, inside the test, between a local Slack and a real database."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot import app, pending
from bot.afterwards import Afterwards
from bot.approvers import Approvers
from bot.people import People
from bot.posting import Poster
from bot.posts import CARD, Post
from bot.present import Present
from bot.records import Enclosing, Records
from bot.renderings import Renderings
from bot.sending import Pace, Sender
from bot.settings import Settings, load
from bot.simulator import LocalSlack
from bot.slack import Slack
from bot.timetable import Timetable
from bot.wishes import Wishes
from checkpoints.database import Database
from graphs import reviews, threads
from graphs.reviews import Asked
from graphs.specs import Rule

ROOT = Path(__file__).parent.parent.parent
PATIENCE_SECONDS = 10.0
QUESTION = {
    "amount": 60000,
    "sum": "60,000",
    "customer": "Asha Traders",
    "purpose": "delivery van",
    "risk": {"score": 71, "level": "high", "reasons": [{"text": "No documents"}]},
    "documents": [],
    "earlier": [],
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """`pytest tests/bot --update-golden` writes the golden files anew, see test_cards.py."""
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")


async def until(what: str, look: Callable[[], Any], seconds: float = PATIENCE_SECONDS) -> Any:
    """Look again and again until there is something to see."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while True:
                seen = look()
                if isinstance(seen, Awaitable):
                    seen = await seen
                if seen:
                    return seen
                await asyncio.sleep(0.02)
    pytest.fail(f"waited {seconds} s in vain for {what}")


@dataclass
class Drawings:
    """What a worker would draw; `picture` is the PNG of every thread, None where there is none."""

    picture: bytes | None = None
    drawn: list[str] = field(default_factory=list)

    async def __call__(self, thread_id: str) -> bytes | None:
        """Draw one."""
        self.drawn.append(thread_id)
        return self.picture


@dataclass
class Clock:
    """The clock that what is sent by the clock goes by; the machine's until a test moves it."""

    at: datetime | None = None

    async def __call__(self) -> datetime:
        """What it shows."""
        return self.at or datetime.now(UTC)


@dataclass
class Desk:
    """A local Slack, our web process and a poster: all of bot/ but the worker's engine."""

    slack: LocalSlack
    database: Database
    present: Present
    client: Slack
    poster: Poster
    url: str
    drawings: Drawings
    clock: Clock
    tasks: list[asyncio.Task[Any]] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        return self.present.settings

    async def post_all(self) -> None:
        """Send what can be sent now."""
        while await self.poster.run_once():
            pass

    async def thread(self, requester: str = "U0BOB", graph: str = "loan") -> str:
        """A thread that was started, with its conversation in #loans."""
        await self.slack.message(requester, "C0LOANS", "Loan for Asha Traders, 60000 for a van")
        found = await until(
            "the thread", lambda: threads.list_(self.database, requester=requester, graph=graph)
        )
        return str(found[0].id)

    async def review(
        self,
        thread_id: str | None = None,
        *,
        rule: Rule | None = None,
        asks: Any = None,
        **question: Any,
    ) -> int:
        """A review as settle would open it, with its wishes; `asks` is another question."""
        thread_id = thread_id or await self.thread()
        wishes = Wishes(self.present)
        asked = Asked(
            interrupt_id=f"{len(await reviews.list_(self.database)):032x}",
            node="human_review" if asks is None else "anything",
            checkpoint_id="1",
            question=QUESTION | question if asks is None else asks,
            hash="4f9c21" + "0" * 58,
        )
        async with self.database.transaction() as connection:
            put = await reviews.put(
                connection,
                thread_id=thread_id,
                graph="loan",
                asked=asked,
                audience="reviewers",
                rule_for=lambda tool: rule or self._plain_rule(),
            )
            assert put is not None
            await wishes(connection, "card", str(put.review_id))
        return put.review_id

    def _plain_rule(self) -> Rule:
        """The first rule that looks at nothing of the question."""
        return next(one for one in self.settings.configuration.reviews if one.when is None)

    async def card(self, channel: str = "C0CREDIT") -> dict[str, Any]:
        """The newest card in a channel, once it is there."""
        return dict((await until("a card", lambda: self.slack.messages(channel)))[-1])

    async def audit(self, what: str) -> list[dict[str, Any]]:
        """The details of the audit entries of one kind."""
        from graphs import audit

        return [
            {**entry.detail, "actor": entry.actor}
            for entry in await audit.recent(self.database)
            if entry.what == what
        ]


@pytest.fixture
def config() -> Path:
    """The configuration; a module that wants its own brings a fixture of this name."""
    return ROOT / "sayso.toml"


@pytest.fixture
async def desk(database_url: str, tmp_path: Path, config: Path) -> AsyncIterator[Desk]:
    """A desk with nothing on it."""
    async with (
        LocalSlack.start(retry_scale=0.01, home=None) as slack,
        Database.open(database_url) as database,
    ):
        settings = load(
            {
                "SAYSO_DATABASE_URL": database_url,
                "SAYSO_SLACK_BOT_TOKEN": "xoxb-local-sayso",
                "SAYSO_SLACK_SIGNING_SECRET": "local-signing-secret",
                "SAYSO_SLACK_API_URL": slack.api_url,
                "SAYSO_PORT": "0",
                "SAYSO_HOME": str(tmp_path),
                "SAYSO_CONFIG": str(config),
            }
        )
        present = Present(settings)
        async with (
            app.slack_of(settings) as client,
            app.web_of(present, database) as (host, port),
        ):
            assert client is not None
            slack.events_url = f"http://{host}:{port}/slack/events"
            afterwards = Afterwards()
            known = People(database, client, "T0SAYSO", afterwards)
            drawings, clock = Drawings(), Clock()

            def approvers() -> Approvers:
                return Approvers(known, present.policy.directory)

            async def prepare(post: Post) -> None:
                if post.kind == CARD:
                    await approvers().meet(await reviews.get(database, int(post.subject)))

            sender = Sender(
                database,
                client,
                Enclosing(Renderings(present, known)),
                write=Records(app.states_of(database)),
                draw=drawings,
                members=lambda place: approvers().places(place),
                in_channel=known.in_channel,
                timetable=Timetable(
                    database,
                    zone=known.zone,
                    waits=lambda user: pending.how_many(approvers(), user),
                    clock=clock,
                ),
                stands_in=lambda user, review_id: approvers().stands_in(user, review_id),
                tell_operators=Wishes(present).tell_operators,
                prepare=prepare,
                pace=Pace(claim_seconds=5, call_seconds=1, hold_off_seconds=0.1, post_seconds=0.0),
            )
            url = f"http://{host}:{port}"
            poster = Poster(database, sender)
            yield Desk(slack, database, present, client, poster, url, drawings, clock)
            await afterwards.finish()
