"""The card of a question that nobody has asked: for whoever writes a template, and for their CI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from bot import cards, views
from bot.blocks import Payload
from bot.present import policy_of
from bot.rows import words
from bot.settings import load
from bot.values import one_line
from graphs.actions import asking
from graphs.directory import Directory
from graphs.errors import UnknownGraph
from graphs.plain import digest, plain
from graphs.policy import RuleFailed
from graphs.questions import shown
from graphs.specs import Rule

JSON: TypeAlias = Any

REQUESTER = views.Person("U0REQUESTER", "Whoever asks")


def card(
    graph: str, node: str, question: JSON, schema: JSON, now: datetime | None = None
) -> Payload:
    """The card as it would be posted, within every limit of Slack.

    Raises:
        UnknownGraph
    """
    settings = load()
    graphs = settings.configuration.graphs
    if graph not in graphs:
        raise UnknownGraph(graph, tuple(graphs))
    spec, question, schema = graphs[graph], plain(question), plain(schema)
    asked = asking(question, schema)
    seen = shown(
        question, graph=graph, node=node, template=spec.template(node), schema=schema, asked=asked
    )
    policy = policy_of(settings.configuration)

    def decides(tool: str | None, about: JSON) -> views.Decides:
        try:
            rule = policy.rule_for(graph, node, tool, {"question": about})
        except RuleFailed:
            rule = None
        return _decides(rule, policy.directory)

    by_action = [decides(action.tool, action.arguments) for action in asked.actions]
    return cards.render(
        views.CardView(
            review_id=1,
            revision=1,
            version=digest(question),
            status=views.Status.OPEN,
            shown=seen,
            requester=REQUESTER,
            asked_at=now or datetime.now(UTC),
            decides=by_action[0] if by_action else decides(None, question),
            actions=tuple(
                views.ActionView(action, decides=each)
                for action, each in zip(seen.actions, by_action, strict=True)
            ),
            words=words(spec, graph),
        )
    )


def as_text(payload: Payload) -> str:
    """The card in lines, for a terminal."""
    return "\n".join([one_line(payload.text), "", *_lines(payload.blocks)])


def _decides(rule: Rule | None, directory: Directory) -> views.Decides:
    if rule is None:
        return views.Decides()
    asked = rule.stage(0).approvers
    # Whose manager is not known before somebody asks; a role is who the file says it is.
    approvers = directory.named(asked.model_copy(update={"manager": False}), REQUESTER.id)
    manager = (views.Manager("", "", REQUESTER),) if asked.manager else ()
    stages = tuple(
        _decides(rule.stage(number).model_copy(update={"because": stage.because}), directory)
        for number, stage in enumerate(rule.stages)
    )
    return views.Decides(
        quorum=rule.stage(0).quorum,
        groups=tuple(views.UserGroup(group, group, ping=False) for group in approvers.groups),
        people=(
            *(views.Person(user, user) for user in approvers.users),
            *(views.Person("", email) for email in approvers.emails),
            *manager,
        ),
        because=rule.because,
        stages=stages,
    )


def _lines(blocks: Any) -> Iterator[str]:
    for block in blocks:
        if block["type"] == "divider":
            yield "-" * 40
        elif block["type"] == "actions":
            labels = [_text(one.get("text")) for one in block["elements"] if one.get("text")]
            yield " ".join(f"[{label}]" for label in labels)
        else:
            said = "".join(_texts(block)).strip("\n")
            yield from (one_line(line) for line in said.split("\n"))


def _texts(value: Any) -> Iterator[str]:
    """All that a block shows, in its order; a section or an item of rich text ends its line."""
    if isinstance(value, Mapping):
        kind = value.get("type")
        if kind in {"plain_text", "mrkdwn", "text"}:
            yield _text(value)
            return
        if kind == "date":
            yield str(value.get("fallback") or "")
            return
        if kind in {"user", "usergroup"}:
            yield f"@{value.get('user_id') or value.get('usergroup_id')}"
            return
        if kind in {"button", "overflow"}:
            yield f" [{_text(value.get('text'))}]" if value.get("text") else ""
            return
        for inner in (value.get("text"), value.get("elements"), value.get("accessory")):
            yield from _texts(inner)
        if kind in {"rich_text_section", "rich_text_quote", "rich_text_preformatted"}:
            yield "\n"
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _text(value: Any) -> str:
    return str(value.get("text") or "") if isinstance(value, Mapping) else ""
