"""The filter of a store's search, as a flat list of conditions that one fixed SQL statement tests.

A filter is what LangGraph's stores take: ``{"kind": "loan", "amount": {"$gt": 1000}}``. Each value
is compared as the JSON type it is: 9 is less than 10, "9" is not, and a number never equals a text
or true. A field that is absent counts as null. Where `InMemoryStore` would raise in the middle of
a search (a text compared with a number), the item simply does not match.

Nothing of a filter becomes SQL text: field names and values travel as one JSON argument.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from checkpoints.text import clean
from memory.errors import BadMemory, BadSearch
from memory.values import plain

OPERATORS: Final = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte")
ORDERED: Final = ("$gt", "$gte", "$lt", "$lte")
MAX_CONDITIONS: Final = 200
MAX_DEPTH: Final = 20

Condition = dict[str, Any]


def conditions(filter_: Mapping[str, Any] | None) -> list[Condition]:
    """Return what must all hold of an item: ``{"path": […], "test": "$gt", "value": …}``.

    Raises:
        BadSearch: an unknown operator, a field that is not text, an operand without an order, or
            too many conditions.
    """
    found: list[Condition] = []
    if filter_ is None:
        return found
    if not isinstance(filter_, Mapping):
        raise BadSearch("a filter is a mapping from field to value")
    for field, wanted in filter_.items():
        name = _field(field)
        if name.startswith("$"):
            raise BadSearch(f"the operator {name[:40]} stands where a field belongs")
        _add(found, [name], wanted)
    return found


def _add(found: list[Condition], path: list[str], wanted: Any) -> None:
    if len(found) >= MAX_CONDITIONS or len(path) > MAX_DEPTH:
        raise BadSearch("the filter is too large")
    if isinstance(wanted, Mapping):
        if any(isinstance(key, str) and key.startswith("$") for key in wanted):
            for operator, operand in wanted.items():
                found.append(_operation(path, operator, operand))
            return
        found.append({"path": path, "test": "is_object"})
        for key, value in wanted.items():
            _add(found, [*path, _field(key)], value)
    elif isinstance(wanted, list | tuple):
        found.append({"path": path, "test": "has_length", "value": len(wanted)})
        for position, value in enumerate(wanted):
            _add(found, [*path, str(position)], value)
    else:
        found.append(_operation(path, "$eq", wanted))


def _operation(path: list[str], operator: Any, operand: Any) -> Condition:
    if operator not in OPERATORS:
        raise BadSearch(f"the operator {str(operator)[:40]} is not one of {', '.join(OPERATORS)}")
    try:
        value = plain(operand)
    except BadMemory as error:
        raise BadSearch(f"{operator} was given a value that is not JSON") from error
    if operator in ORDERED and (
        isinstance(value, bool) or not isinstance(value, int | float | str)
    ):
        raise BadSearch(f"{operator} compares numbers or texts, not {type(operand).__name__}")
    return {"path": path, "test": operator, "value": value}


def _field(name: Any) -> str:
    if not isinstance(name, str):
        raise BadSearch(f"a field is named by text, not by {type(name).__name__}")
    if clean(name) != name:
        raise BadSearch("a field's name has a character that cannot be stored")
    return name
