"""An existing langgraph.json, read as it is; each mistake in it is one line of a real check."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bot.project import read
from bot.supervision import command
from tests import zygote

KINDS = """
from typing import TypedDict
from langgraph.func import entrypoint
from langgraph.graph import START, StateGraph

class State(TypedDict, total=False):
    text: str

async def awaited(config):
    builder = StateGraph(State)
    builder.add_node(config["configurable"]["word"], lambda state: {})
    builder.add_edge(START, config["configurable"]["word"])
    return builder

@entrypoint()
def flow(value: dict) -> dict:
    return value

number = 7
"""

AGENT = """
import os
from typing import TypedDict
from langgraph.graph import START, StateGraph
from parts.words import WORD
import deep

class State(TypedDict, total=False):
    text: str

builder = StateGraph(State)
builder.add_node(os.environ["STEP_NAME"] + WORD, lambda state: {})
builder.add_edge(START, os.environ["STEP_NAME"] + WORD)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in ("app", "app/parts", "lib/src/deep"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "app" / "parts" / "words.py").write_text("WORD = '_word'")
    (tmp_path / "lib" / "src" / "deep" / "__init__.py").write_text("")
    (tmp_path / "kinds.py").write_text(KINDS)
    (tmp_path / ".env").write_text("STEP_NAME='from_file'\n# a comment\nEMPTY=\n")
    return tmp_path


def written(project: Path, **given: Any) -> None:
    whole = {
        "python_version": "3.11",
        "dependencies": [".", "./app", "./lib", "langgraph>=1.0", "Jinja_No_Such; os_name=='nt'"],
        "graphs": {
            "agent": "./agent.py:builder",
            "described": {"path": "./kinds.py:awaited", "description": "Says a word."},
            "module": "kinds:flow",
        },
        "env": ".env",
    }
    (project / "langgraph.json").write_text(json.dumps(whole | given))


def checked(project: Path, **environ: str) -> tuple[int, list[str]]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    code, out, err = asyncio.run(
        zygote.run("-P", "-m", "bot", "check", cwd=project, env=kept | environ)
    )
    assert "Traceback" not in err
    return code, out.splitlines()


def of(lines: list[str], kind: str) -> list[str]:
    return [line.removeprefix(f"{kind}: ") for line in lines if line.startswith(f"{kind}: ")]


AWAITED = '[graphs.described]\nconfig = { word = "given" }\n'
RULES = '[[reviews]]\nchannel = "C0OPS"\napprovers = { users = ["U0ALICE"] }\n'


def test_an_existing_project_is_read_as_it_is_beside_a_sayso_toml(project: Path) -> None:
    written(project)
    (project / "sayso.toml").write_text(AWAITED + RULES)
    code, lines = checked(project)
    assert (code, of(lines, "mistake")) == (0, [])
    assert lines[-1].startswith("3 graphs load, 1 review rule")


def test_a_project_serves_without_a_sayso_toml_and_its_owner_is_told_that_nobody_may_decide(
    project: Path,
) -> None:
    written(project, graphs={"agent": "./agent.py:builder"})
    code, lines = checked(project)
    assert (code, of(lines, "mistake")) == (0, [])
    warnings = of(lines, "warning")
    assert "sayso.toml does not exist, so nobody may decide." in warnings
    assert (
        "graphs.agent: no [[reviews]] rule is for it: what it asks, nobody may decide." in warnings
    )


def test_a_path_in_sayso_toml_wins_over_the_one_of_the_project(project: Path) -> None:
    written(project, graphs={"agent": "./missing.py:graph"})
    (project / "sayso.toml").write_text('[graphs.agent]\npath = "./kinds.py:flow"\n' + RULES)
    assert checked(project)[0] == 0


def named_step(project: Path, **environ: str) -> str:
    """The name of the agent's one step, which it makes of a variable, out of a check."""
    (project / "sayso.toml").write_text(
        '[[graphs.agent.questions]]\nnode = "which"\ntitle = "x"\n' + RULES
    )
    (project / "agent.py").write_text(
        AGENT + 'raise RuntimeError("STEP " + os.environ["STEP_NAME"])\n'
    )
    (line,) = of(checked(project, **environ)[1], "mistake")
    return line.rpartition("STEP ")[2]


def test_variables_are_set_before_the_import_and_none_that_is_set_is_overridden(
    project: Path,
) -> None:
    only = {"agent": "./agent.py:builder"}
    written(project, graphs=only)
    assert named_step(project) == "from_file."
    assert named_step(project, STEP_NAME="set") == "set."
    written(project, graphs=only, env={"STEP_NAME": "from_mapping", "NUMBER": 3})
    assert named_step(project) == "from_mapping."


def test_settings_of_sayso_are_not_taken_from_a_project(project: Path) -> None:
    written(project, env={"STEP_NAME": "x", "SAYSO_PORT": "not a number", "sayso_home": "/"})
    (project / "sayso.toml").write_text(AWAITED + RULES)
    code, lines = checked(project)
    assert code == 1
    mistakes = of(lines, "mistake")
    assert [line.rpartition("langgraph.json: ")[2] for line in mistakes] == [
        "env.SAYSO_PORT: settings of Sayso are not taken from here; take it out.",
        "env.sayso_home: settings of Sayso are not taken from here; take it out.",
    ]
    assert lines[-1].startswith("3 graphs load")


def test_each_mistake_of_a_project_is_one_line_and_the_other_graphs_serve(project: Path) -> None:
    written(
        project,
        dependencies=[".", "./app", "./lib", "./nowhere", "no-such-package-of-ours>=2", "a b"],
        graphs={
            "agent": "./agent.py:builder",
            "flow": "./kinds.py:flow",
            "gone": "./gone.py:graph",
            "number": "./kinds.py:number",
            "script": "./agent.ts:graph",
            "odd": "./kinds.py",
            "none": {"description": "no path"},
        },
        env=".env.missing",
        auth={"path": "./auth.py:auth"},
    )
    (project / "sayso.toml").write_text(RULES)
    code, lines = checked(project, STEP_NAME="x")
    mistakes = of(lines, "mistake")
    expected = [
        'graphs.odd: write it like "./file.py:attribute".',
        'graphs.none: write it like "./file.py:attribute".',
        ".env.missing cannot be read (No such file or directory).",
        f"dependencies: there is no folder {project / 'nowhere'}.",
        "dependencies: no-such-package-of-ours is not installed; install it beside Sayso.",
        "dependencies: 'a b' is neither a folder nor a package.",
        "Graph gone cannot be loaded: ./gone.py cannot be imported: FileNotFoundError",
        "Graph number cannot be loaded: ./kinds.py:number is a int, not a LangGraph graph.",
        "Graph script cannot be loaded: ./agent.ts is JavaScript; only graphs in Python can be run",
    ]
    assert code == 1
    assert len(mistakes) == len(expected)
    for line, says in zip(mistakes, expected, strict=True):
        assert says in line
    assert any("auth: Sayso makes no use of it." in line for line in of(lines, "warning"))
    assert lines[-1].startswith("2 graphs load")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "this is not JSON"),
        ("[" * 100_000, "it is nested too deep"),
        ("[]", "write an object with graphs in it."),
        ('{"graphs": []}', "graphs: write a name and a path for each graph."),
        ('{"env": 3}', "env: write the name of a file, or names and values."),
        ('{"env": {"A": null}}', "env.A: write a text."),
        ('{"env": {"A=B": "x"}}', "env.A=B: this cannot be a variable."),
        ('{"env": {"A": "x\\u0000"}}', "env.A: this cannot be a variable."),
        ('{"dependencies": [3]}', "dependencies: write a list of folders and packages."),
    ],
)
def test_what_cannot_be_read_of_a_project_is_one_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "langgraph.json").write_text(text)
    (problem,) = read(tmp_path).problems
    assert says in problem
    assert "\n" not in problem


def test_variables_that_reach_the_database_of_sayso_too_are_a_warning(tmp_path: Path) -> None:
    (tmp_path / "langgraph.json").write_text('{"env": {"PGSSLMODE": "require", "A": "b"}}')
    (warning,) = read(tmp_path).warnings
    assert "env: PGSSLMODE also changes how Sayso reaches its database." in warning


def test_a_project_that_cannot_be_read_leaves_the_graphs_of_sayso_toml(project: Path) -> None:
    (project / "langgraph.json").write_text("{")
    (project / "sayso.toml").write_text('[graphs.own]\npath = "./kinds.py:flow"\n' + RULES)
    code, lines = checked(project)
    (mistake,) = of(lines, "mistake")
    assert "this is not JSON" in mistake
    assert code == 1
    assert lines[-1].startswith("1 graph")


def test_a_folder_called_bot_where_sayso_is_started_does_not_stand_for_ours(project: Path) -> None:
    (project / "bot").mkdir()
    (project / "bot" / "__init__.py").write_text("raise SystemExit('the wrong one')")
    done = subprocess.run(
        command("--help"), cwd=project, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
