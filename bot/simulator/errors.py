"""What the local Slack refuses, and how it says so.

SimulatorError
    Refused        a Web API call that Slack would refuse, by Slack's own error name
    Impossible     an act of a person that cannot be done, as a sentence for whoever drives us
    HomeInUse      another local Slack already keeps its state in this folder
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any


class SimulatorError(Exception):
    """Root of everything the local Slack raises on purpose."""


class Refused(SimulatorError):
    """Slack would refuse this call; the code is Slack's, the messages are `response_metadata`'s."""

    def __init__(self, code: str, messages: Sequence[str] = (), **extra: Any) -> None:
        super().__init__(code)
        self.code = code
        self.messages = tuple(messages)
        self.extra = extra

    def as_json(self) -> dict[str, Any]:
        """The body that Slack sends with HTTP 200."""
        body: dict[str, Any] = {"ok": False, "error": self.code, **self.extra}
        if self.messages:
            body["errors"] = [message.removeprefix("[ERROR] ") for message in self.messages]
            body["response_metadata"] = {"messages": list(self.messages)}
        return body


class Impossible(SimulatorError):
    """A person cannot do this in the local Slack; the sentence says what is there instead."""

    def __init__(self, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.status = status


class HomeInUse(SimulatorError):
    """Another local Slack keeps its state here; stop it, or give this one a folder of its own."""

    def __init__(self, home: Path) -> None:
        super().__init__(f"Another local Slack keeps its state in {home}. Stop it first.")
