"""Safe JSON of anything: what a node put into a question, for people, tables and hashes.

The exact value is kept as bytes elsewhere. This one never raises, holds no NUL and no lone
surrogate, and is the same for the same value: bytes become base64, tuples and sets lists, models
and dataclasses their fields, and whatever else its text.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, Final

import rfc8785
from pydantic import BaseModel

from checkpoints.text import clean

MAX_DEPTH: Final = 60
_SAFE_INTEGER: Final = 2**53 - 1


def plain(value: Any, depth: int = 0) -> Any:
    """Return the value as JSON that any store can hold; never raises."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return plain(value.value, depth + 1)
    if isinstance(value, str):
        return clean(str(value))
    if isinstance(value, int):
        return int(value) if abs(value) < 2**63 else _text(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _text(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(bytes(value)).decode("ascii")
    if depth > MAX_DEPTH:
        return "(deeper values are left out)"
    try:
        return _container(value, depth)
    except Exception:  # a foreign object may raise anything from any of its methods
        return _text(value)


def digest(value: Any) -> str:
    """A hash of the value's plain JSON: SHA-256 over RFC 8785, so the order of keys is nothing."""
    return hashlib.sha256(rfc8785.dumps(canonical(plain(value)))).hexdigest()


def written(value: Any) -> str:
    """The JSON text of a value that is JSON already, exact: big integers and key order stay.

    Raises:
        TypeError, ValueError: it is not JSON.
    """
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def canonical(value: Any) -> Any:
    """The value as RFC 8785 takes it: that has only doubles, so an integer beyond them becomes its
    digits."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) > _SAFE_INTEGER:
        return f"integer:{value}"
    if isinstance(value, dict):
        return {key: canonical(item) for key, item in value.items()}
    if isinstance(value, list):
        return [canonical(item) for item in value]
    return value


def _container(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        return {_key(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, set | frozenset):
        items = [plain(item, depth + 1) for item in value]
        return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
    if isinstance(value, BaseModel):
        return plain({name: getattr(value, name) for name in type(value).model_fields}, depth + 1)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return plain({each.name: getattr(value, each.name) for each in fields}, depth + 1)
    return _text(value)


def _key(key: Any) -> str:
    return clean(key) if isinstance(key, str) else _text(key)


def _text(value: Any) -> str:
    try:
        return clean(str(value))
    except Exception:
        return f"({type(value).__name__})"
