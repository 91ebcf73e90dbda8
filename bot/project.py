"""An existing `langgraph.json` beside `sayso.toml`, read as it is: graphs, env, dependencies.

What cannot be used is one line, for `sayso check` and the log, and everything else serves. Nothing
is installed, and nothing in the process is changed here: `take_up` does that, before the first
graph is imported.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from dotenv import dotenv_values
from packaging.requirements import InvalidRequirement, Requirement

from checkpoints.text import clean

NAME: Final = "langgraph.json"
_RESERVED: Final = "SAYSO_"
_NOT_TAKEN: Final = ("auth", "http", "store", "checkpointer", "ui")


@dataclass(frozen=True)
class Project:
    """What the file gives: graph paths, variables and folders; nothing when there is no file.

    `problems` are mistakes that leave the rest usable, `warnings` what Sayso has no use for.
    """

    graphs: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[Path, ...] = ()
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def add_graphs(self, raw: dict[str, Any]) -> None:
        """Put its paths where `sayso.toml`, not validated yet, has no entry or no path in it."""
        entries = raw.setdefault("graphs", {})
        for name, path in self.graphs.items() if isinstance(entries, dict) else ():
            entry = entries.setdefault(name, {})
            if isinstance(entry, dict):
                entry.setdefault("path", path)


NO_PROJECT: Final = Project()


def read(directory: Path) -> Project:
    """The project in this directory, an empty one where there is no file."""
    file = directory / NAME
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return NO_PROJECT
    except json.JSONDecodeError as error:
        return Project(problems=(f"{file}: this is not JSON: {error}.",))
    except (OSError, ValueError, RecursionError) as error:
        return Project(problems=(f"{file} cannot be read ({_reason(error)}).",))
    if not isinstance(raw, dict):
        return Project(problems=(f"{file}: write an object with graphs in it.",))
    problems: list[str] = []
    graphs = dict(_graphs(raw.get("graphs", {}), problems))
    variables = dict(_variables(raw.get("env", {}), directory, problems))
    folders = tuple(_folders(raw.get("dependencies", []), directory, problems))
    unused = [key for key in _NOT_TAKEN if raw.get(key)]
    warnings = [f"{file}: {', '.join(unused)}: Sayso makes no use of it."] if unused else []
    shared = [name for name in variables if name.startswith("PG")]
    if shared:
        listed = ", ".join(shared)
        warnings.append(f"{file}: env: {listed} also changes how Sayso reaches its database.")
    told = tuple(f"{file}: {problem}" for problem in problems)
    return Project(graphs, variables, folders, told, tuple(warnings))


def take_up_folders(folders: tuple[Path, ...]) -> None:
    """Let modules in these folders be imported; last, never in place of something else."""
    for folder in folders:
        if str(folder) not in sys.path:
            sys.path.append(str(folder))


def _graphs(given: Any, problems: list[str]) -> Iterator[tuple[str, str]]:
    if not isinstance(given, dict):
        problems.append("graphs: write a name and a path for each graph.")
        return
    for name, value in given.items():
        path = value.get("path") if isinstance(value, dict) else value
        if isinstance(path, str) and path.rpartition(":")[0] and path.rpartition(":")[2]:
            yield name, path
        else:
            problems.append(f'graphs.{clean(name)}: write it like "./file.py:attribute".')


def _variables(given: Any, directory: Path, problems: list[str]) -> Iterator[tuple[str, str]]:
    if isinstance(given, str):
        file = directory / given
        try:
            with file.open(encoding="utf-8") as stream:
                given = {key: value or "" for key, value in dotenv_values(stream=stream).items()}
        except (OSError, ValueError) as error:
            problems.append(f"env: {file} cannot be read ({_reason(error)}).")
            return
    if not isinstance(given, dict):
        problems.append("env: write the name of a file, or names and values.")
        return
    for name, value in given.items():
        if name.upper().startswith(_RESERVED):
            problems.append(f"env.{name}: settings of Sayso are not taken from here; take it out.")
        elif not isinstance(value, str | int | float):
            problems.append(f"env.{clean(name)}: write a text.")
        elif not name or "=" in name or "\0" in f"{name}{value}":
            problems.append(f"env.{clean(name)}: this cannot be a variable.")
        else:
            yield name, str(value)


def _folders(given: Any, directory: Path, problems: list[str]) -> Iterator[Path]:
    for each in given if isinstance(given, list) else [given]:
        if not isinstance(each, str) or not each:
            problems.append("dependencies: write a list of folders and packages.")
        elif each.startswith(".") or "/" in each.partition("@")[0].partition(":")[0]:
            folder = (directory / each).resolve()
            if not folder.is_dir():
                problems.append(f"dependencies: there is no folder {folder}.")
                continue
            yield folder
            source = folder / "src"
            if source.is_dir() and not (source / "__init__.py").exists():
                yield source
        else:
            problems.extend(_missing(each))


def _missing(package: str) -> Iterator[str]:
    try:
        wanted = Requirement(package)
    except InvalidRequirement:
        yield f"dependencies: {clean(package)!r} is neither a folder nor a package."
        return
    if wanted.marker is not None and not wanted.marker.evaluate():
        return
    try:
        metadata.distribution(wanted.name)
    except metadata.PackageNotFoundError:
        yield f"dependencies: {wanted.name} is not installed; install it beside Sayso."


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    return getattr(error, "strerror", None) or "it is not text"
