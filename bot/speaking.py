"""What `sayso reviews ask`, `comment` and `take` do: Slack's verbs beside deciding, typed.

The same policy decides as for a press in Slack, and the record names who typed it too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from bot import app, operating, terminal
from bot.approvers import Approvers
from bot.operating import Office
from bot.present import Present
from bot.rows import can_be_asked
from checkpoints.database import Connection
from graphs import exchanges, reviews, takings
from graphs.exchanges import NotOpen, Refused
from graphs.policy import Policy
from graphs.reviews import Review
from graphs.specs import People
from graphs.votes import Voter

Shown: TypeAlias = tuple[dict[str, Any], str | None]
Done: TypeAlias = exchanges.Result | takings.Result
Verb: TypeAlias = Callable[[Office, Policy, Connection, Review, Voter], Awaitable[Done]]


async def ask(review_id: int, user: str, text: str) -> Shown:
    """Ask the requester something; the review then, and why that was refused, if so.

    Raises:
        UnknownReview
    """

    async def said(
        office: Office, policy: Policy, connection: Connection, review: Review, voter: Voter
    ) -> Done:
        if not can_be_asked(review.requester):
            shut = NotOpen("nobody_to_ask")
            return await exchanges.refuse(
                connection, "question", shut, review.thread_id, review.id, voter
            )
        return await exchanges.ask(
            connection, review.id, text, voter=voter, policy=policy, wish=office.wishes
        )

    return await _do(review_id, user, said)


async def comment(review_id: int, user: str, text: str) -> Shown:
    """Say something on the card; the review then, and why that was refused, if so.

    Raises:
        UnknownReview
    """

    async def said(
        office: Office, policy: Policy, connection: Connection, review: Review, voter: Voter
    ) -> Done:
        return await exchanges.comment(
            connection, review.id, text, voter=voter, policy=policy,
            spec=office.settings.configuration.graphs.get(review.graph), wish=office.wishes,
        )  # fmt: skip

    return await _do(review_id, user, said)


async def take(review_id: int, user: str, *, back: bool) -> Shown:
    """Say that the person looks at it, or not any more; the review then, and why it was refused.

    Raises:
        UnknownReview
    """

    async def said(
        office: Office, policy: Policy, connection: Connection, review: Review, voter: Voter
    ) -> Done:
        verb = takings.give_back if back else takings.take
        done: Done = await verb(connection, review.id, voter=voter, wish=office.wishes)
        return done

    return await _do(review_id, user, said)


async def _do(review_id: int, user: str, verb: Verb) -> Shown:
    """Look the person up, do it in one transaction, and say how the review stands then."""
    async with operating.opened() as office:
        review = await reviews.get(office.database, review_id)
        present = Present(office.settings)
        approvers = Approvers(office.people, present.policy.directory)
        spec = present.specs.get(review.graph)
        also: list[People] = [present.operators, *([spec.viewers] if spec is not None else [])]
        person = await approvers.person(user, review, *also)
        voter = await approvers.voter_of(person, review, via="cli", os_user=app.os_user())
        async with office.database.transaction() as connection:
            done = await verb(office, present.policy, connection, review, voter)
        people: People | None = review.rule.approvers if review.rule is not None else None
        shown = await operating.review_of(office.database, review_id)
        return shown, _why_not(done, user, people)


def _why_not(done: Done, user: str, people: People | None) -> str | None:
    match done:
        case Refused():
            return terminal.may_not(user, done.refusal, people)
        case NotOpen():
            return terminal.not_talked_about(done.why)
        case takings.AlreadyTaken():
            return terminal.taken_already(user)
        case takings.NotTheirs():
            return terminal.not_theirs(user)
    return None
