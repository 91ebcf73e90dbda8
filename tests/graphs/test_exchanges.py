"""Questions to the requester, comments, and who is looking at it: none of them decides anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphs import audit, exchanges, mailbox, reviews, takings
from graphs.exchanges import Answered, NotOpen, Refused
from graphs.messages import FileRef
from graphs.policy import Policy, Reason
from graphs.specs import GraphSpec, Operators, People, Rule, Stage
from graphs.takings import AlreadyTaken, GivenBack, NotTheirs, Taken
from tests.graphs.conftest import RULE, House, voter

POLICY = Policy((RULE,), Operators(users=("U0OSCAR",)))
PAPER = FileRef("F1", "van-quote.pdf", 10, "https://files.example/1")
STAGED = Rule(
    stages=(
        Stage(approvers=People(users=("U0ALICE", "U0DANA"))),
        Stage(approvers=People(users=("U0ERIN",))),
    )
)


class Desk:
    """The verbs as one person after another uses them."""

    def __init__(self, house: House) -> None:
        self.house = house

    async def _do(self, verb: Any, *args: Any, by: str, facts: Any = None, **more: Any) -> Any:
        async with self.house.database.transaction() as connection:
            who = voter(by, **(facts or {}))
            return await verb(connection, *args, voter=who, wish=self.house.wish, **more)

    async def ask(self, review_id: int, text: str, by: str = "U0ALICE", **facts: Any) -> Any:
        return await self._do(exchanges.ask, review_id, text, by=by, facts=facts, policy=POLICY)

    async def comment(self, review_id: int, text: str, by: str = "U0ALICE") -> Any:
        spec = GraphSpec(path="a:b", viewers=People(users=("U0VERA",)))
        return await self._do(exchanges.comment, review_id, text, by=by, policy=POLICY, spec=spec)

    async def answer(self, exchange_id: int, text: str, by: str = "U0BOB") -> Any:
        return await self._do(exchanges.answer, exchange_id, text, by=by, requester="U0BOB")

    async def take(self, review_id: int, by: str) -> Any:
        return await self._do(takings.take, review_id, by=by)

    async def give_back(self, review_id: int, by: str) -> Any:
        return await self._do(takings.give_back, review_id, by=by)

    async def taken_by(self, review_id: int) -> str | None:
        found = await reviews.get(self.house.database, review_id)
        taking = await takings.of_review(self.house.database, found)
        return taking.taker if taking is not None else None

    async def recorded(self, review: reviews.Review, what: str) -> list[tuple[str, Any]]:
        entries = await audit.of_thread(self.house.database, review.thread_id)
        return [(one.actor, one.detail.get("why")) for one in entries if one.what == what]


async def test_a_question_is_answered_by_the_next_message_and_the_votes_stand(
    house: Callable[..., House],
) -> None:
    here = house()
    desk = Desk(here)
    review = await here.asked(rule=RULE.model_copy(update={"quorum": 2}))
    await here.vote(review.id, "yes", by="U0DANA")
    asked = await desk.ask(review.id, "Is the van\x00 ordered already?")
    assert ("question", str(asked.exchange_id)) in here.wished
    assert ("progress", review.thread_id) in here.wished

    here.wished.clear()
    said = await here.say(review.thread_id, "No, not yet.", key="m1", files=(PAPER,))
    assert (said.kind, said.exchange_id, said.message_id) == ("told", asked.exchange_id, None)
    assert ("answered", str(asked.exchange_id)) in here.wished
    assert ("card", str(review.id)) in here.wished
    (exchange,) = await exchanges.of_review(here.database, review.id)
    assert (exchange.said, exchange.answer) == ("Is the van ordered already?", "No, not yet.")
    assert (exchange.answered_by, exchange.files) == ("U0BOB", ("van-quote.pdf",))
    # It is no message to the graph, and a message after it is kept as ever.
    async with here.database.transaction() as connection:
        assert [row.kind for row in await mailbox.waiting(connection, review.thread_id)] == [
            "start"
        ]
    assert (await here.say(review.thread_id, "No, not yet.", key="m1")).kind == "again"
    assert (await here.say(review.thread_id, "By the way", key="m2")).kind == "kept"
    now = await reviews.get(here.database, review.id)
    assert (now.revision, len(now.items[0].standing_votes())) == (1, 1)
    recorded = [one.what for one in await audit.of_review(here.database, review.id)]
    assert recorded == ["vote.counted", "review.asked_requester", "review.requester_answered"]


async def test_an_answer_takes_no_question_back_where_messages_cancel(
    house: Callable[..., House],
) -> None:
    here = house()
    desk = Desk(here)
    review = await here.asked()
    await desk.ask(review.id, "How old is it?")
    told = await here.say(review.thread_id, "Two years.", turns=True, cancels=True)
    assert told.kind == "told"
    assert (await reviews.get(here.database, review.id)).status == "open"
    again = await here.say(review.thread_id, "Never mind.", turns=True, cancels=True)
    assert (again.kind, again.withdrawn) == ("instead", (review.id,))


async def test_the_oldest_question_is_answered_first_whoever_asks_it(
    house: Callable[..., House],
) -> None:
    here = house()
    desk = Desk(here)
    review = await here.asked()
    first = await desk.ask(review.id, "How much?")
    own = await here.asked(audience="requester", interrupt_id="b" * 32, thread_id=review.thread_id)
    second = await desk.ask(review.id, "By when?", by="U0DANA")
    assert (await here.say(review.thread_id, "40,000")).exchange_id == first.exchange_id
    assert (await here.say(review.thread_id, "My papers")).review_id == own.id
    assert (await here.say(review.thread_id, "On Friday")).exchange_id == second.exchange_id
    assert (await here.say(review.thread_id, "Thank you")).kind == "kept"


async def test_one_of_several_questions_is_answered_in_its_place_once_and_by_the_requester(
    house: Callable[..., House],
) -> None:
    here = house()
    desk = Desk(here)
    review = await here.asked()
    first = await desk.ask(review.id, "How much?")
    second = await desk.ask(review.id, "By when?", by="U0DANA")
    refused = await desk.answer(second.exchange_id, "Now", by="U0CHARLIE")
    assert refused.refusal.reason is Reason.NOT_ALLOWED
    assert (await desk.answer(second.exchange_id, "On Friday")).first
    late = await desk.answer(second.exchange_id, "On Monday")
    assert (late.first, late.exchange.answer) == (False, "On Friday")
    waiting = await exchanges.unanswered(here.database, review.thread_id)
    assert [one.id for one in waiting] == [first.exchange_id]
    assert await desk.recorded(review, "answer.refused") == [("U0CHARLIE", "not_allowed")]
    assert isinstance(await desk.answer(10**6, "What?"), NotOpen)


async def test_who_has_no_say_may_neither_ask_nor_take_and_who_may_not_look_says_nothing(
    house: Callable[..., House],
) -> None:
    here = house()
    desk = Desk(here)
    review = await here.asked()
    for user in ("U0CHARLIE", "U0VERA", "U0BOB"):
        assert isinstance(await desk.ask(review.id, "Why?", by=user), Refused)
        assert isinstance(await desk.take(review.id, user), Refused)
    unsure = await desk.ask(review.id, "Why?", by="U0ALICE", known=False)
    assert unsure.refusal.reason is Reason.CANNOT_CHECK
    assert isinstance(await desk.comment(review.id, "Hm", by="U0CHARLIE"), Refused)
    assert await desk.recorded(review, "question.refused") == [
        ("U0CHARLIE", "not_allowed"),
        ("U0VERA", "not_allowed"),
        ("U0BOB", "requester"),
        ("U0ALICE", "cannot_check"),
    ]
    assert await desk.recorded(review, "comment.refused") == [("U0CHARLIE", "not_allowed")]
    assert len(await desk.recorded(review, "take.refused")) == 3
    assert await exchanges.of_review(here.database, review.id) == []
    for user in ("U0VERA", "U0BOB", "U0OSCAR"):
        assert await desk.comment(review.id, "Seen.", by=user)
    assert await desk.ask(review.id, "Why?", by="U0OSCAR")
    assert isinstance(await desk.take(review.id, "U0OSCAR"), Refused)


async def test_who_decides_in_a_later_stage_may_ask_now_and_take_it_only_then(
    house: Callable[..., House],
) -> None:
    here = house()
    desk = Desk(here)
    review = await here.asked(rule=STAGED)
    assert not isinstance(await desk.ask(review.id, "Why?", by="U0ERIN"), Refused)
    assert isinstance(await desk.take(review.id, "U0ERIN"), Refused)
    assert isinstance(await desk.take(review.id, "U0ALICE"), Taken)
    await here.vote(review.id, "yes", by="U0DANA")
    # What she looked at is over: a reminder to her alone would reach nobody who is asked.
    assert await desk.taken_by(review.id) is None
    assert isinstance(await desk.take(review.id, "U0ERIN"), Taken)


async def test_taking_it_on_locks_nobody_out_and_ends_with_the_own_vote(
    house: Callable[..., House],
) -> None:
    here = house()
    desk = Desk(here)
    review = await here.asked(rule=RULE.model_copy(update={"quorum": 2}))
    assert isinstance(await desk.take(review.id, "U0ALICE"), Taken)
    assert isinstance(await desk.take(review.id, "U0ALICE"), AlreadyTaken)
    assert not [kind for kind, _ in here.wished if kind == "taken"]
    taken = await desk.take(review.id, "U0DANA")
    assert taken.before.taker == "U0ALICE"
    assert ("taken", f"{taken.taking_id}.U0ALICE") in here.wished
    assert isinstance(await desk.give_back(review.id, "U0ALICE"), NotTheirs)
    assert await desk.taken_by(review.id) == "U0DANA"
    assert isinstance(await desk.give_back(review.id, "U0DANA"), GivenBack)
    assert await desk.taken_by(review.id) is None
    await desk.take(review.id, "U0DANA")
    await here.vote(review.id, "yes", by="U0DANA")
    # She has said hers; whoever is asked still must be reminded again.
    assert await desk.taken_by(review.id) is None
    await here.vote(review.id, "yes", by="U0ALICE")
    recorded = [one.what for one in await audit.of_review(here.database, review.id)]
    assert recorded == [
        "review.taken",
        "review.taken",
        "give_back.refused",
        "review.given_back",
        "review.taken",
        "vote.counted",
        "vote.counted",
        "review.decided",
    ]


async def test_what_is_closed_or_on_hold_is_not_talked_about(house: Callable[..., House]) -> None:
    here = house()
    desk = Desk(here)
    review = await here.asked()
    asked = await desk.ask(review.id, "Why?")
    await here.database.execute("update sayso.threads set mark = 'held'")
    assert await desk.ask(review.id, "And?") == NotOpen("held")
    assert await desk.comment(review.id, "Hm") == NotOpen("held")
    assert await desk.take(review.id, "U0ALICE") == NotOpen("held")
    # An answer is no decision; it is not lost because something has to be mended.
    assert isinstance(await desk.answer(asked.exchange_id, "So"), Answered)
    await here.database.execute("update sayso.threads set mark = null")
    late = await desk.ask(review.id, "And?")
    await here.vote(review.id, "yes")
    assert await desk.comment(review.id, "Hm") == NotOpen("decided")
    assert await desk.take(review.id, "U0ALICE") == NotOpen("decided")
    assert await desk.give_back(review.id, "U0ALICE") == NotOpen("decided")
    assert await desk.answer(late.exchange_id, "So") == NotOpen("decided")
    assert (await here.say(review.thread_id, "So")).kind == "kept"
    why = [why for _, why in await desk.recorded(review, "comment.refused")]
    assert why == ["held", "decided"]
