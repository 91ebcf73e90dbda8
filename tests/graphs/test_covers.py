"""Who decides in whose place: chains and circles, absences, hand-overs, and who comes first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from checkpoints.database import Database
from graphs import absences, audit, covers, handovers, reviews, takings, votes
from graphs.absences import Away, Back, NotAway, Refused
from graphs.handovers import Given, NotGiven, TakenBack
from graphs.policy import Reason
from graphs.specs import People, Rule
from tests.graphs.conftest import TEAM, House, person, until, voter
from tests.graphs.test_items import APPROVE as APPROVED
from tests.graphs.test_items import asked as asked_about_actions
from tests.graphs.test_items import edit
from tests.graphs.test_votes import APPROVE

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
FRIDAY = NOW + timedelta(days=3, hours=15)
RULE = Rule(approvers=People(users=("U0ALICE", "U0DANA")))
LEADS = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh"), max_size=8)


@given(LEADS, st.sampled_from("abcdefgh"))
@settings(max_examples=200)
def test_who_decides_at_last_is_one_of_those_who_may_and_no_chain_is_longer_than_three(
    leads: dict[str, str], who: str
) -> None:
    leads = {one: to for one, to in leads.items() if one != to}
    end = covers.end_of(who, leads)
    walked, at = [], who
    for _ in range(covers.HOPS):
        if at not in leads or leads[at] in (who, *walked):
            break
        at = leads[at]
        walked.append(at)
    assert end == (walked[-1] if walked else None)
    for cover in walked:
        assert who in covers.covered(cover, leads)
    for one in leads:
        found = covers.covered(one, leads)
        assert one not in found
        assert len(set(found)) == len(found) <= covers.MOST
        for behind in found:  # each leads here, within three steps
            steps = [behind]
            while len(steps) <= covers.HOPS and steps[-1] != one:
                steps.append(leads[steps[-1]])
            assert steps[-1] == one


def test_the_nearest_come_first_and_many_are_cut() -> None:
    leads = {"alice": "dana", "dana": "erin", "erin": "charlie", "bob": "erin", "far": "alice"}
    assert covers.covered("charlie", leads) == ("erin", "dana", "bob", "alice")
    crowd = {f"p{number}": "charlie" for number in range(50)}
    assert len(covers.covered("charlie", crowd)) == covers.MOST
    assert covers.covered("a", {"a": "b", "b": "a"}) == ("b",)


class Team:
    """People who are away, hand over and vote, each with what they cover for as at a click."""

    def __init__(self, house: House) -> None:
        self.house = house

    async def away(
        self, who: str, cover: str, until: datetime = FRIDAY, **facts: Any
    ) -> Away | Refused:
        async with self.house.database.transaction() as connection:
            return await absences.set_(
                connection, person=person(who), cover=person(cover, **facts), until=until,
                keys=[f"user:{who}"], now=NOW, wish=self.house.wish,
            )  # fmt: skip

    async def back(self, who: str, **which: Any) -> Back | NotAway:
        async with self.house.database.transaction() as connection:
            return await absences.end(
                connection, team=TEAM, person=who, now=NOW, wish=self.house.wish, **which
            )

    async def for_(self, who: str, review_id: int | None = None, now: datetime = NOW) -> list[str]:
        return list(await covers.for_(self.house.database, TEAM, who, review_id, now))

    async def voter(self, who: str, review_id: int) -> votes.Voter:
        covered = await self.for_(who, review_id)
        return replace(voter(who), covers=tuple(person(one) for one in covered))

    async def vote(self, who: str, review_id: int, by: votes.Voter | None = None) -> Any:
        by = by or await self.voter(who, review_id)
        async with self.house.database.transaction() as connection:
            return await votes.vote(
                connection, review_id=review_id, answer=APPROVE, voter=by, now=NOW,
                wish=self.house.wish,
            )  # fmt: skip

    async def give(self, who: str, to: str, review_id: int, **more: Any) -> Any:
        facts = more.pop("facts", {})
        async with self.house.database.transaction() as connection:
            return await handovers.give(
                connection, review_id, voter=voter(who), taker=person(to, **facts),
                wish=self.house.wish, **more,
            )  # fmt: skip

    async def take_back(self, who: str, review_id: int) -> Any:
        async with self.house.database.transaction() as connection:
            return await handovers.take_back(
                connection, review_id, voter=voter(who), wish=self.house.wish
            )

    async def record(self, what: str) -> list[dict[str, Any]]:
        found = await audit.recent(self.house.database)
        return [{**one.detail, "actor": one.actor} for one in found if one.what == what]


async def test_an_absence_is_set_changed_ended_and_each_is_told_and_recorded(
    house: Callable[..., House],
) -> None:
    here = house()
    team = Team(here)
    review = await here.asked(rule=RULE)
    here.wished.clear()
    set_ = await team.away("U0ALICE", "U0CHARLIE")
    assert isinstance(set_, Away)
    number = set_.absence.id
    assert here.wished == [
        ("cover", str(number)), ("card", str(review.id)), ("notice", f"absence:{number}"),
    ]  # fmt: skip
    assert await team.for_("U0CHARLIE") == ["U0ALICE"]
    assert await team.for_("U0CHARLIE", now=FRIDAY) == []  # it is over then, without anybody
    changed = await team.away("U0ALICE", "U0ERIN")
    assert isinstance(changed, Away)
    assert changed.before is not None
    assert changed.before.covered_by == "U0CHARLIE"
    assert ("cover", str(number)) in here.wished[-4:]  # whoever covered before is told
    assert await team.for_("U0CHARLIE") == []
    assert await team.back("U0ALICE", absence_id=number) == NotAway()  # an old button
    assert isinstance(await team.back("U0ALICE"), Back)
    assert await team.back("U0ALICE") == NotAway()
    assert await team.for_("U0ERIN") == []
    for what, count in (("set", 1), ("changed", 1), ("ended", 1), ("refused", 2)):
        assert len(await team.record(f"absence.{what}")) == count
    assert (await team.record("absence.set"))[0] | {"absence": 0} == {
        "absence": 0, "person": "U0ALICE", "name": "Alice", "covered_by": "U0CHARLIE",
        "covered_by_name": "Charlie", "until": FRIDAY.isoformat(), "via": "", "before": None,
        "actor": "U0ALICE",
    }  # fmt: skip


async def test_whoever_covers_is_a_full_member_who_was_looked_up_and_another_one(
    house: Callable[..., House],
) -> None:
    team = Team(house())
    for why, cover, facts in (
        ("oneself", "U0ALICE", {}),
        ("guest", "U0GUEST", {"is_guest": True}),
        ("other_organisation", "U0STRANGER", {"is_stranger": True}),
        ("deactivated", "U0GONE", {"deleted": True}),
        ("bot", "U0SAYSO", {"is_bot": True}),
        ("cannot_check", "U0ERIN", {"known": False}),
    ):
        assert await team.away("U0ALICE", cover, **facts) == Refused(why, of_cover=True)
    assert await team.away("U0ALICE", "U0ERIN", until=NOW) == Refused("over")
    far = NOW + timedelta(days=400)
    assert await team.away("U0ALICE", "U0ERIN", until=far) == Refused("too_long")
    assert len(await team.record("absence.refused")) == 8
    assert await absences.list_(team.house.database, now=NOW) == []


async def test_who_covers_decides_for_the_absent_through_chains_and_circles(
    house: Callable[..., House],
) -> None:
    here = house()
    team = Team(here)
    review = await here.asked(rule=RULE)
    await team.away("U0ALICE", "U0ERIN")
    await team.away("U0ERIN", "U0CHARLIE")
    await team.away("U0CHARLIE", "U0ALICE")  # a circle
    assert await team.for_("U0CHARLIE") == ["U0ERIN", "U0ALICE"]
    assert await covers.ends(here.database, TEAM, ["U0ALICE", "U0DANA"], now=NOW) == {
        "U0ALICE": "U0CHARLIE"
    }
    assert isinstance(await team.vote("U0CHARLIE", review.id), votes.Decided)
    (vote,) = (await reviews.get(here.database, review.id)).votes
    assert (vote.voter, vote.seat) == ("U0CHARLIE", "U0ALICE")


async def test_nobody_decides_the_own_request_by_covering_and_a_rule_may_forbid_delegates(
    house: Callable[..., House],
) -> None:
    here = house()
    team = Team(here)
    review = await here.asked(rule=RULE)
    await team.away("U0ALICE", "U0BOB")
    refused = await team.vote("U0BOB", review.id)
    assert isinstance(refused, votes.Refused)
    await team.away("U0ALICE", "U0CHARLIE")
    strict = await here.asked(
        rule=RULE.model_copy(update={"delegates_may_decide": False}), interrupt_id="b" * 32
    )
    refused = await team.vote("U0CHARLIE", strict.id)
    assert isinstance(refused, votes.Refused)
    assert refused.reason is Reason.NOT_ALLOWED
    guest = replace(await team.voter("U0CHARLIE", review.id), person=person("U0X", is_guest=True))
    assert isinstance(await team.vote("U0X", review.id, guest), votes.Refused)


async def test_who_asked_does_not_choose_who_decides_in_the_place_of_somebody_else(
    house: Callable[..., House],
) -> None:
    here = house()
    team = Team(here)
    review = await here.asked(rule=RULE)
    await team.away("U0ALICE", "U0BOB")
    await team.away("U0BOB", "U0CHARLIE")  # who asked, and who does as he says
    assert await team.for_("U0CHARLIE") == ["U0BOB", "U0ALICE"]
    assert await team.for_("U0CHARLIE", review.id) == ["U0BOB"]
    assert await covers.ends(here.database, TEAM, ["U0ALICE"], review.id, NOW) == {
        "U0ALICE": "U0BOB"
    }
    looked_up = (person("U0BOB"), person("U0ALICE"))
    charlie = replace(voter("U0CHARLIE"), covers=looked_up)
    assert isinstance(await team.vote("U0CHARLIE", review.id, charlie), votes.Refused)
    await team.give("U0DANA", "U0ERIN", review.id)
    await team.away("U0ERIN", "U0BOB")
    assert await team.for_("U0CHARLIE", review.id) == ["U0BOB"]
    # Where requesters may decide, whoever covers for one still does.
    own = RULE.model_copy(
        update={"requester_may_decide": True, "approvers": People(users=("U0BOB",))}
    )
    theirs = await here.asked(rule=own, interrupt_id="b" * 32)
    assert isinstance(await team.vote("U0CHARLIE", theirs.id), votes.Decided)


async def test_who_changed_an_action_does_not_decide_on_it_through_another(
    house: Callable[..., House],
) -> None:
    here = house()
    team = Team(here)
    rule = RULE.model_copy(update={"tool": "pay", "editor_may_decide": False})
    pay = {"name": "pay", "args": {"sum": 5}}
    review = await asked_about_actions(here, rule, calls=(pay,))
    assert isinstance(await here.vote(review.id, edit(sum=6)), votes.Edited)
    given_ = await team.give("U0ALICE", "U0CHARLIE", review.id)
    assert isinstance(given_, Given)
    charlie = await team.voter("U0CHARLIE", review.id)
    assert [one.id for one in charlie.covers] == ["U0ALICE"]

    async def approve() -> votes.VoteResult:
        async with here.database.transaction() as connection:
            return await votes.vote(
                connection, review_id=review.id, answer=APPROVED, now=NOW,
                voter=await team.voter("U0CHARLIE", review.id),
            )  # fmt: skip

    refused = await approve()
    assert isinstance(refused, votes.Refused)
    assert refused.reason is Reason.EDITOR
    # Nor in the place of somebody who is away and covered by who changed it.
    await team.away("U0DANA", "U0ALICE")
    assert await team.for_("U0CHARLIE", review.id) == ["U0ALICE"]
    # For somebody else, who chose that themselves, it is theirs to decide.
    await team.away("U0DANA", "U0CHARLIE")
    assert isinstance(await approve(), votes.Decided)


async def test_who_covers_for_two_votes_for_the_one_whose_vote_is_missing(
    house: Callable[..., House],
) -> None:
    here = house()
    team = Team(here)
    review = await here.asked(rule=RULE.model_copy(update={"quorum": 2}))
    await team.away("U0ALICE", "U0CHARLIE")
    await team.away("U0DANA", "U0CHARLIE")
    assert isinstance(await team.vote("U0ALICE", review.id), votes.Counted)  # she is not gone yet
    assert isinstance(await team.vote("U0CHARLIE", review.id), votes.Decided)
    assert [one.seat for one in (await reviews.get(here.database, review.id)).votes] == [
        "U0ALICE",
        "U0DANA",
    ]


async def test_where_the_absent_cannot_be_looked_up_that_is_what_is_told(
    house: Callable[..., House],
) -> None:
    here = house()
    team = Team(here)
    review = await here.asked(rule=RULE)
    await team.away("U0ALICE", "U0CHARLIE")
    unknown = (person("U0ALICE", known=False, groups=None),)
    got = await team.vote("U0CHARLIE", review.id, replace(voter("U0CHARLIE"), covers=unknown))
    assert isinstance(got, votes.Refused)
    assert got.reason is Reason.CANNOT_CHECK


async def test_an_absence_that_ended_after_the_look_up_does_not_count(
    house: Callable[..., House],
) -> None:
    here = house()
    team = Team(here)
    review = await here.asked(rule=RULE)
    await team.away("U0ALICE", "U0CHARLIE")
    before = await team.voter("U0CHARLIE", review.id)
    assert [one.id for one in before.covers] == ["U0ALICE"]
    await team.back("U0ALICE")
    assert isinstance(await team.vote("U0CHARLIE", review.id, before), votes.Refused)


async def test_whoever_comes_back_waits_for_a_vote_that_is_being_counted_for_them(
    house: Callable[..., House],
) -> None:
    here = house()
    team = Team(here)
    review = await here.asked(rule=RULE.model_copy(update={"quorum": 2}))
    await team.away("U0ALICE", "U0CHARLIE")
    charlie = await team.voter("U0CHARLIE", review.id)
    async with here.database.transaction() as connection:
        counted = await votes.vote(
            connection, review_id=review.id, answer=APPROVE, voter=charlie, now=NOW
        )
        assert isinstance(counted, votes.Counted)
        coming = asyncio.create_task(team.back("U0ALICE"))
        waits = "select count(*) from pg_locks where not granted"
        await until(lambda: here.database.fetchval(waits))
        assert not coming.done()
    assert isinstance(await coming, Back)
    late = await team.vote("U0ALICE", review.id)
    assert isinstance(late, votes.AlreadyVoted)
    assert late.by == "U0CHARLIE"
    assert await team.for_("U0CHARLIE") == []


async def test_the_clock_ends_what_is_over_once(house: Callable[..., House]) -> None:
    here = house()
    team = Team(here)
    await team.away("U0ALICE", "U0CHARLIE")
    assert await absences.tick(here.database, here.wish, now=FRIDAY - timedelta(seconds=1)) == 0
    ticks = [absences.tick(here.database, here.wish, now=FRIDAY) for _ in range(3)]
    assert sum(await asyncio.gather(*ticks)) == 1
    assert [one["actor"] for one in await team.record("absence.over")] == [audit.SYSTEM]
    again = await team.away("U0ALICE", "U0ERIN", until=FRIDAY + timedelta(days=1))
    assert isinstance(again, Away)
    assert again.before is None


async def test_what_is_handed_over_is_decided_by_the_other_one_until_it_is_taken_back(
    house: Callable[..., House],
) -> None:
    here = house()
    team = Team(here)
    review = await here.asked(rule=RULE)
    async with here.database.transaction() as connection:
        await takings.take(connection, review.id, voter=voter("U0ALICE"))
    given_ = await team.give("U0ALICE", "U0ERIN", review.id, note="I know the owner.")
    assert isinstance(given_, Given)
    assert ("handed", str(given_.handover.id)) in here.wished
    asks = "select asks from sayso.items"
    assert await here.database.fetchval(asks) == ["user:U0DANA", "user:U0ERIN"]
    assert await takings.of_review(here.database, review) is None
    told = await team.vote("U0ALICE", review.id)
    assert isinstance(told, votes.HandedOver)
    assert (told.to, told.to_name) == ("U0ERIN", "Erin")
    again = await team.give("U0ALICE", "U0OSCAR", review.id)
    assert (again.why, again.handover.taker) == ("given", "U0ERIN")
    assert await team.take_back("U0DANA", review.id) == NotGiven()
    assert isinstance(await team.take_back("U0ALICE", review.id), TakenBack)
    assert await here.database.fetchval(asks) == ["user:U0ALICE", "user:U0DANA"]
    assert isinstance(await team.vote("U0ERIN", review.id), votes.Refused)
    await team.give("U0ALICE", "U0ERIN", review.id)
    # Whoever covers for Erin covers for what she was handed, and not for Alice besides.
    await team.away("U0ERIN", "U0CHARLIE")
    await team.away("U0ALICE", "U0OSCAR")
    assert await team.for_("U0OSCAR", review.id) == []
    assert await team.for_("U0CHARLIE", review.id) == ["U0ERIN", "U0ALICE"]
    assert isinstance(await team.vote("U0CHARLIE", review.id), votes.Decided)
    record = [one.what for one in await audit.of_review(here.database, review.id)]
    assert record.count("review.handed_over") == 2
    assert record.count("review.taken_back") == 1
    assert {"hand_over.refused", "take_back.refused", "vote.refused"} <= set(record)


async def test_only_who_may_decide_hands_over_and_only_to_who_can(
    house: Callable[..., House],
) -> None:
    here = house()
    team = Team(here)
    review = await here.asked(rule=RULE.model_copy(update={"quorum": 2}))
    for why, who, to, facts in (
        ("not_allowed", "U0CHARLIE", "U0ERIN", {}),
        ("oneself", "U0ALICE", "U0ALICE", {}),
        ("requester", "U0ALICE", "U0BOB", {}),
        ("guest", "U0ALICE", "U0GUEST", {"is_guest": True}),
        ("cannot_check", "U0ALICE", "U0ERIN", {"known": False}),
        ("twice", "U0ALICE", "U0DANA", {}),  # two have to decide, and she is one of them
    ):
        assert (await team.give(who, to, review.id, facts=facts)).why == why
    assert isinstance(await team.give("U0ALICE", "U0ERIN", review.id, by="U0OSCAR"), Given)
    assert (await team.record("review.handed_over"))[0]["actor"] == "U0OSCAR"
    assert (await team.give("U0DANA", "U0ALICE", review.id)).why == "handed_on"
    assert (await team.give("U0DANA", "U0ERIN", review.id)) == Given(
        (await covers.of_review(here.database, review.id))[1]
    )
    assert isinstance(await team.vote("U0ERIN", review.id), votes.Counted)  # for one of them
    assert isinstance(await team.vote("U0ERIN", review.id), votes.AlreadyVoted)
    late = await team.vote("U0ALICE", review.id)
    assert isinstance(late, votes.AlreadyVoted)
    assert late.by == "U0ERIN"


async def test_a_fresh_database_keeps_one_absence_a_person_however_many_set_one(
    house: Callable[..., House], database: Database
) -> None:
    team = Team(house())
    await asyncio.gather(*(team.away("U0ALICE", one) for one in ("U0ERIN", "U0DANA", "U0OSCAR")))
    rows = await database.fetch("select ended_at from sayso.absences")
    assert sorted(row["ended_at"] is None for row in rows) == [False, False, True]
