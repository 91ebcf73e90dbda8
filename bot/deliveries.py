"""What Slack delivered to us, once: the keys that are the same at every redelivery.

A key is inserted in the same transaction as its effect, so either both are there or neither.
Slack's own ids differ by surface:

    events              the app and the event id; team ids are null on some grids
    a start             also (team, channel, ts): a mention comes as two events with two ids
    block actions       team, person, action_ts, action id and the message or view they were in
    view submissions    the view's id
    commands, shortcuts the trigger id

Keys are kept for `KEEP_DAYS`, longer than the last redelivery and longer than a card lives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from checkpoints.database import Connection, queries

SQL = queries(__file__)

KEEP_DAYS: Final = 30
_KEY_LENGTH: Final = 255


async def accept(connection: Connection, key: str, kind: str) -> bool:
    """Keep the key; False when this very request was accepted before and must do nothing."""
    return await connection.fetchval(SQL.accept, key[:_KEY_LENGTH], kind) is not None


async def belongs(connection: Connection, keys: Sequence[str], thread_id: str) -> None:
    """Note which thread the requests led to."""
    await connection.execute(SQL.belongs, [key[:_KEY_LENGTH] for key in keys], thread_id)


async def forget_old(connection: Connection) -> None:
    """Drop keys that no redelivery can carry any more."""
    await connection.execute(SQL.forget_old, KEEP_DAYS)


def event_key(body: Mapping[str, Any]) -> str:
    """The key of an Events API request."""
    return f"event:{body.get('api_app_id')}:{body.get('event_id')}"


def message_key(team: str, channel: str, ts: str) -> str:
    """The key of a message, whichever events it comes in."""
    return f"message:{team}:{channel}:{ts}"


def action_key(body: Mapping[str, Any], action: Mapping[str, Any]) -> str:
    """The key of one press of one button."""
    container = body.get("container") or {}
    where = container.get("message_ts") or container.get("view_id") or ""
    team = (body.get("team") or {}).get("id")
    person = (body.get("user") or {}).get("id")
    return f"action:{team}:{person}:{action.get('action_ts')}:{action.get('action_id')}:{where}"


def view_key(body: Mapping[str, Any]) -> str:
    """The key of the submission of one view."""
    return f"view:{(body.get('view') or {}).get('id')}"


def trigger_key(body: Mapping[str, Any]) -> str:
    """The key of a slash command or a shortcut."""
    return f"trigger:{body.get('trigger_id')}"
