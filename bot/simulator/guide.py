"""The guide's six ticks, set by what really happened and never taken back.

The six are the story of the loan, whose card is the one with a plain Approve. Cards of other kinds,
with an Approve for each action, with options or with a form, wait for people just the same.
"""

import re
from collections.abc import Iterable, Sequence

from bot.simulator import cast, strictness
from bot.simulator.cast import JSON
from bot.simulator.workspace import Workspace

STEPS = ("asked", "card", "decided", "paid", "again", "plug")
APPROVE = "approve"
_DECIDES = re.compile(
    r"(approve|edit|reject|respond|ignore|continue|stop|answer|option_\d+)(:\d+)?"
)


class Guide:
    """Looks at the workspace after every change and ticks what has come true."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._was_running = False
        self._went_away = workspace.reopened and bool(workspace.get("guide", "asked"))

    def ticks(self) -> dict[str, bool]:
        """Every step, and whether it has happened."""
        table = self._workspace.table("guide")
        return {step: bool(table.get(step)) for step in STEPS}

    def look(self) -> None:
        """Tick what has come true since the last look."""
        places = list(self._workspace.channels().values())
        rows = [row for place in places for row in self._workspace.messages(place["id"]).values()]
        loans = [place["id"] for place in places if place["name"] == "loans"]
        people = [
            row
            for row in rows
            if row["channel"] in loans and not row.get("bot_id") and row["user"] != cast.SLACKBOT
        ]
        cards = {f"{row['channel']}:{row['ts']}" for row in rows if self._is_open(row)}
        known = set(self._workspace.get("guide", "cards") or [])
        if cards - known:
            self._workspace.put("guide", "cards", sorted(known | cards))
        everything = known | cards
        self._tick("asked", bool(people))
        self._tick("card", bool(everything))
        self._tick("decided", bool(everything - cards))
        self._tick("paid", self.ticks()["decided"] and bool(self._workspace.table("transfers")))
        self._tick("again", self.ticks()["paid"] and len(everything) > 1)

    def saw_bot(self, running: bool) -> bool:
        """Note whether the app answers; true when it has just come back."""
        back = running and not self._was_running
        if self._was_running and not running:
            self._went_away = True
        self._was_running = running
        if back and self._went_away:
            self._tick("plug", self.ticks()["asked"])
        return back

    def _tick(self, step: str, happened: bool) -> None:
        if happened and not self._workspace.get("guide", step):
            self._workspace.put("guide", step, True)

    @staticmethod
    def _is_open(row: JSON) -> bool:
        return bool(row.get("bot_id")) and APPROVE in action_ids(row.get("blocks") or [])


def waits(blocks: Iterable[JSON]) -> bool:
    """Whether somebody can decide something here."""
    return any(_DECIDES.fullmatch(action) for action in action_ids(blocks))


def asks(blocks: Sequence[JSON], user: str) -> bool:
    """Whether a reviewer asks this person something here: the question begins with their name."""
    first = blocks[0].get("text") if blocks else None
    asked = isinstance(first, dict) and str(first.get("text")).startswith(f"<@{user}>")
    return asked and any(one.startswith("answer_question:") for one in action_ids(blocks))


def action_ids(blocks: Iterable[JSON]) -> set[str]:
    """The action_ids of everything that can be pressed in these blocks."""
    return {
        element.get("action_id", "")
        for block in blocks
        for element in strictness.elements_of(block)
    }
