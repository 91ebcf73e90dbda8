"""Who and what is in the local Slack when it is new: the cast, their groups, the channels."""

from typing import Any

JSON = dict[str, Any]

TEAM: JSON = {"id": "T0SAYSO", "name": "Sayso", "domain": "sayso-local"}
OTHER_TEAM = "T0OTHER"
BOT_USER = "U0SAYSO"
BOT_ID = "B0SAYSO"
APP_ID = "A0SAYSO"
BOT_NAME = "Sayso"
SLACKBOT = "USLACKBOT"

BOT_TOKEN = "xoxb-local-sayso"
APP_TOKEN = "xapp-local-sayso"
SIGNING_SECRET = "local-signing-secret"
VERIFICATION_TOKEN = "local-verification-token"

# What deploy/slack-manifest.yaml asks for: a call that needs more fails here as it would there.
SCOPES = frozenset(
    {
        "chat:write",
        "commands",
        "im:write",
        "users:read",
        "app_mentions:read",
        "im:history",
        "channels:read",
        "groups:read",
        "channels:history",
        "groups:history",
        "usergroups:read",
        "users:read.email",
        "files:read",
        "files:write",
    }
)

COMMANDS: tuple[JSON, ...] = (
    {
        "command": "/sayso",
        "hint": "away until Friday, @Dana covers",
        "about": "Say that you are away and who decides meanwhile",
        "escape": True,
    },
    {"command": "/loan", "hint": "for whom, how much, for what", "about": "Ask for a loan"},
    {"command": "/refund", "hint": "how much, which order, why", "about": "Ask for a refund"},
    {"command": "/content", "hint": "what it is about", "about": "Have a text written"},
)

SHORTCUTS: tuple[JSON, ...] = (
    {"callback_id": "ask_sayso", "name": "Ask Sayso about this", "type": "message"},
)

FIRST_TEXT = "Loan for Asha Traders, 60000 for a delivery van"
FIRST_FILES = ("bank-statement-oct.pdf", "van-quote.pdf")
SAMPLES: dict[str, str] = {
    "bank-statement-oct.pdf": "",
    "bank-statement-sep.csv": "",
    "van-quote.pdf": "",
    "business-letter.txt": "",
    "scan-without-text.pdf": "A picture of a letter, nothing to read in it",
    "locked-statement.pdf": "Needs a password",
}


def _person(id_: str, name: str, role: str, color: str, **flags: Any) -> JSON:
    return {
        "id": id_,
        "name": name,
        "role": role,
        "color": color,
        "team_id": TEAM["id"],
        "tz": "Asia/Kolkata",
        "tz_label": "India Standard Time",
        "tz_offset": 19800,
        "locale": "en-IN",
        "email": f"{name.lower()}@example.com",
        "flags": flags,
        "shown": True,
    }


PEOPLE: tuple[JSON, ...] = (
    _person("U0BOB", "Bob", "asks for loans", "#a8550c"),
    _person("U0ALICE", "Alice", "credit officer", "#6b46b5"),
    _person("U0DANA", "Dana", "credit officer", "#247a6b"),
    _person("U0ERIN", "Erin", "head of credit", "#a8325e"),
    _person("U0CHARLIE", "Charlie", "no say here", "#5f6b72"),
    _person("U0OSCAR", "Oscar", "runs it", "#4a5a8c", is_admin=True),
    {**_person("U0GUEST", "Guest", "a guest", "#777777", is_restricted=True), "shown": False},
    {
        **_person("U0STRANGER", "Stranger", "other organisation", "#777777", is_stranger=True),
        "team_id": OTHER_TEAM,
        "shown": False,
    },
    {**_person("U0GONE", "Gone", "has left", "#777777", deleted=True), "shown": False},
    {**_person(BOT_USER, BOT_NAME, "the app", "#0b4f4a", is_bot=True), "shown": False},
    # The real one famously says is_bot: false.
    {**_person(SLACKBOT, "slackbot", "Slack itself", "#757575"), "shown": False},
)

STAFF = ["U0BOB", "U0ALICE", "U0DANA", "U0ERIN", "U0CHARLIE", "U0OSCAR"]

GROUPS: tuple[JSON, ...] = (
    {"id": "S0CREDIT", "handle": "credit", "name": "Credit", "users": ["U0ALICE", "U0DANA"]},
    {"id": "S0HEADS", "handle": "heads", "name": "Heads of credit", "users": ["U0ERIN"]},
    {"id": "S0STAFF", "handle": "staff", "name": "Everybody here", "users": STAFF},
)


def channel(id_: str, name: str, topic: str = "", **more: Any) -> JSON:
    """A channel as we keep it; `members` includes the bot where the app has been invited."""
    return {
        "id": id_,
        "name": name,
        "topic": topic,
        "is_im": False,
        "is_private": False,
        "is_archived": False,
        "is_ext_shared": False,
        "members": [*STAFF, BOT_USER],
        **more,
    }


def direct(user: str) -> JSON:
    """The direct messages between a person and the app: D0BOB for U0BOB."""
    return channel("D" + user[1:], "", is_im=True, user=user, members=[user, BOT_USER])


CHANNELS: tuple[JSON, ...] = (
    channel("C0LOANS", "loans", "Ask for a loan for a customer"),
    channel("C0CREDIT", "credit", "Loans that need a decision"),
    channel("C0REFUNDS", "refunds", "Money back for a customer"),
    channel("C0CONTENT", "content", "Texts that two people review"),
    channel("C0OPS", "ops", "What needs a hand"),
)
