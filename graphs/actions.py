"""What a question asks people about, and the exact answer that each way of asking wants.

Four ways of asking about tool calls are known; everything else is free and answered by one value:

    batched      LangChain's HumanInTheLoopMiddleware: all calls of one turn in one question
    per_call     the same middleware, one question for each call
    inbox_list   a list of LangGraph's HumanInterrupt
    inbox        a single HumanInterrupt

One item of a review is one action, decided by itself under its own rule. `reply` makes the answer
of one item and `assemble` puts them together to what `interrupt()` returns. An edit changes what
goes into an action and never the action itself: another tool would be under another rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from graphs import answers
from graphs.templates import MISSING

JSON: TypeAlias = Any
Form: TypeAlias = Literal["batched", "per_call", "inbox", "inbox_list", "breakpoint", "free"]

ACTIONS: Final = 100  # a turn with more calls is answered as a whole
VERBS: Final = ("approve", "edit", "reject", "respond", "ignore")


@dataclass(frozen=True)
class Action:
    """One tool call that a question asks about; `allowed` are our verbs, in the card's order.

    `schema` is the JSON Schema of its arguments, where the question itself brings one.
    """

    tool: str
    arguments: JSON
    description: str = ""
    allowed: tuple[str, ...] = ()
    schema: JSON = None


@dataclass(frozen=True)
class Asking:
    """How a question asks; without `actions` it is answered by one value."""

    form: Form
    actions: tuple[Action, ...] = ()


def asking(question: JSON, schema: JSON = None, *, kind: str = "interrupt") -> Asking:
    """How the question asks; whatever is not wholly one of the known ways is free."""
    if kind == "breakpoint":
        return Asking("breakpoint")
    if isinstance(question, list) and 0 < len(question) <= ACTIONS:
        found = [_of_inbox(one) for one in question]
        if all(found):
            return Asking("inbox_list", tuple(one for one in found if one is not None))
    if not isinstance(question, dict):
        return Asking("free")
    if (calls := _of_turn(question)) is not None:
        return Asking("batched", calls)
    if question.get("type") == "tool_approval" and (call := _of_call(question, schema)):
        return Asking("per_call", (call,))
    single = _of_inbox(question)
    return Asking("inbox", (single,)) if single is not None else Asking("free")


def named(question: JSON) -> frozenset[str]:
    """The tools whose calls a question asks about, also where it can only be answered as a whole.

    A turn with very many calls, or with one that nothing is allowed for, is such a question.
    """
    calls = question.get("action_requests") if isinstance(question, dict) else None
    found = [one.get("name") for one in _objects(calls)]
    inbox = question if isinstance(question, list) else [question]
    requests = [one.get("action_request") for one in _objects(inbox)]
    found += [one.get("action") for one in _objects(requests)]
    if isinstance(question, dict) and question.get("type") == "tool_approval":
        found.append(question.get("name"))
    return frozenset(name for name in found if isinstance(name, str))


def reply(
    form: Form, action: Action, verb: str, *, note: str | None = None, arguments: JSON = MISSING
) -> JSON:
    """The answer of one item.

    Args:
        arguments: what goes into the action now; an approval of changed ones is an edit.
    """
    inbox = form in ("inbox", "inbox_list")
    if verb in ("approve", "edit"):
        if arguments is MISSING or same(arguments, action.arguments):
            return {"type": "accept", "args": None} if inbox else {"type": "approve"}
        if inbox:
            return {"type": "edit", "args": {"action": action.tool, "args": arguments}}
        return {"type": "edit", "edited_action": {"name": action.tool, "args": arguments}}
    if verb == "respond":
        if inbox:
            return {"type": "response", "args": note or ""}
        return {"type": "respond", "message": note or ""}
    if verb == "ignore" and inbox:
        return {"type": "ignore", "args": None}
    return {"type": verb, "message": note} if note else {"type": verb}


def assemble(asked: Asking, replies: Sequence[JSON]) -> JSON:
    """What `interrupt()` returns, from the answers of all items in their order."""
    if asked.form == "batched":
        return {"decisions": list(replies)}
    if asked.form == "inbox_list":
        return list(replies)
    return replies[0]


def split(asked: Asking, answer: JSON) -> tuple[JSON, ...] | None:
    """The answers of the items in a whole answer; None where it does not have one for each."""
    if asked.form == "batched":
        answer = answer.get("decisions") if isinstance(answer, dict) else None
    elif asked.form != "inbox_list":
        return (answer,)
    if not isinstance(answer, list) or len(answer) != len(asked.actions):
        return None
    return tuple(answer)


def verb_of(answer: JSON) -> str:
    """The verb that one item's answer stands for; "" where it says none."""
    said = answer.get("type") if isinstance(answer, Mapping) else None
    return _VERB_OF.get(said, "") if isinstance(said, str) else ""


def note_of(answer: JSON) -> str | None:
    """The words in one item's answer: the reason of a rejection, the answer instead."""
    said = answer.get("message", answer.get("args")) if isinstance(answer, Mapping) else None
    return said if isinstance(said, str) and said.strip() else None


def arguments_of(action: Action, answer: JSON) -> JSON:
    """What goes into the action by this answer: its own arguments unless it is an edit."""
    if verb_of(answer) != "edit":
        return action.arguments
    edited = answer.get("edited_action", answer.get("args"))
    return edited.get("args") if isinstance(edited, dict) else None


def same(left: JSON, right: JSON) -> bool:
    """Whether two values are the same JSON: 1 and true are not, and neither are 1 and 1.0."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and bool(left == right)


def problem(asked: Asking, item: int, answer: JSON, schema: JSON = None) -> str | None:
    """None where the answer fits the item, else one sentence that says what to write.

    Args:
        schema: of the action's arguments, as the tool has it.
    """
    if asked.form == "free":
        return None
    if asked.form == "breakpoint":
        return _breakpoint_problem(answer)
    if not 0 <= item < len(asked.actions):
        return "There is no such action in this request."
    action, verb = asked.actions[item], verb_of(answer)
    if verb not in action.allowed or not _is_of(asked.form, answer):
        return f"Choose {answers.one_of(_SAID[each] for each in action.allowed)}."
    if (more := _unasked(asked.form, action, answer, verb)) is not None:
        return f"Leave out {more[:60]}. It is no part of this answer."
    if verb == "edit":
        return _edit_problem(asked.form, action, answer, schema)
    message = answer.get("args" if asked.form in _INBOX else "message")
    if verb == "respond" and not (isinstance(message, str) and message.strip()):
        return "Write the answer in words."
    if verb == "reject" and not isinstance(answer.get("message", ""), str):
        return "Write the reason in words."
    return None


def _breakpoint_problem(answer: JSON) -> str | None:
    said = answer.get("do") if isinstance(answer, dict) else None
    if answer is None or said in ("continue", "stop"):
        return None
    if said == "change" and isinstance(answer.get("values"), dict):
        return None
    return "Choose continue, change values or stop."


def _edit_problem(form: Form, action: Action, answer: JSON, schema: JSON) -> str | None:
    inbox = form in _INBOX
    edited = answer.get("args" if inbox else "edited_action")
    if not isinstance(edited, dict):
        return "Write what goes into the action."
    if edited.get("action" if inbox else "name") != action.tool:
        return "The action itself cannot be changed, only what goes into it."
    if not isinstance(edited.get("args"), dict):
        return "Write what goes into the action as named values."
    return answers.check(edited["args"], None, action.schema or schema)


def _is_of(form: Form, answer: JSON) -> bool:
    """Whether the answer has the words of this way of asking: accept is not approve."""
    if not isinstance(answer, dict):
        return False
    return answer.get("type") == "edit" or (answer.get("type") in _INBOX_VERBS) is (form in _INBOX)


def _unasked(form: Form, action: Action, answer: Mapping[str, JSON], verb: str) -> str | None:
    """The name of something in the answer that its way of asking has not, or None.

    Nobody would be shown it, and the node would get it.
    """
    inbox = form in _INBOX
    part = "args" if inbox else "edited_action"
    known = {"type", "args"} if inbox else {"type", "message"}
    if verb == "edit":
        known |= {part}
        edited = answer.get(part)
        inside = {"action", "args"} if inbox else {"name", "args"}
        if isinstance(edited, dict) and (more := sorted(edited.keys() - inside)):
            return str(more[0])
    if more := sorted(answer.keys() - known):
        return more[0]
    # The Agent Inbox sends the whole request back with an acceptance.
    back = (None, {"action": action.tool, "args": action.arguments})
    if inbox and verb in ("approve", "ignore"):
        return None if any(same(answer.get("args"), one) for one in back) else "args"
    return None


def _objects(values: JSON) -> list[dict[str, JSON]]:
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []


def _of_turn(question: Mapping[str, JSON]) -> tuple[Action, ...] | None:
    requests, configs = question.get("action_requests"), question.get("review_configs")
    if not isinstance(requests, list) or not isinstance(configs, list):
        return None
    if not 0 < len(requests) <= ACTIONS:
        return None
    allowed: dict[str, tuple[str, ...]] = {}
    for config in configs:
        if isinstance(config, dict) and isinstance(config.get("action_name"), str):
            allowed.setdefault(config["action_name"], _known(config.get("allowed_decisions")))
    found = [_of_request(one, allowed) for one in requests]
    known = tuple(one for one in found if one is not None and one.allowed)
    return known if len(known) == len(requests) else None


def _of_request(request: JSON, allowed: Mapping[str, tuple[str, ...]]) -> Action | None:
    if not isinstance(request, dict) or not isinstance(request.get("name"), str):
        return None
    name = request["name"]
    arguments = request.get("args")
    return Action(name, arguments, _described(request), _sorted(allowed.get(name, ()), arguments))


def _of_call(question: Mapping[str, JSON], schema: JSON) -> Action | None:
    if not isinstance(question.get("name"), str):
        return None
    branches = _branches(schema)
    arguments = question.get("args")
    allowed = _sorted(_known(list(branches)), arguments)
    if not allowed:
        return None
    definitions = schema.get("$defs") if isinstance(schema, dict) else None
    taken = _arguments_schema(branches.get("edit"), definitions)
    return Action(question["name"], arguments, _described(question), allowed, taken)


def _branches(schema: JSON) -> dict[str, JSON]:
    """The decisions that a response schema allows, each with its own schema."""
    if not isinstance(schema, dict):
        return {}
    definitions = schema.get("$defs")
    alternatives = schema.get("oneOf") or schema.get("anyOf")
    found: dict[str, JSON] = {}
    for one in alternatives if isinstance(alternatives, list) else [schema]:
        branch = _followed(one, definitions)
        said = _property(branch, "type", definitions).get("const")
        if isinstance(said, str):
            found.setdefault(said, branch)
    return found


def _arguments_schema(edit: JSON, definitions: JSON) -> JSON:
    edited = _property(edit, "edited_action", definitions)
    taken = _property(edited, "args", definitions)
    if not taken:
        return None
    return {**taken, "$defs": definitions} if isinstance(definitions, dict) else taken


def _property(schema: JSON, name: str, definitions: JSON) -> dict[str, JSON]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return _followed(properties.get(name) if isinstance(properties, dict) else None, definitions)


def _followed(schema: JSON, definitions: JSON) -> dict[str, JSON]:
    """The schema itself, or the definition of the question that it points to."""
    for _ in range(_POINTERS):
        if not isinstance(schema, dict):
            return {}
        pointer = schema.get("$ref")
        if not isinstance(pointer, str):
            return schema
        name = pointer.removeprefix("#/$defs/")
        schema = definitions.get(name) if isinstance(definitions, dict) else None
    return {}


def _of_inbox(value: JSON) -> Action | None:
    if not isinstance(value, dict):
        return None
    request, config = value.get("action_request"), value.get("config")
    if not (isinstance(request, dict) and isinstance(config, dict)):
        return None
    tool, arguments = request.get("action"), request.get("args")
    if not isinstance(tool, str):
        return None
    wanted = tuple(verb for key, verb in _INBOX_ALLOWS.items() if config.get(key) is True)
    allowed = _sorted(wanted, arguments)
    return Action(tool, arguments, _described(value), allowed) if allowed else None


def _described(value: Mapping[str, JSON]) -> str:
    """The description, unless it is the one that the middleware writes by itself."""
    text = value.get("description")
    if not isinstance(text, str) or text.startswith(_STOCK):
        return ""
    return text.strip()


def _known(decisions: JSON) -> tuple[str, ...]:
    given = decisions if isinstance(decisions, list) else []
    return tuple(one for one in given if isinstance(one, str) and one in VERBS[:4])


def _sorted(verbs: Sequence[str], arguments: JSON) -> tuple[str, ...]:
    """The verbs in the card's order; only named values can be edited."""
    return tuple(
        verb for verb in VERBS if verb in verbs and (verb != "edit" or isinstance(arguments, dict))
    )


_STOCK: Final = "Tool execution requires approval\n\nTool: "
_POINTERS: Final = 10
_INBOX: Final = ("inbox", "inbox_list")
_INBOX_VERBS: Final = ("accept", "response", "ignore")
_INBOX_ALLOWS: Final = {
    "allow_accept": "approve",
    "allow_edit": "edit",
    "allow_respond": "respond",
    "allow_ignore": "ignore",
}
_VERB_OF: Final = {
    "approve": "approve",
    "accept": "approve",
    "edit": "edit",
    "reject": "reject",
    "respond": "respond",
    "response": "respond",
    "ignore": "ignore",
}
_SAID: Final = {
    "approve": "approve",
    "edit": "edit",
    "reject": "reject",
    "respond": "answer instead",
    "ignore": "skip",
}
