"""Windows of forms, as the golden files show them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot import forms
from bot.blocks import Blocks, line, lines
from bot.inline import Styled
from bot.views import Ref
from bot.wording import say
from graphs.forms import Form, form
from tests.graphs.schema_samples import DELIVERY

REF = Ref(412, 2)
REFUND = {"order_id": "A-2231", "amount": 4000, "reason": "arrived broken", "notify": True}
LETTER = {
    "to": "meera@example.com",
    "body": "Dear Meera,\n\nwe are sorry that the lamp arrived broken. " * 3,
    "draft": "x" * 7_312,
    "labels": ["refund", "first time"],
    "sent": None,
}
ARTICLE = [{"title": "What small shops would do with one more week", "scores": {"clarity": 0.8}}]
HOSTILE = {
    "type": "object",
    "title": "<!channel> *x*",
    "properties": {
        "summary": {"type": "string", "title": "<@U1|me> :tada: \u202eevil", "description": "a\nb"},
        "pick": {
            "enum": ["<https://example.com|click>", "\u202e\u202d", ""],
            "title": "\ud800\x00",
        },
    },
}
BROKEN_OFF = {"amount": "5", "purpose": "A van", "insured": "true", "extras": ['"night"']}


def window(made: Form, *, typed: dict[str, Any] | None = None) -> dict[str, Any]:
    """The window of an edit, with the action on top and the consequence below."""
    top = Blocks()
    top.rich(
        "summary", lines([[Styled("1. Issue refund", "bold")], ["Asked by Bob."]]) or line("x")
    )
    return forms.view(
        "edit",
        "Change this action",
        made,
        REF,
        top=top,
        submit="Approve as changed",
        effect=say("confirm.text.plain"),
        typed=typed,
    )


FORMS: dict[str, Callable[[], dict[str, Any]]] = {
    "delivery": lambda: window(form(DELIVERY)),
    "delivery-typed": lambda: window(form(DELIVERY), typed=BROKEN_OFF),
    "refund-by-its-values": lambda: window(form(None, REFUND)),
    "letter-too-long": lambda: window(form(None, LETTER)),
    "raw": lambda: window(form({"type": "array", "items": {"type": "object"}}, ARTICLE)),
    "one-value": lambda: window(form({"type": "string", "maxLength": 500, "title": "Verdict"})),
    "nothing": lambda: window(form({"type": "object", "properties": {}})),
    "hostile": lambda: window(form(HOSTILE)),
}
