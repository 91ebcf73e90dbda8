"""`sayso policy apply`: cards go where a changed file has them, and people are told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.renderings import lead_to
from bot.wishes import Wishes
from graphs import applying, audit, reviews
from graphs.policy import Policy
from graphs.specs import People, Rule
from tests.bot.conftest import ROOT, Desk, until
from tests.bot.test_actions import AMOUNTS, ask, edit
from tests.bot.test_actions import BOTH as TURN
from tests.bot.test_commands import Terminal
from tests.bot.test_intervening import told

BOTH = Rule(approvers=People(users=("U0ALICE", "U0DANA")), quorum=2, channel="C0CREDIT")
CHANGED = """
[operators]
users = ["U0OSCAR"]

[graphs.loan]
path = "graphs.library.loan:graph"

[[reviews]]
graph = "loan"
when = "question.amount > 50000"
channel = "C0REFUNDS"
approvers = { users = ["U0ERIN"] }

[[reviews]]
graph = "loan"
when = "question.reason != ''"
approvers = { users = ["U0ALICE"] }
"""


LARGE = """
[[reviews]]
graph = "refund_agent"
tool = "issue_refund"
when = "question.amount > 4500"
channel = "C0CONTENT"
approvers = { users = ["U0ERIN"] }
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The demo's configuration, and a rule for large refunds before all others."""
    file = tmp_path / "here.toml"
    before, first, after = (ROOT / "sayso.toml").read_text().partition("[[reviews]]")
    file.write_text(f"{before}{LARGE}\n{first}{after}")
    return file


async def test_direct_messages_follow_the_people_of_a_group_away_and_back(desk: Desk) -> None:
    group = Rule(approvers=People(groups=("S0CREDIT",)))
    review_id = await desk.review(rule=group)

    async def stands(*rules: Rule) -> dict[str, bool]:
        """Who has a card with buttons, and who one that leads away, under these rules."""
        if rules:
            async with desk.database.transaction() as connection:
                await applying.apply(
                    connection, review_id, policy=Policy(rules), by="U0OSCAR",
                    wish=Wishes(desk.present),
                )  # fmt: skip
        await desk.post_all()
        there = [
            user
            for user in ("ALICE", "DANA", "ERIN")
            if f"D0{user}" in desk.slack.workspace.channels()
        ]
        found = {user: desk.slack.messages(f"D0{user}") for user in there}
        return {user: "Approve" in blocks(cards[0]) for user, cards in found.items() if cards}

    assert await stands() == {"ALICE": True, "DANA": True}
    erin = Rule(approvers=People(users=("U0ERIN",)))
    assert await stands(erin) == {"ALICE": False, "DANA": False, "ERIN": True}
    alice = Rule(approvers=People(users=("U0ALICE",)), quorum=1, because="she knows them")
    assert await stands(alice) == {"ALICE": True, "DANA": False, "ERIN": False}
    assert await stands(group) == {"ALICE": True, "DANA": True, "ERIN": False}


async def test_who_makes_an_action_larger_than_they_may_decide_hands_it_to_those_who_may(
    desk: Desk, database_url: str, tmp_path: Path, config: Path
) -> None:
    thread_id = await desk.thread()
    await desk.database.execute("update sayso.threads set graph = 'refund_agent'")
    review_id = await ask(
        desk, TURN, thread_id=thread_id, in_force=False, schemas={"issue_refund": AMOUNTS}
    )
    await edit(desk, "U0ALICE", Amount="4900")
    item = (await reviews.get(desk.database, review_id)).items[0]
    assert (item.status, item.arguments["amount"], item.votes) == ("open", 4900, ())
    assert item.rule is not None
    assert item.rule.approvers.users == ("U0ERIN",)
    await desk.post_all()
    (card,) = desk.slack.messages("C0CONTENT")
    assert "4,900" in blocks(card)
    await desk.slack.click("U0ALICE", channel="C0CONTENT", action_id="approve:0")
    assert "You cannot decide this" in await told(desk, "U0ALICE")
    # The same at the command line, and back: below the limit it is for others again.
    action = {"name": "issue_refund", "args": {**item.arguments, "amount": 10}}
    answer = json.dumps({"type": "edit", "edited_action": action})
    code, _, err = await Terminal(tmp_path, database_url).run(
        "reviews", "decide", str(review_id), "--as", "U0ERIN", "--item", "0", "--answer", answer,
        SAYSO_CONFIG=str(config),
    )  # fmt: skip
    assert (code, err) == (0, "")
    item = (await reviews.get(desk.database, review_id)).items[0]
    assert item.rule is not None
    assert (item.status, item.rule.when, item.rule.tool) == ("open", None, "issue_refund")


def blocks(message: Mapping[str, Any]) -> str:
    return str(message["blocks"])


async def test_a_card_moves_with_its_rule_and_whoever_had_decided_is_told(
    desk: Desk, database_url: str, tmp_path: Path
) -> None:
    thread_id = await desk.thread()
    small = await desk.review(thread_id, rule=BOTH, amount=5)
    review_id = await desk.review(thread_id, rule=BOTH)
    await desk.post_all()
    await desk.slack.click("U0ALICE", channel="C0CREDIT", label="Approve")
    voted = (await reviews.get(desk.database, review_id)).votes
    assert [vote.voter for vote in voted] == ["U0ALICE"]
    (tmp_path / "sayso.toml").write_text(CHANGED)
    terminal = Terminal(tmp_path, database_url)

    async def apply(*more: str) -> tuple[int, str, str]:
        given = {"SAYSO_CONFIG": str(tmp_path / "sayso.toml")}
        return await terminal.run("policy", "apply", *more, **given)

    # Nobody but an operator does it, and nobody without saying yes.
    code, out, err = await apply("--as", "U0CHARLIE", "--yes")
    assert (code, "It is for U0OSCAR. Nothing was changed." in err) == (1, True)
    code, out, err = await apply()
    assert (code, "Nobody can be asked here; --yes moves them." in err) == (1, True)
    code, out, err = await apply("--dry-run")
    assert (code, err) == (0, "")
    assert "2 of U0ALICE, U0DANA U0ERIN U0ALICE" in " ".join(out.split())
    assert f"review {small} stays as it is: the condition of [[reviews]] number 2" in out
    assert out.endswith("1 review would be moved.\n")
    assert (await reviews.get(desk.database, review_id)).revision == 1

    code, out, err = await apply("--graph", "loan", "--as", "U0OSCAR", "--yes")
    assert (code, err, out.endswith("1 review moved.\n")) == (0, "", True)
    await desk.slack.click("U0DANA", channel="C0CREDIT", label="Approve")  # on the card as it was
    said = (await until("a word", lambda: desk.slack.private_messages("U0DANA")))[-1]
    assert "The rules for this request changed while you were reading." in blocks(said)
    await desk.post_all()
    async with desk.database.transaction() as connection:  # as a worker's poster does
        await lead_to(connection, await reviews.get(connection, review_id))
    await desk.post_all()
    (new,) = desk.slack.messages("C0REFUNDS")
    old = desk.slack.messages("C0CREDIT")[1]
    assert "Approve" in blocks(new)
    assert "Replaced." in blocks(old)
    assert "Approve" not in blocks(old)
    assert "its card stands somewhere else now" in blocks(old)
    assert f"/archives/C0REFUNDS/p{str(new['ts']).replace('.', '')}" in blocks(old)
    (told,) = desk.slack.messages("D0ALICE")
    assert "The rules for “Loan of 60,000" in blocks(told)
    assert "does not count any more" in blocks(told)

    # Who may decide now does, and every card says so.
    await desk.slack.click("U0ERIN", channel="C0REFUNDS", label="Approve")
    assert (await reviews.get(desk.database, review_id)).outcome == "approved"
    await desk.post_all()
    assert "Approved." in blocks(desk.slack.messages("C0CREDIT")[1])
    assert "Approved." in blocks(desk.slack.messages("C0REFUNDS")[0])
    entries = [entry.what for entry in await audit.recent(desk.database)]
    assert [what for what in entries if what.startswith(("apply.", "policy."))] == [
        "policy.applied",
        "apply.refused",
        "apply.refused",
    ]
    code, out, err = await apply("--review", str(review_id), "--json")
    assert (code, out.strip()) == (0, "[]")  # it is decided
