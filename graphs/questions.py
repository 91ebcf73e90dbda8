"""What people are shown of a question: one plain value for card, modal, digest and home tab.

`shown` is pure and never raises: whatever a node put into its `interrupt()`, it comes out as a
title, some facts, some groups of evidence and at least one choice that can be pressed. A template
gives the words; without one they come from the shape of the question. A question about actions has
its choices with each of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from graphs.actions import Action, Asking, asking, reply, same
from graphs.choices import Choice as Choice
from graphs.choices import are_options, choices_of, is_text
from graphs.passages import Group as Group
from graphs.passages import Line as Line
from graphs.passages import label_of, quoted, sorted_out
from graphs.plain import plain as as_json
from graphs.templates import MISSING, Button, Evidence, Template, at, fill, in_words, name_in_words

JSON: TypeAlias = Any

TITLE_CHARACTERS = 150  # a title is one line; what is longer is quoted below it
GOES_ON = "If you continue, the next step runs at once."
TITLED_ACTIONS = 5


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
        choices=choices_of([], schema, otherwise="Answer"),
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
    facts, groups = sorted_out(now if isinstance(now, dict) else {"value": now})
    if action.description:
        groups = (quoted("What it is for", action.description), *groups)
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
    return tuple((label_of(key), in_words(asked.get(key, MISSING))) for key in changed)


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
    facts, groups = sorted_out(values)
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
        choices=choices_of([], schema, otherwise="Answer"),
        asks="answer",
        consequence=_exactly(graph),
    )


def _of_a_dictionary(question: dict[str, JSON], graph: str, schema: JSON) -> Shown:
    rest = dict(question)
    title = f"{asker(graph)} needs a decision"
    groups: tuple[Group, ...] = ()
    asked = next((key for key in _TITLES if is_text(rest.get(key))), None)
    if asked is not None:
        title, groups = _titled(rest.pop(asked), graph, "a decision")
    elif isinstance(schema, dict) and is_text(schema.get("title")):
        title = " ".join(schema["title"].split())[:TITLE_CHARACTERS]
    offered = next((key for key in _OPTIONS if are_options(rest.get(key))), None)
    options = rest.pop(offered) if offered is not None else []
    facts, more = sorted_out(rest)
    choices = choices_of(options, schema, otherwise="Something else" if options else "Answer")
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
    return title, (quoted("It asks", stripped),)


def _exactly(graph: str) -> str:
    return f"Your words go to the {asker(graph).lower()} exactly as you write them."


_TITLES = ("question", "message", "task", "prompt")
_OPTIONS = ("options", "actions", "choices")
_ANSWER = Choice("answer", "Answer", "primary", "note", "Your answer")
