"""What the windows of Details and of the history are filled with, read from the rows."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import structlog

from bot import history, pictures, views
from bot.evidence import LARGE
from bot.house import House
from bot.rows import label
from bot.rules import as_toml
from bot.values import excerpt, worded
from bot.verdicts import SAID, of_vote
from bot.wording import phrase
from checkpoints.database import Connection
from checkpoints.postgres import PostgresSaver
from graphs import audit, documents, reviews, routings, threads
from graphs import history as taken
from graphs.cases import Case
from graphs.history import StepTaken
from graphs.policy import fingerprint
from graphs.reviews import Item, Review
from graphs.specs import GraphSpec
from graphs.templates import name_in_words
from graphs.threads import Thread

log = structlog.get_logger("sayso.dossier")

CHECKPOINTS: Final = 100  # that are looked at for what each step changed
_CHANGES: Final = 4
_CHANGES_SECONDS: Final = 2.0
_OURS: Final = frozenset({"sayso"})


class Dossier:
    """Reads everything about a request; who may see it was checked before."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def details(self, review: Review) -> views.DetailsView:
        """Everything that Details shows, and the picture of the path where it was drawn."""
        house = self._house
        state = await house.state(review.thread_id)
        changes = await self._changes(review.thread_id)
        async with house.database.connection() as connection:
            thread = await threads.get(connection, review.thread_id)
            card = await house.renderings.card(connection, review.id)
            written = await threads.messages(connection, thread.id)
            _, characters = await reviews.weight(connection, review.id)
            steps = await self._steps(connection, thread, changes)
            return views.DetailsView(
                card=replace(card, offers=card.offers | {"send_record", "history"}),
                written="\n\n".join(message.text for message in written if message.text),
                steps=steps,
                path=_path(house.specs.get(thread.graph), steps, thread),
                picture=await pictures.find(connection, thread.id, thread.head) or "",
                documents=await self._documents(connection, thread),
                question=review.question,
                arguments=tuple(item.arguments for item in review.items),
                values=state,
                enclosed=characters > LARGE,
                asked=_asked(card),
                rules=self._rules(review, thread, state),
                earlier=await self._earlier(connection, review),
                graph=review.graph,
                node=review.node,
                thread=thread.id,
            )

    async def history(self, review: Review, page: int | None) -> views.HistoryView:
        """One page of the record, the newest where none is named."""
        async with self._house.database.connection() as connection:
            thread = await threads.get(connection, review.thread_id)
            entries = await audit.of_thread(connection, thread.id)
            pages = max(1, -(-len(entries) // history.LINES))
            page = pages - 1 if page is None else min(max(page, 0), pages - 1)
            shown = entries[page * history.LINES : (page + 1) * history.LINES]
            people = [entry.actor for entry in shown if entry.actor not in _OURS]
            people += [seat for entry in shown if (seat := _seat(entry))]
            names = await self._house.people.names(connection, people)
        return views.HistoryView(
            ref=views.Ref(review.id, review.revision),
            number=thread.number,
            lines=tuple(_happened(entry, names) for entry in shown),
            page=page,
            pages=pages,
        )

    async def _changes(self, thread_id: str) -> list[StepTaken]:
        """What each step changed, as far as that can be read in a moment."""
        saver = PostgresSaver(self._house.database)
        try:
            async with asyncio.timeout(_CHANGES_SECONDS):
                return await taken.steps_of(
                    self._house.database, saver, thread_id, limit=CHECKPOINTS
                )
        except TimeoutError:
            log.info("the changes of a long request are left out", thread=thread_id)
            return []

    async def _steps(
        self, connection: Connection, thread: Thread, changes: Sequence[StepTaken]
    ) -> tuple[views.StepLine, ...]:
        """The steps, and under each what it changed and what its router chose."""
        spec = self._house.specs.get(thread.graph)
        changed: dict[str, list[str]] = {}
        for step in changes:
            changed.setdefault(step.node, []).append(_worded(step.changed))
        chosen: dict[str, list[str]] = {}
        for routing in await routings.of_thread(connection, thread.id):
            choices = routing.choice if isinstance(routing.choice, list) else [routing.choice]
            went = ", ".join(_target(spec, choice) for choice in choices)
            chosen.setdefault(routing.node, []).append(went)
        lines = []
        for line in await self._house.renderings.steps(connection, thread):
            went = _next_of(chosen, line.raw)
            what = _next_of(changed, line.raw) if line.state == "done" else ""
            note = f"Went on to: {went}" if went else ""
            lines.append(replace(line, note=note, changed=what))
        return tuple(lines)

    def _rules(self, review: Review, thread: Thread, state: Any) -> tuple[views.RuleText, ...]:
        """The rules that it keeps, each once, and whether the present file has others for it."""
        case = Case.of(thread, review.node, review.question, state)
        asks = review.asking.actions
        found: dict[str, views.RuleText] = {}
        for item in review.items:
            if item.opened_under is None:
                continue
            hashed = fingerprint(item.opened_under)
            differs = False
            if item.status == "open" == review.status:  # later the conditions look at other values
                now = case.found(self._house.policy, asks[item.item] if asks else None)
                differs = not now.why and fingerprint(now.rule) != hashed
            if hashed not in found:
                found[hashed] = views.RuleText(as_toml(item.opened_under), hashed, differs)
            elif differs:
                found[hashed] = replace(found[hashed], differs=True)
        return tuple(found.values())

    async def _documents(
        self, connection: Connection, thread: Thread
    ) -> tuple[views.DocumentLine, ...]:
        return tuple(
            views.DocumentLine(one.name, size=one.size, problem=one.problem or "")
            for one in await documents.of_thread(connection, thread.id)
        )

    async def _earlier(self, connection: Connection, review: Review) -> tuple[views.Decided, ...]:
        """What the thread's other questions came to, with the answers of people."""
        found: list[views.Decided] = []
        for other in await reviews.list_(connection, thread_id=review.thread_id):
            if other.id >= review.id or other.status == "open":
                continue
            users = [one for vote in other.votes for one in (vote.voter, vote.seat) if one]
            users += [item.edited_by for item in other.items if item.edited_by]
            names = await self._house.people.names(connection, users)
            shown = other.shown(self._house.specs.get(other.graph))
            for item in other.items:
                action = next((one for one in shown.actions if one.item == item.item), None)
                found.append(
                    views.Decided(
                        title=action.title if action else shown.title,
                        what=item.outcome or "",
                        facts=action.facts if action else (),
                        before=action.before if action else (),
                        edited_by=_person(item.edited_by, names) if item.edited_by else None,
                        edited_at=item.edited_at,
                        said=_said(item, names),
                    )
                )
        return tuple(found)


def _said(item: Item, names: Mapping[str, str]) -> tuple[views.Asked, ...]:
    return tuple(
        views.Asked(
            _person(vote.voter, names),
            SAID.get(vote.verb, "answered"),
            vote.cast_at,
            vote.note or (vote.answer if isinstance(vote.answer, str) else ""),
            _person(vote.seat, names) if vote.seat not in ("", vote.voter) else None,
        )
        for vote in item.standing_votes()
    )


def _person(user: str, names: Mapping[str, str]) -> views.Person:
    return views.Person(user, names.get(user, user.removeprefix("cli:")))


def _path(
    spec: GraphSpec | None, steps: Sequence[views.StepLine], thread: Thread
) -> tuple[str, ...]:
    """The steps in words, each once where it ran again at once, then the one that is waited for."""
    path: list[str] = []
    for step in steps:
        name = f"● {step.label}" if step.state == "now" else step.label
        if not path or path[-1] != name:
            path.append(name)
    if not any(step.state == "now" for step in steps):
        path += [f"○ {label(spec, node)}" for node in thread.next]
    return tuple(path)


def _worded(changed: Mapping[str, Any]) -> str:
    named = [
        f"{name_in_words(str(key))[:60]}: {excerpt(worded(value), 60) or 'empty'}"
        for key, value in list(changed.items())[:_CHANGES]
    ]
    left = len(changed) - len(named)
    return ", ".join(named) + (f" and {left} more" if left > 0 else "")


def _next_of(said: dict[str, list[str]], node: str) -> str:
    found = said.get(node) or said.get(node.rsplit("/", 1)[-1]) or []
    return found.pop(0) if found else ""


def _target(spec: GraphSpec | None, choice: Any) -> str:
    node = choice.get("send") if isinstance(choice, dict) else choice
    return label(spec, str(node)).strip("_ ")


def _asked(card: views.CardView) -> tuple[views.Asked, ...]:
    """Who was asked and what they said: those who voted, then those who were not heard from."""
    voted = tuple(of_vote(vote) for vote in card.votes)
    heard = {one.id for vote in card.votes for one in (vote.by, vote.seat) if one is not None}
    if card.status is not views.Status.OPEN:
        return voted
    waiting: tuple[views.Person | views.UserGroup, ...] = (
        *(group for group in card.decides.groups),
        *(person for person in card.decides.people if person.id not in heard),
    )
    return voted + tuple(views.Asked(who, "not_yet", stage=card.decides.stage) for who in waiting)


def _happened(entry: audit.Entry, names: Mapping[str, str]) -> views.Happened:
    who = None if entry.actor in _OURS else _person(entry.actor, names)
    seat = _person(_seat(entry), names) if _seat(entry) else None
    return views.Happened(entry.at, entry.what, who, says=_says(entry), seat=seat)


def _seat(entry: audit.Entry) -> str:
    """For whom a vote counts, where that is somebody else; else ""."""
    seat = entry.detail.get("seat")
    return seat if isinstance(seat, str) and seat != entry.actor else ""


def _says(entry: audit.Entry) -> str:
    """What an entry says beyond its kind, in a few words."""
    detail = entry.detail
    if detail.get("out_of_reach"):
        return phrase("history.out_of_reach")
    for key in _TELLING.get(entry.what, ("reason", "why", "error")):
        value = detail.get(key)
        if isinstance(value, str) and value:
            return value if key in ("text", "to_name") else _in_words(value) + _in_stage(detail)
    return ""


def _in_stage(detail: Mapping[str, Any]) -> str:
    stages = detail.get("stages")
    if not isinstance(stages, int) or stages <= 1:
        return ""
    return f", {phrase('action.stage', stage=detail.get('stage'), stages=stages)}"


def _in_words(value: str) -> str:
    """A name out of code in words; a sentence as it is."""
    return value if " " in value else name_in_words(value).lower()


_TELLING: Final[Mapping[str, tuple[str, ...]]] = {
    "review.opened": ("node",),
    "review.decided": ("outcome",),
    "review.edited": ("tool", "verb"),
    "vote.counted": ("verb",),
    "look.taken": ("at",),
    "look.refused": ("at",),
    "review.asked_requester": ("text",),
    "review.requester_answered": ("text", "files"),
    "review.commented": ("text",),
    "review.handed_over": ("to_name", "note"),
}
