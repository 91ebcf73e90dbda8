"""The value behind a form: what an untouched form stands for, and that value with the changes.

Only what somebody changed is changed. A group that was not there appears with its first part, and
begins with what its other fields show; one that may be left out goes when its last part is emptied.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from graphs.entries import Entry, shown
from graphs.fields import Field
from graphs.templates import MISSING

JSON: TypeAlias = Any
Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """A value whose parts are fields; `empty` takes its place when all of them are empty."""

    path: Path
    needed: bool = True
    empty: JSON = MISSING


def start(
    fields: Sequence[Field], groups: Sequence[Group], given: JSON, refused: Sequence[Path]
) -> JSON:
    """The value of the form when nobody touches it."""
    value: dict[str, JSON] = copy.deepcopy(given) if isinstance(given, dict) else {}
    for path in refused:
        at(value, path[:-1]).pop(path[-1], None)
    for group in groups:
        parent = at(value, group.path[:-1])
        if group.needed and isinstance(parent, dict):
            parent.setdefault(group.path[-1], {})
            if parent[group.path[-1]] is None:
                parent[group.path[-1]] = {}
    for each in fields:
        parent, name = at(value, each.path[:-1]), each.path[-1]
        if not isinstance(parent, dict):
            continue
        had = at(given, each.path)
        if had is not MISSING and each.initial is not had:
            parent.pop(name, None)  # its field cannot show it
        first = each.needed or (given is MISSING and shown(each))
        if first and name not in parent:
            _begin(parent, each)
    return value


def _begin(parent: dict[str, JSON], one: Field) -> None:
    """Write what the field shows, or what stands for an empty one where it may be empty."""
    if one.initial is not MISSING:
        parent[one.path[-1]] = copy.deepcopy(one.initial)
    elif not one.required and one.empty is not MISSING:
        parent[one.path[-1]] = copy.deepcopy(one.empty)


def filled(
    fields: Sequence[Field], groups: Sequence[Group], before: JSON, found: Mapping[str, JSON]
) -> JSON:
    """The start with everything changed in it that was changed."""
    touched = {key: one for key, one in found.items() if one is not Entry.UNTOUCHED}
    if len(fields) == 1 and not fields[0].path:
        only = fields[0]
        entry = touched.get(only.key, before)
        return only.empty if entry is Entry.EMPTY else entry
    value = copy.deepcopy(before)
    opened: set[Path] = set()
    for each in fields:
        if each.key in touched:
            _put(value, each, touched[each.key], opened)
    for group in groups:
        _open(fields, group, value, touched, opened)
    for group in reversed(groups):
        _close(fields, group, value, touched)
    return value


def _put(value: dict[str, JSON], one: Field, entry: JSON, opened: set[Path]) -> None:
    """Write or take out one entry, and note the groups that it brought with it."""
    *above, name = one.path
    if entry is Entry.EMPTY:
        parent = at(value, tuple(above))
        if isinstance(parent, dict) and one.empty is MISSING:
            parent.pop(name, None)
        elif isinstance(parent, dict):
            parent[name] = one.empty
        return
    now = value
    for place, part in enumerate(above, 1):
        if not isinstance(now.get(part), dict):
            now[part] = {}
            opened.add(tuple(above[:place]))
        now = now[part]
    now[name] = entry


def _open(
    fields: Sequence[Field],
    group: Group,
    value: JSON,
    touched: Mapping[str, JSON],
    opened: set[Path],
) -> None:
    """A group that was not there begins with what its fields show and with the groups it needs."""
    if group.path[:-1] in opened and group.needed and at(value, group.path) is MISSING:
        at(value, group.path[:-1])[group.path[-1]] = {}
        opened.add(group.path)
    if group.path in opened:
        for each in fields:
            first = each.needed or shown(each)
            if first and each.path[:-1] == group.path and each.key not in touched:
                _begin(at(value, group.path), each)


def _close(fields: Sequence[Field], group: Group, value: JSON, touched: Mapping[str, JSON]) -> None:
    """Take out a group in which somebody emptied the last field."""
    parent = at(value, group.path[:-1])
    if group.needed or not isinstance(parent, dict):
        return
    inside = [each for each in fields if each.path[: len(group.path)] == group.path]
    left = parent.get(group.path[-1])
    if not isinstance(left, dict) or any(one not in _NOTHING for one in left.values()):
        return
    if any(touched.get(each.key) is Entry.EMPTY for each in inside):
        parent.pop(group.path[-1])
        if group.empty is not MISSING:
            parent[group.path[-1]] = group.empty


def at(value: JSON, path: Path) -> JSON:
    """What stands at the path, MISSING where nothing does."""
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return MISSING
        value = value[name]
    return value


_NOTHING: Final[tuple[JSON, ...]] = (None, "", [], {})
