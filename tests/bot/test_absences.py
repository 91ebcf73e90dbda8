"""/sayso and handing over, as people type, press and choose it over the local Slack."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot import posts
from bot.absences import Said, read
from bot.wishes import Wishes
from graphs import absences, covers, reviews
from graphs.policy import Person
from graphs.specs import People, Rule, Stage
from tests.bot.conftest import Desk, until
from tests.bot.test_clicks import window
from tests.bot.test_commands import Terminal

IN_CREDIT = Rule(channel="C0CREDIT", approvers=People(groups=("S0CREDIT",)))
NEXT_WEEK = datetime.now(UTC).date() + timedelta(days=7)


async def sayso(desk: Desk, user: str, text: str) -> str:
    """Type the command; what is answered at once, to nobody else."""
    answer = await desk.slack.act(
        "command", user=user, channel="C0CREDIT", command="/sayso", text=text
    )
    assert answer["status"] == 200
    said = answer["response"]
    assert said is None or said["response_type"] == "ephemeral"
    return str(said["blocks"]) if said else ""


async def press(desk: Desk, user: str, label: str, **more: Any) -> None:
    answer = await desk.slack.click(user, channel="C0CREDIT", label=label, **more)
    assert answer["status"] == 200


async def shown(desk: Desk, rule: Rule = IN_CREDIT) -> reviews.Review:
    review_id = await desk.review(rule=rule)
    await desk.post_all()
    return await reviews.get(desk.database, review_id)


async def whispered(desk: Desk, user: str, text: str) -> None:
    """Wait for a word that only this person sees."""
    await until(text, lambda: text in str(desk.slack.private_messages(user)))


def card(desk: Desk) -> str:
    return str(desk.slack.messages("C0CREDIT")[-1]["blocks"])


def direct(desk: Desk, user: str) -> list[str]:
    return [str(one["blocks"]) for one in desk.slack.messages("D" + user[1:])]


async def away(desk: Desk) -> list[tuple[str, str]]:
    return [(one.person, one.covered_by) for one in await absences.list_(desk.database)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("until Friday, <@U0CAROL|carol> covers", Said("Friday", "U0CAROL")),
        ("<@U0CAROL> covers until 12 Dec.", Said("12 Dec", "U0CAROL")),
        ("Friday <@U0CAROL|c|d>", Said("Friday", "U0CAROL")),
        ("until Friday, Carol covers", Said("Friday", "", "Carol")),
        ("until Friday, @Carol van Dam covers.", Said("Friday", "", "Carol van Dam")),
        ("until Friday", Said("Friday")),
        ("<@U0A|a> and <@U0B|b> cover until Friday", Said("")),
        ("", Said()),
        ("<@U0A|a", Said("<@U0A|a")),
    ],
)
def test_what_is_written_is_taken_apart_and_nobody_is_guessed(text: str, said: Said) -> None:
    assert read(text).cover == said.cover
    assert read(text).name == said.name
    assert said.cover == "" or read(text).day == said.day


def test_words_that_nobody_writes_by_hand_set_nothing_and_take_no_time() -> None:
    assert read("until Friday, <@U0ERIN> covers" + " and so on" * 30) == Said()
    # To take this apart took seconds, in which nobody else was answered.
    assert read("until ," + " " * 10_000 + ",x covers") == Said("", "", "x")
    assert read("until Friday," + "., " * 10_000 + "covers x") == Said()


async def test_alice_is_away_and_charlie_decides_for_her_until_she_is_back(desk: Desk) -> None:
    review = await shown(desk, IN_CREDIT.model_copy(update={"quorum": 2}))
    answer = await sayso(desk, "U0ALICE", "away until tomorrow, @Charlie covers")
    assert "You are away" in answer
    assert "<@U0CHARLIE>" in answer
    assert "This concerns 1 open request" in answer
    assert "I am back" in answer
    assert await away(desk) == [("U0ALICE", "U0CHARLIE")]
    await desk.post_all()
    assert "who is away " in card(desk)
    (message,) = direct(desk, "U0CHARLIE")
    assert "you decide in their place" in message
    assert "Asha Traders" in message
    assert any("Somebody is away" in str(one) for one in desk.slack.messages("C0OPS"))

    await press(desk, "U0CHARLIE", "Approve")
    await desk.post_all()
    (vote,) = (await reviews.get(desk.database, review.id)).votes
    assert (vote.voter, vote.seat) == ("U0CHARLIE", "U0ALICE")
    assert "who is away " not in card(desk)  # her seat is taken
    status = str(desk.slack.messages("C0CREDIT")[-1]["blocks"][1])
    assert "<@U0CHARLIE> for <@U0ALICE>" in status
    await press(desk, "U0ALICE", "Approve")
    await whispered(desk, "U0ALICE", "<@U0CHARLIE> decided for you")

    assert "You are back." in await sayso(desk, "U0ALICE", "back")
    await desk.post_all()
    (message,) = direct(desk, "U0CHARLIE")
    assert "do not decide in the place of" in message
    assert "You are not away" in await sayso(desk, "U0ALICE", "back")
    other = await shown(desk)
    await press(desk, "U0CHARLIE", "Approve")
    assert (await reviews.get(desk.database, other.id)).status == "open"
    kinds = ("set", "ended", "refused")
    assert [len(await desk.audit(f"absence.{kind}")) for kind in kinds] == [1, 1, 1]


async def test_who_covers_hears_nothing_of_what_a_rule_lets_nobody_else_decide(desk: Desk) -> None:
    await shown(desk, IN_CREDIT.model_copy(update={"delegates_may_decide": False}))
    await sayso(desk, "U0ALICE", "away until tomorrow, @Charlie covers")
    await desk.post_all()
    (message,) = direct(desk, "U0CHARLIE")
    assert "you decide in their place" in message
    assert "Asha Traders" not in message
    hers = Rule(approvers=People(users=("U0ALICE",)))
    await shown(desk, hers.model_copy(update={"delegates_may_decide": False}))
    assert "Asha Traders" in direct(desk, "U0ALICE")[-1]
    assert direct(desk, "U0CHARLIE") == [message]
    await press(desk, "U0CHARLIE", "Details")
    await window(desk, "U0CHARLIE", "cannot see the details")


async def test_who_asked_does_not_decide_by_covering_and_a_click_sees_who_is_away_now(
    desk: Desk,
) -> None:
    review = await shown(desk)
    await sayso(desk, "U0ALICE", "away until tomorrow, @Bob covers")
    await desk.post_all()
    assert "who is away" not in card(desk)  # he cannot decide it
    await press(desk, "U0BOB", "Approve")
    await whispered(desk, "U0BOB", "someone else decides")
    await sayso(desk, "U0ALICE", "away until tomorrow, @Erin covers")
    await sayso(desk, "U0ERIN", "away until tomorrow, @Oscar covers")  # a chain
    await press(desk, "U0OSCAR", "Reject")
    await window(desk, "U0OSCAR", "Reject this request")
    await sayso(desk, "U0ERIN", "back")
    await desk.slack.submit("U0OSCAR", {"reason": "Too much."})
    await window(desk, "U0OSCAR", "You cannot decide this loan", "Too much.")
    assert (await reviews.get(desk.database, review.id)).votes == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("away until yesterday, @Charlie covers", "is no day that can be read"),
        ("away until 2020-01-01, @Charlie covers", "That day is over"),
        ("away until 2031-01-01, @Charlie covers", "within a year"),
        ("away until 05/06, @Charlie covers", "two days"),
        ("away until <!channel>, @Charlie covers", "no day"),
        ("away until tomorrow, @Alice covers", "cannot stand in for yourself"),
        ("away until tomorrow, @Guest covers", "Guests cannot"),
        ("away until tomorrow, @Stranger covers", "other organisations cannot"),
        ("away until tomorrow, @Gone covers", "deactivated"),
        ("away until tomorrow, @Sayso covers", "An app cannot"),
        ("away until tomorrow, <@U0NOBODY> covers", ""),
    ],
)
async def test_what_cannot_be_set_says_why_and_sets_nothing(
    desk: Desk, text: str, why: str
) -> None:
    answer = await sayso(desk, "U0ALICE", text)
    assert why in answer
    assert "<!channel>" not in answer
    assert await away(desk) == []
    if why:
        assert "Nothing was set." in answer
        assert [one["actor"] for one in await desk.audit("absence.refused")] == ["U0ALICE"]


async def test_a_bare_name_decides_nothing_and_opens_the_window_with_the_one_it_can_be(
    desk: Desk,
) -> None:
    await sayso(desk, "U0CHARLIE", "away until tomorrow, @Erin covers")  # now Erin is known
    assert await sayso(desk, "U0ALICE", "away until Friday, Erin covers") == ""
    view = await window(desk, "U0ALICE", "While you are away")
    inputs = {block["block_id"]: block for block in view["blocks"] if block["type"] == "input"}
    assert inputs["cover"]["element"]["initial_user"] == "U0ERIN"
    assert date.fromisoformat(inputs["day"]["element"]["initial_date"]).weekday() == 4
    assert ("U0ALICE", "U0ERIN") not in await away(desk)
    await desk.slack.act("close", user="U0ALICE")
    await sayso(desk, "U0ALICE", "away until Friday, Zoe covers")
    view = await window(desk, "U0ALICE", "nobody by the name alone")
    assert "initial_user" not in str(view)


async def test_the_window_says_at_each_field_what_to_choose_and_then_what_is_set(
    desk: Desk,
) -> None:
    await sayso(desk, "U0ALICE", "away")
    await window(desk, "U0ALICE", "While you are away")
    later = NEXT_WEEK.isoformat()
    for values, errors in (
        ({"day": "2020-01-01", "cover": "U0CHARLIE"}, {"day"}),
        ({"day": later, "cover": "U0ALICE"}, {"cover"}),
        ({"day": later, "cover": "U0GUEST"}, {"cover"}),
    ):
        answer = await desk.slack.submit("U0ALICE", values)
        assert set(answer["errors"]) == errors
    assert await away(desk) == []
    await desk.slack.submit("U0ALICE", {"day": later, "cover": "U0CHARLIE"})
    await window(desk, "U0ALICE", "You are away", "I am back")
    assert await away(desk) == [("U0ALICE", "U0CHARLIE")]
    await desk.slack.act("close", user="U0ALICE")

    await sayso(desk, "U0ALICE", "away")  # shows it, and changes it
    view = await window(desk, "U0ALICE", "and <@U0CHARLIE> decides in your place")
    assert later in str(view)
    await desk.slack.submit("U0ALICE", {"cover": "U0ERIN"})
    await window(desk, "U0ALICE", "<@U0ERIN> decides in your place")
    assert await away(desk) == [("U0ALICE", "U0ERIN")]
    assert len(await desk.audit("absence.changed")) == 1
    await desk.slack.click(
        "U0ALICE", label="I am back", view_id=desk.slack.views("U0ALICE")[-1]["id"]
    )
    await window(desk, "U0ALICE", "You are back.")
    assert await away(desk) == []


async def test_what_was_refused_because_slack_did_not_answer_is_taken_when_it_comes_again(
    desk: Desk,
) -> None:
    review = await shown(desk)
    await sayso(desk, "U0DANA", "away")
    await press(desk, "U0ALICE", "Hand to someone else")
    await window(desk, "U0DANA", "While you are away")
    await window(desk, "U0ALICE", "Who decides in your place")
    await desk.slack.misbehave(users_info_ms=2_500)
    day = NEXT_WEEK.isoformat()
    for user, values in (
        ("U0DANA", {"day": day, "cover": "U0ERIN"}),
        ("U0ALICE", {"person": "U0OSCAR"}),
    ):
        answer = await desk.slack.submit(user, values)
        assert "Slack did not answer" in str(answer["errors"])
    assert await away(desk) == []
    await desk.slack.misbehave(users_info_ms=0)
    known = "select count(*) from sayso.people where id in ('U0ERIN', 'U0OSCAR')"

    async def both() -> bool:
        return bool(await desk.database.fetchval(known) == 2)

    await until("the look-ups to go on beside", both)
    await desk.slack.submit("U0DANA", {"day": day, "cover": "U0ERIN"})
    await desk.slack.submit("U0ALICE", {"person": "U0OSCAR"})
    assert await away(desk) == [("U0DANA", "U0ERIN")]
    assert [one.taker for one in await covers.of_review(desk.database, review.id)] == ["U0OSCAR"]


async def test_help_says_what_there_is_and_another_organisation_sets_nothing(desk: Desk) -> None:
    for text in ("", "help", "fly to the moon"):
        answer = await sayso(desk, "U0ALICE", text)
        assert "/sayso away until Friday, @Carol covers" in answer
        assert "/sayso back" in answer
    answer = await sayso(desk, "U0STRANGER", "away until tomorrow, @Charlie covers")
    assert "cannot set an absence" in answer
    assert await away(desk) == []
    assert [one["why"] for one in await desk.audit("absence.refused")] == ["other_organisation"]


async def test_reminders_of_who_is_away_go_to_who_decides_in_the_end_as_well(desk: Desk) -> None:
    review = await shown(desk, IN_CREDIT.model_copy(update={"quorum": 2}))
    await sayso(desk, "U0ALICE", "away until tomorrow, @Erin covers")
    await sayso(desk, "U0ERIN", "away until tomorrow, @Charlie covers")
    await desk.post_all()
    async with desk.database.transaction() as connection:
        await Wishes(desk.present)(connection, "reminder", f"{review.id}.0.0")
    await desk.database.execute("update sayso.people set tz = null")  # it is day for everybody
    await desk.post_all()
    reminded = [
        row["place"]
        for row in await desk.database.fetch(
            "select place from sayso.posts where kind = 'reminder' and ts is not null"
        )
    ]
    assert sorted(reminded) == ["U0ALICE", "U0CHARLIE", "U0DANA"]
    last = direct(desk, "U0CHARLIE")[-1]
    assert "You get this because you stand in for <@U0ERIN>" not in last
    assert "You get this because you stand in for <@U0ALICE>" in last
    # Once her seat is taken, who covers for her is not reminded any more.
    await press(desk, "U0CHARLIE", "Approve")
    async with desk.database.transaction() as connection:
        await Wishes(desk.present)(connection, "reminder", f"{review.id}.0.1")
    await desk.post_all()
    rows = await desk.database.fetch(
        "select place from sayso.posts where subject = $1 and ts is not null", f"{review.id}.0.1"
    )
    assert [row["place"] for row in rows] == ["U0DANA"]


async def test_a_card_that_goes_to_who_is_away_goes_to_who_covers_too(desk: Desk) -> None:
    rule = Rule(approvers=People(users=("U0ALICE",)))
    await sayso(desk, "U0ALICE", "away until tomorrow, @Charlie covers")
    await desk.post_all()
    before = len(direct(desk, "U0CHARLIE"))
    review = await shown(desk, rule)
    assert len(direct(desk, "U0CHARLIE")) == before + 1
    await desk.slack.click("U0CHARLIE", channel="D0CHARLIE", label="Details")
    await window(desk, "U0CHARLIE", "Details", "Asha Traders")  # whoever decides may look
    await desk.slack.click("U0CHARLIE", channel="D0CHARLIE", label="Approve")
    assert (await reviews.get(desk.database, review.id)).outcome == "approved"


async def test_a_chain_of_covers_ends_at_an_account_that_is_deactivated(desk: Desk) -> None:
    review = await shown(desk)
    until_ = datetime.now(UTC) + timedelta(days=2)
    for who, cover in (("U0ALICE", "U0GONE"), ("U0GONE", "U0CHARLIE")):
        async with desk.database.transaction() as connection:
            await absences.set_(
                connection, person=Person(who, "T0SAYSO"), cover=Person(cover, "T0SAYSO"),
                until=until_,
            )  # fmt: skip
    await press(desk, "U0CHARLIE", "Approve")
    assert [one["reason"] for one in await desk.audit("vote.refused")] == ["not_allowed"]
    assert (await reviews.get(desk.database, review.id)).votes == ()


async def test_a_request_is_handed_over_decided_by_the_other_one_or_taken_back(desk: Desk) -> None:
    review = await shown(desk)
    await press(desk, "U0ALICE", "Hand to someone else")
    await window(desk, "U0ALICE", "Who decides in your place", "Hand over")
    for person, why in (
        ("U0BOB", "They asked for this loan"),
        ("U0GUEST", "Guests cannot"),
        ("U0ALICE", "somebody else"),
    ):
        answer = await desk.slack.submit("U0ALICE", {"person": person})
        assert why in answer["errors"]["person"]
    answer = await desk.slack.submit(
        "U0ALICE", {"person": "U0ERIN", "note": "You know *the* owner."}
    )
    assert answer["status"] == 200
    assert desk.slack.views("U0ALICE") == []
    await desk.post_all()
    assert "<@U0ERIN> instead of <@U0ALICE>" in _said(desk.slack.messages("C0CREDIT")[-1])
    (message,) = direct(desk, "U0ERIN")
    assert "handed" in message
    assert "You know *the* owner." in message
    assert "Review" in message

    await press(desk, "U0ALICE", "Approve")
    await whispered(desk, "U0ALICE", "You handed this to <@U0ERIN>.")
    await press(desk, "U0ALICE", "Reject")
    await window(desk, "U0ALICE", "You handed this to <@U0ERIN>.")
    await desk.slack.act("close", user="U0ALICE")
    await press(desk, "U0ALICE", "Hand to someone else")
    await window(desk, "U0ALICE", "Take it back")
    await desk.slack.submit("U0ALICE", {})
    await desk.post_all()
    assert await covers.of_review(desk.database, review.id) == []
    assert "is with" in direct(desk, "U0ERIN")[0]
    await press(desk, "U0ERIN", "Approve")
    assert (await reviews.get(desk.database, review.id)).status == "open"
    await press(desk, "U0ALICE", "Approve")
    assert (await reviews.get(desk.database, review.id)).status == "decided"
    whats = ("review.handed_over", "review.taken_back", "hand_over.refused")
    assert [len(await desk.audit(what)) for what in whats] == [1, 1, 3]


async def test_who_has_no_say_hands_nothing_over_and_nobody_does_once_it_is_closed(
    desk: Desk,
) -> None:
    await shown(desk)
    for user in ("U0CHARLIE", "U0BOB"):
        await press(desk, user, "Hand to someone else")
        await window(desk, user, "You cannot hand this loan to somebody else.")
    await press(desk, "U0STRANGER", "Hand to someone else")
    await whispered(desk, "U0STRANGER", "cannot hand this loan")
    await press(desk, "U0ALICE", "Hand to someone else")
    await window(desk, "U0ALICE", "Who decides in your place")
    await press(desk, "U0DANA", "Approve")
    await desk.slack.submit("U0ALICE", {"person": "U0ERIN"})
    await window(desk, "U0ALICE", "<@U0DANA> approved this loan")
    await desk.post_all()
    assert "Hand to someone else" not in card(desk)
    assert {one["why"] for one in await desk.audit("hand_over.refused")} == {
        "not_allowed", "requester", "other_organisation", "decided",
    }  # fmt: skip


async def test_an_operator_reassigns_a_review_and_sees_who_is_away_from_a_terminal(
    desk: Desk, database_url: str, tmp_path: Path
) -> None:
    review = await shown(desk, Rule(channel="C0CREDIT", approvers=People(users=("U0ALICE",))))
    await sayso(desk, "U0ERIN", "away until tomorrow, @Charlie covers")
    terminal = Terminal(tmp_path, database_url)
    (row,) = await terminal.json("policy", "absences")
    assert (row["person"], row["covered_by"], row["decides"]) == (
        "U0ERIN",
        "U0CHARLIE",
        "U0CHARLIE",
    )
    here = ("reviews", "hand-over", str(review.id), "--from", "U0ALICE")
    for given, why in (
        (("--to", "U0ERIN", "--as", "U0CHARLIE"), "U0CHARLIE may not do this"),
        (("--to", "U0BOB", "--as", "U0OSCAR"), "Who asked for something does not decide it."),
        (("--back", "--as", "U0OSCAR"), "U0ALICE has handed it to nobody."),
    ):
        code, _, err = await terminal.run(*here, *given)
        assert code == 1
        assert why in err
        assert "Nothing was changed." in err
    assert (await terminal.run(*here, "--to", "U0ERIN", "--as", "U0OSCAR"))[0] == 0
    (given_,) = await covers.of_review(desk.database, review.id)
    assert (given_.taker, given_.made_by) == ("U0ERIN", "U0OSCAR")
    assert (await terminal.run(*here, "--back", "--as", "U0OSCAR"))[0] == 0
    assert await covers.of_review(desk.database, review.id) == []
    assert len(await desk.audit("hand_over.refused")) == 2
    code, page, _ = await terminal.run("audit", "story", review.thread_id)
    assert code == 0
    assert "handed it from U0ALICE to U0ERIN" in page


async def test_in_stages_an_absent_head_is_covered_in_their_stage(desk: Desk) -> None:
    stages = (
        Stage(approvers=People(users=("U0ERIN",))),
        Stage(approvers=People(groups=("S0CREDIT",))),
    )
    review = await shown(desk, Rule(channel="C0CREDIT", stages=stages))
    await sayso(desk, "U0ERIN", "away until tomorrow, @Charlie covers")
    await desk.post_all()
    assert "who is away" in _said(desk.slack.messages("C0CREDIT")[-1])
    await press(desk, "U0CHARLIE", "Approve")
    now = await reviews.get(desk.database, review.id)
    assert (now.items[0].stage, now.votes[0].seat) == (1, "U0ERIN")
    await press(desk, "U0CHARLIE", "Approve")
    await whispered(desk, "U0CHARLIE", "You approved this loan")


async def test_what_is_sent_twice_is_done_once(desk: Desk) -> None:
    await desk.slack.misbehave(redeliver_interactions=2)
    await sayso(desk, "U0ALICE", "away")
    await window(desk, "U0ALICE", "While you are away")
    await desk.slack.submit("U0ALICE", {"day": NEXT_WEEK.isoformat(), "cover": "U0CHARLIE"})
    await until("it", lambda: away(desk))
    assert await desk.database.fetchval("select count(*) from sayso.absences") == 1
    assert (
        len(await desk.database.fetch("select 1 from sayso.posts where kind = $1", posts.COVER))
        == 1
    )


def _said(message: dict[str, Any]) -> str:
    """A message's rich text with its mentions, as one line."""
    texts: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, list):
            for one in value:
                walk(one)
        elif isinstance(value, dict):
            if value.get("type") == "user":
                texts.append(f"<@{value['user_id']}>")
            elif isinstance(value.get("text"), str):
                texts.append(value["text"])
            for key, one in value.items():
                if key != "text" or not isinstance(one, str):
                    walk(one)

    walk(message["blocks"])
    return "".join(texts)
