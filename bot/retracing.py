"""What the commands about a thread's past do: its history, its picture, and going back.

They read the same checkpoints as the worker, through the saver, and need no worker that runs.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from bot import app, operating, terminal
from bot.operating import Office
from checkpoints.database import Database
from checkpoints.errors import SaysoError
from checkpoints.postgres import PostgresSaver
from graphs import audit, drawing, forks, history, reviews, rewinding, routings, steps, threads
from graphs.forks import EditRefused
from graphs.history import StepTaken
from graphs.policy import may_operate
from graphs.registry import LoadedGraph
from graphs.rewinding import Past, Rewound
from graphs.threads import Thread

Confirm: TypeAlias = Callable[[Sequence[Past]], bool]
"""Asks whoever sits there whether to go back behind what was done."""


async def history_of(thread_id: str) -> dict[str, Any]:
    """How a thread came where it is: steps, routings with the state behind them, the record.

    Raises:
        UnknownThread, AmbiguousThread
    """
    async with operating.opened() as office:
        database = office.database
        thread = await threads.get(database, await threads.resolve(database, thread_id))
        saver = PostgresSaver(database)
        taken = await history.steps_of(database, saver, thread.id)
        states = {step.checkpoint_id: step.state for step in taken}
        return {
            "id": thread.id,
            "number": thread.number,
            "graph": thread.graph,
            "status": thread.status.value,
            "steps": [_step(step) for step in taken],
            "unfinished": [
                {
                    "node": step.node,
                    "status": step.status,
                    "error": step.error,
                    "started_at": step.started_at.isoformat(),
                }
                for step in await steps.of_thread(database, thread.id)
                if step.status != "done"
            ],
            "routings": [
                {
                    "at": routing.at.isoformat(),
                    "node": routing.node,
                    "branch": routing.branch,
                    "choice": routing.choice,
                    "checkpoint": routing.checkpoint_id,
                    "state": states.get(routing.checkpoint_id or ""),
                }
                for routing in await routings.of_thread(database, thread.id)
            ],
            "decisions": await _decisions(database, thread.id),
            "audit": [
                {
                    "at": entry.at.isoformat(),
                    "what": entry.what,
                    "actor": entry.actor,
                    "review": entry.review_id,
                    "detail": dict(entry.detail),
                }
                for entry in await audit.of_thread(database, thread.id)
            ],
        }


async def rewind(
    thread_id: str,
    said: str,
    *,
    edit: Mapping[str, Any],
    user: str | None,
    confirm: Confirm,
) -> tuple[dict[str, Any], Rewound | None, str | None]:
    """Take a thread back to a step; the thread then, what was done, and why it was refused, if so.

    Args:
        said: the step's number as the history shows it, or a checkpoint's id.
        edit: values of the state to go on with.
        user: the person who wants it, an operator; None is whoever runs this command, as one.

    Raises:
        UnknownThread, AmbiguousThread, UnknownStep, EditRefused, LockTimeout: nothing was changed.
    """
    async with operating.opened() as office:
        database = office.database
        thread = await threads.get(database, await threads.resolve(database, thread_id))
        actor = user or f"cli:{app.os_user()}"
        name, refused = await operator_of(office, user)
        if refused is not None:
            await _audit(database, "rewind.refused", actor, thread, refused)
            return await operating.thread_of(database, thread.id), None, refused
        taken = await history.steps_of(database, PostgresSaver(database), thread.id, limit=None)
        step = rewinding.step_of(taken, said)
        _check(office, thread, step, edit)
        confirmed = False
        while True:
            async with database.transaction() as connection:
                done = await rewinding.rewind(
                    connection,
                    thread.id,
                    step.checkpoint_id,
                    taken=taken,
                    edit=edit,
                    by=actor,
                    by_name=name,
                    confirmed=confirmed,
                    wish=office.wishes,
                )
            if isinstance(done, Rewound):
                if user is not None:
                    await _audit(database, "rewind.taken", actor, thread, None)
                return await operating.thread_of(database, thread.id), done, None
            if not confirm(done.past):
                await _audit(database, "rewind.refused", actor, thread, "not confirmed")
                return await operating.thread_of(database, thread.id), None, terminal.NOTHING
            confirmed = True


async def picture(thread_id: str, folder: Path) -> tuple[list[Path], str]:
    """Write a thread's graph into the folder, as Mermaid and PNG; the files, and why no PNG.

    Raises:
        UnknownThread, AmbiguousThread
        GraphNotLoaded, UnknownGraph: there is nothing to draw.
        NotWritten: the folder cannot be written to.
    """
    async with operating.opened() as office:
        thread = await threads.get(
            office.database, await threads.resolve(office.database, thread_id)
        )
        spec = office.settings.configuration.graphs.get(thread.graph)
        own = {thread.graph: spec} if spec is not None else {}
        with contextlib.redirect_stdout(sys.stderr):  # a module may print while it is imported
            loaded = app.loaded_of(office.settings, own).get(thread.graph)
        drawn = await drawing.of_thread(office.database, thread, loaded)
    name = re.sub(r"[^\w.-]+", "_", thread.graph).strip(".") or "graph"
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ending, body in (("mmd", drawn.mermaid.encode()), ("png", drawn.png)):
            if body is not None:
                file = folder / f"{name}-{thread.number}.{ending}"
                file.write_bytes(body)
                written.append(file)
    except OSError as error:
        raise NotWritten(folder, error) from error
    return written, drawn.reason


class NotWritten(SaysoError):
    """A file could not be written."""

    def __init__(self, folder: Path, error: OSError) -> None:
        super().__init__(f"Nothing can be written to {folder} ({error.strerror or error}).")


async def operator_of(office: Office, user: str | None) -> tuple[str, str | None]:
    """The name of who wants something done, and why that person may not, who is no operator."""
    if user is None:
        return app.os_user(), None
    operators = office.settings.configuration.operators
    person = await office.people.person(user, operators.groups)
    refusal = may_operate(operators, person)
    if refusal is None:
        return person.name or user, None
    return user, terminal.may_not_retry(user, refusal, operators)


async def _audit(
    database: Database, what: str, actor: str, thread: Thread, why: str | None
) -> None:
    async with database.transaction() as connection:
        await audit.record(
            connection,
            what,
            actor=actor,
            thread_id=thread.id,
            detail={"why": why, "via": "cli", "os_user": app.os_user()},
        )


def _check(office: Office, thread: Thread, step: StepTaken, edit: Mapping[str, Any]) -> None:
    """Refuse an edit that does not fit; where the graph cannot be loaded here, by the keys."""
    if not edit:
        return
    loaded = loaded_here(office, thread.graph)
    if loaded is not None:
        forks.applied(loaded.graph, edit)
    elif unknown := [key for key in edit if key not in step.state]:
        known = ", ".join(step.state)
        raise EditRefused(f"The state has no value {', '.join(unknown)} to change. It has {known}.")


def loaded_here(office: Office, graph: str) -> LoadedGraph | None:
    """The graph as it is configured here; None where it is not or cannot be loaded."""
    spec = office.settings.configuration.graphs.get(graph)
    if spec is None:
        return None
    with contextlib.redirect_stdout(sys.stderr):  # a module may print while it is imported
        return app.loaded_of(office.settings, {graph: spec}).loaded.get(graph)


def _step(step: StepTaken) -> dict[str, Any]:
    return {
        "number": step.number,
        "at": step.at,
        "kind": step.kind,
        "node": step.node,
        "nested": step.nested,
        "changed": dict(step.changed),
        "next": list(step.next),
        "checkpoint": step.checkpoint_id,
        "parent": step.parent_id,
    }


async def _decisions(database: Database, thread_id: str) -> list[dict[str, Any]]:
    return [
        {
            "at": item.decided_at.isoformat() if item.decided_at else None,
            "review": review.id,
            "node": review.node,
            "tool": item.tool,
            "verb": item.verb,
            "outcome": item.outcome,
            "by": item.decided_by,
            "name": item.decided_by_name,
            "note": item.note,
            "counts": review.rewound_at is None,
        }
        for review in await reviews.list_(database, thread_id=thread_id)
        for item in review.items
        if item.status == "decided"
    ]
