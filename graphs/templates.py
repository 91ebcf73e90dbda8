"""How a graph's question is put into words: the `[[graphs.NAME.questions]]` of `sayso.toml`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class Button(BaseModel):
    """One choice of a template; `answer` is the node's own value, with "{note}" where a note goes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    verb: str
    label: str
    answer: Any
    style: Literal["", "primary", "danger"] = ""
    needs: Literal["note"] | None = None
    note_label: str = ""


class Evidence(BaseModel):
    """One group of evidence: a heading, and a line for each entry of the list at `each`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    heading: str
    each: str = ""
    line: str = ""
    lead: str = ""
    none: str = ""  # the heading when the list is empty; without it the group is left out


class Template(BaseModel):
    """The words of one question; every text may have slots such as `{risk.score}`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    node: str
    audience: Literal["reviewers", "requester"] = "reviewers"
    title: str
    facts: dict[str, str] = {}
    evidence: list[Evidence] = []
    approved: str = ""
    declined: str = ""
    notification: str = ""
    running: str = ""
    not_done: str = ""
    failing: str = ""
    failed: str = ""
    again: str = ""
    buttons: list[Button] = []
