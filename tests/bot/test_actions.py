"""Questions about several actions, forms and stops, decided from cards and windows."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bot import limits
from bot.details import details
from bot.renderings import lead_to
from bot.wishes import Wishes
from graphs import mailbox, reviews
from graphs.actions import Action
from graphs.plain import digest
from graphs.reviews import Asked, RuleFor
from graphs.specs import People, Rule
from tests.bot.action_samples import BOTH, EVERY, REFUND, of, turn
from tests.bot.conftest import Desk
from tests.bot.test_clicks import press, told, window
from tests.bot.window_samples import DETAILS

CREDIT = Rule(channel="C0CREDIT", approvers=People(groups=("S0CREDIT",)))
HEADS = Rule(channel="C0CREDIT", approvers=People(users=("U0ERIN",)))
TWO = CREDIT.model_copy(update={"quorum": 2})
AMOUNTS = {
    "type": "object",
    "properties": {
        "order": {"type": "string", "pattern": "^A-[0-9]{4}$"},
        "amount": {"type": "number", "minimum": 1, "maximum": 5000},
        "reason": {"type": "string"},
    },
    "required": ["order", "amount"],
}
Json = dict[str, Any]


def by_tool(action: Action | None) -> Rule:
    """The email is for the head of credit, everything else for the officers."""
    return HEADS if action is not None and action.tool == "send_email" else CREDIT


async def ask(
    desk: Desk,
    question: Any,
    rule_for: RuleFor = lambda _: CREDIT,
    *,
    thread_id: str | None = None,
    interrupt: str = "a" * 32,
    in_force: bool = True,
    **more: Any,
) -> int:
    """A review of this question as settle would open it, with its card posted.

    With `in_force` the file has the same rules, each for its tool: an edit is judged by it.
    """
    thread_id = thread_id or await desk.thread()
    asked = Asked(
        interrupt_id=interrupt,
        node="tools",
        checkpoint_id="1",
        question=question,
        hash=digest(question),
        **more,
    )

    def of_tool(action: Action | None) -> Rule | None:
        rule, tool = rule_for(action), action.tool if action is not None else None
        return rule.model_copy(update={"tool": tool}) if rule is not None else None

    rules = [of_tool(action) for action in asked.asking.actions or (None,)]
    configuration = desk.present.settings.configuration.model_copy(
        update={"reviews": tuple(rule for rule in rules if rule is not None)}
    )
    if in_force:
        desk.present.take(replace(desk.present.settings, configuration=configuration))
    async with desk.database.transaction() as connection:
        put = await reviews.put(
            connection,
            thread_id=thread_id,
            graph="refund_agent",
            asked=asked,
            audience="reviewers",
            rule_for=of_tool,
        )
        assert put is not None
        wishes = Wishes(desk.present)
        await wishes(connection, "card", str(put.review_id))
        if put.replaced:
            await wishes(connection, "card", str(put.replaced))
    await desk.post_all()
    return put.review_id


async def answers(desk: Desk, review_id: int) -> list[Any]:
    """The answers to the review that wait for its thread."""
    review = await reviews.get(desk.database, review_id)
    waiting = await mailbox.waiting(desk.database, review.thread_id)
    return [json.loads(row.answer) for row in waiting if row.kind == "answer"]


async def card(desk: Desk) -> str:
    """The newest card in the channel, as text."""
    await desk.post_all()
    return str(desk.slack.messages("C0CREDIT")[-1]["blocks"])


async def edit(desk: Desk, user: str, item: int = 0, **values: Any) -> Json:
    """Open the form of an action, change some of it, and submit."""
    await press(desk, user, "Edit", action_id=f"edit:{item}")
    view = await window(desk, user, "Change this action")
    keys = inputs(view)
    typed = {keys[name]: value for name, value in values.items()}
    return dict(await desk.slack.submit(user, typed))


def inputs(view: Json) -> dict[str, str]:
    """The block of each input, by its label."""
    return {b["label"]["text"]: b["block_id"] for b in view["blocks"] if b["type"] == "input"}


async def test_each_action_is_decided_by_itself_and_the_last_one_sends_the_answer(
    desk: Desk,
) -> None:
    review_id = await ask(desk, BOTH)
    await press(desk, "U0ALICE", "Approve", action_id="approve:0")
    assert await answers(desk, review_id) == []
    shown = await card(desk)
    assert "1 of 2 decided" in shown
    assert "approve:0" not in shown

    await press(desk, "U0DANA", "Reject", action_id="reject:1")
    await window(desk, "U0DANA", "Reject this action", "2. Send email")
    await desk.slack.submit("U0DANA", {"reason": "Say within 10 days."})
    (answer,) = await answers(desk, review_id)
    assert answer == {
        "decisions": [
            {"type": "approve"},
            {"type": "reject", "message": "Say within 10 days."},
        ]
    }
    assert "1 approved, 1 rejected." in await card(desk)


async def test_details_hold_every_value_that_goes_into_an_action_as_it_is_now(
    desk: Desk,
) -> None:
    few = {f"setting_{number}": number for number in range(9)}
    paid = {**few, "iban": "GB29-OLD", "to": {"name": "Asha"}, "text": "y" * 400 + " and all of it"}
    await ask(desk, turn(("pay", paid, EVERY)), lambda _: TWO)
    assert (await edit(desk, "U0ALICE", Iban="GB99-NEW"))["status"] == 200
    shown = await card(desk)
    assert "GB99-NEW" not in shown  # there is no room for it
    assert "Also changed: " in shown
    await press(desk, "U0DANA", "Details", action_id="details")
    everything = str(await window(desk, "U0DANA", "What is asked"))
    for text in ("GB99-NEW", "Asha", "and all of it", "Also changed: "):
        assert text in everything
    assert "is *empty*" not in everything


def test_details_of_very_many_and_very_long_values_of_actions_keep_within_a_window() -> None:
    deep = {f"k{number}": {"x": "z" * 5_000} for number in range(30)}
    many = {f"s{number}": "v" * 290 for number in range(300)} | deep
    question = turn(*((f"tool_{number}", many, EVERY) for number in range(12)))
    shows = replace(DETAILS, card=of(question), arguments=(many,) * 12)
    made = details(shows)
    limits.check_view(made)
    assert "tool 9" in str(made).lower()
    assert "more values are in the whole record" in str(made)


async def test_an_edit_is_the_editors_approval_and_stands_on_the_card_before_and_after(
    desk: Desk,
) -> None:
    review_id = await ask(desk, BOTH, schemas={"issue_refund": AMOUNTS})
    before = await card(desk)
    assert (await edit(desk, "U0ALICE", Amount="3500"))["status"] == 200
    item = (await reviews.get(desk.database, review_id)).items[0]
    assert (item.outcome, item.arguments) == ("edited", {**REFUND, "amount": 3500})
    assert item.answer == {
        "type": "edit",
        "edited_action": {"name": "issue_refund", "args": {**REFUND, "amount": 3500}},
    }
    shown = await card(desk)
    assert "'text': '4,000', 'style': {'strike': True}" in shown
    assert "'text': '3,500', 'style': {'bold': True}" in shown
    assert before.split("version ")[1][:6] != shown.split("version ")[1][:6]
    (entry,) = await desk.audit("review.edited")
    assert (entry["before"]["amount"], entry["after"]["amount"]) == (4000, 3500)


async def test_what_does_not_fit_the_form_is_said_on_its_field_and_the_window_stays(
    desk: Desk,
) -> None:
    review_id = await ask(desk, BOTH, schemas={"issue_refund": AMOUNTS})
    answer = await edit(desk, "U0ALICE", Order="B-1")
    view = await window(desk, "U0ALICE", "Change this action")
    assert answer["response_action"] == "errors"
    assert list(answer["errors"]) == [inputs(view)["Order"]]
    assert (await reviews.get(desk.database, review_id)).items[0].status == "open"

    mended = await desk.slack.submit("U0ALICE", {inputs(view)["Order"]: "A-2232"})
    assert mended["status"] == 200
    assert (await reviews.get(desk.database, review_id)).items[0].arguments["order"] == "A-2232"
    assert desk.slack.views("U0ALICE") == []


async def test_an_edit_takes_away_the_votes_before_it_and_their_voters_are_told(
    desk: Desk,
) -> None:
    review_id = await ask(desk, BOTH, lambda _: TWO)
    await press(desk, "U0DANA", "Approve", action_id="approve:0")
    await card(desk)
    assert (await edit(desk, "U0ALICE", Amount="3500"))["status"] == 200
    review = await reviews.get(desk.database, review_id)
    assert [vote.voter for vote in review.items[0].standing_votes()] == ["U0ALICE"]
    assert "1 of 2 approvals" in await card(desk)
    (message,) = desk.slack.messages("D0DANA")
    assert "does not count any more" in str(message["blocks"])
    assert "3,500" in str(message["blocks"])
    assert "4,000" in str(message["blocks"])

    await press(desk, "U0DANA", "Approve", action_id="approve:0")
    item = (await reviews.get(desk.database, review_id)).items[0]
    assert (item.outcome, item.answer["edited_action"]["args"]["amount"]) == ("edited", 3500)


async def test_a_click_on_the_card_from_before_an_edit_is_told_what_changed(desk: Desk) -> None:
    review_id = await ask(desk, BOTH, lambda _: TWO)
    (old,) = desk.slack.messages("C0CREDIT")
    await edit(desk, "U0ALICE", Amount="3500")
    await press(desk, "U0DANA", "Approve", action_id="approve:0", ts=old["ts"])
    said = await told(desk, "U0DANA")
    assert "changed this request while you were reading" in said
    assert "4,000" in said
    assert "3,500" in said
    assert "not counted" in said
    assert len((await reviews.get(desk.database, review_id)).items[0].standing_votes()) == 1
    (entry,) = await desk.audit("vote.refused")
    assert (entry["actor"], entry["why"]) == ("U0DANA", "Superseded")


async def test_who_changed_an_action_may_not_approve_it_where_the_rule_says_so(
    desk: Desk,
) -> None:
    rule = CREDIT.model_copy(update={"editor_may_decide": False})
    review_id = await ask(desk, BOTH, lambda _: rule)
    await press(desk, "U0ALICE", "Edit", action_id="edit:0")
    view = await window(desk, "U0ALICE", "Change this action")
    assert view["submit"]["text"] == "Change it"
    await desk.slack.submit("U0ALICE", {inputs(view)["Amount"]: "3500"})
    await card(desk)
    await press(desk, "U0ALICE", "Approve", action_id="approve:0")
    assert "someone else has to approve it" in await told(desk, "U0ALICE")
    await press(desk, "U0DANA", "Approve", action_id="approve:0")
    assert (await reviews.get(desk.database, review_id)).items[0].outcome == "edited"


async def test_approve_both_approves_what_one_may_and_tells_what_not(desk: Desk) -> None:
    review_id = await ask(desk, BOTH, by_tool)
    await press(desk, "U0ALICE", "Approve both")
    said = await told(desk, "U0ALICE")
    assert "1. Issue refund" in said
    assert "Not approved: 2. Send email. It is for other people to decide." in said
    items = (await reviews.get(desk.database, review_id)).items
    assert [item.status for item in items] == ["decided", "open"]
    refused = await desk.audit("vote.refused")
    assert [(entry["actor"], entry["why"]) for entry in refused] == [("U0ALICE", "Refused")]
    await press(desk, "U0CHARLIE", "Approve", action_id="approve:1")
    assert "Nothing was changed" in await told(desk, "U0CHARLIE")


async def test_approve_both_by_somebody_who_may_neither_is_one_refusal(desk: Desk) -> None:
    review_id = await ask(desk, BOTH)
    await press(desk, "U0CHARLIE", "Approve both")
    assert "You cannot decide this" in await told(desk, "U0CHARLIE")
    assert len(await desk.audit("vote.refused")) == 2
    assert (await reviews.get(desk.database, review_id)).votes == ()
    await press(desk, "U0ALICE", "Approve both")
    assert (await reviews.get(desk.database, review_id)).outcome == "approved"


@pytest.mark.parametrize(("verb", "title"), [("edit", "Edit"), ("reject", "Reject")])
async def test_whoever_may_not_decide_an_action_is_told_before_they_write(
    desk: Desk, verb: str, title: str
) -> None:
    await ask(desk, BOTH, by_tool)
    await press(desk, "U0ALICE", title, action_id=f"{verb}:1")
    await window(desk, "U0ALICE", "Nothing was changed")
    (entry,) = await desk.audit("vote.refused")
    assert (entry["actor"], entry["item"]) == ("U0ALICE", 1)


async def test_an_action_that_has_only_a_line_is_reviewed_and_decided_in_a_window(
    desk: Desk,
) -> None:
    calls = [("issue_refund", {**REFUND, "amount": n}, EVERY) for n in range(1, 15)]
    review_id = await ask(desk, turn(*calls))
    await press(desk, "U0ALICE", "Review", action_id="review:6")
    await window(desk, "U0ALICE", "7. Issue refund", "approve:6")
    await desk.slack.click("U0ALICE", action_id="approve:6")
    await window(desk, "U0ALICE", "approved by")
    assert (await reviews.get(desk.database, review_id)).items[6].outcome == "approved"
    await desk.slack.act("close", user="U0ALICE")

    await press(desk, "U0ALICE", "Show the other 3")
    await window(desk, "U0ALICE", "review:13")
    await desk.slack.click("U0ALICE", action_id="review:13")
    await window(desk, "U0ALICE", "reject:13")
    await desk.slack.click("U0ALICE", action_id="reject:13")
    await window(desk, "U0ALICE", "Reject this action")
    answer = await desk.slack.submit("U0ALICE", {"reason": "It was refunded already."})
    assert answer["status"] == 200
    assert desk.slack.views("U0ALICE") == []
    assert (await reviews.get(desk.database, review_id)).items[13].outcome == "rejected"

    await press(desk, "U0CHARLIE", "Review", action_id="review:7")
    await window(desk, "U0CHARLIE", "Nothing was shown")


async def test_an_old_button_of_an_action_that_is_decided_tells_who_was_first(desk: Desk) -> None:
    await ask(desk, BOTH)
    await press(desk, "U0ALICE", "Approve", action_id="approve:0")
    await press(desk, "U0DANA", "Approve", action_id="approve:0")
    said = await told(desk, "U0DANA")
    assert "U0ALICE" in said
    assert "before your click arrived" in said


@pytest.mark.parametrize("verb", ["approve:9", "approve:x", "fly:0", "approve"])
async def test_a_button_of_an_action_that_is_not_there_is_recorded_and_told(
    desk: Desk, verb: str
) -> None:
    from tests.bot.test_clicks import interaction, pressed

    review_id = await ask(desk, BOTH)
    assert (await interaction(desk, **pressed(verb, f"{review_id}.1", team="T0SAYSO")))[0] == 200
    assert "not known here" in await told(desk, "U0ALICE")
    assert len(await desk.audit("click.unknown")) == 1
    assert (await reviews.get(desk.database, review_id)).votes == ()


async def test_a_question_with_a_form_is_filled_in_and_its_answer_fits(desk: Desk) -> None:
    schema = {
        "title": "Delivery",
        "type": "object",
        "properties": {"day": {"type": "string", "format": "date"}, "boxes": {"type": "integer"}},
        "required": ["day", "boxes"],
    }
    review_id = await ask(desk, {"supplier": "Asha Traders"}, schema=schema)
    await press(desk, "U0ALICE", "Fill in")
    view = await window(desk, "U0ALICE", "Delivery", "Boxes")
    keys = inputs(view)
    answer = await desk.slack.submit("U0ALICE", {keys["Day"]: "2027-01-05", keys["Boxes"]: "3"})
    assert answer["status"] == 200
    assert await answers(desk, review_id) == [{"day": "2027-01-05", "boxes": 3}]


@pytest.mark.parametrize(
    ("label", "outcome", "said"),
    [("Continue", "continued", {"do": "continue"}), ("Stop", "stopped", {"do": "stop"})],
)
async def test_a_stop_before_a_step_is_let_through_or_ended(
    desk: Desk, label: str, outcome: str, said: Json
) -> None:
    review_id = await ask(desk, {"version": "2.14", "servers": 6}, kind="breakpoint")
    assert "Stop here?" in await card(desk)
    await press(desk, "U0ALICE", label)
    review = await reviews.get(desk.database, review_id)
    assert (review.outcome, await answers(desk, review_id)) == (outcome, [said])


async def test_the_values_before_a_step_are_changed_and_only_those(desk: Desk) -> None:
    review_id = await ask(desk, {"version": "2.14", "servers": 6}, kind="breakpoint")
    await press(desk, "U0ALICE", "Change values")
    view = await window(desk, "U0ALICE", "Change values", "Servers")
    keys = inputs(view)
    await desk.slack.submit("U0ALICE", {keys["Servers"]: "4"})
    assert await answers(desk, review_id) == [{"do": "change", "values": {"servers": 4}}]
    assert "Values changed and let through." in await card(desk)


async def test_an_option_beyond_the_buttons_is_chosen_from_the_menu(desk: Desk) -> None:
    question = {"question": "Where to?", "options": [f"City {n}" for n in range(1, 31)]}
    review_id = await ask(desk, question)
    await press(desk, "U0ALICE", "City 27", action_id="more_answers")
    assert await answers(desk, review_id) == ["City 27"]


async def test_a_card_that_was_set_aside_says_why_and_leads_to_the_new_one(desk: Desk) -> None:
    first = await ask(desk, BOTH)
    thread_id = (await reviews.get(desk.database, first)).thread_id
    changed = turn(("issue_refund", {**REFUND, "amount": 45}, EVERY))
    second = await ask(desk, changed, thread_id=thread_id)
    old, new = desk.slack.messages("C0CREDIT")
    assert "The question changed while it was waiting. A new card was opened." in str(old["blocks"])
    assert "'url'" not in str(old["blocks"])  # it was not posted yet
    async with desk.database.transaction() as connection:
        await lead_to(connection, await reviews.get(connection, second))
    await press(desk, "U0ALICE", "New card", ts=old["ts"])
    await window(desk, "U0ALICE", "approve:0", f"{second}.1")
    assert "approve:0" in str(new["blocks"])
    await desk.slack.click("U0ALICE", action_id="approve:0")
    await window(desk, "U0ALICE", "Approved.")
    assert (await reviews.get(desk.database, second)).outcome == "approved"
    await desk.post_all()
    assert f"/archives/C0CREDIT/p{new['ts'].replace('.', '')}" in str(
        desk.slack.messages("C0CREDIT")[0]["blocks"]
    )


async def test_the_window_of_an_old_card_gives_the_words_back_and_says_what_changed(
    desk: Desk,
) -> None:
    await ask(desk, BOTH, lambda _: TWO)
    await press(desk, "U0DANA", "Reject", action_id="reject:0")
    await window(desk, "U0DANA", "Reject this action")
    await edit(desk, "U0ALICE", Amount="3500")
    answer = await desk.slack.submit("U0DANA", {"reason": "Too much."})
    assert answer["response_action"] == "update"
    view = str(await window(desk, "U0DANA", "Not counted", "Too much."))
    assert "from 4,000 to 3,500" in view
    (entry,) = await desk.audit("vote.refused")
    assert (entry["actor"], entry["why"]) == ("U0DANA", "Superseded")


async def test_a_form_of_before_a_change_is_not_counted_and_not_mended(desk: Desk) -> None:
    await ask(desk, BOTH, lambda _: TWO, schemas={"issue_refund": AMOUNTS})
    await press(desk, "U0DANA", "Edit", action_id="edit:0")
    view = await window(desk, "U0DANA", "Change this action")
    await edit(desk, "U0ALICE", Amount="3500")
    answer = await desk.slack.submit("U0DANA", {inputs(view)["Order"]: "nothing that fits"})
    assert answer["response_action"] == "update"
    assert "nothing that fits" in str(await window(desk, "U0DANA", "Not counted"))


async def test_when_one_question_is_decided_the_others_say_how_many_are_open(desk: Desk) -> None:
    first = await ask(desk, BOTH)
    thread_id = (await reviews.get(desk.database, first)).thread_id
    await ask(desk, {"question": "Which day?"}, thread_id=thread_id, interrupt="b" * 32)
    async with desk.database.transaction() as connection:
        wishes = Wishes(desk.present)
        await wishes(connection, "card", str(first))  # as settle does for all of the thread
    await desk.post_all()
    one, other = desk.slack.messages("C0CREDIT")
    assert "1 more question of this request is open" in str(one["blocks"])
    assert "1 more question of this request is open" in str(other["blocks"])
    await press(desk, "U0ALICE", "Approve both", ts=one["ts"])
    assert "more question" not in await card(desk)


FAILED = """update sayso.threads set mark = 'failed', error = jsonb_build_object('node', $2::text,
  'type', 'KeyError', 'message', 'rate', 'attempt', 1, 'attempts', 1, 'at', now()) where id = $1"""


async def failed(desk: Desk, node: str, requester: str = "U0BOB") -> int:
    """A question that was decided, and whose thread failed in that step afterwards."""
    review_id = await ask(desk, BOTH, thread_id=await desk.thread(requester))
    await press(desk, "U0ALICE", "Approve both")
    review = await reviews.get(desk.database, review_id)
    await desk.database.execute("update sayso.mailbox set consumed_at = now()")
    await desk.database.execute(FAILED, review.thread_id, node)
    async with desk.database.transaction() as connection:
        wishes = Wishes(desk.present)
        await wishes(connection, "card", str(review_id))
    return review_id


async def test_where_the_asking_step_failed_its_answer_can_be_dropped_by_who_decides(
    desk: Desk,
) -> None:
    review_id = await failed(desk, "tools")
    assert "ask_again" in await card(desk)
    for user in ("U0BOB", "U0CHARLIE"):
        await press(desk, user, "Ask again")
        assert "cannot let this" in await told(desk, user)
    refused = await desk.audit("ask_again.refused")
    assert {entry["actor"] for entry in refused} == {"U0BOB", "U0CHARLIE"}

    await press(desk, "U0DANA", "Ask again")
    review = await reviews.get(desk.database, review_id)
    waiting = await mailbox.waiting(desk.database, review.thread_id)
    assert [row.kind for row in waiting] == ["retry"]
    assert [entry["actor"] for entry in await desk.audit("thread.asked_again")] == ["U0DANA"]


async def test_who_may_not_decide_the_own_request_may_not_drop_what_others_decided(
    desk: Desk,
) -> None:
    await failed(desk, "tools", "U0DANA")
    await card(desk)
    await press(desk, "U0DANA", "Ask again")
    assert "cannot let this" in await told(desk, "U0DANA")
    assert await desk.audit("thread.asked_again") == []


async def test_from_an_older_card_nobody_drops_the_answer_to_a_later_question_of_the_step(
    desk: Desk,
) -> None:
    older = await ask(desk, BOTH)
    await press(desk, "U0ALICE", "Approve both")
    thread_id = (await reviews.get(desk.database, older)).thread_id
    later = turn(("issue_refund", REFUND, EVERY))
    await ask(desk, later, lambda _: HEADS, thread_id=thread_id, interrupt="b" * 32)
    await press(desk, "U0ERIN", "Approve", action_id="approve:0")
    await desk.database.execute("update sayso.mailbox set consumed_at = now()")
    await desk.database.execute(FAILED, thread_id, "tools")
    async with desk.database.transaction() as connection:
        await Wishes(desk.present)(connection, "card", str(older))
    await desk.post_all()
    first = desk.slack.messages("C0CREDIT")[0]
    await press(desk, "U0DANA", "Ask again", ts=first["ts"])  # who may not decide the later one
    await told(desk, "U0DANA")
    assert await mailbox.waiting(desk.database, thread_id) == []
    assert await desk.audit("thread.asked_again") == []
    assert [entry["actor"] for entry in await desk.audit("ask_again.refused")] == ["U0DANA"]


async def test_where_another_step_failed_there_is_no_asking_again(desk: Desk) -> None:
    await failed(desk, "send")
    shown = await card(desk)
    assert "ask_again" not in shown
    assert "try_again" in shown


async def test_what_was_done_before_a_rewind_is_said_and_asked_about_again(desk: Desk) -> None:
    thread_id = await desk.thread()
    await desk.database.execute(
        """update sayso.threads set rewound = jsonb_build_object('by', 'U0OSCAR', 'by_name',
           'Oscar', 'at', now(), 'step', 3, 'past', jsonb_build_array(jsonb_build_object(
           'node', 'tools', 'outcome', '4,000 refunded, reference RF-7719.'))) where id = $1""",
        thread_id,
    )
    await ask(desk, BOTH, thread_id=thread_id)
    shown = await card(desk)
    assert "done already, before it is asked here again: 4,000 refunded" in shown
    assert shown.count("'confirm': {'title'") == 3


@pytest.mark.parametrize(
    ("reason", "says", "not_said"),
    [
        (
            "The step tools reads amount, which was int and is str. `sayso threads retry X` lets "
            "the thread go on.",
            "This changed: The step tools reads amount, which was int and is str.",
            "sayso threads",
        ),
        ("Checkpoint 1 of thread 2 has lost the values of x.", "has to be mended", "Checkpoint"),
    ],
)
async def test_a_held_card_says_what_changed_and_not_what_is_for_those_who_run_it(
    desk: Desk, reason: str, says: str, not_said: str
) -> None:
    review_id = await ask(desk, BOTH)
    thread_id = (await reviews.get(desk.database, review_id)).thread_id
    await desk.database.execute(
        "update sayso.threads set mark = 'held', mark_reason = $2 where id = $1", thread_id, reason
    )
    async with desk.database.transaction() as connection:
        wishes = Wishes(desk.present)
        await wishes(connection, "card", str(review_id))
    shown = await card(desk)
    assert "On hold." in shown
    assert says in shown
    assert not_said not in shown
