"""Many journeys at once over one product, all of them cut off at the same instants.

Every journey has a graph of its own in the configuration, with a channel and with people of its
own, so that none is in another's way. `power_cut` is a meeting point: when every journey that goes
on has come there, the web process and the worker are killed with SIGKILL, what is to change while
nothing runs is changed, and the product is started again. So hundreds of pauses cost a handful of
starts, and every answer is fed by another process than the one that asked.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from bot.simulator import LocalSlack, cast
from graphs import threads
from graphs.threads import Thread
from tests.conftest import fresh_database
from tests.journeys.conftest import JSON, Product, Seen, a_product, everything, loan_alone

PATIENCE_SECONDS = 60.0
LOOK_SECONDS = 0.25
# With dozens of presses in one second on a busy machine, Slack's three seconds are not tried here,
# and neither are its budgets of a minute or how long it is remembered who somebody is.
SLACK_WAITS_SECONDS = 30.0
LOOKS = ("details", "known", "history")
IN_A_NEW_MINUTE = "delete from sayso.budgets; update sayso.people set fetched_at = now()"
COLLECT_SECONDS = 0.5

Play = Callable[["Journey"], Awaitable[None]]
Change = Callable[[], None]
UnderWay = dict[str, asyncio.Task[None]]


@dataclass(frozen=True)
class Plan:
    """One journey before it begins: what happens, with which graph and configuration.

    `spec` and each of `rules` are added to what every journey has; None takes a key away. A rule
    names its approvers "alice" and "dana".
    """

    play: Play
    graph: str
    spec: Mapping[str, JSON] = field(default_factory=dict)
    rules: tuple[Mapping[str, JSON], ...] = ({},)
    files: Mapping[str, str] = field(default_factory=dict)
    places: tuple[str, ...] = ()  # more channels


class Gathering:
    """The product with all journeys on it."""

    def __init__(self, product: Product, names: list[str]) -> None:
        self.product = product
        self.threads: dict[str, Thread] = {}
        self.messages: list[JSON] = []
        self._looked = asyncio.Event()
        self._going = set(names)
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._changes: list[Change] = []
        self._cut: asyncio.Task[None] | None = None
        self._listing: asyncio.Task[dict[str, JSON]] | None = None

    async def looked(self) -> None:
        """Wait until there may be something new to see."""
        await self._looked.wait()

    async def look(self) -> None:
        """Keep in view where every thread stands and what everybody in Slack sees."""
        product = self.product
        while True:
            found = await threads.list_(product.database, limit=1_000)
            self.threads = {thread.graph: thread for thread in found}
            async with product.http.get(f"{product.slack.url}/_control/messages") as response:
                self.messages = (await response.json())["messages"]
            await product.database.execute(IN_A_NEW_MINUTE)
            looked, self._looked = self._looked, asyncio.Event()
            looked.set()
            await asyncio.sleep(LOOK_SECONDS)

    async def listed(self) -> dict[str, JSON]:
        """Every thread as `sayso threads list` prints it, after this moment; by its graph."""
        if self._listing is None:
            self._listing = asyncio.create_task(self._list())
        return await asyncio.shield(self._listing)

    async def _list(self) -> dict[str, JSON]:
        await asyncio.sleep(COLLECT_SECONDS)
        self._listing = None
        return {each["graph"]: each for each in await self.product.json("threads", "list")}

    async def power_cut(self, name: str, change: Change | None) -> None:
        """Meet the others, lose the power, and go on."""
        self._waiting[name] = asyncio.get_running_loop().create_future()
        if change is not None:
            self._changes.append(change)
        self._perhaps_cut()
        await self._waiting[name]

    def ended(self, name: str) -> None:
        """A journey ends, well or not, and nobody waits for it any more."""
        self._going.discard(name)
        self._perhaps_cut()

    def _perhaps_cut(self) -> None:
        if self._going and self._waiting.keys() == self._going:
            self._cut = asyncio.create_task(self._cut_power(), name="power cut")

    async def _cut_power(self) -> None:
        waiting, self._waiting = self._waiting, {}
        failure: BaseException | None = None
        try:
            await self.product.power_cut()
            for change in self._changes:
                change()
            self._changes.clear()
            await self.product.serve()
        except BaseException as error:
            failure = error
        for future in waiting.values():
            future.set_exception(failure) if failure else future.set_result(None)


@dataclass
class Journey:
    """One journey on its way: what its people do, and what they see."""

    gathering: Gathering
    name: str
    bob: str
    alice: str
    dana: str
    effects_file: Path

    @property
    def product(self) -> Product:
        return self.gathering.product

    @property
    def channel(self) -> str:
        return channel_of(self.name)

    async def until(self, what: str, look: Callable[[], Seen | None]) -> Seen:
        """Wait for something; what there was instead is told where it does not come."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not (seen := look()):
                    await self.gathering.looked()
                return seen
        except TimeoutError:
            thread = self.gathering.threads.get(key_of(self.name))
            shown = "\n".join(f"{one['ts']} {everything(one)[:3_000]}" for one in self.seen())
            stood = (thread.status, thread.error, thread.mark_reason) if thread else "not started"
            pytest.fail(f"{self.name}: in vain for {what}\n{stood}\n{self.effects}\n{shown}")

    @property
    def thread(self) -> Thread:
        return self.gathering.threads[key_of(self.name)]

    @property
    def effects(self) -> list[str]:
        """What was done outside so far, one line for each time."""
        found = self.effects_file
        return found.read_text(encoding="utf-8").splitlines() if found.exists() else []

    @property
    def broken(self) -> Path:
        """While this file exists, what is outside does not work."""
        return self.effects_file.with_suffix(".broken")

    async def begin(self, given: JSON) -> str:
        """Bob asks, in the journey's channel; the message is the graph's input."""
        text = given if isinstance(given, str) else json.dumps(given)
        return await self.product.say(self.bob, self.channel, text)

    async def say(self, text: str, root: str) -> None:
        """Bob goes on in the conversation that he began."""
        await self.product.say(self.bob, self.channel, text, thread_ts=root)

    def change_file(self, name: str, text: str) -> None:
        """Write one of the files that the graph is made of anew."""
        (self.product.directory / name).write_text(text, encoding="utf-8")

    async def power_cut(self, change: Change | None = None) -> None:
        await self.gathering.power_cut(self.name, change)

    async def card(self, *texts: str, after: JSON | None = None, place: str = "") -> JSON:
        """Wait for a card that shows all these texts, newer than another where one is given."""
        found = await self.cards(1, *texts, after=after, place=place)
        return found[0]

    async def cards(
        self, count: int, *texts: str, after: JSON | None = None, place: str = ""
    ) -> list[JSON]:
        """Wait for so many cards that show all these texts, newest first."""

        def look() -> list[JSON] | None:
            found = [
                message
                for message in self.seen(place)
                if not message["thread_ts"]
                and (after is None or message["ts"] > after["ts"])
                and all(text in everything(message) for text in texts)
            ]
            return found if len(found) >= count else None

        return await self.until(f"{count} with {texts}", look)

    async def told(self, *texts: str) -> JSON:
        """Wait for a reply in Bob's conversation that shows all these texts."""

        def look() -> JSON | None:
            for message in self.seen():
                shown = everything(message)
                if message["thread_ts"] and all(text in shown for text in texts):
                    return message
            return None

        return await self.until(f"a reply with {texts}", look)

    def seen(self, place: str = "") -> list[JSON]:
        """The bot's messages in the journey's channel, newest first."""
        place = place or self.channel
        return [
            message
            for message in reversed(self.gathering.messages)
            if message["channel"] == place and message["user"] == cast.BOT_USER
        ]

    async def shows(self, card: JSON, *texts: str) -> JSON:
        """Wait until this very card shows all these texts."""

        def look() -> JSON | None:
            for message in self.gathering.messages:
                shown = everything(message)
                if (message["channel"], message["ts"]) == (card["channel"], card["ts"]) and all(
                    text in shown for text in texts
                ):
                    return message
            return None

        return await self.until(f"the card to show {texts}", look)

    async def press(self, user: str, card: JSON, label: str, action: str = "") -> None:
        """Press a button that is named by its label, or by its action where labels repeat.

        A press that was not taken, because another one was just being written, is made again.
        """
        named = {"action_id": action} if action else {"label": label}
        act = {"user": user, "channel": card["channel"], "ts": card["ts"], **named}
        answer = await self.product.control("click", **act)
        while answer["status"] == 503:
            await self.gathering.looked()
            answer = await self.product.control("click", **act)
        assert answer["status"] == 200, answer

    async def window(self, user: str, *texts: str) -> JSON:
        """Wait for a window of this person that can be submitted and shows all these texts."""

        return await self.until(f"a window with {texts}", lambda: self._window(user, *texts))

    def _window(self, user: str, *texts: str) -> JSON | None:
        for view in reversed(self.product.slack.workspace.stack(user)):
            shown = json.dumps(view, ensure_ascii=False)
            if view.get("submit") and all(text in shown for text in texts):
                return view
        return None

    def _window_or_word(self, user: str, told: int) -> bool:
        return self._window(user) is not None or self._told_to_press_again(user) > told

    def _told_to_press_again(self, user: str) -> int:
        told = self.product.slack.private_messages(user)
        return sum("The window did not open" in str(one["text"]) for one in told)

    async def submit(self, user: str, values: JSON, *, force: bool = False) -> JSON:
        """Fill in the person's window and submit it; a single value goes into its one input.

        Keys are the labels that people read. With `force` even what Slack's window would not let
        through.
        """
        view = await self.window(user)
        inputs = {
            block["label"]["text"]: block["block_id"]
            for block in view["blocks"]
            if block["type"] == "input"
        }
        if not isinstance(values, Mapping):
            values = dict.fromkeys(inputs, values)
        filled = {inputs[label]: value for label, value in values.items()}
        return await self.product.control(
            "submit", user=user, values=filled, view_id=view["id"], force=force
        )

    async def open(self, user: str, card: JSON, label: str, action: str = "") -> None:
        """Press a button that opens a window, until it is there.

        Whoever is told that the window did not open (Slack waits three seconds for it, and this
        machine is busy) presses again, as they are asked to.
        """
        opened = False
        while not opened:
            told = self._told_to_press_again(user)
            await self.press(user, card, label, action)
            await self.until("a window or a word", partial(self._window_or_word, user, told))
            opened = self._window(user) is not None

    async def write(
        self, user: str, card: JSON, label: str, values: JSON, action: str = ""
    ) -> None:
        """Press a button that opens a window, fill that in, and see it taken."""
        await self.open(user, card, label, action)
        answer = await self.submit(user, values)
        assert answer["ok"], answer
        assert answer["response_action"] is None, answer

    async def decide(
        self, answer: JSON, *more: str, by: str = "", review: int = 0
    ) -> tuple[int, str]:
        """Decide an open question in the terminal; the status and what it said."""
        review = review or self.thread.open_reviews[0]
        status, _, said = await self.product.run(
            "reviews", "decide", str(review), "--as", by or self.alice,
            "--answer", json.dumps(answer), *more, check=False,
        )  # fmt: skip
        return status, said

    async def review_of(self, card: JSON) -> int:
        """The number of the review behind a card."""
        subject = await self.product.database.fetchval(
            "select subject from sayso.posts where channel = $1 and ts = $2",
            card["channel"], card["ts"],
        )  # fmt: skip
        return int(subject)

    async def stands(self, *status: str) -> Thread:
        """Wait until the thread stands so."""

        def look() -> Thread | None:
            thread = self.gathering.threads.get(key_of(self.name))
            return thread if thread is not None and thread.status in status else None

        return await self.until(f"it to be {' or '.join(status)}", look)

    async def ends(self, *effects: str, status: str = "done") -> JSON:
        """Wait for the end; nothing is open, and each of these was done once and nothing else.

        Returns:
            What `sayso threads list --json` says of it.
        """
        await self.stands(status)
        found = (await self.gathering.listed())[key_of(self.name)]
        assert found["status"] == status, found
        assert found["open_reviews"] == []
        assert sorted(self.effects) == sorted(effects)
        return found

    async def audit(self, what: str) -> list[JSON]:
        return [one for one in await self.product.audit(what) if one["thread_id"] == self.thread.id]


def buttons(card: JSON) -> list[str]:
    """The labels of a card's decisions, in their order."""
    return [
        element["text"]["text"]
        for block in card["blocks"]
        if block["type"] == "actions"
        for element in block["elements"]
        if element["type"] == "button" and element["action_id"] not in LOOKS
    ]


def channel_of(name: str) -> str:
    """The channel of a journey."""
    return "C0" + "".join(letter for letter in name.upper() if letter.isalnum())


@asynccontextmanager
async def gathered(
    server: Path,
    template: str,
    directories: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
    every: Mapping[str, Plan],
) -> AsyncIterator[UnderWay]:
    """All journeys of this module that are to be tested, under way, each as a task to wait for."""
    wanted = {
        item.callspec.params["name"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.module is request.module
    }
    plans = {name: plan for name, plan in every.items() if name in wanted}
    directory = directories.mktemp("gathering")
    people = {
        name: [f"U{number:03}{who}" for who in ("BOB", "ALICE", "DANA")]
        for number, name in enumerate(plans)
    }

    def configured(slack: LocalSlack) -> JSON:
        graphs, rules = {}, []
        for name, plan in plans.items():
            spec = {
                "path": plan.graph if ":" in plan.graph else f"tests.journeys.asking:{plan.graph}",
                "intake": "tests.journeys.asking:intake",
                "channels": [channel_of(name)],
                "retry": ["0.1s"],
                "replies": "kept",
                "config": {"effects": str(directory / key_of(name))},
                **plan.spec,
            }
            graphs[key_of(name)] = {key: value for key, value in spec.items() if value is not None}
            ids = dict(zip(("bob", "alice", "dana"), people[name], strict=True))
            for rule in plan.rules:
                named = [ids[one] for one in rule.get("approvers", ("alice", "dana"))]
                standard = {"graph": key_of(name), "channel": channel_of(name)}
                rules.append({**standard, **rule, "approvers": {"users": named}})
        return {**loan_alone(slack), "graphs": graphs, "reviews": rules}

    async with (
        fresh_database(server, template) as url,
        a_product(
            url,
            directory,
            configured,
            ack_seconds=SLACK_WAITS_SECONDS,
            trigger_seconds=SLACK_WAITS_SECONDS,
        ) as product,
    ):
        for name, plan in plans.items():
            for file, text in plan.files.items():
                (directory / file).write_text(text, encoding="utf-8")
            for user in people[name]:
                await product.control("person", user=user, name=user[4:].title())
            members = [*people[name], cast.BOT_USER]
            for channel in (channel_of(name), *plan.places):
                await product.control("channel", channel=channel, members=members)
        await product.serve()
        gathering = Gathering(product, list(plans))
        looking = asyncio.create_task(gathering.look(), name="look")

        def begin(name: str, plan: Plan) -> asyncio.Task[None]:
            journey = Journey(gathering, name, *people[name], directory / key_of(name))
            task = asyncio.create_task(_played(plan, journey), name=name)
            task.add_done_callback(lambda _: gathering.ended(name))
            return task

        tasks = {name: begin(name, plan) for name, plan in plans.items()}
        try:
            yield tasks
        finally:
            for task in (*tasks.values(), looking):
                task.cancel()
            await asyncio.gather(*tasks.values(), looking, return_exceptions=True)


async def _played(plan: Plan, journey: Journey) -> None:
    await plan.play(journey)


def key_of(name: str) -> str:
    """The name of a journey's graph."""
    return "_".join("".join(c if c.isalnum() else " " for c in name).split()) + "_agent"
