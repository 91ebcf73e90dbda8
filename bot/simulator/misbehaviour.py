"""How the local Slack and its bank misbehave when they are told to, as the real ones do.

| knob | what happens |
|---|---|
| redeliver: n | every event is sent n more times, as by a retry |
| redeliver_interactions: n | every click is sent n more times (a person who pressed again) |
| drop_events: n | the first attempt of the next n events never arrives |
| delay_ms | every delivery leaves that much later; a trigger_id ages meanwhile |
| api_delay_ms | the Web API answers late |
| slow_history_ms, users_info_ms | history and replies, or users.info, answer late |
| file_ms | a file that was completed has no type, no message and no place in blocks so long |
| lose_answer: n or [method, ...] | the work is done and the answer lost, once for each entry |
| lose_by: "500" or "close" | how an answer is lost: HTTP 500, or the connection ends |
| ratelimit: {method, n, retry_after} | 429 with Retry-After; method "*" is any |
| server_error: {method, n} | HTTP 500 without doing anything |
| api_error: {method, n, error} | HTTP 200 with this error of Slack's, without doing anything |
| rates: true | chat.postMessage above 1 a second in a channel, after a burst of 5, is refused |
| revoke: true | the bot's token is revoked, with Slack's event |
| uninstall: true | the app is removed from the workspace, with Slack's events |
| missing_scopes, extra_scopes: [scope] | what the app was not granted, or was besides |
| archive, unarchive, remove_bot, add_bot: channel | as said, with Slack's event |
| bank_down, bank_loses_answer: n or true, bank_refuses: words | the bank's own troubles |
"""

import json
from collections import deque
from typing import Any

from bot.simulator.cast import JSON
from bot.simulator.errors import Impossible

_DEFAULTS: JSON = {
    "redeliver": 0,
    "redeliver_interactions": 0,
    "drop_events": 0,
    "delay_ms": 0,
    "api_delay_ms": 0,
    "slow_history_ms": 0,
    "users_info_ms": 0,
    "file_ms": 0,
    "lose_answer": 0,
    "lose_by": "500",
    "ratelimit": [],
    "server_error": [],
    "api_error": [],
    "rates": False,
    "revoke": False,
    "uninstall": False,
    "missing_scopes": [],
    "extra_scopes": [],
    "bank_down": False,
    "bank_loses_answer": 0,
    "bank_refuses": None,
}
_COUNTS = (
    "redeliver",
    "redeliver_interactions",
    "drop_events",
    "delay_ms",
    "api_delay_ms",
    "slow_history_ms",
    "users_info_ms",
    "file_ms",
)
_PER_METHOD = ("ratelimit", "server_error", "api_error")
_SWITCHES = ("rates", "revoke", "uninstall", "bank_down")
PLACES = ("archive", "unarchive", "remove_bot", "add_bot")


class Misbehaviour:
    """The knobs, and how often each still applies."""

    def __init__(self) -> None:
        self._set: JSON = {}
        self.reset()

    def __getitem__(self, knob: str) -> Any:
        return self._set[knob]

    def as_json(self) -> JSON:
        """Every knob as it stands."""
        return dict(self._set)

    def reset(self) -> None:
        """Behave."""
        self._set = json.loads(json.dumps(_DEFAULTS))

    def merge(self, wanted: JSON) -> None:
        """Turn these knobs, all of them or, when one is wrong, none."""
        fresh = dict(self._set)
        for knob, value in wanted.items():
            if knob in PLACES or knob == "reset":
                continue
            if knob not in _DEFAULTS:
                raise Impossible(f"There is no knob {knob!r}. There are: {', '.join(_DEFAULTS)}.")
            fresh[knob] = self._checked(knob, value)
        self._set = fresh

    def take(self, knob: str) -> bool:
        """Use up one of a counted knob; a true one is never used up."""
        left = self._set[knob]
        if left is True:
            return True
        if isinstance(left, int) and left > 0:
            self._set[knob] = left - 1
            return True
        return False

    def loses_answer_of(self, method: str) -> bool:
        """Whether this call's answer is to be lost; uses one up."""
        left = self._set["lose_answer"]
        if isinstance(left, list):
            if method not in left:
                return False
            rest = deque(left)
            rest.remove(method)
            self._set["lose_answer"] = list(rest)
            return True
        return self.take("lose_answer")

    def take_for(self, knob: str, method: str) -> JSON | None:
        """The entry of a per-method knob that applies to this call; uses one up."""
        for at, entry in enumerate(self._set[knob]):
            if entry["method"] in (method, "*") and entry["n"] > 0:
                entries = list(self._set[knob])
                entries[at] = {**entry, "n": entry["n"] - 1}
                self._set[knob] = [left for left in entries if left["n"] > 0]
                return dict(entry)
        return None

    def _checked(self, knob: str, value: Any) -> Any:
        right = True
        if knob in _COUNTS:
            right = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 60_000
        elif knob in _SWITCHES:
            right = isinstance(value, bool)
        elif knob in _PER_METHOD:
            entries = value if isinstance(value, list) else [value] if value else []
            right = all(isinstance(entry, dict) and "method" in entry for entry in entries)
            value = right and [{"n": 1, **entry} for entry in entries]
        elif knob == "lose_answer":
            right = isinstance(value, int | list)
        elif knob == "lose_by":
            right = value in ("500", "close")
        elif knob == "bank_loses_answer":
            right = isinstance(value, int)
        elif knob == "bank_refuses":
            right = value is None or isinstance(value, str)
        elif knob.endswith("_scopes"):
            right = isinstance(value, list)
        if not right:
            raise Impossible(f"{knob} cannot be {value!r}.")
        return value
