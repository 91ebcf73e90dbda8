"""The files of a deployment agree with each other and with the program."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from bot.__main__ import app
from bot.configuration import OWN_COMMAND
from bot.requests import SHORTCUT
from bot.settings import SECRETS, Environment, load
from bot.simulator import cast

HOUSE = Path(__file__).parent.parent.parent
DEPLOY = HOUSE / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
MANIFEST: dict[str, Any] = yaml.safe_load((DEPLOY / "slack-manifest.yaml").read_text("utf-8"))
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
OURS = ("migrate", "bot", "worker")

KNOWN = {f"SAYSO_{field.upper()}" for field in Environment.model_fields}
SECRET = {f"SAYSO_{field.upper()}" for field in SECRETS}
NOT_FOR_OPERATORS = {"SAYSO_FAILPOINTS", "SAYSO_CLOCK_URL"}

# What each event needs, as Slack documents it; those that need nothing are left out.
SCOPE_OF_EVENT = {
    "app_mention": "app_mentions:read",
    "channel_archive": "channels:read",
    "channel_id_changed": "channels:read",
    "channel_rename": "channels:read",
    "channel_unarchive": "channels:read",
    "group_archive": "groups:read",
    "member_left_channel": "channels:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "subteam_members_changed": "usergroups:read",
    "user_change": "users:read",
}


def example() -> dict[str, str]:
    """The settings of env.example."""
    lines = (DEPLOY / "env.example").read_text("utf-8").splitlines()
    pairs = [line.split("=", 1) for line in lines if line and not line.startswith("#")]
    assert len({name for name, _ in pairs}) == len(pairs)
    return dict(pairs)


def test_the_manifest_keeps_slacks_limits() -> None:
    shown = MANIFEST["display_information"]
    assert len(shown["name"]) <= 35
    assert len(shown["description"]) <= 140
    assert 175 <= len(shown["long_description"]) <= 4000
    assert re.fullmatch(r"#[0-9a-f]{6}", shown["background_color"])
    for command in MANIFEST["features"]["slash_commands"]:
        assert re.fullmatch(r"/[a-z0-9_-]{1,31}", command["command"])
        assert len(command["description"]) <= 2000
        assert len(command["usage_hint"]) <= 1000


def test_everything_from_slack_comes_to_the_one_route() -> None:
    addresses = {
        MANIFEST["settings"]["event_subscriptions"]["request_url"],
        MANIFEST["settings"]["interactivity"]["request_url"],
        *(command["url"] for command in MANIFEST["features"]["slash_commands"]),
    }
    assert addresses == {"https://sayso.example.com/slack/events"}
    assert '"/slack/events"' in (HOUSE / "bot" / "web.py").read_text("utf-8")
    assert MANIFEST["settings"]["interactivity"]["is_enabled"] is True


def test_the_manifest_asks_for_each_scope_that_its_events_need() -> None:
    scopes = MANIFEST["oauth_config"]["scopes"]["bot"]
    events = MANIFEST["settings"]["event_subscriptions"]["bot_events"]
    assert len(set(scopes)) == len(scopes)
    assert len(set(events)) == len(events)
    for event in events:
        assert SCOPE_OF_EVENT.get(event, "chat:write") in scopes, event
    assert {"chat:write", "commands", "im:write", "files:read", "users:read"} <= set(scopes)


def test_the_manifest_and_the_bot_name_the_same_events() -> None:
    events = MANIFEST["settings"]["event_subscriptions"]["bot_events"]
    subscribed = {event.split(".")[0] for event in events}
    listeners = "".join(
        (HOUSE / "bot" / name).read_text("utf-8") for name in ("listeners.py", "surroundings.py")
    )
    heard = set(re.findall(r'\.event\(\s*"([a-z_]+)"', listeners))
    assert {"message", "app_mention"} <= heard <= subscribed
    assert {event for event in subscribed if f'"{event}"' not in listeners} == set()


def test_the_manifest_and_the_configuration_name_the_same_commands() -> None:
    graphs = tomllib.loads((HOUSE / "sayso.toml").read_text("utf-8"))["graphs"]
    configured = {graph["command"] for graph in graphs.values() if "command" in graph}
    configured |= {OWN_COMMAND}
    assert configured == {one["command"] for one in MANIFEST["features"]["slash_commands"]}


def test_the_manifest_and_the_local_slack_have_the_shortcut_that_is_heard() -> None:
    (one,) = MANIFEST["features"]["shortcuts"]
    assert (one["type"], one["callback_id"]) == ("message", SHORTCUT)
    assert [one["name"]] == [each["name"] for each in cast.SHORTCUTS]
    assert {each["callback_id"] for each in cast.SHORTCUTS} == {SHORTCUT}


def test_compose_runs_commands_that_exist() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for service in OURS:
        (command,) = COMPOSE["services"][service]["command"]
        assert command in commands
    assert 'ENTRYPOINT ["sayso"]' in DOCKERFILE
    (default,) = re.findall(r'^CMD \["(\w+)"\]$', DOCKERFILE, re.M)
    assert default in commands
    described = tomllib.loads((HOUSE / "pyproject.toml").read_text("utf-8"))
    assert "sayso" in described["project"]["scripts"]


def test_the_readme_names_every_command_and_no_other() -> None:
    groups = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    real = set()
    for command, described in groups.items():
        real |= {f"{command} {each}" for each in getattr(described, "commands", {})} or {command}
    rows = [
        line.split("|")[1]
        for line in (HOUSE / "README.md").read_text("utf-8").splitlines()
        if line.startswith("| `sayso")
    ]
    named = set()
    for row in rows:
        first, *others = re.findall(r"`([^`]+)`", row)
        words = re.findall(r"^sayso ([a-z]+)(?: ([a-z]+))?", first)[0]
        named.add(" ".join(word for word in words if word))
        for other in others:
            verb = other.removeprefix("sayso ").split()[0]
            named.add(verb if other.startswith("sayso ") else f"{words[0]} {verb}")
    assert named == real


def test_compose_starts_in_the_order_that_the_tables_need() -> None:
    services = COMPOSE["services"]
    assert set(services) == {"postgres", *OURS}
    assert services["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert "healthcheck" in services["postgres"]
    for service in ("bot", "worker"):
        needs = services[service]["depends_on"]
        assert needs["migrate"] == {"condition": "service_completed_successfully"}
    assert services["migrate"]["restart"] == "no"
    assert len({services[service]["image"] for service in OURS}) == 1


def test_compose_hands_over_secrets_as_files_and_only_known_settings() -> None:
    for service in OURS:
        described = COMPOSE["services"][service]
        files = {f"/run/secrets/{secret}" for secret in described["secrets"]}
        assert set(described["secrets"]) <= set(COMPOSE["secrets"])
        for variable, value in described["environment"].items():
            assert variable.endswith("_FILE"), variable
            assert variable.removesuffix("_FILE") in SECRET
            assert value in files
    for secret in COMPOSE["secrets"].values():
        assert secret["file"].startswith("secrets/")
    assert "/deploy/secrets/" in (HOUSE / ".gitignore").read_text("utf-8").splitlines()


def test_the_login_of_compose_is_not_the_role_with_fewer_rights() -> None:
    environment = COMPOSE["services"]["postgres"]["environment"]
    assert environment.get("POSTGRES_USER", "postgres") != "sayso"
    assert environment["POSTGRES_DB"] == "sayso"


def test_the_ports_are_one_port() -> None:
    port = str(Environment.model_fields["port"].default)
    assert COMPOSE["services"]["bot"]["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert f":{port}/readyz" in " ".join(COMPOSE["services"]["bot"]["healthcheck"]["test"])
    assert re.findall(r"^EXPOSE (\d+)$", DOCKERFILE, re.M) == [port]
    assert f"SAYSO_PORT={port}" in DOCKERFILE
    assert example()["SAYSO_PORT"] == port


def test_the_image_is_slim_unprivileged_and_pinned() -> None:
    images = re.findall(r"^FROM (\S+)", DOCKERFILE, re.M)
    assert set(images) == {"python:3.13-slim"}
    (user,) = re.findall(r"^USER (\S+)$", DOCKERFILE, re.M)
    assert int(user) > 0
    assert "--constraint requirements.lock" in DOCKERFILE
    for variable in re.findall(r"\bSAYSO_[A-Z_]+(?==)", DOCKERFILE):
        assert variable in KNOWN
    for source in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.M):
        for path in source.split():
            assert (HOUSE / path).exists()
            allowed = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
            assert f"!{path}" in allowed


def test_the_example_shows_every_setting_with_its_default() -> None:
    shown = example()
    assert set(shown) == KNOWN - NOT_FOR_OPERATORS
    for variable, text in shown.items():
        default = Environment.model_fields[variable.removeprefix("SAYSO_").lower()].default
        if isinstance(default, int | float):
            assert float(text) == default, variable
        else:
            assert text == ("" if default is None else str(default)), variable


def test_the_example_as_it_stands_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HOUSE)
    settings = load({**example(), "PATH": os.environ.get("PATH", "")})
    assert not settings.has_slack
    assert settings.database_url is None
