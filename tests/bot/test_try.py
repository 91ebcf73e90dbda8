"""`sayso try` in real processes: over a pipe, once over a terminal, killed and started again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pty
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests import zygote
from tests.bot.conftest import until

ROOT = Path(__file__).parent.parent.parent
GRAPHS = Path(__file__).parent / "trial_graphs.py"
LOAN = {"text": "Loan for Asha Traders, 60000 for a delivery van"}
CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


@dataclass
class Talking:
    """One process; what it has shown so far, and what was read of that."""

    process: asyncio.subprocess.Process | zygote.Forked
    shown: str = ""
    read: int = 0

    async def until(self, words: str) -> str:
        """Read on until the words are shown; what was shown since the last time."""
        assert self.process.stdout is not None
        while (found := self.shown.find(words, self.read)) < 0:
            more = await asyncio.wait_for(self.process.stdout.read(4096), 30)
            assert more, f"it ended without {words!r}: {self.shown[self.read :]}"
            self.shown += more.decode()
        since, self.read = self.shown[self.read : found], found + len(words)
        return since

    async def type(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        await self.process.stdin.drain()

    async def end(self) -> tuple[int, str, str]:
        """End its input and wait; all that it has shown."""
        out, err = await asyncio.wait_for(self.process.communicate(), 30)
        return self.process.returncode or 0, self.shown + out.decode(), err.decode()


@dataclass
class Trying:
    """An empty directory with one file of checkpoints, and no settings at all."""

    directory: Path
    environ: dict[str, str] = field(default_factory=dict)
    afresh: bool = False  # a process that is started anew, where what it imports is the matter

    @property
    def log(self) -> list[str]:
        file = self.directory / "log"
        return file.read_text().split("\n")[:-1] if file.exists() else []

    def command(self, graph: str, *arguments: str, **given: Any) -> list[str]:
        path = graph if ":" in graph else f"{GRAPHS}:{graph}"
        words = ["-m", "bot", "try", path, "--checkpoints", "sqlite:///kept.db"]
        configurable = {"log": str(self.directory / "log")}
        words += ["--configurable", json.dumps(configurable)]
        words += ["--input", json.dumps(given)] if given else []
        return [*words, *arguments]

    def surroundings(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return kept | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **self.environ}

    @asynccontextmanager
    async def talking(self, graph: str, *arguments: str, **given: Any) -> AsyncIterator[Talking]:
        words = self.command(graph, *arguments, **given)
        start = asyncio.create_subprocess_exec if self.afresh else zygote.start
        process = await start(
            *([sys.executable] if self.afresh else []), *words,
            env=self.surroundings(), cwd=self.directory,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            yield Talking(process)
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()

    async def run(
        self, graph: str, *arguments: str, typed: str = "", **given: Any
    ) -> tuple[int, str, str]:
        async with self.talking(graph, *arguments, **given) as talking:
            out, err = await asyncio.wait_for(talking.process.communicate(typed.encode()), 60)
        return talking.process.returncode or 0, out.decode(), err.decode()


@pytest.fixture
def trying(tmp_path: Path) -> Trying:
    return Trying(tmp_path)


def state_of(shown: str) -> Any:
    """The last state that was shown, read back."""
    lines = shown.partition("Done. The last state:\n")[2].splitlines()
    return json.loads("\n".join(line.removeprefix("  | ") for line in lines))


async def test_a_whole_conversation_asks_shows_steps_and_prints_the_last_state(
    trying: Trying,
) -> None:
    async with trying.talking("conversation", topic="cats") as talking:
        before = await talking.until("Your answer: ")
        assert "● prepare\n✓ prepare\n● ask_name\n" in before
        assert "Question from ask_name:\n  | What is your name?\n" in before
        await talking.type("  Bob, 42 ")
        asked = await talking.until("Your choice (1 to 3): ")
        assert "  | Which colour?\n  | Size: 60,000\n" in asked
        assert "  1. Red\n  2. Blue\n  3. Something else\n" in asked
        await talking.type("3")
        await talking.until("Your answer: ")
        await talking.type("green")
        await talking.until("Your answer, as JSON: ")
        await talking.type("42")
        code, shown, err = await talking.end()
    assert (code, err) == (0, "")
    state = {"topic": "cats", "name": "  Bob, 42 ", "colour": "green", "age": 42, "votes": []}
    assert state_of(shown) == state
    assert trying.log == ["prepared", "coloured green"]


@pytest.mark.crash
async def test_killed_between_question_and_answer_it_goes_on_where_it_was_and_says_so(
    trying: Trying,
) -> None:
    async with trying.talking("conversation", topic="cats") as talking:
        await talking.until("Your answer: ")
        await talking.type("Bob")
        await talking.until("Your choice")
        talking.process.kill()
        await talking.process.wait()
    async with trying.talking("conversation", topic="dogs") as talking:
        before = await talking.until("Your choice")
        assert "This goes on where it was, at ask_colour." in before
        assert "prepare\n" not in before
        assert "name" not in before
        await talking.type("BLUE")
        await talking.until("as JSON: ")
        await talking.type("18")
        code, shown, _ = await talking.end()
    assert code == 0
    assert trying.log == ["prepared", "coloured blue"]
    assert state_of(shown)["topic"] == "cats"
    code, shown, _ = await trying.run("conversation", topic="dogs")
    assert code == 0
    assert "done already" in shown
    assert trying.log == ["prepared", "coloured blue"]


async def test_the_end_of_the_input_loses_nothing_and_says_how_to_go_on(trying: Trying) -> None:
    code, shown, err = await trying.run("conversation", typed="Bob\n", topic="cats")
    assert (code, err) == (0, "")
    assert shown.endswith("Nothing is lost: run the same command again to go on from here.\n")
    code, shown, err = await trying.run("conversation", typed="red\n20\n")
    assert (code, state_of(shown)["name"], state_of(shown)["age"]) == (0, "Bob", 20)


async def test_ctrl_c_ends_it_at_once_and_loses_nothing(trying: Trying) -> None:
    async with trying.talking("conversation", topic="cats") as talking:
        await talking.until("Your answer: ")
        talking.process.send_signal(signal.SIGINT)
        _, err = await asyncio.wait_for(talking.process.communicate(), 10)
        assert (talking.process.returncode, "Nothing is lost" in err.decode()) == (130, True)
    code, shown, _ = await trying.run("conversation", typed="Bob\nred\n20\n")
    assert (code, state_of(shown)["name"], trying.log[:1]) == (0, "Bob", ["prepared"])
    assert trying.log.count("prepared") == 1


@pytest.mark.crash
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
async def test_ended_in_the_middle_of_a_step_it_runs_that_step_again_and_no_other(
    trying: Trying, ending: signal.Signals
) -> None:
    async with trying.talking("slow", topic="x") as talking:
        await talking.until("● act\n")
        await until("the step to act", lambda: trying.log == ["prepared", "began"])
        talking.process.send_signal(ending)
        await asyncio.wait_for(talking.process.wait(), 10)
    code, shown, _ = await trying.run("slow", topic="y")
    assert (code, state_of(shown)["topic"]) == (0, "acted")
    assert "This goes on where it was, at act." in shown
    assert trying.log == ["prepared", "began", "began"]


async def test_what_does_not_fit_is_asked_again_with_the_reason(trying: Trying) -> None:
    typed = "\nBob\n".lstrip("\n") + "\n4\nreddish\nred\n" + 'seventeen\n17\n1e999\n"20"\n20\n'
    code, shown, _ = await trying.run("conversation", typed=typed, topic="cats")
    assert code == 0
    assert shown.count("choose by the number, 1 to 3, or by the label.") == 3
    assert 'this is not JSON. Text stands in quotes: "yes".' in shown
    assert "This was not taken: Write a number from 18 up." in shown
    assert "This was not taken: It holds a number that is too large." in shown
    assert "This was not taken: Write a whole number." in shown
    assert (state_of(shown)["colour"], state_of(shown)["age"]) == ("red", 20)
    assert trying.log == ["prepared", "coloured red"]


async def test_nothing_false_and_empty_values_are_answers(trying: Trying) -> None:
    typed = "null\nfalse\n{}\n"
    code, shown, _ = await trying.run("anything", typed=typed, topic="x")
    assert (code, state_of(shown)["age"]) == (0, [None, False, {}])
    assert "  | a.b: 1\n" in shown
    code, shown, _ = await trying.run("anything", "--thread", "b", typed='0\n""\n[]\n', topic="x")
    assert (code, state_of(shown)["age"]) == (0, [0, "", []])
    code, shown, _ = await trying.run("conversation", typed="\nred\n18\n", topic="x")
    assert (code, state_of(shown)["name"]) == (0, "")


async def test_a_number_that_could_mean_two_choices_is_asked_again(trying: Trying) -> None:
    code, shown, _ = await trying.run("numbers", typed="3\n#3\n", topic="x")
    assert "it could be more than one; write #3 or #1." in shown
    assert (code, state_of(shown)["age"]) == (0, 1)


@pytest.mark.crash
async def test_parallel_questions_come_one_by_one_and_each_answer_is_kept_at_once(
    trying: Trying,
) -> None:
    async with trying.talking("both", topic="x") as talking:
        asked = await talking.until("Your answer: ")
        assert "(2 questions are open)" in asked
        assert "Left?" in asked
        await talking.type("l")
        between = await talking.until("Your answer: ")
        assert "Right?" in between
        assert "● right" not in between  # it runs again only to ask what it asks already
        talking.process.kill()
        await talking.process.wait()
    code, shown, _ = await trying.run("both", typed="r\n")
    assert code == 0
    assert "Left?" not in shown
    assert state_of(shown) == {"topic": "joined", "votes": [{"left": "l"}, {"right": "r"}]}
    assert trying.log == ["joined"]


async def test_nothing_hostile_reaches_the_terminal_raw(trying: Trying) -> None:
    code, shown, _ = await trying.run("hostile", typed="1\n", topic="\x1b[2J")
    assert code == 0
    assert "⟨U+001B⟩" in shown
    assert "owned" in shown
    assert not CONTROLS.search(shown)
    assert "\nYour choice" not in shown  # it cannot pass for a line of ours
    code, shown, err = await trying.run("failing", topic="x")
    assert (code, "hostile_fail: ValueError: " in err) == (1, True)
    assert not CONTROLS.search(shown + err)


async def test_each_action_of_a_question_is_asked_for_by_itself(trying: Trying) -> None:
    typed = 'edit\n{"sum": "much"\n2\n{"sum": 3500}\nreject\nnot now\n'
    code, shown, _ = await trying.run("calling", typed=typed, topic="x")
    assert (code, "1 of 2: Pay" in shown, "2 of 2: Mail" in shown) == (0, True, True)
    assert "Sum: 4,000" in shown
    assert "this is not JSON" in shown
    edited = {"name": "pay", "args": {"sum": 3500}}
    assert state_of(shown)["votes"] == [
        {
            "decisions": [
                {"type": "edit", "edited_action": edited},
                {"type": "reject", "message": "not now"},
            ]
        }
    ]


async def test_a_breakpoint_asks_whether_to_go_on(trying: Trying) -> None:
    code, shown, _ = await trying.run("stopping", typed="no\n", topic="x")
    assert (code, trying.log) == (0, ["prepared"])
    assert "It stops before: pay" in shown
    assert "Nothing is lost" in shown
    code, shown, _ = await trying.run("stopping", typed="perhaps\nyes\n")
    assert (code, trying.log) == (0, ["prepared", "paid"])
    assert "write yes or no." in shown


async def test_an_answer_that_the_node_does_not_take_is_asked_again(trying: Trying) -> None:
    typed = '{"value": 3}\n{"value": 4}\n'
    code, shown, _ = await trying.run("picky", typed=typed, topic="x", picked=None)
    assert code == 0
    assert "write an even number" in shown
    assert trying.log == ["Even"]
    # Strict msgpack: a model of the state's schema comes back as itself in another process.
    code, shown, _ = await trying.run("picky", typed="go\n")
    assert (code, trying.log) == (0, ["Even", "Even"])


async def test_an_earlier_answer_of_the_same_step_stays_when_a_later_one_does_not_fit(
    trying: Trying,
) -> None:
    typed = 'Van\n{"value": 3}\n{"value": 4}\n'
    code, shown, err = await trying.run("picky_second", typed=typed, picked=None)
    assert (code, err) == (0, "")
    assert shown.count("What is it called?") == 1
    assert state_of(shown)["said"] == "Van"


async def test_an_answer_at_which_the_node_failed_can_be_dropped(trying: Trying) -> None:
    code, _, err = await trying.run("judging", typed="maybe\n", topic="x")
    assert (code, "judge: ValueError: what is maybe" in err) == (1, True)
    code, _, err = await trying.run("judging", typed="yes\n")
    assert (code, "what is maybe" in err) == (1, True)
    code, shown, _ = await trying.run("judging", "--ask-again", typed="yes\n")
    assert (code, state_of(shown)["topic"]) == (0, "yes")
    code, _, err = await trying.run("judging", "--ask-again")
    assert (code, "Nothing was changed" in err) == (1, True)


@pytest.mark.parametrize("graph", ["twice", "nested"])
async def test_only_the_answer_at_which_it_failed_is_dropped(trying: Trying, graph: str) -> None:
    code, _, err = await trying.run(graph, typed="one\nmaybe\n", topic="x")
    assert (code, "what is maybe" in err) == (1, True)
    code, shown, _ = await trying.run(graph, "--ask-again", typed="no\n")
    assert "first?" not in shown
    assert (code, state_of(shown)["name"], state_of(shown)["topic"]) == (0, "one", "no")


async def test_a_type_that_no_schema_shows_is_refused_until_it_is_named(trying: Trying) -> None:
    trying.afresh = True
    trying.environ = {"LANGGRAPH_STRICT_MSGPACK": "false"}  # it is on whatever one says
    code, _, err = await trying.run("hiding", typed="go\n", said=None)
    (name,) = re.findall(r"again with --type (\w+:Secretive)\n", err)
    assert (code, err.count("\n")) == (1, 1)
    code, shown, err = await trying.run("hiding", "--type", name, typed="go\n")
    assert (code, state_of(shown)["said"]) == (0, "x"), err


async def test_a_chat_takes_a_further_turn_and_the_same_one_only_once(trying: Trying) -> None:
    first = {"messages": [{"role": "user", "content": "hello"}]}
    _, shown, err = await trying.run("chat", **first)
    assert ("You said 1 things." in shown, err) == (True, "")
    again = (await trying.run("chat", **first))[1]
    assert "done already" in again
    assert "You said 1 things." in again
    second = {"messages": [{"role": "user", "content": "and more"}]}
    assert "You said 3 things." in (await trying.run("chat", **second))[1]


async def test_the_loan_runs_until_the_bank_is_missing_and_pays_nothing_else(
    trying: Trying,
) -> None:
    loan = "graphs.library.loan:graph"
    code, shown, _ = await trying.run(loan, typed="reject\n", **LOAN)
    assert code == 0
    assert "  | Amount: 60,000\n" in shown
    assert "This was not taken: Please fill in: note." in shown
    typed = '{"decision": "reject", "note": "too risky"}\n'
    code, shown, _ = await trying.run(loan, typed=typed, **LOAN)
    assert (code, state_of(shown)["outcome"]) == (0, "Nothing was paid.")
    code, _, err = await trying.run(loan, "--thread", "b", typed="approve\n", **LOAN)
    assert (code, "disburse: BankError: No bank is set up" in err) == (1, True)


async def test_the_loan_pays_at_the_bank_that_it_is_given_under_one_key(trying: Trying) -> None:
    keys: list[str] = []

    async def transfer(request: web.Request) -> web.Response:
        keys.append(request.headers["Idempotency-Key"])
        if len(keys) == 1:
            return web.json_response({"error": "closed"}, status=503)
        return web.json_response({"reference": "TX-1"}, status=201)

    bank = web.Application()
    bank.router.add_post("/transfers", transfer)
    async with TestServer(bank) as server:
        given = ("--configurable", json.dumps({"bank_url": str(server.make_url("/transfers"))}))
        loan = "graphs.library.loan:graph"
        code, _, err = await trying.run(loan, *given, typed="approve\n", **LOAN)
        assert (code, "The bank has trouble (503): closed" in err) == (1, True), err
        code, shown, _ = await trying.run(loan, *given, **LOAN)
    assert (code, state_of(shown)["payment"]["reference"]) == (0, "TX-1")
    assert "Question from" not in shown
    assert len(keys) == 2
    assert len(set(keys)) == 1


async def test_effect_keys_stay_with_the_thread_and_are_no_other_experiments(
    trying: Trying,
) -> None:
    await trying.run("keyed", topic="x")
    await trying.run("keyed", typed="yes\n")
    await trying.run("keyed", "--thread", "b", topic="x")
    await trying.run("keyed", "--checkpoints", "sqlite:///other.db", topic="x")
    first, again, *others = trying.log
    assert first == again
    assert len({first, *others}) == 3


async def test_wrong_usage_ends_with_two_and_a_refusal_with_one(trying: Trying) -> None:
    for arguments in (
        ("--input", "{"),
        ("--input", "null"),
        ("--configurable", "[]"),
        ("--checkpoints", "postgresql://x"),
        ("--checkpoints", "sqlite://"),
        ("--type", "Secretive"),
    ):
        code, _, err = await trying.run("conversation", *arguments)
        assert (code, err != "") == (2, True), arguments
    (trying.directory / "text.db").write_text("this is no database, and long enough to say so\n")
    for arguments, why in (
        ((), "Start it with --input JSON."),
        (("--input", "[]"), "The input must be a JSON object"),
        (("--input", "{}", "--checkpoints", "sqlite:///none/kept.db"), "no such file"),
        (("--input", "{}", "--checkpoints", "sqlite:///text.db"), "cannot hold the checkpoints"),
    ):
        code, _, err = await trying.run("conversation", *arguments)
        assert (code, why in err) == (1, True), err
    code, _, err = await trying.run("nothing_there", topic="x")
    assert (code, "has no nothing_there" in err) == (1, True)


async def test_one_process_at_a_time_has_the_file(trying: Trying) -> None:
    async with trying.talking("conversation", topic="cats") as talking:
        await talking.until("Your answer: ")
        code, _, err = await trying.run("conversation", topic="cats")
        assert (code, "another `sayso try` is using it" in err) == (1, True)


async def test_without_the_extra_it_says_what_to_install(trying: Trying) -> None:
    (trying.directory / "sitecustomize.py").write_text(
        "import sys\nsys.modules['langgraph.checkpoint.sqlite'] = None\n"
    )
    trying.environ, trying.afresh = {"PYTHONPATH": f"{trying.directory}:{ROOT}"}, True
    code, _, err = await trying.run("conversation", topic="cats")
    assert code == 1
    assert "Install it with `pip install langgraph-checkpoint-sqlite`." in err


async def test_without_any_input_to_read_it_waits_for_another_time(trying: Trying) -> None:
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", 'exec "$@" <&-', "sh", sys.executable,
        *trying.command("conversation", topic="x"),
        env=trying.surroundings(), cwd=trying.directory,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, err) == (0, b"")
    assert b"Nothing is lost" in out


async def test_answers_may_come_from_a_file(trying: Trying) -> None:
    (trying.directory / "answers").write_text("Bob\nred\n20")
    with (trying.directory / "answers").open() as file:
        process = await zygote.start(
            *trying.command("conversation", topic="x"),
            env=trying.surroundings(), cwd=trying.directory, stdin=file,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, _ = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, state_of(out.decode())["age"]) == (0, 20)


async def test_it_talks_over_a_terminal(trying: Trying) -> None:
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        sys.executable, *trying.command("conversation", topic="cats"),
        env=trying.surroundings(), cwd=trying.directory, stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    shown = ""

    async def shows(words: str) -> None:
        nonlocal shown
        while words not in shown:
            with contextlib.suppress(OSError):  # the other side is closed
                if more := await asyncio.to_thread(os.read, ours, 4096):
                    shown += more.decode()
                    continue
            raise AssertionError(f"it ended without {words!r}: {shown}")

    try:
        await shows("Your answer: ")
        os.write(ours, b"Bob\n")
        await shows("Your choice (1 to 3): ")
        os.write(ours, b"red\n")
        await shows("as JSON: ")
        os.write(ours, b"\x04")  # Ctrl-D: the end of the input
        await shows("Nothing is lost")
        assert await asyncio.wait_for(process.wait(), 10) == 0
        assert "Your answer: Bob\r\n" in shown
        assert trying.log == ["prepared", "coloured red"]
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        os.close(ours)
