"""How our rows look from outside: Slack's own users, channels, messages, files and views."""

import hashlib
import time
from typing import Any

from bot.simulator import cast
from bot.simulator.cast import JSON
from bot.simulator.workspace import Workspace

_FILE_TYPES = {
    "pdf": ("application/pdf", "PDF"),
    "csv": ("text/csv", "CSV"),
    "txt": ("text/plain", "Plain Text"),
    "json": ("application/json", "JSON"),
    "png": ("image/png", "PNG"),
    "jpg": ("image/jpeg", "JPEG"),
    "xlsx": (
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "Excel Spreadsheet",
    ),
    "docx": (
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "Word Document",
    ),
    "zip": ("application/zip", "Zip"),
}


def escaped(text: str) -> str:
    """Text as Slack delivers what a person typed."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def user(person: JSON, *, include_locale: bool = False, with_email: bool = False) -> JSON:
    """A person as users.info shows them; flags that Slack leaves out are left out."""
    flags = person["flags"]
    name = person["name"]
    profile: JSON = {
        "title": person["role"],
        "phone": "",
        "real_name": name,
        "real_name_normalized": name,
        "display_name": name,
        "display_name_normalized": name,
        "status_text": "",
        "status_emoji": "",
        "avatar_hash": hashlib.sha256(person["id"].encode()).hexdigest()[:12],
        "team": person["team_id"],
    }
    if with_email and person.get("email") and not flags.get("is_bot"):
        profile["email"] = person["email"]
    shown: JSON = {
        "id": person["id"],
        "team_id": person["team_id"],
        "name": name.lower(),
        "deleted": bool(flags.get("deleted")),
        "profile": profile,
        "is_bot": bool(flags.get("is_bot")),
        "is_app_user": False,
        "updated": 1_780_000_000,
    }
    if shown["is_bot"]:
        profile.update(bot_id=cast.BOT_ID, api_app_id=cast.APP_ID, always_active=True)
    if shown["deleted"]:
        return shown
    shown.update(
        color=person["color"].lstrip("#"),
        real_name=name,
        tz=person["tz"],
        tz_label=person["tz_label"],
        tz_offset=person["tz_offset"],
        who_can_share_contact_card="EVERYONE",
    )
    if flags.get("is_stranger"):
        shown["is_stranger"] = True
    else:
        shown.update(
            is_admin=bool(flags.get("is_admin")),
            is_owner=False,
            is_primary_owner=False,
            is_restricted=bool(flags.get("is_restricted") or flags.get("is_ultra_restricted")),
            is_ultra_restricted=bool(flags.get("is_ultra_restricted")),
            is_email_confirmed=flags.get("is_email_confirmed", True),
        )
    if include_locale:
        shown["locale"] = person["locale"]
    return shown


def channel(place: JSON, *, members: bool = False) -> JSON:
    """A channel or direct message as conversations.info shows it."""
    if place["is_im"]:
        return {
            "id": place["id"],
            "created": 1_780_000_000,
            "is_archived": False,
            "is_im": True,
            "is_org_shared": False,
            "context_team_id": cast.TEAM["id"],
            "user": place["user"],
            "is_user_deleted": False,
            "is_open": True,
        }
    shown: JSON = {
        "id": place["id"],
        "name": place["name"],
        "name_normalized": place["name"],
        "is_channel": True,
        "is_group": False,
        "is_im": False,
        "is_mpim": False,
        "is_private": place["is_private"],
        "created": 1_780_000_000,
        "is_archived": place["is_archived"],
        "is_general": False,
        "is_shared": place["is_ext_shared"],
        "is_org_shared": False,
        "is_ext_shared": place["is_ext_shared"],
        "is_pending_ext_shared": False,
        "context_team_id": cast.TEAM["id"],
        "creator": "U0OSCAR",
        "is_member": cast.BOT_USER in place["members"],
        "topic": {"value": place["topic"], "creator": "U0OSCAR", "last_set": 1_780_000_000},
        "purpose": {"value": "", "creator": "", "last_set": 0},
        "previous_names": place.get("previous_names", []),
    }
    if members:
        shown["num_members"] = len(place["members"])
    return shown


def group(row: JSON, *, users: bool = False) -> JSON:
    """A user group as usergroups.list shows it."""
    shown: JSON = {
        "id": row["id"],
        "team_id": cast.TEAM["id"],
        "is_usergroup": True,
        "is_subteam": True,
        "name": row["name"],
        "description": "",
        "handle": row["handle"],
        "is_external": False,
        "date_create": 1_780_000_000,
        "date_update": 1_780_000_000,
        "date_delete": 0,
        "auto_type": None,
        "created_by": "U0OSCAR",
        "updated_by": "U0OSCAR",
        "deleted_by": None,
        "prefs": {"channels": [], "groups": []},
        "user_count": len(row["users"]),
    }
    if users:
        shown["users"] = list(row["users"])
    return shown


def file_type(name: str) -> tuple[str, str, str]:
    """(filetype, mimetype, pretty_type) as Slack guesses them from the name."""
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    if ending == "jpeg":
        ending = "jpg"
    if ending in _FILE_TYPES:
        mime, pretty = _FILE_TYPES[ending]
        return (ending if ending != "txt" else "text"), mime, pretty
    return "binary", "application/octet-stream", "Binary"


def is_seen(row: JSON) -> bool:
    """Whether Slack has looked at a file that was completed: until then it has no type."""
    return row.get("pending") is not True and time.time() >= row.get("seen_at", 0)


def file(row: JSON, url: str) -> JSON:
    """A file object; `url` is where this local Slack answers."""
    place = f"{url}/files/{row['id']}/{row['name_in_url']}"
    seen = is_seen(row)
    shares: JSON = {"public": {}, "private": {}}
    for channel, messages in row.get("shares", {}).items():
        kind = "private" if channel.startswith(("D", "G")) else "public"
        shares[kind][channel] = [{"ts": ts} for ts in messages]
    return {
        "id": row["id"],
        "created": row["created"],
        "timestamp": row["created"],
        "name": row["name"],
        "title": row["title"],
        "mimetype": row["mimetype"] if seen else "",
        "filetype": row["filetype"] if seen else "",
        "pretty_type": row["pretty_type"] if seen else "",
        "user": row["user"],
        "user_team": cast.TEAM["id"],
        "editable": False,
        "size": row["size"],
        "mode": "hosted",
        "is_external": False,
        "external_type": "",
        "is_public": True,
        "public_url_shared": False,
        "display_as_bot": False,
        "username": "",
        "url_private": place,
        "url_private_download": place,
        "permalink": f"{url}/_page/files/{row['id']}/{row['name_in_url']}",
        "is_starred": False,
        "has_rich_preview": False,
        "file_access": "visible",
        "shares": {kind: of for kind, of in shares.items() if of} if seen else {},
    }


def message(workspace: Workspace, row: JSON, url: str, *, metadata: bool = False) -> JSON:
    """A message as conversations.history and the events show it."""
    shown: JSON = {"type": "message", "user": row["user"], "ts": row["ts"], "text": row["text"]}
    for key in ("subtype", "blocks", "thread_ts", "edited", "reactions", "client_msg_id"):
        if row.get(key):
            shown[key] = row[key]
    if row.get("bot_id"):
        shown.update(bot_id=row["bot_id"], app_id=cast.APP_ID, bot_profile=bot_profile())
    if row["user"] in workspace.people():
        shown["team"] = workspace.people()[row["user"]]["team_id"]
    if row.get("files"):
        known = workspace.table("files")
        shown["files"] = [file(known[id_], url) for id_ in row["files"] if id_ in known]
        shown.update(upload=False, display_as_bot=False)
    if metadata and row.get("metadata"):
        shown["metadata"] = row["metadata"]
    if row.get("thread_ts") and row["thread_ts"] != row["ts"]:
        parent = workspace.get(f"messages/{row['channel']}", row["thread_ts"])
        if parent:
            shown["parent_user_id"] = parent["user"]
    replies = workspace.replies(row["channel"], row["ts"])
    if replies:
        people = list(dict.fromkeys(reply["user"] for reply in replies))
        shown.update(
            thread_ts=row["ts"],
            reply_count=len(replies),
            reply_users=people[:5],
            reply_users_count=len(people),
            latest_reply=replies[-1]["ts"],
            is_locked=False,
            subscribed=False,
        )
    return shown


def bot_profile() -> JSON:
    """The app, as its messages carry it."""
    return {
        "id": cast.BOT_ID,
        "app_id": cast.APP_ID,
        "user_id": cast.BOT_USER,
        "name": cast.BOT_NAME,
        "deleted": False,
        "updated": 1_780_000_000,
        "team_id": cast.TEAM["id"],
    }


def view(row: JSON) -> JSON:
    """A view as views.open answers it and interactions carry it; our own keys stay here."""
    shown: JSON = {key: value for key, value in row.items() if key not in ("user", "opened")}
    shown.update(
        team_id=cast.TEAM["id"],
        app_id=cast.APP_ID,
        bot_id=cast.BOT_ID,
        app_installed_team_id=cast.TEAM["id"],
    )
    return shown


def person(workspace: Workspace, id_: str) -> JSON:
    """Who acts, as interactions name them."""
    known = workspace.people().get(id_)
    name = workspace.name_of(id_).lower()
    team: Any = known["team_id"] if known else cast.TEAM["id"]
    return {"id": id_, "username": name, "name": name, "team_id": team}
