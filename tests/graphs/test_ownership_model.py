"""Ownership as a state space: two workers, one thread, everything that can come between two steps.

The essay is in `checkpoints/leases.py`; this walks through all of it. One thread is started and
asks; people answer; the requester says more; deliveries come twice; an owner may stall past its
lease at any step, die there, lose its connection inside the settling transaction, or be stopped. A
stall needs no step of its own: everything else goes on while the owner does nothing, and its lease
runs out.

What is one statement or holds one lock all the time is one move. Settling is two (`hold`,
`commit`), because its owner can freeze in between. Whoever brings something may find the lease
locked at any time, and then puts it in without waking.

The graph is the smallest that can go wrong: its first step takes the start and puts its questions,
its second takes every answer that waits and drops the questions that have none, and each further
message is a step of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Final, NamedTuple

import pytest

from tests.exploring import Move, explore, missing

NOBODY: Final = -1
START: Final = "start"
SAY: Final = "say"
INPUTS: Final = (START, SAY)

TWICE: Final = "something was applied twice"
LOST: Final = "an event that was accepted was never applied"
UNHEARD: Final = "a decision was never applied"
STALE: Final = "a stale owner wrote"
FELL: Final = "the epoch fell"
WAITS: Final = "something waits and nobody will come"
HELD: Final = "a lease is held at rest"
CHANGED: Final = "a decision changed"
GONE: Final = "people are asked what nobody waits for"
UNASKED: Final = "the thread waits for an answer that nobody is asked for"


class Row(NamedTuple):
    """One row of the mailbox: the start, a further message, or the answer to a question."""

    what: str
    waits: bool = True
    unwoken: bool = False


class Worker(NamedTuple):
    """Where a worker is with its run, and what it saw when it came there."""

    at: str = "idle"
    epoch: int = 0
    seq: int = 0
    head: tuple[int, ...] = ()
    feeds: tuple[int, ...] = ()
    consumes: tuple[int, ...] = ()
    due: bool = False


IDLE: Final = Worker()


class World(NamedTuple):
    """The rows, the workers, what is still to come, and what was ever applied."""

    comes: tuple[int, ...]  # how often each delivery may still come
    faults: int
    reviews: tuple[str, ...]
    said: tuple[str, ...]  # what was decided of each
    workers: tuple[Worker, ...] = (IDLE, IDLE)
    epoch: int = 0
    owner: int = NOBODY
    out: bool = False  # the lease ran out
    ready: bool = False
    seq: int = 0
    locked: int = NOBODY  # the worker inside its settling transaction
    keys: frozenset[int] = frozenset()
    rows: tuple[Row, ...] = ()
    head: tuple[int, ...] = ()  # the rows that the checkpoint at the head has taken
    applied: tuple[str, ...] = ()  # by any checkpoint that was ever written


@dataclass(frozen=True)
class Ownership:
    """The configuration, and one switch for each mutant; they are all on in the product."""

    clicks: tuple[tuple[int, str], ...] = ((0, "yes"), (0, "no"))
    questions: int = 1
    inputs: tuple[str, ...] = (START, SAY)
    times: int = 2  # the first of them comes so often
    faults: int = 2
    fence: bool = True
    release_by_seq: bool = True
    dedupe: bool = True
    first_click_wins: bool = True
    withdraw: bool = True
    poll: bool = True

    QUERIES: ClassVar[dict[str, tuple[str, ...]]] = {
        "accept": ("bot.deliveries.accept", "checkpoints.leases.lock", "graphs.threads.lock",
                   "graphs.mailbox.has_key", "graphs.mailbox.put", "checkpoints.leases.wake"),
        "vote": ("bot.deliveries.accept", "checkpoints.leases.lock", "graphs.reviews.lock_review",
                 "graphs.reviews.lock_item", "graphs.reviews.decide_item", "graphs.reviews.close",
                 "graphs.mailbox.put", "checkpoints.leases.wake"),
        "poll": ("graphs.mailbox.unwoken", "checkpoints.leases.wake_free", "graphs.mailbox.woken"),
        "claim": ("checkpoints.leases.claim",),
        "read": ("graphs.mailbox.waiting",),
        "write": ("checkpoints.flush.flush", "checkpoints.flush.lock_fence"),
        "hold": ("checkpoints.leases.hold", "graphs.settling.lock", "graphs.mailbox.next_due"),
        "commit": ("graphs.mailbox.consume", "graphs.reviews.open", "graphs.reviews.withdraw_gone",
                   "graphs.settling.rest", "checkpoints.leases.release"),
        "hand back": ("checkpoints.leases.hold", "checkpoints.leases.release"),
        "extend": ("checkpoints.leases.extend", "checkpoints.leases.extend_alone"),
        "run out": (), "stall": (), "die": (), "lose the connection": (),
    }  # fmt: skip

    def first(self) -> World:
        """An idle thread, and everything that comes."""
        return World(
            comes=(self.times, *(1 for _ in (*self.inputs[1:], *self.clicks))),
            faults=self.faults,
            reviews=("",) * self.questions,
            said=("",) * self.questions,
        )

    def moves(self, world: World) -> Iterator[Move[World]]:
        """What comes from outside, what the workers do, what goes wrong."""
        yield from self._deliveries(world)
        if self.poll and world.locked == NOBODY and any(row.unwoken for row in world.rows):
            rows = tuple(row._replace(unwoken=False) for row in world.rows)
            yield Move("poll", NOBODY, _woken(world._replace(rows=rows)))
        for by, worker in enumerate(world.workers):
            yield from getattr(self, f"_{worker.at}")(world, by, worker)
            if worker.at != "idle" and world.faults:
                hurt = world._replace(faults=world.faults - 1)
                if world.locked == by:
                    hurt = hurt._replace(locked=NOBODY)
                    rolled_back = _put(hurt, by, worker._replace(at="ran"))
                    yield Move("lose the connection", by, rolled_back, False)
                yield Move("die", by, _put(hurt, by, IDLE), False)
        if world.owner != NOBODY and not world.out:
            out = world._replace(out=True)
            if not _alive(world):
                yield Move("run out", world.owner, out)
            elif world.faults:
                yield Move("stall", world.owner, out._replace(faults=world.faults - 1), False)
        elif world.out and _alive(world) and world.locked == NOBODY:
            yield Move("extend", world.owner, world._replace(out=False), False)

    def _deliveries(self, world: World) -> Iterator[Move[World]]:
        for key, comes in enumerate(world.comes):
            if not comes:
                continue
            left = tuple(n - (i == key) for i, n in enumerate(world.comes))
            after = world._replace(comes=left)
            if key in world.keys and self.dedupe:
                yield Move("accept", key, after, False)
                continue
            after = after._replace(keys=world.keys | {key})
            if key < len(self.inputs):
                # It locks the thread's row too, and so waits for a settling transaction.
                if world.locked == NOBODY and (key == 0 or 0 in world.keys):
                    wakes = "open" not in world.reviews
                    for received in _received(after, self.inputs[key], wakes=wakes):
                        yield Move("accept", key, received, False)
                continue
            question, says = self.clicks[key - len(self.inputs)]
            if world.reviews[question] == "open" or (
                world.reviews[question] == "decided" and not self.first_click_wins
            ):
                reviews = _at(world.reviews, question, "decided")
                said = _at(world.said, question, says)
                changed = CHANGED if world.said[question] not in ("", says) else None
                after = after._replace(reviews=reviews, said=said)
                for received in _received(after, f"answer {question}"):
                    yield Move("vote", key, received, False, changed)
            elif world.reviews[question]:  # it is told why not
                yield Move("vote", key, after, False)

    def _idle(self, world: World, by: int, _: Worker) -> Iterator[Move[World]]:
        free = world.ready if world.owner == NOBODY else world.out
        if free and world.locked == NOBODY:
            epoch = world.epoch + 1
            after = world._replace(epoch=epoch, owner=by, out=False, ready=False)
            claimed = Worker("claimed", epoch, world.seq)
            yield Move("claim", by, _put(after, by, claimed), True, self._fell(world, after))

    def _claimed(self, world: World, by: int, worker: Worker) -> Iterator[Move[World]]:
        """Read what waits, and plan as `graphs/feeding.py` does: the head says what was taken."""
        waiting = [i for i, row in enumerate(world.rows) if row.waits]
        asked = self._asked(world, world.head)
        inputs = [i for i in waiting if world.rows[i].what in INPUTS and i not in world.head]
        answers = [i for i in waiting if world.rows[i].what in asked]
        feeds = answers if asked else inputs[:1]
        taken = [
            i
            for i in waiting
            if i in world.head or (world.rows[i].what not in INPUTS and i not in answers)
        ]
        after = worker._replace(
            at="read" if feeds else "ran",
            head=world.head,
            feeds=tuple(feeds),
            consumes=(*taken, *feeds),
        )
        yield Move("read", by, _put(world, by, after))

    def _read(self, world: World, by: int, worker: Worker) -> Iterator[Move[World]]:
        if world.faults and self._ours(world, by, worker) and world.locked == NOBODY:
            back = world._replace(owner=NOBODY, out=False, ready=True, faults=world.faults - 1)
            yield Move("hand back", by, _put(back, by, IDLE), False)
        if self.fence and not self._ours(world, by, worker):
            yield Move("write", by, _put(world, by, IDLE))
        elif world.locked in (NOBODY, by) or not self.fence:
            head = (*worker.head, *worker.feeds)
            applied = (*world.applied, *(world.rows[i].what for i in worker.feeds))
            after = world._replace(head=head, applied=applied)
            stale = None if self._ours(world, by, worker) else STALE
            ran = worker._replace(at="ran", head=head)
            yield Move("write", by, _put(after, by, ran), True, stale)

    def _ran(self, world: World, by: int, worker: Worker) -> Iterator[Move[World]]:
        if self.fence and not self._ours(world, by, worker):
            yield Move("hold", by, _put(world, by, IDLE))
        elif world.locked == NOBODY:
            rests = self._asked(world, worker.head)
            due = any(
                row.waits and i not in worker.consumes and (row.what not in INPUTS or not rests)
                for i, row in enumerate(world.rows)
            )
            after = _put(world, by, worker._replace(at="settling", due=due))
            # The mutant has no lock yet: its statement waits for it with the snapshot it has.
            yield Move("hold", by, after._replace(locked=by) if self.release_by_seq else after)

    def _settling(self, world: World, by: int, worker: Worker) -> Iterator[Move[World]]:
        ours = self._ours(world, by, worker)
        if self.fence and not ours:
            yield Move("commit", by, _put(world, by, IDLE))
            return
        rows = tuple(
            row._replace(waits=False, unwoken=False) if i in worker.consumes else row
            for i, row in enumerate(world.rows)
        )
        asked = self._asked(world, worker.head)
        reviews = tuple(
            self._settled(was, f"answer {question}" in asked)
            for question, was in enumerate(world.reviews)
        )
        moved = self.release_by_seq and world.seq != worker.seq
        after = world._replace(
            rows=rows,
            reviews=reviews,
            owner=NOBODY,
            out=False,
            locked=NOBODY,
            ready=worker.due or (moved and world.ready),
        )
        wrong = self._fell(world, after) or (None if ours else STALE)
        yield Move("commit", by, _put(after, by, IDLE), True, wrong)

    def _settled(self, was: str, asked: bool) -> str:
        if asked:
            return was or "open"
        return "withdrawn" if was == "open" and self.withdraw else was

    def _asked(self, world: World, head: tuple[int, ...]) -> frozenset[str]:
        """The answers that the graph waits for: all after its start, none after an answer."""
        if [world.rows[i].what for i in head] != [START]:
            return frozenset()
        return frozenset(f"answer {question}" for question in range(self.questions))

    @staticmethod
    def _ours(world: World, by: int, worker: Worker) -> bool:
        return world.owner == by and world.epoch == worker.epoch

    @staticmethod
    def _fell(before: World, after: World) -> str | None:
        return FELL if after.epoch < before.epoch else None

    def wrong(self, world: World) -> Iterator[str]:
        """Nothing is ever applied twice."""
        if len(set(world.applied)) < len(world.applied):
            yield TWICE

    def wrong_at_rest(self, world: World) -> Iterator[str]:
        """Everything that was accepted was applied, and nobody waits for anybody but people."""
        taken = {world.rows[i].what for i in world.head}
        asked = self._asked(world, world.head)
        # A message waits while something is asked.
        fed = [row for row in world.rows if not (row.what in INPUTS and row.waits and asked)]
        if any(row.what in INPUTS and row.what not in taken for row in fed):
            yield LOST
        if any(row.waits or row.unwoken for row in fed):
            yield WAITS
        if world.owner != NOBODY or world.locked != NOBODY:
            yield HELD
        for question, status in enumerate(world.reviews):
            waited_for = f"answer {question}" in asked
            if status == "open" and not waited_for:
                yield GONE
            if status != "open" and waited_for:
                yield UNHEARD if status == "decided" else UNASKED


def _at(values: tuple[str, ...], index: int, value: str) -> tuple[str, ...]:
    return (*values[:index], value, *values[index + 1 :])


def _put(world: World, by: int, worker: Worker) -> World:
    workers = tuple(worker if i == by else each for i, each in enumerate(world.workers))
    return world._replace(workers=workers)


def _alive(world: World) -> bool:
    """Whether the owner by the lease is a worker that runs, stalled or not."""
    worker = world.workers[world.owner]
    return worker.at != "idle" and worker.epoch == world.epoch


def _woken(world: World) -> World:
    return world._replace(seq=world.seq + 1, ready=True)


def _received(world: World, what: str, *, wakes: bool = True) -> Iterator[World]:
    """Into the mailbox, with a wake where the lease's lock could be had; it may be anybody's."""
    if world.locked == NOBODY:
        after = world._replace(rows=(*world.rows, Row(what)))
        yield _woken(after) if wakes else after
    if wakes:
        yield world._replace(rows=(*world.rows, Row(what, unwoken=True)))


TWO_PEOPLE: Final = Ownership(inputs=(START,))
TWO_QUESTIONS: Final = Ownership(clicks=((0, "yes"), (1, "yes")), questions=2, inputs=(START,))

CONFIGURATIONS: Final = {
    "two people click on one question": TWO_PEOPLE,
    "two questions, and the one answered first drops the other": TWO_QUESTIONS,
    "the requester says more meanwhile": Ownership(clicks=((0, "yes"),), times=1),
}

MUTANTS: Final = {
    "no fence": (replace(TWO_PEOPLE, fence=False), STALE),
    "no fence, and what comes of it": (replace(TWO_PEOPLE, fence=False), TWICE),
    "release by what an old snapshot says": (Ownership(release_by_seq=False), WAITS),
    "no dedupe": (replace(TWO_PEOPLE, dedupe=False), TWICE),
    "last click wins": (replace(TWO_PEOPLE, first_click_wins=False), CHANGED),
    "settle without withdrawing": (replace(TWO_QUESTIONS, withdraw=False), GONE),
    "nobody wakes what was put in without the lock": (replace(TWO_PEOPLE, poll=False), WAITS),
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_no_interleaving_loses_or_repeats_anything(name: str) -> None:
    found = explore(CONFIGURATIONS[name])
    print(f"ownership, {name}: {found}")
    assert not found.wrong, str(found)
    assert found.rests, "nothing ever comes to rest"


def test_every_move_happens_and_stands_for_queries_that_exist() -> None:
    assert explore(TWO_PEOPLE).moves == set(Ownership.QUERIES)
    assert not missing(Ownership.QUERIES)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_ownership_is_found(name: str) -> None:
    mutant, wrong = MUTANTS[name]
    found = explore(mutant, until=wrong)
    print(f"ownership, {name}: {found}")
    assert wrong in found.wrong
