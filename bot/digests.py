"""One message a day in the place of many reminders: all that waits for one person.

Each line opens the same card; nothing is decided from here without the evidence in view.
"""

from __future__ import annotations

from bot.blocks import Blocks, Payload
from bot.home import waiting_row
from bot.inline import notification
from bot.values import letters
from bot.views import DigestView
from bot.wording import phrase, say


def digest(view: DigestView) -> Payload:
    """The message to one person, what is overdue first."""
    blocks = Blocks(view.row)
    blocks.header("title", phrase("digest.title", count=view.total))
    for place, one in enumerate(view.rows, 1):
        waiting_row(blocks, f"waiting_{place}", one, zone=view.zone, reviews=True)
    left = view.total - len(view.rows)
    if left > 0:
        blocks.context("more", say("digest.more", count=left))
    blocks.context("footer", say("digest.why"), say("digest.away"), between=" ")
    late = [say("digest.note.late", count=view.late)] if view.late else []
    oldest = say("digest.note.oldest", title=letters(view.rows[0].title))
    return Payload(
        notification([say("digest.note", count=view.total), oldest], late), blocks.done()
    )
