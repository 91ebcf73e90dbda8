"""What a memory's value may be: plain JSON, one megabyte at most."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import orjson

from checkpoints.text import clean
from memory.errors import BadMemory

MAX_BYTES: Final = 1_000_000
MAX_DEPTH: Final = 100
MAX_INTEGER: Final = 2**63 - 1  # beyond it a JSON reader would give back a rounded number


def encoded(value: Any) -> str:
    """Return the value of an item as JSON text, made storable.

    NUL and lone surrogates are taken out of every text, tuples become lists. Anything that would
    come back as something else (a date, a set, a model, NaN) is refused instead of changed.

    Raises:
        BadMemory
    """
    if not isinstance(value, Mapping):
        raise BadMemory(f"an item is a mapping from text to JSON, not {_a(value)}")
    text = orjson.dumps(plain(value))
    if len(text) > MAX_BYTES:
        raise BadMemory(f"it has {len(text):,} bytes, and {MAX_BYTES:,} is the most")
    return text.decode()


def plain(value: Any, depth: int = 0) -> Any:
    """Return the value built of dict, list, str, int, float, bool and None only.

    Raises:
        BadMemory: it holds something that JSON does not, or is nested too deep.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise BadMemory("it holds a whole number of more than 64 bits; write it as text")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadMemory(f"it holds {value}, which JSON does not know")
        return float(value)
    if depth > MAX_DEPTH:
        raise BadMemory(f"it is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise BadMemory(f"a field is named by {_a(key)} and not by text")
        return {clean(key): plain(item, depth + 1) for key, item in value.items()}
    raise BadMemory(f"it holds {_a(value)}, which is not JSON")


def _a(value: Any) -> str:
    return f"a value of type {type(value).__name__}"
