"""A Web API call's arguments, however they were sent: query, form, multipart or JSON."""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from aiohttp import web

from bot.simulator.cast import JSON
from bot.simulator.errors import Refused
from bot.simulator.slack import Slack
from bot.simulator.workspace import Workspace

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """One call of one method: who may ask is settled, the arguments are as they came."""

    slack: Slack
    method: str
    arguments: JSON

    @property
    def workspace(self) -> Workspace:
        return self.slack.workspace

    def has(self, name: str) -> bool:
        """Whether the argument was given, empty or not."""
        return self.arguments.get(name) is not None

    def text(self, name: str, default: str = "") -> str:
        """An argument as text."""
        value = self.arguments.get(name, default)
        if value is None:
            return default
        if isinstance(value, bool | int | float):
            return json.dumps(value)
        if not isinstance(value, str):
            raise Refused("invalid_arguments", [f"[ERROR] {name} must be a string"])
        return value

    def needed(self, name: str, code: str = "invalid_arguments") -> str:
        """An argument that must be there."""
        value = self.text(name)
        if not value:
            raise Refused(code, [f"[ERROR] missing required field: {name}"])
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """An argument that is true or false."""
        value = self.text(name)
        return value.lower() in ("true", "1", "yes") if value else default

    def number(self, name: str, default: int, most: int) -> int:
        """A whole number from 1 to `most`."""
        value = self.text(name)
        if not value:
            return default
        if not value.isdecimal() or not 1 <= int(value) <= most:
            raise Refused("invalid_arguments", [f"[ERROR] {name} must be from 1 to {most}"])
        return int(value)

    def data(self, name: str, code: str) -> Any:
        """A structured argument, which a form carries as JSON in a string."""
        value = self.arguments.get(name)
        if isinstance(value, str) and value:
            try:
                return json.loads(value)
            except ValueError:
                raise Refused(code) from None
        return value or None if isinstance(value, str) else value

    def page(self, rows: Sequence[T], default: int = 100, most: int = 1_000) -> tuple[list[T], str]:
        """The page of rows that limit and cursor ask for, and the cursor of the next one."""
        limit = self.number("limit", default, most)
        start = _from_cursor(self.text("cursor"))
        more = start + limit < len(rows)
        return list(rows[start : start + limit]), _to_cursor(start + limit) if more else ""


async def read(request: web.Request) -> JSON:
    """The arguments of a request; refuses a body that Slack could not read."""
    arguments: JSON = dict(request.query)
    if request.method == "POST" and request.can_read_body:
        kind = request.content_type
        if kind == "application/json":
            arguments.update(await _json(request))
        elif kind in ("application/x-www-form-urlencoded", "multipart/form-data"):
            try:
                form = await request.post()
            except ValueError:
                raise Refused("invalid_form_data") from None
            arguments.update({key: value for key, value in form.items() if isinstance(value, str)})
        else:
            raise Refused("invalid_post_type")
    if _has_bad_characters(arguments):
        raise Refused("invalid_charset")
    return arguments


async def _json(request: web.Request) -> JSON:
    try:
        value = json.loads(await request.read())
    except ValueError:
        raise Refused("invalid_json") from None
    if not isinstance(value, dict):
        raise Refused("json_not_object")
    return value


def _has_bad_characters(value: Any) -> bool:
    """Whether a lone surrogate or a NUL is in it, which no real client gets through."""
    if isinstance(value, str):
        if value.startswith(("{", "[")):
            try:
                return _has_bad_characters(json.loads(value))
            except ValueError:
                pass
        return "\x00" in value or any("\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, dict):
        return any(_has_bad_characters(key) or _has_bad_characters(of) for key, of in value.items())
    if isinstance(value, list):
        return any(_has_bad_characters(one) for one in value)
    return False


def _to_cursor(start: int) -> str:
    return base64.b64encode(f"next:{start}".encode()).decode()


def _from_cursor(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        word, _, start = base64.b64decode(cursor, validate=True).decode().partition(":")
        if word != "next":
            raise ValueError
        return int(start)
    except (ValueError, binascii.Error):
        raise Refused("invalid_cursor") from None
