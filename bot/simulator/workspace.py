"""Everything that is true in the local Slack, in memory, each change in the journal.

The state is a handful of tables of plain JSON values under string keys. `put` and `drop` are the
only ways to change it; both write the journal first and then tell whoever watches (`changed`).
Values are never changed in place: take a copy, change it, put it back.

    people, groups, channels        the cast, as they are now
    messages/<channel>              by ts; people's and the app's alike
    ephemerals                      by ts; shown to one person only
    views, stacks, homes            open modals, the order they lie in per person, home tabs
    files                           what is known of a file; its bytes lie in home/files/
    transfers                       the bank's, by Idempotency-Key
    outbox                          events that the app has not taken yet
    responses                       response_url tokens and how often each was used
    reads, guide, clock             what a person has read; the guide's ticks; the shown time
"""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.simulator import cast
from bot.simulator.cast import JSON
from bot.simulator.journal import Change, Journal

FACES_KEPT = 10


class Workspace:
    """The state of the local Slack; with a home it survives any kill."""

    def __init__(self, home: Path | None = None) -> None:
        self.home = home
        self.seq = 0
        self.reopened = False
        self._tables: dict[str, dict[str, Any]] = {}
        self._bytes: dict[str, bytes] = {}
        self._faces: dict[str, list[list[JSON]]] = {}
        self._last_ts = 0
        self._changed = asyncio.Event()
        self._journal = Journal(home) if home else None
        for change in self._journal.read() if self._journal else ():
            self._apply(*change)
            self.reopened = True
        self._seed()
        if self._journal:
            self._journal.rewrite(self._changes())
            for channel in self.channels():
                for ts in self.table(f"messages/{channel}"):
                    self._last_ts = max(self._last_ts, _micros(ts))

    def close(self) -> None:
        """Close the journal; the state stays readable."""
        if self._journal:
            self._journal.close()

    # ---- tables

    def table(self, name: str) -> dict[str, Any]:
        """A table to read; change it by put and drop only."""
        return self._tables.setdefault(name, {})

    def get(self, table: str, key: str) -> Any | None:
        """One value, or None."""
        return self.table(table).get(key)

    def put(self, table: str, key: str, value: Any) -> None:
        """Make this the value under the key, for good."""
        self._write((table, key, value))

    def drop(self, table: str, key: str) -> None:
        """Remove the key, if it is there."""
        if key in self.table(table):
            self._write((table, key, None))

    def reset(self) -> None:
        """Empty everything and begin again with the cast."""
        self._tables.clear()
        self._bytes.clear()
        self._faces.clear()
        self._seed()
        if self._journal and self.home:
            self._journal.rewrite(self._changes())
            for file in (self.home / "files").glob("*"):
                file.unlink()
        self.touch()

    # ---- watching

    def touch(self) -> None:
        """Tell whoever watches that something they can see has changed."""
        self.seq += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def changed(self, since: int, timeout: float) -> int:
        """Wait until seq is beyond `since`, at most `timeout` seconds; the seq now."""
        if self.seq <= since:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), timeout)
        return self.seq

    # ---- ids and time

    def new_ts(self) -> str:
        """A message's ts: the time now, in microseconds, never the same twice."""
        self._last_ts = max(self._last_ts + 1, time.time_ns() // 1000)
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    @staticmethod
    def new_id(prefix: str) -> str:
        """An id like Slack's; random, so that a reset never brings an old one back."""
        return prefix + secrets.token_hex(5).upper()

    def shown_now(self) -> datetime:
        """The time that the page shows, which its reader may have moved."""
        return datetime.now(UTC) + timedelta(seconds=self.clock_moved_by())

    def clock_moved_by(self) -> float:
        """By how many seconds the shown clock was moved."""
        return float(self.get("clock", "moved") or 0)

    # ---- people and places

    def people(self) -> dict[str, JSON]:
        """The people by id."""
        return self.table("people")

    def channels(self) -> dict[str, JSON]:
        """The channels by id, direct messages included."""
        return self.table("channels")

    def name_of(self, user: str) -> str:
        """A person's name; whoever is unknown is called by the id."""
        person = self.people().get(user)
        return person["name"] if person else user

    def open_direct(self, user: str) -> JSON:
        """The direct messages of this person with the app, opened when they were not."""
        found = self.channels().get("D" + user[1:])
        if found is None:
            found = cast.direct(user)
            self.put("channels", found["id"], found)
        return found

    def move_channel(self, place: JSON, becomes: str) -> JSON:
        """Give a channel another id; its messages and what was shown privately go with it."""
        row = {**place, "id": becomes}
        self.put("channels", becomes, row)
        for message in list(self.messages(place["id"]).values()):
            self.put_message({**message, "channel": becomes})
            self.drop(f"messages/{place['id']}", message["ts"])
        for ts, private in list(self.table("ephemerals").items()):
            if private["channel"] == place["id"]:
                self.put("ephemerals", ts, {**private, "channel": becomes})
        self.drop("channels", place["id"])
        return row

    def join(self, channel: str, user: str) -> None:
        """Make the person a member: whoever acts in a channel is in it."""
        place = self.channels()[channel]
        if user not in place["members"]:
            self.put("channels", channel, {**place, "members": [*place["members"], user]})

    # ---- messages

    def messages(self, channel: str) -> dict[str, JSON]:
        """A channel's messages by ts, oldest first."""
        return self.table(f"messages/{channel}")

    def put_message(self, message: JSON) -> None:
        """Keep this message, new or changed."""
        before = self.messages(message["channel"]).get(message["ts"])
        if before and before.get("blocks") and before["blocks"] != message.get("blocks"):
            faces = self._faces.setdefault(message["ts"], [])
            faces.insert(0, before["blocks"])
            del faces[FACES_KEPT:]
        self.put(f"messages/{message['channel']}", message["ts"], message)

    def earlier_faces(self, ts: str) -> list[list[JSON]]:
        """The blocks that a message showed before, newest first: a window may still show them."""
        return self._faces.get(ts, [])

    def replies(self, channel: str, thread_ts: str) -> list[JSON]:
        """The replies under a message, oldest first, without the message itself."""
        return [
            message
            for message in self.messages(channel).values()
            if message.get("thread_ts") == thread_ts and message["ts"] != thread_ts
        ]

    def remove_message(self, message: JSON) -> None:
        """Delete a message; one with replies leaves its tombstone, as in Slack."""
        channel, ts = message["channel"], message["ts"]
        if self.replies(channel, ts):
            grave = {
                "channel": channel,
                "ts": ts,
                "thread_ts": ts,
                "user": cast.SLACKBOT,
                "subtype": "tombstone",
                "text": "This message was deleted.",
            }
            self.put_message(grave)
        else:
            self.drop(f"messages/{channel}", ts)

    # ---- modals

    def stack(self, user: str) -> list[JSON]:
        """A person's open modals, the top one last."""
        views = self.table("views")
        return [views[id_] for id_ in self.get("stacks", user) or [] if id_ in views]

    def put_view(self, view: JSON) -> None:
        """Keep this view; a new one goes on top of its person's stack."""
        self.put("views", view["id"], view)
        stack = self.get("stacks", view["user"]) or []
        if view["id"] not in stack:
            self.put("stacks", view["user"], [*stack, view["id"]])

    def close_view(self, view: JSON) -> None:
        """Take a view, and whatever lies on it, off its person's stack."""
        stack = self.get("stacks", view["user"]) or []
        if view["id"] in stack:
            at = stack.index(view["id"])
            self.put("stacks", view["user"], stack[:at])
            for id_ in stack[at:]:
                self.drop("views", id_)

    # ---- the bytes of files

    def keep_bytes(self, file_id: str, body: bytes) -> None:
        """Keep a file's content, on disk where there is a home."""
        if self.home:
            folder = self.home / "files"
            folder.mkdir(exist_ok=True)
            (folder / file_id).write_bytes(body)
        else:
            self._bytes[file_id] = body

    def read_bytes(self, file_id: str) -> bytes:
        """A file's content; empty when it is gone."""
        if self.home:
            path = self.home / "files" / file_id
            return path.read_bytes() if path.exists() else b""
        return self._bytes.get(file_id, b"")

    # ---- inside

    def _seed(self) -> None:
        """Give each of the cast once: who came to it later is new in an older workspace too."""
        given = self.table("given")
        for table, rows in (
            ("people", cast.PEOPLE),
            ("groups", cast.GROUPS),
            ("channels", cast.CHANNELS),
        ):
            for row in rows:
                if row["id"] not in given:
                    given[row["id"]] = True
                    self.table(table).setdefault(row["id"], row)

    def _write(self, change: Change) -> None:
        if self._journal:
            self._journal.append(change)
        self._apply(*change)
        self.touch()

    def _apply(self, table: str, key: str, value: Any) -> None:
        if value is None:
            self.table(table).pop(key, None)
        else:
            self.table(table)[key] = value

    def _changes(self) -> Iterator[Change]:
        for table, rows in self._tables.items():
            for key, value in rows.items():
                yield table, key, value


def _micros(ts: str) -> int:
    seconds, _, rest = ts.partition(".")
    return int(seconds) * 1_000_000 + int(rest or 0)
