"""What arrives from Slack, before anybody takes it: made storable, and compared with who we are.

A signature proves that Slack sent it, not who pressed: in a channel shared with another
organisation, its people see our cards. On an enterprise grid the team may be null, or be another
team of the same enterprise; then the look-up of the person tells.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from slack_bolt.request.async_request import AsyncBoltRequest

from bot.workspaces import Workspace
from checkpoints.text import clean_json


async def storable(request: AsyncBoltRequest, next_: Callable[[], Awaitable[Any]]) -> Any:
    """Take NUL and half characters out of everything in the request, before a listener sees it."""
    request.body = clean_json(request.body)
    return await next_()


def is_for_us(workspace: Workspace, body: Mapping[str, Any]) -> bool:
    """Whether an event is one that a process of this workspace's token serves."""
    named = {str(one.get("team_id")) for one in body.get("authorizations") or [] if one} | {
        str(body.get("team_id"))
    }
    return workspace.team in named or named == {"None"}


def is_foreign(workspace: Workspace, body: Mapping[str, Any]) -> bool:
    """Whether an interaction or a command names a team that is not ours, nor our enterprise."""
    return foreign_team(workspace, body) != ""


def foreign_team(workspace: Workspace, body: Mapping[str, Any]) -> str:
    """The team that is named where it is not ours, nor of our enterprise; "" where it is."""
    user, team = body.get("user") or {}, body.get("team") or {}
    home = user.get("team_id") or team.get("id") or body.get("team_id")
    if not home or home == workspace.team:
        return ""
    enterprise = (body.get("enterprise") or {}).get("id") or body.get("enterprise_id")
    if workspace.enterprise is not None and enterprise == workspace.enterprise:
        return ""
    return str(home)
