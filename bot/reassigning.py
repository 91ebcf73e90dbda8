"""What the commands about absences and hand-overs do: who is away, and reassigning a review."""

from __future__ import annotations

import asyncio
from datetime import UTC
from typing import Any, Final

from bot import app, operating, terminal
from bot.approvers import Approvers
from bot.operating import Office
from bot.present import policy_of
from graphs import absences, covers, handovers, reviews
from graphs.exchanges import NotOpen
from graphs.handovers import Given, NotGiven, Refused, TakenBack
from graphs.policy import may_operate
from graphs.votes import Voter

_WHY: Final = {
    "given": "{giver} handed it over before. Take it back first, with --back.",
    "voted": "{giver} has voted on it already.",
    "not_allowed": "The rule does not let it be decided like that.",
    "nobody_may": "Nobody may decide this: no rule in sayso.toml names anybody for it.",
    "oneself": "Name two different people.",
    "requester": "Who asked for something does not decide it.",
    "guest": "Guests do not decide for others.",
    "other_organisation": "People of other organisations do not decide for others.",
    "deactivated": "That account is deactivated.",
    "bot": "That is an app and not a person.",
    "cannot_check": "Sayso could not check who that is.",
    "decided": "{taker} has voted on it already.",
    "handed_on": "{taker} handed it to somebody else.",
    "twice": "{taker} decides it already, and it needs more people than one.",
    "unknown": "There is no such review that people decide.",
    "held": "Its thread is on hold.",
}


async def absences_now() -> list[dict[str, Any]]:
    """Everybody who is away, with who decides for them in the end."""
    async with operating.opened() as office:
        database = office.database
        found = await absences.list_(database)
        rows = []
        for one in found:
            ends = await covers.ends(database, one.team, [one.person])
            rows.append(
                {
                    "person": one.person,
                    "name": one.person_name,
                    "covered_by": one.covered_by,
                    "covered_by_name": one.covered_by_name,
                    "decides": ends.get(one.person, one.covered_by),
                    "until": f"{one.until_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
                    "set_at": one.set_at.isoformat(),
                }
            )
        return rows


async def hand_over(
    review_id: int, giver: str, taker: str | None, operator: str, note: str
) -> tuple[dict[str, Any], str | None]:
    """Reassign a review, or without a taker give it back; the review then, and why not, if so.

    Raises:
        UnknownReview
    """
    async with operating.opened() as office:
        database = office.database
        review = await reviews.get(database, review_id)
        approvers = Approvers(office.people, policy_of(office.settings.configuration).directory)
        voter, other = await asyncio.gather(
            approvers.voter(giver, review, via="cli", os_user=app.os_user()),
            approvers.person(taker or giver, review),
        )
        refused = await _not_an_operator(office, operator, voter, review, taker)
        if refused is None:
            async with database.transaction() as connection:
                done: handovers.Result
                if taker is None:
                    done = await handovers.take_back(
                        connection, review_id, voter=voter, by=operator, wish=office.wishes
                    )
                else:
                    done = await handovers.give(
                        connection, review_id, voter=voter, taker=other, note=note, by=operator,
                        wish=office.wishes,
                    )  # fmt: skip
            refused = _said(done, giver, taker or "")
        return await operating.review_of(database, review_id), refused


async def _not_an_operator(
    office: Office, operator: str, voter: Voter, review: reviews.Review, taker: str | None
) -> str | None:
    operators = office.settings.configuration.operators
    person = await office.people.person(operator, operators.groups)
    refusal = may_operate(operators, person)
    if refusal is None:
        return None
    async with office.database.transaction() as connection:
        as_them = Voter(person, voter.via, voter.os_user)
        await handovers.refuse(
            connection, "hand_over" if taker else "take_back", Refused(refusal.reason.value),
            review.thread_id, review.id, as_them, taker or "",
        )  # fmt: skip
    return terminal.may_not_retry(operator, refusal, operators)


def _said(done: handovers.Result, giver: str, taker: str) -> str | None:
    """Why it was not done, None where it was."""
    match done:
        case Given() | TakenBack():
            return None
        case NotGiven():
            return f"{giver} has handed it to nobody. {terminal.NOTHING}"
        case NotOpen():
            why = _WHY.get(done.why, "It is not open any more.")
        case Refused():
            why = _WHY.get(done.why, _WHY["not_allowed"])
    return f"{why.format(giver=giver, taker=taker)} {terminal.NOTHING}"
