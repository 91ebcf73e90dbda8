"""The users.* and usergroups.* methods."""

from bot.simulator import shapes
from bot.simulator.arguments import Call
from bot.simulator.cast import JSON
from bot.simulator.errors import Refused

EMAIL_SCOPE = "users:read.email"


async def info(call: Call) -> JSON:
    """users.info."""
    person = call.workspace.people().get(call.needed("user", "user_not_found"))
    if person is None:
        raise Refused("user_not_found")
    shown = shapes.user(
        person, include_locale=call.flag("include_locale"), with_email=_emails(call)
    )
    return {"user": shown}


async def list_(call: Call) -> JSON:
    """users.list: everybody, those who left and the app included."""
    rows = [
        shapes.user(person, include_locale=call.flag("include_locale"), with_email=_emails(call))
        for person in call.workspace.people().values()
    ]
    page, cursor = call.page(rows)
    return {"members": page, "cache_ts": 0, "response_metadata": {"next_cursor": cursor}}


async def lookup_by_email(call: Call) -> JSON:
    """users.lookupByEmail: people who are here."""
    address = call.needed("email", "users_not_found").lower()
    for person in call.workspace.people().values():
        here = not person["flags"].get("deleted") and not person["flags"].get("is_bot")
        if here and str(person.get("email") or "").lower() == address:
            return {"user": shapes.user(person, with_email=True)}
    raise Refused("users_not_found")


async def list_groups(call: Call) -> JSON:
    """usergroups.list."""
    with_users = call.flag("include_users")
    rows = call.workspace.table("groups").values()
    return {"usergroups": [shapes.group(row, users=with_users) for row in rows]}


async def list_group_users(call: Call) -> JSON:
    """usergroups.users.list."""
    row = call.workspace.get("groups", call.needed("usergroup", "no_such_subteam"))
    if row is None:
        raise Refused("no_such_subteam")
    return {"users": list(row["users"])}


def _emails(call: Call) -> bool:
    return EMAIL_SCOPE in call.slack.granted_scopes()
