"""What people are shown of a question: one plain value for card, modal, digest and home tab.

`shown` is pure and never raises: whatever a node put into its `interrupt()`, it comes out as a
title, some facts, some groups of evidence and at least one choice that can be pressed. A template
gives the words; without one they come from the shape of the question. A question about actions has
its choices with each of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, TypeAlias

from graphs.actions import Action, Asking, asking, reply, same
from graphs.plain import plain as as_json
from graphs.templates import MISSING, Button, Evidence, Template, at, fill, in_words, name_in_words

JSON: TypeAlias = Any

TITLE_CHARACTERS = 150  # a title is one line; what is longer is quoted below it
FACTS = 8
OPTIONS = 100  # what a menu holds; the card has buttons for the first few
GOES_ON = "If you continue, the next step runs at once."
TITLED_ACTIONS = 5
PROSE_CHARACTERS = 300  # from here on a text is quoted, not a fact
QUOTED_CHARACTERS = 280


@dataclass(frozen=True)
class Line:
    """One line of evidence; `lead` comes first, in italics (the name of a file)."""

    text: str
    lead: str | None = None


@dataclass(frozen=True)
class Group:
    """Evidence under one heading that states the finding; without lines the heading says it all."""

    heading: str
    lines: tuple[Line, ...] = ()
    kind: Literal["bullets", "quote", "plain"] = "bullets"


@dataclass(frozen=True)
class Choice:
    """One button: its verb, its label, what it needs, and the exact answer that it stands for.

    Where it needs a note, "{note}" in `reply` is its place; `reads = "json"` takes a note that is
    JSON as the value it spells. Where it needs a form, `schema` is its JSON Schema (None: made of
    the values), `initial` what it starts with, and "{values}" in `reply` the place of what was
    filled in; with `changed_only` that is what differs from `initial`.
    """

    verb: str
    label: str
    style: Literal["", "primary", "danger"] = ""
    needs: Literal["note", "form"] | None = None
    note_label: str = ""
    reply: JSON = "{note}"
    reads: Literal["text", "json"] = "text"
    schema: JSON = None
    initial: JSON = MISSING
    changed_only: bool = False

    def answer(self, note: str | None = None, values: JSON = MISSING) -> JSON:
        """The value that the node's `interrupt()` returns, with note or values in their place."""
        if self.needs is None:
            return self.reply
        if self.needs == "form":
            return _with(self.reply, "{values}", self._changed(values))
        return _with(self.reply, "{note}", _spelled(note) if self.reads == "json" else note)

    def _changed(self, values: JSON) -> JSON:
        if not (self.changed_only and isinstance(values, dict) and isinstance(self.initial, dict)):
            return values
        before = self.initial
        return {
            key: value
            for key, value in values.items()
            if key not in before or not same(value, before[key])
        }


@dataclass(frozen=True)
class ShownAction:
    """One action of a question; `before` is what was asked where an edit changed it."""

    item: int
    title: str  # "Issue refund"
    facts: tuple[tuple[str, str], ...] = ()  # what goes into it now, in its own order
    before: tuple[tuple[str, str], ...] = ()  # the label and the old value
    groups: tuple[Group, ...] = ()
    choices: tuple[Choice, ...] = ()

    def choice(self, verb: str) -> Choice | None:
        """The choice of that verb, None where the action has none."""
        return next((choice for choice in self.choices if choice.verb == verb), None)


@dataclass(frozen=True)
class Shown:
    """A question as people see it; texts are plain, unescaped and uncut: the card caps them."""

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    groups: tuple[Group, ...] = ()
    if_approved: str = ""  # after "If approved, "; empty where nothing is approved
    if_nobody: str = ""  # after "If nobody decides by …, "
    choices: tuple[Choice, ...] = ()
    actions: tuple[ShownAction, ...] = ()  # each has its choices, the question itself then none
    plain: str = ""  # for a notification: "Risk 71, high."
    asks: Literal["decision", "answer"] = "decision"
    consequence: str = ""  # a whole sentence, in place of "If approved, …"
    running: str = ""  # "Paying 60,000 to Asha Traders now."
    not_done: str = ""  # "Nothing was paid."
    failing: str = ""  # "Approved, but not paid yet."
    failed: str = ""  # "Approved, but not paid."
    again: str = ""  # "Trying again cannot pay twice."

    def choice(self, verb: str, item: int | None = None) -> Choice | None:
        """The choice of that verb, of the action where one is named; None where there is none."""
        if item is not None:
            found = next((action for action in self.actions if action.item == item), None)
            return found.choice(verb) if found is not None else None
        return next((choice for choice in self.choices if choice.verb == verb), None)


def shown(
    question: JSON,
    *,
    graph: str,
    node: str,
    template: Template | None = None,
    schema: JSON | None = None,
    asked: Asking | None = None,
    arguments: Sequence[JSON] | None = None,
    schemas: Sequence[JSON] | None = None,
    is_json: bool = False,
) -> Shown:
    """The question in the words of its template, or in decent words of our own; never raises.

    Args:
        asked: how it asks, where the caller knows that already.
        arguments: what goes into each action now, where some were changed.
        schemas: the JSON Schema of each action's arguments, where they are known.
        is_json: it is known to be plain JSON, which spares a walk over all of it.
    """
    question = question if is_json else as_json(question)
    asked = asked if asked is not None else asking(question, schema)
    made = None
    if asked.actions:
        made = _of_actions(asked, graph, arguments, schemas)
    elif asked.form == "breakpoint":
        made = _of_a_breakpoint(question, graph, node, schema)
    if made is not None:
        return made if template is None else _titled_by(template, question, made)
    if template is not None:
        return _in_the_words_of(template, question)
    if isinstance(question, dict):
        return _of_a_dictionary(question, graph, schema)
    if isinstance(question, str):
        return _of_a_text(question, graph, schema)
    says = "nothing" if question is None else in_words(question)
    return Shown(
        title=f"{asker(graph)} needs an answer",
        facts=(("It says only", says),),
        choices=_choices([], schema, otherwise="Answer"),
        plain=f"It says only: {says}.",
        asks="answer",
        consequence=_exactly(graph),
    )


def asker(graph: str) -> str:
    """Who asks, in words: `release_agent` is "Release agent", `loan` is "Loan process"."""
    words = name_in_words(graph) or "The"
    known = words.lower().endswith(("agent", "process", "assistant", "bot", "flow"))
    return words if known else f"{words} process"


def _of_actions(
    asked: Asking,
    graph: str,
    arguments: Sequence[JSON] | None,
    schemas: Sequence[JSON] | None,
) -> Shown:
    who, count = asker(graph), len(asked.actions)
    titles = Counter(name_in_words(one.tool) or "Act" for one in asked.actions)
    named = list(titles.items())[:TITLED_ACTIONS]
    wants = ", ".join(
        f"{one[:1].lower()}{one[1:]}{f' {times} times' if times > 1 else ''}"
        for one, times in named
    )
    left = count - sum(times for _, times in named)
    more = f" and {left} more" if left else ""
    made = tuple(
        _of_action(
            asked,
            item,
            arguments[item] if arguments is not None else action.arguments,
            action.schema or (schemas[item] if schemas is not None else None),
        )
        for item, action in enumerate(asked.actions)
    )
    first = next((f"{label}: {value}." for label, value in made[0].facts), "")
    each = "both are" if count == 2 else "all are"
    return Shown(
        title=f"{who} wants to: {wants}{more}",
        actions=made,
        if_approved=f"the {who.lower()} does it at once." if count == 1 else "",
        plain=first if count == 1 else "",
        consequence=""
        if count == 1
        else f"The {who.lower()} goes on when {each} decided. Each can be decided by itself.",
        not_done="Nothing was done.",
    )


def _of_action(asked: Asking, item: int, now: JSON, schema: JSON) -> ShownAction:
    action = asked.actions[item]
    facts, groups = _sorted_out(now if isinstance(now, dict) else {"value": now})
    if action.description:
        groups = (_quoted("What it is for", action.description), *groups)
    return ShownAction(
        item=item,
        title=name_in_words(action.tool) or "Act",
        facts=facts,
        before=_before(action.arguments, now),
        groups=groups,
        choices=tuple(_of_verb(asked, action, verb, now, schema) for verb in action.allowed),
    )


def _before(asked: JSON, now: JSON) -> tuple[tuple[str, str], ...]:
    if not isinstance(asked, dict) or not isinstance(now, dict):
        return ()
    changed = [key for key in {**asked, **now} if not same(asked.get(key), now.get(key))]
    return tuple((_label(key), in_words(asked.get(key, MISSING))) for key in changed)


def _of_verb(asked: Asking, action: Action, verb: str, now: JSON, schema: JSON) -> Choice:
    made = {"note": "{note}", "arguments": now}
    if verb == "edit":
        edit = reply(asked.form, action, "edit", arguments="{values}")
        return Choice("edit", "Edit", needs="form", reply=edit, schema=schema, initial=now)
    answer = reply(asked.form, action, verb, **made)
    if verb == "approve":
        return Choice("approve", "Approve", "primary", reply=answer)
    if verb == "reject":
        return Choice("reject", "Reject", "danger", "note", "Reason", reply=answer)
    if verb == "respond":
        runs = "approve" in action.allowed or "edit" in action.allowed
        label = "Answer instead" if runs else "Answer"
        return Choice("respond", label, "" if runs else "primary", "note", "Answer", reply=answer)
    return Choice("ignore", "Skip", reply=answer)


def _of_a_breakpoint(question: JSON, graph: str, node: str, schema: JSON) -> Shown:
    step = name_in_words(node.rsplit("/", 1)[-1])
    values = question if isinstance(question, dict) else {}
    facts, groups = _sorted_out(values)
    return Shown(
        title=f"{asker(graph)} waits before: {step[:1].lower()}{step[1:]}",
        facts=facts,
        groups=groups,
        choices=(
            Choice("continue", "Continue", "primary", reply={"do": "continue"}),
            Choice(
                "edit",
                "Change values",
                needs="form",
                reply={"do": "change", "values": "{values}"},
                schema=schema,
                initial=values,
                changed_only=True,
            ),
            Choice("stop", "Stop", "danger", reply={"do": "stop"}),
        ),
        consequence=GOES_ON,
    )


def _titled_by(template: Template, question: JSON, made: Shown) -> Shown:
    """Actions or a stop in the words of a template; the buttons stay those that they have."""
    worded = _in_the_words_of(template, question)
    return replace(
        worded,
        actions=made.actions,
        choices=made.choices,
        asks="decision",
        if_approved=worded.if_approved or made.if_approved,
        consequence=worded.consequence or made.consequence,
        plain=worded.plain or made.plain,
        not_done=worded.not_done or made.not_done,
    )


def _in_the_words_of(template: Template, question: JSON) -> Shown:
    def say(words: str) -> str:
        return fill(words, question)

    return Shown(
        title=" ".join(say(template.title).split()),
        facts=tuple(_facts(template, question)),
        groups=tuple(group for one in template.evidence if (group := _group(one, question))),
        if_approved=say(template.approved),
        if_nobody=say(template.declined),
        choices=tuple(_choice(one) for one in template.buttons if _is_given(one, question))
        or (_ANSWER,),
        plain=say(template.notification),
        asks="decision" if template.audience == "reviewers" and template.buttons else "answer",
        consequence=say(template.consequence),
        running=say(template.running),
        not_done=say(template.not_done),
        failing=say(template.failing),
        failed=say(template.failed),
        again=say(template.again),
    )


def _facts(template: Template, question: JSON) -> Iterator[tuple[str, str]]:
    for label, words in template.facts.items():
        text = fill(words, question)
        if label.endswith("?"):
            if text in ("", "empty", "not given"):
                continue
            label = label[:-1]
        yield label, text


def _group(evidence: Evidence, question: JSON) -> Group | None:
    paths = [evidence.each] if isinstance(evidence.each, str) else evidence.each
    entries = [entry for path in paths for entry in _entries(at(path, question))]
    if paths and not entries:
        return Group(fill(evidence.none, question)) if evidence.none else None
    lines = tuple(
        Line(
            text=fill(evidence.line, question, entry),
            lead=fill(evidence.lead, question, entry) if evidence.lead else None,
        )
        for entry in entries
    )
    return Group(fill(evidence.heading, question), lines, evidence.kind)


def _entries(value: JSON) -> list[JSON]:
    if value is MISSING or value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def _is_given(button: Button, question: JSON) -> bool:
    return button.given is None or at(button.given, question) not in (MISSING, None, "", [], {})


def _choice(button: Button) -> Choice:
    return Choice(
        verb=button.verb,
        label=button.label,
        style=button.style,
        needs=button.needs,
        note_label=button.note_label,
        reply=button.answer,
    )


def _of_a_text(text: str, graph: str, schema: JSON) -> Shown:
    title, groups = _titled(text, graph, "an answer")
    return Shown(
        title=title,
        groups=groups,
        choices=_choices([], schema, otherwise="Answer"),
        asks="answer",
        consequence=_exactly(graph),
    )


def _of_a_dictionary(question: dict[str, JSON], graph: str, schema: JSON) -> Shown:
    rest = dict(question)
    title = f"{asker(graph)} needs a decision"
    groups: tuple[Group, ...] = ()
    asked = next((key for key in _TITLES if _is_text(rest.get(key))), None)
    if asked is not None:
        title, groups = _titled(rest.pop(asked), graph, "a decision")
    elif isinstance(schema, dict) and _is_text(schema.get("title")):
        title = " ".join(schema["title"].split())[:TITLE_CHARACTERS]
    offered = next((key for key in _OPTIONS if _are_options(rest.get(key))), None)
    options = rest.pop(offered) if offered is not None else []
    facts, more = _sorted_out(rest)
    choices = _choices(options, schema, otherwise="Something else" if options else "Answer")
    return Shown(
        title=title,
        facts=facts,
        groups=groups + more,
        choices=choices,
        asks="decision",
        consequence=f"Your choice goes to the {asker(graph).lower()}."
        if options
        else f"What you fill in goes to the {asker(graph).lower()}."
        if choices[-1].needs == "form"
        else _exactly(graph),
    )


def _titled(text: str, graph: str, needs: str) -> tuple[str, tuple[Group, ...]]:
    stripped = text.strip()
    if stripped and len(stripped) <= TITLE_CHARACTERS and len(stripped.splitlines()) == 1:
        return stripped, ()
    title = f"{asker(graph)} needs {needs}"
    if not stripped:
        return title, (Group("Its question is empty"),)
    return title, (_quoted("It asks", stripped),)


def _quoted(label: str, text: str) -> Group:
    if len(text) <= PROSE_CHARACTERS:
        return Group(label, (Line(text),), "quote")
    return Group(
        f"{label}, first {QUOTED_CHARACTERS} of {len(text):,} characters",
        (Line(text[:QUOTED_CHARACTERS].rstrip() + " …"),),
        "quote",
    )


def _sorted_out(rest: dict[str, JSON]) -> tuple[tuple[tuple[str, str], ...], tuple[Group, ...]]:
    """Short values as facts, prose as quotes, and what is deep or too much counted by its name."""
    facts: list[tuple[str, str]] = []
    quotes: list[Group] = []
    deep: list[str] = []
    for key, value in rest.items():
        if len(facts) >= FACTS and len(deep) >= _NAMED and _is_short(value):
            deep.append("")  # it is only counted
            continue
        label = _label(key)
        if isinstance(value, dict | list) and value:
            deep.append(f"{label[:1].lower()}{label[1:]} ({_size(value)})")
        elif isinstance(value, str) and len(value) > PROSE_CHARACTERS:
            quotes.append(_quoted(label, value))
        elif len(facts) < FACTS:
            facts.append((label, in_words(value)))
        else:
            deep.append(f"{label[:1].lower()}{label[1:]}")
    if deep:
        named = ", ".join(deep[:_NAMED])
        left = len(deep) - _NAMED
        text = f"{named} and {left:,} more" if left > 0 else named
        quotes.append(Group("Under Details", (Line(text),), "plain"))
    return tuple(facts), tuple(quotes)


def _is_short(value: JSON) -> bool:
    return not (isinstance(value, str) and len(value) > PROSE_CHARACTERS)


def _label(key: str) -> str:
    return name_in_words(key)[:_LABEL_CHARACTERS] or "Value"


def _children(value: JSON) -> Iterable[JSON]:
    return value.values() if isinstance(value, dict) else value


def _size(value: dict[str, JSON] | list[JSON]) -> str:
    depth, level = 0, [value]
    while level and depth < _DEPTH:
        depth += 1
        inside = (child for one in level for child in _children(one))
        # Of very many the first thousand tell how deep it goes.
        level = list(islice((one for one in inside if isinstance(one, dict | list)), _WIDE))
    if isinstance(value, list):
        return f"{len(value):,}"
    counted = f"{len(value):,} {'value' if len(value) == 1 else 'values'}"
    return counted if depth == 1 else f"{counted}, {depth} levels deep"


def _choices(options: list[JSON], schema: JSON, *, otherwise: str) -> tuple[Choice, ...]:
    """A button for every option, and one that takes words; a schema that lists its values too."""
    named = [(_option_label(one), _option_value(one)) for one in options] or _listed(schema)
    buttons = tuple(
        Choice(f"option_{number}", label, reply=value)
        for number, (label, value) in enumerate(named[:OPTIONS], 1)
    )
    if _is_form(schema):
        properties = schema.get("properties")
        if buttons and (not isinstance(properties, dict) or len(properties) <= 1):
            return buttons
        return (*buttons, _form(schema, "" if buttons else "primary"))
    if isinstance(schema, dict) and schema.get("type") not in (None, "string"):
        if buttons:
            return buttons
        return (Choice("answer", "Answer", "primary", "note", "Your answer", reads="json"),)
    if buttons and not options and len(named) <= OPTIONS:
        return buttons
    return (
        *buttons,
        Choice("answer", otherwise, "" if buttons else "primary", "note", "Your answer"),
    )


def _is_form(schema: JSON) -> bool:
    """Whether an answer has parts, so that a form asks for them."""
    if not isinstance(schema, dict):
        return False
    parts = isinstance(schema.get("properties"), dict) or schema.get("type") in ("object", "array")
    return parts or any(key in schema for key in ("$ref", "allOf", "anyOf", "oneOf"))


def _form(schema: JSON, style: Literal["", "primary"]) -> Choice:
    return Choice("answer", "Fill in", style, "form", reply="{values}", schema=schema)


def _listed(schema: JSON) -> list[tuple[str, JSON]]:
    """The values that a schema allows, each with its label, where it lists them all."""
    if not isinstance(schema, dict):
        return []
    if schema.get("type") == "boolean":
        return [("Yes", True), ("No", False)]
    if isinstance(schema.get("enum"), list):
        return [(_option_label(one), one) for one in schema["enum"]]
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(properties, dict) and isinstance(required, list) and len(required) == 1:
        name = required[0]
        inner = properties.get(name) if isinstance(name, str) else None
        return [(label, {name: value}) for label, value in _listed(inner)]
    return []


def _option_label(option: JSON) -> str:
    if isinstance(option, dict):
        option = next((option[key] for key in _LABELS if _is_text(option.get(key))), "Choose")
    words = in_words(option)
    return (words[:1].upper() + words[1:])[:_LABEL_CHARACTERS]


def _option_value(option: JSON) -> JSON:
    if isinstance(option, dict):
        return next((option[key] for key in ("value", "id", *_LABELS) if key in option), option)
    return option


def _are_options(value: JSON) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(one, str | int | float | bool)
            or (isinstance(one, dict) and any(_is_text(one.get(key)) for key in _LABELS))
            for one in value
        )
    )


def _is_text(value: JSON) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _exactly(graph: str) -> str:
    return f"Your words go to the {asker(graph).lower()} exactly as you write them."


def _with(given: JSON, slot: str, value: JSON) -> JSON:
    """The reply with the value in its slot."""
    if isinstance(given, str) and given == slot:
        return value
    if isinstance(given, dict):
        return {key: _with(each, slot, value) for key, each in given.items()}
    if isinstance(given, list):
        return [_with(each, slot, value) for each in given]
    return given


def _spelled(note: str | None) -> JSON:
    try:
        return json.loads(note or "")
    except (ValueError, RecursionError):
        return note


_TITLES = ("question", "message", "task", "prompt")
_OPTIONS = ("options", "actions", "choices")
_LABELS = ("label", "name", "title")
_LABEL_CHARACTERS = 75
_NAMED = 12
_DEPTH = 20
_WIDE = 1_000
_ANSWER = Choice("answer", "Answer", "primary", "note", "Your answer")
