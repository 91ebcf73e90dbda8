"""Messages: what somebody wrote in a thread's conversation, and the files that came with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from checkpoints.text import clean_json

MAX_TEXT_CHARACTERS: Final = 40_000


@dataclass(frozen=True)
class FileRef:
    """A file as the chat named it; the worker fetches it and then knows its `document_id`."""

    id: str
    name: str
    size: int
    url: str
    media_type: str = ""
    document_id: str | None = None


@dataclass(frozen=True)
class Message:
    """What somebody wrote, with files; the value that a graph's `intake` is given.

    When the intake sees it, every file has been stored and has its `document_id`.
    """

    text: str
    sender: str | None = None
    files: tuple[FileRef, ...] = ()

    def document_ids(self) -> list[str]:
        """The ids of the stored files, in their order."""
        return [file.document_id for file in self.files if file.document_id is not None]

    def to_json(self) -> dict[str, Any]:
        """The message as a mailbox row keeps it; text is cleaned and capped."""
        value = asdict(replace(self, text=self.text[:MAX_TEXT_CHARACTERS]))
        cleaned: dict[str, Any] = clean_json(value)
        return cleaned

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Message:
        """The message of a mailbox row."""
        files = tuple(FileRef(**file) for file in value.get("files", ()))
        return cls(text=value["text"], sender=value.get("sender"), files=files)
