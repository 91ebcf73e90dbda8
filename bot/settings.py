"""All settings, parsed once, with every mistake told at once: SAYSO_… and `sayso.toml`.

This is the only module that reads the environment. Everything else is handed what it needs.
Every secret may come from a file: ``SAYSO_SLACK_BOT_TOKEN_FILE`` instead of
``SAYSO_SLACK_BOT_TOKEN``. An empty variable is the same as none.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import parse_qs, urlsplit

# Before langgraph is imported anywhere: it reads the switch at import.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bot import project, reach, roster
from bot.errors import NotConfigured, SettingsWrong
from bot.project import NO_PROJECT, Project
from bot.roster import Managers
from checkpoints.text import clean
from graphs.specs import GraphSpec, Operators, People, Rule

PREFIX: Final = "SAYSO_"
SECRETS: Final = ("database_url", "slack_bot_token", "slack_signing_secret", "slack_app_token")
_NOT_OURS: Final = ("SAYSO_TEST_",)


class Environment(BaseSettings):
    """What the environment says; names are those of the variables without their prefix."""

    model_config = SettingsConfigDict(
        extra="ignore", frozen=True, hide_input_in_errors=True, env_ignore_empty=True
    )

    database_url: SecretStr | None = None
    database_pool: int = Field(default=10, ge=2, le=200)
    statement_cache: int = Field(default=256, ge=0, le=10_000)
    slack_bot_token: SecretStr | None = None
    slack_signing_secret: SecretStr | None = None
    slack_app_token: SecretStr | None = None
    slack_api_url: str | None = None
    slack_mode: Literal["http"] = "http"
    host: str = "127.0.0.1"
    port: int = Field(default=3000, ge=0, le=65535)
    home: Path = Path(".sayso")
    config: Path = Path("sayso.toml")
    lease_seconds: float = Field(default=20.0, ge=0.5, le=600)
    poll_seconds: float = Field(default=1.0, ge=0.02, le=60)
    hold_off_seconds: float = Field(default=4.0, ge=0.1, le=600)
    drain_seconds: float = Field(default=10.0, ge=0, le=600)
    silence_seconds: float = Field(default=60.0, ge=1, le=3600)
    at_once: int = Field(default=16, ge=1, le=1000)
    model: str | None = None
    log: Literal["text", "json"] = "text"
    failpoints: str = ""
    clock_url: str = ""  # the clock that one can move from the page of the local Slack

    @field_validator("clock_url")
    @classmethod
    def _is_here(cls, value: str) -> str:
        if value and urlsplit(value).hostname not in ("127.0.0.1", "localhost", "::1"):
            raise ValueError("a clock can only be read from this machine; leave it out")
        return value

    @field_validator("database_url")
    @classmethod
    def _is_postgres(cls, value: SecretStr | None) -> SecretStr | None:
        if value and not value.get_secret_value().startswith(("postgresql://", "postgres://")):
            raise ValueError("write an address that begins with postgresql://")
        if value and not _is_address(value.get_secret_value()):
            raise ValueError(
                "the address cannot be read; percent-encode the password in it (%2F for /, "
                "%40 for @, %23 for #, %3F for ?, %5B for [) and write the port as a number"
            )
        return value

    @field_validator("slack_api_url")
    @classmethod
    def _is_http(cls, value: str | None) -> str | None:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError("write an address that begins with https:// (or http:// for a local)")
        return value

    @field_validator("slack_bot_token")
    @classmethod
    def _is_bot_token(cls, value: SecretStr | None) -> SecretStr | None:
        if value and not value.get_secret_value().startswith(("xoxb-", "xoxe.xoxb-")):
            raise ValueError("write the bot token; it begins with xoxb-")
        return value

    @model_validator(mode="after")
    def _both_or_none(self) -> Environment:
        if (self.slack_bot_token is None) != (self.slack_signing_secret is None):
            have, miss = "SAYSO_SLACK_BOT_TOKEN", "SAYSO_SLACK_SIGNING_SECRET"
            if self.slack_bot_token is None:
                have, miss = miss, have
            raise ValueError(f"{have} is set and {miss} is not; set both or neither")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what `load` hands in: it reads the variables itself, with their files."""
        return (init_settings,)


def _is_address(url: str) -> bool:
    """Whether a database address splits where its writer meant it to.

    The driver would read a password with a bare / or # in it as host, port and path, and say so
    with parts of it.
    """
    try:
        split = urlsplit(url)
        if split.query:
            parse_qs(split.query, strict_parsing=True, keep_blank_values=True)
    except ValueError:
        return False
    hosts = split.netloc.rpartition("@")[2].split(",")
    ports = [host.rpartition("]")[2].partition(":")[2] for host in hosts]
    return (
        all(port == "" or (port.isdecimal() and int(port) < 65536) for port in ports)
        and not split.fragment
        and "@" not in split.path
    )


class Configuration(BaseModel):
    """What `sayso.toml` says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    operators: Operators = Operators()
    roles: dict[str, People] = {}
    managers: Managers = Managers()
    graphs: dict[str, GraphSpec] = {}
    reviews: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class Settings:
    """Everything that was set, checked; `warnings` are for whoever runs `sayso check`."""

    environment: Environment
    configuration: Configuration
    directory: Path  # of sayso.toml: relative paths in it start here
    warnings: tuple[str, ...] = ()
    project: Project = NO_PROJECT  # what a langgraph.json beside it gives

    @property
    def home(self) -> Path:
        """The directory of all local state."""
        return self.environment.home.expanduser().resolve()

    @property
    def has_slack(self) -> bool:
        """Whether Slack's secrets are there."""
        return self.environment.slack_bot_token is not None

    @property
    def database_url(self) -> str | None:
        """The given database, None for the embedded one."""
        return secret(self.environment.database_url)

    def need_slack(self, why: str) -> tuple[str, str]:
        """The bot token and the signing secret.

        Raises:
            NotConfigured
        """
        token = secret(self.environment.slack_bot_token)
        signing = secret(self.environment.slack_signing_secret)
        if token is None or signing is None:
            needed = {"SAYSO_SLACK_BOT_TOKEN": token, "SAYSO_SLACK_SIGNING_SECRET": signing}
            raise NotConfigured([name for name, value in needed.items() if value is None], why)
        return token, signing


def secret(value: SecretStr | None) -> str | None:
    """The secret itself, None where none was given."""
    return value.get_secret_value() if value is not None else None


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """Read and check everything.

    Raises:
        SettingsWrong: with every mistake, each with its place and what to do.
    """
    settings, mistakes = examined(environ)
    if mistakes:
        raise SettingsWrong(mistakes)
    return settings


def examined(environ: Mapping[str, str] | None = None) -> tuple[Settings, list[str]]:
    """What could be read, and every mistake: what is wrong is left out, the rest is there."""
    given = dict(os.environ if environ is None else environ)
    mistakes: list[str] = []
    warnings = list(_unknown_variables(given))
    values = dict(_variables(given, mistakes))
    environment = Environment.model_construct()
    try:
        environment = Environment.model_validate(values)
    except ValidationError as error:
        mistakes += [_environment_mistake(problem) for problem in error.errors()]
    path = Path(values.get("config", environment.config)).expanduser()
    found = project.read(path.parent)
    warnings += found.warnings
    configuration = _configuration(path, found, mistakes, warnings, chosen="config" in values)
    if environment.model:
        configuration = _with_model(configuration, environment.model)
    directory = path.resolve().parent
    return Settings(environment, configuration, directory, tuple(warnings), found), mistakes


def take_up(found: Project) -> None:
    """Set a project's variables and folders for this process, before its graphs are imported.

    What is set already stays.
    """
    for name, value in found.variables.items():
        os.environ.setdefault(name, value)
    project.take_up_folders(found.folders)


def environ_for_child(**changes: str) -> dict[str, str]:
    """The environment for another process of ours, with these settings changed."""
    return dict(os.environ) | {PREFIX + name.upper(): value for name, value in changes.items()}


def _with_model(configuration: Configuration, model: str) -> Configuration:
    """SAYSO_MODEL is the `model` of every graph that names none itself."""
    graphs = {
        name: spec.model_copy(update={"config": {"model": model, **spec.config}})
        for name, spec in configuration.graphs.items()
    }
    return configuration.model_copy(update={"graphs": graphs})


def _variables(given: Mapping[str, str], mistakes: list[str]) -> Iterator[tuple[str, str]]:
    for field in Environment.model_fields:
        name = PREFIX + field.upper()
        direct, file = given.get(name, ""), given.get(f"{name}_FILE", "")
        if field in SECRETS and file:
            if direct:
                mistakes.append(f"{name} and {name}_FILE are both set; unset one of them.")
                continue
            try:
                direct = Path(file).expanduser().read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                reason = getattr(error, "strerror", None) or "it is not text"
                mistakes.append(f"{name}_FILE: {file} cannot be read ({reason}).")
                continue
            if not direct:
                mistakes.append(f"{name}_FILE: {file} is empty.")
        if direct:
            yield field, direct


def _unknown_variables(given: Mapping[str, str]) -> Iterator[str]:
    known = {PREFIX + field.upper() for field in Environment.model_fields}
    known |= {f"{PREFIX}{field.upper()}_FILE" for field in SECRETS}
    for name in sorted(given):
        if name.startswith(PREFIX) and name not in known and not name.startswith(_NOT_OURS):
            near = difflib.get_close_matches(name, known, 1)
            hint = f" Did you mean {near[0]}?" if near else ""
            yield f"{name} is not a setting of Sayso.{hint}"


def _environment_mistake(problem: Any) -> str:
    message = _sentence(problem)
    if not problem["loc"]:
        return message
    return f"{PREFIX}{str(problem['loc'][0]).upper()}: {message}"


def _configuration(
    path: Path, found: Project, mistakes: list[str], warnings: list[str], *, chosen: bool
) -> Configuration:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if chosen:
            mistakes.append(f"SAYSO_CONFIG: {path} does not exist. Name the file that does.")
        else:
            so = "nobody may decide" if found.graphs else "no graph is configured"
            warnings.append(f"{path} does not exist, so {so}.")
        if chosen or not found.graphs:
            return Configuration()
        text = ""
    except (OSError, UnicodeDecodeError) as error:
        mistakes.append(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).")
        return Configuration()
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        mistakes.append(f"{path}: this is not TOML: {error}.")
        return Configuration()
    found.add_graphs(raw)
    _read_secrets(raw, path, mistakes)
    roster.read_managers(raw, path, mistakes)
    try:
        configuration = Configuration.model_validate(raw)
    except ValidationError as error:
        mistakes += [
            f"{path}: {_key(problem['loc'])}: {_sentence(problem)}" for problem in error.errors()
        ]
        configuration = _readable(raw)
    mistakes += [f"{path}: {mistake}" for mistake in _of_no_graph(configuration, raw)]
    mistakes += [f"{path}: {mistake}" for mistake in _wrong_ids(configuration)]
    mistakes += [f"{path}: {mistake}" for mistake in roster.mistakes_in(configuration)]
    unreached = reach.out_of_reach(configuration.reviews, configuration.roles)
    mistakes += [f"{path}: {mistake}" for mistake in unreached]
    warnings += [f"{path}: {warning}" for warning in _doubtful(configuration)]
    return roster.named(configuration)


def _readable(raw: Mapping[str, Any]) -> Configuration:
    """Those graphs, rules and operators that can be read by themselves."""

    def kept(part: dict[str, Any]) -> bool:
        try:
            Configuration.model_validate(part)
        except ValidationError:
            return False
        return True

    graphs, rules = raw.get("graphs"), raw.get("reviews")
    graphs = graphs if isinstance(graphs, dict) else {}
    rules = rules if isinstance(rules, list) else []
    whole: dict[str, Any] = {
        "graphs": {name: one for name, one in graphs.items() if kept({"graphs": {name: one}})},
        # One that cannot be read keeps its place, so that the others keep their numbers.
        "reviews": [one if kept({"reviews": [one]}) else _UNREADABLE for one in rules],
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


_UNREADABLE: Final = {"approvers": {"users": ["U000"]}}


def _of_no_graph(configuration: Configuration, raw: Mapping[str, Any]) -> Iterator[str]:
    """Rules that can never match: what they were meant for, nobody may decide."""
    written = raw.get("graphs")
    known = written if isinstance(written, dict) else {}
    for number, rule in enumerate(configuration.reviews, 1):
        if rule.graph is not None and rule.graph not in known:
            names = f"Configured are: {', '.join(known)}." if known else "None is configured."
            yield f"reviews[{number}].graph: there is no graph called {clean(rule.graph)}. {names}"


def _read_secrets(raw: dict[str, Any], path: Path, mistakes: list[str]) -> None:
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
            try:
                config[key] = {"value": file.read_text(encoding="utf-8").strip()}
            except (OSError, UnicodeDecodeError) as error:
                reason = getattr(error, "strerror", None) or "it is not text"
                where = f"graphs.{name}.config.{key}"
                mistakes.append(f"{path}: {where}: {file} cannot be read ({reason}).")


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
    operators = configuration.operators
    if operators.is_empty() and operators.channel is None:
        yield "operators: nobody is told when something needs a hand; name users or a channel."


def _key(location: tuple[int | str, ...]) -> str:
    """The place as it is written in TOML: ``graphs.loan.channels[0]``."""
    written = ""
    for part in location:
        if isinstance(part, int):
            written += f"[{part + 1}]"
        else:
            written += f".{part}" if written else str(part)
    return written or "the file"


def _sentence(problem: Any) -> str:
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
