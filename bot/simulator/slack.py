"""The parts of the local Slack, put together once and handed to every route."""

import secrets
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from bot.simulator import cast, shapes
from bot.simulator.cast import JSON
from bot.simulator.deliveries import Deliveries
from bot.simulator.errors import Refused
from bot.simulator.misbehaviour import Misbehaviour
from bot.simulator.workspace import Workspace

TRIGGER_SECONDS = 3.0
RESPONSE_USES = 5
RESPONSE_SECONDS = 30 * 60


@dataclass
class Trigger:
    """What a person did, good for one modal within three seconds."""

    user: str
    born: float
    view_id: str | None
    spent: bool = False


@dataclass
class Slack:
    """State, knobs, deliveries and identity; what the routes and the methods work on."""

    workspace: Workspace
    misbehaviour: Misbehaviour
    deliveries: Deliveries
    url: str = ""
    bot_token: str = cast.BOT_TOKEN
    app_token: str = cast.APP_TOKEN
    trigger_seconds: float = TRIGGER_SECONDS
    bot_running: bool = False
    clock_read_at: float = float("-inf")  # when a bot last asked for the shown time
    calls: deque[JSON] = field(default_factory=lambda: deque(maxlen=500))
    triggers: dict[str, Trigger] = field(default_factory=dict)

    def granted_scopes(self) -> frozenset[str]:
        """What the app's token may do: what its manifest asks for, as the knobs changed it."""
        knobs = self.misbehaviour
        return (cast.SCOPES | set(knobs["extra_scopes"])) - set(knobs["missing_scopes"])

    # ---- trigger ids

    def new_trigger(self, user: str, view_id: str | None = None) -> str:
        """A trigger_id for something this person does now."""
        now = time.monotonic()
        self.triggers = {id_: one for id_, one in self.triggers.items() if now - one.born < 60}
        id_ = f"{time.time_ns()}.{secrets.token_hex(8)}"
        self.triggers[id_] = Trigger(user, now, view_id)
        return id_

    def spend_trigger(self, id_: str) -> Trigger:
        """Use a trigger up, or refuse it as Slack does."""
        trigger = self.triggers.get(id_)
        if trigger is None:
            raise Refused("invalid_trigger_id")
        if trigger.spent:
            raise Refused("exchanged_trigger_id")
        if time.monotonic() - trigger.born > self.trigger_seconds:
            raise Refused("expired_trigger_id")
        trigger.spent = True
        return trigger

    # ---- response urls

    def new_response_url(self, **about: Any) -> str:
        """A response_url for what is being done where `about` says."""
        token = self.workspace.new_id("R") + secrets.token_hex(8)
        self.workspace.put("responses", token, {**about, "uses": 0, "born": time.time()})
        return f"{self.url}/respond/{token}"

    # ---- events

    def tell(self, place: JSON, event: JSON) -> None:
        """Deliver an event of this channel, if the app is in it and subscribed to its kind."""
        if cast.BOT_USER in place["members"]:
            self.deliveries.event(event, ext_shared=place["is_ext_shared"])

    def channel_type(self, place: JSON) -> str:
        """channel, group or im, as events name it."""
        if place["is_im"]:
            return "im"
        return "group" if place["is_private"] else "channel"

    def tell_of_message(self, message: JSON) -> None:
        """Deliver a new message, and the mention of the app in it besides."""
        place = self.workspace.channels()[message["channel"]]
        shown = shapes.message(self.workspace, message, self.url)
        where = {"channel": place["id"], "event_ts": message["ts"]}
        if message.get("files"):
            shown["subtype"] = "file_share"
        self.tell(place, {**shown, **where, "channel_type": self.channel_type(place)})
        mentions = f"<@{cast.BOT_USER}>" in message["text"] and not message.get("bot_id")
        if mentions and not place["is_im"]:
            shown.pop("subtype", None)
            self.tell(place, {**shown, **where, "type": "app_mention"})

    def tell_of_change(self, before: JSON, after: JSON | None) -> None:
        """Deliver that a message was changed, or deleted when there is no after."""
        place = self.workspace.channels()[before["channel"]]
        ts = self.workspace.new_ts()
        event: JSON = {
            "type": "message",
            "subtype": "message_changed" if after else "message_deleted",
            "channel": place["id"],
            "channel_type": self.channel_type(place),
            "previous_message": shapes.message(self.workspace, before, self.url),
            "hidden": True,
            "ts": ts,
            "event_ts": ts,
        }
        if after:
            event["message"] = shapes.message(self.workspace, after, self.url)
        else:
            event["deleted_ts"] = before["ts"]
        self.tell(place, event)
