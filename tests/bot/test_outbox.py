"""What Slack does not show, from a terminal: listed with why, and tried again by an operator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot import posts
from checkpoints.database import Database
from graphs import audit
from tests.bot.conftest import Desk
from tests.bot.test_commands import Terminal


@pytest.fixture
def terminal(database_url: str, tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, database_url)


async def put(
    database: Database, subject: str, *, parked: bool = False, shown: bool = False
) -> str:
    """A notice that waits in C0OPS; one that was put later is younger."""
    async with database.transaction() as connection:
        await posts.want(connection, posts.NOTICE, subject, "C0OPS", body={"what": "other"})
    return str(
        await database.fetchval(
            """update sayso.posts
            set due_at = now() + interval '10 minutes',
                parked_at = case when $2 then now() end,
                error = case when $2 then 'is_archived' end,
                shown = case when $3 then wanted else 0 end
            where subject = $1
            returning id""",
            subject, parked, shown,
        )
    )  # fmt: skip


async def due(database: Database) -> list[str]:
    """The ids of what would be sent now."""
    rows = await database.fetch("select id from sayso.posts where due_at <= now() order by id")
    return [str(row["id"]) for row in rows]


async def recorded(database: Database, what: str) -> list[audit.Entry]:
    return [entry for entry in await audit.recent(database) if entry.what == what]


async def test_what_slack_does_not_show_is_listed_oldest_first_with_why_it_is_parked(
    terminal: Terminal, database: Database
) -> None:
    parked = await put(database, "first", parked=True)
    await put(database, "stands already", shown=True)
    waits = await put(database, "second")
    listed = await terminal.json("posts", "list")
    assert [(one["id"], one["error"]) for one in listed] == [(parked, "is_archived"), (waits, None)]
    assert [one["id"] for one in await terminal.json("posts", "list", "--parked")] == [parked]
    _, out, _ = await terminal.run("posts", "list")
    assert parked in out
    assert "is_archived" in out


async def test_only_what_is_parked_is_tried_again_and_the_record_says_by_whom(
    terminal: Terminal, database: Database
) -> None:
    parked = [await put(database, name, parked=True) for name in ("a", "b", "c")]
    waits = await put(database, "d")
    retried = await terminal.json("posts", "retry", parked[0][:23])
    assert [one["id"] for one in retried] == [parked[0]]
    assert await due(database) == [parked[0]]
    (entry,) = await recorded(database, "post.retried")
    assert entry.actor.startswith("cli:")
    assert (entry.detail["id"], entry.detail["error"]) == (parked[0], "is_archived")

    for said, told in ((waits, "is not parked"), ("0123-none", "No message"), (" ", "No message")):
        code, out, err = await terminal.run("posts", "retry", said, "--json")
        assert (code, json.loads(out), told in err) == (1, [], True), err
        assert "Nothing was changed" in err
    assert len(await recorded(database, "post.retry_refused")) == 3
    assert await due(database) == [parked[0]]

    retried = await terminal.json("posts", "retry", "--all")
    assert sorted(one["id"] for one in retried) == sorted(parked)
    assert await due(database) == sorted(parked)
    assert len(await recorded(database, "post.retried")) == 4


async def test_a_beginning_that_several_share_tries_nothing(
    terminal: Terminal, database: Database
) -> None:
    ids = [await put(database, name, parked=True) for name in ("a", "b")]
    for number, each in enumerate(ids):
        await database.execute(
            "update sayso.posts set id = $2::text::uuid where id = $1::text::uuid",
            each, f"abcdef00-0000-4000-8000-00000000000{number}",
        )  # fmt: skip
    code, out, err = await terminal.run("posts", "retry", "ABCDEF")
    assert (code, out) == (1, "")
    assert "Write more of the id" in err
    assert await due(database) == []
    for words in ((), ("abc", "--all")):
        code, _, err = await terminal.run("posts", "retry", *words)
        assert (code, "--all" in err) == (2, True)


async def test_a_card_of_an_archived_channel_is_retried_once_the_channel_is_back(
    desk: Desk, terminal: Terminal
) -> None:
    await desk.slack.misbehave(archive="C0CREDIT")
    await desk.review()
    await desk.post_all()
    (parked,) = await terminal.json("posts", "list", "--parked")
    assert (parked["kind"], parked["place"], parked["error"]) == (
        posts.CARD, "C0CREDIT", "is_archived",
    )  # fmt: skip
    # Slack's word that the channel is back would do it too; here it never comes.
    desk.slack.events_url = ""
    await desk.slack.misbehave(unarchive="C0CREDIT")
    await desk.post_all()
    assert desk.slack.messages("C0CREDIT") == []

    await terminal.json("posts", "retry", parked["id"])
    await desk.post_all()
    assert len(desk.slack.messages("C0CREDIT")) == 1
    assert await terminal.json("posts", "list", "--parked") == []
    assert (await terminal.run("posts", "retry", parked["id"]))[0] == 1
    await desk.post_all()
    assert len(desk.slack.messages("C0CREDIT")) == 1
