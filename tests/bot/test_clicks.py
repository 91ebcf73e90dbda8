"""What people press: one decision, whoever is first, and a private word for everybody else."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any
from urllib.parse import urlencode

import pytest

from graphs import mailbox, reviews, threads
from tests.bot.conftest import Desk, until
from tests.bot.test_web import FORM, post, signed


async def press(desk: Desk, user: str, label: str, **more: Any) -> dict[str, Any]:
    """Press something on the newest card."""
    return dict(await desk.slack.click(user, channel="C0CREDIT", label=label, **more))


async def told(desk: Desk, user: str) -> str:
    """The newest private message, once there is one."""
    return str((await until("a word", lambda: desk.slack.private_messages(user)))[-1]["blocks"])


async def window(desk: Desk, user: str, *texts: str) -> dict[str, Any]:
    """The person's open window, once it shows these texts."""

    def look() -> dict[str, Any] | None:
        views = desk.slack.views(user)
        return views[-1] if views and all(text in str(views[-1]) for text in texts) else None

    return dict(await until(f"a window with {texts}", look))


async def shown(desk: Desk) -> int:
    """A review whose card is posted."""
    review_id = await desk.review()
    await desk.post_all()
    return review_id


async def test_an_approval_decides_and_its_answer_waits_for_the_thread(desk: Desk) -> None:
    review_id = await shown(desk)
    answer = await press(desk, "U0ALICE", "Approve")

    assert answer["status"] == 200
    review = await reviews.get(desk.database, review_id)
    assert (review.status, review.outcome) == ("decided", "approved")
    assert [vote.voter for vote in review.votes] == ["U0ALICE"]
    waiting = await mailbox.waiting(desk.database, review.thread_id)
    assert [row.review_id for row in waiting if row.kind == "answer"] == [review_id]
    await desk.post_all()
    (card,) = desk.slack.messages("C0CREDIT")
    assert "Approved." in str(card["blocks"])


async def test_of_many_who_click_at_once_one_decides_and_the_others_are_told_who(
    desk: Desk,
) -> None:
    review_id = await shown(desk)
    await asyncio.gather(
        *(press(desk, user, "Approve") for user in ("U0ALICE", "U0DANA") for _ in range(4))
    )
    review = await reviews.get(desk.database, review_id)
    assert len(review.votes) == 1
    waiting = await mailbox.waiting(desk.database, review.thread_id)
    assert len([row for row in waiting if row.kind == "answer"]) == 1
    first = review.votes[0].voter
    second = ({"U0ALICE", "U0DANA"} - {first}).pop()
    assert first in await told(desk, second)


@pytest.mark.parametrize("user", ["U0CHARLIE", "U0BOB", "U0GUEST", "U0STRANGER", "U0GONE"])
async def test_whoever_may_not_decide_is_told_and_nothing_changes(desk: Desk, user: str) -> None:
    review_id = await shown(desk)
    answer = await press(desk, user, "Approve")

    assert answer["status"] == 200
    assert "Nothing was changed" in await told(desk, user)
    assert (await reviews.get(desk.database, review_id)).status == "open"
    assert [entry["actor"] for entry in await desk.audit("vote.refused")] == [user]


async def test_who_cannot_be_looked_up_in_time_is_refused_and_known_at_the_next_click(
    desk: Desk,
) -> None:
    review_id = await shown(desk)
    await desk.database.execute("delete from sayso.people")
    await desk.slack.misbehave(users_info_ms=2_500)
    answer = await press(desk, "U0ALICE", "Approve")
    assert answer["status"] == 200
    assert "could not check who you are" in await told(desk, "U0ALICE")
    assert (await reviews.get(desk.database, review_id)).status == "open"

    async def known() -> bool:
        found = await desk.database.fetchval(
            "select count(*) from sayso.people where id = 'U0ALICE'"
        )
        return found == 1

    await until("the look-up to go on beside", known)
    await press(desk, "U0ALICE", "Approve")
    assert (await reviews.get(desk.database, review_id)).status == "decided"


async def test_a_rejection_needs_a_reason_from_a_window(desk: Desk) -> None:
    review_id = await shown(desk)
    await press(desk, "U0ALICE", "Reject")
    await window(desk, "U0ALICE", "Reject this request")
    assert (await reviews.get(desk.database, review_id)).status == "open"

    answer = await desk.slack.submit("U0ALICE", {"reason": "The papers are too old."})
    assert answer["status"] == 200
    review = await reviews.get(desk.database, review_id)
    assert (review.outcome, review.items[0].note) == ("rejected", "The papers are too old.")
    assert review.items[0].answer == {"decision": "reject", "note": "The papers are too old."}
    assert desk.slack.views("U0ALICE") == []


async def test_a_submission_that_comes_too_late_says_so_and_gives_the_words_back(
    desk: Desk,
) -> None:
    review_id = await shown(desk)
    await press(desk, "U0ALICE", "Reject")
    await window(desk, "U0ALICE", "Reject this request")
    await press(desk, "U0DANA", "Approve")
    answer = await desk.slack.submit("U0ALICE", {"reason": "Not yet."})

    assert answer["response_action"] == "update"
    view = await window(desk, "U0ALICE", "U0DANA", "Not yet.")
    assert "submit" not in view or view["submit"] is None
    assert (await reviews.get(desk.database, review_id)).outcome == "approved"


async def test_whoever_may_not_reject_is_told_before_they_write(desk: Desk) -> None:
    await shown(desk)
    await press(desk, "U0CHARLIE", "Reject")
    await window(desk, "U0CHARLIE", "Nothing was changed")
    (entry,) = await desk.audit("vote.refused")
    assert entry["actor"] == "U0CHARLIE"


async def test_a_click_on_an_older_revision_decides_nothing(desk: Desk) -> None:
    review_id = await shown(desk)
    await desk.database.execute("update sayso.reviews set revision = 2 where id = $1", review_id)
    await press(desk, "U0ALICE", "Approve")
    assert "not counted" in await told(desk, "U0ALICE")
    assert (await reviews.get(desk.database, review_id)).status == "open"


@pytest.mark.parametrize("value", ["412.1", "", "x", "1.1; drop", "9" * 30 + ".1"])
async def test_a_button_that_names_no_review_is_recorded_and_told(desk: Desk, value: str) -> None:
    await desk.review()
    await desk.client.call(
        "chat.postMessage",
        channel="C0CREDIT",
        text="Forged",
        blocks=[
            {
                "type": "actions",
                "elements": [
                    {
                        "type": "button",
                        "action_id": "approve",
                        "text": {"type": "plain_text", "text": "Approve"},
                        **({"value": value} if value else {}),
                    }
                ],
            }
        ],
    )
    answer = await press(desk, "U0ALICE", "Approve")
    assert answer["status"] == 200
    assert await told(desk, "U0ALICE")
    assert [entry["actor"] for entry in await desk.audit("click.unknown")] == ["U0ALICE"]


async def test_details_show_the_request_to_those_who_may_look(desk: Desk) -> None:
    await shown(desk)
    await press(desk, "U0BOB", "Details")
    await window(desk, "U0BOB", "Details", "Asha Traders")
    await press(desk, "U0CHARLIE", "Details")
    await window(desk, "U0CHARLIE", "cannot see the details")
    assert [entry["actor"] for entry in await desk.audit("look.taken")] == ["U0BOB"]
    assert [entry["actor"] for entry in await desk.audit("look.refused")] == ["U0CHARLIE"]


async def test_try_again_lets_a_failed_thread_go_on_for_those_who_may(desk: Desk) -> None:
    review_id = await shown(desk)
    await press(desk, "U0ALICE", "Approve")
    review = await reviews.get(desk.database, review_id)
    await desk.database.execute(
        """update sayso.threads set mark = 'failed', error = jsonb_build_object('node', 'disburse',
           'type', 'BankAway', 'message', 'The bank did not answer', 'attempt', 4, 'attempts', 4,
           'at', now()) where id = $1""",
        review.thread_id,
    )
    await desk.database.execute("update sayso.mailbox set consumed_at = now()")
    async with desk.database.transaction() as connection:
        from bot import posts

        await posts.again(connection, posts.CARD, str(review_id))
    await desk.post_all()
    assert "Try again" in str(desk.slack.messages("C0CREDIT")[0]["blocks"])

    await press(desk, "U0CHARLIE", "Try again")
    assert "cannot try this" in await told(desk, "U0CHARLIE")
    assert (await threads.get(desk.database, review.thread_id)).status == "failed"
    await press(desk, "U0ALICE", "Try again")
    waiting = await mailbox.waiting(desk.database, review.thread_id)
    assert [row.kind for row in waiting] == ["retry"]


async def test_the_home_tab_lists_what_waits_for_the_person(desk: Desk) -> None:
    await shown(desk)
    await desk.slack.act("home", user="U0ALICE")

    def look() -> str | None:
        home = desk.slack.workspace.table("homes").get("U0ALICE")
        return str(home) if home else None

    assert "Loan of 60,000 for Asha Traders" in await until("the home tab", look)


async def test_a_click_while_the_database_is_away_is_answered_503_and_told(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from checkpoints.errors import DatabaseAway

    await shown(desk)

    async def away(*_: Any, **__: Any) -> None:
        raise DatabaseAway("test")

    # The pool itself would have to be cut off, which would also cut off the test.
    monkeypatch.setattr("graphs.votes.vote", away)
    answer = await press(desk, "U0ALICE", "Approve")
    assert answer["status"] == 503
    assert "could not save" in await told(desk, "U0ALICE")


async def interaction(desk: Desk, **payload: Any) -> tuple[int, str]:
    """Deliver an interaction by hand."""
    body = urlencode({"payload": json.dumps(payload)}).encode()
    return await post(desk, body, signed(body) | {"Content-Type": FORM})


def pressed(verb: str, value: str, *, team: str | None, **more: Any) -> dict[str, Any]:
    """A button pressed by Alice's id, as somebody of this team."""
    return {
        "type": "block_actions",
        "team": {"id": team} if team else None,
        "user": {"id": "U0ALICE"} | ({"team_id": team} if team else {}),
        "container": {"type": "message", "message_ts": "1.2", "channel_id": "C0CREDIT"},
        "channel": {"id": "C0CREDIT"},
        "trigger_id": "1.2",
        "actions": [
            {"type": "button", "action_id": verb, "block_id": "b", "value": value,
             "action_ts": str(time.time())}
        ],
        **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("verb", "record"),
    [("approve", "vote"), ("reject", "vote"), ("details", "look"), ("withdraw", "withdraw"),
     ("try_again", "try_again")],
)  # fmt: skip
async def test_the_same_id_in_another_workspace_is_somebody_else(
    desk: Desk, verb: str, record: str
) -> None:
    review_id = await shown(desk)
    assert (await interaction(desk, **pressed(verb, f"{review_id}.1", team="T0EVIL")))[0] == 200
    assert await told(desk, "U0ALICE")
    assert desk.slack.views("U0ALICE") == []
    (entry,) = await desk.audit(f"{record}.refused")
    assert (entry["actor"], entry["why"]) == ("U0ALICE", "other_organisation")
    assert (await reviews.get(desk.database, review_id)).status == "open"


async def test_a_window_submitted_from_another_workspace_is_not_counted(desk: Desk) -> None:
    review_id = await shown(desk)
    status, answer = await interaction(
        desk, **submitted("Too old.", review_id, user={"id": "U0ALICE", "team_id": "T0EVIL"})
    )
    assert (status, json.loads(answer)["response_action"]) == (200, "update")
    assert "Too old." in answer
    assert (await reviews.get(desk.database, review_id)).status == "open"
    (entry,) = await desk.audit("vote.refused")
    assert entry["why"] == "other_organisation"


async def test_a_press_without_a_team_is_judged_by_who_it_is(desk: Desk) -> None:
    review_id = await shown(desk)
    await interaction(desk, **pressed("approve", f"{review_id}.1", team=None))
    assert (await reviews.get(desk.database, review_id)).status == "decided"


def submitted(note: str, review_id: int, **more: Any) -> dict[str, Any]:
    """The window of a rejection, filled in."""
    return {
        "type": "view_submission",
        "team": {"id": "T0SAYSO"},
        "user": {"id": "U0ALICE", "team_id": "T0SAYSO"},
        "view": {
            "id": "V1",
            "type": "modal",
            "callback_id": "reject",
            "private_metadata": f"{review_id}.1",
            "state": {"values": {"reason": {"value": {"type": "plain_text_input", "value": note}}}},
        },
        **more,
    }


async def test_half_a_character_in_a_reason_costs_nothing_but_itself(desk: Desk) -> None:
    review_id = await shown(desk)
    status, _ = await interaction(desk, **submitted("see \ud83d here\x00", review_id))
    assert status == 200
    assert (await reviews.get(desk.database, review_id)).items[0].note == "see  here"


@pytest.mark.parametrize("verb", ["bogus\x00\ud800", "\ud83d", ""])
async def test_a_verb_that_cannot_be_stored_is_an_unknown_button(desk: Desk, verb: str) -> None:
    review_id = await shown(desk)
    for payload in (
        pressed(verb, f"{review_id}.1", team="T0SAYSO"),
        submitted("x", review_id) | {"view": {"id": "V1", "type": "modal", "callback_id": verb}},
    ):
        assert (await interaction(desk, **payload))[0] == 200
    assert len(await desk.audit("click.unknown")) == 2
