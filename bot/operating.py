"""What the commands about threads and reviews do: the same verbs as Slack's, from a terminal.

They run without any Slack setting; what should be shown is wanted all the same, and posted by
whoever has them. `--as USER` is the operator's word for a person: the same policy decides, and the
record names the operating-system user too.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from bot import app, logs, talks, terminal, workspaces
from bot.afterwards import Afterwards
from bot.approvers import Approvers
from bot.ballots import judging_edits
from bot.client import Client
from bot.errors import SlackFailed
from bot.people import People
from bot.present import Present
from bot.rows import out_of_reach
from bot.rules import as_toml, stages
from bot.settings import Settings, load
from bot.wishes import Wishes
from checkpoints.database import Database
from graphs import audit, interventions, reviews, threads, votes
from graphs.policy import fingerprint, may_operate, may_withdraw
from graphs.reviews import Item, Review
from graphs.threads import Status, Thread

STATUSES: Final = tuple(status.value for status in Status)


@dataclass(frozen=True)
class Office:
    """What a command works with."""

    settings: Settings
    database: Database
    people: People
    wishes: Wishes


@asynccontextmanager
async def opened() -> AsyncIterator[Office]:
    """Open it, with Slack where its settings are there."""
    settings = load()
    logs.set_up(settings.environment.log, "command", level=logging.WARNING)
    afterwards = Afterwards()
    async with (
        app.opened(settings, "command") as database,
        app.slack_of(settings) as slack,
    ):
        team = await workspaces.team_of(database)
        if slack is not None:
            # A command goes on where Slack is away. Who somebody is, is then "could not find
            # out", never their word for it: that is only taken where no token is set.
            with contextlib.suppress(SlackFailed):
                team = (await workspaces.identify(database, slack)).team
        try:
            yield Office(
                settings,
                database,
                People(database, slack, team, afterwards),
                Wishes(Present(settings)),
            )
        finally:
            await afterwards.finish()


# Threads


async def start(
    graph: str,
    given: Any,
    *,
    customer: str | None,
    configurable: Mapping[str, Any],
    context: Mapping[str, Any] | None = None,
    key: str | None,
) -> dict[str, Any]:
    """Start a thread and return it.

    Raises:
        UnknownGraph, InputRefused, KeyTaken, AmbiguousCustomer
    """
    async with opened() as office:
        client = Client(
            office.settings, office.database, office.people.team, office.wishes, via="cli"
        )
        with contextlib.redirect_stdout(sys.stderr):  # a module may print while it is imported
            started = await client.start(
                graph, given, customer=customer, configurable=configurable, context=context,
                key=key,
            )  # fmt: skip
        return await thread_of(office.database, started.id)


async def list_threads(status: str | None) -> list[dict[str, Any]]:
    """The newest threads, each with its state and reviews."""
    async with opened() as office:
        found = await threads.list_(office.database, status=status)
        return [await _whole(office.database, thread) for thread in found]


async def show_thread(thread_id: str) -> dict[str, Any]:
    """A thread with its state and reviews.

    Raises:
        UnknownThread, AmbiguousThread
    """
    async with opened() as office:
        return await thread_of(office.database, await threads.resolve(office.database, thread_id))


async def retry(
    thread_id: str, user: str | None, *, only: Status | None = None
) -> tuple[dict[str, Any], str | None]:
    """Let a thread go on; the thread then, and why that was refused, if so.

    Args:
        user: the person who wants it; None is whoever runs this command, as an operator.
        only: the status that the thread has to have.

    Raises:
        UnknownThread, AmbiguousThread
    """
    async with opened() as office:
        database, operators = office.database, office.settings.configuration.operators
        thread = await threads.get(database, await threads.resolve(database, thread_id))
        actor, operates, refusal = f"cli:{app.os_user()}", True, None
        if user is not None:
            person = await office.people.person(user, operators.groups)
            actor, operates = user, may_operate(operators, person) is None
            refusal = may_withdraw(operators, person, thread.requester)
        said = None
        async with database.transaction() as connection:
            why = refusal.reason.value if refusal is not None else None
            if refusal is not None:
                said = terminal.may_not_retry(user or "", refusal, operators)
            else:
                done = await interventions.retry(
                    connection, thread.id, by=actor, may_unpark=operates, only=only,
                    wish=office.wishes,
                )  # fmt: skip
                if isinstance(done, interventions.NotPossible):
                    why = done.status.value
                    said = terminal.no_retry(done.status, operators, may_unpark=operates, only=only)
            if said is not None or user is not None:
                await audit.record(
                    connection,
                    "try_again.refused" if said is not None else "try_again.taken",
                    actor=actor,
                    thread_id=thread.id,
                    detail={"why": why, "via": "cli", "os_user": app.os_user()},
                )
        return await thread_of(database, thread.id), said


async def thread_of(database: Database, thread_id: str) -> dict[str, Any]:
    """A thread with its state and reviews, for a program."""
    return await _whole(database, await threads.get(database, thread_id))


async def _whole(database: Database, thread: Thread) -> dict[str, Any]:
    asked = await reviews.list_(database, thread_id=thread.id)
    state = await app.states_of(database)(thread.id)
    return _brief(thread) | {"state": state, "reviews": [_review(review) for review in asked]}


def _brief(thread: Thread) -> dict[str, Any]:
    error = thread.error
    return {
        "id": thread.id,
        "number": thread.number,
        "graph": thread.graph,
        "status": thread.status.value,
        "next": list(thread.next),
        "error": None
        if error is None
        else {
            "node": error.node,
            "type": error.type,
            "message": error.message,
            "attempt": error.attempt,
            "attempts": error.attempts,
            "at": error.at.isoformat(),
            "retry_at": error.retry_at.isoformat() if error.retry_at else None,
        },
        "reason": thread.mark_reason,
        "outcome": thread.outcome,
        "requester": thread.requester,
        "customer": None
        if thread.customer_id is None
        else {"id": thread.customer_id, "name": thread.customer_name},
        "open_reviews": list(thread.open_reviews),
        "created_at": thread.created_at.isoformat(),
        "ended_at": thread.ended_at.isoformat() if thread.ended_at else None,
    }


# Reviews


async def list_reviews(thread_id: str | None) -> list[dict[str, Any]]:
    """Reviews, oldest first.

    Raises:
        UnknownThread
    """
    async with opened() as office:
        if thread_id is not None:
            await threads.get(office.database, thread_id)
        found = await reviews.list_(office.database, thread_id=thread_id)
        return [_review(review) for review in found]


async def show_review(review_id: int) -> dict[str, Any]:
    """One review.

    Raises:
        UnknownReview
    """
    async with opened() as office:
        return await review_of(office.database, review_id)


async def review_of(database: Database, review_id: int) -> dict[str, Any]:
    """One review with what was said of it, for a program.

    Raises:
        UnknownReview
    """
    review = await reviews.get(database, review_id)
    return _review(review) | await talks.as_json(database, review)


async def decide(
    review_id: int, user: str, answer: Any, item: int | None = None
) -> tuple[dict[str, Any], str | None]:
    """Vote as a person; the review then, and why that was refused, if so.

    Args:
        item: the action that the answer is for, counted from 0; without it the answer is the
            whole one, for every action.

    Raises:
        UnknownReview
    """
    async with opened() as office:
        database = office.database
        review = await reviews.get(database, review_id)
        present = Present(office.settings)
        approvers = Approvers(office.people, present.policy.directory)
        voter = await approvers.voter(user, review, via="cli", os_user=app.os_user())
        voter = await judging_edits(voter, review, present.policy, app.states_of(database))
        async with database.transaction() as connection:
            if item is None and review.asking.actions:
                results = await votes.vote_whole(
                    connection,
                    review_id=review_id,
                    answer=answer,
                    voter=voter,
                    wish=office.wishes,
                    spec=office.settings.configuration.graphs.get(review.graph),
                )
            else:
                one = await votes.vote(
                    connection,
                    review_id=review_id,
                    item=item or 0,
                    answer=answer,
                    voter=voter,
                    note=_note(answer),
                    wish=office.wishes,
                    spec=office.settings.configuration.graphs.get(review.graph),
                )
                results = [one]
        said = [terminal.not_counted(result, review, user) for result in results]
        refused = next((each for each in said if each is not None), None)
        return _review(await reviews.get(database, review_id)), refused


def _note(answer: Any) -> str | None:
    """The words inside an answer, for the card: what a button's window would have asked for."""
    note = answer.get("note") if isinstance(answer, Mapping) else None
    return note if isinstance(note, str) else None


def _review(review: Review) -> dict[str, Any]:
    rule = review.rule
    return {
        "id": review.id,
        "thread": review.thread_id,
        "graph": review.graph,
        "node": review.node,
        "audience": review.audience,
        "question": review.question,
        "schema": review.schema,
        "status": review.status,
        "outcome": review.outcome,
        "revision": review.revision,
        "version": review.version,
        "because": review.closed_because,
        "rule": rule.model_dump(mode="json") if rule else None,
        "items": [_item(item) for item in review.items],
        "votes": [
            {
                "voter": vote.voter,
                "name": vote.voter_name,
                "for": vote.seat or vote.voter,
                "verb": vote.verb,
                "answer": vote.answer,
                "note": vote.note,
                "via": vote.via,
                "revision": vote.revision,
                "at": vote.cast_at.isoformat(),
                "lapsed_at": vote.lapsed_at.isoformat() if vote.lapsed_at else None,
            }
            for vote in review.votes
        ],
        "opened_at": review.opened_at.isoformat(),
        "closed_at": review.closed_at.isoformat() if review.closed_at else None,
    }


def _item(item: Item) -> dict[str, Any]:
    return {
        "item": item.item,
        "tool": item.tool,
        "asked": item.asked,
        "arguments": item.arguments,
        "edited_by": item.edited_by,
        "edited_at": item.edited_at.isoformat() if item.edited_at else None,
        "rule": item.rule.model_dump(mode="json") if item.rule else None,
        "opened_under": {
            "hash": fingerprint(item.opened_under),
            "text": as_toml(item.opened_under) if item.opened_under else "",
        },
        "stage": item.stage + 1,
        "stages": stages(item),
        "out_of_reach": out_of_reach(item),
        "status": item.status,
        "verb": item.verb,
        "outcome": item.outcome,
        "answer": item.answer,
        "note": item.note,
        "decided_by": item.decided_by,
        "decided_at": item.decided_at.isoformat() if item.decided_at else None,
    }
