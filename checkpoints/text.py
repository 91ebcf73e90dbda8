"""Text that every store can hold.

Postgres refuses NUL in text and JSON, UTF-8 refuses lone surrogates. Both arrive from outside
(documents, models, chat) and must not make a later write fail, so they are removed at the door.
"""

from __future__ import annotations

import re
from typing import Any

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def clean(text: str) -> str:
    """Return the text without NUL and without lone surrogates."""
    return _UNSTORABLE.sub("", text)


def clean_json(value: Any) -> Any:
    """Return the JSON value with every string in it, keys too, made storable."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list | tuple):
        return [clean_json(item) for item in value]
    if isinstance(value, dict):
        return {clean(str(key)): clean_json(item) for key, item in value.items()}
    return value
