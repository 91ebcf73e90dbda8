"""A form as a window: one input for each field, and what was typed into them.

Every input's element has the action id "value"; its block id is the field's key and never changes,
so that an update of the window keeps what was typed and an error finds its field. A field is shown
by `shown` and read by `entered` of the graphs: here is only how each kind looks in Slack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from bot import limits
from bot.blocks import Blocks
from bot.values import letters, number, one_line, prefix, shorten, size, visible
from bot.views import Ref
from bot.wording import Sentence, phrase, say
from checkpoints.text import clean
from graphs.entries import NO_ANSWER, number_text, shown
from graphs.fields import Field, json_text
from graphs.forms import Form
from graphs.kinds import option_key

JSON: TypeAlias = dict[str, Any]

VALUE: Final = "value"  # the action id of every input
FEW: Final = 3  # options that are seen at once
DIGITS: Final = 15  # of a number that Slack's own input takes without rounding
NUMBER: Final = 64  # characters of a longer one
LABEL: Final = 150
HINT: Final = 500


def view(
    name: str,
    title: str,
    made: Form,
    ref: Ref,
    *,
    top: Blocks | None = None,
    submit: str,
    effect: Sentence | None = None,
    typed: Mapping[str, Any] | None = None,
) -> JSON:
    """The whole window of a form, checked against every limit.

    Args:
        name: its callback id.
        top: what stands above the inputs.
        effect: what pressing submit does; the last line.
        typed: what was typed into an earlier window, by the keys of the fields.
    """
    readable = _view(name, title, made, ref, top, submit, effect, typed or {}, visible)
    if not limits.view_fits(readable):
        # Writing out what cannot be seen takes up to eight times the room.
        readable = _view(name, title, made, ref, top, submit, effect, typed or {}, clean)
    limits.check_view(readable)
    return readable


def typed(view: Mapping[str, Any]) -> dict[str, Any]:
    """What stands in the inputs of a submitted window, by block id.

    A text, the value of an option, a day, a list of options' values, or None where it is empty.
    """
    state = view.get("state")
    values = state.get("values") if isinstance(state, Mapping) else None
    found: dict[str, Any] = {}
    for block, elements in values.items() if isinstance(values, Mapping) else ():
        element = elements.get(VALUE) if isinstance(elements, Mapping) else None
        if isinstance(element, Mapping):
            found[str(block)] = _typed(element)
    return found


def _typed(element: Mapping[str, Any]) -> Any:
    if "selected_options" in element:
        chosen = element["selected_options"]
        return [_picked(one) for one in chosen] if isinstance(chosen, list) else []
    if "selected_option" in element:
        return _picked(element["selected_option"])
    return element.get("selected_date", element.get("value"))


def _picked(option: Any) -> Any:
    return option.get("value") if isinstance(option, Mapping) else None


def _view(
    name: str,
    title: str,
    made: Form,
    ref: Ref,
    top: Blocks | None,
    submit: str,
    effect: Sentence | None,
    typed: Mapping[str, Any],
    readable: Callable[[str], str],
) -> JSON:
    blocks = Blocks()
    if made.raw:
        blocks.context("shape", say("form.raw"))
    elif not made.fields:
        blocks.context("shape", say("form.nothing"))
    above = [*(top.done() if top is not None else []), *blocks.done()]
    inputs = [_input(each, typed, readable) for each in made.fields]
    if inputs and inputs[0]["element"]["type"] in _FOCUSED:
        inputs[0]["element"]["focus_on_load"] = True
    below = Blocks()
    if effect is not None:
        below.context("effect", effect)
    taken = {each.key for each in made.fields}
    return {
        "type": "modal",
        "callback_id": clean(name)[: limits.ID] or "form",
        "title": _plain(letters(title) or phrase("form.label"), limits.VIEW_TITLE),
        "submit": _plain(letters(submit) or phrase("form.label"), limits.VIEW_TITLE),
        "close": _plain(phrase("modal.cancel"), limits.VIEW_TITLE),
        "private_metadata": str(ref),
        "blocks": [*_apart(above, taken), *inputs, *_apart(below.done(), taken)],
    }


def _apart(blocks: list[JSON], taken: set[str]) -> list[JSON]:
    """The blocks with other ids where a field has theirs: only a field's id has to stay."""
    return [
        {**block, "block_id": f"-{block['block_id']}"} if block.get("block_id") in taken else block
        for block in blocks
    ]


def _input(field: Field, typed: Mapping[str, Any], readable: Callable[[str], str]) -> JSON:
    start = typed.get(field.key, shown(field))
    block: JSON = {
        "type": "input",
        "block_id": field.key,
        "label": _plain(one_line(field.label) or phrase(_unnamed(field)), LABEL),
        "element": {**_element(field, start, readable), "action_id": VALUE},
        "optional": not field.required,
    }
    hint = " ".join(filter(None, (_ended(one_line(field.hint)), *_limits(field))))
    if hint:
        block["hint"] = _plain(hint, HINT)
    return block


def _unnamed(field: Field) -> str:
    return "form.label.raw" if field.kind == "json" and not field.path else "form.label"


def _element(field: Field, start: Any, readable: Callable[[str], str]) -> JSON:
    match field.kind:
        case "choice" | "boolean":
            return _choice(field, start)
        case "choices":
            return _choices(field, start)
        case "date":
            day: JSON = {
                "type": "datepicker",
                "placeholder": _plain(phrase("form.choose_day"), limits.PLACEHOLDER),
            }
            return day | ({"initial_date": start} if start else {})
        case "number" | "integer" if _is_short(field, start):
            return _number(field, str(start or ""))
        case "number" | "integer":
            return _text(str(start or ""), readable, multiline=False, most=limits.INPUT)
    return _text(
        str(start or ""),
        readable,
        multiline=field.multiline,
        least=field.shortest,
        most=field.longest or limits.INPUT,
    )


def _choice(field: Field, start: Any) -> JSON:
    options = [_option(label, value) for label, value in field.options]
    few = len(options) <= FEW
    if not field.required:
        # Neither kind of input can be emptied again once something was chosen.
        none = {"text": _plain(phrase("form.none"), limits.OPTION), "value": NO_ANSWER}
        options.append(none)
    element: JSON = {"type": "radio_buttons" if few else "static_select", "options": options}
    if not few:
        element["placeholder"] = _plain(phrase("form.choose"), limits.PLACEHOLDER)
    chosen = next((option for option in options if option["value"] == start), None)
    return element | ({"initial_option": chosen} if chosen else {})


def _choices(field: Field, start: Any) -> JSON:
    options = [_option(label, value) for label, value in field.options]
    few = len(options) <= limits.OPTIONS_FEW
    element: JSON = {"type": "checkboxes" if few else "multi_static_select", "options": options}
    keys = start if isinstance(start, list | tuple) else ()
    chosen = [option for option in options if option["value"] in keys]
    if not few:
        element["placeholder"] = _plain(phrase("form.choose_several"), limits.PLACEHOLDER)
        if field.longest and len(chosen) <= field.longest:
            element["max_selected_items"] = min(field.longest, limits.OPTIONS)
    return element | ({"initial_options": chosen} if chosen else {})


def _number(field: Field, start: str) -> JSON:
    element: JSON = {"type": "number_input", "is_decimal_allowed": field.kind == "number"}
    low, high = _numeral(field.least, field.above), _numeral(field.most, field.below)
    inside = not start or (
        (low is None or float(low) <= float(start))
        and (high is None or float(start) <= float(high))
    )
    if inside:  # Slack refuses a window whose number is out of its own bounds
        element |= {"min_value": low} if low is not None else {}
        element |= {"max_value": high} if high is not None else {}
    return element | ({"initial_value": start} if start else {})


def _text(
    start: str, readable: Callable[[str], str], *, multiline: bool, least: int = 0, most: int
) -> JSON:
    text = readable(start)
    if size(text) > limits.INPUT:  # blanks that take eight letters each
        text = prefix(clean(start), limits.INPUT)
    most = min(most, limits.INPUT)
    if size(text) > most:
        most = limits.INPUT
    element: JSON = {"type": "plain_text_input", "multiline": multiline, "max_length": most}
    if 0 < least <= most and (not text or len(text) >= least):
        element["min_length"] = least
    return element | ({"initial_value": text} if text else {})


def _is_short(field: Field, start: Any) -> bool:
    """Whether Slack's own number input can hold it: a plain decimal of a few digits."""
    numerals = [start, _numeral(field.least, field.above), _numeral(field.most, field.below)]
    return all(
        isinstance(one, str)
        and len(one) <= DIGITS
        and one.lstrip("-").replace(".", "", 1).isdigit()
        for one in numerals
        if one
    )


def _numeral(bound: float | None, open_bound: float | None) -> str | None:
    value = bound if bound is not None else open_bound
    return None if value is None else number_text(value)


def _limits(field: Field) -> Iterator[str]:
    """What is said under a field of what it takes."""
    if field.least is not None and field.most is not None:
        yield phrase("form.hint.range", least=number(field.least), most=number(field.most))
    else:
        for name in ("least", "most"):
            if (bound := getattr(field, name)) is not None:
                yield phrase(f"form.hint.{name}", **{name: number(bound)})
    for name in ("above", "below", "step"):
        if (bound := getattr(field, name)) is not None:
            yield phrase(f"form.hint.{name}", **{name: number(bound)})
    several = field.kind == "choices"
    if field.shortest > 1 or (several and field.shortest):
        key = "form.hint.fewest" if several else "form.hint.shortest"
        yield phrase(key, count=number(field.shortest))
    if field.longest is not None and field.longest < limits.INPUT:
        key = "form.hint.several" if several else "form.hint.longest"
        yield phrase(key, count=number(field.longest))
    if field.format:
        yield phrase(f"form.hint.{field.format}")
    if field.example:
        yield phrase("form.hint.example", example=one_line(field.example))
    if field.kind == "json" and field.path:
        yield phrase("form.hint.json")
    if field.kept:
        text = field.initial if isinstance(field.initial, str) else json_text(field.initial)
        yield phrase("form.hint.kept", count=number(len(text)))


def _ended(hint: str) -> str:
    """Somebody else's words as a sentence that ours can follow."""
    return f"{hint}." if hint and hint[-1].isalnum() else hint


def _option(label: str, value: Any) -> JSON:
    text = one_line(label) or phrase("empty")
    return {"text": _plain(text, limits.OPTION), "value": option_key(value)}


def _plain(text: str, limit: int) -> JSON:
    return {"type": "plain_text", "text": shorten(text, limit), "emoji": False}


_FOCUSED = ("plain_text_input", "number_input", "static_select", "multi_static_select")
