"""The record in a file: exported, checked without the database, and told as a story."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import exports
from checkpoints.database import Database
from graphs import audit, reviews, votes
from graphs.plain import digest, plain
from graphs.sealing import START, Broken, Head, Sealed, chained, leaf_of
from graphs.specs import People, Rule
from memory import customers
from tests.bot.conftest import Desk
from tests.bot.test_commands import Terminal
from tests.graphs.conftest import voter

ALICE = Rule(approvers=People(users=("U0ALICE",)))


@pytest.fixture
def terminal(database_url: str, tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, database_url)


async def decided(database: Database, thread_id: str) -> None:
    """A question of the thread that Charlie was refused and Alice rejected."""
    question = {"question": "Pay \x1b[31m60,000?"}
    async with database.transaction() as connection:
        put = await reviews.put(
            connection,
            thread_id=thread_id,
            graph="loan",
            asked=reviews.Asked("a" * 32, "ask", "1", question, digest(question)),
            audience="reviewers",
            rule_for=lambda _: ALICE,
        )
        assert put is not None
        await audit.record(
            connection, "review.opened", thread_id=thread_id, review_id=put.review_id,
            detail={"node": "ask", "hash": digest(question), "rules": [ALICE.model_dump()]},
        )  # fmt: skip
        for who in ("U0CHARLIE", "U0ALICE"):
            await votes.vote(
                connection, review_id=put.review_id, answer={"decision": "reject"},
                voter=voter(who), note="=1+1",
            )  # fmt: skip


async def test_the_record_is_exported_checked_and_told(desk: Desk, terminal: Terminal) -> None:
    thread_id = await desk.thread()
    await decided(desk.database, thread_id)
    code, _, err = await terminal.run("audit", "export", "--out", "all.jsonl")
    assert code == 0, err
    kept = err.partition("chain is ")[2].partition(". Keep")[0]
    code, out, err = await terminal.run("audit", "verify", "all.jsonl", "--head", kept)
    assert (code, f"Whole, up to the head {kept}." in out, err) == (0, True, "")
    count = kept.partition(":")[0]
    assert f"It shows {count} of the {count} entries from place 1 on" in out
    code, _, err = await terminal.run("audit", "verify", "all.jsonl", "--head", "")
    assert (code, "the head that was kept" in err) == (1, True)
    code, _, err = await terminal.run("audit", "verify", "all.jsonl")
    assert (code, "could have written all of it anew" in err) == (0, True)

    file = terminal.directory / "all.jsonl"
    changed = file.read_text().replace('"U0CHARLIE"', '"U0ALICE"', 1)
    (terminal.directory / "forged.jsonl").write_text(changed)
    code, _, err = await terminal.run("audit", "verify", "forged.jsonl")
    assert (code, "the entry was changed" in err) == (1, True)
    code, _, err = await terminal.run("audit", "export", "--out", "all.jsonl")
    assert (code, "is there already" in err, file.read_text() == changed) == (2, True, False)

    code, out, err = await terminal.run(
        "audit", "export", "--format", "csv", "--approver", "U0ALICE", "--thread", thread_id
    )
    assert code == 0, err
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {row["actor"] for row in rows if row["id"]} == {"U0ALICE"}
    (terminal.directory / "part.csv").write_text(out)
    head = err.partition("chain is ")[2].partition(". Keep")[0]
    code, _, err = await terminal.run("audit", "verify", "part.csv", "--head", head)
    assert (code, err) == (0, "")
    told = reversed(await audit.recent(desk.database))
    assert [one.detail["about"] for one in told if one.what == "audit.exported"] == [
        {},
        {"thread_id": thread_id, "actor": "U0ALICE"},
    ]

    async with desk.database.transaction() as connection:
        asha = await customers.create(connection, "Asha Traders")
        await customers.create(connection, "Kiran Foods")
        about_her = "update sayso.threads set customer_id = $1, customer_name = $2"
        await connection.execute(about_her, asha.id, asha.name)
    for about, shown in (
        (("--graph", "loan"), True), (("--graph", "refund"), False),
        (("--customer", "asha traders"), True), (("--customer", "Kiran Foods"), False),
        (("--since", "2020-01-01"), True),
        (("--since", "2020-01-01", "--until", "2020-01-02"), False),
    ):  # fmt: skip
        code, out, err = await terminal.run("audit", "export", *about)
        assert (code, "U0CHARLIE" in out) == (0, shown), (about, err)

    code, page, err = await terminal.run("audit", "story", thread_id)
    assert code == 0, err
    assert "ask asks U0ALICE" in page
    assert "Charlie (U0CHARLIE): tried to say reject and was refused: not_allowed" in page
    assert "Alice (U0ALICE): said reject" in page
    assert "“=1+1”" in page
    assert "\x1b" not in page
    assert len(page.splitlines()) < 30


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
ENTRIES = st.fixed_dictionaries(
    {
        "id": st.integers(1, 2**60),
        "at": st.datetimes().map(lambda at: at.isoformat()),
        "what": st.text(max_size=9),
        "actor": st.text(max_size=9) | st.sampled_from(["=1+1", "'x", "''=x", "@a", "-1"]),
        "thread_id": st.none() | st.text(min_size=1, max_size=9),
        "review_id": st.none() | st.integers(1, 2**60),
        "detail": st.dictionaries(st.text(max_size=5), JSON),
        "salt": st.uuids().map(str),
    }
).map(plain)


@given(entries=st.lists(ENTRIES, max_size=4), kind=st.sampled_from(["jsonl", "csv"]))
def test_whatever_was_written_is_read_back_and_leads_to_the_same_head(
    entries: list[dict[str, Any]], kind: exports.Format
) -> None:
    last, places = START, []
    for position, entry in enumerate(entries, 1):
        leaf = leaf_of(entry)
        last = chained(last, position, leaf)
        places.append(Sealed(position, leaf.hex(), last.hex(), entry))
    file = io.StringIO(newline="")
    exports.write(file, kind, Head(0, START.hex()), places)
    file.seek(0)
    anchor, found = exports.read(file)
    assert exports.sealing.verify(anchor, found) == Head(len(entries), last.hex())
    if kind == "csv":  # nothing that a spreadsheet would run
        file.seek(0)
        for row in csv.reader(file):
            assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "does not begin with the place before"),
        ("not json", "Line 1 of the file is no line of a record (it is not JSON)"),
        ("[1]", "it is not an object"),
        ('{"position": 0, "hash": "zz"}', "a hash is not one"),
        ("position,hash\n1,2\n", "it has other columns"),
        ('{"position": "0", "hash": ""}', "does not begin"),
    ],
)
def test_a_file_that_is_no_record_is_refused_by_its_line(text: str, says: str) -> None:
    with pytest.raises(exports.NoRecord) as raised:
        anchor, places = exports.read(io.StringIO(text))
        exports.sealing.verify(anchor, places)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("jsonl", '"n": 1', '"n": 99, "n": 1'),
        ("jsonl", '"detail": {"n": 1}', '"detail": {"n": 99}, "detail": {"n": 1}'),
        ("jsonl", '"actor"', '"approved by": "U0BOSS", "actor"'),
        ("jsonl", '"position": 1', '"position": true'),
        ("jsonl", '{"position": 0', '{"actor": "U0BOSS", "position": 0'),
        ("csv", '{""n"": 1}', '{""n"": 99, ""n"": 1}'),
        ("csv", '"U0EVE"', '"\'U0EVE"'),
        ("csv", '"7"', '"007"'),
        ("csv", '"salt"', '"salt","detail"'),
    ],
)
def test_a_line_that_can_be_read_in_two_ways_or_says_more_is_refused(
    kind: exports.Format, old: str, new: str
) -> None:
    entry = {
        "id": 7, "at": "2026-01-01T00:00:00.000000+00:00", "what": "vote.counted",
        "actor": "U0EVE", "thread_id": "t", "review_id": 1, "detail": {"n": 1},
        "salt": "12345678-1234-5678-1234-567812345678",
    }  # fmt: skip
    leaf = leaf_of(entry)
    last = chained(START, 1, leaf)
    out = io.StringIO(newline="")
    place = Sealed(1, leaf.hex(), last.hex(), entry)
    exports.write(out, kind, Head(0, START.hex()), [place])
    text = out.getvalue()
    assert exports.sealing.verify(*exports.read(io.StringIO(text))) == Head(1, last.hex())
    assert old in text
    with pytest.raises(exports.NoRecord):
        exports.sealing.verify(*exports.read(io.StringIO(text.replace(old, new, 1))))


def test_a_line_that_is_no_entry_is_broken_and_not_an_accident() -> None:
    zeros = START.hex()
    lines = [
        {"position": 0, "hash": zeros},
        {"position": 1, "hash": zeros, "leaf": zeros, "id": [], "salt": {}, "detail": "x"},
    ]
    anchor, places = exports.read(io.StringIO("\n".join(map(json.dumps, lines))))
    assert exports.sealing.verify(anchor, places) == Broken(1, "it is no entry of a record")
