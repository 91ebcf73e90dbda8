"""Which workspace we serve, and who we are in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.errors import SlackFailed
from bot.slack import Slack
from checkpoints.database import Database, queries
from checkpoints.errors import SaysoError
from checkpoints.text import clean

SQL = queries(__file__)
LOCAL_TEAM: Final = "local"


@dataclass(frozen=True)
class Workspace:
    """The workspace behind the token, and who we are in it."""

    team: str
    name: str
    enterprise: str | None
    bot_user: str
    bot_id: str | None


async def identify(database: Database, slack: Slack) -> Workspace:
    """Which workspace the token belongs to: Slack says, else what it said of this token before.

    Raises:
        SlackFailed: Slack does not say, and never did.
    """
    try:
        said = await slack.call("auth.test")
    except SlackFailed:
        row = await database.fetchrow(SQL.workspace, slack.token_digest)
        if row is None:
            raise
        return Workspace(**dict(row))
    workspace = Workspace(
        team=str(said["team_id"]),
        name=clean(str(said.get("team") or "")),
        enterprise=said.get("enterprise_id"),
        bot_user=str(said["user_id"]),
        bot_id=said.get("bot_id"),
    )
    await database.execute(
        SQL.keep_workspace,
        workspace.team,
        workspace.name,
        workspace.enterprise,
        workspace.bot_user,
        workspace.bot_id,
        slack.token_digest,
    )
    return workspace


async def team_of(database: Database) -> str:
    """The team that commands without Slack settings speak for: the workspace seen last."""
    try:
        row = await database.fetchrow(SQL.workspace, None)
    except SaysoError:
        row = None
    return str(row["team"]) if row else LOCAL_TEAM
