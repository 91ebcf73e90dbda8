"""Each way in which a rule names people, from the card to the click: who it is now, nobody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.check import unreached
from bot.settings import Settings, load
from graphs import reviews
from graphs.specs import People, Rule, Stage
from tests.bot.conftest import ROOT, Desk, until
from tests.bot.test_clicks import interaction, press, pressed, told, window

NAMES = """
[roles.risk]
users = ["U0DANA"]
groups = ["S0HEADS"]

[roles.by_address]
emails = ["alice@example.com"]

[managers]
people = { U0BOB = "U0ERIN", "charlie@example.com" = "dana@example.com" }
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The shipped configuration, with roles and managers."""
    file = tmp_path / "sayso.toml"
    file.write_text((ROOT / "sayso.toml").read_text("utf-8") + NAMES, encoding="utf-8")
    return file


def changed(desk: Desk, old: str, new: str) -> Settings:
    """The settings with another word in the configuration."""
    file = Path(desk.present.settings.environment.config)
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    return load({"SAYSO_CONFIG": str(file)})


def under(**people: Any) -> Rule:
    return Rule(channel="C0CREDIT", approvers=People(**people))


async def asked(desk: Desk, rule: Rule, requester: str = "U0BOB") -> int:
    """A review under this rule whose card is posted."""
    review_id = await desk.review(await desk.thread(requester), rule=rule)
    await desk.post_all()
    return review_id


async def approved(desk: Desk, review_id: int) -> bool:
    return (await reviews.get(desk.database, review_id)).outcome == "approved"


async def why(desk: Desk) -> list[tuple[str, str]]:
    """Who was refused and why, the newest first."""
    return [(one["actor"], one["reason"]) for one in await desk.audit("vote.refused")]


def direct(desk: Desk, person: str) -> int:
    """How many direct messages somebody has; they come into being with the first."""
    there = f"D0{person}" in desk.slack.workspace.channels()
    return len(desk.slack.messages(f"D0{person}")) if there else 0


@pytest.mark.parametrize(
    ("people", "requester", "may", "may_not"),
    [
        ({"emails": ("Alice@Example.com",)}, "U0BOB", "U0ALICE", "U0DANA"),
        ({"roles": ("risk",)}, "U0BOB", "U0DANA", "U0ALICE"),
        ({"roles": ("risk",)}, "U0BOB", "U0ERIN", "U0CHARLIE"),
        ({"roles": ("by_address",)}, "U0BOB", "U0ALICE", "U0ERIN"),
        ({"manager": True}, "U0BOB", "U0ERIN", "U0DANA"),
        ({"manager": True}, "U0CHARLIE", "U0DANA", "U0ERIN"),
        ({"groups": ("S0HEADS",), "manager": True}, "U0CHARLIE", "U0DANA", "U0CHARLIE"),
    ],
)
async def test_who_is_named_in_whatever_way_decides_and_others_do_not(
    desk: Desk, people: dict[str, Any], requester: str, may: str, may_not: str
) -> None:
    review_id = await asked(desk, under(**people), requester)
    await press(desk, may_not, "Approve")
    assert "Nothing was changed" in await told(desk, may_not)
    assert not await approved(desk, review_id)
    await press(desk, may, "Approve")
    assert await approved(desk, review_id)


async def test_who_left_after_the_card_was_posted_does_not_decide_any_more(desk: Desk) -> None:
    rule = under(roles=("risk",), groups=("S0CREDIT",), emails=("charlie@example.com",))
    review_id = await asked(desk, rule)
    desk.present.take(changed(desk, 'users = ["U0DANA"]\ngroups', "groups"))
    await desk.slack.act("group", group="S0CREDIT", users=["U0OSCAR"])
    await desk.slack.act("person", user="U0CHARLIE", email="new@example.com")
    await desk.slack.act("person", user="U0GUEST", email="charlie@example.com")
    await desk.slack.act("person", user="U0OSCAR", email="charlie@example.com", deleted=False)
    await until("the events", lambda: not desk.slack.workspace.table("outbox"))
    for user in ("U0DANA", "U0ALICE", "U0CHARLIE", "U0GUEST"):
        await press(desk, user, "Approve")
        await told(desk, user)
    assert not await approved(desk, review_id)
    assert [reason for _, reason in await why(desk)] == ["guest"] + ["not_allowed"] * 3
    await press(desk, "U0OSCAR", "Approve")
    assert await approved(desk, review_id)


@pytest.mark.parametrize(
    ("people", "requester", "trouble"),
    [
        ({"emails": ("alice@example.com",)}, "U0BOB", {"missing_scopes": ["users:read.email"]}),
        ({"manager": True}, "U0CHARLIE", {"missing_scopes": ["users:read.email"]}),
        ({"manager": True}, "U0CHARLIE", {"users_info_ms": 4_000}),
        ({"roles": ("by_address",)}, "U0BOB", {"server_error": {"method": "users.info", "n": 20}}),
        (
            {"groups": ("S0CREDIT",)},
            "U0BOB",
            {"server_error": {"method": "usergroups.users.list", "n": 20}},
        ),
    ],
)
async def test_who_cannot_be_found_out_is_told_so_and_decides_nothing(
    desk: Desk, people: dict[str, Any], requester: str, trouble: dict[str, Any]
) -> None:
    review_id = await asked(desk, under(users=("U0ERIN",), **people), requester)
    await desk.slack.misbehave(**trouble)
    await desk.database.execute("delete from sayso.people")
    await desk.database.execute("delete from sayso.user_groups")
    answer = await press(desk, "U0ALICE", "Approve")
    assert answer["status"] == 200  # within Slack's three seconds
    assert "could not check who you are" in await told(desk, "U0ALICE")
    assert await why(desk) == [("U0ALICE", "cannot_check")]
    assert not await approved(desk, review_id)
    if "usergroups" in str(trouble) or "scopes" in str(trouble):  # an id depends on neither
        await press(desk, "U0ERIN", "Approve")
        assert await approved(desk, review_id)


async def test_a_card_goes_to_whoever_is_behind_a_name_and_never_to_the_requester(
    desk: Desk,
) -> None:
    rule = under(
        roles=("risk",), emails=("alice@example.com", "bob@example.com"), manager=True
    ).model_copy(update={"channel": "C0BOARD"})
    await desk.slack.act("channel", channel="C0BOARD", members=["U0SAYSO"])
    await asked(desk, rule)
    people = ("ALICE", "BOB", "CHARLIE", "DANA", "ERIN")
    assert [one for one in people if direct(desk, one)] == ["ALICE", "DANA", "ERIN"]
    assert {direct(desk, one) for one in ("ALICE", "DANA", "ERIN")} == {1}


async def test_a_name_that_nobody_stands_behind_is_told_to_the_operators(desk: Desk) -> None:
    desk.present.take(changed(desk, "[roles.by_address]", "[roles.other]"))
    rule = Rule(approvers=People(roles=("by_address",), emails=("who@example.com",)))
    await asked(desk, rule)
    await desk.post_all()
    said = str([one["blocks"] for one in desk.slack.messages("C0OPS")])
    assert "card in role:by_address: sayso.toml names nobody for role:by_address" in said
    assert "card in who@example.com: users_not_found" in said


async def test_check_warns_of_addresses_that_nobody_has_and_that_nobody_may_read(
    desk: Desk,
) -> None:
    assert await unreached(desk.present.settings, desk.client) == []
    settings = changed(desk, '"alice@example.com"', '"alice@example.com", "who@example.com"')
    assert await unreached(settings, desk.client) == [
        "roles.by_address.emails: nobody in the workspace has who@example.com."
    ]
    await desk.slack.misbehave(missing_scopes=["users:read.email"])
    await desk.client.call("auth.test")
    (told_,) = await unreached(settings, desk.client)
    assert told_.startswith("the app lacks the scope users:read.email")


async def test_the_card_names_whoever_it_is_and_says_whose_manager(desk: Desk) -> None:
    rule = under(emails=("alice@example.com", "who@example.com"), roles=("risk",), manager=True)
    await asked(desk, rule)
    blocks = (await desk.card())["blocks"]
    shown = str(blocks)
    for told_ in ("U0ALICE", "U0DANA", "S0HEADS", "U0ERIN", "(Bob's manager)", "who@example.com"):
        assert told_ in shown, told_
    assert "alice@example.com" not in shown


async def test_those_of_the_next_stage_get_the_card_when_it_is_their_turn(desk: Desk) -> None:
    stages = (
        Stage(approvers=People(users=("U0ALICE",))),
        Stage(approvers=People(roles=("risk",), manager=True)),
    )
    review_id = await asked(desk, Rule(channel="C0CREDIT", stages=stages))
    assert direct(desk, "ERIN") == 0
    await press(desk, "U0DANA", "Approve")
    assert not await approved(desk, review_id)
    await press(desk, "U0ALICE", "Approve")
    await desk.post_all()
    assert [direct(desk, one) for one in ("ERIN", "DANA", "ALICE")] == [1, 1, 0]
    await press(desk, "U0DANA", "Show the history")
    await window(desk, "U0DANA", "History")
    await press(desk, "U0ERIN", "Approve")
    assert await approved(desk, review_id)


# People of other organisations


LETS_IN = Rule(
    channel="C0CREDIT",
    approvers=People(users=("U0STRANGER", "U0ALICE"), groups=("S0CREDIT",)),
    strangers_may_decide=True,
)


async def test_somebody_of_another_organisation_decides_where_a_rule_names_them(
    desk: Desk,
) -> None:
    review_id = await asked(desk, LETS_IN)
    await press(desk, "U0STRANGER", "Show the history")
    await window(desk, "U0STRANGER", "History")
    await press(desk, "U0STRANGER", "Add a comment")
    assert "You cannot comment" in await told(desk, "U0STRANGER")
    for verb in ("try_again", "ask_again", "withdraw"):
        who = {"user": {"id": "U0STRANGER"}}
        await interaction(desk, **pressed(verb, f"{review_id}.1", team=None, **who))
        (entry,) = await desk.audit(f"{verb}.refused")
        assert entry["why"] == "other_organisation"
    await press(desk, "U0STRANGER", "Reject")
    await window(desk, "U0STRANGER", "Reject this request")
    await desk.slack.submit("U0STRANGER", {"reason": "Not yet."})
    review = await reviews.get(desk.database, review_id)
    assert (review.outcome, review.items[0].decided_by) == ("rejected", "U0STRANGER")


@pytest.mark.parametrize(
    "rule",
    [
        LETS_IN.model_copy(update={"strangers_may_decide": False}),
        LETS_IN.model_copy(update={"approvers": People(groups=("S0CREDIT",))}),
        LETS_IN.model_copy(update={"approvers": People(emails=("stranger@example.com",))}),
    ],
)
async def test_nobody_of_another_organisation_decides_unless_named_by_id(
    desk: Desk, rule: Rule
) -> None:
    await desk.slack.act("group", group="S0CREDIT", users=["U0STRANGER", "U0ALICE"])
    review_id = await asked(desk, rule)
    await press(desk, "U0STRANGER", "Approve")
    assert "other organisations cannot decide" in await told(desk, "U0STRANGER")
    await press(desk, "U0STRANGER", "Details")
    await until("another word", lambda: len(desk.slack.private_messages("U0STRANGER")) == 2)
    assert "cannot see the details" in await told(desk, "U0STRANGER")
    assert not await approved(desk, review_id)
    assert [entry["why"] for entry in await desk.audit("vote.refused")] == ["other_organisation"]


async def test_an_id_counts_only_together_with_its_team(desk: Desk) -> None:
    """Another organisation may have a person of the id that one of ours has."""
    review_id = await asked(desk, LETS_IN)
    for user, team in (("U0ALICE", "T0OTHER"), ("U0STRANGER", "T0THIRD")):
        who = {"user": {"id": user, "team_id": team}}
        await interaction(desk, **pressed("approve", f"{review_id}.1", team=team, **who))
    assert "could not check who you are" in await told(desk, "U0ALICE")
    assert not await approved(desk, review_id)
    assert await why(desk) == [("U0STRANGER", "cannot_check"), ("U0ALICE", "cannot_check")]
