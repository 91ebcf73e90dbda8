"""What Slack may show of a post without our knowing: found by the id in its metadata."""

from __future__ import annotations

from typing import Any, Final

import structlog

from bot import conversations, posts
from bot.errors import Outcome, SlackFailed
from bot.slack import Slack
from checkpoints.database import Database, Row

log = structlog.get_logger("sayso.copies")

METADATA_EVENT: Final = "sayso_post"
# The last of them two hours after the unknown outcome.
RECONCILE_ATTEMPTS: Final = 8
_HISTORY_PAGES: Final = 10
_HISTORY_PAGE: Final = 100


def metadata(post_id: str) -> dict[str, Any]:
    """What a message carries, so that it is known again."""
    return {"event_type": METADATA_EVENT, "event_payload": {"id": post_id}}


class Copies:
    """Looks for messages that carry a post's id, and deletes those that are too many."""

    def __init__(self, database: Database, slack: Slack) -> None:
        self._database = database
        self._slack = slack

    async def of(
        self,
        post_id: str,
        channel: str,
        thread_id: str | None,
        since: float,
        *,
        under: str | None = None,
    ) -> list[str]:
        """The timestamps of all messages that carry the post's id, oldest first."""
        root = under
        if thread_id is not None:
            async with self._database.connection() as connection:
                place = await conversations.of_thread(connection, thread_id)
            root = place.root if place else None
        found: list[str] = []
        cursor: str | None = None
        for _ in range(_HISTORY_PAGES):
            arguments: dict[str, Any] = {
                "channel": channel,
                "include_all_metadata": True,
                "limit": _HISTORY_PAGE,
                "oldest": f"{since - 60:.6f}",
            }
            if cursor:
                arguments["cursor"] = cursor
            if root:
                arguments["ts"] = root
            answer = await self._slack.call(
                "conversations.replies" if root else "conversations.history", **arguments
            )
            for message in answer.get("messages") or []:
                carried = message.get("metadata") or {}
                if (
                    carried.get("event_type") == METADATA_EVENT
                    and (carried.get("event_payload") or {}).get("id") == post_id
                ):
                    found.append(str(message["ts"]))
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or None
            if cursor is None:
                break
        return sorted(found, key=float)

    async def delete_surplus(self, seconds: float) -> int:
        """Delete surplus copies of posts whose first send had an unknown outcome.

        A post whose channel cannot be read comes again later, and holds up no other.
        """
        deleted = 0
        for row in await self._database.fetch(posts.SQL.to_reconcile, seconds):
            try:
                deleted += await self._delete(row)
            except SlackFailed as error:
                log.warning("cannot reconcile a post", post=str(row["id"]), error=str(error))
                if row["reconcile_attempts"] < RECONCILE_ATTEMPTS:
                    continue
                log.error("surplus messages may stay", post=str(row["id"]), channel=row["channel"])
            await self._database.execute(posts.SQL.reconciled, row["id"], row["reconcile_at"])
        return deleted

    async def _delete(self, row: Row) -> int:
        deleted = 0
        for ts in await self.of(
            str(row["id"]),
            row["channel"],
            row["thread_id"],
            row["created_at"].timestamp(),
            under=row["under"],
        ):
            if ts == row["ts"]:
                continue
            try:
                await self._slack.call("chat.delete", channel=row["channel"], ts=ts)
            except SlackFailed as error:
                if error.outcome is not Outcome.GONE:
                    raise
                continue
            log.info("deleted a surplus message", post=str(row["id"]), ts=ts)
            deleted += 1
        return deleted
