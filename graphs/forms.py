"""A form for a value that a JSON Schema describes: which fields it has, and the value they give.

The form and its reading belong together: `form` says what stands in every field, and `read` takes
the whole value, as it was, and changes in it only what somebody changed. So a value that nobody
touched comes back exactly, with whatever of it no field shows.

Groups are flattened, their fields named "Address, city". What no form can show is edited as it is
written (`raw`). Both functions are pure and never raise: schemas come from graphs and tools, and
what is typed comes from anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from graphs.answers import FILL_IN, Problem, named, problems
from graphs.entries import Refused, entered, shown, wanted
from graphs.fields import Field, field, field_of_value, field_of_whole
from graphs.filling import Group, Path, filled, start
from graphs.kinds import LABEL, is_free, kind_of, one_line
from graphs.schemas import Schema, Settled, settled
from graphs.templates import MISSING, name_in_words

JSON: TypeAlias = Any

FIELDS: Final = 45  # of one form; a modal has room for 100 blocks and 250 kB
LEVELS: Final = 4  # of groups in groups that are flattened
LOOKED_AT: Final = 500  # properties, before all of it counts as too large
SENTENCE: Final = 300  # characters of what is said of one field
ROOM: Final = 200_000  # bytes of the fields as JSON


@dataclass(frozen=True)
class Form:
    """The fields in their order; `raw`: one json field that holds the whole value.

    `start` is the value that an untouched form stands for.
    """

    title: str
    fields: tuple[Field, ...]
    raw: bool = False
    groups: tuple[Group, ...] = ()
    start: JSON = MISSING


@dataclass(frozen=True)
class Value:
    """What the form was filled in with."""

    value: JSON


@dataclass(frozen=True)
class Wrong:
    """What does not fit: one sentence for each field, by its key; at least one."""

    errors: Mapping[str, str]


def form(schema: JSON, initial: JSON = MISSING) -> Form:
    """The form of the schema, starting with the initial value; never raises.

    Without a schema the kinds of the fields come from the initial value.
    """
    try:
        return _form(schema, initial)
    except Exception:  # whatever a hostile schema leads to, people get a window to answer in
        return _raw("", initial)


def read(made: Form, schema: JSON, typed: Mapping[str, Any]) -> Value | Wrong:
    """The exact value that was filled in, or what to write instead; never raises.

    Args:
        typed: for each field's key its text, the key of its option, the keys of its options, or
            None where it is empty; a field that is not in it is untouched.
    """
    found = {each.key: entered(each, typed[each.key]) for each in made.fields if each.key in typed}
    wrong = {key: one.sentence for key, one in found.items() if isinstance(one, Refused)}
    understood = {key: one for key, one in found.items() if key not in wrong}
    value = filled(made.fields, made.groups, made.start, understood)
    if value is MISSING:
        wrong = wrong or {made.fields[0].key: wanted(made.fields[0])}
    for problem in problems(value, schema) if value is not MISSING else ():
        if wrong and not _inside(made, problem):
            continue  # perhaps only because something else could not be read
        key, sentence = _placed(made, problem)
        wrong.setdefault(key, sentence)
    if wrong:
        return Wrong({key: one_line(sentence, SENTENCE) for key, sentence in wrong.items()})
    return Value(value)


def _form(schema: JSON, initial: JSON) -> Form:
    place = settled(schema, schema, frozenset({"#"}))
    title = _words(place.schema.get("title"))
    if is_free(place):
        return _of_value(title, initial)
    if kind_of(place, schema) == "group":
        return _of_group(title, place, schema, initial)
    if kind_of(place, schema) == "json":
        return _raw(title, initial)
    one = field(
        (), title, place, schema, own=place.schema, given=initial,
        default=place.schema.get("default", MISSING),
    )  # fmt: skip
    return _within(Form(title, (one,), start=one.initial))


def _of_value(title: str, initial: JSON) -> Form:
    if isinstance(initial, dict) and initial:
        return _of_group(title, Settled({"properties": {}}), None, initial)
    if isinstance(initial, dict | list) or initial is MISSING:
        return _raw(title, initial)
    return _within(Form(title, (field_of_value((), title, initial),), start=initial))


def _of_group(title: str, place: Settled, root: JSON, initial: JSON) -> Form:
    given = initial if isinstance(initial, dict) else MISSING
    for levels in (LEVELS, 1, 0):
        walk = _Walk(root, levels)
        fields = tuple(walk.fields(place, (), "", given, MISSING, loose=False))
        if len(fields) <= FIELDS and walk.looked_at <= LOOKED_AT:
            made = Form(title, fields, groups=tuple(walk.groups))
            made = _within(replace(made, start=start(fields, walk.groups, given, walk.refused)))
            if made.fields or not problems(made.start, root):
                return made
            break
    return _raw(title, initial)


def _raw(title: str, initial: JSON) -> Form:
    return Form(title, (field_of_whole(initial),), raw=True, start=initial)


class _Walk:
    """The fields of a group and of the groups in it, at most so many levels deep."""

    def __init__(self, root: JSON, levels: int) -> None:
        self.root = root
        self.levels = levels
        self.groups: list[Group] = []
        self.refused: list[Path] = []  # what stands in the value and may not
        self.looked_at = 0

    def fields(
        self, place: Settled, path: Path, above: str, given: JSON, default: JSON, *, loose: bool
    ) -> Iterator[Field]:
        names = place.schema.get("required")
        needed = (
            {name for name in names if isinstance(name, str)} if isinstance(names, list) else ()
        )
        properties = place.schema["properties"]
        for name, own in properties.items():
            self.looked_at += 1
            if self.looked_at > LOOKED_AT:
                return
            own = own if isinstance(own, dict) else {}
            value = given.get(name, MISSING) if isinstance(given, dict) else MISSING
            first = default.get(name, MISSING) if isinstance(default, dict) else MISSING
            yield from self._property((*path, name), above, place, own, value, first,
                                      needed=name in needed, loose=loose)  # fmt: skip
        for name, value in given.items() if isinstance(given, dict) else ():
            if name in properties:
                continue
            if place.schema.get("additionalProperties") is False:
                self.refused.append((*path, name))
            else:
                yield from self._value((*path, name), above, value)

    def _property(
        self, path: Path, above: str, parent: Settled, own: Schema, value: JSON, first: JSON,
        *, needed: bool, loose: bool,
    ) -> Iterator[Field]:  # fmt: skip
        label = _label(above, _titled(own, path[-1]))
        place = settled(own, self.root, parent.seen)
        default = own.get("default", place.schema.get("default", MISSING))
        default = first if first is not MISSING else default
        if is_free(place) and "type" not in place.schema and isinstance(value, str | int | float):
            yield field_of_value(path, label, value)
            return
        absent = value is MISSING or value is None
        flat = len(path) <= self.levels and (absent or isinstance(value, dict))
        if kind_of(place, self.root) == "group" and flat:
            sure = needed and not place.nullable
            empty = None if place.nullable else {} if needed else MISSING
            self.groups.append(Group(path, sure, empty))
            yield from self.fields(place, path, label, value, default, loose=loose or not sure)
            return
        yield field(path, label, place, self.root, own=own, given=value, default=default,
                    needed=needed, loose=loose)  # fmt: skip

    def _value(self, path: Path, above: str, value: JSON) -> Iterator[Field]:
        self.looked_at += 1
        if self.looked_at > LOOKED_AT:
            return
        label = _label(above, name_in_words(path[-1][:LABEL]))
        if isinstance(value, dict) and value and len(path) <= self.levels:
            self.groups.append(Group(path, True, {}))
            for name, inner in value.items():
                yield from self._value((*path, name), label, inner)
        else:
            yield field_of_value(path, label, value)


def _titled(own: Schema, name: str) -> str:
    """The property's own title, unless it is only its name in capitals."""
    title = one_line(own.get("title"), LABEL)
    same = title.replace(" ", "").casefold() == name.replace("_", "").casefold()
    return title if title and not same else name_in_words(name[:LABEL]) or title or name[:LABEL]


def _label(above: str, label: str) -> str:
    if not above:
        return label
    lower = label if label[:2].isupper() else label[:1].lower() + label[1:]
    return one_line(f"{above}, {lower}", LABEL)


def _words(title: JSON) -> str:
    """A schema's title; the name of a class becomes words."""
    text = one_line(title, LABEL)
    return name_in_words(text) if text.isidentifier() else text


def _within(made: Form) -> Form:
    """The form with as much of it as a window has room for; the largest field gives way first."""
    sizes = [_size(each) for each in made.fields]
    fields = list(made.fields)
    while sum(sizes) > ROOM:
        at = max(range(len(sizes)), key=sizes.__getitem__)
        smaller = _smaller(fields[at])
        if smaller is None:
            return _raw(made.title, made.start)
        fields[at] = smaller
        sizes[at] = _size(smaller)
    return replace(made, fields=tuple(fields))


def _smaller(one: Field) -> Field | None:
    if one.options:
        worded = one.kind == "choice" and all(isinstance(value, str) for _, value in one.options)
        return replace(one, kind="text" if worded else "json", options=(), multiline=not worded)
    if one.kind in ("text", "json") and not one.kept and shown(one):
        return replace(one, kept=True, required=False)
    return None


def _size(one: Field) -> int:
    """How many bytes of a view the field takes at most."""
    start = shown(one)
    texts = [one.label, one.hint, one.example, *([start] if isinstance(start, str) else start)]
    labels = [label[:LABEL] for label, _ in one.options]
    hidden = sum(12 for text in texts for sign in text if not sign.isprintable())
    options = sum(len(json.dumps(label)) + 200 for label in labels) * (2 if start else 1)
    return 700 + hidden + options + sum(len(json.dumps(text)) for text in texts)


def _inside(made: Form, problem: Problem) -> list[Field]:
    """The fields in whose value the problem is."""
    return [each for each in made.fields if each.path == problem.path[: len(each.path)]]


def _placed(made: Form, problem: Problem) -> tuple[str, str]:
    """The key of the field where the problem is shown, and its sentence there."""
    inside = _inside(made, problem)
    if not inside:
        below = [each for each in made.fields if each.path[: len(problem.path)] == problem.path]
        first = next(iter((*below, *made.fields)), None)
        return first.key if first else "", problem.whole
    nearest = max(inside, key=lambda each: len(each.path))
    rest = problem.path[len(nearest.path) :]
    if not rest and (problem.sentence == FILL_IN or nearest.kind == "choices"):
        return nearest.key, wanted(nearest)
    return nearest.key, named(rest, problem.sentence)
