"""What `sayso.toml` says: read, checked, and every mistake told with its file and its line.

What is wrong is left out and the rest is there, so that one report can tell all of it.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from bot import reach, roster
from bot.positions import KeyPath, Positions, line_of, without_values, written
from bot.project import Project
from bot.roster import Managers
from checkpoints.text import clean
from graphs.specs import GraphSpec, Operators, People, Rule


class Configuration(BaseModel):
    """What `sayso.toml` says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    operators: Operators = Operators()
    roles: dict[str, People] = {}
    managers: Managers = Managers()
    graphs: dict[str, GraphSpec] = {}
    reviews: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class Reading:
    """A configuration file as it was read: what it says, and what is wrong with it.

    `texts` are the file itself and that of the managers, by name: what decides who may decide.
    `secrets` are the files whose text stands in the configuration alone.
    """

    configuration: Configuration = field(default_factory=Configuration)
    texts: tuple[tuple[Path, str], ...] = ()
    secrets: tuple[Path, ...] = ()
    mistakes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def hash(self) -> str:
        """A hash of the files that decide who may decide: `cat sayso.toml … | sha256sum`."""
        whole = b"".join(text.encode() for _, text in self.texts)
        return hashlib.sha256(whole).hexdigest()

    @property
    def open_text(self) -> str:
        """What the files say, without the values of `config` and `context`.

        Nor does it have the comments beside the graphs: a value may be kept in one.
        """
        if not self.texts:
            return ""
        (_, first), *named = self.texts
        texts = [without_values(first, _may_be_secret, _is_beside_secrets)]
        texts += [f"# {file.name}\n{text}" for file, text in named]
        return clean("\n".join(texts))

    def placed(self, said: Iterable[str]) -> list[str]:
        """What is said of places in the file, `WHERE: sentence`, with the file and its line."""
        if not self.texts:
            return list(said)
        file, text = self.texts[0]
        return Positions(text).placed(file, said)


def _may_be_secret(path: KeyPath) -> bool:
    return path[0] == "graphs" and len(path) > 2 and path[2] in ("config", "context")


def _is_beside_secrets(table: KeyPath) -> bool:
    return table[:1] == ("graphs",)


NOTHING_READ: Final = Reading()
OWN_COMMAND: Final = "/sayso"


def read(path: Path, found: Project, *, chosen: bool) -> Reading:
    """Read and check the file.

    Args:
        found: what a `langgraph.json` beside it gives.
        chosen: whether somebody named the file; then it has to be there.
    """
    try:
        text = path.read_bytes().decode()  # as it is: its hash is over every byte
    except FileNotFoundError:
        if chosen:
            wrong = f"SAYSO_CONFIG: {path} does not exist. Name the file that does."
            return Reading(mistakes=(wrong,))
        so = "nobody may decide" if found.graphs else "no graph is configured"
        lacking = f"{path} does not exist, so {so}."
        if not found.graphs:
            return Reading(warnings=(lacking,))
        without = _checked(path, None, found)
        return replace(without, warnings=(lacking, *without.warnings))
    except (OSError, UnicodeDecodeError) as error:
        wrong = f"{path} cannot be read ({getattr(error, 'strerror', None) or error})."
        return Reading(mistakes=(wrong,))
    return _checked(path, text, found)


def _checked(path: Path, text: str | None, found: Project) -> Reading:
    """Check the text, None where there is no file."""
    texts = [] if text is None else [(path, text)]
    try:
        raw = tomllib.loads(text or "")
    except tomllib.TOMLDecodeError as error:
        wrong = f"{path}:{line_of(error, text or '')}: this is not TOML: {error}."
        return Reading(texts=tuple(texts), mistakes=(wrong,))
    said: list[str] = []
    found.add_graphs(raw)
    secrets = tuple(_read_secrets(raw, path, said))
    roster.read_managers(raw, path, said)
    try:
        configuration = Configuration.model_validate(raw)
    except ValidationError as error:
        said += [
            f"{written(problem['loc']) or 'the file'}: {sentence(problem)}"
            for problem in error.errors()
        ]
        configuration = _readable(_without(raw, [problem["loc"] for problem in error.errors()]))
    said += _of_no_graph(configuration, raw)
    said += _wrong_ids(configuration)
    said += roster.mistakes_in(configuration)
    said += reach.out_of_reach(configuration.reviews, configuration.roles)
    if configuration.managers.file is not None:
        managers = path.parent / Path(configuration.managers.file).expanduser()
        texts += [(managers, _text_of(managers))]
    reading = Reading(roster.named(configuration), tuple(texts), secrets)
    return replace(
        reading,
        mistakes=tuple(reading.placed(said)),
        warnings=tuple(reading.placed(_doubtful(configuration))),
    )


def _text_of(file: Path) -> str:
    """The text of a file; "" where it cannot be read, which has been told then."""
    try:
        return file.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return ""


def _without(raw: Mapping[str, Any], places: Iterable[KeyPath]) -> dict[str, Any]:
    """The same without what is wrong there, so that the rest of its table is looked at too.

    What says who decides stays: without it the rest would seem wrong.
    """
    left = deepcopy(dict(raw))
    for place in places:
        table, key, value = left, "", left
        for part in place:
            if isinstance(value, dict):
                table, key = value, str(part)
            try:
                value = value[part]  # type: ignore[index]  # a list takes its own numbers
            except (LookupError, TypeError):
                break
        if len(place) > 2 and key not in _DECIDE:
            table.pop(key, None)
    return left


_DECIDE: Final = frozenset(
    {"approvers", "stages", "quorum", "rejections", "path", *People.model_fields}
)


def _readable(raw: Mapping[str, Any]) -> Configuration:
    """Those graphs, rules and operators that can be read by themselves."""

    def kept(part: dict[str, Any]) -> bool:
        try:
            Configuration.model_validate(part)
        except ValidationError:
            return False
        return True

    def stub(rule: Any) -> dict[str, Any]:
        """What a rule is for, so that this is looked at where the rest cannot be read."""
        parts = _IS_FOR & set(rule) if isinstance(rule, dict) else ()
        readable = {part for part in parts if kept({"reviews": [{part: rule[part]}]})}
        return _UNREADABLE | {part: rule[part] for part in readable}

    graphs, rules = raw.get("graphs"), raw.get("reviews")
    graphs = graphs if isinstance(graphs, dict) else {}
    rules = rules if isinstance(rules, list) else []
    whole: dict[str, Any] = {
        "graphs": {name: one for name, one in graphs.items() if kept({"graphs": {name: one}})},
        # One that cannot be read keeps its place, so that the others keep their numbers.
        "reviews": [one if kept({"reviews": [one]}) else stub(one) for one in rules],
    }
    roles = raw.get("roles")
    roles = roles if isinstance(roles, dict) else {}
    whole["roles"] = {
        name: one if kept({"roles": {name: one}}) else _UNREADABLE["approvers"]
        for name, one in roles.items()
    }
    for part in ("operators", "managers"):
        if kept({part: raw.get(part, {})}):
            whole[part] = raw.get(part, {})
    return Configuration.model_validate(whole)


NO_USER: Final = "U000"  # stands where people could not be read
_UNREADABLE: Final[dict[str, Any]] = {"approvers": {"users": [NO_USER]}}
_IS_FOR: Final = frozenset({"graph", "node", "tool", "when", "channel"})


def _of_no_graph(configuration: Configuration, raw: Mapping[str, Any]) -> Iterator[str]:
    """Rules that can never match: what they were meant for, nobody may decide."""
    written = raw.get("graphs")
    known = written if isinstance(written, dict) else {}
    for number, rule in enumerate(configuration.reviews, 1):
        if rule.graph is not None and rule.graph not in known:
            names = f"Configured are: {', '.join(known)}." if known else "None is configured."
            yield f"reviews[{number}].graph: there is no graph called {clean(rule.graph)}. {names}"


def _read_secrets(raw: dict[str, Any], path: Path, said: list[str]) -> Iterator[Path]:
    """Read ``{ file = "…" }`` in a graph's config; the text stands nested as ``{"value": …}``.

    A scalar of the configuration appears in a checkpoint's metadata, a nested value does not.
    """
    graphs = raw.get("graphs")
    for name, graph in graphs.items() if isinstance(graphs, dict) else ():
        config = graph.get("config") if isinstance(graph, dict) else None
        if not isinstance(config, dict):
            continue
        for key, value in config.items():
            if not (isinstance(value, dict) and set(value) == {"file"}):
                continue
            file = path.parent / Path(str(value["file"])).expanduser()
            yield file
            try:
                config[key] = {"value": file.read_text(encoding="utf-8").strip()}
            except (OSError, UnicodeDecodeError) as error:
                reason = getattr(error, "strerror", None) or "it is not text"
                said.append(f"graphs.{name}.config.{key}: {file} cannot be read ({reason}).")


def _wrong_ids(configuration: Configuration) -> Iterator[str]:
    """Names where Slack's ids have to stand: a name can be given to another channel tomorrow."""

    def wrong(where: str, ids: Iterable[str], first: str, what: str) -> Iterator[str]:
        for value in ids:
            if not re.fullmatch(rf"[{first}][A-Z0-9]{{2,}}", value):
                yield (
                    f"{where}: {clean(value)!r} is no {what} id; write the one that Slack shows "
                    f"under About, it begins with {first[0]}."
                )

    def channels(where: str, ids: Iterable[str | None]) -> Iterator[str]:
        yield from wrong(where, filter(None, ids), "CGD", "channel")

    for where, who in roster.lists(configuration):
        yield from wrong(f"{where}.users", who.users, "UW", "member")
        yield from wrong(f"{where}.groups", who.groups, "S", "user group")
    yield from channels("operators.channel", [configuration.operators.channel])
    for name, graph in configuration.graphs.items():
        yield from channels(f"graphs.{name}.channels", graph.channels)
        if graph.command is not None and not re.fullmatch(r"/[a-z0-9_-]{1,31}", graph.command):
            yield f"graphs.{name}.command: write it like /{name}, small letters, no spaces."
        if graph.command == OWN_COMMAND:
            yield f"graphs.{name}.command: {OWN_COMMAND} is the app's own; name another one."
    for number, rule in enumerate(configuration.reviews, 1):
        yield from channels(f"reviews[{number}].channel", [rule.channel])
    yield from _shared(configuration)


def _shared(configuration: Configuration) -> Iterator[str]:
    taken: dict[str, str] = {}
    for name, graph in configuration.graphs.items():
        for way in (*graph.channels, *([graph.command] if graph.command else [])):
            if way in taken:
                yield f"graphs.{name}: {way} starts graph {taken[way]} already; give it one graph."
            taken[way] = name
    direct = [name for name, graph in configuration.graphs.items() if graph.direct]
    for name in direct[1:]:
        yield f"graphs.{name}.direct: graph {direct[0]} takes direct messages already."


def _doubtful(configuration: Configuration) -> Iterator[str]:
    for number, rule in enumerate(configuration.reviews, 1):
        if rule.names_nobody():
            yield f"reviews[{number}]: it names no approvers, so nobody may decide."
    yield from roster.doubtful(configuration)
    operators = configuration.operators
    if operators.is_empty() and operators.channel is None:
        yield "operators: nobody is told when something needs a hand; name users or a channel."


def sentence(problem: Any) -> str:
    """What is wrong and what to do, from pydantic's words; never the value, it may be secret."""
    kind, context = str(problem["type"]), problem.get("ctx") or {}
    if kind == "extra_forbidden":
        return "this key is not known; take it out, or mend its spelling."
    if kind == "missing":
        return "this key is missing; add it."
    if kind == "literal_error":
        return f"write {context.get('expected', 'one of the allowed words')}."
    if kind in _WRITE:
        return _WRITE[kind]
    if kind.startswith(("greater_than", "less_than")):
        bound = next(iter(context.values()), "")
        way = "at least" if kind.startswith("greater") else "at most"
        return f"write a number of {way} {bound}."
    message = clean(str(problem["msg"])).removeprefix("Value error, ")
    return message if message.endswith(".") else f"{message}."


_LIST: Final = 'write a list, such as ["C0LOANS"].'
_TABLE: Final = "write a table, with a key and a value in each line."
_NUMBER: Final = "write a number."
_WHOLE: Final = "write a whole number."
_TRUTH: Final = "write true or false."
_WRITE: Final = {
    "tuple_type": _LIST,
    "list_type": _LIST,
    "string_type": 'write text, in "quotes".',
    "dict_type": _TABLE,
    "model_type": _TABLE,
    "model_attributes_type": _TABLE,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "bool_type": _TRUTH,
    "bool_parsing": _TRUTH,
}
