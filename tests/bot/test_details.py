"""Details as they are filled from the rows: the picture of the path, the history, the steps."""

from __future__ import annotations

import json
from typing import Any

from bot import app
from bot.pictures import drawer
from graphs import audit, reviews, steps
from graphs.registry import Registry
from graphs.steps import Told
from tests.bot.conftest import Desk, until
from tests.bot.test_uploads import PNG, look, press, window


def image_of(made: dict[str, Any]) -> dict[str, Any] | None:
    """The picture of a window."""
    return next((dict(one) for one in made["blocks"] if one["type"] == "image"), None)


async def drawn(desk: Desk, user: str = "U0ALICE") -> dict[str, Any]:
    """The window of Details once the worker has drawn the picture."""

    async def pictured() -> dict[str, Any]:
        await desk.post_all()
        made = window(desk, user)
        return made if made and image_of(made) else {}

    return dict(await until("the picture", pictured))


async def ref_of(desk: Desk) -> str:
    """What the buttons of the one review carry."""
    (review,) = await reviews.list_(desk.database)
    return f"{review.id}.{review.revision}"


async def test_details_get_the_picture_of_the_path_and_the_second_look_has_it_at_once(
    desk: Desk,
) -> None:
    desk.drawings.picture = PNG
    thread_id = await desk.thread()
    await desk.review(thread_id)
    await desk.post_all()
    plain = await look(desk, "U0ALICE")
    assert image_of(plain) is None
    shown = image_of(await drawn(desk))
    assert shown is not None
    file = shown["slack_file"]["id"]
    assert desk.slack.workspace.read_bytes(file) == PNG
    assert not [one for one in desk.slack.messages("C0CREDIT") if one.get("files")]

    await desk.slack.act("close", user="U0ALICE")
    again = await look(desk, "U0ALICE")
    assert image_of(again) == shown
    assert desk.drawings.drawn == [thread_id]


async def test_the_path_is_words_where_there_is_no_picture(desk: Desk) -> None:
    thread_id = await desk.thread()
    async with desk.database.transaction() as connection:
        told = [Told("1", "read_documents", "done"), Told("2", "human_review", "waiting")]
        await steps.tell(connection, thread_id, told)
    await desk.review(thread_id)
    await desk.post_all()
    made = await look(desk, "U0ALICE")
    await until("the drawing to be tried", lambda: desk.poster.run_once())
    await desk.post_all()
    assert desk.drawings.drawn == [thread_id]
    (path,) = [one for one in made["blocks"] if one["block_id"] == "path"]
    assert "→  ● " in path["elements"][0]["elements"][0]["text"]
    assert image_of(window(desk, "U0ALICE")) is None
    await desk.slack.act("close", user="U0ALICE")
    await look(desk, "U0ALICE")
    await desk.post_all()
    assert desk.drawings.drawn == [thread_id]


async def test_details_stay_as_they_are_where_slack_takes_no_picture(desk: Desk) -> None:
    desk.drawings.picture = PNG
    await desk.slack.misbehave(missing_scopes=["files:write"])
    await desk.review()
    await desk.post_all()
    made = await look(desk, "U0ALICE")
    await until("the drawing to be tried", lambda: desk.poster.run_once())
    assert window(desk, "U0ALICE")["blocks"] == made["blocks"]
    assert "missing_scope" not in str(desk.slack.messages("C0OPS"))


async def test_a_picture_that_slack_shows_no_more_is_left_out_and_drawn_anew(desk: Desk) -> None:
    desk.drawings.picture = PNG
    await desk.review()
    await desk.post_all()
    await look(desk, "U0ALICE")
    shown = image_of(await drawn(desk))
    assert shown is not None
    file = shown["slack_file"]["id"]
    row = desk.slack.workspace.get("files", file)
    assert row is not None
    desk.slack.workspace.put("files", file, {**row, "pending": True})
    await desk.slack.act("close", user="U0ALICE")
    assert image_of(await look(desk, "U0ALICE")) is None
    fresh = image_of(await drawn(desk))
    assert fresh is not None
    assert fresh["slack_file"]["id"] != file


async def test_the_history_says_who_did_what_and_is_turned_page_by_page(desk: Desk) -> None:
    await desk.review()
    await desk.post_all()
    (review,) = await reviews.list_(desk.database)
    async with desk.database.transaction() as connection:
        for _ in range(65):
            await audit.record(
                connection,
                "vote.refused",
                actor="U0CHARLIE",
                thread_id=review.thread_id,
                review_id=review.id,
                detail={"why": "NotAllowed"},
            )
    await press(desk, "U0ALICE", "history", await ref_of(desk))
    newest = dict(await until("the history", lambda: window(desk, "U0ALICE")))
    assert "page 3 of 3" in json.dumps(newest["blocks"])
    assert "tried to decide, refused: not allowed" in json.dumps(newest["blocks"])
    for page in ("2", "1"):
        await desk.slack.click("U0ALICE", action_id=f"history:{int(page) - 1}")
        says = f"page {page} of 3"
        await until("the page", lambda says=says: says in json.dumps(window(desk, "U0ALICE")))
    oldest = window(desk, "U0ALICE")
    assert oldest["id"] == newest["id"]
    assert " asked" in json.dumps(oldest["blocks"])
    assert len(await desk.audit("look.taken")) == 3


async def test_a_worker_draws_the_path_of_a_graph_that_it_has_loaded(desk: Desk) -> None:
    thread_id = await desk.thread()
    async with desk.database.transaction() as connection:
        told = [
            Told("1", "read_request", "done"),
            Told("2", "read_documents", "done"),
            Told("3", "human_review", "waiting"),
        ]
        await steps.tell(connection, thread_id, told)
    registry = app.registry_of(desk.settings)
    picture = await drawer(desk.database, registry)(thread_id)
    assert picture is not None
    assert picture.startswith(PNG[:8])
    without = Registry(registry.specs)
    assert await drawer(desk.database, without)(thread_id) is None
