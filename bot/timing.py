"""What the clock does to a review, in the words of its card."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot import views
from bot.judgements import APPROVING, REJECTING
from bot.wording import phrase
from checkpoints.database import Connection
from graphs import deadlines
from graphs.deadlines import Then
from graphs.questions import Shown
from graphs.reviews import Review
from graphs.specs import GraphSpec
from graphs.templates import in_words


@dataclass(frozen=True)
class Clock:
    """When time runs out, what is done then, and what was done where it has run out."""

    deadline: datetime | None = None
    zone: str = "UTC"
    if_nobody: str = ""
    expired_as: str = ""
    overdue: views.Overdue | None = None


async def clock(
    connection: Connection, review: Review, shown: Shown, spec: GraphSpec | None
) -> Clock:
    """The clock of a review; of several actions the first that runs out."""
    dues = await deadlines.of_review(connection, review.id)
    late = _escalated(review)
    if not dues:
        return Clock(if_nobody=shown.if_nobody, overdue=late)
    waiting = {item.item for item in review.items if item.status == "open"}
    first = min(dues, key=lambda item: (item not in waiting, dues[item]))
    item = next(each for each in review.items if each.item == first)
    done = deadlines.then(review, item, spec)
    stays = review.status == "open" and item.item in await deadlines.passed(connection, review.id)
    hours = item.rule.hours if item.rule else None
    return Clock(
        deadline=None if stays else dues[first],
        zone=hours.zone if hours else "UTC",
        if_nobody=_if_nobody(done, shown),
        expired_as=_expired_as(done) if review.status == "expired" else "",
        overdue=late or (views.Overdue(review.opened_at) if stays else None),
    )


def _escalated(review: Review) -> views.Overdue | None:
    """Since when it waits and who may decide too, where that has begun."""
    rules = [
        item.rule
        for item in review.items
        if item.escalated_at is not None and item.status == "open" and item.rule is not None
    ]
    if review.status != "open" or not rules:
        return None
    groups = [group for rule in rules if rule.escalate for group in rule.escalate.to.groups]
    also = tuple(views.UserGroup(group, ping=False) for group in dict.fromkeys(groups))
    return views.Overdue(review.opened_at, also)


def _if_nobody(done: Then, shown: Shown) -> str:
    if done.holds:
        return phrase("then.nobody.hold")
    if done.verb in REJECTING:
        return shown.if_nobody or phrase("then.nobody.declined")
    if done.verb in APPROVING:
        return phrase("then.nobody.approved")
    return phrase("then.nobody.chosen", choice=_chosen(done))


def _expired_as(done: Then) -> str:
    """What was done instead; "" where it was declined, which the card says in its own words."""
    if done.verb in REJECTING:
        return ""
    if done.verb in APPROVING:
        return phrase("status.expired.approved")
    return phrase("status.expired.chosen", choice=_chosen(done))


def _chosen(done: Then) -> str:
    return done.label or in_words(done.answer)
