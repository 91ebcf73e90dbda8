"""What is wrong in sayso.toml is found where it stands, whatever the file looks like."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.positions import KeyPath, Positions, line_of, without_values

CONFUSING = st.sampled_from(
    ["", " # no comment", " = 1", "[[reviews]]", '\\"', "''", " {", "]", " \u00e9\u0915", "\\\\"]
)
NAME = re.compile(r"[kv]\d+")
BETWEEN = st.sampled_from(["", "\n", "# [k1]\n", "\t# k1 = 'x'\n\n", "  \n"])


class Writer:
    """Writes random TOML in which every key and every value has a name of its own."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.names = itertools.count(1)

    def key(self) -> str:
        name = f"k{next(self.names)}"
        form = self.draw(st.sampled_from(["{}", "{}", '"{}.a [b]"', "'{} = \"c\"'", '"{}\\t"']))
        return str(form.format(name))

    def text(self) -> str:
        name, more = f"v{next(self.names)}", self.draw(CONFUSING)
        plain = more.replace("\\", "").replace("'", "").replace('"', "")
        return str(
            self.draw(
                st.sampled_from(
                    [
                        f'"{name}{more}"',
                        f"'{name}{plain}'",
                        f'"""{name}{more}\nk1 = 2\n[k1]\n"" {more}"""',
                        f"'''{name}{plain}\n[[k1]]\n'k1' = 3'''''",
                        f'"""{name}\n\\"""\n""""',
                    ]
                )
            )
        )

    def value(self, depth: int = 0, *, one_line: bool = False) -> str:
        kinds = ["text", "number"] + (["list", "table"] if depth < 2 else [])
        kind = self.draw(st.sampled_from(kinds))
        if kind == "text":
            return self.text()
        if kind == "number":
            return str(self.draw(st.sampled_from(["1", "-2.5e3", "true", "1979-05-27 07:32:00Z"])))
        count = self.draw(st.integers(0, 3))
        if kind == "table":
            return f"{{ {', '.join(self.pair(depth + 1) for _ in range(count))} }}"
        gap = self.draw(st.sampled_from(["", " ", "\n  ", " # ], k1\n"]))
        return f"[{gap}{f',{gap}'.join(self.value(depth + 1) for _ in range(count))}{gap}]"

    def pair(self, depth: int = 0) -> str:
        dotted = [self.key() for _ in range(self.draw(st.integers(1, 2)))]
        return f"{' . '.join(dotted)}{self.draw(st.sampled_from(['=', ' = ']))}{self.value(depth)}"

    def table(self, above: str, depth: int) -> str:
        lines = ""
        for _ in range(self.draw(st.integers(0, 3))):
            lines += f"{self.draw(BETWEEN)}{self.pair()}{self.draw(st.sampled_from(['', ' # k1']))}"
            lines += "\n"
        for _ in range(self.draw(st.integers(0, 2)) if depth < 2 else 0):
            name = self.key()
            whole = f"{above}.{name}" if above else name
            header = self.draw(st.sampled_from(["[{}]", "[[{}]]", "[[ {} ]]"]))
            for _ in range(self.draw(st.integers(1, 3)) if "[[" in header else 1):
                lines += f"{self.draw(BETWEEN)}{header.format(whole)}\n"
                lines += self.table(whole, depth + 1)
        return lines


@st.composite
def documents(draw: Any) -> str:
    text = Writer(draw).table("", 0)
    return text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"])))


def places(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Every place in a parsed text, with what stands there."""
    if path:
        yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, (*path, number))


@settings(max_examples=100, deadline=None)
@given(documents())
def test_the_line_that_is_found_holds_the_key(text: str) -> None:
    positions = Positions(text)
    lines = text.split("\n")
    for path, value in places(tomllib.loads(text)):
        names = NAME.findall(lines[positions.line(path) - 1])
        last = path[-1]
        if isinstance(last, str):
            assert NAME.findall(last)[0] in names
        elif isinstance(value, str):
            assert NAME.findall(value)[0] in names


@settings(max_examples=60, deadline=None)
@given(documents(), st.integers(1, 2))
def test_a_hidden_value_is_left_out_wherever_it_stands_and_every_other_stays(
    text: str, depth: int
) -> None:
    def hidden(path: KeyPath) -> bool:
        return len(path) >= depth and int(NAME.findall(str(path[0]))[0][1:]) % 2 == 1

    left = without_values(text, hidden)
    values = [(path, value) for path, value in places(tomllib.loads(text)) if _is_text(value)]
    shown = {NAME.findall(value)[0] for path, value in values if not _is_hidden(path, hidden)}
    assert {name for name in NAME.findall(left) if name[0] == "v"} == shown
    assert tomllib.loads(left).keys() == tomllib.loads(text).keys()


def test_comments_are_left_out_with_the_values_that_may_stand_in_them() -> None:
    text = """# top
[[reviews]] # why
because = "# stays"
[graphs.loan] # SECRET 1
path = "a:b#c" # SECRET 2
# config.key = "SECRET 3"
[graphs.loan.config]
# key = "SECRET 4"
"a#b" = "SECRET 5" # SECRET 6\r
[roles.risk] # who
users = ["U0ERIN"]
"""
    assert without_values(
        text, lambda path: "config" in path, lambda table: table[0:1] == ("graphs",)
    ) == (
        """# top
[[reviews]] # why
because = "# stays"
[graphs.loan] # …
path = "a:b#c" # …
# …
[graphs.loan.config]
# …
"a#b" = "…" # …\r
[roles.risk] # who
users = ["U0ERIN"]
"""
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_hidden(path: KeyPath, hidden: Callable[[KeyPath], bool]) -> bool:
    """Whether a value, or a table or a list that it stands in, is the value of a hidden key."""
    keys = [path[:count] for count in range(1, len(path) + 1) if isinstance(path[count - 1], str)]
    return any(hidden(key) for key in keys)


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet="[]{}=.\"'#\\\n k1", max_size=60))
def test_no_text_at_all_confuses_it_beyond_a_wrong_line(text: str) -> None:
    assert 1 <= Positions(text).line("k1.k") <= text.count("\n") + 1


TEXT = """# reviews
[graphs.loan]
path = "a:b"      # [[reviews]]
config.url = "x"
outcome = \"\"\"
[[reviews]]
quorum = 1
\"\"\"
[[reviews]]
quorum = 1
[[reviews]]
node = "ask"
approvers = { users = ["U0ALICE"] }
stages = [
  { quorum = 2 },
  { quorum = 3 },
]
[reviews.deadline]
after = "3d"
"""


def test_a_place_that_is_not_written_is_found_at_what_it_would_stand_in() -> None:
    positions = Positions(TEXT)
    assert {
        place: positions.line(place)
        for place in (
            "graphs.loan.config.url", "graphs.loan.titel", "reviews[1].quorum", "reviews[2]",
            "reviews[2].approvers.users[1]", "reviews[2].stages[2].quorum", "reviews[2].because",
            "reviews[2].deadline.after", "reviews[2].deadline.then", "operators",
        )
    } == {
        "graphs.loan.config.url": 4, "graphs.loan.titel": 2, "reviews[1].quorum": 10,
        "reviews[2]": 11, "reviews[2].approvers.users[1]": 13, "reviews[2].stages[2].quorum": 16,
        "reviews[2].because": 11, "reviews[2].deadline.after": 19,
        "reviews[2].deadline.then": 18, "operators": 1,
    }  # fmt: skip


def test_what_is_said_of_places_comes_in_the_order_of_the_file() -> None:
    said = ["reviews[2].quorum: b.", "Slack does not answer: c.", "graphs.loan.path: a."]
    assert Positions(TEXT).placed("sayso.toml", said) == [
        "Slack does not answer: c.",
        "sayso.toml:3: graphs.loan.path: a.",
        "sayso.toml:11: reviews[2].quorum: b.",
    ]


def test_where_a_text_stops_being_toml_is_told_by_its_line() -> None:
    for text, line in (("a = 1\nb = = 2\n", 2), ('a = 1\nb = """\n', 3)):
        with pytest.raises(tomllib.TOMLDecodeError) as caught:
            tomllib.loads(text)
        assert line_of(caught.value, text) == line
