"""Modals: what a person may submit, what the app may answer, and what closes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from bot.simulator import LocalSlack
from bot.simulator.errors import Impossible
from bot.simulator.modals import REQUIRED, TROUBLE
from tests.simulator.conftest import App, actions, button, field_, modal, plain, section

Call = Callable[..., Any]
JSON = dict[str, Any]
SUBMIT = {"submit": plain("Reject"), "callback_id": "reject", "private_metadata": "412.1"}


@pytest.fixture
def opened(slack: LocalSlack, app: App, call: Call) -> Callable[..., Any]:
    """Open a modal for Alice."""

    async def one(*blocks: JSON, **more: Any) -> JSON:
        await slack.act("shortcut", user="U0ALICE", callback_id="start")
        trigger = app.last.body["trigger_id"]
        view = modal(*blocks, **{**SUBMIT, **more})
        answer = await call("views.open", trigger_id=trigger, view=view)
        assert answer["ok"], answer
        app.got.clear()
        return dict(answer["view"])

    return one


def says(app: App, **answer: Any) -> None:
    app.answer = lambda delivery: web.json_response(answer)


def chosen(kind: str) -> JSON:
    options = [{"text": plain(text), "value": text.lower()} for text in ("Yes", "No")]
    element = {"type": kind, "action_id": "choice", "options": options}
    return {**field_("choice"), "element": element}


async def test_what_was_typed_arrives_under_block_and_action(
    slack: LocalSlack, app: App, opened: Callable[..., Any]
) -> None:
    await opened(field_(), chosen("radio_buttons"), field_("note") | {"optional": True})
    result = await slack.submit("U0ALICE", {"reason": "Too risky", "choice": "No"})
    payload = app.last.body
    assert payload["type"] == "view_submission"
    assert (payload["view"]["callback_id"], payload["view"]["private_metadata"]) == (
        "reject",
        "412.1",
    )
    values = payload["view"]["state"]["values"]
    assert values["reason"]["text"] == {"type": "plain_text_input", "value": "Too risky"}
    assert values["choice"]["choice"]["selected_option"]["value"] == "no"
    assert values["note"]["text"]["value"] is None
    assert result == {
        "ok": True,
        "status": 200,
        "response_action": None,
        "errors": None,
        "error": None,
    }
    assert slack.views("U0ALICE") == []


async def test_a_required_field_left_empty_never_reaches_the_app(
    slack: LocalSlack, app: App, opened: Callable[..., Any]
) -> None:
    await opened(field_())
    result = await slack.submit("U0ALICE")
    assert (result["ok"], result["errors"]) == (False, {"reason": REQUIRED})
    assert app.got == []
    assert (await slack.submit("U0ALICE", force=True))["status"] == 200


@pytest.mark.parametrize(
    ("element", "value", "wrong"),
    [
        ({"max_length": 3}, "four", "Please use at most 3 characters."),
        ({"min_length": 5}, "four", "Please use at least 5 characters."),
        ({"type": "number_input", "is_decimal_allowed": False}, "1.5", "Please enter a number."),
        (
            {"type": "number_input", "is_decimal_allowed": False, "min_value": "1000"},
            "999",
            "Please enter at least 1000.",
        ),
        (
            {"type": "number_input", "is_decimal_allowed": True, "max_value": "9"},
            "9.5",
            "Please enter at most 9.",
        ),
    ],
)
async def test_a_value_that_slacks_own_window_refuses_never_reaches_the_app(
    slack: LocalSlack,
    app: App,
    opened: Callable[..., Any],
    element: JSON,
    value: str,
    wrong: str,
) -> None:
    await opened(field_(**element))
    assert (await slack.submit("U0ALICE", {"reason": value}))["errors"] == {"reason": wrong}
    assert app.got == []


async def test_errors_of_the_app_leave_the_modal_open(
    slack: LocalSlack, app: App, opened: Callable[..., Any]
) -> None:
    await opened(field_())
    says(app, response_action="errors", errors={"reason": "Say more."})
    result = await slack.submit("U0ALICE", {"reason": "No"})
    assert (result["response_action"], result["errors"]) == ("errors", {"reason": "Say more."})
    assert len(slack.views("U0ALICE")) == 1


@pytest.mark.parametrize(
    ("answer", "refused"),
    [
        ({"response_action": "errors", "errors": {"nowhere": "x"}}, "invalid_errors"),
        ({"response_action": "errors", "errors": {}}, "invalid_errors"),
        ({"response_action": "vanish"}, "invalid_response_action"),
        ({"response_action": "update", "view": modal(title=plain("t" * 25))}, "invalid_arguments"),
        ({"response_action": "update"}, "invalid_arguments"),
    ],
)
async def test_an_answer_that_slack_would_not_take_is_the_warning_people_see(
    slack: LocalSlack, app: App, opened: Callable[..., Any], answer: JSON, refused: str
) -> None:
    await opened(field_())
    says(app, **answer)
    result = await slack.submit("U0ALICE", {"reason": "No"})
    assert (result["ok"], result["error"], result["refused"]) == (False, TROUBLE, refused)
    assert len(slack.views("U0ALICE")) == 1


async def test_an_app_that_fails_leaves_the_modal_with_a_warning(
    slack: LocalSlack, app: App, opened: Callable[..., Any]
) -> None:
    await opened(field_())
    app.answer = lambda delivery: web.Response(status=500)
    result = await slack.submit("U0ALICE", {"reason": "No"})
    assert (result["ok"], result["status"], result["error"]) == (False, 500, TROUBLE)
    assert len(slack.views("U0ALICE")) == 1
    assert len(app.got) == 1


async def test_update_push_and_clear_do_what_they_say(
    slack: LocalSlack, app: App, opened: Callable[..., Any]
) -> None:
    first = await opened(field_())
    says(app, response_action="update", view=modal(field_(), title=plain("Again"), **SUBMIT))
    await slack.submit("U0ALICE", {"reason": "No"})
    (updated,) = slack.views("U0ALICE")
    assert (updated["id"], updated["title"]["text"]) == (first["id"], "Again")
    assert updated["state"]["values"]["reason"]["text"]["value"] == "No"
    says(app, response_action="push", view=modal(section(), title=plain("On top"), **SUBMIT))
    await slack.submit("U0ALICE")
    assert [one["title"]["text"] for one in slack.views("U0ALICE")] == ["Again", "On top"]
    says(app, response_action="clear")
    await slack.submit("U0ALICE")
    assert slack.views("U0ALICE") == []


async def test_an_update_keeps_what_was_typed_under_the_same_ids(
    slack: LocalSlack, app: App, call: Call, opened: Callable[..., Any]
) -> None:
    view = await opened(field_(), field_("note") | {"optional": True})
    says(app, response_action="errors", errors={"reason": "Say more."})
    await slack.submit("U0ALICE", {"reason": "Kept", "note": "Lost"})
    after = modal(field_(), field_("other"), **SUBMIT)
    updated = await call("views.update", view_id=view["id"], view=after)
    values = updated["view"]["state"]["values"]
    assert values["reason"]["text"]["value"] == "Kept"
    assert values["other"]["text"]["value"] is None


async def test_a_close_is_told_only_when_the_view_asks_for_it(
    slack: LocalSlack, app: App, opened: Callable[..., Any]
) -> None:
    await opened(section())
    await slack.act("close", user="U0ALICE")
    assert app.got == []
    await opened(section(), notify_on_close=True)
    await slack.act("close", user="U0ALICE")
    payload = app.last.body
    assert (payload["type"], payload["is_cleared"]) == ("view_closed", False)
    assert slack.views("U0ALICE") == []


async def test_closing_the_whole_stack_sends_one_word(
    slack: LocalSlack, app: App, call: Call, opened: Callable[..., Any]
) -> None:
    view = modal(actions(button("Next", "next")), notify_on_close=True)
    await opened(actions(button("Next", "next")), notify_on_close=True)
    await slack.click("U0ALICE", action_id="next")
    await call("views.push", trigger_id=app.last.body["trigger_id"], view=view)
    app.got.clear()
    await slack.act("close", user="U0ALICE", all=True)
    (told,) = app.got
    assert told.body["is_cleared"]
    assert slack.views("U0ALICE") == []


async def test_a_click_in_a_modal_carries_the_view_with_what_is_chosen(
    slack: LocalSlack, app: App, opened: Callable[..., Any]
) -> None:
    kinds = chosen("static_select")["element"]
    view = await opened(actions(kinds, block_id="pick"))
    await slack.click("U0ALICE", action_id="choice", value="yes")
    payload = app.last.body
    assert payload["container"] == {"type": "view", "view_id": view["id"]}
    assert payload["view"]["state"]["values"]["pick"]["choice"]["selected_option"]["value"] == "yes"
    assert "response_url" not in payload


async def test_an_external_select_asks_the_app(
    slack: LocalSlack, app: App, opened: Callable[..., Any]
) -> None:
    element = {"type": "external_select", "action_id": "customer", "min_query_length": 1}
    await opened({**field_("customer"), "element": element})
    options = [{"text": plain("Asha Traders"), "value": "c1"}]
    says(app, options=options)
    told = await slack.act("suggest", user="U0ALICE", action_id="customer", value="ash")
    assert told["options"] == options
    assert (app.last.body["type"], app.last.body["value"]) == ("block_suggestion", "ash")
    says(app)
    await slack.submit("U0ALICE", {"customer": options[0]})
    values = app.last.body["view"]["state"]["values"]
    assert values["customer"]["customer"]["selected_option"] == options[0]


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        ({"values": {"nowhere": "x"}}, "nothing to fill in called nowhere"),
        ({"values": {"choice": "Perhaps"}}, "cannot be chosen here"),
        ({"view_id": "V0NONE"}, "This modal is not open"),
    ],
)
async def test_what_cannot_be_filled_in_is_said_with_what_can(
    slack: LocalSlack, opened: Callable[..., Any], act: JSON, sentence: str
) -> None:
    await opened(field_(), chosen("radio_buttons"))
    with pytest.raises(Impossible, match=sentence):
        await slack.act("submit", user="U0ALICE", **act)


async def test_nobody_submits_a_modal_that_is_not_theirs_or_has_no_submit(
    slack: LocalSlack, opened: Callable[..., Any], app: App, call: Call
) -> None:
    view = await opened(field_())
    with pytest.raises(Impossible, match="not open"):
        await slack.act("submit", user="U0BOB", view_id=view["id"], values={"reason": "x"})
    await slack.act("shortcut", user="U0BOB", callback_id="start")
    trigger = app.last.body["trigger_id"]
    await call("views.open", trigger_id=trigger, view=modal(section()))
    with pytest.raises(Impossible, match="nothing to submit"):
        await slack.submit("U0BOB")
