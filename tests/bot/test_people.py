"""Who somebody is: from the rows while they are fresh, else from Slack, else not known."""

from __future__ import annotations

from typing import Any

import pytest

from bot.afterwards import Afterwards
from bot.errors import SlackFailed
from bot.people import People
from bot.workspaces import identify, team_of
from graphs.policy import Reason, may_decide
from graphs.specs import People as Named
from graphs.specs import Rule
from tests.bot.conftest import Desk, until

RULE = Rule(approvers=Named(users=("U0ERIN",), groups=("S0CREDIT",)))


def people(desk: Desk, *, slack: bool = True) -> People:
    return People(desk.database, desk.client if slack else None, "T0SAYSO", Afterwards())


async def test_a_person_and_their_groups_are_asked_for_once_a_minute(desk: Desk) -> None:
    known = people(desk)
    alice = await known.person("U0ALICE", RULE.approvers.groups)
    assert (alice.name, alice.known, alice.groups) == ("Alice", True, frozenset({"S0CREDIT"}))
    before = len(desk.slack.calls)
    assert await known.person("U0ALICE", RULE.approvers.groups) == alice
    assert len(desk.slack.calls) == before


async def test_a_change_is_asked_for_before_the_next_use(desk: Desk) -> None:
    known = people(desk)
    await known.person("U0ALICE", ["S0CREDIT"])
    async with desk.database.transaction() as connection:
        await known.forget_person(connection, "U0ALICE")
        await known.forget_group(connection, "S0CREDIT")
    before = len(desk.slack.calls)
    await known.person("U0ALICE", ["S0CREDIT"])
    asked = {call["method"] for call in desk.slack.calls[before:]}
    assert asked == {"users.info", "usergroups.users.list"}


async def test_guests_strangers_and_the_deactivated_are_seen_as_such(desk: Desk) -> None:
    known = people(desk)
    assert (await known.person("U0GUEST")).is_guest
    assert (await known.person("U0STRANGER")).is_stranger
    assert (await known.person("U0GONE")).deleted
    assert not (await known.person("U0BOB")).is_stranger
    assert (await known.person("U0NOBODY")).deleted


async def test_whoever_cannot_be_looked_up_is_refused_and_not_let_through(desk: Desk) -> None:
    await desk.slack.misbehave(server_error={"method": "users.info", "n": 5})
    erin = await people(desk).person("U0ERIN", RULE.approvers.groups)
    assert not erin.known
    refusal = may_decide(RULE, erin, "U0BOB")
    assert refusal is not None
    assert refusal.reason is Reason.CANNOT_CHECK


async def test_a_group_that_cannot_be_read_refuses_only_those_who_depend_on_it(
    desk: Desk,
) -> None:
    await desk.slack.misbehave(server_error={"method": "usergroups.users.list", "n": 5})
    known = people(desk)
    assert may_decide(RULE, await known.person("U0ERIN", ["S0CREDIT"]), "U0BOB") is None
    refusal = may_decide(RULE, await known.person("U0ALICE", ["S0CREDIT"]), "U0BOB")
    assert refusal is not None
    assert refusal.reason is Reason.CANNOT_CHECK
    await desk.slack.misbehave(reset=True)
    await known.members("S0HEADS")
    await desk.slack.misbehave(server_error={"method": "usergroups.users.list", "n": 5})
    alice = await known.person("U0ALICE", ["S0CREDIT", "S0HEADS"])
    other = Rule(approvers=Named(groups=("S0HEADS",)))
    refusal = may_decide(other, alice, "U0BOB")
    assert refusal is not None
    assert refusal.reason is Reason.NOT_ALLOWED


async def changed(desk: Desk, user: str, **more: Any) -> None:
    """Change somebody in Slack, and wait until we have taken its event."""
    await desk.slack.act("person", user=user, **more)
    await until("the event", lambda: not desk.slack.workspace.table("outbox"))


BY_ADDRESS = Rule(approvers=Named(users=("U0ERIN",), emails=("alice@example.com",)))


async def why(known: People, user: str) -> Reason | None:
    refusal = may_decide(BY_ADDRESS, await known.person(user), "U0BOB")
    return refusal.reason if refusal is not None else None


async def test_an_address_names_whoever_has_it_now(desk: Desk) -> None:
    known = people(desk)
    assert await known.by_email("alice@example.com") == "U0ALICE"
    assert (await why(known, "U0ALICE"), await why(known, "U0ERIN")) == (None, None)
    assert await why(known, "U0CHARLIE") is Reason.NOT_ALLOWED
    await changed(desk, "U0ALICE", email="alice.new@example.com")
    await changed(desk, "U0CHARLIE", email="Alice@Example.com")
    await desk.database.execute("update sayso.people set fetched_at = '1970-01-01'")
    assert await why(known, "U0ALICE") is Reason.NOT_ALLOWED
    assert await why(known, "U0CHARLIE") is None
    assert await known.by_email("alice@example.com") == "U0CHARLIE"
    with pytest.raises(SlackFailed, match="users_not_found"):
        await known.by_email("nobody@example.com")


async def test_an_address_that_is_not_shown_refuses_only_those_who_depend_on_it(
    desk: Desk,
) -> None:
    await desk.slack.misbehave(missing_scopes=["users:read.email"])
    known = people(desk)
    assert (await known.person("U0ALICE")).email is None
    assert await why(known, "U0ALICE") is Reason.CANNOT_CHECK
    assert await why(known, "U0CHARLIE") is Reason.CANNOT_CHECK
    assert await why(known, "U0ERIN") is None
    with pytest.raises(SlackFailed, match="missing_scope"):
        await known.by_email("alice@example.com")


@pytest.mark.parametrize(
    ("user", "more"),
    [
        ("U0CHARLIE", {"email": ""}),
        ("U0CHARLIE", {"is_email_confirmed": False}),
        ("U0CHARLIE", {"email": "alice@example.com, oscar@example.com"}),
        ("U0STRANGER", {}),
    ],
)
async def test_an_address_that_nobody_vouches_for_is_none(
    desk: Desk, user: str, more: dict[str, Any]
) -> None:
    await changed(desk, "U0ALICE", email="")
    await changed(desk, user, **{"email": "alice@example.com", **more})
    known = people(desk)
    assert (await known.person(user)).email == ""
    with pytest.raises(SlackFailed, match="users_not_found"):
        await known.by_email("alice@example.com")


async def test_without_a_token_ids_in_users_match_and_nothing_else_does(desk: Desk) -> None:
    known = people(desk, slack=False)
    assert may_decide(RULE, await known.person("U0ERIN", ["S0CREDIT"]), "U0BOB") is None
    refusal = may_decide(RULE, await known.person("U0ALICE", ["S0CREDIT"]), "U0BOB")
    assert refusal is not None
    assert refusal.reason is Reason.NOT_ALLOWED


async def test_the_workspace_is_remembered_for_when_slack_is_away(desk: Desk) -> None:
    assert await team_of(desk.database) == "T0SAYSO"
    await desk.slack.misbehave(server_error={"method": "auth.test", "n": 1})
    assert (await identify(desk.database, desk.client)).bot_user == "U0SAYSO"


class _SaysNothing:
    """A Slack whose answers are ok and empty."""

    scopes: frozenset[str] = frozenset()

    async def call(self, method: str, **_: object) -> dict[str, object]:
        return {"ok": True, "user": {"id": "U0ANOTHER"}} if method == "users.info" else {"ok": True}


async def test_an_answer_that_names_nobody_is_not_kept_as_a_member(desk: Desk) -> None:
    silent = People(desk.database, _SaysNothing(), "T0SAYSO", Afterwards())  # type: ignore[arg-type]
    who = await silent.person("U0WHO", ["S0CREDIT"])
    assert (who.known, who.groups) == (False, None)
    assert await silent.members("S0CREDIT") is None
    assert await desk.database.fetchval("select count(*) from sayso.people") == 0
    assert (
        await desk.database.fetchval(
            "select count(*) from sayso.user_groups where fetched_at > '1970-01-01'"
        )
        == 0
    )


async def test_who_is_in_a_channel_is_read_page_by_page_and_kept_for_a_minute(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.people._MEMBER_PAGE", 2)
    known = people(desk)
    inside = await known.in_channel("C0CREDIT")
    assert inside is not None
    assert {"U0ALICE", "U0DANA", "U0OSCAR"} <= inside
    before = len(desk.slack.calls)
    assert await known.in_channel("C0CREDIT") == inside
    assert len(desk.slack.calls) == before
    assert await known.in_channel("C0NOWHERE") is None
    monkeypatch.setattr("bot.people._MEMBER_PAGES", 1)
    assert await people(desk).in_channel("C0CREDIT") is None
    assert await people(desk, slack=False).in_channel("C0CREDIT") is None
