"""Every mistake is told at once, with its place and what to do; secrets are never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import NotConfigured, SettingsWrong
from bot.settings import examined, load, secret

ROOT = Path(__file__).parent.parent.parent


def written(tmp_path: Path, text: str) -> dict[str, str]:
    """An environment with this configuration file."""
    file = tmp_path / "sayso.toml"
    file.write_text(text, encoding="utf-8")
    return {"SAYSO_CONFIG": str(file)}


def mistakes(environ: dict[str, str]) -> str:
    with pytest.raises(SettingsWrong) as caught:
        load(environ)
    return str(caught.value)


def test_nothing_at_all_is_fine_and_has_no_slack(tmp_path: Path) -> None:
    settings = load({"SAYSO_HOME": str(tmp_path)})
    assert (settings.has_slack, settings.database_url) == (False, None)
    with pytest.raises(NotConfigured):
        settings.need_slack("It takes what Slack sends.")


def test_the_shipped_configuration_has_no_mistakes_and_no_warnings() -> None:
    settings = load({"SAYSO_CONFIG": str(ROOT / "sayso.toml")})
    assert settings.warnings == ()
    assert settings.configuration.graphs["loan"].channels == ("C0LOANS",)


def test_all_mistakes_are_told_together(tmp_path: Path) -> None:
    environ = written(
        tmp_path,
        """
        [operators]
        channel = "#ops"
        [graphs.loan]
        path = "loan"
        chanels = ["C0LOANS"]
        [[reviews]]
        graph = "loan"
        quorum = 0
        """,
    )
    text = mistakes(
        environ
        | {
            "SAYSO_PORT": "many",
            "SAYSO_DATABASE_URL": "mysql://here",
            "SAYSO_SLACK_API_URL": "slack.com",
            "SAYSO_SLACK_BOT_TOKEN": "secret-value",
        }
    )
    for told in (
        "SAYSO_PORT",
        "SAYSO_DATABASE_URL: write an address that begins with postgresql://",
        "SAYSO_SLACK_API_URL",
        "SAYSO_SLACK_BOT_TOKEN: write the bot token; it begins with xoxb-",
        f"{tmp_path}/sayso.toml:6: graphs.loan.chanels: this key is not known",
        "sayso.toml:5: graphs.loan.path",
        "sayso.toml:9: reviews[1].quorum",
        "sayso.toml:3: operators.channel",
    ):
        assert told in text
    assert "secret-value" not in text
    assert "mysql" not in text


def test_names_where_ids_have_to_stand_are_mistakes(tmp_path: Path) -> None:
    text = mistakes(
        written(
            tmp_path,
            """
            [operators]
            users = ["oscar"]
            channel = "#ops"
            [graphs.loan]
            path = "graphs.library.loan:graph"
            channels = ["C0LOANS"]
            command = "loan"

            [graphs.own]
            path = "graphs.library.loan:graph"
            command = "/sayso"
            [graphs.refund]
            path = "graphs.library.loan:graph"
            channels = ["C0LOANS"]
            [[reviews]]
            approvers = { users = ["@alice"], groups = ["credit"] }
            """,
        )
    )
    for told in (
        "operators.users: 'oscar' is no member id",
        "operators.channel: '#ops' is no channel id",
        "graphs.loan.command: write it like /loan",
        "graphs.own.command: /sayso is the app's own",
        "C0LOANS starts graph loan already",
        "reviews[1].approvers.users: '@alice'",
        "reviews[1].approvers.groups: 'credit'",
    ):
        assert told in text


def test_every_mistake_in_a_rule_is_told_at_once(tmp_path: Path) -> None:
    text = mistakes(
        written(
            tmp_path,
            """
            [graphs.loan]
            path = "graphs.library.loan:graph"
            [[reviews]]
            when = "amount > 5"
            approvers = { users = ["U0ALICE"] }
            [[reviews]]
            approvers = { users = ["U0ALICE", "U0DANA"] }
            quorum = 3
            [[reviews]]
            approvers = { users = ["U0ALICE"] }
            editor_may_decide = false
            [[reviews]]
            hours = { zone = "Mars/Base" }
            [[reviews]]
            hours = { days = "never", holidays = "XX" }
            [[reviews]]
            remind = ["soon"]
            """,
        )
    )
    for told in (
        "reviews[1].when: the condition names amount; there are only question, state,",
        "reviews[2].quorum: it wants 3 people and names 2.",
        "reviews[3].editor_may_decide: when one of them changes an action, 0 are left",
        "Mars/Base",
        "'never' names no days",
        "'soon' is no duration",
    ):
        assert told in text


def test_a_file_that_is_not_toml_is_told_with_its_line(tmp_path: Path) -> None:
    assert "line 2" in mistakes(written(tmp_path, "[operators]\nusers = oscar\n"))


def test_a_configuration_that_was_named_has_to_exist(tmp_path: Path) -> None:
    assert "does not exist" in mistakes({"SAYSO_CONFIG": str(tmp_path / "nothing.toml")})


def test_every_secret_may_come_from_a_file(tmp_path: Path) -> None:
    token, signing = tmp_path / "token", tmp_path / "signing"
    token.write_text("xoxb-1\n")
    signing.write_text("s3cret\n")
    environ = written(tmp_path, "") | {
        "SAYSO_SLACK_BOT_TOKEN_FILE": str(token),
        "SAYSO_SLACK_SIGNING_SECRET_FILE": str(signing),
    }
    settings = load(environ)
    assert settings.need_slack("") == ("xoxb-1", "s3cret")
    assert "xoxb-1" not in repr(settings)
    assert "both set" in mistakes(environ | {"SAYSO_SLACK_BOT_TOKEN": "xoxb-2"})
    assert "cannot be read" in mistakes(
        environ | {"SAYSO_SLACK_BOT_TOKEN_FILE": str(tmp_path / "nothing")}
    )


def test_one_of_slacks_two_secrets_alone_is_a_mistake(tmp_path: Path) -> None:
    text = mistakes(written(tmp_path, "") | {"SAYSO_SLACK_BOT_TOKEN": "xoxb-1"})
    assert "SAYSO_SLACK_SIGNING_SECRET is not" in text


def test_a_secret_of_a_graph_is_read_and_stands_nested(tmp_path: Path) -> None:
    (tmp_path / "bank-token").write_text("b4nk\n")
    settings = load(
        written(
            tmp_path,
            """
            [graphs.loan]
            path = "graphs.library.loan:graph"
            config = { bank_url = "http://bank", token = { file = "bank-token" } }
            """,
        )
    )
    config = settings.configuration.graphs["loan"].config
    assert config == {"bank_url": "http://bank", "token": {"value": "b4nk"}}


def test_the_model_of_the_environment_is_that_of_graphs_that_name_none(tmp_path: Path) -> None:
    environ = written(
        tmp_path,
        """
        [graphs.one]
        path = "a:b"
        [graphs.two]
        path = "a:b"
        config = { model = "openai:mine" }
        """,
    )
    graphs = load(environ | {"SAYSO_MODEL": "openai:theirs"}).configuration.graphs
    assert graphs["one"].config["model"] == "openai:theirs"
    assert graphs["two"].config["model"] == "openai:mine"


def test_a_misspelt_variable_and_a_rule_for_nobody_are_warnings(tmp_path: Path) -> None:
    environ = written(tmp_path, '[graphs.loan]\npath = "a:b"\n[[reviews]]\ngraph = "loan"\n')
    text = "\n".join(load(environ | {"SAYSO_PORTS": "1"}).warnings)
    assert "Did you mean SAYSO_PORT?" in text
    assert "nobody may decide" in text


def test_what_can_be_read_is_there_beside_the_mistakes(tmp_path: Path) -> None:
    environ = written(
        tmp_path,
        """
        [graphs.good]
        path = "a:b"
        [graphs.bad]
        path = "a:b"
        channels = "C0LOANS"
        labels = { ask = "Ask" }
        [graphs.lost]
        channels = ["C0LOANS"]
        [[reviews]]
        graph = "good"
        quorum = "two"
        [[reviews]]
        graph = "bad"
        [[reviews]]
        graph = "lona"
        quorum = "three"
        """,
    )
    settings, wrong = examined(environ)
    text = "\n".join(wrong)
    # A graph is looked at without what is wrong in it, so that one report tells the rest too.
    assert set(settings.configuration.graphs) == {"good", "bad"}
    bad = settings.configuration.graphs["bad"]
    assert (bad.channels, bad.labels) == ((), {"ask": "Ask"})
    assert 'graphs.bad.channels: write a list, such as ["C0LOANS"].' in text
    assert "reviews[1].quorum: write a whole number." in text
    assert "there is no graph called lona. Configured are: good, bad, lost." in text
    assert "graphs.lost.path: this key is missing; add it." in text
    assert len(wrong) == 5


def test_an_empty_variable_is_the_same_as_none(tmp_path: Path) -> None:
    settings = load(written(tmp_path, "") | {"SAYSO_DATABASE_URL": "", "SAYSO_PORT": ""})
    assert (settings.database_url, settings.environment.port) == (None, 3000)
    assert secret(None) is None


@pytest.mark.parametrize(
    "rest",
    ["u:S3cr/et@h/db", "u:S3c#ret@h:5432/db", "u:S3c?ret@h/db", "u:S3[ret@h/db", "u:12/S3cret@h/db",
     "u:12?S3cret@h/db", "u:12#S3cret@h", "u@h:S3cret/db", "u@h:99999/db"],
)  # fmt: skip
def test_a_database_address_with_a_bare_password_is_told_and_not_quoted(rest: str) -> None:
    text = mistakes({"SAYSO_DATABASE_URL": f"postgresql://{rest}"})
    assert "SAYSO_DATABASE_URL: the address cannot be read; percent-encode the password" in text
    assert not any(part in text for part in ("S3c", "ret", "et@", "99999"))


@pytest.mark.parametrize(
    "rest",
    ["u:S3c%2Fret@h/db", "/db", "u@/db?host=/var/run/postgresql", "u@[::1]:5432/db", "h",
     "u:p@h1:5432,h2:5433/db?sslmode=require", "u@h:5432/db?application_name=a@b", "u:a@b@h/db"],
)  # fmt: skip
def test_a_database_address_that_can_be_read_is_taken(rest: str) -> None:
    url = f"postgresql://{rest}"
    assert load({"SAYSO_DATABASE_URL": url}).database_url == url
