"""One play of a thread: read its state, feed it, run it until it rests, and say where it rests.

All of this runs on the graphs' loop. What it hands back to the engine is plain: questions are
already bytes and safe JSON, an error is already words, so nothing of the graph's own crosses over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from langgraph.errors import GraphDrained

from checkpoints.failpoints import reached
from checkpoints.postgres import PostgresSaver
from graphs import contexts, deploys, fingerprints, repairs, stops, tools
from graphs.errors import CodeChanged
from graphs.feeding import Plan, plan, said, values
from graphs.forks import KIND as REWIND
from graphs.forks import EditRefused, NotForked, fork
from graphs.mailbox import Row
from graphs.plain import plain
from graphs.reviews import Asked
from graphs.running import STRICT_RESUME as STRICT_RESUME
from graphs.running import MakeSaver as MakeSaver
from graphs.running import Order as Order
from graphs.running import Side as Side
from graphs.running import bound, configured, reading, run
from graphs.running import open_side as open_side
from graphs.standings import Standing, StateRefused, look
from graphs.states import (
    Broke,
    outcome_of,
    stored_error,
)
from graphs.stops import Misfit, Stop

NOT_UNDERSTOOD: Final = "Choose continue, change values or stop."
ASKED_AGAIN: Final = "It is asked again."
UNFIT_CONTEXT: Final = "UnfitContext"


@dataclass(frozen=True)
class Played:
    """Where the thread rests after the play.

    `drained` means that it stopped half way because it was asked to: nothing is settled then.
    `again` are the interrupts that are asked again, each with what was wrong with its answer.
    `state` are the values as safe JSON, where a rule's condition may look at them.
    """

    plan: Plan
    asked: tuple[Asked, ...] = ()
    head: str | None = None
    next: tuple[str, ...] = ()
    broke: Broke | None = None
    outcome: str | None = None
    checkpoints: Mapping[int, str] = field(default_factory=dict)
    drained: bool = False
    again: Mapping[str, str] = field(default_factory=dict)
    state: Any = None

    @property
    def ran(self) -> bool:
        """Whether anything was run at all."""
        return self.plan.do not in ("settle", "stop", "ask_again")

    @property
    def finished(self) -> bool:
        """Whether the graph came to its end."""
        return self.head is not None and not (self.asked or self.next or self.broke)


async def play(side: Side, order: Order) -> Played:
    """Play the thread once.

    1. Go back to an earlier step first, where a rewind waits.
    2. Read the state; the owner before may have died anywhere.
    3. Decide what to feed, and whether the code still is what it was when the question was asked.
    4. Write what a person changed at a static breakpoint.
    5. Run until the graph rests, fails, or is asked to stop.
    6. Take back an answer that its node could not use.
    7. Read the state again and say where it rests.

    Raises:
        StaleOwner: somebody else owns the thread.
        BlockedType, LostCheckpoint: its state cannot be read as it was written; it has to be held.
        CodeChanged: an answer would go to the wrong place; it has to be held.
        DatabaseAway, LockTimeout: the house failed and not the graph; hand the thread back.
    """
    try:
        gone = await _fork(side, order)
        rows = tuple(row for row in order.rows if row.id not in gone)
        played = await _Play(side, replace(order, rows=rows)).through()
        return replace(played, plan=replace(played.plan, taken=(*played.plan.taken, *gone)))
    except StateRefused as refused:
        thread = order.thread
        broke = Broke(", ".join(thread.next) or "input", refused.type, refused.message, True)
        return Played(Plan("input"), head=thread.head, next=thread.next, broke=broke)


class _Play:
    """One play, from the state that it finds to the state that it leaves."""

    def __init__(self, side: Side, order: Order) -> None:
        self._side = side
        self._order = order
        self._graph = bound(side, order)
        self._config = reading(configured(side, order))
        self._checkpoints: dict[int, str] = {}

    async def through(self) -> Played:
        found = await self._look()
        before = found.seen.values
        planned = self._plan(found)
        if self._asks_anew(planned, found):
            if planned.passes:  # the stops were answered; the questions are asked on the way
                planned = _without_answers(planned)
            else:
                planned, found, ended = await self._asked_anew(planned, found)
                if ended is not None:
                    return ended
        again = {str(row.interrupt_id): NOT_UNDERSTOOD for row in planned.refused}
        again |= await self._change(planned, found)
        if again:
            planned = Plan(
                "settle", fed=planned.fed if planned.refused else (), taken=planned.taken
            )
        if planned.do in ("settle", "stop"):
            # Beside a stop a failed step is tried again by whoever lets the stop go on.
            dropped = planned.do == "settle" and bool(found.stops and planned.fed)
            broke = None if dropped else stored_error(found.seen)
            return self._rest(planned, found, broke, again=again)
        if planned.do == "ask_again":
            return await self._ask_again(planned, found)
        drained, broke = await self._run(planned)
        found = await self._look()
        if broke is not None and broke.type == UNFIT_CONTEXT:
            planned = replace(planned, fed=())  # nothing of it was fed
        if broke is not None and broke.rejected is not None:
            again, found, broke = await self._repair(planned, found, broke)
        fed_before = before if planned.do == "answers" else None
        return self._rest(planned, found, broke, again=again, drained=drained, before=fed_before)

    async def _look(self) -> Standing:
        known = {str(row.interrupt_id) for row in self._order.rows} | self._order.stopped
        return await look(self._graph, self._config, self._side.saver.serde, known)

    def _plan(self, found: Standing) -> Plan:
        hashes = {asked.interrupt_id: asked.hash for asked in found.asked}
        # What was changed for an answer is no longer what the answer was given for.
        hashes = {
            interrupt_id: hashed
            for interrupt_id, hashed in hashes.items()
            if not any(stop.id == interrupt_id and stop.update for stop in found.stops)
        }
        return plan(found.state, [row for row in self._order.rows if _is_for(row, hashes)])

    # The code that asked, and the code that is to be answered

    def _asks_anew(self, planned: Plan, found: Standing) -> bool:
        """Whether the code of now has to ask before an answer is fed to it.

        Raises:
            CodeChanged
        """
        loaded = self._order.loaded
        if blocking := deploys.blocking(self._order.pauses, found.head, loaded):
            raise CodeChanged(blocking)
        return any(
            fingerprints.changes(row.fingerprint, loaded, row.node, row.ordinal).asks_anew
            for row in planned.answers
        )

    async def _asked_anew(
        self, planned: Plan, found: Standing
    ) -> tuple[Plan, Standing, Played | None]:
        """Run without the answers, so that the code of now asks, and plan again.

        An answer at which the node failed is in the checkpoint already: it goes, and is fed again
        only if the very same is asked.
        """
        if found.state.failed:
            meant = frozenset(str(row.interrupt_id) for row in planned.answers)
            await self._take_back(found, meant=meant, no_other=True)
        asking = Plan("go_on", taken=planned.taken, run_id=planned.run_id)
        drained, broke = await self._run(asking)
        found = await self._look()
        if drained or broke is not None:
            return planned, found, self._rest(asking, found, broke, drained=drained)
        again = self._plan(found)
        if again.do != "answers":
            return again, found, self._rest(replace(asking, taken=again.taken), found, None)
        return again, found, None

    # Static breakpoints

    async def _change(self, planned: Plan, found: Standing) -> dict[str, str]:
        """Write what people changed; nothing of it where one value does not fit."""
        misfits: dict[str, str] = {}
        wanted: list[tuple[Stop, stops.Writes]] = []
        here = {stop.id: stop for stop in found.stops}
        for row in planned.passes:
            stop = here[str(row.interrupt_id)]
            written = stop.update and row.question_hash != stop.asked.hash
            if written or said(row) != "change":
                continue
            writes = stops.changes(stop, values(row))
            if isinstance(writes, Misfit):
                misfits[stop.id] = writes.problem
            elif writes:
                wanted.append((stop, writes))
        if misfits:
            return misfits
        for stop, writes in wanted:
            reached("change.before")
            await stops.write(self._graph, stop, writes, self._order.fence)
            reached("change.after")
        return {}

    # Answers that a node could not use

    async def _repair(
        self, planned: Plan, found: Standing, broke: Broke
    ) -> tuple[dict[str, str], Standing, Broke | None]:
        """Take the refused answer back; where there is none it was a failure like any other."""
        stored = broke.rejected == "decisions" or planned.do != "answers"
        asked = await self._take_back(found, stored=stored)
        if not asked:
            return {}, found, replace(broke, rejected=None)
        found = await self._look()
        again = dict.fromkeys(asked & found.state.pending, broke.message)
        return again, found, stored_error(found.seen)

    async def _ask_again(self, planned: Plan, found: Standing) -> Played:
        """Drop the answer that a person does not want to stand."""
        broke = stored_error(found.seen)
        asked: frozenset[str] = frozenset()
        if broke is not None:
            asked = await self._take_back(found, meant=planned.again)
            found = await self._look()
        # Where the owner died between that and the settle it was taken back before.
        asked = (planned.again or asked) & found.state.pending
        if found.state.failed or not asked:
            return self._rest(planned, found, stored_error(found.seen))
        problem = broke.message if broke is not None else ASKED_AGAIN
        return self._rest(planned, found, None, again=dict.fromkeys(asked, problem))

    async def _take_back(
        self,
        found: Standing,
        *,
        stored: bool = True,
        meant: frozenset[str] = frozenset(),
        no_other: bool = False,
    ) -> frozenset[str]:
        saver, order = self._graph.checkpointer, self._order
        if not isinstance(saver, PostgresSaver):
            return frozenset()
        failed = await repairs.failed_tasks(saver, order.thread.id, found.seen)
        if no_other:
            failed = [each for each in failed if meant & {*each.asked}]
        failed.sort(key=lambda each: bool(meant) and not meant & {*each.asked})
        reached("repair.before")
        asked = await repairs.take_back(saver, order.fence, failed, stored=stored)
        reached("repair.after")
        return asked

    # Running and resting

    async def _run(self, planned: Plan) -> tuple[bool, Broke | None]:
        """Whether it was drained, and why it broke where it did."""
        loaded = self._order.loaded
        given = contexts.merged(loaded, self._order.thread.context)
        if (problem := contexts.problem(loaded.graph, given)) is not None:
            return False, Broke("context", UNFIT_CONTEXT, problem, permanent=True)
        reached("run.before")
        try:
            broke = await run(self._graph, self._side, self._order, planned, self._checkpoints)
        except GraphDrained:
            return True, None
        reached("run.after")
        return False, broke

    def _rest(
        self,
        planned: Plan,
        found: Standing,
        broke: Broke | None,
        *,
        again: Mapping[str, str] | None = None,
        drained: bool = False,
        before: Any = None,
    ) -> Played:
        loaded, seen, asked = self._order.loaded, found.seen, found.asked
        if not (asked or broke or drained) and seen.next and found.head is not None:
            asked = (stops.unseen(self._graph, seen).asked,)
        rests = not (asked or broke or seen.next)
        kept = [
            replace(
                one,
                fingerprint=fingerprints.of_pause(loaded, one.node, one.ordinal),
                schemas=tools.schemas(loaded.graph) if one.asking.actions else {},
            )
            for one in asked
        ]
        return Played(
            plan=planned,
            asked=tuple(kept),
            head=found.head,
            next=tuple(seen.next),
            broke=broke,
            outcome=outcome_of(loaded, seen.values, before) if rests else None,
            checkpoints=self._checkpoints,
            drained=drained,
            again=again or {},
            state=plain(seen.values) if asked and self._order.asks_of_state else None,
        )


async def _fork(side: Side, order: Order) -> frozenset[int]:
    """Go back where a rewind waits; returns the rows that went with what ran before."""
    if not any(row.kind == REWIND for row in order.rows):
        return frozenset()
    try:
        return await fork(bound(side, order), configured(side, order), order.rows)
    except (EditRefused, NotForked) as error:
        raise StateRefused(error) from error


def _without_answers(planned: Plan) -> Plan:
    answers = {row.id for row in planned.answers}
    fed = tuple(each for each in planned.fed if each not in answers)
    return replace(planned, do="go_on", answers=(), fed=fed)


def _is_for(row: Row, hashes: Mapping[str, str]) -> bool:
    """Whether an answer is for the very question that is pending under its interrupt.

    A node that runs again may ask something else under the same id; an answer to other words is
    not fed, settle sets it aside and asks anew.
    """
    if row.kind != "answer" or row.interrupt_id is None:
        return True
    return hashes.get(row.interrupt_id, row.question_hash) == row.question_hash
