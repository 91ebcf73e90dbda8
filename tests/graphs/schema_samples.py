"""JSON Schemas to make forms of: honest ones with values that fit them, and hostile ones."""

from __future__ import annotations

import dataclasses
import enum
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from hypothesis import strategies as st
from pydantic import BaseModel, Field

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
WORDS = (
    "type", "properties", "required", "items", "enum", "const", "anyOf", "oneOf", "allOf", "$ref",
    "$defs", "title", "description", "default", "examples", "format", "pattern", "minLength",
    "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minItems", "maxItems", "uniqueItems", "additionalProperties", "patternProperties", "not", "if",
)  # fmt: skip
TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
RANDOM = st.recursive(
    JSON | st.sampled_from(TYPES),
    lambda inner: (
        st.dictionaries(st.sampled_from(WORDS), inner, max_size=6)
        | st.fixed_dictionaries(
            {
                "type": st.sampled_from([*TYPES, ["string", "null"], 5]),
                "properties": st.dictionaries(st.text(max_size=8), inner, max_size=4),
            },
            optional={"required": st.lists(st.text(max_size=8)) | JSON, "title": JSON},
        )
        | st.fixed_dictionaries({"enum": st.lists(JSON)}, optional={"title": JSON, "default": JSON})
        | st.lists(inner, max_size=3)
    ),
    max_leaves=12,
)


class Carrier(enum.Enum):
    ROAD = "by_road"
    AIR = "by_air"


class Address(BaseModel):
    city: str = Field(max_length=40)
    street: str | None = None


class Delivery(BaseModel):
    """What a graph's author writes, with one field of every kind."""

    amount: Annotated[float, Field(ge=1_000, le=100_000, description="In rupees")]
    purpose: str = Field(title="What for", max_length=120)
    memo: str = Field(default="", max_length=2_000)
    months: Literal[12, 24, 36, 48] = 24
    insured: bool
    first_payment: date
    pick_up: datetime | None = None
    carrier: Carrier = Carrier.ROAD
    extras: set[Literal["lift", "ramp", "night"]] = set()
    count: int = Field(default=1, gt=0)
    fee: Decimal | None = None
    address: Address
    other_address: Address | None = None
    tags: list[str] = []


DELIVERY = Delivery.model_json_schema()


@dataclasses.dataclass
class Order:
    text: str
    count: int = 4


def _deep(levels: int) -> Any:
    made: Any = {"type": "string"}
    for _ in range(levels):
        made = {"type": "object", "properties": {"a": made}, "required": ["a"]}
    return made


def _doubling(levels: int) -> Any:
    made: dict[str, Any] = {
        f"d{level}": {
            "type": "object",
            "properties": {
                name: {"$ref": f"#/$defs/d{level + 1}"} for name in ("left", "right", "third")
            },
        }
        for level in range(levels)
    }
    made[f"d{levels}"] = {"type": "string"}
    return {"$ref": "#/$defs/d0", "$defs": made}


def _one(**asked: Any) -> Any:
    return {"type": "object", "properties": {"a": asked}, "required": ["a"]}


HOSTILE: dict[str, Any] = {
    "itself": {"$ref": "#"},
    "a round of references": {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
    },
    "a list of itself": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "next": {"$ref": "#"}},
    },
    "an address elsewhere": _one(**{"$ref": "http://127.0.0.1:9/schema.json"}),
    "references that double": _doubling(40),
    "alternatives that double": {
        "$ref": "#/$defs/d0",
        "$defs": {
            **{f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)},
            "d40": {"type": "integer"},
        },
    },
    "deep": _deep(400),
    "very deep": _deep(5_000),
    "10,000 properties": {
        "type": "object",
        "properties": {f"p{number}": {"type": "string"} for number in range(10_000)},
    },
    "10,000 options": _one(enum=[f"option {number}" for number in range(10_000)]),
    "10,000 numbers": _one(enum=list(range(10_000))),
    "40 menus of 99 long options": {
        "type": "object",
        "properties": {
            f"p{number}": {"enum": [f"{one} {'न' * 200}" for one in range(99)]}
            for number in range(40)
        },
    },
    "40 long texts": {
        "type": "object",
        "properties": {
            f"p{number}": {"type": "string", "default": "\u202e" * 290 + "न" * 50}
            for number in range(40)
        },
    },
    "40 texts of blanks": {
        "type": "object",
        "properties": {
            f"p{number}": {"type": "string", "default": "\u2800" * 370} for number in range(40)
        },
    },
    "wrong kinds inside": {
        "type": "object",
        "title": 5,
        "required": "all",
        "properties": {
            "": {"type": "string", "minLength": "x", "maxLength": -1, "title": ["x"]},
            "a": 5,
            "b": {"type": "number", "minimum": "low", "maximum": True, "multipleOf": -0.0},
            "c": {"type": "integer", "minimum": 1e300, "maximum": float("nan")},
            "d": {"enum": 5},
            "e": {"enum": []},
            "f": {"enum": [{"a": [1]}, [2], None, True, "True", 1, 1.0, ""]},
            "g": {"type": "array", "items": [{"type": "string"}], "minItems": [], "default": {}},
            "h": {"type": ["string", 5, None]},
            "i": {"anyOf": "x", "oneOf": [5, None], "allOf": {}},
            "j": {"const": {"deep": [1, {"x": None}]}},
            "k": {"type": "string", "format": 5, "default": {"not": "text"}, "examples": "x"},
            "l": {"type": "object", "properties": ["a"]},
            "m": {"$ref": 5},
            "n": {"$ref": "#/properties/a/0/~2/%ff"},
            "summary": {"type": "string", "title": "\ud800\x00<!channel> *x* :tada:"},
            "effect": {"type": "string", "description": "a\n\nb" * 1_000},
        },
    },
    "names that look alike": {
        "type": "object",
        "properties": {
            "a.b": {"type": "string"},
            "a": {"type": "object", "properties": {"b": {"type": "string"}}},
            "A_b": {"type": "string"},
            "नाम": {"type": "string"},
            "x" * 5_000: {"type": "string"},
        },
    },
    "a pattern that takes for ever": _one(type="string", pattern="^(a+)+$"),
    "bounds that exclude each other": _one(type="integer", minimum=5, maximum=1),
    "huge bounds": _one(type="integer", minimum=-(10**400), maximum=10**400),
    "text of 5 MB": _one(type="string", default="x" * 5_000_000),
    "a list": [1, 2],
    "true": True,
    "nothing": None,
    "empty": {},
}


@st.composite
def fitting(draw: st.DrawFn, levels: int = 2) -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema of an object that a form can show, and a value that fits it."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    value: dict[str, Any] = {}
    names = st.text("abcxyz_ न.-", min_size=1, max_size=6)
    for name in draw(st.lists(names, max_size=5, unique=True)):
        schema, one = draw(leaf(levels))
        needed = draw(st.booleans())
        if draw(st.booleans()):
            schema, one = {"anyOf": [schema, {"type": "null"}]}, draw(st.sampled_from([None, one]))
        if draw(st.booleans()):
            schema["default"] = one
        properties[name] = schema
        if needed:
            required.append(name)
        if needed or draw(st.booleans()):
            value[name] = one
    made: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    if draw(st.booleans()):
        made["additionalProperties"] = False
    else:
        value |= draw(st.dictionaries(st.text("ABC", min_size=1, max_size=3), JSON, max_size=2))
    return made, value


@st.composite
def leaf(draw: st.DrawFn, levels: int = 0) -> tuple[dict[str, Any], Any]:
    """A schema of one value and a value that fits it."""
    kinds = ["text", "number", "integer", "boolean", "choice", "titled", "choices", "date", "free"]
    match draw(st.sampled_from([*kinds, *(["group"] * 3 if levels else [])])):
        case "text":
            text = draw(st.text(max_size=200) | st.text("a\n ", min_size=2_900, max_size=3_200))
            least = draw(st.integers(0, len(text)))
            return {"type": "string", "minLength": least, "maxLength": len(text) + 5}, text
        case "number":
            number = draw(
                st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**62), 2**62)
            )
            return {"type": "number", "minimum": min(number, 0), "maximum": max(number, 0)}, number
        case "integer":
            whole = draw(st.integers(-(2**62), 2**62))
            return {"type": "integer", "exclusiveMinimum": whole - 1}, whole
        case "boolean":
            return {"type": "boolean"}, draw(st.booleans())
        case "choice":
            values = draw(st.lists(st.text() | st.integers() | st.booleans(), min_size=1))
            return {"enum": values}, draw(st.sampled_from(values))
        case "titled":
            values = draw(st.lists(st.integers(), min_size=1, max_size=9, unique=True))
            options = [{"const": value, "title": f"Number {value}"} for value in values]
            return {"oneOf": options}, draw(st.sampled_from(values))
        case "choices":
            values = draw(st.lists(st.text(), min_size=1, max_size=30, unique=True))
            chosen = draw(st.lists(st.sampled_from(values), max_size=8))
            return {"type": "array", "items": {"enum": values}}, chosen
        case "date":
            return {"type": "string", "format": "date"}, draw(st.dates()).isoformat()
        case "group":
            return draw(fitting(levels - 1))
    value = draw(JSON.filter(_is_plain))
    return {}, value


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return value == value and abs(value) != float("inf")
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return all(map(_is_plain, value)) if isinstance(value, list) else True
