"""What Slack says of a person, read into the few facts that rules ask for. Pure.

An absent flag is false: an ordinary member carries no `is_stranger`. An absent address says less:
Slack leaves out the address of who has none, and everybody's where the token may not read it. Which
of these it is, only the token's scopes tell.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from checkpoints.text import clean
from graphs.specs import address

EMAIL_SCOPE: Final = "users:read.email"
NAME_LENGTH: Final = 80


@dataclass(frozen=True)
class Profile:
    """One person, as far as we keep it; `email` is None where it could not be found out."""

    name: str
    home: str
    is_guest: bool
    is_stranger: bool
    is_bot: bool
    deleted: bool
    zone: str | None
    email: str | None


def profile(said: Mapping[str, Any], team: str, scopes: Collection[str]) -> Profile:
    """Read what users.info says of somebody.

    Args:
        team: our own, whoever belongs to another is a stranger.
        scopes: what our token may do.
    """
    shown = said.get("profile") or {}
    name = shown.get("display_name") or said.get("real_name") or said.get("name") or ""
    home = str(said.get("team_id") or "")
    stranger = bool(said.get("is_stranger")) or _elsewhere(said, home, team)
    bot = bool(said.get("is_bot")) or said.get("id") == "USLACKBOT"
    return Profile(
        name=clean(str(name))[:NAME_LENGTH],
        home=home,
        is_guest=bool(said.get("is_restricted") or said.get("is_ultra_restricted")),
        is_stranger=stranger,
        is_bot=bot,
        deleted=bool(said.get("deleted")),
        zone=clean(str(said["tz"]))[:NAME_LENGTH] if said.get("tz") else None,
        # What another organisation writes into its profiles is its own word.
        email="" if stranger or bot else _email(said, scopes),
    )


def _elsewhere(said: Mapping[str, Any], home: str, team: str) -> bool:
    """Another team, unless both belong to the same enterprise grid."""
    if not home or home == team:
        return False
    enterprise = said.get("enterprise_user") or {}
    return team not in (enterprise.get("teams") or [])


def _email(said: Mapping[str, Any], scopes: Collection[str]) -> str | None:
    """An address that Slack does not call unconfirmed; "" for none, None where it did not say."""
    shown = (said.get("profile") or {}).get("email")
    if not shown:
        return "" if EMAIL_SCOPE in scopes else None
    if said.get("is_email_confirmed") is False:
        return ""
    try:
        return address(clean(str(shown)))
    except ValueError:  # nothing that a rule could name
        return ""
