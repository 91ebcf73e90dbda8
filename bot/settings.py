"""All settings, parsed once, with every mistake told at once: SAYSO_… and `sayso.toml`.

This is the only module that reads the environment. Everything else is handed what it needs.
Every secret may come from a file: ``SAYSO_SLACK_BOT_TOKEN_FILE`` instead of
``SAYSO_SLACK_BOT_TOKEN``. An empty variable is the same as none.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import parse_qs, urlsplit

# Before langgraph is imported anywhere: it reads the switch at import.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from pydantic import (
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bot import configuration, project
from bot.configuration import NOTHING_READ, Configuration, Reading, sentence
from bot.errors import NotConfigured, SettingsWrong
from bot.project import NO_PROJECT, Project

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


@dataclass(frozen=True)
class Settings:
    """Everything that was set, checked."""

    environment: Environment
    configuration: Configuration
    directory: Path  # of sayso.toml: relative paths in it start here
    unknown: tuple[str, ...] = ()  # variables that are no settings
    project: Project = NO_PROJECT  # what a langgraph.json beside it gives
    reading: Reading = NOTHING_READ  # of sayso.toml
    chosen: bool = False  # whether somebody named the file

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is doubtful, for whoever runs `sayso check`."""
        return (*self.unknown, *self.project.warnings, *self.reading.warnings)

    @property
    def home(self) -> Path:
        """The directory of all local state."""
        return self.environment.home.expanduser().resolve()

    @property
    def file(self) -> Path:
        """The configuration file."""
        return self.environment.config.expanduser()

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
    values = dict(_variables(given, mistakes))
    environment = Environment.model_construct()
    try:
        environment = Environment.model_validate(values)
    except ValidationError as error:
        mistakes += [_environment_mistake(problem) for problem in error.errors()]
        if "config" in values:
            environment = environment.model_copy(update={"config": Path(values["config"])})
    file = environment.config.expanduser()
    settings = Settings(
        environment,
        Configuration(),
        file.resolve().parent,
        tuple(_unknown_variables(given)),
        chosen="config" in values,
    )
    settings, wrong = reread(settings)
    return settings, mistakes + wrong


def reread(settings: Settings) -> tuple[Settings, list[str]]:
    """The same settings with the configuration as its files are now, and what is wrong there."""
    found = project.read(settings.file.parent)
    # A file that was there and is gone is a mistake: nothing would be left of what it said.
    chosen = settings.chosen or bool(settings.reading.texts)
    reading = configuration.read(settings.file, found, chosen=chosen)
    read = reading.configuration
    if settings.environment.model:
        read = _with_model(read, settings.environment.model)
    again = replace(
        settings,
        configuration=read,
        project=found,
        reading=reading,
    )
    return again, list(reading.mistakes)


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
    message = sentence(problem)
    if not problem["loc"]:
        return message
    return f"{PREFIX}{str(problem['loc'][0]).upper()}: {message}"
